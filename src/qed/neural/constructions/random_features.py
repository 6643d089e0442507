r"""Random features: units whose inner weights are drawn and stay; only what each counts is fitted, by least squares.

The squared error of a smooth function falls about as one over the number of units M, in any dimension (Barron), if the units may be chosen
to suit the function. Drawn units suit it only by chance, and training them, from where they were drawn, can only help.

Barron (1993), Universal approximation bounds for superpositions of a sigmoidal function; Rahimi and Recht (2008).
"""

from __future__ import annotations

import numpy as np

from qed.base.errors import InputError
from qed.base.random import Seed, generator, seed_of
from qed.neural.constructions.one_hidden import hidden_layer
from qed.neural.engine.activations import Activation as Function
from qed.neural.engine.activations import activation as activation_named
from qed.neural.engine.node import Array
from qed.neural.network import Network


def random_feature_network(
    X: Array, y: Array, units: int, *, activation: str = "relu", random_state: Seed = 0
) -> Network:
    """Draw the units of a hidden layer and fit what they count to data.

    Parameters
    ----------
    X : array of shape (n, d)
        The inputs.
    y : array of shape (n,)
        The target.
    units : int
        How many units are drawn: a direction of normal draws, and an offset that puts the kink of each at one of the rows.
    activation : str, default="relu"
        What a unit makes of its sum.
    random_state : None, int or NumPy generator, default=0
        The seed.

    Examples
    --------
    >>> x = np.linspace(0.0, 1.0, 200)[:, None]
    >>> network = random_feature_network(x, np.sin(2 * np.pi * x[:, 0]), 20)
    >>> float(np.abs(network.forward(x).ravel() - np.sin(2 * np.pi * x[:, 0])).max()) < 0.2
    True
    """
    X, y = np.asarray(X, dtype=np.float64), np.asarray(y, dtype=np.float64)
    if X.ndim != 2 or y.shape != (len(X),):
        raise InputError(f"X must have shape (n, d) and y (n,), not {X.shape} and {y.shape}.")
    draws = generator(seed_of(random_state), "random features")
    b = draws.standard_normal((units, X.shape[1]))
    a = -np.einsum("jd,jd->j", b, X[draws.integers(len(X), size=units)])
    function = activation_named(activation)
    assert isinstance(function, Function)
    design = np.column_stack([function.of(X @ b.T + a), np.ones(len(X))])
    found = np.linalg.lstsq(design, y)[0]
    return hidden_layer(a, b, found[:-1], activation, float(found[-1]))
