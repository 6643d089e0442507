r"""
2. Regression II: noise, beliefs and few columns
================================================

**The question.** Chapter 1 minimised squares because squares are convenient. When is that *right*? What should we
minimise when the noise is uneven, when we know something beforehand, when a line is too stiff, or when most columns do
not matter?

One idea answers all of it. Say where the data come from. Then ask which hypothesis makes them most probable.
"""

import matplotlib.pyplot as plt
import numpy as np

import qed
from qed.data.synthetic import sinusoid

income, food = qed.data.load("engel").Xy()

# %%
# A coin first
# ------------
#
# A coin that shows heads with the probability :math:`p` fell 1, 1, 1, 1, 0, 1, 1, 1. The *likelihood* of that is
# :math:`p^7 (1 - p)`. It is largest at :math:`\hat p = \frac78`, the share of heads: *maximum likelihood*. (For a die it is
# the share of each side.) But would you bet seven to one? You had a *belief* before. Say it as a density,
# :math:`p^{a-1}(1-p)^{b-1}` up to a factor: a *Beta*. Bayes' theorem multiplies belief and likelihood, so :math:`h` heads
# and :math:`t` tails make a Beta again, with :math:`a + h` and :math:`b + t`. Its top is the *maximum a posteriori*, its
# mean is what to expect of the next toss, :math:`(a + h)/(a + b + h + t)`. With many tosses belief does not matter any
# more.

tosses = [1, 1, 1, 1, 0, 1, 1, 1]
coin, share = qed.stats.Beta(2, 2).posterior(tosses), qed.stats.Bernoulli.fit(tosses).p
print(
    f"most likely {share}; after a belief in fair coins most probable {coin.mode}, mean "
    f"{coin.mean}"
)

# %%
# A belief can also be a list. Numbers come evenly from 0 to :math:`\Theta`, and :math:`\Theta` is 1 (which you believe
# twice as much) or 2. You see 0.5, 0.7 and 0.1. Then the chances are as :math:`\frac23 \cdot 1` to
# :math:`\frac13 \cdot \frac18`, sixteen to one. The mean of :math:`\Theta` is 18/17, and the next number has at 0.82 the
# density 33/34.

believed = qed.stats.DiscretePrior({1: 2 / 3, 2: 1 / 3}, lambda top: qed.stats.Uniform(0, top))
after = believed.posterior([0.5, 0.7, 0.1])
print({top: round(float(chance), 4) for top, chance in after.probabilities.items()})

# %%
# An *estimator* is a recipe for a number, and has a bias and a variance; its mean squared error is the square of the one,
# plus the other. The mean of :math:`n` numbers has no bias and the variance :math:`\sigma^2/n`. The mean of the first and
# the last is not biased either, but has :math:`\sigma^2/2`. Who always says 5 has no variance, and a bias unless 5 is
# right. The mean squared deviation, :math:`\frac1n \sum_i (x_i - \bar x)^2`, is the most likely variance of a Gaussian and
# too small on average, by the factor :math:`\frac{n-1}{n}`. And with a belief :math:`N(\mu_0, \sigma_0^2)` about a mean,
# the best guess lies between, weighted by :math:`n/\sigma^2` and :math:`1/\sigma_0^2`.
#
# Noise decides the cost
# ----------------------
#
# Suppose that :math:`y_i = f(x_i) + z_i` with independent noise :math:`z_i \sim N(0, \sigma^2)`. (Its mean is zero. Noise with
# another mean would be an error that always points the same way, and no data would show it.) The probability density of all we
# saw is a product,
#
# .. math:: p(y \mid w) = \prod_i \frac{1}{\sqrt{2\pi}\,\sigma} \exp\left(-\frac{(y_i - x_i^\top w)^2}{2\sigma^2}\right) .
#
# Take the logarithm and turn the sign:
#
# .. math:: -\log p(y \mid w) = \frac{1}{2\sigma^2} \sum_i (y_i - x_i^\top w)^2 + n \log(\sqrt{2\pi}\,\sigma) .
#
# Only the sum of squares depends on :math:`w`. So least squares *is* maximum likelihood for Gaussian noise, whatever
# :math:`\sigma`; and the most likely :math:`\sigma^2` is the mean of the squared residuals. Other noise, other cost:
# Laplace noise asks for absolute errors, :math:`\sum_i |y_i - x_i^\top w|`, whose answer is a median in the place of a
# mean. A loss between the two is that of *Huber*: a parabola up to :math:`\delta`, a straight line beyond, so that a single
# row far away can not pull without end (`qed.HuberRegressor`).
#
# And uneven noise? If row :math:`i` has the variance :math:`\sigma_i^2`, its square is divided by it: it has the *weight*
# :math:`\omega_i = 1/\sigma_i^2`, as if it stood :math:`\omega_i` times in the table. Rich households scatter more, so they
# should count less. Here we say that the standard deviation is proportional to income. In general
# the noise has a covariance matrix :math:`\Sigma`, and the answer is *generalised least squares*:
#
# .. math:: \hat w = (X^\top \Sigma^{-1} X)^{-1} X^\top \Sigma^{-1} y .
#
# That is least squares after a change of coordinates: :math:`\Sigma^{-1/2} y` has independent noise of variance one, and it
# does not matter which root is taken. Noise with a memory is of this kind. Where each value keeps a share :math:`r` of the
# last, :math:`z_{i+1} = r z_i + u_i`, it is :math:`z = Ru` with :math:`R_{ij} = r^{i-j}` for :math:`i \ge j`, and so
# :math:`\Sigma = RR^\top`. An echo, :math:`z_i = \sum_j r_j u_{i-j}`, has the covariance :math:`\sum_j r_j r_{j+h}` at the
# distance :math:`h`, and none beyond its length.

plain = qed.LinearRegression().fit(income, food)
uneven = qed.GeneralizedLeastSquares(covariance=income[:, 0] ** 2).fit(income, food)
median = qed.LeastAbsoluteDeviations().fit(income, food)

at = np.linspace(300, 5000, 50)[:, None]
figure, (left, right) = plt.subplots(1, 2, figsize=(11, 3.9), layout="constrained")
left.plot(income, food, ".", color="grey", alpha=0.5)
for model, name, style in (
    (plain, "even Gaussian", "-"),
    (uneven, "uneven Gaussian", "--"),
    (median, "Laplace", ":"),
):
    left.plot(at, model.predict(at), style, label=f"{name}: slope {model.coef_[0]:.3f}")
left.set(
    xlabel="income (francs a year)", ylabel="food", title="Three kinds of noise, three lines"
)
left.legend()
right.plot(income, (food - uneven.predict(income)) / income[:, 0], ".", alpha=0.5)
right.set(
    xlabel="income (francs a year)",
    ylabel="residual / income",
    title="Divided by income, the spread is even",
)
plt.show()
print(uneven.inference_)

# %%
# The slope moved from 0.49 to 0.57. That is six of the standard errors which chapter 1 printed. Those were computed for
# noise that these data do not have. A certificate would not have told: it proves the minimum, not the model.
#
# A belief is a penalty
# ---------------------
#
# Now say beforehand what we believe of the coefficients: :math:`w \sim N(m, P)`. Bayes' rule multiplies the likelihood
# by this prior. The most probable :math:`w` after seeing the data (the *maximum a posteriori*) minimises
#
# .. math:: \frac{1}{\sigma^2} \|Xw - y\|^2 + (w - m)^\top P^{-1} (w - m) .
#
# With :math:`m = 0` and :math:`P = \tau^2 I` this is ridge regression with :math:`\lambda = \sigma^2/\tau^2`. So a
# penalty is a belief, and its size says how strong the belief is compared with the noise. With a vague belief
# (:math:`\tau \to \infty`) it is maximum likelihood again; with a firm one (:math:`\tau \to 0`) the data change nothing.
# `qed.GaussianMAP` keeps the whole posterior, and its certificate knows about ridge:

patients = qed.data.load("diabetes")
body, progression = patients.Xy()
body, progression = qed.StandardScaler().fit_transform(body), progression - progression.mean()
belief = qed.GaussianMAP(prior_covariance=100.0, noise_variance=3000.0).fit(body, progression)
print(qed.certify(belief, body, progression))

# %%
# Read the third line: *equals ridge regression with alpha = 30*. That is :math:`3000/100`. The claim was not copied
# from a formula: the certificate takes the gradient of ridge regression at these coefficients, and says how far they
# are from where it vanishes. The first line is the proof that the posterior is at its top, the second that its
# covariance is the inverse of the precision :math:`X^\top X/\sigma^2 + P^{-1}`.
#
# One formula holds all of this. With noise :math:`\Sigma` and prior :math:`N(m, P)`,
#
# .. math:: \hat w = m + (X^\top \Sigma^{-1} X + P^{-1})^{-1} X^\top \Sigma^{-1} (y - Xm)
#           \qquad = m + P X^\top (\Sigma + X P X^\top)^{-1} (y - Xm) .
#
# Without a prior (:math:`P^{-1} = 0`) it is generalised least squares, with :math:`\Sigma = I` besides it is least squares,
# and with :math:`P = I/\lambda`, :math:`m = 0` it is ridge. The second form, equal to the first by the identity of *Woodbury*,
# solves a system of the size of the rows in the place of the columns. `qed.linear_gaussian` takes the smaller one. A belief
# that differs from column to column (:math:`P` is any covariance) is named after *Tikhonov*: where :math:`P_{jj}` is large,
# coefficient :math:`j` is hardly penalised; where it is zero, it stays at :math:`m_j`.
#
# A belief can also be wrong. Here are ten points on the line with slope 0.5 and intercept 1, without any noise, and three
# beliefs of the same strength, :math:`\sigma^2/\tau^2 = 6`. The one around zero pulls to the origin, the one near the truth
# hardly matters, and the one on the other side does worse than none. Rows that were held out notice:

x = 3 + np.sqrt(0.15) * np.repeat([1.0, -1.0], 5)
line = np.column_stack([x, np.ones(10)])
for centre in ((0.0, 0.0), (0.75, 0.75), (-0.75, -0.75)):
    pulled = qed.linear_gaussian(
        line, 0.5 * x + 1, noise=6.0, prior=1.0, prior_mean=centre
    ).mean
    print(f"belief around {centre}: slope {pulled[0]:.4f}, intercept {pulled[1]:.4f}")
random = np.random.default_rng(0)
x = random.uniform(1, 5, 20)
line, seen = np.column_stack([x, np.ones(20)]), 0.5 * x + 1 + 0.5 * random.standard_normal(20)
for centre in ((0.75, 0.75), (-0.75, -0.75)):
    believer = qed.GaussianMAP(centre, 0.25 / 6, 0.25)
    score = qed.cross_val_score(
        believer, line, seen, cv=5, scoring="neg_mean_squared_error"
    ).mean()
    print(f"belief around {centre}: error on rows held out {-score:.3f}")

# %%
# Gaussian vectors
# ----------------
#
# A *Gaussian vector* is a linear image of independent standard normal numbers, :math:`Z = RU + \mu`. Its covariance is
# :math:`\Sigma = RR^\top`. Where :math:`R` can be inverted it has a density: a linear map stretches volumes by
# :math:`|\det R|`, so densities are divided by it, and
#
# .. math:: f(z) = \frac{1}{\sqrt{(2\pi)^k \det \Sigma}} \exp\left(-\tfrac12 (z - \mu)^\top \Sigma^{-1} (z - \mu)\right) .
#
# It is constant on ellipsoids. With :math:`\Sigma v_i = \lambda_i v_i` the one where the quadratic form is :math:`c` has the
# half axes :math:`\sqrt{c \lambda_i}\, v_i`.
#
# The most likely mean and covariance are those of the rows, :math:`\hat\mu = \frac1n \sum_i x_i` and
# :math:`\hat\Sigma = \frac1n \sum_i (x_i - \hat\mu)(x_i - \hat\mu)^\top`. For one number this is shown in two steps, although
# :math:`\sum_i (x_i - \mu)^2/(2\sigma^2) + n \ln \sigma` is not convex in both: whatever :math:`\sigma`, the best
# :math:`\mu` is the mean; put it in, and what is left goes to infinity at both ends of :math:`\sigma` and has one flat place
# between. (If all values are equal it goes to minus infinity, and there is no maximum.)
#
# Why are Gaussians so convenient? Because they stay Gaussian. If :math:`(X, Y)` is a Gaussian vector, so is every part
# of it, every linear image of it, :math:`AZ \sim N(A\mu, A\Sigma A^\top)`, and each part when the other is known:
#
# .. math:: \mathbb E[X \mid Y = y] = \mu_X + \Sigma_{XY} \Sigma_{YY}^{-1} (y - \mu_Y) ,
#    \qquad \operatorname{Var}[X \mid Y] = \Sigma_{XX} - \Sigma_{XY} \Sigma_{YY}^{-1} \Sigma_{YX} .
#
# Read the first formula again. It is *linear in y*, and its slope :math:`\Sigma_{XY} \Sigma_{YY}^{-1}` is that of least
# squares. So regression is conditioning, and the posterior above is, too: take the coefficients for :math:`X`. The second
# formula says how much is left unknown, and it does not depend on :math:`y`. If :math:`\Sigma_{XY} = 0`, nothing about
# :math:`X` is learned from :math:`Y`: inside one Gaussian vector, what is uncorrelated is independent. (Mind the order:
# parts of a Gaussian vector are Gaussian, but two Gaussian numbers need not form a Gaussian vector. Let :math:`X` be normal
# and :math:`Y = \pm X`, the sign tossed with a coin. They are uncorrelated, and yet :math:`X + Y` is zero half of the
# time.) Take the logarithms of income and food, which look Gaussian:

logs = np.log(np.column_stack([food, income[:, 0]]))
cloud = qed.stats.Gaussian.fit(logs)
given = cloud.conditional({1: np.log(1000.0)})
figure, (left, right) = plt.subplots(1, 2, figsize=(10, 3.8), layout="constrained")
left.plot(logs[:, 1], logs[:, 0], ".", color="grey", alpha=0.5)
for mass in (0.5, 0.9, 0.99):
    ring = cloud.contour(mass=mass).points()
    left.plot(ring[:, 1], ring[:, 0], color="C0")
left.axvline(np.log(1000.0), color="C2", linestyle="--")
left.set(xlabel="log income", ylabel="log food", title="Contours that hold 50, 90 and 99 %")
at = np.linspace(5.2, 7.5, 200)
right.plot(at, cloud.marginal([0]).density(at), color="grey", label="all households")
right.plot(at, given.density(at), "--", color="C2", label="income of 1000 francs")
right.set(
    xlabel="log food", ylabel="density", title="What is known of the income sharpens food"
)
right.legend()
plt.show()
slope = cloud.covariance[0, 1] / cloud.covariance[1, 1]
print(
    f"slope of conditioning {slope:.6f}, of least squares "
    f"{qed.LinearRegression().fit(logs[:, 1:], logs[:, 0]).coef_[0]:.6f}"
)

# %%
# Bias and variance
# -----------------
#
# Ridge aims beside the truth on purpose. When does that pay? Always a little. In fixed columns least squares has the error
# :math:`\mathbb E \|\hat w - w\|^2 = \sigma^2 \sum_i 1/\lambda_i`, with the eigenvalues :math:`\lambda_i` of
# :math:`X^\top X`. Ridge has :math:`\sum_i (\sigma^2 \lambda_i + \lambda^2 a_i^2)/(\lambda_i + \lambda)^2`, with the parts
# :math:`a_i` of the true :math:`w`, and that is *less* for every :math:`0 < \lambda \le 2\sigma^2/\|w\|^2`. For
# predictions: draw the training set again and again. At a point :math:`x` the expected squared error of the prediction has
# three parts:
#
# .. math:: \mathbb E\left[(h(x) - Y)^2\right] = \left(\mathbb E\, h(x) - f(x)\right)^2 + \operatorname{Var} h(x) + \sigma^2 .
#
# To see it, add and subtract :math:`\mathbb E\, h(x)` and :math:`f(x)` inside the square. The mixed terms vanish,
# because the noise of the new row is independent of the training set. The first part is the *bias* of the method, the
# second its *variance*, the third nobody can take away.

grid = np.linspace(0, 1, 41)[:, None]
truth = np.sin(2 * np.pi * grid[:, 0])
found = {}
for gamma in (0.5, 10.0, 300.0):
    found[gamma] = qed.bias_variance(
        qed.KernelRidge(0.05, kernel="rbf", gamma=gamma),
        lambda random: sinusoid(25, noise=0.3, random_state=random),
        grid,
        truth,
        noise_variance=0.09,
        repetitions=60,
    )
figure, panels = plt.subplots(1, 3, figsize=(11, 3.5), layout="constrained", sharey=True)
for panel, (gamma, one) in zip(panels, found.items()):
    one.plot(panel)
    panel.set(title=f"gamma = {gamma:g}", ylim=(-1.8, 1.8))
    print(f"gamma {gamma:>6g}: {one}")
plt.show()

# %%
# Too stiff: wrong in the same way every time (bias). Too flexible: wrong in another way every time (variance). In the
# middle both are small. We can not see bias and variance of a real table, since we have it only once. But their sum
# shows in the error on rows held out. What follows from the three parts is worth a list:
#
# 1. A model that is too small has a large bias; most of what is called overfitting is variance.
# 2. The training error shows the bias only, the test error both. Training far below test means variance.
# 3. With more rows the variance goes to zero.
# 4. The bias does only if the class holds the truth. Otherwise more rows do not help.
# 5. A good feature lowers the bias. A useless one hardly raises it, as its coefficient can be zero.
# 6. Every feature raises the variance. So add one only if it takes more from the bias.
# 7. Nothing lowers the noise of the new row.
# 8. More noise in the *test* rows changes that third part alone; in the *training* rows it changes bias and variance, too.
# 9. On real data the parts can not be told apart. So try methods on data that were made up.
#
# Here they are made up: ten points about a line, again and again, and polynomials of degree 0, 1 and 2. The constant is
# wrong at the edges. The parabola is as right as the line on average, and follows the noise.

trials = qed.polynomial_experiment((0, 1, 2), repetitions=300)
for degree, one in trials.items():
    print(f"degree {degree}: {one}")
qed.plots.bias_variance(trials)
plt.show()

# %%
# Kernels: a line in a space that is never visited
# ------------------------------------------------
#
# What was that `qed.KernelRidge`? Ridge regression with features :math:`\phi(x)` has the answer :math:`w = \Phi^\top c`: a
# combination of the rows. (Every :math:`w` is the sum of a combination of the rows and a part that is orthogonal to all of
# them. The second part changes no prediction and costs penalty, so it is zero.) Put this in, and only inner products of
# rows are left:
#
# .. math:: (K + \lambda I)\, c = y , \qquad K_{ij} = \phi(x_i)^\top \phi(x_j) = k(x_i, x_j), \qquad h(x) = \sum_i c_i\, k(x_i, x) .
#
# So we never need the features, only :math:`k`. The coefficients are the residuals, scaled:
# :math:`c_i = (y_i - h(x_i))/\lambda`. With :math:`n` rows, :math:`\ell` columns and :math:`d` features of degree
# :math:`p`, kernels cost :math:`O(n^3 + n^2 (\ell + \log p))` and features :math:`O(d^3 + d^2 n)`: take the side that is
# smaller. (Noise and beliefs enter as before: :math:`\Sigma` stands in the place of :math:`\lambda I`, and :math:`XPX^\top`
# is a kernel matrix.) The polynomial kernel :math:`(1 + x^\top z)^d` stands for all monomials up to degree :math:`d`. The
# Gaussian kernel :math:`e^{-\gamma\|x - z\|^2}` stands for infinitely many features: it maps :math:`x` to a *function*, the
# bump :math:`\phi_x(t) \propto e^{-2\gamma\|x - t\|^2}`, and the inner product of functions is an integral,
# :math:`k(x, z) = \int \phi_x(t)\, \phi_z(t)\, dt`. Which functions may be used? Those whose matrices :math:`K` are
# positive semidefinite. Sums of kernels with weights that are not negative are such functions again, and so are
# :math:`f(x)\, k(x, z)\, f(z)`, products, powers, exponentials, and :math:`\phi(x)^\top A\, \phi(z)` with a positive
# semidefinite :math:`A` (which is a prior on the features). A vector with :math:`v^\top K v < 0` refutes a candidate for
# good, while no table of numbers can prove one:

print(qed.kernels.check_mercer(lambda x, z: -np.linalg.norm(x - z), grid[::10]))

# %%
# Read :math:`h(x) = \sum_i c_i\, k(x_i, x)` once more. The kernel says how *similar* two rows are, and :math:`c_i` how
# important row :math:`i` is: a prediction is a sum of importance times similarity. A narrow Gaussian (large :math:`\gamma`,
# or small :math:`\sigma` in :math:`\gamma = 1/(2\sigma^2)`) finds next to nothing similar; a wide one everything. With no
# penalty the curve passes through every point, if :math:`K` can be inverted.
#
# One eigendecomposition of :math:`K` gives all penalties, and the error of each row when it is left out. Households
# again, with the logarithm of income:

logs = np.log(income)
logs = (logs - logs.mean()) / logs.std()
share = food / income[:, 0]
path = qed.kernel_ridge_path(
    logs, share - share.mean(), np.logspace(-4, 3, 40), kernel="rbf", gamma=1.0
)
curve = qed.KernelRidge(path.best, kernel="rbf", gamma=1.0).fit(logs, share - share.mean())
where = np.linspace(logs.min(), logs.max(), 100)[:, None]
figure, (left, right) = plt.subplots(1, 2, figsize=(11, 3.7), layout="constrained")
left.loglog(path.alphas, path.training_error, ":", label="rows of the fit")
left.loglog(path.alphas, path.leave_one_out_error, label="rows left out")
left.axvline(path.best, color="grey", linestyle="--", linewidth=1)
left.set(xlabel="penalty", ylabel="mean squared error", title="Which penalty?")
left.legend()
right.plot(logs, share, ".", color="grey", alpha=0.4)
right.plot(where, curve.predict(where) + share.mean(), color="C1")
right.set(
    xlabel="log income, standardised",
    ylabel="share of income spent on food",
    title="Engel's law: the share falls",
)
plt.show()

# %%
# Few columns: the lasso
# ----------------------
#
# Ten measurements of 442 patients; which of them matter? A model with few columns is cheap to use: what has the weight zero
# need not be measured. To find the best :math:`k` columns is NP-hard. `qed.BestSubset` tries all subsets, which is too much
# work for many columns. The *lasso* penalises sizes instead of squares,
#
# .. math:: \min_w \frac{1}{2n} \|Xw - y\|^2 + \alpha \|w\|_1 ,
#
# (or, which is the same by duality, keeps :math:`\|w\|_1` below a bound) and this makes coefficients *exactly* zero. The
# reason: to shrink a coefficient by a little always saves the same penalty, :math:`\alpha`, however small the coefficient
# is already. A square saves less and less. (As a belief it is that of *Laplace*, :math:`p(w) \propto e^{-|w|/b}`, and the
# lasso is its maximum a posteriori.)
#
# In one coordinate, with the others fixed, the minimum can be written down. With :math:`\rho_j` the covariance of
# column :math:`j` with what the other columns leave over, and columns of unit variance, it is the *soft threshold*
#
# .. math:: w_j = \operatorname{sign}(\rho_j)\, \max(|\rho_j| - \alpha,\, 0) .
#
# Go round the coordinates until nothing moves: that is coordinate descent. (Descent along subgradients finds the same
# minimum, slowly, and no exact zeros on the way. So does least squares with weights, again and again: a square divided by
# the size of its coefficient in the last round costs as much as that size.)

lasso = qed.Lasso(alpha=2.0).fit(body, progression)
lassos = qed.lasso_path(body, progression, eps=1e-3)
figure, (left, right) = plt.subplots(
    1, 2, figsize=(11, 3.9), layout="constrained", width_ratios=[1.2, 1]
)
lines = left.semilogx(lassos.alphas, lassos.coef)
left.set(xlabel="penalty", ylabel="coefficient", title="Columns come in one after the other")
for line, style in zip(lines, 8 * ["-"] + 2 * ["--"]):
    line.set_linestyle(style)
left.legend(lines, patients.features, fontsize=8, loc="upper left", bbox_to_anchor=(1.0, 1.0))
qed.plots.tangency(body[:, [2, 1]], progression, 25.0, right)
plt.show()
print("  ".join(f"{name} {value:.1f}" for name, value in zip(patients.features, lasso.coef_)))
small = qed.prune(lasso)
same = np.abs(small.predict(body[:, small.columns_]) - lasso.predict(body)).max()
print(f"{len(small.columns_)} of 10 columns give the same predictions, up to {same:.0e}")

# %%
# The right picture is the same in two columns, the body mass index and the sex: the ellipses of equal error meet the ball of
# the penalty at a corner, and there a coefficient is zero.
#
# The proof, and what its certificate checks
# ------------------------------------------
#
# The gradient does not vanish at a kink. How can one prove that a lasso is at its minimum? By a second problem, the
# *dual*. Every vector :math:`\theta` with :math:`|x_j^\top \theta| \le n\alpha` for all columns gives a number below
# the minimum:
#
# .. math:: D(\theta) = \frac{1}{2n} \left(\|y\|^2 - \|y - \theta\|^2\right) \;\le\; \min_w \frac{1}{2n} \|Xw - y\|^2 + \alpha \|w\|_1 .
#
# The residual, scaled until it is allowed, is such a vector. So from any :math:`w` we get a value above the minimum and
# one below it. Their difference, the *duality gap*, bounds what is missing. It needs no trust in the solver.

print(qed.certify(lasso, body, progression))

# %%
# - *duality gap, relative to the objective*: the lasso is within this share of the best possible.
# - *correlations are alpha on the support, and no more elsewhere*: the conditions of the kink. A column that is in
#   pulls with exactly :math:`\alpha`; one that is out pulls with less.
# - *residuals sum to zero*: the intercept is not penalised.
#
# What the certificate does not say: that these columns are the *causes*, or that another sample would choose the same.
#
# Errors in all columns
# ---------------------
#
# So far only :math:`y` had noise. If the columns have it, too, least squares is too flat, however much data there is.
# *Total least squares* moves points perpendicularly: it makes :math:`\sum_i (y_i - x_i^\top w)^2/(1 + \|w\|^2)` least. The last
# right singular vector :math:`v` of :math:`[X\; y]` holds the answer, :math:`w = -v_{1:d}/v_{d+1}`. Its equation is
# ridge regression with a *negative* penalty, :math:`(X^\top X - \sigma_{\min}^2 I) w = X^\top y`. (It has an answer if
# :math:`\sigma_{\min}` is below the least singular value of :math:`X` alone, and refuses otherwise.) The other way round,
# noise that one *adds* to the columns on purpose is a penalty: copies of the rows with noise of variance :math:`\lambda/n` on
# every entry lead to ridge with :math:`\lambda`.

random = np.random.default_rng(1)
exact = random.standard_normal(3000)
seen, answer = (
    exact + 0.6 * random.standard_normal(3000),
    2 * exact + 0.6 * random.standard_normal(3000),
)
ordinary = qed.LinearRegression().fit(seen[:, None], answer)
total = qed.TotalLeastSquares().fit(seen[:, None], answer)
print(
    f"the truth 2; least squares {ordinary.coef_[0]:.2f}; total least squares "
    f"{total.coef_[0]:.2f}"
)

# %%
# Stepping through it
# -------------------
#
# *Matching pursuit* chooses columns greedily. It takes the one that explains most of what is left, the largest
# :math:`|r^\top x_j|/\|x_j\|`, gives it the coefficient :math:`r^\top x_j/\|x_j\|^2`, and repeats; what is left is
# orthogonal to the column just taken, so by Pythagoras it gets shorter. *Orthogonal* matching pursuit fits all chosen
# columns again after each pick, so none is picked twice. It is a generator of steps. What to look for: the error falls with
# each pick, and mostly by less and less. Mostly: here the fifth pick gains more than the fourth, since greed does not see
# pairs. And compare the order of the picks with the order in which columns enter the lasso path above; they need not agree.

walk = qed.steps(qed.OrthogonalMatchingPursuit(n_nonzero_coefs=6), body, progression)
for step in walk:
    picked = [patients.features[int(k)] for k in np.ravel(step.picks)]
    print(
        f"step {step.number}: mean squared error {step.objective / len(progression):.0f} "
        f"with {picked}"
    )
    if len(picked) == 6:
        break

# %%
# Where the texts slip
# --------------------
#
# - The guide calls the observations :math:`Y_i` identically distributed. They are independent, but their means differ:
#   that is what regression is about.
# - The logarithm of the likelihood is printed by the lecture notes with a *factor* :math:`1/(\sqrt{2\pi}\,\sigma)`; it is a
#   term, :math:`-\log(\sqrt{2\pi}\,\sigma)` for each row. The course book has a sum over rows where the likelihood is their
#   product, and the line :math:`w_1 x + w_1` in its exponent for :math:`w_1 x + w_0`.
# - The absolute error is called not continuous. It is; it is not differentiable at zero.
# - Of the two derivations of bias and variance the guide labels the terms of the second wrongly. They are the same three.
# - It lets autoregressive noise have any memory :math:`|r| \le 1`. At :math:`|r| = 1` it is a random walk, and its
#   variance grows for ever. The bold :math:`\Sigma` before its sliding window is a sign for a sum.
# - It calls :math:`(RR^\top)^{-1}` the covariance of :math:`Ru`; that is :math:`RR^\top`.
# - Fitting a Gaussian: sums over one class are divided by the number of all rows (it must be that of the class), and the
#   variance ends in a stray :math:`+\ln\sigma`.
# - The upper right block of the covariance of :math:`(X, Y)` is :math:`\Sigma_{XY}`, not :math:`\Sigma_{YY}`; and the
#   covariance of coefficients and observations is :math:`PX^\top`, not :math:`XPX^\top`.
# - It prints :math:`X^\top X w - \lambda w = X^\top y` for ridge. The sign is plus; the minus belongs to *total* least
#   squares. In the proof that nothing orthogonal to the rows is needed the Hessian is :math:`2\lambda I`, not :math:`2I`.
# - An entry of a kernel matrix costs as much as there are *raw* columns (and the logarithm of the degree), not as there are
#   features.
# - The prior behind the kernel :math:`(1 + x^\top z)^2` in two columns is printed with five variances. There are six
#   features: (1, 1, 2, 2, 2, 1), in some order. For the same reason :math:`(1, x_1, x_2, x_1 x_2, x_1^2, x_2^2)` of the kernel
#   notes needs :math:`\sqrt 2` on three of its terms.
# - Coordinate descent does not find the minimum of *every* convex function. At (1, 1) it is stuck on
#   :math:`|x + y| + 3|x - y|`, whose minimum is at 0. It works for the lasso because the kinks are separate. Exercise 3
#   looks at this.
# - Matching pursuit compares *each* column with what is left over, not one with itself; and what is left over after a refit
#   is orthogonal to the chosen columns of :math:`X`, not to vectors of a basis.
# - With errors in all columns the guide writes a likelihood as if :math:`x` were independent of its own noise, with a
#   parameter :math:`a` that should be :math:`w`. Its maximum is biased; total least squares is not. The denoised table is
#   :math:`X + \epsilon_X`, not :math:`X - \epsilon_X`. And :math:`\mathbb E[Z^\top Z]` is diagonal because the *columns* of the
#   noise are independent.
# - Noise of variance :math:`\lambda` on every entry of :math:`X` acts like ridge with :math:`n\lambda`, not
#   :math:`\lambda`.
# - The lecture notes call ridge the most probable answer under the prior :math:`N(0, \gamma^{-2} I)`; it is
#   :math:`N(0, \gamma^2 I)` with :math:`\lambda = 1/\gamma^2`. The course book says that this hypothesis *maximises*
#   the regularised error; it minimises it.
#
# Exercises
# ---------
#
# **Exercise 1.** Say that you are *certain* that the coefficient of the body mass index is 30. Put this into the prior
# of `qed.GaussianMAP`, and check that the posterior keeps it there. How wide is the posterior of the others?
#
# .. solution::
#
#    A variance of zero is certainty. The other coefficients adapt to it, with standard deviations from the diagonal of
#    ``covariance_``.

place = patients.features.index("bmi")
mean, variances = np.zeros(10), np.full(10, 100.0)
mean[place], variances[place] = 30.0, 0.0
certain = qed.GaussianMAP(mean, variances, 3000.0).fit(body, progression)
assert abs(certain.coef_[place] - 30) < 1e-9
assert certain.covariance_[place, place] < 1e-12
widths = np.sqrt(certain.covariance_.diagonal().clip(0))
print({name: round(float(width), 1) for name, width in zip(patients.features, widths)})

# %%
# .. end-solution::
#
# **Exercise 2.** What is the smallest penalty at which the lasso leaves *all* columns out? Derive it from the second
# line of the certificate, and test it on both sides.
#
# .. solution::
#
#    With all coefficients zero, the residual is :math:`y - \bar y`. No column may pull with more than :math:`\alpha`,
#    so :math:`\alpha_{\max} = \max_j |x_j^\top (y - \bar y)|/n`.

highest = np.abs(body.T @ progression).max() / len(progression)
above = qed.Lasso(alpha=highest * 1.001).fit(body, progression)
below = qed.Lasso(alpha=highest * 0.999).fit(body, progression)
assert not above.coef_.any() and np.count_nonzero(below.coef_) == 1
print(
    f"alpha_max = {highest:.3f}; the first column in is "
    f"{patients.features[int(np.argmax(np.abs(below.coef_)))]!r}"
)

# %%
# .. end-solution::
#
# **Exercise 3.** Take :math:`f(x, y) = |x + y| + 3|x - y|`. Show that neither coordinate alone can improve (1, 1),
# although :math:`f(0, 0) = 0`. Is the function convex? Ask `qed.optim.check_convexity`.
#
# .. solution::
#
#    Along :math:`x` the slope of :math:`3|x - y|` jumps from -3 to 3 at (1, 1), and that of :math:`|x + y|` is 1. So
#    every step costs at least twice its length.


def stuck(w):
    """Give |x + y| + 3 |x - y|."""
    return abs(w[0] + w[1]) + 3 * abs(w[0] - w[1])


for move in np.linspace(-1, 1, 21):
    assert stuck([1 + move, 1]) >= stuck([1, 1]) and stuck([1, 1 + move]) >= stuck([1, 1])
verdict = qed.optim.check_convexity(stuck, [-3, -3], [3, 3], tests=("chord",))
print(verdict.verdict)

# %%
# .. end-solution::
#
# Noise tells the cost, beliefs tell the penalty, kernels bend the line, and the lasso leaves columns out. The next
# chapter leaves out *directions*.
