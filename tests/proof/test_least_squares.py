"""Claims of the least-squares family against exact arithmetic: never smaller than the truth, and no wolf where there is none."""

import warnings

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

import qed
from qed.base.errors import DegenerateWarning, InputError, UnprovenWarning
from tests.proof.least_squares import draw, plain
from tests.reference.nist_linear import PROBLEMS
from tests.regression.exact import Exact

pytestmark = pytest.mark.filterwarnings(
    "ignore::qed.base.errors.DegenerateWarning", "ignore::qed.base.errors.UnprovenWarning"
)
WORDS = "relative error of coefficients"
SEEDS = st.integers(0, 2**32 - 1)


def parts(values, size):
    return [None if values is None else values[start : start + size] for start in range(0, 30, size)]


def in_parts(model, problem, size=5):
    for X, y, weight in zip(parts(problem.X, size), parts(problem.y, size), parts(problem.weight, size)):
        if len(X):
            model.partial_fit(X, y, weight)
    return model


def check_told(problem, model, certificate, limit=1e-4):
    """See that a claim about the coefficients, where one is made, is no smaller than their error."""
    if model.rank_ < problem.X.shape[1]:
        return
    claim, error = certificate[WORDS], problem.error(model.coef_, model.intercept_)
    assert claim.value >= error, f"says {claim.value:.1e}, is {error:.1e}"
    assert not certificate or error <= limit


def attack(seed):
    generator = np.random.default_rng(seed)
    problem = draw(generator)
    if not problem.is_full:
        return
    X, y, weight = problem.X, problem.y, problem.weight
    model = qed.LinearRegression(fit_intercept=problem.centered).fit(X, y, weight)
    check_told(problem, model, model.certificate_)
    check_told(problem, model, qed.certify(model, X, y, weight))
    pieces = in_parts(qed.LinearRegression(fit_intercept=problem.centered), problem)
    check_told(problem, pieces, pieces.certificate_)
    if pieces.rank_ < X.shape[1] and model.rank_ == X.shape[1]:
        assert not pieces.certificate_ and not qed.certify(pieces, X, y, weight)
    large = X[:1] * 10.0 ** generator.uniform(0, 12)
    other = (np.vstack([X, large]), np.append(y, 1.0), None if weight is None else np.append(weight, 1.0))
    left = qed.LinearRegression(fit_intercept=problem.centered).fit(*other)
    left.forget(*(None if part is None else part[-1:] for part in other))
    check_told(problem, left, left.certificate_)


@settings(max_examples=25, deadline=None)
@given(SEEDS)
def test_no_claim_is_smaller_than_the_truth(seed):
    attack(seed)


@pytest.mark.slow
@settings(max_examples=1500, deadline=None)
@given(SEEDS)
def test_no_claim_is_smaller_than_the_truth_however_long_one_looks(seed):
    attack(seed)


@settings(max_examples=15, deadline=None)
@given(SEEDS)
def test_plain_data_are_proven(seed):
    X, y, weight = plain(np.random.default_rng(seed))
    half = len(y) // 2
    first, second = (
        [None if part is None else part[rows] for part in (X, y, weight)] for rows in (np.s_[:half], np.s_[half:])
    )
    models = [qed.LinearRegression(), qed.Ridge(0.1), qed.TotalLeastSquares(), qed.GaussianMAP(fit_intercept=True)]
    for model in models:
        assert model.fit(X, y, weight).certificate_, f"{model.certificate_}"
        assert qed.certify(model, X, y, weight), f"{qed.certify(model, X, y, weight)}"
        pieces = type(model)(**model.get_params()).partial_fit(*first).partial_fit(*second)
        assert pieces.certificate_, f"{pieces.certificate_}"
        assert qed.certify(pieces, X, y, weight), f"{qed.certify(pieces, X, y, weight)}"
        assert model.forget(*second).certificate_, f"{model.certificate_}"


@pytest.mark.parametrize("block", [None, 7], ids=["whole", "7-row blocks"])
@pytest.mark.parametrize("name", sorted(PROBLEMS))
def test_nist_digits_are_those_of_the_readme_and_are_claimed(name, block):
    problem = PROBLEMS[name]
    rows = qed.rows(problem.X, problem.y, block_size=block)
    model = qed.LinearRegression(fit_intercept=problem.intercept).fit(rows)
    found = np.r_[model.intercept_, model.coef_] if problem.intercept else model.coef_
    digits = -np.log10(np.abs(found / problem.coefficients - 1).max() + 1e-16)
    # The powers in Filip's table, rounded to floats, have a solution that agrees with the certified one to seven digits.
    assert digits >= (7 if name == "Filip" else 10)
    truth = Exact(problem.X, problem.y, centered=problem.intercept).solution()
    error = max(abs(float((a - b) / b)) for a, b in zip(map(_fraction, model.coef_), truth) if b != 0)
    for certificate in (model.certificate_, qed.certify(model, problem.X, problem.y)):
        assert certificate and certificate[WORDS].value >= error
    bounds = model.coefficient_errors(problem.X, problem.y)
    assert all(
        bound >= abs(float((a - b) / b)) for bound, a, b in zip(bounds, map(_fraction, model.coef_), truth) if b != 0
    )


def _fraction(value):
    return Exact([[float(value)]], [0.0]).X[0][0]


@pytest.mark.parametrize("size", [1e4, 1e6, 1e8, 1e10, 1e13])
@pytest.mark.parametrize("kind", [qed.LinearRegression, qed.Ridge, qed.TotalLeastSquares, qed.MeanRegressor])
def test_an_outlier_that_is_forgotten_is_noticed(kind, size):
    generator = np.random.default_rng(3)
    X = generator.standard_normal((40, 2))
    y = X @ [1.0, -2.0] + generator.standard_normal(40)
    X[0], y[0] = size, size
    alone = kind().fit(X[1:], y[1:])
    model = kind().fit(X, y).forget(X[:1], y[:1])
    off = np.abs(model.predict(X[1:]) - alone.predict(X[1:])).max() / np.abs(alone.predict(X[1:])).max()
    assert not model.certificate_ or off < 1e-6
    assert size < 1e8 or not model.certificate_


@pytest.mark.parametrize("near", 10.0 ** -np.arange(3, 10))
def test_parts_of_nearly_dependent_columns_say_what_they_lost(near):
    generator = np.random.default_rng(5)
    X = generator.standard_normal((60, 3))
    X[:, 2] = X[:, 0] + near * X[:, 2]
    y = X @ [1.0, 2.0, 3.0] + generator.standard_normal(60)
    exact = np.array([float(value) for value in Exact(X, y).solution()])
    model = qed.LinearRegression()
    for start in range(0, 60, 20):
        model.partial_fit(X[start : start + 20], y[start : start + 20])
    error = np.abs(model.coef_ / exact - 1).max()
    assert model.certificate_["relative error"].value >= error
    assert near > 1e-6 or not model.certificate_
    whole = qed.LinearRegression().fit(X, y)
    assert whole.certificate_ and np.abs(whole.coef_ / exact - 1).max() < 1e-13


def test_columns_that_are_nearly_dependent_are_named():
    pandas = pytest.importorskip("pandas")
    generator = np.random.default_rng(6)
    X = generator.standard_normal((100, 3))
    X[:, 2] = X[:, 0] + 1e-9 * X[:, 2]
    table = pandas.DataFrame(X, columns=["height", "age", "size"])
    with pytest.warns(DegenerateWarning, match=r"nearly dependent \('height', 'size'\)"):
        qed.LinearRegression().fit(table, X[:, 0] + generator.standard_normal(100))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        qed.LinearRegression().fit(X[:, :2], X[:, 0])


def test_a_fit_that_is_not_proven_says_so_in_a_sentence():
    generator = np.random.default_rng(7)
    X = generator.standard_normal((50, 2))
    X[:, 1] = X[:, 0] + 1e-7 * X[:, 1]
    y = X[:, 0] + generator.standard_normal(50)
    with pytest.warns(UnprovenWarning, match=r"LinearRegression: '.*' is .*, wanted at most .* call fit with all rows"):
        qed.LinearRegression().partial_fit(X[:25], y[:25]).partial_fit(X[25:], y[25:])


@pytest.mark.parametrize(
    "kind", [qed.LinearRegression, qed.Ridge, qed.TotalLeastSquares, qed.GaussianMAP, qed.MeanRegressor]
)
def test_forgetting_every_row_is_refused(kind):
    X, y = np.random.default_rng(8).standard_normal((2, 12, 3))
    model = kind().fit(X, y[:, 0])
    with pytest.raises(InputError, match="can not forget all the rows that it learned from"):
        model.forget(X, y[:, 0])
    assert model.certificate_


@pytest.mark.parametrize("near", [1e-1, 1e-3, 1e-5])
@pytest.mark.parametrize("method", ["conjugate", "steepest"])
def test_gradients_without_a_penalty_know_how_far_they_are(near, method):
    generator = np.random.default_rng(9)
    X = generator.standard_normal((60, 4))
    X[:, 3] = X[:, 0] + near * X[:, 3]
    y = X[:, 0] + (X[:, 3] - X[:, 0]) / near + generator.standard_normal(60)
    model = qed.GradientRidge(alpha=0.0, method=method, max_iter=200).fit(X, y)
    judge = Exact(X, y)
    missing = float(judge.objective(model.coef_, model.intercept_) / judge.least() - 1)
    claim = model.certificate_["objective above its minimum"]
    assert claim.value >= 0.999 * missing - 1e-14
    assert not model.certificate_ or missing <= 1e-10


@settings(max_examples=20, deadline=None)
@given(SEEDS, st.sampled_from([1e-4, 1.0, 1e3]))
def test_ridge_on_columns_of_any_size_is_proven_and_never_less_than_the_truth(seed, alpha):
    generator = np.random.default_rng(seed)
    X = generator.standard_normal((20, 3)) * 10.0 ** generator.integers(-6, 7, 3)
    y = X @ (generator.standard_normal(3) / X.std(axis=0)) + generator.standard_normal(20)
    model = qed.Ridge(alpha).fit(X, y)
    judge = Exact(X, y, alpha)
    for certificate in (model.certificate_, qed.certify(model, X, y)):
        assert certificate, f"{certificate}"
        assert certificate["excess"].value >= judge.excess(model) * (1 - 1e-6)


@settings(max_examples=15, deadline=None)
@given(SEEDS)
def test_total_least_squares_is_proven_where_it_is_right(seed):
    generator = np.random.default_rng(seed)
    X = generator.standard_normal((12, 3))
    if generator.random() < 0.5:
        X[:, 2] = X[:, 0] + 10.0 ** -generator.uniform(1, 6) * X[:, 2]
    y = X @ generator.standard_normal(3) + 10.0 ** generator.uniform(-8, -1) * generator.standard_normal(12)
    model = qed.TotalLeastSquares(fit_intercept=False).fit(X, y)
    with mpmath.workprec(200):
        table = mpmath.matrix(np.column_stack([X, y]).tolist())
        vector = mpmath.eigsy(table.T * table)[1][:, 0]
        truth = np.array([float(-vector[j] / vector[3]) for j in range(3)])
    error = np.abs(model.coef_ - truth).max() / np.abs(truth).max()
    assert error < 1e-3 or not model.certificate_


@pytest.mark.parametrize("near", [1e-5, 1e-7, 1e-9])
def test_combinations_that_are_left_out_are_known_beside_others_that_nearly_vanish(near):
    random = np.random.default_rng(1)
    X = random.standard_normal((40, 5))
    X[:, 1], X[:, 3] = 3 * X[:, 0], X[:, 2] + near * random.standard_normal(40)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = qed.LinearRegression().fit(X, random.standard_normal(40))
    claim = model.certificate_["combinations of columns left out"]
    # Zero would say that no combination was looked at: the rounding of a multiple shows.
    assert model.rank_ == 4 and 0 < claim.value <= claim.bound


def test_a_condition_number_found_by_iterations_is_proven_by_dense_rows_too():
    X = sparse.random(3000, 400, 0.01, format="csr", random_state=0)
    y = np.random.default_rng(0).standard_normal(3000)
    model = qed.LinearRegression().fit(X, y)
    assert qed.certify(model, X, y) and qed.certify(model, X.toarray(), y)
    model.condition_ *= 1.001
    assert not qed.certify(model, X, y) and not qed.certify(model, X.toarray(), y)
