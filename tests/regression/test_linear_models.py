"""Linear models: outputs, dtypes, sparse input, names, resuming, refusals."""

import numpy as np
import pytest
from scipy import sparse

import qed
from qed.base.errors import ConvergenceWarning, NotAvailableError, ParameterError
from tests.theory.fixtures import problem

X, Y, _ = problem(n=80, p=4)
BOTH = np.column_stack([Y, Y**2])


@pytest.mark.parametrize(
    "model", [qed.LinearRegression(), qed.Ridge(), qed.GradientRidge()], ids=lambda m: type(m).__name__
)
class TestEveryLinearModel:
    def test_one_and_several_outputs(self, model):
        flat, tall = model.fit(X, Y), qed.Ridge()
        assert flat.coef_.shape == (4,) and np.ndim(flat.intercept_) == 0
        tall = type(model)().fit(X, BOTH)
        assert tall.coef_.shape == (2, 4) and tall.intercept_.shape == (2,)
        assert tall.predict(X).shape == (80, 2)
        np.testing.assert_allclose(tall.coef_[0], flat.coef_, rtol=1e-5, atol=1e-6)

    def test_float32_in_float32_out(self, model):
        small = type(model)().fit(X.astype(np.float32), Y.astype(np.float32))
        assert small.predict(X.astype(np.float32)).dtype == np.float32
        np.testing.assert_allclose(small.coef_, type(model)().fit(X, Y).coef_, rtol=1e-4, atol=1e-5)

    @pytest.mark.parametrize("make", [sparse.csr_array, sparse.csc_array, sparse.csr_matrix])
    def test_sparse_input(self, model, make):
        thin = X * (np.abs(X) > 0.7)
        dense, spare = type(model)().fit(thin, Y), type(model)().fit(make(thin), Y)
        np.testing.assert_allclose(spare.coef_, dense.coef_, rtol=1e-7, atol=1e-9)
        np.testing.assert_allclose(spare.predict(make(thin)), dense.predict(thin), rtol=1e-7, atol=1e-9)
        assert spare.certificate_

    def test_frames_keep_their_names(self, model):
        import pandas

        frame = pandas.DataFrame(X, columns=["a", "b", "c", "d"])
        named = type(model)().fit(frame, Y)
        assert list(named.feature_names_in_) == ["a", "b", "c", "d"]
        with pytest.raises(ValueError, match="feature names"):
            named.predict(frame[["b", "a", "c", "d"]])

    def test_text_is_refused_by_name(self, model):
        import pandas

        frame = pandas.DataFrame({"a": [1.0, 2.0], "town": ["Ulm", "Bonn"]})
        with pytest.raises(ValueError, match="'town'"):
            type(model)().fit(frame, [1.0, 2.0])


@pytest.mark.parametrize("alpha", [-1.0, np.nan, np.inf, "much", None])
def test_senseless_penalties_are_refused(alpha):
    with pytest.raises(ParameterError, match="alpha must be"):
        qed.Ridge(alpha=alpha).fit(X, Y)


def test_one_penalty_per_output():
    model = qed.Ridge(alpha=[0.1, 10.0]).fit(X, BOTH)
    for j, alpha in enumerate((0.1, 10.0)):
        np.testing.assert_allclose(model.coef_[j], qed.Ridge(alpha=alpha).fit(X, BOTH[:, j]).coef_, rtol=1e-10)
    assert model.certificate_ and qed.certify(model, X, BOTH)
    with pytest.raises(ParameterError, match="one for each of the 2 outputs"):
        qed.Ridge(alpha=[1.0, 2.0, 3.0]).fit(X, BOTH)


def test_inference_is_refused_with_the_reason():
    with pytest.raises(NotAvailableError, match="penalty biases"):
        _ = qed.Ridge().fit(X, Y).inference_
    with pytest.raises(NotAvailableError, match="More rows or fewer columns"):
        _ = qed.LinearRegression(fit_intercept=False).fit(X[:4], Y[:4]).inference_
    with pytest.warns(UserWarning), pytest.raises(NotAvailableError, match="independent"):
        _ = qed.LinearRegression().fit(np.column_stack([X, X[:, 0]]), Y).inference_


def test_large_offsets_cost_no_digits():
    shifted = qed.LinearRegression().fit(X + 1e7, Y + 1e7)
    np.testing.assert_allclose(shifted.coef_, qed.LinearRegression().fit(X, Y).coef_, rtol=1e-7)
    assert shifted.certificate_ and qed.certify(shifted, X + 1e7, Y + 1e7)


def test_partial_fit_and_forget_give_the_models_of_the_rows_that_are_left():
    model = qed.LinearRegression().partial_fit(X[:30], Y[:30]).partial_fit(X[30:], Y[30:])
    np.testing.assert_allclose(model.coef_, qed.LinearRegression().fit(X, Y).coef_, rtol=1e-10)
    model.forget(X[:30], Y[:30])
    np.testing.assert_allclose(model.coef_, qed.LinearRegression().fit(X[30:], Y[30:]).coef_, rtol=1e-9)
    assert qed.certify(model, X[30:], Y[30:])
    with pytest.raises(ValueError, match="not that many"):
        model.forget(np.vstack([X, X]), np.r_[Y, Y])


class TestGradientRidge:
    def test_too_few_iterations_say_so_and_can_be_resumed(self):
        with pytest.warns(ConvergenceWarning, match=r"Try max_iter=20\."):
            short = qed.GradientRidge(method="steepest", max_iter=2, tol=1e-12).fit(X, Y)
        assert short.ending_.reason is qed.Reason.MAX_ITER and not short.certificate_
        short.set_params(max_iter=1000).resume(X, Y)
        long = qed.GradientRidge(method="steepest", max_iter=1000, tol=1e-12).fit(X, Y)
        np.testing.assert_array_equal(short.coef_, long.coef_)
        assert short.certificate_ and short.n_iter_ == long.n_iter_

    def test_steps_can_be_driven_by_hand(self):
        walk = qed.steps(qed.GradientRidge(), X, Y)
        steps = [next(walk) for _ in range(4)]
        assert [step.number for step in steps] == [0, 1, 2, 3]
        again = qed.steps(qed.GradientRidge(), X, Y, start=steps[1])
        np.testing.assert_array_equal(next(again).coef, steps[2].coef)
        assert walk.model_at(steps[3]).predict(X).shape == (80,)

    def test_the_bound_is_a_bound(self):
        exact = qed.Ridge(alpha=2.0).fit(X, Y)

        def value(model):
            return np.sum((Y - model.predict(X)) ** 2) + 2.0 * model.coef_ @ model.coef_

        walk = qed.steps(qed.GradientRidge(alpha=2.0, method="steepest"), X, Y)
        for _ in range(6):
            step = next(walk)
            missing = step.objective - value(exact)
            assert missing <= step.gap * step.objective * (1 + 1e-9) + 1e-9
