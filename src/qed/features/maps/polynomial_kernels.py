r"""The loops of `PolynomialFeatures`.

``lead[k, c]`` is where, among the monomials of degree :math:`k`, those that begin with variable :math:`c` start;
``lead[k, p]`` is their number. Monomials of degree :math:`k` that begin with :math:`c` are :math:`x_c` times those of
degree :math:`k - 1` from ``lead[k - 1, c]`` on (from ``lead[k - 1, c + 1]`` on when variables must be distinct: `skip`
is 1 then).
"""

from typing import Any

import numpy as np
from scipy import sparse

from qed.base.compile import kernel


def leading(p: int, degree: int, skip: int) -> np.ndarray:
    """Give the table ``lead`` for degrees 0 (unused) to `degree`.

    >>> leading(3, 2, 0)[1:].tolist()
    [[0, 1, 2, 3], [0, 3, 5, 6]]
    """
    lead = np.zeros((degree + 1, p + 1), dtype=np.int64)
    for k in range(1, degree + 1):
        if k == 1:
            lead[k] = np.arange(p + 1)
        else:
            lead[k, 1:] = np.cumsum(lead[k - 1, -1] - lead[k - 1, skip : p + skip])
    return lead


@kernel
def expand(X: Any, lead: Any, lowest: int, skip: int, bias: int, out: Any) -> None:
    """Write the monomials of degree `lowest` (at least 1) and more of each row into `out`, after `bias` columns of ones."""
    p, degree = X.shape[1], len(lead) - 1
    dropped = 0
    for k in range(1, min(lowest, degree + 1)):
        dropped += lead[k, p]
    scratch = np.empty(dropped + out.shape[1] - bias, out.dtype)
    for i in range(len(X)):
        if bias:
            out[i, 0] = 1
        if degree == 0:
            continue
        row = out[i, bias:] if dropped == 0 else scratch
        for j in range(p):
            row[j] = X[i, j]
        before, after = 0, p
        for k in range(2, degree + 1):
            for c in range(p):
                source = row[before + lead[k - 1, c + skip] : before + lead[k - 1, p]]
                goal = row[after : after + len(source)]
                x = X[i, c]
                for m in range(len(goal)):
                    goal[m] = source[m] * x
                after += len(source)
            before += lead[k - 1, p]
        if dropped:
            kept = out[i, bias:]
            for m in range(len(kept)):
                kept[m] = scratch[dropped + m]


def expand_sparse(X: Any, lead: np.ndarray, lowest: int, skip: int, bias: int, columns: int) -> Any:
    """Give the monomials of the rows of a CSR array as a CSR array with `columns` columns."""
    X = X if X.has_sorted_indices else X.sorted_indices()
    degree = len(lead) - 1
    stored, which = np.unique(np.diff(X.indptr), return_inverse=True)
    sizes = np.array([leading(int(z), degree, skip)[1:, -1] for z in stored])
    kept = sizes[:, lowest - 1 :].sum(axis=1) + bias
    indptr = np.concatenate([[0], np.cumsum(kept[which])])
    values, places = np.empty(indptr[-1], X.dtype), np.empty(indptr[-1], np.int64)
    if degree == 0:
        values[:], places[:] = 1, 0
    else:
        largest = int(sizes.sum(axis=1).max(initial=0))
        _expand_rows(X.data, X.indices, X.indptr, lead, lowest, skip, bias, largest, indptr, values, places)
    index = np.int32 if max(columns, indptr[-1]) < 2**31 else np.int64
    return sparse.csr_array((values, places.astype(index), indptr.astype(index)), shape=(X.shape[0], columns))


@kernel
def _expand_rows(
    data: Any,
    indices: Any,
    indptr: Any,
    lead: Any,
    lowest: int,
    skip: int,
    bias: int,
    largest: int,
    goal: Any,
    values: Any,
    places: Any,
) -> None:
    """Do for the stored values of each row what `expand` does for all, and keep the place of every monomial.

    `local` is ``lead`` for the stored variables alone: where their monomials are in the scratch. The place among all
    monomials follows from that of the rest of the monomial by the same table as always.
    """
    degree, p = len(lead) - 1, lead.shape[1] - 1
    scratch, place = np.empty(largest, data.dtype), np.empty(largest, np.int64)
    for i in range(len(indptr) - 1):
        x, variable = data[indptr[i] : indptr[i + 1]], indices[indptr[i] : indptr[i + 1]]
        z = len(x)
        local = np.zeros((degree + 1, z + 1), np.int64)
        out = goal[i]
        if bias:
            values[out], places[out] = 1, 0
            out += 1
        before, after, offset = 0, 0, bias
        for k in range(1, degree + 1):
            first = after
            for a in range(z):
                c = variable[a]
                local[k, a] = after - first
                if k == 1:
                    scratch[after], place[after] = x[a], c
                    after += 1
                    continue
                shift = lead[k, c] - lead[k - 1, c + skip]
                for m in range(before + local[k - 1, a + skip], first):
                    scratch[after], place[after] = scratch[m] * x[a], place[m] + shift
                    after += 1
            local[k, z] = after - first
            if k >= lowest:
                for m in range(first, after):
                    values[out], places[out] = scratch[m], place[m] + offset
                    out += 1
                offset += lead[k, p]
            before = first
