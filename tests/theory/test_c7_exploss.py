"""C7-EXPLOSS: the exponential loss falls with the margin and bounds the errors from above."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import qed
from qed.optim import ExponentialLoss

LOSS = ExponentialLoss()
scores, signs = st.floats(-30, 30), st.sampled_from([-1.0, 1.0])


@given(scores, signs)
def test_value_and_slope(z, y):
    assert LOSS.each(z, y) == np.exp(-y * z)
    assert LOSS.gradient(z, y) == -y * np.exp(-y * z)


@given(scores, signs)
def test_it_is_never_below_the_error(z, y):
    assert LOSS.each(z, y) >= float(y * z <= 0)


@given(scores, scores, signs)
def test_it_falls_with_the_margin(a, b, y):
    low, high = sorted((y * a, y * b))
    assert LOSS.each(y * high, y) <= LOSS.each(y * low, y)


def test_the_loss_of_every_stage_bounds_its_errors():
    random = np.random.default_rng(0)
    X = random.standard_normal((300, 3))
    y = X[:, 0] * X[:, 1] + 0.3 * random.standard_normal(300) > 0
    model = qed.GradientBoostingClassifier(loss="exponential", max_iter=25, learning_rate=0.3).fit(X, y)
    errors = [(said != y).mean() for said in model.staged_predict(X)]
    assert (model.train_score_[1:] >= errors).all()
    np.testing.assert_allclose(
        model.train_score_[-1], np.exp(-(2 * y - 1) * model.decision_function(X)).mean(), rtol=1e-12
    )
