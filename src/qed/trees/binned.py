"""A single tree on bins: questions are asked between the bins of a column, so that rows are read as codes, from any source.

It is grown by the loops of forests (:mod:`qed.trees.forests.growing`), with all rows and nothing drawn but the columns that are asked for.
Where a column has no more values than bins, its questions are those of the exact tree, at the same places between values of all rows.
"""

from __future__ import annotations

import numpy as np

from qed.base.certificate import Claim
from qed.base.numbers import EPS
from qed.trees.bins import Bins
from qed.trees.forests.growing import Drawn, grow_drawn
from qed.trees.forests.lots import lot_of
from qed.trees.forests.proof import Walked, check_drawn, unasked
from qed.trees.forests.walking import questions_of
from qed.trees.nodes import Nodes
from qed.trees.problem import TreeProblem

# Values of which questions are asked again where a model is certified.
CERTIFIED = 1 << 23


def grow_on_bins(problem: TreeProblem, bins: Bins) -> Nodes:
    """Grow a tree on codes; its nodes say nothing of their rows yet."""
    targets, rules = problem.targets, problem.rules
    of_rows = problem.codes(bins), bins.edges, problem.label, targets.number
    drawn = Drawn(*of_rows, problem.kind, targets.classes, problem.is_categorical)
    rows = np.arange(len(problem.y))
    grown, _ = grow_drawn(drawn, rows, problem.weights, 1.0, rules, lot_of(rules.seed, 0), False, 1)
    return questions_of(grown, bins.edges)


def claims_on_bins(nodes: Nodes, problem: TreeProblem, bins: Bins, budget: int, pruned: bool) -> list[Claim]:
    """Lead the rows through the tree again, and ask the questions of its nodes again, of as many as a `budget` of values allows."""
    budget = max(budget, CERTIFIED) if problem.again else budget
    rows, own = np.arange(len(problem.y)), problem.is_categorical
    walked = Walked(nodes, problem.codes(bins), bins, rows, problem.weights, 1.0, own)
    claims = [Claim("questions between no bins, or that lead no row somewhere", float(walked.strange(budget)), 0.0)]
    if problem.rules.tried >= problem.rows.n_features:
        slack = (16 + 4 * problem.targets.classes + len(problem.y)) * EPS
        gap = check_drawn(walked, problem, lot_of(problem.rules.seed, 0), budget)
        asked = "between bins" if own is None else "between bins, or of sets of categories that are tried"
        claims.append(Claim(f"questions differ from the best {asked}, by at most (sampled nodes)", gap, slack))
        if not pruned:
            left = float(unasked(walked, problem, budget))
            claims.append(Claim("leaves that the rules would have split (sampled nodes)", left, 0.0))
    return claims
