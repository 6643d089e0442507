r"""Counts of terms, weighed by how rare a term is: what a vectorizer of text and a transformer of counts share.

.. math:: x_{dt} = c_{dt}\,\log\frac{1 + n}{1 + n_t} + c_{dt}, \qquad x_d \leftarrow x_d / \|x_d\|,

with :math:`c_{dt}` the count of term t in document d, and :math:`n_t` of the n documents having it: a word that is
everywhere tells documents apart no better than none. Sparck Jones (1972), A statistical interpretation of term specificity.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from qed.base.certificate import Claim
from qed.base.errors import DegenerateError
from qed.base.models.parameters import Parameter, boolean, choice
from qed.base.models.roles import Transformer
from qed.base.numbers import EPS
from qed.base.sources.block import Block
from qed.base.sources.rows import Rows
from qed.stats.terms import rarity, row_norms

WEIGHTS: Mapping[str, Parameter] = {
    "norm": choice("l2", "l1", None, kind="model"),
    "use_idf": boolean(),
    "smooth_idf": boolean(),
    "sublinear_tf": boolean(),
}


class Weighing(Transformer):
    """A transformer whose columns are terms, weighed by the documents that have them."""

    norm: str | None
    use_idf: bool
    smooth_idf: bool
    document_counts_: np.ndarray
    n_documents_: float
    idf_: Any

    def _set_weights(self) -> None:
        self.idf_ = self._weights() if self.use_idf else None

    def _weights(self) -> np.ndarray:
        """Give the weight of each term from the documents that have it."""
        more = float(self.smooth_idf)
        there = self.document_counts_ + more
        if (there == 0).any():
            raise DegenerateError(
                f"The term {self.get_feature_names_out()[int(there.argmin())]!r} is in no document, so that its weight would "
                "be infinite: give smooth_idf=True, or leave it out."
            )
        return rarity(self.document_counts_, self.n_documents_, more)

    def _weight_claims(self, rows: Rows | None, unit: float) -> list[Claim]:
        """Claim that weights follow from counts and, where rows are given, that documents are of length one in numbers of this unit."""
        claims = []
        if self.idf_ is not None:
            wanted = self._weights()
            # A quotient, a logarithm and a sum, each of them rounded, where an ulp of the quotient moves the logarithm by one of 1.
            off = float((np.abs(self.idf_ - wanted) / wanted).max())
            claims.append(Claim("idf_ follows from document_counts_ (difference, relative)", off, 8 * EPS))
        if rows is not None and self.norm is not None:
            says = f"every document that has terms is of length 1 ({self.norm})"
            claims.append(Claim(says, *rows.fold(self._uneven, unit)))
        return claims

    def _uneven(self, block: Block, unit: float) -> Worst:
        matrix = self._change(block.present)
        stored = np.diff(matrix.indptr)
        length = row_norms(matrix, self.norm or "l2")[stored > 0]
        return Worst(float(np.abs(length - 1.0).max(initial=0.0)), unit * float(stored.max(initial=0) + 8))


class Worst(tuple[float, float]):
    """A pair of numbers, of which the largest are kept where others would be added up."""

    def __new__(cls, *pair: float) -> Worst:
        return super().__new__(cls, pair)

    def __add__(self, other: Worst) -> Worst:  # type: ignore[override]
        return Worst(*map(max, self, other))
