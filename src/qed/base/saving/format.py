"""Values as a tree of JSON and a list of arrays, and back, without ever running code that a file brings along.

What JSON knows stays as it is. Everything else becomes an object with the key ``"!"``, whose value says how to read
it: an array (by its number in the list), a tuple, a NumPy scalar, a sparse matrix, a model, or an object of a *known*
class (:mod:`qed.base.saving.known`). A function has no place in the tree.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Hashable, Iterable
from dataclasses import fields, is_dataclass
from enum import Enum
from importlib import import_module
from typing import Any, TypeAlias

import numpy as np
from sklearn.base import BaseEstimator

from qed.base.errors import SavingError
from qed.base.fitted import check_fitted, declared, faults, state_faults
from qed.base.models.parameters import check_parameters
from qed.base.saving.known import find_class, known_class
from qed.base.saving.pipelines import check_params

Node: TypeAlias = dict[str, Any]
Pairs: TypeAlias = list[tuple[Hashable, Any]]
TAG = "!"
SHARED = 4
COLLISIONS = 16
PLAIN = (type(None), bool, int, str)
SPARSE = ("csr_array", "csr_matrix", "csc_array", "csc_matrix")
TYPES: dict[str, type] = {
    cls.__name__: cls for cls in (bool, int, float, str, np.float32, np.float64, np.int32, np.int64)
}


class Packer:
    """Turns values into a tree; arrays go to the list `arrays`, each once."""

    def __init__(self) -> None:
        self.arrays: list[np.ndarray] = []
        self._place: dict[int, int] = {}
        self._uses: Counter[int] = Counter()

    def pack(self, value: Any, where: str = "the value") -> Any:
        """Give the tree of `value`; `where` says in messages what it is, as in "the parameter 'kernel' of SVC"."""
        kind = type(value)
        if kind in PLAIN:
            return value
        if kind is float:
            return value if math.isfinite(value) else {TAG: "float", "value": repr(value)}
        if kind in (list, tuple, set, frozenset, dict):
            return self._pack_container(value, kind, where)
        if isinstance(value, np.generic):
            return self._pack_scalar(value, where)
        if isinstance(value, np.ndarray):
            return self._pack_array(value, where)
        if isinstance(value, np.dtype) and value.names is None:
            return {TAG: "dtype", "value": value.str}
        if kind.__name__ in SPARSE and hasattr(value, "indptr"):
            parts = {part: self.pack(getattr(value, part), where) for part in ("data", "indices", "indptr")}
            return {TAG: "sparse", "class": kind.__name__, "shape": [int(n) for n in value.shape], **parts}
        if isinstance(value, type) and TYPES.get(value.__name__) is value:
            return {TAG: "type", "value": value.__name__}
        return self._pack_object(value, where)

    def _pack_container(self, value: Any, kind: type, where: str) -> Any:
        if kind is dict:
            if all(type(key) is str for key in value) and TAG not in value:
                return {key: self.pack(item, where) for key, item in value.items()}
            pairs = [[self.pack(key, where), self.pack(item, where)] for key, item in value.items()]
            return {TAG: "dict", "items": pairs}
        items = [self.pack(item, where) for item in value]
        if kind is list:
            return items
        # A set has no order of its own; equal sets must give equal files.
        return {TAG: kind.__name__, "items": items if kind is tuple else sorted(items, key=repr)}

    def _pack_scalar(self, value: np.generic, where: str) -> Any:
        dtype = value.dtype
        if dtype.kind in "mM":
            return {TAG: "scalar", "dtype": dtype.str, "value": int(value.view(np.int64))}
        if dtype.kind not in "biufU" or (dtype.itemsize > 8 and dtype.kind != "U"):
            raise _refusal(value, where)
        return {TAG: "scalar", "dtype": dtype.str, "value": self.pack(value.item(), where)}

    def _pack_array(self, value: np.ndarray, where: str) -> Any:
        if type(value) is np.ma.MaskedArray:
            parts = {"data": self.pack(value.data, where), "mask": self.pack(np.ma.getmaskarray(value), where)}
            return {TAG: "masked", **parts}
        if type(value) not in (np.ndarray, np.memmap) or value.dtype.kind == "T":
            raise _refusal(value, where)
        if value.dtype == object:
            for item in value.flat:
                if type(item) not in (*PLAIN, float) and not isinstance(item, np.generic):
                    raise _refusal(item, f"{where}, in an array,")
            return {TAG: "objects", "shape": list(value.shape), "items": [self.pack(v, where) for v in value.flat]}
        if value.dtype.hasobject:
            raise _refusal(value, where)
        # What is used very often is written again, so that no reader has to trust a file that makes much of little.
        self._uses[id(value)] += 1
        if self._uses[id(value)] % SHARED == 1:
            self._place[id(value)] = len(self.arrays)
            self.arrays.append(value)
        return {TAG: "array", "number": self._place[id(value)]}

    def _pack_object(self, value: Any, where: str) -> Any:
        kind = type(value)
        if isinstance(value, type) or find_class(kind.__name__) is not kind:
            raise _refusal(value, where)
        if isinstance(value, BaseEstimator):
            return self.pack_model(value)
        state: Any
        if isinstance(value, Enum):
            state = value.name
        elif hasattr(value, "to_dict") and hasattr(kind, "from_dict"):
            state = value.to_dict()
        elif is_dataclass(value):
            state = {field.name: getattr(value, field.name) for field in fields(value) if field.init}
        elif hasattr(value, "_asdict"):
            state = value._asdict()
        else:
            raise _refusal(value, where)
        return {TAG: "object", "class": kind.__name__, "state": self.pack(state, f"{where}, in its {kind.__name__},")}

    def pack_model(self, model: Any, *, fitted: bool = True) -> Any:
        """Give the tree of a model: its class, its parameters and what it learned."""
        name: str = type(model).__name__
        known: Any = find_class(name)
        if known is not type(model):
            raise _refusal(model, "the model")
        params: dict[str, Any] = model.get_params(deep=False)
        check_params(name, params)
        learned = {key: vars(model)[key] for key in sorted(vars(model)) if _is_learned(key)} if fitted else {}
        node = {
            TAG: "model",
            "class": name,
            "params": {key: self.pack(params[key], f"the parameter {key!r} of {name}") for key in sorted(params)},
            "fitted": {key: self.pack(item, f"the attribute {key!r} of {name}") for key, item in learned.items()},
        }
        output = vars(model).get("_sklearn_output_config")
        return {**node, "output": self.pack(output, "set_output")} if output else node


def packed(packer: Packer, model: Any, *, fitted: bool) -> Any:
    """Give the tree of a model, or of the known object that stands for what is fitted."""
    try:
        return packer.pack_model(model, fitted=fitted) if isinstance(model, BaseEstimator) else packer.pack(model)
    except RecursionError as error:
        raise SavingError(f"This {type(model).__name__} contains itself, so it can not be stored.") from error


def _is_learned(name: str) -> bool:
    return name.endswith("_") and not name.startswith("_")


def _refusal(value: Any, where: str) -> SavingError:
    """Say that a value can not be stored, and what to do."""
    kind = type(value).__name__
    if isinstance(value, BaseEstimator):
        return SavingError(
            f"{where[0].upper()}{where[1:]} is a {kind}, which is not a model of qed: only models that qed knows can be "
            "stored. Mark a class of your own with qed.base.saving.known.savable; replace a model of another library by one of qed."
        )
    if isinstance(value, (np.random.Generator, np.random.RandomState)):
        advice = "Use a whole number as random_state."
    elif callable(value):
        kind = f"function {getattr(value, '__name__', kind)!r}"
        advice = "Set it to None before saving and give it again after loading, with set_params."
    else:
        advice = "Use numbers, strings, lists, dicts, NumPy arrays or objects of qed."
    return SavingError(
        f"{where[0].upper()}{where[1:]} holds a {kind}, which can not be stored: a model file holds data only, so that "
        f"loading one never runs code. {advice}"
    )


class Unpacker:
    """Turns a tree back into values, and holds everything in it to what its class declares.

    Parameters
    ----------
    array : callable
        Gives the array of a number.
    room : int, optional
        How many bytes of arrays the tree may refer to, each as often as it does: values made of one array may each need a copy of it.
    """

    def __init__(self, array: Callable[[int], np.ndarray], room: int = 1 << 40) -> None:
        self._array, self._room = array, room
        self._readers: dict[str, Callable[[Node], Any]] = {
            "array": self._unpack_array,
            "dict": lambda node: dict(_apart([(self.unpack(key), self.unpack(item)) for key, item in node["items"]])),
            "dtype": lambda node: _plain_dtype(node["value"], "biufcUSmM"),
            "float": lambda node: float(node["value"]),
            "frozenset": lambda node: frozenset(self._unpack_members(node)),
            "masked": lambda node: np.ma.MaskedArray(self.unpack(node["data"]), self.unpack(node["mask"])),
            "model": self._unpack_model,
            "object": self._unpack_object,
            "objects": self._unpack_objects,
            "scalar": self._unpack_scalar,
            "set": lambda node: set(self._unpack_members(node)),
            "sparse": self._unpack_sparse,
            "tuple": lambda node: tuple(self.unpack(node["items"])),
            "type": lambda node: TYPES[node["value"]],
        }

    def unpack(self, node: Any) -> Any:
        """Give the value of a tree; one that `Packer` could not have made raises an exception."""
        if isinstance(node, list):
            return [self.unpack(item) for item in node]
        if not isinstance(node, dict):
            return node
        if TAG not in node:
            return {key: self.unpack(item) for key, item in node.items()}
        if node[TAG] not in self._readers:
            raise SavingError(f"it holds a value of the unknown kind {node[TAG]!r}.")
        return self._readers[node[TAG]](node)

    def _unpack_array(self, node: Node) -> np.ndarray:
        found = self._array(node["number"])
        self._room -= found.nbytes
        if self._room < 0:
            raise SavingError("it uses its arrays so often that the model would be much larger than the file.")
        return found

    def _unpack_members(self, node: Node) -> Iterable[Hashable]:
        return (item for item, _ in _apart([(self.unpack(item), None) for item in node["items"]]))

    def _unpack_scalar(self, node: Node) -> Any:
        dtype = _plain_dtype(node["dtype"], "biufUmM")
        value = self.unpack(node["value"])
        if dtype.kind == "U":
            return np.str_(value)
        return np.int64(value).view(dtype) if dtype.kind in "mM" else dtype.type(value)

    def _unpack_objects(self, node: Node) -> np.ndarray:
        items, shape = self.unpack(node["items"]), tuple(node["shape"])
        if math.prod(shape) != len(items) or not all(_is_cell(item) for item in items):
            raise SavingError("an array has another shape than its values, or values that it can not hold.")
        array = np.empty(len(items), dtype=object)
        array[:] = items
        return array.reshape(shape)

    def _unpack_sparse(self, node: Node) -> Any:
        if node["class"] not in SPARSE:
            raise SavingError(f"it holds a sparse matrix of the unknown kind {node['class']!r}.")
        parts = tuple(self.unpack(node[part]) for part in ("data", "indices", "indptr"))
        if any(type(part) is not np.ndarray for part in parts) or parts[0].dtype.kind not in "biuf":
            raise SavingError("it holds a sparse matrix that is not made of arrays of numbers.")
        matrix = getattr(import_module("scipy.sparse"), node["class"])(parts, shape=tuple(node["shape"]))
        # Compiled code trusts these indices, so they are checked to the last one; SciPy does not look where the last row ends at nothing.
        matrix.check_format(full_check=True)
        if (np.diff(matrix.indptr) < 0).any():
            raise SavingError("it holds a sparse matrix whose rows end before they begin.")
        return matrix

    def _unpack_object(self, node: Node) -> Any:
        cls: Any = known_class(node["class"])
        state = self.unpack(node["state"])
        if issubclass(cls, Enum):
            return cls[state]
        if hasattr(cls, "from_dict"):
            made = cls.from_dict(state)
            _refuse(cls, check_fitted(made))
        elif is_dataclass(cls) or hasattr(cls, "_asdict"):
            _refuse(cls, state_faults(cls, state))
            made = cls(**state)
            _refuse(cls, faults(made))  # what is inside was looked at when it was made
        else:
            raise SavingError(f"it calls {node['class']!r} a value, which it is not.")
        return made

    def _unpack_model(self, node: Node) -> Any:
        cls: Any = known_class(node["class"])
        if not issubclass(cls, BaseEstimator):
            raise SavingError(f"it calls {node['class']!r} a model, which it is not.")
        params = self.unpack(node["params"])
        check_params(cls.__name__, params)
        strange = sorted(set(params) - set(cls._get_param_names()))
        if strange:
            raise SavingError(f"{cls.__name__} has no parameter {strange[0]!r}: the file is of another version of qed.")
        model = cls(**params)
        for name, item in node["fitted"].items():
            unknown = _is_complete(cls) and name not in declared(cls)
            if not _is_learned(name) or not name.isidentifier() or unknown:
                raise SavingError(f"{name!r} is not the name of something that {cls.__name__} learned.")
            setattr(model, name, self.unpack(item))
        if "output" in node:
            model.set_output(**self.unpack(node["output"]))
        if node["fitted"]:
            given = {
                name: rule for name, rule in getattr(cls, "parameters", {}).items() if params.get(name) is not None
            }
            check_parameters(model, given)
            _refuse(cls, faults(model))
        return model


def _is_complete(cls: type) -> bool:
    """Say whether a class lists all that it learns: those of the house do, but for one that relies on its role alone."""
    lists = [base for base in cls.__mro__ if "attributes" in vars(base)]
    return cls.__module__.startswith("qed.") and any(not base.__module__.startswith("qed.base.") for base in lists)


def _plain_dtype(text: object, kinds: str) -> np.dtype[np.generic]:
    dtype = np.dtype(str(text))
    if dtype.kind not in kinds or dtype.names is not None or dtype.itemsize > 1 << 16:
        raise SavingError(f"it holds a value of the type {dtype}, which is not one.")
    return dtype


def _is_cell(item: object) -> bool:
    return type(item) in (*PLAIN, float) or isinstance(item, np.generic)


def _apart(pairs: Pairs) -> Pairs:
    """Refuse keys that collide: made on purpose, ten thousand of them take a dict a minute."""
    if max(Counter(hash(key) for key, _ in pairs).values(), default=0) > COLLISIONS:
        raise SavingError("it holds keys that are equal, or that were made to collide.")
    return pairs


def _refuse(cls: type, found: list[str]) -> None:
    if found:
        raise SavingError(f"{cls.__name__} is not as it was saved: {found[0].rstrip('.')}.")
