r"""PCA in feature space: principal components of explicit features, for any number of rows.

.. math:: \Phi_{ij} = \phi_j(x_i), \qquad S_\phi = (\Phi - \bar\phi)^\top (\Phi - \bar\phi), \qquad Z = (\Phi - \bar\phi)\, V^\top .

:class:`qed.KernelPCA` with the kernel :math:`\phi(x)^\top \phi(x')` has the same scores, and needs an :math:`n \times n` matrix.
Where a kernel has few explicit features, as the polynomial one has, one pass folds their scatter, and rows may be as many as there are.
With the identity for features it is :class:`qed.PCA`. A map of one's own is a kernel, too: ``Linear().mapped(phi)``.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from qed.base.attributes import floats, of
from qed.base.errors import DegenerateError, ParameterError
from qed.base.models.checks import is_finite
from qed.base.models.fingerprint import Fingerprint
from qed.base.models.parameters import boolean, choice, integer, number
from qed.base.numbers import EPS
from qed.base.saving.known import savable
from qed.base.sources.block import Block
from qed.base.sources.rows import Rows
from qed.base.summary import Summary
from qed.kernels.features import features_of
from qed.kernels.names import KERNEL_PARAMETERS, as_kernel, kernel_rule
from qed.reduction.pca import PCA, SpreadProblem
from qed.reduction.spread import Spread, spread_of
from qed.stats.moments import Moments

# A feature is a product of some columns and roots of whole numbers: so many roundings at the most, for degrees that anybody takes.
FEATURE_ROUNDINGS = 32


@savable
@dataclass(frozen=True)
class MappedRows:
    """What is known of the columns of a table, and the moments of the features made of them."""

    attributes: ClassVar = {"columns": of(Summary), "features": of(Moments)}
    columns: Summary
    features: Moments

    def __add__(self, other: MappedRows) -> MappedRows:
        return MappedRows(self.columns + other.columns, self.features + other.features)

    def __sub__(self, other: MappedRows) -> MappedRows:
        return MappedRows(self.columns - other.columns, self.features - other.features)

    @property
    def weight(self) -> float:
        """The weight of the rows."""
        return self.features.weight

    @property
    def count(self) -> int:
        """Their number."""
        return self.features.count

    @property
    def x_mean(self) -> np.ndarray:
        """The means of the features."""
        return self.features.x_mean

    @property
    def loss(self) -> float:
        """By how much the squares that went in exceed those that are left, in the column that lost most."""
        return float(max(self.columns.loss, self.features.loss))

    def apart(self, other: MappedRows) -> float:
        """Give the largest difference from other such statistics, in units of what rounding can do."""
        return max(self.columns.apart(other.columns), self.features.apart(other.features))

    @property
    def is_finite(self) -> bool:
        """Whether nothing is missing, and no square of a feature overflows."""
        return self.columns.is_finite and self.features.is_finite

    def fingerprint(self) -> Fingerprint:
        """Tell these rows from others, by their columns."""
        return self.columns.fingerprint()


class MappedProblem(SpreadProblem):
    """What is kept of the rows, and how their features are spread."""

    @cached_property
    def spread(self) -> Spread:
        seen = self.statistic.features
        found = spread_of(seen)
        # Features are rounded themselves, by some units of their size: that moves the centred table, and its squares by twice as much.
        squares = found.total + seen.weight * float(seen.x_mean @ seen.x_mean)
        slip = FEATURE_ROUNDINGS * EPS * float(np.sqrt(squares))
        found.noise += 2 * slip * float(np.sqrt(found.total)) + slip**2
        return found

    @cached_property
    def fingerprint(self) -> Fingerprint:
        return self.statistic.fingerprint()


class FeatureSpacePCA(PCA):
    """Principal components of the explicit features of a kernel.

    Parameters
    ----------
    n_components : int, float or None, default=0.95
        How many components to keep; below one, as few as have that share of the variance of the features.
    kernel : str or Kernel, default="poly"
        "linear", "poly", or any kernel with a finite feature map, such as ``qed.kernels.Linear().mapped(phi)``.
    gamma : float, optional
        The factor of "poly"; the default is one over the columns.
    degree : int, default=2
        The degree of "poly".
    coef0 : float, default=1.0
        The constant of "poly".
    whiten : bool, default=False
        Divide components by their standard deviations.

    Attributes
    ----------
    components_ : ndarray of shape (k, D)
        The directions in the features, of length one.
    explained_variance_ : ndarray of shape (k,)
        The variance along them, with the divisor ``W - 1``.
    explained_variance_ratio_ : ndarray of shape (k,)
        The same as shares of the variance of all features.
    singular_values_ : ndarray of shape (k,)
        Roots of the eigenvalues of the scatter of the features, which are those of the centred Gram matrix.
    mean_ : ndarray of shape (D,)
        The mean of the features.
    noise_variance_ : float
        The mean variance of the directions left out.
    n_components_ : int
        How many components there are.
    n_samples_ : int
        The number of rows.
    certificate_ : Certificate
        As of `PCA`, in the features.
    statistic_ : MappedRows
        What the model remembers of its rows.

    See Also
    --------
    KernelPCA : The same scores for any kernel, for as many rows as their Gram matrix fits into memory.

    Examples
    --------
    >>> import numpy as np
    >>> import qed
    >>> X = np.random.default_rng(0).standard_normal((50, 2))
    >>> here = qed.FeatureSpacePCA(3, kernel="poly", degree=2).fit(X)
    >>> there = qed.KernelPCA(3, kernel="poly", degree=2).fit(X)
    >>> bool(np.allclose(here.singular_values_**2, there.eigenvalues_))
    True
    >>> bool(np.allclose(np.abs(here.transform(X)), np.abs(there.transform(X))))
    True
    """

    problem_kind = MappedProblem
    attributes: ClassVar = {
        "components_": floats("outputs", "mapped"),
        "mean_": floats("mapped"),
    }
    statistic_parameters: ClassVar[tuple[str, ...]] = ("kernel", "gamma", "degree", "coef0")
    parameters: ClassVar = {
        "n_components": integer(1, kind="model") | number(0, 1, above=True) | choice(None),
        **KERNEL_PARAMETERS,
        "kernel": kernel_rule(),
        "whiten": boolean(),
    }

    def __init__(
        self,
        n_components: float | None = 0.95,
        *,
        kernel: Any = "poly",
        gamma: float | None = None,
        degree: int = 2,
        coef0: float = 1.0,
        whiten: bool = False,
    ) -> None:
        self.n_components = n_components
        self.whiten = whiten
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0

    def _statistic(self, block: Block) -> MappedRows:  # type: ignore[override]
        kernel = as_kernel(self.kernel, self.gamma, self.degree, self.coef0)
        seen = Summary.of(block)
        if not seen.is_finite:
            # Rows with holes have no features; that they are there, the summary tells.
            return MappedRows(seen, Moments.empty(int(kernel.n_features(block.X.shape[1]) or 0)))
        return MappedRows(seen, Moments.of_features(features_of(block, kernel)))

    def _solve(self, problem: SpreadProblem) -> None:
        spread = problem.spread
        if 0 < spread.total <= spread.noise:
            raise DegenerateError(
                "FeatureSpacePCA: rows vary in the features of the kernel by no more than rounding does. Scale the columns, for example "
                "with qed.StandardScaler, or give a larger gamma."
            )
        super()._solve(problem)

    def _disagreement(self) -> str:
        kernel = as_kernel(self.kernel, self.gamma, self.degree, self.coef0)
        wanted, found = kernel.n_features(self.n_features_in_), len(self.mean_)
        return (
            super()._disagreement()
            if found == wanted
            else f"mean_ has {found} entries for {wanted} features of the kernel"
        )

    @property
    def _is_sketched(self) -> bool:
        return False

    def _fill(self, X: np.ndarray, out: np.ndarray) -> bool:
        # Holes are told by the model and not by the kernel.
        return is_finite(X) and super()._fill(X, out)

    def _features_of(self, X: Any) -> Any:
        return as_kernel(self.kernel, self.gamma, self.degree, self.coef0).features(X)

    def _problem(self, rows: Rows) -> Any:
        kernel = as_kernel(self.kernel, self.gamma, self.degree, self.coef0)
        if kernel.n_features(rows.n_features) is None:
            raise ParameterError(
                f"FeatureSpacePCA: the kernel {kernel!r} has no finite features that are known. Use qed.KernelPCA, which needs none, or "
                "qed.Nystroem and qed.PCA."
            )
        return super()._problem(rows)
