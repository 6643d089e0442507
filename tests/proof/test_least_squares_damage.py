"""Every number that a model of the least-squares family holds, moved, negated or lost: some claim fails, and none of them raises."""

import copy
import dataclasses

import numpy as np
import pytest

import qed

pytestmark = pytest.mark.filterwarnings("ignore::qed.base.errors.DegenerateWarning")

random = np.random.default_rng(0)
X = random.standard_normal((40, 4))
y = X @ [1.0, 2.0, 0.5, -1.0] + random.standard_normal(40)
ALIKE = np.column_stack([X[:, :3], X[:, 0] + 1e-5 * X[:, 3]])
DEPENDENT = np.column_stack([X[:, :3], X[:, 0] + X[:, 1]])
WIDE, FEW = random.standard_normal((5, 9)), random.standard_normal(5)

CASES = {
    "least squares": (qed.LinearRegression(), X, y),
    "nearly dependent columns": (qed.LinearRegression(), ALIKE, y),
    "dependent columns": (qed.LinearRegression(), DEPENDENT, y),
    "more columns than rows": (qed.LinearRegression(), WIDE, FEW),
    "no intercept": (qed.LinearRegression(fit_intercept=False), X, y),
    "several outputs": (qed.LinearRegression(), X, np.column_stack([y, X[:, 0] - y])),
    "ridge": (qed.Ridge(), X, y),
    "wide ridge": (qed.Ridge(), WIDE, FEW),
    "gradients": (qed.GradientRidge(), X, y),
    "generalized": (qed.GeneralizedLeastSquares(random.uniform(0.5, 2, 40)), X, y),
    "posterior": (qed.GaussianMAP(fit_intercept=True), X, y),
    "total": (qed.TotalLeastSquares(), X, y),
    "mean": (qed.MeanRegressor(), X, y),
}
# What a fit says of itself, and not of the data, is not for claims to judge.
OF_THE_FIT = {"certificate_", "fingerprint_", "ending_", "n_iter_", "solver_", "n_features_in_"}


def numbers(value, path=()):
    """List the arrays and numbers inside a fitted attribute."""
    if dataclasses.is_dataclass(value):
        for field in dataclasses.fields(value):
            yield from numbers(getattr(value, field.name), (*path, field.name))
    elif isinstance(value, (int, float)) or (isinstance(value, np.ndarray) and value.dtype.kind in "fi"):
        yield path, value


def changed(whole, path, value):
    if not path:
        return value
    found = copy.copy(whole)
    object.__setattr__(found, path[0], changed(getattr(whole, path[0]), path[1:], value))
    return found


def is_told(path, place, value, how):
    """Say whether a change makes a difference to anything that follows from the number."""
    if path and path[-1] == "rest":
        return how == "lost"  # it is below the last bit of a mean
    if path and path[-1] in ("bulk", "roundings", "drift", "doubt", "slip", "lost"):
        return how != "moved"  # a larger allowance for rounding makes claims more careful, nothing else
    if path and path[-1] == "R" and how == "negated":
        return np.count_nonzero(value[place[0]]) > 1  # a row of R may have either sign
    return True


def damages(value):
    places = [(0,) * np.ndim(value), tuple(size - 1 for size in np.shape(value))]
    for place in dict.fromkeys(places):
        for how, change in (("moved", 1.001), ("negated", -1.0), ("lost", np.nan)):
            other = np.array(value, dtype=float)
            other[place] = other[place] * change if other[place] != 0 else change - 1
            yield place, how, other if isinstance(value, np.ndarray) else float(other)


@pytest.mark.parametrize("name", CASES)
def test_damage_is_noticed(name):
    model, table, target = CASES[name]
    model = copy.deepcopy(model).fit(table, target)
    assert qed.certify(model, table, target), f"{qed.certify(model, table, target)}"
    tried = 0
    for attribute, whole in model._attributes().items():
        for path, value in numbers(whole) if attribute not in OF_THE_FIT else ():
            for place, how, other in damages(value):
                if not is_told(path, place, value, how):
                    continue
                broken = copy.copy(model)
                setattr(broken, attribute, changed(whole, path, other))
                assert not qed.certify(broken, table, target), f"{attribute} {'.'.join(path)} {place} {how}"
                tried += 1
    assert tried >= 6
