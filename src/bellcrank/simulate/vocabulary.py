"""What the loops may call: each function once as plain Python and once as what it becomes in machine code.

The Python versions let the interpreter run the same loops on NumPy arrays.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray


@dataclass(frozen=True)
class Value:
    """A number at run time: its LLVM type and name, or a constant of the program."""

    type: str
    name: str


@dataclass(frozen=True)
class Pointer:
    """Where numbers of one type begin."""

    element: str
    name: str


@dataclass(frozen=True)
class Array:
    """A contiguous array: where it begins and its sizes."""

    element: str
    data: str
    sizes: tuple[Any, ...]


def call(address: int, x: NDArray[Any], y: NDArray[Any]) -> None:
    """Run the kernel at `address` on the contiguous arrays x (inputs) and y (outputs); nothing is checked."""
    ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)(int(address))(x.ctypes.data, y.ctypes.data)


def call_at(address: int, x: NDArray[Any], x_offset: int, y: NDArray[Any], y_offset: int) -> None:
    """Like :func:`call`, with x and y beginning at the given numbers of doubles into the arrays."""
    call(address, x.reshape(-1)[x_offset:], y.reshape(-1)[y_offset:])


def call_unit(address: int, pointers: tuple[NDArray[Any], ...]) -> int:
    """Call the unit at `address` with the pointers of a unit."""
    prototype = ctypes.CFUNCTYPE(ctypes.c_int64, *len(pointers) * (ctypes.c_void_p,))
    return int(prototype(int(address))(*(a.ctypes.data for a in pointers)))


def vector(pointer: NDArray[Any], length: int) -> NDArray[Any]:
    """The array of that length at a pointer."""
    return pointer.reshape(-1)[:length]


def matrix(pointer: NDArray[Any], offset: int, rows: int, columns: int) -> NDArray[Any]:
    """The array of that many rows and columns, `offset` numbers behind a pointer."""
    return pointer.reshape(-1)[offset : offset + rows * columns].reshape(rows, columns)


def _call(w: Any, node: Any, address: Any, x: Any, y: Any) -> None:
    function = w.new(f"inttoptr i64 {w.number(node, address, 'i64').name} to ptr", "ptr")
    w.emit(f"call void {function.name}(ptr {x.data}, ptr {y.data})")


def _call_at(w: Any, node: Any, address: Any, x: Any, x_offset: Any, y: Any, y_offset: Any) -> None:
    moved = [
        Array(a.element, w.shifted(a, w.number(node, offset, "i64")).name, ())
        for a, offset in ((x, x_offset), (y, y_offset))
    ]
    _call(w, node, address, *moved)


def _call_unit(w: Any, node: Any, address: Any, pointers: Any) -> Any:
    function = w.new(f"inttoptr i64 {w.number(node, address, 'i64').name} to ptr", "ptr")
    names = [p.data if isinstance(p, Array) else p.name for p in pointers]
    return w.new(f"call i64 {function.name}({', '.join(f'ptr {name}' for name in names)})", "i64")


def _vector(w: Any, node: Any, pointer: Any, length: Any) -> Array:
    return Array(pointer.element, pointer.name, (length,))


def _matrix(w: Any, node: Any, pointer: Any, offset: Any, rows: Any, columns: Any) -> Array:
    start = w.shifted(pointer, w.number(node, offset, "i64"))
    return Array(pointer.element, start.name, (rows, columns))


def _extreme(operation: str) -> Callable[..., Any]:
    """min or max as Python has them: the first argument stays unless the second is beyond it."""

    def write(w: Any, node: Any, a: Any, b: Any) -> Any:
        x, y = w.pair(node, a, b)
        how = f"fcmp o{operation} double" if x.type == "double" else f"icmp s{operation} i64"
        beyond = w.new(f"{how} {y.name}, {x.name}", "i1")
        return w.new(f"select i1 {beyond.name}, {x.type} {y.name}, {x.type} {x.name}", x.type)

    return write


def _real(name: str) -> Callable[..., Any]:
    return lambda w, node, a: w.library(name, w.number(node, a, "double"))


def _sign(w: Any, node: Any, a: Any) -> Any:
    """-1, 0 or 1; what is not a number stays so."""
    x = w.number(node, a, "double")
    positive = w.new(f"fcmp ogt double {x.name}, 0.0", "i1")
    negative = w.new(f"fcmp olt double {x.name}, 0.0", "i1")
    below = w.new(f"select i1 {negative.name}, double -1.0, double {x.name}", "double")
    return w.new(f"select i1 {positive.name}, double 1.0, double {below.name}", "double")


def _int(w: Any, node: Any, a: Any) -> Any:
    return w.new(f"fptosi double {w.number(node, a, 'double').name} to i64", "i64")


def _isfinite(w: Any, node: Any, a: Any) -> Any:
    size = w.library("llvm.fabs.f64", w.number(node, a, "double"))
    return w.new(f"fcmp olt double {size.name}, 0x7FF0000000000000", "i1")


def _isnan(w: Any, node: Any, a: Any) -> Any:
    x = w.number(node, a, "double")
    return w.new(f"fcmp uno double {x.name}, {x.name}", "i1")


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "call": _call,
    "call_at": _call_at,
    "call_unit": _call_unit,
    "vector": _vector,
    "matrix": _matrix,
    "min": _extreme("lt"),
    "max": _extreme("gt"),
    "abs": _real("llvm.fabs.f64"),
    "int": _int,
    "math.sqrt": _real("llvm.sqrt.f64"),
    "math.exp": _real("exp"),
    "math.log": _real("log"),
    "math.isfinite": _isfinite,
    "math.isnan": _isnan,
    "np.sign": _sign,
}
