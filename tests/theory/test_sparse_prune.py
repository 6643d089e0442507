"""sparse-prune: what has weight zero can be left out when predicting."""

import numpy as np
import pytest

import qed
from qed.kernels import Polynomial
from tests.theory.fixtures import problem


def test_same_predictions_from_fewer_columns():
    """Theory: pruned and full predictions agree to 1e-12, and the columns kept are as many as ||w||_0."""
    X, y, _ = problem(n=50, p=20)
    full = qed.OrthogonalMatchingPursuit(n_nonzero_coefs=6).fit(X, y)
    small = qed.prune(full)
    assert len(small.columns_) == small.n_features_in_ == np.count_nonzero(full.coef_) == 6
    np.testing.assert_allclose(small.predict(X[:, small.columns_]), full.predict(X), atol=1e-12)
    assert small.certificate_ and qed.certify(small, X[:, small.columns_], y)


@pytest.mark.parametrize("kind", [qed.LinearRegression, qed.Ridge, qed.MatchingPursuit, qed.BestSubset])
def test_works_for_every_linear_model(kind):
    X, y, _ = problem(n=30, p=5)
    full = kind().fit(X, y)
    small = qed.prune(full)
    np.testing.assert_allclose(small.predict(X[:, small.columns_]), full.predict(X), atol=1e-12)


def test_several_outputs_keep_what_any_of_them_uses():
    X, y, _ = problem(n=50, p=12)
    full = qed.OrthogonalMatchingPursuit(n_nonzero_coefs=2).fit(X, np.column_stack([y, X[:, 7], -y + X[:, 3]]))
    small = qed.prune(full)
    assert small.columns_.tolist() == np.flatnonzero((full.coef_ != 0).any(axis=0)).tolist()
    np.testing.assert_allclose(small.predict(X[:, small.columns_]), full.predict(X), atol=1e-12)


def test_training_points_of_dual_weight_zero_are_not_needed_either():
    """Theory, dual form: f(x) = sum_i a_i k(x_i, x) over the points whose a_i is not zero: a support vector machine keeps those alone."""
    X, y, _ = problem(n=40, p=3)
    model = qed.SVR(kernel="poly", degree=2, coef0=1.0, gamma=1.0, epsilon=1.0).fit(X, y)
    kept = model.support_
    assert 0 < len(kept) < 40
    again = qed.SVR(kernel="poly", degree=2, coef0=1.0, gamma=1.0, epsilon=1.0, tol=1e-6).fit(X[kept], y[kept])
    np.testing.assert_allclose(again.predict(X), model.predict(X), atol=1e-2 * np.abs(y).max())
    kernel = Polynomial(2)(X, X[kept])
    by_hand = kernel @ np.ravel(model.dual_coef_) + np.ravel(model.intercept_)[0]
    # Sums of as many products as there are supports, in another order.
    size = np.abs(kernel) @ np.abs(np.ravel(model.dual_coef_)) + abs(np.ravel(model.intercept_)[0])
    assert (np.abs(model.predict(X) - by_hand) <= 1e-12 * size).all()


def test_a_pruned_model_can_be_saved_but_not_fitted(tmp_path):
    import pandas

    X, y, _ = problem(n=30, p=4)
    frame = pandas.DataFrame(X, columns=list("abcd"))
    small = qed.prune(qed.OrthogonalMatchingPursuit(n_nonzero_coefs=2).fit(frame, y))
    names = list(small.feature_names_in_)
    qed.save(small, tmp_path / "small.qed")
    again = qed.load(tmp_path / "small.qed")
    np.testing.assert_array_equal(again.predict(frame[names]), small.predict(frame[names]))
    with pytest.raises(AttributeError, match="fit the model that it came from"):
        small.fit(X, y)
    with pytest.raises(ValueError, match="linear model of qed"):
        qed.prune(object())


def test_a_model_of_zeros_keeps_one_column():
    small = qed.prune(qed.OrthogonalMatchingPursuit().fit(np.eye(4), np.ones(4)))
    assert small.columns_.tolist() == [0]
    np.testing.assert_array_equal(small.predict(np.ones((2, 1))), [1.0, 1.0])
