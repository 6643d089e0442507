"""C7-BOOST-TEST, C7-BOOST-NOISE: margins that grow after the last mistake, and weight that gathers on labels that are wrong."""

import numpy as np

import qed


def table(n, seed):
    random = np.random.default_rng(seed)
    X = random.standard_normal((n, 5))
    return X, (X[:, 0] + X[:, 1] * X[:, 2] > 0).astype(int)


TREE = qed.DecisionTreeClassifier(max_depth=3)


def test_margins_grow_after_the_training_error_is_zero():
    X, y = table(450, 0)
    Q, truth = table(2000, 1)
    model = qed.AdaBoostClassifier(TREE, n_estimators=60, random_state=0).fit(X, y)
    wrong = 1 - np.array(list(model.staged_score(X, y)))
    first = int(np.flatnonzero(wrong == 0)[0])
    assert first < 40 and (wrong[first:] == 0).all()
    # The share of the say that is for the true class, less what is against it.
    margins = np.array([(2 * y - 1) * score / 2 for score in model.staged_decision_function(X)])
    assert margins[-1].min() > margins[first].min() and np.median(margins[-1]) > 0
    held_out = 1 - np.array(list(model.staged_score(Q, truth)))
    # The error of 2000 rows is off by at most 0.011 (one standard deviation).
    assert held_out[-1] <= held_out[first] + 2 * 0.011


def test_weight_gathers_on_flipped_labels():
    X, y = table(450, 2)
    Q, truth = table(2000, 3)
    flipped = np.random.default_rng(4).permutation(450)[:45]
    noisy = y.copy()
    noisy[flipped] = 1 - noisy[flipped]
    model = qed.AdaBoostClassifier(TREE, n_estimators=25, random_state=0).fit(X, noisy)
    problem = model._problem(model._open(X, noisy, reset=False, target="label"))
    weight, shares = problem.weights, []
    for number, one in enumerate(model.estimators_[:20]):
        weight = model._judge(problem, model._said(one, problem), weight, model.estimator_weights_[:number]).weight
        shares.append(weight[flipped].sum() / weight.sum())
    # A tenth of the rows has several times its share of the weight.
    assert max(shares) > 0.3
    clean = qed.AdaBoostClassifier(TREE, n_estimators=25, random_state=0).fit(X, y)
    forest = [qed.RandomForestClassifier(25, random_state=0).fit(X, labels) for labels in (y, noisy)]
    lost = clean.score(Q, truth) - model.score(Q, truth)
    assert lost > forest[0].score(Q, truth) - forest[1].score(Q, truth)
