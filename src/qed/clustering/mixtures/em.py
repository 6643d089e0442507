r"""EM for any model: whoever can say how likely rows and hidden values are together, and what fits them best, gets a proven fit.

.. math:: q_i^{t+1}(z) = p(z \mid x_i; \theta^t), \qquad
          \theta^{t+1} = \arg\max_\theta \sum_i w_i \sum_z q_i^{t+1}(z) \log p(x_i, z; \theta).

The first line makes the bound of :mod:`qed.clustering.mixtures.bound` equal to the likelihood, the second raises it, so the likelihood
never falls. That holds for a user's own M step too, and is checked: an M step that lowers its bound is found out.

Dempster, Laird and Rubin (1977), Maximum likelihood from incomplete data via the EM algorithm.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from qed.base.certificate import Certificate, Claim
from qed.base.errors import InputError
from qed.base.models.parameters import Parameter, check_parameters, integer, number
from qed.base.numbers import EPS
from qed.base.running.drive import usual_advice, warn_if_unproven
from qed.base.running.steps import Ending, Rule, Step
from qed.base.saving.known import savable
from qed.clustering.mixtures.bound import log_likelihood, lower_bound, posterior
from qed.optim.solvers.task import Beginning, Minimisation, Task


@dataclass(frozen=True)
class EMResult:
    """Where EM ended.

    Attributes
    ----------
    parameters : object
        What the M step gave, at the most likely step.
    shares : ndarray of shape (n, k)
        The posterior probabilities of the hidden values there.
    log_likelihood : float
        The log-likelihood there.
    ending : Ending
        Why it ended, with the trace. ``ending.last`` can be given to `em` as start, to go on.
    certificate : Certificate
        The proof, from the user's functions alone.
    """

    parameters: Any
    shares: np.ndarray = field(repr=False)
    log_likelihood: float
    ending: Ending = field(repr=False)
    certificate: Certificate = field(repr=False)


def em(
    X: Any,
    log_joint: Callable[[Any, Any], Any],
    maximize: Callable[[Any, np.ndarray, Any], Any],
    start: Any,
    *,
    sample_weight: Any = None,
    tol: float = 1e-6,
    max_iter: int = 1000,
) -> EMResult:
    """Find the most likely parameters of a model with hidden values.

    Parameters
    ----------
    X : object
        The rows, handed to the functions as they are.
    log_joint : callable
        ``log_joint(X, parameters)`` gives the logarithms of the densities of rows and hidden values together, of shape (n, k).
    maximize : callable
        ``maximize(X, shares, parameters)`` gives the best parameters for rows whose hidden values have these probabilities, of shape
        (n, k), times the weights of the rows: the M step. Parameters that are better than the last ones will do.
    start : object or Step
        Parameters to begin with: numbers, arrays, or tuples, lists and mappings of them; or the last step of an earlier run.
    sample_weight : array-like of shape (n,), optional
        Weights of the rows.
    tol : float, default=1e-6
        It ends when a step raises the mean log-likelihood by no more than this.
    max_iter : int, default=1000
        The most steps.

    Returns
    -------
    EMResult
        The parameters, with a certificate; a warning says so where it does not hold.

    Examples
    --------
    Two coins, of which one was taken for each series of ten throws:

    >>> import numpy as np
    >>> from qed.clustering import em
    >>> heads = np.array([5, 9, 8, 4, 7])
    >>> def log_joint(x, theta):
    ...     return x[:, None] * np.log(theta) + (10 - x[:, None]) * np.log(1 - theta) + np.log(0.5)
    >>> found = em(heads, log_joint, lambda x, q, theta: q.T @ x / (10 * q.sum(axis=0)), np.array([0.6, 0.5]))
    >>> found.parameters.round(2), bool(found.certificate)
    (array([0.8 , 0.52]), True)
    """
    rule = Rule(tol=tol, max_iter=max_iter)
    check_parameters(rule, {"tol": number(0), "max_iter": integer(1)})
    first = start if isinstance(start, Step) else None
    task = Alternation(X, log_joint, maximize, first.parameters if first else start, sample_weight)
    run = Minimisation(ExpectationMaximization(), rule)
    run._run(task, first)
    ending, certificate = run.ending_, run.certificate_
    advice = usual_advice(
        ending, max_iter, "give ending.last as start to go on.", "Look at the M step: it has to raise the bound."
    )
    warn_if_unproven("em", certificate, ending, advice)
    logs = task.logs(ending.step.parameters)
    return EMResult(ending.step.parameters, posterior(logs), log_likelihood(logs, task.weights), ending, certificate)


@savable
@dataclass(frozen=True)
class ExpectationMaximization:
    """The name under which runs are watched and kept."""

    attributes: ClassVar[Mapping[str, Any]] = {}
    parameters: ClassVar[Mapping[str, Parameter]] = {}


class Alternation(Task):
    """Rows, what a user says of them, and parameters to begin with."""

    def __init__(self, X: Any, log_joint: Any, maximize: Any, start: Any, sample_weight: Any) -> None:
        self.X, self.log_joint, self.maximize, self.start = X, log_joint, maximize, start
        n = len(self.logs(start, None))
        self.weights = np.ones(n) if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
        if self.weights.shape != (n,) or not (self.weights >= 0).all() or not self.weights.sum() > 0:
            raise InputError(f"sample_weight must be {n} numbers of at least 0 and not all zero, one for each row.")
        super().__init__(Beginning(_numbers(start), log_likelihood(self.logs(start), self.weights)))

    def logs(self, parameters: Any, rows: int | None = -1) -> np.ndarray:
        """Give what the user's function says, checked."""
        found = np.asarray(self.log_joint(self.X, parameters), dtype=np.float64)
        if found.ndim != 2 or (rows == -1 and len(found) != len(self.weights)):
            raise InputError(
                f"log_joint must give one row for each row and a column for each value, not {found.shape}."
            )
        if np.isnan(found).any() or not np.isfinite(found.max(axis=1)).all():
            raise InputError(
                "log_joint gave NaN, infinity, or a row that no hidden value explains: check the parameters."
            )
        return found

    def bound(self, parameters: Any, q: np.ndarray) -> float:
        """Give the bound for each row, on average."""
        return lower_bound(self.logs(parameters), q, self.weights) / float(self.weights.sum())

    def steps(self, start: Step | None) -> Iterator[Step]:
        """Alternate E and M steps."""
        parameters = self.start if start is None else start.following
        before = np.inf if start is None else start.objective
        while True:
            logs = self.logs(parameters)
            q = posterior(logs)
            objective = -log_likelihood(logs, self.weights) / float(self.weights.sum())
            following = self.maximize(self.X, q * self.weights[:, None], parameters)
            gain = self.bound(following, q) + objective
            yield Step(objective, max(abs(before - objective), gain), parameters=parameters, following=following)
            parameters, before = following, objective

    def prove(self, step: Step, tol: float) -> list[Claim]:
        logs = self.logs(step.parameters)
        q, total = posterior(logs), float(self.weights.sum())
        likelihood = log_likelihood(logs, self.weights) / total
        size = float(self.weights @ np.abs(np.where(np.isfinite(logs), logs, 0.0)).max(axis=1)) / total + logs.shape[1]
        rounding = 16 * (len(logs) + logs.shape[1]) * EPS * size
        following = self.maximize(self.X, q * self.weights[:, None], step.parameters)
        gain = self.bound(following, q) - likelihood
        return [
            Claim(
                "shares of a row sum to one (difference)", float(np.abs(q.sum(axis=1) - 1).max()), 8 * q.shape[1] * EPS
            ),
            Claim.within(
                "the bound of the shares is the likelihood (difference for each row)",
                abs(self.bound(step.parameters, q) - likelihood),
                0.0,
                rounding,
            ),
            Claim.within("another M step does not lower the bound (by, for each row)", max(-gain, 0.0), 0.0, rounding),
            Claim.within("nor raise it (by, for each row)", max(gain, 0.0), tol, rounding),
        ]


def _numbers(parameters: Any) -> np.ndarray:
    """Give all numbers among parameters, one after another."""
    if isinstance(parameters, Mapping):
        parameters = list(parameters.values())
    if isinstance(parameters, (list, tuple)):
        return np.concatenate([np.zeros(0), *(_numbers(part) for part in parameters)])
    found = np.asarray(parameters)
    return found.astype(np.float64).ravel() if found.dtype.kind in "biuf" else np.zeros(0)
