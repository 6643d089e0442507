"""Support vector machines: the solvers against plain twins and peers, on data that are not nice."""

import numpy as np
import pytest
from scipy import sparse
from sklearn import svm
from sklearn.base import clone

import qed
import qed.optim.svm.decomposition as decomposition
import qed.optim.svm.dual as dual
import qed.optim.svm.linear_model as linear_model
import qed.optim.svm.problem as problem
from qed.base.compile import interpreted
from qed.base.errors import ConvergenceWarning, NotFittedError, ParameterError
from qed.base.running.steps import Reason
from qed.classification.svm.probability import Sigmoid, agreeing, coupled
from qed.kernels import RBF, Similarity
from qed.kernels.gram.gaussian import exponentials, exponentials_single, gaussian_rows, gaussian_sums
from qed.kernels.gram.sums import combined
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


@pytest.mark.parametrize("gamma", [0.01, 0.2])
def test_rough_sums_know_how_rough_they_are(gamma):
    """Rows that are asked about are within the bound that was told, and those not taken are as exact as ever."""
    X, Z = 3 * random.standard_normal((1000, 5)) + 7.0, 3 * random.standard_normal((1100, 5)) + 7.0
    c, seen = random.standard_normal((1100, 3)), []
    exact = RBF(gamma)(X, Z) @ c

    def enough(sums, off):
        at = sum(len(before) for before in seen)
        seen.append(off)
        assert (np.abs(sums - exact[at : at + len(sums)]) <= off[:, None]).all()
        assert (off < 1e-2 * np.abs(c).sum()).all()
        return np.arange(len(sums)) % 2 == 0

    found = combined(Similarity.of("rbf", gamma), X, Z, c, enough)
    taken = np.concatenate([np.arange(len(off)) % 2 == 0 for off in seen])
    assert (np.abs(found - exact) <= 1e-13 * np.abs(c).sum())[~taken].all()
    assert (np.abs(found - exact).max(axis=1) <= np.concatenate(seen))[taken].all()


@pytest.mark.parametrize("classes", [2, 4])
def test_many_rows_are_predicted_as_their_scores_say(classes):
    """Classes that overlap, and votes that are equal: single precision must not decide where it can not."""
    X, y = blobs(400, classes=classes, apart=0.1)
    model, new = qed.SVC(C=100.0, gamma=0.5).fit(X, y), blobs(6000, classes=classes, apart=0.1)[0]
    scores = model.decision_function(new)
    chosen = (scores > 0).astype(int) if classes == 2 else scores.argmax(axis=1)
    np.testing.assert_array_equal(model.predict(new), model.classes_[chosen])


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
    fitted = clone(model).fit(X, y)
    assert fitted.certificate_, fitted.certificate_
    assert qed.certify(fitted, X, y)


LINEAR = {
    "squared hinge": qed.LinearSVC(),
    "hinge": qed.LinearSVC(loss="hinge"),
    "hinge, no constant": qed.LinearSVC(loss="hinge", fit_intercept=False),
    "LinearSVR": qed.LinearSVR(),
    "LinearSVR, squared": qed.LinearSVR(loss="squared_epsilon_insensitive", epsilon=0.1),
    "linear SVC": qed.SVC(kernel="linear"),
    "linear SVR": qed.SVR(kernel="linear"),
}


def outlier(X, place, size):
    X = X.copy()
    X[place] = size
    return X


BADLY_SCALED = {
    "columns 1e16 apart": lambda X, t: (X * [1e-8, 1.0, 1e8], t),
    "columns 1e6 apart": lambda X, t: (X * [1.0, 1.0, 1e6], t),
    "an outlier of 1e6 in a row": lambda X, t: (outlier(X, 3, 1e6), t),
    "an outlier of 1e6 in a cell": lambda X, t: (outlier(X, (3, 1), 1e6), t),
    "an outlier of 1e3 in the target": lambda X, t: (X, outlier(t, 3, 1e3)),
    "an outlier of 1e8 in the target": lambda X, t: (X, outlier(t, 3, 1e8)),
    "a tiny target": lambda X, t: (X, 1e-8 * t),
    "a huge target": lambda X, t: (1e4 * X, 1e8 * t),
    "a target far away": lambda X, t: (X + 1e8, t + 1e8),
    "a large constant column": lambda X, t: (np.column_stack([X, np.full(len(X), 1e8)]), t),
    "constant columns alone": lambda X, t: (np.ones((len(X), 2)), t),
    "long tails": lambda X, t: (np.exp(4 * X), np.exp(3 * t)),
    "two rows": lambda X, t: (X[:2], t[:2]),
    "the same rows with other targets": lambda X, t: (np.repeat(X[:15], 4, axis=0), t),
}


@pytest.mark.filterwarnings("ignore::qed.base.errors.ManySupportVectorsWarning")
@pytest.mark.parametrize("change", BADLY_SCALED.values(), ids=BADLY_SCALED)
@pytest.mark.parametrize("model", LINEAR.values(), ids=LINEAR)
@pytest.mark.sampled(3)
def test_linear_machines_prove_their_answer_on_any_scale(model, change):
    generator = np.random.default_rng(0)
    X = generator.standard_normal((60, 3))
    X, t = change(X, X[:, 0] + 0.3 * generator.standard_normal(60))
    y = t if isinstance(model, qed.SVR | qed.LinearSVR) else np.arange(len(t)) % 2
    for C in (1e-3, 1.0, 1e3):
        fitted = clone(model).set_params(C=C).fit(X, y)
        assert fitted.certificate_, fitted.certificate_
        found = qed.certify(fitted, X, y)
        assert found, found


def test_the_exact_way_finds_what_the_others_find(monkeypatch):
    """Two objectives that are both within 1e-6 of the same minimum can not be further apart than that."""
    X, y = blobs(80, apart=0.6)
    t = X[:, 0] + np.sin(y)
    for model, target in ((qed.LinearSVC(loss="hinge"), y), (qed.LinearSVC(), y), (qed.LinearSVR(epsilon=0.1), t)):
        fits = []
        for patience in (1000, 1):
            with monkeypatch.context() as patch:
                patch.setattr(linear_model, "IDLE", patience)
                fits.append(clone(model).fit(X, target))
        usual, exact = fits
        assert (usual.smoothing_ > 0).all() and (exact.smoothing_ == 0).all() and exact.certificate_
        np.testing.assert_allclose(exact.primal_objective_, usual.primal_objective_, rtol=1e-6)
        exact.dual_objective_ = exact.dual_objective_ * (1 + 1e-3)
        assert not qed.certify(exact, X, target)
    for model, target in ((qed.SVC(kernel="linear"), y), (qed.SVR(kernel="linear"), t)):
        usual = clone(model).fit(X, target)
        with monkeypatch.context() as patch:
            patch.setattr(problem, "MOST_ROUNDING", 0.0)
            exact = clone(model).fit(X, target)
        assert not usual.slopes_.size and exact.slopes_.size and exact.certificate_ and qed.certify(exact, X, target)
        np.testing.assert_allclose(exact.dual_objective_, usual.dual_objective_, rtol=1e-5)
        # Half the squared distance of two points is at most what both are above the minimum of a function that is strongly convex.
        away = np.sqrt(4e-5 * usual.primal_objective_.max())
        np.testing.assert_allclose(exact.coef_, usual.coef_, atol=away)
        np.testing.assert_array_equal(exact.support_, usual.support_)
        exact.slopes_ = exact.slopes_ * 1.1
        assert not qed.certify(exact, X, target)


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


@pytest.mark.parametrize("value", [0.0, 0.1, 1e8 / 3])
@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array, sparse.csr_matrix])
def test_a_table_that_does_not_vary_has_the_width_of_one_that_does_not(value, make):
    """A mean of equal numbers differs from them by rounding, and one over the square of that is no width."""
    y = np.arange(20) % 2
    assert qed.SVC().fit(make(np.full((20, 3), value)), y).gamma_ == 1.0


def test_the_width_is_that_of_the_variance_also_far_from_zero():
    X, y = np.random.default_rng(0).standard_normal((40, 3)), np.arange(40) % 2
    for table in (X, X + 1e8, sparse.csr_matrix(np.where(X > 0.5, X, 0.0)), sparse.csr_array(X + 1e8)):
        dense = table.toarray() if sparse.issparse(table) else table
        assert qed.SVC().fit(table, y).gamma_ == pytest.approx(1 / (3 * dense.var()), rel=1e-12)


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


@pytest.mark.parametrize("C", [0.05, 1.0, 50.0])
@pytest.mark.parametrize("shape", [(120, 8), (60, 200)], ids=["tall", "wide"])
def test_a_penalty_on_sizes_makes_coefficients_zero(shape, C):
    """No worse than liblinear, whose constant is penalised a little; sparse rows are the same; whatever is moved is noticed."""
    generator = np.random.default_rng(0)
    X = generator.standard_normal(shape)
    X[np.abs(X) < 0.5] = 0.0
    y = np.where(X[:, 0] + X[:, 1] + 0.5 * generator.standard_normal(len(X)) > 0, "b", "a")
    model = qed.LinearSVC(C, penalty="l1").fit(X, y)
    theirs = svm.LinearSVC(C=C, penalty="l1", intercept_scaling=1e3, tol=1e-6, max_iter=100_000, random_state=0).fit(
        X, y
    )

    def objective(found):
        slack = np.maximum(1 - np.where(y == "b", 1, -1) * found.decision_function(X), 0)
        return np.abs(found.coef_).sum() + C * (slack**2).sum()

    assert objective(model) == pytest.approx(model.primal_objective_[0], rel=1e-12)
    assert objective(model) <= objective(theirs) * (1 + model.tol)
    assert model.certificate_ and qed.certify(model, X, y)
    assert np.count_nonzero(model.coef_) < shape[1] or C > 0.05
    thin = qed.LinearSVC(C, penalty="l1").fit(sparse.csr_array(X), y)
    assert thin.primal_objective_[0] == pytest.approx(model.primal_objective_[0], rel=2 * model.tol)
    for name in ("coef_", "intercept_", "primal_objective_", "dual_objective_"):
        moved = qed.LinearSVC(C, penalty="l1").fit(X, y)
        setattr(moved, name, getattr(moved, name) * 1.01)
        assert not qed.certify(moved, X, y), name


def test_a_penalty_on_sizes_goes_with_squared_slack():
    with pytest.raises(ParameterError, match="squared_hinge"):
        qed.LinearSVC(penalty="l1", loss="hinge").fit([[0.0], [1.0]], [0, 1])


PATHS = [qed.LinearSVC(), qed.LinearSVC(loss="hinge"), qed.LinearSVC(penalty="l1"), qed.LinearSVR(epsilon=0.1)]


@pytest.mark.parametrize("model", PATHS, ids=["squared hinge", "hinge", "sizes", "LinearSVR"])
def test_a_path_of_linear_machines_is_as_good_as_fits(model, monkeypatch):
    X, y = blobs(150, classes=3)
    y = X[:, 0] + np.sin(X[:, 1]) if isinstance(model, qed.LinearSVR) else y
    grid = {"C": [3.0, 0.1, 30.0]}
    search = qed.Search(model, grid, cv=3).fit(X, y)
    assert search.how_ == "3 folds, 1 path of C each"
    monkeypatch.setattr(linear_model.LinearMachine, "_search", lambda self, question: None)
    plain = qed.Search(model, grid, cv=3).fit(X, y)
    assert "fitted" in plain.how_
    # Both objectives are within 1e-6 of their minimum; a prediction moves by no more than the root of twice that share of it.
    np.testing.assert_allclose(search.cv_results_["mean_test_score"], plain.cv_results_["mean_test_score"], atol=5e-3)
    assert search.best_params_ == plain.best_params_
