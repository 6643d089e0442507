"""The look of the gallery: the colours and the quiet axes that qed's own pictures have."""

from typing import Any


def style(gallery: dict[str, Any], script: str) -> None:
    """Set matplotlib's defaults before every script."""
    import matplotlib.pyplot as plt
    from cycler import cycler

    from qed.plots.style import HUES, STYLE

    plt.rcParams.update(STYLE)
    plt.rcParams["axes.prop_cycle"] = cycler(color=HUES)
