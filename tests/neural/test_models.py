"""Multi-layer perceptrons as models: claims judged by sums in extended precision, weights, early stopping, partial fits, saving."""

import numpy as np
import pytest
from scipy import sparse

import qed
from qed.base.errors import InputError, NotAvailableError, ParameterError

rng = np.random.default_rng(0)
X = rng.normal(size=(150, 4))
LABEL = np.array(["low", "mid", "top"])[np.digitize(X[:, 0] + X[:, 1] ** 2, [0, 1])]
NUMBER = np.column_stack([np.sin(X[:, 0]), X[:, 1] * X[:, 2]])


def fitted(solver="adam", **how):
    return qed.MLPClassifier(6, "tanh", solver=solver, random_state=0, max_iter=30, learning_rate_init=0.02, **how).fit(
        X, LABEL
    )


def judged(model, X, codes, alpha, batch):
    """Give the loss of a model with one hidden layer of tanh, in extended precision, with the penalty."""
    W = [coef.astype(np.longdouble) for coef in model.coefs_]
    b = [offset.astype(np.longdouble) for offset in model.intercepts_]
    out = np.tanh(X.astype(np.longdouble) @ W[0] + b[0]) @ W[1] + b[1]
    high = out.max(axis=1)
    surprise = high + np.log(np.exp(out - high[:, None]).sum(axis=1)) - out[np.arange(len(X)), codes]
    return surprise.mean() + alpha / 2 * sum((w**2).sum() for w in W) / batch


@pytest.mark.parametrize("solver", ["adam", "sgd", "lbfgs"])
def test_the_loss_is_that_of_extended_precision(solver):
    model = fitted(solver, alpha=0.1)
    codes = np.searchsorted(model.classes_, LABEL)
    assert model.sample_loss_ == pytest.approx(float(judged(model, X, codes, 0.1, 150)), rel=1e-13)
    assert qed.certify(model, X, LABEL)


def test_the_length_of_the_gradient_is_that_of_differences():
    model = fitted(alpha=0.1)
    codes = np.searchsorted(model.classes_, LABEL)
    total = 0.0
    for part in (*model.coefs_, *model.intercepts_):
        for place in np.ndindex(*part.shape):
            kept, ends = part[place], []
            for sign in (1, -1):
                part[place] = kept + sign * 1e-5
                ends.append(judged(model, X, codes, 0.1, 150))
            part[place] = kept
            total += float((ends[0] - ends[1]) / np.longdouble(2e-5)) ** 2
    assert model.gradient_norm_ == pytest.approx(np.sqrt(total), rel=1e-6)


def test_a_proof_is_not_fooled_and_does_not_cry_wolf():
    model = fitted("lbfgs", alpha=0.01)
    assert qed.certify(model, X, LABEL)
    for part in (*model.coefs_, *model.intercepts_):
        part.flat[0] += 1e-3 * np.abs(part).max()
        assert not qed.certify(model, X, LABEL)
        part.flat[0] -= 1e-3 * np.abs(part).max()


@pytest.mark.parametrize("solver", ["adam", "sgd", "lbfgs"])
def test_resuming_gives_the_same_bits(solver):
    settings = {"hidden_layer_sizes": 5, "solver": solver, "random_state": 1, "batch_size": 32, "tol": 0.0}
    whole = qed.MLPClassifier(max_iter=8, **settings).fit(X, LABEL)
    broken = qed.MLPClassifier(max_iter=3, **settings).fit(X, LABEL)
    broken.set_params(max_iter=8).resume(X, LABEL)
    for one, other in zip(whole.coefs_ + whole.intercepts_, broken.coefs_ + broken.intercepts_, strict=True):
        np.testing.assert_array_equal(one, other)
    assert whole.loss_curve_ == broken.loss_curve_ and whole.n_iter_ == broken.n_iter_


def test_stopping_early_keeps_the_best():
    model = qed.MLPClassifier(20, random_state=0, early_stopping=True, learning_rate_init=0.05, n_iter_no_change=3).fit(
        X, LABEL
    )
    assert model.best_validation_score_ == max(model.validation_scores_) and model.best_loss_ is None
    assert model.n_iter_ < 200 and qed.certify(model, X, LABEL)
    with pytest.raises(InputError, match="leaves no rows"):
        qed.MLPClassifier(early_stopping=True, validation_fraction=1.0).fit(X, LABEL)


def test_rows_held_out_are_not_learned_from():
    """Where all rows but those held out say otherwise, what was held out is told wrong."""
    one = qed.MLPRegressor("squared_error", (), early_stopping=True, random_state=0, max_iter=5)
    steps = qed.steps(one, X, NUMBER[:, 0])
    next(steps)
    problem = steps._problem
    left, block = problem.held_out(0.1, 0)
    assert len(block) == 15 and (left.weight == 0).sum() == 15


def test_several_outputs_and_sparse_rows():
    model = qed.MLPRegressor("squared_error", 8, "tanh", solver="lbfgs", random_state=0).fit(X, NUMBER)
    assert model.predict(X).shape == (150, 2) and model.score(X, NUMBER) > 0.9
    thin = np.where(np.abs(X) > 1, X, 0.0)
    dense = qed.MLPClassifier(5, random_state=0, max_iter=5).fit(thin, LABEL)
    loose = qed.MLPClassifier(5, random_state=0, max_iter=5).fit(sparse.csr_array(thin), LABEL)
    for one, other in zip(dense.coefs_, loose.coefs_, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-12)


def test_partial_fits_go_on():
    model = qed.MLPClassifier(5, random_state=0)
    for _ in range(4):
        model.partial_fit(X[:100], LABEL[:100], classes=["low", "mid", "top"])
    assert model.n_iter_ == 4 and len(model.loss_curve_) == 4 and model.t_ == 400
    whole = qed.MLPClassifier(5, random_state=0, max_iter=4).fit(X[:100], LABEL[:100])
    np.testing.assert_array_equal(model.coefs_[0], whole.coefs_[0])
    model.partial_fit(X[100:], LABEL[100:])
    assert qed.certify(model, X[100:], LABEL[100:])
    with pytest.raises(AttributeError, match="partial_fit") as refused:
        qed.MLPClassifier(solver="lbfgs").partial_fit(X, LABEL)
    assert "adam" in str(refused.value.__cause__) and not hasattr(qed.MLPRegressor(solver="lbfgs"), "partial_fit")
    with pytest.raises(NotAvailableError, match="early_stopping"):
        qed.MLPClassifier(early_stopping=True).partial_fit(X, LABEL)


@pytest.mark.parametrize("solver", ["adam", "sgd"])
def test_warm_starts_make_one_fit_of_many(solver):
    settings = {"hidden_layer_sizes": 5, "solver": solver, "random_state": 1, "batch_size": 32, "tol": 0.0}
    whole = qed.MLPClassifier(max_iter=9, **settings).fit(X, LABEL)
    parts = qed.MLPClassifier(max_iter=3, warm_start=True, **settings)
    for _ in range(3):
        assert parts.fit(X, LABEL).n_iter_ == 3
    np.testing.assert_array_equal(parts.coefs_[0], whole.coefs_[0])
    assert parts.loss_curve_ == whole.loss_curve_ and parts.t_ == whole.t_ and qed.certify(parts, X, LABEL)
    # Where the last fit has ended early, the next one has as much patience again; only the first epoch of all is better than none.
    ended = qed.MLPClassifier(4, random_state=0, tol=10.0, n_iter_no_change=2, max_iter=50, warm_start=True).fit(
        X, LABEL
    )
    assert ended.n_iter_ == 4 and ended.fit(X, LABEL).n_iter_ == 3


def test_a_warm_start_begins_with_the_weights_whatever_has_found_them():
    settings = {"hidden_layer_sizes": 5, "warm_start": True, "random_state": 0}
    model = qed.MLPClassifier(solver="lbfgs", max_iter=20, **settings).fit(X, LABEL)
    before = model.loss_
    assert model.fit(X, LABEL).loss_curve_[0] <= before and model.loss_ < before and qed.certify(model, X, LABEL)
    before = model.coefs_[0].copy()
    model.set_params(solver="sgd", learning_rate_init=1e-6, max_iter=1).fit(X[50:], LABEL[50:])
    np.testing.assert_allclose(model.coefs_[0], before, atol=1e-3)
    with pytest.raises(InputError, match="classes of the last fit"):
        model.fit(X, LABEL == "low")
    with pytest.raises(InputError, match="neurons"):
        model.set_params(hidden_layer_sizes=6).fit(X, LABEL)


def test_going_on_with_rows_of_another_precision():
    settings = {"hidden_layer_sizes": 5, "random_state": 0, "max_iter": 2}
    model = qed.MLPClassifier(warm_start=True, **settings).fit(X.astype(np.float32), LABEL)
    assert [coef.dtype for coef in model.fit(X, LABEL).coefs_] == [np.float64] * 2 and qed.certify(model, X, LABEL)
    assert model.partial_fit(X.astype(np.float32), LABEL).coefs_[0].dtype == np.float32


def test_partial_fits_go_on_from_weights_that_were_set_by_hand():
    model = qed.MLPRegressor(hidden_layer_sizes=(), solver="sgd", momentum=0.0, alpha=0.0, learning_rate_init=0.1)
    model.n_features_in_, model.coefs_, model.intercepts_ = 2, [np.array([[1.0], [2.0]])], [np.array([0.5])]
    model.partial_fit([[1.0, -1.0]], [0.0])
    # The network says 1 - 2 + 0.5, which is off by half below zero: so far times the rate goes every weight of a one, against its sign.
    np.testing.assert_allclose(model.coefs_[0], [[1.05], [1.95]], rtol=1e-12)
    np.testing.assert_allclose(model.intercepts_[0], [0.55], rtol=1e-12)


def test_counts_by_the_poisson_loss():
    counts = rng.poisson(np.exp(0.5 * X[:, 0])).astype(float)
    model = qed.MLPRegressor("poisson", 5, "tanh", solver="lbfgs", random_state=0, alpha=1.0).fit(X, counts)
    assert (model.predict(X) > 0).all() and model.out_activation_ == "exp"
    assert model.predict(X).sum() == pytest.approx(counts.sum(), rel=1e-3), "slopes of the last offset sum to zero"
    with pytest.raises(InputError, match="below zero"):
        qed.MLPRegressor("poisson").fit(X, -counts - 1)


def test_a_network_that_runs_away_is_refused_with_advice():
    with pytest.raises(InputError, match="learning_rate_init"):
        qed.MLPRegressor("squared_error", 5, "relu", solver="sgd", learning_rate_init=1e3, random_state=0).fit(
            1e200 * X, NUMBER
        )


def test_single_precision_stays():
    model = qed.MLPClassifier(5, random_state=0, max_iter=5).fit(X.astype(np.float32), LABEL)
    assert model.coefs_[0].dtype == np.float32 and model.predict_proba(X.astype(np.float32)).dtype == np.float32


def test_the_compiled_way_is_taken_for_much_work_and_certified():
    many = rng.normal(size=(3000, 20)).astype(np.float32)
    y = (many[:, 0] * many[:, 1] > 0).astype(int)
    found = [qed.MLPClassifier((32, 32), random_state=0, batch_size=50, max_iter=60).fit(many, y) for _ in range(2)]
    assert found[0].score(many, y) > 0.95 and qed.certify(found[0], many, y)
    np.testing.assert_array_equal(found[0].coefs_[0], found[1].coefs_[0])


MARKS = np.column_stack([X[:, 0] > 0, X[:, 1] > X[:, 2], X[:, 3] > 1]).astype(np.int64)


def several(solver="adam", **how):
    settings = {"solver": solver, "random_state": 0, "max_iter": 30, "learning_rate_init": 0.02, **how}
    return qed.MLPClassifier(6, "tanh", **settings).fit(X, MARKS)


@pytest.mark.parametrize("solver", ["adam", "lbfgs"])
def test_several_labels_have_a_loss_each(solver):
    model = several(solver, alpha=0.1)
    out = (
        np.tanh(X.astype(np.longdouble) @ model.coefs_[0] + model.intercepts_[0]) @ model.coefs_[1]
        + model.intercepts_[1]
    )
    losses = (np.log1p(np.exp(-np.abs(out))) + np.maximum(out, 0) - MARKS * out).sum(axis=1)
    penalty = 0.05 * sum((coef**2).sum() for coef in model.coefs_) / 150
    assert model.sample_loss_ == pytest.approx(float(losses.mean() + penalty), rel=1e-13)
    np.testing.assert_allclose(
        model.predict_proba(X), 1 / (1 + np.exp(-out.astype(float))), rtol=1e-11
    )  # the logarithm is off by roundings of sums of up to 20
    assert model.classes_.tolist() == [0, 1, 2] and model.out_activation_ == "logistic"
    assert model.score(X, MARKS) == (model.predict(X) == MARKS).all(axis=1).mean() > 0.7
    assert qed.certify(model, X, MARKS) and not qed.certify(model, X, MARKS[:, ::-1])


def test_several_labels_are_told_as_by_scikit_learn():
    from sklearn.neural_network import MLPClassifier

    model = several()
    peer = MLPClassifier(6, activation="tanh", max_iter=1, random_state=0)
    with pytest.warns(UserWarning, match="Maximum iterations"):
        peer.fit(X, MARKS)
    peer.coefs_, peer.intercepts_ = model.coefs_, model.intercepts_
    np.testing.assert_allclose(model.predict_proba(X), peer.predict_proba(X), rtol=1e-12)
    np.testing.assert_array_equal(model.predict(X), peer.predict(X))
    assert peer.classes_.tolist() == model.classes_.tolist() and peer.out_activation_ == model.out_activation_
    assert model.score(X, MARKS) == peer.score(X, MARKS)


def test_one_of_several_labels_is_learned_as_if_it_were_alone():
    # Without a hidden layer the labels share nothing, so each column is a logistic regression of its own.
    together = qed.MLPClassifier((), solver="lbfgs", alpha=1.0, max_iter=500, tol=1e-10).fit(X, MARKS)
    for k in range(3):
        alone = qed.MLPClassifier((), solver="lbfgs", alpha=1.0, max_iter=500, tol=1e-10).fit(X, MARKS[:, k])
        np.testing.assert_allclose(together.predict_proba(X)[:, k], alone.predict_proba(X)[:, 1], atol=1e-4)


def test_several_labels_stop_early_go_on_and_are_saved(tmp_path):
    model = several(early_stopping=True, n_iter_no_change=3)
    assert model.best_validation_score_ == max(model.validation_scores_)
    parts = qed.MLPClassifier(6, "tanh", random_state=0, learning_rate_init=0.02, n_iter_no_change=30, max_iter=5)
    whole = several(max_iter=5, n_iter_no_change=30)
    for _ in range(5):
        parts.partial_fit(X, MARKS, classes=[0, 1, 2])
    np.testing.assert_array_equal(parts.coefs_[0], whole.coefs_[0])
    qed.save(model, tmp_path / "model.qed")
    np.testing.assert_array_equal(qed.load(tmp_path / "model.qed").predict(X), model.predict(X))


def test_what_several_labels_can_not_be():
    with pytest.raises(InputError, match="zeros and ones"):
        qed.MLPClassifier(3).fit(X, MARKS + 1)
    model = several(max_iter=2)
    with pytest.raises(NotAvailableError, match="several labels"):
        model.decide(X, np.ones((3, 3)))
    # With three classes in its place the network would have the same weights.
    model.out_activation_ = "softmax"
    assert not qed.certify(model, X, MARKS.sum(axis=1) % 3)


def test_the_loss_of_rows_held_out_decides_where_a_class_is_rare():
    """The accuracy stands at the share of the common class for many epochs: it used to end training there."""
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(1500, 8))
    rare = rng.random(1500) < 1 / (1 + np.exp(4.5 - 2 * rows[:, 0] + 1.5 * rows[:, 1]))
    model = qed.MLPClassifier(early_stopping=True, random_state=0).fit(rows, rare)
    new = rng.normal(size=(1000, 8))
    told = np.log(model.predict_proba(new)[:, 1])
    assert np.corrcoef(told, 2 * new[:, 0] - 1.5 * new[:, 1])[0, 1] > 0.8
    assert model.n_iter_ > 20 and max(model.validation_scores_) == model.best_validation_score_


def of_prices(**how):
    """Give a network for numbers far from zero, and the numbers."""
    prices = 2e5 + 8e4 * (X[:, 0] + np.sin(X[:, 1]))
    return qed.MLPRegressor("squared_error", 6, "tanh", random_state=0, **{"scale_target": True, **how}), prices


@pytest.mark.parametrize("solver", ["adam", "sgd", "lbfgs"])
def test_a_scaled_target_is_learned_as_if_it_had_been_scaled_by_hand(solver, tmp_path):
    model, prices = of_prices(solver=solver, max_iter=60, learning_rate_init=0.02)
    model.fit(X, prices)
    scaled = (prices - prices.mean()) / prices.std()
    # The means and spreads of both may differ by roundings, which training carries on.
    peer = qed.MLPRegressor(**{**model.get_params(), "scale_target": False}).fit(X, scaled)
    np.testing.assert_allclose(model.predict(X), peer.predict(X) * prices.std() + prices.mean(), rtol=1e-7)
    assert model.score(X, prices) > 0.9 and model.sample_loss_ == pytest.approx(peer.sample_loss_, rel=1e-6)
    np.testing.assert_allclose(model.network().forward(X)[:, 0], model.predict(X), rtol=1e-13)
    qed.save(model, tmp_path / "model.qed")
    kept = qed.load(tmp_path / "model.qed")
    np.testing.assert_array_equal(kept.predict(X), model.predict(X))
    assert qed.certify(kept, X, prices)
    for name in ("target_mean_", "target_scale_"):
        moved = qed.load(tmp_path / "model.qed")
        setattr(moved, name, getattr(moved, name) * 1.001)
        assert not qed.certify(moved, X, prices)


def test_a_scaled_target_keeps_its_units_where_training_goes_on():
    how = {"tol": 0.0, "n_iter_no_change": np.inf}
    whole, prices = of_prices(max_iter=8, **how)
    whole.fit(X, prices)
    broken = of_prices(max_iter=3, **how)[0].fit(X, prices)
    broken.set_params(max_iter=8).resume(X, prices)
    warm = of_prices(max_iter=4, warm_start=True, **how)[0].fit(X, prices).fit(X, prices)
    parts = of_prices(**how)[0]
    for _ in range(8):
        parts.partial_fit(X, prices)
    for one in (broken, warm, parts):
        np.testing.assert_array_equal(one.predict(X), whole.predict(X))
        assert qed.certify(one, X, prices)
    before = parts.target_mean_.copy()
    parts.partial_fit(X, prices + 100.0)
    np.testing.assert_array_equal(parts.target_mean_, before)
    assert qed.certify(parts, X, prices + 100.0)


def test_scaled_targets_of_several_kinds():
    model, prices = of_prices(max_iter=300, early_stopping=True, learning_rate_init=0.02)
    both = np.column_stack([prices, 1e-6 * NUMBER[:, 0], np.full(150, 7.0)])
    model.fit(X, both)
    assert model.target_scale_[2] == 1.0 and qed.certify(model, X, both)
    assert np.corrcoef(model.predict(X)[:, 1], both[:, 1])[0, 1] > 0.8
    # Whether rows weigh nothing or are not there, the units are the same.
    weight = np.repeat([1.0, 0.0], 75)
    prices[75:] = np.nan
    short = of_prices(solver="lbfgs")[0].fit(X[:75], prices[:75])
    light = of_prices(solver="lbfgs")[0].fit(X, prices, sample_weight=weight)
    np.testing.assert_allclose(light.target_mean_, short.target_mean_, rtol=1e-13)
    single = of_prices(max_iter=20)[0].fit(X.astype(np.float32), prices.clip(0, 1e6)[:75].repeat(2).astype(np.float32))
    assert single.predict(X.astype(np.float32)).dtype == np.float32
    with pytest.raises(ParameterError, match="logarithm of a count"):
        qed.MLPRegressor("poisson", scale_target=True).fit(X, np.arange(150))
