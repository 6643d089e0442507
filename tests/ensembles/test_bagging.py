"""Bagging: draws that belong to rows, out-of-bag, columns, sparse rows, and members of others."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.neighbors import KNeighborsClassifier as WithoutWeights
from sklearn.svm import SVC as Foreign

import qed
from qed.base.errors import InputError, ParameterError

random = np.random.default_rng(0)
X = random.standard_normal((150, 5))
NUMBER = X[:, 0] + X[:, 1] * X[:, 2] + 0.2 * random.standard_normal(150)
LABEL = np.array(["no", "yes"])[(NUMBER > 0).astype(int)]


def test_all_rows_and_columns_make_every_member_the_single_one():
    model = qed.BaggingRegressor(qed.Ridge(), 3, bootstrap=False).fit(X, NUMBER)
    plain = qed.Ridge().fit(X, NUMBER)
    for one in model.estimators_:
        np.testing.assert_array_equal(one.coef_, plain.coef_)
    np.testing.assert_allclose(model.predict(X), plain.predict(X), rtol=1e-14)


def test_members_see_the_rows_and_columns_that_are_drawn_again():
    model = qed.BaggingClassifier(qed.GaussianNB(), 4, max_features=3, max_samples=0.5, random_state=1).fit(X, LABEL)
    for rows, columns, one in zip(model.samples(X, LABEL), model.estimators_features_, model.estimators_):
        assert len(rows) == 75 and len(set(columns)) == 3
        twin = qed.GaussianNB().fit(X[rows][:, columns], (LABEL == "yes")[rows].astype(int))
        np.testing.assert_allclose(one.theta_, twin.theta_, rtol=1e-12)


def test_the_order_of_rows_does_not_matter():
    order = random.permutation(len(X))
    first = qed.BaggingRegressor(n_estimators=3, random_state=0).fit(X, NUMBER)
    second = qed.BaggingRegressor(n_estimators=3, random_state=0).fit(X[order], NUMBER[order])
    np.testing.assert_allclose(first.predict(X), second.predict(X), rtol=1e-13)


@pytest.mark.parametrize("bootstrap", [True, False])
def test_out_of_bag_is_by_members_that_have_not_seen_a_row(bootstrap):
    model = qed.BaggingRegressor(n_estimators=20, oob_score=True, bootstrap=bootstrap, random_state=0)
    if not bootstrap:
        with pytest.raises(ParameterError, match="bootstrap=True"):
            model.fit(X, NUMBER)
        return
    model.fit(X, NUMBER)
    total, times = np.zeros(len(X)), np.zeros(len(X))
    for rows, one in zip(model.samples(X, NUMBER), model.estimators_):
        out = np.setdiff1d(np.arange(len(X)), rows)
        total[out] += one.predict(X[out])
        times[out] += 1
    np.testing.assert_allclose(model.oob_prediction_, total / times, rtol=1e-13)
    assert model.oob_score_ == pytest.approx(qed.r2_score(NUMBER, total / times), abs=1e-12)
    assert qed.certify(model, X, NUMBER)
    model.oob_score_ += 0.001
    assert not qed.certify(model, X, NUMBER)


def test_sparse_rows_and_members_without_weights():
    held = sparse.csr_array(np.where(np.abs(X) > 0.7, X, 0.0))
    dense = qed.BaggingRegressor(qed.Ridge(), 3, max_features=0.6, random_state=0).fit(held.toarray(), NUMBER)
    model = qed.BaggingRegressor(qed.Ridge(), 3, max_features=0.6, random_state=0).fit(held, NUMBER)
    assert model.certificate_ and qed.certify(model, held, NUMBER)
    np.testing.assert_allclose(model.predict(held), dense.predict(held.toarray()), rtol=1e-10)
    for foreign in (WithoutWeights(), Foreign()):
        voted = qed.BaggingClassifier(foreign, 5, random_state=0).fit(X, LABEL)
        assert voted.certificate_ and voted.score(X, LABEL) > 0.8 and "make no claims" in f"{voted.certificate_}"


def test_parameters_inside_are_reached_and_refused():
    model = qed.BaggingClassifier(qed.DecisionTreeClassifier()).set_params(estimator__max_depth=1, n_estimators=2)
    assert all(one.get_depth() == 1 for one in model.fit(X, LABEL).estimators_)
    with pytest.raises(ParameterError, match="max_features"):
        qed.BaggingClassifier(max_features=6).fit(X, LABEL)
    with pytest.raises(ParameterError, match="should be a regressor"):
        qed.BaggingRegressor(qed.GaussianNB()).fit(X, NUMBER)


def test_members_that_tell_of_other_classes_are_refused_in_a_sentence():
    X, y = qed.data.load("iris").Xy()
    model = qed.BaggingClassifier(qed.GaussianNB(), n_estimators=2, random_state=0).fit(X, y)
    model.estimators_[0].classes_ = np.array([0, 1, 99])
    with pytest.raises(InputError, match="classes beyond the 3"):
        model.predict(X)
