"""LinearSVC(multi_class="crammer_singer"): one machine of all classes, in scikit-learn's objective, proven wherever it is fitted."""

import copy
import warnings
from contextlib import suppress

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_digits, load_iris, load_wine
from sklearn.svm import LinearSVC as Peer

import qed
from qed.base.errors import InputError, ParameterError
from qed.base.running.steps import Reason
from qed.optim.svm.joint import shares
from qed.optim.svm.joint_rows import visit_dense, visit_sparse
from tests.proof.mutations import changed, numbers_of, put

IRIS, WINE = load_iris(return_X_y=True), load_wine(return_X_y=True)


def machine(**settings):
    return qed.LinearSVC(multi_class="crammer_singer", **settings)


def objective(model, X, y, C=1.0, weight=1.0):
    """Work out the objective from its formula, in a loop over rows."""
    planes = np.column_stack([model.coef_, model.intercept_ * np.ones(len(model.coef_))])
    planes = np.vstack([-planes, planes]) / 2 if len(planes) == 1 else planes
    code, total = np.searchsorted(model.classes_, y), (planes**2).sum() / 2
    for x, own, cost in zip(X, code, C * weight * np.ones(len(y))):
        score = planes[:, :-1] @ x + planes[:, -1]
        total += cost * max((k != own) + score[k] - score[own] for k in range(len(planes)))
    return total


def scaled(X):
    return (X - X.mean(axis=0)) / X.std(axis=0)


def noise(n, p, k, seed=0):
    random = np.random.default_rng(seed)
    return random.standard_normal((n, p)), random.integers(0, k, n)


DIGITS = (lambda X, y: (X[:600] / 16, y[:600]))(*load_digits(return_X_y=True))
TABLES = {
    "iris": (IRIS, 1.0),
    "scaled iris": ((scaled(IRIS[0]), IRIS[1]), 100.0),
    "two classes": ((IRIS[0][50:], IRIS[1][50:]), 1.0),
    "digits": (DIGITS, 0.1),
    "noise": (noise(300, 5, 4), 1.0),
    "wide": (noise(20, 60, 3), 1.0),
    "few rows": (noise(3, 2, 5, seed=3), 1.0),
}


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("name", TABLES)
def test_it_is_no_worse_than_scikit_learns_by_its_own_objective(name, intercept):
    (X, y), C = TABLES[name]
    model = machine(C=C, fit_intercept=intercept).fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        peer = Peer(C=C, multi_class="crammer_singer", fit_intercept=intercept, max_iter=200, tol=1e-9).fit(X, y)
    own = objective(model, X, y, C)
    assert own == pytest.approx(model.primal_objective_[0], rel=1e-12)
    assert own <= objective(peer, X, y, C) * (1 + 1e-6)
    assert model.certificate_ and qed.certify(model, X, y)
    assert model.coef_.shape == peer.coef_.shape and model.decision_function(X).shape == peer.decision_function(X).shape


# Far from the origin, of any size, and columns of all sizes: the rows in turn would take forever.
NASTY = {
    "large": (1e4 * IRIS[0], IRIS[1]),
    "small": (1e-4 * IRIS[0], IRIS[1]),
    "far": (IRIS[0] + 1e3, IRIS[1]),
    "of all sizes": WINE,
    "twice": (np.hstack([IRIS[0], IRIS[0]]), IRIS[1]),
    "constant": (np.hstack([IRIS[0], np.ones((150, 1))]), IRIS[1]),
    "two classes": (WINE[0][:130], WINE[1][:130]),
    "rows twice": (np.repeat(IRIS[0][::5], 5, axis=0), np.repeat(IRIS[1][::5], 5)),
    "a row for each": (IRIS[0][[0, 50, 100]], IRIS[1][[0, 50, 100]]),
    "nothing": (np.zeros((6, 2)), np.arange(6) % 3),
}


@pytest.mark.parametrize("kind", ["dense", "sparse", "float32"])
@pytest.mark.parametrize("name", NASTY)
def test_it_ends_proven_on_nasty_tables(name, kind):
    X, y = NASTY[name]
    X = {"dense": X, "sparse": sparse.csr_array(X), "float32": X.astype(np.float32)}[kind]
    model = machine().fit(X, y)
    assert model.certificate_ and qed.certify(model, X, y), f"{model.certificate_}"
    full = np.asarray(X.todense() if kind == "sparse" else X, dtype=np.float64)
    assert objective(model, full, y) == pytest.approx(model.primal_objective_[0], rel=1e-9)
    assert model.dual_objective_[0] <= model.primal_objective_[0] * (1 + 1e-12)
    assert model.decision_function(X).dtype == (np.float32 if kind == "float32" else np.float64)


def test_weights_are_repetitions_and_class_weights_are_weights():
    X, y = scaled(IRIS[0]), IRIS[1]
    times = np.arange(len(y)) % 3
    repeated, weighted = machine().fit(np.repeat(X, times, axis=0), np.repeat(y, times)), machine().fit(X, y, times)
    # Both are within their tolerance of the one minimum.
    assert weighted.primal_objective_ == pytest.approx(repeated.primal_objective_, rel=1e-6)
    assert qed.certify(weighted, X, y, times)
    by_class = machine(class_weight={0: 2.0, 2: 0.5}).fit(X, y)
    assert by_class.primal_objective_[0] == pytest.approx(
        objective(by_class, X, y, weight=np.select([y == 0, y == 2], [2.0, 0.5], 1.0)), rel=1e-12
    )
    assert by_class.certificate_ and machine(class_weight="balanced").fit(X, y).certificate_


def test_a_visit_is_the_best_that_a_row_can_do_and_sparse_rows_are_the_same():
    X, y = noise(12, 3, 4)
    cost, squares = np.linspace(0.5, 2.0, 12), (X**2).sum(axis=1) + 1.0
    found = []
    for stored in ((X,), tuple(getattr(sparse.csr_array(X), name) for name in ("data", "indices", "indptr"))):
        planes, multipliers, state = np.zeros((4, 4)), np.zeros((12, 4)), np.array([1], dtype=np.uint64)
        visit = visit_dense if len(stored) == 1 else visit_sparse
        for rows in (np.arange(12), np.array([11])):
            visit(*stored, rows, y, cost, squares, 1.0, planes, multipliers, state, 0.0, 1)
        found.append((planes, multipliers))
    for dense, other in zip(*found):
        np.testing.assert_allclose(dense, other, rtol=0, atol=1e-13)
    # The last row was visited last, so what it lacks to its limit is next to what pulls it, among all that lack its cost.
    planes, multipliers = found[0]
    limit = cost[-1] * (np.arange(4) == y[-1])
    pull = planes @ np.append(X[-1], 1.0) + (np.arange(4) != y[-1]) + squares[-1] * (limit - multipliers[-1])
    wanted = limit - cost[-1] * shares(pull[None] / squares[-1] / cost[-1])[0]
    np.testing.assert_allclose(multipliers[-1], wanted, atol=1e-13)
    np.testing.assert_allclose(planes, multipliers.T @ np.column_stack([X, np.ones(12)]), atol=1e-13)


def test_classes_and_rows_that_are_set_aside_change_nothing():
    """Slopes agree in the end, and are below for classes at their limits: all rows, though most of them were not visited to the end."""
    X, y = scaled(IRIS[0]), IRIS[1]
    planes, multipliers, cost = np.zeros((3, 5)), np.zeros((150, 3)), np.full(150, 0.3)
    squares, state = (X**2).sum(axis=1) + 1.0, np.array([1], dtype=np.uint64)
    for number in range(12):
        visit_dense(X, np.arange(150), y, cost, squares, 1.0, planes, multipliers, state, 0.1**number, 1 << 30)
    slope = np.column_stack([X, np.ones(150)]) @ planes.T + (np.arange(3) != y[:, None])
    limit = cost[:, None] * (np.arange(3) == y[:, None])
    free = multipliers < limit
    assert (multipliers <= limit).all()
    # The last round ended with slopes that agree to 1e-11, where the first visit of a round looks at all of them.
    assert (slope.max(axis=1) - np.where(free, slope, np.inf).min(axis=1)).max() < 1e-10
    assert 0.1 < (free.sum(axis=1) == 1).mean() < 1, "rows of both kinds are there"


@pytest.mark.parametrize("name", ["scaled iris", "iris", "two classes"])
def test_every_changed_number_is_noticed(name):
    (X, y), C = TABLES[name]
    model = machine(C=C).fit(X, y)
    missed = []
    for path, value in numbers_of(model):
        for what, other in changed(value, path[-1]):
            forged = copy.deepcopy(model)
            put(forged, path, other)
            with suppress(InputError):  # the front door objects to another number of columns
                if qed.certify(forged, X, y):
                    missed.append((*path, what))
    assert not missed


@pytest.mark.parametrize("name", ["digits", "iris"])
def test_it_goes_on_where_it_ended_and_says_what_is_missing(name, tmp_path):
    (X, y), C = TABLES[name]
    whole = machine(C=C).fit(X, y)
    with pytest.warns(qed.base.errors.UnprovenWarning):
        part = machine(C=C, max_iter=whole.n_iter_ // 2).fit(X, y)
    assert part.ending_.reason is Reason.MAX_ITER and not part.certificate_ and part.gap_.max() > part.tol
    qed.save(part, tmp_path / "part.qed")
    part = qed.load(tmp_path / "part.qed").set_params(max_iter=1000).resume(X, y)
    assert part.coef_.tolist() == whole.coef_.tolist() and part.n_iter_ == whole.n_iter_
    with pytest.warns(qed.base.errors.UnprovenWarning), qed.watch(seconds=1e-9):
        assert machine(C=C).fit(X, y).ending_.reason is Reason.TIME


def test_a_search_and_what_does_not_go_together():
    X, y = scaled(IRIS[0]), IRIS[1]
    grid = {"C": [0.01, 1.0], "multi_class": ["ovr", "crammer_singer"]}
    search = qed.Search(qed.LinearSVC(), grid, cv=3).fit(X, y)
    plain = [qed.cross_val_score(qed.LinearSVC(**one), X, y, cv=3).mean() for one in search.cv_results_["params"]]
    np.testing.assert_allclose(search.cv_results_["mean_test_score"], plain, rtol=1e-12)
    with pytest.raises(ParameterError, match="penalty='l1' goes with multi_class='ovr' only"):
        machine(penalty="l1").fit(X, y)
    with pytest.raises(ParameterError, match="multi_class"):
        qed.LinearSVC(multi_class="all").fit(X, y)


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array])
def test_rows_of_weight_zero_may_hold_anything(make):
    X, y = IRIS
    weight, odd = np.ones(len(X)), X.copy()
    weight[[3, 140]], odd[[3, 140]] = 0.0, [[np.nan], [1e300]]
    found, kept = machine().fit(make(odd), y, sample_weight=weight), weight > 0
    assert found.certificate_ and qed.certify(found, make(odd), y, sample_weight=weight)
    # The tolerance of a certificate bounds what both miss of the least objective.
    least = objective(machine().fit(X[kept], y[kept]), X[kept], y[kept])
    assert objective(found, X[kept], y[kept]) == pytest.approx(least, rel=2e-6)
