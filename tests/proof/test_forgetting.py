"""Rows are learned and forgotten again: what is claimed from the sums that are left is no less than what the rows themselves say."""

import numpy as np
import pytest

import qed

pytestmark = pytest.mark.filterwarnings(
    "ignore::qed.base.errors.DegenerateWarning", "ignore::qed.base.errors.UnprovenWarning"
)
MODELS = {
    "LinearRegression": qed.LinearRegression,
    "Ridge": lambda: qed.Ridge(0.1),
    "GaussianMAP": lambda: qed.GaussianMAP(fit_intercept=True),
    "MeanRegressor": qed.MeanRegressor,
    "BestSubset": lambda: qed.BestSubset(n_nonzero_coefs=2),
    "StandardScaler": qed.StandardScaler,
    "LinearDiscriminantAnalysis": qed.LinearDiscriminantAnalysis,
    "QuadraticDiscriminantAnalysis": qed.QuadraticDiscriminantAnalysis,
    "GaussianNB": qed.GaussianNB,
    "MajorityClassifier": qed.MajorityClassifier,
    "RidgeClassifier": lambda: qed.RidgeClassifier(0.1),
}
COUNTING = {"BernoulliNB": qed.BernoulliNB, "MultinomialNB": qed.MultinomialNB, "CategoricalNB": qed.CategoricalNB}


def left_over(name, size, seed):
    """Fit thirty rows and some more of another size, and forget these; give the model and the rows that are left."""
    random = np.random.default_rng(seed)
    X = random.standard_normal((30, 3)) * 10.0 ** random.integers(-2, 3, 3) + random.choice([0.0, 5.0, 1e3], 3)
    y = X @ random.standard_normal(3) + random.standard_normal(30)
    count = int(random.choice([1, 3, 15]))
    rows = np.vstack([X, size * random.standard_normal((count, 3))])
    target = np.append(y, size * random.standard_normal(count))
    model = MODELS[name]()
    if model.target == "label":
        y, target = ((part > 0).astype(int) for part in (y - np.median(y), target - np.median(y)))
    given = [rows, target][: 1 + (model.target is not None)]
    model.fit(*given).forget(*(part[30:] for part in given))
    return model, [X, y][: len(given)]


@pytest.mark.parametrize("size", [1.0, 1e2, 1e4, 1e6, 1e8])
@pytest.mark.parametrize("name", MODELS)
@pytest.mark.sampled(2)
def test_a_claim_after_forgetting_is_no_smaller_than_what_the_rows_say(name, size):
    for seed in range(6):
        model, rows = left_over(name, size, seed)
        said, seen = model.certificate_, qed.certify(model, *rows)
        assert not said or seen, f"{seen}"
        for claim in said:
            again = [other.value for other in seen if other.says == claim.says]
            # Values below 1e-12 are rounding of the pass that computes them.
            assert not said or all(value <= claim.value * (1 + 1e-6) + 1e-12 for value in again), claim.says


@pytest.mark.parametrize("name", sorted({*MODELS, *COUNTING} - {"MajorityClassifier"}))
def test_rows_of_large_weight_that_were_forgotten_leave_no_false_proof(name):
    for seed in range(8):
        random = np.random.default_rng(seed)
        counts = name in COUNTING
        X = random.poisson(2.0, (43, 4)).astype(float) if counts else random.standard_normal((43, 4))
        y = random.standard_normal(43)
        model = {**MODELS, **COUNTING}[name]()
        y = (y > 0).astype(int) if model.target == "label" else y
        weight = np.append(np.ones(40), np.full(3, 10.0 ** random.integers(2, 17)))
        given = [X, y][: 1 + (model.target is not None)]
        model.fit(*given, sample_weight=weight)
        try:
            model.forget(*(part[40:] for part in given), sample_weight=weight[40:])
        except qed.base.errors.InputError:
            continue
        assert not model.certificate_ or qed.certify(model, *(part[:40] for part in given)), f"{weight[-1]:g}"


@pytest.mark.parametrize("name", ["StandardScaler", "BestSubset", *(n for n in MODELS if "Disc" in n or "NB" in n)])
def test_digits_that_are_gone_are_not_claimed(name):
    random = np.random.default_rng(0)
    X, y = random.standard_normal((40, 3)), random.standard_normal(40)
    for size, proven in ((3.0, True), (1e9, False)):
        X[30:] *= size
        model = MODELS[name]()
        labels = (y > 0).astype(int) if model.target == "label" else y
        given = [X, labels][: 1 + (model.target is not None)]
        model.fit(*given).forget(*(part[30:] for part in given))
        assert bool(model.certificate_) == proven


@pytest.mark.parametrize("name", ["MajorityClassifier", *COUNTING])
@pytest.mark.parametrize("size", [1e2, 1e13, 1e15])
def test_the_weight_of_a_class_is_known_to_what_heavy_rows_have_left_of_it(name, size):
    """Rows of nothing but zeros are in no sum of columns: only the weight of their class tells of them."""
    random = np.random.default_rng(0)
    X, y = random.poisson(2.0, (43, 4)).astype(float), random.integers(0, 2, 43)
    X[40:], y[40:] = 0.0, 0
    weight = np.append(random.uniform(0.5, 1.5, 40), np.full(3, size + 0.3))
    model = {**MODELS, **COUNTING}[name]().fit(X, y, sample_weight=weight)
    model.forget(X[40:], y[40:], sample_weight=weight[40:])
    assert bool(model.certificate_) == (size < 1e10)
    assert bool(qed.certify(model, X[:40], y[:40], sample_weight=weight[:40])) == (size < 1e10)


def without_variation(name, level, spread, seed):
    """Fit rows to a column of which the rows that are left have next to nothing; give the model, these rows and a model fitted to them."""
    random = np.random.default_rng(seed)
    X = random.standard_normal((40, 3))
    X[:, 1] = level + spread * random.standard_normal(40)
    y = (X[:, 0] + random.standard_normal(40) > 0).astype(int)
    more = random.standard_normal((int(random.choice([1, 2, 6, 30])), 3))
    other = random.integers(0, 2, len(more)) * random.integers(0, 2)
    model = MODELS[name]().fit(np.vstack([X, more]), np.append(y, other)).forget(more, other)
    return model, (X, y), MODELS[name]().fit(X, y)


@pytest.mark.parametrize("level", [0.0, -3.5, 0.1, 1e6])
@pytest.mark.parametrize("name", ["LinearDiscriminantAnalysis", "QuadraticDiscriminantAnalysis", "GaussianNB"])
def test_a_column_that_is_constant_since_rows_were_forgotten_is_proven_by_the_rows(name, level):
    for seed in range(4):
        model, rows, fresh = without_variation(name, level, 0.0, seed)
        assert qed.certify(model, *rows), qed.certify(model, *rows)
        assert np.allclose(model.predict_proba(rows[0]), fresh.predict_proba(rows[0]), atol=1e-4)


@pytest.mark.parametrize("name", ["LinearDiscriminantAnalysis", "QuadraticDiscriminantAnalysis", "GaussianNB"])
def test_a_column_that_varies_a_little_still_is_not_taken_for_constant(name):
    for seed in range(24):
        model, rows, fresh = without_variation(name, [0.0, 1.0, 1e3][seed % 3], 10.0 ** -(4 + seed % 8), seed)
        if model.certificate_ or qed.certify(model, *rows):
            assert np.allclose(model.predict_proba(rows[0]), fresh.predict_proba(rows[0]), atol=1e-2)


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted({*MODELS, "PCA"} - {"BestSubset", "MajorityClassifier"}))
def test_thousands_of_days_are_learned_and_forgotten_and_the_model_is_still_proven(name):
    random = np.random.default_rng(3)
    model, days = {**MODELS, "PCA": lambda: qed.PCA(2)}[name](), []
    for day in range(2000):
        X = random.standard_normal((20, 3)) * [1.0, 10.0, 0.1] + [3.0, 30.0, 1.0]
        y = X @ [1.0, 0.1, -3.0] + random.standard_normal(20)
        y = (y > 3.0).astype(int) if model.target == "label" else y
        days.append([X, y][: 1 + (model.target is not None)])
        model.partial_fit(*days[-1])
        if day >= 30:
            model.forget(*days[day - 30])
    rows = [np.concatenate(part) for part in zip(*days[-30:], strict=True)]
    assert model.certificate_, model.certificate_
    assert qed.certify(model, *rows)


@pytest.mark.parametrize("name", ["GaussianNB", "QuadraticDiscriminantAnalysis", "StandardScaler", "PCA"])
def test_heavy_rows_at_the_mean_take_the_digits_of_the_weight_with_them(name):
    """Such a row changes no sum about the mean: only the weight, and with it every covariance, has lost digits."""
    half = np.random.default_rng(1).standard_normal((20, 3))
    X = np.vstack([half, -half, half + 1.0, 1.0 - half, np.zeros((1, 3)), np.ones((1, 3))])
    y = np.append(np.repeat([0, 1], 40), [0, 1])
    for size in (1.0, 1e15, 1e16, 3e16):
        weight = np.append(np.full(80, 1.3), [size, size])
        model = {**MODELS, "PCA": lambda: qed.PCA(2)}[name]()
        given = [X, y][: 1 + (model.target is not None)]
        model.fit(*given, sample_weight=weight)
        model.forget(*(part[80:] for part in given), sample_weight=weight[80:])
        assert bool(model.certificate_) == (size == 1.0)
