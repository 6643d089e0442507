"""ORDINAL: numbers in the place of classes make up an order; between a peach (1) and an apple (3) they see a banana (2)."""

import numpy as np

import qed

FRUIT = np.array(["peach", "banana", "apple"])
PLACES = np.array([[0.0, 0.0], [2.0, 6.0], [4.0, 0.0]])


def basket(seed=0, n=40):
    random = np.random.default_rng(seed)
    number = np.repeat([0, 1, 2], n)
    return PLACES[number] + 0.4 * random.standard_normal((3 * n, 2)), number


def rounded(model, X, order):
    """Read a regression on 1, 2, 3 as classes: the nearest of the numbers."""
    return order[np.clip(np.rint(model.predict(X)), 1, 3).astype(int) - 1]


def test_a_cross_of_apple_and_peach_is_no_banana():
    X, number = basket()
    line = qed.LinearRegression().fit(X, number + 1.0)
    cross = (PLACES[:1] + PLACES[2:]) / 2
    assert rounded(line, cross, FRUIT)[0] == "banana"
    codes = qed.RidgeClassifier(alpha=0).fit(X, FRUIT[number])
    assert codes.predict(cross)[0] != "banana" and codes.score(X, FRUIT[number]) == 1


def test_another_order_of_the_numbers_is_another_model_but_not_of_the_codes():
    X, number = basket()
    y, grid = FRUIT[number], np.stack(np.meshgrid(np.linspace(-2, 6, 15), np.linspace(-2, 8, 15)), -1).reshape(-1, 2)
    answers = {}
    for order in (FRUIT, FRUIT[[1, 0, 2]]):
        place = {name: k + 1.0 for k, name in enumerate(order)}
        line = qed.LinearRegression().fit(X, np.array([place[name] for name in y]))
        answers[tuple(order)] = rounded(line, grid, order)
    first, second = answers.values()
    assert (first != second).mean() > 0.1
    renamed = {"peach": "z", "banana": "m", "apple": "a"}
    plain = qed.RidgeClassifier().fit(X, y).predict(grid)
    other = qed.RidgeClassifier().fit(X, [renamed[name] for name in y]).predict(grid)
    assert [renamed[name] for name in plain] == other.tolist()
