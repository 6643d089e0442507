"""StandardScaler and MinMaxScaler: digits, weights, blocks, files, unlearning, and what they prove."""

from fractions import Fraction

import numpy as np
import pytest
from scipy import sparse
from sklearn import preprocessing

import qed
from qed.base.errors import InputError, NotAvailableError, ParameterError
from qed.base.sources.rows import ArrayRows
from qed.features.stream import changed


@pytest.fixture
def X():
    rng = np.random.default_rng(0)
    return rng.normal(size=(500, 4)) * [1, 10, 0.1, 3] + [0, 5, -2, 100]


@pytest.mark.parametrize("with_mean", [True, False])
@pytest.mark.parametrize("with_std", [True, False])
def test_standard_agrees_with_scikit_learn(X, with_mean, with_std):
    ours = qed.StandardScaler(with_mean=with_mean, with_std=with_std).fit(X)
    theirs = preprocessing.StandardScaler(with_mean=with_mean, with_std=with_std).fit(X)
    np.testing.assert_allclose(ours.transform(X), theirs.transform(X), rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(ours.inverse_transform(ours.transform(X)), X, rtol=1e-12)
    for name in ("mean_", "var_", "scale_"):
        assert (getattr(ours, name) is None) == (getattr(theirs, name) is None)
    assert ours.n_samples_seen_ == 500
    assert ours.certificate_ and qed.certify(ours, X)


@pytest.mark.parametrize("range_", [(0, 1), (-1, 1), (2, 5)])
def test_minmax_agrees_with_scikit_learn(X, range_):
    ours, theirs = qed.MinMaxScaler(range_).fit(X), preprocessing.MinMaxScaler(range_).fit(X)
    np.testing.assert_allclose(ours.transform(X), theirs.transform(X), rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(ours.inverse_transform(ours.transform(X)), X, rtol=1e-11)
    for name in ("scale_", "min_", "data_min_", "data_max_", "data_range_"):
        np.testing.assert_allclose(getattr(ours, name), getattr(theirs, name), rtol=1e-13)
    assert ours.certificate_ and qed.certify(ours, X)


@pytest.mark.parametrize("offset", [1e9, 1e12, 1e15])
@pytest.mark.parametrize("n", [200, 30_000])
def test_a_huge_offset_costs_no_digits(offset, n):
    rng = np.random.default_rng(1)
    small = rng.integers(0, 8, size=(n, 3)).astype(float)
    shifted = offset + small
    scaler = qed.StandardScaler().fit(shifted)
    exact = [Fraction(n * int((x**2).sum()) - int(x.sum()) ** 2, n**2) for x in small.T]
    np.testing.assert_allclose(scaler.var_, [float(variance) for variance in exact], rtol=1e-13)
    np.testing.assert_allclose(scaler.mean_, offset + small.mean(axis=0), rtol=3e-16)
    assert qed.certify(scaler, shifted)
    scaled = qed.MinMaxScaler().fit_transform(shifted)
    np.testing.assert_allclose(scaled, small / 7, atol=1e-15)


def test_columns_that_do_not_vary(X):
    X = np.column_stack([X, np.full(500, 0.1), np.zeros(500), np.full(500, 1e8)])
    scaler = qed.StandardScaler().fit(X)
    assert scaler.scale_[4:].tolist() == [1, 1, 1]
    assert np.abs(scaler.transform(X)[:, 4:]).max() < 1e-7
    assert qed.certify(scaler, X)
    assert (qed.MinMaxScaler((2, 3)).fit_transform(X)[:, 4:] == 2).all()


@pytest.mark.parametrize("scaler", [qed.StandardScaler(), qed.MinMaxScaler()])
def test_float32_stays_and_is_computed_in_double(X, scaler):
    single = X.astype(np.float32)
    made = scaler.fit(single).transform(single)
    assert made.dtype == np.float32 and scaler.inverse_transform(made).dtype == np.float32
    wide = single.astype(np.float64)
    np.testing.assert_allclose(made, type(scaler)().fit_transform(wide), rtol=1e-6)


@pytest.mark.parametrize("scaler", [qed.StandardScaler, qed.MinMaxScaler])
def test_weight_is_repetition_and_zero_weight_is_absence(X, scaler):
    weight = np.random.default_rng(3).integers(0, 4, 500)
    weighted = scaler().fit(X, sample_weight=weight)
    repeated = scaler().fit(np.repeat(X, weight, axis=0))
    np.testing.assert_allclose(weighted.scale_, repeated.scale_, rtol=1e-12)
    np.testing.assert_allclose(weighted.transform(X), repeated.transform(X), rtol=1e-11, atol=1e-12)
    assert qed.certify(weighted, X, sample_weight=weight)


@pytest.mark.parametrize("scaler", [qed.StandardScaler, qed.MinMaxScaler])
def test_parts_add_up(X, scaler):
    whole = scaler().fit(X)
    parts = scaler().partial_fit(X[:100]).partial_fit(X[100:130]).partial_fit(X[130:])
    np.testing.assert_allclose(parts.scale_, whole.scale_, rtol=1e-12)
    assert parts.n_samples_seen_ == 500


def test_standard_forgets_rows_and_minmax_says_why_not(X):
    kept = qed.StandardScaler().fit(X[:300])
    forgot = qed.StandardScaler().fit(X).forget(X[300:])
    np.testing.assert_allclose(forgot.mean_, kept.mean_, rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(forgot.scale_, kept.scale_, rtol=1e-11)
    assert qed.certify(forgot, X[:300])
    with pytest.raises(NotAvailableError, match="fit it anew"):
        qed.MinMaxScaler().fit(X).forget(X[:3])


def test_forgetting_all_that_varied_leaves_a_constant_column():
    X = np.array([[5.0], [5.0], [5.0], [9.0]])
    assert qed.StandardScaler().fit(X).forget(X[3:]).scale_.tolist() == [1.0]


@pytest.mark.parametrize("scaler", [qed.StandardScaler, qed.MinMaxScaler])
def test_threads_and_blocks(X, scaler):
    rows = ArrayRows(np.tile(X, (40, 1)), size=1024)
    with qed.threads(1):
        one = scaler().fit(rows)
    with qed.threads(3):
        three = scaler().fit(rows)
        made = three.transform(rows)
    np.testing.assert_array_equal(one.scale_, three.scale_)
    np.testing.assert_array_equal(made, one.transform(np.tile(X, (40, 1))))
    np.testing.assert_allclose(one.scale_, scaler().fit(X).scale_, rtol=1e-12)


@pytest.mark.parametrize("scaler", [qed.StandardScaler, qed.MinMaxScaler])
def test_files_and_dask(X, scaler, tmp_path):
    import dask.array
    import pandas

    frame = pandas.DataFrame(X, columns=list("abcd"))
    frame.to_parquet(tmp_path / "rows.parquet")
    path = str(tmp_path / "rows.parquet")
    wanted = scaler().fit(frame)
    found = scaler().fit(path)
    np.testing.assert_allclose(found.scale_, wanted.scale_, rtol=1e-14)
    np.testing.assert_allclose(found.transform(path), wanted.transform(frame), rtol=1e-12, atol=1e-14)
    assert found.get_feature_names_out().tolist() == list("abcd")
    assert qed.certify(found, path)
    spread = scaler().fit(dask.array.from_array(X, chunks=(128, 4)))
    np.testing.assert_allclose(spread.scale_, wanted.scale_, rtol=1e-13)


def test_a_moved_number_breaks_the_claim(X):
    for name in ("mean_", "scale_"):
        scaler = qed.StandardScaler().fit(X)
        getattr(scaler, name)[1] *= 1.001
        assert not qed.certify(scaler, X)
    for name in ("data_min_", "scale_", "min_", "data_max_"):
        scaler = qed.MinMaxScaler().fit(X)
        getattr(scaler, name)[1] *= 1.001
        assert not qed.certify(scaler, X)


def test_sparse_needs_no_shift(X):
    matrix = sparse.random_array((300, 5), density=0.2, rng=0, format="csr")
    scaler = qed.StandardScaler(with_mean=False).fit(matrix)
    wanted = preprocessing.StandardScaler(with_mean=False).fit(matrix)
    np.testing.assert_allclose(scaler.scale_, wanted.scale_, rtol=1e-12)
    made = scaler.transform(matrix)
    assert sparse.issparse(made)
    np.testing.assert_allclose(made.toarray(), wanted.transform(matrix).toarray())
    np.testing.assert_allclose(scaler.inverse_transform(made).toarray(), matrix.toarray())
    assert qed.certify(scaler, matrix)
    with pytest.raises(InputError, match="with_mean=False"):
        qed.StandardScaler().fit(matrix)


def test_bad_input_is_named(X):
    import pandas

    frame = pandas.DataFrame(X.copy(), columns=list("abcd"))
    frame.loc[7, "c"] = np.inf
    for scaler in (qed.StandardScaler(), qed.MinMaxScaler()):
        with pytest.raises(InputError, match=r"infinity: column 'c', row 7"):
            scaler.fit(frame)
        with pytest.raises(InputError, match=r"infinity: column number 2, row 7"):
            scaler.fit(X).transform(np.asarray(frame))
    with pytest.raises(InputError, match="squares overflow"):
        qed.StandardScaler().fit([[1e200], [-1e200]])
    with pytest.raises(InputError, match="squares vanish"):
        qed.StandardScaler().fit([[1e-200], [-1e-200]])
    np.testing.assert_allclose(qed.MinMaxScaler().fit_transform([[1e200], [-1e200]]), [[1], [0]])
    for column in ([[1.5e308], [-1.5e308]], [[0.0], [1e-310]]):
        with pytest.raises(InputError, match="varies by more than the largest number, or by less"):
            qed.MinMaxScaler().fit(column)
    with pytest.raises(InputError, match="overflow"):
        qed.StandardScaler().fit([[0.0], [1e-5]]).transform([[1e305]])
    with pytest.raises(ParameterError, match="feature_range"):
        qed.MinMaxScaler((1, 0)).fit(X)


def test_clip(X):
    scaler = qed.MinMaxScaler(clip=True).fit(X)
    assert scaler.transform(X * 10).max() == 1 and scaler.transform(X * 10).min() == 0


def test_frames_and_names(X):
    import pandas

    frame = pandas.DataFrame(X, columns=list("abcd"))
    made = qed.StandardScaler().set_output(transform="pandas").fit_transform(frame)
    assert list(made.columns) == list("abcd")


@pytest.mark.parametrize("kind", [qed.StandardScaler, qed.MinMaxScaler])
@pytest.mark.parametrize("rows", [40, 20_000])
def test_missing_values_are_passed_over_and_stay_missing(kind, rows):
    X = np.random.default_rng(0).standard_normal((rows, 4)) + 3.0
    X[::7, 1] = np.nan
    X[:, 2] = np.nan
    scaler = kind().fit(X)
    made = scaler.transform(X)
    np.testing.assert_array_equal(np.isnan(made), np.isnan(X))
    there = ~np.isnan(X[:, 1])
    alone = kind().fit(X[there][:, [1]])
    # One division and one subtraction apart, of numbers of the size of the columns.
    np.testing.assert_allclose(made[there, 1], alone.transform(X[there][:, [1]]).ravel(), rtol=0, atol=1e-13)
    assert scaler.n_samples_seen_.tolist() == [rows, there.sum(), 0, rows]
    assert bool(scaler.certificate_) and bool(qed.certify(scaler, X))
    halves = kind().partial_fit(X[: rows // 2]).partial_fit(X[rows // 2 :])
    np.testing.assert_allclose(halves.scale_, scaler.scale_, rtol=1e-12)
    np.testing.assert_allclose(scaler.inverse_transform(made), X, rtol=1e-12)


@pytest.mark.parametrize("kind", [qed.StandardScaler, qed.MinMaxScaler])
def test_a_scaler_of_holes_is_saved_and_its_damage_noticed(kind, tmp_path):
    X = np.random.default_rng(0).standard_normal((40, 3)) + 3.0
    X[::7, 1] = X[3, 0] = np.nan
    X[:, 2] = np.nan
    scaler = kind().fit(X)
    assert scaler.n_samples_seen_.dtype.kind == "i"
    qed.save(scaler, tmp_path / "scaler.qed")
    loaded = qed.load(tmp_path / "scaler.qed")
    assert qed.certify(loaded, X)
    for name, value in vars(scaler).items():
        if name.endswith("_") and isinstance(value, np.ndarray):
            for column, wrong in ((0, np.nan), (1, 1.5), (2, 0.5)):
                damaged = value.astype(float)
                damaged[column] = wrong
                setattr(loaded, name, damaged)
                assert not qed.certify(loaded, X), (name, column)
            setattr(loaded, name, value)
    with pytest.raises(InputError, match="contains infinity: column number 0, row 3"):
        qed.certify(loaded, np.where(np.isnan(X) & (np.arange(3) == 0), np.inf, X))


@pytest.mark.parametrize("weighted", [False, True])
def test_a_column_of_which_all_is_forgotten_is_empty(weighted):
    random = np.random.default_rng(0)
    X, weight = random.standard_normal((40, 2)), random.random(40) if weighted else None
    X[20:, 1] = np.nan
    first, second = (None, None) if weight is None else (weight[:20], weight[20:])
    scaler = qed.StandardScaler().fit(X, sample_weight=weight).forget(X[:20], sample_weight=first)
    assert np.isnan(scaler.mean_[1]) and scaler.scale_[1] == 1.0 and scaler.n_samples_seen_[1] == 0
    assert scaler.certificate_ and qed.certify(scaler, X[20:], sample_weight=second)


@pytest.mark.parametrize("value", [0.3, 1e20, -7e-100, 1.7e9])
def test_rounding_of_a_constant_column_is_not_stretched(value):
    X = np.full((9, 2), value)
    X[4, 0] = np.nextafter(value, np.inf)
    X[:, 1] += np.arange(9) * abs(value) * 1e-12
    for kind in (qed.StandardScaler, qed.MinMaxScaler):
        scaler = kind().fit(X)
        made = scaler.transform(X)
        assert np.ptp(made[:, 0]) <= 4 * np.finfo(float).eps * max(1.0, abs(value))
        assert np.ptp(made[:, 1]) > 0.5
        assert bool(scaler.certificate_) and bool(qed.certify(scaler, X))
    both = np.vstack([X, X + 1.0])
    forgot = qed.StandardScaler().fit(both).forget(X + 1.0)
    np.testing.assert_array_equal(forgot.scale_[0], qed.StandardScaler().fit(X).scale_[0])


@pytest.mark.parametrize("weighted", [False, True])
def test_constant_sparse_columns_are_not_stretched(weighted):
    X, random = sparse.csr_array(np.full((100, 1), 100.0)), np.random.default_rng(0)
    scaler = qed.StandardScaler(with_mean=False).fit(X, sample_weight=random.random(100) if weighted else None)
    assert scaler.scale_.tolist() == [1.0] and bool(qed.certify(scaler, X) or weighted)


def test_infinity_in_a_sparse_table_is_refused_when_it_is_read():
    scaler = qed.StandardScaler(with_mean=False).fit(sparse.eye_array(4, format="csr"))
    bad = sparse.csr_array(np.diag([1.0, 2.0, np.inf, np.nan]))
    for read in (lambda: scaler.transform(bad), lambda: changed(scaler, bad).array()):
        with pytest.raises(InputError, match="contains infinity: column number 2, row 2"):
            read()
