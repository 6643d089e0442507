r"""An approximate feature map of the Gaussian kernel, from waves in random directions.

.. math:: e^{-\gamma \|x - x'\|^2} = \mathbb E_w\big[\cos w^\top (x - x')\big], \quad w \sim \mathcal N(0, 2\gamma I), \qquad
   z(x) = \tfrac1{\sqrt m}\,\big(\cos w_j^\top x,\ \sin w_j^\top x\big)_{j \le m},

since :math:`\cos a \cos b + \sin a \sin b = \cos(a - b)`: the inner product of the features is the mean of :math:`m`
independent draws, each in :math:`[-1, 1]`. So every row has length one, as in the kernel, and by Hoeffding's inequality
the error of a pair of rows exceeds :math:`\varepsilon` with probability at most :math:`2e^{-m\varepsilon^2/2}`. Cost
:math:`O(npm)`; the map knows nothing of the rows but their number of columns.

Rahimi and Recht (2007), Random features for large-scale kernel machines; Sutherland and Schneider (2015), On the error of
random Fourier features, for the pairs of cosine and sine.
"""

import math
from typing import Any, ClassVar

import numpy as np

from qed.base.attributes import floats
from qed.base.certificate import Claim
from qed.base.models.checks import overflowed
from qed.base.models.parameters import Parameter, integer, number, random_state
from qed.base.random import Seed, generator
from qed.features.maps.approximation import ApproximateMap
from qed.features.maps.sampling import Sample
from qed.kernels.kernel import Kernel
from qed.kernels.radial import RBF

# The probability with which the claim about the largest error may fail for an honest map.
CHANCE = 1e-6


class RandomFourierFeatures(ApproximateMap):
    r"""Approximate the features of the Gaussian kernel by random waves.

    Parameters
    ----------
    gamma : float, optional
        The factor in :math:`e^{-\gamma\|x - x'\|^2}`; the default is one over the number of columns.
    n_components : int, default=100
        The number of waves. Each gives two features, a cosine and a sine, so that there are twice as many columns.
    random_state : int, optional
        Draws the waves.

    Attributes
    ----------
    gamma_ : float
        The factor that was used.
    random_weights_ : ndarray of shape (p, n_components)
        The directions of the waves.
    error_ : float
        The relative error of the kernel matrix of some rows.
    seed_ : int
        What the waves were drawn with.
    certificate_ : Certificate
        That the waves are what was drawn, that rows have length one, and that no pair errs more than Hoeffding's inequality
        allows.

    Notes
    -----
    scikit-learn's ``RBFSampler`` makes one feature of each wave, a cosine with a random phase. The pair needs no phase,
    gives every row the length that the kernel says, and errs less for the same number of columns.

    See Also
    --------
    Nystroem : A map of any kernel, fitted to the rows; usually better for the same number of features.

    Examples
    --------
    >>> import numpy as np
    >>> import qed
    >>> X = np.random.default_rng(0).standard_normal((300, 2))
    >>> fourier = qed.RandomFourierFeatures(gamma=0.5, n_components=1000, random_state=0).fit(X)
    >>> Z = fourier.transform(X)
    >>> bool(np.abs(Z @ Z.T - qed.kernels.RBF(0.5)(X)).max() < 0.1), bool(fourier.certificate_)
    (True, True)
    """

    attributes: ClassVar = {"gamma_": floats(above=0), "random_weights_": floats("features", "waves")}
    parameters: ClassVar = {
        "gamma": number(0, above=True, kind="model") | Parameter("None", lambda value: value is None),
        "n_components": integer(1, kind="model"),
        "random_state": random_state(),
    }
    gamma_: float
    random_weights_: np.ndarray

    def __init__(self, gamma: float | None = None, *, n_components: int = 100, random_state: Seed = None) -> None:
        self.gamma = gamma
        self.n_components = n_components
        self.random_state = random_state

    def _exact(self) -> Kernel:
        return RBF(self.gamma_)

    def _used(self) -> int:
        return 0

    def _width(self) -> int:
        return 2 * int(self.random_weights_.shape[1])

    def _make(self, drawn: np.ndarray, numbers: np.ndarray) -> None:
        self.gamma_ = 1 / drawn.shape[1] if self.gamma is None else float(self.gamma)
        self.random_weights_ = self._waves()

    def _disagreement(self) -> str:
        return (
            "" if self.random_weights_.shape[1] == self.n_components else "random_weights_ are not n_components waves"
        )

    def _waves(self) -> np.ndarray:
        shape = self.n_features_in_, int(self.n_components)
        return math.sqrt(2 * self.gamma_) * generator(self.seed_, "waves").standard_normal(shape)

    def _map(self, X: Any) -> np.ndarray:
        with np.errstate(over="ignore", invalid="ignore"):
            angles = np.asarray(X @ self.random_weights_)
        if not np.isfinite(angles).all():
            raise overflowed(self)
        return np.hstack([np.cos(angles), np.sin(angles)]) / math.sqrt(self.random_weights_.shape[1])

    def _promises(self, sample: Sample, K: np.ndarray, Z: np.ndarray) -> list[Claim]:
        waves = self._waves()
        size = float(np.abs(waves).max())
        found = np.abs(waves - self.random_weights_).max() if waves.shape == self.random_weights_.shape else np.inf
        pairs = max(1, len(K) * (len(K) - 1) // 2)
        hoeffding = math.sqrt(2 / self.random_weights_.shape[1] * math.log(2 * pairs / CHANCE))
        return [
            Claim("waves differ from those that the seed draws", float(found), 1e-12 * size),
            Claim("rows have length one", float(np.abs(np.linalg.norm(Z, axis=1) - 1).max()), 1e-12),
            Claim("largest error of a pair, against Hoeffding's bound", float(np.abs(K - Z @ Z.T).max()), hoeffding),
        ]
