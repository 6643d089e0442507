"""The role of encoders: transformers of a table whose columns may hold text, dates and missing values."""

from collections.abc import Callable
from typing import Any

from qed.base.models.checks import check_table
from qed.base.models.roles import Transformer
from qed.base.sources.rows import Rows


class TableTransformer(Transformer):
    """A transformer that reads blocks as Arrow tables, and says itself what it does about missing values."""

    def _open(
        self, X: Any, y: Any = None, sample_weight: Any = None, *, reset: bool, target: str | None = None
    ) -> Rows:
        return check_table(self, X, y, sample_weight, reset=reset)

    def _apply(self, function: Callable[..., Any], X: Any, *args: Any) -> Any:
        self._check_fitted()
        return self._open(X, reset=False).map(function, *args)

    def _named(self, place: int) -> str:
        """Name a column for messages."""
        names = getattr(self, "feature_names_in_", None)
        return f"number {place}" if names is None else repr(str(names[place]))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        tags.input_tags.allow_nan = True
        tags.transformer_tags.preserves_dtype = []
        return tags
