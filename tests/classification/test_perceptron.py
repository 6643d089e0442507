"""The perceptron: order, weights, forms and sources; compiled visits agree with plain Python; every form is proven."""

import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.linear_model import Perceptron as Peer

import qed
from qed.base.compile import interpreted
from qed.base.errors import ConvergenceWarning, InputError, NotAvailableError, ParameterError
from qed.classification.perceptron.visits import visit_dense, visit_gram, visit_sparse


def clouds(n=120, p=4, classes=2, gap=4.0, seed=0):
    random = np.random.default_rng(seed)
    centres = random.standard_normal((classes, p)) * gap
    y = random.integers(0, classes, n)
    y[:classes] = np.arange(classes)
    return centres[y] + random.standard_normal((n, p)), y


@pytest.mark.parametrize(
    "form", [{}, {"average": True}, {"scaled": True}, {"kernel": "linear"}, {"kernel": "rbf", "average": True}]
)
@pytest.mark.filterwarnings("ignore::qed.base.errors.ConvergenceWarning")
@pytest.mark.parametrize("classes", [2, 3])
def test_every_form_separates_and_proves(form, classes):
    X, y = clouds(classes=classes, gap=6.0)
    model = qed.Perceptron(**form).fit(X, y)
    assert model.certificate_ and model.score(X, y) == 1.0
    assert qed.certify(model, X, y)
    assert (model.dual_coef_.shape, model.intercept_.shape) == ((1, 120), (1,)) if classes == 2 else ((3, 120), (3,))


@pytest.mark.parametrize("way", [{}, {"average": True}, {"scaled": True}, {"fit_intercept": False}])
def test_a_linear_kernel_is_the_plane_itself(way):
    X, y = clouds(gap=1.0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        plane, kernel = (qed.Perceptron(max_iter=5, kernel=kernel, **way).fit(X, y) for kernel in (None, "linear"))
    np.testing.assert_allclose(kernel.dual_coef_, plane.dual_coef_, atol=1e-9)
    np.testing.assert_allclose(kernel.decision_function(X), plane.decision_function(X), atol=1e-8 * np.abs(X).max())
    precomputed = qed.Perceptron(max_iter=5, kernel="precomputed", **way)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        precomputed.set_params(shuffle=False).fit(X @ X.T, y)
        rows = qed.Perceptron(max_iter=5, kernel="linear", shuffle=False, **way).fit(X, y)
    np.testing.assert_allclose(precomputed.predict(X @ X.T), rows.predict(X))


def test_a_kernel_separates_what_no_plane_does():
    X, y = [[0, 0], [1, 1], [0, 1], [1, 0]], [0, 0, 1, 1]
    model = qed.Perceptron(kernel="poly", degree=2).fit(X, y)
    assert model.score(X, y) == 1.0 and model.ending_.reason.name == "CERTIFIED" and not hasattr(model, "coef_")


@pytest.mark.parametrize("way", [{}, {"average": True}, {"scaled": True}, {"kernel": "rbf"}, {"shuffle": False}])
def test_weights_are_repetitions_and_the_order_of_the_rows_does_not_matter(way):
    X, y = clouds(gap=0.7)
    random = np.random.default_rng(3)
    weight = random.integers(0, 4, len(X))
    weight[:2] = 1
    new = random.standard_normal((20, X.shape[1]))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        weighted = qed.Perceptron(max_iter=20, **way).fit(X, y, sample_weight=weight.astype(float))
        order = np.repeat(np.arange(len(X)), weight)
        if way.get("shuffle", True):
            order = random.permutation(order)
        repeated = qed.Perceptron(max_iter=20, **way).fit(X[order], y[order])
    # Corrections of a repeated row are added one by one, those of a weighted row at once.
    np.testing.assert_allclose(weighted.decision_function(new), repeated.decision_function(new), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize(
    "convert", [sparse.csr_array, sparse.csc_matrix, lambda X: X.astype(np.float32), np.asfortranarray]
)
def test_the_same_planes_however_rows_are_stored(convert):
    X, y = clouds()
    X = np.round(X * 8) / 8
    X[np.abs(X) < 2] = 0
    plain, other = (qed.Perceptron(tol=1e-2).fit(table, y) for table in (X, convert(X)))
    np.testing.assert_array_equal(plain.dual_coef_, other.dual_coef_)
    np.testing.assert_array_equal(plain.coef_, other.coef_)
    assert qed.certify(other, convert(X), y)


@pytest.mark.parametrize("strict", [True, False])
@pytest.mark.parametrize("scaled", [True, False])
def test_compiled_visits_are_those_of_plain_python(strict, scaled):
    X, y = clouds(n=60, classes=3, gap=1.0)
    weight = np.random.default_rng(0).choice([0.0, 0.5, 1.0, 2.0, 7.5], 60)
    active, table = np.array([True, True, False]), sparse.csr_array(X)
    stored = (table.data, table.indices.astype(np.int64), table.indptr.astype(np.int64))
    order = np.random.default_rng(1).permutation(60) if scaled else np.arange(60)
    found = []
    for visit, given, width in (
        (visit_dense, (X,), 5),
        (interpreted(visit_dense), (X,), 5),
        (visit_sparse, stored, 5),
        (interpreted(visit_sparse), stored, 5),
    ):
        W, row_pulls, time = np.zeros((3, width)), np.zeros((2, 3, 60)), 0.0
        for _ in range(3):
            time = visit(*given, order, y, weight, W, row_pulls, active, 1.0, strict, scaled, time)
        found.append((W, row_pulls, np.array(time)))
    for other in found[1:]:
        for one, two in zip(found[0], other):
            np.testing.assert_array_equal(one, two)
    gram = X @ X.T + 1
    for visit in (visit_gram, interpreted(visit_gram)):
        scores, row_pulls, time = np.zeros((3, 60)), np.zeros((2, 3, 60)), 0.0
        for _ in range(3):
            time = visit(gram, order, y, weight, scores, row_pulls, active, strict, scaled, time)
        np.testing.assert_allclose(row_pulls, found[0][1], rtol=1e-9)
        np.testing.assert_allclose(
            scores, found[0][0] @ np.column_stack([X, np.ones(60)]).T, atol=1e-9 * np.abs(scores).max()
        )


def test_one_pass_is_that_of_scikit_learn():
    """With the rows in their order, planes and predictions of one pass are the peer's."""
    for classes in (2, 4):
        X, y = clouds(classes=classes, gap=0.8)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for passes in (1, 4):
                ours = qed.Perceptron(shuffle=False, max_iter=passes).fit(X, y)
                peer = Peer(shuffle=False, max_iter=passes, tol=None).fit(X, y)
                np.testing.assert_allclose(ours.coef_, peer.coef_, rtol=1e-9, atol=1e-9)
                np.testing.assert_allclose(ours.intercept_, peer.intercept_, atol=1e-9)


def test_going_on_is_the_same_as_going_through():
    X, y = clouds(gap=0.3, n=300)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        whole = qed.Perceptron(max_iter=9, tol=1e-9).fit(X, y)
        parts = qed.Perceptron(max_iter=4, tol=1e-9).fit(X, y).set_params(max_iter=9).resume(X, y)
    np.testing.assert_array_equal(whole.dual_coef_, parts.dual_coef_)
    assert whole.n_iter_ == parts.n_iter_ == 9


def test_averages_are_steadier_where_classes_overlap():
    X, y = clouds(n=400, gap=0.6, seed=2)
    last, mean = (
        [qed.Perceptron(average=average, random_state=seed).fit(X, y).score(X, y) for seed in range(8)]
        for average in (False, True)
    )
    assert np.mean(mean) >= np.mean(last) and np.std(mean) <= np.std(last)


def test_class_weights_move_the_plane():
    X, y = clouds(n=300, gap=0.4, seed=5)
    plain = qed.Perceptron(average=True).fit(X, y).predict(X).mean()
    assert qed.Perceptron(average=True, class_weight={1: 10.0}).fit(X, y).predict(X).mean() > plain


def test_words_and_rules():
    X, y = clouds()
    with pytest.raises(ParameterError, match="penalty"):
        qed.Perceptron(penalty="l2").fit(X, y)
    with pytest.raises(ParameterError, match="tol"):
        qed.Perceptron(tol=-1.0).fit(X, y)
    with pytest.raises(InputError, match="one class"):
        qed.Perceptron().fit(X, np.zeros(len(X), int))
    assert qed.Perceptron(tol=None).fit(X, y).certificate_
    with pytest.raises(qed.base.errors.NotAvailableError, match="one of many"):
        _ = qed.Perceptron().fit(X, y).inference_


@pytest.mark.parametrize("scale", [1e-8, 1e8])
def test_units_do_not_change_the_answer(scale):
    X, y = clouds(gap=6.0)
    plain = qed.Perceptron(fit_intercept=False).fit(X, y)
    other = qed.Perceptron(fit_intercept=False, shuffle=False).fit(X * scale, y)
    assert plain.certificate_ and other.certificate_


def test_equal_rows_of_both_classes_and_rows_of_zeros():
    X, y = np.array([[1.0, 2.0], [1.0, 2.0], [0.0, 0.0], [3.0, 1.0]]), [0, 1, 0, 1]
    model = qed.Perceptron().fit(X, y)
    assert model.ending_.reason.name == "DEGENERATE" and model.certificate_
    nothing = qed.Perceptron(fit_intercept=False).fit(np.zeros((4, 2)), y)
    assert nothing.ending_.reason.name == "DEGENERATE" and nothing.certificate_


@pytest.mark.filterwarnings("ignore::qed.base.errors.ConvergenceWarning")
@pytest.mark.parametrize("convert", [np.asarray, np.float32, np.asfortranarray, sparse.csr_array])
def test_rows_that_stay_together_lead_to_the_same_planes_wherever_they_lie(monkeypatch, convert):
    """Many rows are visited in groups; their keys say which, so neither their places nor copies nor repetitions matter."""
    monkeypatch.setattr("qed.classification.perceptron.passes.MANY_ROWS", 16)
    monkeypatch.setattr("qed.classification.perceptron.passes.TOGETHER", 4)
    X, y = clouds(n=90, classes=3, gap=1.0)
    X = np.round(X * 8) / 8
    model = qed.Perceptron(max_iter=6).fit(convert(X), y)
    times, place = 1 + np.arange(90) % 2, np.random.default_rng(0).permutation(90)
    weighted = qed.Perceptron(max_iter=6).fit(convert(X), y, sample_weight=times)
    repeated = qed.Perceptron(max_iter=6).fit(convert(np.repeat(X, times, axis=0)), np.repeat(y, times))
    np.testing.assert_array_equal(weighted.coef_, repeated.coef_)
    np.testing.assert_array_equal(
        model.dual_coef_[:, place], qed.Perceptron(max_iter=6).fit(convert(X[place]), y[place]).dual_coef_
    )
    monkeypatch.setattr("qed.classification.perceptron.passes.FEW_ENOUGH", 0)
    monkeypatch.setattr("qed.classification.perceptron.passes.BATCH", 32)
    np.testing.assert_array_equal(model.dual_coef_, qed.Perceptron(max_iter=6).fit(convert(X), y).dual_coef_)


@pytest.mark.filterwarnings("ignore::qed.base.errors.ConvergenceWarning")
@pytest.mark.parametrize("classes", [2, 3])
def test_rows_that_come_in_parts_are_visited_once_like_scikit_learns(classes):
    X, y = clouds(n=120, classes=classes, gap=1.0)
    ours, peer = qed.Perceptron(shuffle=False, eta0=0.5), Peer(shuffle=False, eta0=0.5)
    known = np.arange(classes)
    for start in range(0, 120, 20):
        part = slice(start, start + 20)
        ours.partial_fit(X[part], y[part], known)
        peer.partial_fit(X[part], y[part], classes=known)
        # Sums of at most 120 rows, each rounded in the sixteenth digit.
        np.testing.assert_allclose(ours.coef_, peer.coef_, atol=1e-12)
        np.testing.assert_allclose(ours.intercept_, peer.intercept_, atol=1e-12)
        assert ours.certificate_ and qed.certify(ours, X[part], y[part])
    assert ours.n_iter_ == 6 and not qed.certify(ours, X[:20], y[:20])
    for name in ("coef_", "intercept_", "dual_coef_", "before_"):
        value = getattr(ours, name)
        setattr(ours, name, value * 1.001 + 0.001)
        assert not qed.certify(ours, X[part], y[part]), name
        setattr(ours, name, value)
    assert qed.certify(ours, X[part], y[part])
    with pytest.raises(NotAvailableError, match="partial_fit"):
        ours.resume(X[part], y[part])
    again = ours.fit(X, y)
    assert not hasattr(again, "before_")
    np.testing.assert_array_equal(again.coef_, qed.Perceptron(shuffle=False, eta0=0.5).fit(X, y).coef_)


def test_a_first_part_may_lack_classes_that_are_named(tmp_path):
    X, y = clouds(n=60, classes=3)
    only = y == 0
    model = qed.Perceptron().partial_fit(X[only], y[only], classes=[0, 1, 2])
    assert model.classes_.tolist() == [0, 1, 2] and model.certificate_
    model.partial_fit(X[~only], y[~only], sample_weight=np.full((~only).sum(), 2.0))
    qed.save(model, tmp_path / "model.qed")
    again = qed.load(tmp_path / "model.qed")
    np.testing.assert_array_equal(again.partial_fit(X, y).coef_, model.partial_fit(X, y).coef_)
    with pytest.raises(InputError, match="only one class"):
        qed.Perceptron().partial_fit(X[only], y[only])
    with pytest.raises(InputError, match="not among the classes"):
        model.partial_fit(X, y + 1)
    for settings in ({"kernel": "rbf"}, {"average": True}, {"class_weight": "balanced"}):
        with pytest.raises(NotAvailableError, match="call fit"):
            qed.Perceptron(**settings).partial_fit(X, y)
