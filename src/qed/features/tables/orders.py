"""What an encoder is told of the order of categories: columns, each with its values from the least to the greatest."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from qed.base.models.parameters import Parameter
from qed.features.tables.inspection import asked_kinds
from qed.features.tables.writing import order_way


def _are_orders(value: Any) -> bool:
    pairs = value.items() if isinstance(value, Mapping) else value
    if pairs is None:
        return True
    if not _is_list(pairs) or not all(isinstance(pair, (list, tuple)) and len(pair) == 2 for pair in pairs):
        return False
    orders = [order for _, order in pairs]
    return all(_is_list(order) and 1 < len(set(map(str, order))) == len(order) for order in orders)


def _is_list(value: Any) -> bool:
    return isinstance(value, Iterable) and not isinstance(value, str) and getattr(value, "ndim", 1) == 1


ORDERS = Parameter("columns with their values in order, or None", _are_orders, "model")


def ways_of_orders(given: Any, names: Sequence[str], n_columns: int) -> tuple[list[Any], dict[int, str]]:
    """Give the columns that are ordered, as they were named, and for the place of each the way in which its values are numbers.

    >>> ways_of_orders({"size": ["S", "L"]}, ["age", "size"], 2)
    (['size'], {1: 'order ["S", "L"]'})
    """
    pairs = list(given.items() if isinstance(given, Mapping) else given or ())
    columns = [column for column, _ in pairs]
    places = list(asked_kinds(names, n_columns, number=columns))
    return columns, {place: order_way(values) for place, (_, values) in zip(places, pairs)}
