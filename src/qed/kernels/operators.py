"""What the operators of kernels make: ``k1 + k2`` a `Sum`, ``k ** 3`` a `Power`, ``k.on([0])`` an `OnColumns` ...

The room says so when it is opened, so that kernels of every file of it can be added and multiplied.
"""

from __future__ import annotations

from qed.kernels.algebra import Constant, Product, Sum
from qed.kernels.composed import Conjugated, Mapped, Normalized, OnColumns
from qed.kernels.functions import Exponential, PolynomialOf, Power, Scaled
from qed.kernels.kernel import Rules

RULES = Rules(
    constant=Constant,
    sum=Sum,
    product=Product,
    scaled=Scaled,
    power=Power,
    polynomial=PolynomialOf,
    exponential=Exponential,
    conjugated=Conjugated,
    normalized=Normalized,
    on_columns=OnColumns,
    mapped=Mapped,
)
