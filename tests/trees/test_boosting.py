"""Gradient boosting: trees against a plain twin, losses that fall, threads, weights, holes, stopping, resuming, searching."""

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

import qed
from qed.base.compile import interpreted
from qed.base.errors import InputError, SavingError
from qed.base.threads.team import team
from qed.optim.functions.losses import LogisticLoss
from qed.trees.bins import MISSING, Bins
from qed.trees.boosting import growing
from qed.trees.boosting.coding import Coding, follow, follow_together, known_levels
from qed.trees.boosting.growing import Grid, Grower, Rules, worth, worth_of_levels
from qed.trees.boosting.losses.logistic import logistic_pieces
from qed.trees.boosting.losses.objectives import quantiles

LOSSES = ["squared_error", "absolute_error", "huber", "quantile", "poisson", "gamma"]


def table(n=1500, p=4, seed=0, holes=0.0):
    """Numbers, counts and classes that depend on the columns in a bent way."""
    random = np.random.default_rng(seed)
    X = random.standard_normal((n, p))
    X[:, 1] = random.integers(0, 6, n)
    score = np.sin(2 * X[:, 0]) + 0.5 * X[:, 1] * (X[:, 2] > 0) - 0.3 * X[:, 3 % p] ** 2
    number = score + 0.3 * random.standard_normal(n)
    X[random.random(X.shape) < holes] = np.nan
    return X, number, random.poisson(np.exp(0.5 * score)).astype(float), np.digitize(number, [0.0, 1.0])


X, NUMBER, COUNT, LABEL = table()


def target(loss):
    return {"poisson": COUNT, "gamma": np.exp(NUMBER)}.get(loss, NUMBER)


def state(model):
    """Give all numbers that a model predicts with."""
    return [model.baseline_, model.train_score_, model.forest_.starts, *model.forest_.columns]


def same(first, second):
    return all(np.array_equal(a, b) for a, b in zip(state(first), state(second), strict=True))


def test_codes_say_how_many_edges_are_below():
    values = np.array([[1.0, 5.0], [2.0, np.nan], [4.0, 5.0]])
    bins = Bins.learn(values)
    np.testing.assert_array_equal(bins.counts, [3, 1])
    np.testing.assert_array_equal(bins.edges[0, :3], [1.5, 3.0, np.inf])
    np.testing.assert_array_equal(bins.codes(values), [[0, 0], [1, MISSING], [2, 0]])


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_a_question_about_codes_is_one_about_values(dtype):
    wide = table(n=5000, holes=0.05)[0].astype(dtype)
    bins = Bins.learn(wide)
    codes = bins.codes(wide)
    assert bins.counts.max() == 255
    for j in range(wide.shape[1]):
        there = ~np.isnan(wide[:, j])
        assert (codes[~there, j] == MISSING).all()
        for b in range(0, bins.counts[j] - 1, 17):
            np.testing.assert_array_equal(wide[there, j] <= bins.edges[j, b], codes[there, j] <= b)


def test_edges_of_weights_are_those_of_repetitions():
    wide = table(n=3000)[0]
    weight = np.random.default_rng(1).integers(0, 4, len(wide))
    used = weight > 0
    repeated = Bins.learn(np.repeat(wide, weight, axis=0))
    np.testing.assert_array_equal(Bins.learn(wide[used], weight[used].astype(float)).edges, repeated.edges)


def grown(slope, curvature, weight, rules, threads, few, monkeypatch, wide, levels=()):
    """Grow one tree, by the compiled loops or by NumPy."""
    monkeypatch.setattr(growing, "FEW", 1 << 40 if few else 0)
    monkeypatch.setattr(growing, "is_ready", lambda *given, **named: not few)
    bins = Bins.learn(wide, weight if len(weight) else None)
    heavy = weight if len(weight) else np.ones(len(wide))
    grid = Grid.of(float((heavy * np.abs(slope)).sum()), float((heavy * curvature).sum()), weight, len(wide))
    coding = Coding(bins, known_levels(wide, levels, wide.shape[1]))
    grower, leaf = Grower(coding.codes(wide, 8), coding, weight, rules), np.zeros(len(wide), dtype=np.int32)
    allowed = np.ones((2 * rules.leaves - 1, wide.shape[1]), dtype=np.uint8)
    with qed.threads(threads), team() as crew:
        return grower.grow(crew, slope, curvature, grid, None, allowed, leaf)


@pytest.mark.parametrize("weights", ["none", "whole", "shares"])
@pytest.mark.parametrize("holes", [0.0, 0.1])
def test_the_compiled_tree_is_the_plain_one_for_any_number_of_threads(weights, holes, monkeypatch):
    wide, number, _, _ = table(n=2000, holes=holes)
    random = np.random.default_rng(3)
    share = 1 / (1 + np.exp(-2 * number))
    # Sixty-fourths, whose sums are exact.
    weight = {
        "none": np.empty(0),
        "whole": random.integers(1, 4, 2000) * 1.0,
        "shares": random.integers(1, 99, 2000) / 64,
    }
    slope, curvature = share - (number > 0.5), share * (1 - share)
    for rules in (Rules(31, 99, 20.0, 1e-3, 0.0), Rules(500, 5, 3.0, 1e-3, 1.0)):
        plain = grown(slope, curvature, weight[weights], rules, 1, True, monkeypatch, wide)
        for threads in (1, 2, 4):
            found = grown(slope, curvature, weight[weights], rules, threads, False, monkeypatch, wide)
            np.testing.assert_array_equal(found.questions, plain.questions)
            np.testing.assert_array_equal(found.gains, plain.gains)
            np.testing.assert_array_equal(found.leaf, plain.leaf)
            # Sums of n numbers below one.
            np.testing.assert_allclose(found.sums, plain.sums, rtol=0, atol=2000 * 2.0**-52 * plain.sums[:, 3].max())


def categories(n=2000, seed=0, levels=60, holes=0.05):
    """A table with a column of many categories, some of them rare, one of few, one of numbers, and a target that depends on all."""
    random = np.random.default_rng(seed)
    wide = np.column_stack(
        [np.minimum(random.geometric(0.08, n) - 1, levels), random.integers(0, 4, n), random.standard_normal(n)]
    ).astype(float)
    number = np.sin(5.0 * wide[:, 0]) + (wide[:, 1] % 2) + 0.5 * wide[:, 2] + 0.3 * random.standard_normal(n)
    wide[random.random(wide.shape) < holes] = np.nan
    return wide, number


@pytest.mark.parametrize("weights", ["none", "shares"])
def test_the_compiled_tree_of_categories_is_the_plain_one(weights, monkeypatch):
    wide, number = categories()
    share = 1 / (1 + np.exp(-2 * number))
    slope, curvature = share - (number > 0.5), share * (1 - share)
    weight = np.empty(0) if weights == "none" else np.random.default_rng(3).integers(1, 99, len(wide)) / 64
    for rules in (Rules(31, 99, 20.0, 1e-3, 0.0), Rules(99, 5, 3.0, 1e-3, 1.0)):
        given = slope, curvature, weight, rules
        plain = grown(*given, 1, True, monkeypatch, wide, [0, 1])
        assert (plain.questions[:, 0] == 0).any() and (plain.questions[:, 0] == 1).any()
        for threads in (1, 2):
            found = grown(*given, threads, False, monkeypatch, wide, [0, 1])
            for name in ("questions", "gains", "leaf"):
                np.testing.assert_array_equal(getattr(found, name), getattr(plain, name))
            asked = plain.questions[:, 0] >= 0
            np.testing.assert_array_equal(found.sides[asked], plain.sides[asked])


def test_categories_are_learned_from_proven_and_saved(tmp_path):
    wide, number = categories(n=1500)
    names = ["kind", "part", "size"]
    settings = {"max_iter": 8, "random_state": 0}
    model = qed.GradientBoostingRegressor(categorical_features=[0, 1], **settings).fit(wide, number)
    plain = qed.GradientBoostingRegressor(**settings).fit(wide, number)
    assert len(model.forest_.sets) and model.train_score_[-1] < plain.train_score_[-1]
    assert qed.certify(model, wide, number)
    frame = pytest.importorskip("pandas").DataFrame(wide, columns=names)
    for asked, given in (([True, True, False], wide), (["part", "kind"], frame)):
        assert same(model, qed.GradientBoostingRegressor(categorical_features=asked, **settings).fit(given, number))
    path = tmp_path / "model.qed"
    qed.save(model, path)
    new = wide[:300].copy()
    new[:, 0] = np.where(np.arange(300) % 3 == 0, 200.0, np.where(np.arange(300) % 3 == 1, -1.0, 7.5))
    lost = new.copy()
    lost[:, 0] = np.nan
    np.testing.assert_array_equal(model.predict(new), model.predict(lost))
    np.testing.assert_array_equal(qed.load(path).predict(wide), model.predict(wide))
    for place in (0, 3, 70, 200, 255):
        moved = model.forest_.sets.copy()
        moved[0, place] ^= True
        kept = model.forest_.sets
        object.__setattr__(model.forest_, "sets", moved)
        assert not qed.certify(model, wide, number), place
        object.__setattr__(model.forest_, "sets", kept)


@pytest.mark.parametrize(
    "asked, words", [([5], "3 columns"), ([True], "1 entries"), (["no"], "no column"), ([2], "whole numbers")]
)
def test_categories_that_are_none_are_refused(asked, words):
    wide, number = categories(n=300)
    with pytest.raises(InputError, match=words):
        qed.GradientBoostingRegressor(categorical_features=asked).fit(wide, number)


def test_no_set_of_categories_is_better_than_a_cut_of_their_order():
    random = np.random.default_rng(0)
    for _ in range(5):
        sums = np.zeros((3, 1, 256))
        sums[0, 0, :6], sums[1:, 0, :6] = random.integers(-99, 99, 6), random.integers(5, 50, (2, 6))
        found = worth_of_levels(sums, 1.0, Rules(9, 9, 1.0, 0.0, 0.0), Grid(1.0, 1.0, True))[0].max()
        every = []
        for chosen in range(1, 63):
            left = sums[:2, 0, [k for k in range(6) if chosen >> k & 1]].sum(axis=1)
            right = sums[:2, 0].sum(axis=1) - left
            every.append(sum(part[0] ** 2 / part[1] for part in (left, right)))
        whole = sums[:2, 0].sum(axis=1)
        assert found == pytest.approx(max(every) - whole[0] ** 2 / whole[1], rel=1e-12)


def test_a_question_is_worth_what_its_definition_says():
    random = np.random.default_rng(0)
    sums = random.integers(-50, 50, (3, 1, 6)).astype(float)
    sums[1:] = random.integers(1, 9, (2, 1, 6))
    found = worth(sums, np.array([5]), Rules(9, 9, 3.0, 0.5, 2.0), Grid(1.0, 1.0, True))[0]
    for side in (0, 1):
        for b in range(5):
            left = sums[:, 0, : b + 1].sum(axis=1) + side * sums[:, 0, 5]
            right = sums[:, 0].sum(axis=1) - left
            gain = sum(part[0] ** 2 / (part[1] + 2) for part in (left, right)) - (left + right)[0] ** 2 / (
                (left + right)[1] + 2
            )
            possible = min(left[2], right[2]) >= 3 and gain > 0 and (b < 4 or side == 0)
            assert found[side, b] == (pytest.approx(gain, rel=1e-12) if possible else -np.inf)


@pytest.mark.parametrize("loss", LOSSES)
def test_the_training_loss_never_rises_and_all_is_proven(loss):
    model = qed.GradientBoostingRegressor(loss=loss, max_iter=15).fit(X, target(loss))
    assert (np.diff(model.train_score_) <= 0).all()
    assert model.train_score_[-1] < 0.9 * model.train_score_[0]
    certificate = qed.certify(model, X, target(loss))
    assert model.certificate_ and certificate, f"{certificate}"


@pytest.mark.parametrize("loss", ["log_loss", "exponential"])
@pytest.mark.parametrize("rate", [0.1, 1.0, 8.0])
def test_a_step_that_would_raise_the_loss_is_halved(loss, rate):
    y = LABEL > 0
    model = qed.GradientBoostingClassifier(loss=loss, max_iter=12, learning_rate=rate).fit(X, y)
    assert (np.diff(model.train_score_) <= 1e-13 * model.train_score_[:-1]).all()
    assert qed.certify(model, X, y)


@pytest.mark.parametrize("settings", [{}, {"subsample": 0.6, "random_state": 0}, {"learning_rate": 3.0}], ids=str)
@pytest.mark.parametrize("loss", [*LOSSES, "log_loss", "exponential"])
def test_a_searched_way_is_the_best_one_and_proven(loss, settings):
    settings = {"loss": loss, "max_iter": 5, "max_leaf_nodes": 6, "line_search": True, **settings}
    if loss in ("log_loss", "exponential"):
        model, y = qed.GradientBoostingClassifier(**settings), LABEL if loss == "log_loss" else LABEL > 0
    else:
        model, y = qed.GradientBoostingRegressor(**settings), target(loss)
    few = X[:300], y[:300]
    model.fit(*few)
    assert model.certificate_ and qed.certify(model, *few)
    # All leaves of a round together, so that only the length is another.
    forest, outputs = model.forest_, model.n_trees_per_iteration_
    forest.value[forest.starts[3 * outputs] : forest.starts[4 * outputs]] *= 1.001
    assert not qed.certify(model, *few)


def test_lines_are_searched_alike_by_all_threads_and_after_a_break():
    models = [qed.GradientBoostingClassifier(max_iter=6, line_search=True) for _ in range(2)]
    with qed.threads(1):
        models[0].fit(X, LABEL)
    with qed.threads(4):
        models[1].fit(X, LABEL)
    assert same(*models)


@pytest.mark.parametrize("weighted", [False, True])
def test_the_compiled_losses_are_the_plain_ones(weighted):
    random = np.random.default_rng(0)
    scores = np.concatenate([random.standard_normal(300) * 8, [0.0, 700.0, -700.0, 1e-9]])
    y, weight = random.choice([-1.0, 1.0], len(scores)), random.random(len(scores)) if weighted else np.empty(0)
    slope, curvature = np.empty_like(scores), np.empty_like(scores)
    loss, sizes = logistic_pieces(scores, y, weight, slope, curvature)
    plain, heavy = LogisticLoss(), weight if weighted else np.ones(len(scores))
    # Exponential, logarithm and quotients are right to a few units in the last place; sums of n terms to n more.
    few, total = 16 * 2.0**-52, len(scores) * 2.0**-52
    np.testing.assert_allclose(slope, plain.gradient(scores, y), rtol=few)
    np.testing.assert_allclose(curvature, plain.curvature(scores, y), rtol=few)
    np.testing.assert_allclose(loss, heavy @ plain.each(scores, y), rtol=few + total)
    np.testing.assert_allclose(sizes, [heavy @ np.abs(slope), heavy @ curvature], rtol=total)


def test_several_classes_have_a_tree_each():
    model = qed.GradientBoostingClassifier(max_iter=10).fit(X, LABEL)
    assert model.n_trees_per_iteration_ == 3 and model.forest_.n_trees == 30
    shares = model.predict_proba(X)
    # Softmax divides by the sum that it is.
    np.testing.assert_allclose(shares.sum(axis=1), 1.0, rtol=4 * 2.0**-52)
    loss = -np.log(shares[np.arange(len(X)), LABEL]).mean()
    assert model.train_score_[-1] == pytest.approx(loss, rel=1e-12)
    assert qed.certify(model, X, LABEL)


def test_the_model_does_not_depend_on_threads():
    wide, number, _, _ = table(n=20_000)
    found = []
    for threads in (1, 2, 4):
        with qed.threads(threads):
            found.append(qed.GradientBoostingRegressor(max_iter=5, early_stopping=False).fit(wide, number))
    assert same(found[0], found[1]) and same(found[0], found[2])


def test_few_rows_and_many_give_the_same_model(monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(growing, "is_ready", lambda *given, **named: False)
        few = qed.GradientBoostingClassifier(max_iter=8).fit(X[:900], LABEL[:900])
    monkeypatch.setattr(growing, "FEW", 0)
    assert same(few, qed.GradientBoostingClassifier(max_iter=8).fit(X[:900], LABEL[:900]))


def test_weights_are_repetitions():
    weight = np.random.default_rng(2).integers(0, 4, len(X))
    weighted = qed.GradientBoostingClassifier(max_iter=20).fit(X, LABEL, sample_weight=weight.astype(float))
    repeated = qed.GradientBoostingClassifier(max_iter=20).fit(np.repeat(X, weight, axis=0), np.repeat(LABEL, weight))
    np.testing.assert_array_equal(weighted.forest_.feature, repeated.forest_.feature)
    np.testing.assert_array_equal(weighted.forest_.threshold, repeated.forest_.threshold)
    # Each of twenty rounds adds what sums of thousands of rows round.
    np.testing.assert_allclose(weighted.decision_function(X), repeated.decision_function(X), rtol=1e-10, atol=1e-10)


def test_weights_too_light_for_any_leaf_are_told():
    with pytest.warns(UserWarning, match="min_samples_leaf"):
        model = qed.GradientBoostingRegressor(max_iter=2).fit(X, NUMBER, sample_weight=np.full(len(X), 1e-4))
    assert (model.forest_.feature < 0).all()


def test_missing_values_are_learned_from():
    wide, number, _, _ = table(holes=0.2)
    wide[:, 2] = np.where(number > np.median(number), np.nan, wide[:, 2])
    model = qed.GradientBoostingRegressor(max_iter=10).fit(wide, number)
    assert np.isposinf(model.forest_.threshold).any(), "no question tells missing values from all others"
    assert qed.certify(model, wide, number)
    np.testing.assert_allclose(model.predict(wide), list(model.staged_predict(wide))[-1], rtol=0, atol=0)


def test_rounds_end_when_the_loss_of_rows_kept_aside_rests():
    model = qed.GradientBoostingClassifier(
        max_iter=400, learning_rate=0.5, early_stopping=True, n_iter_no_change=5, random_state=0
    ).fit(X, LABEL)
    assert model.n_iter_ < 400 and "kept aside" in str(model.ending_)
    losses = model.validation_score_
    assert len(losses) == model.n_iter_ + 1
    assert losses[-5:].min() >= losses[-6] - model.tol
    certificate = qed.certify(model, X, LABEL)
    assert certificate, f"{certificate}"
    model.seed_ += 1
    assert not qed.certify(model, X, LABEL)


def test_drawn_rows_and_columns_are_those_of_the_seed():
    settings = {"max_iter": 10, "subsample": 0.5, "max_features": 0.5}
    first, second = (qed.GradientBoostingRegressor(**settings, random_state=4).fit(X, NUMBER) for _ in range(2))
    assert same(first, second)
    assert not same(first, qed.GradientBoostingRegressor(**settings, random_state=5).fit(X, NUMBER))
    certificate = qed.certify(first, X, NUMBER)
    assert certificate, f"{certificate}"


@pytest.mark.parametrize("settings", [{}, {"subsample": 0.6}, {"early_stopping": True}, {"line_search": True}], ids=str)
def test_a_resumed_fit_is_the_unbroken_one(settings):
    whole = qed.GradientBoostingClassifier(max_iter=9, random_state=0, **settings).fit(X, LABEL)
    part = qed.GradientBoostingClassifier(max_iter=4, random_state=0, **settings).fit(X, LABEL)
    assert part.n_iter_ == 4
    assert same(whole, part.set_params(max_iter=9).resume(X, LABEL))


def test_stages_are_the_fits_of_fewer_rounds():
    model = qed.GradientBoostingClassifier(max_iter=6).fit(X, LABEL)
    for rounds, (said, shares) in enumerate(zip(model.staged_predict(X), model.staged_predict_proba(X)), 1):
        shorter = qed.GradientBoostingClassifier(max_iter=rounds).fit(X, LABEL)
        np.testing.assert_array_equal(said, shorter.predict(X))
        np.testing.assert_array_equal(shares, shorter.predict_proba(X))
    np.testing.assert_array_equal(list(model.staged_decision_function(X))[-1], model.decision_function(X))


@pytest.mark.parametrize("scoring", ["accuracy", "neg_log_loss"])
def test_a_search_of_rounds_is_one_fit_for_each_fold(scoring):
    grid, few, label = {"max_iter": [2, 3, 5], "learning_rate": [0.1, 0.5]}, X[:300], LABEL[:300]
    search = qed.Search(qed.GradientBoostingClassifier(), grid, cv=3, scoring=scoring).fit(few, label)
    assert "stages of 2 fits" in search.how_
    plain = [
        qed.cross_validate(qed.GradientBoostingClassifier(**one), few, label, cv=3, scoring=scoring)[
            "test_score"
        ].mean()
        for one in search.cv_results_["params"]
    ]
    np.testing.assert_allclose(search.cv_results_["mean_test_score"], plain, rtol=1e-12)


@pytest.mark.parametrize("scale", [1e-200, 1e-9, 1e100])
def test_the_size_of_the_target_does_not_matter(scale):
    unit = 2.0 ** np.round(np.log2(scale))
    usual = qed.GradientBoostingRegressor(max_iter=5).fit(X, NUMBER)
    scaled = qed.GradientBoostingRegressor(max_iter=5).fit(X, NUMBER * unit)
    np.testing.assert_array_equal(scaled.predict(X), usual.predict(X) * unit)
    assert qed.certify(scaled, X, NUMBER * unit)


def test_the_leaf_of_a_quantile_loss_is_the_quantile():
    values, weight = np.array([5.0, 1.0, 3.0, 8.0, 2.0]), np.array([1.0, 2.0, 1.0, 1.0, 4.0])
    group = np.array([0, 0, 0, 1, 1])
    for level in (0.1, 0.5, 0.8):
        found = quantiles(values, weight, group, 2, level)
        for k in (0, 1):
            here = np.repeat(values[group == k], weight[group == k].astype(int))
            away = here - np.unique(here)[:, None]
            best = np.maximum(level * away, (level - 1) * away).sum(axis=1).min()
            own = np.maximum(level * (here - found[k]), (level - 1) * (here - found[k])).sum()
            assert own == pytest.approx(best, rel=1e-14) and found[k] in here


def test_share_of_rows_below_a_quantile():
    model = qed.GradientBoostingRegressor(loss="quantile", quantile=0.8, max_iter=60).fit(X, NUMBER)
    # Leaves go a tenth of the way to their own quantile in each round, so all rows together come near it.
    assert (model.predict(X) >= NUMBER).mean() == pytest.approx(0.8, abs=0.03)


@pytest.mark.parametrize(("known", "rounds"), [(1500, 20), pytest.param(4000, 40, marks=pytest.mark.slow)])
def test_it_is_as_good_as_that_of_scikit_learn(known, rounds):
    from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

    wide, number, _, label = table(n=known + 2000, p=6)
    train, test = slice(0, known), slice(known, None)
    for ours, peer, y in (
        (qed.GradientBoostingRegressor(max_iter=rounds), HistGradientBoostingRegressor(max_iter=rounds), number),
        (qed.GradientBoostingClassifier(max_iter=rounds), HistGradientBoostingClassifier(max_iter=rounds), label),
    ):
        # Threads of OpenMP beside a second runner would spin most of the time.
        with threadpool_limits(1):
            scores = [model.fit(wide[train], y[train]).score(wide[test], y[test]) for model in (ours, peer)]
        # Two thousand rows tell an accuracy to 0.011, one standard error.
        assert scores[0] > scores[1] - 0.022


@pytest.mark.parametrize("scale", [1.0, 1e-150, 1e150])
def test_numbers_above_zero_of_any_size_by_gamma(scale):
    """Units move the first score alone; and no leaf goes too far, however far its numbers lie below or above their mean."""
    random = np.random.default_rng(0)
    y = np.exp(10 * NUMBER) * random.gamma(2.0, 0.5, len(NUMBER))
    model = qed.GradientBoostingRegressor(loss="gamma", max_iter=25, learning_rate=1.0).fit(X, y * scale)
    assert qed.certify(model, X, y * scale) and (np.diff(model.train_score_) <= 0).all()
    assert model.baseline_[0] == pytest.approx(np.log((y * scale).mean()), rel=1e-12)
    # A leaf goes one at the most, and the mean lies about thirty above most logarithms.
    assert model.train_score_[-1] < 0.5 * model.train_score_[0]


def test_gamma_is_as_good_as_the_peer():
    from sklearn.ensemble import HistGradientBoostingRegressor

    random, (wide, number, _, _) = np.random.default_rng(1), table(6000, seed=1)
    y = np.exp(number) * random.gamma(2.0, 0.5, len(number))
    train, test = slice(None, 4000), slice(4000, None)
    found = []
    for model in (
        qed.GradientBoostingRegressor(loss="gamma", early_stopping=False),
        HistGradientBoostingRegressor(loss="gamma", early_stopping=False),
    ):
        with threadpool_limits(1):
            ratio = y[test] / model.fit(wide[train], y[train]).predict(wide[test])
        found.append(np.mean(ratio - 1 - np.log(ratio)))
    # Two thousand rows tell a mean half deviance of 0.3 to about 0.01.
    assert found[0] < found[1] + 0.01


def test_what_can_not_be_boosted_is_refused():
    with pytest.raises(InputError, match="counts"):
        qed.GradientBoostingRegressor(loss="poisson").fit(X, NUMBER)
    with pytest.raises(InputError, match="above zero"):
        qed.GradientBoostingRegressor(loss="gamma").fit(X, COUNT)
    with pytest.raises(InputError, match="two classes"):
        qed.GradientBoostingClassifier(loss="exponential").fit(X, LABEL)


@pytest.mark.parametrize("attribute, place, value", [("children_right", 0, 0), ("feature", 0, 99), ("starts", 1, 0)])
def test_a_file_with_a_broken_forest_is_refused(attribute, place, value, tmp_path):
    model = qed.GradientBoostingClassifier(max_iter=3).fit(X, LABEL)
    broken = getattr(model.forest_, attribute).copy()
    broken[place] = value
    object.__setattr__(model.forest_, attribute, broken)
    qed.save(model, tmp_path / "model.qed")
    with pytest.raises(SavingError, match="not as it was saved"):
        qed.load(tmp_path / "model.qed")


def test_rows_are_followed_one_by_one_and_together_to_the_same_leaves():
    random = np.random.default_rng(3)
    codes = random.integers(0, 256, (40, 2)).astype(np.uint8)
    feature, right = np.array([1, 0, -1, -1, -1]), np.array([4, 3, -1, -1, -1])
    sides, leaves = random.random((5, 256)) < 0.5, np.zeros((2, 40), dtype=np.int32)
    interpreted(follow)(codes, feature, right, sides, leaves[0])
    follow_together(codes, feature, right, sides, leaves[1])
    assert set(leaves[0]) == {2, 3, 4}
    np.testing.assert_array_equal(*leaves)


def test_loops_that_were_never_compiled_are_not_waited_for_by_small_tables(monkeypatch):
    X = np.random.default_rng(4).standard_normal((60, 2))
    monkeypatch.setattr(growing, "FEW", 10)
    monkeypatch.setattr(growing, "is_ready", lambda *given, **named: False)
    monkeypatch.setattr(growing, "_spent", growing._Spent())
    monkeypatch.setattr(growing, "grow_together", None)
    model = qed.GradientBoostingRegressor(max_iter=2).fit(X, X[:, 0])
    assert model.forest_.n_trees == 2
    assert growing._spent.seconds > 0


@pytest.mark.filterwarnings("ignore::qed.base.errors.ConvergenceWarning")
@pytest.mark.parametrize("loss", ["squared_error", "absolute_error", "huber"])
def test_targets_near_the_end_of_the_range_of_numbers(loss):
    few, y = X[:80], NUMBER[:80]
    usual, large = (
        qed.GradientBoostingRegressor(loss=loss, max_iter=4, min_samples_leaf=5).fit(few, y * scale)
        for scale in (1.0, 2.0**1010)
    )
    np.testing.assert_array_equal(large.predict(few), usual.predict(few) * 2.0**1010)
    # A loss in the squares of such units is no number, and so nothing is known of its falling.
    assert bool(qed.certify(large, few, y * 2.0**1010)) == (loss == "absolute_error")
