"""A program as a CasADi function, for optimal control; needs the package casadi (``bellcrank[casadi]``).

CasADi differentiates it and writes it as C again. Where NaN enters a condition CasADi decides, as C does.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from bellcrank.base.optional import needed
from bellcrank.program.program import Program
from bellcrank.program.subprogram import inlined
from bellcrank.program.trace import Expr


def casadi_function(
    program: Program, inputs: Mapping[str, int] | None = None, outputs: Mapping[str, int] | None = None
) -> Any:
    """`program` as a ``casadi.Function``.

    inputs, outputs: names and sizes of the vectors that the flat inputs and outputs are cut into, in order
    (default: one vector ``x`` and one ``y``).
    """
    casadi = _package()
    program = inlined(program)
    ins = inputs or {"x": len(program.inputs)}
    outs = outputs or {"y": len(program.outputs)}
    for sizes, flat, what in ((ins, program.inputs, "inputs"), (outs, program.outputs, "outputs")):
        if sum(sizes.values()) != len(flat):
            raise ValueError(
                f"{program.name!r} has {len(flat)} {what}, the vectors hold {sum(sizes.values())}"
            )
    vectors = [casadi.SX.sym(name, size) for name, size in ins.items()]
    entries = [vector[k] for vector, size in zip(vectors, ins.values(), strict=True) for k in range(size)]
    known: dict[int, Any] = {e.id: x for e, x in zip(program.inputs, entries, strict=True)}
    rules = _rules(casadi)
    loop = next((node.args[0].name for node in program.operations if node.op == "routine"), None)
    if loop is not None:
        raise ValueError(
            f"{program.name!r} searches in a loop ({loop}), which CasADi's expressions cannot hold"
        )
    for node in program.operations:
        known[node.id] = rules[node.op](*[known[a.id] if isinstance(a, Expr) else a for a in node.args])
    flat_out = [known[o.id] if isinstance(o, Expr) else casadi.SX(float(o)) for o in program.outputs]
    results, first = [], 0
    for size in outs.values():
        results.append(casadi.vertcat(*flat_out[first : first + size]) if size else casadi.SX(0, 1))
        first += size
    return casadi.Function(program.name, vectors, results, list(ins), list(outs))


def _package() -> Any:
    return needed("casadi", "export as CasADi functions", "casadi", "casadi")


def _rules(casadi: Any) -> dict[str, Callable[..., Any]]:
    names = (
        "sqrt",
        "sin",
        "cos",
        "tan",
        "asin",
        "acos",
        "atan",
        "sinh",
        "cosh",
        "tanh",
        "exp",
        "log",
        "floor",
    )
    rules: dict[str, Callable[..., Any]] = {name: getattr(casadi, name) for name in names}

    def interval(x: Any, points: tuple[float, ...]) -> Any:
        # One step for each inner breakpoint; tables are short.
        found = casadi.SX(0.0)
        for point in points[1:-1]:
            found = found + (x >= point)
        return found

    def gather(k: Any, values: tuple[float, ...]) -> Any:
        found = casadi.SX(values[0])
        for j in range(1, len(values)):
            found = casadi.if_else(k >= j, values[j], found)
        return found

    return rules | {
        "neg": lambda a: -a,
        "add": lambda a, b: a + b,
        "sub": lambda a, b: a - b,
        "mul": lambda a, b: a * b,
        "div": lambda a, b: a / b,
        "abs": casadi.fabs,
        "atan2": casadi.atan2,
        "pow": casadi.power,
        "min": casadi.fmin,
        "max": casadi.fmax,
        "lt": lambda a, b: a < b,
        "le": lambda a, b: a <= b,
        "eq": lambda a, b: a == b,
        "and": casadi.logic_and,
        "or": casadi.logic_or,
        "not": casadi.logic_not,
        "select": casadi.if_else,
        "interval": interval,
        "gather": gather,
    }
