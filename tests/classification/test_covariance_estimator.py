"""Covariances of discriminants by an estimator of the user's own, beside those of our own that they should equal."""

import numpy as np
import pytest
from sklearn.covariance import EmpiricalCovariance, ShrunkCovariance

import qed
from qed.base.errors import InputError, NotAvailableError, ParameterError

MODELS = [qed.LinearDiscriminantAnalysis, qed.QuadraticDiscriminantAnalysis]


def table(n=90, p=3):
    random = np.random.default_rng(0)
    y = np.arange(n) % 3
    return random.standard_normal((n, p)) @ random.standard_normal((p, p)) + y[:, None], y


class Broken:
    """Leaves nothing, or something that is no covariance."""

    def __init__(self, left=None):
        self.left = left

    def fit(self, X):
        if self.left is not None:
            self.covariance_ = self.left


@pytest.mark.parametrize("kind", MODELS)
@pytest.mark.parametrize(
    ("estimator", "shrinkage"), [(EmpiricalCovariance(), None), (ShrunkCovariance(shrinkage=0.5), 0.5)]
)
def test_the_usual_estimates_by_another_way(kind, estimator, shrinkage):
    X, y = table()
    mine, ours = kind(covariance_estimator=estimator).fit(X, y), kind(shrinkage).fit(X, y)
    np.testing.assert_allclose(mine.covariance_, ours.covariance_, rtol=1e-10)
    np.testing.assert_allclose(mine.predict_proba(X), ours.predict_proba(X), rtol=1e-7)
    assert mine.certificate_ and qed.certify(mine, X, y)
    assert not hasattr(estimator, "covariance_"), "a copy is fitted, not the one that was given"
    mine.covariance_ = 1.001 * mine.covariance_
    assert not qed.certify(mine, X, y)


@pytest.mark.parametrize("kind", MODELS)
def test_a_search_asks_the_estimator_for_every_fold(kind):
    X, y = table()
    model, grid = kind(covariance_estimator=ShrunkCovariance(shrinkage=0.9)), {"priors": [None, [0.8, 0.1, 0.1]]}
    found, plain = (qed.Search(one, grid, cv=3).fit(X, y) for one in (model, kind(0.9)))
    assert (
        found.cv_results_["mean_test_score"] != qed.Search(kind(), grid, cv=3).fit(X, y).cv_results_["mean_test_score"]
    ).any()
    np.testing.assert_allclose(found.cv_results_["mean_test_score"], plain.cv_results_["mean_test_score"])


@pytest.mark.parametrize("kind", MODELS)
def test_what_makes_no_sense_is_refused(kind):
    X, y = table()
    with pytest.raises(ParameterError, match="give one of them"):
        kind(0.1, covariance_estimator=EmpiricalCovariance()).fit(X, y)
    with pytest.raises(ParameterError, match="an estimator with fit"):
        kind(covariance_estimator="oas").fit(X, y)
    with pytest.raises(InputError, match="does not know of weights"):
        kind(covariance_estimator=EmpiricalCovariance()).fit(X, y, np.linspace(1, 2, len(y)))
    with pytest.raises(NotAvailableError, match="looks at the rows"):
        kind(covariance_estimator=EmpiricalCovariance()).fit(X, y).forget(X[:3], y[:3])
    for left in (None, np.eye(2), -np.eye(3), np.triu(np.ones((3, 3))), np.full((3, 3), np.nan)):
        with pytest.raises(ParameterError, match="left no covariance_ for class 0"):
            kind(covariance_estimator=Broken(left)).fit(X, y)
