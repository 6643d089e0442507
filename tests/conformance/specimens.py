"""One specimen of every public estimator, found through the registry: a new model is tested here without another line."""

import inspect

import numpy as np

import qed
from qed.base.models.estimator import Estimator


class Line:
    """A straight line in the first column; not a plain function, whose printed address would get into the names of tests."""

    def __call__(self, X: np.ndarray, w: np.ndarray) -> np.ndarray:
        return w[0] + w[1] * X[:, 0]

    def __repr__(self) -> str:
        return "Line()"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Line)

    def __hash__(self) -> int:
        return hash(Line)


CLASSIFIERS = [("bayes", qed.GaussianNB()), ("tree", qed.DecisionTreeClassifier(max_depth=2))]
REGRESSORS = [("line", qed.Ridge()), ("tree", qed.DecisionTreeRegressor(max_depth=2))]
QUICK = {"learning_rate_init": 0.01, "max_iter": 80, "random_state": 0}
NEEDS = {
    # Of tables whose values are all above zero every subset of the columns is frequent.
    "Apriori": lambda: qed.Apriori(max_size=2),
    "FPGrowth": lambda: qed.FPGrowth(max_size=2),
    "Search": lambda: qed.Search(qed.Ridge(), {"alpha": [0.1, 1.0]}, cv=2),
    "RandomSearch": lambda: qed.RandomSearch(qed.Ridge(), {"alpha": [0.1, 1.0]}, n_iter=2, cv=2, random_state=0),
    "FactorAnalysis": lambda: qed.FactorAnalysis(1),
    "GaussianRandomProjection": lambda: qed.GaussianRandomProjection(3, random_state=0),
    "SparseRandomProjection": lambda: qed.SparseRandomProjection(3, density=0.5, random_state=0),
    "HalvingSearch": lambda: qed.HalvingSearch(qed.Ridge(), {"alpha": [0.1, 1.0]}, cv=2, min_rows=500),
    "GaussianMixture": lambda: qed.GaussianMixture(2, random_state=0),
    # Adam divides slopes by their size, those of rounding too; plain steps leave rounding as small as it is.
    "MLPClassifier": lambda: qed.MLPClassifier(5, "tanh", solver="sgd", **QUICK),
    "MLPRegressor": lambda: qed.MLPRegressor("squared_error", 5, "relu", solver="sgd", **QUICK),
    "FeatureMap": lambda: qed.FeatureMap(np.sin),
    "NonlinearLeastSquares": lambda: qed.NonlinearLeastSquares(Line(), [1.0, 1.0]),
    "Conformal": lambda: qed.Conformal(qed.Ridge()),
    "TableModel": lambda: qed.TableModel(qed.Ridge()),
    "BaggingClassifier": lambda: qed.BaggingClassifier(qed.DecisionTreeClassifier(max_depth=2), 2, random_state=0),
    "BaggingRegressor": lambda: qed.BaggingRegressor(qed.DecisionTreeRegressor(max_depth=2), 2, random_state=0),
    "StackingClassifier": lambda: qed.StackingClassifier(CLASSIFIERS, cv=2),
    "StackingRegressor": lambda: qed.StackingRegressor(REGRESSORS, cv=2),
    "VotingClassifier": lambda: qed.VotingClassifier(CLASSIFIERS, voting="soft"),
    "VotingRegressor": lambda: qed.VotingRegressor(REGRESSORS, weights=[1.0, 2.0]),
}


def estimators() -> dict[str, type]:
    """Give all public estimator classes by name, but those that read documents and no table: tests/features/test_text.py is theirs."""
    found = {name: getattr(qed, name) for name in dir(qed) if name[0].isupper()}
    return {
        name: kind
        for name, kind in sorted(found.items())
        if inspect.isclass(kind)
        and issubclass(kind, Estimator)
        and not inspect.isabstract(kind)
        and not issubclass(kind, qed.CountVectorizer)
    }


def specimen(name: str) -> Estimator:
    """Make an instance of the estimator with that name, with few clusters, trees or candidates so that it fits in no time."""
    if name in NEEDS:
        return NEEDS[name]()
    model = getattr(qed, name)()
    takes = model.get_params()
    few = {"random_state": 0, "n_clusters": 3, "n_estimators": 3 if "AdaBoost" in name else 2}
    if "max_leaf_nodes" in takes and "learning_rate" in takes:  # boosting: as many trees as rounds
        few["max_iter"] = 10
    return model.set_params(**{name: value for name, value in few.items() if name in takes})


def table(n: int = 400, p: int = 4, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Give features, none below zero as some models ask, a number to predict and a label to predict, none of them too easy."""
    generator = np.random.default_rng(seed)
    X = np.maximum(generator.standard_normal((n, p)) * [1.0, 10.0, 0.1, 3.0] + [3.0, 30.0, 1.0, 9.0], 0.0)
    score = X @ [1.0, 0.1, -3.0, 0.2]
    number = score + generator.standard_normal(n)
    label = (score + 2 * generator.standard_normal(n) > np.median(score)).astype(int)
    return X, number, label


def target_for(model: Estimator, number: np.ndarray, label: np.ndarray) -> np.ndarray | None:
    """Choose the target that a model asks for."""
    return {"number": number, "label": label, None: None}[model.target]
