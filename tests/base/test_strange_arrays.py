"""Arrays that hold more, or less, than their numbers say: masks, dates, huge numbers, indices out of range, odd places in memory."""

import datetime
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import qed
from qed.base.errors import InputError

generator = np.random.default_rng(0)
X = generator.normal(size=(40, 3))
NUMBER = X @ [1.0, 2.0, 3.0] + generator.normal(size=40)
LABEL = np.where(NUMBER > 0, "yes", "no")
MASK = np.arange(40) == 3


def opened_by_the_model(model, *data, **named):
    return model.fit(*data, **named)


def opened_by_hand(model, *data, **named):
    return model.fit(qed.rows(*data, **named))


@pytest.fixture(params=[opened_by_the_model, opened_by_hand])
def fit(request):
    return request.param


def test_what_is_masked_is_missing(fit):
    with pytest.raises(InputError, match="contains NaN: column number 0, row 3"):
        fit(qed.Ridge(), np.ma.masked_array(X, np.column_stack([MASK, MASK, MASK])), NUMBER)
    with pytest.raises(InputError, match="target of Ridge contains NaN: row 3"):
        fit(qed.Ridge(), X, np.ma.masked_array(NUMBER, MASK))
    with pytest.raises(InputError, match="missing labels"):
        fit(qed.LogisticRegression(), X, np.ma.masked_array(LABEL, MASK))
    with pytest.raises(InputError, match="weight of row 3 .* is nan"):
        fit(qed.Ridge(), X, NUMBER, sample_weight=np.ma.masked_array(np.ones(40), MASK))
    whole = fit(qed.Ridge(), np.ma.masked_array(X), np.ma.masked_array(NUMBER))
    np.testing.assert_array_equal(whole.coef_, qed.Ridge().fit(X, NUMBER).coef_)


@pytest.mark.parametrize("kind", ["datetime64[D]", "timedelta64[s]"])
@pytest.mark.parametrize("held", ["array", "objects", "list", "series", "masked"])
def test_dates_and_times_are_no_numbers(fit, kind, held):
    times = np.arange(40).astype(kind)
    times = {
        "array": times,
        "objects": np.array(list(times), dtype=object),
        "list": times.tolist(),
        "series": pd.Series(times.astype(kind.replace("[D]", "[s]"))),
        "masked": np.ma.masked_array(times, MASK),
    }[held]
    table = (
        pd.DataFrame({"a": times})
        if held == "series"
        else np.array([times], dtype=object).T
        if held == "list"
        else times[:, None]
    )
    with pytest.raises(InputError, match="holds no numbers|dates or times|must be a string or a number"):
        fit(qed.Ridge(), table, NUMBER)
    with pytest.raises(InputError, match="must be numbers"):
        fit(qed.Ridge(), X, times)
    with pytest.raises(InputError, match="must be (words or )?numbers|holds values of type"):
        fit(qed.LogisticRegression(), X, times)
    with pytest.raises(InputError, match="must be numbers"):
        fit(qed.Ridge(), X, NUMBER, sample_weight=times)


def test_numbers_too_large_for_any_column(fit):
    huge = 10**400
    for table in (
        [[huge, 1]] * 40,
        np.array([[huge, 1.5]] * 40, dtype=object),
        pd.DataFrame({"a": [huge] * 40}, dtype=object),
    ):
        with pytest.raises(InputError, match="too large"):
            fit(qed.Ridge(), table, NUMBER)
        with pytest.raises(InputError, match="too large"):
            qed.StandardScaler().fit(X[:, :2]).transform(table)
    with pytest.raises(InputError, match="too large"):
        fit(qed.Ridge(), X, [huge] * 40)
    with pytest.raises(InputError, match="too large"):
        fit(qed.LogisticRegression(), X, [huge, 1] * 20)
    with pytest.raises(InputError, match="must be numbers"):
        fit(qed.Ridge(), X, NUMBER, sample_weight=[huge] * 40)


SPARSE = sparse.csr_array(np.where(generator.random((40, 3)) < 0.5, X, 0.0))


def changed(name, place, value, matrix=SPARSE):
    found = matrix.copy()
    values = getattr(found, name).copy()
    values[place] = value
    setattr(found, name, values)
    return found


def columns_out_of_range():
    found = SPARSE.tocoo()
    found.coords = (found.row.copy(), np.full_like(found.col, 77))
    return found


def list_out_of_range():
    found = SPARSE.tolil()
    found.rows[0], found.data[0] = [50], [1.0]
    return found


DAMAGED = {
    "column too large": lambda: changed("indices", 4, 99),
    "negative column": lambda: changed("indices", 4, -1),
    "row that ends before it begins": lambda: changed("indptr", 5, 0),
    "more values than there are": lambda: changed("indptr", -1, 9999),
    "does not begin": lambda: changed("indptr", 0, 1),
    "row too large": lambda: changed("indices", 2, 1000, SPARSE.tocsc()),
    "coordinates": columns_out_of_range,
    "lists": list_out_of_range,
}


@pytest.mark.parametrize("kind", DAMAGED)
def test_sparse_matrices_whose_indices_make_no_sense(fit, kind):
    with pytest.raises(InputError, match="sparse matrix is damaged"):
        fit(qed.Ridge(), DAMAGED[kind](), NUMBER)
    with pytest.raises(InputError, match="sparse matrix is damaged"):
        qed.Ridge().fit(SPARSE, NUMBER).predict(DAMAGED[kind]())


@pytest.mark.parametrize("format", ["csr", "csc", "coo", "bsr", "lil", "dok", "dia"])
def test_values_stored_twice_are_added(format):
    twice = sparse.coo_array(
        (np.concatenate([SPARSE.data, SPARSE.data]), [np.tile(part, 2) for part in SPARSE.tocoo().coords]),
        shape=(40, 3),
    )
    if format == "csr":
        order = np.argsort(twice.row, kind="stable")
        starts = np.concatenate([[0], np.cumsum(np.bincount(twice.row, minlength=40))])
        matrix = sparse.csr_array((twice.data[order], twice.col[order], starts), shape=(40, 3))
        assert not matrix.has_canonical_format
    else:
        matrix = twice if format == "coo" else twice.asformat(format)
    stored = matrix.nnz
    expected = qed.Ridge().fit(2 * SPARSE.toarray(), NUMBER)
    found = qed.Ridge().fit(matrix, NUMBER)
    np.testing.assert_allclose(found.coef_, expected.coef_, rtol=1e-10)
    np.testing.assert_allclose(found.predict(matrix), expected.predict(2 * SPARSE.toarray()), rtol=1e-10)
    assert matrix.nnz == stored, "what the user gave is left as it was"


def test_the_place_in_memory_changes_no_bit():
    memory = np.zeros(X.nbytes + 1, dtype=np.uint8)
    moved = memory[1:].view(X.dtype).reshape(X.shape)
    moved[:] = X
    assert not moved.flags.aligned
    for model in (qed.Ridge(), qed.GradientRidge()):
        np.testing.assert_array_equal(model.fit(moved, NUMBER).coef_, model.fit(X, NUMBER).coef_)


@pytest.mark.parametrize(
    "y", [np.zeros((40, 0)), np.zeros(40, dtype=[("a", float)]), NUMBER.astype(str).astype(object), {1, 2}, 3.0]
)
def test_targets_that_are_none(fit, y):
    with pytest.raises(InputError):
        fit(qed.Ridge(), X, y)


def test_labels_among_the_classes_given_may_be_of_any_kind():
    with pytest.raises(InputError, match="None is not among the classes"):
        qed.MajorityClassifier().partial_fit(X, np.array(["a", None] * 20, dtype=object), classes=["a"])


def test_dates_as_labels_are_refused():
    with pytest.raises(InputError, match="Unknown label type"):
        qed.LogisticRegression().fit(X, [datetime.date(2020, 1, 1), datetime.date(2020, 1, 2)] * 20)


@pytest.mark.parametrize(
    ("labels", "words"),
    [
        ([1, "a"], "holds words and numbers"),
        ([1.0, "a"], "holds words and numbers"),
        ([True, "a"], "holds words and numbers"),
        ([Decimal(0), Decimal(1)], "Unknown label type: Decimal"),
        ([Fraction(0), Fraction(1)], "Unknown label type: Fraction"),
    ],
)
def test_labels_that_no_certificate_takes_are_refused_by_the_fit(fit, labels, words):
    for model in (qed.GaussianNB(), qed.LogisticRegression(), qed.DecisionTreeClassifier()):
        with pytest.raises(InputError, match=words):
            fit(model, X, np.array(labels * 20, dtype=object))


def test_labels_and_values_at_the_end_of_the_range_have_a_fingerprint():
    counts, far = np.abs(X).round(), np.array([1e308, -1e308])
    for model, table, y in (
        (qed.BernoulliNB(), counts, far[(NUMBER > 0).astype(int)]),
        (qed.DecisionTreeClassifier(), X / np.abs(X).max() * 1.7e308, LABEL),
    ):
        assert qed.certify(model.fit(table, y), table, y)
