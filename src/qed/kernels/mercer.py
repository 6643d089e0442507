r"""Is it a kernel? What the Gram matrix of a sample can say.

A function is a kernel if and only if it is symmetric and :math:`v^\top K v \ge 0` for the Gram matrix :math:`K` of every
finite set of rows and every :math:`v` (Mercer's condition, in its finite form). One sample with a :math:`v` for which
:math:`v^\top K v < 0`, a *witness*, refutes it for good. A sample without one proves nothing: *a finite sample can refute
validity, never prove it*. Proofs come from a feature map, or from the rules by which kernels make kernels. Cost
:math:`O(n^3)` for the eigenvalues.

Shawe-Taylor and Cristianini (2004), Kernel Methods for Pattern Analysis, section 3.1.
"""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from qed.base.attributes import floats, nothing, size
from qed.base.certificate import Certificate, Claim
from qed.base.engine import one_blas_thread
from qed.base.errors import InputError, ParameterError
from qed.base.saving.known import savable
from qed.kernels.names import as_kernel

ROUNDING = 1e-10
CAUTION = "A finite sample can refute validity, never prove it."


class NotAKernelError(ParameterError):
    """What was asked for is no kernel.

    Attributes
    ----------
    witness : ndarray or None
        A vector ``v`` with ``v'Kv < 0`` for the Gram matrix that the message speaks of.
    """

    def __init__(self, message: str, witness: np.ndarray | None = None) -> None:
        super().__init__(message)
        self.witness = witness


@savable
@dataclass(frozen=True, eq=False)
class MercerCheck:
    """What a Gram matrix says about its kernel. True when the sample does not refute it.

    Attributes
    ----------
    n : int
        The number of rows in the sample.
    asymmetry : float
        The largest difference of two entries that should be equal, relative to the largest entry.
    pair : tuple of int or None
        Two rows whose entries differ, where the matrix is not symmetric.
    smallest : float
        The smallest eigenvalue of the (symmetric part of the) matrix.
    trace : float
        The sum of the diagonal. Eigenvalues above minus 1e-10 times this are taken for rounding.
    witness : ndarray of shape (n,) or None
        A vector of length one with ``v'Kv < 0``, where there is one.
    """

    attributes: ClassVar = {
        "n": size("rows"),
        "asymmetry": floats(finite=False),
        "smallest": floats(finite=False),
        "trace": floats(finite=False),
        "witness": floats("rows") | nothing(),
    }
    n: int
    asymmetry: float
    pair: tuple[int, int] | None
    smallest: float
    trace: float
    witness: np.ndarray | None

    @property
    def certificate(self) -> Certificate:
        """The two conditions as claims."""
        return Certificate(
            (
                Claim("entries differ from their mirror images, relative", self.asymmetry, ROUNDING),
                Claim("the smallest eigenvalue is not negative", -self.smallest, ROUNDING * max(self.trace, 0.0)),
            )
        )

    def __bool__(self) -> bool:
        return bool(self.certificate)

    def __str__(self) -> str:
        lines = [f"Gram matrix of {self.n} rows: smallest eigenvalue {self.smallest:.3g}, trace {self.trace:.3g}."]
        if self.pair is not None:
            lines.append(f"Not symmetric: k(x, z) and k(z, x) differ for the rows {self.pair[0]} and {self.pair[1]}.")
        if self.witness is not None:
            lines.append(f"Not positive semidefinite: v'Kv = {self.smallest:.3g} for the witness v. This is no kernel.")
        if self:
            lines.append(f"Nothing speaks against it. {CAUTION}")
        return "\n".join(lines)


def check_mercer(kernel: Any, X: Any) -> MercerCheck:
    """Look for a sign that a function is no kernel.

    Parameters
    ----------
    kernel : Kernel, str or callable
        What to check: also a function of two rows.
    X : array-like of shape (n, p)
        The sample.

    Returns
    -------
    MercerCheck
        True when the sample does not refute the kernel; else it holds a witness.

    Examples
    --------
    >>> import numpy as np
    >>> from qed.kernels import RBF, check_mercer
    >>> X = np.array([[0.0], [1.0], [3.0]])
    >>> print(check_mercer(RBF(0.5), X))
    Gram matrix of 3 rows: smallest eigenvalue 0.381, trace 3.
    Nothing speaks against it. A finite sample can refute validity, never prove it.
    >>> wrong = check_mercer(lambda x, z: -np.sum((x - z) ** 2), X)
    >>> print(wrong)
    Gram matrix of 3 rows: smallest eigenvalue -10.2, trace 0.
    Not positive semidefinite: v'Kv = -10.2 for the witness v. This is no kernel.
    """
    return check_gram(as_kernel(kernel)(X))


def check_gram(K: Any) -> MercerCheck:
    """Check a matrix that is said to be the Gram matrix of a kernel.

    >>> check_gram([[1.0, 2.0], [2.0, 1.0]]).witness.round(3)
    array([ 0.707, -0.707])
    """
    K = np.asarray(K, dtype=np.float64)
    if K.ndim != 2 or K.shape[0] != K.shape[1] or not np.isfinite(K).all():
        raise InputError(f"A Gram matrix is square and finite; this one has the shape {K.shape}.")
    n, size = len(K), float(np.abs(K).max(initial=0.0))
    if n == 0:
        return MercerCheck(0, 0.0, None, 0.0, 0.0, None)
    gap = np.abs(K - K.T)
    place = np.unravel_index(int(gap.argmax()), gap.shape)
    asymmetry = float(gap[place] / size) if size > 0 else 0.0
    middle = (K + K.T) / 2
    with one_blas_thread:
        values, vectors = np.linalg.eigh(middle)
    v = vectors[:, 0] * (1 if vectors[np.abs(vectors[:, 0]).argmax(), 0] > 0 else -1)
    trace, smallest = float(np.trace(K)), float(values[0])
    return MercerCheck(
        n,
        asymmetry,
        (int(place[0]), int(place[1])) if asymmetry > ROUNDING else None,
        smallest,
        trace,
        v if -smallest > ROUNDING * max(trace, 0.0) else None,
    )
