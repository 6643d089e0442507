r"""Feature maps whose inner products are nearly those of a kernel, :math:`z(x)^\top z(x') \approx k(x, x')`.

With :math:`D` features, a linear model on them costs :math:`O(nD^2)` where the kernel method costs :math:`O(n^3)`. How good
"nearly" is, is measured: on rows drawn at random that had no part in making the map, the relative error

.. math:: \frac{\|K - ZZ^\top\|_F}{\|K\|_F}

is the attribute ``error_``, and the certificate says what theory promises of it.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, ClassVar, Self

import numpy as np

from qed.base.attributes import floats, integers
from qed.base.certificate import Claim
from qed.base.models.fingerprint import Fingerprint
from qed.base.models.problem import Problem, Source
from qed.base.models.roles import Transformer
from qed.base.random import Seed, seed_of
from qed.base.sources.block import Block
from qed.base.sources.rows import Rows
from qed.features.maps.sampling import Sample
from qed.features.names import input_names
from qed.kernels.kernel import Kernel

HELD = 256


class ApproximateMap(Transformer):
    """An approximate feature map of a kernel, with its error measured on held rows."""

    attributes: ClassVar = {"seed_": integers(), "error_": floats(low=0)}
    passes: ClassVar[str] = "one"
    sparse: ClassVar[bool] = True
    random_state: Seed
    seed_: int
    error_: float

    def fit(self, X: Any, y: Any = None) -> Self:  # type: ignore[override]
        """Make the map.

        Parameters
        ----------
        X : array-like, sparse matrix, frame, path, Dask collection or Rows
            The features.
        y : object
            Not used.
        """
        return super().fit(X, y)

    @abstractmethod
    def _make(self, drawn: np.ndarray, numbers: np.ndarray) -> None:
        """Set the attributes of the map, from rows drawn at random and their numbers."""

    @abstractmethod
    def _used(self) -> int:
        """Say how many of the drawn rows have a part in the map."""

    @abstractmethod
    def _exact(self) -> Kernel:
        """Give the kernel that the map approximates."""

    @abstractmethod
    def _map(self, X: Any) -> np.ndarray:
        """Give the features of rows, in float64."""

    @abstractmethod
    def _promises(self, sample: Sample, K: np.ndarray, Z: np.ndarray) -> list[Claim]:
        """Claim what theory says, of the kernel matrix and the features of held rows."""

    def _problem(self, rows: Rows) -> SampleProblem:
        self.seed_ = seed_of(self.random_state)
        return SampleProblem(self._draw(rows), rows, source="statistics")

    def _evidence(self, rows: Rows) -> SampleProblem:
        return SampleProblem(self._draw(rows), rows)

    def _solve(self, problem: SampleProblem) -> None:
        self._make(problem.sample.X, problem.sample.numbers)
        self.error_ = _relative_error(*self._measured(problem.sample))

    def _draw(self, rows: Rows) -> Sample:
        return Sample.drawn(rows, self, self._used() + HELD, self.seed_)

    def _measured(self, sample: Sample) -> tuple[np.ndarray, np.ndarray]:
        """Give the kernel matrix and the features of the held rows; of all, where none are left."""
        held = slice(self._used(), None) if len(sample.X) > self._used() else slice(None)
        return self._similarities(sample.X[held], sample.numbers[held]), self._map(sample.X[held])

    def _similarities(self, X: np.ndarray, numbers: np.ndarray) -> np.ndarray:
        """Give the kernel matrix of rows with these numbers."""
        return self._exact()(X)

    def _prove(self, problem: SampleProblem) -> list[Claim]:
        sample = problem.sample
        K, Z = self._measured(sample)
        stated = Claim("the error on held rows differs from error_", abs(_relative_error(K, Z) - self.error_), 1e-9)
        return [*self._promises(sample, K, Z), stated]

    def _change(self, block: Block) -> np.ndarray:
        return self._map(block.X).astype(block.X.dtype, copy=False)

    @abstractmethod
    def _width(self) -> int:
        """Say how many features there are."""

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Name the features, by the name of the method and a number.

        Parameters
        ----------
        input_features : list of str, optional
            The names of the columns, which are checked and not used.
        """
        input_names(self, input_features)
        return np.array([f"{type(self).__name__.lower()}{k}" for k in range(self._width())], dtype=object)


class SampleProblem(Problem):
    """Some rows, drawn at random, on which a map is made and measured."""

    def __init__(self, sample: Sample, rows: Rows, *, source: Source = "data") -> None:
        self.sample, self.rows, self.target_ndim, self.source = sample, rows, rows.target_ndim, source

    @property
    def fingerprint(self) -> Fingerprint:
        return self.sample.summary.fingerprint()


def _relative_error(K: np.ndarray, Z: np.ndarray) -> float:
    size = float(np.linalg.norm(K))
    return float(np.linalg.norm(K - Z @ Z.T)) / size if size > 0 else 0.0
