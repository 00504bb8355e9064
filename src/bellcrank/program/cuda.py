"""Programs as CUDA C++: one state a thread, structure of arrays, in double or single precision.

The text is what NVRTC or nvcc compiles; nothing here needs a graphics processor. :mod:`gpu` compiles and runs it.
Tables of routines, the fields of meshes and surfaces of samples among them, go beside the text: a compiler takes
minutes for megabytes of numbers that the device copies in a moment.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from bellcrank.program import cuda_device as text
from bellcrank.program.c import GATHER, MACROS, SEARCH, Dialect, StepText, routine_texts
from bellcrank.program.llvm import routines
from bellcrank.program.order import few_live
from bellcrank.program.program import Program
from bellcrank.program.schedule import Piece, Schedule, schedule
from bellcrank.program.step import Step

Precision: TypeAlias = Literal["double", "single"]
CALLED = "static __device__ __noinline__"
"""Functions of routines are called. Copied into each other, those of meshes and samples take minutes to compile and run
half as fast; those of a box on a torus, which are short, would run twice as fast."""
DIALECTS = {
    "double": Dialect("double", "", "static __device__", "static __constant__", CALLED, False),
    "single": Dialect("float", "f", "static __device__", "static __constant__", CALLED, False),
}
BLOCK = {"double": 128, "single": 128}
"""Threads a block. With few live values to a register file of 64 K words, more threads only spill more."""
_REPLACED = {"div": "bc_div({}, {})", "sqrt": "bc_sqrt({})"}


class Source(str):
    """CUDA C++ with the tables that it reads: words by the name of the array on the device."""

    __slots__ = ("tables",)
    tables: Mapping[str, NDArray[np.int64]]

    def __new__(cls, text: str, tables: Mapping[str, NDArray[np.int64]] | None = None) -> Source:
        made = super().__new__(cls, text)
        made.tables = dict(tables or {})
        return made


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


def _ordered(program: Program) -> Schedule:
    """All steps in one piece, in the order of fewest live values."""
    plan = schedule(program, 1, 10**9)
    piece = Piece(tuple(few_live(plan.single())), {}, {})
    return Schedule(plan.n_in, plan.outputs, (piece,), 0, plan.truths)


def evaluation(program: Program, states: int, precision: Precision = "double", block: int = 0) -> Source:
    """A kernel ``bc_evaluate(t, y, p, out, n)`` of `program`, whose inputs are t, `states` numbers and the rest."""
    tables: dict[str, NDArray[np.int64]] = {}
    parts = [
        head(precision, block),
        *device_function(program, "bc_program", states, precision, tables),
        text.EVALUATE,
    ]
    return Source("\n".join(parts), tables)


def head(precision: Precision, block: int) -> str:
    """What every file begins with: the type of numbers, threads a block, elementary functions."""
    real = DIALECTS[precision].real
    own = text.DOUBLE if precision == "double" else text.SINGLE
    sizes = f"typedef {real} real;\n#define BC_BLOCK {block or BLOCK[precision]}\n"
    return "\n".join([sizes, text.ELEMENTARY, MACROS, own, text.COLUMN])


def device_function(
    program: Program,
    name: str,
    states: int,
    precision: Precision,
    tables: dict[str, NDArray[np.int64]],
    how: str = "__forceinline__",
) -> list[str]:
    """A program as a device function of (t, y, p, out) on anything with brackets.

    tables: Takes up those that its routines read.
    """
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
    loops = routine_texts([program], dialect, tables)
    return [*guard, *loops, *writer.table_lines(), "\n  ".join([head, take, *body]) + "\n}"]


__all__ = ["BLOCK", "DIALECTS", "Precision", "Source", "device_function", "evaluation", "head"]
