"""C7-STACK, O-ENS: members in company: a model of what they say, and what becomes of bias and variance."""

import numpy as np

import qed


def table(n, seed):
    random = np.random.default_rng(seed)
    X = random.standard_normal((n, 4))
    return X, (X[:, 0] + X[:, 1] * X[:, 2] + 0.3 * random.standard_normal(n) > 0).astype(int)


def test_logistic_regression_of_members_does_about_as_well_as_their_say():
    X, y = table(600, 0)
    Q, truth = table(4000, 1)
    boosted = qed.AdaBoostClassifier(n_estimators=15).fit(X, y)
    named = [(f"member{t}", one) for t, one in enumerate(boosted.estimators_)]
    stacked = qed.StackingClassifier(named, stack_method="predict", cv="prefit").fit(X, y)
    np.testing.assert_array_equal(
        stacked.transform(Q), np.column_stack([one.predict(Q) for one in boosted.estimators_])
    )
    plain = qed.LogisticRegression().fit(np.column_stack([one.predict(X) for one in boosted.estimators_]), y)
    np.testing.assert_allclose(stacked.final_estimator_.coef_, plain.coef_, atol=1e-6)
    # Errors of 4000 rows, each off by 0.008 (one standard deviation).
    assert abs(stacked.score(Q, truth) - boosted.score(Q, truth)) < 0.05


def test_the_final_model_sees_what_members_say_of_rows_they_have_not_seen():
    X, y = table(120, 2)
    members = [("full", qed.DecisionTreeClassifier()), ("bayes", qed.GaussianNB())]
    model = qed.StackingClassifier(members, cv=3).fit(X, y)
    told = np.zeros((len(X), 2))
    for train, test in qed.StratifiedKFold(3, shuffle=False).split(X, y):
        for j, (_, one) in enumerate(members):
            told[test, j] = type(one)().fit(X[train], y[train]).predict_proba(X[test])[:, 1]
    plain = qed.LogisticRegression().fit(told, y)
    np.testing.assert_allclose(model.final_estimator_.coef_, plain.coef_, rtol=1e-9)
    # A full tree knows its own rows by heart; what it says of others is worth less than it would seem.
    assert np.mean((told[:, 0] > 0.5) == y) < 1 and model.estimators_[0].score(X, y) == 1


def test_bagging_lowers_variance_and_boosting_lowers_bias():
    """O-ENS: over training sets drawn anew, the bias and variance of votes about the truth (Domingos' for errors)."""

    def table(n, seed):
        random = np.random.default_rng(seed)
        X = random.standard_normal((n, 4))
        return X, (X.sum(axis=1) + 0.5 * random.standard_normal(n) > 0).astype(int)

    Q, truth = table(300, 99)
    makers = {
        "stump": lambda: qed.DecisionTreeClassifier(max_depth=1),
        "boosted": lambda: qed.AdaBoostClassifier(n_estimators=15),
        "tree": lambda: qed.DecisionTreeClassifier(),
        "bagged": lambda: qed.BaggingClassifier(n_estimators=8, random_state=0),
    }
    bias, variance = {}, {}
    for name, make in makers.items():
        said = np.array([make().fit(*table(200, seed)).predict(Q) for seed in range(6)])
        usual = (said.mean(axis=0) > 0.5).astype(int)
        bias[name], variance[name] = np.mean(usual != truth), np.mean(said != usual)
    assert bias["boosted"] < bias["stump"] and variance["bagged"] < variance["tree"]


def test_a_mean_errs_less_than_its_members_by_what_they_differ():
    """O-ENS, the ambiguity decomposition: squared error of the mean = mean squared error - spread about the mean."""
    X = table(200, 5)[0]
    y = np.sin(X[:, 0]) + X[:, 1]
    model = qed.VotingRegressor([("line", qed.Ridge()), ("near", qed.KNeighborsRegressor(5))], weights=[1, 3]).fit(X, y)
    said, share = model.transform(X), np.array([0.25, 0.75])
    mean = model.predict(X)
    spread = (said - mean[:, None]) ** 2 @ share
    np.testing.assert_allclose((mean - y) ** 2, (said - y[:, None]) ** 2 @ share - spread, rtol=0, atol=1e-13)
