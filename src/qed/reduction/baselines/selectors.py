r"""Some columns as they are: those that vary most, or any.

Of k columns those with the largest variances keep most of it, and principal components keep at least as much:

.. math:: \sum_{j \le k} \lambda_j(S) \;\ge\; \max_{|J| = k} \sum_{j \in J} S_{jj} \;\ge\; \frac{k}{p} \operatorname{tr} S,

the last being what k columns drawn at random keep on average (Schur and Horn say the first). Two columns that vary much may say the same,
which neither selector sees.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, ClassVar

import numpy as np

from qed.base.attributes import booleans, floats, integers
from qed.base.certificate import Claim
from qed.base.errors import InputError, ParameterError
from qed.base.models.estimator import OnePass
from qed.base.models.parameters import integer, random_state
from qed.base.models.problem import StatisticProblem
from qed.base.models.proof import restated
from qed.base.models.roles import Transformer
from qed.base.numbers import EPS, TINY
from qed.base.random import Seed, generator, seed_of
from qed.base.sources.block import Block, is_sparse
from qed.base.sources.rows import Rows
from qed.base.summary import Summary
from qed.features.names import input_names


class ColumnSelector(Transformer, OnePass):
    """A model that keeps some columns."""

    attributes: ClassVar = {
        "support_": booleans("features"),
        "variances_": floats("features", low=0),
        "captured_": floats(low=0, high=1 + 1e-9),
    }
    sparse: ClassVar[bool] = True
    parameters: ClassVar = {"n_components": integer(1, kind="model")}
    n_components: int
    support_: np.ndarray
    variances_: np.ndarray
    captured_: float

    @abstractmethod
    def _choose(self, variances: np.ndarray) -> np.ndarray:
        """Give the numbers of the columns to keep."""

    def _statistic(self, block: Block) -> Summary:
        return Summary.of(block)

    def _solve(self, problem: StatisticProblem) -> None:
        p = int(self.n_features_in_)
        if self.n_components > p:
            raise ParameterError(
                f"{type(self).__name__}: n_components={self.n_components} is more than the {p} columns there are. Ask for fewer."
            )
        seen = problem.statistic
        vanished = (seen.variance < TINY / EPS) & (seen.high - seen.low > 8 * EPS * np.abs(seen.mean))
        if vanished.any():
            raise InputError(
                f"{type(self).__name__}: column {int(vanished.argmax())} varies by so little that its squares vanish: multiply it by a "
                "constant first."
            )
        self.variances_ = np.array(seen.variance)
        self.support_ = np.zeros(p, dtype=bool)
        self.support_[self._choose(self.variances_)] = True
        self.captured_ = _share(self.variances_, self.support_)

    def get_support(self, indices: bool = False) -> np.ndarray:
        """Say which columns are kept.

        Parameters
        ----------
        indices : bool, default=False
            Give their numbers, and not True or False for each column.
        """
        self._check_fitted()
        return np.flatnonzero(self.support_) if indices else self.support_.copy()

    def _change(self, block: Block) -> Any:
        return block.X[:, np.flatnonzero(self.support_)]

    def _makes_sparse(self, rows: Rows) -> bool:
        return rows.is_sparse

    def inverse_transform(self, X: Any) -> Any:
        """Put columns back where they were, with zeros for those left out.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, k)
            Columns that were kept.

        Returns
        -------
        ndarray or csr_array of shape (n, p)
            All columns, sparse where those given are.
        """
        self._check_fitted()
        table: Any = X.tocsc() if is_sparse(X) else np.asarray(X)
        if table.ndim != 2 or table.shape[1] != int(self.support_.sum()):
            raise InputError(f"Expected {int(self.support_.sum())} columns, got the shape {table.shape}.")
        if is_sparse(table):
            places = np.concatenate([[0], np.cumsum(self.support_)])
            shape = (table.shape[0], len(self.support_))
            return type(table)((table.data, table.indices, table.indptr[places]), shape).tocsr()
        found = np.zeros((len(table), len(self.support_)), table.dtype)
        found[:, self.support_] = table
        return found

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Give the names of the columns that are kept.

        Parameters
        ----------
        input_features : list of str, optional
            The names of all columns.
        """
        self._check_fitted()
        return np.asarray(input_names(self, input_features), dtype=object)[self.support_]

    def _prove(self, problem: StatisticProblem) -> list[Claim]:
        kept = int(np.asarray(self.support_).sum())
        return [Claim("as many columns are kept as were asked for (others)", float(abs(kept - self.n_components)), 0.0)]

    def _restate(self, problem: StatisticProblem) -> list[Claim]:
        seen = problem.statistic
        size = np.maximum(seen.variance, TINY) + seen.lost / np.maximum(seen.weight, TINY) / 1e-9
        return [
            restated("variances_", self.variances_, seen.variance, scale=size),
            restated("captured_", self.captured_, _share(self.variances_, self.support_), scale=1.0),
        ]


class TopVariance(ColumnSelector):
    """Keep the columns that vary most.

    Parameters
    ----------
    n_components : int, default=1
        How many.

    Attributes
    ----------
    support_ : ndarray of bool, shape (p,)
        Which columns are kept.
    variances_ : ndarray of shape (p,)
        The variance of each column, with the divisor W.
    captured_ : float
        The share of all variance that the columns kept have.
    certificate_ : Certificate
        The proof that no column left out varies more.

    See Also
    --------
    PCA : The plane that keeps most variance; never less than this.

    Examples
    --------
    >>> import numpy as np
    >>> import qed
    >>> X = np.array([[1.0, 0.0, 10.0], [2.0, 0.0, -10.0], [3.0, 1.0, 0.0]])
    >>> model = qed.TopVariance(2).fit(X)
    >>> model.support_, model.transform(X)[0], bool(model.certificate_)
    (array([ True, False,  True]), array([ 1., 10.]), True)
    """

    statistic_parameters: ClassVar[tuple[str, ...]] = ()

    def __init__(self, n_components: int = 1) -> None:
        self.n_components = n_components

    def _choose(self, variances: np.ndarray) -> np.ndarray:
        return np.argsort(-variances, kind="stable")[: self.n_components]

    def _prove(self, problem: StatisticProblem) -> list[Claim]:
        seen, support = problem.statistic, np.asarray(self.support_)
        kept, left = seen.variance[support], seen.variance[~support]
        most = float(left.max(initial=0.0)) or float(kept.max(initial=0.0))
        over = max(float(left.max(initial=0.0)) - float(kept.min(initial=np.inf)), 0.0) if len(kept) else np.inf
        # Of a column that varies far more than the others, rounding may hide more than these vary, and change nothing about the order.
        lost = seen.lost / np.maximum(seen.weight, TINY)
        above, below = (left + lost[~support]).max(initial=0.0), (kept - lost[support]).min(initial=np.inf)
        rounding = max(float(above - below) - over, 0.0) / max(most, TINY) + 8 * EPS
        return [
            *super()._prove(problem),
            Claim.within(
                "a column left out varies more than one kept, by at most (relative)",
                over / max(most, TINY),
                0.0,
                rounding,
            ),
        ]


class RandomColumns(ColumnSelector):
    """Keep columns that are drawn at random: the least that a reduction has to beat.

    Parameters
    ----------
    n_components : int, default=1
        How many.
    random_state : None, int or NumPy generator
        Draws them.

    Attributes
    ----------
    support_ : ndarray of bool, shape (p,)
        Which columns are kept.
    variances_ : ndarray of shape (p,)
        The variance of each column, with the divisor W.
    captured_ : float
        The share of all variance that the columns kept have.
    seed_ : int
        What they were drawn with.
    certificate_ : Certificate
        The proof that these are the columns that the seed draws.

    Examples
    --------
    >>> import numpy as np
    >>> import qed
    >>> model = qed.RandomColumns(2, random_state=0).fit(np.eye(4))
    >>> int(model.support_.sum()), model.captured_, bool(model.certificate_)
    (2, 0.5, True)
    """

    attributes: ClassVar = {"seed_": integers()}
    parameters: ClassVar = {"n_components": integer(1, kind="model"), "random_state": random_state()}
    statistic_parameters: ClassVar[tuple[str, ...]] = ()

    def __init__(self, n_components: int = 1, *, random_state: Seed = None) -> None:
        self.n_components = n_components
        self.random_state = random_state

    def _solve(self, problem: StatisticProblem) -> None:
        self.seed_ = seed_of(self.random_state)
        super()._solve(problem)

    def _choose(self, variances: np.ndarray) -> np.ndarray:
        return generator(self.seed_, "columns").permutation(len(variances))[: self.n_components]

    def _prove(self, problem: StatisticProblem) -> list[Claim]:
        wanted = np.zeros(len(self.support_), dtype=bool)
        wanted[self._choose(np.zeros(len(self.support_)))] = True
        others = float((wanted != self.support_).sum())
        return [*super()._prove(problem), Claim("columns are those that the seed draws (others)", others, 0.0)]

    def _restate(self, problem: StatisticProblem) -> list[Claim]:
        given = self.random_state
        # Few columns may be drawn by many seeds: where a number was given, it is the seed.
        known = [restated("seed_", self.seed_, given)] if isinstance(given, int | np.integer) else []
        return [*super()._restate(problem), *known]


def _share(variances: np.ndarray, support: np.ndarray) -> float:
    """Give the share of the variance that some columns have; one where nothing varies."""
    total = float(np.sum(variances))
    return float(np.sum(variances[support])) / total if total > 0 else 1.0
