r"""Functions of a kernel's values that give kernels again.

.. math:: c\,k \ (c \ge 0), \qquad k^d, \qquad \textstyle\sum_j c_j k^j \ (c_j \ge 0), \qquad e^{k}.

A multiple stretches the features. Powers are products, which :mod:`qed.kernels.algebra` shows to be kernels; a polynomial
with coefficients that are not negative is a sum of multiples of powers; and the exponential is a limit of such
polynomials. Each is applied in place to the tiles that the inner kernel fills.

Shawe-Taylor and Cristianini (2004), Kernel Methods for Pattern Analysis, proposition 3.24.
"""

import math
from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from qed.base.models.parameters import integer, number
from qed.kernels.inputs import dense
from qed.kernels.kernel import ATOM, POWER, PRODUCT, Kernel, OfOne, checked, keep
from qed.kernels.mercer import NotAKernelError
from qed.kernels.polynomial import monomials, power
from qed.kernels.tiles import Bound, after


@dataclass(frozen=True, repr=False)
class FunctionOf(OfOne):
    """One kernel, whose values a function changes one by one."""

    @abstractmethod
    def _apply(self, values: np.ndarray) -> np.ndarray:
        """Change values of the inner kernel, in place."""

    def _bind(self, X: Any, Z: Any) -> Bound:
        return after(self.kernel._bind(X, Z), self._apply, extra=1)

    def _diagonal(self, X: Any) -> np.ndarray:
        return self._apply(self.kernel._diagonal(X))


def refuse_negative(value: Any, what: str) -> None:
    """Refuse a negative factor, with a witness."""
    if number().accepts(value) and value < 0:
        raise NotAKernelError(
            f"{what} must be a number >= 0, not {value!r}: a row x with k(x, x) > 0 would have the similarity "
            f"{value!r} k(x, x) < 0 to itself, so v = (1,) is a witness against it.",
            np.ones(1),
        )


@dataclass(frozen=True, repr=False)
class Scaled(FunctionOf):
    """A kernel times a number that is not negative: ``2 * k``.

    Parameters
    ----------
    kernel : Kernel
        The kernel.
    factor : float
        The number.

    Examples
    --------
    >>> from qed.kernels import Linear
    >>> 2 * Linear()
    2.0 * Linear()
    >>> -2 * Linear()
    Traceback (most recent call last):
        ...
    qed.kernels.mercer.NotAKernelError: The factor of a kernel must be a number >= 0, not -2: ...
    """

    factor: float
    _precedence: ClassVar[int] = PRODUCT

    def __post_init__(self) -> None:
        super().__post_init__()
        refuse_negative(self.factor, "The factor of a kernel")
        keep(self, factor=float(checked(self, "factor", number(0))))

    def _apply(self, values: np.ndarray) -> np.ndarray:
        values *= self.factor
        return values

    def n_features(self, p: int) -> int | None:
        return self.kernel.n_features(p)

    def _features(self, X: Any) -> Any:
        return self.kernel._features(X) * math.sqrt(self.factor)

    def __repr__(self) -> str:
        return f"{self.factor!r} * {self.kernel._shown(POWER)}"


@dataclass(frozen=True, repr=False)
class Power(FunctionOf):
    """A kernel to a whole power, ``k ** 3``.

    Parameters
    ----------
    kernel : Kernel
        The kernel.
    degree : int
        The power, at least one.

    Examples
    --------
    >>> from qed.kernels import Linear
    >>> ((Linear() + 1) ** 2)([[1.0, 2.0]], [[3.0, 4.0]])
    array([[144.]])
    """

    degree: int
    _precedence: ClassVar[int] = POWER

    def __post_init__(self) -> None:
        super().__post_init__()
        keep(self, degree=int(checked(self, "degree", integer(1))))

    def _apply(self, values: np.ndarray) -> np.ndarray:
        return power(values, self.degree)

    def n_features(self, p: int) -> int | None:
        count = self.kernel.n_features(p)
        return None if count is None else math.comb(count + self.degree - 1, self.degree)

    def _features(self, X: Any) -> np.ndarray:
        values, counts = monomials(dense(self.kernel._features(X)), self.degree)[-1]
        return values * np.sqrt(counts)

    def __repr__(self) -> str:
        return f"{self.kernel._shown(ATOM)} ** {self.degree}"


@dataclass(frozen=True, repr=False)
class PolynomialOf(FunctionOf):
    r"""A polynomial of a kernel, :math:`\sum_j c_j k^j` with :math:`c_j \ge 0`.

    Parameters
    ----------
    kernel : Kernel
        The kernel.
    coefficients : tuple of float
        The coefficients, that of the constant first.

    Examples
    --------
    >>> from qed.kernels import Linear
    >>> Linear().polynomial([1, 0, 3])([[2.0]], [[5.0]])
    array([[301.]])
    """

    coefficients: tuple[float, ...]

    def __post_init__(self) -> None:
        super().__post_init__()
        coefficients = tuple(self.coefficients) if np.ndim(self.coefficients) == 1 else ()
        if not coefficients or not all(number(0).accepts(value) for value in coefficients):
            raise NotAKernelError(
                f"The coefficients of a polynomial of a kernel must be numbers >= 0, at least one, not {self.coefficients!r}: "
                "with a negative one there are kernels of which it is none."
            )
        keep(self, coefficients=tuple(float(value) for value in coefficients))

    def _apply(self, values: np.ndarray) -> np.ndarray:
        """Put values into the polynomial, in place, by Horner's rule."""
        base = values.copy()
        values.fill(self.coefficients[-1])
        for coefficient in self.coefficients[-2::-1]:
            values *= base
            values += coefficient
        return values

    def n_features(self, p: int) -> int | None:
        count = self.kernel.n_features(p)
        if count is None:
            return None
        return sum(math.comb(count + k - 1, k) for k, factor in enumerate(self.coefficients) if factor > 0)

    def _features(self, X: Any) -> np.ndarray:
        made = monomials(dense(self.kernel._features(X)), len(self.coefficients) - 1)
        parts = [values * np.sqrt(c * counts) for c, (values, counts) in zip(self.coefficients, made) if c > 0]
        return np.hstack(parts) if parts else np.empty((X.shape[0], 0))

    def __repr__(self) -> str:
        return f"{self.kernel._shown(ATOM)}.polynomial({list(self.coefficients)!r})"


@dataclass(frozen=True, repr=False)
class Exponential(FunctionOf):
    """The exponential of a kernel, ``exp(k)``: a polynomial of infinite degree.

    Parameters
    ----------
    kernel : Kernel
        The kernel.

    Examples
    --------
    >>> from qed.kernels import Linear, exp
    >>> exp(Linear())([[1.0]], [[0.0], [1.0]]).round(4)
    array([[1.    , 2.7183]])
    """

    def _apply(self, values: np.ndarray) -> np.ndarray:
        return np.exp(values, out=values)

    def __repr__(self) -> str:
        return f"exp({self.kernel!r})"


def exp(kernel: Kernel) -> Kernel:
    """Give the kernel ``exp(k(x, z))``.

    Parameters
    ----------
    kernel : Kernel
        The kernel.

    Examples
    --------
    >>> from qed.kernels import Linear, exp
    >>> exp(0.5 * Linear())
    exp(0.5 * Linear())
    """
    return Exponential(kernel)
