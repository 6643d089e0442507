"""Trees drawn and in sentences: every row is told by one rule, names and levels are those of the table, and what is left out is said."""

import re
from xml.etree import ElementTree

import numpy as np
import pytest
from matplotlib.figure import Figure

import qed
from qed.base.errors import InputError
from qed.trees.nodes import Nodes
from qed.trees.words.reading import Answer

TABLE = {
    "city": ["Rome", "Rome", "Oslo", "Paris", "Paris", "Oslo", "Oslo", None],
    "income": [10.0, 20.0, 30.0, 40.0, 50.0, None, 70.0, 80.0],
}
ANSWER = ["no", "no", "yes", "no", "no", "no", "yes", "no"]


@pytest.fixture(scope="module")
def of_table():
    return qed.TableModel(qed.DecisionTreeClassifier()).fit(TABLE, ANSWER)


@pytest.fixture(scope="module")
def of_iris():
    iris = qed.data.load("iris")
    return qed.DecisionTreeClassifier().fit(*iris.Xy()), iris.features


@pytest.fixture
def of_sets():
    """A tree with a question of three ways out, about the levels 0 and 3, 1, and all others."""
    model = qed.DecisionTreeClassifier().fit([[0, 0.0], [0, 1.0], [1, 2.0]], ["a", "b", "c"])
    count = np.array([9, 3, 4, 2, 2, 2])
    nodes = Nodes(
        feature=np.array([0, -1, 1, -1, -1, -1]),
        threshold=np.array([0.0, 0.0, 1.5, 0.0, 0.0, 0.0]),
        children_right=np.array([2, -1, 4, -1, -1, -1]),
        missing_go_to_left=np.zeros(6, dtype=bool),
        value=np.eye(3)[[0, 0, 1, 1, 2, 2]],
        impurity=np.zeros(6),
        n_node_samples=count,
        weighted_n_node_samples=count.astype(float),
    )
    sets = np.full((1, 256), 2)
    sets[0, [0, 3]], sets[0, 1] = 0, 1
    nodes.__dict__.update(level_set=np.array([0, -1, -1, -1, -1, -1]), sets=sets, ends=np.array([6, 2, 5, 4, 5, 6]))
    model.tree_ = nodes
    return model


def test_rules_speak_of_levels_by_their_names_and_of_missing_values_where_there_were_some(of_table):
    rules = qed.export_rules(of_table).split("\n")
    assert len(rules) == of_table.model_.get_n_leaves()
    assert sum(int(re.search(r"\(\d+ of (\d+) rows?\)", rule)[1]) for rule in rules) == len(ANSWER)
    assert "If city is one of Paris, Rome" in rules[0] and rules[0].endswith("then 'no' (5 of 5 rows).")
    assert "(or missing)" in " ".join(rules) and all("city" in rule for rule in rules)
    whole = qed.TableModel(qed.DecisionTreeClassifier()).fit({"income": [1.0, 2.0, 3.0]}, ["a", "b", "a"])
    assert "missing" not in qed.export_rules(whole) and "missing" in qed.export_rules(whole, missing=True)
    assert "(or missing)" not in qed.export_rules(of_table, missing=False)


def test_every_row_follows_the_rule_of_its_leaf(of_iris):
    model, names = of_iris
    X, y = qed.data.load("iris").Xy()
    found = np.zeros(len(X), dtype=int)
    for rule in qed.export_rules(model, feature_names=names, missing=False).split("\n"):
        asked, label = re.fullmatch(r"If (.*), then '(\w+)' \(.*\)\.", rule).groups()
        holds = np.ones(len(X), dtype=bool)
        for name, says in re.findall(r"(\w+) is ((?:above|at most) .*?)(?= and \w+ is |$)", asked):
            for kind, at in re.findall(r"(above|at most) ([\d.]+)", says):
                value = X[:, names.index(name)]
                holds &= value > float(at) if kind == "above" else value <= float(at)
        assert (model.predict(X[holds]) == label).all()
        found += holds
    assert (found == 1).all()


def test_rules_that_are_left_out_are_counted(of_iris):
    lines = qed.export_rules(of_iris[0], most=2).split("\n")
    left = of_iris[0].get_n_leaves() - 2
    assert len(lines) == 3 and lines[-1].startswith(f"And {left} more rules, for ")
    assert qed.export_rules(of_iris[0], most=left + 2).count("\n") == left + 1


def test_a_tree_without_questions_has_one_rule():
    assert qed.export_rules(qed.DecisionTreeRegressor().fit([[1.0], [2.0]], [3.0, 3.0])) == "Always 3 (2 rows)."
    ElementTree.fromstring(qed.export_svg(qed.DecisionTreeRegressor().fit([[1.0], [2.0]], [3.0, 3.0])))


def test_rows_are_not_counted_out_where_they_weigh_differently():
    model = qed.DecisionTreeClassifier(max_depth=1).fit([[0.0], [1.0], [2.0]], [0, 1, 1], sample_weight=[1.0, 2.0, 0.5])
    assert "100% of the weight of 2 rows" in qed.export_rules(model)


def test_answers_about_one_column_are_put_together():
    narrow = Answer(0, low=1.0, missing=True) & Answer(0, high=4.0, missing=True) & Answer(0, high=2.0, missing=False)
    assert narrow.sentence("x") == "x is above 1 and at most 2" and narrow.label() == "1 – 2"
    levels = Answer(0, levels=("a", "b", "c")) & Answer(0, levels=("c", "b"))
    assert levels.sentence("x") == "x is one of b, c" and levels.label() == "b, c"
    many = Answer(0, levels=tuple("abcdefghijkl"), missing=True)
    assert many.sentence("x").endswith("g, h and 4 more (or missing)")
    # Where missing values alone go right, the threshold is infinite.
    assert Answer(0, high=np.inf).sentence("x") == "x is known" and Answer(0, low=np.inf).label() == "missing"


def test_questions_of_several_ways(of_sets):
    levels = {"city": ["Rome", "Oslo", "Paris", "Bern"]}
    names = ["city", "age"]
    rules = qed.export_rules(of_sets, feature_names=names, categories=levels, missing=["city"]).split("\n")
    assert rules[0] == "If city is one of Rome, Bern, then 'a' (3 of 3 rows)."
    assert rules[1] == "If city is Oslo and age is at most 1.5, then 'b' (2 of 2 rows)."
    assert rules[-1] == "If city is Paris (or missing), then 'c' (2 of 2 rows)."
    assert "If city is other" in qed.export_rules(of_sets, feature_names=names, missing=False)
    assert qed.export_text(of_sets, feature_names=names).count("city in [") == 3
    assert qed.export_svg(of_sets, feature_names=names).count("<path") == 5


def test_a_drawing_says_what_it_leaves_out(of_iris):
    model, names = of_iris
    whole, cut = (qed.export_svg(model, feature_names=names, max_depth=depth) for depth in (None, 2))
    boxes = [one for one in ElementTree.fromstring(whole) if one.get("rx")]
    assert len(boxes) == model.tree_.node_count and "not drawn" not in whole
    hidden = model.get_n_leaves() - 1
    assert (
        f"{hidden} of {model.get_n_leaves()} leaves lie deeper and are not drawn" in cut and "stroke-dasharray" in cut
    )


def test_names_in_a_drawing_can_not_become_markup():
    model = qed.DecisionTreeClassifier().fit([[0.0], [1.0]], ["<b>&", "\x1b[2J"])
    words = qed.export_svg(model, feature_names=["<script>alert(1)</script> and so on"])
    found = ElementTree.fromstring(words)
    assert "<script" not in words and "\x1b" not in words
    assert "<script>alert(1)</script> and so on" in "".join(found.itertext())


def test_matplotlib_draws_the_same_boxes(of_iris):
    ax = Figure().subplots()
    assert qed.plot_tree(of_iris[0], max_depth=2, ax=ax) is ax
    shown = [text.get_text() for text in ax.texts]
    assert len(ax.lines) == 4 and len(shown) == 5 + 4 and "setosa\n50 of 50 rows" in shown


def test_only_single_trees_can_be_read():
    X, y = np.arange(10.0)[:, None], np.arange(10.0)
    with pytest.raises(InputError, match="no single tree"):
        qed.export_rules(qed.LinearRegression().fit(X, y))
    with pytest.raises(InputError, match="class_names must contain 2"):
        qed.export_rules(qed.DecisionTreeClassifier().fit(X, y > 4), class_names=["a"])
