"""NonlinearLeastSquares: what users may give it, what it refuses, and what it says when data do not determine the answer."""

import pickle

import numpy as np
import pytest
from scipy.optimize import curve_fit
from sklearn.base import clone

import qed
from qed.base.errors import ConvergenceWarning, InputError, NotAvailableError, ParameterError, SavingError

X = np.linspace(0, 5, 40)[:, None]
NOISE = 0.05 * np.random.default_rng(0).standard_normal(40)
Y = 1.0 + 3.0 * np.exp(-0.8 * X[:, 0]) + NOISE
START = [0.5, 2.0, 0.5]


def decay(X, w):
    return w[0] + w[1] * np.exp(-w[2] * X[:, 0])


def decay_slopes(X, w):
    falling = np.exp(-w[2] * X[:, 0])
    return np.column_stack([np.ones(len(X)), falling, -w[1] * X[:, 0] * falling])


def fitted(**settings):
    return qed.NonlinearLeastSquares(decay, START, **settings).fit(X, Y)


def test_agrees_with_scipy():
    model = fitted()
    wanted, covariance = curve_fit(lambda x, *w: decay(x[:, None], w), X[:, 0], Y, START, ftol=1e-14, xtol=1e-14)
    np.testing.assert_allclose(model.coef_, wanted, rtol=1e-6)
    np.testing.assert_allclose(model.covariance_, covariance, rtol=1e-5)
    np.testing.assert_allclose(model.residual_variance_, np.sum((Y - decay(X, wanted)) ** 2) / 37, rtol=1e-9)


@pytest.mark.parametrize("jacobian", ["complex", "central", "forward", decay_slopes])
def test_every_kind_of_slopes_gives_the_same(jacobian):
    model = fitted(jacobian=jacobian)
    np.testing.assert_allclose(model.coef_, fitted().coef_, rtol=1e-9)
    assert model.certificate_


@pytest.mark.parametrize("method", ["gauss-newton", "newton"])
def test_every_method_gives_the_same(method):
    np.testing.assert_allclose(fitted(method=method).coef_, fitted().coef_, rtol=1e-8)


def test_names_come_from_a_dict():
    model = qed.NonlinearLeastSquares(decay, {"floor": 0.5, "height": 2.0, "rate": 0.5}).fit(X, Y)
    assert model.parameter_names_ == model.inference_.names == ("floor", "height", "rate")
    assert fitted().parameter_names_ == ("w0", "w1", "w2")
    assert "rate" in str(model.inference_)


def test_the_best_of_several_starts_is_kept_and_said():
    y = np.sin(2 * X[:, 0])

    def wave(X, w):
        return np.sin(w[0] * X[:, 0])

    alone = [qed.NonlinearLeastSquares(wave, [begin]).fit(X, y).cost_ for begin in (8.0, 1.9, 5.0)]
    model = qed.NonlinearLeastSquares(wave, [{"pitch": 8.0}, {"pitch": 1.9}, {"pitch": 5.0}]).fit(X, y)
    assert model.cost_ == min(alone) < 1e-20 < min(alone[0], alone[2])
    assert model.start_.tolist() == [1.9] and model.certificate_


def test_a_start_that_is_not_finite_is_left_out_when_there_are_others():
    def root(X, w):
        return np.sqrt(w[0] + X[:, 0])

    model = qed.NonlinearLeastSquares(root, [[-1.0], [2.0]]).fit(X, np.sqrt(3 + X[:, 0]))
    assert model.coef_[0] == pytest.approx(3.0) and model.start_[0] == 2.0
    with pytest.raises(InputError, match=r"not finite at the start \[-1.\], for row 0 "):
        qed.NonlinearLeastSquares(root, [-1.0]).fit(X, np.sqrt(3 + X[:, 0]))


def test_weights_are_repetitions_and_rows_without_weight_are_never_seen():
    weight = np.random.default_rng(3).integers(0, 4, 40)
    weighted = qed.NonlinearLeastSquares(decay, START).fit(X, Y, sample_weight=weight)
    repeated = qed.NonlinearLeastSquares(decay, START).fit(np.repeat(X, weight, axis=0), np.repeat(Y, weight))
    np.testing.assert_allclose(weighted.coef_, repeated.coef_, rtol=1e-9)
    np.testing.assert_allclose(weighted.covariance_, repeated.covariance_, rtol=1e-7)

    def logarithm(X, w):
        return w[0] * np.log(X[:, 0])

    x, w = np.array([[-1.0], [1.0], [2.0], [3.0]]), [0.0, 1.0, 1.0, 1.0]
    model = qed.NonlinearLeastSquares(logarithm, [1.0]).fit(x, [9.0, 0.0, 1.0, 1.5], sample_weight=w)
    assert model.certificate_ and qed.certify(model, x, [9.0, 0.0, 1.0, 1.5], sample_weight=w)


def test_overflow_on_the_way_is_no_error():
    def growth(X, w):
        return w[0] / (1 + np.exp(w[1] - w[2] * X[:, 0]))

    y = growth(X, np.array([5.0, 3.0, 2.0]))
    with np.errstate(all="raise"):
        model = qed.NonlinearLeastSquares(growth, [1.0, 900.0, 1.0], max_iter=20)
        with pytest.warns(ConvergenceWarning):
            model.fit(X, y)
        assert np.isfinite(model.coef_).all() and not model.certificate_
        near = qed.NonlinearLeastSquares(growth, [1.0, 0.0, 30.0]).fit(X, y)
    np.testing.assert_allclose(near.coef_, [5, 3, 2], rtol=1e-8)


def test_python_overflow_errors_are_taken_as_no_number():
    import math

    def plain(X, w):
        return np.array([w[0] * math.exp(float(w[1]) * x) for x in X[:, 0]])

    model = qed.NonlinearLeastSquares(plain, [1.0, 2.0]).fit(X, 2 * np.exp(-0.3 * X[:, 0]))
    np.testing.assert_allclose(model.coef_, [2, -0.3], rtol=1e-6)


@pytest.mark.parametrize("scale", [1e-12, 1e-6, 1e6])
def test_units_of_the_parameters_do_not_matter(scale):
    def scaled(X, w):
        return decay(X, w * np.array([scale, 1.0, 1 / scale]))

    begin = np.array(START) * [1 / scale, 1.0, scale]
    model = qed.NonlinearLeastSquares(scaled, begin).fit(X, Y)
    np.testing.assert_allclose(model.coef_ * [scale, 1.0, 1 / scale], fitted().coef_, rtol=1e-8)
    assert model.certificate_


@pytest.mark.parametrize("column", [0, 1, 2])
def test_the_certificate_objects_to_any_moved_parameter(column):
    model = fitted()
    assert qed.certify(model, X, Y)
    model.coef_ = model.coef_.copy()
    model.coef_[column] *= 1.001
    assert not qed.certify(model, X, Y)


def test_the_certificate_objects_to_a_wrong_cost():
    model = fitted()
    model.cost_ *= 1.001
    assert [claim.says for claim in qed.certify(model, X, Y).failures] == [
        "cost_ is that of the data (difference, relative)"
    ]


def test_parameters_that_can_not_be_told_apart_are_named():
    def doubled(X, w):
        return w[0] + w[1] * w[2] * X[:, 0]

    with pytest.warns(ConvergenceWarning, match="The parameters 'slope' and 'factor' can not be told apart"):
        model = qed.NonlinearLeastSquares(doubled, {"floor": 0.0, "slope": 1.0, "factor": 1.0}).fit(
            X, 1 + 2 * X[:, 0] + NOISE
        )
    assert model.ending_.reason is qed.Reason.DEGENERATE
    assert model.covariance_ is None and not model.certificate_
    line = qed.LinearRegression().fit(X, 1 + 2 * X[:, 0] + NOISE)
    np.testing.assert_allclose(model.predict(X), line.predict(X), rtol=1e-7)
    with pytest.raises(NotAvailableError, match="can not be told apart"):
        _ = model.inference_


def test_a_parameter_without_effect_is_named():
    def idle(X, w):
        return w[0] * X[:, 0] + 0.0 * w[1]

    with pytest.warns(ConvergenceWarning, match="The parameter 'w1' has no effect"):
        model = qed.NonlinearLeastSquares(idle, [1.0, 1.0]).fit(X, Y)
    assert model.coef_[1] == 1.0


def test_a_parameter_that_is_zero_is_determined():
    model = qed.NonlinearLeastSquares(decay, START).fit(X, 3.0 * np.exp(-0.8 * X[:, 0]))
    np.testing.assert_allclose(model.coef_, [0, 3, 0.8], atol=1e-12)
    assert model.certificate_ and model.ending_.reason is qed.Reason.CERTIFIED


@pytest.mark.parametrize("n", [1, 2])
def test_fewer_rows_than_parameters(n):
    with pytest.warns(ConvergenceWarning, match="can not be told apart"):
        model = qed.NonlinearLeastSquares(decay, START).fit(X[:n], Y[:n])
    np.testing.assert_allclose(model.predict(X[:n]), Y[:n], rtol=1e-6)
    assert model.residual_variance_ is None and model.covariance_ is None


def test_as_many_rows_as_parameters_leave_no_variance():
    chosen = [0, 15, 39]
    model = qed.NonlinearLeastSquares(decay, START).fit(X[chosen], Y[chosen])
    np.testing.assert_allclose(model.predict(X[chosen]), Y[chosen], rtol=1e-10)
    assert model.certificate_ and model.residual_variance_ is None


def test_resuming_gives_the_bits_of_an_unbroken_fit():
    with pytest.warns(ConvergenceWarning, match="max_iter=30"):
        model = fitted(max_iter=3)
    model.set_params(max_iter=5000).resume(X, Y)
    np.testing.assert_array_equal(model.coef_, fitted().coef_)


def test_steps_can_be_driven_by_hand():
    walk = qed.steps(qed.NonlinearLeastSquares(decay, START), X, Y)
    costs = [next(walk).objective for _ in range(4)]
    assert costs == sorted(costs, reverse=True)
    assert walk.model_at(next(walk)).coef_.shape == (3,)


def test_clones_pickles_and_saving(tmp_path):
    model = fitted()
    assert clone(model).function is decay
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).predict(X), model.predict(X))
    with pytest.raises(SavingError, match="'function' of NonlinearLeastSquares holds a function"):
        qed.save(model, tmp_path / "model.qed")
    qed.save(model.set_params(function=None), tmp_path / "model.qed")
    again = qed.load(tmp_path / "model.qed").set_params(function=decay)
    np.testing.assert_array_equal(again.predict(X), decay(X, model.coef_))
    assert qed.certify(again, X, Y)


def test_float32_comes_back():
    model = qed.NonlinearLeastSquares(decay, START).fit(X.astype(np.float32), Y.astype(np.float32))
    assert model.predict(X.astype(np.float32)).dtype == np.float32
    np.testing.assert_allclose(model.coef_, fitted().coef_, rtol=1e-5)


def company(X, w):
    return w[0] * (X[:, 0] - X[:, 0].mean())


@pytest.mark.parametrize(
    ("function", "start", "message"),
    [
        (company, [1.0], "same row alone"),
        (lambda X, w: w[0], [1.0], r"one number for each of 40 rows, shape \(40,\), not the shape \(\)"),
        (lambda X, w: np.column_stack([X, X]) * w[0], [1.0], "one number for each"),
        (lambda X, w: X[:, 0] * w[0] * 1j, [1.0], "complex predictions"),
        (lambda X, w: ["a"] * len(X), [1.0], "one number for each"),
    ],
)
def test_functions_that_make_no_sense_are_refused(function, start, message):
    with pytest.raises(InputError, match=message):
        qed.NonlinearLeastSquares(function, start).fit(X, Y)


@pytest.mark.parametrize("start", [[], [np.nan], "abc", [[1.0, 2.0], [3.0]], {}, [{"a": 1}, {"b": 1}], [[[1.0]]], None])
def test_starts_that_make_no_sense_are_refused(start):
    with pytest.raises(ParameterError, match="start must be a number for each parameter"):
        qed.NonlinearLeastSquares(decay, start).fit(X, Y)


@pytest.mark.parametrize(
    "settings", [{"function": "decay"}, {"jacobian": "exact"}, {"method": "simplex"}, {"tol": -1.0}, {"max_iter": 0}]
)
def test_parameters_that_make_no_sense_are_refused(settings):
    with pytest.raises(ParameterError, match=next(iter(settings))):
        qed.NonlinearLeastSquares(decay, START).set_params(**settings).fit(X, Y)


def test_wrong_slopes_are_refused():
    with pytest.raises(InputError, match="decay_slopes.* contradicts"):
        qed.NonlinearLeastSquares(decay, START, jacobian=_named("decay_slopes", lambda X, w: -decay_slopes(X, w))).fit(
            X, Y
        )
    with pytest.raises(InputError, match="derivative for each row and parameter"):
        qed.NonlinearLeastSquares(decay, START, jacobian=lambda X, w: np.ones((2, 2))).fit(X, Y)


def _named(name, function):
    function.__name__ = name
    return function


def test_a_function_can_not_change_the_data():
    def careless(X, w):
        X *= 2
        return w[0] * X[:, 0]

    with pytest.raises(ValueError, match="read-only"):
        qed.NonlinearLeastSquares(careless, [1.0]).fit(X, Y)


def test_predictions_outside_of_the_domain_are_refused():
    model = qed.NonlinearLeastSquares(lambda X, w: w[0] * np.log(X[:, 0]), [1.0]).fit(X[1:], np.log(X[1:, 0]))
    with pytest.raises(InputError, match="row 1 .*outside"):
        model.predict([[1.0], [-1.0]])


def test_two_targets_are_refused():
    with pytest.raises(InputError, match="one column"):
        qed.NonlinearLeastSquares(decay, START).fit(X, np.column_stack([Y, Y]))


def test_functions_without_complex_numbers_fall_back_to_differences():
    def kinked(X, w):
        return w[0] * np.abs(X[:, 0] - w[1]) + w[2]

    y = kinked(X, np.array([2.0, 2.03, 1.0])) + NOISE
    model = qed.NonlinearLeastSquares(kinked, [1.0, 1.93, 0.0]).fit(X, y)
    assert np.abs(model.coef_ - [2.0, 2.03, 1.0]).max() < 0.1
    assert model.certificate_
