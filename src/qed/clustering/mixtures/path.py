r"""Mixtures of more and more components, each begun where the last one ended, and the criteria that choose among them.

.. math:: \mathrm{AIC} = 2m - 2\ell, \qquad \mathrm{BIC} = m \log n - 2\ell,

with :math:`m` free parameters: the likelihood alone always asks for more components. To go from k to k + 1, each component in turn is cut
in halves across its longest axis (half a standard deviation to either side); one pass scores all of these, and EM goes on from the best.
So a whole table of criteria costs about as much as its largest fit, and the likelihood rises along it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from qed.base.errors import ParameterError
from qed.base.models.checks import check_rows
from qed.base.random import Seed
from qed.base.visible import ShownAsText
from qed.clustering.mixtures.mixture import Mixture
from qed.clustering.mixtures.model import GaussianMixture
from qed.clustering.mixtures.problem import MixtureProblem
from qed.clustering.mixtures.shapes import is_diagonal, precisions_of

CRITERIA = ("bic", "aic")


@dataclass(frozen=True, repr=False)
class MixturePath(ShownAsText):
    """Mixtures by the number of their components.

    Attributes
    ----------
    models : list of GaussianMixture
        The fitted mixtures, in rising order.
    n_components : ndarray of shape (m,)
        How many components they have.
    n_parameters : ndarray of shape (m,)
        How many free parameters.
    log_likelihood, aic, bic : ndarray of shape (m,)
        The log-likelihood of all rows, and the criteria: lower is better.
    """

    models: list[GaussianMixture] = field(repr=False)
    n_components: np.ndarray
    n_parameters: np.ndarray
    log_likelihood: np.ndarray
    aic: np.ndarray
    bic: np.ndarray

    def best(self, criterion: str = "bic") -> GaussianMixture:
        """Give the mixture that a criterion chooses: the one where it is least.

        Parameters
        ----------
        criterion : {"bic", "aic"}, default="bic"
            Which.
        """
        if criterion not in CRITERIA:
            raise ParameterError(f"criterion must be one of {CRITERIA}, not {criterion!r}.")
        return self.models[int(np.argmin(getattr(self, criterion)))]

    def table(self) -> list[dict[str, float]]:
        """Give one row for each mixture."""
        names = ("n_components", "n_parameters", "log_likelihood", "aic", "bic")
        return [{name: getattr(self, name)[place].item() for name in names} for place in range(len(self.models))]

    def __str__(self) -> str:
        lines = [f"{'components':>10} {'parameters':>10} {'log-likelihood':>15} {'AIC':>13} {'BIC':>13}"]
        for row in self.table():
            lines.append(
                f"{row['n_components']:>10} {row['n_parameters']:>10} {row['log_likelihood']:>15.3f} {row['aic']:>13.3f} "
                f"{row['bic']:>13.3f}{'  <' if row['bic'] == self.bic.min() else ''}"
            )
        return "\n".join(lines)


def mixture_path(
    X: Any,
    n_components: Iterable[int] = range(1, 11),
    *,
    sample_weight: Any = None,
    covariance_type: str = "full",
    tol: float = 1e-3,
    reg_covar: float = 1e-6,
    max_iter: int = 100,
    random_state: Seed = None,
) -> MixturePath:
    """Fit mixtures of several numbers of components, each from the one before.

    Parameters
    ----------
    X : array-like, frame, path, Dask collection or Rows
        The rows.
    n_components : iterable of int, default=range(1, 11)
        The numbers of components; those between are gone through.
    sample_weight : array-like of shape (n,), optional
        Weights of the rows.
    covariance_type : {"full", "tied", "diag", "spherical"}, default="full"
        Each component has a covariance of its own; all have the same; columns are independent within components; or they vary
        alike, too.
    tol : float, default=1e-3
        The fit ends when a step raises the mean log-likelihood by no more than this, and the bound says that another would not either.
    reg_covar : float, default=1e-6
        Added to all variances, so that a component can not shrink to a point. In the units of the columns, squared.
    max_iter : int, default=100
        The most iterations; with none the mixture is what it begins with.
    random_state : None, int or NumPy generator
        The seed.

    Returns
    -------
    MixturePath
        The mixtures, with their criteria.

    Examples
    --------
    >>> import numpy as np
    >>> from qed.clustering import mixture_path
    >>> X = np.random.default_rng(0).standard_normal((300, 2)) + np.repeat([[0, 0], [9, 0], [0, 9]], 100, axis=0)
    >>> path = mixture_path(X, range(1, 6), random_state=0)
    >>> path.best().n_components
    3
    """
    wanted = sorted({int(k) for k in n_components})
    if not wanted or wanted[0] < 1:
        raise ParameterError("n_components must be numbers of at least 1, and at least one of them.")
    settings: dict[str, Any] = {
        "covariance_type": covariance_type,
        "tol": tol,
        "reg_covar": reg_covar,
        "max_iter": max_iter,
        "random_state": random_state,
    }
    model = GaussianMixture(wanted[0], **settings)
    rows = check_rows(model, X, None, sample_weight, reset=True).cached()
    models = [model.fit(rows)]
    for k in range(wanted[0] + 1, wanted[-1] + 1):
        problem = MixtureProblem(rows, GaussianMixture(k), model._held())
        begin = _split(problem, model._mixture())
        given: dict[str, Any] = {
            "weights_init": begin.weights,
            "means_init": begin.means,
            "precisions_init": precisions_of(begin.roots, covariance_type),
        }
        model = GaussianMixture(k, **settings, **given).fit(rows)
        if k in wanted:
            models.append(model)
    weight = float(problem.summary.weight.max()) if len(models) > 1 else models[0].fingerprint_.weight
    likelihood = np.array([one.lower_bound_ * weight for one in models])
    counts = np.array([one.n_parameters_ for one in models])
    return MixturePath(
        models,
        np.array([one.n_components for one in models]),
        counts,
        likelihood,
        2 * counts - 2 * likelihood,
        math.log(weight) * counts - 2 * likelihood,
    )


def _split(problem: MixtureProblem, mixture: Mixture) -> Mixture:
    """Cut that component in two whose halves explain the rows best."""
    halves = [_halved(mixture, j) for j in range(mixture.k) if mixture.weights[j] > 0]
    found = problem.shares(halves)
    return halves[int(np.argmax([one.likelihood for one in found]))]


def _halved(mixture: Mixture, j: int) -> Mixture:
    """Cut a component in two, half a standard deviation to either side along its longest axis."""
    values, axes = np.linalg.eigh(mixture.matrices[j])
    step = 0.5 * math.sqrt(values[-1]) * axes[:, -1]
    means = np.concatenate([mixture.means, mixture.means[j : j + 1] - step])
    means[j] += step
    weights = np.append(mixture.weights, mixture.weights[j] / 2)
    weights[j] /= 2
    if mixture.kind == "tied":
        return Mixture.of("tied", weights, means, mixture.covariances)
    covariances = np.concatenate([mixture.covariances, mixture.covariances[j : j + 1]])
    # What lies between the halves is no longer within them.
    less = np.multiply.outer(step, step)
    if is_diagonal(mixture.kind):
        less = less.diagonal() if mixture.kind == "diag" else less.diagonal().mean()
    covariances[[j, -1]] -= less
    return Mixture.of(mixture.kind, weights, means, covariances)
