r"""
6. Clustering: groups that nobody named
=======================================

**The question.** Take the labels of the penguins away. Only the bills are left. Do they fall into groups, and into how
many? Which bird belongs to which? And how can anything be *proven* when there is no right answer to compare with?

Two answers belong together in this chapter. *k-means* looks for centres. A *mixture of Gaussians* looks for clouds.
Both guess who belongs where, then improve the centres, then guess again.
"""

from itertools import islice

import matplotlib.pyplot as plt
import numpy as np

import qed

table = qed.data.load("penguins").to_pandas().dropna(subset=["bill_length_mm"])
X = qed.StandardScaler().fit_transform(
    table[["bill_length_mm", "bill_depth_mm"]].to_numpy(float)
)
species = table["species"].to_numpy(str)  # kept in the drawer until the end

# %%
# Centres
# -------
#
# Rows of one group should be alike, rows of two groups should not. *Alike* is mostly a small distance. (A *distance* is
# never negative, zero for equal points only, symmetric, and no way is longer than a detour. The squared one fails the last.
# Which measure is right is a decision about the subject, not about numbers.) Choose :math:`k` centres
# :math:`c_1, \dots, c_k` and give every row to one of them, so that rows lie close to their centres:
#
# .. math:: \min_{c, z} \; \sum_i \|x_i - c_{z_i}\|^2 .
#
# To find the best is hard (NP-hard): there are :math:`k^n` ways to share rows out. But each half of the problem is
# easy.
#
# *If the centres are known*, every row goes to the nearest one.
#
# *If the groups are known*, every centre goes to the mean of its rows. For a group :math:`C` with mean :math:`\bar x`
# and any other point :math:`c`,
#
# .. math:: \sum_{i \in C} \|x_i - c\|^2 = \sum_{i \in C} \|x_i - \bar x\|^2 + |C|\, \|c - \bar x\|^2 .
#
# *Lloyd's algorithm* alternates the two, at a price of :math:`O(nkd)` a round. It begins with centres drawn by lot; *k-means++*
# draws a row with a chance in proportion to its squared distance from the centres so far. On average that costs at most
# :math:`8(\ln k + 2)` times the least possible, even before Lloyd begins.

walk = qed.steps(qed.KMeans(3, init="random", n_init=1, random_state=1), X)
figure, panels = plt.subplots(1, 4, figsize=(13, 3.5), layout="constrained")
objectives = []
for step in islice((step for step in walk if not step.prepares), 12):
    objectives.append(step.objective)
    if step.number in (0, 1, 3):
        model = walk.model_at(step)
        panel = panels[(0, 1, 3).index(step.number)]
        for cluster, marker in enumerate("os^"):
            panel.plot(
                *X[model.labels_ == cluster].T,
                marker,
                color=f"C{cluster}",
                markersize=3,
                alpha=0.7,
            )
        panel.plot(*model.cluster_centers_.T, "kX", markersize=10, markeredgecolor="white")
        panel.set(title=f"step {step.number}", xticks=[], yticks=[])
    if step.gap == 0:
        break
panels[3].plot(objectives, ".-")
panels[3].set(title="The objective never rises", xlabel="step")
plt.show()

# %%
# The proof, and what its certificate checks
# ------------------------------------------
#
# Why does it end? Each half step is an exact minimisation, so the objective never rises. There are finitely many ways
# to share rows out, and none comes back once the objective has fallen. So after finitely many steps nothing changes any
# more. Then every row is with its nearest centre and every centre is the mean of its rows. The groups are *Voronoi cells*:
# :math:`x` is nearer to :math:`\mu_1` than to :math:`\mu_2` exactly if :math:`x^\top (\mu_2 - \mu_1) \le
# (\|\mu_2\|^2 - \|\mu_1\|^2)/2`, a half-space, and a cell is where several of them meet. So it is convex.
#
# That is a *local* optimum, and it may be a bad one. Four points at the corners of a long rectangle show it:

corners = np.array([[0.0, 0.0], [0.0, 1.0], [4.0, 0.0], [4.0, 1.0]])
bad = qed.KMeans(2, init=np.array([[2.0, 0.0], [2.0, 1.0]]), n_init=1).fit(corners)
good = qed.KMeans(2, random_state=0).fit(corners)
print(f"the same data, two resting places: {bad.inertia_:g} and {good.inertia_:g}")

# %%
# So the certificate must not claim too much. It checks the resting place, and no more:

means = qed.KMeans(3, random_state=0).fit(X)
print(qed.certify(means, X))

# %%
# - *rows are with their nearest centre* and *centres are the means of their rows*: the two conditions above, for all
#   rows.
# - *inertia_ is that of the data*: the objective, computed again.
# - *the objective never rose*: the fit kept its trace, and the theorem about it is checked.
#
# How good the resting place is, no certificate of this kind can tell. Many starts help: `qed.KMeans` keeps the best of
# ``n_init`` runs.
#
# How many?
# ---------
#
# More centres always cost less: with one for each row nothing is left. So the objective can not choose :math:`k`.
# People look for an *elbow* in its curve. The *silhouette* compares, for every row, its own group with the next one: 1
# is a clear case, 0 a row on the border.

path = qed.kmeans_path(X, range(1, 9), random_state=0)
figure, (left, right) = plt.subplots(1, 2, figsize=(10, 3.5), layout="constrained")
left.plot(path.n_clusters, path.inertia, "o-")
left.set(xlabel="number of clusters", ylabel="objective", title="An elbow at 3?")
right.plot(path.n_clusters[1:], path.silhouette[1:], "s-", color="C1")
right.set(xlabel="number of clusters", ylabel="silhouette", title="The best silhouette is at 3")
plt.show()

# %%
# Clouds
# ------
#
# First make the groups soft. *Soft k-means* gives every row in shares,
# :math:`r_{ik} \propto e^{-\beta\|x_i - c_k\|^2}`, and moves each centre to the mean weighted with them. For large
# :math:`\beta` it is k-means again. For small :math:`\beta` all centres melt into one. (As it will turn out, it is EM for round
# clouds of equal weight whose variance :math:`1/(2\beta)` is known.)


def apart(centres):
    """Give how far centres are from their mean, together."""
    return np.linalg.norm(centres - centres.mean(axis=0))


for beta in (0.1, 1.0, 100.0):
    soft = qed.SoftKMeans(3, beta=beta, random_state=0).fit(X)
    print(f"beta {beta:>5g}: centres {apart(soft.cluster_centers_):.2f} apart")
print(f"k-means:    centres {apart(means.cluster_centers_):.2f} apart")

# %%
# Which :math:`\beta` is right? Nothing tells. And two weaknesses of k-means are left. It measures all directions alike,
# so its groups are round. And it says nothing about probability. A *mixture of Gaussians* mends all of it. A hidden
# label :math:`z` is drawn first, with probability :math:`\alpha_k`, then a row from its cloud:
#
# .. math:: p(x) = \sum_k \alpha_k\, N(x;\, \mu_k, \Sigma_k) .
#
# In one column that is :math:`3k - 1` parameters. If the labels were known, the likelihood would be that of chapter 5,
# cloud by cloud. They are not. The log-likelihood :math:`\ell = \sum_i \log \sum_k \alpha_k N(x_i; \mu_k, \Sigma_k)` has a
# sum inside the logarithm, so no formula gives its maximum. (It has slopes, of course,
# :math:`\Sigma_k^{-1} \sum_i q_{ik} (x_i - \mu_k)` by :math:`\mu_k`, with :math:`q` as below, and one could descend.) Here
# is the idea that does better. Jensen's inequality says that :math:`\log` of a mean is at least the mean of :math:`\log`,
# as a concave curve lies below its tangents. For any shares :math:`q_{ik} \ge 0` with :math:`\sum_k q_{ik} = 1`, it moves
# the logarithm inside:
#
# .. math:: \ell = \sum_i \log \sum_k q_{ik} \frac{p(x_i, k)}{q_{ik}}
#    \;\ge\; \sum_i \sum_k q_{ik} \log \frac{p(x_i, k)}{q_{ik}} = F(q, \theta) .
#
# The difference is :math:`\ell - F = \sum_i \operatorname{KL}(q_i \,\|\, p(\cdot \mid x_i))`. It vanishes when
# :math:`q` is the posterior. So climb :math:`F`, in turn:
#
# **E step.** Take :math:`q_{ik} = \alpha_k N(x_i; \mu_k, \Sigma_k) / \sum_j \alpha_j N(x_i; \mu_j, \Sigma_j)`. Now
# :math:`F` touches :math:`\ell`.
#
# **M step.** With these shares fixed, the best parameters are weighted means and covariances,
#
# .. math:: \mu_k = \frac{\sum_i q_{ik} x_i}{\sum_i q_{ik}} ,
#    \qquad \Sigma_k = \frac{\sum_i q_{ik} (x_i - \mu_k)(x_i - \mu_k)^\top}{\sum_i q_{ik}} ,
#    \qquad \alpha_k = \frac1n \sum_i q_{ik} .
#
# :math:`F` rises in both, and :math:`\ell \ge F` with equality after each E step. So the likelihood never falls. This
# is *expectation maximisation*, EM. (Whoever rounds the shares to 0 and 1 gets k-means, if clouds are round, equal and known.)

mixture = qed.GaussianMixture(
    3, init_params="random_from_data", random_state=3, tol=1e-6, max_iter=500
)
walk = qed.steps(mixture, X)
figure, panels = plt.subplots(1, 4, figsize=(13, 3.5), layout="constrained")
shown = iter(panels[:3])
for step in walk:
    if step.number in (0, 8, 40) and not step.prepares:
        panel = qed.plots.ellipses(walk.model_at(step), X, next(shown))
        panel.set(title=f"step {step.number}", xticks=[], yticks=[])
    if step.number == 40:
        break
mixture.fit(X)
panels[3].plot(mixture.lower_bounds_)
panels[3].set(title="The likelihood never falls", xlabel="step", ylabel="mean log-likelihood")
plt.show()

# %%
# Its certificate:

clouds = qed.GaussianMixture(3, random_state=0, tol=1e-6, max_iter=500).fit(X)
print(qed.certify(clouds, X))

# %%
# - *another step would move the mixture by*: how much one more E and M step would raise the bound. Zero would be a
#   stationary point.
# - *weighted means add up to the mean of the rows*, *covariances within and between components add up*: after any M
#   step :math:`\sum_k \alpha_k \mu_k = \bar x`, and the same for second moments. Nobody imposes it, so it is a good
#   check.
# - *the likelihood never fell*: the theorem above.
#
# Note what is missing: that this is the *highest* likelihood. There is none! A cloud that shrinks onto a single row has
# a density without bound. ``reg_covar`` puts a floor under it. And among the resting places that make sense there are
# several, as with k-means. Twelve starts by lot show it; a start from k-means, the default, is a good guess.

heights = []
for seed in range(12):
    start = qed.GaussianMixture(
        3, init_params="random_from_data", random_state=seed, tol=1e-6, max_iter=500
    )
    heights.append(start.fit(X).lower_bound_)
print("starts by lot:", np.sort(heights).round(3))
print("from k-means: ", round(clouds.lower_bound_, 3))

# %%
# For the number of clouds there is a price: BIC takes :math:`\tfrac12 \log n` off the log-likelihood for every
# parameter, AIC takes 1. (The table has minus twice the rest: :math:`K \log n - 2 \ell` and :math:`2K - 2\ell` for :math:`K`
# parameters.)

print(qed.mixture_path(X, range(1, 7), random_state=0))

# %%
# Now open the drawer. How well do the groups agree with the species? The adjusted Rand index is 1 for the same
# partition and 0 for one by chance.

figure, panels = plt.subplots(1, 3, figsize=(12, 3.8), layout="constrained", sharey=True)
answers = {
    "species": np.searchsorted(["Adelie", "Chinstrap", "Gentoo"], species),
    "k-means": means.labels_,
    "mixture": clouds.predict(X),
}
for panel, (name, labels) in zip(panels, answers.items()):
    for cluster, marker in enumerate("os^"):
        panel.plot(*X[labels == cluster].T, marker, color=f"C{cluster}", markersize=3)
    panel.set(
        title=f"{name}: {qed.adjusted_rand_score(species, labels):.2f}",
        xlabel="bill length (standardised)",
    )
panels[0].set_ylabel("bill depth (standardised)")
plt.show()

# %%
# The clouds are tilted, so the mixture sees them and k-means does not. Nobody told it that there are species. And a density
# tells what fits nowhere: rows of little density are *outliers*.

density = clouds.score_samples(X)
odd = np.argsort(density)[:3]
print("the three least likely birds:", [(str(species[i]), X[i].round(2).tolist()) for i in odd])

# %%
# Groups are also used to make data smaller: a picture of 16 million colours keeps its looks with 64 of them, the centres of its
# pixels, and a table keeps the number of its group as one new column.
#
# What hangs together
# -------------------
#
# Some groups have no centre. Two rings share theirs. *Spectral clustering* draws a graph, joins rows that are alike,
# and cuts where the graph is thin: the matrix :math:`L = D - W`, degrees less weights, has the eigenvalue zero as often as the
# graph falls apart, and eigenvectors of small eigenvalues say where it nearly does. *Kernel k-means* looks for centres in the
# features of a kernel, at the squared distance
#
# .. math:: K_{ii} - \frac2{|C|} \sum_{j \in C} K_{ij} + \frac1{|C|^2} \sum_{j, l \in C} K_{jl} .
#
# Both need only similarities.

points, ring = qed.data.synthetic.rings(200, noise=0.1, random_state=0)
figure, panels = plt.subplots(1, 3, figsize=(11, 3.5), layout="constrained", sharey=True)
methods = {
    "k-means": qed.KMeans(2, random_state=0),
    "kernel k-means": qed.KernelKMeans(2, kernel="rbf", gamma=0.5, random_state=0),
    "spectral": qed.SpectralClustering(2, gamma=5.0, random_state=0),
}
for panel, (name, method) in zip(panels, methods.items()):
    labels = method.fit(points).labels_
    for cluster, marker in enumerate("os"):
        panel.plot(*points[labels == cluster].T, marker, color=f"C{cluster}", markersize=3)
    panel.set(
        title=f"{name}: {max(qed.adjusted_rand_score(ring, labels), 0):.2f}", aspect="equal"
    )
plt.show()

# %%
# Stepping through it
# -------------------
#
# You have stepped already: both pictures above were drawn by driving the generator. What to look for:
#
# - Steps numbered -1 *prepare*: they are the draws of k-means++, one centre at a time. Watch how the cost falls by more
#   than half with the second centre.
# - The gap of a step is how far the centres still move. It reaches exactly zero, because there are finitely many
#   partitions.
# - EM creeps where clouds overlap, and is about as fast as Newton's method where they do not. Its likelihood often rests on
#   a plateau for many steps, then two clouds change roles and it climbs again.

for step in islice(qed.steps(qed.KMeans(3, random_state=1), X), 6):
    what = "draws a centre" if step.prepares else f"step {step.number}, gap {step.gap:.2g}"
    print(f"{what:<24} objective {step.objective:.1f}")

# %%
# Where the texts slip
# --------------------
#
# - In the derivation of EM the guide writes :math:`\log E_q[\log(p/q)]`; the inner logarithm does not belong there.
# - To make the bound touch, it sets :math:`q` equal to the *joint* density. It must be the *posterior*, which sums to
#   one.
# - The lecture notes define the shares with :math:`1/\pi_k` and without :math:`1/\sigma_k`, and the names of the E and
#   the M step have changed places.
# - "KNN gives hard clustering", says the course book. k-means is meant; k nearest neighbours is a classifier.
# - The sums for one class of chapter 2 are divided by :math:`n` in the guide; as here, they want the (soft) number of
#   rows of that class.
#
# Exercises
# ---------
#
# **Exercise 1.** Give EM the *true* species as shares and do one M step. Which classifier of chapter 5 have you fitted?
# Check it to twelve digits.
#
# .. solution::
#
#    With shares of 0 and 1 the weighted means and covariances are those of the classes: quadratic discriminant
#    analysis, with covariances divided by the number of rows.

shares = (species[:, None] == np.unique(species)).astype(float)
weights = shares.mean(axis=0)
centres = shares.T @ X / shares.sum(axis=0)[:, None]
quadratic = qed.QuadraticDiscriminantAnalysis().fit(X, species)
assert np.abs(quadratic.means_ - centres).max() < 1e-12
assert np.abs(quadratic.priors_ - weights).max() < 1e-12
for k, share in enumerate(shares.T):
    away = X - centres[k]
    assert (
        np.abs(quadratic.covariance_[k] - (share * away.T) @ away / share.sum()).max() < 1e-12
    )
print("means, covariances and shares agree")

# %%
# .. end-solution::
#
# **Exercise 2.** Check the identity :math:`\ell - F = \sum_i \operatorname{KL}(q_i \| p(\cdot \mid x_i))` for the
# fitted mixture and a :math:`q` drawn by lot. Use `qed.log_likelihood`, `qed.lower_bound` and `qed.posterior`.
#
# .. solution::
#
#    All three take the matrix of joint log-densities, :math:`\log \alpha_k + \log N(x_i; \mu_k, \Sigma_k)`.

joint = np.column_stack(
    [
        np.log(weight) + qed.stats.Gaussian(mean, covariance).log_density(X)
        for weight, mean, covariance in zip(clouds.weights_, clouds.means_, clouds.covariances_)
    ]
)
q = np.random.default_rng(0).dirichlet(np.ones(3), len(X))
truth = qed.posterior(joint)
divergence = (q * (np.log(q) - np.log(truth))).sum()
gap = qed.log_likelihood(joint) - qed.lower_bound(joint, q)
assert abs(gap - divergence) < 1e-8 * divergence
print(f"log-likelihood less bound {gap:.6f}, divergence {divergence:.6f}")

# %%
# .. end-solution::
#
# **Exercise 3.** Add one bird with a bill of 2 metres (a typing error). What happens to the centres of k-means, and
# what to those of `qed.KMedians`, which minimises :math:`\sum_i \|x_i - c_{z_i}\|_1` with medians for centres?
#
# .. solution::
#
#    Both begin with the centres that were found without the bird. A mean goes wherever one row pulls it: a centre
#    follows the outlier step by step until it has it for itself, and two species must share another. Medians hardly
#    move.

far = np.vstack([X, [[300.0, 0.0]]])


def moved(model):
    """Give how far the centres go from the nearest old one, when the outlier is added."""
    before, after = model.fit(X).cluster_centers_.copy(), model.fit(far).cluster_centers_
    return float(np.linalg.norm(after[:, None] - before[None], axis=2).min(axis=1).max())


of_means = moved(qed.KMeans(3, init=means.cluster_centers_, n_init=1))
of_medians = moved(qed.KMedians(3, init=means.cluster_centers_, n_init=1))
print(
    f"a centre of k-means ends {of_means:.1f} standard deviations away, one of k-medians "
    f"{of_medians:.2f}"
)
assert of_medians < 1 < of_means

# %%
# .. end-solution::
#
# Centres, clouds and graphs draw smooth borders. The next chapter asks questions instead.
