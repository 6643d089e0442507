"""What all methods of nearest neighbours share: rows that are kept, and the search among them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

from qed.base.attributes import floats, maybe, of, size
from qed.base.certificate import Claim
from qed.base.errors import InputError, KindError
from qed.base.models.estimator import Estimator
from qed.base.models.no_effect import no_effect
from qed.base.models.parameters import Parameter, choice, integer
from qed.base.models.proof import restated_weights
from qed.base.numbers import EPS, TINY
from qed.base.sources.block import Block, copied, is_sparse, values_apart
from qed.base.sources.open import rows
from qed.base.sources.rows import ArrayRows, Rows
from qed.kernels.kernel import Kernel
from qed.neighbors.best import Best
from qed.neighbors.hashing import Tables
from qed.neighbors.measures import NAMES, POWER, Given, Matrix, Measure, Metric, Minkowski, measure_of
from qed.neighbors.problem import KeptProblem
from qed.neighbors.search import Search, grows, hashes
from qed.neighbors.tree import Tree

# Numbers that the proof of a fit may look at, and rows at the most; ``certify`` looks at more.
SAMPLED_AT_FIT, SAMPLED, MOST = 1 << 20, 1 << 26, 64
# Beyond this, squares and higher powers leave the range of numbers: rows are scaled first, so that sums of powers stay below two to the
# second number.
EXTREME, WIDEST = 300, 1020

NEIGHBOR_PARAMETERS: Mapping[str, Parameter] = {
    "n_neighbors": integer(1, kind="model"),
    "algorithm": choice("auto", "brute", "kd_tree", "ball_tree", "hashing"),
    "p": POWER,
    "metric": Parameter(
        f"a kernel, a function of two rows, or one of {', '.join(map(repr, NAMES))}",
        lambda value: (
            value in NAMES
            if isinstance(value, str)
            else isinstance(value, Kernel) or (callable(value) and not isinstance(value, type))
        ),
        "model",
    ),
    "metric_params": choice(None, kind="model") | Parameter("a dict", lambda value: isinstance(value, dict)),
}
NEIGHBOR_NO_EFFECT = {"leaf_size": no_effect(integer(1), 30, "leaves hold about thirty rows")}


class Neighbors(Estimator):
    """A model that keeps its rows, and looks for the nearest of them."""

    passes: ClassVar[str] = "in memory"
    sparse: ClassVar[bool] = True
    no_inference: ClassVar[str] = "it has no coefficients"
    attributes: ClassVar = {
        "X_fit_": floats("rows", "features", finite=False),  # rows of weight zero may hold anything
        "weight_fit_": maybe(floats("rows", low=0)),
        "n_samples_fit_": size("rows"),
        "center_": floats("features"),
        "scale_": floats(above=0),
        "tree_": maybe(of(Tree)),
        "tables_": maybe(of(Tables)),
        "recall_": maybe(floats(low=0, high=1)),
    }
    n_neighbors: int
    algorithm: str
    p: float
    metric: Metric
    metric_params: dict[str, object] | None
    X_fit_: Matrix
    n_samples_fit_: int
    center_: np.ndarray
    scale_: float
    weight_fit_: np.ndarray
    tree_: Tree
    tables_: Tables
    recall_: float

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.metric == "precomputed"
        tags.input_tags.positive_only = self.metric == "precomputed"
        return tags

    @property
    def effective_metric_(self) -> Metric:
        """The distance by name, where it has one."""
        measure = self._measure
        if not isinstance(measure, Minkowski) or measure.weights or measure.squared:
            return self.metric
        return {1.0: "manhattan", 2.0: "euclidean", np.inf: "chebyshev"}.get(measure.power, "minkowski")

    @property
    def _measure(self) -> Measure:
        return measure_of(self.metric, self.p, self.metric_params)

    def _open(
        self, X: object, y: object = None, sample_weight: object = None, *, reset: bool, target: str | None = None
    ) -> Rows:
        if X is None and not reset:
            # The rows of the fit, numbered from below zero: by that they are known to be no neighbours of their own.
            own, names = (
                rows(self.X_fit_, y, sample_weight=sample_weight).array(),
                getattr(self, "feature_names_in_", None),
            )
            X, y, sample_weight = ArrayRows(own.X, own.y, own.weight, names, first=-self.n_samples_fit_), None, None
        if self.metric == "precomputed" and (form := getattr(X, "format", "")) in ("bsr", "dok") and is_sparse(X):
            raise KindError(
                f"A sparse matrix of distances holds those that are known, also zeros, which the format {form!r} can not "
                "tell from others: give it as CSR, with X.tocsr()."
            )
        return super()._open(X, y, sample_weight, reset=reset, target=target)

    def _own(self, block: Block) -> np.ndarray | None:
        """Give the numbers of a block's rows where they are those of the fit."""
        return None if block.start >= 0 else self.n_samples_fit_ + block.start + np.arange(len(block))

    def _problem(self, rows: Rows) -> KeptProblem:
        return KeptProblem(rows, self)

    def _evidence(self, rows: Rows) -> KeptProblem:
        return KeptProblem(rows, self, again=True)

    def _solve(self, problem: KeptProblem) -> None:
        X = problem.block.X
        if self.metric == "precomputed" and X.shape[0] != X.shape[1]:
            raise InputError(f"A matrix of distances is square; this one has the shape {X.shape}.")
        self.X_fit_, self.n_samples_fit_ = copied(X), int(X.shape[0])
        self.center_, self.scale_ = problem.frame
        if problem.weight is not None:
            self.weight_fit_ = copied(problem.weight)
        if grows(self._measure, X, self.algorithm):
            self.tree_ = Tree.of(self._prepared(problem.there))
        if hashes(self._measure, X, self.algorithm):
            self.tables_ = Tables.of(self._prepared(problem.there))
            self.recall_ = self._found()

    @property
    def _present(self) -> np.ndarray | None:
        """The numbers of the rows that have a weight; None for all."""
        weight = getattr(self, "weight_fit_", None)
        return None if weight is None or (weight > 0).all() else np.flatnonzero(weight > 0)

    @property
    def _stretch(self) -> float:
        """The power of two by which rows of extreme size are multiplied before they are measured; one for all others."""
        measure = self._measure
        if not isinstance(measure, Minkowski) or abs(np.log2(self.scale_)) < EXTREME:
            return 1.0
        # Wide tables become as wide as can be, so that squares of what is far less than their width, as of ordinary rows beside one at
        # 1e300, are numbers, too.
        return self.scale_ * (self._widest if self.scale_ < 1 else 1.0)

    @property
    def _widest(self) -> float:
        """The power of two up to which sums of powers of differences are numbers."""
        power: float = getattr(self._measure, "power", 2.0)
        most = (WIDEST - np.ceil(np.log2(len(self.center_)))) // (power if 2 < power < np.inf else 2.0)
        return float(2.0 ** (most - 1))

    def _prepared(self, X: Matrix) -> Matrix:
        stretch = self._stretch
        return self._measure.prepared(X if stretch == 1.0 else X * stretch)

    def _search_among(self) -> Search:
        """Make the search among the rows that are there."""
        present, measure, stretch = self._present, self._measure, self._stretch
        X = self._prepared(self.X_fit_ if present is None else self.X_fit_[present])
        center, scale = self.center_ * stretch, self.scale_ / stretch
        if X.shape[1] != len(center):
            # As directions, rows lie within a ball of radius one.
            center, scale = np.zeros(X.shape[1]), 1.0
        # A tree serves the distances it was grown for, not one that was asked for since.
        tree = getattr(self, "tree_", None) if isinstance(measure, Minkowski) else None
        tables = getattr(self, "tables_", None) if hashes(measure, X, self.algorithm) else None
        return Search(X, measure, center, scale, tree, tables)

    def _nearest(self, X: Matrix, k: int, own: np.ndarray | None = None) -> Best:
        """Give the k nearest rows of each query, without its `own` number where that is given, by what ranks them."""
        found = self._ranked(X, k, own)
        if self.metric == "precomputed" and np.isinf(found.size).any():
            least = int(np.isfinite(found.size).sum(axis=1).min())
            raise InputError(
                f"{k} neighbours are needed for each row, but the sparse matrix of distances holds only {least} for some: "
                "make it of more neighbours."
            )
        return found

    def _ranked(self, X: Matrix, k: int, own: np.ndarray | None = None) -> Best:
        """Give them also where distances of some are not known, which are infinite then."""
        present = self._present
        there = self.n_samples_fit_ if present is None else len(present)
        if k > there - (own is not None):
            raise InputError(
                f"Expected n_neighbors <= n_samples_fit, but n_neighbors = {k}, n_samples_fit = {there}, "
                f"n_samples = {X.shape[0]}{', each without itself' if own is not None else ''}."
            )
        queries = self._prepared(X)
        if present is not None and self.metric == "precomputed":
            queries = queries[:, present]
        search = self._search_among()
        found = search.nearest(queries, k + (own is not None))
        if isinstance(self._measure, Minkowski) and (beyond := np.flatnonzero(np.isinf(found.size[:, 0]))).size:
            # Powers of what is so far from all rows are numbers when everything is shrunk, and rows next to nothing beside it.
            less = self._widest * 2.0**-1023
            shrunk = replace(
                search, X=search.X * less, center=search.center * less, scale=search.scale / less, tree=None
            )
            found.number[beyond] = shrunk.plainly(queries[beyond] * less, found.number.shape[1]).number
        if present is not None:
            found = found.named(present)
        return found if own is None else found.without(own)

    def _distances(self, sizes: np.ndarray) -> np.ndarray:
        measure, stretch = self._measure, self._stretch
        squared = isinstance(measure, Minkowski) and measure.squared
        return measure.distances(sizes) / stretch / (stretch if squared else 1.0)

    def _pair(self, block: Block, k: int) -> np.ndarray:
        """Give distances and, beside them, numbers of the neighbours of a block."""
        found = self._nearest(block.X, k, self._own(block))
        return np.hstack([self._distances(found.size), found.number])

    def kneighbors(self, X: Any = None, n_neighbors: int | None = None, return_distance: bool = True) -> Any:
        """Find the nearest rows.

        Parameters
        ----------
        X : array-like, sparse matrix, frame, path, Dask collection or Rows, optional
            The queries; without them the rows of the fit, each of which is no neighbour of its own.
        n_neighbors : int, optional
            How many; the default is the model's.
        return_distance : bool, default=True
            Whether to give distances too.

        Returns
        -------
        distances : ndarray of shape (m, k)
            How far they are, in ascending order; only where asked for.
        numbers : ndarray of shape (m, k)
            The numbers of the rows; of equally far ones the lower comes first.
        """
        self._check_fitted()
        k = integer(1).checked("n_neighbors", self.n_neighbors if n_neighbors is None else n_neighbors)
        found = self._apply(self._pair, X, k)
        numbers = found[:, k:].astype(np.intp)
        return (found[:, :k], numbers) if return_distance else numbers

    def kneighbors_graph(
        self, X: object = None, n_neighbors: int | None = None, mode: str = "connectivity"
    ) -> csr_matrix:
        """Give the neighbours as a sparse matrix: ones, or distances, where a row is a neighbour of a query.

        Parameters
        ----------
        X : array-like, sparse matrix, frame, path, Dask collection or Rows, optional
            The queries; without them the rows of the fit, each of which is no neighbour of its own.
        n_neighbors : int, optional
            How many; the default is the model's.
        mode : {"connectivity", "distance"}, default="connectivity"
            What the matrix holds.
        """
        choice("connectivity", "distance").checked("mode", mode)
        distances, numbers = self.kneighbors(X, n_neighbors)
        return self._graph(list(distances), list(numbers), mode)

    def _graph(self, distances: list[np.ndarray], numbers: list[np.ndarray], mode: str) -> csr_matrix:
        """Make a sparse matrix of neighbours."""
        from scipy import sparse

        places = np.concatenate(numbers)
        values = np.concatenate(distances) if mode == "distance" else np.ones(len(places))
        starts = np.cumsum([0, *map(len, numbers)])
        return sparse.csr_matrix((values, places, starts), shape=(len(numbers), self.n_samples_fit_))

    def _disagreement(self) -> str:
        weight, tree = getattr(self, "weight_fit_", None), getattr(self, "tree_", None)
        values = self.X_fit_ if weight is None else self.X_fit_[weight > 0]
        if not np.isfinite(values.data if is_sparse(values) else values).all():
            return "X_fit_ is not finite"
        tables = getattr(self, "tables_", None)
        if tables is not None:
            own = (len(values), self._prepared(values[:1]).shape[1])
            if (tables.order.shape[1], tables.directions.shape[2]) != own:
                return "tables_ are not tables of the rows"
        if tree is None:
            return ""
        if tree.points.shape != values.shape[::-1] or tree.misplaced():
            return "tree_ is not a tree of the rows"
        return ""

    def _prove(self, problem: KeptProblem) -> list[Claim]:
        claims = [Claim("values kept that are not those of the rows", self._other_values(problem), 0.0)]
        middle, scale = problem.frame
        moved = float(not np.array_equal(self.center_, middle)) + float(self.scale_ != scale)
        claims.append(Claim("centre and scale are those of the rows' box", moved, 0.0))
        if problem.again and (hasattr(self, "tree_") or grows(self._measure, self.X_fit_, self.algorithm)):
            claims.append(Claim("cuts of the tree with rows on the wrong side", self._misplaced(problem), 0.0))
            if not claims[-1].holds:
                return claims  # kernels trust the tree that they are given
        if hasattr(self, "tables_"):
            return [*claims, *self._hashing_claims(problem)]
        wrong, asked = self._judged(problem, SAMPLED_AT_FIT)
        return [*claims, Claim(f"neighbours of {asked} rows that are not the nearest", wrong, 0.0)]

    def _restate(self, problem: KeptProblem) -> list[Claim]:
        count = Claim("n_samples_fit_ counts the rows", float(self.n_samples_fit_ != len(problem.block)), 0.0)
        if hasattr(self, "tables_") or (hasattr(self, "tree_") and self._misplaced(problem)):
            return [count]
        wrong, asked = self._judged(problem, SAMPLED)
        return [count, Claim(f"neighbours of {asked} rows that are not the nearest", wrong, 0.0)]

    def _hashing_claims(self, problem: KeptProblem) -> list[Claim]:
        """Claim, where a model is certified, that rows are in the right cells and `recall_` is what is found; a fit has just seen to it."""
        if not problem.again:
            return []
        wrong = self.tables_.misplaced(self._prepared(problem.there))
        claims = [Claim("rows on the wrong side of a cut of the tables", float(wrong), 0.0)]
        if wrong:
            return claims
        says = f"recall_ is the share that is found of the nearest rows of {MOST} rows"
        return [*claims, Claim(says, abs(self.recall_ - self._found()), 0.0)]

    def _found(self) -> float:
        """Measure the share of their nearest rows that some rows find, each without itself."""
        there = np.arange(self.n_samples_fit_) if self._present is None else self._present
        asked, k = there[np.linspace(0, len(there) - 1, MOST).astype(int)], min(self.n_neighbors, len(there) - 1)
        search, queries = self._search_among(), self._prepared(self.X_fit_[asked])
        found, nearest = (
            each.nearest(queries, k + 1).named(there).without(asked) for each in (search, replace(search, tables=None))
        )
        return float((found.size <= nearest.size[:, -1:]).mean())

    def _other_values(self, problem: KeptProblem) -> float:
        other = values_apart(self.X_fit_, problem.block.X, problem.present)
        same = restated_weights(getattr(self, "weight_fit_", None), problem.weight, self.X_fit_.shape[0])
        return other + float(not same.holds)

    def _misplaced(self, problem: KeptProblem) -> float:
        tree, X = getattr(self, "tree_", None), self._prepared(problem.there)
        if tree is None or tree.points.shape != X.T.shape:
            return float("inf")
        return float(tree.misplaced() or (tree.points != X[tree.numbers].T).sum())

    def _judged(self, problem: KeptProblem, budget: int) -> tuple[float, int]:
        """Compare what is found for some rows with what the definition of the distance gives; count the differences."""
        n, p = self.X_fit_.shape
        there = np.arange(n) if problem.present is None else problem.present
        asked = int(np.clip(budget // max(1, n * p), 1, min(MOST, len(there))))
        chosen = there[np.linspace(0, len(there) - 1, asked).astype(int)]
        k = min(self.n_neighbors, len(there))
        found = self._ranked(self.X_fit_[chosen], k)
        queries = self._prepared(problem.block.X[chosen])
        if problem.present is not None and self.metric == "precomputed":
            queries = queries[:, problem.present]
        among = Search(self._prepared(problem.there), self._measure, self.center_, self.scale_)
        near = among.plainly(queries, k)
        wanted = near.named(there)
        with np.errstate(invalid="ignore"):
            apart = np.abs(found.size - wanted.size)
        measure = self._measure
        if isinstance(measure, Given) or (isinstance(measure, Minkowski) and measure.power in (1, 2, np.inf)):
            wrong = (found.number != wanted.number) | (found.size != wanted.size)
        elif isinstance(measure, Minkowski):
            # Other powers round otherwise on other processors.
            wrong = apart > 64 * p * EPS * wanted.size
        else:
            # So do products and functions in other blocks: what is as far up to rounding is as near.
            largest = np.abs(wanted.size).max(initial=0.0, where=np.isfinite(wanted.size))
            wrong = apart > 64 * p * EPS * (1 + largest)
        # Sizes at an end of the range of numbers may rank no more; each power is off by no more than the least number there is.
        extreme = np.nonzero(~((near.size > queries.shape[1] * TINY) & (near.size < np.inf)))
        wrong[extreme] |= measure.faded(near.size[extreme], queries[extreme[0]], among.X[near.number[extreme]])
        return float(wrong.sum()), asked
