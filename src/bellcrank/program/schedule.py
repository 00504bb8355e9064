"""From a program to a list of machine steps: fusing, ordering, cutting into pieces.

Everything that decides the bits of the result is decided here, once, before any text is written: which
products are fused into a following sum, which sines are evaluated together, which steps share a register. The
emitters below only spell it out, so that one state, four lanes and any size of pieces give the same bits.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import groupby

from bellcrank.program.order import few_live
from bellcrank.program.pairs import halves, paired
from bellcrank.program.program import Program
from bellcrank.program.step import Called, Pair, Step
from bellcrank.program.subprogram import inlined
from bellcrank.program.sums import gathered_sums
from bellcrank.program.together import call_widths, gathered
from bellcrank.program.trace import TRUTH_OPS, Expr
from bellcrank.program.x86 import written

STEPS_A_PIECE = 200
"""Steps in one function of LLVM's. Shorter ones keep values in registers better and compile faster: the car takes
440 ns with 180 or 200, 490 with 220 to 320, 520 and more with 400 and above or 130 and below."""

FEWEST = 32
"""Native steps in a piece of their own: with fewer, as there are registers, more values cross its ends than within."""


@dataclass(frozen=True)
class Piece:
    """Steps of one function; `loads` and `saves`: the workspace slots of values from and for others.

    native: Whether all of them are steps that :mod:`x86` writes.
    """

    steps: tuple[Step | Pair, ...]
    loads: dict[int, int]
    saves: dict[int, int]
    native: bool = False


@dataclass(frozen=True)
class Schedule:
    """The pieces of a program. Values 0 ... n_in-1 are the inputs; `outputs` are values or constants.

    `pairs`: by each value that shares a register, the pair it belongs to; its two values have neighbouring slots.
    """

    n_in: int
    outputs: tuple[int | float, ...]
    pieces: tuple[Piece, ...]
    slots: int
    truths: frozenset[int]
    pairs: dict[int, Pair] = field(default_factory=dict)

    def single(self) -> list[Step]:
        """The steps of all pieces of a schedule without pairs."""
        return [step for piece in self.pieces for step in piece.steps if isinstance(step, Step)]


def schedule(
    program: Program,
    together: int = 8,
    limit: int = STEPS_A_PIECE,
    pairs: bool = False,
    calls: int = 0,
    copying: bool = True,
    native: bool = False,
) -> Schedule:
    """Order the operations of `program`, at most `together` sines at once, at most `limit` steps a piece.

    pairs: whether the steps of twins are to share registers. calls: how many calls are made at once; with 0 all are
    written out. copying: whether those with blocks are, too. native: whether steps that :mod:`x86` writes make pieces
    of their own, of any length.
    """
    if not calls:
        program = inlined(program)
    number = {e.id: k for k, e in enumerate(program.inputs)}
    n_in = len(program.inputs)
    for k, e in enumerate(program.operations):
        number[e.id] = n_in + k
    outputs = tuple(number[e.id] if isinstance(e, Expr) else float(e) for e in program.outputs)
    steps = _numbered(program.operations, number)
    steps = gathered_sums(steps, outputs, halves(steps, program.twins))
    truths = frozenset(s.outs[0] for s in steps if s.op in TRUTH_OPS)
    steps = gathered(steps, together, call_widths(program, calls, copying))
    units: list[Step | Pair] = [*steps]
    if pairs and program.twins:
        units = paired(steps, program.twins, outputs)
    shared = {o: unit for unit in units if isinstance(unit, Pair) for o in unit.outs}
    several = len(units) > limit
    if several:
        # What fits into one function is left to the order of the equations and to LLVM.
        units = few_live(units)
    pieces, slots = _cut(_runs(units, limit, native and several), n_in)
    return Schedule(n_in, outputs, pieces, slots, truths, shared)


def _numbered(operations: Sequence[Expr], number: dict[int, int]) -> list[Step]:
    steps = [
        Step(e.op, (number[e.id],), tuple([number[a.id] if isinstance(a, Expr) else a for a in e.args]))
        for e in operations
        if e.op != "part"
    ]
    parts = [e for e in operations if e.op == "part"]
    if not parts:
        return steps
    outs: dict[int, dict[int, int]] = {}
    for e in parts:
        outs.setdefault(number[e.args[0].id], {})[e.args[1]] = number[e.id]
    return [_whole(s, outs[s.outs[0]]) if s.op in ("call", "routine") else s for s in steps]


def _whole(step: Step, used: dict[int, int]) -> Step:
    """A call with the values of all its results, -1 where not needed."""
    target, *args = step.args
    outs = tuple(used.get(k, -1) for k in range(target.results))
    return Step(step.op, outs, (Called(target, 1), *args))


def _runs(units: Sequence[Step | Pair], limit: int, native: bool) -> list[tuple[Sequence[Step | Pair], bool]]:
    """The steps of each piece, and whether it is native; a few native steps among others go with these."""
    whole: list[tuple[list[Step | Pair], bool]] = []
    for own, group in groupby(units, lambda unit: native and written(unit)):
        run = list(group)
        if own and len(run) >= FEWEST:
            whole.append((run, True))
        elif whole and not whole[-1][1]:
            whole[-1][0].extend(run)
        else:
            whole.append((run, False))
    runs: list[tuple[Sequence[Step | Pair], bool]] = []
    for run, own in whole:
        step = len(run) if own else limit
        runs += [(run[k : k + step], own) for k in range(0, len(run), step)]
    return runs or [((), False)]


def _cut(pieces_of: Sequence[tuple[Sequence[Step | Pair], bool]], n_in: int) -> tuple[tuple[Piece, ...], int]:
    """Pieces, in which each value that crosses a cut has a slot, reused after its last use.

    Both values of a pair cross where one does, into neighbouring slots.
    """
    runs = [run for run, _ in pieces_of]
    home: dict[int, int] = {}
    last: dict[int, int] = {}
    needs: list[list[int]] = []
    for k, run in enumerate(runs):
        foreign: dict[int, None] = {}
        for unit in run:
            for a in unit.reads():
                if a >= n_in and home.get(a, k) != k:
                    foreign[a] = None
                    last[a] = k
            for o in unit.outs:
                home[o] = k
        needs.append(list(foreign))
    slot: dict[int, int] = {}
    free: dict[int, list[int]] = {1: [], 2: []}
    ends: list[list[tuple[int, int]]] = [[] for _ in runs]
    slots = 0
    pieces: list[Piece] = []
    for k, run in enumerate(runs):
        loads = {v: slot[v] for v in needs[k]}
        # A slot freed here is reused from the next piece on: within a piece, reads may follow writes.
        saves: dict[int, int] = {}
        for unit in run:
            together = [unit.outs] if isinstance(unit, Pair) else [(o,) for o in unit.outs]
            for outs in together:
                end = max(last.get(o, k) for o in outs)
                if end == k:
                    continue
                width = len(outs)
                if not free[width] and width == 1 and slots % 2:
                    free[1].append(slots)
                    slots += 1
                if free[width]:
                    place = free[width].pop()
                else:
                    slots += slots % width
                    place = slots
                    slots += width
                ends[end].append((width, place))
                for o in outs:
                    saves[o] = slot[o] = place + outs.index(o)
        pieces.append(Piece(tuple(run), loads, saves, pieces_of[k][1]))
        for width, place in ends[k]:
            free[width].append(place)
    return tuple(pieces), slots
