"""Documents as counts of words, weighed by how rare a word is: see :mod:`qed.features.text.weighing`.

The same pass as for counts gives the documents that have each word.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, ClassVar

import numpy as np
from scipy.sparse import csr_array

from qed.base.attributes import floats, nothing
from qed.base.certificate import Claim
from qed.base.models.no_effect import takes
from qed.base.models.parameters import Parameter, numeric_type
from qed.base.models.problem import TableProblem
from qed.features.text.count_vectorizer import CountVectorizer
from qed.features.text.cutting import READING
from qed.features.text.weighing import WEIGHTS, Weighing
from qed.stats.terms import WORD, weigh


@takes(**READING)
class TfidfVectorizer(Weighing, CountVectorizer):
    r"""Count the words of documents, each count weighed by how rare its word is.

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
    terms_ : ndarray of shape (n_terms,)
        The term of each column, in the order of the alphabet unless a vocabulary was given.
    document_counts_ : ndarray of shape (n_terms,)
        In how many documents each term is.
    n_documents_ : float
        How many documents there were, by weight.
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
