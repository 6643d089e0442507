"""The perceptron's and the separating plane's claims against exact arithmetic: what is proven is true, on data that go wrong."""

import math
import warnings
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import qed
from qed.base.errors import InputError
from tests.proof.attempts import KINDS, data_of

WAYS = [
    {},
    {"average": True},
    {"scaled": True},
    {"fit_intercept": False, "eta0": 0.1},
    {"class_weight": "balanced", "shuffle": False},
]
MARGIN = "a plane could still have this margin"


def labelled(kind, seed, separable):
    X, number, weight = data_of(kind, seed)
    random = np.random.default_rng(seed + 1)
    score = X @ random.standard_normal(X.shape[1])
    y = (score > np.median(score)).astype(int) if separable else random.integers(0, 2, len(X))
    y[:2] = [0, 1] if len(set(y.tolist())) < 2 else y[:2]
    return X, y, weight


def exactly(values):
    return [Fraction(float(value)) for value in values]


class Exact:
    """The rows and the plane as fractions."""

    def __init__(self, model, X, y, weight):
        used = np.ones(len(X), bool) if weight is None else weight > 0
        unit = Fraction(1 if model.fit_intercept else 0)
        self.rows = [[*exactly(row), unit] for row in X[used]]
        self.sign = [1 if label == model.classes_[1] else -1 for label in y[used]]
        self.plane = [*exactly(model.coef_[0]), Fraction(float(model.intercept_[0]))]
        self.dual = exactly(model.dual_coef_[0][used])
        self.scaled = model.scaled

    def margins(self):
        return [s * sum(w * x for w, x in zip(self.plane, row)) for s, row in zip(self.sign, self.rows)]

    def possible(self):
        """The bound on the margin of any plane that the corrections give, relative to the longest row, to sixteen digits."""
        total = [sum(a * row[j] for a, row in zip(self.dual, self.rows)) for j in range(len(self.plane))]
        length = math.sqrt(sum(value**2 for value in total))
        lengths = [math.sqrt(sum(value**2 for value in row)) for row in self.rows]
        measure = lengths if self.scaled else [1.0] * len(lengths)
        longest = 1.0 if self.scaled else max(lengths)
        pulled = sum(float(abs(a)) * m for a, m in zip(self.dual, measure))
        return length / (pulled * longest) if pulled else math.inf


@settings(max_examples=30, deadline=None)
@given(
    kind=st.sampled_from(KINDS),
    seed=st.integers(0, 2**32 - 2),
    separable=st.booleans(),
    way=st.sampled_from(range(len(WAYS))),
)
def test_what_a_perceptron_proves_is_true(kind, seed, separable, way):
    X, y, weight = labelled(kind, seed, separable)
    model = qed.Perceptron(max_iter=300, **WAYS[way])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            model.fit(X, y, sample_weight=weight)
        except InputError:
            return
        found = qed.certify(model, X, y, sample_weight=weight)
    assert bool(found) == bool(model.certificate_)
    if not found:
        assert model.ending_.reason.name in ("MAX_ITER", "CERTIFIED")
        return
    exact = Exact(model, X, y, weight)
    if found[MARGIN].value == 0:
        assert all(margin > 0 for margin in exact.margins())
    else:
        # The square roots of the judge are right to sixteen digits.
        assert exact.possible() <= found[MARGIN].value * (1 + 1e-14)


@pytest.mark.parametrize(
    "kind", ["plain", "constant column", "equal columns", "scales", "offset 1e4", "zero weights", "duplicate rows"]
)
def test_separable_data_are_proven(kind):
    """Scaled to the same size, the passes find a plane wherever there is one with a margin that is not tiny."""
    tried = 0
    for seed in range(6):
        X, y, weight = labelled(kind, seed, True)
        scaled = qed.StandardScaler().fit_transform(X)
        used = slice(None) if weight is None else weight > 0
        if len(set(y[used].tolist())) < 2:
            continue
        truth = qed.separating_plane(scaled[used], y[used])
        if not truth.is_separable or truth.margin < 0.05:
            continue
        tried += 1
        model = qed.Perceptron(tol=1e-6).fit(scaled, y, sample_weight=weight)
        assert model.certificate_, f"{kind} {seed}: {model.certificate_}"
        assert model.ending_.reason.name == "CERTIFIED"
        # Margins of planes that need not go through the origin are at most those of rows with a constant, times their length.
        u = np.append(truth.coef, truth.intercept)
        gamma = truth.margin / np.linalg.norm(u)
        radius = np.linalg.norm(np.column_stack([scaled, np.ones(len(X))]), axis=1).max()
        assert model.updates_[0] <= (radius / gamma) ** 2 * (1 + 1e-9)
    assert tried


@settings(max_examples=30, deadline=None)
@given(kind=st.sampled_from(KINDS), seed=st.integers(0, 2**32 - 2), separable=st.booleans())
def test_what_a_separation_proves_is_true(kind, seed, separable):
    X, y, _ = labelled(kind, seed, separable)
    if len(set(y.tolist())) < 2:
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = qed.separating_plane(X, y)
    rows, sign = [exactly(row) for row in X], [1 if label == 1 else -1 for label in y]
    if found.is_separable:
        plane, constant = exactly(found.coef), Fraction(found.intercept)
        margins = [s * (sum(w * x for w, x in zip(plane, row)) + constant) for s, row in zip(sign, rows)]
        length = math.sqrt(sum(value**2 for value in plane))
        assert min(margins) > 0
        assert found.margin <= float(min(margins)) / length * (1 + 1e-14)
        assert found.margin <= found.most * (1 + 1e-14)
    elif found.is_separable is False:
        assert (found.multipliers >= 0).all() and found.multipliers.any()
        hulls = [
            np.array(found.multipliers[y == label]) @ X[y == label] / found.multipliers[y == label].sum()
            for label in (0, 1)
        ]
        # n + p roundings of the largest number that is added.
        assert (
            np.abs(hulls[0] - hulls[1]).max()
            <= 64 * len(X) * 2.0**-53 * np.abs(X).max() + 1e-9 * np.ptp(X, axis=0).max()
        )


def test_a_forged_certificate_is_noticed():
    X, y, _ = labelled("plain", 3, True)
    model = qed.Perceptron().fit(X, y)
    for name in ("coef_", "intercept_", "dual_coef_", "updates_"):
        kept = getattr(model, name)
        setattr(model, name, kept * (1 + 1e-6) + 1e-9)
        assert not qed.certify(model, X, y), name
        setattr(model, name, kept)
    assert qed.certify(model, X, y)
