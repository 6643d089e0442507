"""``qed predict``, ``certify``, ``explain``, ``datasets`` and ``warmup``."""

import io

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.feather
import pyarrow.parquet as pq
import pytest

import qed
from qed.base.compile import COMPILED
from qed.commands.certify import certify
from qed.commands.predict import predict


@pytest.fixture(scope="module")
def penguins():
    return qed.data.load("penguins").table


def test_predictions_of_the_command_are_those_of_python(run, compared, penguins, tmp_path):
    folder, _ = compared
    model, features = qed.load(folder / "best.qed"), penguins.drop(["species"])
    assert run("predict", folder / "best.qed", "penguins", "-o", tmp_path / "p.parquet", "--proba").exit_code == 0
    found = pq.read_table(tmp_path / "p.parquet")
    assert found["predicted_species"].to_pylist() == model.predict(features).tolist()
    chances = np.column_stack([found[f"probability_{name}"].to_numpy() for name in model.classes_])
    np.testing.assert_array_equal(chances, model.predict_proba(features))


def test_predictions_do_not_depend_on_the_batches_or_the_order_of_columns(compared, penguins, tmp_path, monkeypatch):
    folder, _ = compared
    shuffled = penguins.select([*reversed(penguins.column_names)]).append_column("row", pa.array(range(len(penguins))))
    pq.write_table(shuffled, tmp_path / "new.parquet")
    monkeypatch.setattr("qed.commands.predict.BATCH_ROWS", 50)
    found = predict(str(folder / "best.qed"), str(tmp_path / "new.parquet"), str(tmp_path / "p.feather"), keep=["row"])
    assert found[:2] == (344, ["row", "predicted_species"]) and not found.strange.notes()
    table = pyarrow.feather.read_table(tmp_path / "p.feather")
    assert table["row"].to_pylist() == list(range(344))
    assert (
        table["predicted_species"].to_pylist()
        == qed.load(folder / "best.qed").predict(penguins.drop(["species"])).tolist()
    )


def test_without_an_output_predictions_are_printed_as_csv(run, compared):
    found = run("predict", compared[0] / "best.qed", "penguins", "--keep", "island")
    assert found.exit_code == 0 and found.stderr == ""
    table = pyarrow.csv.read_csv(io.BytesIO(found.stdout.encode()))
    assert table.shape == (344, 2) and table.column_names == ["island", "predicted_species"]


def test_predict_tells_machines_what_it_wrote(run, compared, tmp_path):
    found = run.json("predict", compared[0] / "best.qed", "penguins", "-o", tmp_path / "p.csv")
    assert found == {"rows": 344, "columns": ["predicted_species"], "output": str(tmp_path / "p.csv")}


def test_certify_recomputes_the_proof_and_knows_the_data(run, compared):
    found = run("certify", compared[0] / "best.qed", "penguins")
    assert found.exit_code == 0
    kind = type(qed.load(compared[0] / "best.qed").model_).__name__
    assert f"{kind}, checked on 344 rows: the data it was fitted on" in found.stdout
    assert found.stdout.rstrip().endswith("∎")
    told = run.json("certify", compared[0] / "best.qed", "penguins")
    assert told["holds"] and told["same_data"] and told["certificate"]["source"] == "data" and told["rows"] == 344


def test_certify_objects_to_a_tampered_model(run, linear, tmp_path):
    model = qed.load(linear)
    place = np.unravel_index(np.abs(model.model_.coef_).argmax(), model.model_.coef_.shape)
    model.model_.coef_[place] *= 1.001
    qed.save(model, tmp_path / "tampered.qed")
    found = run("certify", tmp_path / "tampered.qed", "penguins")
    assert found.exit_code == 1 and "NO" in found.stdout and "not proven\nThese are the data of the fit" in found.stdout
    told = run("certify", tmp_path / "tampered.qed", "penguins", "--json")
    assert told.exit_code == 1 and '"holds": false' in told.stdout


@pytest.mark.parametrize("part, attribute", [(0, "fill"), (1, "mean_")])
def test_certify_objects_to_a_tampered_encoding(run, linear, tmp_path, part, attribute):
    model = qed.load(linear)
    if part == 1:
        model.changes_[1].mean_[0] += 0.01
    else:
        column = next(c for c in model.changes_[0].columns_ if hasattr(c, "fill"))
        object.__setattr__(column, "fill", column.fill * 1.01)
    qed.save(model, tmp_path / "tampered.qed")
    assert run("certify", tmp_path / "tampered.qed", "penguins").exit_code == 1


def test_certify_says_when_the_data_are_others(run, compared, penguins, tmp_path):
    pq.write_table(penguins.slice(0, 300), tmp_path / "fewer.parquet")
    found = run("certify", compared[0] / "best.qed", tmp_path / "fewer.parquet")
    assert found.exit_code == 1 and "not the data it was fitted on: 344 rows then, 300 now" in found.stdout


def test_models_made_in_python_are_certified_and_used_too(run, tmp_path):
    data = qed.data.load("stackloss")
    model = qed.LinearRegression().fit(qed.rows(data.table, target="stack_loss"))
    qed.save(model, tmp_path / "m.qed")
    found = certify(str(tmp_path / "m.qed"), "stackloss", "stack_loss")
    assert found.certificate and not found.difference
    out = tmp_path / "p.csv"
    assert run("predict", tmp_path / "m.qed", "stackloss", "-o", out).exit_code == 0
    np.testing.assert_allclose(pyarrow.csv.read_csv(out)["prediction"].to_numpy(), model.predict(data.Xy()[0]))
    assert "--target" in run.refused("certify", tmp_path / "m.qed", "stackloss")


def test_explain_says_what_a_model_is(run, linear):
    text = run("explain", linear).stdout
    assert text.startswith("LogisticRegression for 'species', fitted on 344 rows\nparameters  C=")
    assert "coefficient" in text and "Chinstrap" in text and "bill_length_mm" in text
    assert "Standard errors are not defined with C=" in text
    assert "a number; 2 missing, filled with the mean" in text and text.rstrip().endswith("∎")
    short = run("explain", linear, "--most", 2).stdout
    assert "more, smaller" in short


def test_explain_gives_the_importances_of_a_tree(run, penguins, tmp_path):
    model = qed.TableModel(qed.DecisionTreeClassifier()).fit(qed.rows(penguins, target="species"))
    qed.save(model, tmp_path / "tree.qed")
    found = run.json("explain", tmp_path / "tree.qed")
    assert found["measure"] == "importance" and found["outputs"] == ["share of all"]
    shares = [one["standardised"][0] for one in found["effects"]]
    assert shares == sorted(shares, reverse=True) and sum(shares) == pytest.approx(1.0)
    assert {one["name"] for one in found["effects"]} == {*penguins.column_names} - {"species"}
    text = run("explain", tmp_path / "tree.qed").stdout
    assert found["rules"][0].startswith("If flipper_length_mm is ") and "island is Biscoe, then 'Gentoo'" in text
    assert "|--- flipper_length_mm <= 206.50" in text
    assert "importance" in text and "coefficient" not in text and "2 missing, which stay so" in text
    assert run("certify", tmp_path / "tree.qed", "penguins").exit_code == 0


def test_explain_orders_coefficients_by_what_a_deviation_of_the_column_does(run, tmp_path):
    generator = np.random.default_rng(0)
    X = generator.standard_normal((200, 3)) * [1.0, 100.0, 0.01]
    table = pa.table({"a": X[:, 0], "wide": X[:, 1], "narrow": X[:, 2], "y": X @ [1.0, 0.05, 50.0]})
    for name, model in {
        "plain": qed.LinearRegression().fit(qed.rows(table, target="y")),
        "table": qed.TableModel(qed.LinearRegression()).fit(qed.rows(table, target="y")),
    }.items():
        qed.save(model, tmp_path / f"{name}.qed")
        found = run.json("explain", tmp_path / f"{name}.qed")
        assert [one["name"] for one in found["effects"]] == ["wide", "a", "narrow"]
        assert [one["per_unit"][0] for one in found["effects"]] == pytest.approx([0.05, 1.0, 50.0])
        assert "std. error" in found["inference"] and found["certificate"]["holds"]


def test_datasets_are_listed_and_written(run, tmp_path):
    text = run("datasets").stdout
    assert "penguins" in text and "Palmer penguins" in text
    listed = run.json("datasets")
    assert [one["name"] for one in listed] == qed.data.names() and listed[0]["target"] == ["vote"]
    assert "Fisher 1936" in run("datasets", "iris").stdout and run.json("datasets", "iris")["rows"] == 150
    found = run.json("datasets", "penguins", "-o", tmp_path / "p.csv")
    assert found["rows"] == 344
    again = qed.rows(tmp_path / "p.csv").table().array().X
    assert again.column_names == qed.data.load("penguins").table.column_names and again["sex"].null_count == 11


def test_warmup_fits_models_and_says_which_kernels_are_ready(run, monkeypatch):
    chosen = [("Ridge", qed.Ridge()), ("PolynomialFeatures", qed.PolynomialFeatures())]
    monkeypatch.setattr("qed.commands.warmup.models", lambda: iter(chosen))
    found = run.json("warmup")
    assert [one["model"] for one in found["models"]] == ["Ridge", "PolynomialFeatures"]
    assert all(one["seconds"] > 0 for one in found["models"])


@pytest.mark.slow
def test_warmup_compiles_every_kernel_that_stands_alone(run):
    found = run.json("warmup")
    assert {"Ridge", "KMeans", "ColumnEncoder"} <= {one["model"] for one in found["models"]}
    entered = {
        "visit",
        "_sum_tiles",
        "_summarise_panel",
        "expand",
        "affine_rows",
        "dense_squares",
        "hash_dense",
        "add_rows",
    }
    ready = {kernel.py_func.__name__ for kernel in COMPILED if kernel.signatures}
    assert entered <= ready


def test_the_version_is_told(run):
    assert run("--version").stdout == f"qed {qed.__version__}\n"


def test_explain_says_which_columns_matter(run, linear):
    found = run.json("explain", linear, "penguins")
    columns = [one["column"] for one in found["importances"]["columns"]]
    assert "bill_length_mm" in columns[:2] and found["importances"]["score"] > 0.95
    words = run("explain", linear, "penguins", "--most", 2).stdout
    assert "what is lost when a column is shuffled" in words and "score lost" in words
    assert "no column" in run.refused("explain", linear, "iris", "--target", "species")
