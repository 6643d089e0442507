r"""Batch normalisation: every channel gets the mean and the spread that its layer asks for.

.. math:: y = \gamma\,\frac{x - \mu}{\sqrt{v + \epsilon}} + \beta.

In training the mean :math:`\mu` and the variance :math:`v` are those of the batch, so the slope of a value depends on all the others
of its channel; in prediction they are running means that were collected in training.

Ioffe and Szegedy (2015), Batch normalization.
"""

from __future__ import annotations

import numpy as np

from qed.neural.engine.node import Array, Operation, Slopes


class Normalise(Operation):
    """Normalise by given means and variances, or by those of the batch where none are given."""

    def __init__(self, mean: Array | None = None, variance: Array | None = None, epsilon: float = 1e-5) -> None:
        self.mean, self.variance, self.epsilon = mean, variance, epsilon
        self.of_batch = mean is None
        self._scaled: Array | None = None

    def forward(self, *values: Array) -> Array:
        x, gamma, beta = values
        axes = self._axes(x)
        if self.of_batch:
            self.mean = x.mean(axis=axes)
            self.variance = x.var(axis=axes)
        assert self.mean is not None and self.variance is not None
        self._scaled = (x - self._wide(self.mean, x)) / self._wide(np.sqrt(self.variance + self.epsilon), x)
        return np.asarray(self._scaled * self._wide(gamma, x) + self._wide(beta, x), dtype=np.result_type(x, gamma))

    def backward(self, slope: Array, value: Array, *values: Array) -> Slopes:
        x, gamma, _ = values
        assert self._scaled is not None and self.variance is not None
        axes = self._axes(x)
        to_beta, to_gamma = slope.sum(axis=axes), (slope * self._scaled).sum(axis=axes)
        share = self._wide(gamma / np.sqrt(self.variance + self.epsilon), x)
        inner = slope
        if self.of_batch:
            count = x.dtype.type(x.size // x.shape[1])
            inner = slope - self._wide(to_beta / count, x) - self._scaled * self._wide(to_gamma / count, x)
        return np.asarray(share * inner, dtype=x.dtype), to_gamma, to_beta

    @staticmethod
    def _axes(x: Array) -> tuple[int, ...]:
        return (0, *range(2, x.ndim))

    @staticmethod
    def _wide(each: Array, x: Array) -> Array:
        # A complex step in a weight is kept where all else is real.
        dtype = each.dtype if each.dtype.kind == "c" else x.dtype
        return each.reshape(1, -1, *(1,) * (x.ndim - 2)).astype(dtype, copy=False)


class LocalNormalise(Operation):
    r"""Response normalisation across channels: :math:`y_c = x_c / (k + \frac{\alpha}{n} \sum_{|c' - c| \le n/2} x_{c'}^2)^\beta`."""

    def __init__(self, size: int = 5, alpha: float = 1e-4, beta: float = 0.75, k: float = 2.0) -> None:
        self.size, self.alpha, self.beta, self.k = size, alpha, beta, k
        self._base: Array | None = None

    def forward(self, *values: Array) -> Array:
        x = values[0]
        self._base = np.asarray(self.k + self.alpha / self.size * self._around(x * x), dtype=x.dtype)
        return np.asarray(x * self._base**-self.beta, dtype=x.dtype)

    def backward(self, slope: Array, value: Array, *values: Array) -> Slopes:
        x = values[0]
        assert self._base is not None
        direct = slope * self._base**-self.beta
        shared = self._around(slope * x * self._base ** (-self.beta - 1))
        return (np.asarray(direct - 2 * self.alpha * self.beta / self.size * x * shared, dtype=x.dtype),)

    def _around(self, x: Array) -> Array:
        """Sum each channel with its neighbours."""
        half = self.size // 2
        total = np.zeros_like(x)
        channels = x.shape[1]
        for shift in range(-half, half + 1):
            total[:, max(0, -shift) : channels - max(0, shift)] += x[:, max(0, shift) : channels + min(0, shift)]
        return total
