"""Models of nearest neighbours: against scikit-learn, with weights, distances of all kinds, and searches from one search."""

import numpy as np
import pytest
from scipy import sparse
from sklearn import neighbors as peer
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

import qed
from qed.base.errors import InputError, ParameterError

GENERATOR = np.random.default_rng(0)
X = GENERATOR.standard_normal((240, 4))
LABEL = np.array(["a", "b", "c"])[np.digitize(X[:, 0] + 0.5 * GENERATOR.standard_normal(240), [-0.5, 0.5])]
NUMBER = X[:, 0] ** 2 + 0.1 * GENERATOR.standard_normal(240)
Q = GENERATOR.standard_normal((60, 4))
RBF = qed.kernels.RBF(0.5)


@pytest.mark.parametrize("weights", ["uniform", "distance"])
@pytest.mark.parametrize("metric", ["euclidean", "manhattan", "chebyshev", "cosine"])
def test_predictions_are_those_of_scikit_learn(metric, weights):
    given = {"n_neighbors": 7, "metric": metric, "weights": weights}
    ours, theirs = qed.KNeighborsClassifier(**given).fit(X, LABEL), peer.KNeighborsClassifier(**given).fit(X, LABEL)
    np.testing.assert_array_equal(ours.predict(Q), theirs.predict(Q))
    # Weights are quotients of distances, whose few roundings the two make in another order; angles lose half the digits near zero.
    np.testing.assert_allclose(ours.predict_proba(Q), theirs.predict_proba(Q), rtol=1e-12, atol=1e-14)
    ours, theirs = qed.KNeighborsRegressor(**given).fit(X, NUMBER), peer.KNeighborsRegressor(**given).fit(X, NUMBER)
    np.testing.assert_allclose(ours.predict(Q), theirs.predict(Q), rtol=1e-12, atol=1e-12)
    for one, other in zip(ours.kneighbors(Q), theirs.kneighbors(Q)):
        np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-14)
    assert ours.certificate_


@pytest.mark.parametrize("algorithm", ["brute", "kd_tree"])
@pytest.mark.parametrize("p", [1, 1.5, 2, 3, np.inf])
def test_ways_agree_and_are_those_of_scikit_learn(algorithm, p):
    ours = qed.NearestNeighbors(n_neighbors=6, algorithm=algorithm, p=p).fit(X)
    theirs = peer.NearestNeighbors(n_neighbors=6, p=p).fit(X)
    assert ours.certificate_ and hasattr(ours, "tree_") is (algorithm == "kd_tree")
    for given in (Q, None):
        distance, number = ours.kneighbors(given)
        wanted = theirs.kneighbors(given)
        np.testing.assert_array_equal(number, wanted[1])
        np.testing.assert_allclose(distance, wanted[0], rtol=1e-13)
        graphs = [model.kneighbors_graph(given, mode="distance") for model in (ours, theirs)]
        np.testing.assert_allclose(graphs[0].toarray(), graphs[1].toarray(), rtol=1e-13)


def test_rows_within_a_radius():
    ours, theirs = qed.NearestNeighbors(radius=0.9).fit(X), peer.NearestNeighbors(radius=0.9).fit(X)
    for given in (Q, None):
        found, wanted = (m.radius_neighbors(given, sort_results=True) for m in (ours, theirs))
        for k in range(len(found[0])):
            np.testing.assert_array_equal(found[1][k], wanted[1][k])
            np.testing.assert_allclose(found[0][k], wanted[0][k], rtol=1e-12)


@pytest.mark.parametrize("mode", ["connectivity", "distance"])
def test_graphs_of_rows_within_a_radius(mode):
    ours, theirs = qed.NearestNeighbors().fit(X), peer.NearestNeighbors().fit(X)
    radii = np.linspace(0.1, 2.0, len(Q))
    for given, radius in ((Q, 0.8), (None, 0.8), (Q, np.inf)):
        found, wanted = (m.radius_neighbors_graph(given, radius, mode=mode) for m in (ours, theirs))
        np.testing.assert_allclose(found.toarray(), wanted.toarray(), rtol=1e-12)
    # A radius for each query.
    each = ours.radius_neighbors(Q, radii, return_distance=False)
    for query, radius, found in zip(Q, radii, each):
        np.testing.assert_array_equal(found, ours.radius_neighbors([query], radius, return_distance=False)[0])
    with pytest.raises(InputError, match="radii"):
        ours.radius_neighbors(Q, radii[:-1])


@pytest.mark.parametrize("weights", ["uniform", "distance"])
@pytest.mark.parametrize("algorithm", ["brute", "kd_tree"])
def test_without_queries_each_row_is_told_by_the_others(weights, algorithm):
    given = {"n_neighbors": 5, "weights": weights, "algorithm": algorithm}
    for model, y in ((qed.KNeighborsClassifier(**given), LABEL), (qed.KNeighborsRegressor(**given), NUMBER)):
        model.fit(X, y)
        said = model.predict(None)
        for i in range(0, len(X), 40):
            rest = np.arange(len(X)) != i
            assert said[i] == clone(model).fit(X[rest], y[rest]).predict(X[[i]])[0]
        score = np.mean(said == y) if y is LABEL else 1 - ((said - y) ** 2).sum() / ((y - y.mean()) ** 2).sum()
        assert model.score(None, y) == pytest.approx(score, rel=1e-12)
    frame = pytest.importorskip("pandas").DataFrame(X, columns=list("abcd"))
    named = qed.KNeighborsRegressor(**given).fit(frame, NUMBER)
    np.testing.assert_array_equal(named.predict(None), said)


@pytest.mark.parametrize("weights", ["uniform", "distance"])
def test_several_columns_have_a_vote_each(weights, tmp_path):
    several = np.column_stack([LABEL, np.where(NUMBER > 0.5, "high", "low"), np.full(len(X), "same")])
    model = qed.KNeighborsClassifier(7, weights=weights).fit(X, several)
    for j, (known, shares) in enumerate(zip(model.classes_, model.predict_proba(Q))):
        if j < 2:
            one = qed.KNeighborsClassifier(7, weights=weights).fit(X, several[:, j])
            np.testing.assert_array_equal(known, one.classes_)
            np.testing.assert_array_equal(shares, one.predict_proba(Q))
            np.testing.assert_array_equal(model.predict(Q)[:, j], one.predict(Q))
    assert (model.predict(Q)[:, 2] == "same").all()
    assert model.score(X, several) == np.mean((model.predict(X) == several).all(axis=1))
    assert model.certificate_ and qed.certify(model, X, several)
    qed.save(model, tmp_path / "votes.qed")
    again = qed.load(tmp_path / "votes.qed")
    np.testing.assert_array_equal(again.predict(Q), model.predict(Q))
    with pytest.raises(qed.base.errors.NotAvailableError, match="one column"):
        model.decide(Q, np.eye(3))
    with pytest.raises(InputError, match="columns"):
        model.score(X, several[:, :2])
    for damage in (lambda m: m.classes_.pop(), lambda m: m.y_fit_.__setitem__((0, 0), 1 - m.y_fit_[0, 0] % 2)):
        broken = qed.load(tmp_path / "votes.qed")
        damage(broken)
        assert not qed.certify(broken, X, several)


def test_labels_of_which_a_row_may_have_several():
    several = np.column_stack([X[:, 0] > 0, X[:, 1] > 0]).astype(int)
    ours, theirs = (kind(5).fit(X, several) for kind in (qed.KNeighborsClassifier, peer.KNeighborsClassifier))
    np.testing.assert_array_equal(ours.predict(Q), theirs.predict(Q))
    assert ours.score(Q, ours.predict(Q)) == 1
    search = qed.Search(qed.KNeighborsClassifier(), {"n_neighbors": [1, 9]}, cv=3).fit(X, several)
    assert search.best_score_ > 0.5


def test_distances_that_are_given():
    D = peer.NearestNeighbors().fit(X).kneighbors_graph(X, 240, mode="distance").toarray()
    ours = qed.KNeighborsClassifier(metric="precomputed").fit(D, LABEL)
    plain = qed.KNeighborsClassifier().fit(X, LABEL)
    np.testing.assert_array_equal(ours.predict(D), plain.predict(X))
    assert ours.certificate_ and qed.certify(ours, D, LABEL)
    with pytest.raises(InputError, match="square"):
        qed.KNeighborsClassifier(metric="precomputed").fit(D[:, :7], LABEL)


def test_a_function_of_two_rows():
    given = qed.KNeighborsRegressor(3, metric=lambda x, z: np.abs(x - z).sum()).fit(X[:50], NUMBER[:50])
    named = qed.KNeighborsRegressor(3, metric="manhattan").fit(X[:50], NUMBER[:50])
    np.testing.assert_allclose(given.predict(Q), named.predict(Q), rtol=1e-13)


@pytest.mark.parametrize("kind", [sparse.csr_array, sparse.csr_matrix])
def test_sparse_rows_are_dense_ones(kind):
    table = np.where(np.abs(X) > 0.8, X, 0.0)
    dense, thin = (qed.KNeighborsClassifier(9).fit(form, LABEL) for form in (table, kind(table)))
    np.testing.assert_array_equal(thin.predict(kind(Q)), dense.predict(Q))
    np.testing.assert_array_equal(thin.kneighbors(kind(Q))[0], dense.kneighbors(Q)[0])
    assert thin.certificate_ and qed.certify(thin, kind(table), LABEL)


@pytest.mark.parametrize("scale", [1e-300, 1e-150, 1e150, 1e300])
@pytest.mark.parametrize("algorithm", ["brute", "kd_tree"])
def test_sizes_beyond_squares(scale, algorithm):
    plain = qed.NearestNeighbors(algorithm=algorithm).fit(X)
    large = qed.NearestNeighbors(algorithm=algorithm).fit(X * scale)
    np.testing.assert_array_equal(large.kneighbors(Q * scale)[1], plain.kneighbors(Q)[1])
    np.testing.assert_allclose(large.kneighbors(Q * scale)[0] / scale, plain.kneighbors(Q)[0], rtol=1e-12)
    assert large.certificate_


def test_fractions_of_a_row_share_a_place():
    """Half of a row twice is the row; two halves fill one of the k places."""
    weight = np.full(480, 0.5)
    halves = qed.KNeighborsRegressor(4).fit(np.repeat(X, 2, axis=0), np.repeat(NUMBER, 2), weight)
    np.testing.assert_allclose(halves.predict(Q), qed.KNeighborsRegressor(4).fit(X, NUMBER).predict(Q), rtol=1e-13)
    with pytest.raises(InputError, match="n_neighbors"):
        qed.KNeighborsRegressor(5).fit(X[:8], NUMBER[:8], np.full(8, 0.5)).predict(Q)


def test_votes_of_the_users_own():
    model = qed.KNeighborsClassifier(3, weights=lambda d: np.exp(-d)).fit(X, LABEL)
    distance, number = model.kneighbors(Q)
    shares = np.exp(-distance)
    for k, name in enumerate(model.classes_):
        wanted = (shares * (LABEL[number] == name)).sum(axis=1) / shares.sum(axis=1)
        np.testing.assert_allclose(model.predict_proba(Q)[:, k], wanted, rtol=1e-13)
    with pytest.raises(ParameterError, match="weights"):
        qed.KNeighborsClassifier(weights=lambda d: -d).fit(X, LABEL).predict(Q)


def test_too_few_rows_are_said():
    model = qed.KNeighborsClassifier(7).fit(X[:5], LABEL[:5])
    with pytest.raises(InputError, match="n_neighbors = 7, n_samples_fit = 5"):
        model.predict(Q)


@pytest.mark.parametrize("scoring", [None, "neg_log_loss"])
def test_all_k_from_one_search_for_each_fold(scoring):
    grid = {"n_neighbors": list(range(3, 30, 4)), "weights": ["uniform", "distance"]}
    ours = qed.Search(qed.KNeighborsClassifier(), grid, cv=4, scoring=scoring).fit(X, LABEL)
    theirs = GridSearchCV(peer.KNeighborsClassifier(), grid, cv=ours.cv, scoring=scoring).fit(X, LABEL)
    assert "one search" in ours.how_
    order = [theirs.cv_results_["params"].index(one) for one in ours.cv_results_["params"]]
    np.testing.assert_allclose(
        ours.cv_results_["mean_test_score"], theirs.cv_results_["mean_test_score"][order], rtol=1e-10
    )


@pytest.mark.parametrize("kind", ["KNeighborsClassifier", "KNeighborsRegressor"])
def test_rows_left_out_one_by_one(kind):
    y = LABEL if kind == "KNeighborsClassifier" else NUMBER
    grid = {"n_neighbors": [1, 2, 5, 30]}
    search = qed.Search(getattr(qed, kind)(), grid, cv="loo").fit(X, y)
    assert "among the others" in search.how_
    for k, score in zip(grid["n_neighbors"], search.cv_results_["mean_test_score"]):
        each = []
        for i in range(len(X)):
            rest = np.arange(len(X)) != i
            said = getattr(peer, kind)(k).fit(X[rest], y[rest]).predict(X[i : i + 1])[0]
            each.append(said == y[i] if y is LABEL else -((said - y[i]) ** 2))
        np.testing.assert_allclose(score, np.mean(each), rtol=1e-10)


def test_a_model_is_no_proof_of_itself():
    for form in (X, sparse.csr_array(X)):
        for model, y in ((qed.KNeighborsClassifier(), LABEL), (qed.NearestNeighbors(), None)):
            with pytest.raises(InputError, match="no proof of itself"):
                qed.certify(model.fit(form, y), None, y)


def test_the_proof_notices():
    model = qed.KNeighborsClassifier(algorithm="kd_tree").fit(X, LABEL)
    assert qed.certify(model, X, LABEL)
    model.X_fit_ = model.X_fit_ * 1.001
    assert not qed.certify(model, X, LABEL)
    model = qed.KNeighborsRegressor().fit(X, NUMBER)
    assert not qed.certify(model, X, NUMBER + 1)


@pytest.mark.parametrize("kernel", [RBF, qed.kernels.Polynomial(2), qed.kernels.Linear()])
def test_neighbours_in_the_features_of_a_kernel(kernel):
    model = qed.NearestNeighbors(metric=kernel, n_neighbors=4).fit(X)
    assert model.certificate_ and qed.certify(model, X)
    distance, number = model.kneighbors(Q)
    K, own, others = kernel(Q, X), kernel.diagonal(Q), kernel.diagonal(X)
    wanted = np.sqrt(np.maximum(own[:, None] - 2 * K + others, 0))
    np.testing.assert_allclose(distance, np.sort(wanted, axis=1)[:, :4], rtol=1e-6)
