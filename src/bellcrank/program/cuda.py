"""Programs as CUDA C++: one state a thread, structure of arrays, in double or single precision.

The text is what NVRTC or nvcc compiles; nothing here needs a graphics processor. :mod:`gpu` compiles and runs it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, TypeAlias

from bellcrank.program import cuda_device as text
from bellcrank.program.c import GATHER, MACROS, SEARCH, Dialect, StepText, routine_texts
from bellcrank.program.llvm import routines
from bellcrank.program.order import few_live
from bellcrank.program.program import Program
from bellcrank.program.schedule import Piece, Schedule, schedule
from bellcrank.program.step import Step

if TYPE_CHECKING:
    from bellcrank.integrate.embedded import Table

Precision: TypeAlias = Literal["double", "single"]
DIALECTS = {
    "double": Dialect("double", "", "static __device__", "static __constant__", False),
    "single": Dialect("float", "f", "static __device__", "static __constant__", False),
}
BLOCK = {"double": 128, "single": 128}
"""Threads a block. With few live values to a register file of 64 K words, more threads only spill more."""
_REPLACED = {"div": "bc_div({}, {})", "sqrt": "bc_sqrt({})"}


class _DeviceText(StepText):
    """Steps with the elementary functions of :mod:`cuda_device`."""

    def step(self, step: Step) -> None:
        """Write one step."""
        replaced = _REPLACED.get(step.op)
        if replaced is None:
            super().step(step)
        else:
            self._declare(step.outs[0], replaced.format(*[self.number(a) for a in step.args]))

    def _sincos(self, step: Step) -> None:
        for k, a in enumerate(step.args):
            names = [f"v{o}" if o >= 0 else f"unused{step.outs[2 * k + 1 - j]}" for j, o in
                     enumerate(step.outs[2 * k : 2 * k + 2])]  # fmt: skip
            self.lines.append(f"{self.dialect.real} {names[0]}, {names[1]};")
            self.lines.append(f"bc_sincos({self.number(a)}, {names[0]}, {names[1]});")


@dataclass(frozen=True)
class Problem:
    """What runs on the device: programs of [t, y, p] to the rates of y and to [y corrected, residual, margin].

    least_rank: Where it is not zero, a last output of the projection that must not fall below it.
    """

    rates: Program
    projection: Program | None
    states: int
    parameters: int
    least_rank: float = 0.0


def _ordered(program: Program) -> Schedule:
    """All steps in one piece, in the order of fewest live values."""
    plan = schedule(program, 1, 10**9)
    piece = Piece(tuple(few_live(plan.single())), {}, {})
    return Schedule(plan.n_in, plan.outputs, (piece,), 0, plan.truths)


def evaluation(program: Program, states: int, precision: Precision = "double", block: int = 0) -> str:
    """A kernel ``bc_evaluate(t, y, p, out, n)`` of `program`, whose inputs are t, `states` numbers and the rest."""
    parts = [_head(precision, block), *_function(program, "bc_program", states, precision), text.EVALUATE]
    return "\n".join(parts)


def fits(table: Table) -> bool:
    """Whether there are kernels of a method: of those with one error estimate, and of the classical one with none."""
    return len(table.errors) == 1 or (len(table.errors) == 0 and table.order == len(table.b) == 4)


def integration(problem: Problem, table: Table, precision: Precision = "double", block: int = 0) -> str:
    """A kernel ``bc_runge_kutta4``, or ``bc_embedded`` of an adaptive method, that integrates one state a thread."""
    if not fits(table):
        raise ValueError(
            f"the device has no kernel for methods with several error estimates, as {table.name!r}"
        )
    loop = _embedded(table, precision) if len(table.errors) else text.RUNGE_KUTTA4
    n = problem.states
    sizes = f"#define BC_STATES {n}\n#define BC_PROJECTS {int(problem.projection is not None)}\n"
    if problem.least_rank:
        sizes += f"#define BC_LEAST_RANK ((real){problem.least_rank!r})\n"
    parts = [
        _head(precision, block),
        sizes,
        *_function(problem.rates, "bc_rates", n, precision, "__noinline__"),
    ]
    if problem.projection is not None:
        parts += _function(problem.projection, "bc_projection", n, precision, "__noinline__")
    return "\n".join([*parts, text.PROJECT, loop])


def _head(precision: Precision, block: int) -> str:
    real = DIALECTS[precision].real
    own = text.DOUBLE if precision == "double" else text.SINGLE
    sizes = f"typedef {real} real;\n#define BC_BLOCK {block or BLOCK[precision]}\n"
    return "\n".join([sizes, text.ELEMENTARY, MACROS, own, text.COLUMN])


def _function(
    program: Program, name: str, states: int, precision: Precision, how: str = "__forceinline__"
) -> list[str]:
    """A program as a device function of (t, y, p, out) on anything with brackets."""
    dialect = DIALECTS[precision]
    plan = _ordered(program)
    writer = _DeviceText(plan, dialect, f"{name}_")

    def load(k: int) -> str:
        return "t" if k == 0 else f"y[{k - 1}]" if k <= states else f"p[{k - 1 - states}]"

    body = writer.piece(plan.pieces[0], load, lambda k: f"out[{k}]", True)
    found = [
        pattern.format(static="static __device__", real=dialect.real)
        for used, pattern in ((writer.searches, SEARCH), (writer.gathers, GATHER))
        if used
    ]
    guard = [f"#ifndef BC_TABLES\n#define BC_TABLES\n{chr(10).join(found)}\n#endif"] if found else []
    head = (
        f"template <class Y, class P, class O>\nstatic __device__ {how} void {name}(real t, const Y &y, "
        "const P &p, const O &out_given) {"
    )
    take = "O &out = const_cast<O &>(out_given);"
    searching = routines(program)
    if searching and precision == "single":
        raise ValueError(
            f"{program.name!r} searches in a loop ({searching[0].name}), which needs precision='double' on the device"
        )
    # Constant memory is small; the tables of routines lie in ordinary memory of the device.
    loops = routine_texts([program], replace(dialect, constant="static __device__ const"))
    return [*guard, *loops, *writer.table_lines(), "\n  ".join([head, take, *body]) + "\n}"]


def _embedded(table: Table, precision: Precision) -> str:
    from bellcrank.integrate.vectors import ROUNDED

    dialect = DIALECTS[precision]

    def row(values: object) -> str:
        return ", ".join(dialect.number(float(v)) for v in values)  # type: ignore[attr-defined]

    return text.EMBEDDED.format(
        stages=len(table.b),
        a=",\n  ".join(f"{{{row(combination)}}}" for combination in (*table.a[1:], table.b)),
        c=row([*table.c, 1.0]),
        e=row(table.errors[0]),
        exponent=table.exponent,
        beta=table.beta,
        shrink=table.shrink,
        grow=table.grow,
        rounded=ROUNDED if precision == "double" else ROUNDED * 2.0**29,
    )


__all__ = ["BLOCK", "Precision", "Problem", "evaluation", "fits", "integration"]
