"""Splits, curves and searches as scikit-learn's users call them."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.metrics import roc_auc_score
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.svm import SVC

import qed
from qed.base.errors import InputError, ParameterError


@pytest.fixture
def data():
    random = np.random.default_rng(0)
    X = random.standard_normal((60, 3))
    return X, X[:, 0] + random.standard_normal(60)


class Scaled(RegressorMixin, BaseEstimator):
    """Predicts a constant that its fit was given."""

    def fit(self, X, y, each=None, word="no"):
        self.each_, self.word_, self.rows_ = each, word, len(y)
        return self

    def predict(self, X):
        return np.full(len(X), 0.0)


@pytest.mark.parametrize(
    ("given", "train", "test"),
    [
        ({"train_size": 0.8}, 48, 12),
        ({"train_size": 45}, 45, 15),
        ({"train_size": 10, "test_size": 20}, 10, 20),
        ({"train_size": 0.5, "test_size": 0.25}, 30, 15),
        ({"test_size": None}, 42, 18),
    ],
)
def test_sizes_of_both_parts(data, given, train, test):
    X, y = data
    for more in ({"random_state": 0}, {"shuffle": False}, {"stratify": y > 0, "random_state": 0}):
        a, b, _, _ = qed.train_test_split(X, np.arange(60), **given, **more)
        first, second = qed.train_test_split(np.arange(60), **given, **more)
        assert (len(a), len(b)) == (train, test) and not set(first) & set(second)
    part, _ = qed.train_test_split(y > 0, train_size=0.5, test_size=0.25, stratify=y > 0, random_state=0)
    assert abs(part.mean() - (y > 0).mean()) < 1 / 30


@pytest.mark.parametrize(
    "given", [{"train_size": 60}, {"train_size": 40, "test_size": 30}, {"train_size": 1.5}, {"train_size": 0.001}]
)
def test_sizes_that_can_not_be(given):
    with pytest.raises((InputError, ParameterError), match="train_size"):
        qed.train_test_split(np.arange(60), **given)


def test_curves_unpack(data):
    X, y = data
    sizes, train, test = qed.learning_curve(qed.Ridge(), X, y, train_sizes=[0.5, 1.0], cv=3)
    assert sizes.tolist() == [20, 40] and train.shape == test.shape == (2, 3)
    *_, fit_times, score_times = qed.learning_curve(qed.Ridge(), X, y, train_sizes=[0.5, 1.0], cv=3, return_times=True)
    assert fit_times.shape == score_times.shape == (2, 3)
    train, test = qed.validation_curve(qed.Ridge(), X, y, param_name="alpha", param_range=[0.1, 1.0, 10.0], cv=3)
    assert train.shape == test.shape == (3, 3)
    assert np.vstack(qed.validation_curve(qed.Ridge(), X, y, "alpha", [0.1, 1.0], cv=3)).shape == (4, 3)
    alphas, coefs, gaps = qed.lasso_path(X, y)
    assert coefs.shape == (3, len(alphas)) and gaps.shape == alphas.shape
    assert (qed.lasso_path(X, y)[1] == coefs).all()


def test_parameters_of_fit_reach_the_model_with_its_rows(data):
    X, y = data
    each = np.arange(60)
    found = qed.cross_validate(
        Scaled(), X, y, cv=3, return_estimator=True, return_indices=True, params={"each": each, "word": "yes"}
    )
    for model, train in zip(found["estimator"], found["indices"]["train"]):
        np.testing.assert_array_equal(model.each_, each[train])
        assert model.word_ == "yes"
    assert sorted(np.concatenate(found["indices"]["test"]).tolist()) == list(range(60))
    search = qed.Search(Scaled(), {}, cv=3).fit(X, y, each=each)
    np.testing.assert_array_equal(search.best_estimator_.each_, each)
    weights = np.random.default_rng(1).random(60)
    plain = qed.cross_val_predict(qed.Ridge(), X, y, sample_weight=weights)
    np.testing.assert_allclose(
        qed.cross_val_predict(qed.Ridge(), X, y, params={"sample_weight": weights}), plain, rtol=1e-9
    )


def test_kernel_matrices_are_cut_on_both_sides(data):
    X, y = data
    label, kernel = y > 0, rbf_kernel(X)
    plain = qed.cross_val_score(SVC(gamma=1 / 3), X, label, cv=3)
    np.testing.assert_array_equal(qed.cross_val_score(SVC(kernel="precomputed"), kernel, label, cv=3), plain)
    with pytest.raises(InputError, match="square kernel matrix"):
        qed.cross_val_score(SVC(kernel="precomputed"), kernel[:, :9], label, cv=3)


def test_scorers_ask_for_the_first_response_there_is(data):
    X, y = data
    model = qed.LogisticRegression().fit(X, y > 0)
    for asked in ("decision_function", ["predict_proba", "predict"], ("decision_function", "predict_proba")):
        scorer = qed.make_scorer(roc_auc_score, response_method=asked)
        assert scorer(model, X, y > 0) == pytest.approx(qed.get_scorer("roc_auc")(model, X, y > 0), rel=1e-12)
    with pytest.raises(ParameterError, match="response must be one of"):
        qed.make_scorer(roc_auc_score, response_method="guess")


def test_a_score_is_a_number(data):
    X, y = data
    plain = qed.cross_val_score(qed.Ridge(), X, y, scoring=lambda model, X, y: 0.5)
    assert (qed.cross_val_score(qed.Ridge(), X, y, scoring=lambda model, X, y: np.array([0.5])) == plain).all()
    with pytest.raises(ParameterError, match="scoring must return a number, got"):
        qed.cross_val_score(qed.Ridge(), X, y, scoring=lambda model, X, y: [0.5])


@pytest.mark.parametrize("name", ["jaccard", "jaccard_macro", "f1_samples", "top_k_accuracy", "adjusted_rand_score"])
def test_scorers_have_names(name, data):
    X, y = data
    if name == "f1_samples":
        with pytest.raises(ParameterError, match="several classes"):
            qed.get_scorer(name)(qed.LogisticRegression().fit(X, y > 0), X, y > 0)
        return
    score = qed.get_scorer(name)(qed.LogisticRegression().fit(X, y > 0), X, y > 0)
    assert -1 <= score <= 1
