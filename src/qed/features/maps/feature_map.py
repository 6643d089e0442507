r"""A linear model of functions of the columns: features made by a function of the user's.

.. math:: h_w(x) = \sum_j w_j \phi_j(x) = w^\top \phi(x), \qquad \Phi = \big(\phi(x_1), \dots, \phi(x_n)\big)^\top,

linear in :math:`w`, whatever :math:`\phi` is. The same :math:`\phi` is applied in ``fit`` and whenever rows come later,
block by block. That is right only when :math:`\phi` looks at one row at a time, so this is tested: a function that
subtracts a column's mean, sorts or sums over rows would give other features for the same row in other company.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

import numpy as np

from qed.base.attributes import each, integers, size
from qed.base.certificate import Claim
from qed.base.errors import InputError, ParameterError
from qed.base.models.checks import is_finite
from qed.base.models.parameters import Parameter, anything, array, boolean, calling
from qed.base.models.problem import RowsProblem
from qed.base.models.proof import restated
from qed.base.models.roles import Transformer
from qed.base.sources.block import Block
from qed.base.sources.rows import Rows
from qed.features.names import input_names, told_apart
from qed.features.stream import first_block

SAMPLED_ROWS = 16

Phi = Callable[[np.ndarray], Any]


def _is_function(value: Any) -> bool:
    if isinstance(value, Mapping):
        return bool(value) and all(isinstance(name, str) and callable(part) for name, part in value.items())
    if isinstance(value, (list, tuple)):
        return bool(value) and all(callable(part) for part in value)
    return value is None or callable(value)


class FeatureMap(Transformer):
    """Make features by a function of your own.

    Parameters
    ----------
    function : callable, list of callables, dict of callables, or None
        Takes the matrix of some rows, shape (n, p), which it must not change, and gives their features: shape (n, m),
        or (n,) for one feature. A list of functions gives one feature each (or several), side by side; a dict also
        names them. None keeps the columns as they are.
    names : list of str, optional
        The names of the features. By default those of the dict, or of the functions (``square``, or ``square0``,
        ``square1`` ... for several columns), or ``phi0``, ``phi1`` ... for functions without a name of their own.
    inverse : callable, optional
        Gives rows back from their features, for ``inverse_transform``.
    vectorized : bool, default=True
        False when the functions take a single row, shape (p,), and give a number or a vector. That is slower.

    Attributes
    ----------
    n_output_features_ : int
        The number of features.
    certificate_ : Certificate
        That rows keep their features in other company, and that the features are finite.

    Notes
    -----
    A saved model can not hold a function (a file that could would be able to run code). To send a model to Dask workers
    or to other processes, define the function in a module: lambdas can not be sent.

    See Also
    --------
    PolynomialFeatures : All monomials up to a degree.

    Examples
    --------
    >>> import numpy as np
    >>> import qed
    >>> X = np.array([[1.0, 2.0], [3.0, 4.0]])
    >>> phi = qed.FeatureMap({"area": lambda X: X[:, 0] * X[:, 1], "log": lambda X: np.log(X[:, 0])})
    >>> phi.fit_transform(X).round(3)
    array([[ 2.   ,  0.   ],
           [12.   ,  1.099]])
    >>> phi.get_feature_names_out()
    array(['area', 'log'], dtype=object)
    >>> qed.FeatureMap(lambda X: X - X.mean(axis=0)).fit(X)
    Traceback (most recent call last):
        ...
    qed.base.errors.InputError: The features of row 1 depend on the rows around it, so new rows would not be treated ...
    """

    attributes: ClassVar = {"n_output_features_": size("outputs"), "widths_": each(integers())}
    parameters: ClassVar = {
        "function": Parameter("a function, a list or dict of functions, or None", _is_function, "model"),
        "names": array() | Parameter("None", lambda value: value is None),
        "inverse": anything("a function or None"),
        "vectorized": boolean(),
    }

    def __init__(
        self,
        function: Phi | Sequence[Phi] | Mapping[str, Phi] | None = None,
        *,
        names: Sequence[str] | None = None,
        inverse: Phi | None = None,
        vectorized: bool = True,
    ) -> None:
        self.function = function
        self.names = names
        self.inverse = inverse
        self.vectorized = vectorized

    def _problem(self, rows: Rows) -> RowsProblem:
        if self.inverse is not None and not callable(self.inverse):
            raise ParameterError(f"FeatureMap: inverse must be a function or None, not {self.inverse!r}.")
        return RowsProblem(rows, self, source="statistics")

    def _evidence(self, rows: Rows) -> RowsProblem:
        return RowsProblem(rows, self)

    def _solve(self, problem: RowsProblem) -> None:
        block = first_block(problem.rows)
        parts = self._parts(block)
        self.n_output_features_ = sum(part.shape[1] for part in parts)
        if self.names is not None and len(self.names) != self.n_output_features_:
            raise ParameterError(
                f"FeatureMap: names has {len(self.names)} names, but the function gives {self.n_output_features_} features."
            )
        self.widths_ = [part.shape[1] for part in parts]
        gap = self._company_gap(block)
        if gap[0] > gap[1]:
            raise InputError(
                f"The features of row {int(gap[2])} depend on the rows around it, so new rows would not be treated as these: "
                "let the function use one row at a time (column means and the like belong into a model, such as qed.StandardScaler)."
            )

    def _functions(self) -> list[Phi]:
        if self.function is None:
            return [lambda X: X]
        if isinstance(self.function, Mapping):
            return list(self.function.values())
        return [self.function] if callable(self.function) else list(self.function)

    def _parts(self, block: Block) -> list[np.ndarray]:
        """Give what each function makes of a block: matrices of numbers with a row for each row."""
        X = np.asarray(block.X).view()
        X.flags.writeable = False
        return [self._part(function, X, block.start) for function in self._functions()]

    def _part(self, function: Phi, X: np.ndarray, start: int) -> np.ndarray:
        name = _name(function) or "function"
        with calling("function", function, "a table" if self.vectorized else "a row"):
            given = function(X) if self.vectorized else [function(row) for row in X]
        try:
            part = np.asarray(given)
            part = part.astype(X.dtype, copy=False)
        except (TypeError, ValueError):
            raise InputError(
                f"FeatureMap: {name} must give numbers, as many for each row, not {given!r:.80}."
            ) from None
        part = part.reshape(-1, 1) if part.ndim == 1 else part
        if part.ndim != 2 or len(part) != len(X):
            raise InputError(
                f"FeatureMap: {name} must give one row of features for each of {len(X)} rows, not the shape {np.shape(given)}."
                + ("" if self.vectorized else " A function of a single row gives a number or a vector.")
            )
        if not is_finite(part):
            row, column = (int(place) for place in np.argwhere(~np.isfinite(part))[0])
            raise InputError(
                f"FeatureMap: {name} gives {part[row, column]} for row {start + row} (counted from 0), feature {column} of it: "
                "features must be finite. Change the function, or drop the row."
            )
        return part

    def _change(self, block: Block) -> np.ndarray:
        parts = self._parts(block)
        widths = [part.shape[1] for part in parts]
        if widths != self.widths_:
            raise InputError(
                f"FeatureMap: the function gave {sum(self.widths_)} features in fit and {sum(widths)} for the rows from "
                f"{block.start} on: their number must not depend on the rows."
            )
        return parts[0] if len(parts) == 1 else np.hstack(parts)

    def _company_gap(self, block: Block) -> np.ndarray:
        """Map some rows by themselves, backwards and alone, and compare: the largest difference, its bound, and the row."""
        rows = np.unique(np.linspace(0, len(block) - 1, SAMPLED_ROWS).astype(int))[::-1]
        together = self._change(block)[rows].astype(np.float64)
        try:
            with np.errstate(all="ignore"):
                apart = self._change(Block(block.X[rows], start=block.start))
                alone = self._change(Block(block.X[rows[:1]], start=block.start))
        except InputError:
            return np.array([np.inf, 0.0, block.start + rows[0]])
        gap = np.abs(together - apart)
        gap[0] = np.maximum(gap[0], np.abs(together[0] - alone[0]))
        size = np.abs(together).max(axis=0)
        bound = 4096 * np.finfo(block.X.dtype).eps * (size + 1e-3 * size.max(initial=0.0))
        worst = np.unravel_index(np.argmax(gap - bound), gap.shape)
        return np.array([gap[worst], bound[worst[1]], block.start + rows[worst[0]]])

    def _prove(self, problem: RowsProblem) -> list[Claim]:
        rows = problem.rows
        gaps = rows.each(self._company_gap) if problem.source == "data" else [self._company_gap(first_block(rows))]
        gap, bound, _ = max(gaps, key=lambda found: found[0] - found[1])
        return [
            Claim("rows keep their features in other company", float(gap), float(bound)),
            Claim("all blocks give the same number of finite features", 0.0, 0.0),
        ]

    def _restate(self, problem: RowsProblem) -> list[Claim]:
        widths = [part.shape[1] for part in self._parts(first_block(problem.rows))]
        return [
            restated("n_output_features_", self.n_output_features_, sum(widths)),
            restated("widths_", self.widths_, widths),
        ]

    def inverse_transform(self, X: Any) -> np.ndarray:
        """Give rows back from their features, by `inverse`.

        Parameters
        ----------
        X : array-like of shape (n, n_features_out)
            Features.
        """
        self._check_fitted()
        if self.inverse is None:
            raise InputError(
                "FeatureMap can not go back: give the inverse function, FeatureMap(function, inverse=...)."
            )
        features = np.asarray(X)
        if features.ndim != 2 or features.shape[1] != self.n_output_features_:
            raise InputError(
                f"Expected {self.n_output_features_} features for each row, got the shape {features.shape}."
            )
        with calling("inverse", self.inverse, "a table of features"):
            return np.asarray(self.inverse(features))

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Name the features.

        Parameters
        ----------
        input_features : list of str, optional
            The names of the columns; used where there is no function.
        """
        given = input_names(self, input_features)
        if self.names is not None:
            return np.array([str(name) for name in self.names], dtype=object)
        if self.function is None:
            return given
        known = list(self.function) if isinstance(self.function, Mapping) else [_name(f) for f in self._functions()]
        names: list[str] = []
        for name, width in zip(known, self.widths_):
            plain = [f"phi{len(names) + k}" for k in range(width)]
            names += plain if name is None else [name] if width == 1 else [f"{name}{k}" for k in range(width)]
        return np.array(told_apart(names), dtype=object)


def _name(function: Any) -> str | None:
    """Give the name of a function that has one of its own."""
    name = getattr(function, "__name__", None)
    return None if name in (None, "<lambda>") else str(name)
