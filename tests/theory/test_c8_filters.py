"""C8-FILTERS: filters made by hand, and what they answer to."""

import numpy as np

from qed.neural import Conv2d, Network

DIAGONAL = np.array([[0.6, 0.2, 0.0], [0.2, 0.0, 0.2], [0.0, 0.2, 0.6]])


def answer(image, filters):
    filters = np.asarray(filters, dtype=float)
    network = Network([Conv2d(1, filters.shape, bias=False)], (1, *np.shape(image)), dtype=np.float64)
    network.parameters["0.weight"][...] = filters
    return network.forward(np.asarray(image, dtype=float)[None, None])[0, 0]


def test_a_difference_is_positive_where_bright_is_left_of_dark():
    """The text has the sign of a flipped filter; nothing is flipped here."""
    assert answer([[255, 0]], [[1, -1]]) == 255
    assert answer([[0, 255]], [[1, -1]]) == -255
    assert answer([[80, 80]], [[1, -1]]) == 0


def test_the_diagonal_filter_prefers_its_diagonal_and_also_sees_light():
    main, other = answer(np.eye(3), DIAGONAL), answer(np.eye(3)[::-1], DIAGONAL)
    assert np.isclose(main, 1.2) and np.isclose(other, 0.0) and np.isclose(answer(np.ones((3, 3)), DIAGONAL), 2.0)


def test_of_patches_of_one_length_the_filter_itself_answers_most():
    draws = np.random.default_rng(0)
    patches = draws.standard_normal((500, 3, 3))
    patches *= np.linalg.norm(DIAGONAL) / np.linalg.norm(patches, axis=(1, 2), keepdims=True)
    best = answer(DIAGONAL, DIAGONAL)
    assert np.isclose(best, (DIAGONAL**2).sum()) and max(answer(patch, DIAGONAL) for patch in patches) < best
