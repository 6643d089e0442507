"""KNN-ANN: neighbours by random projections are true distances, most of them the nearest, and how many is measured."""

import numpy as np
import pytest

import qed

generator = np.random.default_rng(0)
# Rows near a plane of four dimensions in twenty.
X = generator.standard_normal((6000, 4)) @ generator.standard_normal((4, 20)) + 0.1 * generator.standard_normal(
    (6000, 20)
)
QUERIES = X[:200] + 0.05 * generator.standard_normal((200, 20))


@pytest.fixture(scope="module")
def model():
    return qed.NearestNeighbors(n_neighbors=8, algorithm="hashing").fit(X)


def recall(found, wanted):
    return np.mean([np.isin(mine, theirs).mean() for mine, theirs in zip(wanted, found)])


def test_recall_is_what_is_told(model):
    """KNN-ANN: recall against all rows, of queries the model has not seen, and of 64 of its own."""
    exact = qed.NearestNeighbors(n_neighbors=8, algorithm="brute").fit(X)
    distances, numbers = model.kneighbors(QUERIES)
    assert model.certificate_ and qed.certify(model, X)
    # Shares of 64 and of 200 rows, whose neighbours are found together or not at all: four standard errors.
    assert recall(numbers, exact.kneighbors(QUERIES)[1]) == pytest.approx(model.recall_, abs=4 * 0.5 / np.sqrt(64))
    assert model.recall_ > 0.8
    given = np.linalg.norm(QUERIES[:, None] - X[numbers], axis=2)
    np.testing.assert_allclose(distances, given, rtol=1e-12)
    assert (np.diff(distances, axis=1) >= 0).all() and all(len(set(row)) == 8 for row in numbers)


def test_rows_fill_their_cells_in_halves(model):
    """KNN-ANN: every table holds every row once, and a row finds itself."""
    assert (np.sort(model.tables_.order, axis=1) == np.arange(len(X))).all()
    distances, numbers = model.kneighbors(X[:100], 1)
    assert (numbers[:, 0] == np.arange(100)).all() and (distances == 0).all()
    assert (model.kneighbors(n_neighbors=1, return_distance=False)[:, 0] != np.arange(len(X))).all()


def test_more_neighbours_than_cells_hold_come_from_all_rows(model):
    distances, _ = model.kneighbors(QUERIES[:2], 5500)
    np.testing.assert_array_equal(
        distances, qed.NearestNeighbors(algorithm="brute").fit(X).kneighbors(QUERIES[:2], 5500)[0]
    )


@pytest.mark.parametrize("move", ["recall", "order", "cuts", "directions"])
def test_what_is_moved_is_noticed(move, tmp_path):
    model = qed.NearestNeighbors(algorithm="hashing").fit(X)
    if move == "recall":
        model.recall_ -= 0.01
    else:
        values = getattr(model.tables_, move)
        values[3, 0] = values[3, 1] if move == "order" else values[3, 0] + 0.1
    assert not qed.certify(model, X)


def test_small_tables_and_other_distances_are_searched_whole():
    small = qed.KNeighborsClassifier(algorithm="hashing").fit(X[:1000], np.arange(1000) % 2)
    other = qed.NearestNeighbors(algorithm="hashing", p=1).fit(X)
    assert not hasattr(small, "recall_") and not hasattr(other, "recall_") and small.certificate_ and other.certificate_


def test_saved_with_its_tables(model, tmp_path):
    qed.save(model, tmp_path / "near.qed")
    again = qed.load(tmp_path / "near.qed")
    np.testing.assert_array_equal(again.kneighbors(QUERIES)[0], model.kneighbors(QUERIES)[0])
    assert qed.certify(again, X)


def test_the_number_of_threads_changes_nothing(model):
    with qed.threads(1):
        one = qed.NearestNeighbors(n_neighbors=8, algorithm="hashing").fit(X)
    np.testing.assert_array_equal(one.tables_.cuts, model.tables_.cuts)
    np.testing.assert_array_equal(one.kneighbors(QUERIES)[1], model.kneighbors(QUERIES)[1])
