"""Calibrating, predicting with intervals, what is said of strange rows, exporting, and serving a saved model."""

import json
import subprocess
import sys
from http.client import HTTPConnection
from threading import Thread

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest
from typer.testing import CliRunner

import qed
from qed.base.errors import InputError
from qed.cli import app
from qed.commands.using.serve import Limits, Served, Server


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Write tables of penguins, one of them strange, and models of them."""
    place = tmp_path_factory.mktemp("using")
    table = qed.data.load("penguins").table
    table = table.filter(table["body_mass_g"].is_valid()).take(np.random.default_rng(0).permutation(342))
    pa.csv.write_csv(table.slice(0, 200), place / "fit.csv")
    pa.csv.write_csv(table.slice(200, 80), place / "others.csv")
    new = table.slice(280)
    island, bill = new["island"].to_pylist(), new["bill_length_mm"].to_pylist()
    island[0], bill[1] = "Atlantis", 9000.0
    new = new.set_column(new.column_names.index("island"), "island", pa.array(island))
    new = new.set_column(new.column_names.index("bill_length_mm"), "bill_length_mm", pa.array(bill))
    pa.csv.write_csv(new.drop_columns(["year"]), place / "new.csv")
    mass = qed.TableModel(qed.Ridge()).fit(qed.rows(str(place / "fit.csv"), target="body_mass_g").table())
    qed.save(mass, place / "mass.qed")
    kind = qed.TableModel(qed.LogisticRegression()).fit(qed.rows(str(place / "fit.csv"), target="species").table())
    qed.save(kind, place / "kind.qed")
    X, y = qed.data.load("diabetes").Xy()
    qed.save(qed.Ridge().fit(X, y), place / "plain.qed")
    return place


def run(*words, code=0):
    result = CliRunner().invoke(app, [str(word) for word in words], catch_exceptions=False)
    assert result.exit_code == code, result.output
    return result


def test_strange_rows_are_counted_and_said(folder):
    output = folder / "said.csv"
    with pytest.raises(InputError, match="lacks the column 'year'"):
        from qed.commands.predict import predict

        predict(str(folder / "mass.qed"), str(folder / "new.csv"), str(output))
    found = json.loads(run("predict", folder / "mass.qed", folder / "new.csv", "--fill", "-o", output, "--json").stdout)
    assert found["strange"] == {"unseen": {"island": 1}, "far": {"bill_length_mm": 1}, "empty": {}, "filled": ["year"]}
    notes = run("predict", folder / "mass.qed", folder / "new.csv", "--fill", "-f", "-o", output).stderr
    assert "the column 'year' is not there: it was taken as missing in all 62 rows." in notes
    assert "1 row of 62 has a level of 'island' that the model has not seen, such as 'Atlantis'." in notes
    assert "a value of 'bill_length_mm' more than 10 standard deviations from the mean of the fit" in notes
    usual = run("predict", folder / "mass.qed", folder / "others.csv", "--force", "-o", output)
    assert "note:" not in usual.stderr


def test_older_predictions_are_left_as_they_are(folder, tmp_path):
    output = tmp_path / "out.csv"
    run("predict", folder / "mass.qed", folder / "fit.csv", "-o", output)
    before = output.read_bytes()
    said = run("predict", folder / "mass.qed", folder / "others.csv", "-o", output)
    assert output.read_bytes() == before and (tmp_path / "out-2.csv").read_bytes() != before
    assert "out-2.csv" in said.stdout and "--force overwrites it" in said.stderr
    found = json.loads(run("predict", folder / "mass.qed", folder / "others.csv", "-o", output, "--json").stdout)
    assert found["output"].endswith("out-3.csv")
    run("predict", folder / "mass.qed", folder / "others.csv", "--force", "-o", output)
    assert output.read_bytes() == (tmp_path / "out-2.csv").read_bytes()


def test_a_model_is_calibrated_and_predicts_intervals(folder):
    refused = CliRunner().invoke(
        app, ["predict", str(folder / "mass.qed"), str(folder / "others.csv"), "--interval", "0.9"]
    )
    assert refused.exit_code != 0
    same = run("calibrate", folder / "mass.qed", folder / "fit.csv", "-o", folder / "cv.qed", "--json")
    assert json.loads(same.stdout)["method"] == "cv+"
    other = run("calibrate", folder / "mass.qed", folder / "others.csv", "-o", folder / "split.qed", "--json")
    assert json.loads(other.stdout)["how"] == "fitted before, calibrated by 80 other rows"
    for name in ("cv.qed", "split.qed"):
        output = folder / "intervals.csv"
        run("predict", folder / name, folder / "others.csv", "--interval", "0.9", "--force", "-o", output)
        table = pa.csv.read_csv(output)
        low, middle, high = (table[f"predicted_body_mass_g{end}"].to_numpy() for end in ("_low", "", "_high"))
        assert (low <= middle).all() and (middle <= high).all()
        truth = pa.csv.read_csv(folder / "others.csv")["body_mass_g"].to_numpy()
        # Of 80 rows with a level of 0.9, fewer than 62 are held with a probability below 1e-4.
        assert ((low <= truth) & (truth <= high)).sum() >= 62
    run("certify", folder / "cv.qed", folder / "fit.csv")


def test_sets_of_classes_are_written(folder):
    run("calibrate", folder / "kind.qed", folder / "fit.csv", "-o", folder / "sets.qed")
    run("predict", folder / "sets.qed", folder / "others.csv", "--interval", "0.95", "-o", folder / "sets.csv")
    sets = pa.csv.read_csv(folder / "sets.csv")["predicted_species_set"].to_pylist()
    assert set(" | ".join(sets).split(" | ")) <= {"Adelie", "Chinstrap", "Gentoo"} and all(sets)


def test_a_model_is_exported(folder):
    pytest.importorskip("onnx")
    found = json.loads(run("export", folder / "plain.qed", "--onnx", folder / "plain.onnx", "--json").stdout)
    assert found["outputs"] == ["prediction"] and (folder / "plain.onnx").stat().st_size > 100


@pytest.fixture(scope="module")
def server(folder):
    run("calibrate", folder / "mass.qed", folder / "fit.csv", "-o", folder / "served.qed")
    with Server(Served(qed.load(folder / "served.qed"), Limits(bytes=20_000, rows=50))) as server:
        thread = Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def ask(server, method, path, content=None, headers=None):
    connection = HTTPConnection(*server.server_address, timeout=20)
    body = content if content is None or isinstance(content, bytes) else json.dumps(content).encode()
    usual = {} if body is None else {"Content-Type": "application/json"}
    connection.request(method, path, body, {**usual, **(headers or {})})
    answer = connection.getresponse()
    found = answer.status, json.loads(answer.read())
    connection.close()
    return found


ROW = {
    "species": "Adelie",
    "island": "Biscoe",
    "bill_length_mm": 40.0,
    "bill_depth_mm": 18.0,
    "flipper_length_mm": 190,
    "sex": "male",
    "year": 2008,
}


def test_a_served_model_answers_as_the_model_does(server):
    model = server.served.model
    status, schema = ask(server, "GET", "/schema")
    assert status == 200 and [one["name"] for one in schema["columns"]] == list(model.feature_names_in_)
    assert schema["model"]["intervals"] and schema["limits"]["rows"] == 50
    assert {"Biscoe", "Dream", "Torgersen"} <= set(
        next(one for one in schema["columns"] if one["name"] == "island")["levels"]
    )
    assert ask(server, "GET", "/certificate") == (200, json.loads(json.dumps(model.certificate_.to_dict())))
    rows = [ROW, {**ROW, "island": "Atlantis", "bill_length_mm": None}]
    status, found = ask(server, "POST", "/predict", {"rows": rows, "level": 0.9})
    assert status == 200
    table = qed.rows({name: [row[name] for row in rows] for name in model.feature_names_in_}).table()
    np.testing.assert_allclose(found["predictions"]["predicted_body_mass_g"], model.predict(table), rtol=1e-12)
    ends = model.predict_interval(table, 0.9)
    np.testing.assert_allclose(found["predictions"]["predicted_body_mass_g_low"], ends[:, 0], rtol=1e-12)
    assert "Atlantis" in found["notes"][0]
    listed = [[ROW[name] for name in model.feature_names_in_]]
    assert ask(server, "POST", "/predict", {"rows": listed})[1]["predictions"]["predicted_body_mass_g"][
        0
    ] == pytest.approx(found["predictions"]["predicted_body_mass_g"][0])


@pytest.mark.parametrize(
    ("status", "words", "method", "path", "content", "headers"),
    [
        (404, "There is nothing here", "GET", "/etc/passwd", None, {}),
        (405, "asked for by POST", "GET", "/predict", None, {}),
        (404, "Rows are posted", "POST", "/schema", {}, {}),
        (403, "not the host", "GET", "/schema", None, {"Host": "evil.example:80"}),
        (415, "Send JSON", "POST", "/predict", {"rows": [ROW]}, {"Content-Type": "text/plain"}),
        (413, "At most 20000 bytes", "POST", "/predict", b" " * 30_000, {}),
        (400, "is no JSON", "POST", "/predict", b"{nonsense", {}),
        (400, "is no JSON", "POST", "/predict", b'{"rows": [[NaN]]}', {}),
        (400, "is no JSON", "POST", "/predict", b"[" * 15_000, {}),
        (400, "must be an object", "POST", "/predict", [1, 2], {}),
        (400, "from 1 to 50", "POST", "/predict", {"rows": []}, {}),
        (400, "from 1 to 50", "POST", "/predict", {"rows": [[]] * 51}, {}),
        (400, "lacks 'year'", "POST", "/predict", {"rows": [{n: v for n, v in ROW.items() if n != "year"}]}, {}),
        (400, "which the model does not know", "POST", "/predict", {"rows": [{**ROW, "<b>": 1}]}, {}),
        (400, "different kinds", "POST", "/predict", {"rows": [ROW, {**ROW, "year": "old"}]}, {}),
        (400, "must hold numbers, text", "POST", "/predict", {"rows": [{**ROW, "year": {"a": 1}}]}, {}),
        (400, "level must be", "POST", "/predict", {"rows": [ROW], "level": 2}, {}),
        (400, "level must be", "POST", "/predict", b'{"rows": [{}], "level": 1%s}' % (b"0" * 400), {}),
        (400, "proba must be", "POST", "/predict", {"rows": [ROW], "proba": "x" * 900}, {}),
        (400, "halves of letters", "POST", "/predict", {"rows": [{**ROW, "island": chr(0xD800)}]}, {}),
        (413, "bytes are taken", "POST", "/predict", b"{}", {"Content-Length": "9" * 5000}),
        (501, "Not Implemented", "DELETE", "/predict", None, {}),
        (400, "means nothing", "POST", "/predict", {"rows": [ROW], "path": "/etc"}, {}),
    ],
)
def test_what_is_wrong_gets_a_sentence(server, status, words, method, path, content, headers):
    found, answer = ask(server, method, path, content, headers)
    assert (found, set(answer)) == (status, {"error"}) and words in answer["error"]
    assert "Traceback" not in answer["error"] and len(answer["error"]) < 400


def test_a_model_that_is_served_everywhere_is_reached_by_numbers_and_by_no_other_name(folder):
    with Server(Served(qed.load(folder / "plain.qed")), "0.0.0.0") as server:
        assert server.is_own("192.168.1.7") and server.is_own("LocalHost") and server.is_own("::1")
        assert not server.is_own("evil.example") and not server.is_own("")


def test_more_requests_than_are_taken_at_a_time_are_sent_away(server):
    for _ in range(server.served.limits.at_once):
        assert server.places.acquire(blocking=False)
    assert ask(server, "POST", "/predict", {"rows": [ROW]})[0] == 503
    for _ in range(server.served.limits.at_once):
        server.places.release()
    assert ask(server, "POST", "/predict", {"rows": [ROW]})[0] == 200


def test_models_of_plain_arrays_are_served_too(folder):
    served = Served(qed.load(folder / "plain.qed"))
    X, _ = qed.data.load("diabetes").Xy()
    found = served.predict({"rows": X[:3].tolist()})
    np.testing.assert_allclose(found["predictions"]["prediction"], served.model.predict(X[:3]), rtol=1e-12)
    with pytest.raises(InputError, match="has not been calibrated|no intervals"):
        served.predict({"rows": X[:3].tolist(), "level": 0.9})


def test_the_command_serves_on_this_machine_until_it_is_told_to_end(folder):
    words = [sys.executable, "-m", "qed.cli", "serve", str(folder / "plain.qed"), "--port", "0"]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        line = process.stdout.readline()
        assert line.startswith("serving at http://127.0.0.1:")
        port = int(line.split(":")[2])
        connection = HTTPConnection("127.0.0.1", port, timeout=20)
        connection.request("GET", "/certificate")
        assert json.loads(connection.getresponse().read())["holds"]
    finally:
        process.terminate()
        process.communicate(timeout=20)


def test_holes_where_the_fit_had_none_are_counted_and_said(folder):
    table = pa.csv.read_csv(folder / "others.csv")
    years, bills = table["year"].to_pylist(), table["bill_length_mm"].to_pylist()
    years[3], years[4], bills[5] = None, None, None
    table = table.set_column(table.column_names.index("year"), "year", pa.array(years, pa.int64()))
    pa.csv.write_csv(table, folder / "holed.csv")
    found = run("predict", folder / "mass.qed", folder / "holed.csv", "-o", folder / "out.csv")
    fitted = pa.csv.read_csv(folder / "fit.csv")
    assert fitted["year"].null_count == 0
    assert "2 rows of 80 have no value of 'year', which no row of the fit lacked." in " ".join(found.output.split())
    whole = run("predict", folder / "mass.qed", folder / "fit.csv", "-o", folder / "out.csv")
    assert "no value" not in whole.output


def test_a_file_that_is_read_from_is_not_written_over(folder):
    data = folder / "kept.csv"
    data.write_bytes((folder / "others.csv").read_bytes())
    for words in (["predict", folder / "mass.qed", data], ["calibrate", folder / "mass.qed", data]):
        assert "is read from, and can not be written as well" in run(*words, "-o", data, code=2).output
    pattern = str(folder / "kep*.csv")
    assert "is read from" in run("predict", folder / "mass.qed", pattern, "-o", data, code=2).output
    assert data.read_bytes() == (folder / "others.csv").read_bytes()
