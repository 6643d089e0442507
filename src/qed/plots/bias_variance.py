"""Bias and variance as pictures: all hypotheses with their average, and the two terms against the input for several methods."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from qed.base.errors import InputError
from qed.plots.given import having, named
from qed.plots.style import ACCENT, HUES, INK, MUTED, STYLE, Axes, axes, plain, some


def hypotheses(found: Any, ax: Axes | None = None) -> Axes:
    """Draw what many fitted models say, their average and the truth, against the one feature.

    Parameters
    ----------
    found : BiasVariance
        What `qed.bias_variance` gave.
    ax : matplotlib axes, optional
        Where to draw.

    Examples
    --------
    >>> import qed
    >>> ax = hypotheses(qed.polynomial_experiment([1], repetitions=20)[1])
    >>> ax.get_legend().get_texts()[-1].get_text()
    'truth'
    """
    x, order = _line(found)
    ax = axes(ax)
    for one in found.predictions[some(len(found.predictions), 60)]:
        ax.plot(x, one[order], color=MUTED, alpha=0.25, linewidth=0.7)
    ax.plot(x, found.mean_prediction[order], color=ACCENT, linewidth=2, label="average hypothesis")
    ax.plot(x, found.truth[order], color=INK, linewidth=1.2, linestyle=(0, (4, 3)), label="truth")
    ax.set(xlabel="x", ylabel="prediction")
    ax.set_title("Hypotheses from many training sets", loc="left")
    ax.legend(loc="best", fontsize=9)
    return ax


def bias_variance(found: Mapping[Any, Any], label: str = "degree") -> Any:
    """Draw squared bias and variance against x for several methods, and their averages.

    Parameters
    ----------
    found : mapping of name to BiasVariance
        What `qed.polynomial_experiment` gave, for example.
    label : str
        What the names are.

    Returns
    -------
    matplotlib figure
        With three pictures.

    Examples
    --------
    >>> import qed
    >>> figure = bias_variance(qed.polynomial_experiment(repetitions=20))
    >>> [ax.get_title(loc="left") for ax in figure.axes]
    ['Bias²', 'Variance', 'Averages over x']
    """
    import matplotlib.pyplot as plt

    for one in named(found, "methods").values():
        _line(one)
    with plt.rc_context(STYLE):
        figure, panels = plt.subplots(1, 3, figsize=(10.5, 3.4), layout="constrained")
    for number, (name, one) in enumerate(found.items()):
        x, order = _line(one)
        color = HUES[number % len(HUES)]
        panels[0].plot(x, one.bias_squared[order], color=color, linewidth=1.6, label=f"{label} {plain(name)}")
        panels[1].plot(x, one.variance[order], color=color, linewidth=1.6)
    places = np.arange(len(found))
    for shift, term, color in ((-0.2, "bias_squared", ACCENT), (0.2, "variance", HUES[1])):
        heights = [one.summary()[term] for one in found.values()]
        panels[2].bar(places + shift, heights, width=0.36, color=color, label=term.replace("_squared", "²"))
    panels[2].set_xticks(places, [plain(name) for name in found])
    panels[2].set_xlabel(label)
    for panel, title in zip(panels, ("Bias²", "Variance", "Averages over x")):
        panel.set_title(title, loc="left")
    for panel in panels[:2]:
        panel.set_xlabel("x")
    panels[0].legend(loc="best", fontsize=9)
    panels[2].legend(loc="best", fontsize=9)
    return figure


def _line(found: Any) -> tuple[np.ndarray, np.ndarray]:
    """Give the one feature in rising order, and that order."""
    having(found, ("X", "truth", "predictions"), "what qed.bias_variance gives")
    X = np.asarray(found.X, dtype=float).reshape(len(found.truth), -1)
    if X.shape[1] != 1:
        raise InputError(f"Only points with one feature can be drawn against it, but these have {X.shape[1]}.")
    order = np.argsort(X[:, 0])
    return X[order, 0], order
