"""Methods of a search that its best model answers."""

from typing import Any


class Delegated:
    """A method of the model that is searched: there when the model has it, and answered by the best one."""

    def __init__(self, says: str) -> None:
        self.says = says

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, search: Any, owner: type | None = None) -> Any:
        if search is None:
            return self
        getattr(getattr(search, "best_estimator_", search.model), self.name)
        name = self.name

        def call(*args: Any, **options: Any) -> Any:
            return getattr(search._best(), name)(*args, **options)

        call.__name__, call.__doc__ = name, self.says
        return call
