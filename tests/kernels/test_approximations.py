"""Nystroem and random Fourier features: what their certificates say is so, and they object to a wrong map."""

import numpy as np
import pytest
from scipy import sparse

import qed
from qed.base.errors import InputError, ParameterError
from qed.base.sources.open import rows
from qed.features.maps.sampling import Sample, lots
from qed.kernels import RBF, Linear, Polynomial
from qed.kernels.mercer import check_gram

X = np.random.default_rng(0).standard_normal((600, 4))


def test_nystroem_is_exact_among_landmarks_and_never_overrates():
    model = qed.Nystroem(RBF(0.2), n_components=80, random_state=1).fit(X)
    L = X[model.component_indices_]
    np.testing.assert_array_equal(model.components_, L)
    Z = model.transform(L)
    np.testing.assert_allclose(Z @ Z.T, RBF(0.2)(L), atol=1e-12)
    Z = model.transform(X)
    assert check_gram(RBF(0.2)(X) - Z @ Z.T)
    assert (np.linalg.norm(Z, axis=1) <= 1 + 1e-12).all()
    assert model.certificate_ and qed.certify(model, X)


def test_nystroem_is_the_formula_of_scikit_learn():
    from sklearn.kernel_approximation import Nystroem

    model = qed.Nystroem("poly", gamma=0.1, degree=2, coef0=1.0, n_components=14, random_state=0).fit(X)
    peer = Nystroem(kernel="poly", gamma=0.1, degree=2, coef0=1.0, n_components=14, random_state=0).fit(
        model.components_
    )
    ours, theirs = model.transform(X), peer.transform(X)
    np.testing.assert_allclose(ours @ ours.T, theirs @ theirs.T, atol=1e-8)


def test_as_many_landmarks_as_features_reproduce_a_finite_kernel_everywhere():
    kernel = Polynomial(2, 0.1)
    model = qed.Nystroem(kernel, n_components=40, random_state=0).fit(X)
    Z = model.transform(X)
    np.testing.assert_allclose(Z @ Z.T, kernel(X), atol=1e-9)
    assert model.error_ < 1e-10
    assert qed.Nystroem(kernel, n_components=5, random_state=0).fit(X).error_ > model.error_


def test_more_landmarks_err_less():
    errors = [qed.Nystroem(RBF(0.1), n_components=m, random_state=0).fit(X).error_ for m in (5, 20, 80)]
    assert errors[0] > errors[1] > errors[2] > 0


def test_duplicates_constants_and_few_rows():
    for table in (np.ones((30, 2)), np.repeat(X[:3], 20, axis=0), X[:1]):
        model = qed.Nystroem(RBF(0.5), n_components=10, random_state=0).fit(table)
        Z = model.transform(table)
        np.testing.assert_allclose(Z @ Z.T, RBF(0.5)(table), atol=1e-10)
        assert model.certificate_ and qed.certify(model, table)
    zero = qed.Nystroem(Linear(), n_components=5, random_state=0).fit(np.zeros((8, 2)))
    assert not zero.transform(np.zeros((8, 2))).any() and zero.error_ == 0


@pytest.mark.parametrize("attribute", ["components_", "normalization_"])
def test_the_certificate_of_nystroem_objects(attribute):
    model = qed.Nystroem(RBF(0.2), n_components=30, random_state=0).fit(X)
    moved = getattr(model, attribute).copy()
    moved[np.unravel_index(np.abs(moved).argmax(), moved.shape)] *= 1.001
    setattr(model, attribute, moved)
    assert not qed.certify(model, X)


def test_what_is_no_kernel_is_refused_by_nystroem():
    with pytest.raises(InputError, match="witness"):
        qed.Nystroem(lambda x, z: -float(np.sum((x - z) ** 2)), n_components=10, random_state=0).fit(X)
    with pytest.raises(ParameterError, match="kernel"):
        qed.Nystroem("sigmoid").fit(X)
    with pytest.raises(ParameterError, match="coef0"):
        qed.Nystroem("poly", coef0=-1.0).fit(X)


def test_fourier_features_have_length_one_and_the_right_mean():
    model = qed.RandomFourierFeatures(gamma=0.3, n_components=4000, random_state=0).fit(X)
    Z = model.transform(X)
    assert Z.shape == (600, 8000)
    np.testing.assert_allclose(np.linalg.norm(Z, axis=1), 1, rtol=1e-12)
    assert np.abs(Z @ Z.T - RBF(0.3)(X)).max() < 0.1
    assert model.certificate_ and qed.certify(model, X)


def test_hoeffding_holds_for_pairs():
    """The share of pairs that err by more than eps is at most 2 exp(-m eps^2 / 2)."""
    errors = []
    for seed in range(200):
        Z = qed.RandomFourierFeatures(0.3, n_components=50, random_state=seed).fit(X[:2]).transform(X[:2])
        errors.append(abs(Z[0] @ Z[1] - RBF(0.3)(X[:2])[0, 1]))
    for eps in (0.2, 0.3, 0.4):
        assert np.mean(np.array(errors) > eps) <= 2 * np.exp(-50 * eps**2 / 2)


def test_the_error_falls_with_the_root_of_the_number_of_waves():
    few, many = (
        np.mean([qed.RandomFourierFeatures(0.3, n_components=m, random_state=s).fit(X).error_ for s in range(10)])
        for m in (50, 800)
    )
    assert 3 < few / many < 5


@pytest.mark.parametrize("attribute", ["random_weights_", "gamma_", "error_"])
def test_the_certificate_of_fourier_features_objects(attribute):
    model = qed.RandomFourierFeatures(random_state=0).fit(X)
    moved = np.array(getattr(model, attribute), dtype=float)
    moved.flat[0] *= 1.001
    setattr(model, attribute, moved if moved.ndim else float(moved))
    assert not qed.certify(model, X)


@pytest.mark.parametrize("model", [qed.Nystroem(n_components=7), qed.RandomFourierFeatures(n_components=7)], ids=repr)
def test_seeds_sparse_float32_names(model):
    first = model.set_params(random_state=3).fit_transform(X)
    np.testing.assert_array_equal(model.fit_transform(X), first)
    np.testing.assert_allclose(model.fit(sparse.csr_array(X)).transform(sparse.csr_array(X)), first, atol=1e-10)
    assert model.fit(X.astype(np.float32)).transform(X.astype(np.float32)).dtype == np.float32
    names = model.get_feature_names_out()
    assert len(names) == first.shape[1] and names[0] == f"{type(model).__name__.lower()}0"
    drawn = model.set_params(random_state=None).fit(X)
    assert qed.certify(drawn, X), "the seed that was drawn is remembered"
    with pytest.raises(InputError, match="NaN"):
        model.fit(np.vstack([X, np.full(4, np.nan)]))


def test_a_linear_model_on_the_features_is_kernel_ridge():
    y = np.sin(X[:, 0]) + X[:, 1]
    kernel = Polynomial(2)
    Z = qed.Nystroem(kernel, n_components=30, random_state=0).fit_transform(X)
    linear = qed.Ridge(alpha=0.5, fit_intercept=False).fit(Z, y).predict(Z)
    K = kernel(X)
    np.testing.assert_allclose(linear, K @ np.linalg.solve(K + 0.5 * np.eye(len(X)), y), atol=1e-6)


def test_a_sample_does_not_depend_on_blocks_and_leaves_out_weightless_rows():
    whole, cut = (rows(X, block_size=size).fold(Sample.of, 50, 9) for size in (600, 37))
    np.testing.assert_array_equal(whole.numbers, cut.numbers)
    np.testing.assert_array_equal(whole.X, X[whole.numbers])
    weight = (np.arange(600) % 3 == 0).astype(float)
    assert (rows(X, sample_weight=weight).fold(Sample.of, 50, 9).numbers % 3 == 0).all()


def test_lots_are_fair():
    """Each row is drawn about as often as any other, and neighbours independently."""
    drawn = np.array([np.argsort(lots(np.arange(20), seed))[:5] for seed in range(2000)])
    counts = np.bincount(drawn.ravel(), minlength=20)
    assert np.sum((counts - 500) ** 2 / 500) < 45
    pairs = np.mean([(7 in row) and (8 in row) for row in drawn])
    assert abs(pairs - 5 * 4 / (20 * 19)) < 0.02
