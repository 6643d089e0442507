"""Ctrl-C during a fit: the model keeps its best state and says how good that is."""

from __future__ import annotations

import signal
import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline

import qed
from qed.base.errors import NotFittedError
from qed.base.running.steps import Reason, Step

pytestmark = pytest.mark.usefixtures("interruptible")

generator = np.random.default_rng(0)
X = generator.normal(size=(300, 5)) * np.logspace(0, 0.7, 5)
y = X @ np.ones(5) + generator.normal(size=300)

LONG_FIT = """
import numpy as np
import qed

generator = np.random.default_rng(0)
X = generator.normal(size=(500, 12)) * np.logspace(0, 2, 12)
y = X @ np.ones(12) + generator.normal(size=500)
model = qed.GradientRidge(alpha=1e-3, method="steepest", tol=0.0, max_iter=10**9)
with qed.watch(call=lambda step: print("running", flush=True) if step.number == 20 else None):
    model.fit(X, y)
print(model.ending_.reason.name, "holds" if model.certificate_ else "does not hold")
print("predicted", len(model.predict(X)), "after 20 iterations or more", model.n_iter_ >= 20)
print("best", model.ending_.step.objective == min(record["objective"] for record in model.ending_.trace))
"""


def test_a_signal_from_outside_ends_a_fit_with_an_honest_certificate() -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", LONG_FIT], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        assert process.stdout is not None
        if (line := process.stdout.readline()) != "running\n":
            pytest.fail(f"the fit did not begin: {line}{process.communicate()[1]}")
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=120)
    finally:
        process.kill()
        process.wait()
    assert process.returncode == 0, err
    assert out.splitlines() == [
        "INTERRUPTED does not hold",
        "predicted 500 after 20 iterations or more True",
        "best True",
    ]
    assert "ConvergenceWarning" in err and "The fit was interrupted." in err and "Call resume to go on from here" in err
    assert "Traceback" not in err


def interrupt_at(number: int) -> Any:
    def call(step: Step) -> None:
        if step.number == number:
            signal.raise_signal(signal.SIGINT)

    return call


def ridge() -> Any:
    return qed.GradientRidge(alpha=2.0, method="steepest", tol=1e-8)


def test_an_interrupted_fit_goes_on_where_it_stopped() -> None:
    with qed.watch(call=interrupt_at(6)), pytest.warns(UserWarning, match="interrupted.*keeps the best state"):
        model = ridge().fit(X, y)
    assert model.ending_.reason is Reason.INTERRUPTED and model.n_iter_ == 6 and not model.certificate_
    whole = ridge().fit(X, y)
    assert not np.array_equal(model.coef_, whole.coef_)
    model.resume(X, y)
    assert np.array_equal(model.coef_, whole.coef_) and model.n_iter_ == whole.n_iter_ and model.certificate_


def test_an_interrupted_fit_inside_a_pipeline_is_kept() -> None:
    pipeline = make_pipeline(qed.StandardScaler(), ridge())
    with qed.watch(call=interrupt_at(2)), pytest.warns(UserWarning, match="interrupted"):
        pipeline.fit(X, y)
    assert pipeline[-1].ending_.reason is Reason.INTERRUPTED and pipeline.predict(X).shape == y.shape


def test_an_interrupted_model_is_saved_and_goes_on_after_loading(tmp_path: Any) -> None:
    with qed.watch(call=interrupt_at(3)), pytest.warns(UserWarning, match="interrupted"):
        qed.save(ridge().fit(X, y), tmp_path / "model.qed")
    loaded = qed.load(tmp_path / "model.qed")
    assert not loaded.certificate_
    assert np.array_equal(loaded.resume(X, y).coef_, ridge().fit(X, y).coef_)


class Early(qed.GradientRidge):
    def _problem(self, rows: Any) -> Any:
        signal.raise_signal(signal.SIGINT)


def test_an_interrupt_before_the_first_step_leaves_an_unfitted_model() -> None:
    model = Early()
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
    with pytest.raises(NotFittedError, match="not fitted yet"):
        model.predict(X)


def test_a_fit_that_must_not_be_interrupted_goes_on() -> None:
    """As in the background jobs of a script, where Ctrl-C is meant for another process."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with qed.watch(call=interrupt_at(3)):
        model = ridge().fit(X, y)
    assert model.ending_.reason is Reason.CERTIFIED and model.certificate_
