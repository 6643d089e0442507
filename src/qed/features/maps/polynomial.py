r"""All monomials up to a degree: a linear model in them is a polynomial in the columns.

.. math:: \phi(x) = \Big(\prod_j x_j^{a_j}\Big)_{a_1 + \dots + a_p \le d},
   \qquad \binom{p + d}{d} \text{ columns (stars and bars)}.

Each monomial is a lower one times one variable. Let :math:`c` be the first variable of a monomial of degree :math:`k`:
what follows it is one of the monomials of degree :math:`k - 1` in the variables from :math:`c` on, and these are
neighbours. So a row is filled from left to right by multiplying stretches of itself by single numbers: one
multiplication per value. The columns come in scikit-learn's order. Their number grows so fast that it is counted,
exactly, before memory is asked for.
"""

import math
import os
from typing import Any, ClassVar

import numpy as np

from qed.base.attributes import size
from qed.base.certificate import Claim
from qed.base.errors import InputError, ParameterError
from qed.base.models.checks import is_finite
from qed.base.models.no_effect import takes
from qed.base.models.parameters import Parameter, boolean, integer
from qed.base.models.problem import RowsProblem
from qed.base.sources.block import Block, is_sparse
from qed.base.sources.rows import Rows
from qed.features.filling import Filling
from qed.features.maps.polynomial_kernels import expand, expand_sparse, leading
from qed.features.names import input_names
from qed.features.stream import first_block

SAMPLED_ROWS, SAMPLED_COLUMNS = 8, 1000


def monomial_count(n_features: int, degree: int, *, interaction_only: bool = False) -> int:
    r"""Count the monomials of degree at most `degree` in `n_features` variables, the constant included.

    There are :math:`\binom{p+d}{d}` of them: choose where the :math:`p` bars stand among :math:`d` stars. Products of
    *distinct* variables alone are fewer: :math:`\sum_{k \le d} \binom{p}{k}`.

    Parameters
    ----------
    n_features : int
        The number of variables.
    degree : int
        The highest total degree.
    interaction_only : bool, default=False
        Count products of distinct variables only.

    Returns
    -------
    int
        The exact number, of any size.

    Examples
    --------
    >>> monomial_count(25, 25)
    126410606437752
    >>> monomial_count(4, 3), monomial_count(4, 3, interaction_only=True)
    (35, 15)
    """
    for name, value in (("n_features", n_features), ("degree", degree)):
        integer(0).checked(f"monomial_count: {name}", value)
    if interaction_only:
        return sum(math.comb(int(n_features), k) for k in range(min(int(degree), int(n_features)) + 1))
    return math.comb(int(n_features) + int(degree), int(degree))


def _degrees(degree: Any) -> tuple[int, int] | None:
    """Read ``degree`` or ``(min_degree, max_degree)``; None where it is neither."""
    lowest, highest = (0, degree) if not isinstance(degree, (tuple, list)) else (degree if len(degree) == 2 else (1, 0))
    whole = integer(0).accepts
    return (int(lowest), int(highest)) if whole(lowest) and whole(highest) and lowest <= highest else None


@takes("order")
class PolynomialFeatures(Filling):
    """Make all products of columns up to a degree.

    Parameters
    ----------
    degree : int or tuple (min_degree, max_degree), default=2
        The highest total degree, or the lowest and the highest.
    interaction_only : bool, default=False
        Make products of distinct columns only: ``x0 x1``, but not ``x0^2``.
    include_bias : bool, default=True
        Begin with the column of ones, whatever the lowest degree.
    max_features : int, default=1_000_000
        Refuse to make more columns than that. The number is checked before anything is made.

    Attributes
    ----------
    powers_ : ndarray of shape (n_monomials, p)
        The exponent of each variable in each new column.
    n_output_features_ : int
        The number of new columns.
    certificate_ : Certificate
        That the columns are the monomials, all of them, each once.

    See Also
    --------
    FeatureMap : Features made by a function of your own.
    monomial_count : The number of columns, beforehand.

    Notes
    -----
    Raw monomials of columns far from zero are nearly collinear. Scale the columns first, with `MinMaxScaler` to (-1, 1)
    or with `StandardScaler`.

    Examples
    --------
    >>> import numpy as np
    >>> import qed
    >>> squares = qed.PolynomialFeatures(2).fit(np.array([[2.0, 3.0]]))
    >>> dict(zip(squares.get_feature_names_out().tolist(), squares.transform([[2.0, 3.0]])[0].tolist()))
    {'1': 1.0, 'x0': 2.0, 'x1': 3.0, 'x0^2': 4.0, 'x0 x1': 6.0, 'x1^2': 9.0}
    """

    sparse: ClassVar[bool] = True
    attributes: ClassVar = {"n_output_features_": size("outputs", low=1)}
    parameters: ClassVar = {
        "degree": Parameter(
            "a whole number >= 0, or a pair (min_degree, max_degree)",
            lambda value: _degrees(value) is not None,
            "model",
        ),
        "interaction_only": boolean(),
        "include_bias": boolean(),
        "max_features": integer(1),
    }

    def __init__(
        self,
        degree: int | tuple[int, int] = 2,
        *,
        interaction_only: bool = False,
        include_bias: bool = True,
        max_features: int = 1_000_000,
    ) -> None:
        self.degree = degree
        self.interaction_only = interaction_only
        self.include_bias = include_bias
        self.max_features = max_features

    def _problem(self, rows: Rows) -> RowsProblem:
        return RowsProblem(rows, self, source="statistics")

    def _evidence(self, rows: Rows) -> RowsProblem:
        return RowsProblem(rows, self)

    def _solve(self, problem: RowsProblem) -> None:
        self.n_output_features_ = self._count(problem.rows)

    def _range(self) -> tuple[int, int]:
        """Give the lowest degree above zero and the highest one."""
        lowest, highest = _degrees(self.degree) or (0, 0)
        return max(lowest, 1), highest

    def _count(self, rows: Rows) -> int:
        """Count the new columns, and refuse those that are too many."""
        p, (lowest, highest) = rows.n_features, self._range()
        every = monomial_count(p, highest, interaction_only=self.interaction_only)
        count = self._count_for(p)
        if count == 0:
            raise ParameterError(
                f"PolynomialFeatures: degree {self.degree} of {p} feature(s) without include_bias leaves no columns at all."
            )
        if max(count, every if lowest > 1 else 0) > self.max_features:
            raise ParameterError(
                f"PolynomialFeatures: degree {highest} of {p} columns makes {max(count, every)} columns, "
                f"{_bytes(max(count, every) * rows.dtype.itemsize)} for each row, more than max_features={self.max_features}. "
                f"Lower the degree, or use a polynomial kernel, which works with the same features without making them."
            )
        return count

    def _count_for(self, p: int) -> int:
        lowest, highest = self._range()
        every = monomial_count(p, highest, interaction_only=self.interaction_only)
        low = monomial_count(p, min(lowest - 1, highest), interaction_only=self.interaction_only)
        return every - low + self.include_bias

    def _disagreement(self) -> str:
        # Beyond that the number has hundreds of digits, and counting takes longer than any transform.
        wanted = self._count_for(self.n_features_in_) if min(self.n_features_in_, self._range()[1]) < 64 else 0
        return (
            ""
            if self.n_output_features_ == wanted
            else f"n_output_features_ is {self.n_output_features_}, not {wanted}"
        )

    def _width(self) -> int:
        # The loops write that many columns, whatever the attribute was set to.
        if wrong := self._disagreement():
            raise InputError(f"PolynomialFeatures: {wrong}. Fit it anew.")
        return self.n_output_features_

    def _filled(self, rows: Rows) -> Any:
        needed, memory = 0, _memory()
        if rows.in_memory and not rows.is_sparse:
            needed = rows.count() * self._width() * rows.dtype.itemsize
        if memory is not None and needed > memory:
            raise InputError(
                f"The {self.n_output_features_} products of {rows.count()} rows need {_bytes(needed)}, but this machine has "
                f"{_bytes(memory)}. Lower the degree, transform fewer rows at a time, or use a polynomial kernel."
            )
        return super()._filled(rows)

    def _lead(self) -> np.ndarray:
        return leading(self.n_features_in_, self._range()[1], int(self.interaction_only))

    def _change(self, block: Block) -> Any:
        if not is_sparse(block.X):
            return super()._change(block)
        lead, skip, bias = self._lead(), int(self.interaction_only), int(self.include_bias)
        made = expand_sparse(block.X, lead, self._range()[0], skip, bias, self._width())
        if not self._is_finite(block.X, made):
            self._refuse_in(block)
        return made

    def _makes_sparse(self, rows: Rows) -> bool:
        return rows.is_sparse

    def _fill(self, X: np.ndarray, out: np.ndarray) -> bool:
        expand(X, self._lead(), self._range()[0], int(self.interaction_only), int(self.include_bias), out)
        return self._is_finite(X, out)

    def _is_finite(self, X: Any, out: Any) -> bool:
        """Look for products that overflowed; there are none where the largest value to the degree does not overflow."""
        largest = max(float(X.max()), -float(X.min())) if min(X.shape) else 0.0
        with np.errstate(over="ignore"):
            limit = np.float64(largest) ** self._range()[1]
        return bool(limit <= np.finfo(X.dtype).max) or (np.isfinite(largest) and is_finite(out))

    @property
    def powers_(self) -> np.ndarray:
        """Give the exponent of each variable in each new column."""
        self._check_fitted()
        return self._powers(np.arange(self.n_output_features_))

    def _powers(self, columns: np.ndarray) -> np.ndarray:
        """Read the exponents off the numbers of the columns: the first variable, then the rest, which has one degree less."""
        lead, skip, (lowest, highest) = self._lead(), int(self.interaction_only), self._range()
        powers = np.zeros((len(columns), self.n_features_in_), dtype=np.int64)
        start = int(self.include_bias)
        for degree in range(lowest, highest + 1):
            chosen = np.flatnonzero((columns >= start) & (columns < start + lead[degree, -1]))
            place = columns[chosen] - start
            for left in range(degree, 0, -1):
                first = np.searchsorted(lead[left], place, side="right") - 1
                powers[chosen, first] += 1
                place = place - lead[left, first] + (lead[left - 1, first + skip] if left > 1 else 0)
            start += int(lead[degree, -1])
        return powers

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Name the new columns, such as ``x0^2 x1``.

        Parameters
        ----------
        input_features : list of str, optional
            The names of the columns; the default is those seen in ``fit``.
        """
        names = input_names(self, input_features)
        return np.array([_name(row, names) for row in self.powers_], dtype=object)

    def _largest_error(self, block: Block) -> float:
        """Compare some of the columns of some rows with powers computed one by one, relative to what they are."""
        columns = np.unique(np.linspace(0, self.n_output_features_ - 1, SAMPLED_COLUMNS).astype(np.int64))
        sample = Block(block.X[:SAMPLED_ROWS])
        found, X = self._change(sample), sample.X
        if is_sparse(X):
            found, X = found.toarray(), X.toarray()
        wanted = np.array([np.prod(X.astype(np.float64) ** row, axis=1) for row in self._powers(columns)]).T
        gap = np.abs(found[:, columns] - wanted)
        relative = gap / np.where(wanted == 0, 1.0, np.abs(wanted))
        return float(np.max(relative, initial=0.0) / np.finfo(X.dtype).eps)

    def _prove(self, problem: RowsProblem) -> list[Claim]:
        off = abs(self._count_for(self.n_features_in_) - self.n_output_features_)
        counted = Claim("as many columns as there are monomials", off, 0)
        if off:
            return [counted]  # nothing more can be made of them
        rows = problem.rows
        if problem.source == "data":
            errors = list(rows.each(self._largest_error))
        else:
            errors = [self._largest_error(first_block(rows))]
        columns = np.unique(np.linspace(0, self.n_output_features_ - 1, SAMPLED_COLUMNS).astype(np.int64))
        twice = len(columns) - len(np.unique(self._powers(columns), axis=0))
        rounding = 2.0 * max(self._range()[1], 1)
        return [
            counted,
            Claim("no monomial occurs twice", twice, 0),
            Claim("columns are products of powers, in units of rounding", max(errors), rounding),
        ]


def _name(powers: np.ndarray, names: np.ndarray) -> str:
    parts = [f"{names[j]}^{powers[j]}" if powers[j] > 1 else str(names[j]) for j in np.flatnonzero(powers)]
    return " ".join(parts) or "1"


def _bytes(count: int) -> str:
    for unit in ("bytes", "kB", "MB", "GB", "TB"):
        if count < 1000 or unit == "TB":
            return f"{count:.3g} {unit}" if unit != "bytes" else f"{count} bytes"
        count = count / 1000  # type: ignore[assignment]
    raise AssertionError


def _memory() -> int | None:
    """Give the memory of this machine, where the system says."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):
        return None
