"""The methods of the house, from the registry: what each is for, what it minimises, how it reads its data, what it proves, where it stands.

There is no list kept by hand. A method is in the catalogue because it is public; its task follows from its role and its room, its
problem is the paragraph that opens its file, and its claims are those of a fit to a small table.
"""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

import numpy as np

import qed
from qed.base.errors import InputError
from qed.base.lazy import ROOMS, public_classes
from qed.base.models.estimator import Estimator
from qed.base.models.roles import Classifier, Clusterer, Regressor
from qed.base.models.trial import Trial
from qed.base.sources.layout import did_you_mean

LEARNING = {
    "regression": "supervised",
    "classification": "supervised",
    "clustering": "unsupervised",
    "reduction": "unsupervised",
    "neighbours": "unsupervised",
    "features": "unsupervised",
    "planning": "reinforcement",
    "association": "association",
    "choosing": "any",
}
TASK_OF_ROOM = {
    "reduction": "reduction",
    "features": "features",
    "reinforcement": "planning",
    "association": "association",
    "neighbors": "neighbours",
    "selection": "choosing",
}


@dataclass(frozen=True)
class CatalogueEntry:
    """One method of the house.

    Attributes
    ----------
    name : str
        Its public name, such as ``Ridge``.
    task : str
        What it is for: regression, classification, clustering, reduction, features, neighbours, planning, association, or choosing.
    learning : str
        The kind of learning: supervised, unsupervised, reinforcement, association; any for what chooses models of all kinds.
    objective : str
        The problem it solves, in a sentence.
    passes : str
        How it reads its data.
    path : str
        The module it is written in.
    """

    name: str
    task: str
    learning: str
    objective: str
    passes: str
    path: str

    @property
    def claims(self) -> tuple[str, ...]:
        """What a fit to a small table claims, in words; empty where the model needs others to be made of."""
        return _claims(getattr(qed, self.name))


def catalogue(name: str | None = None) -> list[CatalogueEntry]:
    """List every method of the house, with task, objective, passes and path; each knows its claims too.

    Parameters
    ----------
    name : str, optional
        A task, a kind of learning or a method, to see that alone.

    Returns
    -------
    list of CatalogueEntry
        Room after room, each in alphabetical order.

    Examples
    --------
    >>> [method.name for method in qed.catalogue("reinforcement")][:2]
    ['EpsilonGreedy', 'PolicyIteration']
    >>> print(qed.catalogue("Ridge")[0].objective)
    Ridge regression: least squares with a penalty on the length of the coefficients.
    """
    found = list(_methods())
    if name is None:
        return found
    chosen = [method for method in found if name in (method.name, method.task, method.learning)]
    if not chosen:
        words = {word for method in found for word in (method.name, method.task, method.learning)}
        raise InputError(f"No method, task or kind of learning is called {name!r}. {did_you_mean(name, sorted(words))}")
    return chosen


def _methods() -> Iterator[CatalogueEntry]:
    kinds = {kind for role in (Estimator, Trial) for kind in public_classes(role)}  # type: ignore[type-abstract]
    for room in ROOMS:
        package = import_module(f"qed.{room}")
        for public in package.__all__:
            kind = getattr(package, public)
            if isinstance(kind, type) and kind in kinds and not inspect.isabstract(kind):
                task = _task(kind, room)
                yield CatalogueEntry(public, task, LEARNING[task], _objective(kind), str(kind.passes), kind.__module__)  # type: ignore[attr-defined]


def _task(kind: type, room: str) -> str:
    for role, task in ((Classifier, "classification"), (Regressor, "regression"), (Clusterer, "clustering")):
        if issubclass(kind, role):
            return task
    return TASK_OF_ROOM.get(room, "clustering" if room == "clustering" else "features")


def _objective(kind: type) -> str:
    """Give the first sentence of the file that a class is written in, or of the class where the file holds several."""
    said = inspect.getdoc(inspect.getmodule(kind)) or inspect.getdoc(kind) or ""
    return " ".join(said.split("\n\n")[0].split())


def _claims(kind: type) -> tuple[str, ...]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with suppress(TypeError, ValueError, NotImplementedError):
            model = kind()
            return tuple(claim.says for claim in model.fit(*_example(kind, model)).certificate_)
    return ()


def _example(kind: type, model: object) -> tuple[object, ...]:
    """Give a small table, bandit or world that a model can be fitted to."""
    if issubclass(kind, Trial):
        return (qed.Bandit([0.2, 0.5]) if hasattr(model, "pulls") else qed.GridWorld(["S.", ".G"]),)
    X, y = qed.data.load("iris").Xy()
    number = np.asarray(X)[:, 0]
    return (X, number if getattr(kind, "target", None) == "number" else y if getattr(kind, "target", None) else None)


def room_file(method: CatalogueEntry) -> Path:
    """Give the file of a method, inside the package.

    >>> room_file(catalogue("Ridge")[0]).as_posix()
    'qed/regression/linear/ridge.py'
    """
    return Path(*method.path.split(".")).with_suffix(".py")
