"""Pictures: they draw what they are given, where they are told to, whatever the names look like."""

import io

import numpy as np
import pyarrow as pa
import pytest
from matplotlib import pyplot as plt
from matplotlib.figure import Figure

import qed
from qed import plots
from qed.base.errors import InputError
from qed.plots.style import plain, some

STRANGE = ["$x^$", "<b>", "{{ 7*7 }}", r"\frac{1}{2}$", "a" * 90, "two\nlines"]


@pytest.fixture
def ax():
    return Figure().subplots()


def drawn(ax):
    """Give the picture as text; rendering is where strange names would fail."""
    stream = io.StringIO()
    ax.figure.savefig(stream, format="svg")
    return stream.getvalue()


def test_residuals_and_predictions(ax):
    y, predicted = np.arange(50.0), np.arange(50.0) + 1
    assert plots.residuals(y, predicted, ax) is ax
    points = next(line for line in ax.lines if line.get_marker() == "o")
    np.testing.assert_array_equal(points.get_ydata(), -np.ones(50))
    other = Figure().subplots()
    plots.predicted_against_true(y, predicted, other)
    np.testing.assert_array_equal(other.lines[0].get_xdata(), [0.0, 50.0])


def test_a_confusion_matrix_writes_its_counts(ax):
    plots.confusion_matrix([[3, 1, 0], [0, 5, 0], [2, 0, 4]], ["a", "b", "c"], ax)
    assert sorted(text.get_text() for text in ax.texts) == ["1", "2", "3", "4", "5"]
    assert [patch.get_alpha() for patch in ax.patches][:3] == [0.75, 0.25, 1.0]


def test_a_confusion_matrix_of_many_classes_leaves_out_the_numbers(ax):
    plots.confusion_matrix(np.eye(20), [str(i) for i in range(20)], ax)
    assert len(ax.texts) == 0 and len(ax.patches) == 20


def test_filters_stand_on_one_scale_in_rows(ax):
    weights = np.arange(10 * 3 * 2, dtype=float).reshape(10, 3, 2) - 50
    assert plots.filters(weights, ax, columns=4) is ax
    sheet, (low, high) = ax.images[0].get_array(), ax.images[0].get_clim()
    assert sheet.shape == (3 * 4 + 1, 4 * 3 + 1) and (low, high) == (-50, 50)
    np.testing.assert_array_equal(sheet[5:8, 4:6], weights[5])
    assert [text.get_text() for text in ax.texts] == [str(k) for k in range(10)]
    plots.filters(np.zeros((1, 2, 2)))
    with pytest.raises(qed.base.errors.InputError, match="choose a channel"):
        plots.filters(np.zeros((2, 3, 4, 4)))


def test_curves_show_mean_and_standard_error(ax):
    scores = np.array([[0.4, 0.6], [0.7, 0.9]])
    plots.validation_curve([0.1, 100.0], scores, ax, chosen=100.0)
    np.testing.assert_allclose(ax.lines[0].get_ydata(), [0.5, 0.8])
    assert ax.get_xscale() == "log" and "chosen: 100" in ax.texts[0].get_text()
    band = ax.collections[0].get_paths()[0].vertices[:, 1]
    assert band.min() == pytest.approx(0.4) and band.max() == pytest.approx(0.9)
    other = Figure().subplots()
    plots.learning_curve([10, 20], scores, scores - 0.1, other, ylabel="R²")
    assert other.get_ylabel() == "R²" and len(other.lines) == 2


def test_coefficients_come_by_size_and_only_the_largest(ax):
    plots.coefficients([f"c{j}" for j in range(40)], np.arange(40.0) - 10, ax, most=3)
    assert [label.get_text() for label in ax.get_yticklabels()] == ["c39", "c38", "c37"]


def test_traces_of_fits(ax):
    X, y = qed.data.load("iris").Xy()
    with qed.watch() as seen:
        model = qed.LogisticRegression().fit(X, y)
    plots.trace(model, ax)
    numbers = ax.lines[0].get_xdata()
    assert len(numbers) == len(model.ending_.trace)
    np.testing.assert_array_equal(plots.trace(seen.trace, Figure().subplots()).lines[0].get_xdata(), numbers)


def test_clusters_in_one_dimension_too(ax):
    plots.clusters(np.array([[0.0], [1.0], [9.0]]), [0, 0, 1], [[0.5], [9.0]], ax)
    assert "100 %" in ax.get_xlabel()
    drawn(ax)


def test_histograms_of_a_mixed_table():
    table = pa.table({"a": [1.0, 2.0, None], "b": ["x", "y", "x"], "c": [True, False, None], "$d$": pa.nulls(3)})
    figure = plots.histograms(table, columns=2)
    assert len(figure.axes) == 4
    drawn(figure.axes[0])


def test_strange_names_are_text(ax):
    plots.coefficients(STRANGE, np.arange(len(STRANGE)), ax)
    text = drawn(ax)
    assert "<b>" not in text
    other = Figure().subplots()
    plots.confusion_matrix(np.eye(len(STRANGE)), STRANGE, other)
    drawn(other)
    third = Figure().subplots()
    plots.clusters(np.random.default_rng(0).random((6, 2)), np.array(STRANGE), ax=third)
    drawn(third)


def test_names_are_cut_and_points_are_few():
    assert plain("a" * 90) == "a" * 39 + "…" and plain("two\nlines") == "two lines"
    assert len(some(10**6)) == 2000 and some(10**6)[-1] == 10**6 - 1


def test_boundaries_margins_and_cells():
    X, y = qed.data.synthetic.blobs(60, random_state=0)
    two = y < 2
    ax = plots.decision_boundary(qed.GaussianNB().fit(X, y), X, y, Figure().subplots())
    assert len(ax.get_legend().get_texts()) == len(np.unique(y)) and "first column" in drawn(ax)
    model = qed.SVC(kernel="linear").fit(X[two], y[two])
    ax = plots.margins(model, X[two], y[two], Figure().subplots())
    counts = [int(text.get_text().rsplit("(", 1)[1].rstrip(")")) for text in ax.get_legend().get_texts()]
    assert sum(counts) == two.sum() and counts[1] + counts[2] == len(model.support_)
    ax = plots.voronoi([[0.0, 0.0], [1.0, 0.0]], X, Figure().subplots())
    assert [len(line.get_xdata()) for line in ax.lines] == [len(X), 2]
    with pytest.raises(qed.base.errors.InputError, match="two columns"):
        plots.voronoi([[0.0, 0.0, 1.0]])


def test_curves_of_the_course():
    ax = plots.losses({"hinge": qed.optim.HingeLoss(), "logistic": qed.optim.LogisticLoss()}, Figure().subplots())
    hinge = ax.lines[1]
    at_one = np.argmin(np.abs(hinge.get_xdata() - 1.0))
    assert hinge.get_ydata()[at_one] == pytest.approx(0.0, abs=0.02) and len(ax.lines) == 3
    ax = plots.impurities(Figure().subplots())
    assert [line.get_ydata().max() for line in ax.lines] == pytest.approx([1.0, 0.5, 0.5])
    ax = plots.roc({STRANGE[0]: ([0.0, 0.5, 1.0], [0.0, 0.5, 1.0])}, Figure().subplots())
    assert "area 0.500" in ax.get_legend().get_texts()[1].get_text() and drawn(ax)
    ax = plots.coefficient_path([0.1, 1.0, 10.0], np.ones((3, 9)), None, Figure().subplots())
    assert len(ax.lines) == 10 and len(ax.get_legend().get_texts()) == 6
    fits = {name: qed.optim.minimize(lambda w: w @ w, [1.0, 2.0], method=name).ending for name in ("gradient", "lbfgs")}
    ax = plots.convergence(fits, 0.0, Figure().subplots())
    assert ax.get_yscale() == "log" and len(ax.lines) == 2


def test_learning_by_trial_is_drawn():
    world = qed.GridWorld(["S.#", "..G"])
    plan = qed.ValueIteration().fit(world)
    ax = plots.policy(world, plan.policy_, plan.values_, Figure().subplots())
    assert [text.get_text() for text in ax.texts] == world.arrows(plan.policy_).replace("\n", " ").split(" ")
    player = qed.UpperConfidence(pulls=60, runs=3, random_state=0).fit(qed.Bandit([0.1, 0.9]))
    ax = plots.regret({"bounds": player}, Figure().subplots())
    np.testing.assert_array_equal(ax.lines[0].get_ydata(), player.regret_)


ROWS = np.random.default_rng(0).standard_normal((30, 3))
SIDES = (ROWS[:, 0] > 0).astype(int)
WORDS = np.where(SIDES, "yes", "no")
NAIVE = qed.GaussianNB().fit(ROWS[:, :2], WORDS)
MACHINE = qed.SVC().fit(ROWS[:, :2], WORDS)
CURVE = ([0.0, 1.0], [0.0, 1.0])


@pytest.mark.parametrize(
    "draw, says",
    [
        (lambda: plots.decision_boundary(NAIVE, ROWS, WORDS), "two columns"),
        (lambda: plots.decision_boundary(NAIVE, ROWS[:, :1], WORDS), "two columns"),
        (lambda: plots.decision_boundary(NAIVE, ROWS[:0, :2], WORDS[:0]), "two columns"),
        (lambda: plots.decision_boundary(NAIVE, ROWS[:, :2], WORDS[:3]), "one label for each"),
        (lambda: plots.decision_boundary(NAIVE, ROWS[:, :2], SIDES), "labels are such as"),
        (lambda: plots.decision_boundary(NAIVE, ROWS[:, :2] * np.nan, WORDS), "finite"),
        (lambda: plots.decision_boundary(None, ROWS[:, :2], WORDS), "fitted classifier, not of NoneType"),
        (lambda: plots.margins(NAIVE, ROWS[:, :2], WORDS), "fitted qed.SVC, not of GaussianNB"),
        (lambda: plots.margins(MACHINE, ROWS[:, :2], np.arange(30)), "two classes"),
        (lambda: plots.margins(MACHINE, ROWS[:3, :2], WORDS[:3]), "rows that it was fitted to|two classes"),
        (lambda: plots.voronoi([[0.0, np.nan]]), "finite"),
        (lambda: plots.ellipses(qed.GaussianMixture(2, random_state=0).fit(ROWS[:, :1])), "two columns"),
        (lambda: plots.ellipses(qed.KMeans(2).fit(ROWS)), "fitted mixture"),
        (lambda: plots.clusters(ROWS, SIDES[:3]), "one label"),
        (lambda: plots.losses({"mine": abs}), "losses of qed.optim"),
        (lambda: plots.losses({}), "nothing to draw"),
        (lambda: plots.roc(CURVE), "by their names"),
        (lambda: plots.roc({"three": (*CURVE, [0.0])}), "two lists"),
        (lambda: plots.roc({"uneven": ([0.0], [0.0, 1.0])}), "belong together"),
        (lambda: plots.precision_recall({}), "nothing to draw"),
        (lambda: plots.calibration([0.1], [0.1, 0.2]), "belong together"),
        (lambda: plots.coefficient_path([0.0, 1.0], [[1.0], [2.0]]), "above zero"),
        (lambda: plots.coefficient_path([1.0], [[1.0], [2.0]]), "one row of coefficients"),
        (lambda: plots.convergence({"mine": [3.0, 2.0]}), "fitted iterative model"),
        (lambda: plots.trace(3), "fitted iterative model"),
        (lambda: plots.residuals(WORDS, SIDES), "text"),
        (lambda: plots.residuals([], []), "not empty"),
        (lambda: plots.predicted_against_true([1.0], [1.0, 2.0]), "belong together"),
        (lambda: plots.confusion_matrix([[1, 2, 3], [3, 4, 5]], ["a", "b"]), "square"),
        (lambda: plots.confusion_matrix([[1, 2], [3, 4]], ["a"]), "square"),
        (lambda: plots.coefficients(["a"], [1.0, 2.0]), "one name for each"),
        (lambda: plots.importances(["a"], [1.0]), "a table of numbers"),
        (lambda: plots.tangency(ROWS[:, :2], SIDES, 0.0), "radius above zero"),
        (lambda: plots.regret({"none": 3}), "players of bandits"),
        (lambda: plots.policy(qed.GridWorld(["S.G"]), [0]), "each of the 3 fields"),
        (lambda: plots.hypotheses(3), "what qed.bias_variance gives"),
        (lambda: plots.bias_variance({}), "nothing to draw"),
        (lambda: plots.dependence(3), "partial_dependence"),
    ],
)
def test_what_can_not_be_drawn_is_refused_in_words_and_leaves_no_empty_picture(draw, says):
    before = plt.get_fignums()
    with pytest.raises(InputError, match=says):
        draw()
    assert plt.get_fignums() == before


def test_models_of_named_columns_and_of_one_class_are_drawn_without_a_warning(recwarn):
    frame = pytest.importorskip("pandas").DataFrame(ROWS[:, :2], columns=["a", "b"])
    plots.decision_boundary(qed.GaussianNB().fit(frame, WORDS), frame, WORDS)
    plots.margins(qed.SVC().fit(frame, WORDS), frame, WORDS)
    one = plots.decision_boundary(NAIVE, ROWS[SIDES == 1, :2], WORDS[SIDES == 1])
    assert [text.get_text() for text in one.get_legend().get_texts()] == ["no", "yes"], "what it answers is named too"
    assert not [warning for warning in recwarn if "feature names" in str(warning.message)]
