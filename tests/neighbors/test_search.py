"""All ways of searching find the same neighbours, to the bit: those of the plain search, ties by their number."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

import qed
from qed.neighbors import search as searching
from qed.neighbors.best import Best
from qed.neighbors.filter import filtered
from qed.neighbors.measures import Cosine, Custom, Given, InFeatures, Minkowski, measure_of
from qed.neighbors.search import Search, grows
from qed.neighbors.tree import LEAF, Tree

POWERS = (1.0, 2.0, 3.0, np.inf)


def frame(X):
    """Give the middle of the box and the power of two that a model would use."""
    width = float((X.max(axis=0) / 2 - X.min(axis=0) / 2).max())
    return X.max(axis=0) / 2 + X.min(axis=0) / 2, 2.0 ** -int(np.frexp(width)[1]) if width > 0 else 1.0


def plain(X, Q, k, power=2.0):
    return Best.of(Minkowski(power).sizes(Q, X), k)


def same(found, wanted):
    np.testing.assert_array_equal(found.number, wanted.number)
    np.testing.assert_array_equal(found.size, wanted.size)


def tables():
    """Tables where something can go wrong, by name."""
    generator = np.random.default_rng(0)
    plain = generator.standard_normal((700, 5))
    return {
        "plain": plain,
        "tied": np.round(plain),
        "all equal": np.ones((300, 3)),
        "far from the origin": plain + 1e8,
        "mixed units": plain * [1e-6, 1.0, 1e6, 1.0, 1.0],
        "one column": plain[:, :1],
        "many columns": generator.standard_normal((300, 83)),
        "constant column": np.hstack([plain, np.full((700, 1), 7.0)]),
        "an outlier": np.vstack([plain, np.full((1, 5), 1e9)]),
        "float32": plain.astype(np.float32),
        "pairs of equal rows": np.repeat(plain[:200], 2, axis=0),
        "few": plain[:6],
    }


@pytest.mark.parametrize("name", tables())
def test_every_way_is_the_plain_search(name):
    X = tables()[name]
    Q = np.vstack([X[:40], X[:20] + np.asarray(0.1 * X.std(axis=0), X.dtype), X[:1] + 1000])
    k = min(5, len(X))
    tree = Tree.of(X)
    assert tree.misplaced() == 0
    for power in POWERS:
        same(tree.nearest(Q, k, power), plain(X, Q, k, power))
    wanted = plain(X, Q, k)
    same(filtered(X, Q, k, *frame(X)), wanted)
    same(Search(X, Minkowski(2.0), *frame(X)).nearest(Q, k), wanted)
    same(Search(sparse.csr_array(X), Minkowski(2.0), *frame(X)).nearest(sparse.csr_array(Q), k), wanted)


@settings(max_examples=60)
@given(st.integers(1, 90), st.integers(1, 6), st.integers(1, 12), st.sampled_from(POWERS), st.integers(0, 10**6))
def test_small_grids_full_of_ties(n, p, k, power, seed):
    generator = np.random.default_rng(seed)
    X, Q = generator.integers(-2, 3, (n, p)).astype(float), generator.integers(-3, 4, (5, p)) / 2
    k = min(k, n)
    same(Tree.of(X).nearest(Q, k, power), plain(X, Q, k, power))
    same(Search(X, Minkowski(power), *frame(X)).nearest(Q, k), plain(X, Q, k, power))


@pytest.mark.parametrize("name", ["plain", "tied", "all equal", "far from the origin", "many columns"])
def test_blocks_of_rows_add_up(name):
    X = tables()[name]
    sizes = Minkowski(2.0).sizes(X[:30], X)
    whole = Best.of(sizes, 7)
    parts = [Best.of(sizes[:, i : i + 11], 7, first=i) for i in range(0, len(X), 11)]
    same(sum(parts[1:], parts[0]), whole)
    same((parts[0] + parts[1]) + (sum(parts[3:], parts[2])), whole)


def test_a_search_in_steps_is_the_search_at_once(monkeypatch):
    X = np.round(tables()["plain"], 1)
    whole = Search(X, Minkowski(1.0), *frame(X)).nearest(X[:50], 6)
    monkeypatch.setattr(searching, "AT_ONCE", 64)
    monkeypatch.setattr(searching, "HELD", 64)
    monkeypatch.setattr(searching, "LEAST_ROWS", 8)
    same(Search(X, Minkowski(1.0), *frame(X)).nearest(X[:50], 6), whole)
    same(Search(X, Minkowski(2.0), *frame(X)).nearest(X[:50], 6), plain(X, X[:50], 6))


def test_the_number_of_threads_changes_no_bit():
    X = np.random.default_rng(1).standard_normal((6000, 4))
    found = []
    for count in (1, 2, 4):
        with qed.threads(count):
            tree = Tree.of(X)
            found.append((tree, tree.nearest(X[:600], 5, 2.0), filtered(X, X[:600], 5, *frame(X))))
    for tree, near, passed in found[1:]:
        np.testing.assert_array_equal(tree.numbers, found[0][0].numbers)
        same(near, found[0][1])
        same(passed, found[0][2])


def test_a_tree_is_noticed_that_was_changed():
    X = np.random.default_rng(2).standard_normal((10 * LEAF, 3))
    for name in ("points", "value", "column", "numbers"):
        tree = Tree.of(X)
        values = getattr(tree, name)
        if name == "points":
            values[tree.column[0], 0] = 1e6
        elif name == "numbers":
            values[0] = values[1]
        else:
            values[0] += 1
        assert tree.misplaced() > 0, name


def test_trees_grow_where_they_help():
    wide, low = np.ones((6000, 20)), np.ones((6000, 3))
    assert grows(Minkowski(2.0), low, "auto") and not grows(Minkowski(2.0), wide, "auto")
    assert grows(Minkowski(1.0), wide, "auto") and not grows(Minkowski(2.0), low[:100], "auto")
    assert grows(Minkowski(2.0), low[:100], "kd_tree") and not grows(Minkowski(2.0), low, "brute")
    assert not grows(Cosine(), low, "kd_tree") and not grows(Minkowski(2.0), sparse.csr_array(low), "kd_tree")


def test_measures_by_name():
    for name, power in (("euclidean", 2.0), ("manhattan", 1.0), ("chebyshev", np.inf), ("l1", 1.0)):
        assert measure_of(name, 7) == Minkowski(power)
    assert measure_of("minkowski", 3) == Minkowski(3.0)
    assert isinstance(measure_of(qed.kernels.RBF(1.0), 2), InFeatures)
    assert isinstance(measure_of("precomputed", 2), Given) and isinstance(measure_of(max, 2), Custom)
    with pytest.raises(qed.base.errors.ParameterError, match="no distance called"):
        measure_of("great circle", 2)


def test_directions():
    X = np.array([[1.0, 0.0], [0.0, 2.0], [3.0, 3.0], [0.0, 0.0], [-1e200, 0.0], [1e-200, 1e-200]])
    measure = Cosine()
    found = measure.distances(measure.sizes(measure.prepared(X), measure.prepared(X)))
    half = 1 - np.sqrt(0.5)
    wanted = [
        [0, 1, half, 1, 2, half],
        [1, 0, half, 1, 1, half],
        [half, half, 0, 1, 1 + np.sqrt(0.5), 0],
        [1, 1, 1, 0, 1, 1],
    ]
    np.testing.assert_allclose(found[:4], wanted, atol=4e-16)


def nearest_in_fractions(X, query, found):
    """Say whether the rows found are the nearest ones, up to the roundings of a sum of squares."""
    rows = [[Fraction(float(value)) for value in row] for row in X]
    sizes = [sum((a - Fraction(float(b))) ** 2 for a, b in zip(row, query)) for row in rows]
    slack = 1 + Fraction((X.shape[1] + 8) * 2.0**-51)
    return all(sizes[i] <= wanted * slack for i, wanted in zip(found, sorted(sizes)))


@pytest.mark.parametrize("scale", [1e-40, 1e-22, 3e-20, 1e19, 3e37])
@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array])
def test_single_precision_at_the_ends_of_its_range(scale, make):
    X = (np.random.default_rng(3).standard_normal((60, 3)) * scale).astype(np.float32)
    model = qed.NearestNeighbors(n_neighbors=5, algorithm="brute").fit(make(X))
    assert model.certificate_
    for row, found in zip(X, model.kneighbors(make(X), return_distance=False)):
        assert nearest_in_fractions(X, row, found)


def test_a_product_that_overflows_on_the_way_hides_no_neighbour():
    query = np.array([[2e19, 1.7e19, 1.7e19]], dtype=np.float32)
    near = np.array([[-2e19, 1.7e19, 1.7e19]], dtype=np.float32)
    far = np.array([[-1e18, -3e19, -4e19]], dtype=np.float32) * np.linspace(1, 1.2, 40, dtype=np.float32)[:, None]
    X = np.vstack([far, near])
    same(Search(X, Minkowski(2.0), *frame(X)).nearest(query, 1), plain(X, query, 1))
    assert plain(X, query, 1).number[0, 0] == 40


@pytest.mark.parametrize("scale", [1e-315, 1e-300, 1e-150, 1e90, 1e150, 1e300])
@pytest.mark.parametrize("way", ["brute", "kd_tree"])
def test_any_scale(scale, way):
    X = np.random.default_rng(4).standard_normal((60, 3)) * scale
    model = qed.NearestNeighbors(n_neighbors=5, algorithm=way).fit(X)
    assert model.certificate_
    for row, found in zip(X, model.kneighbors(X, return_distance=False)):
        assert nearest_in_fractions(X, row, found)


def test_rows_beside_one_that_is_far_away():
    X = np.random.default_rng(5).standard_normal((60, 3))
    beside = qed.NearestNeighbors(n_neighbors=5).fit(np.vstack([X, [[1e150, 0.0, 0.0]]]))
    assert beside.certificate_
    np.testing.assert_array_equal(beside.kneighbors(X, return_distance=False), plain(X, X, 5).number)


@pytest.mark.filterwarnings("ignore::qed.base.errors.UnprovenWarning")
@pytest.mark.parametrize(("near", "power"), [(1e-300, 2), (1e-170, 2), (1e-4, 100)])
def test_sizes_that_are_no_numbers_any_more_are_not_proven(near, power):
    X = np.vstack([np.random.default_rng(6).standard_normal((60, 3)) * near, [[1.0, 0.0, 0.0]]])
    assert not qed.NearestNeighbors(n_neighbors=5, p=power).fit(X).certificate_


def test_queries_beyond_all_squares_still_have_an_answer():
    X, y = np.array([[0.0], [1.0], [2.0], [4.0]]), np.array([0.0, 1.0, 2.0, 4.0])
    model = qed.KNeighborsRegressor(2, weights="distance").fit(X, y)
    assert np.isfinite(model.predict([[1e200]])).all()


@pytest.mark.parametrize("name", ["points", "numbers", "column", "value"])
def test_a_file_with_another_tree_is_refused(name, tmp_path):
    X = np.random.default_rng(7).standard_normal((10 * LEAF, 3))
    whole = {one: getattr(Tree.of(X), one) for one in ("points", "numbers", "column", "value")}
    others = [
        whole[name][None],
        whole[name][..., :-1],
        whole[name].astype(np.float16 if name in ("points", "value") else np.int8),
    ]
    for other in others:
        model = qed.NearestNeighbors(algorithm="kd_tree").fit(X)
        model.tree_ = Tree(**{**whole, name: other})
        qed.save(model, tmp_path / "model.qed")
        with pytest.raises(qed.base.errors.SavingError):
            qed.load(tmp_path / "model.qed")


def test_leaves_that_are_too_large_are_refused():
    tree = Tree.of(np.random.default_rng(8).standard_normal((10 * LEAF, 3)))
    assert Tree(tree.points, tree.numbers, tree.column[:0], tree.value[:0]).misplaced() > 0


def test_weights_that_are_no_numbers_are_refused():
    model = qed.KNeighborsRegressor(1, weights=str).fit([[0.0], [1.0]], [0.0, 1.0])
    with pytest.raises(qed.base.errors.ParameterError, match="make numbers"):
        model.predict([[0.5]])


def test_another_distance_after_the_fit_asks_no_tree():
    X = np.random.default_rng(9).standard_normal((100, 3))
    model = qed.NearestNeighbors(n_neighbors=3, algorithm="kd_tree").fit(X).set_params(metric="cosine")
    wanted = qed.NearestNeighbors(n_neighbors=3, metric="cosine").fit(X).kneighbors(X[:9], return_distance=False)
    np.testing.assert_array_equal(model.kneighbors(X[:9], return_distance=False), wanted)
