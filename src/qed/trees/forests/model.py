r"""What forests of classes and of numbers share.

.. math:: \hat f(x) = \frac{1}{T} \sum_{t=1}^{T} f_t(x),

the mean of trees that were each grown from :math:`m` rows, drawn with replacement, and that look at a few columns, drawn anew, at every
node. A full tree has little bias and much variance. The mean of trees with variance :math:`\sigma^2` and correlation :math:`\rho` has
:math:`\rho\sigma^2 + (1 - \rho)\sigma^2 / T`: what is drawn lowers the correlation, and many trees do the rest. A row is left out by about
:math:`(1 - 1/n)^n \approx 0.368` of the trees, and their mean judges it as a row held out (`oob_score_`), at the price of no other fit.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping
from copy import copy
from functools import partial
from typing import Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp

from qed.base.attributes import booleans, each, floats, integers, maybe, nothing, of
from qed.base.certificate import Claim
from qed.base.engine import work
from qed.base.errors import ParameterError
from qed.base.models.estimator import Estimator
from qed.base.models.no_effect import NO_EFFECT, no_effect, with_default
from qed.base.models.out_of_bag import means, search_out_of_bag, warn_of_unjudged
from qed.base.models.parameters import Parameter, boolean, choice, integer, number
from qed.base.models.proof import restated
from qed.base.models.searching import Answer, Question
from qed.base.numbers import EPS
from qed.base.random import seed_of
from qed.base.sources.block import Block
from qed.base.sources.rows import Rows
from qed.trees.asking.categories import CATEGORICAL_FEATURES
from qed.trees.bins import Bins
from qed.trees.forests.growing import Drawn, grow_drawn
from qed.trees.forests.lots import Urn, lot_of
from qed.trees.forests.proof import Walked, check_drawn
from qed.trees.forests.walking import leaves_of, questions_of
from qed.trees.model import TREE_PARAMETERS, DecisionTree, importances
from qed.trees.nodes import Nodes
from qed.trees.problem import TreeProblem

# Trees that the proof of a fit looks at, ``certify`` at all; and values of which questions are asked again, in the fit and in all trees.
SAMPLED, LOOKED_AT, CERTIFIED = 1, 1 << 16, 1 << 23
# In a comparison: what a tree costs at least, and for each number that a level looks at.
TREE_SECONDS, CELL_SECONDS = 2e-3, 3e-9

FOREST_PARAMETERS: Mapping[str, Parameter] = {
    "n_estimators": integer(1, kind="model"),
    **{name: rule for name, rule in TREE_PARAMETERS.items() if name not in ("ccp_alpha", "max_bins", "max_leaf_nodes")},
    "categorical_features": CATEGORICAL_FEATURES,
    "bootstrap": boolean(),
    "oob_score": boolean(),
    "max_samples": integer(1) | choice(None) | number(0, 1, above=True),
}
FOREST_NO_EFFECT = {
    "n_jobs": with_default("n_jobs", None),
    "verbose": with_default("verbose", 0),
    "warm_start": NO_EFFECT["warm_start"],
    "max_leaf_nodes": no_effect(choice(None), None),
    "ccp_alpha": no_effect(choice(0.0), 0.0),
    "monotonic_cst": no_effect(choice(None), None),
}


class Forest(Estimator):
    """The mean of many trees."""

    passes: ClassVar[str] = "as codes"
    missing: ClassVar[bool] = True
    takes_categories: ClassVar[bool] = True
    no_inference: ClassVar[str] = "its questions are chosen by the data and by lot"
    attributes: ClassVar = {
        "trees_": each(of(Nodes)),
        "bins_": of(Bins, edges="features"),
        "seed_": integers(),
        "feature_importances_": floats("features", low=0),
        "oob_score_": maybe(floats()),
        "is_categorical_": maybe(booleans("features") | nothing()),
    }
    compare_name: ClassVar[str] = "Random forest"
    compare_shared: ClassVar[tuple[str, ...]] = ("n_estimators",)
    by_chance: ClassVar[bool] = False
    n_estimators: int
    criterion: str
    bootstrap: bool
    oob_score: bool
    max_samples: Any
    categorical_features: Any
    random_state: Any
    trees_: list[Nodes]
    bins_: Bins
    seed_: int
    is_categorical_: np.ndarray | None
    feature_importances_: np.ndarray
    oob_score_: float

    @classmethod
    def _seconds_on(cls, n_rows: int, n_columns: int, n_classes: int) -> float:
        cells = n_rows * float(np.log2(max(n_rows, 2))) * n_columns / 2
        return 100 * (TREE_SECONDS + CELL_SECONDS * cells)

    @property
    def estimators_(self) -> list[DecisionTree]:
        """The trees one by one, as models; made when they are asked for, from `trees_`."""
        self._check_fitted()
        return [self._member(nodes) for nodes in self.trees_]

    @abstractmethod
    def _member(self, nodes: Nodes) -> DecisionTree:
        """Give one of the trees as a model."""

    def _as_member(self, tree: DecisionTree, nodes: Nodes) -> DecisionTree:
        given = self.get_params(deep=False)
        tree.set_params(**{name: given[name] for name in tree.get_params(deep=False) if name in given})
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(self, name):
                setattr(tree, name, getattr(self, name))
        tree.is_categorical_ = self.is_categorical_
        tree.tree_, tree.feature_importances_ = nodes, importances(nodes, self.n_features_in_)
        return tree

    def __len__(self) -> int:
        return len(self.trees_)

    def __getitem__(self, which: int) -> DecisionTree:
        return self._member(self.trees_[which])

    def __iter__(self) -> Iterator[DecisionTree]:
        return iter(self.estimators_)

    @abstractmethod
    def _problem(self, rows: Rows) -> Any:
        """Make the problem: targets in memory, and rows that are read as codes."""

    @abstractmethod
    def _described(
        self, problem: Any, nodes: Nodes, tally: np.ndarray, rows: np.ndarray, mass: np.ndarray, leaf: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Give value and impurity of all nodes of a tree, from what classes weigh there, or from the leaf of each row that was drawn."""

    @abstractmethod
    def _score_of(self, problem: Any, mean: np.ndarray, there: np.ndarray) -> float:
        """Give the score of means over trees, for the rows that some tree has left out."""

    def _solve(self, problem: TreeProblem) -> None:
        if not self.bootstrap and (self.oob_score or self.max_samples is not None):
            asked = "oob_score=True" if self.oob_score else f"max_samples={self.max_samples}"
            raise ParameterError(
                f"{type(self).__name__}: {asked} needs bootstrap=True: without it every tree has all rows, and leaves none out of the bag."
            )
        self.seed_, self.is_categorical_ = seed_of(self.random_state), problem.is_categorical
        self.bins_ = problem.bins()
        codes = problem.codes(self.bins_)
        urn, number = self._urn(problem, codes), problem.targets.number
        drawn = Drawn(
            *(np.take(codes, urn.order, axis=1), self.bins_.edges, problem.label[urn.order]),
            *(number[urn.order] if len(number) else number, problem.kind, problem.targets.classes),
            problem.is_categorical,
        )
        self.trees_ = list(work(partial(self._grown, problem, drawn, urn, k) for k in range(self.n_estimators)))
        self.feature_importances_ = self._importances(problem.rows.n_features)
        if self.oob_score:
            self.oob_score_ = self._out_of_bag(problem)

    def _drawn(self, urn: Urn, which: int) -> tuple[np.ndarray, np.ndarray]:
        if not self.bootstrap:
            return urn.all()
        share = 1.0 if self.max_samples is None else self.max_samples
        share = share if isinstance(share, float) else min(share / urn.copies, 1.0)
        return urn.draw(lot_of(self.seed_, which), share)

    def _urn(self, problem: TreeProblem, codes: np.ndarray) -> Urn:
        return Urn(codes, problem.label if problem.targets.classes > 1 else problem.y, problem.weight)

    def _grown(self, problem: TreeProblem, drawn: Drawn, urn: Urn, which: int) -> Nodes:
        places, mass = self._drawn(urn, which)
        rules, share = problem.rules, float(mass.sum()) / problem.total
        rules = rules._replace(gain=rules.gain * share, weight=rules.weight * share)
        lot, trees = lot_of(self.seed_ ^ 1, which), self.n_estimators
        grown, leaf = grow_drawn(drawn, places, mass, urn.unit, rules, lot, self.by_chance, trees)
        nodes = questions_of(grown, drawn.edges)
        described = self._described(problem, nodes, grown.tally, urn.order[places], mass, leaf)
        return nodes.holding(*described, grown.size, grown.tally @ np.ones(drawn.classes))

    def _describe(
        self, problem: TreeProblem, nodes: Nodes, rows: np.ndarray, mass: np.ndarray, leaf: np.ndarray
    ) -> Nodes:
        """Work out what the rows of each node are like."""
        tally = nodes.tally(leaf, problem.label[rows], mass, problem.targets.classes)
        described = self._described(problem, nodes, tally, rows, mass, leaf)
        return nodes.holding(
            *described, nodes.sums(leaf, np.ones(len(leaf))).astype(np.intp), tally @ np.ones(tally.shape[1])
        )

    def _importances(self, p: int) -> np.ndarray:
        found = np.mean([importances(nodes, p) for nodes in self.trees_], axis=0)
        total = found.sum()
        return found / total if total > 0 else found

    def _out_of_bag(self, problem: TreeProblem) -> float:
        """Judge each row by the trees that have not seen it."""
        mean, times = next(means(self._left_out(problem), len(problem.y), [len(self.trees_)]))
        there = times > 0
        warn_of_unjudged(self, int((~there).sum()))
        return self._score_of(problem, mean[there], there) if there.any() else 0.0

    def _left_out(self, problem: TreeProblem) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        codes = problem.codes(self.bins_)
        urn = self._urn(problem, codes)
        for which, nodes in enumerate(self.trees_):
            out = np.ones(len(problem.y), dtype=bool)
            out[urn.order[self._drawn(urn, which)[0]]] = False
            rows = np.flatnonzero(out)
            yield rows, nodes.value[leaves_of(nodes, self.bins_, codes, rows)]

    def _search_out_of_bag(self, question: Question[Self]) -> Answer | None:
        return search_out_of_bag(self, question)

    def _mean(self, block: Block) -> np.ndarray:
        """Give the mean of the trees for the rows of a block."""
        total = np.zeros((len(block), self.trees_[0].n_outputs))
        for nodes in self.trees_:
            total += nodes.value[nodes.apply(block.X)]
        return total / len(self.trees_)

    def _search(self, question: Question[Self]) -> Answer | None:
        """Judge all numbers of trees from one forest for each training set: the first trees of a larger one are those of a smaller."""
        table = question.table(question.asking(self, "predict", "predict_proba"))
        seeded = all(isinstance(one.random_state, (int, np.integer)) for one in question.models)
        if not table.values or not seeded:
            return None
        for members in question.families("n_estimators"):
            order = sorted(members, key=lambda candidate: question.models[candidate].n_estimators)
            for fold in question.folds:
                model = copy(question.models[order[-1]])
                model.oob_score = False
                model._solve(model._problem(question.training(fold)))
                for train in (False, True)[: 1 + question.train_scores]:
                    rows = question.training(fold) if train else question.held_out(fold)
                    for candidate, mean in model._stages(rows.array().X, question, order):
                        table.judge(candidate, fold, train=train, **model._says(mean))
        return table.answer(f"{question.folds.words}, all numbers of trees from one forest each")

    def _stages(self, X: np.ndarray, question: Question[Self], order: list[int]) -> Iterator[tuple[int, np.ndarray]]:
        """Give the mean of the first trees for each candidate, in ascending order of their number."""
        total, done = np.zeros((len(X), self.trees_[0].n_outputs)), 0
        for candidate in order:
            count = question.models[candidate].n_estimators
            for nodes in self.trees_[done:count]:
                total += nodes.value[nodes.apply(X)]
            done = count
            yield candidate, total / count

    @abstractmethod
    def _says(self, mean: np.ndarray) -> dict[str, np.ndarray]:
        """Give what a mean over trees says, by the methods that scorers ask for."""

    def apply(self, X: Any) -> np.ndarray:
        """Give the number of the leaf that each row comes to, in every tree.

        Parameters
        ----------
        X : array-like, frame, path, Dask collection or Rows
            The features.
        """
        return self._apply(self._leaves, X)

    def decision_path(self, X: Any) -> tuple[sp.csr_array, np.ndarray]:
        """Give which nodes each row passes, tree after tree, as a sparse matrix of ones, and where the nodes of each tree begin.

        Parameters
        ----------
        X : array-like or frame
            The features.
        """
        parts = [tree.decision_path(X) for tree in self.estimators_]
        return sp.csr_array(sp.hstack(parts)), np.cumsum([0, *(part.shape[1] for part in parts)])

    def _leaves(self, block: Block) -> np.ndarray:
        return np.stack([nodes.apply(block.X) for nodes in self.trees_], axis=1)

    def _evidence(self, rows: Rows) -> TreeProblem:
        problem: TreeProblem = self._problem(rows)
        problem.again = True
        return problem

    def _prove(self, problem: TreeProblem) -> list[Claim]:
        p, looked = problem.rows.n_features, self.trees_ if problem.again else self.trees_[:SAMPLED]
        broken = sum(bool(nodes.fault()) or nodes.feature.max() >= p for nodes in looked)
        where = "" if problem.again else f" ({len(looked)} of {len(self.trees_)} trees)"
        claims = [Claim(f"trees that are none{where}", float(broken), 0.0)]
        if broken:
            return claims
        codes = problem.codes(self.bins_)
        worst, strange, gap, urn = 0.0, 0, 0.0, self._urn(problem, codes)
        for which, nodes in enumerate(looked):
            places, mass = self._drawn(urn, which)
            rows = urn.order[places]
            walked = Walked(nodes, codes, self.bins_, rows, mass, urn.unit, problem.is_categorical)
            now = walked.nodes = self._describe(problem, nodes, rows, mass, walked.leaf)
            for name in ("value", "impurity", "n_node_samples", "weighted_n_node_samples"):
                worst = max(worst, restated(name, getattr(nodes, name), getattr(now, name)).value)
            budget = CERTIFIED // len(looked) if problem.again else LOOKED_AT
            strange += walked.strange(budget)
            lot = lot_of(self.seed_ ^ 1, which)
            gap = max(gap, check_drawn(walked, problem, lot, budget, self.by_chance))
        slack = (len(problem.y) + 16 + 4 * problem.targets.classes) * EPS
        return [
            *claims,
            Claim(f"questions between no bins, or that lead no row somewhere{where}", float(strange), 0.0),
            Claim(f"leaves are what the rows drawn for them say (difference, relative){where}", worst, slack),
            Claim(
                "questions differ from the best about the columns drawn, by at most (sampled nodes)",
                gap,
                slack,
            ),
        ]

    def _restate(self, problem: TreeProblem) -> list[Claim]:
        categorical = getattr(self, "is_categorical_", None), problem.is_categorical
        found = [
            problem.bins().restated(self.bins_),
            restated("is_categorical_", *(None if one is None else one * 1.0 for one in categorical)),
            restated(
                "feature_importances_",
                self.feature_importances_,
                self._importances(problem.rows.n_features),
                scale=1.0,
            ),
        ]
        if isinstance(self.random_state, (int, np.integer)):
            found.append(
                Claim("seed_ is that of random_state (differs)", float(self.seed_ != seed_of(self.random_state)), 0.0)
            )
        if self.oob_score:
            found.append(restated("oob_score_", self.oob_score_, self._out_of_bag(problem), scale=1.0))
        return found

    def _disagreement(self) -> str:
        if {nodes.n_outputs for nodes in self.trees_} != {len(getattr(self, "classes_", [0]))}:
            return "trees_ have values that are not one for each class, or one"
        fault = next((fault for nodes in self.trees_ if (fault := nodes.fault())), "")
        if fault:
            return f"trees_ {fault}"
        most = max(int(nodes.feature.max()) for nodes in self.trees_)
        return "" if most < self.n_features_in_ else "trees_ ask about a column that is not there"
