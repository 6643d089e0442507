"""Documents as counts of words, weighed by how rare a word is: see :mod:`qed.features.text.weighing`.

The same pass as for counts gives the documents that have each word.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, ClassVar

import numpy as np
from scipy.sparse import csr_array

from qed.base.attributes import floats, nothing
from qed.base.certificate import Claim
from qed.base.models.parameters import Parameter, numeric_type
from qed.base.models.problem import TableProblem
from qed.base.models.ways import takes
from qed.features.text.count_vectorizer import CountVectorizer
from qed.features.text.cutting import READING
from qed.features.text.weighing import WEIGHTS, Weighing
from qed.stats.terms import WORD, weigh


@takes(**READING)
class TfidfVectorizer(Weighing, CountVectorizer):
    r"""Count the words of documents, each count weighed by how rare its word is.

    Parameters
    ----------
    strip_accents, lowercase, preprocessor, tokenizer, stop_words, token_pattern, ngram_range, analyzer
        As in `CountVectorizer`.
    max_df, min_df, max_features, vocabulary, binary
        As in `CountVectorizer`.
    dtype : type, default=numpy.float64
        What the matrix holds.
    norm, use_idf, smooth_idf, sublinear_tf
        As in `TfidfTransformer`.

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
        **WEIGHTS,
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
        self._set_weights()

    def _weighed(self, counts: csr_array) -> csr_array:
        kind = np.float32 if np.dtype(self.dtype) == np.float32 else np.float64
        found = super()._weighed(counts).astype(kind)
        return weigh(found, self.idf_, self.norm, logarithm=self.sublinear_tf).astype(self.dtype, copy=False)

    def _prove(self, problem: TableProblem) -> list[Claim]:
        unit = float(np.finfo(np.float32 if np.dtype(self.dtype) == np.float32 else np.float64).eps)
        return [
            *super()._prove(problem),
            *self._weight_claims(problem.rows if problem.source == "data" else None, unit),
        ]
