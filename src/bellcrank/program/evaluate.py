"""A program run in NumPy, operation by operation: the slow second route, for checks and single values."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bellcrank.program.functions import Numbers
from bellcrank.program.loops.routine import Routine
from bellcrank.program.program import Program
from bellcrank.program.subprogram import Subprogram
from bellcrank.program.trace import TRUTH_OPS, Expr

Array: TypeAlias = NDArray[np.float64]
Truth: TypeAlias = tuple[NDArray[np.bool_], NDArray[np.bool_]]
"""Surely true, surely false; neither where a NaN was compared (Kleene's logic)."""

BLOCK = 1024
"""Columns at once. All results of operations are kept: of a car with its 30,000 so 250 MB, however long the run."""

_TAKEN_AS_THEY_ARE = {
    "and": 2,
    "or": 2,
    "not": 1,
    "select": 1,
    "interval": 2,
    "gather": 2,
    "call": 1,
    "routine": 1,
    "part": 2,
}
"""How many first arguments are conditions or tables; a condition anywhere else counts as the number 1 or 0."""


def evaluate(program: Program, x: ArrayLike) -> Array:
    """The outputs at `x`: shapes (n_in,) -> (n_out,), or (n_in, batch) -> (n_out, batch).

    Means the same as the compiled kernel, NaN included, but rounds products and sums separately.
    """
    inputs = np.asarray(x, dtype=np.float64)
    if inputs.ndim not in (1, 2) or len(inputs) != len(program.inputs):
        raise ValueError(
            f"{program.name!r} takes inputs of shape ({len(program.inputs)},) "
            f"or ({len(program.inputs)}, batch), not {inputs.shape}"
        )
    if inputs.ndim == 2 and inputs.shape[1] > BLOCK:
        starts = range(0, inputs.shape[1], BLOCK)
        return np.hstack([evaluate(program, inputs[:, k : k + BLOCK]) for k in starts])
    known: dict[int, Any] = {e.id: inputs[k] for k, e in enumerate(program.inputs)}
    truths: dict[int, Truth] = {}
    with np.errstate(all="ignore"):
        for node in program.operations:
            op, args = node.op, [known[a.id] if a.__class__ is Expr else a for a in node.args]
            for k in range(_TAKEN_AS_THEY_ARE.get(op, 0)):
                a = node.args[k]
                args[k] = truths.get(a.id, args[k]) if isinstance(a, Expr) else a
            value = RULES[op](*args)
            if op in TRUTH_OPS:
                truths[node.id] = value
                value = _chosen(value, 1.0, 0.0)
            known[node.id] = value
    result = np.empty((len(program.outputs), *inputs.shape[1:]))
    for k, o in enumerate(program.outputs):
        result[k] = known[o.id] if isinstance(o, Expr) else o
    return result


def _truth(a: Any) -> Truth:
    return a if isinstance(a, tuple) else (np.asarray(bool(a)), np.asarray(not a))


def _chosen(condition: Any, a: Any, b: Any) -> Any:
    yes, no = _truth(condition)
    return np.where(yes, a, np.where(no, b, np.nan))


def _and(a: Any, b: Any) -> Truth:
    (ya, na), (yb, nb) = _truth(a), _truth(b)
    return ya & yb, na | nb


def _or(a: Any, b: Any) -> Truth:
    (ya, na), (yb, nb) = _truth(a), _truth(b)
    return ya | yb, na & nb


def _interval(x: Any, points: Numbers) -> Any:
    found = np.clip(np.searchsorted(points.array, x, side="right") - 1, 0, len(points) - 2)
    return np.where(np.isnan(x), np.nan, found)


def _gather(k: Any, values: Numbers) -> Any:
    lost = np.isnan(k)
    whole = np.clip(np.where(lost, 0.0, k), 0, len(values) - 1).astype(np.int64)
    return np.where(lost, np.nan, values.array[whole])


def _call(target: Subprogram, *args: Any) -> Array:
    return evaluate(target.program, _rows(args))


def _routine(target: Routine, *args: Any) -> Array:
    return target.evaluate(_rows(args))


def _rows(args: Sequence[Any]) -> Array:
    """Arguments as the rows of an array; a number stands in all columns."""
    columns = next((a.shape for a in args if isinstance(a, np.ndarray) and a.ndim), ())
    rows = np.empty((len(args), *columns))
    for k, a in enumerate(args):
        rows[k] = a
    return rows


RULES: dict[str, Callable[..., Any]] = {
    "neg": operator.neg, "add": operator.add, "sub": operator.sub, "mul": operator.mul, "div": operator.truediv,
    "sqrt": np.sqrt, "sin": np.sin, "cos": np.cos, "tan": np.tan, "asin": np.arcsin, "acos": np.arccos,
    "atan": np.arctan, "sinh": np.sinh, "cosh": np.cosh, "tanh": np.tanh, "exp": np.exp, "log": np.log,
    "abs": np.abs, "floor": np.floor, "atan2": np.arctan2, "pow": np.power, "min": np.minimum,
    "max": np.maximum,
    "lt": lambda a, b: (np.less(a, b), np.greater_equal(a, b)),
    "le": lambda a, b: (np.less_equal(a, b), np.greater(a, b)),
    "eq": lambda a, b: (np.equal(a, b), np.less(a, b) | np.greater(a, b)),
    "and": _and, "or": _or, "not": lambda a: (_truth(a)[1], _truth(a)[0]), "select": _chosen,
    "interval": _interval, "gather": _gather, "call": _call, "routine": _routine,
    "part": lambda whole, k: whole[k],
}  # fmt: skip
"""The meaning of every operation, on arrays; conditions are pairs of truth values."""
