"""Processes that are killed, disks that are full and files that are damaged: no fit is lost, no wrong state is taken up."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import qed
from qed.base.errors import InputError, SavingError, SourceError
from qed.base.running.steps import Reason, Step
from qed.base.saving.checkpoint import load_checkpoint, save_checkpoint

DATA = """
import numpy as np
generator = np.random.default_rng(3)
X = generator.normal(size=(3000, 5)) * np.logspace(0, 0.6, 5)
y = X @ np.ones(5) + generator.normal(size=3000)
"""
namespace: dict[str, Any] = {}
exec(DATA, namespace)
X, y = namespace["X"], namespace["y"]
MODELS = {
    "KMeans": 'qed.KMeans(12, random_state=1, tol=0.0, n_init=3, init="random")',
    "GradientRidge": 'qed.GradientRidge(alpha=2.0, method="steepest", tol=1e-8)',
}
LEARNED = {"KMeans": ("cluster_centers_", "labels_", "inertia_"), "GradientRidge": ("coef_", "intercept_")}


def make(name: str) -> Any:
    return eval(MODELS[name])


def fit(name: str) -> Any:
    return make(name).fit(X, y)


def assert_same_fit(name: str, first: Any, second: Any) -> None:
    for attribute in LEARNED[name]:
        assert np.array_equal(getattr(first, attribute), getattr(second, attribute)), attribute
    assert first.n_iter_ == second.n_iter_ and first.ending_.reason is second.ending_.reason
    assert first.certificate_.to_dict() == second.certificate_.to_dict()


def child(script: str, *arguments: Any) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", script, *(str(argument) for argument in arguments)],
        capture_output=True,
        text=True,
        timeout=120,
    )


KILLED = (
    DATA
    + """
import os, signal, sys
import qed

def die(step):
    if step.number == 7:
        os.kill(os.getpid(), signal.SIGKILL)

path, code = sys.argv[1:]
with qed.watch(checkpoint=path, every=0, call=die):
    eval(code).fit(X, y)
"""
)
GO_ON = (
    DATA
    + """
import sys
import qed

path, code, result = sys.argv[1:]
with qed.watch(checkpoint=path) as seen:
    model = eval(code).fit(X, y)
print(seen.trace.records[0]["number"])
qed.save(model, result)
"""
)


def test_a_killed_fit_goes_on_and_ends_bit_for_bit_as_if_unbroken(tmp_path: Path) -> None:
    path, result = tmp_path / "fit.qed", tmp_path / "model.qed"
    killed = child(KILLED, path, MODELS["KMeans"])
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    resumed = child(GO_ON, path, MODELS["KMeans"], result)
    assert resumed.returncode == 0, resumed.stderr
    # The watcher that kills at step 7 is asked before that step is written.
    assert resumed.stdout == "7\n"
    whole = fit("KMeans")
    assert whole.n_iter_ > 10
    assert_same_fit("KMeans", qed.load(result), whole)
    assert_same_fit("KMeans", qed.resume(path, X, y), whole)


def test_a_fit_killed_while_writing_keeps_the_checkpoint_before(tmp_path: Path) -> None:
    path = tmp_path / "fit.qed"
    script = (
        DATA
        + """
import os, signal, sys
import qed

path, code = sys.argv[1:]
replace = os.replace
written = 0
def dying(source, target):
    global written
    # Compiled kernels may be put in their cache meanwhile, by the same function.
    written += os.fspath(target) == path
    if written == 5:
        os.truncate(source, 100)
        os.kill(os.getpid(), signal.SIGKILL)
    replace(source, target)
os.replace = dying
with qed.watch(checkpoint=path, every=0):
    eval(code).fit(X, y)
"""
    )
    killed = child(script, path, MODELS["KMeans"])
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    assert len(list(tmp_path.iterdir())) == 2
    with qed.watch() as seen:
        assert_same_fit("KMeans", qed.resume(path, X), fit("KMeans"))
    assert seen.traces[0].records[0]["number"] == 4


def test_a_fit_without_a_seed_goes_on_with_the_seed_it_had(tmp_path: Path) -> None:
    path, copy = tmp_path / "fit.qed", tmp_path / "copy.qed"
    with qed.watch(checkpoint=path, call=lambda step: step.number == 2), pytest.warns(UserWarning):
        qed.KMeans(12, tol=0.0).fit(X)
    copy.write_bytes(path.read_bytes())
    assert_same_fit("KMeans", qed.resume(path, X), qed.resume(copy, X))


@pytest.mark.parametrize("name", MODELS)
def test_a_finished_checkpoint_gives_the_same_model_at_once(name: str, tmp_path: Path) -> None:
    path = tmp_path / "fit.qed"
    with qed.watch(checkpoint=path):
        model = fit(name)
    assert model.ending_.reason is Reason.CERTIFIED
    content = path.read_bytes()
    with qed.watch(call=lambda step: pytest.fail("a step was made")):
        assert_same_fit(name, qed.resume(path, X, y), model)
    assert path.read_bytes() == content


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("stop", [0, 1, 5, 9])
def test_wherever_a_fit_stops_it_goes_on_bit_for_bit(name: str, stop: int, tmp_path: Path) -> None:
    path = tmp_path / "fit.qed"
    with qed.watch(checkpoint=path, call=lambda step: step.number == stop), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fit(name)
    with qed.threads(1):
        assert_same_fit(name, qed.resume(path, X, y), fit(name))


def test_more_iterations_or_another_tolerance_go_on_from_the_checkpoint(tmp_path: Path) -> None:
    path = tmp_path / "fit.qed"
    with qed.watch(checkpoint=path), pytest.warns(UserWarning, match="Try max_iter=50"):
        make("GradientRidge").set_params(max_iter=5).fit(X, y)
    with qed.watch(checkpoint=path) as seen:
        model = make("GradientRidge").fit(X, y)
    assert seen.trace.records[0]["number"] == 6
    assert_same_fit("GradientRidge", model, fit("GradientRidge"))
    with qed.watch(checkpoint=path) as seen:
        stricter = make("GradientRidge").set_params(tol=1e-10).fit(X, y)
    assert seen.trace.records[0]["number"] == model.n_iter_ + 1 and stricter.certificate_


@pytest.fixture
def checkpoint(tmp_path: Path) -> Path:
    path = tmp_path / "fit.qed"
    with qed.watch(checkpoint=path, call=lambda step: step.number == 4), pytest.warns(UserWarning):
        fit("GradientRidge")
    return path


@pytest.mark.parametrize(
    ("model", "data", "words"),
    [
        (qed.GradientRidge(alpha=3.0, method="steepest"), None, "alpha was 2.0 and is 3.0 now"),
        (qed.GradientRidge(alpha=2.0), None, "method was 'steepest' and is 'conjugate' now"),
        (qed.KMeans(3, random_state=0), None, "it is of a GradientRidge, and this is a KMeans"),
        (None, (X[:-1], y[:-1]), "3000 rows then, 2999 now"),
        (None, (X[:, :4], y), "5 columns then, 4 now"),
        (None, (X + 1, y), "other values in 5 of 5 columns"),
        (None, (X, -y), "another target"),
        (None, (X, y[::-1].copy()), "another target"),
        (None, (X, y, np.full(3000, 2.0)), "total weight 3000 then, 6000 now"),
    ],
)
def test_a_checkpoint_of_another_fit_is_refused(checkpoint: Path, model: Any, data: Any, words: str) -> None:
    before = checkpoint.read_bytes()
    with qed.watch(checkpoint=checkpoint), pytest.raises(InputError, match=words) as caught:
        (model or make("GradientRidge")).fit(*(data or (X, y)))
    assert "Delete or rename the file" in str(caught.value) and str(checkpoint) in str(caught.value)
    if data is not None:
        with pytest.raises(InputError, match=words):
            qed.resume(checkpoint, *data)
    assert checkpoint.read_bytes() == before


def test_labels_are_part_of_the_fingerprint() -> None:
    from qed.base.models.fingerprint import Fingerprint, target_sums
    from qed.base.summary import Summary

    def fingerprint(labels: Any) -> Fingerprint:
        rows = qed.rows(X, labels)
        found: Fingerprint = rows.fold(Summary.of).fingerprint(rows.fold(target_sums))
        return found

    labels = np.where(X[:, 0] > 0, "yes", "no")
    flipped = labels.copy()
    flipped[5] = "no" if labels[5] == "yes" else "yes"
    known = fingerprint(labels)
    assert known.matches(fingerprint(labels.astype(object)))
    assert not known.matches(fingerprint(flipped)) and not known.matches(fingerprint(labels[::-1].copy()))


def test_damaged_checkpoints_are_refused(checkpoint: Path) -> None:
    content = checkpoint.read_bytes()
    for damaged in (
        content[:-10],
        content[:200],
        b"",
        content[: len(content) // 2] + b"\0" + content[len(content) // 2 + 1 :],
    ):
        checkpoint.write_bytes(damaged)
        with pytest.raises(SavingError, match="Could not load"):
            qed.resume(checkpoint, X, y)
        with qed.watch(checkpoint=checkpoint), pytest.raises(SavingError):
            fit("GradientRidge")
        assert checkpoint.read_bytes() == damaged


def test_models_and_checkpoints_are_not_mixed_up(checkpoint: Path, tmp_path: Path) -> None:
    with pytest.raises(SavingError, match=r"qed\.resume"):
        qed.load(checkpoint)
    saved = tmp_path / "model.qed"
    qed.save(qed.Ridge().fit(X, y), saved)
    with pytest.raises(SavingError, match="holds a model, not a checkpoint"):
        qed.resume(saved, X, y)
    with qed.watch(checkpoint=saved), pytest.raises(SavingError):
        fit("GradientRidge")
    assert isinstance(qed.load(saved), qed.Ridge)
    with pytest.raises(SourceError, match="Check the path"):
        qed.resume(tmp_path / "nowhere.qed", X, y)


def test_a_checkpoint_needs_no_file_and_holds_a_step(tmp_path: Path) -> None:
    model = fit("GradientRidge")
    assert load_checkpoint(tmp_path / "none.qed", model, model.fingerprint_) is None
    save_checkpoint(tmp_path / "one.qed", model, model.fingerprint_, Step(1.0, None, 3, w=np.ones(2)))
    step = load_checkpoint(tmp_path / "one.qed", model, model.fingerprint_)
    assert step is not None and (step.number, step.objective) == (3, 1.0) and np.array_equal(step.w, np.ones(2))
    save_checkpoint(tmp_path / "none.qed", model, model.fingerprint_, None)
    with pytest.raises(SavingError, match="does not hold the state of a fit"):
        load_checkpoint(tmp_path / "none.qed", model, model.fingerprint_)


# A full disk, as the kernel reports it: files may not grow beyond a limit.

FULL = (
    DATA
    + """
import resource, sys, warnings
import qed
from qed.base.errors import SourceError

warnings.simplefilter("ignore")
model = qed.KMeans(200, random_state=0, max_iter=3).fit(X)
resource.setrlimit(resource.RLIMIT_FSIZE, (3000, 3000))
try:
    qed.save(model, sys.argv[1])
except SourceError as error:
    print(error)
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    with qed.watch(checkpoint=sys.argv[2], every=0):
        model.fit(X)
print(model.n_iter_, len(model.predict(X)), [str(one.message) for one in caught])
"""
)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="limits of file sizes are a matter of POSIX")
def test_a_full_disk_is_a_clear_error_that_loses_neither_the_old_model_nor_the_fit(tmp_path: Path) -> None:
    path = tmp_path / "model.qed"
    qed.save(qed.Ridge().fit(X, y), path)
    before = path.read_bytes()
    process = child(FULL, path, tmp_path / "fit.qed")
    assert process.returncode == 0, process.stderr
    saving, fitting = process.stdout.splitlines()
    assert saving.startswith(f"Could not write {path}: File too large.") and "Free some space" in saving
    assert fitting.startswith("3 3000 ") and "goes on without a new checkpoint" in fitting
    assert "Exception ignored" not in process.stderr
    assert path.read_bytes() == before and list(tmp_path.iterdir()) == [path]


def test_a_process_killed_while_saving_leaves_the_old_model(tmp_path: Path) -> None:
    path = tmp_path / "model.qed"
    qed.save(qed.Ridge(alpha=1.0).fit(X, y), path)
    script = (
        DATA
        + """
import os, signal, sys
import qed
os.fsync = lambda descriptor: os.kill(os.getpid(), signal.SIGKILL)
qed.save(qed.Ridge(alpha=2.0).fit(X, y), sys.argv[1])
"""
    )
    assert child(script, path).returncode == -signal.SIGKILL
    assert qed.load(path).alpha == 1.0


def test_a_truncated_model_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "model.qed"
    qed.save(qed.Ridge().fit(X, y), path)
    os.truncate(path, path.stat().st_size // 2)
    with pytest.raises(SavingError, match=r"model\.qed: it is damaged or not a file of qed"):
        qed.load(path)
