"""What trees of classes and of numbers share: how they are grown, pruned, walked and proven."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from copy import copy
from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp

from qed.base.attributes import booleans, floats, integers, maybe, nothing, of
from qed.base.certificate import Claim
from qed.base.models.checks import complete, finite
from qed.base.models.estimator import Estimator
from qed.base.models.no_effect import no_effect
from qed.base.models.parameters import Parameter, check_parameters, choice, integer, number, random_state
from qed.base.models.proof import restated
from qed.base.models.searching import Answer, Question, families
from qed.base.sources.block import Block
from qed.base.sources.rows import Rows
from qed.trees.asking.branching import grow_branches
from qed.trees.asking.categories import CATEGORICAL_FEATURES
from qed.trees.binned import claims_on_bins, grow_on_bins
from qed.trees.bins import MOST, Bins
from qed.trees.forests.walking import leaves_of
from qed.trees.growing import grow
from qed.trees.impurity import ABSOLUTE
from qed.trees.nodes import LEAF, Nodes, skeleton
from qed.trees.problem import TreeProblem, features_tried
from qed.trees.proof import Checked, check_questions
from qed.trees.pruning import Path, best_first, no_worse_as_leaves, prune, pruning_path, shallow

# Numbers that the proof of a fit may look at; ``certify`` looks at all.
SAMPLED = 1 << 16


def _count_or_share(low: int, high: float = 1.0) -> Parameter:
    whole, share = integer(low), number(0, high, above=True)
    return Parameter(
        f"a whole number >= {low}, or a share of the rows above 0 and at most {high:g}",
        lambda value: share.accepts(value) if isinstance(value, float) else whole.accepts(value),
        "optimization",
    )


TREE_PARAMETERS: Mapping[str, Parameter] = {
    "max_depth": integer(1, kind="model") | choice(None),
    "min_samples_split": _count_or_share(2),
    "min_samples_leaf": _count_or_share(1),
    "min_weight_fraction_leaf": number(0, 0.5),
    "max_features": Parameter(
        "None, 'sqrt', 'log2', a number of columns or a share of them",
        lambda value: (
            value in (None, "sqrt", "log2")
            if value is None or isinstance(value, str)
            else (number(0, 1, above=True) if isinstance(value, float) else integer(1)).accepts(value)
        ),
        "optimization",
    ),
    "random_state": random_state(),
    "max_leaf_nodes": integer(2, kind="model") | choice(None),
    "min_impurity_decrease": number(0),
    "ccp_alpha": number(0),
    "max_bins": Parameter(
        "None or a whole number from 2 to 255",
        lambda value: value is None or (integer(2).accepts(value) and value <= MOST),
        "model",
    ),
}
# Of single trees, which ask about categories.
CATEGORY_PARAMETERS: Mapping[str, Parameter] = {
    "categorical_features": CATEGORICAL_FEATURES,
    "categorical_split": choice("subset", "multiway", kind="model"),
}
TREE_NO_EFFECT = {"monotonic_cst": no_effect(choice(None), None), "splitter": no_effect(choice("best"), "best")}


class DecisionTree(Estimator):
    """A tree of questions, each about one column."""

    passes: ClassVar[str] = "in memory"
    missing: ClassVar[bool] = True
    compare_name: ClassVar[str] = "Decision tree"
    compare_shared: ClassVar[tuple[str, ...]] = ("ccp_alpha", "max_leaf_nodes")
    no_inference: ClassVar[str] = "its questions are chosen by the data"
    attributes: ClassVar = {
        "tree_": of(Nodes),
        "feature_importances_": floats("features", low=0),
        "n_pruned_": maybe(integers()),
        "is_categorical_": maybe(booleans("features") | nothing()),
        "bins_": maybe(of(Bins, edges="features")),
    }
    criterion: str
    max_depth: int | None
    min_samples_split: int | float
    min_samples_leaf: int | float
    min_weight_fraction_leaf: float
    max_features: Any
    random_state: Any
    max_leaf_nodes: int | None
    min_impurity_decrease: float
    ccp_alpha: float
    max_bins: int | None
    categorical_split: str
    tree_: Nodes
    bins_: Bins
    feature_importances_: np.ndarray
    is_categorical_: np.ndarray | None

    @property
    def takes_categories(self) -> bool:
        """Whether columns of categories go in as they are: not with a branch for each where questions are asked between bins."""
        return self.max_bins is None or self.categorical_split == "subset"

    @classmethod
    def _seconds_on(cls, n_rows: int, n_columns: int, n_classes: int) -> float:
        return 1e-8 * n_rows * float(np.log2(max(n_rows, 2))) * n_columns

    @abstractmethod
    def _problem(self, rows: Rows) -> Any:
        """Make the problem: rows in memory, and their targets."""

    @abstractmethod
    def _described(
        self, problem: Any, leaf: np.ndarray, nodes: Nodes, tally: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Give value and impurity of all nodes, from the leaf of each row, or from what classes weigh."""

    def _solve(self, problem: TreeProblem) -> None:
        self.is_categorical_ = problem.is_categorical
        self._keep(self._cut(self._grown(problem)), problem.rows.n_features)
        if self.max_bins is not None:
            self.bins_ = problem.bins(self.max_bins)

    def _keep(self, nodes: Nodes, p: int) -> None:
        self.tree_, self.feature_importances_ = nodes, importances(nodes, p)

    def _cut(self, nodes: Nodes) -> Nodes:
        """Cut a grown tree down to what the parameters allow."""
        if self.max_depth is not None:
            nodes = shallow(nodes, self.max_depth)
        if self.max_leaf_nodes is not None:
            nodes = best_first(nodes, self.max_leaf_nodes)
        return prune(nodes, self.ccp_alpha) if self.ccp_alpha > 0 else nodes

    def _grown(self, problem: TreeProblem) -> Nodes:
        """Grow the tree as far as the rules let it, and describe its nodes."""
        if self.max_bins is not None:
            bins = problem.bins(self.max_bins)
            return self._describe(problem, grow_on_bins(problem, bins), bins)
        columns, own = problem.columns(), problem.is_categorical
        if own is None and problem.kind != ABSOLUTE:
            grown, line, sets = grow(columns, problem.targets, problem.rules), None, None
        else:
            grown, line, sets = grow_branches(columns, problem.targets, problem.rules, own, problem.multiway)
        by_number = grown.feature if line is None else np.where(line >= 0, LEAF, grown.feature)
        threshold = columns.middle(by_number, grown.low, grown.high)
        nodes = skeleton(grown.feature, threshold, grown.right, grown.missing_left)
        return self._describe(problem, nodes if own is None else replace(nodes, level_set=line, sets=sets))

    def _describe(self, problem: TreeProblem, nodes: Nodes, bins: Bins | None = None) -> Nodes:
        """Work out what the rows of each node are like, which are led through it as values or as codes."""
        classes, rows = problem.targets.classes, np.arange(len(problem.y))
        leaf = nodes.apply(problem.X) if bins is None else leaves_of(nodes, bins, problem.codes(bins), rows)
        tally = nodes.tally(leaf, problem.label, problem.weight, classes)
        weight = tally @ np.ones(classes)
        count = weight if problem.weight is None else nodes.sums(leaf, np.ones(len(leaf)))
        return nodes.holding(*self._described(problem, leaf, nodes, tally), count.astype(np.intp), weight)

    def get_depth(self) -> int:
        """Give how many questions lie between the root and the deepest leaf."""
        self._check_fitted()
        return self.tree_.max_depth

    def get_n_leaves(self) -> int:
        """Give how many leaves there are."""
        self._check_fitted()
        return self.tree_.n_leaves

    def apply(self, X: Any) -> np.ndarray:
        """Give the number of the leaf that each row comes to.

        Parameters
        ----------
        X : array-like, frame, path, Dask collection or Rows
            The features.
        """
        return self._apply(self._leaf, X)

    def _leaf(self, block: Block) -> np.ndarray:
        return self.tree_.apply(block.X)

    def decision_path(self, X: Any) -> sp.csr_array:
        """Give which nodes each row passes on its way, as a sparse matrix of ones.

        Parameters
        ----------
        X : array-like or frame
            The features.
        """
        self._check_fitted()
        nodes, leaf = self.tree_, self._leaf(finite(self._open(X, reset=False), self).array())
        own = np.arange(nodes.node_count)
        # A node lies on the way to a leaf where the leaf is in the stretch of nodes below it.
        above = [np.flatnonzero((own <= one) & (one < nodes.ends)) for one in np.unique(leaf)]
        place = np.searchsorted(np.unique(leaf), leaf)
        lengths = np.array([len(one) for one in above])[place]
        indices = np.concatenate([above[k] for k in place]) if len(place) else np.empty(0, dtype=np.intp)
        pointers = np.concatenate([[0], np.cumsum(lengths)])
        return sp.csr_array((np.ones(len(indices), dtype=np.intp), indices, pointers), (len(leaf), nodes.node_count))

    def cost_complexity_pruning_path(self, X: Any, y: Any = None, sample_weight: Any = None) -> Path:
        """Give the sequence of best subtrees: with every step up in `ccp_alpha`, the weakest question goes.

        Parameters
        ----------
        X : array-like, sparse matrix, frame, path, Dask collection or Rows
            The features.
        y : array-like or str, optional
            The target; or the name of its column, where `X` is a frame or a path.
        sample_weight : array-like of shape (n,), optional
            Weights; a weight of two means the same as the row twice.

        Returns
        -------
        Path
            The values of `ccp_alpha` from which on the tree is smaller, and the impurity of the leaves that it has then.
        """
        check_parameters(self, self.parameters)
        # Rows are opened for another model: this one may have been fitted to other columns, and stays as it is.
        other = type(self)(**self.get_params(deep=False))
        problem = other._problem(other._open(X, y, sample_weight, reset=True, target=self.target))
        return pruning_path(other._grown(problem))

    def prune(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Give the subtree that makes the fewest errors on rows that were held out; of equally good ones the smallest.

        Parameters
        ----------
        X, y, sample_weight
            Rows that the tree was not fitted to.

        Returns
        -------
        DecisionTree
            A new model; ``n_pruned_`` says how many questions it lost.
        """
        self._check_fitted()
        rows = complete(self._open(X, y, sample_weight, reset=False, target=self.target), self)
        nodes = self.tree_
        collapsed = no_worse_as_leaves(nodes, rows.fold(self._errors, nodes))
        model = copy(self)
        model._keep(nodes.kept(collapsed), self.n_features_in_)
        model.n_pruned_ = getattr(self, "n_pruned_", 0) + nodes.n_leaves - model.tree_.n_leaves
        return model

    @abstractmethod
    def _errors(self, block: Block, nodes: Nodes) -> np.ndarray:
        """Give what every node would cost as a leaf, on the rows of a block."""

    def _search(self, question: Question[Self]) -> Answer | None:
        """Judge all depths, numbers of leaves and prices of leaves from one tree for each training set."""
        table = question.table(question.asking(self, "predict", "predict_proba"))
        p = question.rows.n_features
        if not table.values or any(features_tried(one.max_features, p) < p for one in question.models):
            return None
        for members in families(question.candidates, ("max_depth", "max_leaf_nodes", "ccp_alpha")):
            for fold in question.folds:
                model = copy(question.models[members[0]])
                depths = [question.models[c].max_depth for c in members]
                model.max_depth = None if None in depths else max(depth for depth in depths if depth is not None)
                problem = model._problem(question.training(fold))
                whole = model._grown(problem)
                for train in (False, True)[: 1 + question.train_scores]:
                    rows = question.training(fold) if train else question.held_out(fold)
                    X = rows.array().X
                    for candidate in members:
                        nodes = question.models[candidate]._cut(whole)
                        answers = self._answers(problem, nodes, nodes.apply(X))
                        table.judge(candidate, fold, train=train, **answers)
        return table.answer(f"{question.folds.words}, all sizes from one tree each")

    @abstractmethod
    def _answers(self, problem: Any, nodes: Nodes, leaf: np.ndarray) -> dict[str, np.ndarray]:
        """Give what a tree says of rows in these leaves, by the methods that scorers ask for."""

    def _checked(self, problem: TreeProblem) -> Checked:
        return check_questions(self.tree_, problem, None if problem.again else SAMPLED)

    def _prove(self, problem: TreeProblem) -> list[Claim]:
        fault = self.tree_.fault()
        if fault or self.tree_.feature.max() >= problem.rows.n_features:
            return [Claim(f"nodes make a tree ({fault or 'one asks about a column that is not there'})", np.inf, 0.0)]
        if self.max_bins is not None:
            return claims_on_bins(self.tree_, problem, self.bins_, SAMPLED, self._is_pruned)
        return self._checked(problem).claims(problem, self._is_pruned)

    @property
    def _is_pruned(self) -> bool:
        return self.max_leaf_nodes is not None or self.ccp_alpha > 0 or getattr(self, "n_pruned_", 0) > 0

    def _evidence(self, rows: Rows) -> TreeProblem:
        problem: TreeProblem = self._problem(rows)
        problem.again = True
        return problem

    def _restate(self, problem: TreeProblem) -> list[Claim]:
        own = self.tree_
        if own.fault():
            return []
        now = self._describe(problem, own, getattr(self, "bins_", None))
        names = ("value", "impurity", "n_node_samples", "weighted_n_node_samples")
        categorical = getattr(self, "is_categorical_", None), problem.is_categorical
        return [
            *(restated(f"tree_.{name}", getattr(own, name), getattr(now, name)) for name in names),
            restated("is_categorical_", *(None if one is None else one * 1.0 for one in categorical)),
            restated(
                "feature_importances_",
                self.feature_importances_,
                importances(now, problem.rows.n_features),
                scale=1.0,
            ),
            *([] if self.max_bins is None else [problem.bins(self.max_bins).restated(self.bins_)]),
        ]

    def _disagreement(self) -> str:
        fault = self.tree_.fault()
        if fault:
            return f"tree_ {fault}"
        if self.tree_.slope is not None and self.tree_.slope.shape[1] != self.n_features_in_:
            return "tree_ has lines in other columns than there are"
        if self.tree_.n_outputs != len(getattr(self, "classes_", [0])):
            return "tree_ has values that are not one for each class, or one"
        return "" if self.tree_.feature.max() < self.n_features_in_ else "tree_ asks about a column that is not there"


def importances(nodes: Nodes, p: int) -> np.ndarray:
    """Give the share that each column has in the impurity that questions take away; zeros where they take away none."""
    asking = np.flatnonzero(~nodes.is_leaf)
    found = np.bincount(nodes.feature[asking], np.maximum(nodes.gains()[asking], 0.0), p)
    total = found.sum()
    return found / total if total > 0 and np.isfinite(total) else np.zeros(p)
