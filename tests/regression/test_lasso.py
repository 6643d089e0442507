"""Lasso and elastic net: against scikit-learn, on every kind of table, with certificates that object, from every solver."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.linear_model import ElasticNet as SklearnElasticNet
from sklearn.linear_model import enet_path

import qed
from qed.base.errors import InputError, ParameterError
from qed.regression.sparse import problem as lasso_problem


def table(n=60, p=10, seed=0, offset=2.0):
    generator = np.random.default_rng(seed)
    X = generator.standard_normal((n, p)) + offset
    return X, X[:, :3] @ [3.0, -2.0, 1.0] + generator.standard_normal(n) + 5.0


def peer(X, y, weight=None, **settings):
    return SklearnElasticNet(tol=1e-13, max_iter=100_000, **settings).fit(X, y, weight)


def by_columns(model, *data):
    """Fit with columns in memory, whatever the shape."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lasso_problem, "FEW_COLUMNS", 0)
        return model.fit(*data)


FITS = {"gram": lambda model, *data: model.fit(*data), "columns": by_columns}
SETTINGS = [
    {},
    {"fit_intercept": False},
    {"positive": True},
    {"l1_ratio": 0.4},
    {"l1_ratio": 0.4, "positive": True, "fit_intercept": False},
]


@pytest.mark.parametrize("way", FITS)
@pytest.mark.parametrize("settings", SETTINGS, ids=str)
@pytest.mark.parametrize("shape", [(60, 10), (25, 40)])
def test_agrees_with_scikit_learn(shape, settings, way):
    X, y = table(*shape)
    settings = {"alpha": 0.2, "l1_ratio": 1.0, **settings}
    ours = FITS[way](qed.ElasticNet(**settings), X, y)
    theirs = peer(X, y, **settings)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-7)
    assert ours.intercept_ == pytest.approx(theirs.intercept_, abs=1e-6)
    assert ours.certificate_ and qed.certify(ours, X, y)
    assert ours.solver_.startswith("Gram" if way == "gram" else "columns")


@pytest.mark.parametrize("way", FITS)
@pytest.mark.parametrize("intercept", [True, False])
def test_weights_several_outputs_and_sparse_tables_agree_with_scikit_learn(way, intercept):
    X, y = table()
    X[np.random.default_rng(1).random(X.shape) < 0.6] = 0.0
    weight = np.random.default_rng(2).integers(0, 4, len(y)).astype(float)
    settings = {"alpha": 0.1, "l1_ratio": 1.0, "fit_intercept": intercept}
    for data in (X, sparse.csr_array(X), sparse.csc_matrix(X), np.asfortranarray(X)):
        ours, theirs = FITS[way](qed.ElasticNet(**settings), data, y, weight), peer(X, y, weight, **settings)
        np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-8)
        assert ours.certificate_ and qed.certify(ours, data, y, weight)
    outputs = np.column_stack([y, -y[::-1], np.zeros(len(y))])
    ours, theirs = FITS[way](qed.ElasticNet(**settings), X, outputs), peer(X, outputs, **settings)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-8)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_ * np.ones(3), atol=1e-8)
    assert ours.coef_.shape == (3, 10) and not ours.coef_[2].any() and ours.certificate_
    assert ours.dual_gap_.shape == (3,) and ours.sparse_coef_.nnz == np.count_nonzero(ours.coef_)


@pytest.mark.parametrize("way", FITS)
def test_single_precision_is_taken_without_loss(way):
    X, y = table()
    narrow = X.astype(np.float32)
    ours = FITS[way](qed.Lasso(0.1), narrow, y.astype(np.float32))
    wide = FITS[way](qed.Lasso(0.1), narrow.astype(np.float64), y.astype(np.float32).astype(np.float64))
    np.testing.assert_allclose(ours.coef_, wide.coef_, rtol=1e-12)
    assert ours.predict(narrow).dtype == np.float32 and ours.certificate_


@pytest.mark.parametrize("way", FITS)
@pytest.mark.parametrize("place", range(3))
def test_a_moved_coefficient_is_noticed(way, place):
    X, y = table()
    model = FITS[way](qed.Lasso(0.1), X, y)
    model.coef_[place] *= 1.001
    assert not qed.certify(model, X, y)
    model = FITS[way](qed.Lasso(0.1), X, y)
    model.coef_[np.flatnonzero(model.coef_ == 0)[0]] = 1e-4
    assert not qed.certify(model, X, y)
    model = FITS[way](qed.Lasso(0.1), X, y)
    model.intercept_ *= 1.001
    assert not qed.certify(model, X, y)


@pytest.mark.parametrize("settings", [{}, {"l1_ratio": 0.6}, {"positive": True}], ids=str)
@pytest.mark.parametrize(("solver", "tol"), [("coordinate", 1e-12), ("proximal", 1e-12), ("irls", 1e-6)])
def test_all_solvers_find_the_same(solver, tol, settings):
    if solver == "irls" and settings.get("positive"):
        with pytest.raises(ParameterError, match="irls"):
            qed.Lasso(solver="irls", positive=True).fit(*table())
        return
    X, y = table()
    outputs = np.column_stack([y, y[::-1]])
    settings = {"alpha": 0.2, "l1_ratio": 1.0, **settings}
    exact = qed.ElasticNet(**settings).fit(X, outputs)
    found = qed.ElasticNet(solver=solver, tol=tol, max_iter=5000, **settings).fit(X, outputs)
    assert found.certificate_ and found.ending_.reason is qed.Reason.CERTIFIED
    assert found.ending_.step.objective == pytest.approx(exact.ending_.step.objective, rel=10 * tol)
    np.testing.assert_allclose(found.coef_, exact.coef_, atol=30 * tol**0.5)
    assert found.solver_ != exact.solver_


def test_coordinate_descent_on_columns_in_memory():
    X, y = table(25, 40)
    found = by_columns(qed.Lasso(0.2, solver="coordinate", tol=1e-10), X, y)
    np.testing.assert_allclose(found.coef_, qed.Lasso(0.2).fit(X, y).coef_, atol=1e-6)
    assert found.certificate_ and found.solver_.endswith("coordinate descent")


@pytest.mark.parametrize("way", FITS)
def test_nothing_to_penalise(way):
    for shape in ((60, 10), (8, 20)):
        X, y = table(*shape)
        free = FITS[way](qed.Lasso(0.0), X, y)
        assert free.certificate_ and qed.certify(free, X, y) and "LinearRegression" in free.solver_
        ridge = FITS[way](qed.ElasticNet(0.3, l1_ratio=0.0), X, y)
        np.testing.assert_allclose(ridge.coef_, qed.Ridge(0.3 * len(y)).fit(X, y).coef_, rtol=1e-8)
        assert ridge.certificate_ and ridge.alpha_max_ == np.inf
        ridge.coef_[0] *= 1.001
        assert not qed.certify(ridge, X, y)
    thin = FITS[way](qed.Lasso(0.0), sparse.csr_array(X), y)
    np.testing.assert_allclose(thin.coef_, free.coef_, atol=1e-8)
    positive = FITS[way](qed.Lasso(0.0, positive=True), X, y)
    assert (positive.coef_ >= 0).all() and positive.certificate_


@pytest.mark.parametrize("way", FITS)
def test_odd_tables(way):
    X, y = table()
    X[:, 4], X[:, 5], X[:, 6] = 7.0, 0.0, X[:, 0]
    model = FITS[way](qed.Lasso(0.05), X, y)
    assert model.certificate_ and model.coef_[4] == model.coef_[5] == 0.0
    assert FITS[way](qed.Lasso(1.0), X, np.full(60, 3.0)).intercept_ == 3.0
    single = FITS[way](qed.Lasso(0.1), [[2.0, 1.0]], [3.0])
    assert single.predict([[2.0, 1.0]]) == pytest.approx([3.0]) and single.certificate_
    huge = FITS[way](qed.Lasso(0.1), X * 1e9, y * 1e-7)
    tiny = FITS[way](qed.Lasso(1e-12), X * 1e-9, y)
    assert huge.certificate_ and tiny.certificate_
    np.testing.assert_allclose(tiny.predict(X * 1e-9), FITS[way](qed.Lasso(1e-3), X, y).predict(X), rtol=1e-6)
    nothing = FITS[way](qed.Lasso(model.alpha_max_), X, y)
    assert not nothing.coef_.any() and nothing.certificate_ and "all coefficients are zero" in nothing.solver_


def test_what_can_not_be_used_is_refused_by_name():
    X, y = table()
    X[3, 1] = np.nan
    for fit in FITS.values():
        with pytest.raises(ValueError, match="column number 1, row 3"):
            fit(qed.Lasso(), X, y)
        with pytest.raises(ValueError, match="overflow"):
            fit(qed.Lasso(), np.array([[1e200], [-1e200], [3e199]]), [1.0, 2.0, 3.0])
    with pytest.raises(ParameterError, match="alpha must be a finite number >= 0"):
        qed.Lasso(-1.0).fit(*table())
    with pytest.raises(ParameterError, match="l1_ratio"):
        qed.ElasticNet(l1_ratio=1.5).fit(*table())
    with pytest.raises(ParameterError, match="solver"):
        qed.Lasso(solver="magic").fit(*table())
    for bad in ([-1.0], [], 0, 2.5, "many", [[1.0]]):
        with pytest.raises(ParameterError, match="alphas"):
            qed.lasso_path(*table(), bad)
    with pytest.raises(ParameterError, match="eps"):
        qed.lasso_path(*table(), eps=2.0)
    with pytest.raises(ParameterError, match="give the alphas"):
        qed.elastic_net_path(*table(), l1_ratio=0.0)
    with pytest.raises(ParameterError, match="radius"):
        qed.constrained_lasso(*table(), -1.0)
    with pytest.raises(InputError, match="one output"):
        qed.constrained_lasso(X[10:], np.column_stack([y, y])[10:], 1.0)


def test_a_table_too_wide_for_a_gram_matrix():
    generator = np.random.default_rng(0)
    X = sparse.random_array((40, 12_000), density=0.02, rng=generator, format="csr")
    y = X[:, :5] @ np.ones(5) + X[:, 5:10] @ np.ones(5)
    model = qed.Lasso(1e-3).fit(X, y)
    assert model.certificate_ and model.solver_.startswith("columns")
    ridge = qed.ElasticNet(1e-2, l1_ratio=0.0).fit(X, y)
    assert ridge.certificate_
    with pytest.raises(ParameterError, match="solver='auto'"):
        qed.Lasso(solver="proximal").fit(X, y)


@pytest.mark.parametrize("shape", [(300, 12), (40, 700)])
def test_threads_change_no_bit(shape):
    X, y = table(*shape)
    with qed.threads(1):
        one, path = qed.Lasso(0.05).fit(X, y), qed.lasso_path(X, y, alphas=20)
    with qed.threads(3):
        three, again = qed.Lasso(0.05).fit(X, y), qed.lasso_path(X, y, alphas=20)
    np.testing.assert_array_equal(one.coef_, three.coef_)
    np.testing.assert_array_equal(path.coef, again.coef)


@pytest.mark.parametrize("solver", ["auto", "coordinate", "proximal", "irls"])
def test_a_fit_can_be_stopped_and_resumed(solver):
    X, y = table()
    settings = {"alpha": 0.05, "solver": solver, "tol": 1e-6}
    whole = qed.Lasso(**settings).fit(X, y)
    with pytest.warns(UserWarning) if whole.n_iter_ > 1 else np.errstate():
        part = qed.Lasso(max_iter=1, **settings).fit(X, y)
    part.set_params(max_iter=1000).resume(X, y)
    np.testing.assert_array_equal(part.coef_, whole.coef_)
    assert part.n_iter_ == whole.n_iter_ and part.certificate_
    with pytest.raises(InputError, match="other data"):
        part.resume(X + 1.0, y)


def test_a_wide_fit_goes_on_from_a_step():
    X, y = table(40, 700)
    walk = qed.steps(qed.Lasso(0.01), X, y)
    first = next(walk)
    assert first.gap > 1e-3 and not walk.model_at(first).certificate_
    last = list(qed.steps(qed.Lasso(0.01), X, y, start=first))[-1]
    np.testing.assert_allclose(last.coef[:, 0], qed.Lasso(0.01).fit(X, y).coef_, atol=1e-8)


@pytest.mark.parametrize("way", FITS)
def test_paths_agree_with_scikit_learn_and_with_single_fits(way):
    X, y = table(offset=0.0)
    X, y = X - X.mean(0), y - y.mean()
    alphas, theirs, _ = enet_path(X, y, l1_ratio=0.7, alphas=15, eps=1e-2, tol=1e-12, max_iter=100_000)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lasso_problem, "FEW_COLUMNS", 512 if way == "gram" else 0)
        path = qed.elastic_net_path(X, y, l1_ratio=0.7, alphas=15, eps=1e-2)
        turned = qed.elastic_net_path(X, y, path.alphas[::-1], l1_ratio=0.7)
    np.testing.assert_allclose(path.alphas, alphas, rtol=1e-10)
    np.testing.assert_allclose(path.coef, theirs.T, atol=1e-7)
    np.testing.assert_allclose(turned.coef[::-1], path.coef, atol=1e-12)
    single = qed.ElasticNet(float(alphas[7]), l1_ratio=0.7).fit(X, y)
    np.testing.assert_allclose(path.coef[7], single.coef_, atol=1e-10)
    assert path.certificate.source == ("statistics" if way == "gram" else "data")
    several = qed.lasso_path(X, np.column_stack([y, -y]), [0.3, 0.0])
    assert several.coef.shape == (2, 2, 10) and several.certificate
    np.testing.assert_allclose(several.coef[:, 0], -several.coef[:, 1], atol=1e-12)


def test_a_path_of_a_constant_target_is_zero():
    path = qed.lasso_path(np.random.default_rng(0).standard_normal((10, 3)), np.full(10, 4.0), alphas=3)
    assert path.alpha_max == 0.0 and not path.coef.any() and (path.intercept == 4.0).all() and path.certificate
