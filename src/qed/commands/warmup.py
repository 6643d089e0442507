"""``qed warmup``: compile every kernel ahead, by fitting each model once to a small table.

Kernels are compiled on first use and kept on disk, so the first fit after an installation takes seconds longer than the next. Images and
clusters pay that price when they are built instead.
"""

import inspect
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import suppress
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

import qed
from qed.base.compile import COMPILED
from qed.base.errors import QedError
from qed.base.lazy import ROOMS
from qed.base.models.estimator import Estimator

# Kernel matrices grow with the square of the rows, and their solvers with the cube.
ROWS, ROWS_IN_MEMORY, COLUMNS = 8192, 1024, 12


class Warmed(NamedTuple):
    """One model: how long its fits took, and which kernels were ready afterwards that had not been before."""

    name: str
    seconds: float
    kernels: tuple[str, ...]


def warmup(tell: Callable[[str], None] | None = None) -> list[Warmed]:
    """Fit every public model to a small table of double and of single precision."""
    found = []
    for name, model in models():
        if tell is not None:
            tell(name)
        before = _ready()
        began = time.perf_counter()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for dtype in (np.float64, np.float32):
                _use(model, dtype)
        found.append(Warmed(name, time.perf_counter() - began, tuple(sorted(_ready() - before))))
    return found


def models() -> Iterator[tuple[str, Any]]:
    """Give one model of every public class that can be made without arguments."""
    for room in ROOMS:
        package = import_module(f"qed.{room}")
        for name in package.__all__:
            kind = getattr(package, name)
            if inspect.isclass(kind) and issubclass(kind, Estimator) and not inspect.isabstract(kind):
                needed = [p for p in inspect.signature(kind).parameters.values() if p.default is p.empty]
                if not needed:
                    yield name, kind()
    yield "NearestNeighbors, tree", qed.NearestNeighbors(algorithm="kd_tree")
    yield "SimpleImputer, medians", qed.SimpleImputer(strategy="median")
    yield "Search, leave one out", qed.Search(qed.Ridge(), {"alpha": [1.0, 10.0]}, cv="loo")


def table(model: Any, rows: int, columns: int, dtype: Any) -> tuple[Any, Any]:
    """Give features and a target that a model takes, of a given size."""
    generator = np.random.default_rng(0)
    X = generator.standard_normal((rows, columns)).astype(dtype)
    number = X @ generator.standard_normal(columns) + generator.standard_normal(rows)
    y = {"number": number.astype(dtype), "label": (number > 0).astype(int), None: None}[model.target]
    asked = model.__sklearn_tags__().input_tags
    if asked.positive_only:
        X = np.floor(np.abs(X))
    if asked.allow_nan:
        X[::7, 0] = np.nan
    return X, y


def _use(model: Any, dtype: Any) -> None:
    X, y = table(model, ROWS_IN_MEMORY if model.passes in ("as codes", "in memory") else ROWS, COLUMNS, dtype)
    for given in [X, sparse.csr_array(np.where(X > 1, X, 0))] if model.sparse else [X]:
        # A model may refuse such a table; its kernels then compile on first use.
        with suppress(QedError):
            model.fit(given) if y is None else model.fit(given, y)
            for method in ("predict", "predict_proba", "transform"):
                if hasattr(model, method):
                    getattr(model, method)(given)


def _ready() -> set[str]:
    return {
        f"{kernel.py_func.__module__.removeprefix('qed.')}.{kernel.py_func.__name__}"
        for kernel in COMPILED
        if kernel.signatures
    }
