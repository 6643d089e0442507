"""Text as counts: the same numbers as scikit-learn's vectorizers, from every source, with proofs that notice a change."""

import pickle
from collections import Counter

import dask.dataframe as dask_frame
import numpy as np
import pandas
import polars
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import clone
from sklearn.feature_extraction import text as peer
from sklearn.pipeline import make_pipeline

import qed
from qed.base.errors import DegenerateError, InputError, NotFittedError, ParameterError
from qed.stats.terms import WORD, Cutter
from tests.features.messages import LABELS, MESSAGES
from tests.proof.mutations import changed, numbers_of, put

KINDS = {"counts": (qed.CountVectorizer, peer.CountVectorizer), "tfidf": (qed.TfidfVectorizer, peer.TfidfVectorizer)}
SETTINGS = [
    {},
    {"lowercase": False, "binary": True},
    {"ngram_range": (1, 2), "min_df": 2},
    {"ngram_range": (2, 3)},
    {"stop_words": ["you", "the"], "max_df": 0.3},
    {"token_pattern": r"(?u)\b\w+\b", "min_df": 0.05, "max_df": 20},
    {"token_pattern": r"(\w+)!"},
    {"vocabulary": ["prize", "free", "lunch"]},
    {"vocabulary": {"prize": 1, "free": 0}},
    {"dtype": np.float32},
    {"strip_accents": "unicode", "ngram_range": (1, 2)},
    {"strip_accents": "ascii", "lowercase": False},
    {"strip_accents": str.swapcase},
    {"analyzer": "char", "ngram_range": (2, 4)},
    {"analyzer": "char_wb", "ngram_range": (1, 5), "min_df": 2},
    {"analyzer": "char_wb", "ngram_range": (3, 3), "strip_accents": "ascii"},
    {"analyzer": str.split},
    {"preprocessor": str.upper, "stop_words": ["FREE"]},
    {"tokenizer": str.split, "token_pattern": None, "ngram_range": (1, 2)},
]
WEIGHTS = [{"norm": "l1"}, {"norm": None, "sublinear_tf": True}, {"use_idf": False}, {"smooth_idf": False}]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("setting", SETTINGS, ids=str)
def test_the_matrix_is_that_of_scikit_learn(kind, setting):
    check_against_peer(*KINDS[kind], setting)


@pytest.mark.parametrize("setting", WEIGHTS, ids=str)
def test_the_weights_are_those_of_scikit_learn(setting):
    check_against_peer(*KINDS["tfidf"], setting)


@pytest.mark.parametrize("setting", [{}, *WEIGHTS], ids=str)
@pytest.mark.parametrize("kind", [np.float64, np.float32])
def test_counts_are_weighed_as_scikit_learn_does_and_as_the_vectorizer(setting, kind):
    counts = qed.CountVectorizer(dtype=kind).fit_transform(MESSAGES)
    model = qed.TfidfTransformer(**setting)
    found = model.fit_transform(counts)
    # As in check_against_peer.
    close = {"rtol": 200 * np.finfo(kind).eps}
    np.testing.assert_allclose(
        found.toarray(), peer.TfidfTransformer(**setting).fit_transform(counts).toarray(), **close
    )
    np.testing.assert_allclose(
        found.toarray(), qed.TfidfVectorizer(dtype=kind, **setting).fit_transform(MESSAGES).toarray(), **close
    )
    assert found.dtype == kind
    assert (model.transform(counts.toarray()) != found).nnz == 0
    assert qed.certify(model, counts)


def test_a_count_of_zero_that_is_stored_is_no_document():
    counts = sparse.csr_array((np.array([1.0, 0.0, 2.0]), ([0, 1, 2], [0, 1, 1])), shape=(3, 2))
    model = qed.TfidfTransformer(sublinear_tf=True).fit(counts)
    assert model.document_counts_.tolist() == [1.0, 1.0]
    assert np.isfinite(model.transform(counts).toarray()).all()
    with pytest.raises(DegenerateError, match="'x1' is in no document"):
        qed.TfidfTransformer(smooth_idf=False).fit([[1.0, 0.0]])
    with pytest.raises(InputError, match="below zero"):
        qed.TfidfTransformer(sublinear_tf=True).fit([[1.0]]).transform([[-1.0]])


def check_against_peer(ours, theirs, setting):
    texts = [*MESSAGES, "", "Größe über ALLES", "x"]
    model, other = ours(**setting), theirs(**setting)
    found, wanted = model.fit_transform(texts), other.fit_transform(texts)
    assert model.get_feature_names_out().tolist() == other.get_feature_names_out().tolist()
    assert found.dtype == wanted.dtype and found.format == "csr" and found.has_canonical_format
    # Sums of fewer than a hundred squares, their root and a quotient.
    unit = np.finfo(found.dtype).eps if found.dtype.kind == "f" else 0.0
    np.testing.assert_allclose(found.toarray(), wanted.toarray(), rtol=200 * unit)
    again = clone(model).fit(texts).transform(texts)
    assert (again != found).nnz == 0
    assert qed.certify(model, texts)
    assert model.vocabulary_ == other.vocabulary_
    here, there = model.inverse_transform(found), other.inverse_transform(wanted)
    assert [sorted(one) for one in here] == [sorted(one) for one in there]


@settings(max_examples=30, deadline=None)
@given(st.lists(st.text(alphabet="abC_1 .,-é\n\x1c\u2028ß", max_size=12), min_size=1, max_size=6), st.booleans())
def test_words_found_the_short_way_are_those_of_the_pattern(texts, lowercase):
    usual = Cutter(lowercase, WORD, (1, 1))
    searched = Cutter(lowercase, f"(?:{WORD})".replace("(?u)", ""), (1, 1))
    assert usual(texts) == searched(texts)


def test_most_frequent_terms_stay_and_equals_go_by_the_alphabet():
    model = qed.CountVectorizer(max_features=2).fit(["cc bb aa", "cc dd"])
    assert model.terms_.tolist() == ["aa", "cc"]


def sources(folder):
    frame = pandas.DataFrame({"text": MESSAGES})
    frame.to_csv(folder / "messages.csv", index=False)
    frame.to_parquet(folder / "messages.parquet", row_group_size=7)
    frame.assign(label=LABELS).to_csv(folder / "both.csv", index=False)
    return {
        "tuple": tuple(MESSAGES),
        "iterator": iter(MESSAGES),
        "array": np.array(MESSAGES),
        "objects": np.array(MESSAGES, dtype=object),
        "column": np.array(MESSAGES)[:, None],
        "pandas": frame["text"],
        "categories": frame["text"].astype("category"),
        "pandas frame": frame,
        "polars": polars.Series("text", MESSAGES),
        "polars frame": polars.DataFrame({"text": MESSAGES}),
        "arrow": pa.array(MESSAGES),
        "chunks": pa.chunked_array([MESSAGES[:9], MESSAGES[9:]]),
        "path": folder / "messages.csv",
        "rows": qed.rows(folder / "messages.parquet", block_size=11),
        "a column of a file": qed.rows(folder / "both.csv", columns=["text"], target="label"),
        "dask": qed.rows(dask_frame.from_pandas(frame, npartitions=3)),
    }


@pytest.mark.parametrize("kind", KINDS)
def test_every_source_gives_the_same_matrix(kind, tmp_path):
    ours = KINDS[kind][0]
    wanted = ours(min_df=2).fit_transform(MESSAGES)
    for name, source in sources(tmp_path).items():
        if name == "iterator":
            assert (ours(min_df=2).fit_transform(source) != wanted).nnz == 0
            continue
        model = ours(min_df=2).fit(source)
        found = model.transform(source)
        assert (found != wanted).nnz == 0, name
        assert (ours(min_df=2).fit_transform(source) != wanted).nnz == 0, name
        assert qed.certify(model, source), name


def test_the_order_of_rows_does_not_change_the_vocabulary():
    forth, back = (qed.CountVectorizer().fit(texts) for texts in (MESSAGES, MESSAGES[::-1]))
    np.testing.assert_array_equal(forth.terms_, back.terms_)
    np.testing.assert_array_equal(forth.document_counts_, back.document_counts_)


def test_weights_of_rows_are_repetitions_and_zero_is_absence():
    weight = np.random.default_rng(0).integers(0, 3, len(MESSAGES))
    data = qed.rows(pa.table({"text": MESSAGES}), sample_weight=weight.astype(float))
    weighted = qed.TfidfVectorizer(min_df=2).fit(data)
    repeated = qed.TfidfVectorizer(min_df=2).fit([text for text, w in zip(MESSAGES, weight) for _ in range(w)])
    np.testing.assert_array_equal(weighted.terms_, repeated.terms_)
    np.testing.assert_array_equal(weighted.idf_, repeated.idf_)
    assert qed.certify(weighted, data)


def test_counts_are_those_of_a_loop():
    model = qed.CountVectorizer(token_pattern=r"[a-z]+").fit(MESSAGES)
    wanted = Counter(word for text in MESSAGES for word in set(Cutter(True, r"[a-z]+", (1, 1))([text])[0]))
    assert dict(zip(model.terms_, model.document_counts_)) == wanted


@pytest.mark.parametrize("kind", KINDS)
def test_a_saved_model_is_the_same_model(kind, tmp_path):
    model = KINDS[kind][0](ngram_range=(1, 2)).fit(MESSAGES)
    qed.save(model, tmp_path / "model.qed")
    for other in (qed.load(tmp_path / "model.qed"), pickle.loads(pickle.dumps(model))):
        assert (other.transform(MESSAGES) != model.transform(MESSAGES)).nnz == 0
        assert qed.certify(other, MESSAGES)
        assert set(vars(other)) == set(vars(model))


@pytest.mark.parametrize("kind", KINDS)
def test_whatever_number_is_changed_the_certificate_objects(kind):
    model = KINDS[kind][0]().fit(MESSAGES)
    tried = 0
    for path, value in list(numbers_of(model)):
        for what, other in changed(value, str(path[-1])):
            put(model, path, other)
            assert not qed.certify(model, MESSAGES), f"{path}: {what}"
            put(model, path, value)
            tried += 1
    assert tried > 5
    for place, term in ((0, "nonsense"), (3, model.terms_[4])):
        forged = clone(model).fit(MESSAGES)
        forged.terms_[place] = term
        assert not qed.certify(forged, MESSAGES)
    assert qed.certify(model, MESSAGES)
    assert not qed.certify(model, MESSAGES[:-1])


@pytest.mark.parametrize(
    ("setting", "texts", "error", "words"),
    [
        ({}, "one text", InputError, "string object received"),
        ({}, ["a b", None], InputError, "miss row 1 "),
        ({}, ["a b", 3], InputError, "row 1 .* int"),
        ({}, [["a", "b"], ["c", "d"]], InputError, "one column of text, but X has 2"),
        ({}, np.ones((3, 1)), InputError, "not text"),
        ({}, ["", "."], DegenerateError, "empty vocabulary"),
        ({"min_df": 2}, ["aa bb", "cc"], DegenerateError, "no terms remain"),
        ({"min_df": 3, "max_df": 2}, ["aa bb", "aa"], ParameterError, "max_df asks for fewer"),
        ({"stop_words": "klingon"}, ["aa"], ParameterError, "stop_words must be 'english' or None or a list"),
        ({"stop_words": "english"}, ["to be or not to be"], DegenerateError, "empty vocabulary"),
        ({"analyzer": "letters"}, ["aa"], ParameterError, "analyzer"),
        ({"token_pattern": None}, ["aa"], ParameterError, "token_pattern or by tokenizer"),
        ({"token_pattern": "("}, ["aa"], ParameterError, "regular expression"),
        ({"ngram_range": (2, 1)}, ["aa"], ParameterError, "ngram_range"),
        ({"vocabulary": ["aa", "aa"]}, ["aa"], ParameterError, "different terms"),
        ({"vocabulary": {"aa": 2}}, ["aa"], ParameterError, "columns 0, 1, 2"),
    ],
)
def test_what_can_not_be_counted_is_refused_in_words(setting, texts, error, words):
    for fit in ("fit", "fit_transform"):
        with pytest.raises(error, match=words):
            getattr(qed.CountVectorizer(**setting), fit)(texts)


def test_the_parts_of_the_cut_can_be_asked_for():
    model = qed.CountVectorizer(strip_accents="unicode", stop_words="english", ngram_range=(1, 2))
    assert model.build_preprocessor()("Déjà VU") == "deja vu"
    assert model.build_tokenizer()("a deja vu") == ["deja", "vu"]
    analyze = pickle.loads(pickle.dumps(model.build_analyzer()))
    assert analyze("The Déjà of the VU") == ["deja", "vu", "deja vu"]
    assert "the" in model.get_stop_words() and qed.CountVectorizer().get_stop_words() is None
    with pytest.raises(ParameterError, match="strip_accents"):
        qed.CountVectorizer(strip_accents="all").build_preprocessor()


def test_what_is_not_fitted_or_infinite_says_so():
    with pytest.raises(NotFittedError):
        qed.CountVectorizer().transform(MESSAGES)
    with pytest.raises(DegenerateError, match="'unheard'.*smooth_idf"):
        qed.TfidfVectorizer(vocabulary=["free", "unheard"], smooth_idf=False).fit(MESSAGES)
    # Weights below one would all be cut to zero.
    with pytest.raises(ParameterError, match="floating-point"):
        qed.TfidfVectorizer(dtype=np.int64).fit(MESSAGES)


@pytest.mark.parametrize("kind", KINDS)
def test_files_are_not_opened_by_a_vectorizer(kind):
    with pytest.raises(ParameterError, match="input must be 'content'"):
        KINDS[kind][0](input="filename").fit(MESSAGES)


def test_spam_is_told_from_words_in_a_pipeline():
    model = make_pipeline(qed.CountVectorizer(), qed.MultinomialNB())
    scores = qed.cross_validate(model, MESSAGES, LABELS, cv=5)["test_score"]
    # A guess at random is right half of the time, with a standard deviation of 1/sqrt(4 * 60).
    assert scores.mean() > 0.5 + 4 / np.sqrt(4 * len(MESSAGES))
    assert qed.certify(model.fit(MESSAGES, LABELS), MESSAGES, LABELS)
