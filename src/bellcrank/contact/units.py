"""Compiled searches that take eleven addresses: two of integers, seven of reals, one of each behind them."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bellcrank.program.loops import Entry, ir, matrix, vector
from bellcrank.program.loops import compiled as part
from bellcrank.program.loops.layout import ArrayType
from bellcrank.program.loops.vocabulary import VOCABULARY

_INTS, _REALS = ArrayType("int", 0), ArrayType("real", 0)


class Unit(Entry):
    """Machine code of a search."""

    def __init__(self, function: Callable[..., int]) -> None:
        super().__init__(function, [_INTS, _INTS, *7 * [_REALS], _INTS, _REALS])

    def __call__(self, *arrays: NDArray[Any]) -> int:
        """Run it."""
        return self.at(tuple([a.__array_interface__["data"][0] for a in arrays]))

    def at(self, pointers: tuple[int, ...]) -> int:
        """Run it on arrays given by their addresses."""
        code = self._code or self._compiled()
        words = (ctypes.c_int64 * len(pointers))(*pointers)
        return code[1](ctypes.addressof(words))


def call_unit(address: int, pointers: tuple[NDArray[Any], ...]) -> int:
    """Call the search at `address`."""
    block = np.array([a.ctypes.data for a in pointers], np.int64)
    return int(ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p)(int(address))(block.ctypes.data))


def _call_unit(w: Any, address: Any, pointers: Any) -> Any:
    block = w.op("local", "pointer", len(w.made.locals))
    w.made.locals.append(len(pointers))
    for k, array in enumerate(pointers):
        w.block.append(ir.Store(block, k, array.data[0]))
    out = w.ref("int")
    w.block.append(ir.CallAddress(out, w.scalar(address, "int"), (block,)))
    return out


VOCABULARY[call_unit] = _call_unit


__all__ = ["Unit", "call_unit", "matrix", "part", "vector"]
