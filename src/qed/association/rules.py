r"""Rules: who holds these items holds that one too, how often, and how much more often than others.

Of a frequent set :math:`A \cup B` the rule :math:`A \Rightarrow B` has

.. math::

    \text{support} = s(A \cup B), \quad \text{confidence} = \frac{s(A \cup B)}{s(A)}, \quad
    \text{lift} = \frac{s(A \cup B)}{s(A)\,s(B)},

where :math:`s` is the share of rows that hold all items. A lift of one is what chance would give. A rule says what is found together,
not what causes what.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

from qed.association.itemsets import check_sets
from qed.base.errors import ParameterError

Items = tuple[str | int, ...]


@dataclass(frozen=True)
class Rule:
    """Who holds `given` holds `then` too.

    Attributes
    ----------
    given, then : tuple
        The items, by name where columns have names.
    support : float
        The share of rows that hold all of them.
    confidence : float
        The share of those that hold `given` which hold `then` too.
    lift : float
        How much more often that is than among all rows.
    """

    given: Items
    then: Items
    support: float
    confidence: float
    lift: float

    def __str__(self) -> str:
        sides = " => ".join(", ".join(map(str, side)) for side in (self.given, self.then))
        return f"{sides} (support {self.support:.3g}, confidence {self.confidence:.3g}, lift {self.lift:.3g})"


def association_rules(model: object, *, min_confidence: float = 0.5, min_lift: float = 0.0) -> list[Rule]:
    """Give the rules that follow from frequent sets, the most confident first.

    Parameters
    ----------
    model : Apriori or FPGrowth
        A fitted search.
    min_confidence : float, default=0.5
        The least confidence of a rule.
    min_lift : float, default=0
        The least lift.

    Returns
    -------
    list of Rule
        Rules of equal confidence by their lift, then by their support.

    Examples
    --------
    >>> import pandas as pd
    >>> import qed
    >>> baskets = pd.DataFrame({"bread": [1, 1, 1, 0], "butter": [1, 1, 0, 0], "milk": [0, 1, 1, 1]})
    >>> print(qed.association_rules(qed.Apriori(0.5).fit(baskets))[0])
    butter => bread (support 0.5, confidence 1, lift 1.33)
    """
    for name, value in (("min_confidence", min_confidence), ("min_lift", min_lift)):
        if not (isinstance(value, int | float) and value >= 0):
            raise ParameterError(f"{name} must be a number of at least 0, not {value!r}.")
    listed = check_sets(model).sets()
    support = dict(listed)
    rules = []
    for whole, share in listed:
        for size in range(1, len(whole)):
            for given in combinations(whole, size):
                then = tuple(item for item in whole if item not in given)
                confidence = share / support[given]
                lift = confidence / support[then]
                if confidence >= min_confidence and lift >= min_lift:
                    rules.append(Rule(given, then, share, confidence, lift))
    return sorted(rules, key=lambda rule: (-rule.confidence, -rule.lift, -rule.support))
