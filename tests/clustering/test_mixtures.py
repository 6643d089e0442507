"""Gaussian mixtures: every source, any threads, weights, holes, stops and starts give the same answer."""

import warnings

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from sklearn.mixture import GaussianMixture as Peer

import qed
from qed.base.errors import ConvergenceWarning, InputError, ParameterError
from qed.base.sources.block import Block
from qed.clustering.mixtures.mixture import Mixture
from qed.clustering.mixtures.quadratic import Origin, Ready
from qed.clustering.mixtures.shapes import KINDS, spread_like
from qed.clustering.mixtures.shares import Held, Shares

FITTED = ("weights_", "means_", "covariances_", "lower_bound_")


def blobs(seed=0, n=90, p=3):
    generator = np.random.default_rng(seed)
    parts = [generator.standard_normal((n, p)) * generator.uniform(0.5, 2.0, p) + 4 * j for j in range(3)]
    return generator.permutation(np.vstack(parts))


def alike(one, other, rtol=1e-9):
    return all(np.allclose(getattr(one, name), getattr(other, name), rtol=rtol, atol=1e-9) for name in FITTED)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("offset", [0.0, 100.0])
def test_the_same_steps_as_scikit_learn_from_the_same_start(kind, offset):
    X = blobs() + offset
    shape = {"full": np.stack([np.eye(3)] * 3), "tied": np.eye(3), "diag": np.ones((3, 3)), "spherical": np.ones(3)}
    start = {"weights_init": np.full(3, 1 / 3), "means_init": X[:3], "precisions_init": shape[kind] / 4}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ours = qed.GaussianMixture(3, covariance_type=kind, tol=0.0, max_iter=12, **start).fit(X)
        theirs = Peer(3, covariance_type=kind, tol=0.0, max_iter=12, **start).fit(X)
    # Theirs takes second moments about zero, which costs it the squares of the offset.
    for name in ("weights_", "means_", "covariances_", "precisions_", "precisions_cholesky_"):
        assert np.allclose(getattr(ours, name), getattr(theirs, name), rtol=1e-6, atol=1e-8), name
    assert ours.score(X) == pytest.approx(theirs.score(X), rel=1e-8)
    assert ours.bic(X) == pytest.approx(theirs.bic(X), rel=1e-8) and ours.aic(X) == pytest.approx(
        theirs.aic(X), rel=1e-8
    )
    assert np.array_equal(ours.predict(X), theirs.predict(X))
    assert np.allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-6)


def test_an_offset_costs_nothing():
    X = np.round(blobs() * 2**10) / 2**10
    near = qed.GaussianMixture(3, random_state=0, tol=1e-6).fit(X)
    far = qed.GaussianMixture(3, means_init=near.means_ + 2.0**20, tol=1e-6).fit(X + 2.0**20)
    near = qed.GaussianMixture(3, means_init=near.means_, tol=1e-6).fit(X)
    assert np.allclose(near.covariances_, far.covariances_, rtol=1e-7)
    assert far.certificate_


@pytest.mark.parametrize("kind", KINDS)
def test_features_and_differences_give_the_same_sums(kind):
    X, w = blobs(n=400), np.random.default_rng(5).random(1200)
    mixture = Mixture.of(kind, np.array([0.2, 0.3, 0.5]), X[:3] + 0.1, spread_like(2.0, kind, 3, 3))
    origin = Origin(X.mean(axis=0))
    for hard in (False, True):
        held = Held(kind, hard=hard)
        plain = Shares.of(Block(X, None, w), mixture, held)
        fast = Shares.of(Block(X, None, w), mixture, held, Ready.to_share(mixture, origin))
        # The bound of the features on each logarithm, which the shares follow.
        error = 1e3 * origin.rounding(mixture) + 1e-12
        assert abs(plain.likelihood - fast.likelihood) <= error * plain.size
        assert np.allclose(plain.weight, fast.weight, rtol=error) and np.allclose(plain.shift, fast.shift, atol=error)
        assert np.allclose(plain.scatter, fast.scatter, atol=error * plain.scatter.max())
        wide = mixture.moved_to(plain.updated(mixture, held), plain.shift)
        assert wide >= 0


def test_a_component_small_against_its_distance_is_not_left_to_features():
    origin = Origin(np.zeros(2))
    tight = Mixture.of(
        "full", np.array([0.5, 0.5]), np.array([[-1e5, 0.0], [1e5, 0.0]]), spread_like(1e-4, "full", 2, 2)
    )
    assert Ready.to_share(tight, origin) is None
    assert origin.keeps(
        Mixture.of("full", np.array([0.5, 0.5]), np.array([[-5.0, 0.0], [5.0, 0.0]]), spread_like(1.0, "full", 2, 2))
    )


def test_files_threads_and_weights_change_nothing(tmp_path):
    X = blobs(n=60)
    model = qed.GaussianMixture(3, random_state=0, tol=1e-7, max_iter=500).fit(X)
    pq.write_table(pa.table([*X.T], names=list("abc")), tmp_path / "x.parquet")
    assert alike(model, qed.GaussianMixture(3, random_state=0, tol=1e-7, max_iter=500).fit(tmp_path / "x.parquet"))
    count = np.random.default_rng(1).integers(0, 3, len(X))
    weighted = qed.GaussianMixture(3, random_state=0, tol=1e-7, max_iter=500).fit(X, sample_weight=count)
    repeated = qed.GaussianMixture(3, random_state=0, tol=1e-7, max_iter=500).fit(np.repeat(X, count, axis=0))
    assert alike(weighted, repeated, 1e-7)
    assert weighted.score(X, sample_weight=count) == pytest.approx(
        repeated.score(np.repeat(X, count, axis=0)), rel=1e-9
    )


@pytest.mark.parametrize("settings", [{}, {"n_init": 3}, {"algorithm": "hard"}, {"algorithm": "lbfgs"}])
def test_stopped_and_resumed_is_the_same_to_the_bit(settings):
    X = blobs(1)
    whole = qed.GaussianMixture(3, random_state=0, tol=1e-5, max_iter=100, **settings).fit(X)
    part = qed.GaussianMixture(3, random_state=0, tol=1e-5, max_iter=1, **settings)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        part.fit(X)
    part.set_params(max_iter=100).resume(X)
    assert all(np.array_equal(getattr(whole, name), getattr(part, name)) for name in FITTED)


def test_stopped_among_the_first_clusters_it_goes_on_from_there():
    X = blobs(2)
    steps = qed.steps(qed.GaussianMixture(3, random_state=0), X)
    first = next(steps)
    assert first.prepares and steps.model_at(first).weights_.shape == (3,)
    rest = list(zip(qed.steps(qed.GaussianMixture(3, random_state=0), X, start=first), range(30)))
    straight = list(zip(qed.steps(qed.GaussianMixture(3, random_state=0), X), range(31)))
    one, other = ([step.objective for step, _ in found if not step.prepares] for found in (rest, straight))
    assert one[:8] == other[:8]


@pytest.mark.parametrize("kind", KINDS)
def test_rows_that_lack_values_take_part_by_what_they_have(kind):
    X = blobs(3, n=300)
    holes = X.copy()
    holes[np.random.default_rng(0).random(X.shape) < 0.15] = np.nan
    whole = qed.GaussianMixture(3, covariance_type=kind, random_state=0, tol=1e-6, max_iter=500).fit(X)
    model = qed.GaussianMixture(3, covariance_type=kind, random_state=0, tol=1e-6, max_iter=500).fit(holes)
    order = np.argsort(model.means_[:, 0])
    # Values are missing at random, so both estimate the same: within five standard errors of a mean of 255.
    assert np.abs(model.means_[order] - whole.means_[np.argsort(whole.means_[:, 0])]).max() < 5 * 2 / np.sqrt(255)
    assert np.diff(model.lower_bounds_).min() >= -1e-10 and qed.certify(model, holes)
    # The density of a row that lacks columns is that of those it has.
    row = np.full((1, 3), np.nan)
    row[0, 1] = X[0, 1]
    assert model.score_samples(row)[0] == pytest.approx(float(model.marginal(1).log_density(X[0, 1])), rel=1e-10)
    assert model.score_samples(np.full((1, 3), np.nan))[0] == pytest.approx(0.0, abs=1e-12)
    with pytest.raises(InputError, match="infinity"):
        qed.GaussianMixture(2).fit(np.where(np.isnan(holes), np.inf, holes))


def test_single_precision_rows_give_single_precision_answers():
    X = blobs().astype(np.float32)
    model = qed.GaussianMixture(3, random_state=0).fit(X)
    assert model.predict_proba(X).dtype == np.float32 and model.score_samples(X).dtype == np.float32
    assert alike(model, qed.GaussianMixture(3, random_state=0).fit(X.astype(np.float64)), 1e-6)


def test_several_beginnings_keep_the_most_likely_and_parameters_are_checked():
    X = blobs(4)
    one = qed.GaussianMixture(4, init_params="random_from_data", random_state=1, max_iter=300).fit(X)
    many = qed.GaussianMixture(4, init_params="random_from_data", random_state=1, n_init=5, max_iter=300).fit(X)
    assert many.lower_bound_ >= one.lower_bound_ - 1e-3
    for wrong in ({"means_init": [[0.0]]}, {"weights_init": [0.5, 0.6, 0.1, 0.1]}, {"covariance": -1.0}):
        with pytest.raises(ParameterError):
            qed.GaussianMixture(4, **wrong).fit(X)
    with pytest.raises(InputError, match="n_samples"):
        qed.GaussianMixture(4).fit(X[:3])


def test_the_path_rises_and_bic_finds_the_clusters():
    X = blobs(5)
    for kind in KINDS:
        path = qed.mixture_path(X, range(1, 6), covariance_type=kind, random_state=0)
        assert (np.diff(path.log_likelihood) >= -1e-3 * len(X)).all()
        assert path.best().bic(X) == pytest.approx(path.bic.min(), rel=1e-9)
        assert path.models[0].aic(X) == pytest.approx(path.aic[0], rel=1e-9)
    assert qed.mixture_path(X, range(1, 6), random_state=0).best().n_components == 3


@pytest.mark.parametrize("kind", KINDS)
def test_outlier_scores_are_distances_of_mahalanobis_from_the_likeliest(kind):
    X = np.vstack([blobs(6), [[40.0] * blobs(6).shape[1]]])
    model = qed.GaussianMixture(3, covariance_type=kind, random_state=0).fit(X[:-1])
    scores, labels, p = model.outlier_scores(X), model.predict(X), X.shape[1]
    for row, label, score in zip(X, labels, scores):
        full = {"full": lambda c: c, "tied": lambda c: c, "diag": np.diag, "spherical": lambda c: c * np.eye(p)}[kind]
        own = full(model.covariances_ if kind == "tied" else model.covariances_[label])
        away = row - model.means_[label]
        # Logarithms of densities are subtracted, so a score near zero has half of the digits.
        assert score**2 == pytest.approx(away @ np.linalg.solve(own, away) / p, rel=1e-8, abs=1e-10)
    assert scores.argmax() == len(X) - 1 and scores[:-1].mean() == pytest.approx(1, abs=0.2)
    holed = X.copy()
    holed[:, 0] = np.nan
    assert np.isfinite(model.outlier_scores(holed)).all()


@pytest.mark.parametrize("kind", ["full", "tied", "diag"])
def test_units_of_the_columns_change_no_proof(kind):
    X = blobs(p=4)
    settings = {"covariance_type": kind, "reg_covar": 0.0, "random_state": 0, "init_params": "random_from_data"}
    plain = qed.GaussianMixture(3, means_init=X[:3], **settings).fit(X)
    # Powers of two: the same mixture to the bit, in other units.
    units = 2.0 ** np.array([-30, 0, 15, 30])
    start = {"means_init": plain.means_ * units, "weights_init": plain.weights_}
    start["precisions_init"] = plain.precisions_ / (units**2 if kind == "diag" else np.multiply.outer(units, units))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = qed.GaussianMixture(3, tol=1.0, **settings, **start).fit(X * units)
    assert model.certificate_ and qed.certify(model, X * units)


def test_a_comparison_of_a_wide_table_leaves_out_covariances_that_the_rows_can_not_tell():
    kinds = [qed.GaussianMixture._settings_on(n, 50, 1)["covariance_type"] for n in (101, 100, 30)]
    assert kinds == [("full", "diag"), ("diag",), ("diag",)]


@pytest.mark.parametrize("way", ["kmeans", "k-means++", "random", "random_from_data"])
@pytest.mark.parametrize("kind", KINDS)
def test_a_known_covariance_needs_no_spread_of_the_rows(kind, way):
    """Components of a single row, or of equal ones, begin where they are: nothing is estimated that is known."""
    X = np.repeat([[0.0, 0.0], [9.0, 0.0], [0.0, 9.0]], 4, axis=0)
    covariance = {"full": [np.eye(2)] * 3, "tied": np.eye(2), "diag": np.ones((3, 2)), "spherical": 1.0}[kind]
    settings = {"covariance_type": kind, "covariance": covariance, "init_params": way, "random_state": 0}
    model = qed.GaussianMixture(3, **settings).fit(X)
    assert model.certificate_ and qed.certify(model, X)
    # Rows of another corner have a share of exp(-40.5) at most, times nine.
    if way != "random":
        apart = np.abs(model.means_[:, None] - X[::4]).max(axis=2)
        assert apart.min(axis=0).max() <= 1e-15 and len(set(apart.argmin(axis=0))) == 3


@pytest.mark.parametrize("algorithm", ["gradient", "lbfgs"])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("rows", ["constant", "two", "whole numbers"])
def test_climbing_where_the_likelihood_has_no_bound_ends_without_a_proof(rows, kind, algorithm):
    """Towards singular covariances numbers give out: the climb stops before, and nothing that is not a number comes of it."""
    X = {
        "constant": np.ones((10, 3)),
        "two": np.repeat(np.random.default_rng(0).standard_normal((2, 3)), 6, axis=0),
        "whole numbers": np.random.default_rng(0).integers(0, 3, (40, 2)).astype(float),
    }[rows]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = qed.GaussianMixture(3, covariance_type=kind, algorithm=algorithm, random_state=0).fit(X)
    assert np.isfinite(model.covariances_).all() and np.isfinite(model.score_samples(X)).all()
    if rows != "whole numbers":
        assert not model.certificate_
