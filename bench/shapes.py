"""Every linear and kernel estimator on tables of every shape, against the best peer: a user does not know our favourite shape.

The ratio of a cell is the shortest time of the best peer over ours, in one process and in turn. Only peers that end with an objective as
good as ours (to one part in a million) are compared with: a solver that stops earlier is no faster, it is not done.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache, partial
from typing import Any

import numpy as np
from scipy import sparse

import qed
from bench.harness import Contestant, Grid, Workload

SHAPES = ("tiny", "tall", "square", "wide", "sparse", "float32", "Fortran")
SIZES = {"tiny": (50, 3), "tall": (200_000, 20), "square": (1500, 1000), "wide": (300, 3000), "sparse": (50_000, 2000)}
KERNEL_ROWS = 2000
TOLERANCE = 1e-6
Table = tuple[Any, np.ndarray]


@cache
def table(shape: str, rows: int | None = None) -> Table:
    """Give features and a target that follows from some of them, with noise."""
    n, p = SIZES.get(shape, SIZES["tall"])
    n = min(n, rows or n)
    generator = np.random.default_rng(0)
    if shape == "sparse":
        X: Any = sparse.random_array((n, p), density=0.01, random_state=0, format="csr")
    else:
        X = generator.standard_normal((n, p))
    w = np.where(np.arange(p) < 20, 3.0, 0.1) * generator.standard_normal(p)
    signal = X @ w
    y = signal + 0.5 * signal.std() * generator.standard_normal(n) + 3.0
    if shape == "float32":
        return X.astype(np.float32), y.astype(np.float32)
    return (np.asfortranarray(X) if shape == "Fortran" else X), y


def grid() -> Grid:
    """List the cells, estimator by estimator."""
    return Grid(
        "Shapes",
        "Ratios of the shortest time of the best peer that ends with as good an objective (scikit-learn with its solvers, "
        "scikit-learn-intelex, celer) to ours, certificate included. "
        + "; ".join(f"{name} {n:,} x {p:,}".replace(",", " ") for name, (n, p) in SIZES.items())
        + " with one value in "
        f"a hundred filled; float32 and Fortran order as tall. Kernel ridge sees {KERNEL_ROWS:,} rows at most.".replace(
            ",", " ", 1
        ),
        SHAPES,
        cells,
    )


def cells() -> Iterator[tuple[str, str, Workload]]:
    """Give estimator, shape and contestants of each cell; the data of a cell are made when it is its turn."""
    for name, contestants in ESTIMATORS.items():
        for shape in SHAPES:
            found = contestants(shape)
            if found:
                yield name, shape, Workload(f"{name}, {shape}", "", found, tolerance=TOLERANCE)


def fits(shape: str, judge: Callable[[Any], float], X: Any, y: Any, **models: Any) -> list[Contestant]:
    """Let models be fitted; ours is called qed."""
    return [Contestant(name, partial(_fit, model, X, y), judge) for name, model in models.items() if model is not None]


def _fit(model: Any, X: Any, y: Any) -> Any:
    return model.fit(X) if y is None else model.fit(X, y)


def _error(X: Any, y: np.ndarray, alpha: float, model: Any) -> float:
    """Give the squared error with a squared penalty, over the number of rows, in double precision."""
    coef, intercept = np.ravel(model.coef_).astype(float), float(np.ravel(model.intercept_)[0])
    residual = y.astype(float) - X @ coef - intercept
    # A fit without an error is as good as another: what is below rounding of the target is nothing.
    return max(float(residual @ residual + alpha * coef @ coef), 1e-12 * float(y @ y)) / len(y)


def linear_regression(shape: str) -> list[Contestant]:
    from sklearn import linear_model as peer
    from sklearnex import linear_model as intel

    X, y = table(shape)
    more = None if shape in ("sparse", "wide") else intel.LinearRegression()
    judge = partial(_error, X, y, 0.0)
    return fits(shape, judge, X, y, qed=qed.LinearRegression(), sklearn=peer.LinearRegression(), intel=more)


def ridge(shape: str) -> list[Contestant]:
    from sklearn import linear_model as peer
    from sklearnex import linear_model as intel

    X, y = table(shape)
    solvers = ("sparse_cg", "lsqr", "sag") if shape == "sparse" else ("cholesky", "svd", "lsqr")
    others = {f"sklearn {solver}": peer.Ridge(solver=solver, tol=1e-6) for solver in solvers[:2]}
    if shape != "sparse":
        others["intel"] = intel.Ridge()
    return fits(shape, partial(_error, X, y, 1.0), X, y, qed=qed.Ridge(), **others)


def _alpha(X: Any, y: np.ndarray) -> float:
    """Give a twentieth of the penalty at which all coefficients are zero."""
    away = (y - y.mean()).astype(float)
    return float(np.abs(X.T @ away).max()) / len(y) / 20


def _sparse_objective(X: Any, y: np.ndarray, alpha: float, share: float, model: Any) -> float:
    coef = np.ravel(model.coef_).astype(float)
    penalty = alpha * (share * np.abs(coef).sum() + 0.5 * (1 - share) * coef @ coef)
    return 0.5 * _error(X, y, 0.0, model) + float(penalty)


def lasso(shape: str) -> list[Contestant]:
    from celer import Lasso as Celer
    from sklearn.linear_model import Lasso

    X, y = table(shape)
    alpha = _alpha(X, y)
    judge = partial(_sparse_objective, X, y, alpha, 1.0)
    # celer takes sparse tables by columns.
    found = fits(shape, judge, X, y, qed=qed.Lasso(alpha), sklearn=Lasso(alpha, tol=1e-6))
    by_columns = X.tocsc() if shape == "sparse" else X
    return found + fits(shape, judge, by_columns, y, celer=Celer(alpha, tol=1e-7))


def elastic_net(shape: str) -> list[Contestant]:
    from sklearn.linear_model import ElasticNet

    X, y = table(shape)
    alpha = 2 * _alpha(X, y)
    judge = partial(_sparse_objective, X, y, alpha, 0.5)
    ours, theirs = qed.ElasticNet(alpha, l1_ratio=0.5), ElasticNet(alpha, l1_ratio=0.5, tol=1e-6)
    return fits(shape, judge, X, y, qed=ours, sklearn=theirs)


def logistic(shape: str) -> list[Contestant]:
    from sklearn.linear_model import LogisticRegression
    from sklearnex.linear_model import LogisticRegression as Intel

    X, y = table(shape)
    label = (y > np.median(y)).astype(int)

    def judge(model: Any) -> float:
        coef = np.ravel(model.coef_).astype(float)
        score = X @ coef + float(np.ravel(model.intercept_)[0])
        loss = np.logaddexp(0, np.where(label == 1, -score, score)).sum()
        return float(loss + 0.5 * coef @ coef) / len(label)

    settings = {"tol": 1e-6, "max_iter": 2000}
    solvers = ("lbfgs",) if shape in ("sparse", "wide") else ("lbfgs", "newton-cholesky")
    others = {f"sklearn {solver}": LogisticRegression(solver=solver, **settings) for solver in solvers}
    more = None if shape == "sparse" else Intel(**settings)
    return fits(shape, judge, X, label, qed=qed.LogisticRegression(), intel=more, **others)


def huber(shape: str) -> list[Contestant]:
    from sklearn.linear_model import HuberRegressor

    X, y = table(shape)
    if shape in ("wide", "square"):
        return []

    def judge(model: Any) -> float:
        coef, scale = np.ravel(model.coef_).astype(float), float(model.scale_)
        z = np.abs(y.astype(float) - X @ coef - float(np.ravel(model.intercept_)[0])) / scale
        loss = np.where(z < 1.35, z**2, 2 * 1.35 * z - 1.35**2)
        return float(len(y) * scale + scale * loss.sum() + 1e-4 * coef @ coef) / len(y)

    return fits(shape, judge, X, y, qed=qed.HuberRegressor(), sklearn=HuberRegressor(max_iter=1000))


def pursuit(shape: str) -> list[Contestant]:
    from sklearn.linear_model import OrthogonalMatchingPursuit

    if shape == "sparse":
        return []
    X, y = table(shape)
    # Centred columns of length one, so that all choose alike.
    X = X - X.mean(axis=0)
    X /= np.linalg.norm(X, axis=0)
    atoms = min(10, X.shape[1])
    ours, theirs = (
        qed.OrthogonalMatchingPursuit(n_nonzero_coefs=atoms),
        OrthogonalMatchingPursuit(n_nonzero_coefs=atoms),
    )
    return fits(shape, partial(_error, X, y, 0.0), X, y, qed=ours, sklearn=theirs)


def kernel_ridge(shape: str) -> list[Contestant]:
    from sklearn.kernel_ridge import KernelRidge

    X, y = table(shape, KERNEL_ROWS)
    settings = {"alpha": 0.1, "kernel": "rbf", "gamma": 1.0 / X.shape[1]}
    K = qed.kernels.RBF(1.0 / X.shape[1])(X).astype(float)

    def judge(model: Any) -> float:
        dual = np.ravel(model.dual_coef_).astype(float)
        return float(np.sum((y - K @ dual) ** 2) + 0.1 * dual @ (K @ dual)) / len(y)

    return fits(shape, judge, X, y, qed=qed.KernelRidge(**settings), sklearn=KernelRidge(**settings))


def scaler(shape: str) -> list[Contestant]:
    from sklearn.preprocessing import StandardScaler

    X, _ = table(shape)
    centred = shape != "sparse"

    def run(model: Any) -> Any:
        return model.fit_transform(X)

    def judge(found: Any) -> float:
        # Whatever has unit variance is right: nothing to be small.
        data = found.data if shape == "sparse" else found
        return round(float(np.mean(np.square(data, dtype=np.float64))), 5)

    ours, theirs = qed.StandardScaler(with_mean=centred), StandardScaler(with_mean=centred)
    return [Contestant("qed", partial(run, ours), judge), Contestant("sklearn", partial(run, theirs), judge)]


def prediction(shape: str) -> list[Contestant]:
    from sklearn.linear_model import Ridge

    X, y = table(shape)
    ours, theirs = qed.Ridge().fit(X, y), Ridge().fit(X, y)

    def judge(found: np.ndarray) -> float:
        return round(float(np.mean((y - found) ** 2, dtype=np.float64)), 3)

    return [
        Contestant("qed", partial(ours.predict, X), judge),
        Contestant("sklearn", partial(theirs.predict, X), judge),
    ]


ESTIMATORS: dict[str, Callable[[str], list[Contestant]]] = {
    "LinearRegression": linear_regression,
    "Ridge": ridge,
    "Lasso": lasso,
    "ElasticNet": elastic_net,
    "LogisticRegression": logistic,
    "HuberRegressor": huber,
    "OrthogonalMatchingPursuit": pursuit,
    "KernelRidge": kernel_ridge,
    "StandardScaler": scaler,
    "Ridge.predict": prediction,
}
