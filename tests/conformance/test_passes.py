"""Each estimator reads its data as often as it says: in one pass, once per iteration, or into memory."""

import inspect

import pytest

from qed.base.sources.rows import ArrayRows
from tests.conformance.specimens import estimators, specimen, table, target_for

N = 320
X, NUMBER, LABEL = table(n=N)
NAMES = sorted(name for name, kind in estimators().items() if not {"model"} & inspect.signature(kind).parameters.keys())

# Looks that are not iterations: at the data before the first step, at the target, for seeds, and for the certificate at the end.
ASIDE = 12


class Counted(ArrayRows):
    """Rows that count how many of them are read."""

    def __init__(self, X, y):
        super().__init__(X, y, size=32)
        self.read = 0

    def block(self, start, stop):
        self.read += stop - start
        return super().block(start, stop)


@pytest.mark.parametrize("name", NAMES)
def test_data_are_read_as_often_as_declared(name):
    model = specimen(name)
    data = Counted(X, target_for(model, NUMBER, LABEL))
    model.fit(data)
    passes = data.read / N
    if model.passes == "one" and model.target is not None:
        assert passes == 1
    elif model.passes == "one":
        assert passes <= 1.5  # transformers prove what they do on some of the rows
    elif model.passes == "two":
        assert passes == 2
    elif model.passes in ("as codes", "in memory"):
        assert passes <= 4
    else:
        assert model.passes in ("each iteration", "stream")
        assert 1 <= passes <= ASIDE + 4 * model.n_iter_
