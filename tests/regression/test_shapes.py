"""Least squares on tables of every shape: the same answer by every way, and claims that exact arithmetic does not contradict."""

import warnings

import numpy as np
import pytest
from scipy import sparse
from scipy.special import gammaincinv

import qed
from qed.base.errors import DegenerateWarning, UnprovenWarning
from qed.base.random import generator as keyed
from qed.base.sources.block import Block
from qed.base.sources.rows import ArrayRows
from qed.linalg.design import SparseDesign
from qed.linalg.iterative.dependent import DependentColumns
from qed.linalg.iterative.least_eigenvalue import CHANCE, VECTORS, least_eigenvalue
from qed.linalg.normal import Standing
from qed.optim.least_squares import problem as choices
from qed.optim.least_squares.equations import GramEquations, RowEquations
from qed.optim.least_squares.iterative import IterativeEquations
from qed.stats.factor import Factor
from qed.stats.kept import KeptRows
from qed.stats.moments import Moments
from tests.regression.exact import Exact

EPS = np.finfo(float).eps
pytestmark = pytest.mark.filterwarnings("ignore::qed.base.errors.DegenerateWarning")


def table(n, p, seed=0, **nasty):
    """Make a table with what is asked for: far from zero, other units, constant, doubled or nearly dependent columns, repeated rows."""
    generator = np.random.default_rng(seed)
    X = generator.standard_normal((n, p))
    if nasty.get("alike"):
        X = X[:, :1] + nasty["alike"] * X
    if nasty.get("near_rows"):
        X[n // 2] = X[0] + nasty["near_rows"] * X[n // 2]
    if nasty.get("units"):
        X = X * np.power(10.0, generator.integers(-4, 5, p))
    if nasty.get("constant"):
        X[:, 1], X[:, -1] = 3.7, X[:, 0]
    if nasty.get("far"):
        X = X + nasty["far"]
    y = X[:, :3].sum(axis=1) + generator.standard_normal(n)
    if nasty.get("repeated"):
        X[n // 2 :] = X[: n - n // 2]
    return X, y


NASTY = [
    {},
    {"far": 1e6},
    {"units": True},
    {"constant": True},
    {"alike": 1e-3},
    {"near_rows": 1e-5},
    {"units": True, "far": 1e4, "alike": 1e-2},
]


def words(nasty):
    return " ".join(nasty) or "plain"


def by_gram(model, X, y, weight=None):
    """Fit through as many equations as columns, whatever the shape."""
    rows = model._open(X, y, weight, reset=True, target="number")
    found = choices.LeastSquaresProblem(model, rows, rows.fold(Moments.of))
    model._settle(found)
    assert isinstance(found.equations, GramEquations)
    return model


@pytest.mark.parametrize("nasty", NASTY, ids=words)
@pytest.mark.parametrize("intercept", [True, False], ids=["centred", "about zero"])
@pytest.mark.parametrize("alpha", [1e-6, 1.0])
@pytest.mark.sampled(2)
def test_wide_ridge_is_as_good_as_it_claims(nasty, intercept, alpha):
    X, y = table(9, 70, **nasty)
    model = qed.Ridge(alpha, fit_intercept=intercept).fit(X, y)
    assert "rows" in model.solver_ and isinstance(model.statistic_, KeptRows)
    claimed = model.certificate_["excess"].value
    again = qed.certify(model, X, y)
    truth = Exact(X, y, alpha, centered=intercept)
    assert truth.excess(model) <= claimed and truth.excess(model) <= again["excess"].value
    assert model.certificate_ and again, f"{model.certificate_}\n{again}"


@pytest.mark.parametrize("nasty", NASTY, ids=words)
@pytest.mark.parametrize("intercept", [True, False], ids=["centred", "about zero"])
def test_wide_least_squares_is_as_good_as_it_claims_and_the_shortest(nasty, intercept):
    X, y = table(9, 70, **nasty)
    model = qed.LinearRegression(fit_intercept=intercept).fit(X, y)
    truth = Exact(X, y, centered=intercept)
    assert model.rank_ == 9 - intercept and truth.excess(model) <= model.certificate_["excess"].value
    again = qed.certify(model, X, y)
    assert model.certificate_ and again, f"{model.certificate_}\n{again}"
    exact = np.array([float(value) for value in truth.solution()])
    scale = np.linalg.norm(X - X.mean(axis=0) if intercept else X, 2)
    # The shortest solution moves by the condition number of the rows times the rounding of the table.
    rows = X - X.mean(axis=0) if intercept else X
    values = np.linalg.svd(rows, compute_uv=False)[: model.rank_]
    moved = 100 * EPS * max(1.0, np.abs(X).max() * np.sqrt(X.size) / scale) * values[0] / values[-1]
    assert np.linalg.norm(model.coef_ - exact) <= moved * np.linalg.norm(exact)


@pytest.mark.parametrize("nasty", [{}, {"units": True}, {"constant": True}, {"far": 1e4}], ids=words)
def test_every_way_gives_the_same_answer(nasty, monkeypatch):
    X, y = table(60, 80, **nasty)
    X = np.where(np.abs(X - np.median(X, axis=0)) > 0.5 * X.std(axis=0), X, 0.0)
    monkeypatch.setattr(choices, "FEW_ITERATIONS", 0)
    monkeypatch.setattr(IterativeEquations, "_most", lambda self: 60)
    for alpha in (0.5, 50.0):
        found = [
            qed.Ridge(alpha).fit(X, y),
            by_gram(qed.Ridge(alpha), X, y),
            qed.Ridge(alpha).fit(sparse.csr_array(X), y),
            qed.Ridge(alpha).fit(np.asfortranarray(X), y),
            qed.Ridge(alpha).fit(ArrayRows(X, y, size=7)),
        ]
        scale = np.abs(X).max() * np.abs(found[0].coef_).max() + np.abs(y).max()
        for model in found:
            assert model.certificate_ and qed.certify(model, X, y), f"{model.solver_} {model.certificate_}"
            np.testing.assert_allclose(model.predict(X), found[0].predict(X), atol=1e-7 * scale)
        assert len({model.solver_.split(",")[0] for model in found}) >= 2


def test_conjugate_gradients_are_as_good_as_they_claim_and_give_way_where_columns_are_alike(monkeypatch):
    monkeypatch.setattr(choices, "FEW_ITERATIONS", 0)
    monkeypatch.setattr(IterativeEquations, "_most", lambda self: 32)
    generator = np.random.default_rng(3)
    X = sparse.random_array((30, 64), density=0.1, random_state=3, format="csr")
    y = generator.standard_normal(30)
    model = qed.Ridge(1.0).fit(X, y)
    assert model.solver_.startswith("conjugate gradients") and model.certificate_ and qed.certify(model, X, y)
    truth = Exact(X.toarray(), y, 1.0)
    assert truth.excess(model) <= model.certificate_["excess"].value
    exact = np.array([float(value) for value in truth.solution()])
    np.testing.assert_allclose(model.coef_, exact, atol=1e-9 * np.abs(exact).max())
    few = X.toarray()[:, :20]
    alike = sparse.csr_array(np.hstack([few[:, :1] + 1e-4 * few, few]))
    gave_way = qed.Ridge(1e-8).fit(alike, y)
    assert not gave_way.solver_.startswith("conjugate") and gave_way.certificate_ and qed.certify(gave_way, alike, y)
    assert Exact(alike.toarray(), y, 1e-8).excess(gave_way) <= gave_way.certificate_["excess"].value


@pytest.mark.parametrize("nasty", NASTY, ids=words)
@pytest.mark.parametrize("alpha", [0.0, 1.0])
def test_tall_tables_are_as_good_as_they_claim(nasty, alpha):
    X, y = table(25, 5, **nasty)
    if nasty.get("constant"):
        X = X[:, :-1]
        X[:, 1] = np.arange(25.0)
    model = qed.Ridge(alpha).fit(X, y)
    assert model.certificate_ and qed.certify(model, X, y)
    truth = Exact(X, y, alpha).excess(model)
    assert truth <= model.certificate_["excess"].value


@pytest.mark.parametrize("shape", [(1, 70), (2, 70), (69, 70), (70, 70), (71, 70), (72, 70), (1, 1), (3, 3), (4, 3)])
@pytest.mark.parametrize("intercept", [True, False])
def test_shapes_at_the_border(shape, intercept):
    X, y = table(*shape)
    Y = np.column_stack([y, y**2])
    for model in (qed.LinearRegression(fit_intercept=intercept), qed.Ridge([0.1, 3.0], fit_intercept=intercept)):
        model.fit(X, Y)
        assert model.certificate_ and qed.certify(model, X, Y), f"{model.certificate_}"
        assert np.isfinite(model.coef_).all() and model.coef_.shape == (2, shape[1])
    flat = qed.LinearRegression(fit_intercept=intercept).fit(X, y)
    A = np.column_stack([X, np.ones(len(y))]) if intercept else X
    least = np.sum((A @ np.linalg.lstsq(A, y, rcond=None)[0] - y) ** 2)
    assert np.sum((flat.predict(X) - y) ** 2) <= least + 1e-12 * (y @ y)
    assert flat.rank_ == min(shape[0] - intercept, shape[1])


def test_weights_are_repetitions_and_zero_is_absence_in_wide_tables():
    X, y = table(20, 90)
    weight = np.array([0, 1, 2, 3] * 5)
    for kind in (qed.Ridge, qed.LinearRegression):
        weighted = kind().fit(X, y, sample_weight=weight.astype(float))
        repeated = kind().fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
        np.testing.assert_allclose(weighted.coef_, repeated.coef_, atol=1e-11 * np.abs(repeated.coef_).max())
        assert weighted.certificate_ and qed.certify(weighted, X, y, weight)
    assert (
        Exact(X, y, 1.0, weight).excess(qed.Ridge().fit(X, y, weight))
        <= qed.Ridge().fit(X, y, weight).certificate_["excess"].value
    )


def test_repeated_rows_leave_an_error_and_a_warning():
    X, y = table(20, 90, repeated=True)
    with pytest.warns(UserWarning, match="only 9 of 19 rows are independent"):
        model = qed.LinearRegression().fit(X, y)
    assert model.rank_ == 9 and model.certificate_ and qed.certify(model, X, y)
    mean = (y[:10] + y[10:]) / 2
    np.testing.assert_allclose(model.predict(X[:10]), mean, atol=1e-9)
    moved = qed.LinearRegression().fit(X, y)
    moved.coef_ = moved.coef_ + 1e-3
    assert not qed.certify(moved, X, y)


def test_float32_wide_and_sparse():
    X, y = table(30, 100)
    small = qed.Ridge().fit(X.astype(np.float32), y.astype(np.float32))
    assert small.certificate_ and small.predict(X.astype(np.float32)).dtype == np.float32
    np.testing.assert_allclose(small.coef_, qed.Ridge().fit(X, y).coef_, atol=1e-5)
    S = sparse.random_array((300, 100), density=0.05, random_state=0, format="csr", dtype=np.float32)
    target = np.random.default_rng(0).standard_normal(300)
    for kind in (qed.Ridge, qed.LinearRegression):
        thin = kind().fit(S, target)
        same = kind().fit(S.astype(np.float64), target)
        assert thin.certificate_ and qed.certify(thin, S, target)
        np.testing.assert_allclose(thin.coef_, same.coef_, atol=1e-10 * np.abs(same.coef_).max())


@pytest.mark.parametrize("sparse_rows", [False, True], ids=["dense", "sparse"])
@pytest.mark.parametrize("kind", [qed.Ridge, qed.LinearRegression])
def test_more_rows_and_fewer_rows_after_a_wide_fit(kind, sparse_rows):
    X, y = table(40, 100)
    given = sparse.csr_array(np.where(np.abs(X) > 1, X, 0.0)) if sparse_rows else X
    model = kind().fit(given[:10], y[:10])
    assert isinstance(model.statistic_, KeptRows)
    model.partial_fit(given[10:30], y[10:30]).partial_fit(given[30:], y[30:])
    whole = kind().fit(given, y)
    np.testing.assert_allclose(model.coef_, whole.coef_, atol=1e-11)
    model.forget(given[5:25], y[5:25])
    left = np.r_[0:5, 25:40]
    rest = kind().fit(given[left], y[left])
    assert model.statistic_.count == 20 and isinstance(model.statistic_, KeptRows)
    np.testing.assert_allclose(model.coef_, rest.coef_, atol=1e-11)
    assert model.certificate_ and qed.certify(model, given[left], y[left])


def test_many_rows_turn_kept_rows_into_moments_and_the_answer_stays():
    X, y = table(300, 70)
    model = qed.LinearRegression().fit(X[:60], y[:60])
    model.partial_fit(X[60:], y[60:])
    assert isinstance(model.statistic_, Moments)
    np.testing.assert_allclose(model.coef_, qed.LinearRegression().fit(X, y).coef_, rtol=1e-9)
    model.forget(X[60:], y[60:])
    np.testing.assert_allclose(model.predict(X[:60]), y[:60], atol=1e-6)


def test_rows_that_were_never_learned_can_not_be_forgotten():
    X, y = table(20, 90)
    model = qed.Ridge().fit(X, y)
    with pytest.raises(ValueError, match="not that many"):
        model.forget(np.vstack([X, X]), np.r_[y, y])
    with pytest.raises(ValueError, match="not among those"):
        model.forget(1000 * X[:3], 1000 * y[:3])


@pytest.mark.parametrize("sparse_rows", [False, True], ids=["dense", "sparse"])
def test_a_wide_model_is_saved_with_its_rows_and_learns_on(tmp_path, sparse_rows):
    X, y = table(20, 90)
    given = sparse.csr_array(np.where(np.abs(X) > 1, X, 0.0)) if sparse_rows else X
    for model in (qed.Ridge().fit(given, y), qed.LinearRegression().fit(given, y)):
        qed.save(model, tmp_path / "wide.qed")
        loaded = qed.load(tmp_path / "wide.qed")
        assert qed.certify(loaded, given, y) and loaded.solver_ == model.solver_
        np.testing.assert_array_equal(loaded.coef_, model.coef_)
        model.partial_fit(given[:5], y[:5])
        loaded.partial_fit(given[:5], y[:5])
        np.testing.assert_array_equal(loaded.coef_, model.coef_)


def test_what_the_user_does_with_the_table_later_changes_no_model():
    X, y = table(20, 90)
    given = X.copy()
    model = qed.Ridge().fit(given, y)
    given[:] = 0.0
    assert given.flags.writeable
    model.partial_fit(X[:1], y[:1]).forget(X[:1], y[:1])
    np.testing.assert_allclose(model.coef_, qed.Ridge().fit(X, y).coef_, atol=1e-13)


def test_a_wide_file_gives_what_the_array_gives(tmp_path):
    X, y = table(50, 80)
    qed_rows = np.column_stack([X, y])
    path = tmp_path / "wide.csv"
    np.savetxt(path, qed_rows, delimiter=",", header=",".join([*(f"x{j}" for j in range(80)), "y"]), comments="")
    for kind in (qed.Ridge, qed.LinearRegression):
        model = kind().fit(qed.rows(path, target="y", block_size=16))
        array = kind().fit(X, y)
        assert isinstance(model.statistic_, KeptRows) and model.certificate_
        np.testing.assert_allclose(model.coef_, array.coef_, atol=1e-12)
        assert qed.certify(model, qed.rows(path, target="y", block_size=16))


def test_missing_values_and_overflow_are_named_in_every_way():
    X, y = table(20, 90)
    broken = X.copy()
    broken[3, 7] = np.nan
    for given in (broken, sparse.csr_array(broken), np.vstack([broken] * 8)):
        with pytest.raises(ValueError, match=r"column number 7, row 3"):
            qed.Ridge().fit(given, np.resize(y, given.shape[0]))
    with pytest.raises(ValueError, match="overflow"):
        qed.Ridge().fit(1e200 * X, y)
    model = qed.Ridge().fit(X, y)
    with pytest.raises(ValueError, match=r"column number 7, row 3"):
        model.predict(broken)


def test_a_large_square_table_is_multiplied_out_at_once():
    X, y = table(1100, 512)
    model = qed.Ridge().fit(X, y)
    folded = by_gram(qed.Ridge(), X, y)
    assert isinstance(model.statistic_, Moments) and model.certificate_
    np.testing.assert_allclose(model.coef_, folded.coef_, atol=1e-12)
    # Two ways of adding up n numbers differ by at most n roundings of their absolute sum.
    lengths = np.sqrt(np.diagonal(folded.statistic_.scatter))
    apart = np.abs(model.statistic_.scatter - folded.statistic_.scatter)
    assert (apart <= len(X) * EPS * np.outer(lengths, lengths)).all()


class TestKeptRows:
    def test_it_adds_up_like_moments(self):
        X, y = table(30, 40, far=1e5)
        weight = np.random.default_rng(0).integers(0, 3, 30).astype(float)
        parts = [KeptRows.of(Block(X[part], y[part], weight[part])) for part in (slice(0, 11), slice(11, 30))]
        both, moments = parts[0] + parts[1], Moments.of(Block(X, y, weight))
        assert isinstance(both, KeptRows) and both.count == moments.count and both.weight == moments.weight
        np.testing.assert_allclose(both.mean, moments.mean, rtol=1e-15)
        lengths = np.sqrt(np.diagonal(moments.scatter))
        np.testing.assert_allclose(both.scatter, moments.scatter, atol=30 * EPS * lengths.max() ** 2)
        mixed = (parts[0] + Moments.of(Block(X[11:], y[11:], weight[11:]))).scatter
        np.testing.assert_allclose(mixed, moments.scatter, atol=30 * EPS * lengths.max() ** 2)
        assert both.fingerprint().matches(moments.fingerprint())

    def test_sparse_and_dense_have_the_same_moments(self):
        X, y = table(500, 70)
        X = np.where(np.abs(X) > 1.5, X, 0.0)
        X[:, 3] = 2.0
        dense = Moments.of(Block(X, y))
        thin = KeptRows.of(Block(sparse.csr_array(X), y)).moments()
        np.testing.assert_allclose(thin.scatter, dense.scatter, atol=500 * EPS * np.diagonal(dense.scatter).max())
        assert (thin.scatter[3] == 0).all() and (dense.scatter[3] == 0).all()

    def test_values_stored_twice_are_added(self):
        rows = sparse.csr_array((np.array([1.0, 2.0, 4.0]), np.array([0, 0, 2]), np.array([0, 2, 3])), shape=(2, 3))
        kept = KeptRows.of(Block(rows, np.array([1.0, 2.0])))
        np.testing.assert_array_equal(kept.X.toarray(), [[3.0, 0.0, 0.0], [0.0, 0.0, 4.0]])
        assert rows.nnz == 3

    @pytest.mark.parametrize("threads", [1, 3])
    def test_products_do_not_depend_on_threads(self, threads):
        S = sparse.random_array((70_000, 70), density=0.2, random_state=0, format="csr")
        design = KeptRows.of(Block(S, np.zeros(70_000))).design()
        vector = np.random.default_rng(0).standard_normal(70)
        with qed.threads(1):
            alone = design.gram_times(vector)
        with qed.threads(threads):
            np.testing.assert_array_equal(design.gram_times(vector), alone)
        centred = S.toarray() - S.toarray().mean(axis=0)
        size = np.abs(centred).T @ (np.abs(centred) @ np.abs(vector))
        assert (np.abs(alone - centred.T @ (centred @ vector)) <= 70_000 * EPS * size).all()


def test_the_way_is_chosen_by_what_is_kept():
    X, y = table(20, 90)
    kept = KeptRows.of(Block(X, y))
    thin = KeptRows.of(Block(sparse.csr_array(X), y))
    assert isinstance(choices.equations_of(kept, None, centered=True), RowEquations)
    assert isinstance(choices.equations_of(thin, None, centered=True), IterativeEquations)
    assert isinstance(choices.equations_of(kept.moments(), None, centered=True), GramEquations)


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("kind", [np.float64, np.float32])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("shape", [(200, 70), (40, 120)])
@pytest.mark.sampled(3)
def test_sparse_least_squares_by_iterations_claim_no_less_than_the_truth(shape, weighted, kind, intercept, monkeypatch):
    monkeypatch.setattr(choices, "FEW_ITERATIONS", 0)
    monkeypatch.setattr(IterativeEquations, "_most", lambda self: 200)
    generator = np.random.default_rng(5)
    X = sparse.random_array(shape, density=0.1, random_state=5, format="csr").astype(kind)
    Y = generator.standard_normal((shape[0], 2)).astype(kind)
    weight = generator.integers(1, 4, shape[0]).astype(float) if weighted else None
    model = qed.LinearRegression(fit_intercept=intercept).fit(X, Y, sample_weight=weight)
    assert model.solver_.startswith("conjugate gradients"), model.solver_
    again = qed.certify(model, X, Y, sample_weight=weight)
    assert model.certificate_ and again, f"{model.certificate_}\n{again}"
    root = np.ones(shape[0]) if weight is None else np.sqrt(weight)
    A, B = X.toarray().astype(float), Y.astype(float)
    if intercept:
        A, B = A - np.average(A, axis=0, weights=weight), B - np.average(B, axis=0, weights=weight)
    exact = np.linalg.lstsq(A * root[:, None], B * root[:, None], rcond=None)[0]
    claimed = next(claim.value for claim in model.certificate_ if claim.says.startswith("relative error"))
    # The oracle itself rounds: by the condition number, which is below a hundred here.
    assert np.linalg.norm(model.coef_.T - exact) <= (claimed + 1e-11) * np.linalg.norm(exact)
    assert model.rank_ == min(shape[1], shape[0] - intercept)


def test_sparse_least_squares_with_constant_or_equal_columns(monkeypatch):
    monkeypatch.setattr(choices, "FEW_ITERATIONS", 0)
    monkeypatch.setattr(IterativeEquations, "_most", lambda self: 200)
    X = sparse.random_array((200, 70), density=0.1, random_state=5, format="csr")
    y = np.random.default_rng(5).standard_normal(200)
    empty = sparse.csr_array(sparse.hstack([X, sparse.csr_array((200, 2))]))
    with pytest.warns(DegenerateWarning, match="number 70, number 71"):
        model = qed.LinearRegression().fit(empty, y)
    assert model.solver_.startswith("conjugate") and model.rank_ == 70 and not model.coef_[70:].any()
    assert model.certificate_ and qed.certify(model, empty, y)
    twice = sparse.csr_array(sparse.hstack([X, X[:, [3]]]))
    with pytest.warns(DegenerateWarning, match="number 3, number 70"):
        model = qed.LinearRegression().fit(twice, y)
    assert model.solver_.startswith("conjugate") and model.rank_ == 70
    assert model.certificate_ and qed.certify(model, twice, y)
    assert abs(model.coef_[3] - model.coef_[70]) < 1e-9 * np.abs(model.coef_).max()


def _with_dependent_columns(seed=0, near=0.0):
    generator = np.random.default_rng(seed)
    X = sparse.random_array((900, 90), density=0.05, random_state=seed, format="csc")
    X.data -= 0.3
    more = [
        X[:, [0]],
        -2 * X[:, [1]],
        X[:, [2]] + X[:, [3]],
        X[:, [4]] - 0.5 * X[:, [5]] + X[:, [6]],
        sparse.csc_array((900, 1)),
    ]
    X = sparse.csr_array(sparse.hstack([X, *more]) * 10.0 ** generator.integers(-3, 4, 95))
    if near:
        X[X[:, [92]].nonzero()[0][0], 92] *= 1 + near
    return X, generator.standard_normal((900, 2)) + X[:, [1, 2]].toarray() / 10


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("intercept", [False, True])
def test_dependent_sparse_columns_give_the_shortest_solution_without_a_dense_table(monkeypatch, intercept, weighted):
    monkeypatch.setattr(choices, "FEW_ITERATIONS", 0)
    monkeypatch.setattr(IterativeEquations, "_most", lambda self: 400)
    monkeypatch.setattr(Factor, "of", lambda block: pytest.fail("a dense factor was formed"))
    X, Y = _with_dependent_columns()
    weight = np.random.default_rng(1).integers(1, 4, 900).astype(float) if weighted else None
    with pytest.warns(DegenerateWarning, match="5 of 95 columns"):
        model = qed.LinearRegression(fit_intercept=intercept).fit(X, Y, sample_weight=weight)
    assert "shortest" in model.solver_ and model.rank_ == 90
    again = qed.certify(model, X, Y, sample_weight=weight)
    assert model.certificate_ and again, f"{model.certificate_}\n{again}"
    root = np.ones(900) if weight is None else np.sqrt(weight)
    A, B = X.toarray(), Y
    if intercept:
        A, B = A - np.average(A, axis=0, weights=weight), B - np.average(B, axis=0, weights=weight)
    A, B = A * root[:, None], B * root[:, None]
    length = np.where(np.linalg.norm(A, axis=0) > 0, np.linalg.norm(A, axis=0), 1.0)
    U, values, V = np.linalg.svd(A / length, full_matrices=False)
    exact = V[:90].T / values[:90] @ (U[:, :90].T @ B) / length[:, None]
    null = np.linalg.qr(np.vstack([V[90:] / length]).T)[0]
    exact -= null @ (null.T @ exact)
    claimed = next(claim.value for claim in model.certificate_ if claim.says.startswith("relative error"))
    # The oracle rounds, too: by the condition number, below a hundred, and by what units that differ by 1e6 make of the null space.
    assert np.linalg.norm(model.coef_.T - exact) <= (claimed + 1e-9) * np.linalg.norm(exact)
    assert claimed < 1e-4


@pytest.mark.parametrize("near", [1e-9, 1e-5])
def test_nearly_dependent_sparse_columns_are_not_taken_for_dependent(monkeypatch, near):
    monkeypatch.setattr(choices, "FEW_ITERATIONS", 0)
    monkeypatch.setattr(IterativeEquations, "_most", lambda self: 400)
    X, Y = _with_dependent_columns(near=near)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", (DegenerateWarning, UnprovenWarning))
        model = qed.LinearRegression().fit(X, Y)
    assert "QR" in model.solver_ and model.rank_ == 91


def test_bounds_of_dependent_columns_are_never_below_the_truth():
    X, Y = _with_dependent_columns(3)
    kept = KeptRows.of_table(X, Y, None)
    design, target, A = kept.design(), kept.target(), kept.design().dense().rows
    found = DependentColumns.of(design, target, 400, kept.moments().xx)
    scaled = A / found.scale
    assert found.rank == 90 and found.left >= 0.5 * np.linalg.norm(scaled @ found.basis, 2)
    values = np.linalg.eigvalsh(scaled.T @ scaled)[5:]
    assert (
        1e-3 * values[0] < found.least.bound <= values[0]
        and found.least.condition <= (1 + 1e-6) * values[-1] / values[0]
    )
    best = found.solve().coef
    assert found.outside(best) < 1e-10 and found.shortest_error(best, np.linalg.norm(target - A @ best, axis=0)) < 1e-4
    generator = np.random.default_rng(3)
    for size in (1e-8, 1e-4, 1.0):
        coef = best + size * generator.standard_normal(best.shape) / found.scale[:, None] * design.varying[:, None]
        gradient, missed = A.T @ (target - A @ coef), ((A @ (coef - best)) ** 2).sum(axis=0)
        at = Standing(coef, gradient, np.zeros_like(coef), np.zeros(2), np.ones(2), np.zeros(2), 90)
        assert (found.excess(at) >= (1 - 1e-6) * missed).all()
        share = np.linalg.norm(found.left_out.T @ coef) / np.linalg.norm(coef)
        assert found.outside(coef) >= share
        far = (np.linalg.norm(coef - best, axis=0) / np.linalg.norm(coef, axis=0)).max()
        assert found.shortest_error(coef, np.linalg.norm(target - A @ coef, axis=0)) >= far


def test_least_eigenvalue_is_never_above_the_truth():
    generator = np.random.default_rng(0)
    for least in (1.0, 1e-1, 1e-3, 1e-6, 0.0):
        for d in (2, 30, 200):
            Q = np.linalg.qr(generator.standard_normal((d, d)))[0]
            values = np.append(generator.uniform(1.0, 2.0, d - 1), least)
            H = Q * values @ Q.T
            found = least_eigenvalue(lambda vectors, H=H: H @ vectors, np.ones(d, dtype=bool), 100)
            assert found.bound <= least + 1e-12 and (found.bound > 0.01 * least or least < 1e-2)
            # Eigenvalues of the small tridiagonal matrices lie within those of H, but for rounding.
            assert found.condition <= (1 + 1e-6) * values.max() / values.min() if least and found.bound else True


@pytest.mark.parametrize("least", [0.5, 0.1, 1e-2, 1e-3])
def test_least_eigenvalue_holds_for_a_direction_that_the_vectors_hardly_see(least):
    d, draw = 120, np.random.default_rng(11)
    seen = keyed(0, "least eigenvalue").standard_normal((d, VECTORS))
    inside, hidden = np.linalg.qr(seen)[0], draw.standard_normal(d)
    hidden -= inside @ (inside.T @ hidden)
    # As little of the vectors as one draw in a hundred million has, and one part in a hundred more.
    share = 1.01 * np.sqrt(2 * gammaincinv(VECTORS / 2, CHANCE)) / np.linalg.norm(seen.T @ inside[:, 0])
    vector = share * inside[:, 0] + np.sqrt(1 - share**2) * hidden / np.linalg.norm(hidden)
    Q = np.linalg.qr(np.column_stack([vector, draw.standard_normal((d, d - 1))]))[0]
    H = Q * np.append(least, draw.uniform(1.0, 2.0, d - 1)) @ Q.T
    found = least_eigenvalue(lambda vectors: H @ vectors, np.ones(d, dtype=bool), 100)
    assert found.bound <= least + 1e-12


def test_wide_sparse_ridge_stays_in_the_span_of_its_rows(monkeypatch):
    monkeypatch.setattr(choices, "FEW_ITERATIONS", 0)
    X = sparse.random_array((50, 600), density=0.05, random_state=4, format="csr")
    y = np.random.default_rng(4).standard_normal(50)
    model = qed.Ridge(1.0).fit(X, y)
    # In exact arithmetic there are no more steps than rows, however many columns there are; rounding may ask for a few more.
    assert int(model.solver_.split()[-2]) <= 60
    assert model.certificate_ and qed.certify(model, X, y)
    scale = np.where(np.arange(600) % 3, 1.0, 1e5)
    mixed = sparse.csr_array(X * scale)
    model = qed.Ridge(1.0).fit(mixed, y)
    assert model.certificate_ and qed.certify(model, mixed, y)
    np.testing.assert_allclose(model.predict(mixed), qed.Ridge(1.0).fit(mixed.toarray(), y).predict(mixed), atol=1e-8)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_the_rounding_of_sparse_residuals_is_added_up_in_one_pass(dtype):
    draw = np.random.default_rng(5)
    X = sparse.random_array((400, 30), density=0.2, random_state=5, format="csr").astype(dtype)
    weights, coef, y = draw.uniform(0.5, 2.0, 400), draw.standard_normal((30, 2)), draw.standard_normal((400, 2))
    center = np.asarray(X.mean(axis=0), dtype=np.float64)
    design = SparseDesign(X, weights, center, np.zeros(30))
    target = design.root[:, None] * y
    residual = target - design.times(coef)
    size, away, root = abs(X).toarray().astype(np.float64), np.abs(center), design.root[:, None]
    terms = np.diff(X.indptr)[:, None] + 4.0
    hidden = EPS * (root * (terms * (size @ np.abs(coef)) + 4 * (away @ np.abs(coef))) + 2 * np.abs(target))
    weighted, blurred = root * np.abs(residual), root * hidden
    wanted = EPS * ((design.counts + 4)[:, None] * (size.T @ weighted) + 64 * np.outer(away, weighted.sum(axis=0)))
    wanted += size.T @ blurred + np.outer(away, blurred.sum(axis=0))
    found = design.back_noise(residual, coef, target)
    # Sums of positive terms, of at most 400 rows.
    np.testing.assert_allclose(found, wanted, rtol=400 * EPS)
