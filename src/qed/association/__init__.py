"""Association: what is found together; this list is the registry."""

from qed.base.lazy import room

__getattr__, __dir__, __all__ = room(
    __name__,
    {
        "apriori": ["Apriori"],
        "baskets": ["baskets"],
        "fp_growth": ["FPGrowth"],
        "rules": ["Rule", "association_rules"],
    },
)
