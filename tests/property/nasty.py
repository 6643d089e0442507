"""Hypothesis strategies for tables that go wrong: duplicates, constants, huge scales, collinear columns, few rows."""

import numpy as np
from hypothesis import strategies as st


@st.composite
def tables(draw, min_rows=1, max_rows=30, max_columns=6):
    """Draw a finite table with some of the usual defects."""
    n = draw(st.integers(min_rows, max_rows))
    p = draw(st.integers(1, max_columns))
    generator = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    X = generator.standard_normal((n, p))
    if draw(st.booleans()):
        X = np.round(X)
    if draw(st.booleans()):
        X[:, draw(st.integers(0, p - 1))] = draw(st.sampled_from([0.0, 1.0, -3.5, 1e6]))
    if p > 1 and draw(st.booleans()):
        X[:, -1] = draw(st.sampled_from([1.0, -2.0, 1e-3])) * X[:, 0] + draw(st.sampled_from([0.0, 1.0]))
    if draw(st.booleans()):
        X *= np.power(10.0, generator.integers(-6, 7, p))
    if draw(st.booleans()):
        X += draw(st.sampled_from([0.0, 10.0, 1e4]))
    if n > 2 and draw(st.booleans()):
        X[n // 2 :] = X[: n - n // 2]
    return X


@st.composite
def regression_problems(draw, **sizes):
    """Draw a table with a numeric target that partly follows from it."""
    X = draw(tables(**sizes))
    generator = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    y = generator.standard_normal(len(X)) * draw(st.sampled_from([1.0, 1e-4, 1e5]))
    if draw(st.booleans()):
        y = y + X[:, 0]
    if draw(st.booleans()):
        y = np.full(len(X), 2.5)
    return X, y
