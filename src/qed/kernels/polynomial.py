r"""The polynomial kernel: all products of columns up to a degree, without making them.

.. math:: k(x, z) = (\gamma\, x^\top z + c)^d = \sum_{a_0 + a_1 + \dots + a_p = d} \frac{d!}{a_0!\,a_1! \cdots a_p!}\;
   c^{a_0} \gamma^{d - a_0} \prod_j x_j^{a_j} \prod_j z_j^{a_j},

so the features are the :math:`\binom{p + d}{d}` monomials of degree at most :math:`d`, each times the root of its
multinomial coefficient. A value costs :math:`O(p + \log d)`, the power being taken by repeated squaring; the explicit
features of one row cost :math:`O(p^d)`.

Shawe-Taylor and Cristianini (2004), Kernel Methods for Pattern Analysis, section 9.1.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from qed.base.models.parameters import Parameter, integer, number
from qed.kernels.inputs import dense
from qed.kernels.kernel import Kernel, checked, keep
from qed.kernels.linear import squared_norms
from qed.kernels.tiles import Bound, after, dot


def power(values: np.ndarray, degree: int) -> np.ndarray:
    """Raise `values` to a whole power of at least one, in place, by repeated squaring.

    The leading bit of the degree is the value itself; every further bit squares what there is, and a one also multiplies by it.

    >>> power(np.array([2.0, -1.0]), 5)
    array([32., -1.])
    """
    bits = f"{degree:b}"[1:]
    base = values.copy() if "1" in bits else values
    for bit in bits:
        values *= values
        if bit == "1":
            values *= base
    return values


def monomials(X: np.ndarray, degree: int) -> list[tuple[np.ndarray, np.ndarray]]:
    r"""Give all monomials of each degree from 0 to `degree`, with the multinomial coefficient :math:`k! / \prod_j a_j!` of each.

    They come in the order of `qed.PolynomialFeatures`: 1; x0, x1, ...; x0^2, x0 x1, ...; x0^3, ... A monomial of degree
    :math:`k` that begins with variable :math:`c` is :math:`x_c` times one of degree :math:`k - 1` in the variables from
    :math:`c` on, and these are neighbours.

    >>> for values, counts in monomials(np.array([[2.0, 3.0]]), 2):
    ...     print(values[0], counts)
    [1.] [1.]
    [2. 3.] [1. 1.]
    [4. 6. 9.] [1. 2. 1.]
    """
    n, p = X.shape
    found = [(np.ones((n, 1)), np.ones(1)), (X, np.ones(p))][: degree + 1]
    starts, exponents = np.arange(p + 1), np.ones(p)
    for k in range(2, degree + 1):
        values, counts = found[-1]
        new_values, new_counts, new_exponents = [], [], []
        for c in range(p):
            again = exponents[starts[c] :].copy()
            again[starts[c + 1] - starts[c] :] = 0
            new_values.append(values[:, starts[c] :] * X[:, [c]])
            new_counts.append(counts[starts[c] :] * k / (again + 1))
            new_exponents.append(again + 1)
        starts = np.concatenate([[0], np.cumsum([len(part) for part in new_counts])])
        exponents = np.concatenate(new_exponents)
        found.append((np.hstack(new_values), np.concatenate(new_counts)))
    return found


@dataclass(frozen=True, repr=False)
class Polynomial(Kernel):
    r"""The polynomial kernel :math:`k(x, z) = (\gamma\, x^\top z + c)^d`.

    Parameters
    ----------
    degree : int, default=3
        The degree :math:`d`.
    gamma : float or None, default=1.0
        The factor of the inner product; None stands for one over the number of columns.
    coef0 : float, default=1.0
        The constant :math:`c`; with 0 the kernel is homogeneous, and its features are those of degree :math:`d` alone. A
        negative constant gives no kernel.

    Notes
    -----
    ``features`` gives the columns in the order of `qed.PolynomialFeatures`: by degree, and within a degree as ``x0^2, x0
    x1, x1^2``. The column of the monomial :math:`\prod_j x_j^{a_j}` of degree :math:`k` has the factor
    :math:`\sqrt{\binom{d}{k} \frac{k!}{\prod a_j!} c^{d-k} \gamma^k}`.

    Examples
    --------
    >>> import numpy as np
    >>> from qed.kernels import Polynomial
    >>> kernel = Polynomial(2)
    >>> x, z = np.array([[1.0, 2.0]]), np.array([[3.0, 4.0]])
    >>> kernel(x, z)
    array([[144.]])
    >>> kernel.features(x).round(4)
    array([[1.    , 1.4142, 2.8284, 1.    , 2.8284, 4.    ]])
    >>> bool(np.isclose(kernel.features(x) @ kernel.features(z).T, 144))
    True
    """

    degree: int = 3
    gamma: float | None = 1.0
    coef0: float = 1.0

    def __post_init__(self) -> None:
        degree = checked(self, "degree", integer(1))
        gamma = checked(self, "gamma", number(0, above=True) | Parameter("None", lambda value: value is None))
        coef0 = checked(self, "coef0", number(0))
        keep(self, degree=int(degree), gamma=None if gamma is None else float(gamma), coef0=float(coef0))

    def _factor(self, p: int) -> float:
        return 1 / p if self.gamma is None else self.gamma

    def _raised(self, products: np.ndarray, p: int) -> np.ndarray:
        """Turn inner products into values of the kernel, in place."""
        products *= self._factor(p)
        products += self.coef0
        return power(products, self.degree)

    def _bind(self, X: Any, Z: Any) -> Bound:
        return after(dot(X, Z), lambda out: self._raised(out, X.shape[1]), extra=1)

    def _diagonal(self, X: Any) -> np.ndarray:
        return self._raised(squared_norms(X), X.shape[1])

    def n_features(self, p: int) -> int:
        return math.comb(p + self.degree - (self.coef0 == 0), self.degree)

    def _features(self, X: Any) -> np.ndarray:
        X = dense(X)
        d, gamma = self.degree, self._factor(X.shape[1])
        parts = []
        for k, (values, counts) in enumerate(monomials(X, d)):
            factor = math.comb(d, k) * np.float64(self.coef0) ** (d - k) * np.float64(gamma) ** k
            if factor > 0:
                parts.append(values * np.sqrt(factor * counts))
        return np.hstack(parts)
