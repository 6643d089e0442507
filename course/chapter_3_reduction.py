r"""
3. Dimensionality reduction: the best shadow
============================================

**The question.** A handwritten digit, eight by eight pixels, is a point in 64 dimensions. Nobody can look at 64
dimensions. Which plane shows most of the cloud? How much does the shadow miss? And is there a proof that no other plane
misses less?

Nobody gives labels here: this is *unsupervised* learning, like clustering in chapter 6. The chapter has two halves. This
one is about the nearest plane; the next about bent data, hidden causes, and what two tables share.
"""

import matplotlib.pyplot as plt
import numpy as np

import qed
from qed.stats import low_rank, project_on_line

X, digit = qed.data.load("digits").Xy()
print(X.shape)

# %%
# The direction of the largest spread
# -----------------------------------
#
# First move the cloud to the origin: subtract the mean of each column. (The means are kept: new rows lose the same.) The
# *shadow* of a row on a direction :math:`v`, a vector of length one, has the length :math:`x^\top v = \|x\| \cos\theta`. Look
# for the direction along which these vary most:
#
# .. math:: v_1 = \arg\max_{\|v\| = 1} \; \|Xv\|^2 = \arg\max_{\|v\| = 1} \; v^\top X^\top X\, v .
#
# The matrix :math:`X^\top X` is symmetric, so it has orthonormal eigenvectors, :math:`X^\top X = Q \Lambda Q^\top`.
# With :math:`z = Q^\top v`, also of length one,
#
# .. math:: v^\top X^\top X v = z^\top \Lambda z = \sum_k \lambda_k z_k^2 \le \lambda_1 ,
#
# because the :math:`z_k^2` add up to one. Equality holds for the first eigenvector. So :math:`v_1` is the eigenvector of
# the largest eigenvalue. The next direction, orthogonal to the first, is the next eigenvector, and so on. These are the
# *principal components*. The scores :math:`XV` along them are uncorrelated, and have the variances :math:`\lambda_k/n`.
# (The sign of a direction is free; where two eigenvalues are equal, so is the choice of the pair.)

plane = qed.PCA(2).fit(X)
scores = plane.transform(X)
figure, (left, right) = plt.subplots(
    1, 2, figsize=(11.5, 4.6), layout="constrained", width_ratios=[1.5, 1]
)
for k in range(10):
    rows = scores[digit == k]
    left.plot(
        *rows.T,
        linestyle="none",
        marker=f"${k}$",
        markersize=5.5,
        markeredgewidth=0,
        color=f"C{k % 5}",
    )
    left.text(
        *np.median(rows, axis=0), str(k), fontsize=16, weight="bold", ha="center", va="center"
    )
left.set(
    xlabel="first component",
    ylabel="second component",
    title="1797 digits in the plane of largest spread",
)
right.imshow(np.hstack([part.reshape(8, 8) for part in plane.components_]), cmap="RdBu")
right.axvline(7.5, color="black", linewidth=1)
right.set(title="The two directions, as pictures", xticks=[], yticks=[])
right.grid(visible=False)
plt.show()

# %%
# The labels were used for the drawing only. Still digits gather: zeros at one end, fours at another.
#
# The same as the nearest plane
# -----------------------------
#
# There is a second question with the same answer: which plane lies *nearest* to the rows? For a direction :math:`v` the
# shadow of a row is :math:`(x^\top v)\, v`. Pythagoras says
#
# .. math:: \|x - (x^\top v) v\|^2 = \|x\|^2 - (x^\top v)^2 .
#
# Sum over all rows. The first term does not depend on :math:`v`. So the least error is the largest spread. With
# :math:`k` directions the error that is left is the sum of the other eigenvalues, :math:`\sum_{j > k} \lambda_j`.

for count in (2, 8, 20, 40):
    model = qed.PCA(count).fit(X)
    print(
        f"{count} directions keep {model.explained_variance_ratio_.sum():.1%} of the variance"
    )

figure, panels = plt.subplots(1, 5, figsize=(11, 2.6), layout="constrained")
panels[0].imshow(X[15].reshape(8, 8), cmap="gray_r")
panels[0].set_title("64 numbers")
for panel, count in zip(panels[1:], (2, 8, 20, 40)):
    model = qed.PCA(count).fit(X)
    panel.imshow(
        model.inverse_transform(model.transform(X[15:16])).reshape(8, 8), cmap="gray_r"
    )
    panel.set_title(f"{count} numbers")
for panel in panels:
    panel.set(xticks=[], yticks=[])
    panel.grid(visible=False)
plt.show()

# %%
# How many directions are enough? There is no theorem. People draw the eigenvalues (a *scree plot*) and look for a bend,
# or ask for a share of the variance: `qed.PCA` with a number below one keeps as many as that needs.

most = qed.PCA(0.9).fit(X)
full = qed.PCA(60).fit(X)
figure, axes = plt.subplots(figsize=(7, 3.5), layout="constrained")
axes.plot(np.arange(1, 61), np.cumsum(full.explained_variance_ratio_), ".-")
axes.axhline(0.9, color="grey", linestyle="--", linewidth=1)
axes.axvline(most.n_components_, color="grey", linestyle="--", linewidth=1)
axes.set(
    xlabel="directions",
    ylabel="share of the variance kept",
    title=f"{most.n_components_} directions keep 90 %",
)
plt.show()

# %%
# Fewer numbers, the nearest matrix
# ---------------------------------
#
# Rows on a line need no two numbers each: one vector that all of them share, and one coefficient for each. A plane of
# :math:`k` dimensions through :math:`n` rows of :math:`d` columns takes :math:`k(d + n)` numbers in the place of
# :math:`dn`. What comes back from them, :math:`\tilde X = X V_k V_k^\top = \sum_{i \le k} \sigma_i u_i v_i^\top`, is by the
# theorem of *Eckart and Young* the nearest of all matrices of rank :math:`k`, at the squared distance
# :math:`\sum_{i > k} \sigma_i^2`. So components are the singular vectors of :math:`X`, and the best way to compress it.

on_a_line = np.array([[-7.0, -14.0], [2.5, 5.0], [0.5, 1.0], [0.0, 0.0]])
print(
    "(1, 2) times", project_on_line(on_a_line, [1.0, 2.0])[0], "are 6 numbers in the place of 8"
)
print(
    "100 x 100 of rank 3:",
    qed.reduction.stored(100, 100, 3),
    "numbers in the place of",
    qed.reduction.stored(100, 100),
)
centred = X - X.mean(axis=0)
squares = np.linalg.svd(centred, compute_uv=False) ** 2
for k in (2, 20):
    print(
        f"rank {k}: missed {((centred - low_rank(centred, k)) ** 2).sum():.2f}, by the "
        f"theorem {squares[k:].sum():.2f}"
    )

# %%
# The same components come *one at a time*: find the first, subtract the shadows on it (*deflation*), and find the first
# of what is left. And where there are more columns than rows, :math:`X X^\top` is the smaller matrix. It has the same
# eigenvalues, and with :math:`X X^\top \beta = \lambda \beta` the direction is :math:`v = X^\top \beta / \sqrt\lambda`. Sixty
# pictures of 64 pixels need no table of 64 by 64, and pictures of a million pixels none of a million squared.

rounds = np.array([direction for direction, _, _ in qed.reduction.deflation(X, 2)])
print(
    "deflation finds the same plane:",
    np.allclose(np.abs(rounds @ plane.components_.T), np.eye(2), atol=1e-8),
)
rows = X[:30] - X[:30].mean(axis=0)
values, beta = np.linalg.eigh(rows @ rows.T)
first = rows.T @ beta[:, -1] / np.sqrt(values[-1])
print(
    "from products of rows:",
    f"{abs(first @ qed.PCA(1).fit(X[:30]).components_[0]):.12f}",
    "is the cosine of the angle",
)

# %%
# *Whitening* goes one step further and divides each score by its deviation, :math:`Z = \sqrt{n}\, X V \Lambda^{-1/2}`. Then the
# covariance is the identity. It makes all directions equally loud, those of pure noise too, so it is for directions that
# one has decided to keep.

white = qed.PCA(5, whiten=True).fit(X)
print(
    "covariance of whitened scores, off the identity by",
    f"{np.abs(np.cov(white.transform(X).T) - np.eye(5)).max():.1e}",
)

# %%
# Units matter
# ------------
#
# The spread of a column depends on its unit. Measure one column in millimetres and it takes over the first component.
# The wines of the table ``wine`` show it: one of thirteen columns has large numbers, and nothing else is seen until the
# columns are standardised.

wine = qed.data.load("wine")
W, cultivar = wine.Xy()
raw, fair = qed.PCA(2).fit(W), qed.PCA(2).fit(qed.StandardScaler().fit_transform(W))
loudest = int(np.argmax(np.abs(raw.components_[0])))
share = raw.explained_variance_ratio_[0]
print(
    f"raw: {share:.1%} in one direction, {abs(raw.components_[0, loudest]):.4f} of which is "
    f"{wine.features[loudest]!r}"
)
print(f"standardised: {fair.explained_variance_ratio_.round(3).tolist()}")
figure, panels = plt.subplots(1, 2, figsize=(10, 3.7), layout="constrained")
for panel, model, table, name in zip(
    panels,
    (raw, fair),
    (W, qed.StandardScaler().fit_transform(W)),
    ("raw units", "standardised"),
):
    for kind, marker in zip(np.unique(cultivar), "os^"):
        panel.plot(
            *model.transform(table)[cultivar == kind].T, marker, markersize=4, label=kind
        )
    panel.set(title=name, xlabel="first component")
panels[0].set_ylabel("second component")
panels[1].legend(fontsize=8)
plt.show()

# %%
# The proof, and what its certificate checks
# ------------------------------------------
#
# Why can no plane be nearer? The argument above needs two facts: that the components are orthonormal, and that they are
# eigenvectors. Both can be checked by a multiplication. But there is a trap: *other* eigenvectors pass these two checks
# as well, and would be a worse plane. One has to show that none with a larger eigenvalue was missed.
#
# So take the plane out of the matrix, :math:`R = X^\top X - \sum_{j \le k} \lambda_j v_j v_j^\top`, and ask whether the
# rest has an eigenvalue above :math:`\lambda_k + \tau`, for a tiny :math:`\tau`. It has none exactly if
# :math:`(\lambda_k + \tau) I - R` is positive definite, and that is what a Cholesky factorisation finds out without any
# eigenvalue: it succeeds, or it does not. Then no plane can be nearer by more than about :math:`k\tau`.

print(qed.certify(plane, X))

# %%
# - *components are orthonormal*: they span a plane, and shadows are computed rightly.
# - *components are eigenvectors*: the residual of :math:`X^\top X v = \lambda v`.
# - *reconstruction error above the least possible, at most*: the trap, closed. Of all planes in 64 dimensions none is
#   nearer by more than this share of the variance.
#
# Swap the second component for the third, and the first two lines still hold. The third does not.

swapped = qed.PCA(2).fit(X)
third = qed.PCA(3).fit(X)
swapped.components_ = third.components_[[0, 2]]
swapped.explained_variance_ = third.explained_variance_[[0, 2]]
for claim in qed.certify(swapped, X):
    if "attributes" not in claim.says and "data" not in claim.says:
        print(f"{'holds' if claim.holds else 'FAILS':<6} {claim.says}: {claim.value:.1e}")

# %%
# Stepping through it
# -------------------
#
# `qed.PCA` is solved at once, so there is nothing to step through in it. But the oldest way to the first component is a
# loop of one line, the *power iteration*: multiply a vector by :math:`X^\top X`, scale it to length one, repeat. In
# each round the share of the other directions shrinks by :math:`\lambda_2/\lambda_1` or more. What to look for: the
# error falls on a straight line in the logarithm, and its slope is that ratio.

scatter = centred.T @ centred
v = np.ones(64) / 8.0
away = []
for _ in range(60):
    v = scatter @ v
    v /= np.linalg.norm(v)
    away.append(np.sqrt(max(1 - (v @ plane.components_[0]) ** 2, 1e-32)))
ratio = plane.explained_variance_[1] / plane.explained_variance_[0]
figure, axes = plt.subplots(figsize=(7, 3.3), layout="constrained")
axes.semilogy(away, ".-", label="sine of the angle to the first component")
axes.semilogy(away[5] * ratio ** (np.arange(60) - 5.0), "--", label=f"slope {ratio:.2f}")
axes.set(xlabel="rounds", ylim=(1e-5, 2), title="Power iteration")
axes.legend()
plt.show()

# %%
# Where the texts slip
# --------------------
#
# - In the proof with :math:`z = Q^\top v` the guide prints :math:`z^\top A z` where :math:`z^\top \Lambda z` is meant.
# - Pearson's correlation is said not to change under :math:`ax + b`, :math:`cy + d` for any :math:`a, c`. It changes
#   its *sign* when :math:`ac < 0`, and needs :math:`ac \ne 0`.
# - The summary sheet's example has the scatter matrix
#   :math:`\begin{pmatrix} 1 + \epsilon^2 & 1 - \epsilon^2 \\ 1 - \epsilon^2 & 1 + \epsilon^2 \end{pmatrix}` where half
#   of it is right. The directions are the same, the eigenvalues are 1 and :math:`\epsilon^2`. It also counts
#   :math:`d - m - 1` eigenvalues that are left out; there are :math:`d - m`.
# - Representatives of points on a line: :math:`(\sqrt 5, 2\sqrt 5)` is printed for the unit vector, which is
#   :math:`(1/\sqrt 5, 2/\sqrt 5)`.
# - The lecture notes lack a factor :math:`1/n` in :math:`w_k = \sum_i (x_i^\top w_k)\, x_i / (n \lambda_k)`, and write
#   :math:`x_i^\top x_i` (a number) for :math:`x_i x_i^\top` (a matrix).
#
# Exercises
# ---------
#
# **Exercise 1.** Take the four points (2, 0), (-2, 0), (0, 1), (0, -1). Find both components and the error of the best
# line by hand. Check.
#
# .. solution::
#
#    :math:`X^\top X = \operatorname{diag}(8, 2)`. So :math:`v_1 = (1, 0)`, and the error is the other eigenvalue, 2:
#    the two points on the second axis, at distance 1 each.

points = np.array([[2.0, 0.0], [-2.0, 0.0], [0.0, 1.0], [0.0, -1.0]])
line = qed.PCA(1).fit(points)
back = line.inverse_transform(line.transform(points))
assert np.allclose(np.abs(line.components_), [[1, 0]]) and np.isclose(
    ((points - back) ** 2).sum(), 2
)
print(np.abs(line.components_), ((points - back) ** 2).sum())

# %%
# .. end-solution::
#
# **Exercise 2.** Forget to centre. Shift all digits by the same large picture (say 100 in every pixel). What does PCA
# say? What would the eigenvectors of the raw :math:`X^\top X` say?
#
# .. solution::
#
#    `qed.PCA` subtracts the mean, so nothing changes. The first eigenvector of the raw matrix points to the mean: it
#    says where the cloud is, not how it varies.

far = X + 100.0
same = qed.PCA(2).fit(far)
assert np.allclose(same.explained_variance_, plane.explained_variance_)
first = np.linalg.eigh(far.T @ far)[1][:, -1]
cosine = abs(first @ far.mean(axis=0)) / np.linalg.norm(far.mean(axis=0))
print(
    "without centring the first direction is the mean, up to an angle of "
    f"{np.degrees(np.arccos(min(cosine, 1))):.2f} degrees"
)
assert cosine > 0.999

# %%
# .. end-solution::
#
# **Exercise 3.** Does reduction help a classifier? Compare nearest neighbours on 64 pixels with nearest neighbours on
# 2, 8 and 20 components, on rows held out.
#
# .. solution::
#
#    Two components are not enough. Twenty do as well as all pixels, with a third of the numbers. (Fit the components on
#    the training rows only, or the test rows have been looked at.)

X_train, X_test, d_train, d_test = qed.train_test_split(X, digit, test_size=0.3, random_state=0)
results = {"pixels": qed.KNeighborsClassifier(3).fit(X_train, d_train).score(X_test, d_test)}
for count in (2, 8, 20):
    map_ = qed.PCA(count).fit(X_train)
    near = qed.KNeighborsClassifier(3).fit(map_.transform(X_train), d_train)
    results[count] = near.score(map_.transform(X_test), d_test)
print({name: f"{value:.1%}" for name, value in results.items()})
assert results[2] < 0.8 < results[8] and abs(results[20] - results["pixels"]) < 0.02

# %%
# .. end-solution::
#
# A plane is straight, depends on units, and follows the loudest noise. The second half of the chapter is about the ways
# around that.
