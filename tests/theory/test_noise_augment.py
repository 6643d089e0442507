"""noise-augment: ridge by noisy copies of the data. Noise of variance s^2 per entry is ridge with n s^2; the text's variance
lambda gives ridge with n lambda, not lambda [ERR 24]."""

import numpy as np
import pytest

import qed
from tests.theory.fixtures import problem

X, Y, _ = problem(n=20, p=3, seed=0)
ALPHA = 2.0


def ridge(alpha):
    return qed.Ridge(alpha=alpha, fit_intercept=False).fit(X, Y).coef_


def augmented(repeats, **more):
    return qed.noise_augmented_ridge(X, Y, ALPHA, repeats, **more)


def test_tends_to_ridge_like_one_over_the_root_of_r():
    """Theory, numbers [seed]: with variance lambda / n the distance falls tenfold from 100 to 10 000 copies, give or take."""

    def distance(repeats):
        return np.mean([np.linalg.norm(augmented(repeats, random_state=seed) - ridge(ALPHA)) for seed in range(6)])

    few, many = distance(20), distance(2000)
    assert many < 0.04
    assert 4 < few / many < 25


def test_the_scaling_of_the_text():
    """[ERR 24]: variance lambda converges to ridge(n lambda), and stays far from ridge(lambda)."""
    found = augmented(2000, variance=ALPHA, random_state=0)
    assert np.linalg.norm(found - ridge(len(Y) * ALPHA)) < 0.02
    assert np.linalg.norm(found - ridge(ALPHA)) > 0.3


def test_sums_of_the_copies():
    """Theory: the mean Gram matrix tends to X'X + n s^2 I, and the mean right side to X'y: which is ridge."""
    variance, repeats = ALPHA / len(Y), 4000
    noisy = X + qed.data.synthetic.noise((repeats, *X.shape), scale=np.sqrt(variance), random_state=0)
    gram = np.einsum("rni,rnj->ij", noisy, noisy) / repeats
    np.testing.assert_allclose(gram, X.T @ X + ALPHA * np.eye(3), atol=0.2)
    np.testing.assert_allclose(np.einsum("rni,n->i", noisy, Y) / repeats, X.T @ Y, atol=0.2)
    np.testing.assert_allclose((X.T @ X + ALPHA * np.eye(3)) @ ridge(ALPHA), X.T @ Y, rtol=1e-9)


def test_seeds_and_no_noise():
    np.testing.assert_array_equal(augmented(5, random_state=3), augmented(5, random_state=3))
    assert np.abs(augmented(5, random_state=3) - augmented(5, random_state=4)).max() > 0
    np.testing.assert_allclose(qed.noise_augmented_ridge(X, Y, 0.0, 3, random_state=0), ridge(0.0), rtol=1e-9)


@pytest.mark.parametrize("bad", [{"alpha": -1.0}, {"repeats": 0}, {"variance": -0.1}])
def test_bad_parameters_are_refused(bad):
    with pytest.raises(ValueError, match="must be"):
        qed.noise_augmented_ridge(X, Y, **bad)
