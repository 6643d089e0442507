r"""Canonical correlation analysis: what two tables about the same rows have in common.

.. math:: \max_{u, v}\ \hat\rho(Xu, Yv) = \frac{u^\top S_{xy} v}{\sqrt{u^\top S_{xx} u \cdot v^\top S_{yy} v}},

then the same among directions whose scores are not correlated with those found. In whitened columns (:mod:`qed.reduction.pairs.canonical`)
this is a singular value decomposition. One pass folds the moments of both tables, :math:`O(n (p + q)^2)`, and the rest costs as much as
decomposing :math:`p \times p` and :math:`q \times q` matrices. Correlations do not depend on the units of columns, nor on noise that the
tables do not share, other than principal components.

Regression through the pairs predicts the scores of Y from those of X, :math:`\hat Y_c = X_c\, (X_c^\top X_c)^{-1} X_c^\top Y_c`, and goes
back by the pseudo-inverse of V. With as many pairs as outputs it is least squares; with fewer, outputs vote on what to predict.

Hotelling (1936), Relations between two sets of variates.
"""

from __future__ import annotations

import warnings
from typing import Any, ClassVar

import numpy as np

from qed.base.attributes import floats, integers
from qed.base.certificate import ALIKE, MOST_ROUNDING, Claim
from qed.base.errors import DegenerateError, DegenerateWarning, InputError, ParameterError, level_of_user
from qed.base.models.estimator import OnePass
from qed.base.models.no_effect import CLOSED, UNTOUCHED, no_effect, takes
from qed.base.models.parameters import boolean, choice, integer, number
from qed.base.models.proof import restated, whole
from qed.base.models.roles import ClassNamePrefixFeaturesOutMixin, Regressor, Transformer
from qed.base.numbers import TINY
from qed.base.sources.block import Block
from qed.reduction.pairs.canonical import Canonical
from qed.reduction.pairs.latent import SharedLatent
from qed.reduction.pairs.problem import CanonicalProblem
from qed.stats.moments import Moments

TOLERANCE = 1e-9
COPY = no_effect(boolean(), True, UNTOUCHED)


@takes("copy", max_iter=no_effect(integer(1), 500, CLOSED), tol=no_effect(number(0), 1e-6, CLOSED))
class CCA(ClassNamePrefixFeaturesOutMixin, Transformer, Regressor, OnePass):  # type: ignore[misc]
    """Canonical correlation analysis: pairs of scores, one of each table, that are correlated most.

    Parameters
    ----------
    n_components : int, optional
        How many pairs to keep; by default all there are, the lesser number of independent columns.
    scale : bool, default=True
        Divide columns by their standard deviations. Correlations and scores are the same either way; predictions through fewer pairs
        than outputs are not.
    alpha : float, default=0.0
        Take the variance of each column for larger by such a share. That keeps correlations honest where rows are few or columns
        nearly dependent.

    Attributes
    ----------
    correlations_ : ndarray of shape (k,)
        The canonical correlations, the largest first.
    x_rotations_ : ndarray of shape (p, k)
        What centred (and scaled) features are multiplied by; their scores have variance one, with the divisor ``W - 1``.
    y_rotations_ : ndarray of shape (q, k)
        The same for targets.
    x_loadings_, y_loadings_ : ndarray of shape (p, k) and (q, k)
        The covariances of centred (and scaled) columns with the scores.
    coef_ : ndarray of shape (q, p)
        The coefficients of the regression through the pairs, for centred columns in their own units.
    intercept_ : float or ndarray of shape (q,)
        The mean of the target: what is predicted where features are at their means.
    x_mean_, y_mean_ : ndarray of shape (p,) and (q,)
        The means.
    x_std_, y_std_ : ndarray of shape (p,) and (q,)
        What columns are divided by; ones without `scale`.
    x_rank_, y_rank_ : int
        How many columns are independent.
    n_components_ : int
        How many pairs there are.
    certificate_ : Certificate
        The proof: scores have variance one, are correlated as said and no others, and no pair beyond them is correlated more.
    statistic_ : Moments
        What the model remembers of its rows.

    See Also
    --------
    PCA : What varies most in one table, shared or not.

    Notes
    -----
    To predict X from Y, swap them. scikit-learn keeps two pairs by default, finds them one by one, and goes back from scores by
    loadings.

    Examples
    --------
    >>> import numpy as np
    >>> import qed
    >>> generator = np.random.default_rng(0)
    >>> X = generator.standard_normal((500, 3))
    >>> Y = X @ [[1.0, 0.0], [0.0, 1.0], [0.0, 0.0]] + np.outer(30 * generator.standard_normal(500), [1.0, 1.0])
    >>> model = qed.CCA().fit(X, Y)
    >>> model.correlations_[0] > 0.99, bool(model.certificate_)
    (np.True_, True)
    >>> x_scores, y_scores = model.transform(X, Y)
    >>> round(float(np.corrcoef(x_scores[:, 0], y_scores[:, 0])[0, 1] - model.correlations_[0]), 9)
    0.0
    """

    problem_kind = CanonicalProblem
    attributes: ClassVar = {
        "correlations_": floats("pairs", low=0, high=1 + 1e-9),
        "x_rotations_": floats("features", "pairs"),
        "y_rotations_": floats("outputs", "pairs"),
        "x_loadings_": floats("features", "pairs"),
        "y_loadings_": floats("outputs", "pairs"),
        "coef_": floats("outputs", "features"),
        "intercept_": floats("outputs?"),
        "x_mean_": floats("features"),
        "y_mean_": floats("outputs"),
        "x_std_": floats("features", above=0),
        "y_std_": floats("outputs", above=0),
        "x_rank_": integers(),
        "y_rank_": integers(),
        "n_components_": integers(low=1),
    }
    no_inference: ClassVar[str] = "its coefficients go through pairs of directions that were chosen by the data"
    sparse: ClassVar[bool] = True
    statistic_parameters: ClassVar[tuple[str, ...]] = ()
    least_weight: ClassVar[float] = 1.0
    target: ClassVar[str | None] = "number"
    parameters: ClassVar = {
        "n_components": integer(1, kind="model") | choice(None),
        "scale": boolean(),
        "alpha": number(0, kind="model"),
    }
    x_rotations_: np.ndarray
    y_rotations_: np.ndarray
    coef_: np.ndarray

    def __init__(self, n_components: int | None = None, *, scale: bool = True, alpha: float = 0.0) -> None:
        self.n_components = n_components
        self.scale = scale
        self.alpha = alpha

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        tags.regressor_tags.poor_score = True
        return tags

    def _statistic(self, block: Block) -> Moments:
        return Moments.of(block)

    def _pairs_wanted(self, found: Canonical) -> int:
        seen = found.moments
        most = min(int(seen.count), seen.n_features, seen.n_targets)
        if self.n_components is not None and self.n_components > most:
            raise ParameterError(
                f"CCA: `n_components` upper bound is {most}, the least of rows, features and targets. Got {self.n_components} instead. "
                "Reduce `n_components`, or give None."
            )
        return found.rank if self.n_components is None else min(int(self.n_components), found.rank)

    def _solve(self, problem: CanonicalProblem) -> None:
        found, seen = problem.canonical, problem.statistic
        k = self._pairs_wanted(found)
        if k == 0:
            which = "X" if found.x.rank == 0 else "y"
            raise DegenerateError(
                f"CCA: no column of {which} varies, so nothing is correlated with it. Give columns that do."
            )
        self._warn_of_dependent(found)
        self.x_rank_, self.y_rank_, self.n_components_ = found.x.rank, found.y.rank, k
        self.x_mean_, self.y_mean_ = np.array(seen.x_mean), np.array(seen.y_mean)
        self.x_std_, self.y_std_ = problem.scales
        U, self.correlations_, V = found.pairs(k)
        self.x_rotations_, self.y_rotations_ = problem.in_units(U, V)
        self._follow(problem)

    def _follow(self, problem: CanonicalProblem) -> None:
        """Set what follows from the rotations."""
        self.x_loadings_, self.y_loadings_, self.coef_ = self._following(problem)
        mean = np.array(problem.statistic.y_mean)
        self.intercept_ = mean if problem.target_ndim > 1 else float(mean[0])

    def _following(self, problem: CanonicalProblem) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Give loadings, and the coefficients of the regression through the pairs."""
        xx, xy, yy = problem.covariances
        U, V = self.x_rotations_, self.y_rotations_
        own, cross = U.T @ xx @ U, U.T @ xy @ V
        coef = U @ np.linalg.solve(own, cross) @ np.linalg.pinv(V)
        return xx @ U, yy @ V, (coef * self.y_std_).T / self.x_std_

    def _warn_of_dependent(self, found: Canonical) -> None:
        for side, columns, name in ((found.x, found.moments.n_features, "X"), (found.y, found.moments.n_targets, "y")):
            if side.rank < min(columns, int(found.moments.count) - 1):
                warnings.warn(
                    f"CCA: only {side.rank} of {columns} columns of {name} are independent, and the others were left out of the whitening. "
                    "Drop columns that follow from others, or give alpha, such as 1e-6.",
                    DegenerateWarning,
                    stacklevel=level_of_user(),
                )

    @property
    def _n_features_out(self) -> int:
        return int(self.n_components_)

    @property
    def n_iter_(self) -> np.ndarray:
        """One for each pair: all are found at once. scikit-learn counts the iterations here that it needs."""
        return np.ones(int(self.n_components_), dtype=int)

    @property
    def x_weights_(self) -> np.ndarray:
        """The rotations of the features, each of length one."""
        return np.asarray(self.x_rotations_ / np.linalg.norm(self.x_rotations_, axis=0))

    @property
    def y_weights_(self) -> np.ndarray:
        """The rotations of the targets, each of length one."""
        return np.asarray(self.y_rotations_ / np.linalg.norm(self.y_rotations_, axis=0))

    def _predicted_shape(self) -> tuple[int, ...]:
        return np.shape(self.intercept_)

    def _predict(self, block: Block) -> np.ndarray:
        found = np.asarray(block.X @ self.coef_.T - self.x_mean_ @ self.coef_.T + self.y_mean_)
        return (found if np.ndim(self.intercept_) else found[:, 0]).astype(block.X.dtype, copy=False)

    def _change(self, block: Block) -> np.ndarray:
        turn = self.x_rotations_ / self.x_std_[:, None]
        return np.asarray(block.X @ turn - self.x_mean_ @ turn).astype(block.X.dtype, copy=False)

    @takes(copy=COPY)
    def predict(self, X: Any) -> np.ndarray:
        """Predict the target through the pairs.

        Parameters
        ----------
        X : array-like, sparse matrix, frame, path, Dask collection or Rows
            The features.
        """
        return super().predict(X)

    @takes(copy=COPY)
    def transform(self, X: Any, y: Any = None) -> Any:
        """Give the scores of features, and those of targets where they are given, too.

        Parameters
        ----------
        X : array-like, sparse matrix, frame, path, Dask collection or Rows
            The features.
        y : array-like of shape (n,) or (n, q), optional
            The targets.

        Returns
        -------
        x_scores : ndarray of shape (n, k)
            The scores; a pair of such arrays where `y` is given.
        """
        scores = self._apply(self._change, X)
        if y is None:
            return scores
        targets = np.asarray(y, dtype=np.float64)
        targets = targets.reshape(len(targets), -1)
        if targets.shape[1] != len(self.y_mean_) or not np.isfinite(targets).all():
            raise InputError(f"y must hold {len(self.y_mean_)} finite columns, and its shape is {np.shape(y)}.")
        return scores, ((targets - self.y_mean_) / self.y_std_) @ self.y_rotations_

    def fit_transform(self, X: Any, y: Any = None, sample_weight: Any = None) -> Any:
        """Fit, and give the scores of both tables.

        Parameters
        ----------
        X : array-like, sparse matrix, frame, path, Dask collection or Rows
            The first table.
        y : array-like of shape (n, q)
            The second table.
        sample_weight : array-like of shape (n,), optional
            Weights; a weight of two means the same as the row twice.
        """
        return self.fit(X, y, sample_weight).transform(X, y)

    def inverse_transform(self, X: Any, y: Any = None) -> Any:
        """Give the rows that have such scores and vary in no other way: exact where there are as many pairs as columns.

        Parameters
        ----------
        X : array-like of shape (n, k)
            Scores of features.
        y : array-like of shape (n, k), optional
            Scores of targets, which then are given back, too.
        """
        self._check_fitted()
        tables = [np.asarray(scores, dtype=np.float64) for scores in ((X,) if y is None else (X, y))]
        for scores in tables:
            if scores.ndim != 2 or scores.shape[1] != self.n_components_:
                raise InputError(f"Expected {self.n_components_} scores for each row, got the shape {scores.shape}.")
        sides = ((self.x_loadings_, self.x_std_, self.x_mean_), (self.y_loadings_, self.y_std_, self.y_mean_))
        found = [scores @ loadings.T * std + mean for scores, (loadings, std, mean) in zip(tables, sides)]
        return found[0] if y is None else tuple(found)

    def latent(self) -> SharedLatent:
        """Give hidden causes, shared and not, that have the covariances (with the divisor W) of the rows of the fit."""
        self._check_fitted()
        found = Canonical(self.statistic_, self.alpha)
        left, values, right = found.decomposed
        shared, m = np.sqrt(np.clip(values, 0.0, 1.0)), len(values)
        own = np.sqrt(1 - np.clip(values, 0.0, 1.0))
        scale, p = found.length / np.sqrt(self.statistic_.weight), found.moments.n_features
        X = (found.x.G @ found.x.basis @ left) * scale[:p, None]
        Y = (found.y.G @ found.y.basis @ right) * scale[p:, None]
        A, D = X.copy(), Y.copy()
        A[:, :m], D[:, :m] = A[:, :m] * own, D[:, :m] * own
        return SharedLatent(A, X[:, :m] * shared, Y[:, :m] * shared, D)

    def _prove(self, problem: CanonicalProblem) -> list[Claim]:
        values, k = np.atleast_1d(self.correlations_), self.n_components_
        U, V = self.x_rotations_, self.y_rotations_
        if damage := whole(len(values), k, values, U, V) or whole(k, len(values)):
            return damage
        found = problem.canonical
        U, V = problem.from_units(U, V)
        image_x, image_y = found.x.G @ U, found.y.G @ V
        off = max(
            float(np.abs(part).max(initial=0.0))
            for part in (
                U.T @ image_x - np.eye(k),
                V.T @ image_y - np.eye(k),
                U.T @ found.between @ V - np.diag(values),
            )
        )
        left = found.x.basis.T @ (found.between @ V - image_x * values)
        right = found.y.basis.T @ (found.between.T @ U - image_y * values)
        away = float(np.sqrt((left**2).sum() + (right**2).sum()))
        rounding, dependent = found.rounding, found.x.rank < len(U) or found.y.rank < len(V)
        alike = ALIKE if dependent else ""
        claims = [
            _with_rounding("scores have variance one, and no correlations but those said (off)", off, rounding),
            _with_rounding("directions are stationary (residual)", away, 2 * k**0.5 * rounding),
        ]
        if k < found.rank:
            more = max(found.beyond(U, values, V) - float(values[-1]), 0.0)
            claims.append(
                _with_rounding(f"a pair beyond these is correlated more by, at most{alike}", more, 2 * rounding)
            )
        return claims

    def _restate(self, problem: CanonicalProblem) -> list[Claim]:
        seen, found = problem.statistic, problem.canonical
        x_loadings, y_loadings, coef = self._following(problem)
        spread = np.sqrt(np.maximum(np.diagonal(seen.scatter), 0.0) / seen.weight)
        size, p = np.abs(seen.mean) + spread, seen.n_features
        blur = 1 + found.rounding / TOLERANCE
        x_std, y_std = problem.scales
        return [
            restated("x_mean_", self.x_mean_, seen.x_mean, scale=size[:p]),
            restated("y_mean_", self.y_mean_, seen.y_mean, scale=size[p:]),
            restated("intercept_", np.atleast_1d(self.intercept_), seen.y_mean, scale=size[p:]),
            restated("x_std_", self.x_std_, x_std, scale=x_std * blur),
            restated("y_std_", self.y_std_, y_std, scale=y_std * blur),
            restated("x_loadings_", self.x_loadings_, x_loadings, scale=_largest(x_loadings) * blur),
            restated("y_loadings_", self.y_loadings_, y_loadings, scale=_largest(y_loadings) * blur),
            restated("coef_", self.coef_, coef, scale=_largest(coef) * blur),
            restated("x_rank_", self.x_rank_, found.x.rank),
            restated("y_rank_", self.y_rank_, found.y.rank),
            restated("n_components_", self.n_components_, self._pairs_wanted(found)),
        ]


def _with_rounding(says: str, value: float, rounding: float) -> Claim:
    """Claim that a value is next to nothing, whatever rounding did to it."""
    return Claim(says, value + rounding, TOLERANCE + 2 * min(rounding, MOST_ROUNDING))


def _largest(values: np.ndarray) -> float:
    return max(float(np.abs(values).max(initial=0.0)), TINY)
