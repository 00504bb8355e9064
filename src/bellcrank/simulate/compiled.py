"""How the loops here are compiled.

A `Unit` is machine code with an address, called with the arrays of a run as plain pointers, by the driver or
by another unit. A `part` is compiled into the units that use it. Numba compiles a function again into each
caller, and spends half its time on wrappers for Python objects; units have neither, which is most of a cold
start.

Units are kept on disk. Numba finds them stale by the time stamp of their own file only, so the stamp used
here is that of the whole room.
"""

from __future__ import annotations

import ctypes
import gc
import threading
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, ParamSpec, TypeVar, cast

import numba
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.ccallback import CFunc
from numba.extending import intrinsic
from numba.np.arrayobj import make_array, populate_array
from numpy.typing import NDArray

import bellcrank.program.calling as calling

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")

# Division by zero gives infinity, as in NumPy: it spares a branch and an exception path at each division.
# Products and sums may be contracted; nothing is reordered, so the same run gives the same bits.
_OPTIONS: dict[str, Any] = {
    "error_model": "numpy",
    "fastmath": {"contract"},
    "_nrt": False,
    "no_rewrites": True,
}
_INTS = types.CPointer(types.int64)
_FLOATS = types.CPointer(types.float64)
# addresses, ints, reals, x, v, g, corrected, out_t, out_y, own_ints, own_reals
_POINTERS = (_INTS, _INTS, *7 * (_FLOATS,), _INTS, _FLOATS)
_SIGNATURE = types.int64(*_POINTERS)
_lock = threading.RLock()


@cache
def _stamp() -> tuple[float, int]:
    """The newest change and the total size of all sources a unit may contain."""
    files = [*Path(__file__).parent.glob("*.py"), Path(calling.__file__)]
    stats = [file.stat() for file in files]
    return max(s.st_mtime for s in stats), sum(s.st_size for s in stats)


class Unit:
    """Machine code of a loop, compiled or loaded from disk when its address is first asked for."""

    def __init__(self, function: Callable[..., int]):
        self.function = function
        self._compiled: Any = None

    @property
    def address(self) -> int:
        """Where the machine code lies: `int64 f(...)` of the eleven pointers above."""
        with _lock:
            if self._compiled is None:
                self._compiled = _compile(self.function)
        return int(self._compiled.address)

    def __call__(self, *arrays: NDArray[Any]) -> int:
        """Run it; other Python threads go on meanwhile."""
        prototype = ctypes.CFUNCTYPE(ctypes.c_int64, *len(_POINTERS) * (ctypes.c_void_p,))
        return int(prototype(self.address)(*(a.ctypes.data for a in arrays)))


def _compile(function: Callable[..., int]) -> Any:
    unit = CFunc(function, (_SIGNATURE.args, _SIGNATURE.return_type), locals={}, options=dict(_OPTIONS))
    unit.enable_caching()
    # Not part of Numba's documented interface: where it is gone, its own stamp per file remains in use.
    file: Any = getattr(getattr(unit, "_cache", None), "_cache_file", None)
    if hasattr(file, "_source_stamp"):
        file._source_stamp = _stamp()
    # The compiler makes a million small objects and hardly a cycle: no need to look for cycles meanwhile.
    collecting = gc.isenabled()
    gc.disable()
    try:
        unit.compile()
    finally:
        if collecting:
            gc.enable()
    return unit


def part(function: Callable[Parameters, Result]) -> Callable[Parameters, Result]:
    """A function compiled into the units that call it."""
    wrapped: Any = numba.njit(no_cpython_wrapper=True, no_cfunc_wrapper=True, **_OPTIONS)(function)
    return cast(Callable[Parameters, Result], wrapped)


@intrinsic  # type: ignore[untyped-decorator]
def call_unit(typing_context: Any, address: Any, pointers: Any) -> Any:
    """Call the unit at `address` with the eleven pointers of a unit, given as a tuple."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        values = cgutils.unpack_tuple(builder, args[1], len(_POINTERS))
        function = ir.FunctionType(ir.IntType(64), [value.type for value in values]).as_pointer()
        return builder.call(builder.inttoptr(args[0], function), values)

    return types.int64(types.int64, pointers), generate


@intrinsic  # type: ignore[untyped-decorator]
def vector(typing_context: Any, pointer: Any, length: Any) -> Any:
    """The array of that length at a pointer."""
    array = types.Array(pointer.dtype, 1, "C")

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        size = context.cast(builder, args[1], signature.args[1], types.intp)
        return _array(context, builder, array, args[0], [size])

    return array(pointer, length), generate


@intrinsic  # type: ignore[untyped-decorator]
def matrix(typing_context: Any, pointer: Any, offset: Any, rows: Any, columns: Any) -> Any:
    """The array of that many rows and columns, `offset` numbers behind a pointer."""
    array = types.Array(pointer.dtype, 2, "C")

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        start, *sizes = (context.cast(builder, args[k], signature.args[k], types.intp) for k in (1, 2, 3))
        return _array(context, builder, array, builder.gep(args[0], [start]), sizes)

    return array(pointer, offset, rows, columns), generate


def _array(context: Any, builder: Any, kind: Any, data: Any, shape: list[Any]) -> Any:
    size = context.get_constant(types.intp, 8)
    strides = [size] if len(shape) == 1 else [builder.mul(shape[1], size), size]
    array = make_array(kind)(context, builder)
    populate_array(array, data=data, shape=shape, strides=strides, itemsize=size, meminfo=None)
    return array._getvalue()
