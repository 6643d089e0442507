"""Saving models: ``qed.save`` and ``qed.load``.

A saved model is its class, its parameters and what it learned, certificate and fingerprint of the data included. It can not run
code when it is read: see :mod:`qed.base.saving.format` and :mod:`qed.base.saving.archive`.
"""

from __future__ import annotations

import os
from typing import Any

from sklearn.base import BaseEstimator

from qed.base.errors import SavingError
from qed.base.saving.archive import check_path, read_archive, write_archive
from qed.base.saving.format import Packer, packed


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
    if hasattr(model, "best_estimator_") and not hasattr(model, "_prove"):
        name = type(model).__name__
        raise SavingError(
            f"A {name} is no model of qed and can not be saved: qed.save(search.best_estimator_, path) saves its best model."
        )
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
