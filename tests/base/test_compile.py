"""Kernels: those that people call, and those that are parts of others."""

import gc
from types import CodeType

import numpy as np
import pytest
from numba import njit, types
from numba.core.types.functions import BaseFunction

import qed.base.compile as compile_
from qed.base.compile import COMPILED, _compiler, interpreted, kernel, unless_few


@kernel(within=True, fastmath={"reassoc", "contract"})
def total(values):
    found = 0.0
    for i in range(len(values)):
        found += values[i]
    return found


@kernel(within=True)
def half(values, share):
    return share * total(values[: len(values) // 2])


@kernel
def largest(table):
    found = -np.inf
    for i in range(len(table)):
        found = max(found, half(table[i], 2.0))
    return found


TABLE = np.arange(24.0).reshape(3, 8)


@pytest.mark.parametrize("how", [lambda one: one, interpreted], ids=["compiled", "plain"])
def test_a_kernel_takes_its_parts_in(how):
    assert how(largest)(TABLE) == 2 * TABLE[2, :4].sum()


@pytest.mark.parametrize("within", [True, False])
def test_no_machine_code_is_made_of_a_part(within):
    def double(value):
        return 2.0 * value

    compiled = kernel(double, within=within)
    compiled.compile((types.float64,))
    (found,) = compiled.overloads.values()
    assert found.library.codegen._engine.is_symbol_defined(found.fndesc.mangled_name) == (
        not (within and _compiler("part"))
    )


def test_a_part_that_is_called_from_python_is_compiled_once_more_with_a_way_in():
    before = len(COMPILED)
    for _ in range(2):
        assert half(TABLE[0], share=0.5) == 3.0
        assert half(TABLE[0].astype(np.float32), 1.0) == 6.0
    assert len(COMPILED) == before + 1
    assert [one for one in COMPILED if one.py_func is half.py_func][1].signatures


def test_other_versions_of_numba_compile_parts_as_they_do(monkeypatch):
    monkeypatch.setattr(compile_, "PARTS_KNOWN_FOR", ["9", "9"])
    _compiler.cache_clear()
    try:
        part = kernel(lambda value: value + 1.0, within=True)
        whole = kernel(lambda value: 2.0 * part(value))
        assert _compiler("part") == _compiler("kernel") == {} and whole(3.0) == 8.0 and part(1.0) == 2.0
    finally:
        _compiler.cache_clear()


def test_who_compiles_elsewhere_finds_numba_as_it_was():
    search = BaseFunction.get_call_type
    assert kernel(lambda value: value + 1.5)(2) == 3.5
    with pytest.raises(Exception, match="nothing"):
        kernel(lambda value: nothing + value)(2)  # noqa: F821
    assert BaseFunction.get_call_type is search and gc.isenabled()
    assert njit(lambda value: value + 1.5)(2) == 3.5


def test_kernels_are_plain_loops():
    """They have nothing in them that the passes which are left out would have to look for."""
    from qed.commands.warmup import models

    assert list(models())
    house = [one for one in COMPILED if one.py_func.__module__.startswith("qed.")]
    nested = [one for one in house if any(isinstance(value, CodeType) for value in one.py_func.__code__.co_consts)]
    assert len(house) > 100 and not nested


def test_small_tables_do_not_wait_for_a_kernel_that_was_never_compiled_until_plain_python_has_taken_as_long(
    monkeypatch,
):
    one = kernel(lambda values: values[0] / 4)
    table, few = np.array([3.0]), 10
    # What an earlier run of this test has left on disk does not count.
    monkeypatch.setattr(compile_, "_on_disk", lambda compiled: [])
    assert unless_few(one, few + 1, few)(table) == 0.75 and not one.signatures
    assert unless_few(one, compile_.MANY_MORE * few + 1, few) is unless_few(one, few + 1, few, same=False) is one
    with monkeypatch.context() as impatient:
        impatient.setattr(compile_, "PATIENCE", 0.0)
        assert unless_few(one, few + 1, few) is one
    assert one(table) == 0.75
    assert unless_few(one, few + 1, few) is one and unless_few(one, few, few, same=False) is interpreted(one)


def test_few_values_take_a_kernel_that_is_there_and_wait_for_none(monkeypatch):
    one = kernel(lambda values: values[0] / 8)
    monkeypatch.setattr(compile_, "_on_disk", lambda compiled: [])
    monkeypatch.setattr(compile_, "PATIENCE", 0.0)
    run = unless_few(one, 1, 10)
    assert run(np.array([4.0])) == 0.5 and not one.signatures
    assert one(np.array([4.0])) == 0.5
    monkeypatch.setattr(compile_, "interpreted", None)
    assert run(np.array([6.0])) == 0.75
    before = one.signatures
    assert run(np.array([6], dtype=np.int8)) == 0.75 and one.signatures == before
