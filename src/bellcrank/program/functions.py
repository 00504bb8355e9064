"""Functions of traced scalars: the named operations a program may hold, folded where all is known."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property, partial
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from bellcrank.program.trace import (
    FUNCTIONS_1,
    TRUTH_OPS,
    Expr,
    Scalar,
    add,
    compare,
    div,
    function,
    joined,
    key_of,
    logical,
    logical_not,
    mul,
    power,
    sub,
)


def sin(x: Scalar) -> Scalar:
    """The sine [x in rad]."""
    return function("sin", x)


def cos(x: Scalar) -> Scalar:
    """The cosine [x in rad]."""
    return function("cos", x)


def sqrt(x: Scalar) -> Scalar:
    """The square root."""
    return function("sqrt", x)


def atan2(y: Scalar, x: Scalar) -> Scalar:
    """The angle of the point (x, y) [rad]."""
    graph, args = joined(y, x)
    if graph is None:
        return math.atan2(cast("float", args[0]), cast("float", args[1]))
    return graph.node("atan2", tuple(args), ("atan2", *key_of(args)))


def minimum(a: Scalar, b: Scalar) -> Scalar:
    """The smaller of two numbers."""
    if not isinstance(a, Expr) and not isinstance(b, Expr):
        x, y = float(a), float(b)
        return x if x < y or x != x else y
    graph, args = joined(a, b)
    assert graph is not None
    return graph.node("min", tuple(args), ("min", *key_of(args)))


def maximum(a: Scalar, b: Scalar) -> Scalar:
    """The larger of two numbers."""
    if not isinstance(a, Expr) and not isinstance(b, Expr):
        x, y = float(a), float(b)
        return x if x > y or x != x else y
    graph, args = joined(a, b)
    assert graph is not None
    return graph.node("max", tuple(args), ("max", *key_of(args)))


def where(condition: Scalar | bool, a: Scalar, b: Scalar) -> Scalar:
    """`a` where the condition holds, else `b`; both are evaluated."""
    if not isinstance(condition, Expr):
        return a if condition else b
    if condition.op not in TRUTH_OPS:
        raise TypeError("the first argument of where must be a condition such as x > 0, not a number")
    graph, (condition, a, b) = joined(condition, a, b)
    assert graph is not None
    if a is b or (not isinstance(a, Expr) and not isinstance(b, Expr) and a == b):
        return a
    return graph.node("select", (condition, a, b), ("select", *key_of((condition, a, b))))


class Numbers(tuple[float, ...]):
    """The numbers of a table, hashed once: tables of roads are long, and each operation on one asks for its hash."""

    _hash: int

    @cached_property
    def array(self) -> NDArray[np.float64]:
        """For looking up many."""
        return np.array(self)

    @cached_property
    def constant(self) -> bool:
        """Whether all are the same."""
        return all(v == self[0] for v in self)

    def __hash__(self) -> int:
        try:
            return self._hash
        except AttributeError:
            self._hash = super().__hash__()
            return self._hash


def interval(x: Scalar, breakpoints: Sequence[float]) -> Scalar:
    """The number of the interval of the increasing `breakpoints` that holds x, clipped to the table."""
    points = _numbers(breakpoints)
    if not isinstance(x, Expr):
        found = int(np.searchsorted(points, x, side="right")) - 1
        return float(min(max(found, 0), len(points) - 2))
    return x.graph.node("interval", (x, points), ("interval", x.id, points))


def gather(k: Scalar, values: Sequence[float]) -> Scalar:
    """The k-th of `values` (k a whole number)."""
    table = _numbers(values)
    if not isinstance(k, Expr):
        return table[int(k)]
    if table.constant:
        return table[0]
    return k.graph.node("gather", (k, table), ("gather", k.id, table))


def _numbers(values: Sequence[float]) -> Numbers:
    return values if isinstance(values, Numbers) else Numbers(map(float, values))


def clip(x: Scalar, low: Scalar, high: Scalar) -> Scalar:
    """x held between `low` and `high`."""
    return minimum(maximum(x, low), high)


def sign(x: Scalar) -> Scalar:
    """-1, 0 or 1."""
    return where(compare("lt", x, 0.0), -1.0, where(compare("lt", 0.0, x), 1.0, 0.0))


def rebuild(op: str, args: Sequence[Any]) -> Scalar:
    """The operation `op` on new arguments, folded anew."""
    return _BUILDERS[op](*args)


def rebuilt(value: Expr, leaf: Callable[[str], Scalar], memo: dict[int, Scalar]) -> Scalar:
    """`value` with `leaf` of its name in place of every input; memo: nodes known already, by id."""
    pending = [value]
    while pending:
        node = pending[-1]
        if node.id in memo:
            pending.pop()
            continue
        missing = [a for a in node.args if isinstance(a, Expr) and a.id not in memo]
        if missing:
            pending.extend(missing)
            continue
        pending.pop()
        args = [memo[a.id] if isinstance(a, Expr) else a for a in node.args]
        memo[node.id] = leaf(node.args[0]) if node.op == "input" else rebuild(node.op, args)
    return memo[value.id]


def reachable(roots: Iterable[Scalar]) -> list[Expr]:
    """All nodes the roots are made of, in order of creation, which is one of evaluation."""
    seen: dict[int, Expr] = {}
    pending = [root for root in roots if isinstance(root, Expr)]
    while pending:
        node = pending.pop()
        if node.id not in seen:
            seen[node.id] = node
            pending.extend(a for a in node.args if isinstance(a, Expr))
    return [seen[id] for id in sorted(seen)]


def _called(target: Any, *args: Any) -> Any:
    from bellcrank.program.subprogram import call

    return call(target, *args)


def _run(target: Any, *args: Any) -> Any:
    from bellcrank.program.loops.routine import call_routine

    return call_routine(target, *args)


def _part(whole: Any, k: int) -> Scalar:
    from bellcrank.program.subprogram import part

    return part(whole, k)


_BUILDERS: dict[str, Callable[..., Scalar]] = {
    "neg": lambda a: -a, "add": add, "sub": sub, "mul": mul, "div": div,
    "atan2": atan2, "pow": power, "min": minimum, "max": maximum,
    "lt": lambda a, b: compare("lt", a, b), "le": lambda a, b: compare("le", a, b),
    "eq": lambda a, b: compare("eq", a, b), "and": lambda a, b: logical("and", a, b),
    "or": lambda a, b: logical("or", a, b), "not": logical_not, "select": where,
    "interval": interval, "gather": gather,
    "call": _called, "routine": _run, "part": _part,
    **{name: partial(function, name) for name in FUNCTIONS_1},
}  # fmt: skip
