"""Free text in tables: what is taken for it, what becomes of it, and what is proven of it."""

import numpy as np
import pandas
import pytest
from scipy import sparse
from sklearn.feature_extraction.text import TfidfVectorizer

import qed
from qed.base.errors import InputError
from tests.features.messages import LABELS, MESSAGES
from tests.proof.mutations import changed, numbers_of, put

N = len(MESSAGES)
FRAME = pandas.DataFrame(
    {
        "message": MESSAGES,
        "id": [f"A-{i}" for i in range(N)],
        "place": ["New York City", "Rio de Janeiro", "Den Haag town"] * (N // 3),
        "name": [f"Ann Lee{i}" for i in range(N)],
    }
)


def said(encoder):
    return {name: line.partition(": ")[2] for name, line in zip(FRAME.columns, encoder.decisions_)}


def test_only_different_values_of_several_words_are_free_text():
    found = said(qed.ColumnEncoder().fit(FRAME))
    assert found["message"].startswith("free text, as its 200 most common words")
    assert found["id"] == found["name"] == "left out, it has 60 levels in 60 rows (an identifier?)"
    assert found["place"] == "3 levels, one column each"


def test_every_decision_can_be_overruled():
    found = said(qed.ColumnEncoder(categorical=["message"], text=["place"], min_frequency=0.0).fit(FRAME))
    assert "50 levels, one column each" in found["message"]
    assert found["place"].startswith("free text, as its 9 most common words")
    assert said(qed.ColumnEncoder(drop=["message"]).fit(FRAME))["message"] == "left out, as asked"
    assert qed.ColumnEncoder(text=[0], max_terms=7).fit(FRAME[["message"]]).transform(FRAME[["message"]]).shape[1] == 7


def test_the_columns_are_tfidf_of_common_words():
    table = FRAME[["message"]]
    encoder = qed.ColumnEncoder(min_frequency=3).fit(table)
    peer = TfidfVectorizer(min_df=3).fit(MESSAGES)
    assert encoder.get_feature_names_out().tolist() == [f"message_{term}" for term in peer.get_feature_names_out()]
    # Sums of fewer than a hundred squares, their root and a quotient.
    np.testing.assert_allclose(encoder.transform(table), peer.transform(MESSAGES).toarray(), rtol=200 * 2.0**-52)


def test_all_words_that_are_in_two_rows_go_into_a_sparse_matrix(tmp_path):
    table = FRAME.assign(amount=np.arange(N, dtype=float), message=FRAME["message"].where(np.arange(N) != 5))
    encoder = qed.ColumnEncoder(sparse_threshold=0.3, min_frequency=0.9, max_terms=7, scale=True).fit(table)
    peer = TfidfVectorizer(min_df=2)
    wanted = peer.fit_transform(table["message"].fillna("")).toarray()
    made = encoder.transform(table)
    assert sparse.issparse(made) and encoder.sparse_output_ and made.dtype == np.float64
    words = [name for name in encoder.get_feature_names_out() if name.startswith("message_")]
    assert words == [*(f"message_{term}" for term in peer.get_feature_names_out()), "message_missing"]
    full = made.toarray()
    # Sums of fewer than a hundred squares, their root and a quotient.
    np.testing.assert_allclose(full[:, : len(words) - 1], wanted, rtol=200 * 2.0**-52)
    assert full[:, len(words) - 1].tolist() == (np.arange(N) == 5).tolist()
    assert full[:, -1].std() == pytest.approx(1.0)
    assert encoder.certificate_ and qed.certify(encoder, table)
    table.to_parquet(tmp_path / "table.parquet", row_group_size=7)
    streamed = qed.ColumnEncoder(**encoder.get_params()).fit(qed.rows(tmp_path / "table.parquet", block_size=11))
    np.testing.assert_array_equal(streamed.transform(qed.rows(tmp_path / "table.parquet")).toarray(), full)
    qed.save(encoder, tmp_path / "encoder.qed")
    np.testing.assert_array_equal(qed.load(tmp_path / "encoder.qed").transform(table).toarray(), full)
    narrow = qed.ColumnEncoder(**encoder.get_params()).set_params(dtype=np.float32).fit(table)
    assert narrow.transform(table).dtype == np.float32
    encoder.sparse_output_ = False
    assert not qed.certify(encoder, table)


@pytest.mark.parametrize(
    "columns", [["place"], ["message", *(f"x{j}" for j in range(400))]], ids=["no text", "many numbers"]
)
def test_other_columns_may_not_allow_it(columns):
    random = np.random.default_rng(0)
    table = FRAME.assign(**{name: random.standard_normal(N) for name in columns if name not in FRAME})[columns]
    encoder = qed.ColumnEncoder(sparse_threshold=0.3).fit(table)
    usual = qed.ColumnEncoder().fit(table)
    assert not encoder.sparse_output_ and encoder.decisions_ == usual.decisions_
    np.testing.assert_array_equal(encoder.transform(table), usual.transform(table))
    assert qed.certify(encoder, table)


def test_models_of_all_words_are_proven_from_the_table():
    table, y = FRAME[["message", "place"]], np.array(LABELS)
    for model in (qed.LogisticRegression(), qed.LinearSVC(), qed.MultinomialNB()):
        found = qed.TableModel(model, encoder=qed.ColumnEncoder(sparse_threshold=0.3), scale=False).fit(table, y)
        assert found.certificate_ and qed.certify(found, table, y)
        assert found.encoded(table).is_sparse and found.score(table, y) > 0.9


def test_missing_text_is_empty_and_marked():
    table = FRAME[["message"]].copy()
    table.loc[5, "message"] = None
    encoder = qed.ColumnEncoder().fit(table)
    assert "1 missing, marked" in encoder.decisions_[0]
    made = encoder.transform(table)
    assert made[5, :-1].sum() == 0 and made[:, -1].tolist() == (np.arange(N) == 5).tolist()
    assert qed.certify(encoder, table)


def test_files_larger_than_a_block_give_the_same_and_saving_keeps_it(tmp_path):
    FRAME.to_parquet(tmp_path / "table.parquet", row_group_size=7)
    encoder = qed.ColumnEncoder().fit(qed.rows(tmp_path / "table.parquet", block_size=11))
    np.testing.assert_array_equal(encoder.transform(FRAME), qed.ColumnEncoder().fit(FRAME).transform(FRAME))
    assert qed.certify(encoder, qed.rows(tmp_path / "table.parquet"))
    qed.save(encoder, tmp_path / "encoder.qed")
    np.testing.assert_array_equal(qed.load(tmp_path / "encoder.qed").transform(FRAME), encoder.transform(FRAME))


def test_a_weight_is_a_repetition():
    weight = np.random.default_rng(0).integers(0, 3, N)
    weighted = qed.ColumnEncoder().fit(FRAME, sample_weight=weight.astype(float))
    repeated = qed.ColumnEncoder().fit(FRAME.loc[np.repeat(np.arange(N), weight)].reset_index(drop=True))
    assert weighted.decisions_ == repeated.decisions_
    np.testing.assert_array_equal(weighted.transform(FRAME), repeated.transform(FRAME))


def test_whatever_number_is_changed_the_certificate_objects():
    encoder = qed.ColumnEncoder(max_terms=20).fit(FRAME)
    tried = 0
    for path, value in list(numbers_of(encoder)):
        for what, other in changed(value, str(path[-1])):
            put(encoder, path, other)
            assert not _holds(encoder), f"{path}: {what}"
            put(encoder, path, value)
            tried += 1
    encoder.columns_[0].terms[0] = "unheard"
    assert not _holds(encoder) and tried > 10


def _holds(encoder):
    try:
        return bool(qed.certify(encoder, FRAME))
    except InputError:
        return False


def test_numbers_in_the_place_of_text_are_refused():
    encoder = qed.ColumnEncoder().fit(FRAME[["message"]])
    with pytest.raises(InputError, match="'message' holds numbers where the model learned text"):
        encoder.transform(pandas.DataFrame({"message": np.arange(3.0)}))


def test_a_comparison_reads_messages():
    found = qed.compare(FRAME[["message", "id"]], np.array(LABELS), cv=3)
    names = [entry.name for entry in found.entries]
    assert "Multinomial naive Bayes" in names and "Bernoulli naive Bayes" not in names
    wordy = {entry.name for entry in found.entries if entry.model.changes_[0].sparse_output_}
    assert wordy == {"Logistic regression", "Linear support vector machine", "Multinomial naive Bayes"}
    assert not any(entry.failure for entry in found.entries)
    # A guess at random is right half of the time, with a standard deviation of 1/sqrt(4 * 60).
    assert found.best.score > 0.5 + 4 / np.sqrt(4 * N)
    assert qed.certify(found.best.model, FRAME[["message", "id"]], np.array(LABELS))
