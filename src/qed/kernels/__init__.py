"""Kernels: similarity functions with algebra, their Gram matrices, explicit maps and approximations."""

from qed.base.lazy import room
from qed.kernels.kernel import Kernel
from qed.kernels.operators import RULES

Kernel.rules = RULES

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
