"""Counts of terms that are there already, weighed by how rare a term is: see :mod:`qed.features.text.weighing`.

One pass counts the documents of each term, :math:`O(\\text{counts that are not zero})`.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from scipy import sparse
from scipy.sparse import csr_array

from qed.base.attributes import floats, nothing
from qed.base.certificate import Claim
from qed.base.errors import InputError
from qed.base.models.problem import RowsProblem, Source
from qed.base.models.roles import OneToOneFeatureMixin
from qed.base.numbers import EPS
from qed.base.sources.block import Block
from qed.base.sources.rows import Rows
from qed.features.text.weighing import WEIGHTS, Weighing
from qed.stats.terms import weigh


class TermsProblem(RowsProblem):
    """Rows of counts, and how many of them, by weight, have each term; the first number is the weight of all."""

    def __init__(self, rows: Rows, model: TfidfTransformer, *, source: Source = "data") -> None:
        super().__init__(rows, model, source=source)
        self.seen: np.ndarray = rows.fold(_documents)


class TfidfTransformer(OneToOneFeatureMixin, Weighing):  # type: ignore[misc]
    """Weigh counts of terms by how rare a term is.

    Parameters
    ----------
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
    document_counts_ : ndarray of shape (p,)
        In how many documents each term is.
    n_documents_ : float
        How many documents there were, by weight.
    idf_ : ndarray of shape (p,) or None
        The weight of each term.
    certificate_ : Certificate
        That counts and weights follow from the data; `qed.certify` counts again and measures every document.

    See Also
    --------
    TfidfVectorizer : The same from documents.
    CountVectorizer : Makes the counts.

    Examples
    --------
    >>> import qed
    >>> qed.TfidfTransformer(norm=None).fit_transform([[2, 0], [1, 1], [1, 0]]).toarray().round(2)
    array([[2.  , 0.  ],
           [1.  , 1.69],
           [1.  , 0.  ]])
    """

    attributes: ClassVar = {
        "document_counts_": floats("features", low=0),
        "n_documents_": floats(above=0),
        "idf_": floats("features") | nothing(),
    }
    parameters: ClassVar = WEIGHTS
    passes: ClassVar[str] = "two"

    def __init__(
        self, *, norm: str | None = "l2", use_idf: bool = True, smooth_idf: bool = True, sublinear_tf: bool = False
    ) -> None:
        self.norm = norm
        self.use_idf = use_idf
        self.smooth_idf = smooth_idf
        self.sublinear_tf = sublinear_tf

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def _problem(self, rows: Rows) -> TermsProblem:
        return TermsProblem(rows, self, source="statistics")

    def _evidence(self, rows: Rows) -> TermsProblem:
        return TermsProblem(rows, self)

    def _solve(self, problem: TermsProblem) -> None:
        self.n_documents_, self.document_counts_ = float(problem.seen[0]), problem.seen[1:].copy()
        self._set_weights()

    def _makes_sparse(self, rows: Rows) -> bool:
        return True

    def _change(self, block: Block) -> csr_array:
        counts = _without_zeros(block)
        if self.sublinear_tf and (counts.data < 0).any():
            raise InputError("TfidfTransformer: sublinear_tf=True takes logarithms, but X has counts below zero.")
        return weigh(counts, self.idf_, self.norm, logarithm=self.sublinear_tf)

    def _prove(self, problem: TermsProblem) -> list[Claim]:
        # Weights are added in any order; without them all are whole numbers.
        weight = problem.seen[0]
        noise = EPS * problem.summary.count * weight if problem.rows.has_weight else 0.0
        off = float(np.abs(problem.seen[1:] - self.document_counts_).max())
        unit = float(np.finfo(np.float32 if problem.rows.dtype == np.float32 else np.float64).eps)
        return [
            Claim("document_counts_ are the documents that have each term", off, noise),
            Claim("n_documents_ is their number", abs(self.n_documents_ - weight), noise),
            *self._weight_claims(problem.rows if problem.source == "data" else None, unit),
        ]


def _without_zeros(block: Block) -> csr_array:
    counts = sparse.csr_array(block.X, copy=True)
    counts.eliminate_zeros()
    return counts


def _documents(block: Block) -> np.ndarray:
    counts = _without_zeros(block)
    weight = np.repeat(block.weights, np.diff(counts.indptr))
    return np.append(block.weights.sum(), np.bincount(counts.indices, weight, counts.shape[1])).astype(np.float64)
