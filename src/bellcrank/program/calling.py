"""Calling kernels by address from Numba functions.

``call(address, x, y)`` compiles to a plain indirect call, so that a loop compiled once and cached on disk
runs any kernel. This module imports Numba; import it only where compiled loops are made.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic


def _is_vector(t: Any) -> bool:
    return isinstance(t, types.Array) and t.dtype == types.float64 and t.layout == "C"


def _data(context: Any, builder: Any, array_type: Any, array: Any) -> Any:
    return context.make_array(array_type)(context, builder, array).data


def _emit_call(builder: Any, address: Any, x: Any, y: Any) -> None:
    pointer = ir.DoubleType().as_pointer()
    function = ir.FunctionType(ir.VoidType(), [pointer, pointer]).as_pointer()
    builder.call(builder.inttoptr(address, function), [x, y])


@intrinsic  # type: ignore[untyped-decorator]
def call(typing_context: Any, address: Any, x: Any, y: Any) -> Any:
    """Run the kernel at `address` (int64) on the contiguous arrays x (inputs) and y (outputs).

    Nothing is checked at run time: the arrays must be as long as the kernel expects and must not overlap.
    """
    if not (isinstance(address, types.Integer) and _is_vector(x) and _is_vector(y)):
        return None

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        at = context.cast(builder, args[0], signature.args[0], types.int64)
        _emit_call(
            builder,
            at,
            _data(context, builder, signature.args[1], args[1]),
            _data(context, builder, signature.args[2], args[2]),
        )
        return context.get_dummy_value()

    return types.void(address, x, y), generate


@intrinsic  # type: ignore[untyped-decorator]
def call_at(typing_context: Any, address: Any, x: Any, x_offset: Any, y: Any, y_offset: Any) -> Any:
    """Like :func:`call`, with x and y beginning at the given numbers of doubles into the arrays."""
    whole = all(isinstance(t, types.Integer) for t in (address, x_offset, y_offset))
    if not (whole and _is_vector(x) and _is_vector(y)):
        return None

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        def as_int64(k: int) -> Any:
            return context.cast(builder, args[k], signature.args[k], types.int64)

        def shifted(k: int) -> Any:
            return builder.gep(_data(context, builder, signature.args[k], args[k]), [as_int64(k + 1)])

        _emit_call(builder, as_int64(0), shifted(1), shifted(3))
        return context.get_dummy_value()

    return types.void(address, x, x_offset, y, y_offset), generate
