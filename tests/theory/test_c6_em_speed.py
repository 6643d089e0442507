"""C6-EM-SPEED: EM takes few steps where components are apart, and very many where they overlap."""

import numpy as np

import qed


def steps_of(separation, algorithm):
    generator = np.random.default_rng(0)
    X = np.concatenate([generator.standard_normal(300), generator.standard_normal(300) + separation])[:, None]
    model = qed.GaussianMixture(
        2, means_init=[[-0.5], [separation + 0.5]], tol=1e-8, max_iter=3000, algorithm=algorithm
    ).fit(X)
    return model.n_iter_, np.array(model.lower_bounds_)


def rate_of(values):
    """Estimate the linear rate: by which factor the distance from the end shrinks with each step, at the end."""
    rise = np.diff(values)
    rise = rise[rise > 1e-12]
    return float(rise[-1] / rise[-2]) if len(rise) > 1 else 0.0


def test_em_slows_down_as_components_overlap():
    table = {separation: steps_of(separation, "em") for separation in (8.0, 4.0, 2.0, 1.0)}
    counts = [table[separation][0] for separation in (8.0, 4.0, 2.0, 1.0)]
    assert counts == sorted(counts) and counts[0] <= 10 and counts[-1] >= 10 * counts[0]
    # The rate goes from nearly nothing, as for Newton's method, to nearly one.
    assert rate_of(table[8.0][1]) < 0.5 < 0.9 < rate_of(table[1.0][1])


def test_with_components_apart_em_needs_fewer_steps_than_the_gradient():
    assert steps_of(8.0, "em")[0] < steps_of(8.0, "gradient")[0]
    # Where they overlap, a method that learns the curvature overtakes it.
    assert steps_of(1.0, "lbfgs")[0] < steps_of(1.0, "em")[0]
