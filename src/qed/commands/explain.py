"""``qed explain``: what a model file holds."""

from qed.base.saving.models import load
from qed.report.explanation import Explanation, explanation_of


def explain(path: str) -> Explanation:
    """Read a model file and say what it holds."""
    return explanation_of(load(path))
