r"""
3. Reduction, continued: bent shadows, hidden causes, shared directions
=======================================================================

**The question.** Twenty men did chin-ups, sit-ups and jumps; their weight, waist and pulse were taken. What have these
two tables in common? Principal components, the first half of this chapter, can not say: they look at one table, they are
straight, and they take large noise for something important. Here are the ways around each of these.
"""

from itertools import islice

import matplotlib.pyplot as plt
import numpy as np

import qed
from qed.kernels import Polynomial, centred

linnerud = qed.data.load("linnerud")
exercises, body = linnerud.Xy()
print(exercises.shape, body.shape, linnerud.features, linnerud.about.target)

# %%
# What has to be beaten
# ---------------------
#
# The cheapest reductions make nothing new: keep :math:`k` columns drawn by lot, or the :math:`k` that vary most. No
# choice of columns keeps more variance than :math:`k` principal components do, because a column is a direction too. And
# two columns that vary much may be copies of each other; then one of them is wasted.
#
# Directions can be drawn by lot as well: a vector of independent normal numbers, scaled to length one, points nowhere in
# particular. It knows nothing of the data, so it can not rank directions. But on average
#
# .. math:: \mathbb E (x^\top v)^2 = \|x\|^2 / d ,
#
# so :math:`k` of them, suitably scaled, keep every squared distance on average, and by the lemma of Johnson and
# Lindenstrauss *all* distances between :math:`n` rows nearly, where :math:`k` is of the order of
# :math:`\log n / \varepsilon^2`. The number of columns plays no part in that.

X, digit = qed.data.load("digits").Xy()
sizes = np.array([1, 2, 4, 8, 16, 32, 60])
kept = {
    "principal components": [qed.PCA(k).fit(X).explained_variance_ratio_.sum() for k in sizes],
    "columns that vary most": [qed.TopVariance(k).fit(X).captured_ for k in sizes],
    "columns by lot": [qed.RandomColumns(k, random_state=0).fit(X).captured_ for k in sizes],
}
few = X[:60]
apart = np.triu_indices(len(few), 1)


def squares(table):
    """Give the squared distances of all pairs of rows."""
    return ((table[:, None] - table[None]) ** 2).sum(axis=2)[apart]


figure, (left, right) = plt.subplots(1, 2, figsize=(11, 3.6), layout="constrained")
for (name, shares), line in zip(kept.items(), ("-", "--", ":")):
    left.plot(sizes, shares, line, marker=".", label=name)
left.set(
    xlabel="numbers kept, of 64",
    ylabel="share of the variance",
    title="What is kept of the digits",
)
left.legend()
for k, line in ((8, ":"), (48, "-")):
    ratio = squares(
        qed.GaussianRandomProjection(k, random_state=0).fit_transform(few)
    ) / squares(few)
    right.hist(
        ratio,
        bins=40,
        range=(0, 2.5),
        histtype="step",
        linestyle=line,
        linewidth=2,
        label=f"{k} directions",
    )
right.axvline(1, color="grey", linewidth=1)
right.set(
    xlabel="squared distance after, over before",
    ylabel="pairs of rows",
    title="Random directions",
)
right.legend()
plt.show()

# %%
# Components of bent data: kernels
# --------------------------------
#
# Points on a circle vary alike in all directions, and no line is near them. But with the features
# :math:`\phi(x) = (x_1^2, x_2^2, \sqrt 2 x_1 x_2, \sqrt 2 x_1, \sqrt 2 x_2, 1)` the equation of a circle is *linear*: its
# points lie in a hyperplane of the features. So make the features, centre them, and take their components.
#
# There may be very many features, or infinitely many. They are not needed. A component lies in the span of the rows,
# :math:`v = \Phi^\top \alpha`, and only inner products :math:`K_{ij} = \phi(x_i)^\top \phi(x_j) = k(x_i, x_j)` enter:
#
# .. math:: \Phi^\top \Phi\, v = \lambda v \quad\Leftrightarrow\quad K \beta = \lambda \beta, \qquad
#           \alpha = \beta / \sqrt{\lambda}, \qquad \text{scores} = K \alpha .
#
# One thing is easily forgotten: the *features* must be centred, and nobody has them. Their products can be centred all
# the same. With :math:`H = I - \frac 1n 1 1^\top`,
#
# .. math:: K^c = H K H, \qquad K^c_{ij} = K_{ij} - \theta_i - \theta_j + \rho ,
#
# where :math:`\theta_i` is the mean of row :math:`i` and :math:`\rho` the mean of all. New rows use the same means.

rings, ring = qed.data.synthetic.rings(300, radii=(1.0, 3.0), noise=0.1, random_state=0)
table = centred(Polynomial(2)(rings))
print("largest row sum of the centred table:", f"{np.abs(table.sum(axis=1)).max():.1e}")
by_kernel = qed.KernelPCA(4, kernel="poly", degree=2).fit(rings)
by_features = qed.FeatureSpacePCA(4, kernel="poly", degree=2).fit(rings)
same = np.abs(np.abs(by_kernel.transform(rings)) - np.abs(by_features.transform(rings))).max()
print(f"components of 300 x 300 products and of 5 features differ by {same:.1e}")

figure, panels = plt.subplots(1, 3, figsize=(11, 3.4), layout="constrained")
radial = qed.KernelPCA(2, kernel="rbf", gamma=0.15).fit(rings)
views = {
    "rows": rings,
    "squares and products": by_kernel.transform(rings)[:, :2],
    "radial kernel": radial.transform(rings),
}
for panel, (name, points) in zip(panels, views.items()):
    for value, marker in zip(np.unique(ring), "o^"):
        panel.plot(*points[ring == value].T, marker, markersize=3.5, label=f"ring {value}")
    panel.set(title=name, xlabel="first", ylabel="second")
figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=2)
plt.show()

# %%
# The price: a table of :math:`n^2` products and :math:`O(n^3)` for its eigenvectors, where PCA needs :math:`O(n d^2)`.
# And there is no way back: a point of the plane is in general the image of no row (*pre-image problem*).
#
# Hidden causes
# -------------
#
# So far a plane was the *nearest*. It is also the *most likely*, in a model of how rows come about. A few hidden
# standard normal numbers :math:`z` are mixed and noise is added,
#
# .. math:: x = \mu + \Lambda z + \varepsilon, \quad \varepsilon \sim \mathcal N(0, \Psi)
#           \qquad\Rightarrow\qquad x \sim \mathcal N(\mu,\ \Lambda\Lambda^\top + \Psi) .
#
# With :math:`\Psi = \sigma^2 I` (*probabilistic PCA*) the likelihood is maximal at
#
# .. math:: \hat\mu = \bar x, \quad \hat\sigma^2 = \frac 1{d - k} \sum_{i > k} \lambda_i, \quad
#           \hat\Lambda = V_k (L_k - \hat\sigma^2 I)^{1/2} R ,
#
# where the :math:`\lambda_i` are the eigenvalues of the covariance and :math:`R` is any rotation: turned causes tell the
# same story. The plane is that of PCA. What is new: one can ask how likely a row is, draw new rows, and compare numbers
# of components by the likelihood of rows that were held out. If every column has noise of its own (*factor analysis*,
# :math:`\Psi` diagonal), there is no formula, but units no longer matter.

iris, species = qed.data.load("iris").Xy()
hidden, factors = qed.ProbabilisticPCA(1).fit(iris), qed.FactorAnalysis(1).fit(iris)
for name, model in (("one noise for all", hidden), ("noise for each column", factors)):
    covariance = model.components_.T @ model.components_ + np.diag(
        np.broadcast_to(model.noise_variance_, 4)
    )
    off = np.abs(covariance - np.cov(iris.T, bias=True)).max()
    print(
        f"{name:>21}: log-likelihood of a row {model.score(iris):.3f}, covariances missed "
        f"by at most {off:.2f}"
    )
scaled = qed.FactorAnalysis(1).fit(iris * np.array([1.0, 10.0, 1.0, 1.0]))
print(
    "noise of the second column, in centimetres and in millimetres:",
    factors.noise_variance_[1].round(4),
    end=" ",
)
print((scaled.noise_variance_[1] / 100).round(4))

# %%
# What two tables share
# ---------------------
#
# PCA has two weaknesses that no likelihood cures: it depends on units, and noise that is strong enough becomes the first
# component. If a *second* table about the same rows is at hand there is a better question: which direction :math:`u` in
# the first and which :math:`v` in the second are correlated most? Pearson's correlation of the centred scores is
#
# .. math:: \hat\rho(Xu, Yv) = \frac{u^\top X^\top Y v}{\sqrt{u^\top X^\top X u}\,\sqrt{v^\top Y^\top Y v}} .
#
# *Whitening* makes the denominator disappear. With :math:`X^\top X = U_x S_x U_x^\top` let
# :math:`W_x = U_x S_x^{-1/2} U_x^\top`; the columns of :math:`X_w = X W_x` are orthonormal. The same for :math:`Y`. With
# :math:`u = W_x a`, :math:`v = W_y b` what is left is
#
# .. math:: \max_{\|a\| = \|b\| = 1} a^\top (X_w^\top Y_w)\, b ,
#
# the largest *singular value* of :math:`X_w^\top Y_w = D_x S D_y^\top`. So :math:`u_i = W_x D_x e_i`,
# :math:`v_i = W_y D_y e_i`, and the *canonical correlations* are :math:`1 \ge S_{11} \ge S_{22} \ge \dots \ge 0`.

X_w = (exercises - exercises.mean(axis=0)) @ qed.reduction.whitening_matrix(
    len(body) * np.cov(exercises.T, bias=True)
)
Y_w = (body - body.mean(axis=0)) @ qed.reduction.whitening_matrix(
    len(body) * np.cov(body.T, bias=True)
)
pairs = qed.CCA().fit(exercises, body)
print(
    "by hand:",
    np.linalg.svd(X_w.T @ Y_w, compute_uv=False).round(4),
    " qed.CCA:",
    pairs.correlations_.round(4),
)
u, v = pairs.transform(exercises, body)
figure, (left, right) = plt.subplots(
    1, 2, figsize=(10.5, 3.7), layout="constrained", width_ratios=[1.2, 1]
)
left.plot(u[:, 0], v[:, 0], "o")
left.set(
    xlabel="score of the exercises",
    ylabel="score of the body",
    title=f"correlation {pairs.correlations_[0]:.2f}",
)
right.bar(["first", "second", "third"], pairs.correlations_)
right.set(ylabel="canonical correlation", xlabel="pair", ylim=(0, 1), title="What is shared")
plt.show()

# %%
# Twenty men and six columns: how much of 0.80 is chance? Mix up the rows of one table; then nothing is shared, and the
# first correlation is that of luck.

generator = np.random.default_rng(0)
luck = [
    qed.CCA(1).fit(exercises, generator.permutation(body)).correlations_[0] for _ in range(200)
]
print(
    f"by luck {np.mean(luck):.2f} on average; {np.mean(luck >= pairs.correlations_[0]):.1%} "
    "of 200 draws reach 0.80"
)

# %%
# Noise that is not shared is not seen, however strong it is. Here :math:`Y = X` plus noise of standard deviation 30 along
# one direction. PCA of :math:`Y` finds the noise; CCA finds the two directions without it.

clean = generator.standard_normal((2000, 3))
axis = np.array([1.0, 1.0, 0.0]) / 2**0.5
noisy = clean + np.outer(30 * generator.standard_normal(2000), axis)
print("first component of Y:", np.abs(qed.PCA(1).fit(noisy).components_[0]).round(3))
print("canonical correlations:", qed.CCA().fit(clean, noisy).correlations_.round(3))

# %%
# A story behind it: some causes are shared, :math:`Z_J`, and some are private,
#
# .. math:: \begin{bmatrix} X \\ Y \end{bmatrix} = \begin{bmatrix} A & B & 0 \\ 0 & C & D \end{bmatrix}
#           \begin{bmatrix} Z_X \\ Z_J \\ Z_Y \end{bmatrix}, \qquad
#           \Sigma_{XX} = AA^\top + BB^\top, \quad \Sigma_{XY} = BC^\top, \quad \Sigma_{YY} = CC^\top + DD^\top .
#
# For two numbers :math:`B = \sigma_x \sqrt{|\rho|}` and :math:`A = \sigma_x \sqrt{1 - |\rho|}` do it, and for tables the
# same recipe pair by pair. `latent` gives such matrices; they are not unique, since causes can be turned.
#
# Pairs also *predict*: go from :math:`X` to its scores, multiply by :math:`S`, and come back to :math:`Y`. With all pairs
# (and no more columns in :math:`Y` than in :math:`X`) that is least squares, column by column. With fewer the columns of
# :math:`Y` vote on what can be predicted at all.

told = pairs.latent()
covariance = np.cov(np.hstack([exercises, body]).T, bias=True)
print(
    "the story misses the covariances by", f"{np.abs(told.covariance() - covariance).max():.1e}"
)
line = qed.LinearRegression().fit(exercises, body)
print(
    "all pairs against least squares:",
    f"{np.abs(pairs.predict(exercises) - line.predict(exercises)).max():.1e}",
)

# %%
# The proof, and what its certificate checks
# ------------------------------------------
#
# Why can no pair be correlated more? After whitening, :math:`a^\top M b \le \|a\|\,\|b\|\,S_{11}` for the largest
# singular value of :math:`M = X_w^\top Y_w`, by Cauchy and Schwarz in the bases of its singular vectors. As with PCA the
# trap is that *other* singular vectors satisfy the same equations, so one must also show that none was missed.

print(qed.certify(qed.CCA(1).fit(exercises, body), exercises, body))

# %%
# - *scores have variance one, and no correlations but those said*: the :math:`i`-th scores of the two tables are correlated by
#   :math:`S_{ii}`, and with no others.
# - *directions are stationary*: they satisfy the equations of singular vectors.
# - *a pair beyond these is correlated more by, at most*: the trap, closed.
#
# For the hidden causes the same trap is closed by the last but two of these lines:

print(qed.certify(hidden, iris))

# %%
# Stepping through it
# -------------------
#
# Factors have no formula, so they are found by steps. Each step is one of *expectation* and *maximisation* (chapter 6
# explains why these never lose likelihood) or of Newton's method, whichever is likelier. What to look for: the likelihood
# never falls; the first steps bring nearly all of it; and the noise of one column may run towards zero (a *Heywood
# case*), which is why there is a floor.

rise = [-step.objective for step in islice(qed.steps(qed.FactorAnalysis(1), iris), 25)]
figure, axes = plt.subplots(figsize=(7, 3.2), layout="constrained")
axes.semilogy(np.maximum(rise[-1] - np.array(rise), 1e-16)[:-1], ".-")
axes.set(
    xlabel="step", ylabel="log-likelihood still missing", title="Factor analysis of the irises"
)
plt.show()
assert (np.diff(rise) >= -1e-9 * np.abs(rise[-1])).all()

# %%
# Where the texts slip
# --------------------
#
# - The objective of CCA is printed with :math:`u^\top \dots u` in the numerator and :math:`X^\top X` for
#   :math:`X^\top Y`, and several transposes are lost on the way. The formula above is the right one.
# - The diagonal :math:`S_x` is written with the wrong number of entries: there are :math:`p` of them, one for each column.
# - The lecture notes' vector for a circle around :math:`(a, b)` begins :math:`a^2 + b^2 - c^2`; with :math:`r^2` the features of
#   its points are orthogonal to it.
# - Principal components in feature space: :math:`U_m` is printed as :math:`d \times m`. It has a row for each of the
#   :math:`M` *features*, not for each column.
# - Projected data are called *independent*. They are uncorrelated, which is less, unless they are normal.
# - Nothing is said about tables that can not be whitened (dependent columns, fewer rows than columns). There `qed.CCA`
#   whitens what there is and warns; `alpha` adds noise to each column, and is what one should use.
#
# Exercises
# ---------
#
# **Exercise 1.** Let :math:`\sigma_x = 2`, :math:`\sigma_y = 3` and :math:`\rho = -0.25`. Which :math:`A, B, C, D` tell the
# story of shared causes? Check the three equations.
#
# .. solution::
#
#    :math:`A = 2\sqrt{0.75} = 1.732`, :math:`B = 2\sqrt{0.25} = 1`, :math:`C = -3\sqrt{0.25} = -1.5` (the sign goes
#    here) and :math:`D = 3\sqrt{0.75} = 2.598`.

story = qed.reduction.SharedLatent.of_numbers(2.0, 3.0, -0.25)
A, B, C, D = (part[0, 0] for part in (story.A, story.B, story.C, story.D))
assert np.allclose([A, B, C, D], [3**0.5, 1, -1.5, 1.5 * 3**0.5])
assert np.allclose([A**2 + B**2, B * C, C**2 + D**2], [4, -0.25 * 6, 9])
print(A.round(3), B, C, D.round(3))

# %%
# .. end-solution::
#
# **Exercise 2.** What does the centred table of products of degree two know about a circle? Count its rank on a circle
# and on points drawn at random, and explain the difference.
#
# .. solution::
#
#    Six features, one of which is constant: centring takes it, five are left. On a circle the features satisfy one
#    linear equation more, so four are left.

angle = np.linspace(0, 2 * np.pi, 40, endpoint=False)
circle = np.column_stack([0.5 + 2 * np.cos(angle), -0.7 + 2 * np.sin(angle)])
ranks = [
    int(np.linalg.matrix_rank(centred(Polynomial(2)(points))))
    for points in (circle, generator.standard_normal((40, 2)))
]
assert ranks == [4, 5]
print(ranks)

# %%
# .. end-solution::
#
# **Exercise 3.** Change units: measure the waist in millimetres. What happens to the first component of the body table,
# and what to the canonical correlations? Then take twelve rows of pure noise, six columns each: what is the first
# correlation, and what does `alpha` do about it?
#
# .. solution::
#
#    The component turns to the waist; the correlations do not move, because whitening undoes any invertible map. With as
#    many columns as rows noise is "shared" perfectly. `alpha` does not believe it.

units = np.where(np.array(linnerud.about.target) == "waist", 1000.0, 1.0)
assert np.abs(qed.PCA(1).fit(body * units).components_[0]).max() > 0.9999
assert np.allclose(qed.CCA().fit(exercises, body * units).correlations_, pairs.correlations_)
first, second = generator.standard_normal((2, 12, 6))
believed, shrunk = qed.CCA(1).fit(first, second), qed.CCA(1, alpha=1.0).fit(first, second)
assert believed.correlations_[0] > 0.99 > 0.9 > shrunk.correlations_[0]
print(f"{believed.correlations_[0]:.3f} {shrunk.correlations_[0]:.3f}")

# %%
# .. end-solution::
#
# Components, kernels and pairs come from eigenvectors, factors from steps uphill. Most other things have no formula
# either. The next chapter finds minima by walking.
