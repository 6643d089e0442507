"""C8-VIS: eight ways to see into a network, each with what can be checked of it."""

from functools import cache

import numpy as np
import pytest

import qed
from qed.base.errors import InputError
from qed.neural import Activation, Conv2d, Dense, Flatten, MaxPool2d, Network
from qed.neural.seeing import (
    Unit,
    concept_units,
    deconvolve,
    features,
    first_filters,
    invert_code,
    maximise_activation,
    saliency,
    seen_pixels,
    sparsity,
)


@cache
def digits():
    X, y = qed.data.load("digits").Xy()
    return np.asarray(X).reshape(-1, 1, 8, 8)[:400] / 16, np.asarray(y, dtype=int)[:400]


@cache
def trained():
    """A small net, some steps of descent on digits away from where it began."""
    X, y = digits()
    layers = [Conv2d(6, 3), Activation("relu"), MaxPool2d(2), Conv2d(8, 2), Activation("relu"), Flatten(), Dense(10)]
    network = Network(layers, (1, 8, 8), dtype=np.float64, random_state=0)
    for _ in range(60):
        network.vector -= 0.5 * network.gradient(X, y)[1]
    return network


def test_filters_are_those_of_the_first_layer():
    assert first_filters(trained()).shape == (6, 1, 3, 3)
    with pytest.raises(InputError, match="first layer"):
        first_filters(Network([Dense(2)], 3))


def test_sparsity_is_the_share_of_silent_units():
    X, _ = digits()
    found, values = sparsity(trained(), X), trained().activations(X)
    assert found["1"] == pytest.approx((values["1"] == 0).mean(), abs=1e-6)
    assert found["1"] > found["0"] and all(0 <= share <= 1 for share in found.values())


def test_features_find_shifted_copies_better_than_pixels_do():
    """Behind pooling a shape counts more than its place, with filters that were never trained."""
    X, _ = digits()
    canvas, layers = np.zeros((len(X), 1, 14, 14)), [Conv2d(16, 3), Activation("relu"), MaxPool2d(6), Dense(2)]
    canvas[:, :, 2:10, 2:10] = X
    network, queries = Network([*layers[:3], Flatten(), layers[3]], (1, 14, 14), random_state=0), np.arange(100)
    shifted = np.roll(canvas[queries], 2, axis=3)
    hits = []
    for space in (lambda rows: rows.reshape(len(rows), -1), lambda rows: features(network, rows)):
        near = qed.NearestNeighbors(n_neighbors=1).fit(space(canvas)).kneighbors(space(shifted), return_distance=False)
        hits.append((near[:, 0] == queries).mean())
    assert hits[1] > hits[0]
    with pytest.raises(InputError, match="no layer"):
        features(trained(), X, "99")


def test_deconvolution_stays_inside_the_receptive_field():
    X, _ = digits()
    for place in ((0, 0, 0), (3, 1, 1), (5, 0, 1)):
        unit = Unit("4", place)
        image = deconvolve(trained(), X[:50], unit)
        field = np.zeros((8, 8), dtype=bool)
        rows, columns = (slice(2 * at, 2 * at + 6) for at in place[1:])  # 2 x 2 windows of pooled 3 x 3 ones
        field[rows, columns] = True
        assert not image[:, 0, ~field].any() and not seen_pixels(trained(), X[:50], unit)[~field].any()
    silent = saliency(trained(), X[:50], unit).reshape(50, -1).any(axis=1) <= image.reshape(50, -1).any(axis=1)
    assert image.any() and silent.all()


def test_the_image_that_excites_most_beats_all_images_of_its_length():
    X, _ = digits()
    rows, unit = X / np.sqrt((X**2).sum(axis=(1, 2, 3), keepdims=True)), Unit("4", (2, 1, 1))
    run = trained().run(rows)
    best = int(unit.values(run).argmax())
    found = maximise_activation(trained(), unit, length=1.0, start=rows[best])
    assert np.all(np.diff(found.trace) > 0) and np.linalg.norm(found.image) <= 1 + 1e-12
    assert found.activation > unit.values(run).max()
    assert found.activation == unit.values(trained().run(found.image[None]))[0]


def test_saliency_is_the_derivative():
    X, _ = digits()
    unit, h = Unit("6", (3,)), 1e-5
    X = X[:2] + 0.01 * np.random.default_rng(0).standard_normal((2, 1, 8, 8))  # away from ties of the pooling
    slope = saliency(trained(), X, unit)
    for row, column in ((2, 3), (5, 5), (4, 1)):
        ends = []
        for sign in (1, -1):
            moved = X.copy()
            moved[:, 0, row, column] += sign * h
            ends.append(unit.values(trained().run(moved)))
        # Piecewise linear: differences are exact but for rounding where no kink lies between.
        assert np.allclose((ends[0] - ends[1]) / (2 * h), slope[:, 0, row, column], atol=1e-8)


def test_an_image_is_found_again_from_its_code():
    X, _ = digits()
    code = trained().activations(X[3:4])["2"][0]
    found = invert_code(trained(), code, "2")
    assert found.distance < 1e-2 and found.trace[-1] < 1e-2 * found.trace[0] and np.all(np.diff(found.trace) <= 0)
    again = trained().activations(found.image[None])["2"][0]
    assert ((again - code) ** 2).sum() / (code**2).sum() == pytest.approx(found.distance, rel=1e-6)


def test_units_that_answer_to_a_concept():
    X, y = digits()
    first, *others = concept_units(trained(), X, y == 0, "6")
    assert first.unit == Unit("6", (0,)) and first.correlation > 0.5
    assert all(abs(one.correlation) <= abs(first.correlation) for one in others)
    values = trained().activations(X)["6"][:, 0]
    assert first.correlation == pytest.approx(np.corrcoef(values, y == 0)[0, 1], rel=1e-9)


def test_units_that_are_not_there_are_refused():
    run = trained().run(digits()[0][:1])
    with pytest.raises(InputError, match="no place"):
        Unit("4", (0, 9, 9)).values(run)
    with pytest.raises(InputError, match="no layer"):
        Unit("x", (0,)).values(run)
