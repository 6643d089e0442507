r"""
4. Optimisation: walking downhill
=================================

**The question.** Least squares has a formula. Most costs have none. How does one find the minimum of a function by
looking only at where one stands? How fast is that? And how does one *know* that it is a minimum?

We stand in a ravine and follow a robot. (Networks, and how they are trained, are a matter of chapter 8.)
"""

import textwrap
import warnings
from itertools import islice

import matplotlib.pyplot as plt
import numpy as np

import qed
from qed.optim import (
    FiniteSum,
    GradientDescent,
    HeavyBall,
    Nesterov,
    Newton,
    Objective,
    StochasticGradient,
    StrongSmoothRate,
    certify_rate,
    check_convexity,
    check_strong_convexity,
    classify,
    minimize,
)

# %%
# What a minimum looks like
# -------------------------
#
# Where :math:`f` is smooth, a minimum has :math:`\nabla f = 0`. Not the other way round: such a *critical point* can be
# a minimum, a maximum or a saddle. The Hessian (the matrix of second derivatives) tells: all eigenvalues positive, a
# minimum; all negative, a maximum; both signs, a saddle; zeros, no verdict.

print(classify([0.0, 0.0], lambda w: np.array([2 * w[0], -2 * w[1]])))
print(classify([0.0], lambda w: -4 * w**3))

# %%
# A function is *convex* if every chord lies above it: :math:`f(tu + (1 - t)v) \le t f(u) + (1 - t) f(v)`. Equivalent,
# for smooth functions: every tangent lies below it; the gradient is monotone; the Hessian is nowhere negative. For
# convex functions all is well: **a critical point is a global minimum**, because the tangent there is flat and lies
# below. A check can *refute* convexity, with a witness. It can never prove it from samples.

for name, function in (
    ("w²", lambda w: w[0] ** 2),
    ("w³", lambda w: w[0] ** 3),
    ("log(1 + exp w)", lambda w: np.logaddexp(0, w[0])),
):
    print(f"{name:<15}{check_convexity(function, -3, 3).verdict}")

# %%
# To be convex along every coordinate is less. :math:`x^2 + y^2 - 4xy` is a parabola in :math:`x` and one in :math:`y`, but its
# Hessian has the eigenvalues 6 and -2: a saddle. Whoever minimises it in turn, by :math:`x \leftarrow 2y` and
# :math:`y \leftarrow 2x`, runs away:

x, y = 1.0, 1.0
for _ in range(5):
    x = 2 * y
    y = 2 * x
print("after five rounds:", (x, y), "with the value", x**2 + y**2 - 4 * x * y)
print(
    check_convexity(lambda w: w[0] ** 2 + w[1] ** 2 - 4 * w[0] * w[1], [-3, -3], [3, 3]).verdict
)

# %%
# Two numbers say more. :math:`f` is *m-strongly convex* if its curvature is everywhere at least :math:`m`, and
# *M-smooth* if it is at most :math:`M`. Their ratio :math:`\kappa = M/m` is the *condition number*: how long and narrow
# the valley is. Here is a ravine with :math:`m = 1` and :math:`M = 25`:
#
# .. math:: f(w) = \tfrac12 (w_1^2 + 25\, w_2^2) .

ravine = Objective(
    lambda w: (w[0] ** 2 + 25 * w[1] ** 2) / 2,
    lambda w: np.array([w[0], 25 * w[1]]),
    lambda w: np.diag([1.0, 25.0]),
    strong_convexity=1.0,
    smoothness=25.0,
)
start = [-10.0, 1.5]

# %%
# Follow the slope
# ----------------
#
# Which direction goes down fastest? Among vectors of length one, :math:`u^\top \nabla f` is least for
# :math:`u = -\nabla f/\|\nabla f\|`. So step against the gradient:
#
# .. math:: w^{t+1} = w^t - \alpha\, \nabla f(w^t) .
#
# How long may the step be? Smoothness says
# :math:`f(w - \alpha \nabla f) \le f(w) - \alpha (1 - \tfrac{\alpha M}{2}) \|\nabla f\|^2`. So :math:`f` falls whenever
# :math:`\alpha < 2/M`, and the bound is best at :math:`\alpha = 1/M`. On the ravine :math:`2/M = 0.08`: try both sides
# of it.

figure, panels = plt.subplots(1, 3, figsize=(11, 3.2), layout="constrained", sharey=True)
east, north = np.meshgrid(np.linspace(-11, 3, 100), np.linspace(-3.2, 3.2, 100))
for panel, (length, verdict) in zip(
    panels, ((0.01, "slow"), (0.06, "good"), (0.082, "too long"))
):
    walk = np.array(
        [step.point for step in islice(GradientDescent(length).steps(ravine, [-10.0, 1.0]), 31)]
    )
    panel.contour(
        east, north, (east**2 + 25 * north**2) / 2, levels=12, colors="grey", linewidths=0.5
    )
    panel.plot(*walk.T, ".-", linewidth=1.2, markersize=5)
    panel.set(title=f"step {length:g}: {verdict}", xlabel="w₁", xlim=(-11, 3), ylim=(-3.2, 3.2))
panels[0].set_ylabel("w₂")
plt.show()
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    minimize(ravine, [-10.0, 1.0], method=GradientDescent(0.082))
print(textwrap.fill(str(caught[0].message), 88))

# %%
# The proof, and what its certificate checks
# ------------------------------------------
#
# How fast is it? With :math:`\alpha = 1/M`, smoothness gives a decrease of at least :math:`\|\nabla f\|^2/(2M)` in each
# step. Strong convexity gives :math:`\|\nabla f\|^2 \ge 2m\, (f - f^*)`. Put together:
#
# .. math:: f(w^{t+1}) - f^* \le \left(1 - \frac{m}{M}\right) \left(f(w^t) - f^*\right) .
#
# What is missing shrinks by a constant factor in every step. That is the theorem. Here is the run that it speaks of,
# held to its bound at every step:

print(
    certify_rate(
        StrongSmoothRate(smoothness=25.0, strong_convexity=1.0),
        ravine,
        start,
        0.0,
        times=[1, 10, 100],
    )
)

# %%
# What can be promised depends on what is known. With :math:`R` the distance of the start from a minimum, :math:`L` a bound on
# the slopes, and :math:`t` steps:
#
# .. list-table::
#    :header-rows: 1
#    :widths: 34 20 46
#
#    * - the function is
#      - step
#      - it is above its minimum by at most
#    * - convex, slopes up to :math:`L`
#      - :math:`R/(L\sqrt t)`
#      - :math:`RL/\sqrt t`, for the mean of the iterates
#    * - m-strongly convex, slopes up to :math:`L`
#      - :math:`2/(m(t + 1))`
#      - :math:`2L^2/(m(t + 1))`, for a weighted mean, on a bounded set
#    * - convex, M-smooth
#      - :math:`1/M`
#      - :math:`MR^2/(2t)`
#    * - m-strongly convex, M-smooth
#      - :math:`1/M`
#      - :math:`e^{-tm/M}` times that of the start
#
# The second inequality is worth gold on its own: :math:`f - f^* \le \|\nabla f\|^2 / (2m)`. It bounds what is missing
# by what can be *measured where we stand*, without knowing the minimum. That is what the certificate of a run claims.

found = minimize(ravine, start, method="gradient")
print(found)

# %%
# - *value above that at the start*: the run did not make things worse.
# - *value above its minimum, at most*: the bound above. It can be given because the objective knows its :math:`m`.
#
# Without :math:`m` nothing of the kind can be claimed: the certificate then speaks about the gradient, and no more. A
# small gradient may be a minimum, or a plain. Here is Rosenbrock's valley, which is not convex:

banana = minimize(
    lambda w: (1 - w[0]) ** 2 + 100 * (w[1] - w[0] ** 2) ** 2, [-1.2, 1.0], method="newton"
)
print(banana.certificate)

# %%
# Momentum and curvature
# ----------------------
#
# Gradient descent zigzags: across the ravine the slope is steep and changes its sign, along it the slope is gentle and
# does not. A *heavy ball* remembers its last step. What changes sign cancels, what does not adds up:
#
# .. math:: v^t = \beta v^{t-1} - \alpha \nabla f(w^t) , \qquad w^{t+1} = w^t + v^t .
#
# Written out, :math:`v^t` is a sum of all slopes so far, the one of :math:`s` steps ago with the weight :math:`\alpha\beta^s`.
# With :math:`\beta = 0` it is gradient descent. *Nesterov's* method takes the gradient where the momentum will have carried it,
# at :math:`w^t + \beta v^{t-1}`. Both need about :math:`\sqrt\kappa`
# steps where gradient descent needs :math:`\kappa`. *Newton's* method uses the Hessian: it jumps to the minimum of the
# parabola that fits best where it stands,
#
# .. math:: w^{t+1} = w^t - \left(\nabla^2 f(w^t)\right)^{-1} \nabla f(w^t) .
#
# The same formula finds a *root* of the gradient, as :math:`w - \varphi(w)/\varphi'(w)` finds one of a function of one number.
# (From :math:`w = 1` the root of :math:`w^2 - 2` comes as 1.5, 1.4167, 1.414216, 1.414213562.) It costs :math:`O(d^3)` a step,
# for the linear system.

methods = {
    "gradient descent": GradientDescent(step=2 / 26),
    "heavy ball": HeavyBall(step=1.4 / 25, momentum=0.6),
    "Nesterov": Nesterov(),
    "Newton": Newton(step=1.0),
}
runs = {
    name: list(islice(method.steps(ravine, start), 101)) for name, method in methods.items()
}
figure, (left, right) = plt.subplots(
    1, 2, figsize=(11, 3.9), layout="constrained", width_ratios=[1.5, 1]
)
qed.plots.descent(ravine, {name: steps[:25] for name, steps in runs.items()}, left)
left.set_title("25 steps each")
for (name, steps), style in zip(runs.items(), ("-", "--", "-.", ":")):
    right.semilogy([max(step.objective, 1e-12) for step in steps], style, label=name)
right.set(xlabel="steps", ylabel="f(w)", xlim=(-2, 80), ylim=(1e-6, 300))
right.legend(fontsize=8)
plt.show()

# %%
# Newton is there in one step, since the ravine *is* a parabola. In general it converges quadratically, once it is near: the
# number of right digits doubles. (If the Hessian changes by at most the distance and is at least :math:`\alpha` at the
# minimum, then from a distance of :math:`\alpha/2` on the error is at most :math:`\alpha\, 2^{-2^t}`.) Where the Hessian is
# not positive definite, the step may lead to a saddle; adding :math:`\lambda I` to it mends that. Far away it may fail. On
# :math:`\sqrt{w^2 + 1}`, convex and harmless, the whole step goes to :math:`-w^3`: from 0.9 it converges, from 1.1 it runs
# away. A line search along the step, the default of `qed.optim.Newton`, cures it.

hyperbola = Objective(
    lambda w: np.sqrt(w[0] ** 2 + 1),
    lambda w: w / np.sqrt(w**2 + 1),
    lambda w: (w[0] ** 2 + 1) ** -1.5 * np.eye(1),
)
for begin in (0.9, 1.1):
    print(
        "whole steps: ",
        "  ->  ".join(
            f"{step.point[0]:.4g}"
            for step in islice(Newton(step=1.0, shift=0.0).steps(hyperbola, [begin]), 5)
        ),
    )
print(
    "with a search:",
    "  ->  ".join(
        f"{step.point[0]:.4g}" for step in islice(Newton().steps(hyperbola, [1.1]), 5)
    ),
)

# %%
# How far to go
# -------------
#
# A *line search* chooses a direction :math:`u` that leads down, :math:`u^\top \nabla f < 0`, and then the :math:`\alpha`
# for which :math:`f(w + \alpha u)` is least, or small enough. The objective never rises, and no :math:`M` has to be known.
# On a quadratic with the Hessian :math:`H` the best step along :math:`-g` is :math:`g^\top g/(g^\top H g)`. If the
# directions are the axes, one after the other, it is *coordinate descent*, which needs no gradient at all:

for name in ("line search", "coordinate"):
    walked = minimize(ravine, start, method=name, max_iter=200)
    print(f"{name:<12} {walked.value:.1e} after {walked.ending.n_iter} steps")

# %%
# Some rows at a time
# -------------------
#
# The costs of learning are sums over rows. The gradient of *one row*, drawn by lot, has the right mean,
# :math:`\mathbb E\, \nabla f_i = \frac1n \sum_i \nabla f_i`, and costs :math:`1/n` of the work. That is *stochastic
# gradient descent*: 1 000 steps of one row, or 20 of 50 rows, cost as much as one step of 1 000. Such a pass over the rows
# is an *epoch*, and the fair measure when methods are compared. It does not settle: near the minimum the noise of the draws
# is larger than the slope. (That can be an advantage: noise leads out of shallow valleys.) Three cures: steps that shrink,
# *mini-batches* (the variance falls like one over their size), and the average of the last iterates, which for a convex
# function comes near the minimum not only on the whole but *with high probability*.

income, food = qed.data.load("engel").Xy()
A = np.column_stack([np.ones(len(food)), (income[:, 0] - income.mean()) / income.std()])
b = (food - food.mean()) / food.std()
best = np.linalg.lstsq(A, b, rcond=None)[0]
squares = FiniteSum(
    lambda w, rows: ((A[rows] @ w - b[rows]) ** 2).mean(),
    lambda w, rows: 2 * A[rows].T @ (A[rows] @ w - b[rows]) / len(b[rows]),
    n=len(b),
)
figure, axes = plt.subplots(figsize=(7, 3.7), layout="constrained")
for name, method, style in (
    ("1 row", StochasticGradient(0.02, batch=1, every=1), ":"),
    ("20 rows", StochasticGradient(0.02, batch=20, every=1), "--"),
    ("all rows", GradientDescent(0.02), "-"),
):
    walk = [step.point for step in islice(method.steps(squares, [1.5, -1.0]), 300)]
    axes.semilogy(
        [squares.value(w) - squares.value(best) + 1e-9 for w in walk], style, label=name
    )
axes.set(
    xlabel="steps",
    ylabel="excess over the minimum",
    title="Engel's households: gradients of some of the rows",
)
axes.legend()
plt.show()

# %%
# A problem without a formula: where is the robot?
# ------------------------------------------------
#
# Three sensors measure their distances from a robot. Each distance puts it on a circle; with noise the circles do not
# meet in one point. Gaussian noise asks for least squares again, but the unknown place sits inside a square root:
#
# .. math:: L(w) = \tfrac12 \sum_i \left(y_i - \|x_i - w\|\right)^2 , \qquad \nabla L = -J^\top (y - F(w)) .
#
# *Gauss-Newton* replaces :math:`F` by its tangent plane and solves a linear least-squares problem in each step,
# :math:`J^\top J\, \Delta w = J^\top (y - F)`. It needs no second derivatives. It ends where :math:`J^\top (y - F) = 0`, which
# may be one of several valleys, according to the start; if the sensors stand in a line, the robot has a twin on the other side.
# In practice one stops when the cost or the place changes by less than a small share of itself. (If nobody knows a formula
# :math:`F`, one takes a family that can come near every function. Chapter 8 does.)


def distance(X, w):
    """Give the distances of the sensors, rows of X, from the place w."""
    return np.sqrt((X[:, 0] - w[0]) ** 2 + (X[:, 1] - w[1]) ** 2)


sensors = np.array([[0.0, 0.0], [4.0, 0.0], [0.0, 3.0]])
ranges = distance(sensors, [1.0, 1.0]) + np.array([0.08, -0.10, 0.06])
robot = qed.NonlinearLeastSquares(distance, {"east": 2.0, "north": 2.0}).fit(sensors, ranges)
print(robot.coef_.round(3), bool(robot.certificate_))

# %%
# Stepping through it
# -------------------
#
# Every method of ``qed.optim`` is a generator: ``method.steps(objective, start)`` gives step after step, with the
# point, the objective and the gap. What to look for, on the robot: Gauss-Newton squares its error when the circles
# nearly meet (small residuals), and only shrinks it when they do not. Move the noise up and watch.

for size in (0.0, 1.0):
    seen = distance(sensors, [1.0, 1.0]) + size * np.array([0.4, -0.5, 0.3])
    walk = qed.steps(
        qed.NonlinearLeastSquares(distance, [2.0, 2.0], method="gauss-newton"), sensors, seen
    )
    places = np.array([step.point for step in islice(walk, 12)])
    print(
        f"noise {size:g}:",
        "  ".join(f"{np.linalg.norm(place - places[-1]):.0e}" for place in places[:6]),
    )

# %%
# Where the texts slip
# --------------------
#
# - The guide prints :math:`\nabla L = J^\top (y - F)` for the robot. The sign is minus; with the printed one gradient
#   descent climbs.
# - A saddle is defined with :math:`\le`. With that every point would be one.
# - The steepest direction is given as :math:`-\nabla f`. Among vectors of length one it is
#   :math:`-\nabla f/\|\nabla f\|`, and where the gradient vanishes there is none.
# - The stochastic update is printed with :math:`\nabla G`; :math:`G` is the estimate of the gradient already. And the sum over
#   a mini-batch runs over the rows that were drawn, not over the first :math:`k`.
# - Step sizes that are small "never converge", and descent "can not converge" in a ravine. Both converge, slowly, as
#   long as :math:`\alpha < 2/M`.
# - The line search minimises along :math:`w + \alpha u` and then goes to :math:`w - \alpha u`.
# - In Nesterov's method the gradient is taken ahead by :math:`\beta`, and the momentum is :math:`\beta_t`. Both are
#   :math:`\beta_t`.
# - The table of rates has no constants, and does not say that its first two lines are about *averages* of the iterates (the
#   second besides on a bounded set), its last two about the last iterate.
# - :math:`\sqrt{w^2 + 1}` is called strongly convex. Its curvature has the infimum 0: it is *strictly* convex only.
#   Exercise 2.
# - Smoothness is defined by the largest eigenvalue of the Hessian. For functions that are not convex it is the largest
#   *absolute* one: :math:`-5w^2` needs :math:`M = 10`.
# - Strong convexity gives exactly one minimum, but on a *closed* set only.
# - Newton's method for a root takes :math:`\varphi'` at :math:`w^t`, not at :math:`w`, and the Hessian takes the place of
#   :math:`J`, not of its inverse. That the parabola has a minimum is true where the Hessian is positive definite, and not
#   always. Adding :math:`\lambda\|w\|^2` shifts its eigenvalues by :math:`2\lambda`, and moves the minimum, too.
# - Newton's error is said to fall like :math:`e^{-e^t}`; what is proven is :math:`2^{-2^t}`.
# - The heavy ball begins with a velocity that is used twice. It should begin at rest.
#
# Exercises
# ---------
#
# **Exercise 1.** By the theorem, how many steps of length :math:`1/M` are enough on the ravine to shrink the excess by
# :math:`10^{6}`? How many does it really need? Why fewer?
#
# .. solution::
#
#    :math:`(1 - \frac1{25})^t \le 10^{-6}` gives :math:`t \ge 339`. Descent needs about half of it: on a quadratic the
#    *distance* shrinks by :math:`1 - m/M`, so the *value*, its square, by :math:`(1 - m/M)^2`.

promised = int(np.ceil(np.log(1e-6) / np.log(1 - 1 / 25)))
walk = list(islice(GradientDescent(1 / 25).steps(ravine, start), 400))
needed = next(step.number for step in walk if step.objective <= 1e-6 * walk[0].objective)
print(f"promised {promised}, needed {needed}")
assert promised == 339 and needed < promised
assert 0.4 < needed / promised < 0.6

# %%
# .. end-solution::
#
# **Exercise 2.** Is :math:`\sqrt{w^2 + 1}` strongly convex? Ask `qed.optim.check_strong_convexity` with the constant
# 0.001, first on [-3, 3], then on the whole line. Explain the two answers.
#
# .. solution::
#
#    Its curvature is :math:`(w^2 + 1)^{-3/2}`. On [-3, 3] it is at least :math:`10^{-3/2} = 0.03`; far out it falls
#    below every constant.


def hyper(w):
    """Give the square root of w² + 1."""
    return np.sqrt(w[0] ** 2 + 1)


near = check_strong_convexity(hyper, 1e-3, -3, 3)
everywhere = check_strong_convexity(hyper, 1e-3, -np.inf, np.inf)
print(near.verdict)
print(everywhere.verdict)
assert "not refuted" in near.verdict and "not refuted" not in everywhere.verdict

# %%
# .. end-solution::
#
# **Exercise 3.** Ridge regression adds :math:`\lambda\|w\|^2` to the squared error. What does that do to the condition
# number of :math:`X^\top X = \operatorname{diag}(1, 100)`, for :math:`\lambda` = 0, 1, 10, 100? And to the steps that
# descent needs?
#
# .. solution::
#
#    :math:`\kappa = (100 + \lambda)/(1 + \lambda)`: 100, 50.5, 10, 1.98. The penalty makes the problem easier to solve,
#    besides what it does for the noise.

steps = []
for penalty in (0.0, 1.0, 10.0, 100.0):
    hessian = 2 * np.diag([1.0 + penalty, 100.0 + penalty])
    bowl = Objective(lambda w, H=hessian: w @ H @ w / 2, lambda w, H=hessian: H @ w)
    walk = list(islice(GradientDescent(1 / hessian[1, 1]).steps(bowl, [1.0, 1.0]), 1000))
    steps.append(
        next(step.number for step in walk if step.objective <= 1e-6 * walk[0].objective)
    )
    print(
        f"lambda {penalty:>5g}: condition {qed.optim.condition_number(hessian):6.2f}, "
        f"{steps[-1]} steps"
    )
assert steps == sorted(steps, reverse=True)

# %%
# .. end-solution::
#
# You can now minimise what has no formula, and say how far from the minimum you are. The next chapter has such a cost
# at its heart: the likelihood of classes.
