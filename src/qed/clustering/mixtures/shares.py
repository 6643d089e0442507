r"""The E step as a fold: how rows share themselves out among components, and the moments of what each of them gets.

.. math:: r_{ij} = \frac{\alpha_j \mathcal N(x_i; \mu_j, \Sigma_j)}{\sum_l \alpha_l \mathcal N(x_i; \mu_l, \Sigma_l)}, \qquad
          N_j = \sum_i w_i r_{ij}, \qquad \delta_j = \frac{1}{N_j} \sum_i w_i r_{ij} (x_i - \mu_j), \qquad
          S_j = \sum_i w_i r_{ij} (x_i - \mu_j - \delta_j)(x_i - \mu_j - \delta_j)^\top .

`Shares` adds up over blocks: shifts are taken from the means that the rows were shared out by, and scatters about their own, merged by
the pairwise update, so neither an offset of the data nor the distance of clusters costs digits. In the *hard* variant each row
goes to the component of its largest share as a whole.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from qed.base.engine import add_pairwise
from qed.base.sources.block import Block, rows_that_count
from qed.clustering.mixtures.holes import Pattern, patterns
from qed.clustering.mixtures.mixture import Mixture
from qed.clustering.mixtures.quadratic import Ready
from qed.clustering.mixtures.shapes import estimated, is_diagonal, raised

# A component with a smaller share of all rows has none: products with it may vanish.
LEAST = 1e-150


@dataclass(frozen=True)
class Held:
    """What an M step has to keep to."""

    kind: str
    regulariser: float = 0.0
    floor: float = 0.0
    covariances: bool = False  # whether covariances are known
    weights: bool = False  # whether weights are known
    hard: bool = False  # whether each row goes to one component


@dataclass(frozen=True)
class Shares:
    """What rows say of a mixture.

    >>> from qed.base.sources.open import rows
    >>> two = Mixture.of("spherical", np.array([0.5, 0.5]), np.array([[0.0], [4.0]]), np.ones(2))
    >>> found = rows([[0.0], [1.0], [5.0]]).fold(Shares.of, two, Held("spherical", hard=True))
    >>> found.weight, found.shift.ravel(), found.scatter.ravel()
    (array([2., 1.]), array([0.5, 1. ]), array([0.5, 0. ]))
    """

    total: float  # the weight of all rows
    likelihood: float  # the weighted sum of the logarithms of densities; when hard, of those of the largest terms
    size: float  # the same of their absolute values
    weight: np.ndarray  # (k,): what each component gets
    shift: np.ndarray  # (k, p): how far its mean is from that of the mixture
    scatter: np.ndarray  # (k, p, p) about its mean; of independent columns the diagonal, (k, p)

    @classmethod
    def of(cls, block: Block, mixture: Mixture, held: Held, ready: Ready | None = None, holes: bool = False) -> Shares:
        """Share out the rows of a block: by their quadratic features where the mixture is ready for that."""
        X, w = rows_that_count(block)
        if len(X) == 0:
            return cls.none(mixture)
        if holes:
            parts = [cls._of_pattern(*some, mixture, held) for some in patterns(X, w)]
            return add_pairwise(parts)
        if ready is not None:
            return cls._of_features(X, w, mixture, held, ready)
        return add_pairwise(cls._of_piece(X[here], w[here], mixture, held) for here in mixture.pieces(len(X)))

    @classmethod
    def none(cls, mixture: Mixture) -> Shares:
        """Give what no rows say."""
        k, p = mixture.means.shape
        scatter = np.zeros((k, p) if is_diagonal(mixture.kind) else (k, p, p))
        return cls(0.0, 0.0, 0.0, np.zeros(k), np.zeros((k, p)), scatter)

    @classmethod
    def _of_piece(cls, X: np.ndarray, w: np.ndarray, mixture: Mixture, held: Held) -> Shares:
        away = mixture.away(X)
        shares, density = shared(mixture.logs(away), held.hard)
        return cls.given(away, shares * w, mixture.kind, w, density)

    @classmethod
    def given(
        cls, away: np.ndarray, shares: np.ndarray, kind: str, w: np.ndarray, density: np.ndarray | None = None
    ) -> Shares:
        """Take the moments of rows that differ by so much from the means, (k, n, p), and are shared out like this, (k, n)."""
        weight = shares.sum(axis=1)
        some = np.where(weight > 0, weight, 1.0)
        shift = (shares[:, None] @ away)[:, 0] / some[:, None]
        away = away - shift[:, None]
        if is_diagonal(kind):
            scatter = (shares[:, None] @ away**2)[:, 0]
        else:
            scatter = np.swapaxes(away * shares[:, :, None], 1, 2) @ away
        density = np.zeros(len(w)) if density is None else w * density
        return cls(float(w.sum()), float(density.sum()), float(np.abs(density).sum()), weight, shift, scatter)

    @classmethod
    def _of_pattern(cls, pattern: Pattern, X: np.ndarray, w: np.ndarray, mixture: Mixture, held: Held) -> Shares:
        """Share out rows that lack the same columns: by what they have, with the rest as it is expected to be."""
        parts = []
        for here in mixture.pieces(len(X)):
            logs, away, left = pattern.seen(X[here], mixture)
            shares, density = shared(logs, held.hard)
            found = cls.given(away, shares * w[here], mixture.kind, w[here], density)
            weight = found.weight.reshape(-1, *[1] * (left.ndim - 1))
            parts.append(
                cls(found.total, found.likelihood, found.size, found.weight, found.shift, found.scatter + weight * left)
            )
        return add_pairwise(parts)

    @classmethod
    def _of_features(cls, X: np.ndarray, w: np.ndarray, mixture: Mixture, held: Held, ready: Ready) -> Shares:
        """Do it by two matrix products for each piece of rows; the sums are about the centre of the frame."""
        sums, likelihood, size = ready.totals(X, w, held.hard)
        p, weight = mixture.p, sums[:, 0]
        some = np.where(weight > 0, weight, 1.0)[:, None]
        middle = sums[:, 1 : 1 + p] / some
        if is_diagonal(mixture.kind):
            scatter = np.maximum(sums[:, 1 + p :] - weight[:, None] * middle**2, 0.0)
        else:
            scatter = ready.matrices(sums[:, 1 + p :])
            scatter -= weight[:, None, None] * (middle[:, :, None] * middle[:, None])
        shift = np.where(weight[:, None] > 0, middle - (mixture.means - ready.centre), 0.0)
        return cls(float(w.sum()), likelihood, size, weight, shift, scatter)

    def __add__(self, other: Shares) -> Shares:
        weight = self.weight + other.weight
        part = np.divide(other.weight, weight, out=np.zeros_like(weight), where=weight > 0)
        gap = other.shift - self.shift
        pull = self.weight * part
        if self.scatter.ndim == 2:
            between = gap**2 * pull[:, None]
        else:
            between = (gap[:, :, None] * gap[:, None]) * pull[:, None, None]
        return Shares(
            self.total + other.total,
            self.likelihood + other.likelihood,
            self.size + other.size,
            weight,
            self.shift + gap * part[:, None],
            self.scatter + other.scatter + between,
        )

    @property
    def mean_likelihood(self) -> float:
        """The logarithm of the density, on average over rows."""
        return self.likelihood / self.total

    def updated(self, mixture: Mixture, held: Held) -> Mixture:
        """Make the M step: give the most likely mixture for rows that are shared out like this; components without rows stay."""
        some = self.weight > LEAST * self.weight.sum()
        weights = mixture.weights if held.weights else self.weight / self.weight.sum()
        means = mixture.means + np.where(some[:, None], self.shift, 0.0)
        if held.covariances:
            return Mixture(mixture.kind, weights, means, mixture.covariances, mixture.roots)
        covariances = raised(estimated(self.scatter, self.weight, held.kind), held.kind, held.regulariser, held.floor)
        if not some.all() and held.kind != "tied":
            covariances = np.where(some.reshape(-1, *[1] * (covariances.ndim - 1)), covariances, mixture.covariances)
        return Mixture.of(mixture.kind, weights, means, covariances)

    def reach(self, mixture: Mixture) -> float:
        """Give the mean squared distance of rows from the components they are shared out to, in units of these."""
        if is_diagonal(mixture.kind):
            inside = self.scatter * mixture.turns**2
            across = self.shift * mixture.turns
        else:
            inside = (self.scatter @ mixture.turns) * mixture.turns
            across = (self.shift[:, None] @ mixture.turns)[:, 0]
        return float((inside.sum() + (self.weight[:, None] * across**2).sum()) / self.total)

    def squares_about(self, centre: np.ndarray, mixture: Mixture) -> np.ndarray:
        """Give the mean squares of the rows of each component about a centre, of shape (k, p)."""
        inside = self.scatter if self.scatter.ndim == 2 else np.diagonal(self.scatter, axis1=1, axis2=2)
        some = np.where(self.weight > 0, self.weight, 1.0)
        return np.asarray(np.maximum(inside, 0.0) / some[:, None] + (mixture.means + self.shift - centre) ** 2)


class Together(tuple[Shares, ...]):
    """What rows say of several mixtures, in one pass."""

    @classmethod
    def of(
        cls, block: Block, mixtures: Sequence[tuple[Mixture, Ready | None]], held: Held, holes: bool = False
    ) -> Together:
        return cls(Shares.of(block, mixture, held, ready, holes) for mixture, ready in mixtures)

    def __add__(self, other: object) -> Together:
        assert isinstance(other, tuple)
        return Together(one + another for one, another in zip(self, other, strict=True))


def shared(logs: np.ndarray, hard: bool) -> tuple[np.ndarray, np.ndarray]:
    """Turn logarithms of weights times densities, of shape (k, n), into shares, and give the logarithm of their sum.

    >>> shared(np.array([[0.0, 1.0], [0.0, 9.0]]), hard=True)
    (array([[1., 0.],
           [0., 1.]]), array([0., 9.]))
    """
    top = logs.max(axis=0)
    if hard:
        shares = np.zeros(logs.shape)
        shares[logs.argmax(axis=0), np.arange(logs.shape[1])] = 1.0
        return shares, top
    # A row so far from all components that no number holds its density belongs to all of them alike.
    if not np.isfinite(top).all():
        logs = np.where(np.isfinite(top), logs, 0.0)
    shares = np.exp(logs - np.where(np.isfinite(top), top, 0.0))
    total = shares.sum(axis=0)
    return shares / total, top + np.log(total)
