"""Kernels: similarity functions with algebra, their Gram matrices, explicit maps and approximations."""

from qed.base.lazy import room
from qed.kernels.algebra import Constant, Product, Sum
from qed.kernels.composed import Conjugated, Mapped, Normalized, OnColumns
from qed.kernels.functions import Exponential, PolynomialOf, Power, Scaled
from qed.kernels.kernel import Kernel, Rules

# Whichever file of the room is imported, this runs before it: kernels of every kind can be added and multiplied.
Kernel.rules = Rules(
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

__getattr__, __dir__, __all__ = room(
    __name__,
    {
        "algebra": ["Constant", "Product", "Sum", "direct_product", "direct_sum"],
        "centring": ["KernelCenterer", "centred"],
        "composed": ["Conjugated", "Mapped", "Normalized", "OnColumns", "QuadraticForm"],
        "custom": ["Custom"],
        "functions": ["Exponential", "PolynomialOf", "Power", "Scaled", "exp"],
        "kernel": ["Kernel"],
        "linear": ["Linear"],
        "mercer": ["MercerCheck", "NotAKernelError", "check_mercer"],
        "names": ["as_kernel", "kernel_rule"],
        "polynomial": ["Polynomial"],
        "radial": ["RBF", "Gaussian", "Laplace"],
        "similarity": ["Similarity"],
        "tiles": ["Tiles"],
    },
)
