r"""Random projections: a few random directions keep all distances, nearly, whatever the rows are.

.. math:: z = P x, \qquad P_{ij} \sim \mathcal N(0, 1/k), \qquad \mathbb E \|Px\|^2 = \|x\|^2, \qquad
    k \ge \frac{4 \log n}{\varepsilon^2 / 2 - \varepsilon^3 / 3} \;\Rightarrow\;
    (1 - \varepsilon) \|x - x'\|^2 \le \|Px - Px'\|^2 \le (1 + \varepsilon) \|x - x'\|^2

for all pairs of n rows at once, with high probability (Johnson and Lindenstrauss). The dimension depends on the number of rows and not on
that of columns, nor on the rows; so nothing is learned, and no direction is better than another. Entries may be mostly zeros, plus or
minus a constant else (Achlioptas; Li, Hastie and Church), which takes a share of the time.

What was kept is measured on some rows (``distortion_``) and held against theory: for normal entries
:math:`k \|Pv\|^2 / \|v\|^2` is chi-squared.

Dasgupta and Gupta (2003), An elementary proof of a theorem of Johnson and Lindenstrauss; Achlioptas (2003), Database-friendly random
projections.
"""

from __future__ import annotations

import math
import warnings
from abc import abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from scipy import sparse

from qed.base.attributes import floats, integers, maybe, size
from qed.base.certificate import Claim
from qed.base.errors import DegenerateWarning, InputError, level_of_user
from qed.base.models.checks import overflowed
from qed.base.models.parameters import Parameter, boolean, choice, integer, number, random_state
from qed.base.models.proof import restated
from qed.base.models.roles import ClassNamePrefixFeaturesOutMixin, Transformer
from qed.base.numbers import EPS, TINY
from qed.base.random import Seed, generator, seed_of
from qed.base.sources.block import Block, as_dense, is_sparse
from qed.base.sources.rows import Rows
from qed.features.maps.approximation import SampleProblem
from qed.features.maps.sampling import Sample
from qed.reduction.baselines.directions import johnson_lindenstrauss_min_dim
from qed.stats.products import dense

# Distances are measured on so many rows, and a bound that theory gives fails once in so many fits.
HELD, CHANCE = 48, 1e-9


class RandomProjection(ClassNamePrefixFeaturesOutMixin, Transformer):  # type: ignore[misc]
    """A projection on random directions."""

    attributes: ClassVar = {
        "n_components_": size("directions", low=1),
        "components_": floats("directions", "features"),
        "seed_": integers(),
        "distortion_": floats(low=0),
        "inverse_components_": maybe(floats("features", "directions")),
    }
    passes: ClassVar[str] = "one"
    sparse: ClassVar[bool] = True
    parameters: ClassVar[Mapping[str, Parameter]] = {
        "n_components": integer(1, kind="model") | choice("auto"),
        "eps": number(0, above=True, kind="model"),
        "compute_inverse_components": boolean(),
        "random_state": random_state(),
    }
    n_components: int | str
    eps: float
    compute_inverse_components: bool
    random_state: Seed
    components_: Any
    seed_: int

    @abstractmethod
    def _drawn(self) -> Any:
        """Draw the directions, of shape (k, p)."""

    @abstractmethod
    def _promised(self, pairs: int) -> float | None:
        """Bound the distortion of so many pairs, as theory has it; None where it has no bound."""

    @property
    def _n_features_out(self) -> int:
        return int(self.n_components_)

    def _problem(self, rows: Rows) -> SampleProblem:
        self.seed_ = seed_of(self.random_state)
        return SampleProblem(self._sample(rows), rows, source="statistics")

    def _evidence(self, rows: Rows) -> SampleProblem:
        return SampleProblem(self._sample(rows), rows)

    def _sample(self, rows: Rows) -> Sample:
        return Sample.drawn(rows, self, HELD, self.seed_)

    def _dimension(self, count: int) -> int:
        """Give the number of directions: asked for, or enough for so many rows."""
        p = int(self.n_features_in_)
        if self.n_components != "auto":
            return int(self.n_components)
        found = int(johnson_lindenstrauss_min_dim(max(count, 2), eps=self.eps))
        if found > p:
            raise InputError(
                f"{type(self).__name__}: eps={self.eps:f} and n_samples={count} lead to a target dimension of {found} which is larger "
                f"than the original space with n_features={p}. Give a larger eps, or n_components."
            )
        return max(found, 1)

    def _solve(self, problem: SampleProblem) -> None:
        self.n_components_ = self._dimension(problem.sample.summary.count)
        if self.n_components_ > self.n_features_in_:
            warnings.warn(
                f"{type(self).__name__}: n_components={self.n_components_} is more than the {self.n_features_in_} columns there are: "
                "rows become longer, and nothing is gained. Ask for fewer.",
                DegenerateWarning,
                stacklevel=level_of_user(),
            )
        self.components_ = self._drawn()
        self.distortion_ = self._measured(problem.sample)
        if self.compute_inverse_components:
            self.inverse_components_ = np.linalg.pinv(dense(self.components_))

    def _measured(self, sample: Sample) -> float:
        """Give by how much the squared distances of rows change at most, relative to what they were."""
        # In units of a power of two near the largest value, which changes no share, and no square overflows.
        X = np.ldexp(sample.X, -int(np.frexp(np.abs(sample.X).max(initial=0.0))[1]))
        before, after = _squares(X), _squares(self._project(X))
        apart = before > 64 * EPS * float((X**2).sum(axis=1).max(initial=0.0))
        return float(np.abs(after[apart] / before[apart] - 1).max(initial=0.0))

    def _project(self, X: Any) -> Any:
        found = X @ self.components_.T
        return found if is_sparse(found) else np.asarray(found)

    def _change(self, block: Block) -> Any:
        found = self._project(block.X)
        if not is_sparse(found) and not np.isfinite(found).all():
            raise overflowed(self)
        return found.astype(block.X.dtype)

    def inverse_transform(self, X: Any) -> np.ndarray:
        """Give the shortest rows that have such projections.

        Parameters
        ----------
        X : array-like of shape (n, k)
            Projected rows.
        """
        self._check_fitted()
        scores = np.asarray(as_dense(X))
        if scores.ndim != 2 or scores.shape[1] != self.n_components_:
            raise InputError(f"Expected {self.n_components_} columns, got the shape {scores.shape}.")
        inverse = getattr(self, "inverse_components_", None)
        inverse = np.linalg.pinv(dense(self.components_)) if inverse is None else inverse
        found = scores @ inverse.T
        return np.asarray(found.astype(scores.dtype if scores.dtype == np.float32 else np.float64, copy=False))

    def _prove(self, problem: SampleProblem) -> list[Claim]:
        # Directions of another number than is said are not those, and need not be drawn.
        apart, size = np.inf, 1.0
        if self.components_.shape == (int(self.n_components_), int(self.n_features_in_)):
            wanted = self._drawn()
            apart, size = float(abs(wanted - self.components_).max()), float(abs(wanted).max())
        found = self._measured(problem.sample)
        claims = [
            Claim("directions differ from those that the seed draws", apart, 1e-12 * size),
            Claim(
                "distortion_ is that of the rows drawn (difference)", abs(found - self.distortion_), 1e-9 * (1 + found)
            ),
        ]
        pairs = max(len(problem.sample.X) * (len(problem.sample.X) - 1) // 2, 1)
        if (bound := self._promised(pairs)) is not None:
            claims.append(Claim("largest change of a squared distance, against its tail (relative)", found, bound))
        return claims

    def _restate(self, problem: SampleProblem) -> list[Claim]:
        claims = [restated("n_components_", self.n_components_, self._dimension(problem.sample.summary.count))]
        if self.compute_inverse_components:
            wanted = np.linalg.pinv(dense(self.components_))
            claims.append(restated("inverse_components_", self.inverse_components_, wanted))
        return claims


class GaussianRandomProjection(RandomProjection):
    """Project on directions with independent normal entries.

    Parameters
    ----------
    n_components : int or "auto", default="auto"
        How many directions; "auto" takes as many as Johnson and Lindenstrauss ask for.
    eps : float, default=0.1
        By how much squared distances may change, where the number of directions follows from it.
    compute_inverse_components : bool, default=False
        Keep the pseudo-inverse, so that `inverse_transform` need not work it out each time.
    random_state : None, int or NumPy generator
        Draws the directions.

    Attributes
    ----------
    components_ : ndarray of shape (k, p)
        The directions: independent normal entries of variance ``1 / k``.
    n_components_ : int
        How many there are.
    distortion_ : float
        By how much the squared distances of some rows, drawn at random, changed at most, relative to what they were.
    inverse_components_ : ndarray of shape (p, k)
        The pseudo-inverse, where it was asked for.
    seed_ : int
        What directions were drawn with.
    certificate_ : Certificate
        That directions are those that the seed draws, and distances changed no more than chi-squared numbers do.

    See Also
    --------
    PCA : Directions that are learned.

    Examples
    --------
    >>> import numpy as np
    >>> import qed
    >>> X = np.random.default_rng(0).standard_normal((50, 2000))
    >>> model = qed.GaussianRandomProjection(500, random_state=0).fit(X)
    >>> model.transform(X).shape, bool(model.distortion_ < 0.35), bool(model.certificate_)
    ((50, 500), True, True)
    """

    def __init__(
        self,
        n_components: int | str = "auto",
        *,
        eps: float = 0.1,
        compute_inverse_components: bool = False,
        random_state: Seed = None,
    ) -> None:
        self.n_components = n_components
        self.eps = eps
        self.compute_inverse_components = compute_inverse_components
        self.random_state = random_state

    def _drawn(self) -> np.ndarray:
        shape = int(self.n_components_), int(self.n_features_in_)
        return generator(self.seed_, "directions").standard_normal(shape) / math.sqrt(shape[0])

    def _promised(self, pairs: int) -> float:
        from scipy.stats import chi2

        k, chance = int(self.n_components_), CHANCE / (2 * pairs)
        return float(max(chi2.isf(chance, k) / k - 1, 1 - chi2.ppf(chance, k) / k)) + 1e-9


class SparseRandomProjection(RandomProjection):
    """Project on directions most of whose entries are zero.

    Parameters
    ----------
    n_components : int or "auto", default="auto"
        How many directions; "auto" takes as many as Johnson and Lindenstrauss ask for.
    density : float or "auto", default="auto"
        The share of entries that are not zero; "auto" is one over the root of the number of columns.
    eps : float, default=0.1
        By how much squared distances may change, where the number of directions follows from it.
    dense_output : bool, default=False
        Give arrays also where the rows are sparse.
    compute_inverse_components : bool, default=False
        Keep the pseudo-inverse, so that `inverse_transform` need not work it out each time.
    random_state : None, int or NumPy generator
        Draws the directions.

    Attributes
    ----------
    components_ : sparse array of shape (k, p)
        The directions; entries are zero, or plus or minus the root of one over `density_` times k.
    density_ : float
        The share of entries that are not zero, on average.
    n_components_ : int
        How many there are.
    distortion_ : float
        By how much the squared distances of some rows, drawn at random, changed at most, relative to what they were.
    inverse_components_ : ndarray of shape (p, k)
        The pseudo-inverse, where it was asked for.
    seed_ : int
        What directions were drawn with.
    certificate_ : Certificate
        That directions are those that the seed draws; and, where a third of the entries or more are not zero, that distances changed no
        more than those of normal entries may.

    Examples
    --------
    >>> import numpy as np
    >>> import qed
    >>> X = np.random.default_rng(0).standard_normal((50, 2500))
    >>> model = qed.SparseRandomProjection(500, random_state=0).fit(X)
    >>> model.density_, bool(model.distortion_ < 0.4), bool(model.certificate_)
    (0.02, True, True)
    """

    attributes: ClassVar = {"density_": floats(above=0, high=1)}
    parameters: ClassVar[Mapping[str, Parameter]] = {
        **RandomProjection.parameters,
        "density": number(0, 1, above=True, kind="model") | choice("auto", 1),
        "dense_output": boolean(),
    }

    def __init__(
        self,
        n_components: int | str = "auto",
        *,
        density: float | str = "auto",
        eps: float = 0.1,
        dense_output: bool = False,
        compute_inverse_components: bool = False,
        random_state: Seed = None,
    ) -> None:
        self.n_components = n_components
        self.density = density
        self.eps = eps
        self.dense_output = dense_output
        self.compute_inverse_components = compute_inverse_components
        self.random_state = random_state

    def _share(self) -> float:
        return 1 / math.sqrt(self.n_features_in_) if self.density == "auto" else float(self.density)

    def _solve(self, problem: SampleProblem) -> None:
        self.density_ = self._share()
        super()._solve(problem)

    def _drawn(self) -> sparse.csr_array:
        k, p, share = int(self.n_components_), int(self.n_features_in_), float(self.density_)
        draws = generator(self.seed_, "directions")
        counts = draws.binomial(p, share, size=k)
        columns = [np.sort(draws.choice(p, size=count, replace=False)) for count in counts]
        ends = np.concatenate([[0], np.cumsum(counts)])
        signs = draws.integers(0, 2, int(ends[-1])) * 2.0 - 1.0
        chosen = np.concatenate(columns) if k else np.zeros(0, dtype=np.int64)
        return sparse.csr_array((signs / math.sqrt(share * k), chosen, ends), shape=(k, p))

    def _promised(self, pairs: int) -> float | None:
        """Bound the tail by the moments of normal entries, which those of so dense signs do not exceed (Achlioptas, lemma 5)."""
        if self.density_ < 1 / 3:
            return None
        k, level = int(self.n_components_), math.log(2 * pairs / CHANCE)
        above = 1.0
        while k / 2 * (above - math.log1p(above)) < level:
            above *= 1.1
        return max(above, 1.0)

    def _project(self, X: Any) -> Any:
        found = X @ self.components_.T
        return (
            found.toarray()
            if is_sparse(found) and self.dense_output
            else found
            if is_sparse(found)
            else np.asarray(found)
        )

    def _makes_sparse(self, rows: Rows) -> bool:
        return rows.is_sparse and not self.dense_output

    def _restate(self, problem: SampleProblem) -> list[Claim]:
        return [*super()._restate(problem), restated("density_", self.density_, self._share())]


def _squares(X: np.ndarray) -> np.ndarray:
    """Give the squared distances of all pairs of rows, from their differences."""
    first, second = np.triu_indices(len(X), 1)
    size = max(float(np.abs(X).max(initial=0.0)), TINY)
    return np.asarray((((X[first] - X[second]) / size) ** 2).sum(axis=1) * size**2)
