"""Models that are made of others, of anybody's: what the members take, and how their parameters are reached by name."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Sequence
from typing import Any, Self, TypeAlias

from sklearn.base import is_classifier, is_regressor
from sklearn.utils import Bunch, Tags, get_tags
from sklearn.utils.metaestimators import _BaseComposition

from qed.base.errors import KindError, ParameterError
from qed.base.models.parameters import Parameter

# An estimator with scikit-learn's contract, of qed or of anybody's.
Member: TypeAlias = Any
Named: TypeAlias = Sequence[tuple[str, Member]]


class Composed(_BaseComposition):
    """A model with a list of named ones, `estimators`; ``set_params(name__parameter=...)`` reaches into them, ``name=...`` replaces one."""

    estimators: Named

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Give the parameters, and with `deep` those of the members by their names.

        Parameters
        ----------
        deep : bool, default=True
            Whether to reach into the members.
        """
        found: dict[str, Any] = self._get_params("estimators", deep=deep)
        return found

    def set_params(self, **params: Any) -> Self:
        """Set parameters, members by their names, or parameters of theirs, as ``name__parameter``.

        Parameters
        ----------
        **params
            The values.
        """
        self._set_params("estimators", **params)
        return self

    @property
    def named_estimators(self) -> Bunch:
        """The members that were given, by their names."""
        return Bunch(**dict(self.estimators))

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        if tags.transformer_tags is not None:
            tags.transformer_tags.preserves_dtype = []  # what members say may be of any type
        return tags

    def _members(self) -> list[tuple[str, Member]]:
        """Give the members that are not dropped; refuse names that are used twice, or that parameters have."""
        names = [name for name, _ in self.estimators]
        self._validate_names(names)
        found = [(name, member) for name, member in self.estimators if not isinstance(member, str)]
        if not found:
            raise ParameterError(f"{type(self).__name__}: all estimators are dropped; at least one is required.")
        return found


def composed(kind: str = "") -> Parameter:
    """Accept a list of names with a model each, or 'drop' in the place of one; `kind` is what the models are to be."""

    def accepts(value: object) -> bool:
        if not isinstance(value, (list, tuple)) or not value:
            return False
        pairs = all(isinstance(one, (list, tuple)) and len(one) == 2 and isinstance(one[0], str) for one in value)
        return pairs and all(one[1] == "drop" if isinstance(one[1], str) else is_model(one[1]) for one in value)

    return Parameter(
        f"a list of (name, {kind or 'model'}) with at least one of them, or 'drop' in the place of one",
        accepts,
        "model",
    )


def member(kind: str, default: str) -> Parameter:
    """Accept a model, or None for the usual one."""
    return Parameter(f"a {kind}, or None for {default}", lambda value: value is None or is_model(value), "model")


def is_model(value: object) -> bool:
    """Say whether something can be fitted."""
    return not isinstance(value, type) and hasattr(value, "fit") and hasattr(value, "get_params")


def refuse_other_kinds(owner: object, members: Iterable[Member], *, classes: bool) -> None:
    """Refuse members that tell no classes, or predict no numbers."""
    for one in members:
        if not (is_classifier(one) if classes else is_regressor(one)):
            wanted = "classifier" if classes else "regressor"
            raise ParameterError(f"{type(owner).__name__}: the estimator {type(one).__name__} should be a {wanted}.")


def takes_sparse(one: Member) -> bool:
    """Say whether a model takes sparse matrices."""
    return bool(get_tags(one).input_tags.sparse)


def takes_missing(one: Member) -> bool:
    """Say whether a model takes missing values."""
    return bool(get_tags(one).input_tags.allow_nan)


def takes_weights(one: Member) -> bool:
    """Say whether a model takes weights."""
    return "sample_weight" in inspect.signature(one.fit).parameters


def refuse_weights(one: Member) -> KindError:
    """Give the error for weights that a model does not take."""
    return KindError(
        f"Underlying estimator {type(one).__name__} does not support sample weights: leave them out, or take another."
    )
