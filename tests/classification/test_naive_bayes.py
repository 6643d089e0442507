"""Naive Bayes on data that go wrong: the compiled passes and their plain twins, negative counts, levels that are none."""

import numpy as np
import pytest

import qed
from qed.base.errors import InputError
from qed.base.sources.block import Block
from qed.base.summary import Summary
from qed.stats.by_class import ByClass
from qed.stats.classes.columns import summary_by_class, sums_by_class


def block(n=3000, p=12, k=4, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)) * 10.0 ** rng.integers(-3, 4, p) + 10.0 ** rng.integers(-3, 8, p)
    return Block(X, rng.integers(k, size=n), rng.integers(0, 3, n).astype(float))


def test_spreads_by_class_are_those_of_each_class():
    given = block()
    found, wanted = summary_by_class(given), ByClass.of(given, Summary.of)
    assert found.classes.tolist() == wanted.classes.tolist()
    for one, two in zip(found, wanted):
        assert one.count == two.count
        spread = np.sqrt(two.variance)
        np.testing.assert_allclose(one.weight, two.weight)
        # A mean of n numbers rounds n times at most; its digits below those of the column are noise in both.
        assert (np.abs(one.mean - two.mean) <= 3000 * np.finfo(float).eps * (spread + np.abs(two.mean))).all()
        np.testing.assert_allclose(one.variance, two.variance, rtol=1e-7)


@pytest.mark.parametrize("above", [None, 0.5])
def test_sums_by_class_are_those_of_each_class(above):
    rng = np.random.default_rng(0)
    X, y, weight = rng.poisson(0.5, size=(4000, 20)).astype(float), rng.integers(3, size=4000), rng.integers(0, 3, 4000)
    found = sums_by_class(Block(X, y, weight.astype(float)), above)
    marked = X if above is None else (above < X).astype(float)
    for k, part in enumerate(found):
        np.testing.assert_array_equal(part.total, weight[y == k] @ marked[y == k])
        assert part.weight == weight[y == k].sum() and part.count == (weight[y == k] > 0).sum()


@pytest.mark.parametrize("kind", [qed.BernoulliNB, qed.MultinomialNB, qed.GaussianNB, qed.CategoricalNB])
@pytest.mark.parametrize("n", [30, 9000])
def test_missing_values_are_refused_by_row_and_column(kind, n):
    X, y = np.ones((n, 5)), np.arange(n) % 2
    X[17, 3] = np.nan
    with pytest.raises(InputError, match="column number 3, row 17"):
        kind().fit(X, y)


@pytest.mark.parametrize("kind", [qed.MultinomialNB, qed.CategoricalNB])
def test_counts_below_zero_are_refused(kind):
    X = np.ones((10, 3))
    X[4, 1] = -2
    with pytest.raises(InputError, match="row 4, column 1"):
        kind().fit(X, np.arange(10) % 2)


def test_amounts_are_no_levels():
    with pytest.raises(InputError, match="column 1 holds 1e\\+09"):
        qed.CategoricalNB().fit([[0, 1e9], [1, 2]], [0, 1])


def test_a_column_that_does_not_vary_does_no_harm():
    X = np.column_stack([np.full(20, 3.0), np.arange(20.0)])
    y = (np.arange(20) > 9).astype(int)
    assert qed.GaussianNB().fit(X, y).score(X, y) == 1.0
    model = qed.GaussianNB(var_smoothing=0).fit(X[:, :1], y)
    assert model.certificate_ and np.isfinite(model.predict_proba(X[:, :1])).all()
