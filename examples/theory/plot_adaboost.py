"""
The margin still grows when no row is wrong any more
====================================================

AdaBoost fits weak members one after another, each to rows whose weight has moved to the mistakes of the ones before. The product of
all :math:`Z_t = 2\\sqrt{\\varepsilon_t (1 - \\varepsilon_t)}` bounds the share of training rows that are told wrongly, and falls in
every round.
"""

import matplotlib.pyplot as plt
import numpy as np

import qed


def table(n, seed):
    """Two classes, told apart by a column and by the product of two others."""
    random = np.random.default_rng(seed)
    X = random.standard_normal((n, 5))
    return X, (X[:, 0] + X[:, 1] * X[:, 2] > 0).astype(int)


X, y = table(450, 0)
held_out, truth = table(3000, 1)
model = qed.AdaBoostClassifier(
    qed.DecisionTreeClassifier(max_depth=3), n_estimators=100, random_state=0
).fit(X, y)
print(model.certificate_)

# %%
# After some twenty rounds no training row is wrong. The margin, the share of the say that is for the true class less that against it, goes
# on growing, first of all for the rows that are hardest; and the error on other rows goes on falling.

rounds = np.arange(1, len(model.estimators_) + 1)
wrong = 1 - np.array(list(model.staged_score(X, y)))
wrong_held_out = 1 - np.array(list(model.staged_score(held_out, truth)))
bound = np.cumprod(2 * np.sqrt(model.estimator_errors_ * (1 - model.estimator_errors_)))
margins = [(2 * y - 1) * score / 2 for score in model.staged_decision_function(X)]

figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.6))
left.plot(rounds, wrong, label="training rows")
left.plot(rounds, bound, "--", label="product of all Z")
left.plot(rounds, wrong_held_out, label="other rows")
left.set(xlabel="round", ylabel="share of errors", ylim=(-0.02, 0.6))
left.legend()
for number in (5, 20, 100):
    right.plot(
        np.sort(margins[number - 1]), np.linspace(0, 1, len(y)), label=f"after {number} rounds"
    )
right.axvline(0, color="0.7", linewidth=1)
right.set(xlabel="margin", ylabel="share of rows below")
right.legend()
figure.tight_layout()

# %%
# Labels that are wrong are mistakes that no member should correct. Weight gathers on them all the same, and what is learned from the others
# suffers.

flipped = np.random.default_rng(2).permutation(len(y))[:45]
noisy = y.copy()
noisy[flipped] = 1 - noisy[flipped]
again = qed.AdaBoostClassifier(
    qed.DecisionTreeClassifier(max_depth=3), n_estimators=100, random_state=0
).fit(X, noisy)
print(
    f"errors on other rows: {wrong_held_out[-1]:.3f}, with a tenth of the labels flipped "
    f"{1 - again.score(held_out, truth):.3f}"
)
