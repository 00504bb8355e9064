"""Exact derivatives of traced values, forward through the graph.

Where a function has a corner the derivative is one-sided or a convention: ``abs`` has 0 at 0, ``min`` and
``max`` take the first argument's where both are equal, ``floor``, ``interval`` and ``gather`` have 0
throughout, jumps included, and ``select`` has that of the branch taken. ``sqrt`` at 0 (like ``asin`` and
``acos`` at +-1) has an infinite derivative, which times a zero tangent is NaN: use sqrt(x*x + tiny), or
`where` around a safe argument, if a run passes through it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, cast

from bellcrank.base.garbage import collection_paused
from bellcrank.program.functions import cos, reachable, rebuild, sign, sin, sqrt, where
from bellcrank.program.graph import Graph
from bellcrank.program.loops.routine import call_routine, routine_moving, routine_partials
from bellcrank.program.program import Program
from bellcrank.program.subprogram import call, call_moving, part, part_rate
from bellcrank.program.trace import TRUTH_OPS, Expr, Scalar, add, compare, div, function, mul, power, sub


def directional(outputs: Sequence[Scalar], tangents: Mapping[int, Scalar]) -> list[Scalar]:
    """The derivatives of `outputs` where the nodes with the ids in `tangents` move at those rates.

    The keys are usually inputs; a computed node among them counts as moving independently of its arguments.
    """
    known: dict[int, Scalar] = dict(tangents)
    for node in _live(outputs):
        if node.id not in known:
            _advance(node, known)
    return [known.get(o.id, 0.0) if isinstance(o, Expr) else 0.0 for o in outputs]


@collection_paused()
def jacobian(outputs: Sequence[Scalar], inputs: Sequence[Expr]) -> list[dict[int, Scalar]]:
    """The derivatives of each output by the inputs it depends on: one {column: value} an output.

    Structural zeros are left out. Each column visits only the operations that depend on it.
    """
    live = _live(outputs)
    present = {node.id: node for node in live}
    users: dict[int, list[int]] = {}
    for node in live:
        for a in node.args:
            if isinstance(a, Expr):
                users.setdefault(a.id, []).append(node.id)
    wanted: dict[int, list[int]] = {}
    for row, o in enumerate(outputs):
        if isinstance(o, Expr):
            wanted.setdefault(o.id, []).append(row)
    rows: list[dict[int, Scalar]] = [{} for _ in outputs]
    for column, seed in enumerate(inputs):
        known: dict[int, Scalar] = {seed.id: 1.0}
        for id in _reached(seed.id, users):
            _advance(present[id], known, _SHARED)
        for id, value in known.items():
            if isinstance(value, Expr) or value != 0.0:
                for row in wanted.get(id, ()):
                    rows[row][column] = value
    return rows


@collection_paused()
def jvp_program(program: Program) -> Program:
    """The program with inputs (x, dx) and outputs (y, dy), where dy is the derivative along dx."""
    if any(node.op == "call" for node in program.operations):
        return dual(program, range(len(program.inputs)))
    taken = {e.args[0] for e in program.inputs}
    moving: list[Expr] = []
    for e in program.inputs:
        name = f"d({e.args[0]})"
        while name in taken:
            name = f"d({name})"
        taken.add(name)
        moving.append(e.graph.input(name))
    rates = directional(program.outputs, {e.id: d for e, d in zip(program.inputs, moving, strict=True)})
    return Program.of([*program.inputs, *moving], [*program.outputs, *rates], f"{program.name} with tangent")


@collection_paused()
def dual(program: Program, moving: Sequence[int]) -> Program:
    """The program with inputs (x, rates of the inputs at the places `moving`) and outputs (y, dy).

    Values and rates are traced together, so that a call that gives both serves for both.
    """
    graph = Graph()
    if program.graph is not None:
        graph.twins = program.graph.twins
    inputs = [graph.input(e.args[0]) for e in program.inputs]
    seeds = [graph.input(f"rate {k} of {program.name}") for k in moving]
    values: dict[int, Any] = {e.id: x for e, x in zip(program.inputs, inputs, strict=True)}
    rates: dict[int, Scalar] = {inputs[k].id: d for k, d in zip(moving, seeds, strict=True)}
    for node in program.operations:
        args = [values[a.id] if isinstance(a, Expr) else a for a in node.args]
        with graph.counting(node.stage):
            if node.op == "call":
                own = [rates.get(a.id, 0.0) if isinstance(a, Expr) else 0.0 for a in args[1:]]
                still = all(not isinstance(r, Expr) and r == 0.0 for r in own)
                values[node.id] = (call(*args), None) if still else (call_moving(args[0], args[1:], own),) * 2
                continue
            if node.op == "routine":
                own = [rates.get(a.id, 0.0) if isinstance(a, Expr) else 0.0 for a in args[1:]]
                still = all(not isinstance(r, Expr) and r == 0.0 for r in own)
                values[node.id] = (
                    (call_routine(*args), None) if still else (routine_moving(args[0], args[1:], own),) * 2
                )
                continue
            if node.op == "part":
                (whole, moved), k = args
                values[node.id] = value = part(whole, k)
                if moved is not None and isinstance(value, Expr):
                    rates[value.id] = part_rate(node, moved)
                continue
            values[node.id] = value = rebuild(node.op, args)
            if isinstance(value, Expr) and value.id not in rates:
                _advance(value, rates)
    outputs = [values[o.id] if isinstance(o, Expr) else o for o in program.outputs]
    along = [rates.get(o.id, 0.0) if isinstance(o, Expr) else 0.0 for o in outputs]
    return Program.of([*inputs, *seeds], [*outputs, *along], f"{program.name} with tangent")


def _live(outputs: Iterable[Scalar]) -> list[Expr]:
    """The nodes `outputs` depend on, in evaluation order."""
    live = reachable(outputs)
    for node in live:
        if node.graph is not live[0].graph:
            raise ValueError(f"{node!r} belongs to another graph than {live[0]!r}")
    return live


def _reached(seed: int, users: Mapping[int, Sequence[int]]) -> list[int]:
    seen: set[int] = set()
    pending = list(users.get(seed, ()))
    while pending:
        id = pending.pop()
        if id not in seen:
            seen.add(id)
            pending.extend(users.get(id, ()))
    return sorted(seen)


def _advance(node: Expr, known: dict[int, Scalar], shared: Mapping[str, Rule] | None = None) -> None:
    """Enter the tangent of `node`, given those of its arguments; nothing where it is zero.

    shared: Rules that take the place of others, where many columns are asked for.
    """
    rule = (shared or {}).get(node.op) or _RULES.get(node.op)
    if rule is None:
        return
    rates = [known.get(a.id, 0.0) if isinstance(a, Expr) else 0.0 for a in node.args]
    if any(isinstance(r, Expr) or r != 0.0 for r in rates):
        known[node.id] = rule(node, rates)


Rule = Callable[[Expr, list[Scalar]], Scalar]


def _div(node: Expr, rates: list[Scalar]) -> Scalar:
    a_rate, b_rate = rates
    b = node.args[1]
    # The reciprocal is shared by all columns of a Jacobian.
    return mul(sub(a_rate, mul(node, b_rate)), div(1.0, b))


def _atan2(node: Expr, rates: list[Scalar]) -> Scalar:
    y, x = node.args
    y_rate, x_rate = rates
    square = add(mul(x, x), mul(y, y))
    moment = sub(mul(x, y_rate), mul(y, x_rate))
    return mul(moment, div(1.0, square))


def _pow(node: Expr, rates: list[Scalar]) -> Scalar:
    x, y = node.args
    result: Scalar = 0.0
    if isinstance(x, Expr):
        slope = mul(y, power(x, sub(y, 1.0)))
        result = mul(slope, rates[0])
    if isinstance(y, Expr):
        # 0**y stays 0 while y > 0 changes.
        grown = mul(node, function("log", x)) if isinstance(x, Expr) or x > 0.0 else 0.0
        slope = where(compare("eq", x, 0.0), 0.0, grown)
        result = add(result, mul(slope, rates[1]))
    return result


def _extreme(node: Expr, rates: list[Scalar]) -> Scalar:
    a, b = node.args
    first = compare("le", a, b) if node.op == "min" else compare("le", b, a)
    return where(first, rates[0], rates[1])


def _chain(slope: Callable[[Expr, Scalar], Scalar]) -> Rule:
    """The rule of a function of one argument from its `slope(node, argument)`."""
    return lambda node, rates: mul(slope(node, node.args[0]), rates[0])


def _one_minus_square(x: Scalar) -> Scalar:
    return sub(1.0, mul(x, x))


def _one_plus_square(x: Scalar) -> Scalar:
    return add(mul(x, x), 1.0)


def _minus(x: Scalar) -> Scalar:
    return sub(0.0, x)


_RULES: dict[str, Rule] = {
    "neg": lambda node, rates: _minus(rates[0]),
    "add": lambda node, rates: add(rates[0], rates[1]),
    "sub": lambda node, rates: sub(rates[0], rates[1]),
    "mul": lambda node, rates: add(mul(rates[0], node.args[1]), mul(node.args[0], rates[1])),
    "div": _div,
    "sqrt": _chain(lambda y, x: div(0.5, y)),
    "sin": _chain(lambda y, x: cos(x)),
    "cos": _chain(lambda y, x: _minus(sin(x))),
    "tan": _chain(lambda y, x: _one_plus_square(y)),
    "asin": _chain(lambda y, x: div(1.0, sqrt(_one_minus_square(x)))),
    "acos": _chain(lambda y, x: div(-1.0, sqrt(_one_minus_square(x)))),
    "atan": _chain(lambda y, x: div(1.0, _one_plus_square(x))),
    "sinh": _chain(lambda y, x: function("cosh", x)),
    "cosh": _chain(lambda y, x: function("sinh", x)),
    "tanh": _chain(lambda y, x: _one_minus_square(y)),
    "exp": _chain(lambda y, x: y),
    "log": _chain(lambda y, x: div(1.0, x)),
    "abs": _chain(lambda y, x: sign(x)),
    "atan2": _atan2,
    "pow": _pow,
    "min": _extreme,
    "max": _extreme,
    "select": lambda node, rates: where(cast("Scalar", node.args[0]), rates[1], rates[2]),
    "call": lambda node, rates: call_moving(node.args[0], node.args[1:], rates[1:]),
    "routine": lambda node, rates: routine_moving(node.args[0], node.args[1:], rates[1:]),
    "part": lambda node, rates: part_rate(node, rates[0]),
}


def _by_partials(node: Expr, rates: list[Scalar]) -> Scalar:
    moved = rates[0]
    return (
        routine_partials(node, cast("list[Scalar]", moved))
        if isinstance(moved, list)
        else part_rate(node, moved)
    )


_SHARED: dict[str, Rule] = {
    "routine": lambda node, rates: cast("Scalar", rates[1:]),
    "part": _by_partials,
}
"""In a Jacobian the partial derivatives of routines serve all columns."""

PIECEWISE_CONSTANT = TRUTH_OPS | {"floor", "interval", "gather"}
"""Operations without a rule: their derivative is zero."""
