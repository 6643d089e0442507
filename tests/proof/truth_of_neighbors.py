"""What is true of nearest neighbours, in exact fractions: the judge of what they claim."""

from fractions import Fraction

import numpy as np


def nearest(model, data):
    """How much farther than the j-th nearest row the j-th one found is, as a share: no more than the roundings of a sum of squares."""
    there = np.arange(len(data.table))[data.kept]
    rows = {int(i): [Fraction(float(value)) for value in data.table[i]] for i in there}
    _, found = model.kneighbors(data.table[there])
    worst = 0.0
    for query, near in zip(there, found):
        square = {i: sum((a - b) ** 2 for a, b in zip(rows[int(query)], row)) for i, row in rows.items()}
        for number, wanted in zip(near, sorted(square.values())):
            if int(number) not in square:
                return np.inf, 0.0
            more = square[int(number)] - wanted
            worst = max(worst, float(more / wanted) if wanted else float("inf") if more else 0.0)
    return worst, (data.table.shape[1] + 8) * 2.0**-51
