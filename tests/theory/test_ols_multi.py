"""ols-multi: least squares fits each output by itself; canonical pairs let outputs vote."""

import numpy as np

import qed


def test_outputs_do_not_inform_each_other():
    """Theory: column j is its own least squares; another output changes nothing, but it changes the directions of CCA."""
    generator = np.random.default_rng(0)
    X = generator.standard_normal((100, 4))
    Y = X @ generator.standard_normal((4, 3)) + generator.standard_normal((100, 3))
    whole = qed.LinearRegression().fit(X, Y).coef_
    for j in range(3):
        np.testing.assert_allclose(whole[j], qed.LinearRegression().fit(X, Y[:, j]).coef_, atol=1e-11)
    by_hand = np.linalg.lstsq(np.column_stack([np.ones(100), X]), Y, rcond=None)[0][1:].T
    np.testing.assert_allclose(whole, by_hand, atol=1e-11)
    other = Y.copy()
    other[:, 2] = generator.standard_normal(100)
    np.testing.assert_allclose(qed.LinearRegression().fit(X, other).coef_[:2], whole[:2], atol=1e-11)
    before, after = (qed.CCA(1).fit(X, T).x_rotations_[:, 0] for T in (Y, other))
    assert np.abs(before - after).max() > 1e-2
