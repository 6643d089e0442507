"""Catalogue entry ONEHOT: class k of K is the k-th unit vector; no order and no distance between classes is made up."""

import itertools

import numpy as np
import pytest

import qed

FRUIT = [["apple"], ["banana"], ["cherry"]]


def test_class_two_of_three():
    encoder = qed.OneHotEncoder(sparse_output=False).fit(FRUIT)
    assert encoder.transform([["banana"]]).tolist() == [[0, 1, 0]]
    np.testing.assert_array_equal(encoder.transform(FRUIT), np.eye(3))


@pytest.mark.parametrize("sparse_output", [True, False])
def test_rows_sum_to_one_and_the_largest_inverts(sparse_output):
    labels = np.random.default_rng(0).choice(["a", "b", "c", "d", "e"], size=(200, 1))
    encoder = qed.OneHotEncoder(sparse_output=sparse_output).fit(labels)
    made = encoder.transform(labels)
    dense = made.toarray() if sparse_output else made
    assert (dense.sum(axis=1) == 1).all() and set(np.unique(dense)) == {0.0, 1.0}
    assert encoder.categories_[0][dense.argmax(axis=1)].tolist() == labels[:, 0].tolist()
    assert encoder.inverse_transform(made)[:, 0].tolist() == labels[:, 0].tolist()


def test_all_codes_are_equally_far_apart():
    codes = qed.OneHotEncoder(sparse_output=False).fit_transform(FRUIT)
    distances = [np.linalg.norm(a - b) for a, b in itertools.combinations(codes, 2)]
    np.testing.assert_allclose(distances, np.sqrt(2), rtol=1e-15)


def test_the_mean_of_the_codes_is_the_share_of_each_class_and_names_no_other_class():
    codes = qed.OneHotEncoder(sparse_output=False).fit(FRUIT).transform([["apple"], ["cherry"], ["cherry"]])
    np.testing.assert_allclose(codes.mean(axis=0), [1 / 3, 0, 2 / 3])


def test_numbers_would_make_up_an_order():
    line = qed.LinearRegression().fit([[0.0], [1.0]], [1, 3])
    assert round(line.predict([[0.5]])[0]) == 2  # what lies between apple and cherry is "banana"
    codes = qed.OneHotEncoder(sparse_output=False).fit(FRUIT).transform([["apple"], ["cherry"]])
    assert codes.mean(axis=0)[1] == 0
