"""Support vector machines: the solvers against plain twins and peers, on data that are not nice."""

import numpy as np
import pytest
from scipy import sparse
from sklearn import svm
from sklearn.base import clone

import qed
import qed.optim.svm.decomposition as decomposition
import qed.optim.svm.dual as dual
from qed.base.compile import interpreted
from qed.base.errors import ConvergenceWarning, NotFittedError
from qed.base.running.steps import Reason
from qed.classification.svm.probability import Sigmoid, agreeing, coupled
from qed.kernels import RBF, Similarity
from qed.kernels.gram.gaussian import exponentials, exponentials_single, gaussian_rows, gaussian_sums
from qed.kernels.gram.rows import combined
from qed.optim.svm.smo import descend

random = np.random.default_rng(0)
EPS = 2.0**-52


def blobs(n=120, p=3, classes=2, apart=1.0, seed=0):
    generator = np.random.default_rng(seed)
    y = generator.integers(0, classes, n)
    return generator.standard_normal((n, p)) + apart * generator.standard_normal((classes, p))[y], y


def twin(K, f, beta, low, high, enough, most):
    """Move pairs chosen by second order, as the course would write it."""
    diagonal, moved = np.diag(K), 0
    while moved < most:
        up, down = beta < high, beta > low
        i = int(np.argmax(np.where(up, f, -np.inf)))
        if f[i] - f[down].min(initial=np.inf) <= enough:
            break
        apart = np.where(down, np.maximum(f[i] - f, 0), 0)
        curvature = np.maximum(diagonal[i] + diagonal - 2 * K[i], 1e-12 * diagonal.max())
        j = int(np.argmax(apart**2 / curvature))
        step = min((f[i] - f[j]) / curvature[j], high[i] - beta[i], beta[j] - low[j])
        beta[i], beta[j] = beta[i] + step, beta[j] - step
        f -= step * (K[i] - K[j])
        moved += 1
    return moved


@pytest.mark.parametrize("how", [lambda kernel: kernel, interpreted], ids=["compiled", "plain"])
def test_descend_does_what_its_twin_does(how):
    X, y = blobs(40)
    K, p = RBF(0.5)(X), np.where(y == 1, 1.0, -1.0)
    low, high = np.minimum(p, 0) * 0.7, np.maximum(p, 0) * 0.7
    f, beta, other, theirs = p.copy(), np.zeros(40), p.copy(), np.zeros(40)
    # Steps are the same while ties are broken alike; some hundred of them leave rounding alone.
    how(descend)(K, f, beta, low, high, 1e-9, 200)
    twin(K, other, theirs, low, high, 1e-9, 200)
    np.testing.assert_allclose(beta, theirs, atol=1e-9)
    np.testing.assert_allclose(f, p - K @ beta, atol=1e-12)


def test_exponentials():
    values = -np.concatenate([random.uniform(0, 80, 3000), [0.0, 1e-300, 700.0]])
    found = values.copy()
    exponentials(found)
    np.testing.assert_allclose(found, np.exp(values), rtol=4 * EPS)
    single = values[values > -80].astype(np.float32)
    found = single.copy()
    exponentials_single(found)
    np.testing.assert_allclose(found, np.exp(single.astype(float)), rtol=4 * 2.0**-23)


@pytest.mark.parametrize("p", [1, 3, 4, 9])
def test_gaussian_rows_and_sums(p):
    X, Z = random.standard_normal((700, p)), random.standard_normal((5, p))
    K = RBF(0.3)(Z, X)
    rows = np.empty((5, 700), np.float32)
    gaussian_rows(
        np.ascontiguousarray(X.T, dtype=np.float32), Z.astype(np.float32), np.float32(-0.3), rows, np.arange(5)
    )
    np.testing.assert_allclose(rows, K, atol=1e-5)
    c, sums = random.standard_normal((5, 2)), np.zeros((2, 700))
    gaussian_sums(np.ascontiguousarray(X.T), Z, c, -0.3, sums)
    np.testing.assert_allclose(sums, c.T @ K, atol=1e-12)


@pytest.mark.parametrize("scale", [1.0, 100.0], ids=["near", "far apart"])
def test_sums_of_many_similarities(scale):
    """By matrix products or by differences: 1100 terms of at most one, each right to 1e-13."""
    X, Z = scale * random.standard_normal((1000, 5)) + 7.0, scale * random.standard_normal((1100, 5)) + 7.0
    c = random.standard_normal((1100, 2))
    found = combined(Similarity.of("rbf", 0.3), X, Z, c)
    np.testing.assert_allclose(found, RBF(0.3)(X, Z) @ c, atol=1e-13 * np.abs(c).sum())


@pytest.mark.parametrize("kernel", ["linear", "rbf", "poly"])
@pytest.mark.parametrize("classes", [2, 4])
def test_libsvm_agrees(kernel, classes):
    """Its rule of stopping leaves scores right to about its tolerance."""
    X, y = blobs(150, classes=classes)
    settings = {"kernel": kernel, "C": 2.0, "class_weight": "balanced"}
    ours, theirs = qed.SVC(**settings).fit(X, y), svm.SVC(**settings, tol=1e-8).fit(X, y)
    for shape in ("ovr", "ovo"):
        ours.decision_function_shape = theirs.decision_function_shape = shape
        np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(X), atol=2e-5)
    np.testing.assert_array_equal(ours.support_, theirs.support_)
    np.testing.assert_array_equal(ours.n_support_, theirs.n_support_)
    np.testing.assert_allclose(ours.dual_coef_, theirs.dual_coef_, atol=2e-4)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, atol=2e-5)


@pytest.mark.parametrize("kernel", ["rbf", "linear", "laplacian"])
def test_large_tables_are_solved_like_small_ones(kernel, monkeypatch):
    """By decomposition the gap is what was asked for, which bounds the objective from both sides."""
    X, y = blobs(500, classes=3, apart=0.6)
    whole = qed.SVC(kernel=kernel).fit(X, y)
    monkeypatch.setattr(dual, "MOST_WHOLE", 50)
    monkeypatch.setattr(decomposition, "AT_ONCE", 32)
    parts = qed.SVC(kernel=kernel, tol=1e-7).fit(X, y)
    assert parts.certificate_ and qed.certify(parts, X, y)
    assert parts.ending_.n_iter > 3
    np.testing.assert_allclose(parts.dual_objective_, whole.dual_objective_, rtol=1e-7)
    regression = qed.SVR(kernel=kernel, tol=1e-6).fit(X, X[:, 0] + 0.1 * y)
    assert regression.certificate_


def test_sparse_and_precomputed_are_the_same():
    X, y = blobs(80, classes=3)
    X[np.abs(X) < 0.5] = 0.0
    gamma = 0.4
    dense = qed.SVC(gamma=gamma).fit(X, y)
    thin = qed.SVC(gamma=gamma).fit(sparse.csr_array(X), y)
    given = qed.SVC(kernel="precomputed").fit(RBF(gamma)(X), y)
    assert sparse.issparse(thin.support_vectors_) and given.support_vectors_.size == 0
    for other, table in ((thin, sparse.csr_array(X)), (given, RBF(gamma)(X)), (thin, X)):
        np.testing.assert_allclose(other.decision_function(table), dense.decision_function(X), atol=1e-6)
    with pytest.raises(AttributeError, match="linear kernel"):
        _ = dense.coef_


NASTY = {
    "far from the origin": lambda X: X + 1e6,
    "tiny": lambda X: X * 1e-8,
    "huge": lambda X: X * 1e8,
    "duplicated": lambda X: np.repeat(X[: len(X) // 4], 4, axis=0),
    "constant column": lambda X: np.column_stack([X, np.full(len(X), 3.0)]),
    "collinear": lambda X: np.column_stack([X, 2 * X[:, 0]]),
    "single precision": lambda X: X.astype(np.float32),
    "wide": lambda X: np.column_stack([X, np.random.default_rng(1).standard_normal((len(X), 150))]),
}


@pytest.mark.parametrize("change", NASTY.values(), ids=NASTY)
@pytest.mark.parametrize(
    "model",
    [
        qed.SVC(),
        qed.SVC(kernel="linear"),
        qed.LinearSVC(),
        qed.LinearSVC(loss="hinge", tol=1e-5),
        qed.SVR(),
        qed.LinearSVR(tol=1e-5),
    ],
    ids=["SVC", "linear SVC", "squared hinge", "hinge", "SVR", "LinearSVR"],
)
@pytest.mark.sampled(2)
def test_nasty_tables_have_a_proof(model, change):
    X, y = blobs(60)
    X = change(X)
    if isinstance(model, qed.SVC) and model.kernel == "linear" and change is NASTY["huge"]:
        with pytest.warns(ConvergenceWarning, match="StandardScaler"):
            fitted = clone(model).fit(X, y)
        # Multipliers of one, of rows of 1e8, would have to cancel to 1e-16: the fit says so at once, and what to do.
        assert fitted.ending_.reason is Reason.DEGENERATE and fitted.n_iter_ == 1
        X = qed.StandardScaler().fit_transform(X)
    fitted = clone(model).fit(X, y)
    assert fitted.certificate_, fitted.certificate_
    assert qed.certify(fitted, X, y)


def test_two_rows_are_enough():
    model = qed.SVC(kernel="linear").fit([[0.0], [2.0]], ["a", "b"])
    assert model.decision_function([[1.0]])[0] == pytest.approx(0.0, abs=1e-12)
    assert model.predict([[0.9], [1.1]]).tolist() == ["a", "b"]


def test_equal_rows_of_both_classes():
    """Nothing tells them apart: all multipliers at their bounds, and the objective is that of slack alone."""
    model = qed.SVC(kernel="rbf", gamma=1.0).fit(np.zeros((4, 2)), [0, 1, 0, 1])
    assert model.certificate_
    assert model.primal_objective_[0] == pytest.approx(4.0)


def test_liblinear_is_not_better():
    """Its constant is penalised a little, so its objective is at least ours but for the gap."""
    X, y = blobs(300, apart=0.5)
    for loss, power in (("hinge", 1), ("squared_hinge", 2)):
        ours = qed.LinearSVC(loss=loss).fit(X, y)
        theirs = svm.LinearSVC(loss=loss, intercept_scaling=1e3, tol=1e-6, max_iter=100_000, random_state=0).fit(X, y)

        def objective(model, power=power):
            slack = np.maximum(1 - np.where(y == 1, 1, -1) * model.decision_function(X), 0)
            return (model.coef_**2).sum() / 2 + (slack**power).sum()

        assert objective(ours) <= objective(theirs) * (1 + ours.tol)
        assert objective(ours) == pytest.approx(ours.primal_objective_[0], rel=1e-9)


def test_epsilon_regression_agrees_with_libsvm():
    X = random.standard_normal((150, 3))
    y = np.sin(X[:, 0]) + 0.2 * random.standard_normal(150)
    weight = random.integers(1, 4, 150).astype(float)
    ours, theirs = (
        qed.SVR(C=3.0).fit(X, y, weight),
        svm.SVR(C=3.0, gamma=qed.SVR(C=3.0).fit(X, y, weight).gamma_, tol=1e-9).fit(X, y, weight),
    )
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X), atol=1e-4)
    np.testing.assert_array_equal(ours.support_, theirs.support_)


def test_variables_set_aside_change_nothing(monkeypatch):
    """With shrinking or without, with one thread or more: the same proof, and the same bits for any number of threads."""
    X, y = blobs(900, apart=0.4)
    monkeypatch.setattr(dual, "MOST_WHOLE", 50)
    monkeypatch.setattr(decomposition, "AT_ONCE", 32)
    fitted = qed.SVC(tol=1e-6).fit(X, y)
    with qed.threads(1):
        alone = qed.SVC(tol=1e-6).fit(X, y)
    np.testing.assert_array_equal(fitted.dual_coef_, alone.dual_coef_)
    assert min(len(step.work) for step in qed.steps(qed.SVC(tol=1e-6), X, y)) < 0.7 * len(X)
    monkeypatch.setattr(decomposition, "WORTH_SHRINKING", 0.0)
    plain = qed.SVC(tol=1e-6).fit(X, y)
    assert plain.certificate_ and fitted.certificate_
    np.testing.assert_allclose(fitted.dual_objective_, plain.dual_objective_, rtol=1e-6)


def test_a_fit_without_time_keeps_its_state_and_its_gap(monkeypatch):
    X, y = blobs(600, apart=0.4)
    monkeypatch.setattr(dual, "MOST_WHOLE", 50)
    monkeypatch.setattr(decomposition, "AT_ONCE", 16)
    with pytest.warns(ConvergenceWarning, match="seconds"), qed.watch(seconds=1e-9):
        fitted = qed.SVC().fit(X, y)
    assert fitted.ending_.reason is Reason.TIME and not fitted.certificate_
    claim = qed.certify(fitted, X, y)["primal less dual objective"]
    assert claim.value == pytest.approx(fitted.gap_[0], rel=1e-9)
    assert fitted.resume(X, y).certificate_


@pytest.mark.parametrize("model", [qed.SVC(), qed.SVC(kernel="linear"), qed.SVR()], ids=["SVC", "linear SVC", "SVR"])
@pytest.mark.parametrize("most", [50, 2500], ids=["large", "small"])
def test_a_path_of_costs_is_as_good_as_fits(model, most, monkeypatch):
    X, y = blobs(150, classes=3)
    y = X[:, 0] + np.sin(X[:, 1]) if isinstance(model, qed.SVR) else y
    monkeypatch.setattr(dual, "MOST_WHOLE", most)
    grid = {"C": [3.0, 0.1, 30.0], "gamma": [0.2, "scale"]}
    search = qed.Search(model, grid, cv=3).fit(X, y)
    assert search.how_ == "3 folds, 2 paths of C each"
    monkeypatch.setattr(type(model), "_search", lambda self, question: None)
    plain = qed.Search(model, grid, cv=3).fit(X, y)
    assert "fitted" in plain.how_
    # Both objectives are within 1e-5 of their minimum; a prediction moves by no more than the root of twice that share of it.
    np.testing.assert_allclose(search.cv_results_["mean_test_score"], plain.cv_results_["mean_test_score"], atol=5e-3)
    assert search.best_params_ == plain.best_params_


@pytest.mark.parametrize("classes", [2, 4])
def test_probabilities_agree_with_predictions(classes):
    X, y = blobs(300, classes=classes, apart=0.7)
    labels = np.array(list("abcd"))[y]
    model = qed.SVC(probability=True).fit(X[:200], labels[:200])
    found = model.predict_proba(X)
    np.testing.assert_allclose(found.sum(axis=1), 1.0, rtol=16 * EPS)
    np.testing.assert_array_equal(model.classes_[found.argmax(axis=1)], model.predict(X))
    single = qed.SVC(probability=True).fit(X[:200].astype(np.float32), labels[:200])
    told = single.predict_proba(X.astype(np.float32))
    assert told.dtype == np.float32
    np.testing.assert_array_equal(single.classes_[told.argmax(axis=1)], single.predict(X.astype(np.float32)))
    assert qed.certify(model, X[:200], labels[:200])
    model.probA_ = 2 * model.probA_
    assert not qed.certify(model, X[:200], labels[:200])
    # Probabilities are better than the shares of the classes on rows that nobody saw.
    own = found[np.arange(300), np.searchsorted(model.classes_, labels)]
    assert -np.log(own[200:]).mean() < np.log(classes)
    with pytest.raises(AttributeError):
        qed.SVC().fit(X, y).predict_proba(X)


def test_sigmoid_is_the_most_likely_one():
    """No A and B nearby are more likely, and a slope of nothing gives the share of the positive class."""
    scores = random.standard_normal(200)
    positive = scores + random.standard_normal(200) > 0.3
    one = Sigmoid.of(scores, positive, np.ones(200))
    best = one.minimum()
    assert best[0] < 0
    for move in ([1e-3, 0.0], [0.0, 1e-3], [-1e-3, 0.0], [0.0, -1e-3]):
        assert one.loss(best + move) > one.loss(best)
    p = 1 / (1 + np.exp(best[0] * scores + best[1]))
    assert abs((p - one.wanted).sum()) < 1e-6


def test_coupling_gives_back_what_pairs_came_from():
    p = random.dirichlet(np.ones(4), 10)
    first, second = np.triu_indices(4, 1)
    pairs = p[:, first] / (p[:, first] + p[:, second])
    # The smallest eigenvalue of the system is above 1e-4 here, so rounding stays below 1e-10.
    np.testing.assert_allclose(coupled(pairs, 4), p, atol=1e-10)
    nearest = agreeing(p, np.zeros(10, dtype=int), 0.0)
    assert (nearest.max(axis=1) == nearest[:, 0]).all()
    np.testing.assert_allclose(nearest.sum(axis=1), 1.0)


def test_probabilities_asked_for_after_the_fit_ask_for_another_fit():
    X, y = [[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1]
    model = qed.SVC(kernel="linear").fit(X, y).set_params(probability=True)
    with pytest.raises(NotFittedError, match="fit again"):
        model.predict_proba(X)
