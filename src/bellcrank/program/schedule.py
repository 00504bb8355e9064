"""From a program to a list of machine steps: fusing, ordering, cutting into pieces.

Everything that decides the bits of the result is decided here, once, before any text is written: which
products are fused into a following sum, which sines are evaluated together. The emitters below only spell
it out, so that one state, four lanes and any size of pieces give the same bits.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from bellcrank.program.program import Program
from bellcrank.program.trace import TRUTH_OPS, Expr

STEPS_A_PIECE = 320
"""Steps in one machine function. Shorter ones keep values in registers better and compile faster: the car ran a
tenth faster with 300 to 500 than with 1500, and slower again below 150."""


class Step(NamedTuple):
    """One operation on numbered values: `args` are value numbers (int), constants (float) or tables (tuple).

    `op` is an operation of the tracer, or ``fma`` (a*b + c), ``fms`` (a*b - c), ``fnma`` (c - a*b), or
    ``sincos``, whose `outs` are the sines and cosines (-1 where not needed) of its arguments in turn.
    """

    op: str
    outs: tuple[int, ...]
    args: tuple[Any, ...]


@dataclass(frozen=True)
class Piece:
    """Steps of one function; `loads` and `saves`: the workspace slots of values from and for others."""

    steps: tuple[Step, ...]
    loads: dict[int, int]
    saves: dict[int, int]


@dataclass(frozen=True)
class Schedule:
    """The pieces of a program. Values 0 ... n_in-1 are the inputs; `outputs` are values or constants."""

    n_in: int
    outputs: tuple[int | float, ...]
    pieces: tuple[Piece, ...]
    slots: int
    truths: frozenset[int]


def schedule(program: Program, together: int = 8, limit: int = STEPS_A_PIECE) -> Schedule:
    """Order the operations of `program`, at most `together` sines at once, at most `limit` steps a piece."""
    number = {e.id: k for k, e in enumerate(program.inputs)}
    n_in = len(program.inputs)
    for k, e in enumerate(program.operations):
        number[e.id] = n_in + k
    outputs = tuple(number[e.id] if isinstance(e, Expr) else float(e) for e in program.outputs)
    steps = _fused(_numbered(program.operations, number), outputs)
    truths = frozenset(s.outs[0] for s in steps if s.op in TRUTH_OPS)
    steps = _sines_together(steps, together)
    pieces, slots = _cut(steps, n_in, limit)
    return Schedule(n_in, outputs, pieces, slots, truths)


def _numbered(operations: Sequence[Expr], number: dict[int, int]) -> list[Step]:
    return [
        Step(e.op, (number[e.id],), tuple([number[a.id] if isinstance(a, Expr) else a for a in e.args]))
        for e in operations
    ]


def _fused(steps: list[Step], outputs: Sequence[int | float]) -> list[Step]:
    """Products whose only use is a sum become part of it: one instruction and one rounding less."""
    uses: dict[int, int] = {}
    for step in steps:
        for a in step.args:
            if type(a) is int:
                uses[a] = uses.get(a, 0) + 1
    for o in outputs:
        if type(o) is int:
            uses[o] = uses.get(o, 0) + 1
    single = {s.outs[0]: s for s in steps if s.op == "mul" and uses.get(s.outs[0]) == 1}
    result: list[Step] = []
    gone: set[int] = set()
    for step in steps:
        if step.op == "add" or step.op == "sub":
            a, b = step.args
            product = single.get(b) if type(b) is int else None
            if product is not None:
                op = "fma" if step.op == "add" else "fnma"
                gone.add(b)
                result.append(Step(op, step.outs, (*product.args, a)))
                continue
            product = single.get(a) if type(a) is int else None
            if product is not None:
                op = "fma" if step.op == "add" else "fms"
                gone.add(a)
                result.append(Step(op, step.outs, (*product.args, b)))
                continue
        result.append(step)
    return [s for s in result if not (s.op == "mul" and s.outs[0] in gone)]


def _sines_together(steps: list[Step], together: int) -> list[Step]:
    """Join the sine and cosine of one argument, and up to `together` arguments known equally early."""
    level: dict[int, int] = {}
    pairs: dict[int, list[int]] = {}
    for step in steps:
        here = 0
        for a in step.args:
            if type(a) is int and (depth := level.get(a, 0)) > here:
                here = depth
        if step.op == "sin" or step.op == "cos":
            pairs.setdefault(step.args[0], [-1, -1])[step.op == "cos"] = step.outs[0]
            here += 1
        level[step.outs[0]] = here
    if not pairs:
        return steps
    waiting: dict[int, list[int]] = {}
    for argument in pairs:
        waiting.setdefault(level.get(argument, 0), []).append(argument)
    units: list[Step] = []
    for arguments in waiting.values():
        for k in range(0, len(arguments), together):
            group = tuple(arguments[k : k + together])
            units.append(Step("sincos", tuple(o for a in group for o in pairs[a]), group))
    n_groups = len(units)
    units += [s for s in steps if s.op != "sin" and s.op != "cos"]
    maker = {o: k for k, s in enumerate(units) for o in s.outs if o >= 0}
    # Natural order, but what a group of sines needs comes before the first of them.
    order: list[Step] = []
    done = [False] * len(units)
    later = n_groups
    for step in steps:
        if step.op == "sin" or step.op == "cos":
            root = maker[step.outs[0]]
        else:
            root = later
            later += 1
        pending = [root]
        while pending:
            k = pending[-1]
            if done[k]:
                pending.pop()
                continue
            missing = [
                m for a in units[k].args if type(a) is int and (m := maker.get(a, -1)) >= 0 and not done[m]
            ]
            if missing:
                pending.extend(sorted(set(missing), reverse=True))
                continue
            pending.pop()
            done[k] = True
            order.append(units[k])
    return order


def _cut(steps: list[Step], n_in: int, limit: int) -> tuple[tuple[Piece, ...], int]:
    """Cut into pieces and give each value that crosses a cut a slot, reused after its last use."""
    runs = [steps[k : k + limit] for k in range(0, len(steps), limit)] or [[]]
    home: dict[int, int] = {}
    last: dict[int, int] = {}
    needs: list[list[int]] = []
    for k, run in enumerate(runs):
        foreign: dict[int, None] = {}
        for step in run:
            for a in step.args:
                if type(a) is int and a >= n_in and home.get(a, k) != k:
                    foreign[a] = None
                    last[a] = k
            for o in step.outs:
                home[o] = k
        needs.append(list(foreign))
    slot: dict[int, int] = {}
    free: list[int] = []
    slots = 0
    pieces: list[Piece] = []
    for k, run in enumerate(runs):
        loads = {v: slot[v] for v in needs[k]}
        # A slot freed here is reused from the next piece on: within a piece, reads may follow writes.
        saves: dict[int, int] = {}
        for step in run:
            for o in step.outs:
                if last.get(o, k) > k:
                    if free:
                        saves[o] = slot[o] = free.pop()
                    else:
                        saves[o] = slot[o] = slots
                        slots += 1
        pieces.append(Piece(tuple(run), loads, saves))
        free.extend(slot[v] for v in needs[k] if last[v] == k)
    return tuple(pieces), slots
