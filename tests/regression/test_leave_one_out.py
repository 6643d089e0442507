"""Leaving out each row in closed form, against leaving it out."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.linear_model import RidgeCV

import qed
from qed.base.errors import DegenerateWarning, InputError, ParameterError
from qed.base.sources.open import rows
from qed.optim.least_squares.leave_one_out import ClosedForm, _judge, leave_one_out
from qed.optim.least_squares.ridge_basis import Diagonal, coefficients, diagonals
from qed.regression.linear.ridge_path import ridge_path
from qed.stats.moments import Moments

ALPHAS = np.geomspace(1e-3, 1e3, 4)


def problem(seed=0, n=60, p=4, q=1):
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, p)) + random.normal(size=p)
    Y = X @ random.normal(size=(p, q)) + random.normal(size=(n, q)) + 3
    return X, Y if q > 1 else Y[:, 0]


def left_out_by_hand(X, y, alphas, weight=None, *, fit_intercept=True, absolute=False):
    """Fit to all rows but one, for each row and penalty."""
    weight = np.ones(len(X)) if weight is None else weight
    present = np.flatnonzero(weight > 0)
    loss = np.empty((len(present), len(alphas)))
    for place, row in enumerate(present):
        keep = present[present != row]
        for column, alpha in enumerate(alphas):
            model = qed.Ridge(alpha, fit_intercept=fit_intercept).fit(X[keep], y[keep], weight[keep])
            error = np.atleast_1d(y[row] - model.predict(X[[row]])[0])
            loss[place, column] = (np.abs(error) if absolute else error**2).mean()
    return loss


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("fit_intercept", [False, True])
@pytest.mark.parametrize("q", [1, 3])
@pytest.mark.parametrize("absolute", [False, True])
@pytest.mark.sampled(2)
def test_the_closed_form_is_what_leaving_out_gives(weighted, fit_intercept, q, absolute):
    X, y = problem(q=q, n=16)
    weight = np.random.default_rng(1).uniform(0, 2, 16) * (np.arange(16) % 7 > 0) if weighted else None
    data = rows(X, y, sample_weight=weight, block_size=8)
    found = leave_one_out(
        data,
        data.fold(Moments.of),
        np.repeat(ALPHAS[:, None], q, axis=1),
        centered=fit_intercept,
        absolute=absolute,
        keep=True,
    )
    expected = left_out_by_hand(X, y, ALPHAS, weight, fit_intercept=fit_intercept, absolute=absolute)
    np.testing.assert_allclose(found.table(), expected, rtol=1e-9)
    np.testing.assert_allclose(found.mean, expected.mean(axis=0), rtol=1e-10)
    np.testing.assert_allclose(found.deviation / found.count, expected.var(axis=0), rtol=1e-9)


def test_a_penalty_for_each_output():
    X, y = problem(q=2, n=25)
    data = rows(X, y)
    settings = np.array([[1.0, 100.0], [0.01, 1.0]])
    found = leave_one_out(data, data.fold(Moments.of), settings, centered=True, keep=True).table()
    for place, alphas in enumerate(settings):
        columns = [left_out_by_hand(X, y[:, j], [alphas[j]])[:, 0] for j in range(2)]
        np.testing.assert_allclose(found[:, place], np.mean(columns, axis=0), rtol=1e-9)


def test_the_path_agrees_with_ridgecv():
    X, y = problem(n=300, p=6)
    path = ridge_path(X, y, ALPHAS)
    peer = RidgeCV(ALPHAS, store_cv_results=True).fit(X, y)
    np.testing.assert_allclose(path.leave_one_out_error, peer.cv_results_.mean(axis=0), rtol=1e-10)
    assert path.best == peer.alpha_


def test_rows_that_a_column_depends_on_are_fitted_again():
    X, y = problem(n=40)
    X = np.column_stack([X, np.eye(40)[:, :2]])
    alphas = np.array([1e-9, 1e-3])
    data = rows(X, y)
    found = leave_one_out(data, data.fold(Moments.of), alphas[:, None], centered=True, keep=True)
    assert found.refitted == 2
    np.testing.assert_allclose(found.table(), left_out_by_hand(X, y, alphas), rtol=1e-8)


def test_columns_of_different_scale_need_no_further_fits():
    X, y = problem(n=50)
    X = X * np.array([1e-3, 1.0, 1e3, 10.0])
    data = rows(X, y)
    moments = data.fold(Moments.of)
    assert len(diagonals(moments.xx, ALPHAS)) == 2
    found = leave_one_out(data, moments, ALPHAS[:, None], centered=True, keep=True)
    assert found.refitted == 0
    np.testing.assert_allclose(found.table(), left_out_by_hand(X, y, ALPHAS), rtol=1e-8)


def test_dependent_columns_without_a_penalty_are_fitted_one_by_one_and_that_is_said():
    X, y = problem(n=20)
    X = np.column_stack([X, X[:, 0] + X[:, 1]])
    data = rows(X, y)
    with pytest.warns(DegenerateWarning, match="20 fits are needed"):
        found = leave_one_out(data, data.fold(Moments.of), np.array([[0.0], [1.0]]), centered=True, keep=True)
    assert found.refitted == 20
    np.testing.assert_allclose(found.table(), left_out_by_hand(X, y, [0.0, 1.0]), rtol=1e-8)


def test_sparse_and_short_numbers():
    X, y = problem(n=50)
    X = np.where(np.random.default_rng(0).random(X.shape) < 0.5, 0.0, X)
    dense = ridge_path(X, y, ALPHAS)
    np.testing.assert_allclose(
        ridge_path(sparse.csr_array(X), y, ALPHAS).leave_one_out_error, dense.leave_one_out_error
    )
    short = ridge_path(X.astype(np.float32), y, ALPHAS)
    np.testing.assert_allclose(short.leave_one_out_error, dense.leave_one_out_error, rtol=1e-5)


def test_the_sum_does_not_depend_on_the_number_of_threads():
    X, y = problem(n=500)
    found = []
    for count in (1, 2, 3):
        with qed.threads(count):
            data = rows(X, y, block_size=64)
            found.append(leave_one_out(data, data.fold(Moments.of), ALPHAS[:, None], centered=True).mean)
    np.testing.assert_array_equal(found[0], found[1])
    np.testing.assert_array_equal(found[0], found[2])


def judged_in_numpy(y, fitted, leverage, weight, share, noise, settings, absolute):
    """The compiled kernel's twin."""
    m, q = settings.shape
    h = weight[:, None] * (leverage + share)
    safe = (h * noise <= 1 - h).all(axis=1)
    error = (y[:, None, :] - fitted.reshape(len(y), m, q)) / (1 - h)[:, settings]
    return (np.abs(error) if absolute else error**2).mean(axis=2), safe


@pytest.mark.parametrize("absolute", [False, True])
@pytest.mark.parametrize("settings", [np.array([[0], [1], [2]]), np.array([[2], [0], [0]]), np.array([[0, 2], [1, 1]])])
def test_the_kernel_does_what_numpy_does(absolute, settings):
    random = np.random.default_rng(3)
    m, q = settings.shape
    y, fitted, weight = random.normal(size=(9, q)), random.normal(size=(9, m * q)), random.uniform(0.5, 1, 9)
    leverage, noise = random.uniform(0, 0.8, size=(9, 3)), np.array([0.1, 2.0, 0.5])
    expected, expected_safe = judged_in_numpy(y, fitted, leverage, weight, 0.05, noise, settings, absolute)
    assert 0 < expected_safe.sum() < 9
    mean, deviation, safe, each = np.zeros(m), np.zeros(m), np.empty(9, dtype=bool), np.zeros((9, m))
    arguments = (y, fitted, leverage.copy(), weight, 0.05, noise, settings, absolute, 0, mean, deviation, safe, each)
    assert _judge(*arguments) == expected_safe.sum()
    np.testing.assert_array_equal(safe, expected_safe)
    np.testing.assert_allclose(each[safe], expected[safe], rtol=1e-13)
    np.testing.assert_allclose(mean, expected[safe].mean(axis=0), rtol=1e-13)
    np.testing.assert_allclose(deviation, ((expected[safe] - mean) ** 2).sum(axis=0), rtol=1e-11)


def test_both_bases_diagonalise_error_and_penalty():
    X, _ = problem(n=30)
    gram = X.T @ X
    for found in (Diagonal.of_columns(gram), Diagonal.of_unit_columns(gram)):
        np.testing.assert_allclose(found.basis.T @ gram @ found.basis, np.diag(found.error), atol=1e-12 * gram.max())
        np.testing.assert_allclose(found.basis.T @ found.basis, np.diag(found.penalty), atol=1e-12)
    assert Diagonal.of_unit_columns(np.ones((2, 2))) is None


def test_coefficients_for_many_settings_are_those_of_ridge():
    X, y = problem(n=50, q=2)
    data = rows(X * np.array([1e-6, 1.0, 1e5, 10.0]), y)
    settings = np.array([[1.0, 2.0], [1e-8, 1e8], [1.0, 1.0]])
    for centered in (True, False):
        found = coefficients(data.fold(Moments.of), settings, data, centered=centered)
        for place, alphas in enumerate(settings):
            model = qed.Ridge(alphas, fit_intercept=centered).fit(data)
            np.testing.assert_allclose(found[place].T, model.coef_, rtol=1e-8)


def test_too_little_is_refused():
    one = rows(np.ones((1, 1)), np.ones(1))
    with pytest.raises(InputError, match="at least 2 rows"):
        leave_one_out(one, one.fold(Moments.of), np.ones((1, 1)), centered=True)
    for alphas in ([-1.0], [], [[1.0]], [np.inf]):
        with pytest.raises(ParameterError, match="alphas"):
            ridge_path(*problem(), alphas)


def test_the_closed_form_travels():
    import pickle

    data = rows(*problem())
    closed = ClosedForm.of(data, data.fold(Moments.of), ALPHAS[:, None], True)
    again = pickle.loads(pickle.dumps(closed))
    np.testing.assert_array_equal(
        closed.losses(data.array(), False, False).mean, again.losses(data.array(), False, False).mean
    )
