r"""Bias and variance of a mean over neighbours, in closed form.

For targets :math:`y_i = f(x_i) + \epsilon_i` with independent noise of variance :math:`\sigma^2`, the prediction at :math:`z` has

.. math:: \text{bias}^2 = \Bigl(\sum_j s_j f(x_{(j)}) - f(z)\Bigr)^2, \qquad \text{variance} = \sigma^2 \sum_j s_j^2 ,

over the neighbours :math:`x_{(j)}` of :math:`z` with their shares :math:`s_j`, each :math:`1/k` where all count the same.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from qed.base.models.parameters import number
from qed.neighbors.regressor import KNeighborsRegressor


def neighbor_bias_variance(
    model: KNeighborsRegressor, X: ArrayLike, truth: Callable[[np.ndarray], np.ndarray], noise: float
) -> tuple[np.ndarray, np.ndarray]:
    """Give squared bias and variance of a fitted model's predictions, over all targets that there might have been.

    Parameters
    ----------
    model : KNeighborsRegressor
        The model; only the places of its rows matter.
    X : array-like of shape (m, p)
        Where it predicts.
    truth : callable
        The function behind the targets: takes rows, gives a number for each.
    noise : float
        The standard deviation of the noise.

    Returns
    -------
    squared_bias, variance : ndarray of shape (m,)
        For each place.

    Examples
    --------
    >>> import qed
    >>> x = np.arange(-20, 21)[:, None] / 10
    >>> model = qed.KNeighborsRegressor(5).fit(x, np.zeros(41))
    >>> qed.neighbor_bias_variance(model, [[0.0]], lambda x: x[:, 0] ** 2, 1.0)
    (array([0.0004]), array([0.2]))
    """
    spread = number(0).checked("noise", noise)
    places, rows = np.asarray(X, dtype=np.float64), np.asarray(model.X_fit_, dtype=np.float64)
    # What the model would predict of targets without noise, and how much of each target is in it.
    number_of, share = model.shares(places)
    expected = (share * np.asarray(truth(rows), dtype=np.float64)[number_of]).sum(axis=1)
    return (expected - truth(places)) ** 2, spread**2 * (share**2).sum(axis=1)
