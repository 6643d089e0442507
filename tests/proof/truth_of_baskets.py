"""What is true of sets of items, in fractions: what every subset of the columns weighs, and which are frequent."""

from fractions import Fraction
from itertools import combinations

from tests.proof.truth import ZERO

# Sums of weights are compared but for a relative 1e-12, and added up with roundings far below another one.
SAME = Fraction(3, 10**12)


def frequent(model, data):
    """Supports, of every subset of the columns; a set that is listed and not frequent, or frequent and not listed, is beyond any bound."""
    p, total = len(data.X[0]), sum(data.weight, ZERO)
    least = Fraction(float(model.min_support)) * total
    said = {items: Fraction(support) for items, support in model.sets()}
    worst = ZERO
    for size in range(1, p + 1):
        for items in combinations(range(p), size):
            weight = sum((w for row, w in zip(data.X, data.weight) if all(row[item] > 0 for item in items)), ZERO)
            if items in said:
                worst = max(worst, abs(said.pop(items) - weight / total))
                if weight < least * (1 - SAME):
                    return float("inf"), 0.0
            elif weight >= least * (1 + SAME):
                return float("inf"), 0.0
    claim = next(claim for claim in model.certificate_ if "counted again" in claim.says)
    return (float("inf") if said else float(worst)), float(claim.bound)
