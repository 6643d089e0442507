"""Text counts and mixed tables follow their laws, and every generator is reproducible."""

import numpy as np
import pyarrow as pa
import pytest
from scipy import sparse

from qed.base.errors import ParameterError
from qed.data import synthetic
from qed.data.synthetic import mixed_table, sparse_text

CALLS = {
    "ar1_noise": lambda seed: synthetic.ar1_noise(20, 0.5, random_state=seed),
    "ma_noise": lambda seed: synthetic.ma_noise(20, [1.0, 0.5], random_state=seed),
    "blobs": lambda seed: synthetic.blobs(20, random_state=seed),
    "checkerboard": lambda seed: synthetic.checkerboard(20, flip=0.2, random_state=seed),
    "classes": lambda seed: synthetic.classes(20, random_state=seed),
    "collinear": lambda seed: synthetic.collinear(20, random_state=seed),
    "ellipse": lambda seed: synthetic.ellipse(20, noise=0.1, random_state=seed),
    "line": lambda seed: synthetic.line(20, random_state=seed),
    "linear": lambda seed: synthetic.linear(20, 3, rho=0.5, n_informative=2, random_state=seed),
    "logistic": lambda seed: synthetic.logistic(20, 3, random_state=seed),
    "mixed_table": lambda seed: synthetic.mixed_table(20, random_state=seed),
    "moons": lambda seed: synthetic.moons(20, random_state=seed),
    "noise": lambda seed: synthetic.noise(20, family="laplace", random_state=seed),
    "noise_model": lambda seed: synthetic.noise_model(np.sin, np.arange(20), random_state=seed),
    "polynomial": lambda seed: synthetic.polynomial(20, random_state=seed),
    "rings": lambda seed: synthetic.rings(20, random_state=seed),
    "sinusoid": lambda seed: synthetic.sinusoid(20, random_state=seed),
    "softmax_classes": lambda seed: synthetic.softmax_classes(20, 3, random_state=seed),
    "sparse_text": lambda seed: synthetic.sparse_text(20, 50, random_state=seed),
    "xor": lambda seed: synthetic.xor(20, noise=0.1, random_state=seed),
}


def plain(drawn):
    """Make whatever a generator gave comparable."""
    if isinstance(drawn, tuple):
        return [plain(part) for part in drawn]
    if isinstance(drawn, pa.Table):
        return drawn.to_pydict()
    return (drawn.toarray() if sparse.issparse(drawn) else drawn).tolist()


def test_every_generator_is_called_here():
    assert set(CALLS) == set(synthetic.__all__) - {"ar1_covariance", "ma_covariance"}


@pytest.mark.parametrize("name", CALLS)
def test_seeds_reproduce(name):
    draw = CALLS[name]
    assert plain(draw(7)) == plain(draw(7))
    assert plain(draw(7)) == plain(draw(np.random.default_rng(7)))
    assert plain(draw(7)) != plain(draw(8))
    assert plain(draw(None)) != plain(draw(None))


@pytest.mark.parametrize("name", CALLS)
def test_generator_goes_on(name):
    random = np.random.default_rng(0)
    assert plain(CALLS[name](random)) != plain(CALLS[name](random))


@pytest.mark.parametrize("name", CALLS)
def test_bad_seed_is_refused(name):
    with pytest.raises(ParameterError, match="random_state"):
        CALLS[name](1.5)


def test_sparse_text_is_canonical_counts():
    X, y = sparse_text(300, 500, length=30, random_state=0)
    assert X.format == "csr" and X.dtype == np.int64 and X.shape == (300, 500)
    assert X.has_canonical_format and X.data.min() >= 1
    assert y.shape == (300,) and set(y.tolist()) == {0, 1, 2, 3}


def test_sparse_text_lengths_and_words():
    X, y, truth = sparse_text(4000, 100, length=30, random_state=0, return_truth=True)
    lengths = np.asarray(X.sum(axis=1)).ravel()
    assert lengths.min() >= 1 and lengths.mean() == pytest.approx(30, abs=4 * np.sqrt(29 / 4000))
    np.testing.assert_allclose(truth["probability"].sum(axis=1), 1.0)
    for label in range(4):
        found = np.asarray(X[y == label].sum(axis=0)).ravel()
        expected = found.sum() * truth["probability"][label]
        chi2 = ((found - expected) ** 2 / expected).sum()
        assert abs(chi2 - 99) < 5 * np.sqrt(2 * 99)


def test_sparse_text_without_contrast_has_one_law():
    _, _, truth = sparse_text(5, 50, contrast=0.0, random_state=0, return_truth=True)
    np.testing.assert_allclose(truth["probability"], truth["probability"][[0, 0, 0, 0]])


def test_mixed_table_types():
    table = mixed_table(50, random_state=0)
    kinds = {field.name: str(field.type) for field in table.schema}
    assert kinds == {
        "listing": "string",
        "area": "double",
        "rooms": "int64",
        "city": "string",
        "heating": "dictionary<values=string, indices=int32, ordered=0>",
        "balcony": "bool",
        "listed": "date32[day]",
        "seen": "timestamp[s]",
        "rent": "double",
    }
    assert len(set(table["listing"].to_pylist())) == 50


def test_mixed_table_holes():
    table = mixed_table(4000, missing=0.2, random_state=0)
    for name in table.column_names:
        rate = table[name].null_count / 4000
        assert rate == (0 if name in ("listing", "rent") else pytest.approx(0.2, abs=4 * 0.4 / np.sqrt(4000)))
    assert all(column.null_count == 0 for column in mixed_table(50, missing=0.0, random_state=0).columns)
    assert mixed_table(50, missing=1.0, random_state=0)["city"].null_count == 50


def test_mixed_table_truth():
    table, truth = mixed_table(2000, noise=10.0, random_state=0, return_truth=True)
    complete = truth["complete"]
    for name in table.column_names:
        pairs = zip(table[name].to_pylist(), complete[name].to_pylist())
        assert all(seen is None or seen == whole for seen, whole in pairs)
    assert (complete["rent"].to_numpy() - truth["mean"]).std() == pytest.approx(10, rel=0.1)
    cities = np.array(complete["city"].to_pylist())
    names, codes = np.unique(cities, return_inverse=True)
    numbers = [complete[name].to_numpy(zero_copy_only=False).astype(float) for name in ("area", "rooms", "balcony")]
    design = np.column_stack([*numbers, np.eye(len(names))[codes]])
    effects = np.linalg.lstsq(design, truth["mean"])[0]
    np.testing.assert_allclose(effects, [9, 40, 60, 320, 360, 290, 400, 200], rtol=1e-9)


@pytest.mark.parametrize(
    ("make", "name"),
    [
        (lambda: sparse_text(0), "n must be a whole number"),
        (lambda: sparse_text(5, length=0.5), "length must be a finite number >= 1"),
        (lambda: sparse_text(5, contrast=-1), "contrast"),
        (lambda: sparse_text(5, priors=[1.0]), "priors must have shape 4"),
        (lambda: mixed_table(-1), "n must be a whole number"),
        (lambda: mixed_table(5, missing=1.1), "missing must be a finite number >= 0 and <= 1"),
        (lambda: mixed_table(5, noise=np.inf), "noise"),
    ],
)
def test_bad_parameters_are_named(make, name):
    with pytest.raises(ParameterError, match=name):
        make()
