"""Classes in the plane that no straight line separates: moons, rings, a checkerboard, exclusive or."""

from typing import Any

import numpy as np

from qed.base.random import Seed
from qed.data.synthetic.clusters import balanced
from qed.data.synthetic.parameters import array, generator, number, whole


def moons(n: int, *, noise: float = 0.1, random_state: Seed = None) -> tuple[np.ndarray, np.ndarray]:
    """Draw two interleaved half circles of radius 1.

    With t uniform on [0, pi], class 0 is (cos t, sin t) and class 1 is (1 - cos t, 1/2 - sin t), plus N(0,
    noise² I).

    Parameters
    ----------
    n : int
        Number of points; the classes are of equal size and in random order.
    noise : float, default=0.1
        Standard deviation of each coordinate.
    random_state : int, Generator or None
        Seed.

    Returns
    -------
    X : ndarray of shape (n, 2)
    y : ndarray of shape (n,), int64

    Examples
    --------
    >>> X, y = moons(100, noise=0.0, random_state=0)
    >>> bool(abs((X[y == 0] ** 2).sum(axis=1) - 1).max() < 1e-12)
    True
    """
    n, random = whole("n", n), generator(random_state)
    y = balanced(n, 2, random)
    t = random.uniform(0.0, np.pi, n)
    upper, lower = [np.cos(t), np.sin(t)], [1.0 - np.cos(t), 0.5 - np.sin(t)]
    X = np.where(y[:, None] == 0, np.column_stack(upper), np.column_stack(lower))
    return X + number("noise", noise, least=0) * random.standard_normal((n, 2)), y


def rings(
    n: int, *, radii: Any = (1.0, 3.0), noise: float = 0.1, random_state: Seed = None
) -> tuple[np.ndarray, np.ndarray]:
    """Draw concentric rings: uniform angle, radius of the ring plus N(0, noise²).

    Parameters
    ----------
    n : int
        Number of points; the rings get equally many, in random order.
    radii : array_like, default=(1, 3)
        One ring, and one class, for each.
    noise : float, default=0.1
        Standard deviation of the radius.
    random_state : int, Generator or None
        Seed.

    Returns
    -------
    X : ndarray of shape (n, 2)
    y : ndarray of shape (n,), int64

    Examples
    --------
    >>> import numpy as np
    >>> X, y = rings(200, random_state=0)
    >>> [round(float(np.linalg.norm(X[y == ring], axis=1).mean()), 1) for ring in (0, 1)]
    [1.0, 3.0]
    """
    n, random = whole("n", n), generator(random_state)
    lengths = array("radii", radii, (None,))
    y = balanced(n, len(lengths), random)
    angle = random.uniform(0.0, 2.0 * np.pi, n)
    radius = lengths[y] + number("noise", noise, least=0) * random.standard_normal(n)
    return np.column_stack([radius * np.cos(angle), radius * np.sin(angle)]), y


def checkerboard(
    n: int, *, cells: int = 4, flip: float = 0.0, random_state: Seed = None
) -> tuple[np.ndarray, np.ndarray]:
    """Draw points uniform on [0, cells]², labelled by the colour of their square.

    Parameters
    ----------
    n : int
        Number of points.
    cells : int, default=4
        Squares along each side.
    flip : float, default=0.0
        Probability that a label is turned round, which is the error of the best classifier when at most 1/2.
    random_state : int, Generator or None
        Seed.

    Returns
    -------
    X : ndarray of shape (n, 2)
    y : ndarray of shape (n,), int64
        0 where the sum of the square's row and column is even.

    Examples
    --------
    >>> X, y = checkerboard(100, cells=3, random_state=0)
    >>> bool((y == (X[:, 0].astype(int) + X[:, 1].astype(int)) % 2).all())
    True
    """
    n, cells, random = whole("n", n), whole("cells", cells), generator(random_state)
    X = cells * random.random((n, 2))
    y = np.floor(X).astype(np.int64).sum(axis=1) % 2
    turned = random.random(n) < number("flip", flip, least=0, most=1)
    return X, np.where(turned, 1 - y, y)


def xor(n: int = 4, *, noise: float = 0.0, random_state: Seed = None) -> tuple[np.ndarray, np.ndarray]:
    """Draw points about the corners of a square, labelled by exclusive or.

    The corners (-1, -1), (-1, 1), (1, -1), (1, 1) are taken in turn; each point is moved by N(0, noise² I).
    The label is 1 where the signs of the corner differ, so four points without noise are the classical
    example.

    Parameters
    ----------
    n : int, default=4
        Number of points.
    noise : float, default=0.0
        Standard deviation of each coordinate.
    random_state : int, Generator or None
        Seed.

    Returns
    -------
    X : ndarray of shape (n, 2)
    y : ndarray of shape (n,), int64

    Examples
    --------
    >>> X, y = xor()
    >>> X.tolist(), y.tolist()
    ([[-1.0, -1.0], [-1.0, 1.0], [1.0, -1.0], [1.0, 1.0]], [0, 1, 1, 0])
    """
    n, random = whole("n", n), generator(random_state)
    corners = np.array([[-1.0, -1.0], [-1.0, 1.0], [1.0, -1.0], [1.0, 1.0]])[np.arange(n) % 4]
    y = (corners[:, 0] != corners[:, 1]).astype(np.int64)
    return corners + number("noise", noise, least=0) * random.standard_normal((n, 2)), y
