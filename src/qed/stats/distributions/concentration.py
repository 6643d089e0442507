r"""What happens to balls and clouds in many dimensions: nearly all of them is at the rim.

Of a ball of radius :math:`r` in :math:`d` dimensions, the share that is farther than :math:`\epsilon` from its surface is

.. math:: \Bigl(1 - \frac{\epsilon}{r}\Bigr)^d \le e^{-\epsilon d / r} ,

and a Gaussian :math:`X \sim N(0, \sigma^2 I_d)` has a squared length :math:`R^2` of mean :math:`d\sigma^2` and variance
:math:`2d\sigma^4`, so that by Chebyshev's inequality

.. math:: P\bigl(|R^2 - d\sigma^2| \ge d^{1/2 + \epsilon}\bigr) \le 2\sigma^4 d^{-2\epsilon} .

So all rows are about equally far from each other, and a nearest neighbour is hardly nearer than any other row.
"""

from __future__ import annotations

import math

from qed.base.models.parameters import integer, number


def inner_share(dimension: int, rim: float) -> float:
    """Give the share of a ball's volume that is not in its rim.

    Parameters
    ----------
    dimension : int
        How many dimensions it has.
    rim : float
        The width of the rim over the radius, between zero and one.

    Examples
    --------
    >>> round(inner_share(2, 0.01), 4), round(inner_share(1000, 0.01), 7)
    (0.9801, 4.32e-05)
    """
    d = integer(1).checked("dimension", dimension)
    share = number(0, 1).checked("rim", rim)
    # By logarithms, which keep the digits of a thin rim.
    return math.exp(d * math.log1p(-share)) if share < 1 else 0.0


def length_bound(dimension: int, epsilon: float, scale: float = 1.0) -> float:
    r"""Bound the probability that a Gaussian's squared length is off its mean by :math:`d^{1/2 + \epsilon}` or more.

    Parameters
    ----------
    dimension : int
        How many dimensions it has.
    epsilon : float
        How fast the deviation grows.
    scale : float, default=1.0
        Its standard deviation.

    Examples
    --------
    >>> [round(length_bound(d, 0.25), 4) for d in (10, 100, 1000, 10_000)]
    [0.6325, 0.2, 0.0632, 0.02]
    """
    d = integer(1).checked("dimension", dimension)
    return 2 * number(0, above=True).checked("scale", scale) ** 4 * d ** (-2 * number(0).checked("epsilon", epsilon))
