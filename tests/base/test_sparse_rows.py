"""Sparse rows are sparse whoever hands them on: a matrix, rows of it, a part of them, and rows through something give the same."""

import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.utils import get_tags

import qed
from qed.base.errors import InputError
from qed.base.sources.block import Block
from qed.features.stream import changed
from qed.stats.parts import Part
from tests.conformance.specimens import estimators, specimen, target_for

RNG = np.random.default_rng(0)
DENSE = np.where(RNG.random((240, 6)) < 0.4, RNG.gamma(2.0, size=(240, 6)), 0.0)
S = sparse.csr_array(DENSE)
NUMBER = DENSE @ [1.0, -2.0, 0.5, 0.0, 0.0, 3.0] + RNG.standard_normal(240)
LABEL = (np.median(NUMBER) < NUMBER).astype(int)
NAMES = sorted(estimators())


def _itself(block: Block) -> Block:
    return block


def views(y):
    """Give the same sparse rows in the ways in which they can come."""
    data = qed.rows(S, y)
    twice = sparse.vstack([S, sparse.csr_array(np.full(S.shape, 7.0))], format="csr")
    both = qed.rows(twice, None if y is None else np.concatenate([y, y]), block_size=50)
    return {
        "rows": data,
        "blocks": qed.rows(S, y, block_size=50),
        "part": Part(both, np.arange(480) < 240),
        "through": data.through(_itself),
        "part of through": Part(both.through(_itself), np.arange(480) < 240),
    }


def learned(model):
    found = {name: value for name, value in model._attributes().items() if isinstance(value, (np.ndarray, float))}
    found.pop("refit_time_", None)
    return {name: np.asarray(value) for name, value in found.items() if np.asarray(value).dtype.kind in "fiu"}


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.sampled(3)
def test_every_model_takes_or_refuses_sparse_rows_alike(name):
    model = specimen(name)
    y = target_for(model, NUMBER, LABEL)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            expected = specimen(name).fit(S, y)
        except InputError as error:
            expected = error
        for kind, data in views(y).items():
            if isinstance(expected, InputError):
                with pytest.raises(InputError) as caught:
                    specimen(name).fit(data)
                assert "sparse" in str(caught.value) or str(caught.value) == str(expected), kind
                continue
            found = specimen(name).fit(data)
            wanted, got = learned(expected), learned(found)
            assert wanted.keys() == got.keys()
            for attribute in wanted:
                scale = 1 + np.abs(wanted[attribute]).max(initial=0.0)
                np.testing.assert_allclose(
                    got[attribute], wanted[attribute], rtol=1e-7, atol=1e-7 * scale, err_msg=f"{kind}: {attribute}"
                )
    if not isinstance(expected, InputError):
        assert get_tags(model).input_tags.sparse


@pytest.mark.parametrize("name", ["MinMaxScaler", "FeatureMap", "GeneralizedLeastSquares"])
def test_refusals_are_clear_through_views(name):
    model = specimen(name)
    for data in views(target_for(model, NUMBER, LABEL)).values():
        with pytest.raises(InputError, match=f"{name} does not take sparse input: give it a dense array"):
            specimen(name).fit(data)


def test_a_scaler_says_what_to_do():
    for data in (S, *views(None).values()):
        with pytest.raises(InputError, match="with_mean=False"):
            qed.StandardScaler().fit(data)
        scaled = qed.StandardScaler(with_mean=False).fit(data)
        np.testing.assert_allclose(scaled.transform(data).toarray(), DENSE / DENSE.std(axis=0), rtol=1e-12)
        assert qed.certify(scaled, data)


@pytest.mark.parametrize("transformer", [qed.PolynomialFeatures(2), qed.StandardScaler(with_mean=False)])
def test_transformers_keep_views_sparse(transformer):
    wanted = transformer.fit(S).transform(S).toarray()
    for kind, data in views(NUMBER).items():
        found = transformer.fit(data).transform(data)
        assert sparse.issparse(found), kind
        np.testing.assert_allclose(found.toarray(), wanted, rtol=1e-12)
        lazy = changed(transformer, data)
        assert lazy.is_sparse and all(sparse.issparse(block.X) for block in lazy.blocks())
        np.testing.assert_allclose(lazy.cached().array().X.toarray(), wanted, rtol=1e-12)
        assert lazy.cached().is_sparse


@pytest.mark.parametrize("model", [qed.LogisticRegression(C=0.3), qed.Ridge(0.5), qed.Lasso(0.1), qed.HuberRegressor()])
def test_cross_validation_and_search_give_the_same_scores(model):
    y = target_for(model, NUMBER, LABEL)
    wanted = qed.cross_validate(model, S, y, cv=4)["test_score"]
    found = qed.cross_validate(model, qed.rows(S, y), cv=4)["test_score"]
    np.testing.assert_allclose(found, wanted, rtol=1e-8)
    name = "C" if "C" in model.get_params() else "alpha"
    grid = {name: [0.1, 1.0, 10.0]}
    wanted = qed.Search(model, grid, cv=3).fit(S, y)
    found = qed.Search(model, grid, cv=3).fit(qed.rows(S, y))
    np.testing.assert_allclose(
        found.cv_results_["mean_test_score"], wanted.cv_results_["mean_test_score"], rtol=1e-7, atol=1e-9
    )
    assert found.best_params_ == wanted.best_params_


def test_sparse_formats_come_in_alike():
    wanted = qed.Ridge().fit(S, NUMBER).coef_
    for form in ("csc", "coo", "lil", "dok", "bsr"):
        for data in (S.asformat(form), sparse.csr_matrix(S).asformat(form)):
            np.testing.assert_allclose(qed.Ridge().fit(data, NUMBER).coef_, wanted, rtol=1e-12)
            np.testing.assert_allclose(qed.Ridge().fit(qed.rows(data, NUMBER)).coef_, wanted, rtol=1e-12)
    for bad in (sparse.coo_array(DENSE[:, 0]), S.astype(complex)):
        for fit in (lambda bad: qed.Ridge().fit(bad, NUMBER), lambda bad: qed.Ridge().fit(qed.rows(bad, NUMBER))):
            with pytest.raises(InputError, match="Expected 2D array|Complex data not supported"):
                fit(bad)


def test_blocks_of_a_sparse_table_are_views():
    X = sparse.random_array((40, 7), density=0.3, rng=np.random.default_rng(0), format="csr")
    whole = Block(X, np.arange(40.0))
    for start, stop in ((0, 40), (3, 17), (17, 17), (35, 60)):
        part = whole.between(start, stop)
        np.testing.assert_array_equal(part.X.toarray(), X.toarray()[start:stop])
        assert part.X.shape == (len(part.y), 7) and (part.X.nnz == 0 or np.shares_memory(part.X.data, X.data))
    np.testing.assert_array_equal(Block(X.tocsc()).between(5, 9).X.toarray(), X.toarray()[5:9])
