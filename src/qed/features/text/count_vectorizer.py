r"""Text as counts of words: a bag of words.

.. math:: x_{dt} = \#\{\text{occurrences of term } t \text{ in document } d\}.

The order of words is forgotten, what is left is a sparse matrix of counts, on which naive Bayes and linear models live.
One pass finds the vocabulary, :math:`O(\text{words})`, from lists, columns, files or clusters; the terms stand in the
order of the alphabet, so that the columns are the same whatever the order of the rows. Salton, Wong and Yang (1975), A
vector space model for automatic indexing.
"""

from collections.abc import Callable, Iterable, Mapping
from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
from scipy import sparse
from scipy.sparse import csr_array

from qed.base.attributes import floats, names
from qed.base.certificate import Claim
from qed.base.errors import DegenerateError, InputError, ParameterError
from qed.base.models.no_effect import takes
from qed.base.models.parameters import Parameter, boolean, check_parameters, choice, integer, number, numeric_type
from qed.base.models.problem import TableProblem
from qed.base.models.searching import fit_known
from qed.base.numbers import EPS
from qed.base.sources.block import Block
from qed.base.sources.open import rows as rows_of
from qed.base.sources.rows import Rows
from qed.features.tables.levels import column_of
from qed.features.text.cutting import READING, WORDS, Cutting
from qed.features.text.documents import documents_of, texts_of
from qed.stats.terms import WORD, TermCounts


def _is_share(value: object) -> bool:
    return integer(1).accepts(value) or (isinstance(value, float) and number(0, 1).accepts(value))


_DOCUMENTS = Parameter("a share of the documents from 0.0 to 1.0, or a whole number >= 1", _is_share, "model")


@takes(**READING)
class CountVectorizer(Cutting):
    r"""Count the words of documents.

    Parameters
    ----------
    strip_accents : {'ascii', 'unicode'} or function, optional
        What takes the marks off letters: ``é`` becomes ``e``. With 'ascii' what then is no plain letter is left out.
    lowercase : bool, default=True
        Whether ``Free`` and ``free`` are the same word.
    preprocessor : function, optional
        Makes of a document the text that is cut, in the place of the two parameters above.
    tokenizer : function, optional
        Gives the words of a text, in the place of `token_pattern`.
    stop_words : 'english' or list of str, optional
        Words that are left out; 'english' stands for a short list of articles, pronouns, prepositions and the like.
    token_pattern : str, default=r"(?u)\\b\\w\\w+\\b"
        A regular expression of what a word is: two or more letters or digits. Where it has a group, the word is what
        the group holds.
    ngram_range : tuple of two int, default=(1, 1)
        The least and the largest number of words that make a term: ``(1, 2)`` counts words and pairs of neighbours.
    analyzer : {'word', 'char', 'char_wb'} or function, default='word'
        What terms are made of: words, letters (runs of `ngram_range` of them), letters within words, or what a function
        gives for a document.
    max_df, min_df : float or int, default=1.0 and 1
        Terms in more, or in fewer, documents are left out: a share of the documents, or a number of them.
    max_features : int, optional
        The most terms: those that occur most often, of equals the first in the alphabet.
    vocabulary : list of str or dict, optional
        The terms that are counted, or the column of each; found in the documents when not given.
    binary : bool, default=False
        Whether only to say if a term is there.
    dtype : type, default=numpy.int64
        What the matrix holds.

    Attributes
    ----------
    terms_ : ndarray of shape (n_terms,)
        The term of each column, in the order of the alphabet unless a vocabulary was given.
    document_counts_ : ndarray of shape (n_terms,)
        In how many documents each term is.
    n_documents_ : float
        How many documents there were, by weight.
    certificate_ : Certificate
        That terms and counts are those of the data; `qed.certify` counts them again.

    See Also
    --------
    TfidfVectorizer : Weighs the counts by how rare a term is.
    MultinomialNB : A classifier of such counts.

    Examples
    --------
    >>> import qed
    >>> counts = qed.CountVectorizer()
    >>> counts.fit_transform(["free prize free", "see you at lunch"]).toarray()
    array([[0, 2, 0, 1, 0, 0],
           [1, 0, 1, 0, 1, 1]])
    >>> counts.get_feature_names_out().tolist()
    ['at', 'free', 'lunch', 'prize', 'see', 'you']
    """

    attributes: ClassVar = {
        "terms_": names("terms"),
        "document_counts_": floats("terms", low=0),
        "n_documents_": floats(above=0),
    }
    parameters: ClassVar[Mapping[str, Parameter]] = {
        **Cutting.parameters,
        "max_df": _DOCUMENTS,
        "min_df": _DOCUMENTS,
        "max_features": choice(None, kind="model") | integer(1),
        "vocabulary": Parameter("None, a list of terms or a dict", lambda v: WORDS.accepts(v) or isinstance(v, dict)),
        "binary": boolean(),
        "dtype": numeric_type(),
    }

    def __init__(
        self,
        *,
        strip_accents: Any = None,
        lowercase: bool = True,
        preprocessor: Callable[[str], str] | None = None,
        tokenizer: Callable[[str], Iterable[str]] | None = None,
        stop_words: str | Iterable[str] | None = None,
        token_pattern: str | None = WORD,
        ngram_range: tuple[int, int] = (1, 1),
        analyzer: Any = "word",
        max_df: float = 1.0,
        min_df: float = 1,
        max_features: int | None = None,
        vocabulary: Iterable[str] | Mapping[str, int] | None = None,
        binary: bool = False,
        dtype: Any = np.int64,
    ) -> None:
        self.strip_accents = strip_accents
        self.lowercase = lowercase
        self.preprocessor = preprocessor
        self.tokenizer = tokenizer
        self.stop_words = stop_words
        self.token_pattern = token_pattern
        self.ngram_range = ngram_range
        self.analyzer = analyzer
        self.max_df = max_df
        self.min_df = min_df
        self.max_features = max_features
        self.vocabulary = vocabulary
        self.binary = binary
        self.dtype = dtype

    def fit(self, X: object, y: object = None) -> Self:  # type: ignore[override]
        """Learn the vocabulary.

        Parameters
        ----------
        X : list of str, column, frame of one column, Path, Dask frame or Rows
            The documents: ``table["message"]``, or ``qed.rows("messages.csv", columns=["message"])``.
        y : None
            Not used.
        """
        return super().fit(X)

    def fit_transform(self, X: object, y: object = None, **fit_params: object) -> csr_array:
        """Learn the vocabulary and count its terms, in one pass where the documents are in memory.

        Parameters
        ----------
        X : list of str, column, frame of one column, Path, Dask frame or Rows
            The documents: ``table["message"]``, or ``qed.rows("messages.csv", columns=["message"])``.
        y : None
            Not used.
        **fit_params
            Not used.
        """
        check_parameters(self, self.parameters)
        rows = self._open(X, reset=True)
        if not rows.in_memory or rows.has_weight:
            return self.fit(rows).transform(rows)
        given = self._given()
        terms, counts = self._cutter().count(self._texts(rows.array()), given)
        places = given if given is not None else {term: place for place, term in enumerate(terms)}
        fit_known(self, rows, TermCounts.of(places, counts))
        return self._weighed(counts[:, [places[term] for term in self.terms_]])

    def _open(
        self, X: Any, y: object = None, sample_weight: object = None, *, reset: bool, target: str | None = None
    ) -> Rows:
        source = rows_of(documents_of(X), sample_weight=sample_weight).table()
        if source.n_features != 1:
            raise InputError(
                f"{type(self).__name__} reads one column of text, but X has {source.n_features}: give table['message'], or "
                "qed.rows('messages.csv', columns=['message']). qed.ColumnEncoder encodes whole tables."
            )
        if reset:
            self.n_features_in_ = 1
        return source

    def _given(self) -> dict[str, int] | None:
        """Give the place of each term of the vocabulary that the user gave; None where there is none."""
        if self.vocabulary is None:
            return None
        given = self.vocabulary
        ranked = sorted(given, key=given.__getitem__) if isinstance(given, Mapping) else [*given]
        if isinstance(given, (set, frozenset)):
            ranked.sort()
        places = {str(term): place for place, term in enumerate(ranked)}
        whole = not isinstance(given, Mapping) or sorted(given.values()) == list(range(len(given)))
        if not places or len(places) < len(ranked) or not whole:
            raise ParameterError(
                f"{type(self).__name__}: vocabulary must be different terms, at least one, with the columns 0, 1, 2 ... in a dict."
            )
        return places

    def _texts(self, block: Block) -> list[str]:
        """Give the documents of a block, or say which row is none."""
        return texts_of(column_of(block.X, 0), "documents", block.start)

    def _counts(self, block: Block) -> TermCounts:
        block = block.present
        places = self._given()
        terms, counts = self._cutter().count(self._texts(block), places)
        return TermCounts.of(terms if places is None else places, counts, block.weight)

    def _problem(self, rows: Rows) -> TableProblem:
        return TableProblem(rows, rows.fold(self._counts), source="statistics")

    def _evidence(self, rows: Rows) -> TableProblem:
        return TableProblem(rows, rows.fold(self._counts))

    def _known(self, rows: Rows, statistic: TermCounts) -> TableProblem:
        return TableProblem(rows, statistic, source="statistics")

    def _solve(self, problem: TableProblem) -> None:
        seen: TermCounts = problem.seen
        chosen = self._chosen(seen)
        self.terms_ = chosen if self.vocabulary is not None else np.sort(chosen)
        self.document_counts_ = seen.documents_with(self.terms_)
        self.n_documents_ = seen.weight

    def _chosen(self, seen: TermCounts) -> np.ndarray:
        """Give the terms that have a column, in any order where none was given."""
        if not seen.places:
            raise DegenerateError("There is an empty vocabulary: the documents hold no words, or stop words only.")
        if self.vocabulary is not None:
            return np.array(list(seen.places), dtype=object)
        least, most = (
            limit if isinstance(limit, Integral) else limit * seen.weight for limit in (self.min_df, self.max_df)
        )
        if most < least:
            raise ParameterError(
                f"{type(self).__name__}: max_df asks for fewer documents ({most:g}) than min_df ({least:g}): no term could have both."
            )
        enough = (seen.documents >= least) & (seen.documents <= most)
        terms, total = np.fromiter(seen.places, object, len(seen.places))[enough], seen.total[enough]
        if self.max_features is not None and len(terms) > self.max_features:
            last = np.partition(total, -self.max_features)[-self.max_features]
            ahead = terms[total > last]
            terms = np.append(ahead, np.sort(terms[total == last])[: self.max_features - len(ahead)])
        if not len(terms):
            raise DegenerateError("After pruning, no terms remain: try a lower min_df or a higher max_df.")
        return terms

    def _disagreement(self) -> str:
        return "" if self.n_features_in_ == 1 else "n_features_in_ must be 1, the column of text"

    @property
    def vocabulary_(self) -> dict[str, int]:
        """The column of each term."""
        self._check_fitted()
        return {term: place for place, term in enumerate(self.terms_)}

    @property
    def fixed_vocabulary_(self) -> bool:
        """Whether the vocabulary was given."""
        return self.vocabulary is not None

    def _makes_sparse(self, rows: Rows) -> bool:
        return True

    def _change(self, block: Block) -> csr_array:
        return self._weighed(self._cutter().count(self._texts(block), self.vocabulary_)[1])

    def _weighed(self, counts: csr_array) -> csr_array:
        """Make of counts what the matrix holds."""
        counts.sort_indices()
        if self.binary:
            counts.data[:] = 1
        return counts.astype(self.dtype, copy=False)

    def transform(self, X: object) -> csr_array:
        """Count the terms of documents; words that are not in the vocabulary are passed over.

        Parameters
        ----------
        X : list of str, column, frame of one column, Path, Dask frame or Rows
            The documents.

        Returns
        -------
        csr_array of shape (n, n_terms)
            The counts.
        """
        return self._apply(self._change, X)

    def inverse_transform(self, X: Any) -> list[np.ndarray]:
        """Give the terms of each document, without their order.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, n_terms)
            Counts.
        """
        self._check_fitted()
        counts = sparse.csr_array(X)
        return [self.terms_[row] for row in np.split(counts.indices, counts.indptr[1:-1])]

    def get_feature_names_out(self, input_features: object = None) -> np.ndarray:
        """Give the terms, one for each column.

        Parameters
        ----------
        input_features : None
            Not used.
        """
        self._check_fitted()
        return self.terms_.copy()

    def _prove(self, problem: TableProblem) -> list[Claim]:
        seen: TermCounts = problem.seen
        chosen = self._chosen(seen)
        ours = set(self.terms_)
        wrong = len(ours.symmetric_difference(chosen)) + len(self.terms_) - len(ours)
        if self.vocabulary is not None:
            moved = wrong or int((chosen != self.terms_).sum())
        else:
            moved = wrong + int((self.terms_[1:] <= self.terms_[:-1]).sum())
        off = np.abs(seen.documents_with(self.terms_) - self.document_counts_).max(initial=0.0)
        # Weights are added in any order; without them all are whole numbers.
        noise = EPS * seen.count * seen.weight if problem.rows.has_weight else 0.0
        claims = [
            Claim("terms_ are those of the documents that the limits let through, in order", float(moved), 0.0),
            Claim("document_counts_ are the documents that have each term", float(off), noise),
            Claim("n_documents_ is their number", abs(self.n_documents_ - seen.weight), noise),
        ]
        return claims

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        tags.input_tags.allow_nan = False
        return tags
