"""Kernels by name, as scikit-learn has them, and the parameters by which models are told which one to take."""

from collections.abc import Callable, Mapping
from typing import Any

from qed.base.errors import ParameterError
from qed.base.models.parameters import Parameter, choice, integer, number
from qed.kernels.custom import Custom
from qed.kernels.kernel import Kernel
from qed.kernels.linear import Linear
from qed.kernels.polynomial import Polynomial
from qed.kernels.radial import RBF, Laplace

PRECOMPUTED = "precomputed"
NAMED: Mapping[str, Callable[[float | None, int, float], Kernel]] = {
    "cosine": lambda gamma, degree, coef0: Linear().normalized(),
    "laplacian": lambda gamma, degree, coef0: Laplace(gamma=gamma, norm=1),
    "linear": lambda gamma, degree, coef0: Linear(),
    "poly": lambda gamma, degree, coef0: Polynomial(degree, gamma, coef0),
    "polynomial": lambda gamma, degree, coef0: Polynomial(degree, gamma, coef0),
    "rbf": lambda gamma, degree, coef0: RBF(gamma),
}


def as_kernel(kernel: Any, gamma: float | None = None, degree: int = 3, coef0: float = 1.0) -> Kernel:
    """Give the kernel that a name, a function or a kernel stands for.

    Parameters
    ----------
    kernel : Kernel, str or callable
        A kernel, which is given back as it is; one of scikit-learn's names "linear", "poly" (or "polynomial"), "rbf",
        "laplacian" and "cosine"; or a function of two rows.
    gamma : float, optional
        The factor of "rbf", "laplacian" and "poly"; the default is one over the number of columns.
    degree : int, default=3
        The degree of "poly".
    coef0 : float, default=1.0
        The constant of "poly".

    Returns
    -------
    Kernel
        The kernel.

    Examples
    --------
    >>> from qed.kernels import as_kernel
    >>> as_kernel("rbf", gamma=0.1), as_kernel("laplacian", gamma=2)
    (RBF(gamma=0.1), Laplace(gamma=2.0, norm=1))
    """
    if isinstance(kernel, Kernel):
        return kernel
    if isinstance(kernel, str):
        if kernel in NAMED:
            return NAMED[kernel](gamma, degree, coef0)
        names = ", ".join(repr(name) for name in NAMED)
        why = " (the sigmoid is not positive semidefinite, so it is no kernel)" if kernel == "sigmoid" else ""
        raise ParameterError(f"There is no kernel called {kernel!r}{why}: use one of {names}, a kernel, or a function.")
    if callable(kernel):
        return Custom(kernel)
    raise ParameterError(f"A kernel, the name of one or a function of two rows is needed, not {kernel!r}.")


def kernel_rule(*others: str) -> Parameter:
    """Give the rule for a model's parameter ``kernel``; `others` are names that the model treats itself.

    Examples
    --------
    >>> kernel_rule("precomputed").accepts("precomputed"), kernel_rule().accepts("sigmoid")
    (True, False)
    """
    names = (*NAMED, *others)
    wanted = f"a kernel, a function of two rows, or one of {', '.join(repr(name) for name in names)}"
    return Parameter(
        wanted,
        lambda value: value in names if isinstance(value, str) else callable(value) and not isinstance(value, type),
        "model",
    )


KERNEL_PARAMETERS: Mapping[str, Parameter] = {
    "kernel": kernel_rule(PRECOMPUTED),
    "gamma": choice(None, kind="model") | number(0, above=True, kind="model"),
    "degree": integer(1, kind="model"),
    "coef0": number(0, kind="model"),
}
