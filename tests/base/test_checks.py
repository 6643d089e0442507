"""The boundary: what enters a model, and how it is refused."""

import subprocess
import sys

import numpy as np
import pytest

import qed
from qed.base.errors import InputError, NotFittedError

X, Y = np.random.default_rng(0).standard_normal((20, 3)), np.arange(20.0)


def test_a_float_array_is_taken_as_it_is():
    from qed.base.models.checks import check_rows

    assert check_rows(qed.Ridge(), X, Y, reset=True, target="number").X is X


@pytest.mark.parametrize(
    ("data", "target", "words"),
    [
        (X, None, "requires y"),
        (X[:, 0], Y, "2D array"),
        (X[:0], Y[:0], "0 sample"),
        (X, Y[:5], "inconsistent numbers of samples"),
        (X, ["a"] * 20, "target of Ridge must be numbers.*take a classifier"),
        (X + 1j, Y, "[Cc]omplex"),
    ],
)
def test_refusals_of_fit(data, target, words):
    with pytest.raises(ValueError, match=words):
        qed.Ridge().fit(data, target)


@pytest.mark.parametrize("weight", [np.full(20, -1.0), np.full(20, np.nan), np.zeros(20), np.ones(5)])
def test_refusals_of_weights(weight):
    with pytest.raises(ValueError, match=r"weight|NaN"):
        qed.Ridge().fit(X, Y, sample_weight=weight)


def test_predict_wants_the_columns_of_fit():
    model = qed.Ridge().fit(X, Y)
    with pytest.raises(ValueError, match="2 features, but Ridge is expecting 3"):
        model.predict(X[:, :2])
    with pytest.raises(InputError, match="2 features, but Ridge is expecting 3"):
        model.predict(qed.rows(X[:, :2]))
    bad = X.copy()
    bad[4, 1] = np.nan
    with pytest.raises(InputError, match="column number 1, row 4"):
        model.predict(bad)


def test_an_unfitted_model_says_so():
    with pytest.raises(NotFittedError, match="not fitted yet"):
        qed.Ridge().predict(X)


def test_missing_value_is_named_with_its_column():
    import pandas

    frame = pandas.DataFrame(X.copy(), columns=["age", "height", "weight"])
    frame.loc[7, "height"] = np.nan
    with pytest.raises(InputError, match=r"contains NaN: column 'height', row 7"):
        qed.Ridge().fit(frame, Y)


def test_a_missing_value_in_a_row_without_weight_does_not_matter():
    bad, weight = X.copy(), np.ones(20)
    bad[3, 0], weight[3] = np.nan, 0.0
    np.testing.assert_allclose(
        qed.Ridge().fit(bad, Y, sample_weight=weight).coef_,
        qed.Ridge().fit(np.delete(X, 3, 0), np.delete(Y, 3)).coef_,
        rtol=1e-10,
    )


def test_importing_the_package_imports_nothing_heavy():
    code = "import sys, qed; print([m for m in ('numpy', 'scipy', 'sklearn', 'numba', 'pyarrow', 'matplotlib') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_the_command_line_starts_without_the_heavy_parts():
    code = "import sys, qed.cli; print([m for m in ('scipy', 'sklearn', 'numba', 'pyarrow', 'matplotlib') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
