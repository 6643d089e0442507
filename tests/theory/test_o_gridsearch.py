"""O-GRIDSEARCH: every point of the grid is tried, on the same folds, and the least error wins."""

from itertools import product

import numpy as np

import qed

GRID = {"gamma": [0.05, 0.5, 5.0], "C": [0.1, 10.0]}


def rows():
    lots = np.random.default_rng(0)
    X = lots.standard_normal((80, 2))
    return X, (np.hypot(*X.T) > 1.1).astype(int)


def test_it_is_exhaustive_and_gives_the_least_error():
    X, y = rows()
    folds = qed.StratifiedKFold(4, shuffle=True, random_state=0)
    found = qed.Search(qed.SVC(kernel="rbf"), GRID, cv=folds, scoring="accuracy").fit(X, y)
    tried = {tuple(sorted(point.items())) for point in found.cv_results_["params"]}
    assert tried == {tuple(sorted({"gamma": g, "C": c}.items())) for g, c in product(GRID["gamma"], GRID["C"])}
    scores = {}
    for gamma, C in product(GRID["gamma"], GRID["C"]):
        parts = [
            qed.SVC(kernel="rbf", gamma=gamma, C=C).fit(X[a], y[a]).score(X[b], y[b]) for a, b in folds.split(X, y)
        ]
        scores[gamma, C] = np.mean(parts)
    best = found.best_params_
    assert scores[best["gamma"], best["C"]] == max(scores.values())
    assert np.isclose(found.best_score_, max(scores.values()), rtol=0, atol=1e-12)


def test_folds_are_the_same_again():
    X, y = rows()
    runs = [
        qed.Search(qed.SVC(kernel="rbf"), GRID, cv=qed.StratifiedKFold(4, shuffle=True, random_state=3)).fit(X, y)
        for _ in range(2)
    ]
    assert (runs[0].cv_results_["mean_test_score"] == runs[1].cv_results_["mean_test_score"]).all()
