"""Saving models and the state of unfinished fits: ``qed.save``, ``qed.load``, ``qed.resume``.

A saved model is its class, its parameters and what it learned, certificate and fingerprint of the data included. A
checkpoint is the class and parameters of a model that is being fitted, the fingerprint, and the last step: since a step
holds all that is needed to go on from it, a fit that was killed goes on from its checkpoint and ends, bit for bit, where
it would have ended. Neither can run code when it is read: see :mod:`qed.base.saving.format` and :mod:`qed.base.saving.archive`.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from sklearn.base import BaseEstimator

from qed.base.errors import InputError, SavingError
from qed.base.running.steps import Step
from qed.base.running.watch import watch
from qed.base.saving.archive import check_path, read_archive, write_archive
from qed.base.saving.format import Packer

# How far a fit goes may change between two runs of it; everything else makes it another fit.
MAY_CHANGE = ("max_iter", "tol")


def save(model: Any, path: str | os.PathLike[str]) -> None:
    """Write a model to a file, with its certificate and the fingerprint of its data.

    The file is a zip of JSON and NumPy arrays and holds no code. It is written beside `path` and then put in its place,
    so a full disk or a crash leaves what was there before. Equal models give equal files.

    Parameters
    ----------
    model : estimator
        A model of qed, fitted or not, or a scikit-learn ``Pipeline`` of such models.
    path : path
        Where to write, such as ``"churn.qed"``.

    Raises
    ------
    qed.base.errors.SavingError
        When the model holds something that can not be stored, such as a function; the message names the parameter.
    qed.base.errors.SourceError
        When the file can not be written.

    Examples
    --------
    >>> import tempfile, pathlib, qed
    >>> X, y = qed.data.load("diabetes").Xy()
    >>> with tempfile.TemporaryDirectory() as directory:
    ...     path = pathlib.Path(directory, "model.qed")
    ...     qed.save(qed.Ridge(alpha=2.0).fit(X, y), path)
    ...     again = qed.load(path)
    >>> again.alpha, bool(again.certificate_), bool(qed.certify(again, X, y))
    (2.0, True, True)
    """
    place = check_path(path)
    if not isinstance(model, BaseEstimator):
        raise SavingError(f"Only models can be saved, not a {type(model).__name__}.")
    packer = Packer()
    write_archive(place, "model", packed(packer, model, fitted=True), packer.arrays)


def load(path: str | os.PathLike[str]) -> Any:
    """Read a model that `save` wrote. That can fail, but it can not run code, whoever the file is from.

    Parameters
    ----------
    path : path
        The file.

    Returns
    -------
    estimator
        The model as it was saved.

    Raises
    ------
    qed.base.errors.SavingError
        When the file is damaged, of a newer version, or not a model of qed.
    qed.base.errors.SourceError
        When there is no such file or it can not be read.
    """
    model = read_archive(check_path(path), "model")
    if not isinstance(model, BaseEstimator):
        raise SavingError(f"Could not load {path}: it holds no model.")
    return model


def save_checkpoint(path: str | os.PathLike[str], model: Any, fingerprint: Any, step: Step | None) -> None:
    """Write the state of a fit: the class and parameters of `model`, the fingerprint of its data, and `step`."""
    packer = Packer()
    content = {
        "model": packed(packer, model, fitted=False),
        "fingerprint": packer.pack(fingerprint, "the fingerprint"),
        "step": packer.pack(step, f"the state of {type(model).__name__}"),
    }
    write_archive(check_path(path), "checkpoint", content, packer.arrays)


def load_checkpoint(path: str | os.PathLike[str], model: Any, fingerprint: Any) -> Step | None:
    """Give the step from which a fit of `model` can go on, or None when there is no such file.

    A checkpoint of another class, of other parameters (``max_iter`` and ``tol`` may differ) or of other data is refused.
    """
    place = check_path(path)
    if not place.exists():
        return None
    saved, before, step = _read_checkpoint(place)
    difference = _difference(saved, model) or before.difference(fingerprint)
    if difference:
        raise InputError(
            f"The checkpoint {place} belongs to another fit: {difference}. Delete or rename the file to begin anew, or give "
            "this fit another path."
        )
    return step


def resume(path: str | os.PathLike[str], X: Any, y: Any = None, sample_weight: Any = None) -> Any:
    """Go on with a fit that was killed, from its checkpoint.

    Parameters
    ----------
    path : path
        The checkpoint, written under ``qed.watch(checkpoint=path)``. It is kept up to date while the fit goes on.
    X, y, sample_weight
        The same data as before.

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
    model, _, _ = _read_checkpoint(place)
    if not isinstance(model, BaseEstimator):
        raise InputError(
            f"The checkpoint {place} is of a minimisation, whose function it can not hold: call minimize again inside "
            "qed.watch(checkpoint=...), and it goes on from there."
        )
    with watch(checkpoint=place):
        return model.fit(X, y, sample_weight=sample_weight)


def packed(packer: Packer, model: Any, *, fitted: bool) -> Any:
    """Give the tree of a model, or of the known object that stands for what is fitted."""
    try:
        return packer.pack_model(model, fitted=fitted) if isinstance(model, BaseEstimator) else packer.pack(model)
    except RecursionError as error:
        raise SavingError(f"This {type(model).__name__} contains itself, so it can not be stored.") from error


def _read_checkpoint(path: Path) -> tuple[Any, Any, Step]:
    content = read_archive(path, "checkpoint")
    model, fingerprint, step = (content.get(name) for name in ("model", "fingerprint", "step"))
    if not (hasattr(model, "get_params") and hasattr(fingerprint, "difference") and isinstance(step, Step)):
        raise SavingError(f"Could not load {path}: it does not hold the state of a fit.")
    return model, fingerprint, step


def _difference(saved: Any, model: Any) -> str:
    """Say in words how another model differs from the saved one, or give an empty string."""
    if type(saved) is not type(model):
        return f"it is of a {type(saved).__name__}, and this is a {type(model).__name__}"
    before, now = saved.get_params(deep=False), model.get_params(deep=False)
    changed = [name for name in now if name not in MAY_CHANGE and not _same(before[name], now[name])]
    return ", ".join(f"{name} was {before[name]!r} and is {now[name]!r} now" for name in changed)


def _same(first: Any, second: Any) -> bool:
    """Compare two values by what would be stored of them."""
    packers = Packer(), Packer()
    trees = [packer.pack(value) for packer, value in zip(packers, (first, second))]
    arrays = list(zip(packers[0].arrays, packers[1].arrays))
    return trees[0] == trees[1] and all(
        a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes() for a, b in arrays
    )
