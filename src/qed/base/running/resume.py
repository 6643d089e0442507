"""Going on with a fit that was killed: ``qed.resume``."""

from __future__ import annotations

import os
from typing import Any

from sklearn.base import BaseEstimator

from qed.base.errors import InputError
from qed.base.running.watch import watch
from qed.base.saving.archive import check_path
from qed.base.saving.checkpoint import read_checkpoint


def resume(path: str | os.PathLike[str], X: Any, y: Any = None, sample_weight: Any = None) -> Any:
    """Go on with a fit that was killed, from its checkpoint.

    Parameters
    ----------
    path : path
        The checkpoint, written under ``qed.watch(checkpoint=path)``. It is kept up to date while the fit goes on.
    X, y, sample_weight
        The same data as before; the same world, for what learns by trial.

    Returns
    -------
    estimator
        The fitted model: what the fit would have given without the break.

    Examples
    --------
    >>> import tempfile, pathlib, qed
    >>> X, y = qed.data.load("iris").Xy()
    >>> with tempfile.TemporaryDirectory() as directory:
    ...     path = pathlib.Path(directory, "fit.qed")
    ...     with qed.watch(checkpoint=path):
    ...         model = qed.KMeans(3, random_state=0).fit(X)
    ...     again = qed.resume(path, X)
    >>> bool((again.cluster_centers_ == model.cluster_centers_).all())
    True
    """
    place = check_path(path)
    model, _, _ = read_checkpoint(place)
    if not isinstance(model, BaseEstimator):
        raise InputError(
            f"The checkpoint {place} is of a minimisation, whose function it can not hold: call minimize again inside "
            "qed.watch(checkpoint=...), and it goes on from there."
        )
    with watch(checkpoint=place):
        if y is None and sample_weight is None:
            return model.fit(X)
        return model.fit(X, y, sample_weight=sample_weight)
