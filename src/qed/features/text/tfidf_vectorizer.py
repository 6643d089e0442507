r"""Counts of words, weighed by how rare a word is.

.. math:: x_{dt} = c_{dt}\,\log\frac{1 + n}{1 + n_t} + c_{dt}, \qquad x_d \leftarrow x_d / \|x_d\|,

with :math:`c_{dt}` the count of term t in document d, and :math:`n_t` of the n documents having it: a word that is
everywhere tells documents apart no better than none. The same pass as for counts gives :math:`n_t`. Sparck Jones (1972),
A statistical interpretation of term specificity.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from qed.base.attributes import floats, nothing
from qed.base.certificate import Claim
from qed.base.errors import DegenerateError
from qed.base.models.parameters import Parameter, boolean, choice, numeric_type
from qed.base.models.problem import TableProblem
from qed.base.models.ways import takes
from qed.base.numbers import EPS
from qed.base.sources.block import Block
from qed.features.text.count_vectorizer import CountVectorizer
from qed.features.text.cutting import READING
from qed.stats.terms import WORD, rarity, row_norms, weigh

if TYPE_CHECKING:
    from scipy.sparse import csr_array


@takes(**READING)
class TfidfVectorizer(CountVectorizer):
    r"""Count the words of documents, each count weighed by how rare its word is.

    Parameters
    ----------
    strip_accents, lowercase, preprocessor, tokenizer, stop_words, token_pattern, ngram_range, analyzer
        As in `CountVectorizer`.
    max_df, min_df, max_features, vocabulary, binary
        As in `CountVectorizer`.
    dtype : type, default=numpy.float64
        What the matrix holds.
    norm : {'l2', 'l1', None}, default='l2'
        What every document is divided by, so that long ones do not weigh more.
    use_idf : bool, default=True
        Whether rare terms weigh more.
    smooth_idf : bool, default=True
        Whether documents are counted as if there were one more with all terms; else the weight is log(n / n_t) + 1.
    sublinear_tf : bool, default=False
        Whether a count c counts as 1 + log c.

    Attributes
    ----------
    terms_, document_counts_, n_documents_
        As in `CountVectorizer`.
    idf_ : ndarray of shape (n_terms,) or None
        The weight of each term.
    certificate_ : Certificate
        That terms, counts and weights follow from the data; `qed.certify` counts again and measures every document.

    See Also
    --------
    CountVectorizer : The counts themselves.

    Examples
    --------
    >>> import qed
    >>> texts = ["free prize", "free lunch", "free lunch today"]
    >>> weighed = qed.TfidfVectorizer().fit(texts)
    >>> weighed.terms_.tolist(), weighed.idf_.round(2).tolist()
    (['free', 'lunch', 'prize', 'today'], [1.0, 1.29, 1.69, 1.69])
    """

    attributes: ClassVar = {"idf_": floats("terms") | nothing()}
    parameters: ClassVar[Mapping[str, Parameter]] = {
        **CountVectorizer.parameters,
        "dtype": Parameter(
            "a type of floating-point numbers", lambda v: numeric_type().accepts(v) and np.dtype(v).kind == "f", "model"
        ),
        "norm": choice("l2", "l1", None, kind="model"),
        "use_idf": boolean(),
        "smooth_idf": boolean(),
        "sublinear_tf": boolean(),
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
        dtype: Any = np.float64,
        norm: str | None = "l2",
        use_idf: bool = True,
        smooth_idf: bool = True,
        sublinear_tf: bool = False,
    ) -> None:
        super().__init__(
            strip_accents=strip_accents,
            lowercase=lowercase,
            preprocessor=preprocessor,
            tokenizer=tokenizer,
            stop_words=stop_words,
            token_pattern=token_pattern,
            ngram_range=ngram_range,
            analyzer=analyzer,
            max_df=max_df,
            min_df=min_df,
            max_features=max_features,
            vocabulary=vocabulary,
            binary=binary,
            dtype=dtype,
        )
        self.norm = norm
        self.use_idf = use_idf
        self.smooth_idf = smooth_idf
        self.sublinear_tf = sublinear_tf

    def _solve(self, problem: TableProblem) -> None:
        super()._solve(problem)
        self.idf_ = self._weights() if self.use_idf else None

    def _weights(self) -> np.ndarray:
        """Give the weight of each term from the documents that have it."""
        more = float(self.smooth_idf)
        there = self.document_counts_ + more
        if (there == 0).any():
            raise DegenerateError(
                f"The term {self.terms_[int(there.argmin())]!r} of the vocabulary is in no document, so that its weight would "
                "be infinite: give smooth_idf=True, or leave it out."
            )
        return rarity(self.document_counts_, self.n_documents_, more)

    def _weighed(self, counts: csr_array) -> csr_array:
        kind = np.float32 if np.dtype(self.dtype) == np.float32 else np.float64
        found = super()._weighed(counts).astype(kind)
        return weigh(found, self.idf_, self.norm, logarithm=self.sublinear_tf).astype(self.dtype, copy=False)

    def _prove(self, problem: TableProblem) -> list[Claim]:
        claims = super()._prove(problem)
        if self.idf_ is not None:
            wanted = self._weights()
            # A quotient, a logarithm and a sum, each of them rounded, where an ulp of the quotient moves the logarithm by one of 1.
            claims.append(
                Claim(
                    "idf_ follows from document_counts_ (difference, relative)",
                    float((np.abs(self.idf_ - wanted) / wanted).max()),
                    8 * EPS,
                )
            )
        if problem.source == "data" and self.norm is not None:
            unit = float(np.finfo(np.float32 if np.dtype(self.dtype) == np.float32 else np.float64).eps)
            claims.append(
                Claim(
                    f"every document that has terms is of length 1 ({self.norm})",
                    *problem.rows.fold(self._uneven, unit),
                )
            )
        return claims

    def _uneven(self, block: Block, unit: float) -> Worst:
        matrix = self._change(block)
        stored = np.diff(matrix.indptr)
        length = row_norms(matrix, self.norm or "l2")[stored > 0]
        return Worst(float(np.abs(length - 1.0).max(initial=0.0)), unit * float(stored.max(initial=0) + 8))


class Worst(tuple[float, float]):
    """A pair of numbers, of which the largest are kept where others would be added up."""

    def __new__(cls, *pair: float) -> Worst:
        return super().__new__(cls, pair)

    def __add__(self, other: Worst) -> Worst:  # type: ignore[override]
        return Worst(*map(max, self, other))
