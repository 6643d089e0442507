r"""What earlier steps tell about the curvature: the change of the gradient along each of them.

With moves :math:`s_k` and changes of the gradient :math:`y_k`, the update of Broyden, Fletcher, Goldfarb and Shanno corrects a stand-in
for the inverse Hessian so that :math:`s_k = B\,y_k` for the last of them. The stand-in here is the curvature of some rows at an earlier
place; what the other rows and a nearer place would have said comes in by these corrections, at the price of a few products of vectors
(two-loop recursion).

Nocedal and Wright (2006), Numerical Optimization, section 7.2.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np

MOST = 8


class Secants(NamedTuple):
    """Moves and changes of the gradient of the last steps, of shape (k, m, q) each, and the place whose curvature they correct.

    There is one place or none, so its shape is (1, m, q) or (0, m, q).

    Examples
    --------
    >>> none = Secants.none((1, 2))
    >>> H = np.diag([1.0, 4.0])
    >>> one = none.with_pair(np.array([[0.0, 1.0]]), np.array([[0.0, 4.0]]))
    >>> one.direction(lambda v: v, np.array([[1.0, 4.0]]))
    array([[-1., -1.]])
    """

    moves: np.ndarray
    changes: np.ndarray
    place: np.ndarray

    @classmethod
    def none(cls, shape: tuple[int, int]) -> Secants:
        """Give no secants, for parameters of a shape."""
        return cls(*np.zeros((3, 0, *shape)))

    @classmethod
    def remembered(cls, known: Mapping[str, object], shape: tuple[int, int]) -> Secants:
        """Give those of an earlier fit; none where it had parameters of another shape, as without an intercept."""
        given = [known.get(name) for name in cls._fields]
        moves, changes, place = (
            one if isinstance(one, np.ndarray) and one.shape[1:] == shape else np.zeros((0, *shape)) for one in given
        )
        found = cls.none(shape)._replace(place=place[:1])
        for move, change in zip(moves, changes):
            found = found.with_pair(move, change)
        return found

    def with_pair(self, move: np.ndarray, change: np.ndarray) -> Secants:
        """Add a pair, unless rounding is all there is to it; the oldest one goes."""
        if not float((move * change).sum()) > 1e-10 * float(np.linalg.norm(move) * np.linalg.norm(change)):
            return self
        moves, changes = np.concatenate([self.moves, move[None]]), np.concatenate([self.changes, change[None]])
        return Secants(moves[-MOST:], changes[-MOST:], self.place)

    def direction(self, solve: Callable[[np.ndarray], np.ndarray], gradient: np.ndarray) -> np.ndarray:
        """Give minus the corrected stand-in times the gradient.

        Parameters
        ----------
        solve : callable
            Multiplies with the stand-in for the inverse Hessian.
        gradient : ndarray of shape (m, q)
            The gradient.
        """
        left, shares = gradient, []
        products = (self.moves * self.changes).sum(axis=(1, 2))
        for move, change, product in zip(self.moves[::-1], self.changes[::-1], products[::-1]):
            shares.append(float((move * left).sum()) / product)
            left = left - shares[-1] * change
        found = solve(left)
        for move, change, product, share in zip(self.moves, self.changes, products, shares[::-1]):
            found = found + (share - float((change * found).sum()) / product) * move
        return np.asarray(-found)
