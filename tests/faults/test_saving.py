"""Saving under attack: devices, links, rights, kills, interrupts at every line, full disks and too little memory."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
import threading
import zipfile
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np
import pytest

import qed
from qed.base import compile as compiling
from qed.base.errors import NoMemoryError, QedError, SourceError, enough_memory
from qed.base.running.steps import Reason
from qed.base.saving import archive, replacing
from qed.base.threads.interrupts import deferred

X = np.random.default_rng(0).standard_normal((80, 3))
Y = X @ [1.0, -2.0, 0.5]
pytestmark = pytest.mark.usefixtures("interruptible")


@pytest.fixture
def model() -> Any:
    return qed.Ridge(alpha=2.0).fit(X, Y)


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o644, 0o666])
def test_a_file_keeps_its_rights(model: Any, tmp_path: Path, mode: int) -> None:
    path = tmp_path / "m.qed"
    qed.save(model, path)
    os.chmod(path, mode)
    qed.save(model, path)
    assert stat.S_IMODE(path.stat().st_mode) == mode and list(tmp_path.iterdir()) == [path]


def test_a_link_to_a_link_is_followed_and_stays(model: Any, tmp_path: Path) -> None:
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    real, first, second = folder / "real.qed", tmp_path / "first.qed", tmp_path / "second.qed"
    qed.save(qed.Ridge(), real)
    os.chmod(real, 0o600)
    first.symlink_to(real)
    second.symlink_to(first)
    qed.save(model, second)
    assert first.is_symlink() and second.is_symlink() and stat.S_IMODE(real.stat().st_mode) == 0o600
    assert qed.load(real).alpha == 2.0 and list(folder.iterdir()) == [real]


def test_what_is_no_plain_file_is_refused_and_stays(model: Any, tmp_path: Path) -> None:
    pipe, link = tmp_path / "pipe", tmp_path / "link"
    os.mkfifo(pipe)
    link.symlink_to("/dev/null")
    for path in (pipe, link, Path("/dev/null")):
        before = os.stat(path).st_mode
        with pytest.raises(SourceError, match="no plain file but a device, a pipe"):
            qed.save(model, path)
        assert os.stat(path).st_mode == before
    with pytest.raises(SourceError, match="it is a directory"):
        qed.save(model, tmp_path)
    assert sorted(tmp_path.iterdir()) == [link, pipe]


KILLED = """
import os, signal, sys
import numpy as np, qed
model = qed.Ridge().fit(np.eye(4), np.arange(4.0))
write = np.lib.format.write_array
def killed(*args, **options):
    os.kill(os.getpid(), signal.SIGKILL)
np.lib.format.write_array = killed
qed.save(model, sys.argv[1])
"""


def test_what_a_killed_process_left_is_swept_up_by_the_next(model: Any, tmp_path: Path) -> None:
    path = tmp_path / "m[1].qed"
    qed.save(qed.Ridge(alpha=7.0), path)
    strangers = [tmp_path / ".other.qed.12345678.part", tmp_path / ".m1.qed.12345678.part"]
    for stranger in strangers:
        stranger.write_bytes(b"")
    assert subprocess.run([sys.executable, "-c", KILLED, path], check=False).returncode == -signal.SIGKILL
    assert len(list(tmp_path.glob(".m?1?.qed.*.part"))) == 1
    assert qed.load(path).alpha == 7.0
    qed.save(model, path)
    assert qed.load(path).alpha == 2.0 and sorted(tmp_path.iterdir()) == sorted([path, *strangers])


def test_what_another_is_writing_is_left_alone(model: Any, tmp_path: Path) -> None:
    path = tmp_path / "m.qed"
    with replacing.replacing(path) as file:
        file.write(b"slow")
        qed.save(model, path)
        assert len(list(tmp_path.glob(".*.part"))) == 1
    assert path.read_bytes() == b"slow" and list(tmp_path.iterdir()) == [path]


class Interrupter:
    """Presses Ctrl-C before the n-th line that runs in the files that write."""

    files = (archive.__file__, replacing.__file__, zipfile.__file__)

    def __init__(self, at: int) -> None:
        self.at, self.seen = at, 0

    def __enter__(self) -> Interrupter:
        sys.settrace(self.trace)
        return self

    def __exit__(self, *error: object) -> None:
        sys.settrace(None)

    def trace(self, frame: FrameType, event: str, arg: object) -> Any:
        before = frame.f_back.f_code.co_name if frame.f_back else ""
        # Python itself swallows what is raised while an object is thrown away.
        if frame.f_code.co_filename not in self.files or "__del__" in (frame.f_code.co_name, before):
            return None
        if event == "line":
            self.seen += 1
            if self.seen == self.at:
                sys.settrace(None)
                ctrl_c()
        return self.trace


def ctrl_c() -> None:
    signal.raise_signal(signal.SIGINT)


@pytest.mark.parametrize("points", [40, pytest.param(10**9, marks=pytest.mark.slow)])
def test_an_interrupt_at_any_line_leaves_the_old_or_the_new_and_is_an_interrupt(points: int, tmp_path: Path) -> None:
    path, old, new = tmp_path / "m.qed", qed.Ridge(alpha=1.0), qed.Ridge(alpha=2.0).fit(X, Y)
    qed.save(new, path)
    with Interrupter(0) as whole:
        qed.save(new, path)
    lines, handler = whole.seen, signal.getsignal(signal.SIGINT)
    assert lines > 1000
    for at in range(1, lines, max(1, lines // points)):
        qed.save(old, path)
        with pytest.raises(KeyboardInterrupt), Interrupter(at):
            qed.save(new, path)
        assert signal.getsignal(signal.SIGINT) is handler
        found = qed.load(path)
        assert found.alpha in (1.0, 2.0) and hasattr(found, "coef_") is (found.alpha == 2.0)
        assert list(tmp_path.iterdir()) == [path]


@pytest.mark.filterwarnings("ignore:GradientRidge. The allowed number")
def test_an_interrupt_inside_a_checkpoint_ends_the_fit_with_a_whole_checkpoint(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, written = tmp_path / "fit.qed", []
    write = np.lib.format.write_array

    def interrupted(*args: Any, **options: Any) -> None:
        written.append(1)
        if len(written) == 12:
            ctrl_c()
        write(*args, **options)

    monkeypatch.setattr(np.lib.format, "write_array", interrupted)
    slow = qed.GradientRidge(alpha=1e-3, method="steepest", tol=0.0, max_iter=60)
    with qed.watch(checkpoint=path, every=0.0), pytest.warns(UserWarning, match="interrupted"):
        fitted = slow.fit(X * [1.0, 5.0, 20.0], Y)
    assert fitted.ending_.reason is Reason.INTERRUPTED and 0 < fitted.n_iter_ < 60
    monkeypatch.undo()
    resumed = qed.resume(path, X * [1.0, 5.0, 20.0], Y)
    whole = qed.GradientRidge(alpha=1e-3, method="steepest", tol=0.0, max_iter=60).fit(X * [1.0, 5.0, 20.0], Y)
    np.testing.assert_array_equal(resumed.coef_, whole.coef_)


def test_interrupts_wait_in_the_main_thread_alone() -> None:
    handler, seen = signal.getsignal(signal.SIGINT), []

    def elsewhere() -> None:
        with deferred(moments=False):
            seen.append(signal.getsignal(signal.SIGINT) is handler)

    other = threading.Thread(target=elsewhere)
    other.start()
    other.join()
    with pytest.raises(KeyboardInterrupt), deferred(moments=False), deferred(moments=False):
        ctrl_c()
        seen.append(True)
    assert seen == [True, True] and signal.getsignal(signal.SIGINT) is handler


def test_ignored_interrupts_stay_ignored() -> None:
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with deferred(moments=False):
            ctrl_c()
        assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, before)


def test_a_full_disk_keeps_no_kernel_from_running(monkeypatch: pytest.MonkeyPatch) -> None:
    from numba.core.caching import IndexDataCacheFile

    tried = []

    def full(*args: Any, **options: Any) -> None:
        tried.append(1)
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(IndexDataCacheFile, "save", full)
    monkeypatch.setattr(compiling, "COMPILED", [])
    doubled = compiling.kernel(_double)
    assert doubled(np.array([1.0, 2.0])) == 6.0 and tried


def _double(values: Any) -> Any:
    total = 0.0
    for i in range(len(values)):
        total += 2 * values[i]
    return total


def test_too_little_memory_is_said_with_the_size_that_was_asked_for() -> None:
    with (
        pytest.raises(NoMemoryError, match=r"711\. PiB were asked for, for an array with shape .*fewer rows"),
        enough_memory(),
    ):
        np.empty(10**17)
    with pytest.raises(NoMemoryError, match="more was asked for than there is"), enough_memory():
        raise MemoryError
    assert issubclass(NoMemoryError, MemoryError) and issubclass(NoMemoryError, QedError)


@pytest.mark.parametrize("use", ["fit", "partial_fit", "predict", "transform", "load"])
def test_models_say_it_too(use: str, model: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def asks(*args: Any, **options: Any) -> None:
        np.empty(10**17)

    if use == "load":
        qed.save(model, tmp_path / "m.qed")
        monkeypatch.setattr(np.lib.format, "read_array", asks)
        action = lambda: qed.load(tmp_path / "m.qed")  # noqa: E731
    elif use in ("predict", "transform"):
        clusters = qed.KMeans(2, random_state=0).fit(X)
        monkeypatch.setattr(qed.KMeans, "_assign" if use == "predict" else "_change", asks)
        action = lambda: getattr(clusters, use)(X)  # noqa: E731
    else:
        monkeypatch.setattr(qed.Ridge, "_solve", asks)
        action = lambda: getattr(qed.Ridge(), use)(X, Y)  # noqa: E731
    with pytest.raises(NoMemoryError, match="711. PiB were asked for"):
        action()
