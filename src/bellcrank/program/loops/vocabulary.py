"""The functions that loops may call: each once as plain Python, and once as what it becomes.

The Python versions let the interpreter run the same loops on NumPy arrays.
"""

from __future__ import annotations

import ctypes
import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from bellcrank.program.loops import ir
from bellcrank.program.loops.jets import Jet, plain
from bellcrank.program.loops.layout import declared, words
from bellcrank.program.loops.values import Array, Mismatch, described, scalars, shape_of

Number = TypeVar("Number")


def value(x: Number) -> Number:
    """A number without its rates: what depends on it counts as constant."""
    return x.value if isinstance(x, Jet) else x


def gradient(function: Callable[[Any], Any], x: Any) -> tuple[Any, Any]:
    """A function of a record of reals, and its exact slope there: a record like x."""
    directions = np.eye(len(x)).tolist()
    found = function(type(x)(*[Jet(given, row) for given, row in zip(x, directions, strict=True)]))
    rates = found.rates if isinstance(found, Jet) else np.zeros(len(x))
    return plain(found), type(x)(*rates)


_unrolling: ContextVar[bool] = ContextVar("unrolling", default=False)
"""Whether Python runs a text of the language on traced values now, which arrays of doubles cannot hold."""


@contextmanager
def unrolling() -> Iterator[None]:
    """Local arrays of reals hold traced values as well."""
    token = _unrolling.set(True)
    try:
        yield
    finally:
        _unrolling.reset(token)


def reals(count: int) -> NDArray[np.float64]:
    """A local array of zeros; the count is a constant."""
    return np.full(count, 0.0, object) if _unrolling.get() else np.zeros(count)


def ints(count: int) -> NDArray[np.int64]:
    """A local array of whole zeros; the count is a constant."""
    return np.zeros(count, np.int64)


def call(address: int, x: NDArray[Any], y: NDArray[Any]) -> None:
    """Run the kernel at `address` on the contiguous arrays x (inputs) and y (outputs); nothing is checked."""
    ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)(int(address))(x.ctypes.data, y.ctypes.data)


def call_at(address: int, x: NDArray[Any], x_offset: int, y: NDArray[Any], y_offset: int) -> None:
    """Like :func:`call`, with x and y beginning at the given numbers of doubles into the arrays."""
    call(address, x.reshape(-1)[x_offset:], y.reshape(-1)[y_offset:])


def call_entry(address: int, *arguments: Any) -> int:
    """Call the entry at `address` with arguments of the types it was declared with."""
    found: list[int] = []
    kept: list[Any] = []
    for a in arguments:
        _pack(a, found, kept)
    block = np.array(found, np.int64)
    return int(ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p)(int(address))(block.ctypes.data))


def _pack(value: Any, found: list[int], kept: list[Any]) -> None:
    """The words of a value of which only the value is known."""
    if isinstance(value, np.ndarray):
        kept.append(value)
        found.extend([value.ctypes.data, *value.shape])
    elif isinstance(value, tuple) and not hasattr(value, "_fields"):
        for item in value:
            _pack(item, found, kept)
    else:
        words(declared(type(value)), value, found, kept)


def vector(array: NDArray[Any], length: int) -> NDArray[Any]:
    """The first numbers of an array."""
    return array.reshape(-1)[:length]


def matrix(array: NDArray[Any], offset: int, rows: int, columns: int) -> NDArray[Any]:
    """The array of that many rows and columns, `offset` numbers behind the beginning of another."""
    return array.reshape(-1)[offset : offset + rows * columns].reshape(rows, columns)


def _value(w: Any, x: Any) -> Any:
    from bellcrank.program.loops.values import Dual, Record

    if isinstance(x, Record):
        return Record(x.record, tuple(_value(w, f) for f in x.fields))
    if isinstance(x, tuple) and not isinstance(x, ir.Ref | Dual):
        return tuple(_value(w, f) for f in x)
    return w.plain(x)


def _call(w: Any, address: Any, x: Any, y: Any) -> None:
    w.block.append(ir.CallAddress(None, w.scalar(address, "int"), (x.data[0], y.data[0])))


def _call_at(w: Any, address: Any, x: Any, x_offset: Any, y: Any, y_offset: Any) -> None:
    moved = [w.shifted(a, w.scalar(offset, "int"), ()) for a, offset in ((x, x_offset), (y, y_offset))]
    _call(w, address, *moved)


def _call_entry(w: Any, address: Any, *arguments: Any) -> Any:
    """Lay the words of the arguments side by side and hand over where they are."""
    given = [s for a in arguments for s in _words(a)]
    block = w.op("local", "pointer", len(w.made.locals))
    w.made.locals.append(len(given))
    for k, word in enumerate(given):
        w.block.append(ir.Store(block, k, word))
    out = w.ref("int")
    w.block.append(ir.CallAddress(out, w.scalar(address, "int"), (block,)))
    return out


def _words(value: Any) -> list[Any]:
    """The scalars of an argument, constant sizes included."""
    from bellcrank.program.loops.values import Record

    if isinstance(value, Array):
        return [*value.data, *value.sizes]
    if isinstance(value, Record):
        return [s for f in value.fields for s in _words(f)]
    if isinstance(value, tuple) and not isinstance(value, ir.Ref):
        return [s for v in value for s in _words(v)]
    return scalars(value)


def _vector(w: Any, array: Any, length: Any) -> Array:
    if not isinstance(array, Array):
        raise Mismatch(f"{described(shape_of(array))} in place of an array")
    return w.shifted(array, 0, (w.scalar(length, "int"),))  # type: ignore[no-any-return]


def _matrix(w: Any, array: Any, offset: Any, rows: Any, columns: Any) -> Array:
    return w.shifted(array, w.scalar(offset, "int"), (w.scalar(rows, "int"), w.scalar(columns, "int")))  # type: ignore[no-any-return]


def _absolute(w: Any, x: Any) -> Any:
    if not hasattr(x, "level") and ir.kind_of(w.plain(x)) == "int":
        return w.select(w.compare("lt", x, 0), w.negative(x), x)
    return w.function("abs", x)


def _whole(w: Any, x: Any) -> Any:
    plain = w.plain(x)
    if isinstance(plain, float):
        return int(plain)
    return plain if ir.kind_of(plain) == "int" else w.op("whole", "int", plain)


def _finite(w: Any, x: Any) -> Any:
    return w.compare("lt", w.function("abs", w.scalar(x, "real")), math.inf)


def _nan(w: Any, x: Any) -> Any:
    plain = w.scalar(x, "real")
    return w.compare("ne", plain, plain)


def _length(w: Any, x: Any) -> Any:
    return x.sizes[0] if isinstance(x, Array) else len(w.items(x))


def _function(name: str) -> Callable[..., Any]:
    return lambda w, *args: w.function(name, *args)


def _gradient(w: Any, function: Any, x: Any) -> Any:
    return w.gradient(function, x)


VOCABULARY: dict[Any, Callable[..., Any]] = {
    value: _value,
    gradient: _gradient,
    reals: lambda w, n: w.local("real", n),
    ints: lambda w, n: w.local("int", n),
    call: _call,
    call_at: _call_at,
    call_entry: _call_entry,
    vector: _vector,
    matrix: _matrix,
    min: lambda w, a, b: w.extreme("lt", a, b),
    max: lambda w, a, b: w.extreme("gt", a, b),
    abs: _absolute,
    int: _whole,
    float: lambda w, x: w.real(x),
    len: _length,
    math.isfinite: _finite,
    math.isnan: _nan,
    np.sign: lambda w, x: w.sign(x),
    math.fabs: _function("abs"),
    **{getattr(math, name): _function(name) for name in ir.FUNCTIONS if name != "abs" and name != "floor"},
    **{
        getattr(np, name): _function(name)
        for name in ir.FUNCTIONS
        if hasattr(np, name) and name not in ("abs", "pow")
    },
    np.arcsin: _function("asin"),
    np.arccos: _function("acos"),
    np.arctan: _function("atan"),
    np.arctan2: _function("atan2"),
    np.fabs: _function("abs"),
    np.floor: _function("floor"),
    math.floor: lambda w, x: w.op("whole", "int", w.function("floor", w.plain(x))),
}
"""What each function becomes; given the writer and the arguments."""
