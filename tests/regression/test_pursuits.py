"""The greedy pursuits: exact choices, the whole path, sources, resuming, searches, and what they refuse."""

import numpy as np
import pytest
from scipy import sparse

import qed
from qed.base.errors import DegenerateWarning
from qed.base.sources.rows import ArrayRows
from qed.regression.greedy.atoms import Atoms
from qed.regression.greedy.chase import chase
from qed.regression.greedy.few_rows import few_rows

BOTH = [qed.OrthogonalMatchingPursuit, qed.MatchingPursuit]


def wide(n=60, p=300, k=10, seed=0, noise=0.3):
    """More columns than rows, correlated, with a sparse truth."""
    random = np.random.default_rng(seed)
    X = random.standard_normal((n, p))
    X[:, 1:] += 0.6 * X[:, :-1]
    X *= random.uniform(0.1, 10, p)
    w = np.zeros(p)
    w[random.choice(p, k, replace=False)] = random.standard_normal(k)
    return X, X @ w + noise * random.standard_normal(n) + 3


def plain(X, y, k):
    """Orthogonal matching pursuit as in a textbook."""
    Z = X - X.mean(axis=0)
    Z /= np.linalg.norm(Z, axis=0)
    target = y - y.mean()
    chosen, residual = [], target
    for _ in range(k):
        chosen.append(int(np.abs(Z.T @ residual).argmax()))
        residual = target - Z[:, chosen] @ np.linalg.lstsq(Z[:, chosen], target)[0]
    return chosen


@pytest.mark.parametrize("seed", range(5))
def test_choices_are_those_of_the_textbook(seed):
    X, y = wide(seed=seed)
    model = qed.OrthogonalMatchingPursuit(n_nonzero_coefs=40).fit(X, y)
    assert model.active_.tolist() == plain(X, y, 40)
    assert model.certificate_ and qed.certify(model, X, y)


def test_many_turns_are_played_ahead_and_some_taken_back(monkeypatch):
    """The few atoms that turns are played with are wrong now and then; the choices are not."""
    X, y = wide(n=100, p=2000)
    monkeypatch.setattr("qed.regression.greedy.chase.FEW_VALUES", 0)
    model = qed.OrthogonalMatchingPursuit(n_nonzero_coefs=60).fit(X, y)
    assert model.active_.tolist() == plain(X, y, 60)


def test_agrees_with_scikit_learn_on_columns_of_one_length():
    from sklearn import linear_model

    X, y = wide()
    X = X - X.mean(axis=0)
    X /= np.linalg.norm(X, axis=0)
    for given in ({"n_nonzero_coefs": 15}, {"tol": 0.2 * np.sum((y - y.mean()) ** 2)}, {}):
        ours = qed.OrthogonalMatchingPursuit(**given).fit(X, y)
        theirs = linear_model.OrthogonalMatchingPursuit(**given).fit(X, y)
        np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-9)
        assert ours.intercept_ == pytest.approx(theirs.intercept_, abs=1e-9)
        assert ours.n_iter_ == theirs.n_iter_


def test_units_do_not_matter():
    X, y = wide()
    scale = np.random.default_rng(0).uniform(1e-3, 1e3, X.shape[1])
    one, other = (qed.OrthogonalMatchingPursuit(n_nonzero_coefs=12).fit(Z, y) for Z in (X, X * scale))
    assert one.active_.tolist() == other.active_.tolist()
    np.testing.assert_allclose(one.coef_, other.coef_ * scale, rtol=1e-8)


@pytest.mark.parametrize("kind", BOTH)
def test_tol_is_the_squared_residual(kind):
    X, y = wide()
    tol = 0.1 * np.sum((y - y.mean()) ** 2)
    model = kind(tol=tol).fit(X, y)
    error = np.sum((model.predict(X) - y) ** 2)
    assert error <= tol < model.errors_[-2]
    assert error == pytest.approx(model.errors_[-1], rel=1e-9)
    assert model.certificate_ and model.n_nonzero_coefs_ is None


def test_tol_out_of_reach_is_said():
    X, y = wide(n=50, p=4, k=2)
    with pytest.warns(qed.base.errors.ConvergenceWarning, match="No column can explain more") as caught:
        model = qed.OrthogonalMatchingPursuit(tol=1e-6).fit(X, y)
    assert "would be reached" in str(caught[0].message)
    assert len(model.active_) == 4
    best = qed.LinearRegression().fit(X, y)
    np.testing.assert_allclose(model.coef_, best.coef_, rtol=1e-8)


@pytest.mark.parametrize("kind", BOTH)
def test_several_outputs_are_several_fits(kind):
    X, y = wide()
    Y = np.column_stack([y, X[:, 5], np.full(len(y), 2.0)])
    together = kind(n_nonzero_coefs=4).fit(X, Y)
    assert together.certificate_, f"{together.certificate_}"
    for output in range(3):
        alone = kind(n_nonzero_coefs=4).fit(X, Y[:, output])
        np.testing.assert_allclose(together.coef_[output], alone.coef_, atol=1e-12)
        turns = len(alone.errors_)
        np.testing.assert_allclose(together.errors_[output, :turns], alone.errors_, rtol=1e-10, atol=1e-20)
    assert together.predict(X).shape == Y.shape


@pytest.mark.parametrize("kind", BOTH)
@pytest.mark.parametrize("centred", [True, False])
def test_sparse_tables(kind, centred):
    X, y = wide()
    X[np.abs(X) < np.abs(X).mean(axis=0)] = 0.0
    weight = np.random.default_rng(0).integers(0, 3, len(y)).astype(float)
    made = kind(n_nonzero_coefs=8, fit_intercept=centred)
    dense = made.fit(X, y, weight).coef_
    found = made.fit(sparse.csr_array(X), y, weight)
    np.testing.assert_allclose(found.coef_, dense, atol=1e-10)
    assert found.certificate_ and qed.certify(found, sparse.csr_array(X), y, weight)


@pytest.mark.parametrize("kind", BOTH)
def test_tall_and_wide_ways_agree(kind, monkeypatch):
    """A tall table is compressed to few rows, and gives what the rows themselves give."""
    random = np.random.default_rng(0)
    X = random.standard_normal((400, 12)) * np.arange(1, 13) + 5
    y = X @ random.standard_normal(12) + random.standard_normal(400)
    weight = random.uniform(0, 2, 400)
    compressed = kind(n_nonzero_coefs=6).fit(X, y, weight)
    assert compressed.certificate_.source == "statistics"
    monkeypatch.setattr("qed.regression.greedy.atoms.TALL", 1000)
    direct = kind(n_nonzero_coefs=6).fit(X, y, weight)
    assert direct.certificate_.source == "data"
    np.testing.assert_allclose(compressed.coef_, direct.coef_, rtol=1e-9)
    np.testing.assert_allclose(compressed.errors_, direct.errors_, rtol=1e-9)
    assert compressed.fingerprint_.matches(direct.fingerprint_)


def test_dependent_columns_of_a_tall_table_go_by_the_factor():
    random = np.random.default_rng(0)
    X = random.standard_normal((200, 5))
    X = np.column_stack([X, X[:, 0] + 1e-7 * random.standard_normal(200), np.ones(200), X[:, 1]])
    y = X[:, 0] - X[:, 1] + 0.1 * random.standard_normal(200)
    A, b = few_rows(qed.rows(X, y), centered=True)
    Z = X - X.mean(axis=0)
    np.testing.assert_allclose(A.T @ A, Z.T @ Z, atol=1e-11)
    np.testing.assert_allclose(A.T @ b[:, 0], Z.T @ (y - y.mean()), atol=1e-11)
    model = qed.OrthogonalMatchingPursuit(n_nonzero_coefs=7).fit(X, y)
    assert model.certificate_, f"{model.certificate_}"
    assert 6 not in model.active_.tolist() and model.active_.tolist().count(7) == 0


@pytest.mark.parametrize("moved", [False, True])
def test_few_rows_without_the_rows(moved):
    """Moments alone have to do after partial_fit; dependent columns then have an eigenvector's root."""
    X = np.random.default_rng(0).standard_normal((30, 3))
    X = np.column_stack([X, X[:, 0] - X[:, 1]]) + 2.0 * moved
    y = X[:, 0] + 1
    moments = qed.rows(X, y).fold(qed.stats.Moments.of)
    A, b = few_rows(None, moments, centered=moved)
    Z, t = (X - X.mean(axis=0), y - y.mean()) if moved else (X, y)
    np.testing.assert_allclose(A.T @ A, Z.T @ Z, atol=1e-11)
    np.testing.assert_allclose(A.T @ b[:, 0], Z.T @ t, atol=1e-11)
    np.testing.assert_allclose(b[:, 0] @ b[:, 0], t @ t, rtol=1e-11)


def test_equal_columns_are_taken_in_their_order():
    random = np.random.default_rng(0)
    X = random.standard_normal((30, 700))
    X[:, 650], X[:, 40], X[:, 333] = 3 * X[:, 7], -X[:, 7], X[:, 7]
    y = X[:, 7] + 0.01 * random.standard_normal(30)
    for table in (X, np.asfortranarray(X), sparse.csr_array(X)):
        assert qed.OrthogonalMatchingPursuit(n_nonzero_coefs=1).fit(table, y).active_.tolist() == [7]
    flipped = qed.OrthogonalMatchingPursuit(n_nonzero_coefs=3).fit(X[:, ::-1], y)
    assert flipped.active_[0] == 699 - 650
    assert not {699 - 40, 699 - 333, 699 - 7} & set(flipped.active_.tolist())


def test_nearness_is_within_its_slack():
    """The single-precision look against a NumPy twin, also where rows are added in pieces."""
    random = np.random.default_rng(0)
    for n in (50, 10_000):
        X, root = random.standard_normal((n, 20)) + 1e3, random.uniform(0.5, 2, n)
        atoms = Atoms(X, X.mean(axis=0), root)
        Z = (X - X.mean(axis=0)) * root[:, None]
        np.testing.assert_allclose(atoms.length, np.linalg.norm(Z, axis=0), rtol=1e-12)
        residual = random.standard_normal((3, n))
        exact = np.abs(residual @ (Z / atoms.length)) / np.linalg.norm(residual, axis=1, keepdims=True)
        assert np.abs(atoms.nearness(residual) - exact).max() <= atoms.slack
        few = atoms.some(np.array([3, 8, 11]))
        assert few.nearest(residual[0]) == [3, 8, 11][int(exact[0, [3, 8, 11]].argmax())]


def test_a_chase_of_nothing_ends_at_once():
    atoms = Atoms(np.zeros((4, 2)), np.zeros(2))
    assert list(chase(atoms, np.ones(4), 2.0, lambda number, atom, residual: residual)) == []
    assert list(chase(atoms, np.zeros(4), 0.0, lambda number, atom, residual: residual)) == []


@pytest.mark.parametrize("kind", BOTH)
def test_every_step_can_be_gone_on_from(kind):
    X, y = wide()
    whole = kind(n_nonzero_coefs=12).fit(X, y)
    seen = list(qed.steps(kind(n_nonzero_coefs=12), X, y))
    assert len(seen) == whole.n_iter_ + 1
    assert all(b.objective <= a.objective for a, b in zip(seen, seen[1:]))
    *_, last = qed.steps(kind(n_nonzero_coefs=12), X, y, start=seen[5])
    np.testing.assert_array_equal(last.picks[0], seen[-1].picks[0])
    np.testing.assert_array_equal(last.changes[0], seen[-1].changes[0])
    walk = qed.steps(kind(n_nonzero_coefs=12), X, y)
    for _ in range(4):
        step = next(walk)
    model = walk.model_at(step)
    np.testing.assert_allclose(model.errors_, whole.errors_[:4])


@pytest.mark.parametrize("kind", BOTH)
def test_a_fit_that_was_stopped_can_be_resumed(kind):
    X, y = wide()
    whole = kind(n_nonzero_coefs=12).fit(X, y)
    with (
        qed.watch(call=lambda step: step.number == 4),
        pytest.warns(qed.base.errors.ConvergenceWarning, match="resume"),
    ):
        model = kind(n_nonzero_coefs=12).fit(X, y)
    assert np.count_nonzero(model.coef_) <= 4 and not model.certificate_
    model.resume(X, y)
    np.testing.assert_array_equal(model.coef_, whole.coef_)
    with pytest.raises(ValueError, match="other data"):
        model.resume(X, y[::-1])


@pytest.mark.parametrize("kind", BOTH)
def test_checkpoints(kind, tmp_path):
    X, y = wide()
    whole = kind(n_nonzero_coefs=12).fit(X, y)
    path = tmp_path / "half.qed"
    with qed.watch(checkpoint=path, every=0.0, call=lambda step: step.number == 5), pytest.warns(UserWarning):
        kind(n_nonzero_coefs=12).fit(X, y)
    with qed.watch(checkpoint=path):
        again = kind(n_nonzero_coefs=12).fit(X, y)
    assert again.ending_.trace[0]["number"] == 5
    np.testing.assert_array_equal(again.coef_, whole.coef_)


def test_matching_pursuit_stops_at_max_iter():
    X, y = wide()
    with pytest.warns(qed.base.errors.ConvergenceWarning, match="max_iter=30"):
        model = qed.MatchingPursuit(n_nonzero_coefs=200, max_iter=3).fit(X, y)
    assert model.n_iter_ == 3 and len(model.certificate_.failures) == 1


@pytest.mark.parametrize("kind", BOTH)
@pytest.mark.parametrize("scoring", ["r2", "neg_mean_absolute_error"])
def test_a_search_over_sizes_is_one_fit_per_fold(kind, scoring):
    X, y = wide(n=80, p=40)
    sizes = [1, 2, 5, 9, None]
    grid = {"n_nonzero_coefs": sizes, "fit_intercept": [True, False]}
    search = qed.Search(kind(), grid, cv=4, scoring=scoring, return_train_score=True).fit(X, y)
    assert "one path each" in search.how_
    from sklearn.model_selection import GridSearchCV

    peer = GridSearchCV(kind(), grid, cv=4, scoring=scoring, return_train_score=True).fit(X, y)
    for name in ("mean_test_score", "mean_train_score"):
        ours = {repr(params): value for params, value in zip(search.cv_results_["params"], search.cv_results_[name])}
        theirs = {repr(params): value for params, value in zip(peer.cv_results_["params"], peer.cv_results_[name])}
        assert ours.keys() == theirs.keys()
        for params in ours:
            assert ours[params] == pytest.approx(theirs[params], rel=1e-9), params
    assert search.best_params_ == peer.best_params_


@pytest.mark.filterwarnings("ignore::qed.base.errors.ConvergenceWarning")
def test_a_search_over_tol_falls_back_to_fits():
    X, y = wide(n=80, p=40)
    search = qed.Search(qed.OrthogonalMatchingPursuit(), {"tol": [1.0, 100.0]}, cv=3).fit(X, y)
    assert "one path" not in search.how_


@pytest.mark.parametrize("kind", BOTH)
def test_too_many_atoms_are_refused(kind):
    X, y = wide(n=10, p=3, k=1)
    with pytest.raises(ValueError, match="n_nonzero_coefs=4 asks for more atoms than there are columns"):
        kind(n_nonzero_coefs=4).fit(X, y)
    with pytest.raises(ValueError, match="n_nonzero_coefs must be"):
        kind(n_nonzero_coefs=0).fit(X, y)
    with pytest.raises(ValueError, match="tol must be"):
        kind(tol=-1.0).fit(X, y)


@pytest.mark.parametrize("kind", BOTH)
@pytest.mark.parametrize("n", [6, 60])
def test_missing_values_are_named(kind, n):
    X, y = wide(n=n, p=5, k=1)
    X[3, 2] = np.nan
    with pytest.raises(ValueError, match="column number 2, row 3"):
        kind().fit(X, y)
    weight = np.ones(n)
    weight[3] = 0
    assert np.isfinite(kind().fit(X, y, weight).coef_).all()


@pytest.mark.parametrize("kind", BOTH)
def test_the_certificate_notices_a_wrong_path(kind):
    X, y = wide()
    model = kind(n_nonzero_coefs=6).fit(X, y)
    name = model._picks
    wrong = getattr(model, name).copy()
    wrong[[2, 3]] = wrong[[3, 2]]
    setattr(model, name, wrong)
    assert not qed.certify(model, X, y)["every column was the nearest"].holds


def test_blocks_of_a_wide_table_do_not_matter():
    X, y = wide()
    whole = qed.OrthogonalMatchingPursuit(n_nonzero_coefs=9).fit(X, y)
    parts = qed.OrthogonalMatchingPursuit(n_nonzero_coefs=9).fit(ArrayRows(X, y, size=7))
    np.testing.assert_allclose(parts.coef_, whole.coef_, rtol=1e-9)


def test_fewer_atoms_than_asked_for_are_said():
    X = np.random.default_rng(0).standard_normal((20, 3))
    y = X[:, 0] + X[:, 1]
    with pytest.warns(DegenerateWarning, match="took 2 of the 4 atoms asked for"):
        model = qed.OrthogonalMatchingPursuit(n_nonzero_coefs=4).fit(np.hstack([X, X]), y)
    assert np.count_nonzero(model.coef_) == 2


@pytest.mark.parametrize("model", [qed.OrthogonalMatchingPursuit, qed.MatchingPursuit])
@pytest.mark.parametrize("n, p", [(50, 3), (40, 30), (20, 60)])
def test_small_tables_are_pursued_as_large_ones(monkeypatch, model, n, p):
    draw = np.random.default_rng(p)
    X = 5.0 + draw.standard_normal((n, p))
    y, weight = X[:, :3] @ [3.0, -2.0, 1.0] + 0.1 * draw.standard_normal(n), draw.uniform(0.5, 2.0, n)
    small = model(n_nonzero_coefs=3).fit(X, y, weight)
    monkeypatch.setattr("qed.regression.greedy.atoms.SMALL", 0)
    large = model(n_nonzero_coefs=3).fit(X, y, weight)
    picks = small._picks
    np.testing.assert_array_equal(getattr(small, picks), getattr(large, picks))
    # A Gram matrix squares the condition number, which is below ten here.
    np.testing.assert_allclose(small.coef_, large.coef_, rtol=0, atol=1e4 * np.finfo(float).eps)
    assert small.certificate_ and large.certificate_
