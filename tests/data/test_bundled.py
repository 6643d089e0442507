"""The bundled data sets are what they are known to be, and the doors to them work."""

import importlib.util
import json
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

import qed.data
from qed.base.errors import ParameterError, QedError

FILES = Path(qed.data.__file__).parent / "files"
TOOL = Path(__file__).parents[2] / "tools" / "make_data.py"


@pytest.fixture(params=qed.data.names())
def dataset(request):
    return qed.data.load(request.param)


def column(name, column):
    return np.array(qed.data.load(name).table.column(column).to_pylist(), dtype=float)


def counts(name, column):
    return {row["values"]: row["counts"] for row in qed.data.load(name).table[column].value_counts().to_pylist()}


def least_squares(name):
    X, y = qed.data.load(name).Xy()
    return np.linalg.lstsq(np.column_stack([np.ones(len(X)), X]), y)[0]


def test_catalogue_describes_the_tables(dataset):
    about = dataset.about
    assert dataset.table.shape == (about.rows, about.columns)
    assert set(about.targets) <= set(dataset.table.column_names)
    assert about.task in {"classification", "regression", "multi-output regression"}
    for words in (about.title, about.source, about.licence, about.description):
        assert words == words.strip() and len(words) > 5
    assert about.description.count(".") == 1 and about.description.endswith(".")


def test_columns_have_plain_names_and_types(dataset):
    for field in dataset.table.schema:
        assert field.name.isidentifier() and field.name == field.name.lower()
        assert field.type in (pa.float64(), pa.int64(), pa.string())


def test_Xy_has_the_shapes_and_types_of_the_task(dataset):
    X, y = dataset.Xy()
    assert X.shape == (dataset.about.rows, len(dataset.numeric_features))
    assert X.dtype == np.float64
    assert y.shape[0] == len(X) and y.ndim == (1 if isinstance(dataset.target, str) else 2)
    assert y.dtype == np.float64 if "regression" in dataset.task else y.dtype.kind in "Ui"
    assert not set(dataset.about.targets) & set(dataset.features)


def test_path_is_the_file(dataset):
    assert parquet.read_table(dataset.path).equals(dataset.table)


def test_only_penguins_have_missing_values():
    lacking = [name for name in qed.data.names() if any(c.null_count for c in qed.data.load(name).table.columns)]
    assert lacking == ["penguins"]


def test_catalogue_names_and_files_agree():
    assert qed.data.names() == [about.name for about in qed.data.catalogue()]
    assert qed.data.names() == sorted(path.stem for path in FILES.glob("*.parquet"))
    assert json.loads(json.dumps([asdict(about) for about in qed.data.catalogue()]))


def test_package_stays_small():
    assert sum(path.stat().st_size for path in FILES.iterdir()) < 400_000


def test_iris():
    X, _ = qed.data.load("iris").Xy()
    assert X.shape == (150, 4)
    np.testing.assert_allclose(X.mean(axis=0), [5.843333, 3.057333, 3.758, 1.199333], atol=1e-6)
    assert counts("iris", "species") == {"setosa": 50, "versicolor": 50, "virginica": 50}
    assert X[34].tolist() == [4.9, 3.1, 1.5, 0.2] and X[37].tolist() == [4.9, 3.6, 1.4, 0.1]


def test_wine():
    assert counts("wine", "cultivar") == {"class_0": 59, "class_1": 71, "class_2": 48}
    assert column("wine", "alcohol").mean() == pytest.approx(13.000618, abs=1e-6)
    assert column("wine", "proline").mean() == pytest.approx(746.893258, abs=1e-6)


def test_breast_cancer():
    assert counts("breast_cancer", "diagnosis") == {"malignant": 212, "benign": 357}
    assert column("breast_cancer", "mean_radius").mean() == pytest.approx(14.127292, abs=1e-6)


def test_digits():
    X, y = qed.data.load("digits").Xy()
    assert X.shape == (1797, 64) and X.min() == 0 and X.max() == 16
    assert np.bincount(y).tolist() == [178, 182, 177, 183, 181, 182, 181, 179, 174, 180]


def test_diabetes_is_in_original_units():
    X, y = qed.data.load("diabetes").Xy()
    assert y.mean() == pytest.approx(152.133484, abs=1e-6)
    assert X[0].tolist() == [59, 2, 32.1, 101, 157, 93.2, 38, 4, 4.8598, 87]


def test_linnerud():
    X, y = qed.data.load("linnerud").Xy()
    np.testing.assert_allclose(X.mean(axis=0), [9.45, 145.55, 70.3])
    np.testing.assert_allclose(y.mean(axis=0), [178.6, 35.4, 56.1])


def test_penguins():
    penguins = qed.data.load("penguins")
    measured = ["bill_length_mm", "bill_depth_mm", "flipper_length_mm", "body_mass_g"]
    assert [penguins.table.column(name).null_count for name in measured] == [2, 2, 2, 2]
    assert counts("penguins", "species") == {"Adelie": 152, "Gentoo": 124, "Chinstrap": 68}
    assert counts("penguins", "sex") == {"male": 168, "female": 165, None: 11}
    X, _ = penguins.Xy()
    bare = np.isnan(X[:, :4]).all(axis=1)
    assert np.flatnonzero(bare).tolist() == [3, 271]
    assert np.isnan(X).any(axis=1).sum() == 2
    means = np.nanmean(X[:, :4], axis=0)
    np.testing.assert_allclose(means, [43.92193, 17.15117, 200.915205, 4201.754386], atol=1e-5)


def test_penguins_without_missing_rows():
    X, y = qed.data.load("penguins").Xy(drop_missing=True)
    assert X.shape == (342, 5) and y.shape == (342,) and np.isfinite(X).all()


def test_longley_gives_the_certified_coefficients_of_nist():
    certified = [
        -3482258.63459582, 15.0618722713733, -0.358191792925910e-01, -2.02022980381683,
        -1.03322686717359, -0.511041056535807e-01, 1829.15146461355,
    ]  # fmt: skip
    np.testing.assert_allclose(least_squares("longley"), certified, rtol=1e-7)


def test_stackloss_gives_the_textbook_coefficients():
    np.testing.assert_allclose(least_squares("stackloss"), [-39.9197, 0.7156, 1.2953, -0.1521], atol=5e-5)


def test_engel_gives_the_textbook_coefficients():
    np.testing.assert_allclose(least_squares("engel"), [147.47539, 0.48518], rtol=1e-5)


def test_anes96():
    assert counts("anes96", "vote") == {"Clinton": 551, "Dole": 393}
    assert np.bincount(column("anes96", "party").astype(int)).tolist() == [200, 180, 108, 37, 94, 150, 175]


@pytest.mark.parametrize(
    ("wrong", "right"), [("penguin", "penguins"), ("Iris", "iris"), ("breast-cancer", "breast_cancer")]
)
def test_unknown_name_suggests_close_ones(wrong, right):
    with pytest.raises(ParameterError, match=rf"Did you mean .*{right}"):
        qed.data.load(wrong)


@pytest.mark.parametrize("name", ["zzzzzz", "", None, 3, ["iris"], "../files/iris"])
def test_unknown_name_lists_all(name):
    with pytest.raises(ParameterError, match=r"Choose one of: anes96, .*wine"):
        qed.data.load(name)


def test_to_pandas_and_polars_keep_the_table():
    penguins = qed.data.load("penguins")
    assert penguins.to_pandas().shape == penguins.to_polars().shape == (344, 8)
    assert penguins.to_pandas()["sex"].isna().sum() == penguins.to_polars()["sex"].null_count() == 11


@pytest.mark.parametrize("package", ["pandas", "polars"])
def test_missing_package_is_named(package, monkeypatch):
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(QedError, match=f"pip install {package}"):
        getattr(qed.data.load("iris"), f"to_{package}")()


def test_dataset_is_frozen_and_short_to_print():
    iris = qed.data.load("iris")
    with pytest.raises(AttributeError):
        iris.table = None
    assert len(repr(iris)) < 800 and "setosa" not in repr(iris)


def test_importing_reads_nothing_heavy():
    code = "import sys, qed.data; print([m for m in ('pyarrow', 'pandas', 'polars') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_unknown_attribute_of_the_module():
    with pytest.raises(AttributeError, match="nonsense"):
        _ = qed.data.nonsense
    assert callable(qed.data.synthetic.linear)


def test_files_are_what_the_script_writes(tmp_path, capsys):
    spec = importlib.util.spec_from_file_location("make_data", TOOL)
    tool = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tool)
    tool.main(tmp_path)
    assert "in all" in capsys.readouterr().out
    for name in qed.data.names():
        assert parquet.read_table(tmp_path / f"{name}.parquet").equals(qed.data.load(name).table)
