r"""Kernel PCA: principal components in the features of a kernel, which may be many more than columns, or without number.

.. math:: K^c \beta_u = n \lambda_u \beta_u, \qquad \alpha_u = \frac{\beta_u}{\sqrt{n \lambda_u}}, \qquad
    z_u(x) = \sum_j \alpha_{uj}\, k^c(x, x_j),

with the Gram matrix :math:`K^c` of centred features (:mod:`qed.reduction.kernel_spread`). No feature is ever made: directions are weighted
sums of rows. With a linear kernel these are the scores of :class:`qed.PCA`; where rows lie on a ring, a polynomial kernel sees a plane.
The matrix takes :math:`O(n^2)` room and the few largest eigenvalues a few dozen products with it
(:mod:`qed.linalg.krylov.leading`). That none was missed is seen by how little lies beyond them (:mod:`qed.linalg.krylov.beyond`), or
counted by a factor, :math:`n^3 / 3` operations at the speed of matrix products.

Schölkopf, Smola and Müller (1998), Nonlinear component analysis as a kernel eigenvalue problem.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any, ClassVar

import numpy as np

from qed.base.attributes import floats, maybe
from qed.base.certificate import Claim
from qed.base.errors import DegenerateError, InputError, NotAvailableError, NotFittedError
from qed.base.models.no_effect import CLOSED, no_effect, one_of, takes
from qed.base.models.parameters import Parameter, boolean, choice, integer, number
from qed.base.models.proof import restated, restated_weights
from qed.base.models.roles import ClassNamePrefixFeaturesOutMixin, Transformer
from qed.base.numbers import EPS, TINY
from qed.base.sources.block import Block, copied, is_sparse, values_apart
from qed.base.sources.rows import Rows
from qed.kernels.gram.compared import WIDTH_PARAMETERS, WithWidth, from_middle
from qed.kernels.gram.sums import combined
from qed.kernels.kernel import Kernel
from qed.kernels.similarity import Similarity
from qed.linalg.cholesky import Cholesky
from qed.reduction.claims import Plane, claim_of_signs
from qed.reduction.kernel_spread import SimilarRows
from qed.stats.products import dense

LEFT_OUT = "variance of the features left out, above the least possible, at most (relative to all of it)"
TOLERANCE = 1e-9


@takes(
    "copy_X",
    "n_jobs",
    "random_state",
    eigen_solver=one_of("auto", "dense", "arpack", "randomized"),
    tol=no_effect(number(0), 0.0, CLOSED),
    max_iter=no_effect(integer(1) | choice(None), None, CLOSED),
    iterated_power=no_effect(integer(0) | choice("auto"), "auto", CLOSED),
)
class KernelPCA(WithWidth, ClassNamePrefixFeaturesOutMixin, Transformer):  # type: ignore[misc]
    """Principal components in the features of a kernel.

    Parameters
    ----------
    n_components : int, optional
        How many components to keep; by default all along which rows vary.
    kernel : str, Kernel or callable, default="linear"
        "linear", "poly", "rbf", "laplacian", "cosine", a kernel, a function of two rows, or "precomputed".
    gamma : {"scale", "auto"} or float, optional
        The factor of "rbf", "laplacian" and "poly"; the default is one over the columns ("auto"), and "scale" is one over the variance of
        the table, too.
    degree : int, default=3
        The degree of "poly".
    coef0 : float, default=1.0
        The constant of "poly".
    kernel_params : dict, optional
        Further arguments of a kernel that is a function, by name.
    alpha : float, default=1.0
        The penalty of the regression that leads back from scores to rows.
    fit_inverse_transform : bool, default=False
        Learn that regression, so that there is an `inverse_transform`.
    remove_zero_eig : bool, default=False
        Leave out components along which rows do not vary, though they were asked for.

    Attributes
    ----------
    eigenvalues_ : ndarray of shape (k,)
        The eigenvalues of the centred Gram matrix, the largest first: sums of squares of the scores. What rounding can not tell from
        zero is zero.
    eigenvectors_ : ndarray of shape (n, k)
        Their vectors; by weight, the squares of each sum to one, and the largest entry is positive.
    offset_ : ndarray of shape (k,)
        What is taken off scores so that those of the rows have mean zero.
    X_fit_ : ndarray or sparse array of shape (n, p)
        The rows; with a precomputed kernel, their similarities.
    weight_fit_ : ndarray of shape (n,)
        The weights of the rows, where they had some.
    gamma_ : float
        The factor of the kernel.
    X_transformed_fit_ : ndarray of shape (n, k)
        The scores of the rows, with `fit_inverse_transform`.
    dual_coef_ : ndarray of shape (n, p)
        The coefficients of the regression that leads back.
    certificate_ : Certificate
        The proof: vectors are orthonormal, eigenvectors, and no others vary more.

    See Also
    --------
    PCA : The same with a linear kernel, for any number of rows.
    FeatureSpacePCA : The same from explicit features, where a kernel has some, for any number of rows.
    Nystroem : Features whose products are nearly the kernel.

    Examples
    --------
    >>> import numpy as np
    >>> import qed
    >>> angle = np.arange(40) * np.pi / 20
    >>> ring = np.column_stack([np.cos(angle), np.sin(angle)])
    >>> X = np.vstack([ring, 3 * ring])
    >>> scores = qed.KernelPCA(1, kernel="poly", degree=2).fit(X).transform(X)[:, 0]
    >>> bool(abs(scores[:40]).max() < abs(scores[40:]).max())
    True
    >>> Z = qed.KernelPCA(3, kernel="rbf", gamma=0.5).fit(X).transform(X)
    >>> bool(np.allclose(Z.T @ Z - np.diag(np.diagonal(Z.T @ Z)), 0, atol=1e-9))
    True
    """

    passes: ClassVar[str] = "in memory"
    sparse: ClassVar[bool] = True
    attributes: ClassVar = {
        "eigenvalues_": floats("outputs", low=0),
        "eigenvectors_": floats("rows", "outputs"),
        "offset_": floats("outputs"),
        "X_fit_": floats("rows", "features", finite=False),  # rows of weight zero may hold anything
        "weight_fit_": maybe(floats("rows", low=0)),
        "X_transformed_fit_": maybe(floats("rows", "outputs")),
        "dual_coef_": maybe(floats("rows", "features")),
    }
    parameters: ClassVar[Mapping[str, Parameter]] = {
        "n_components": integer(1, kind="model") | choice(None),
        **WIDTH_PARAMETERS,
        "kernel_params": Parameter("a dict or None", lambda value: value is None or isinstance(value, dict), "model"),
        "alpha": number(0, kind="model"),
        "fit_inverse_transform": boolean(),
        "remove_zero_eig": boolean(),
    }

    eigenvalues_: np.ndarray
    eigenvectors_: np.ndarray
    offset_: np.ndarray
    X_fit_: Any

    def __init__(
        self,
        n_components: int | None = None,
        *,
        kernel: Any = "linear",
        gamma: float | str | None = None,
        degree: int = 3,
        coef0: float = 1.0,
        kernel_params: Mapping[str, object] | None = None,
        alpha: float = 1.0,
        fit_inverse_transform: bool = False,
        remove_zero_eig: bool = False,
    ) -> None:
        self.n_components = n_components
        self.kernel = kernel
        self.gamma = gamma  # type: ignore[assignment]
        self.degree = degree
        self.coef0 = coef0
        self.kernel_params = kernel_params
        self.alpha = alpha
        self.fit_inverse_transform = fit_inverse_transform
        self.remove_zero_eig = remove_zero_eig

    def _similarity_with(self, gamma: float) -> Similarity:
        own = callable(self.kernel) and not isinstance(self.kernel, Kernel)
        kernel = partial(self.kernel, **self.kernel_params) if own and self.kernel_params else self.kernel
        return Similarity.of(kernel, gamma, self.degree, self.coef0)

    @property
    def _n_features_out(self) -> int:
        return len(self.eigenvalues_)

    def _problem(self, rows: Rows) -> SimilarRows:
        if self.fit_inverse_transform and self.similarity_is_given:
            raise NotAvailableError(
                "KernelPCA: Cannot fit_inverse_transform with a precomputed kernel, which tells nothing of rows. Give rows and a kernel."
            )
        return SimilarRows(rows, self)

    def _solve(self, problem: SimilarRows) -> None:
        spread, n = problem.spread, len(problem.weight)
        wanted = n if self.n_components is None else min(int(self.n_components), n)
        values, directions = spread.leading(wanted)
        # Below zero there may be some where not all that were asked for are above it.
        least = 0.0 if values.all() else float((spread.applied(directions) * directions).sum(axis=1).min())
        if least < -1e-8 * float(values[0]) - spread.noise:
            raise InputError(
                f"There are significant negative eigenvalues: {least:.3g}, and {values[0]:.3g} as the largest, so the similarities are no "
                "kernel. Those that are inner products have none below zero; ask for fewer n_components, or for another kernel."
            )
        if not spread.total > spread.noise:
            raise DegenerateError(
                f"KernelPCA: similarities of the rows (n_samples = {n}) differ by no more than rounding does, so that rows do not "
                "vary in the features of the kernel. Give rows that differ, scale the columns, or give a larger gamma."
            )
        values = np.where(values > _zero(problem, values), values, 0.0)
        if self.n_components is None or self.remove_zero_eig:
            values, directions = values[values > 0], directions[values > 0]
        if not len(values):
            raise DegenerateError("KernelPCA: rows do not vary in the features of the kernel. Give rows that differ.")
        self.gamma_, self.X_fit_ = problem.gamma, copied(problem.block.X)
        if problem.block.weight is not None:
            self.weight_fit_ = copied(problem.block.weight)
        self.eigenvalues_ = values
        self.eigenvectors_ = np.zeros((len(problem.block), len(values)))
        self.eigenvectors_[problem.present] = _signed(directions.T / np.sqrt(problem.weight)[:, None])
        self.offset_ = self._offset(problem)
        if self.fit_inverse_transform:
            self.X_transformed_fit_ = self.eigenvectors_ * np.sqrt(values)
            self.dual_coef_ = np.zeros((len(problem.block), self.n_features_in_))
            self.dual_coef_[problem.present] = self._back(problem)

    def _coefficients(self) -> np.ndarray:
        """Give what similarities are multiplied by, of shape (n, k)."""
        values = np.asarray(self.eigenvalues_)
        with np.errstate(divide="ignore"):
            scale = np.where(values > 0, 1 / np.sqrt(values), 0.0)
        weight = getattr(self, "weight_fit_", None)
        return np.asarray(
            self.eigenvectors_ * scale if weight is None else self.eigenvectors_ * scale * weight[:, None]
        )

    def _offset(self, problem: SimilarRows) -> np.ndarray:
        return np.asarray(problem.offset_of_rows @ self._coefficients()[problem.present])

    def _change(self, block: Block) -> np.ndarray:
        X, kept, right = block.X, self.X_fit_, self._coefficients()
        if self.similarity_is_given:
            found = np.asarray(X @ right)
        else:
            weight = getattr(self, "weight_fit_", None)
            if weight is not None:
                there = np.flatnonzero(weight > 0)
                kept, right = kept[there], right[there]
            # The offset belongs to rows from their middle where the rows of the fit were dense.
            if is_sparse(kept):
                kept = kept if is_sparse(X) else dense(kept)
            else:
                X = from_middle(self._similarity, dense(X), kept)
                kept = from_middle(self._similarity, kept, kept)
            found = combined(self._similarity, X, kept, right)
        return np.asarray(found - self.offset_).astype(block.X.dtype, copy=False)

    def _back(self, problem: SimilarRows) -> np.ndarray:
        """Solve for the coefficients that lead from scores to rows."""
        factor = self._system(problem)
        found = Cholesky.of(factor)
        if found is None:
            raise DegenerateError(
                "KernelPCA can not learn the way back: scores of different rows are alike, and rows are not. Give alpha=1.0."
            )
        return found.solve(np.ascontiguousarray(dense(problem.X)))

    def _system(self, problem: SimilarRows) -> np.ndarray:
        """Give the matrix of the regression from scores to rows."""
        K = self._similarity.gram(np.ascontiguousarray(self.X_transformed_fit_[problem.present]))
        K.flat[:: len(K) + 1] += self.alpha / problem.weight
        return K

    def inverse_transform(self, X: Any) -> np.ndarray:
        """Give rows that have about such scores, by a regression with the same kernel.

        Parameters
        ----------
        X : array-like of shape (m, k)
            Scores.
        """
        self._check_fitted()
        if not hasattr(self, "dual_coef_"):
            raise NotFittedError(
                "The fit_inverse_transform parameter was not set to True when instantiating KernelPCA, so the inverse transform is not "
                "available: fit it with fit_inverse_transform=True."
            )
        scores = np.asarray(X)
        if scores.ndim != 2 or scores.shape[1] != len(self.eigenvalues_):
            raise InputError(f"Expected {len(self.eigenvalues_)} scores for each row, got the shape {scores.shape}.")
        found = self._similarity.combined(scores, self.X_transformed_fit_, self.dual_coef_)
        return np.asarray(found.astype(scores.dtype if scores.dtype == np.float32 else np.float64, copy=False))

    def _prove(self, problem: SimilarRows) -> list[Claim]:
        vectors, values = np.asarray(self.eigenvectors_), np.asarray(self.eigenvalues_)
        if vectors.shape != (len(problem.block), len(values)) or not np.isfinite(vectors).all():
            return [Claim("every row has its part of every eigenvector", np.inf, 0.0)]
        directions = (vectors[problem.present] * np.sqrt(problem.weight)[:, None]).T
        plane = Plane(problem.spread, directions, values)
        claims = plane.claims("directions")
        if len(values) < len(problem.weight):
            claims.append(plane.claim_of_least(LEFT_OUT))
        if self.fit_inverse_transform:
            claims.append(self._claim_of_way_back(problem))
        return claims

    def _claim_of_way_back(self, problem: SimilarRows) -> Claim:
        """Claim that the regression is solved: its residual, relative to what it is a difference of."""
        matrix, coef, rows = self._system(problem), self.dual_coef_[problem.present], dense(problem.X)
        left = np.abs(matrix @ coef - rows)
        size = np.abs(matrix).max() * np.abs(coef).sum(axis=0).max(initial=0.0) + np.abs(rows).max(initial=0.0)
        return Claim(
            "the way back solves its regression (residual, relative)",
            float(left.max(initial=0.0)) / max(size, TINY),
            TOLERANCE + 8 * len(coef) * EPS,
        )

    def _restate(self, problem: SimilarRows) -> list[Claim]:
        absent = np.setdiff1d(np.arange(len(problem.block)), problem.present)
        offset, size = self._offset(problem), float(np.abs(problem.offset_of_rows).max(initial=0.0))
        reach = np.abs(self._coefficients()).sum(axis=0)
        claims = [
            restated("gamma_", self.gamma_, problem.gamma),
            restated_weights(getattr(self, "weight_fit_", None), problem.block.weight, len(problem.block)),
            # The parts of an offset may cancel: it is as right as they are.
            restated(
                "offset_",
                self.offset_,
                offset,
                scale=np.abs(offset) + 1e-4 * (size * reach + np.sqrt(self.eigenvalues_)),
            ),
            Claim(
                "rows without weight have no part in eigenvectors_",
                float(np.abs(self.eigenvectors_[absent]).sum()),
                0.0,
            ),
            Claim("X_fit_ are the rows of the table (others)", values_apart(self.X_fit_, problem.block.X), 0.0),
            claim_of_signs(self.eigenvectors_.T, "eigenvectors_"),
            self._claim_of_number(problem),
        ]
        if self.fit_inverse_transform:
            wanted = self.eigenvectors_ * np.sqrt(self.eigenvalues_)
            claims.append(restated("X_transformed_fit_", self.X_transformed_fit_, wanted))
        return claims

    def _claim_of_number(self, problem: SimilarRows) -> Claim:
        """Claim that there are as many components as were asked for: all that vary, where all were."""
        n, kept = len(problem.weight), len(self.eigenvalues_)
        if self.n_components is not None and not self.remove_zero_eig:
            return Claim("components kept, but for those asked for", float(abs(kept - min(self.n_components, n))), 0.0)
        values = problem.spread.leading(n if self.n_components is None else min(int(self.n_components), n))[0]
        # What is at the edge of rounding may be on either side of it.
        zero = _zero(problem, values)
        low, high = int((values > 4 * zero).sum()), int((values > zero / 4).sum())
        return Claim("components kept, but for those that vary", float(max(low - kept, kept - high, 0)), 0.0)

    def _disagreement(self) -> str:
        both = hasattr(self, "dual_coef_"), hasattr(self, "X_transformed_fit_")
        return "" if both == (self.fit_inverse_transform,) * 2 else "fit_inverse_transform says otherwise"


def _zero(problem: SimilarRows, values: np.ndarray) -> float:
    """Give what rounding can make of an eigenvalue that is zero."""
    return problem.spread.noise + 8 * len(problem.weight) * EPS * float(values[0])


def _signed(vectors: np.ndarray) -> np.ndarray:
    """Turn the columns so that the largest entry of each is positive, of equal ones the first."""
    largest = np.abs(vectors).argmax(axis=0)
    return np.asarray(vectors * np.where(vectors[largest, np.arange(vectors.shape[1])] < 0, -1.0, 1.0))
