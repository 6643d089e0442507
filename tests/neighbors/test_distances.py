"""Distances by all their names, with what they have to know, and those that are given and not all known."""

import numpy as np
import pytest
from scipy import sparse
from scipy.spatial.distance import cdist
from sklearn import neighbors as peer

import qed
from qed.base.errors import InputError, ParameterError
from qed.neighbors.measures import BY_SCIPY, YES_OR_NO, Minkowski

GENERATOR = np.random.default_rng(0)
X = GENERATOR.standard_normal((150, 4))
Q = GENERATOR.standard_normal((20, 4))
SPREAD = np.array([0.5, 1.0, 2.0, 4.0])
NEEDED = {"seuclidean": {"V": SPREAD}, "mahalanobis": {"VI": np.diag(SPREAD) + 0.2}}


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("name", [*BY_SCIPY, *YES_OR_NO, "seuclidean", "sqeuclidean"])
def test_what_scipy_knows_by_name(name, dtype):
    rows, queries = (table.astype(dtype) for table in (X, Q))
    if name in YES_OR_NO:
        # What is not zero is a yes, whatever number it is.
        rows, queries = (np.where(table > 0, table, 0).astype(dtype) for table in (rows, queries))
    given = NEEDED.get(name, {})
    model = qed.NearestNeighbors(n_neighbors=5, metric=name, metric_params=given).fit(rows)
    assert model.certificate_ and qed.certify(model, rows)
    distance, number = model.kneighbors(queries)
    wanted = cdist(*((table != 0 if name in YES_OR_NO else table) for table in (queries, rows)), name, **given)
    order = np.argsort(wanted, axis=1, kind="stable")[:, :5]
    np.testing.assert_array_equal(number, order)
    # Up to the roundings of a sum of four terms.
    np.testing.assert_allclose(distance, np.take_along_axis(wanted, order, axis=1), rtol=16 * 2.0**-52)
    thin = qed.NearestNeighbors(n_neighbors=5, metric=name, metric_params=given).fit(sparse.csr_array(rows))
    np.testing.assert_array_equal(thin.kneighbors(sparse.csr_array(queries))[1], number)


@pytest.mark.parametrize("algorithm", ["brute", "kd_tree"])
@pytest.mark.parametrize("offset", [0.0, 1e8])
@pytest.mark.parametrize("p", [0.1, 0.5, 0.9])
def test_powers_below_one_rank_rows_by_every_way(algorithm, offset, p):
    model = qed.NearestNeighbors(n_neighbors=7, p=p, algorithm=algorithm).fit(X + offset)
    assert model.certificate_ and qed.certify(model, X + offset)
    sizes = (np.abs((Q + offset)[:, None] - (X + offset)) ** p).sum(axis=2)
    # A sum of four powers: a rounding each for difference, power and sum, and one for the root and one for taking it back.
    np.testing.assert_allclose(model.kneighbors(Q + offset)[0] ** p, np.sort(sizes, axis=1)[:, :7], rtol=64 * 2.0**-52)


def test_weights_of_columns():
    model = qed.KNeighborsRegressor(3, metric_params={"w": SPREAD}).fit(X, X[:, 0])
    scaled = qed.KNeighborsRegressor(3).fit(X * np.sqrt(SPREAD), X[:, 0])
    np.testing.assert_array_equal(model.kneighbors(Q)[1], scaled.kneighbors(Q * np.sqrt(SPREAD))[1])
    np.testing.assert_allclose(model.predict(Q), scaled.predict(Q * np.sqrt(SPREAD)), rtol=1e-14)
    assert qed.NearestNeighbors(metric_params={"p": 1}).fit(X).effective_metric_ == "manhattan"


@pytest.mark.parametrize("scale", [1e-200, 1e200])
def test_weighted_sizes_beyond_squares(scale):
    for given in ({"metric_params": {"w": SPREAD}}, {"metric": "seuclidean", "metric_params": {"V": SPREAD}}):
        plain, large = (qed.NearestNeighbors(**given).fit(table) for table in (X, X * scale))
        np.testing.assert_array_equal(large.kneighbors(Q * scale)[1], plain.kneighbors(Q)[1])
        assert large.certificate_


@pytest.mark.parametrize("name", ["mahalanobis", "correlation"])
@pytest.mark.parametrize("scale", [1e-200, 1e200])
def test_what_left_the_range_of_numbers_is_not_proven(name, scale):
    with pytest.warns(qed.base.errors.UnprovenWarning):
        model = qed.NearestNeighbors(metric=name, metric_params=NEEDED.get(name)).fit(X * scale)
    assert not qed.certify(model, X * scale)


def test_columns_without_weight_tell_nothing_apart():
    table = np.column_stack([np.arange(30) % 3, np.arange(30)]).astype(float)
    assert qed.NearestNeighbors(metric_params={"w": [1.0, 0.0]}).fit(table).certificate_
    assert qed.NearestNeighbors(metric="mahalanobis", metric_params={"VI": np.diag([1.0, 0.0])}).fit(table).certificate_
    # Weights are of differences, not of values, which may lie far from zero.
    far = 1e8 + np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0 + 2.0**-20]])
    assert Minkowski(2.0, (1.0, 1.0)).sizes(far[:1], far).tolist() == [[0.0, 1.0, (1.0 + 2.0**-20) ** 2]]


def test_arguments_of_a_function():
    def apart(x, z, column):
        return abs(x[column] - z[column])

    found = qed.NearestNeighbors(n_neighbors=3, metric=apart, metric_params={"column": 2}).fit(X).kneighbors(Q)
    wanted = qed.NearestNeighbors(n_neighbors=3).fit(X[:, [2]]).kneighbors(Q[:, [2]])
    np.testing.assert_array_equal(found[1], wanted[1])


@pytest.mark.parametrize(
    ("metric", "params"),
    [
        ("euclidean", {"p": 3}),
        ("seuclidean", None),
        ("seuclidean", {"V": -SPREAD}),
        ("minkowski", {"V": SPREAD}),
        ("minkowski", {"w": SPREAD[:3]}),
        ("mahalanobis", {"VI": np.eye(3)}),
        ("mahalanobis", {"VI": "one"}),
        ("minkowski", {"p": np.inf, "w": SPREAD}),
    ],
)
def test_what_a_distance_has_to_know_is_said(metric, params):
    with pytest.raises(ParameterError, match="metric_params"):
        qed.NearestNeighbors(metric=metric, metric_params=params).fit(X)


def test_the_globe():
    places = np.radians([[52.5, 13.4], [48.9, 2.4], [-33.9, 151.2], [40.7, -74.0], [0.0, 179.9]])
    model = qed.NearestNeighbors(n_neighbors=5, metric="haversine").fit(places)
    theirs = peer.NearestNeighbors(n_neighbors=5, metric="haversine").fit(places)
    found, wanted = (one.kneighbors(np.radians([[0.0, -179.9], [51.5, -0.1]])) for one in (model, theirs))
    np.testing.assert_array_equal(found[1], wanted[1])
    # The root of a sum of squares of sines; near antipodes its angle keeps half the digits.
    np.testing.assert_allclose(found[0], wanted[0], rtol=1e-7)
    assert model.certificate_
    with pytest.raises(InputError, match="two columns"):
        qed.NearestNeighbors(metric="haversine").fit(X)


@pytest.mark.parametrize("form", ["csr", "csc", "lil", "coo"])
def test_what_a_sparse_matrix_of_distances_does_not_hold_is_no_neighbour(form):
    plain = qed.NearestNeighbors(n_neighbors=3).fit(X)
    known, asked = (plain.kneighbors_graph(table, 8, mode="distance").asformat(form) for table in (X, Q))
    given = qed.NearestNeighbors(n_neighbors=3, metric="precomputed").fit(known)
    assert given.certificate_ and qed.certify(given, known)
    for query, points in ((asked, Q), (None, None)):
        for found, wanted in zip(given.kneighbors(query), plain.kneighbors(points)):
            np.testing.assert_array_equal(found, wanted)
    within, wanted = (m.radius_neighbors(q, np.inf)[1] for m, q in ((given, asked), (plain, Q)))
    assert [len(one) for one in within] == [8] * len(Q) and [len(one) for one in wanted] == [len(X)] * len(Q)
    with pytest.raises(InputError, match="9 neighbours are needed.*only 8"):
        given.kneighbors(asked, 9)


def test_matrices_of_distances_that_are_none():
    known = qed.NearestNeighbors(n_neighbors=4).fit(X).kneighbors_graph(mode="distance")
    for form in ("bsr", "dok"):
        with pytest.raises(TypeError, match="zeros"):
            qed.NearestNeighbors(metric="precomputed").fit(known.asformat(form))
    known.data[3] = -1.0
    with pytest.raises(InputError, match="Negative"):
        qed.NearestNeighbors(metric="precomputed").fit(known)


@pytest.mark.parametrize("kind", [sparse.csr_array, sparse.csc_matrix])
def test_sparse_queries_of_a_tree(kind):
    model = qed.NearestNeighbors(algorithm="kd_tree").fit(X)
    for found, wanted in zip(model.kneighbors(kind(Q)), model.kneighbors(Q)):
        np.testing.assert_array_equal(found, wanted)
