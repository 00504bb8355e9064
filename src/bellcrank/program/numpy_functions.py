"""NumPy's functions on traced scalars: what ``np.sin(x)`` or ``np.where(x > 0, a, b)`` mean for an ``Expr``."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from bellcrank.program.functions import atan2, clip, maximum, minimum, sign, sqrt, where
from bellcrank.program.trace import (
    FUNCTIONS_1,
    Expr,
    Scalar,
    add,
    compare,
    div,
    function,
    logical,
    logical_not,
    mul,
    power,
    sub,
)

_RENAMED = {"arcsin": "asin", "arccos": "acos", "arctan": "atan", "absolute": "abs", "fabs": "abs"}
METHODS: dict[str, Callable[[Expr], Scalar]] = {
    **{name: partial(function, name) for name in FUNCTIONS_1},
    **{new: partial(function, name) for new, name in _RENAMED.items()},
    "square": lambda x: x * x,
    "sign": sign,
    "degrees": lambda x: x * (180.0 / math.pi),
    "radians": lambda x: x * (math.pi / 180.0),
    "deg2rad": lambda x: x * (math.pi / 180.0),
    "rad2deg": lambda x: x * (180.0 / math.pi),
    "reciprocal": lambda x: 1.0 / x,
    "conjugate": lambda x: x,
}
UFUNCS: dict[str, Callable[..., Any]] = {
    **METHODS,
    "add": add, "subtract": sub, "multiply": mul, "divide": div, "true_divide": div,
    "negative": lambda x: -x, "positive": lambda x: x, "power": power, "float_power": power,
    "minimum": minimum, "maximum": maximum, "fmin": minimum, "fmax": maximum, "arctan2": atan2,
    "hypot": lambda a, b: sqrt(add(mul(a, a), mul(b, b))),
    "less": lambda a, b: compare("lt", a, b), "less_equal": lambda a, b: compare("le", a, b),
    "greater": lambda a, b: compare("lt", b, a), "greater_equal": lambda a, b: compare("le", b, a),
    "equal": lambda a, b: compare("eq", a, b), "not_equal": lambda a, b: logical_not(compare("eq", a, b)),
    "logical_and": lambda a, b: logical("and", a, b), "logical_or": lambda a, b: logical("or", a, b),
    "logical_not": logical_not,
    "heaviside": lambda x, half: where(compare("lt", x, 0.0), 0.0, where(compare("lt", 0.0, x), 1.0, half)),
}  # fmt: skip


def _interp(x: Any, xp: Any, fp: Any) -> Scalar:
    from bellcrank.program.tables import linear_table

    return linear_table(xp, fp)(x)


ARRAY_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "where": where,
    "clip": lambda x, low, high: clip(x, low, high),
    "interp": _interp,
    "real": lambda x: x,
}


def call_ufunc(ufunc: Any, method: str, inputs: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    """A NumPy ufunc on traced scalars, or element by element on arrays that hold them."""
    if method != "__call__" or kwargs:
        raise TypeError(f"numpy.{ufunc.__name__}.{method} cannot be traced")
    if any(isinstance(x, np.ndarray) and x.ndim for x in inputs):
        arrays = np.broadcast_arrays(*[_as_object_array(x) for x in inputs])
        flat = [
            call_ufunc(ufunc, method, items, {}) if _any_expr(items) else ufunc(*items)
            for items in zip(*[a.ravel() for a in arrays], strict=True)
        ]
        result = np.empty(len(flat), dtype=object)
        result[:] = flat
        return result.reshape(arrays[0].shape)
    handler = UFUNCS.get(ufunc.__name__)
    if handler is None:
        raise TypeError(
            f"numpy.{ufunc.__name__} cannot be traced into a mechanism; known: {', '.join(sorted(UFUNCS))}"
        )
    return handler(*[x.item() if isinstance(x, np.ndarray | np.generic) else x for x in inputs])


def call_function(func: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    """One of NumPy's functions that are no ufuncs on traced scalars."""
    handler = ARRAY_FUNCTIONS.get(func.__name__)
    if handler is None:
        raise TypeError(
            f"numpy.{func.__name__} cannot be traced into a mechanism; "
            f"known: {', '.join(sorted([*UFUNCS, *ARRAY_FUNCTIONS]))}"
        )
    return handler(*args, **kwargs)


def _as_object_array(x: Any) -> np.ndarray[Any, Any]:
    if isinstance(x, Expr):
        cell = np.empty((), dtype=object)
        cell[()] = x
        return cell
    return np.asarray(x)


def _any_expr(items: Sequence[Any]) -> bool:
    return any(isinstance(item, Expr) for item in items)
