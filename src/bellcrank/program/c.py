"""A program as C99: straight-line code, no allocation, no library but libm.

The text follows the same schedule as the machine code, so the numbers agree to rounding: to the bit but for
the last place of sine and cosine where the processor fuses products and sums (``FP_FAST_FMA``), and to a few
roundings where it does not. What a NaN does is said in :mod:`steps`; here a condition is 1 (true), 0 (false) or
2 (undecided). :mod:`cuda` writes the same statements for a graphics processor.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from bellcrank.program.llvm import routines
from bellcrank.program.loops import c as loops
from bellcrank.program.loops.routine import Routine
from bellcrank.program.program import Program
from bellcrank.program.schedule import STEPS_A_PIECE, Piece, Schedule, schedule
from bellcrank.program.step import Step
from bellcrank.program.subprogram import called

_BINARY = {"add": "+", "sub": "-", "mul": "*", "div": "/"}
_FUSED = {
    "fma": "BC_FMA({0}, {1}, {2})",
    "fms": "BC_FMA({0}, {1}, -({2}))",
    "fnma": "BC_FMA(-({0}), {1}, {2})",
}
_MACROS = {"min": "BC_MIN", "max": "BC_MAX", "lt": "BC_LT", "le": "BC_LE", "eq": "BC_EQ", "and": "BC_AND"}
_MACROS |= {"or": "BC_OR", "select": "BC_SELECT"}
_FUNCTIONS = {
    "sqrt": "sqrt", "abs": "fabs", "floor": "floor", "tan": "tan", "asin": "asin", "acos": "acos", "atan": "atan",
    "sinh": "sinh", "cosh": "cosh", "tanh": "tanh", "exp": "exp", "log": "log", "atan2": "atan2", "pow": "pow",
}  # fmt: skip

MACROS = """\
#define BC_MIN(a, b) ((a) != (a) || (a) < (b) ? (a) : (b))
#define BC_MAX(a, b) ((a) != (a) || (a) > (b) ? (a) : (b))
/* Conditions are 1 (true), 0 (false) or 2 (undecided: a NaN was compared). */
#define BC_LT(a, b) ((a) < (b) ? 1 : (a) >= (b) ? 0 : 2)
#define BC_LE(a, b) ((a) <= (b) ? 1 : (a) > (b) ? 0 : 2)
#define BC_EQ(a, b) ((a) == (b) ? 1 : (a) < (b) || (a) > (b) ? 0 : 2)
#define BC_AND(a, b) ((a) == 0 || (b) == 0 ? 0 : (a) == 1 && (b) == 1 ? 1 : 2)
#define BC_OR(a, b) ((a) == 1 || (b) == 1 ? 1 : (a) == 0 && (b) == 0 ? 0 : 2)
#define BC_NOT(a) ((a) == 2 ? 2 : 1 - (a))
#define BC_SELECT(c, a, b) ((c) == 1 ? (a) : (c) == 0 ? (b) : BC_NAN)
"""

HEAD = f"""\
#include <math.h>

#define BC_NAN NAN
#define BC_INFINITY INFINITY
#ifdef FP_FAST_FMA
#define BC_FMA(a, b, c) fma((a), (b), (c))
#else
#define BC_FMA(a, b, c) ((a) * (b) + (c))
#endif
{MACROS}"""
"""What every file begins with."""

SEARCH = """\
/* The largest k with table[k] <= x, held in 0 ... last; NaN for NaN. */
{static} {real} bc_interval({real} x, const {real} *table, int last) {{
  int low = 0, high = last + 1;
  if (x != x) return x;
  while (high - low > 1) {{
    const int middle = (low + high) / 2;
    if (table[middle] <= x) low = middle; else high = middle;
  }}
  return ({real})low;
}}
"""
GATHER = """\
/* table[k], k held in 0 ... last; NaN for NaN. */
{static} {real} bc_gather({real} k, const {real} *table, int last) {{
  if (k != k) return k;
  return table[k > 0 ? (k < last ? (int)k : last) : 0];
}}
"""


@dataclass(frozen=True)
class Dialect:
    """How a language spells things: the type of numbers, their literals, helpers, constant tables."""

    real: str = "double"
    suffix: str = ""
    static: str = "static"
    constant: str = "static const"
    routine: str = "static"
    """Of the functions of a routine."""
    keeps: bool = True
    """Whether a routine's memory can be handed over where it lies; otherwise it starts cold."""

    def number(self, value: float) -> str:
        """The literal of a number: exact, or the nearest single one where those are single."""
        if self.suffix:
            with np.errstate(over="ignore"):
                value = float(np.float32(value))
        if math.isnan(value):
            return "BC_NAN"
        if math.isinf(value):
            return "BC_INFINITY" if value > 0 else "(-BC_INFINITY)"
        text = repr(float(value)) + self.suffix
        return f"({text})" if text.startswith("-") else text


Access = Callable[[int], str]


@dataclass(eq=False)
class StepText:
    """Writes the steps of a schedule as statements; value k is ``vk``."""

    plan: Schedule
    dialect: Dialect = field(default_factory=Dialect)
    prefix: str = ""
    tables: dict[tuple[float, ...], str] = field(default_factory=dict)
    searches: bool = False
    gathers: bool = False

    def piece(self, piece: Piece, load: Access, store: Access, first: bool) -> list[str]:
        """The statements of one piece; `load` and `store` spell the places of inputs and outputs."""
        self.lines: list[str] = []
        self.loads, self.load, self.seen = piece.loads, load, set[int]()
        outputs: dict[int, list[int]] = {}
        for slot, o in enumerate(self.plan.outputs):
            if type(o) is int and o >= self.plan.n_in:
                outputs.setdefault(o, []).append(slot)
            elif first:
                self.lines.append(f"{store(slot)} = {self.ref(o)};")
        for step in piece.steps:
            assert isinstance(step, Step), "C is written one value at a time"
            self.step(step)
            for o in step.outs:
                if o < 0:
                    continue
                self.seen.add(o)
                if o in piece.saves:
                    self.lines.append(f"w[{piece.saves[o]}] = {self.number(o)};")
                self.lines += [f"{store(slot)} = {self.number(o)};" for slot in outputs.get(o, ())]
        return self.lines

    def ref(self, a: int | float) -> str:
        """An operand; fetched here if this piece has not seen it yet."""
        if type(a) is not int:
            return self.dialect.number(a)
        if a not in self.seen:
            self.seen.add(a)
            if a < self.plan.n_in:
                self._declare(a, self.load(a))
            elif a in self.plan.truths:
                place = f"w[{self.loads[a]}]"
                self.lines.append(f"const int v{a} = {place} == 1 ? 1 : {place} == 0 ? 0 : 2;")
            else:
                self._declare(a, f"w[{self.loads[a]}]")
        return f"v{a}"

    def number(self, a: int | float) -> str:
        """An operand as a number: conditions count 1, 0 or NaN."""
        text = self.ref(a)
        if type(a) is int and a in self.plan.truths:
            return f"BC_SELECT({text}, {self.dialect.number(1.0)}, {self.dialect.number(0.0)})"
        return text

    def _declare(self, value: int, text: str) -> None:
        kind = "int" if value in self.plan.truths else self.dialect.real
        self.lines.append(f"const {kind} v{value} = {text};")

    def _truth(self, a: int | float) -> str:
        return self.ref(a) if type(a) is int else str(int(bool(a)))

    def step(self, step: Step) -> None:
        """Write one step."""
        op = step.op
        if op == "sincos":
            self._sincos(step)
            return
        if op == "routine":
            self._routine(step)
            return
        if op in ("interval", "gather"):
            text = self._look_up(step)
        elif op in ("and", "or"):
            text = f"{_MACROS[op]}({self._truth(step.args[0])}, {self._truth(step.args[1])})"
        elif op == "not":
            text = f"BC_NOT({self._truth(step.args[0])})"
        elif op == "select":
            a, b = (self.number(s) for s in step.args[1:])
            text = f"BC_SELECT({self._truth(step.args[0])}, {a}, {b})"
        else:
            text = self._arithmetic(op, [self.number(a) for a in step.args])
        self._declare(step.outs[0], text)

    def _arithmetic(self, op: str, args: Sequence[str]) -> str:
        if op in _BINARY:
            return f"{args[0]} {_BINARY[op]} {args[1]}"
        if op == "neg":
            return f"-{args[0]}"
        if op in _FUSED:
            return _FUSED[op].format(*args)
        name = _MACROS.get(op) or _FUNCTIONS[op]
        return f"{name}({', '.join(args)})"

    def _sincos(self, step: Step) -> None:
        for k, a in enumerate(step.args):
            x = self.number(a)
            for out, name in zip(step.outs[2 * k : 2 * k + 2], ("sin", "cos"), strict=True):
                if out >= 0:
                    self._declare(out, f"{name}({x})")

    def _routine(self, step: Step) -> None:
        """A call; its numbers are doubles in memory whatever the language calls real."""
        target: Routine = step.args[0].target
        name, tag = routine_name(target), max(step.outs)
        inputs = ", ".join(self.number(a) for a in step.args[1 : 1 + target.n_in])
        cells = step.args[1 + target.n_in :]
        memory = "0"
        if cells and self.dialect.keeps:
            memory = f"(char *)&{self.load(cells[0])}"
        elif cells:
            self.lines.append(f"double m{tag}[{len(cells)}] = {{0}};")
            memory = f"(char *)m{tag}"
        self.lines += [
            f"double x{tag}[{max(target.n_in, 1)}] = {{{inputs or '0'}}}, y{tag}[{target.n_out}];",
            f"long long t{tag}[] = {name}_TABLES;",
            f"{name}_routine((char *)x{tag}, (char *)y{tag}, {memory}, (char *)t{tag});",
        ]
        for k, o in enumerate(step.outs):
            if o >= 0:
                self._declare(o, f"y{tag}[{k}]")

    def _table(self, values: tuple[float, ...]) -> str:
        return self.tables.setdefault(values, f"{self.prefix}table{len(self.tables)}")

    def _look_up(self, step: Step) -> str:
        where, values = step.args
        if step.op == "interval":
            self.searches = True
            return f"bc_interval({self.number(where)}, {self._table(values)}, {len(values) - 2})"
        self.gathers = True
        return f"bc_gather({self.number(where)}, {self._table(values)}, {len(values) - 1})"

    def table_lines(self) -> list[str]:
        """The tables used so far."""
        d = self.dialect
        return [
            f"{d.constant} {d.real} {name}[{len(values)}] = {{{', '.join(d.number(v) for v in values)}}};"
            for values, name in self.tables.items()
        ]


@dataclass(frozen=True)
class Signature:
    """How a function takes its inputs and gives its outputs."""

    parameters: str
    arguments: str
    load: Access
    store: Access


FLAT = Signature("const double *x, double *y", "x, y", lambda k: f"x[{k}]", lambda k: f"y[{k}]")


def functions(
    program: Program, name: str, signature: Signature = FLAT, public: str = "", limit: int = STEPS_A_PIECE
) -> str:
    """The C functions of one program: its pieces, and the function `name` that runs them in turn."""
    plan = schedule(program, 1, limit)
    writer = StepText(plan, prefix=f"{name}_")
    texts = []
    for k, piece in enumerate(plan.pieces):
        body = writer.piece(piece, signature.load, signature.store, k == 0)
        head = f"static void {name}_{k}({signature.parameters}, double *w)"
        texts.append("\n  ".join([f"{head} {{", "(void)w;", *body]) + "\n}\n")
    calls = [f"{name}_{k}({signature.arguments}, w);" for k in range(len(plan.pieces))]
    main = [f"{public}void {name}({signature.parameters}) {{", f"double w[{max(plan.slots, 1)}];", *calls]
    helpers = "\n".join(writer.table_lines())
    return "\n".join([helpers, *texts, "\n  ".join(main) + "\n}\n"])


def helpers(programs: Sequence[Program]) -> str:
    """The table functions and the routines that the programs use."""
    whole = [q for p in programs for q in (p, *(target.program for target in called(p)))]
    ops = {e.op for p in whole for e in p.operations}
    spelled = {"static": "static", "real": "double"}
    found = [text.format(**spelled) for op, text in (("interval", SEARCH), ("gather", GATHER)) if op in ops]
    return "\n".join([*found, *routine_texts(programs, Dialect())])


def routine_name(target: Routine) -> str:
    """What the functions of a routine begin with."""
    return f"bc_{identifier(target.name)}_{target.digest[:12]}"


def routine_texts(
    programs: Sequence[Program], dialect: Dialect, tables: dict[str, NDArray[np.int64]] | None = None
) -> list[str]:
    """The routines of the programs with their tables, each once.

    tables: Takes up the words of the tables by the names of their arrays, and keeps them out of the text.
    """
    found = {r.digest: r for p in programs for r in routines(p)}
    if not found:
        return []
    texts = [loops.WORDS.format(static=dialect.static, real=dialect.real)]
    written: dict[str, NDArray[np.int64]] = {} if tables is None else tables
    for routine in found.values():
        name = routine_name(routine)
        lines = loops.table_lines(routine.table_types, routine.tables, name, written, tables is not None)
        body = loops.emit(routine.code, name, dialect.real, dialect.routine)
        texts.append("\n".join([f"#ifndef {name}_TABLES", *lines, body, "#endif"]))
    return texts


def emit_c(program: Program, name: str | None = None) -> str:
    """A file with one function, ``void name(const double *x, double *y)``."""
    name = identifier(name or program.name)
    counts = {"INPUTS": len(program.inputs), "OUTPUTS": len(program.outputs)}
    sizes = "\n".join(f"#define {name.upper()}_{what} {count}" for what, count in counts.items())
    inputs = "\n".join(f" *   x[{k}]  {comment(e.args[0])}" for k, e in enumerate(program.inputs))
    about = f"/* {comment(program.name)}, written by Bellcrank.\n *\n{inputs}\n */"
    return "\n".join([about, HEAD, sizes, helpers([program]), functions(program, name)])


def identifier(name: str) -> str:
    """`name` as an identifier of C."""
    found = re.sub(r"\W+", "_", name, flags=re.ASCII).strip("_").lower() or "program"
    return f"m_{found}" if found[0].isdigit() else found


def comment(text: str) -> str:
    """`text` fit to stand in a comment: one line, which cannot end it."""
    return " ".join(str(text).split()).replace("*/", "* /").replace("/*", "/ *")
