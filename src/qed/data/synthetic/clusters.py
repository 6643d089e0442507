"""Gaussian clouds: round ones for clustering, classes with covariances of their own for classification."""

from typing import Any

import numpy as np

from qed.base.random import Seed
from qed.data.synthetic.parameters import array, generator, number, probabilities, whole


def blobs(
    n: int,
    p: int = 2,
    *,
    n_clusters: int = 3,
    spread: float = 1.0,
    centers: Any = None,
    random_state: Seed = None,
    return_truth: bool = False,
) -> tuple[Any, ...]:
    """Draw round clusters of equal size: x = center of its cluster + N(0, spread² I).

    Parameters
    ----------
    n, p : int
        Numbers of points and of dimensions.
    n_clusters : int, default=3
        Number of clusters, whose sizes differ by one at most; the points come in random order.
    spread : float, default=1.0
        Standard deviation in each direction.
    centers : array_like of shape (n_clusters, p), optional
        By default uniform on [-10, 10] in each coordinate. Given, they decide `n_clusters` and `p`.
    random_state : int, Generator or None
        Seed.
    return_truth : bool, default=False
        Also give ``centers``.

    Returns
    -------
    X : ndarray of shape (n, p)
    labels : ndarray of shape (n,), int64
        And the truth when asked for.

    Examples
    --------
    >>> import numpy as np
    >>> X, labels = blobs(90, random_state=0)
    >>> X.shape, np.bincount(labels).tolist()
    ((90, 2), [30, 30, 30])
    """
    n, spread, random = whole("n", n), number("spread", spread, least=0), generator(random_state)
    if centers is None:
        middles = random.uniform(-10.0, 10.0, (whole("n_clusters", n_clusters), whole("p", p)))
    else:
        middles = array("centers", centers, (None, None))
    labels = balanced(n, len(middles), random)
    X = middles[labels] + spread * random.standard_normal((n, middles.shape[1]))
    return (X, labels, {"centers": middles}) if return_truth else (X, labels)


def classes(
    n: int,
    p: int = 2,
    *,
    n_classes: int = 3,
    separation: float = 3.0,
    shared_covariance: bool = False,
    priors: Any = None,
    random_state: Seed = None,
    return_truth: bool = False,
) -> tuple[Any, ...]:
    """Draw Gaussian classes: y ~ priors, x given y = k ~ N(mean_k, S_k).

    Means are N(0, separation² I / p), so two of them are about separation √2 apart in any dimension.
    Covariances are S_k = A_k A_k' with A_k = I + G_k / (2 √p), the entries of G_k being N(0, 1).

    Parameters
    ----------
    n, p : int
        Numbers of points and of dimensions.
    n_classes : int, default=3
        Number of classes.
    separation : float, default=3.0
        Scale of the distances between means.
    shared_covariance : bool, default=False
        Give all classes the same covariance, as linear discriminant analysis supposes.
    priors : array_like of shape (n_classes,), optional
        Probabilities of the classes; equal by default. Labels are independent draws.
    random_state : int, Generator or None
        Seed.
    return_truth : bool, default=False
        Also give ``means``, ``covariances`` and ``priors``.

    Returns
    -------
    X : ndarray of shape (n, p)
    y : ndarray of shape (n,), int64
        And the truth when asked for.

    Examples
    --------
    >>> X, y, truth = classes(200, 3, n_classes=2, random_state=0, return_truth=True)
    >>> truth["means"].shape, truth["covariances"].shape
    ((2, 3), (2, 3, 3))
    """
    n, p, n_classes = whole("n", n), whole("p", p), whole("n_classes", n_classes)
    shares, random = probabilities("priors", priors, n_classes), generator(random_state)
    means = number("separation", separation, least=0) / np.sqrt(p) * random.standard_normal((n_classes, p))
    factors = np.eye(p) + random.standard_normal((n_classes, p, p)) / (2.0 * np.sqrt(p))
    if shared_covariance:
        factors[:] = factors[0]
    y = random.choice(n_classes, size=n, p=shares)
    X = random.standard_normal((n, p))
    for label in range(n_classes):
        members = y == label
        X[members] = X[members] @ factors[label].T + means[label]
    truth = {"means": means, "covariances": factors @ factors.transpose(0, 2, 1), "priors": shares}
    return (X, y, truth) if return_truth else (X, y)


def balanced(n: int, n_groups: int, random: np.random.Generator) -> np.ndarray:
    """Give labels 0 .. n_groups-1 in random order, each as often as any other, give or take one.

    >>> np.bincount(balanced(7, 3, np.random.default_rng(0))).tolist()
    [3, 2, 2]
    """
    return random.permutation(np.arange(n, dtype=np.int64) % n_groups)
