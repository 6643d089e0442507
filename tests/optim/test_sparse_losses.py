"""Sparse models with any smooth loss: the optimum, the path, and a gap that is never smaller than the truth."""

import numpy as np
import pytest
import statsmodels.api as sm
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.special import expit
from sklearn.linear_model import ElasticNet as PeerElasticNet
from sklearn.linear_model import LogisticRegression as PeerLogistic

from qed.base.errors import InputError, ParameterError
from qed.optim import (
    L1,
    L1L2,
    L2,
    AbsoluteLoss,
    HuberLoss,
    LogisticLoss,
    PoissonLoss,
    SquaredLoss,
    minimize_sparse,
    sparse_path,
)
from qed.optim.sparse import newton_set
from qed.optim.sparse.columns import columns_of
from qed.optim.sparse.newton_set import NewtonSet
from qed.optim.sparse.scored import ScoredLoss

LOSSES = [SquaredLoss(), HuberLoss(0.7), LogisticLoss(), PoissonLoss()]
PENALTIES = [L1(1.0), L1(1.0, positive=True), L1L2(1.0, 0.7), L1L2(1.0, 0.7, positive=True)]
losses = pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: type(loss).__name__)


def target(loss, z, generator):
    if isinstance(loss, LogisticLoss):
        y = np.where(generator.random(len(z)) < expit(z), 1.0, -1.0)
        y[:2] = [1.0, -1.0]
        return y
    if isinstance(loss, PoissonLoss):
        y = generator.poisson(np.exp(np.clip(z, -5, 3))).astype(float)
        y[0] += 1.0
        return y
    return z + generator.standard_t(2.0, len(z))


def table(loss, n=60, p=12, seed=0):
    generator = np.random.default_rng(seed)
    X = generator.standard_normal((n, p))
    return X, target(loss, X[:, : min(3, p)].sum(axis=1) + 0.3, generator)


def slope(loss, z, y):
    """The derivatives, written out."""
    if isinstance(loss, SquaredLoss):
        return z - y
    if isinstance(loss, HuberLoss):
        return np.clip(z - y, -loss.delta, loss.delta)
    return -y * expit(-y * z) if isinstance(loss, LogisticLoss) else np.exp(z) - y


def objective(loss, penalty, X, y, weight, w, b):
    return loss.value(X @ w + b, y, weight) + penalty.value(w)


def kkt(loss, penalty, X, y, weight, w, b, intercept):
    """The largest violation of the optimality conditions, relative to the penalty."""
    theta = -weight * slope(loss, X @ w + b, y)
    miss = penalty.kkt_distance(w, -X.T @ theta).max() / penalty.l1
    return max(miss, abs(theta.sum()) / np.abs(theta).sum() if intercept else 0.0)


def times(penalty, factor):
    return L1L2(factor * penalty.l1, factor * penalty.l2, penalty.positive)


@losses
@pytest.mark.parametrize("penalty", PENALTIES, ids=repr)
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("shape", [(60, 12), (30, 80)])
@pytest.mark.sampled(3)
def test_the_conditions_of_the_minimum_hold_along_the_path(loss, penalty, intercept, shape):
    X, y = table(loss, *shape)
    weight = np.random.default_rng(1).uniform(0.2, 3.0, len(y))
    path = sparse_path(X, y, loss, penalty, 6, eps=0.03, sample_weight=weight, fit_intercept=intercept, tol=1e-12)
    assert path.certificate and (path.gaps <= 1e-12).all()
    assert not path.coefs[0].any() and path.coefs[-1].any() and (path.iterations[1:] > 0).all()
    for k, value in enumerate(path.lambdas):
        w, b = path.coefs[k], path.intercepts[k]
        assert kkt(loss, times(penalty, value), X, y, weight, w, b, intercept) < 1e-5
        found = objective(loss, times(penalty, value), X, y, weight, w, b)
        assert path.objectives[k] == pytest.approx(found, rel=1e-10, abs=1e-10)


def reference(loss, penalty, X, y, weight, intercept, iterations=30_000):
    """Proximal gradients with a step that is halved where it is too long: slow, and simple."""
    w, b, step = np.zeros(X.shape[1]), 0.0, 1.0

    def smooth(w, b):
        with np.errstate(over="ignore"):
            return loss.value(X @ w + b, y, weight)

    value = smooth(w, b)
    for _ in range(iterations):
        pull = weight * slope(loss, X @ w + b, y)
        step *= 1.1
        while True:
            new, shift = penalty.prox(w - step * (X.T @ pull), step), -step * pull.sum() if intercept else 0.0
            move = new - w
            above = value + pull @ (X @ move) + pull.sum() * shift + (move @ move + shift**2) / (2 * step)
            after = smooth(new, b + shift)
            if after <= above + 1e-13 * abs(value):
                break
            step /= 2
        w, b, value = new, b + shift, after
    return w, b


@losses
@pytest.mark.parametrize("penalty", [L1(3.0), L1L2(1.5, 2.0, positive=True)], ids=repr)
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.sampled(2)
def test_the_same_minimum_as_proximal_gradients(loss, penalty, intercept):
    X, y = table(loss, 40, 5, seed=3)
    weight = np.random.default_rng(2).uniform(0.5, 2.0, 40)
    w, b = reference(loss, penalty, X, y, weight, intercept, 3000)
    found = minimize_sparse(X, y, loss, penalty, sample_weight=weight, fit_intercept=intercept, tol=1e-13)
    assert found.certificate and found.gap <= 1e-12
    np.testing.assert_allclose(found.coef, w, atol=1e-6)
    assert found.intercept == pytest.approx(b, abs=1e-6)
    least = objective(loss, penalty, X, y, weight, w, b)
    assert found.objective <= least + 1e-13 * abs(least) + 1e-13


def test_the_same_minimum_as_peers():
    X, y = table(LogisticLoss(), 200, 30, seed=5)
    peer = PeerLogistic(l1_ratio=1.0, solver="saga", C=0.5, tol=1e-10, max_iter=20_000, random_state=0).fit(X, y)
    found = minimize_sparse(X, y, LogisticLoss(), L1(2.0), tol=1e-12)
    np.testing.assert_allclose(found.coef, peer.coef_[0], atol=1e-5)
    assert found.intercept == pytest.approx(peer.intercept_[0], abs=1e-5)
    X, y = table(SquaredLoss(), 200, 30, seed=5)
    peer = PeerElasticNet(alpha=0.1, l1_ratio=0.6, tol=1e-13, max_iter=100_000).fit(X, y)
    found = minimize_sparse(X, y, SquaredLoss(), L1L2(200 * 0.06, 200 * 0.04), tol=1e-12)
    np.testing.assert_allclose(found.coef, peer.coef_, atol=1e-7)


def test_poisson_against_statsmodels():
    X, y = table(PoissonLoss(), 150, 6, seed=8)
    design = np.column_stack([X, np.ones(150)])
    alpha = np.append(np.full(6, 12.0), 0.0)
    peer = sm.Poisson(y, design).fit_regularized(alpha=alpha, acc=1e-12, maxiter=2000, disp=0, trim_mode="off")
    found = minimize_sparse(X, y, PoissonLoss(), L1(12.0), tol=1e-13)
    np.testing.assert_allclose(found.coef, peer.params[:6], atol=1e-5)
    assert found.intercept == pytest.approx(peer.params[6], abs=1e-5)


NASTY = ["plain", "collinear", "duplicated", "scales", "constant", "far", "wide", "zero weights", "outliers", "tiny"]


def nasty(kind, loss, seed):
    generator = np.random.default_rng([seed, NASTY.index(kind)])
    n, p = {"wide": (15, 40), "tiny": (3, 2)}.get(kind, (40, 8))
    X = generator.standard_normal((n, p))
    z = X[:, 0] - 0.5 * X[:, 1]
    weight = generator.uniform(0.1, 2.0, n)
    if kind == "collinear":
        X[:, 2:] = X[:, :2] @ generator.standard_normal((2, p - 2)) + 1e-9 * generator.standard_normal((n, p - 2))
    elif kind == "duplicated":
        X[:, 4:] = X[:, :4] * [1, -1, 1, 1]
    elif kind == "scales":
        X *= 10.0 ** generator.uniform(-8, 8, p)
    elif kind == "constant":
        X[:, 3], X[:, 4] = 0.1, 0.0
    elif kind == "far":
        X += 1e5
    elif kind == "zero weights":
        weight[2:] *= generator.random(n - 2) < 0.5
    y = target(loss, 8 * z if kind == "wide" else z, generator)
    if kind == "outliers" and not isinstance(loss, LogisticLoss | PoissonLoss):
        y[5] = 1e6
    return X, y, weight


@losses
@pytest.mark.parametrize("kind", NASTY)
@pytest.mark.sampled(2)
def test_the_gap_is_never_smaller_than_what_is_missed(loss, kind):
    for seed in range(4):
        X, y, weight = nasty(kind, loss, seed)
        penalty, intercept = PENALTIES[seed], seed % 2 == 0
        given = {"sample_weight": weight, "fit_intercept": intercept}
        best = sparse_path(X, y, loss, penalty, 8, eps=1e-2, tol=1e-12, **given)
        rough = sparse_path(X, y, loss, penalty, best.lambdas, tol=0.3, **given)
        assert best.certificate and rough.certificate
        least = -loss.conjugate(np.zeros(len(y)), y, weight)
        excess, found = best.objectives - least, rough.objectives - least
        # Both objectives are known to the rounding of the scores, times their number.
        slack = 1e-9 * excess
        assert (found - excess <= rough.gaps * found + slack).all()
        assert (excess - found <= best.gaps * excess + slack).all()
        assert (best.gaps <= 1e-9 + blur(X, y, loss, weight, penalty, best)).all()


def blur(X, y, loss, weight, penalty, path):
    """Say what the last bits of columns far from zero do to what pulls at the coefficients in use, against the penalty."""
    scores = X @ path.coefs.T + path.intercepts
    pull = weight * np.abs([loss.gradient(score, y) for score in scores.T]) @ np.abs(X)
    rounding = (X.shape[1] + 2) * np.finfo(float).eps * np.where(path.coefs != 0, pull, 0.0).max(axis=1)
    return rounding / (path.lambdas * penalty.l1)


@pytest.mark.parametrize("loss", LOSSES[1:], ids=lambda loss: type(loss).__name__)
def test_rounds_get_better_and_every_one_has_a_true_gap(loss):
    X, y = table(loss, 50, 300, seed=2)
    problem = NewtonSet(columns_of(X, None, centered=True), ScoredLoss(loss, y, np.ones(50), intercept=True))
    penalty = L1L2(0.05 * np.abs(problem.right).max(), 0.0)
    seen = []
    for value, gap in problem.rounds(penalty, 1e-12):
        own = objective(loss, penalty, X, y, np.ones(50), problem.coef, problem.intercept)
        seen.append((own + loss.conjugate(np.zeros(50), y), gap))
        assert seen[-1][0] == pytest.approx(value, rel=1e-10)
    values, gaps = np.array(seen).T
    assert (np.diff(values) <= 1e-12 * values[:-1]).all()
    assert (values - values[-1] <= gaps + 1e-12 * values).all() and gaps[-1] <= 1e-12 * values[-1]


@losses
@pytest.mark.parametrize("penalty", [L1(1.0), L1L2(1.0, 0.5, positive=True)], ids=repr)
def test_a_path_is_what_single_fits_are(loss, penalty):
    X, y = table(loss, 50, 120, seed=4)
    path = sparse_path(X, y, loss, penalty, 12, eps=0.02, tol=1e-12)
    for k in (3, 7, 11):
        one = minimize_sparse(X, y, loss, times(penalty, path.lambdas[k]), tol=1e-12)
        np.testing.assert_allclose(one.coef, path.coefs[k], atol=1e-6)
        assert one.objective == pytest.approx(path.objectives[k], rel=1e-11, abs=1e-11)
    shuffled = sparse_path(X, y, loss, penalty, path.lambdas[[7, 2, 11]], tol=1e-12)
    np.testing.assert_allclose(shuffled.coefs, path.coefs[[7, 2, 11]], atol=1e-6)
    again = minimize_sparse(X, y, loss, times(penalty, path.lambdas[7]), tol=1e-12, start=path.coefs[6])
    np.testing.assert_allclose(again.coef, path.coefs[7], atol=1e-6)


@losses
def test_screening_leaves_out_nothing_that_matters(loss, monkeypatch):
    """With all columns in the working set from the beginning there is nothing to leave out."""
    X, y = table(loss, 40, 200, seed=6)
    path = sparse_path(X, y, loss, L1(1.0), 8, eps=0.02, tol=1e-12)
    monkeypatch.setattr("qed.optim.sparse.working_set.FIRST", 200)
    monkeypatch.setattr(
        "qed.optim.sparse.working_set.Correlations.reaching",
        lambda self, residual, limit: (np.arange(200), self._columns.correlate(residual)),
    )
    monkeypatch.setattr(
        "qed.optim.sparse.working_set.WorkingSet._missing",
        lambda self, limit, positive: (
            np.flatnonzero(~self._is_member),
            self.columns.correlate(self.residual)[~self._is_member],
        ),
    )
    monkeypatch.setattr("qed.optim.sparse.working_set.WorkingSet._shrink", lambda self, limit: None)
    whole = sparse_path(X, y, loss, L1(1.0), path.lambdas, tol=1e-12)
    np.testing.assert_allclose(path.coefs, whole.coefs, atol=1e-6)
    np.testing.assert_array_equal(path.coefs != 0, whole.coefs != 0)


@losses
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.sampled(2)
def test_sparse_dense_single_and_transposed_tables_are_the_same(loss, intercept):
    generator = np.random.default_rng(7)
    X = generator.standard_normal((80, 40)) * (generator.random((80, 40)) < 0.2)
    X = X.astype(np.float32).astype(np.float64)
    y = target(loss, 2 * X[:, :3].sum(axis=1), generator)
    weight = generator.integers(0, 3, 80).astype(float)
    given = {"sample_weight": weight, "fit_intercept": intercept, "tol": 1e-12}
    dense = sparse_path(X, y, loss, L1(1.0), 5, eps=0.05, **given)
    repeated = sparse_path(np.repeat(X, weight.astype(int), 0), np.repeat(y, weight.astype(int)), loss, L1(1.0), 5,
                           eps=0.05, fit_intercept=intercept, tol=1e-12)  # fmt: skip
    np.testing.assert_allclose(repeated.coefs, dense.coefs, atol=1e-6)
    for other in (sparse.csr_array(X), sparse.csc_matrix(X), X.astype(np.float32), np.asfortranarray(X), X[:, ::-1]):
        found = sparse_path(other, y, loss, L1(1.0), dense.lambdas, **given)
        assert found.certificate
        coefs = (
            found.coefs[:, ::-1]
            if other is not X and isinstance(other, np.ndarray) and other.base is X
            else found.coefs
        )
        np.testing.assert_allclose(coefs, dense.coefs, atol=1e-6)
        np.testing.assert_allclose(found.intercepts, dense.intercepts, atol=1e-6)


def test_separable_classes_have_a_minimum_with_a_penalty():
    X = np.linspace(-1, 1, 21)[:, None] * [1.0, 2.0, -1.0]
    y = np.where(np.arange(21) < 8, -1.0, 1.0)
    path = sparse_path(X, y, LogisticLoss(), L1(1.0), 30, eps=1e-7, tol=1e-9)
    assert path.certificate and np.isfinite(path.coefs).all()
    assert (np.diff(np.abs(path.coefs).sum(axis=1)) > -1e-9).all()
    assert (np.sign(X @ path.coefs[-1] + path.intercepts[-1]) == y).all()


@pytest.mark.parametrize("loss", [HuberLoss(1e-3), HuberLoss(100.0)])
def test_huber_where_nearly_all_rows_are_outliers_or_none(loss):
    X, y = table(loss, 60, 10, seed=1)
    y = 50 * y
    path = sparse_path(X, y, loss, L1(1.0), 10, tol=1e-10)
    assert path.certificate
    for k in range(10):
        w, b = path.coefs[k], path.intercepts[k]
        assert kkt(loss, L1(path.lambdas[k]), X, y, np.ones(60), w, b, True) < 1e-3


def test_poisson_with_large_counts_and_far_columns():
    generator = np.random.default_rng(0)
    X = generator.standard_normal((200, 5)) + 100.0
    y = generator.poisson(np.exp(12 + 0.3 * (X[:, 0] - 100))).astype(float)
    path = sparse_path(X, y, PoissonLoss(), L1(1.0), 10, tol=1e-10)
    assert path.certificate and path.gaps.max() < 1e-8
    assert path.coefs[-1][0] == pytest.approx(0.3, abs=0.01)


@losses
def test_at_the_largest_multiple_all_coefficients_are_zero_and_just_below_one_is_not(loss):
    X, y = table(loss)
    path = sparse_path(X, y, loss, L1(2.0), 2)
    top = path.lambda_max
    found = sparse_path(X, y, loss, L1(2.0), [top * (1 + 1e-9), top * (1 - 1e-3)], tol=1e-12)
    assert np.count_nonzero(found.coefs, axis=1).tolist() == [0, 1]


@given(seed=st.integers(0, 10**6), which=st.integers(0, 3), share=st.floats(1e-3, 0.9), intercept=st.booleans())
@settings(max_examples=30)
def test_any_small_problem(seed, which, share, intercept):
    loss, generator = LOSSES[which], np.random.default_rng(seed)
    n, p = int(generator.integers(3, 25)), int(generator.integers(1, 12))
    X = generator.standard_normal((n, p)) @ np.diag(10.0 ** generator.uniform(-2, 2, p))
    y = target(loss, generator.standard_normal(n), generator)
    penalty = PENALTIES[int(generator.integers(4))]
    top = sparse_path(X, y, loss, penalty, 1, fit_intercept=intercept).lambda_max
    if top > 0:
        found = minimize_sparse(X, y, loss, times(penalty, share * top), fit_intercept=intercept, tol=1e-10)
        assert found.certificate
        w, b = found.coef, found.intercept
        assert kkt(loss, times(penalty, share * top), X, y, np.ones(n), w, b, intercept) < 1e-2


def test_one_quadratic_is_enough_for_squares():
    X, y = table(SquaredLoss(), 100, 20)
    assert minimize_sparse(X, y, SquaredLoss(), L1(20.0)).iterations == 1


def test_a_kept_gram_matrix_gives_the_same_path(monkeypatch):
    X, y = table(LogisticLoss(), 80, 60, seed=9)
    path = sparse_path(X, y, LogisticLoss(), L1(1.0), 10, eps=0.02, tol=1e-12)
    monkeypatch.setattr(newton_set, "HARDLY", 0.0)
    fresh = sparse_path(X, y, LogisticLoss(), L1(1.0), 10, eps=0.02, tol=1e-12)
    np.testing.assert_allclose(path.coefs, fresh.coefs, atol=1e-6)
    assert fresh.iterations.sum() <= path.iterations.sum()


def test_what_can_not_be_done_is_refused_in_words():
    X, y = table(LogisticLoss())
    with pytest.raises(ParameterError, match="L1 or L1L2"):
        minimize_sparse(X, y, LogisticLoss(), L2(1.0))
    with pytest.raises(ParameterError, match="L1 or L1L2"):
        minimize_sparse(X, y, LogisticLoss(), L1L2(0.0, 1.0))
    with pytest.raises(ParameterError, match="kinks"):
        minimize_sparse(X, y, AbsoluteLoss(), L1(1.0))
    with pytest.raises(ParameterError, match="lambdas"):
        sparse_path(X, y, LogisticLoss(), L1(1.0), [1.0, 0.0])
    with pytest.raises(ParameterError, match="eps"):
        sparse_path(X, y, LogisticLoss(), L1(1.0), 5, eps=0.0)
    with pytest.raises(InputError, match="-1 or 1"):
        minimize_sparse(X, (y + 1) / 2, LogisticLoss(), L1(1.0))
    with pytest.raises(InputError, match="no minimum"):
        minimize_sparse(X, np.ones(60), LogisticLoss(), L1(1.0))
    with pytest.raises(InputError, match="no minimum"):
        minimize_sparse(X, np.zeros(60), PoissonLoss(), L1(1.0))
    assert minimize_sparse(X, np.ones(60), LogisticLoss(), L1(1.0), fit_intercept=False).certificate
    with pytest.raises(InputError, match="one number"):
        minimize_sparse(X, y[:-1], LogisticLoss(), L1(1.0))
    with pytest.raises(InputError, match="zero"):
        minimize_sparse(X, y, LogisticLoss(), L1(1.0), sample_weight=np.zeros(60))
    with pytest.raises(InputError, match="Column 3"):
        minimize_sparse(np.where(np.arange(12) == 3, np.nan, X), y, LogisticLoss(), L1(1.0))
    with pytest.raises(InputError, match="start"):
        minimize_sparse(X, y, LogisticLoss(), L1(1.0), start=np.zeros(3))
    with pytest.raises(InputError, match="table"):
        minimize_sparse(X[0], y, LogisticLoss(), L1(1.0))


def test_steps_with_an_old_gram_matrix_are_joined_to_fewer(monkeypatch):
    X, y = table(LogisticLoss(), 80, 60, seed=9)
    # No new matrix but the first: it is the joined steps that have to get there.
    monkeypatch.setattr(NewtonSet, "_is_slow", lambda self, left, far: left > 0.99)
    path = sparse_path(X, y, LogisticLoss(), L1(1.0), 10, eps=0.1, tol=1e-10)
    monkeypatch.setattr(newton_set, "APART", np.inf)
    plain = sparse_path(X, y, LogisticLoss(), L1(1.0), 10, eps=0.1, tol=1e-10)
    assert path.certificate and plain.certificate
    np.testing.assert_allclose(path.coefs, plain.coefs, atol=1e-4)
    assert path.iterations.sum() < plain.iterations.sum()
