"""The price of one: `qed.Search` against scikit-learn's GridSearchCV with its own model, the same grid, the same folds, the same answer.

Each search knows a cheap way for its model: one decomposition for all penalties, a path that starts where the last penalty ended, one
neighbour search for all k, one tree for all prunings, one sequence of rounds, one table of counts. GridSearchCV fits every candidate to
every fold; both fit the best one again at the end. Objective: minus the best score.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

import qed
from bench.harness import Contestant, Workload
from bench.tables import correlated, tall

FOLDS = 5


def _workload(
    name: str, wanted: int, ours: Any, theirs: Any, grid: dict[str, Any], X: Any, y: Any, tolerance: float, scoring: str
) -> Workload:
    """Make the two searches of one model; folds are runs of consecutive rows on both sides."""
    from sklearn.model_selection import GridSearchCV, KFold

    def search() -> Any:
        return qed.Search(ours, grid, cv=qed.KFold(FOLDS, shuffle=False), scoring=scoring).fit(X, y)

    def plain() -> Any:
        return GridSearchCV(theirs, grid, cv=KFold(FOLDS), scoring=scoring).fit(X, y)

    count = len(next(iter(grid.values())))
    return Workload(
        f"Search, {name}: {count} candidates, {FOLDS} folds, {X.shape[0]:,} x {X.shape[1]}",
        f"Against GridSearchCV, with the same grid and folds; wanted: {wanted} x. Objective: minus the best score.",
        [
            Contestant("qed.Search", search, lambda found: -float(found.best_score_)),
            Contestant("scikit-learn GridSearchCV", plain, lambda found: -float(found.best_score_), rounds=1),
        ],
        rounds=3,
        tolerance=tolerance,
    )


def classes(n: int, p: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Draw two classes that overlap, with a border that bends."""
    random = np.random.default_rng(seed)
    X = random.standard_normal((n, p))
    score = X[:, 0] + X[:, 1] * X[:, 2] + 0.5 * X[:, 3] ** 2 - 0.5 + 0.7 * random.standard_normal(n)
    return X, (score > 0).astype(int)


def workloads() -> Iterator[Workload]:
    """Give one workload for each kind of cheap search."""
    from sklearn.ensemble import HistGradientBoostingRegressor
    from sklearn.kernel_ridge import KernelRidge
    from sklearn.linear_model import Lasso, Ridge
    from sklearn.naive_bayes import GaussianNB
    from sklearn.neighbors import KNeighborsClassifier
    from sklearn.svm import SVC
    from sklearn.tree import DecisionTreeRegressor

    X, y = tall(40_000, 60)
    yield _workload("ridge", 50, qed.Ridge(), Ridge(), {"alpha": np.logspace(-3, 4, 50)}, X, y, 1e-6, "r2")
    X, y = correlated(3_000, 150)
    alphas = float(np.abs(X.T @ y).max()) / len(y) * np.logspace(0, -2, 40)[1:]
    tight = Lasso(tol=1e-6, max_iter=20_000)
    yield _workload("lasso", 5, qed.Lasso(), tight, {"alpha": alphas}, X, y, 1e-5, "r2")
    X, y = tall(1_200, 20)
    theirs = KernelRidge(kernel="rbf", gamma=0.02)
    ours = qed.KernelRidge(kernel="rbf", gamma=0.02)
    yield _workload(
        "kernel ridge", 20, ours, theirs, {"alpha": np.logspace(-3, 2, 40)}, X - X.mean(0), y - y.mean(), 1e-4, "r2"
    )
    X, y = classes(2_000, 10)
    grid = {"C": np.logspace(-1, 2, 10)}
    yield _workload(
        "C of a support vector machine", 3, qed.SVC(gamma=0.1), SVC(gamma=0.1), grid, X, y, 2e-3, "accuracy"
    )
    X, y = classes(6_000, 12)
    neighbours = {"n_neighbors": list(range(1, 101, 2))}
    yield _workload(
        "nearest neighbours",
        100,
        qed.KNeighborsClassifier(),
        KNeighborsClassifier(),
        neighbours,
        X,
        y,
        1e-3,
        "accuracy",
    )
    X, y = correlated(6_000, 60)
    pruning = {"ccp_alpha": np.logspace(-5, 0, 40) * float(y.var())}
    trees = qed.DecisionTreeRegressor(random_state=0), DecisionTreeRegressor(random_state=0)
    yield _workload("pruning of a tree", 20, *trees, pruning, X, y, 1e-2, "r2")
    X, y = correlated(4_000, 60)
    rounds = {"max_iter": list(range(5, 105, 5))}
    theirs = HistGradientBoostingRegressor(early_stopping=False)
    ours = qed.GradientBoostingRegressor(early_stopping=False)
    yield _workload("rounds of boosting", 20, ours, theirs, rounds, X, y, 1e-2, "r2")
    X, y = classes(20_000, 40)
    smoothing = {"var_smoothing": np.logspace(-9, 0, 50)}
    yield _workload("smoothing of naive Bayes", 20, qed.GaussianNB(), GaussianNB(), smoothing, X, y, 1e-8, "accuracy")
