"""What CONTRIBUTING says is enough to add a model is enough: its text is taken at its word."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
NAME, ROOM, FILE = "NearestCentroid", "classification", "nearest_centroid"
LINE = f'"{FILE}": ["{NAME}"],'


def code() -> str:
    found = re.search(r"```python\n(.*?)```", (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8"), re.DOTALL)
    assert found is not None
    return found.group(1)


@pytest.fixture(scope="module")
def house(tmp_path_factory) -> dict[str, str]:
    """Copy the library, add the file and the line, and give an environment in which that copy is imported."""
    source = tmp_path_factory.mktemp("house") / "src"
    shutil.copytree(ROOT / "src" / "qed", source / "qed")
    (source / "qed" / ROOM / f"{FILE}.py").write_text(code(), encoding="utf-8")
    registry = source / "qed" / ROOM / "__init__.py"
    registry.write_text(
        registry.read_text(encoding="utf-8").replace("    {\n", f"    {{\n        {LINE}\n", 1), encoding="utf-8"
    )
    return {**os.environ, "PYTHONPATH": str(source)}


def run(house: dict[str, str], *words: str) -> str:
    done = subprocess.run([sys.executable, *words], cwd=ROOT, env=house, capture_output=True, text=True, timeout=500)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
    return done.stdout


def test_the_model_is_short_and_the_line_is_as_said():
    assert code().count("\n") <= 50
    assert f"`{LINE}`" in (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")


def test_it_is_held_to_conformance(house):
    told = run(house, "-m", "pytest", "-q", "-m", "", "-p", "no:cacheprovider", "tests/conformance", "-k", NAME)
    passed = re.search(r"(\d+) passed", told)
    assert passed is not None and int(passed.group(1)) >= 60 and "failed" not in told


def test_it_is_saved_compared_and_documented_without_another_edit(house, tmp_path):
    run(
        house,
        "-c",
        f"""
import sys
sys.path.insert(0, "docs/_ext")
import numpy as np
import qed
from qed.selection.comparing.contenders import contenders
X, y = qed.data.load("iris").Xy()
model = qed.{NAME}().fit(X, y)
assert model.certificate_ and model.score(X, y) > 0.9
qed.save(model, {str(tmp_path / "model.qed")!r})
again = qed.load({str(tmp_path / "model.qed")!r})
assert (again.predict(X) == model.predict(X)).all() and qed.certify(again, X, y)
assert any(isinstance(one.model, qed.{NAME}) for one in contenders("classification", 150, 4))
assert "{NAME}" in qed.{ROOM}.__all__ and "{NAME}" in dir(qed)
parts = qed.{NAME}().partial_fit(X[:60], y[:60]).partial_fit(X[60:], y[60:]).forget(X[:5], y[:5])
assert np.allclose(parts.centroids_, qed.{NAME}().fit(X[5:], y[5:]).centroids_, atol=1e-12)
""",
    )
