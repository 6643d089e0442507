"""A bundled table together with its target column and its provenance."""

from __future__ import annotations

import importlib
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from qed.base.errors import QedError
from qed.data.catalogue import About

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow

_FILES = Path(__file__).parent / "files"


@dataclass(frozen=True, eq=False)
class Dataset:
    """A table, the column to predict, and where it came from.

    Attributes
    ----------
    about : About
        Title, task, target, shape, source, licence, description.
    table : pyarrow.Table
        The data, missing values as nulls.

    Examples
    --------
    >>> import qed.data
    >>> stackloss = qed.data.load("stackloss")
    >>> stackloss.task, stackloss.target, stackloss.features
    ('regression', 'stack_loss', ['air_flow', 'water_temperature', 'acid_concentration'])
    >>> stackloss.path.name
    'stackloss.parquet'
    """

    about: About
    table: pyarrow.Table = field(repr=False)

    @classmethod
    def read(cls, about: About) -> Dataset:
        """Read the file that belongs to `about`."""
        from pyarrow import parquet

        return cls(about=about, table=parquet.read_table(_path(about.name)))

    @property
    def name(self) -> str:
        """The name it is loaded by."""
        return self.about.name

    @property
    def task(self) -> str:
        """What it is for, such as ``"regression"``."""
        return self.about.task

    @property
    def target(self) -> str | tuple[str, ...]:
        """The column to predict, or several."""
        return self.about.target

    @property
    def path(self) -> Path:
        """The Parquet file, for whatever reads files: ``qed.rows(data.path, target=data.target)``."""
        return _path(self.name)

    @property
    def features(self) -> list[str]:
        """All columns but the target."""
        return [column for column in self.table.column_names if column not in self.about.targets]

    @property
    def numeric_features(self) -> list[str]:
        """The columns of the matrix that `Xy` gives."""
        return [column for column in self.features if _is_numeric(self.table, column)]

    def Xy(self, *, drop_missing: bool = False) -> tuple[np.ndarray, np.ndarray]:
        """Give the numeric features as a matrix and the target as an array.

        Parameters
        ----------
        drop_missing : bool, default=False
            Leave out the rows that lack one of these numbers. They are NaN otherwise.

        Returns
        -------
        X : ndarray of shape (rows, numeric features), float64
            The columns `numeric_features`.
        y : ndarray of shape (rows,), or (rows, targets) when there are several
            float64 for regression, the class labels for classification.

        Examples
        --------
        >>> import qed.data
        >>> penguins = qed.data.load("penguins")
        >>> [X.shape for X, y in (penguins.Xy(), penguins.Xy(drop_missing=True))]
        [(344, 5), (342, 5)]
        """
        X = _matrix(self.table, self.numeric_features)
        if self.task == "classification":
            y = np.array(self.table.column(self.about.targets[0]).to_pylist())
        else:
            y = _matrix(self.table, self.about.targets)
        if isinstance(self.target, str) and y.ndim == 2:
            y = y[:, 0]
        if drop_missing:
            complete = ~np.isnan(X).any(axis=1)
            X, y = X[complete], y[complete]
        return X, y

    def to_pandas(self) -> pandas.DataFrame:
        """Give the table as a pandas DataFrame (pandas has to be installed)."""
        _need("pandas", self.name)
        return self.table.to_pandas()

    def to_polars(self) -> polars.DataFrame:
        """Give the table as a polars DataFrame (polars has to be installed)."""
        return _need("polars", self.name).from_arrow(self.table)


def _path(name: str) -> Path:
    return _FILES / f"{name}.parquet"


def _is_numeric(table: pyarrow.Table, column: str) -> bool:
    from pyarrow import types

    kind = table.schema.field(column).type
    return bool(types.is_integer(kind) or types.is_floating(kind))


def _matrix(table: pyarrow.Table, columns: list[str] | tuple[str, ...]) -> np.ndarray:
    import pyarrow

    values = [table.column(column).cast(pyarrow.float64()).to_numpy() for column in columns]
    return np.column_stack(values)


def _need(package: str, name: str) -> Any:
    try:
        return importlib.import_module(package)
    except ImportError as error:
        raise QedError(
            f"to_{package}() of the data set {name!r} needs {package}, which is not installed: "
            f"pip install {package}, or use .table (pyarrow) or .Xy() (NumPy)."
        ) from error
