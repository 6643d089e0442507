"""Naive Bayes: Gaussian on dense rows, Bernoulli on dense and on sparse ones, and a search of its smoothing."""

import numpy as np
from scipy import sparse

import qed
from bench.harness import Contestant, Workload
from bench.tables import gaussian_classes


def workloads() -> list[Workload]:
    return [gaussian(), bernoulli(), bernoulli_sparse(), search()]


def surprise(X, y):
    """The judge of a model: the mean surprise at the classes of the training rows."""
    return lambda model: float(-np.mean(model.predict_log_proba(X[:5000])[np.arange(5000), y[:5000]]))


def words(n: int, p: int, filled: float):
    """Sparse binary rows of two classes that use columns a little differently."""
    generator = np.random.default_rng(0)
    y = generator.integers(0, 2, n)
    # Drawn row by row: to draw places of the whole table without repeating one takes minutes.
    many = round(filled * p)
    places = np.sort(generator.integers(0, p, (n, many)), axis=1)
    X = sparse.csr_matrix((np.ones(n * many), places.ravel(), np.arange(0, n * many + 1, many)), shape=(n, p))
    X.sum_duplicates()
    X.data[:] = generator.random(X.nnz) < 0.5 + 0.2 * (X.indices % 3 == np.repeat(y, np.diff(X.indptr)))
    X.eliminate_zeros()
    return X, y


def gaussian() -> Workload:
    from sklearn.naive_bayes import GaussianNB

    X, y = gaussian_classes(200_000, 50, 5)
    return Workload(
        "GaussianNB, 200 000 x 50, five classes",
        "Float64. Objective: log loss on 5 000 of the training rows.",
        [
            Contestant("qed", lambda: qed.GaussianNB().fit(X, y), surprise(X, y)),
            Contestant("scikit-learn", lambda: GaussianNB().fit(X, y), surprise(X, y)),
        ],
        rounds=7,
        tolerance=1e-6,
    )


def bernoulli() -> Workload:
    from sklearn.naive_bayes import BernoulliNB

    generator = np.random.default_rng(0)
    y = generator.integers(0, 2, 50_000)
    X = (generator.random((50_000, 1000)) < 0.3 + 0.1 * y[:, None]).astype(np.float64)
    return Workload(
        "BernoulliNB, dense 50 000 x 1 000",
        "Zeros and ones in float64, two classes. Objective: log loss on 5 000 of the training rows.",
        [
            Contestant("qed", lambda: qed.BernoulliNB().fit(X, y), surprise(X, y)),
            Contestant("scikit-learn", lambda: BernoulliNB().fit(X, y), surprise(X, y)),
        ],
        rounds=5,
        tolerance=1e-6,
    )


def bernoulli_sparse() -> Workload:
    from sklearn.naive_bayes import BernoulliNB

    X, y = words(50_000, 20_000, 0.005)
    return Workload(
        "BernoulliNB, sparse 50 000 x 20 000",
        "About 60 ones a row, CSR, two classes. Objective: log loss on 5 000 of the training rows.",
        [
            Contestant("qed", lambda: qed.BernoulliNB().fit(X, y), surprise(X, y)),
            Contestant("scikit-learn", lambda: BernoulliNB().fit(X, y), surprise(X, y)),
        ],
        rounds=7,
        tolerance=1e-6,
    )


def search() -> Workload:
    from sklearn.model_selection import GridSearchCV
    from sklearn.naive_bayes import MultinomialNB

    X, y = words(50_000, 20_000, 0.005)
    grid = {"alpha": list(np.geomspace(1e-3, 10, 20))}

    def judge(model):
        return float(-model.best_score_)

    peer = GridSearchCV(MultinomialNB(), grid, cv=5, n_jobs=2)
    return Workload(
        "MultinomialNB, 20 pseudo-counts, 5 folds, sparse 50 000 x 20 000",
        "The same folds; the peer on both cores. Objective: minus the best accuracy.",
        [
            Contestant("qed", lambda: qed.Search(qed.MultinomialNB(), grid, cv=5).fit(X, y), judge),
            Contestant("scikit-learn GridSearchCV", lambda: peer.fit(X, y), judge, rounds=1),
        ],
        rounds=3,
        tolerance=1e-3,
    )
