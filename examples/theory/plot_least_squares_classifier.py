r"""
Three ways in which least squares is a poor classifier
======================================================

Fitted to +1 on the rows of a class and to -1 on all others, least squares gives a classifier in closed form (:class:`qed.RidgeClassifier`).
It is quick, and often good enough. But a squared error asks that scores *are* one, not that they are on the right side:

.. math:: (g - y)^2 = (1 - yg)^2 \quad\text{for}\quad y = \pm 1,

so a row that is right by far costs as much as a row that is wrong by far. The course has three counter-examples.
"""

import matplotlib.pyplot as plt
import numpy as np

import qed

random = np.random.default_rng(0)


def boundary(axes, model, color, style, name):
    """Draw where the score of a model of two classes is zero."""
    (a, b), c = model.coef_[0], model.intercept_[0]
    at = np.array([-4.0, 16.0])
    axes.plot(at, -(a * at + c) / b, color=color, linestyle=style, label=name)


# %%
# **Rows that are right by far.** Two clouds, and a plane between them. Then a third cloud joins the lower class, far out on its side where
# the plane was right already. Its score would be far below -1, so the plane turns towards it, over the rows it was fitted to before. A
# support vector machine leaves its plane where it was: rows outside the margin cost nothing.
near = np.vstack([c + 0.4 * random.standard_normal((20, 2)) for c in ([-2.0, 2.0], [0.0, 0.0])])
far = [14.0, -14.0] + 0.4 * random.standard_normal((20, 2))
side, X = np.repeat([1, -1], 20), np.vstack([near, far])
y = np.append(side, np.full(20, -1))
before, after = (
    qed.RidgeClassifier(alpha=0).fit(near, side),
    qed.RidgeClassifier(alpha=0).fit(X, y),
)
margin = qed.LinearSVC().fit(X, y)
for name, model in {
    "two clouds": before,
    "with the third": after,
    "support vector machine": margin,
}.items():
    print(f"{name:<24} {model.score(X, y):.0%} of all rows right")

figure, axes = plt.subplots(figsize=(5.6, 4.4), layout="constrained")
for label, color in [(1, "C0"), (-1, "C1")]:
    axes.plot(*X[y == label].T, ".", color=color)
boundary(axes, before, "grey", "--", "least squares, two clouds")
boundary(axes, after, "black", "-", "least squares, all rows")
boundary(axes, margin, "C2", "-", "support vector machine, all rows")
axes.set(
    xlabel="x₁",
    ylabel="x₂",
    xlim=(-4, 16),
    ylim=(-16, 6),
    title="Rows that are right by far pull the line",
)
axes.legend(loc="lower left")
plt.show()

# %%
# **A class in the middle.** With three classes in a row, the scores of the outer two are slopes; the best plane for the middle one is flat.
# Somewhere one of the slopes is always above it, so the middle class is never said: it is *masked*. Squares of the columns help, or a
# likelihood in the place of squares.
y = np.repeat(["left", "middle", "right"], 50)
X = np.repeat([-4.0, 0.0, 4.0], 50)[:, None] + 0.6 * random.standard_normal((150, 1))
squares = qed.PolynomialFeatures(2, include_bias=False).fit(X)
models = {
    "least squares": qed.RidgeClassifier(alpha=0).fit(X, y),
    "with squares": qed.RidgeClassifier(alpha=0),
}
models["with squares"].fit(squares.transform(X), y)
grid = np.linspace(-6, 6, 200)[:, None]
figure, panels = plt.subplots(1, 2, figsize=(9.5, 3.8), layout="constrained", sharey=True)
for axes, (name, model) in zip(panels, models.items()):
    table = (
        (lambda rows: squares.transform(rows))
        if name == "with squares"
        else (lambda rows: rows)
    )
    axes.plot(grid, model.decision_function(table(grid)), label=model.classes_)
    for k, label in enumerate(model.classes_):
        axes.plot(X[y == label], np.full(50, -1.9 + 0.1 * k), ".", color=f"C{k}", markersize=3)
    axes.set(
        xlabel="x", ylim=(-2.1, 1.9), title=f"{name}: {model.score(table(X), y):.0%} right"
    )
panels[0].set_ylabel("score")
panels[0].legend()
plt.show()

# %%
# **Numbers in the place of classes.** Peach = 1, banana = 2, apple = 3: a regression on these numbers, rounded, is a classifier of a kind.
# But the numbers make up an order. Between a peach and an apple it sees a banana, wherever the bananas are. A code for each class, all
# equally far apart, does not.
fruit, places = (
    np.array(["peach", "banana", "apple"]),
    np.array([[0.0, 0.0], [2.0, 6.0], [4.0, 0.0]]),
)
number = np.repeat([0, 1, 2], 40)
X = places[number] + 0.5 * random.standard_normal((120, 2))
ordinal = qed.LinearRegression().fit(X, number + 1.0)
codes = qed.RidgeClassifier(alpha=0).fit(X, fruit[number])
x1, x2 = np.meshgrid(np.linspace(-2, 6, 200), np.linspace(-2, 8, 200))
plane = np.column_stack([x1.ravel(), x2.ravel()])
answers = {
    "numbers, rounded": np.clip(np.rint(ordinal.predict(plane)), 1, 3) - 1,
    "a code for each class": np.array(
        [fruit.tolist().index(name) for name in codes.predict(plane)]
    ),
}
figure, panels = plt.subplots(1, 2, figsize=(9.5, 4.2), layout="constrained", sharey=True)
for axes, (name, found) in zip(panels, answers.items()):
    axes.contourf(
        x1,
        x2,
        found.reshape(x1.shape),
        levels=[-0.5, 0.5, 1.5, 2.5],
        colors=["C0", "C1", "C2"],
        alpha=0.2,
    )
    for k, label in enumerate(fruit):
        axes.plot(*X[number == k].T, ".", color=f"C{k}", label=label)
    axes.set(xlabel="x₁", title=name)
panels[0].set_ylabel("x₂")
panels[1].legend()
plt.show()
