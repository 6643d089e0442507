r"""
1. Regression I: a line through a cloud
=======================================

**The question.** In 1857 Ernst Engel asked how much of its income a household spends on food. He had 235 Belgian
households. Each gives a pair of numbers: what it earns, :math:`x`, and what it eats for, :math:`y`. Which line says
best what another household will spend? How sure can we be of it? And would a curve say more than a line?

These are the three questions of this chapter: how to *fit*, how to *prove* that the fit is the best, and how to
*choose* between fits.
"""

import matplotlib.pyplot as plt
import numpy as np

import qed

income, food = qed.data.load("engel").Xy()
print(income.shape, food.shape)

# %%
# A class, a cost, and its minimiser
# ----------------------------------
#
# Nearly all of this course has one shape. Choose a *class of hypotheses*: here the functions
# :math:`h(x) = w_0 + w_1 x`. Choose a *cost* that says how badly a hypothesis fits: here the sum of squared errors.
# Then find the hypothesis with the least cost. The class has to be chosen beforehand. Among *all* functions there is always
# one that passes through every point and says nothing about the next one.
#
# Write the data as a matrix :math:`X` with a row for each household. A column of ones carries the constant :math:`w_0`.
# The cost is
#
# .. math:: L(w) = \sum_i (x_i^\top w - y_i)^2 = \|Xw - y\|^2 .
#
# Why squares? They are smooth, they have one minimum, and chapter 2 gives a better reason: they are what Gaussian noise
# asks for. (The mean of the squares has the same minimiser as their sum.)
#
# Write the square out, :math:`L(w) = w^\top X^\top X w - 2 w^\top X^\top y + y^\top y`. Two rules differentiate it:
# :math:`\nabla (a^\top w) = a` and :math:`\nabla (w^\top A w) = (A + A^\top) w`, which is :math:`2Aw` for a symmetric
# :math:`A`. So the gradient of the cost is
#
# .. math:: \nabla L(w) = 2 X^\top (Xw - y) .
#
# At a minimum of a smooth cost the gradient vanishes. (It does at a maximum and at a saddle, too; for a *convex* cost, one
# that lies below its chords, it is enough.) Set it to zero. The result is a linear system, the *normal equations*:
#
# .. math:: X^\top X\, w = X^\top y .
#
# To set them up costs :math:`O(nd^2)` for :math:`n` rows and :math:`d` columns, to solve them :math:`O(d^3)`. If the
# columns of :math:`X` are independent, :math:`X^\top X` can be inverted and there is exactly one answer. The Hessian
# :math:`2X^\top X` is positive definite then, so the answer is a minimum and not a saddle. If they are dependent there is
# still an answer, and with it infinitely many: add any :math:`u` with :math:`Xu = 0`, and nothing is seen of it in the fit.
# `qed.LinearRegression` gives the shortest of them, and warns. (The penalty below, made smaller and smaller, leads to the
# same one.)

X = np.column_stack([np.ones(len(food)), income])
w = np.linalg.solve(X.T @ X, X.T @ food)
model = qed.LinearRegression().fit(income, food)
print("by hand:", w.round(4))
print("by qed: ", np.round([model.intercept_, *model.coef_], 4))

# %%
# Both agree. `qed.LinearRegression` does not invert anything. It folds the rows into a small statistic, looks at how
# far it can trust the normal equations, and takes a QR factor where digits would be lost.
#
# For one column the equations come down to a slope,
# :math:`\hat w_1 = \sum_i (x_i - \bar x)(y_i - \bar y) / \sum_i (x_i - \bar x)^2`, and a line through the means.

at = np.linspace(300, 5000, 50)[:, None]
figure, (left, right) = plt.subplots(1, 2, figsize=(11, 3.9), layout="constrained")
left.plot(income, food, ".", alpha=0.5)
left.plot(
    at,
    model.predict(at),
    color="C1",
    label=f"food = {model.intercept_:.0f} + {model.coef_[0]:.2f} income",
)
left.set(xlabel="income (francs a year)", ylabel="food (francs a year)", title="235 households")
left.legend()
qed.plots.residuals(food, model.predict(income), right)
plt.show()

# %%
# Look at the right picture. The spread of the errors grows with income. The line is still the best line by the sum of
# squares, but the standard errors that are printed below assume an even spread. Chapter 2 comes back to this.

print(model.inference_)

# %%
# The same as a shadow
# --------------------
#
# There is a second derivation, without calculus. The vectors :math:`Xw` fill a plane: the span of the columns of
# :math:`X`. The target :math:`y` is a point outside. The nearest point of the plane is the foot of the perpendicular.
# So the residual must be orthogonal to every column,
#
# .. math:: X^\top (y - X\hat w) = 0 ,
#
# and these are the normal equations again. Two things follow, and both can be checked. Pythagoras:
# :math:`\|y\|^2 = \|X\hat w\|^2 + \|y - X\hat w\|^2`. And the matrix :math:`P = X (X^\top X)^{-1} X^\top` that casts
# the shadow is symmetric and does nothing when it is applied twice. The shadow is unique, even where :math:`\hat w` is not;
# and the trace of :math:`P` counts the dimensions of the plane.

fitted = model.predict(income)
residual = food - fitted
print("residual times columns:", (X.T @ residual / np.linalg.norm(food)).round(9))
print("Pythagoras:", food @ food / (fitted @ fitted + residual @ residual))
P = X @ np.linalg.solve(X.T @ X, X.T)
print("P is P² up to", f"{np.abs(P @ P - P).max():.0e};", "its trace is", P.trace().round(9))

# %%
# The proof, and what its certificate checks
# ------------------------------------------
#
# Why is the answer the best of *all* lines, and not only of those we tried? Take any other :math:`w`. Because the
# residual is orthogonal to the columns,
#
# .. math:: \|Xw - y\|^2 = \|X\hat w - y\|^2 + \|X(w - \hat w)\|^2 .
#
# The last term is never negative. So no line is better. That is the whole proof, and it needs one fact about
# :math:`\hat w`: orthogonality. Anyone can check this fact from the model and the data, without trusting the program
# that made the model. That is what a *certificate* is.

print(qed.certify(model, income, food))

# %%
# Read it line by line.
#
# - *residuals sum to zero* and *residuals are orthogonal to every column*: the two conditions of the proof, scaled so
#   that units do not matter.
# - *excess over the least possible error*: how much of the error could still be taken away, by the formula above.
# - *relative error of coefficients, at most*: the step from "small gradient" to "right coefficients" costs a factor,
#   the condition number. This bound includes it.
# - *rank* and *condition number*: whether there was one answer at all, and how sharply the data single it out.
# - the last two lines: nothing else in the model was tampered with, and these are the data of the fit.
#
# Whoever changes a coefficient breaks the certificate. A thousandth is more than enough.

moved = qed.LinearRegression().fit(income, food)
moved.coef_ = model.coef_ * 1.001
broken = qed.certify(moved, income, food)
print(*[claim.says for claim in broken if not claim.holds][:3], sep="\n")

# %%
# When the columns are nearly dependent
# -------------------------------------
#
# Longley's table is famous for this. Sixteen years of employment are to be explained by six series that all grow together:
# prices, production, population, the year itself. Two columns that say the same can be traded against each other: add a
# million to one coefficient, take a million from the other, and the fit hardly changes. Where a column *is* a sum of
# others, the fit does not change at all. Say that the third is twice the first plus three times the second, and that the
# answer is three times the first plus four times the second. Then (3, 4, 0), (1, 1, 1) and :math:`(0, -\frac12, \frac32)`
# are all right; the shortest is :math:`(\frac37, \frac17, \frac97)`, and the one with the least sum of sizes
# :math:`(\frac13, 0, \frac43)`. In general all answers are :math:`X^\dagger y + (I - X^\dagger X) u`, with any :math:`u`
# and the pseudo-inverse :math:`X^\dagger`.
#
# The singular values :math:`\sigma_i` of :math:`X` say how bad it is. The inverse of :math:`X^\top X` has the
# eigenvalues :math:`1/\sigma_i^2`, so a small :math:`\sigma` makes noise in :math:`y` explode. The *condition number*
# :math:`\sigma_{\max}/\sigma_{\min}` measures it, and that of :math:`X^\top X` is its square: whoever forms the product and
# does not look loses twice as many digits. *Ridge regression* pays for large coefficients:
#
# .. math:: \min_w \|Xw - y\|^2 + \lambda \|w\|^2 , \qquad \hat w = (X^\top X + \lambda I)^{-1} X^\top y .
#
# Now the eigenvalues of the inverse are :math:`1/(\sigma_i^2 + \lambda)`, none above :math:`1/\lambda`. There is always
# exactly one answer, also with dependent columns, also with fewer rows than columns. The larger :math:`\lambda`, the
# shorter is :math:`\hat w`; with :math:`\lambda = 0` it is least squares. (So to pay for length is the same as to forbid
# more than some length: the ellipses of equal error around the answer of least squares touch a ball.) In the singular
# vectors of :math:`X = \sum_i \sigma_i u_i v_i^\top` the answer is
#
# .. math:: \hat w = \sum_i \frac{\sigma_i}{\sigma_i^2 + \lambda}\, (u_i^\top y)\, v_i ,
#
# so one decomposition serves all penalties. (In the formula a column of ones is penalised like any other. `qed.Ridge` leaves
# its intercept alone.)

longley = qed.data.load("longley")
series, employed = longley.Xy()
series = qed.StandardScaler().fit_transform(series)
path = qed.ridge_path(series, employed, np.logspace(-4, 2, 60))

random = np.random.default_rng(0)
shaken = [employed + random.normal(0, 100, len(employed)) for _ in range(30)]
plain = np.array([qed.LinearRegression().fit(series, y).coef_ for y in shaken])
ridge = np.array([qed.Ridge(0.1).fit(series, y).coef_ for y in shaken])

figure, panels = plt.subplots(
    1, 3, figsize=(12, 3.9), layout="constrained", width_ratios=[1.4, 1, 1]
)
lines = panels[0].semilogx(path.alphas, path.coef)
panels[0].set(
    xlabel="penalty",
    ylabel="coefficient (thousand people)",
    title="All penalties from one decomposition",
)
panels[0].legend(lines, longley.features, fontsize=8)
for panel, found, name in zip(
    panels[1:], (plain, ridge), ("least squares", "ridge, penalty 0.1")
):
    panel.plot(found.T, ".", color="C0", alpha=0.5)
    panel.set(
        title=name, ylim=(plain.min() * 1.1, plain.max() * 1.1), xlabel="coefficient number"
    )
plt.show()
print(
    "condition number of the columns:",
    round(qed.LinearRegression().fit(series, employed).condition_, 1),
)
print("spread of the coefficients, least squares:", plain.std(axis=0).round())
print("                                    ridge:", ridge.std(axis=0).round())

# %%
# Thirty times we shook the target (in thousands of people) by about 100, a thousandth or two of its size. The
# coefficients of least squares jump by hundreds; those of ridge move far less. The price is a small bias: ridge does
# not aim at the truth exactly. Chapter 2 weighs the two against each other.
#
# Choosing: a line, or a curve?
# -----------------------------
#
# Linear means *linear in the coefficients*. The features :math:`\phi_1(x), \phi_2(x), \dots` can be anything, as long as new
# rows get the same ones: with :math:`x, x^2, x^3, \dots` as columns the same formulas fit a curve. By Taylor's theorem
# polynomials come near every smooth function on a bounded set. But raw powers are nearly dependent, so scale the columns
# first. And with :math:`\ell` raw columns there are :math:`\binom{\ell + d}{d}` monomials up to degree :math:`d` (as many
# as there are orders of :math:`d` stars and :math:`\ell` bars), so the number grows quickly.

print([qed.monomial_count(10, degree) for degree in (1, 2, 3, 6)])

# %%
# Even an ellipse is a linear problem. Its points satisfy
#
# .. math:: w_1 x_1^2 + w_2 x_2^2 + w_3 x_1 x_2 + w_4 x_1 + w_5 x_2 = 1 .
#
# These are five features, and a target that is 1 for every point. `qed.fit_conic` solves it and says what it found: an
# ellipse if :math:`w_3^2 < 4 w_1 w_2`, and something else otherwise. (The 1 on the right leaves out conics through the origin.)

orbit = qed.data.synthetic.ellipse(
    60, semi_axes=(3, 1.2), center=(1, -0.5), angle=0.5, noise=0.08, random_state=1
)
conic = qed.fit_conic(orbit)
across, up = np.meshgrid(np.linspace(-3, 5, 200), np.linspace(-3, 2.5, 200))
levels = conic.distance(np.column_stack([across.ravel(), up.ravel()])).reshape(across.shape)
figure, axes = plt.subplots(figsize=(5, 3), layout="constrained")
axes.plot(*orbit.T, ".", color="C1")
axes.contour(across, up, levels, levels=[0], colors="C0")
axes.set(aspect="equal", xlabel="x₁", ylabel="x₂", title=f"Least squares finds an {conic.kind}")
plt.show()
print(conic)

# %%
# A larger class contains the smaller one. So the error on the *training rows* can only fall, and it is useless for
# choosing. The *true error*, or risk, is the expected error on a new row; its stand-in is a mean over rows,
#
# .. math:: R(h) = \mathbb E\, \ell(h(x), y) , \qquad \hat R(h) = \frac1m \sum_{i=1}^m \ell(h(x_i), y_i) .
#
# Over the rows of the fit this mean is too friendly, since :math:`h` was chosen to make it small. Over rows that were *held
# out* it is right on average, and comes to :math:`R(h)` as they become more.
#
# The simplest way is to lay 30 % of the rows aside. That wastes them, and one draw may be lucky. So shuffle the rows once and
# cut them into ten parts, as equal as can be. Leave one out, fit the others, measure on the part; then the next. Every row is
# judged once, by a model that has not seen it. The mean of the ten errors is the *cross-validated* error. All candidates share
# the same parts, and the one with the least error is taken. (Its own error is then a little too friendly again: whoever wants
# to report a number keeps a third set of rows for it.) Sums over rows can be subtracted, so all ten fits come from a pass or
# two over the table.

features = qed.PolynomialFeatures(5, include_bias=False).fit_transform(income / 1000)
folds = qed.KFold(10, shuffle=True, random_state=0)
kept_out, on_the_rows = [], []
for degree in range(1, 6):
    columns = features[:, :degree]
    found = qed.cross_validate(
        qed.LinearRegression(), columns, food, cv=folds, scoring="neg_mean_squared_error"
    )
    kept_out.append(np.sqrt(-found["test_score"].mean()))
    on_the_rows.append(
        qed.root_mean_squared_error(
            food, qed.LinearRegression().fit(columns, food).predict(columns)
        )
    )

figure, (left, right) = plt.subplots(1, 2, figsize=(11, 3.9), layout="constrained")
left.plot(range(1, 6), on_the_rows, "o-", label="rows of the fit")
left.semilogy(range(1, 6), kept_out, "s--", label="rows held out")
left.set(
    xlabel="degree",
    xticks=range(1, 6),
    ylabel="root mean squared error (francs)",
    title="Which curve?",
)
left.legend()
right.plot(income, food, ".", color="grey", alpha=0.4)
for degree, style in ((1, "-"), (3, "--"), (5, ":")):
    curve = qed.PolynomialFeatures(degree, include_bias=False)
    fit = qed.LinearRegression().fit(curve.fit_transform(income / 1000), food)
    right.plot(at, fit.predict(curve.transform(at / 1000)), style, label=f"degree {degree}")
right.set(xlabel="income (francs a year)", ylim=(0, 2500), title="Three of them")
right.legend()
plt.show()
print("held out:", np.round(kept_out, 1))

# %%
# The training error falls all the way. The error on rows held out falls once, from the line to the parabola, and then
# takes off: a few rich households decide what a curve of high degree does at the right edge. A penalty is the other way
# to hold the curve back, and it is chosen in the same manner. (The degree says *which class* is searched, the penalty *how*:
# a model hyperparameter and one of optimisation. The fit sets neither. With the penalty the training error grows, from that
# of least squares to :math:`\|y\|^2`.)

scaled = qed.StandardScaler().fit_transform(features)
search = qed.Search(
    qed.Ridge(), {"alpha": np.logspace(-4, 4, 50)}, cv=folds, scoring="neg_mean_squared_error"
).fit(scaled, food)
print(search.how_)
print(
    f"penalty {search.best_params_['alpha']:.3g}, error {np.sqrt(-search.best_score_):.1f} "
    "francs"
)

# %%
# Where an error comes from
# -------------------------
#
# A fitted model is not the truth, for four reasons. No function could know the noise (the *oracle* has this error, too).
# The best of the *class* is not the oracle: *approximation*. What is best on the sample is not best on all:
# *generalisation*. And what a program finds is not the best on the sample: *optimisation*. A larger class
# brings the approximation nearer, and in the end generalises worse. In a world that we can draw from they can be told apart:


def draw(count, lots):
    """Draw points about a wave."""
    x = lots.uniform(-1, 1, (count, 1))
    return x, np.sin(3 * x[:, 0]) + 0.3 * lots.standard_normal(count)


class Powers:
    """Least squares on powers up to a degree."""

    def __init__(self, degree):
        self.map, self.line = (
            qed.PolynomialFeatures(degree, include_bias=False),
            qed.LinearRegression(),
        )

    def fit(self, X, y):
        self.line.fit(self.map.fit_transform(X), y)
        return self

    def predict(self, X):
        return self.line.predict(self.map.transform(X))


for degree in (1, 3, 9):
    parts = qed.risk_parts(
        Powers(degree),
        draw,
        lambda x: np.sin(3 * x[:, 0]),
        60,
        population=20_000,
        random_state=0,
    )
    print(
        f"degree {degree}: oracle {parts.oracle:.3f}, approximation "
        f"{parts.approximation:.3f}, ",
        end="",
    )
    print(f"generalisation {parts.generalisation:.3f}")

# %%
# All of this is *supervised* learning: somebody has told the answers, numbers here (*regression*) and labels in chapter 5
# (*classification*). Chapters 3 and 6 have rows without answers, chapter 9 rewards, and baskets in which things are found
# together. ``qed.catalogue()`` lists every method by its kind. One learns from data where nobody knows the rule, or can say
# it, or where it changes; otherwise one writes it down.
#
# Stepping through it
# -------------------
#
# Least squares needs no steps: it is solved in closed form. But it *can* be walked to, and it is worth seeing once.
# `qed.GradientRidge` minimises the same cost by conjugate gradients. Each step carries the objective and a *gap*: a
# bound on how far the objective is above its minimum.
#
# What to look for: the objective falls at once, but the gap tells how much is left, which the objective alone never
# does. With six columns, conjugate gradients are done after about six steps. That is a theorem, and you can watch it.

walk = qed.steps(qed.GradientRidge(alpha=0.1), series, employed)
for step, _ in zip(walk, range(8)):
    print(
        f"step {step.number}: objective {step.objective:.6g}, at most {step.gap:.1e} above "
        "the minimum (relative)"
    )

# %%
# Where the texts slip
# --------------------
#
# The course texts are good, and they have slips. We check ours against theirs, so we find them. For this chapter:
#
# - The guide writes the cost as :math:`L(w) = \min_w \|Xw - y\|^2`. The cost is a function of :math:`w`; the minimum is
#   a number.
# - It asks that :math:`X` and :math:`X^\top` both have full *column* rank. Only a square matrix could; :math:`X^\top`
#   has full *row* rank.
# - The normal equations can be solved because the range of :math:`X^\top X` equals that of :math:`X^\top`, not "that of
#   :math:`X^\top X`".
# - Ridge penalises the length of :math:`w`, not of :math:`x`; and :math:`1/(\sigma^2 + \lambda)` are the singular
#   values of the *inverse*.
# - The summary sheet minimises :math:`\frac1{2N}\|\Phi w - y\|^2 + \lambda\|w\|^2` and prints
#   :math:`(\Phi^\top\Phi + \lambda I)^{-1}\Phi^\top y`. The true minimiser has :math:`2N\lambda` there. Exercise 2
#   checks it.
# - The summary sheet gives :math:`2Ax` for the gradient of :math:`x^\top A x`. It is :math:`(A + A^\top) x`; both agree for
#   a symmetric :math:`A`, such as :math:`X^\top X`.
# - The course book says that the inverse is missing when there are too *few* dimensions. It is missing when columns are
#   dependent.
# - The lecture notes count :math:`1 + 4 + 6 + 4` products of four features up to the third degree. That leaves powers out;
#   with them there are :math:`\binom{7}{3} = 35`.
#
# Exercises
# ---------
#
# **Exercise 1.** Take the three points (0, 1), (1, 2), (2, 2). Find the best line by hand, from the normal equations.
# What is the residual, and what is it orthogonal to? Then check with `qed.LinearRegression`.
#
# .. solution::
#
#    The sums are :math:`X^\top X = \begin{pmatrix} 3 & 3 \\ 3 & 5 \end{pmatrix}` and :math:`X^\top y = (5, 6)`, so
#    :math:`w = (7/6, 1/2)`. The residual is :math:`(-1, 2, -1)/6`. It is orthogonal to the ones and to (0, 1, 2).

points, target = np.array([[0.0], [1.0], [2.0]]), np.array([1.0, 2.0, 2.0])
line = qed.LinearRegression().fit(points, target)
left_over = target - line.predict(points)
assert np.allclose([line.intercept_, line.coef_[0]], [7 / 6, 1 / 2])
assert np.allclose(left_over, np.array([-1, 2, -1]) / 6)
print(left_over.sum(), left_over @ points[:, 0])

# %%
# .. end-solution::
#
# **Exercise 2.** The summary sheet's objective is :math:`\frac1{2N}\|\Phi w - y\|^2 + \lambda\|w\|^2`. Which ``alpha``
# of `qed.Ridge` minimises it? Show with Longley's table (no intercept, centred columns) that the printed formula is not
# the minimiser.
#
# .. solution::
#
#    Multiply the objective by :math:`2N`: it becomes :math:`\|\Phi w - y\|^2 + 2N\lambda\|w\|^2`. So ``alpha`` is
#    :math:`2N\lambda`.

count, penalty = len(employed), 0.01
centred = employed - employed.mean()


def sheet(w):
    """Give the objective of the summary sheet."""
    return ((series @ w - centred) ** 2).sum() / (2 * count) + penalty * w @ w


right_one = qed.Ridge(2 * count * penalty, fit_intercept=False).fit(series, centred).coef_
printed = qed.Ridge(penalty, fit_intercept=False).fit(series, centred).coef_
assert sheet(right_one) < sheet(printed)
print(f"objective {sheet(right_one):.1f} with 2N lambda, {sheet(printed):.1f} with lambda")

# %%
# .. end-solution::
#
# **Exercise 3.** Leave one household out, fit the others, predict it, and do so for all 235. Is there a way without 235
# fits? (Hint: :math:`y_i - \hat y_{(-i)} = (y_i - \hat y_i)/(1 - h_i)`, with :math:`h_i` the diagonal of the shadow
# matrix :math:`P`.) Compare both.
#
# .. solution::
#
#    The shortcut is exact. `qed.Search` with ``cv="loo"`` uses it for you.

slowly = qed.cross_val_predict(qed.LinearRegression(), income, food, cv=qed.LeaveOneOut())
leverage = np.einsum("ij,jk,ik->i", X, np.linalg.inv(X.T @ X), X)
shortcut = residual / (1 - leverage)
assert np.allclose(food - slowly, shortcut)
print(f"largest difference {np.abs(food - slowly - shortcut).max():.1e} francs")

# %%
# .. end-solution::
#
# You can now fit, prove and choose. But the certificate speaks about the *cost*. Whether squares were the right cost
# depends on the noise, and that is the next chapter.
