"""What the tests of the doors share: a way to run commands, and one comparison to look at from all sides."""

import json
from contextlib import contextmanager

import pytest
from typer.testing import CliRunner

import qed
from qed.cli import app
from qed.selection.comparing import contenders as contending
from qed.trees.boosting.model import BOOSTING_GRID


class Doors:
    """Runs commands inside this process."""

    def __call__(self, *words):
        return CliRunner().invoke(app, [str(word) for word in words])

    def json(self, *words):
        found = self(*words, "--json")
        assert found.exit_code == 0, found.stderr
        return json.loads(found.stdout)

    def refused(self, *words):
        """Give the one sentence with which a command refuses its input."""
        found = self(*words)
        assert found.exit_code == 2, (found.exit_code, found.output)
        assert found.stdout == ""
        assert found.stderr.count("\n") == 1 and found.stderr.startswith("qed: "), found.stderr
        assert "Traceback" not in found.stderr
        return found.stderr.removeprefix("qed: ").strip()


@pytest.fixture(scope="session", autouse=True)
def short():
    """Let comparisons grow few trees: what is tested is how models take part and are shown, not how well they do."""
    with pytest.MonkeyPatch.context() as patch:
        # The last two lie close together: where the best is the last, the grid is continued by their ratio.
        patch.setitem(BOOSTING_GRID, "max_iter", [2, 4, 5])
        for kind in (qed.RandomForestClassifier, qed.RandomForestRegressor):
            patch.setattr(kind, "compare_grid", {**kind.compare_grid, "n_estimators": [3]})
        yield


@contextmanager
def few_compete():
    names = ("MajorityClassifier", "LogisticRegression", "GaussianNB", "MeanRegressor", "Ridge", "LinearRegression")
    kinds = contending._kinds

    def fitted_at_once(task):
        return [one for one in kinds(task) if task == "clustering" or one.__name__ in names]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(contending, "_kinds", fitted_at_once)
        yield


@pytest.fixture
def few():
    """Let only models compete that are fitted at once: what is tested is the comparison, whoever takes part."""
    with few_compete():
        yield


@pytest.fixture(scope="session")
def among_few():
    """Give a way to do so for a part of a test."""
    return few_compete


@pytest.fixture(scope="session")
def run():
    return Doors()


@pytest.fixture(scope="session")
def compared(run, tmp_path_factory):
    """The demo: penguins, with its report and its model."""
    folder = tmp_path_factory.mktemp("compared")
    found = run(
        "compare", "penguins", "--target", "species", "--report", folder / "report.html", "--model", folder / "best.qed"
    )
    assert found.exit_code == 0, found.output
    return folder, found.stdout


@pytest.fixture(scope="session")
def linear(tmp_path_factory):
    """The file of a linear model for penguins, whose parts are known, whoever wins a comparison."""
    path = tmp_path_factory.mktemp("linear") / "linear.qed"
    model = qed.TableModel(qed.LogisticRegression(C=0.1))
    qed.save(model.fit(qed.rows(qed.data.load("penguins").table, target="species")), path)
    return path
