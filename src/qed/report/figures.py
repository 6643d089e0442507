"""Which pictures a report has, and what they show: each with a title and a sentence that says how to read it."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
from markupsafe import Markup

from qed import plots
from qed.base.sources.block import as_dense
from qed.plots.style import plain
from qed.report.clusters import by_count, criterion_by_count, second_opinion, shares_of_variance
from qed.report.diagnosis import Diagnosis
from qed.report.driving import Driving, leading_words
from qed.report.explanation import Effect, centers_of, effects_of, has_importances, inner_model, is_tree, outputs_of
from qed.report.svg import coloured, picture
from qed.report.words import score_words
from qed.selection.comparing.leaderboard import Comparison, Entry
from qed.selection.diagnosis.dependence import PartialDependence
from qed.selection.metrics.classification import confusion_matrix
from qed.selection.metrics.decision import calibration_curve
from qed.selection.metrics.ranking import precision_recall_curve, roc_curve

MOST_BARS = 15
# Of more classes, curves would lie over one another.
MOST_CURVES = 6
# Of more classes, the rarest share a line of the confusion matrix.
MOST_CELLS = 30


@dataclass(frozen=True)
class Picture:
    """A picture with its title and how to read it."""

    title: str
    svg: Markup
    says: str
    is_wide: bool = False  # whether it takes the width of the page


@dataclass(frozen=True)
class Pictures:
    """The pictures of a report, by what they tell."""

    clusters: list[Picture] = field(default_factory=list)
    drives: list[Picture] = field(default_factory=list)  # what the best model needs, and how it works
    errs: list[Picture] = field(default_factory=list)  # what it says of rows it has not seen
    more: list[Picture] = field(default_factory=list)  # its settings, and the number of rows


def figures(comparison: Comparison, diagnosis: Diagnosis, driven: Driving) -> Pictures:
    """Draw all pictures for the best model."""
    label, sign = score_words(comparison.scoring)
    if comparison.task == "clustering":
        return Pictures(clusters=[_clusters(comparison), *_cluster_path(comparison.best)])
    more = [*_path(comparison.best, label, sign)]
    if diagnosis.curve is not None:
        more.append(_learning(diagnosis.curve, label, sign))
    model = comparison.best.model
    drives = [*_driving(driven, label), *coefficients(model), *_tree(model)]
    return Pictures(drives=drives, errs=[*_answers(comparison, diagnosis), *chances(comparison)], more=more)


def _driving(driven: Driving, label: str) -> Iterator[Picture]:
    """Draw what is lost without each column, and how the leading ones work."""
    if driven.importance is None:
        return
    one = driven.importance
    count = min(MOST_BARS, len(one.names))
    draw = partial(plots.importances, one.names, one.importances, most=MOST_BARS)
    svg = picture("shuffling", "importances of columns by shuffling", draw, 5.4, 1.2 + 0.26 * count)
    words = f"How much {label} is lost when a column is shuffled, {driven.how}; the lines are one standard deviation."
    yield Picture("What it needs", svg, f"{words} {leading_words(driven)}")
    for number, line in enumerate(driven.dependences):
        draw = partial(_dependence, line)
        svg = picture(f"dependence{number}", f"mean prediction by {line.name}", draw, 5.4, _height(line))
        yield Picture(f"How {line.name} works", svg, _dependence_words(line))


def _dependence(line: PartialDependence, ax: Any) -> Any:
    """Draw a dependence; of two classes it is the chance of one, which its axis says."""
    plots.dependence(line, ax)
    if _is_chance(line) and len(line.outputs) == 1:
        name = plain(f"chance of {line.outputs[0]}", 28)
        ax.set(**{"xlabel" if line.places is None else "ylabel": name})
    return ax


def _is_chance(line: PartialDependence) -> bool:
    return len(line.outputs) > 1 or bool(line.each.min() >= 0 and line.each.max() <= 1)


def _height(line: PartialDependence) -> float:
    return 3.4 if line.places is not None else 1.2 + 0.3 * len(line.values)


def _dependence_words(line: PartialDependence) -> str:
    what = "probability" if _is_chance(line) else "prediction"
    band = "; the band holds eight rows in ten" if len(line.outputs) == 1 else ""
    return f"The mean {what} when all rows have the same {line.name}, and all else stays{band}. It shows the model, not a cause."


def _tree(model: Any) -> Iterator[Picture]:
    """Draw the tree, where the model is one."""
    if not is_tree(model):
        return
    svg = Markup(coloured(plots.export_svg(model)))
    words = (
        "From the left: the column that is asked about, and on each way out the values that take it; a line is as thick as the share "
        "of the rows on it. Boxes with a broken edge ask on."
    )
    yield Picture("The tree", svg, words, is_wide=True)


def _answers(comparison: Comparison, diagnosis: Diagnosis) -> Iterator[Picture]:
    """Draw what the model says for rows it has not seen, beside the truth."""
    y, predicted = np.asarray(comparison.rows.array().y)[comparison.judged], diagnosis.predicted
    if predicted is None:
        return
    if comparison.task == "classification":
        yield confusion(y, predicted)
        return
    draw = partial(plots.predicted_against_true, y, predicted)
    words = "Each point is a row, predicted by a model that has not seen it; a perfect model is the diagonal."
    yield Picture("Predicted and true", picture("true", "predictions against true values", draw), words)
    draw = partial(plots.residuals, y, predicted)
    words = "A level cloud is good. A bend means that something is missing in the model, a funnel that the noise grows."
    yield Picture("Residuals", picture("residuals", "residuals against predictions", draw), words)


def confusion(y: np.ndarray, predicted: np.ndarray) -> Picture:
    """Draw which class was taken for which; where there are many, the rarest together."""
    true, said = np.asarray(y).astype(str), np.asarray(predicted).astype(str)
    classes, frequency = np.unique(true, return_counts=True)
    wrong, more = int((true != said).sum()), ""
    if len(classes) > MOST_CELLS:
        kept = np.sort(classes[np.argsort(-frequency, kind="stable")[: MOST_CELLS - 1]])
        others = f"{len(classes) - len(kept)} others"
        true, said = (np.where(np.isin(one, kept), one, others) for one in (true, said))
        classes, more = np.append(kept, others), f" The {len(kept)} most frequent classes have lines of their own."
    else:
        classes = np.union1d(classes, said)
    counts = confusion_matrix(true, said, labels=classes)
    draw = partial(plots.confusion_matrix, counts, classes)
    size = min(6.0, 3.0 + 0.3 * len(classes))
    svg = picture("confusion", "confusion matrix", draw, size * 1.25, size)
    words = f"Rows are what is true, columns what was predicted by a model that has not seen the row: {wrong} of {len(y)} are wrong."
    return Picture("Confusion matrix", svg, words + more)


def chances(comparison: Comparison) -> Iterator[Picture]:
    """Draw what the probabilities of rows held out are worth: alarms, precision and recall, calibration."""
    if comparison.chances is None:
        return
    y, table = np.asarray(comparison.rows.array().y)[comparison.judged], comparison.chances
    classes = list(comparison.best.model.classes_)
    if len(classes) > MOST_CURVES:
        return
    asked = list(enumerate(classes))[1:] if len(classes) == 2 else list(enumerate(classes))
    alarms, found = {}, {}
    for k, label in asked:
        truth = y == label
        if truth.all() or not truth.any():
            return
        false, true, _ = roc_curve(truth, table[:, k])
        precision, recall, _ = precision_recall_curve(truth, table[:, k])
        alarms[str(label)], found[str(label)] = (false, true), (precision, recall)
    against = "" if len(asked) == 1 else ", each class against all others"
    svg = picture("roc", "true against false alarms", partial(plots.roc, alarms), 4.6, 4.2)
    called = "it" if len(asked) > 1 else classes[1]
    words = f"What share of the others is called {called} by mistake, for each share that is found{against}."
    yield Picture("Alarms, true and false", svg, words)
    share = float(np.mean(y == classes[1])) if len(asked) == 1 else None
    draw = partial(plots.precision_recall, found, share=share)
    words = f"Of the rows that are called so, the share that are; for each share that is found{against}."
    yield Picture("Precision and recall", picture("recall", "precision against recall", draw, 4.6, 4.2), words)
    truth = np.concatenate([y == label for _, label in asked])
    given = np.clip(np.concatenate([table[:, k] for k, _ in asked]), 0.0, 1.0)
    came, said = calibration_curve(truth, given, n_bins=10, strategy="uniform")
    draw = partial(plots.calibration, came, said, chances=given)
    off = float(np.mean((given - truth) ** 2))
    words = f"Where the line is near the diagonal, a chance of 0.8 comes true eight times in ten. The mean squared difference is {off:.3f}."
    yield Picture("Calibration", picture("calibration", "how often chances come true", draw, 4.6, 4.2), words)


def _clusters(comparison: Comparison) -> Picture:
    model = comparison.best.model
    X, labels = model.encoded(comparison.rows).array().X, model.predict(comparison.rows)
    X = as_dense(X)
    share = shares_of_variance(X)[:2].sum()
    draw = partial(plots.clusters, X, labels, centers_of(model.model_))
    words = (
        f"The rows, seen from the two directions in which they differ most; these hold {100 * share:.0f} % of the variance, so clusters "
        "that lie over one another here may be apart in the others."
    )
    return Picture("Clusters", picture("clusters", "rows coloured by cluster", draw), words)


def _cluster_path(entry: Entry) -> Iterator[Picture]:
    """Draw the silhouette by the number of clusters, and what the model itself is chosen by."""
    path, known = entry.path, by_count(entry)
    if path is None or len(known) < 3:
        return
    counts, places = [count for count, _ in known], [place for _, place in known]
    named = {"xlabel": "number of clusters", "chosen": int(path.counts[entry.chosen])}
    draw = partial(plots.validation_curve, counts, entry.scores[places], ylabel="silhouette", **named)
    words = (
        "The silhouette of rows held out, for every number of clusters that was tried; the band is one standard error."
    )
    yield Picture("Silhouette", picture("silhouette", "silhouette against the number of clusters", draw), words)
    if not path.criterion:
        return
    values = criterion_by_count(entry)[1]
    draw = partial(plots.validation_curve, counts, values[:, None], ylabel=path.criterion, **named)
    title = "Elbow" if path.criterion == "inertia" else path.criterion
    says = f"It falls with every further cluster; where it stops falling fast is its elbow. {second_opinion(entry)}"
    words = says if title == "Elbow" else second_opinion(entry)
    yield Picture(title, picture("criterion", f"{path.criterion} against the number of clusters", draw), words)


def _path(entry: Entry, label: str, sign: int) -> Iterator[Picture]:
    """Draw the scores of the settings that differ from the chosen one in the number of which most values were tried."""
    numbers = {
        name: values
        for name, values in entry.contender.grid.items()
        if len(values) >= 3 and all(isinstance(value, (int, float)) for value in values)
    }
    if not numbers:
        return
    name = max(numbers, key=lambda one: len(numbers[one]))
    others = {one: value for one, value in entry.setting.items() if one != name}
    tried = [c for c, one in enumerate(entry.contender.candidates) if {**one, **others} == one]
    named = {"xlabel": name, "ylabel": label, "chosen": entry.setting[name]}
    draw = partial(plots.validation_curve, numbers[name], sign * entry.scores[tried], **named)
    words = f"The score on rows held out for every value of {name} that was tried; the band is one standard error."
    yield Picture("Validation curve", picture("path", f"score against {name}", draw), words)


def _learning(curve: Any, label: str, sign: int) -> Picture:
    scores = sign * curve.train_scores, sign * curve.test_scores
    draw = partial(plots.learning_curve, curve.train_sizes, *scores, ylabel=label)
    words = "Where both lines have met, more rows would not help; where a gap is left, they would."
    return Picture("Learning curve", picture("learning", "score against the number of training rows", draw), words)


def _importances(effects: list[Effect]) -> Picture:
    draw = partial(plots.coefficients, [one.name for one in effects], [one.standardised[0] for one in effects])
    svg = picture("importances", "importances of columns", draw, 5.4, 1.0 + 0.26 * len(effects))
    words = (
        "The share that each column has in what all questions of the trees are worth on the rows they were grown on."
    )
    return Picture("Importances", svg, words)


def coefficients(model: Any) -> Iterator[Picture]:
    """Draw the coefficients: as bars for one output, as a grid of bars for a few classes; or the importances of columns."""
    effects = effects_of(model)[:MOST_BARS]
    if not effects or centers_of(inner_model(model)) is not None:
        return
    if has_importances(inner_model(model)):
        if used := [one for one in effects if one.standardised[0] > 0]:
            yield _importances(used)
        return
    outputs = outputs_of(model)
    names, tall = [effect.name for effect in effects], 1.0 + 0.26 * len(effects)
    if len(outputs) > 4:
        draw = partial(plots.coefficients, names, [effect.size for effect in effects])
        words = "The length of each column's coefficients over all classes, for one standard deviation of the column."
        yield Picture("Coefficients", picture("coefficients", "sizes of coefficients", draw, 5.4, tall), words)
        return
    is_classifier = hasattr(inner_model(model), "classes_")
    for number, output in enumerate(outputs):
        draw = partial(plots.coefficients, names, [effect.standardised[number] for effect in effects])
        svg = picture(f"coefficients{number}", f"coefficients of {output}", draw, 5.4, tall)
        what = f"the score of {output}" if is_classifier else f"the predicted {output}"
        words = f"What one standard deviation of each column adds to {what}."
        yield Picture("Coefficients" if len(outputs) == 1 else f"Coefficients of {output}", svg, words)
