"""The gap of LogisticRegression with a penalty on sizes, against the truth in sixty digits: its value is never below the excess."""

import warnings

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import qed
from tests.proof.test_logistic_proof import NASTY, plain
from tests.proof.truth_of_classes import DIGITS, Exact

SHARES = [1.0, 0.5, 0.01]
PENALTIES = [1e-6, 1e-2, 1.0, 1e3]


class ExactSparse(Exact):
    """The objective with a share of sizes; it is smooth while no coefficient changes its sign, and Newton's steps go as far as that."""

    def __init__(self, X, codes, classes, weight, C, share):
        super().__init__(X, codes, classes, weight, C)
        self.share, self.penalty = mp.mpf(float(share)), 1 - mp.mpf(float(share))

    def value(self, theta):
        return super().value(theta) + self.share * mp.fsum(abs(value) for part in theta for value in part[:-1])

    def lowest(self, theta, rounds):
        q = len(theta[0])
        flat, best = [value for part in theta for value in part], self.value(theta)

        def parts(values):
            return [values[start : start + q] for start in range(0, len(values), q)]

        for _ in range(rounds):
            gradient, H = self.derivatives(parts(flat))
            slope, sign = [], []
            for place, value in enumerate(flat):
                size, pull = (self.share if place % q < q - 1 else mp.mpf(0)), gradient[place]
                held = value == 0 and abs(pull) <= size
                sign.append(mp.sign(value) if value != 0 else mp.mpf(0) if held else -mp.sign(pull))
                slope.append(mp.mpf(0) if held and size > 0 else pull + size * sign[-1])
            free = [place for place, one in enumerate(slope) if one != 0]
            if not free:
                return best
            inner = mp.matrix(len(free), len(free))
            for i, a in enumerate(free):
                for j, b in enumerate(free):
                    inner[i, j] = H[a, b]
                inner[i, i] += mp.mpf(10) ** (-DIGITS // 2) * (1 + H[a, a])
            step, length = mp.lu_solve(inner, -mp.matrix([slope[place] for place in free])), mp.mpf(1)
            for _ in range(80):
                tried = list(flat)
                for i, place in enumerate(free):
                    moved = flat[place] + length * step[i]
                    crosses = place % q < q - 1 and moved * sign[place] < 0
                    tried[place] = mp.mpf(0) if crosses else moved
                value = self.value(parts(tried))
                if value < best:
                    break
                length /= 2
            else:
                return best
            flat, gained, best = tried, best - value, value
            if gained <= best * mp.mpf(10) ** -40:
                return best
        return best


def excess(model, X, y, C, share, weight):
    with mp.workdps(DIGITS):
        codes = np.searchsorted(model.classes_, y).tolist()
        exact = ExactSparse(X, codes, len(model.classes_), np.ones(len(y)) if weight is None else weight, C, share)
        theta = [
            [mp.mpf(float(value)) for value in [*part, constant]]
            for part, constant in zip(model.coef_, model.intercept_)
        ]
        here = exact.value(theta)
        return float((here - exact.lowest(theta, 60)) / here)


def attack(seed, kind, C, share, k, weighted, n, p):
    rng = np.random.default_rng(seed)
    X, y = plain(rng, n, p, k)
    X = kind(rng, X)
    weight = 10.0 ** rng.uniform(-4, 4, size=n) if weighted else None
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        model = qed.LogisticRegression(C, l1_ratio=share, max_iter=60).fit(X, y, sample_weight=weight)
    truth = excess(model, X, y, C, share, weight)
    for certificate in (model.certificate_, qed.certify(model, X, y, weight)):
        claim = certificate["objective above its minimum"]
        assert claim.value >= truth * (1 - 1e-9), (claim, truth, str(model.ending_))
        assert claim.bound <= 1e-6
    assert bool(model.certificate_) or heard, "not proven, and nobody said so"


CASES = {
    "seed": st.integers(0, 10**6),
    "kind": st.sampled_from(NASTY),
    "C": st.sampled_from(PENALTIES),
    "share": st.sampled_from(SHARES),
    "k": st.sampled_from([2, 2, 3]),
    "weighted": st.booleans(),
    "p": st.integers(1, 3),
}


@settings(max_examples=20, deadline=None)
@given(n=st.integers(6, 14), **CASES)
def test_the_claim_is_never_below_the_truth(seed, kind, C, share, k, weighted, n, p):
    attack(seed, kind, C, share, k, weighted, n, p)


@pytest.mark.slow
@settings(max_examples=300, deadline=None)
@given(n=st.integers(4, 30), **CASES)
def test_the_claim_is_never_below_the_truth_at_length(seed, kind, C, share, k, weighted, n, p):
    attack(seed, kind, C, share, k, weighted, n, p)


@pytest.mark.parametrize("share", SHARES)
def test_the_judge_finds_what_a_worse_answer_hides(share):
    """Coefficients that are moved by a hundredth are worse by what the judge sees, and the claim is no smaller."""
    X, y = plain(np.random.default_rng(0), 20, 3, 2)
    model = qed.LogisticRegression(1.0, l1_ratio=share).fit(X, y)
    right = excess(model, X, y, 1.0, share, None)
    model.coef_ = model.coef_ * 1.01
    wrong = excess(model, X, y, 1.0, share, None)
    assert right <= 1e-10 < 1e-8 < wrong <= qed.certify(model, X, y)["objective above its minimum"].value
