"""Attempts to make a certificate hold for an answer that is wrong: models, kinds of data that go wrong, and who judges."""

import warnings
from dataclasses import dataclass
from inspect import signature

import numpy as np

import qed
from qed.base.errors import InputError
from tests.conformance.specimens import Line
from tests.proof import truth
from tests.proof import truth_of_baskets as baskets
from tests.proof import truth_of_boosting as boosting
from tests.proof import truth_of_centres as centres
from tests.proof import truth_of_classes as classes
from tests.proof import truth_of_graphs as graphs
from tests.proof import truth_of_hidden as hidden
from tests.proof import truth_of_lines as lines
from tests.proof import truth_of_machines as machines
from tests.proof import truth_of_mixtures as mixtures
from tests.proof import truth_of_neighbors as neighbors
from tests.proof import truth_of_planes as planes
from tests.proof import truth_of_tables as tables
from tests.proof import truth_of_trees as trees

# Models for tables with missing values.
WITH_HOLES = (qed.SimpleImputer, qed.ColumnEncoder)

# Every model with the judge of what it claims.
MODELS = {
    "LinearRegression": (qed.LinearRegression, lines.coefficients),
    "LinearRegression, no intercept": (lambda: qed.LinearRegression(fit_intercept=False), lines.coefficients),
    "GeneralizedLeastSquares": (lambda: qed.GeneralizedLeastSquares(np.linspace(0.5, 2.0, 9)), lines.coefficients),
    "Ridge": (lambda: qed.Ridge(0.1), lines.penalised),
    "Ridge, no penalty": (lambda: qed.Ridge(0.0), lines.penalised),
    "GradientRidge": (lambda: qed.GradientRidge(alpha=0.1), lines.penalised),
    "LinearRegression, positive": (lambda: qed.LinearRegression(positive=True), lines.nonnegative),
    "Ridge, positive": (lambda: qed.Ridge(0.1, positive=True), lines.nonnegative),
    "GaussianMAP": (lambda: qed.GaussianMAP(fit_intercept=True), lines.penalised),
    "TotalLeastSquares": (qed.TotalLeastSquares, lines.perpendicular),
    "MeanRegressor": (qed.MeanRegressor, lines.average),
    "Lasso": (lambda: qed.Lasso(alpha=0.1), truth.sparse),
    "Lasso, hardly a penalty": (lambda: qed.Lasso(alpha=1e-9), truth.sparse),
    "Lasso, hardly a penalty, no intercept": (lambda: qed.Lasso(alpha=1e-9, fit_intercept=False), truth.sparse),
    "ElasticNet": (lambda: qed.ElasticNet(alpha=0.1), truth.sparse),
    "LeastAbsoluteDeviations": (qed.LeastAbsoluteDeviations, truth.absolute),
    "HuberRegressor": (qed.HuberRegressor, lines.huber_with_scale),
    "HuberRegressor, given scale": (lambda: qed.HuberRegressor(scale=1.0), truth.huber),
    "HuberRegressor, no penalty": (lambda: qed.HuberRegressor(scale=1.0, alpha=0.0), truth.huber),
    "BestSubset": (lambda: qed.BestSubset(n_nonzero_coefs=2), truth.subset),
    "OrthogonalMatchingPursuit": (lambda: qed.OrthogonalMatchingPursuit(n_nonzero_coefs=2), truth.orthogonal),
    "MatchingPursuit": (lambda: qed.MatchingPursuit(n_nonzero_coefs=2, max_iter=20), lines.steps),
    "KernelRidge, linear": (lambda: qed.KernelRidge(alpha=0.5), truth.kernel_ridge),
    "KernelRidge, rbf": (lambda: qed.KernelRidge(alpha=0.5, kernel="rbf"), truth.kernel_ridge),
    "KernelRidge, cubes": (lambda: qed.KernelRidge(alpha=0.5, kernel="poly"), truth.kernel_ridge),
    "KernelRidge, squares, dual": (
        lambda: qed.KernelRidge(alpha=0.5, kernel="poly", degree=2, form="dual"),
        truth.kernel_ridge,
    ),
    "KernelInterpolator": (
        lambda: qed.KernelInterpolator(kernel="rbf", gamma=2.0, form="dual"),
        truth.interpolation,
    ),
    "GeneralizedKernelRidge": (lambda: qed.GeneralizedKernelRidge(kernel="rbf"), truth.kernel_ridge),
    "NonlinearLeastSquares": (lambda: qed.NonlinearLeastSquares(Line(), [1.0, 1.0]), truth.line),
    "RidgeClassifier": (lambda: qed.RidgeClassifier(0.1), lines.planes),
    "RidgeClassifier, no penalty": (lambda: qed.RidgeClassifier(0.0, fit_intercept=False), lines.planes),
    "LogisticRegression": (lambda: qed.LogisticRegression(max_iter=60), classes.logistic),
    "LinearDiscriminantAnalysis": (qed.LinearDiscriminantAnalysis, classes.linear_discriminant),
    "QuadraticDiscriminantAnalysis": (qed.QuadraticDiscriminantAnalysis, classes.quadratic_discriminant),
    "GaussianNB": (qed.GaussianNB, classes.gaussian_bayes),
    "SVC": (qed.SVC, machines.machine),
    "SVR": (qed.SVR, machines.machine),
    "LinearSVR": (lambda: qed.LinearSVR(epsilon=0.1), machines.machine),
    "MajorityClassifier": (qed.MajorityClassifier, tables.shares),
    "DecisionTreeClassifier": (qed.DecisionTreeClassifier, trees.questions),
    "DecisionTreeClassifier, errors": (
        lambda: qed.DecisionTreeClassifier(criterion="misclassification", min_samples_leaf=2),
        trees.questions,
    ),
    "DecisionTreeRegressor": (qed.DecisionTreeRegressor, trees.questions),
    "AdaBoostClassifier": (lambda: qed.AdaBoostClassifier(n_estimators=4), trees.stumps),
    "GradientBoostingClassifier": (
        lambda: qed.GradientBoostingClassifier(max_iter=4, min_samples_leaf=2, early_stopping=False),
        boosting.rounds,
    ),
    "GradientBoostingRegressor": (
        lambda: qed.GradientBoostingRegressor(max_iter=4, min_samples_leaf=2, early_stopping=False),
        boosting.rounds,
    ),
    "PCA": (qed.PCA, planes.components),
    "PCA, one component": (lambda: qed.PCA(1), planes.components),
    "KernelPCA": (lambda: qed.KernelPCA(2), hidden.similar_components),
    "KernelPCA, rbf": (lambda: qed.KernelPCA(2, kernel="rbf"), hidden.similar_components),
    "FeatureSpacePCA": (lambda: qed.FeatureSpacePCA(2), hidden.mapped_components),
    "ProbabilisticPCA": (lambda: qed.ProbabilisticPCA(1), hidden.likeliest_plane),
    "FactorAnalysis": (lambda: qed.FactorAnalysis(1), hidden.stationary_factors),
    "CCA": (qed.CCA, hidden.canonical_pair),
    "TopVariance": (qed.TopVariance, hidden.varying_most),
    "KMeans": (lambda: qed.KMeans(2, random_state=0), truth.clusters),
    "KMedians": (lambda: qed.KMedians(2, random_state=0), centres.medians),
    "SoftKMeans": (lambda: qed.SoftKMeans(2, random_state=0), centres.shares),
    "SoftKMeans, given hardness": (lambda: qed.SoftKMeans(2, beta=1.5, random_state=0), centres.shares),
    "KernelKMeans": (lambda: qed.KernelKMeans(2, random_state=0), graphs.means),
    "KernelKMeans, linear": (lambda: qed.KernelKMeans(2, kernel="linear", random_state=0), graphs.means),
    "SpectralClustering": (lambda: qed.SpectralClustering(2, random_state=0), graphs.cuts),
    "SpectralClustering, neighbours": (
        lambda: qed.SpectralClustering(2, affinity="nearest_neighbors", n_neighbors=2, random_state=0),
        graphs.cuts,
    ),
    "GaussianMixture": (lambda: qed.GaussianMixture(2, random_state=0), mixtures.density),
    "GaussianMixture, diagonal": (
        lambda: qed.GaussianMixture(2, covariance_type="diag", random_state=0),
        mixtures.density,
    ),
    "KNeighborsClassifier": (lambda: qed.KNeighborsClassifier(2), neighbors.nearest),
    "KNeighborsRegressor": (lambda: qed.KNeighborsRegressor(2), neighbors.nearest),
    "NearestNeighbors": (lambda: qed.NearestNeighbors(n_neighbors=2), neighbors.nearest),
    "NearestNeighbors, tree": (lambda: qed.NearestNeighbors(n_neighbors=2, algorithm="kd_tree"), neighbors.nearest),
    "Nystroem": (lambda: qed.Nystroem("rbf", n_components=5, random_state=0), truth.landmarks),
    "RandomFourierFeatures": (lambda: qed.RandomFourierFeatures(n_components=200, random_state=0), tables.waves),
    "PolynomialFeatures": (lambda: qed.PolynomialFeatures(3), tables.monomials),
    "StandardScaler": (qed.StandardScaler, tables.standard),
    "MinMaxScaler": (qed.MinMaxScaler, tables.extremes),
    "SimpleImputer, mean": (qed.SimpleImputer, tables.filled),
    "SimpleImputer, median": (lambda: qed.SimpleImputer(strategy="median"), tables.middle),
    "SimpleImputer, most frequent": (lambda: qed.SimpleImputer(strategy="most_frequent"), tables.commonest),
    "ColumnEncoder": (qed.ColumnEncoder, tables.encoded),
    "OneHotEncoder": (qed.OneHotEncoder, tables.listed),
    "Apriori": (lambda: qed.Apriori(0.3), baskets.frequent),
    "FPGrowth": (lambda: qed.FPGrowth(0.3), baskets.frequent),
}
# Models of the registry that have no judge here, and why.
WITHOUT = {
    "ExtraTreesClassifier": "its questions are asked again in test_forests.py, and its leaves are those of DecisionTreeClassifier",
    "ExtraTreesRegressor": "its questions are asked again in test_forests.py, and its leaves are those of DecisionTreeRegressor",
    "AdaBoostRegressor": "its members are judged as DecisionTreeRegressor, its rounds restated by its claims and in tests/ensembles",
    "BaggingClassifier": "the certificates are those of its members, for rows drawn again",
    "BaggingRegressor": "the certificates are those of its members, for rows drawn again",
    "StackingClassifier": "the certificates are those of its members and of the final model, for what members tell anew",
    "StackingRegressor": "the certificates are those of its members and of the final model, for what members tell anew",
    "VotingClassifier": "the certificates are those of its members",
    "VotingRegressor": "the certificates are those of its members",
    "GaussianRandomProjection": "its directions are drawn, and distances of some rows measured, anew by its claims",
    "SparseRandomProjection": "its directions are drawn, and distances of some rows measured, anew by its claims",
    "RandomColumns": "its columns are drawn anew by its claims",
    "TfidfTransformer": "counts and logarithms of them, restated by its claims",
    "GradientLogisticRegression": "its claims are those of LogisticRegression, whose proof it shares",
    "KernelLogisticRegression": "judged in test_kernel_logistic_proof.py, on data with classes",
    "LinearSVC": "judged in test_svm_proof.py, on data with classes",
    "MLPClassifier": "judged in tests/neural/test_models.py, by sums in extended precision; no optimum is claimed",
    "MLPRegressor": "judged in tests/neural/test_models.py, by sums in extended precision; no optimum is claimed",
    "Perceptron": "judged in test_perceptron_proof.py, on data with classes",
    "BernoulliNB": "judged in test_generative.py, on counts",
    "MultinomialNB": "judged in test_generative.py, on counts",
    "CategoricalNB": "judged in test_generative.py, on counts",
    "RandomForestClassifier": "its questions are asked again in test_forests.py, and its leaves are those of DecisionTreeClassifier",
    "RandomForestRegressor": "its questions are asked again in test_forests.py, and its leaves are those of DecisionTreeRegressor",
    "FeatureMap": "a user's own function: nothing is claimed but that rows keep their features in other company",
    "Conformal": "the certificate is that of the model inside, and ranks counted in tests/selection/test_conformal.py",
    "Search": "the certificate is that of the model inside",
    "HalvingSearch": "the certificate is that of the model inside",
    "RandomSearch": "the certificate is that of the model inside",
    "TableModel": "the certificates are those of the encoder, the scaler and the model inside",
}
KINDS = (
    "plain",
    "constant column",
    "equal columns",
    "nearly equal columns",
    "scales",
    "offset 1e4",
    "offset 1e8",
    "outlier in a row",
    "outlier in the target",
    "row at 1e12",
    "row at 1e15",
    "row at 1e300",
    "target at 1e15",
    "column at 1e150",
    "all at 1e150",
    "all at 1e-150",
    "all at 1e-300",
    "few rows",
    "zero weights",
    "single precision",
    "duplicate rows",
    "constant target",
    "target far away",
    "target at 1e-200",
    "graded columns",
    "powers",
    "sums of others",
    "timestamps",
    "rounded multiples",
    "heavy and light rows",
    "light row far away",
    "as many rows as columns",
    "lone entry",
    "rows of all sizes",
    "column of all sizes",
    "target at 1e14 and more",
    "two places far apart",
    "last digits",
    "constant column under heavy rows",
    "nearly equal columns far away",
    "two rows of far targets",
)


@dataclass(frozen=True)
class Attempt:
    """What came of one fit.

    Attributes
    ----------
    proven : bool
        Whether the certificate holds, after the fit and when it is computed again.
    truth, bound : float
        By how much the fit misses what is claimed, and by how much it may.
    """

    proven: bool
    truth: float
    bound: float

    @property
    def is_false_proof(self):
        return self.proven and not self.truth <= self.bound

    @property
    def is_false_alarm(self):
        return not self.proven and self.truth <= 1e-10


def data_of(kind, seed, n=9, p=3):
    """Make a table, a target and weights, with one of the usual defects."""
    random = np.random.default_rng(seed)
    n, p = (int(random.integers(2, 4)), p) if kind == "few rows" else (n, p)
    X, weight = random.standard_normal((n, p)), None
    y = X @ random.standard_normal(p) + random.standard_normal(n)
    if kind == "constant column":
        X[:, 1] = random.choice([0.0, 1.0, -3.5, 1e6])
    elif kind == "equal columns":
        X[:, 1] = X[:, 0] * random.choice([1.0, -2.0, 2.0**-10])
    elif kind == "nearly equal columns":
        X[:, 1] = X[:, 0] + 10.0 ** random.integers(-12, -3) * random.standard_normal(n)
    elif kind == "scales":
        X *= 10.0 ** random.integers(-6, 7, p)
    elif kind in ("offset 1e4", "offset 1e8"):
        X += float(kind.split()[1]) * random.choice([1.0, -1.0, 0.3], p)
    elif kind == "outlier in a row":
        X[0] *= 10.0 ** random.integers(3, 10)
    elif kind == "outlier in the target":
        y[0] = 10.0 ** random.integers(3, 10)
    elif kind in ("row at 1e12", "row at 1e15", "row at 1e300"):
        X[0] *= float(kind.split()[-1])
    elif kind == "target at 1e15":
        y[0] = 1e15
    elif kind == "column at 1e150":
        X[:, 1] *= 1e150
    elif kind.startswith("all at"):
        X, y = X * float(kind.split()[-1]), y * float(kind.split()[-1])
    elif kind == "zero weights":
        weight = random.integers(0, 3, n).astype(float)
        weight[:3] = 1.0
    elif kind == "single precision":
        X = X.astype(np.float32)
    elif kind == "duplicate rows":
        X[n // 2 :] = X[: n - n // 2]
    elif kind == "constant target":
        y[:] = 2.5
    elif kind == "target far away":
        y += 1e8
    elif kind == "target at 1e-200":
        y *= 1e-200
    return _strange(kind, X, y, weight, random)


def _strange(kind, X, y, weight, random):
    """Add the defects of tables that people have: dates, years and their powers, totals, weights of many sizes."""
    n, p = X.shape
    if kind == "graded columns":
        U, V = np.linalg.qr(X)[0], np.linalg.qr(random.standard_normal((p, p)))[0]
        X = (U * np.logspace(0, -12 * random.random(), p)) @ V
    elif kind == "powers":
        years = 2000.0 + np.sort(random.choice(27, n, replace=False))
        X = years[:, None] ** np.arange(1, p + 1)
    elif kind == "sums of others":
        X[:, -1] = X[:, :-1].sum(axis=1) + 10.0 ** random.integers(-10, -7) * random.standard_normal(n)
    elif kind == "timestamps":
        X[:, 0] = 1.7e9 + np.sort(random.integers(0, 86400, n))
    elif kind == "rounded multiples":
        X[:, 0] = 0.1 * random.integers(1, 9, n) + 0.2
        X[:, 1] = X[:, 0] * 3
    elif kind == "heavy and light rows":
        weight = 10.0 ** random.uniform(-12, 12, n)
    elif kind == "light row far away":
        X[0], weight = 1e9 * X[0], np.ones(n)
        weight[0] = 1e-12
    elif kind == "as many rows as columns":
        X, y = X[:p], y[:p]
    elif kind == "lone entry":
        X[:, 0] = 0.0
        X[random.integers(n), 0] = 10.0 ** random.integers(-9, 10)
    elif kind == "rows of all sizes":
        X *= 10.0 ** random.uniform(-100, 100, n)[:, None]
    elif kind == "column of all sizes":
        X[:, 0] = 10.0 ** random.uniform(-150, 150, n)
    elif kind == "target at 1e14 and more":
        y = y + 10.0 ** random.integers(14, 17)
    elif kind == "two places far apart":
        X += np.where(np.arange(n) < n // 2, 1.0, -1.0)[:, None] * 10.0 ** random.integers(6, 13)
    elif kind == "last digits":
        X = 1.0 + 2.0**-52 * random.integers(0, 8, X.shape)
    elif kind == "constant column under heavy rows":
        X[:, 1], weight = 0.1 * 3, np.full(n, 10.0 ** random.integers(-30, 31))
    elif kind == "nearly equal columns far away":
        X += 1e6 * random.choice([1.0, -1.0, 0.3], p)
        X[:, 1], X[:, 2] = 0.1 * 3, X[:, 0] + 1e-9 * random.standard_normal(n)
    elif kind == "two rows of far targets":
        X, y, weight = X[:2], 1e9 + y[:2], 10.0 ** random.uniform(-12, 12, 2)
    return X, y, weight


def attempt(name, kind, seed):
    """Fit a model to data of a kind and judge its certificate; None where the data are refused."""
    make, judge = MODELS[name]
    X, y, weight = data_of(kind, seed)
    model = make()
    if isinstance(model, qed.GeneralizedLeastSquares):
        model.covariance = np.linspace(0.5, 2.0, len(X))
    weight = weight if "sample_weight" in signature(model.fit).parameters else None
    given = {} if weight is None else {"sample_weight": weight}
    if isinstance(model, WITH_HOLES):
        X[np.random.default_rng(seed).random(X.shape) < 0.2] = np.nan
        X[0] = 1.0
    data = truth.Data(X, y, weight)
    y = {"number": y, "label": data.labels, None: None}[model.target]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            model.fit(X, y, **given)
        except InputError:
            return None
        proven = bool(model.certificate_) and bool(qed.certify(model, X, y, **given))
    found, bound = judge(model, data)
    return Attempt(proven, found, bound)
