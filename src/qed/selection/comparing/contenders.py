"""Which models a comparison runs: whatever the registry holds that has the role and says it wants to.

A regressor, classifier or clusterer takes part, whatever room it lives in, by having ``compare_grid``, the values of its parameters to
choose from (none for a model without parameters worth choosing). It may name in ``compare_degrees`` the degrees of products of columns
with which it wants to be tried, in ``compare_encoder`` what it wants of the encoder, in ``compare_words`` that it wants all words of free
text, in a sparse matrix, in ``compare_scale`` that columns are not to be scaled, in ``compare_name`` what it wants to be called, in
``compare_most_rows`` up to how many rows it can be afforded, where its cost grows with their square or cube, in ``compare_limits``
between which values a grid may be continued, and in ``compare_shared`` the parameters all values of which come from one fit. A model that
takes holes sees the table as it is. A model for some columns
only, such as counts, says in ``_contends_on(X)`` whether the encoded columns are such, and one whose best settings depend on the size of
the table says them in ``_settings_on``. So a new model joins every leaderboard by one line in its own file.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from qed.base.errors import ParameterError
from qed.base.lazy import public_classes
from qed.base.models.no_effect import without_effect
from qed.base.models.roles import Classifier, Grouper, Regressor
from qed.base.sources.layout import did_you_mean
from qed.features.maps.polynomial import monomial_count
from qed.features.tables.encoder import ColumnEncoder
from qed.selection.comparing.table_model import TableModel, what_suits
from qed.selection.searching.candidates import candidates_of, made_with

ROLES: Mapping[str, type[Any]] = {"regression": Regressor, "classification": Classifier, "clustering": Grouper}
Encoding = tuple[int, bool, tuple[tuple[str, Any], ...]]
MOST_PRODUCTS, MOST_WORK = 300, 2e9
# What a model that wants all words of free text asks of the encoder: a sparse matrix, where less than this share of it is not zero.
WORDS: Mapping[str, Any] = {"sparse_threshold": 0.3}
DEGREES = {1: "", 2: " on squares and products", 3: " on products of three"}


@dataclass(frozen=True)
class Contender:
    """A model with the settings it may choose from."""

    name: str  # what the leaderboard calls it
    model: Any  # unfitted, with default parameters
    degree: int  # products of so many columns are made
    grid: dict[str, list[Any]]  # the values of parameters to choose from; empty where there is nothing to choose
    wishes: dict[str, Any] = field(default_factory=dict)  # parameters of the encoder that it wants otherwise than usual
    scale: bool = True  # whether it sees columns of mean zero and variance one

    @property
    def candidates(self) -> list[dict[str, Any]]:
        """The settings of parameters to choose from; a single empty one where there is nothing to choose."""
        return candidates_of(self.grid)

    def table_model(self, setting: dict[str, Any] | None = None) -> TableModel:
        """Give the model for raw tables, unfitted, with a setting of its parameters."""
        model = made_with(self.model, setting or {})
        return TableModel(model, encoder=self.encoder, degree=self.degree, scale=self.scale)

    @property
    def n_fits(self) -> int:
        """How many fits the settings take on one fold: those that differ in nothing else than what is shared take one."""
        shared = getattr(self.model, "compare_shared", ())
        return len({repr([value for name, value in one.items() if name not in shared]) for one in self.candidates})

    @property
    def encoder(self) -> ColumnEncoder:
        """The encoder for raw tables, unfitted."""
        return ColumnEncoder(**self.wishes)

    @property
    def encoding(self) -> Encoding:
        """What tells contenders apart that see different columns."""
        return self.degree, self.scale, tuple(sorted(self.wishes.items()))


def contenders(
    task: str,
    n_rows: int,
    n_columns: int,
    n_outputs: int = 1,
    seed: int = 0,
    *,
    X: np.ndarray | None = None,
    wordy: bool = False,
    reading: Mapping[str, Any] | None = None,
) -> list[Contender]:
    """List the models for a task, the simplest first.

    The size is that of the encoded table, with the number of outputs that there are coefficients for (the classes beyond
    two): products of columns are made only where coefficients stay few and fits short. `X` is the table itself; without
    it, models for some columns only are left out. A `wordy` table is sparse, if all words of its free text have a column. `reading` is what
    the encoder of every model is told of single columns.

    >>> [contender.name for contender in contenders("regression", 1000, 5)][:2]
    ['Mean (baseline)', 'Linear regression']
    """
    found = []
    columns = np.full((1, n_columns), 0.5) if X is None else X
    for kind in _kinds(task):
        if n_rows > getattr(kind, "compare_most_rows", n_rows) or not kind._contends_on(columns):
            continue
        model = kind()
        if "random_state" in model.get_params().keys() - without_effect(model):
            model.set_params(random_state=seed)
        settings = kind._settings_on(n_rows, n_columns, n_outputs)
        grid = {name: list(values) for name, values in settings.items()}
        for degree in getattr(kind, "compare_degrees", (1,)):
            products = monomial_count(n_columns, degree) - 1
            if degree > 1 and not (products <= n_rows and products * n_outputs <= MOST_PRODUCTS):
                continue
            if degree > 1 and n_rows * products**2 > MOST_WORK:
                continue
            wishes, scale = what_suits(model, degree)
            wishes = {**wishes, **getattr(kind, "compare_encoder", {}), **(reading or {})}
            scale = getattr(kind, "compare_scale", scale)
            if wordy and degree == 1 and getattr(kind, "compare_words", False):
                # Zeros have to stay zeros, so only numbers and dates are scaled, by the encoder.
                wishes, scale = {**wishes, **WORDS, "scale": scale}, False
            found.append(Contender(_name(kind) + DEGREES[degree], model, degree, grid, wishes, scale))
    return sorted(found, key=_precedence)


def chosen_of(found: list[Contender], names: Sequence[str]) -> list[Contender]:
    """Keep the models of some names, and those that guess.

    A name is one of the leaderboard, or else that of a class, which may stand there more than once; in letters of any size.

    >>> [one.name for one in chosen_of(contenders("regression", 1000, 5), ["ridge", "Linear regression"])]
    ['Mean (baseline)', 'Linear regression', 'Ridge']
    """
    if not names:
        return found
    called = {one.name.lower(): one for one in found}
    classes = {type(one.model).__name__.lower() for one in found}
    for name in names:
        if name.lower() not in called and name.lower() not in classes:
            known = list(dict.fromkeys(type(one.model).__name__ for one in found))
            hint = did_you_mean(name, [*known, *(one.name for one in found)])
            raise ParameterError(f"No model {name!r} takes part in this comparison. {hint}")
    wanted = {name.lower() for name in names}
    kinds = wanted - set(called)
    return [
        one
        for one in found
        if is_baseline(type(one.model)) or one.name.lower() in wanted or type(one.model).__name__.lower() in kinds
    ]


def _precedence(contender: Contender) -> tuple[int, bool, bool, bool, int]:
    """Order contenders, which decides between equal scores.

    Plain columns come first, then what has probabilities, then what has no settings, then what does not need all rows at once. Of what
    finds clusters, that comes first of which least has to be chosen.
    """
    model, groups = contender.model, isinstance(contender.model, Grouper)
    holds = model.passes in ("as codes", "in memory")
    likes = not groups and not hasattr(model, "predict_proba")
    return contender.degree, likes, bool(contender.grid), holds, len(contender.grid) if groups else 0


def _kinds(task: str) -> list[Any]:
    """Give the classes that want to take part, baselines first."""
    taking_part = [kind for kind in public_classes(ROLES[task]) if "compare_grid" in vars(kind)]
    return sorted(taking_part, key=lambda kind: not is_baseline(kind))


def is_baseline(kind: Any) -> bool:
    """Say whether a class of models only guesses."""
    tags = kind().__sklearn_tags__()
    return not kind.compare_grid and any(
        part is not None and part.poor_score for part in (tags.regressor_tags, tags.classifier_tags)
    )


def _name(kind: type) -> str:
    """Give a class a name for people: its own ``compare_name``, or its words."""
    words = getattr(kind, "compare_name", None)
    if words is not None:
        return str(words)
    letters = "".join(f" {letter.lower()}" if letter.isupper() else letter for letter in kind.__name__).strip()
    return letters[0].upper() + letters[1:]
