"""The ways to the minimum that are chosen by shape give what plain Newton steps give, and are chosen where they should be."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.linear_model import LogisticRegression as Peer

import qed
from qed.base.errors import ConvergenceWarning
from qed.base.running.steps import Step
from qed.base.sources.block import Block
from qed.base.sources.rows import ArrayRows
from qed.classification.logistic import beginning
from qed.classification.logistic.dependent_columns import dependent_columns
from qed.classification.logistic.sums import TwoClassSums
from qed.optim.functions import softmax
from qed.optim.functions.softmax import SoftmaxLoss, coding_of


def table(n, p, k=2, seed=0, offset=0.0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)) * rng.uniform(0.5, 2, size=p)
    y = (X @ rng.normal(size=(p, k)) / np.sqrt(p) + rng.gumbel(size=(n, k))).argmax(axis=1)
    return X + offset, y


def slope(model, X, y, C=1.0, weight=1.0):
    """The largest component of the gradient, relative to what it is a sum of."""
    chance = model.predict_proba(X)
    seen = np.eye(len(model.classes_))[np.searchsorted(model.classes_, y)]
    pull = (np.broadcast_to(weight, len(y))[:, None] * (chance - seen))[:, 1 if len(model.classes_) == 2 else 0 :]
    gradient = C * (X.T @ pull).T + model.coef_
    return np.abs(gradient).max() / (C * (abs(X).T @ np.abs(pull))).max()


class TestSomeRows:
    """Many rows: the curvature of some stands for that of all."""

    def test_the_answer_is_that_of_all_rows(self, monkeypatch):
        X, y = table(60_000, 20, offset=3.0)
        fast = qed.LogisticRegression().fit(X, y)
        assert fast.solver_ == "newton, curvature of some rows" and fast.certificate_ and qed.certify(fast, X, y)
        monkeypatch.setattr(beginning, "LEAST_VALUES", 10**12)
        slow = qed.LogisticRegression().fit(X, y)
        assert slow.solver_ == "newton" and slow.certificate_
        np.testing.assert_allclose(fast.coef_, slow.coef_, rtol=1e-6, atol=1e-7)
        np.testing.assert_allclose(fast.intercept_, slow.intercept_, rtol=1e-6, atol=1e-6)

    @pytest.mark.parametrize("form", [np.float32, np.asfortranarray])
    def test_other_forms_of_the_same_table(self, form):
        X, y = table(60_000, 20)
        X = X.astype(np.float32).astype(np.float64)
        other = X.astype(np.float32) if form is np.float32 else form(X)
        fits = [qed.LogisticRegression().fit(given, y) for given in (X, other)]
        np.testing.assert_allclose(fits[1].coef_, fits[0].coef_, rtol=1e-6, atol=1e-7)
        assert fits[1].certificate_

    def test_threads_weights_and_resuming(self):
        X, y = table(60_000, 20)
        weight = np.random.default_rng(1).uniform(0, 2, size=len(y)) * (np.arange(len(y)) % 7 > 0)
        fits = []
        for count in (1, 3):
            with qed.threads(count):
                fits.append(qed.LogisticRegression(class_weight="balanced").fit(X, y, sample_weight=weight))
        np.testing.assert_array_equal(fits[0].coef_, fits[1].coef_)
        assert fits[0].certificate_ and fits[0].solver_ == "newton, curvature of some rows"
        walk = qed.steps(qed.LogisticRegression(), X, y)
        steps = [next(walk) for _ in range(4)]
        again = next(qed.steps(qed.LogisticRegression(), X, y, start=steps[2]))
        np.testing.assert_array_equal(again.coef, steps[3].coef)
        assert again.gap == steps[3].gap

    @pytest.mark.parametrize("n", [300, 60_000])
    def test_a_fit_goes_on_without_its_intercept(self, n):
        X, y = table(n, 20, offset=1.0)
        model = qed.LogisticRegression(max_iter=2)
        with pytest.warns(ConvergenceWarning, match="max_iter"):
            model.fit(X, y)
        model.set_params(max_iter=100, fit_intercept=False).resume(X, y)
        assert model.certificate_ and not model.intercept_.any()
        fresh = qed.LogisticRegression(fit_intercept=False).fit(X, y)
        np.testing.assert_allclose(model.coef_, fresh.coef_, rtol=1e-6, atol=1e-6)

    @pytest.mark.parametrize("forge", [np.zeros_like, np.negative, np.ravel, len, str])
    def test_secants_that_are_none_do_no_harm(self, forge):
        X, y = table(60_000, 20)
        walk = qed.steps(qed.LogisticRegression(), X, y)
        step = [next(walk) for _ in range(3)][-1]
        assert len(step.moves) == 2
        ends = []
        for moves in (forge(step.moves), step.moves[:0]):
            start = Step(step.objective, step.gap, step.number, **{**step.state, "moves": moves})
            walk = qed.steps(qed.LogisticRegression(), X, y, start=start)
            ends.append([next(walk).objective for _ in range(3)])
        assert ends[0] == ends[1] and ends[0][-1] <= step.objective

    def test_rare_marks_and_ordered_rows(self):
        X, y = table(60_000, 20)
        X[:, 0] = 0.0
        X[[1, 5001, 20_003], 0] = 1.0
        rare = qed.LogisticRegression(C=100.0).fit(X, y)
        assert rare.certificate_ and rare.solver_ == "newton"
        X, y = table(60_000, 20)
        order = np.argsort(y, kind="stable")
        assert qed.LogisticRegression().fit(X[order], y[order]).certificate_

    def test_many_rows_and_classes(self):
        X, y = table(30_000, 40, 6)
        model = qed.LogisticRegression().fit(X, y)
        assert model.certificate_ and qed.certify(model, X, y)
        assert slope(model, X, y) < 1e-7


class TestRowsAsCoordinates:
    """Fewer rows than columns, two classes: n dual coefficients."""

    @pytest.mark.parametrize("C", [1e-3, 1.0, 1e4])
    def test_against_scikit_learn(self, C):
        X, y = table(60, 2500, offset=1.0)
        model = qed.LogisticRegression(C).fit(X, y)
        assert model.solver_ == "newton, dual" and model.certificate_ and qed.certify(model, X, y)
        assert slope(model, X, y, C) < 1e-7
        theirs = Peer(C=C, tol=1e-10, max_iter=10000).fit(X, y)
        np.testing.assert_allclose(model.coef_, theirs.coef_, atol=1e-4 * np.abs(theirs.coef_).max())

    def test_weights_and_no_intercept(self):
        X, y = table(60, 2500)
        weight = np.random.default_rng(1).integers(0, 3, size=60).astype(float)
        weight[:2], y[:2] = 1.0, (0, 1)
        for intercept in (True, False):
            model = qed.LogisticRegression(fit_intercept=intercept).fit(X, y, sample_weight=weight)
            assert model.certificate_ and slope(model, X, y, weight=weight) < 1e-7
            copies = np.repeat(X, weight.astype(int), axis=0), np.repeat(y, weight.astype(int))
            np.testing.assert_allclose(
                model.coef_, qed.LogisticRegression(fit_intercept=intercept).fit(*copies).coef_, rtol=1e-5, atol=1e-9
            )


class TestSparse:
    def test_compiled_passes_give_what_the_fold_gives(self):
        rng = np.random.default_rng(0)
        X = sparse.random_array((5000, 300), density=0.05, rng=rng, format="csr")
        y = (X @ rng.normal(size=300) + rng.logistic(size=5000) > 0).astype(int)
        weight = rng.integers(0, 3, size=5000).astype(float)
        model = qed.LogisticRegression().fit(X, y, sample_weight=weight)
        assert model.solver_ == "newton, conjugate gradients" and model.certificate_
        assert qed.certify(model, X, y, weight) and slope(model, X, y, weight=weight) < 1e-7
        dense = qed.LogisticRegression().fit(X.toarray(), y, sample_weight=weight)
        np.testing.assert_allclose(model.coef_, dense.coef_, rtol=1e-5, atol=1e-7)
        with qed.threads(1):
            one = qed.LogisticRegression().fit(X, y, sample_weight=weight)
        np.testing.assert_array_equal(one.coef_, model.coef_)


class TestManyClasses:
    def test_their_number_bounds_the_work(self):
        X, y = table(3000, 30, 60)
        model = qed.LogisticRegression().fit(X, y)
        assert model.certificate_ and model.n_iter_ < 15 and slope(model, X, y) < 1e-7


def test_the_compiled_pass_is_the_plain_one(monkeypatch):
    rng = np.random.default_rng(0)
    X, codes = 5 + 100 * rng.normal(size=(700, 4)), rng.integers(2, size=700)
    weight = rng.uniform(0, 2, size=700)
    for intercept in (True, False):
        loss = SoftmaxLoss(coding_of(2), np.full(4, 5.0), np.full(4, 64.0), intercept, np.array([1.0, 3.0]))
        theta = 20 * rng.normal(size=loss.shape)
        block = Block(X, codes, weight)
        plain = loss.of(block, theta, "full")
        monkeypatch.setattr(softmax, "COMPILED_FROM", 0)
        for given in (block, Block(np.asfortranarray(X), codes, weight)):
            found = loss.of(given, theta, "full")
            assert found.value == pytest.approx(plain.value, rel=1e-13)
            assert found.missed == pytest.approx(plain.missed, rel=1e-13)
            assert found.least == pytest.approx(plain.least, rel=1e-13)
            np.testing.assert_allclose(found.gradient, plain.gradient, rtol=1e-11)
            np.testing.assert_allclose(found.blocks[1, 1], plain.blocks[1, 1], rtol=1e-11)
        monkeypatch.undo()


@pytest.mark.parametrize("form", [np.float64, np.float32])
def test_a_table_by_columns_is_read_like_one_by_rows(form):
    rng = np.random.default_rng(0)
    X, codes = (5 + 100 * rng.normal(size=(9000, 9))).astype(form), rng.integers(2, size=9000)
    loss = SoftmaxLoss(coding_of(2), np.full(9, 5.0), np.full(9, 512.0), True, np.array([1.0, 3.0]))
    theta, way = rng.normal(size=(2, *loss.shape))
    for weight in (None, rng.uniform(0.5, 2, size=9000), rng.integers(3, size=9000).astype(float)):
        ours, plain = (TwoClassSums(ArrayRows(x, codes, weight), loss) for x in (np.asfortranarray(X), X))
        by_columns = weight is None or bool(weight.all())
        assert ours.table[0].flags.f_contiguous == by_columns
        found, wanted = ours.curve(theta, "none"), plain.curve(theta, "none")
        for name in ("value", "missed", "least"):
            assert getattr(found, name) == pytest.approx(getattr(wanted, name), rel=1e-12)
        # Sums of 9000 numbers of both signs: their rounding is relative to what they add up.
        size = np.sqrt(9000 * wanted.missed)
        for one, other in (
            (found.gradient, wanted.gradient),
            (ours.times(theta, way), plain.times(theta, way)),
            (ours.diagonal(theta), plain.diagonal(theta)),
        ):
            np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-12 * size)


def test_exact_combinations_only():
    rng = np.random.default_rng(0)
    a, b = rng.integers(-9, 9, size=(2, 50)).astype(float)
    noise = rng.normal(size=50)
    for third, exact in ((a + 2 * b, True), (a / 2 - 3, True), (a + b + 1e-13 * noise, False), (noise, False)):
        X = np.column_stack([a, b, third])
        scale = np.exp2(np.ceil(np.log2(np.abs(X).max(axis=0))))
        Z = np.column_stack([X / scale, np.ones(50)])
        found = dependent_columns(qed.rows(X), Z.T @ Z, np.zeros(3), scale)
        assert found.sum() == exact and not found[-1]
