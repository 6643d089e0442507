"""KNN-CLF, KNN-REG, KNN-PROBA, KNN-K, KNN-NONPAR, O-KNN: what the nearest rows say."""

import pickle

import numpy as np
import pytest

import qed


def noisy(n=200, seed=0):
    generator = np.random.default_rng(seed)
    X = generator.standard_normal((n, 2))
    y = np.where(X[:, 0] + X[:, 1] ** 2 > 0.5, 1, -1) * np.where(generator.random(n) < 0.15, -1, 1)
    return X, y


def test_the_nearest_row_of_a_row_is_itself():
    """KNN-CLF, O-KNN: one neighbour makes no error on distinct rows."""
    X, y = noisy()
    assert qed.KNeighborsClassifier(1).fit(X, y).score(X, y) == 1.0
    assert qed.KNeighborsRegressor(1).fit(X, X[:, 0]).score(X, X[:, 0]) == 1.0


def test_all_rows_are_the_majority_and_the_mean():
    """KNN-CLF, KNN-REG: k = n."""
    X, y = noisy()
    majority = 1 if (y == 1).sum() > (y == -1).sum() else -1
    assert (qed.KNeighborsClassifier(len(X)).fit(X, y).predict(X) == majority).all()
    # A mean of n numbers is right to n roundings.
    found = qed.KNeighborsRegressor(len(X)).fit(X, X[:, 1]).predict(X)
    np.testing.assert_allclose(found, X[:, 1].mean(), atol=len(X) * 2.0**-52 * np.abs(X[:, 1]).max())


def test_trees_and_plain_searches_agree_in_any_order():
    """KNN-CLF, O-KNN: brute force is the tree; the order of rows matters for ties alone."""
    X, y = noisy()
    Q = np.random.default_rng(1).standard_normal((100, 2))
    order = np.random.default_rng(2).permutation(len(X))
    said = [
        qed.KNeighborsClassifier(5, algorithm=algorithm).fit(X[rows], y[rows]).predict(Q)
        for algorithm in ("brute", "kd_tree")
        for rows in (slice(None), order)
    ]
    for one in said[1:]:
        np.testing.assert_array_equal(one, said[0])


def test_ties_are_defined():
    """O-KNN: of equally far rows the first, of classes with as many votes the first."""
    X, Q = np.array([[1.0], [-1.0], [2.0], [-2.0]]), [[0.0]]
    assert qed.KNeighborsClassifier(1).fit(X, ["b", "a", "a", "b"]).predict(Q) == ["b"]
    assert qed.KNeighborsClassifier(2).fit(X, ["b", "a", "a", "b"]).predict(Q) == ["a"]


@pytest.mark.parametrize("k", [1, 3, 7])
def test_probabilities_count_neighbours(k):
    """KNN-PROBA: multiples of 1/k that add up to one, and the largest is the vote."""
    X, y = noisy()
    model = qed.KNeighborsClassifier(k).fit(X, y)
    shares = model.predict_proba(X)
    np.testing.assert_array_equal(shares * k, np.round(shares * k))
    np.testing.assert_allclose(shares.sum(axis=1), 1, rtol=2.0**-51)
    np.testing.assert_array_equal(model.classes_[shares.argmax(axis=1)], model.predict(X))


def test_few_neighbours_overfit_and_many_underfit():
    """KNN-K: no training error at k = 1; the error on other rows falls and rises again."""
    X, y = noisy(400)
    new, truth = noisy(2000, seed=1)
    train, test = [], []
    for k in (1, 15, 399):
        model = qed.KNeighborsClassifier(k).fit(X, y)
        train.append(1 - model.score(X, y))
        test.append(1 - model.score(new, truth))
    assert train[0] == 0 and train == sorted(train)
    assert test[1] < test[0] and test[1] < test[2]
    search = qed.Search(qed.KNeighborsClassifier(), {"n_neighbors": range(1, 60, 2)}, cv=5).fit(X, y)
    assert 3 < search.best_params_["n_neighbors"] < 59


def test_weights_by_distance_are_a_weighted_mean():
    """O-KNN: nearer rows count more."""
    model = qed.KNeighborsRegressor(2, weights="distance").fit([[0.0], [3.0]], [1.0, 4.0])
    np.testing.assert_allclose(model.predict([[1.0]]), [2.0], rtol=1e-15)


def test_units_decide_who_is_near():
    """O-KNN: another scale of one column changes the neighbours."""
    X, Q = np.array([[0.0, 1.0], [2.0, 0.0]]), [[0.0, 0.0]]
    assert qed.NearestNeighbors(n_neighbors=1).fit(X).kneighbors(Q)[1] == 0
    assert qed.NearestNeighbors(n_neighbors=1).fit(X * [1, 10]).kneighbors(Q)[1] == 1


def test_the_model_grows_with_its_rows():
    """KNN-NONPAR: neighbours keep all rows, lines a number for each column."""
    sizes = {}
    for kind in (qed.KNeighborsClassifier, qed.LinearDiscriminantAnalysis):
        sizes[kind] = [len(pickle.dumps(kind().fit(*noisy(n)))) for n in (200, 400, 800)]
    steps = np.diff(sizes[qed.KNeighborsClassifier])
    # Two features and a class of eight bytes each.
    assert steps[0] == pytest.approx(200 * 24, rel=0.05) and steps[1] == pytest.approx(400 * 24, rel=0.05)
    assert np.ptp(sizes[qed.LinearDiscriminantAnalysis]) < 0.05 * sizes[qed.LinearDiscriminantAnalysis][0]
