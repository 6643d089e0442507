"""PERCEPTRON: some plane between two classes, if there is one. (The text's y f >= 0 is met by w = 0; strict ones are meant.)"""

import numpy as np
import pytest

import qed

XOR = np.array([[0.0, 0.0], [1.0, 1.0], [0.0, 1.0], [1.0, 0.0]]), np.array([0, 0, 1, 1])


def two_clouds(seed, gap=1.0, n=40):
    random = np.random.default_rng(seed)
    y = np.repeat([-1, 1], n // 2)
    return random.standard_normal((n, 2)) * 0.5 + np.outer(y, [1.5 + gap, 0.5]), y


@pytest.mark.parametrize("seed", range(5))
def test_separable_data_end_without_an_error(seed):
    X, y = two_clouds(seed)
    model = qed.Perceptron().fit(X, y)
    assert model.score(X, y) == 1.0 and model.ending_.reason.name == "CERTIFIED" and model.certificate_
    assert (y * model.decision_function(X) > 0).all()


def test_the_plane_is_not_unique():
    X, y = two_clouds(0)
    planes = [qed.Perceptron(random_state=seed).fit(X, y) for seed in range(10)]
    directions = {tuple((model.coef_[0] / np.linalg.norm(model.coef_)).round(6)) for model in planes}
    assert len(directions) > 1
    room = np.abs(planes[0].decision_function(X)).min() / 2
    planes[0].intercept_ += room
    assert planes[0].score(X, y) == 1.0


@pytest.mark.parametrize("shuffle", [True, False])
def test_no_plane_for_crossed_classes(shuffle):
    model = qed.Perceptron(shuffle=shuffle).fit(*XOR)
    assert model.ending_.reason.name == "DEGENERATE" and "came back" in model.ending_.because and model.ending_.advice
    assert model.score(*XOR) < 1.0
    assert model.certificate_, "that nothing separates them is proven"


def test_at_the_last_pass_it_says_that_it_has_not_converged():
    X, y = two_clouds(1, gap=-1.2, n=200)
    with pytest.warns(qed.base.errors.ConvergenceWarning, match="max_iter=20"):
        model = qed.Perceptron(max_iter=2).fit(X, y)
    assert model.ending_.reason.name == "MAX_ITER" and not model.certificate_


def test_zero_is_no_separating_plane():
    """E36: w = 0, b = 0 keeps y f >= 0, so equality counts as a mistake."""
    X, y = two_clouds(2)
    first = next(qed.steps(qed.Perceptron(), X, y))
    assert not first.weights.any() and first.objective > 0, "while the plane is zero every row is wrong"
    assert np.abs(qed.Perceptron().fit(X, y).coef_).max() > 0


def test_the_largest_margin_is_that_of_the_hard_margin_problem():
    """No perceptron has a larger margin than the plane of the largest, whatever its order."""
    X, y = two_clouds(3)
    best = qed.separating_plane(X, y)
    for seed in range(10):
        model = qed.Perceptron(random_state=seed).fit(X, y)
        margin = (y * qed.plane_distance(X, model.coef_, model.intercept_[0])).min()
        assert 0 < margin <= best.most
    np.testing.assert_allclose(best.margin, best.most, rtol=1e-6)


def test_losses_of_the_perceptron_and_of_the_hinge_differ():
    """E23: the perceptron minimises max(-y f, 0), which is zero from y f = 0 on; the hinge max(1 - y f, 0) only from y f = 1 on."""
    X, y = two_clouds(4)
    model = qed.Perceptron(eta0=1e-3).fit(X, y)
    margin = y * model.decision_function(X)
    assert np.maximum(-margin, 0).max() == 0
    assert np.maximum(1 - margin, 0).max() > 0, "right rows keep a hinge loss"
    assert qed.Perceptron(eta0=1e3).fit(X, y).predict(X).tolist() == model.predict(X).tolist(), (
        "scaling changes no prediction"
    )
