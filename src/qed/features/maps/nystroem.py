r"""An approximate feature map of any kernel, from the similarities to a few landmarks.

.. math:: z(x) = K_{LL}^{-1/2}\, k_L(x), \qquad z(x)^\top z(x') = k_L(x)^\top K_{LL}^{-1} k_L(x') \approx k(x, x'),

with the vector :math:`k_L(x)` of similarities to :math:`m` rows drawn at random, the landmarks. This is the projection of the
true features onto the span of the landmarks' features: among landmarks the kernel is reproduced exactly, and
:math:`K - ZZ^\top`, the Gram matrix of what the projection leaves out, is positive semidefinite. Directions whose
eigenvalue is rounding alone are left out. Cost :math:`O(nmp + nm^2 + m^3)`, one pass to fit.

Williams and Seeger (2001), Using the Nyström method to speed up kernel machines.
"""

from collections.abc import Mapping
from functools import partial
from typing import Any, ClassVar

import numpy as np

from qed.base.attributes import floats, integers
from qed.base.certificate import Claim
from qed.base.engine import one_blas_thread
from qed.base.errors import InputError, ParameterError
from qed.base.models.no_effect import takes
from qed.base.models.parameters import Parameter, choice, integer, number, random_state
from qed.base.models.proof import restated
from qed.base.numbers import EPS, TINY
from qed.base.random import Seed
from qed.base.sources.rows import Rows
from qed.features.maps.approximation import ApproximateMap, SampleProblem
from qed.features.maps.sampling import Sample
from qed.kernels.kernel import Kernel
from qed.kernels.mercer import check_gram
from qed.kernels.names import PRECOMPUTED, as_kernel, kernel_rule
from qed.stats.products import dense


@takes("n_jobs")
class Nystroem(ApproximateMap):
    """Approximate the features of a kernel by the similarities to landmarks.

    Parameters
    ----------
    kernel : Kernel, str or callable, default="rbf"
        The kernel: one of `qed.kernels`, a name such as "rbf" or "poly", a function of two rows, or "precomputed": `X` then is the kernel
        matrix, of the rows fitted with themselves in ``fit``, and of other rows with those fitted in ``transform``.
    gamma : float, optional
        The factor of a kernel given by name; the default is one over the number of columns.
    coef0 : float, optional
        The constant of "poly"; the default is 1.
    degree : int, optional
        The degree of "poly"; the default is 3.
    kernel_params : dict, optional
        Further arguments of a kernel that is a function, by name.
    n_components : int, default=100
        The number of landmarks, which is that of the features; fewer if there are fewer rows.
    random_state : int, optional
        Draws the landmarks.

    Attributes
    ----------
    components_ : ndarray of shape (m, p)
        The landmarks (their similarities to all rows fitted, if these were precomputed).
    component_indices_ : ndarray of shape (m,)
        The numbers of their rows.
    normalization_ : ndarray of shape (m, m)
        The inverse root of their Gram matrix.
    error_ : float
        The relative error of the kernel matrix of rows that are no landmarks (of the landmarks, if there are no others).
    seed_ : int
        What the landmarks were drawn with.
    certificate_ : Certificate
        That the landmarks are what was drawn, that the kernel is exact among them, and never overrated elsewhere.

    See Also
    --------
    RandomFourierFeatures : A map of the Gaussian kernel that knows nothing of the rows.

    Examples
    --------
    >>> import numpy as np
    >>> import qed
    >>> X = np.random.default_rng(0).standard_normal((500, 3))
    >>> nystroem = qed.Nystroem("rbf", gamma=0.1, n_components=60, random_state=0).fit(X)
    >>> Z = nystroem.transform(X)
    >>> Z.shape, bool(nystroem.error_ < 0.01), bool(nystroem.certificate_)
    ((500, 60), True, True)
    """

    attributes: ClassVar = {
        "components_": floats("landmarks", "features"),
        "component_indices_": integers("landmarks"),
        "normalization_": floats("landmarks", "landmarks"),
    }
    parameters: ClassVar = {
        "kernel": kernel_rule(PRECOMPUTED),
        "gamma": number(0, above=True, kind="model") | choice(None),
        "coef0": number(0, kind="model") | choice(None),
        "degree": integer(1, kind="model") | choice(None),
        "kernel_params": Parameter("a dict or None", lambda value: value is None or isinstance(value, dict), "model"),
        "n_components": integer(1, kind="model"),
        "random_state": random_state(),
    }
    components_: np.ndarray
    component_indices_: np.ndarray
    normalization_: np.ndarray

    def __init__(
        self,
        kernel: Any = "rbf",
        *,
        gamma: float | None = None,
        coef0: float | None = None,
        degree: int | None = None,
        kernel_params: Mapping[str, object] | None = None,
        n_components: int = 100,
        random_state: Seed = None,
    ) -> None:
        self.kernel = kernel
        self.gamma = gamma
        self.coef0 = coef0
        self.degree = degree
        self.kernel_params = kernel_params
        self.n_components = n_components
        self.random_state = random_state

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self._is_given
        return tags

    @property
    def _is_given(self) -> bool:
        """Whether X is the kernel matrix."""
        return isinstance(self.kernel, str) and self.kernel == PRECOMPUTED

    def _problem(self, rows: Rows) -> SampleProblem:
        named = isinstance(self.kernel, str) and not self._is_given
        if not named and (self.gamma, self.coef0, self.degree) != (None, None, None):
            raise ParameterError(
                "Don't pass gamma, coef0 or degree to Nystroem unless the kernel is given by its name."
            )
        if self.kernel_params and (named or self._is_given or isinstance(self.kernel, Kernel)):
            raise ParameterError("Nystroem: kernel_params are for a kernel that is a function.")
        if self._is_given and rows.count() != rows.n_features:
            raise InputError(
                "A precomputed kernel matrix compares the rows fitted with each other, so it is square, not of shape "
                f"({rows.count()}, {rows.n_features})."
            )
        return super()._problem(rows)

    def _exact(self) -> Kernel:
        kernel = partial(self.kernel, **self.kernel_params) if self.kernel_params else self.kernel
        return as_kernel(kernel, self.gamma, self.degree or 3, 1.0 if self.coef0 is None else self.coef0)

    def _similarities(self, X: np.ndarray, numbers: np.ndarray) -> np.ndarray:
        return np.asarray(dense(X[:, numbers])) if self._is_given else self._exact()(X)

    def _used(self) -> int:
        return int(self.n_components)

    def _width(self) -> int:
        return len(self.components_)

    def _make(self, drawn: np.ndarray, numbers: np.ndarray) -> None:
        self.components_ = drawn[: self.n_components]
        self.component_indices_ = numbers[: self.n_components]
        K = self._similarities(self.components_, self.component_indices_)
        found = check_gram(K)
        if not found:
            raise InputError(f"Nystroem needs a kernel, and {self.kernel!r} is none on the landmarks. {found}")
        with one_blas_thread:
            values, vectors = np.linalg.eigh((K + K.T) / 2)
            kept = values > len(K) * EPS * values[-1]
            self.normalization_ = (vectors[:, kept] / np.sqrt(values[kept])) @ vectors[:, kept].T

    def _map(self, X: Any) -> np.ndarray:
        if self._is_given:
            K = self._similarities(X, self.component_indices_)
        else:
            K = self._exact()(X, self.components_)
        return np.asarray(K.astype(np.float64, copy=False) @ self.normalization_)

    def _restate(self, problem: SampleProblem) -> list[Claim]:
        root = self.normalization_
        least = float(np.linalg.eigvalsh((root + root.T) / 2).min(initial=0.0))
        size = max(_largest(root), TINY)
        return [
            restated("component_indices_", self.component_indices_, problem.sample.numbers[: self.n_components]),
            Claim("normalization_ is symmetric (relative)", _largest(root - root.T) / size, len(root) * EPS),
            Claim("normalization_ is positive semidefinite (relative)", -least / size, 4 * len(root) ** 2 * EPS),
        ]

    def _promises(self, sample: Sample, K: np.ndarray, Z: np.ndarray) -> list[Claim]:
        drawn = sample.X[: self.n_components]
        same = drawn.shape == self.components_.shape
        strangers = float(np.abs(drawn - self.components_).max(initial=0.0)) if same else np.inf
        landmarks = self._similarities(self.components_, self.component_indices_)
        own = self._map(self.components_)
        rest = check_gram(K - Z @ Z.T)
        return [
            Claim("landmarks differ from the rows that the seed draws", strangers, 0.0),
            Claim(
                "the kernel matrix of the landmarks is reproduced",
                _largest(own @ own.T - landmarks),
                self._rounding(landmarks),
            ),
            Claim(
                "the kernel minus the approximation is positive semidefinite",
                -rest.smallest,
                1e-10 * float(np.trace(K)) + self._rounding(K),
            ),
        ]

    def _rounding(self, K: np.ndarray) -> float:
        r"""Bound what rounding does to ``Z Z'``: a product of n terms, times what the root of an ill-conditioned matrix stretches.

        With :math:`\hat Z = KR` off by :math:`n \varepsilon \|K\| \|R\|` and :math:`\|Z\| \le \|K\|^{1/2}`, ``Z Z'`` is off by twice
        their product; what was left out of R is below :math:`n \varepsilon \|K\|` itself.
        """
        n, size = len(K) + len(self.components_), float(np.trace(K))
        return 8 * EPS * n * size * (1 + float(np.linalg.norm(self.normalization_, 2)) * float(np.sqrt(size)))


def _largest(values: np.ndarray) -> float:
    return float(np.abs(values).max(initial=0.0))
