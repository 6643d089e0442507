"""Support vector machines on badly scaled tables, against their least objective in fractions, and forged numbers that only matter there."""

import copy
import warnings
from fractions import Fraction
from functools import cache

import numpy as np
import pytest

import qed
from tests.proof.exact_machines import bracket_of_all_classes, dot, fractions, least_with_slack, least_with_squares
from tests.proof.mutations import changed

GAP, EPSILON, SEEDS = "primal less dual objective", 0.1, range(16)
MACHINES = {
    "LinearSVC, hinge": lambda C: qed.LinearSVC(C, loss="hinge"),
    "LinearSVC, squares": qed.LinearSVC,
    "LinearSVC, sizes": lambda C: qed.LinearSVC(C, penalty="l1"),
    "SVC": lambda C: qed.SVC(C, "linear"),
    "LinearSVR": lambda C: qed.LinearSVR(C=C, epsilon=EPSILON),
    "SVR": lambda C: qed.SVR(kernel="linear", C=C, epsilon=EPSILON),
}


def table(seed, n=6):
    """Make columns of any scale, some of them far from the origin, with an outlier, with equal rows, or neither."""
    random = np.random.default_rng(seed)
    p = int(random.integers(1, 4))
    far = 10.0 ** random.integers(-2, 7, p) * random.integers(0, 2, p)
    X = random.standard_normal((n, p)) * 10.0 ** random.integers(-6, 7, p) + far
    X[0] *= 1e6 if seed % 4 == 1 else 1.0
    if seed % 4 == 2:
        X[n // 2 :] = X[: n - n // 2]
    number = random.standard_normal(n) * 10.0 ** random.integers(-1, 4)
    return X, np.where(np.arange(n) % 2, 1, -1), number, 10.0 ** random.integers(-2, 3)


@cache
def fitted(name, seed):
    X, y, number, C = table(seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = MACHINES[name](C)
        # Every second four of them end early, where what is claimed is more than rounding.
        model.set_params(tol=1e-2 if seed // 4 % 2 else model.tol)
        return model.fit(X, number if name.endswith("R") else y)


def objectives(model, name, seed):
    """Give the objective of a model's plane, and the least of all, in fractions."""
    X, y, number, C = table(seed)
    rows, w, b = [fractions(row) for row in X], fractions(model.coef_), Fraction(float(np.ravel(model.intercept_)[0]))
    scores, cost = [dot(row, w) + b for row in rows], Fraction(float(C))
    if name.endswith("R"):
        target, wide = fractions(number), Fraction(EPSILON)
        slack = [max(0, abs(t - f) - wide) for t, f in zip(target, scores)]
        p, side = [t - wide for t in target] + [t + wide for t in target], [1] * len(y) + [-1] * len(y)
        return dot(w, w) / 2 + cost * sum(slack), least_with_slack(np.vstack([X, X]), p, C, side, scores * 2)
    sign = y.tolist()
    slack = [max(0, 1 - s * f) for s, f in zip(sign, scores)]
    if name.endswith(("squares", "sizes")):
        sizes = name.endswith("sizes")
        penalty = sum(abs(v) for v in w) if sizes else dot(w, w) / 2
        least = least_with_squares(X, sign, C, model.coef_[0], model.intercept_[0], sizes)
        return penalty + cost * sum(v * v for v in slack), least
    least = least_with_slack(X, [Fraction(s) for s in sign], C, sign, scores)
    return dot(w, w) / 2 + cost * sum(slack), least


@pytest.mark.parametrize("name", MACHINES)
def test_no_claim_is_below_the_truth_on_any_scale(name):
    judged = 0
    for seed in SEEDS:
        model = fitted(name, seed)
        claim, (primal, least) = model.certificate_[GAP], objectives(model, name, seed)
        if least is None:
            continue
        judged += 1
        assert primal >= least
        excess = float((primal - least) / primal) if primal else 0.0
        # What is allowed for rounding is part of the bound. Public numbers are rounded once more: both objectives are sums of some ten
        # terms, on these tables at most a hundred times as large as the sum, so ten thousand last digits are ample.
        rounding = claim.bound - model.tol + 1e4 * np.finfo(float).eps
        assert excess <= claim.value + rounding, (seed, excess, claim)
        assert not claim.holds or excess <= claim.bound
        if primal:
            below = float((Fraction(float(model.dual_objective_[0])) - least) / primal)
            assert below <= rounding, (seed, below, claim)
    assert judged >= 0.75 * len(SEEDS), "too few cases were guessed for a judgement"


@pytest.mark.parametrize("classes", [2, 4])
def test_a_machine_of_all_classes_claims_no_less_than_the_truth_on_any_scale(classes):
    """What it claims is the gap of public planes and multipliers, which the least objective lies within; some fits end early."""
    held = 0
    for seed in SEEDS[::2]:
        X, _, _, C = table(seed, 8)
        codes, every = np.arange(8) % classes, np.zeros((8, classes))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = qed.LinearSVC(C, multi_class="crammer_singer", max_iter=24).fit(X, codes)
        every[model.support_] = model.dual_coef_
        planes = np.column_stack([model.coef_, model.intercept_])
        planes = np.vstack([-planes, planes]) / 2 if classes == 2 else planes
        primal, below = bracket_of_all_classes(X, codes, planes, every, C)
        claim = model.certificate_[GAP]
        excess, rounding = float((primal - below) / primal), claim.bound - model.tol
        assert 0 <= excess <= claim.value + rounding, (seed, excess, claim)
        for name, exact in (("primal_objective_", primal), ("dual_objective_", below)):
            # Where rounding hides too much, it is counted in the value and not in the bound.
            stated, public = model.certificate_[name], Fraction(float(getattr(model, name)[0]))
            assert abs(public - exact) <= Fraction(stated.value + stated.bound) * primal, (seed, stated)
        held += claim.holds
    assert 2 <= held < len(SEEDS[::2])


def test_the_tables_ask_for_what_is_judged():
    rounded = [fitted(name, seed).smoothing_[0] == 0 for name in ("LinearSVC, hinge", "LinearSVR") for seed in SEEDS]
    apart = [fitted(name, seed).slopes_.size > 0 for name in ("SVC", "SVR") for seed in SEEDS]
    assert sum(rounded) >= 6 and sum(apart) >= 6


SCALES = np.array([1e-5, 1.0, 1e3, 1e6])


def forgeries(value, attribute):
    """Give other values for an attribute; coefficients are moved where a share of them moves scores, in the column of ones."""
    if attribute not in ("coef_", "slopes_"):
        yield from changed(value, attribute)
        return
    for share in (-0.01, 0.01):
        other = value.copy()
        other[..., 1] *= 1 + share
        yield f"{share:+} of itself", other
    yield from ((what, other) for what, other in changed(value, attribute) if "thousandth" not in what)


@pytest.mark.parametrize("name", MACHINES)
def test_forged_numbers_are_noticed_where_they_matter(name):
    random = np.random.default_rng(0)
    X = random.standard_normal((60, 4)) * SCALES
    score = (X / SCALES).sum(axis=1) + random.standard_normal(60)
    y = score if name.endswith("R") else np.where(score > 0, 1, -1)
    model, tried = MACHINES[name](10.0).fit(X, y), set()
    assert qed.certify(model, X, y)
    for attribute in ("slopes_", "smoothing_", "dual_objective_", "primal_objective_", "coef_", "intercept_"):
        if np.size(vars(model).get(attribute, ())):
            for what, other in forgeries(np.array(vars(model)[attribute]), attribute):
                forged = copy.deepcopy(model)
                setattr(forged, attribute, other)
                tried.add(attribute)
                assert not qed.certify(forged, X, y), (attribute, what)
    assert tried >= {"dual_objective_", "slopes_" if name.startswith("SV") else "smoothing_"}
    if name in ("LinearSVC, hinge", "LinearSVR"):
        assert (model.smoothing_ == 0).all()
