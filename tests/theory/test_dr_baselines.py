"""dr-baselines: columns at random, columns that vary most, and what PCA keeps."""

import numpy as np
import pytest
from scipy import sparse

import qed
from qed.base.numbers import EPS


def cloud(seed, n=200, p=6):
    generator = np.random.default_rng(seed)
    return generator.standard_normal((n, p)) @ generator.standard_normal((p, p)) + 5.0


@pytest.mark.parametrize("k", [1, 3, 6])
def test_top_variance_keeps_the_largest(k):
    """Theory: the top k of column variances."""
    X = cloud(0)
    model = qed.TopVariance(k).fit(X)
    wanted = np.sort(np.argsort(-X.var(axis=0))[:k])
    np.testing.assert_array_equal(model.get_support(indices=True), wanted)
    np.testing.assert_array_equal(model.transform(X), X[:, wanted])
    np.testing.assert_allclose(model.variances_, X.var(axis=0), rtol=1e-12)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("k", [1, 2, 4])
def test_pca_keeps_more_than_columns_do(seed, k):
    """Theory: captured variance PCA_k >= top-k columns >= random columns on average, which is k / p."""
    X = cloud(seed)
    pca = qed.PCA(k).fit(X).explained_variance_ratio_.sum()
    top = qed.TopVariance(k).fit(X).captured_
    drawn = [qed.RandomColumns(k, random_state=s).fit(X).captured_ for s in range(200)]
    assert pca >= top - 64 * EPS and top >= max(drawn) - 64 * EPS
    # Two hundred draws of numbers between 0 and 1: five standard deviations of their mean.
    assert np.mean(drawn) == pytest.approx(k / 6, abs=5 * np.std(drawn) / 200**0.5 + 1e-12)


def test_redundant_columns_are_kept_both():
    """Pitfall: two columns that vary much and are the same are both kept, where PCA needs one direction for them."""
    generator = np.random.default_rng(1)
    first = 10 * generator.standard_normal(300)
    X = np.column_stack([first, first, generator.standard_normal(300)])
    assert qed.TopVariance(2).fit(X).support_.tolist() == [True, True, False]
    assert qed.PCA(2).fit(X).explained_variance_ratio_.sum() == pytest.approx(1, abs=64 * EPS)


def test_columns_go_back_to_their_places():
    X = cloud(2)
    model = qed.RandomColumns(3, random_state=4).fit(X)
    back = model.inverse_transform(model.transform(X))
    np.testing.assert_array_equal(back[:, model.support_], X[:, model.support_])
    assert not back[:, ~model.support_].any()
    with pytest.raises(ValueError, match="more than the 6 columns"):
        qed.TopVariance(7).fit(X)


@pytest.mark.parametrize("kind", [qed.TopVariance, qed.RandomColumns])
def test_columns_of_sparse_rows_go_back_and_stay_sparse(kind):
    X = sparse.random_array((20, 8), density=0.4, random_state=1, format="csr")
    for k in (1, 3, 8):
        model = kind(k).set_params(**({"random_state": 2} if kind is qed.RandomColumns else {})).fit(X)
        back = model.inverse_transform(model.transform(X))
        assert sparse.issparse(back) and back.format == "csr"
        np.testing.assert_array_equal(back.toarray(), np.where(model.support_, X.toarray(), 0.0))
