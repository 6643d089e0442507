"""C6-JENSEN: the mean of a convex function is never below the function of the mean."""

import numpy as np

from qed.clustering import jensen_gap
from qed.optim import check_convexity

CONVEX = (np.exp, np.square, lambda x: -np.log(x))


def test_a_thousand_random_distributions_without_a_violation():
    generator = np.random.default_rng(0)
    for _ in range(1000):
        k = int(generator.integers(1, 8))
        values, chances = generator.uniform(0.01, 5.0, k), generator.dirichlet(np.ones(k))
        for function in CONVEX:
            rounding = 8 * k * np.finfo(float).eps * np.abs(function(values)).max()
            assert jensen_gap(function, values, chances) >= -rounding


def test_constants_have_no_gap_and_concave_functions_a_negative_one():
    for function in CONVEX:
        assert abs(jensen_gap(function, [2.0, 2.0], [0.3, 0.7])) <= 1e-14
    assert jensen_gap(np.log, [1.0, 3.0], [0.5, 0.5]) < 0


def test_the_tangent_at_the_mean_lies_below():
    """Which is convexity, and why the gap is never negative."""
    for function in CONVEX:
        assert check_convexity(lambda w, f=function: float(f(w[0])), [0.1], [4.0], tests=("tangent", "chord"))
    assert not check_convexity(lambda w: float(np.log(w[0])), [0.1], [4.0], tests=("tangent",))
