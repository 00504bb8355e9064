"""A program as LLVM IR text: ``void kernel(const double *x, double *y)``, for one state or four in lanes.

The text depends on nothing but the program: equal programs give equal text. Sums and products are fused where
:mod:`schedule` says so and nowhere else, so that the bits do not depend on optimisation level, lanes or the size of
pieces. What a NaN does is said in :mod:`writer`.
"""

from __future__ import annotations

from collections.abc import Sequence

from bellcrank.program import x86
from bellcrank.program.elementary import COPY, SEARCH, many_lanes_text, many_text, sincos_text
from bellcrank.program.loops.routine import Routine
from bellcrank.program.program import Program
from bellcrank.program.schedule import STEPS_A_PIECE, Piece, Schedule, schedule
from bellcrank.program.step import Pair, Step
from bellcrank.program.subprogram import Subprogram, called
from bellcrank.program.together import call_widths
from bellcrank.program.writer import StepWriter

ROW = 16
"""Constant outputs in a row from which on they are copied from a table."""

LARGEST_FRAME = 64 * 1024
"""Workspaces and buffers above this size [bytes] come from the heap, not from the stack of the caller."""

TOGETHER = 8
"""Sines evaluated at once: one register of 512 bits or two of 256, whose latencies overlap."""

WIDEST_CALLED = 4
"""Most lanes of calls that are made together: those of a batch, which calls the same machine code."""

WIDEST_PAIRED = 4
"""Most lanes with which twins share registers: four by two doubles are the widest register there is."""


def emit(
    program: Program, lanes: int = 1, limit: int = STEPS_A_PIECE, target: Subprogram | None = None
) -> str:
    """The module of `program`: functions ``kernel(x, y)`` and ``kernel_many(X, Y, rows)``.

    With `lanes` = 4 every slot of x and y is four doubles, one a state. ``kernel_many`` takes and gives one
    row a state in either case. Pieces of at most `limit` steps become functions of their own. target: The subprogram
    that `program` is of; then there is one function, by its own name.
    """
    if lanes not in (1, 2, 4, 8):
        raise ValueError(f"lanes must be 1, 2, 4 or 8, not {lanes}")
    plan = schedule(
        program,
        max(1, TOGETHER // lanes),
        limit,
        lanes <= WIDEST_PAIRED,
        calls=calls_together(lanes),
        copying=_copying(target, lanes),
        native=(target is None or not target.blocks) and x86.fits(lanes),
    )
    return _Module(plan, lanes, target).text()


def calls_together(lanes: int) -> int:
    """How many calls of a subprogram are made at once, at most, by a program for so many states."""
    return max(1, WIDEST_CALLED // lanes)


def linked(program: Program, lanes: int) -> list[tuple[Subprogram, int]]:
    """The subprograms that the code of a program is linked to, and their lanes."""
    found: dict[tuple[str, int], Subprogram] = {}
    pending = [(program, lanes)]
    while pending:
        caller, states = pending.pop()
        widths = call_widths(
            caller, calls_together(states), copying=caller is program and _copying(None, lanes)
        )
        for digest, (target, width) in widths.items():
            if (digest, states * width) not in found:
                found[digest, states * width] = target
                pending.append((target.program, states * width))
    return [(target, states) for (_, states), target in found.items()]


def routines(program: Program) -> list[Routine]:
    """The routines that a program and its subprograms call, each once."""
    whole = [program, *(target.program for target in called(program))]
    found = {
        node.args[0].digest: node.args[0] for p in whole for node in p.operations if node.op == "routine"
    }
    return list(found.values())


def _copying(target: Subprogram | None, lanes: int) -> bool:
    """Whether blocks are laid side by side for calls."""
    return target is None and lanes == 1


def _name(target: Subprogram, lanes: int) -> str:
    """The function of a subprogram."""
    return f"called{lanes}_{target.digest[:40]}"


class _Module(StepWriter):
    """Writes one module."""

    def __init__(self, plan: Schedule, lanes: int, target: Subprogram | None) -> None:
        super().__init__(plan, lanes)
        self.target = target
        self.blocks = "" if target is None else _blocks(target, "ptr noalias readonly ")
        steps = [s for piece in plan.pieces for s in piece.steps if isinstance(s, Step)]
        calls = [s.args[0] for s in steps if s.op in ("call", "routine")]
        self.handed = max((c.width * c.target.arguments for c in calls), default=0)
        self.given = max((c.width * c.target.results for c in calls), default=0)
        remembers = any(s.op == "routine" and s.args[0].target.memory for s in steps)
        self.x = "ptr noalias %x" if remembers else "ptr noalias readonly %x"
        self.copies = lanes > 1 and target is None
        self.reserved = 0
        """Slots of the workspace in which native pieces keep values that lose their registers."""
        self.outputs: dict[int, list[int]] = {}
        for k, o in enumerate(plan.outputs):
            if type(o) is int:
                self.outputs.setdefault(o, []).append(k)

    def text(self) -> str:
        """The whole module."""
        bodies: list[str] = []
        for k, piece in enumerate(self.plan.pieces):
            if piece.native:
                bodies.append(self._native(k, piece))
                continue
            self._piece(k, piece)
            bodies.append("\n".join(self.lines))
            self.lines = []
        self._main()
        if self.target is None:
            self._many()
        bodies.append("\n".join(self.lines))
        helpers = []
        if self.copies:
            helpers.append(COPY)
        if self.searches:
            helpers.append(SEARCH)
        if self.widths:
            self.declare("declare double @sin(double) nounwind")
            self.declare("declare double @cos(double) nounwind")
            helpers += [sincos_text(w) for w in sorted(self.widths | {1})]
        tables = [
            "!0 = !{}",
            f"@constants = private unnamed_addr constant [{len(self.table)} x double] "
            f"[{', '.join('double ' + v for v in self.table)}], align 64",
        ]
        tables += [
            f"{name} = private unnamed_addr constant [{len(values)} x double] "
            f"[{', '.join('double ' + v for v in values)}], align 64"
            for values, name in self.globals.items()
        ]
        mine = "\n".join(helpers)
        declared = [d for d in self.declared if d not in mine]
        return "\n".join([*tables, *declared, *helpers, *bodies, ""])

    def _piece(self, k: int, piece: Piece) -> None:
        self.begin(piece.loads)
        self.lines.append(
            f"define internal void @piece{k}({self.x}, ptr noalias %y, ptr noalias %w, "
            f"ptr noalias readonly %c{self.blocks}) noinline nounwind {{"
        )
        truths, outputs, saves = self.plan.truths, self.outputs, piece.saves
        for step in piece.steps:
            if isinstance(step, Pair):
                self._pair(step, saves)
                continue
            if step.op == "call":
                self._call(step)
            elif step.op == "routine":
                self._routine(step)
            else:
                self.step(step)
            for o in step.outs:
                if o < 0:
                    continue
                (self.bits if o in truths else self.here).add(o)
                if o in saves:
                    self.store(self.ref(o), "%w", saves[o])
                for slot in outputs.get(o, ()):
                    self.store(self.ref(o), "%y", slot)
        self.lines.append("  ret void\n}")

    def _native(self, k: int, piece: Piece) -> str:
        """A piece that is written instruction by instruction."""
        free = self.plan.slots + self.handed + self.given
        function = x86.Function(
            self._input, self.plan.pairs, self.outputs, self.constant_place, free, self.lanes
        )
        lines = function.text(f"native{k}", piece.steps, piece.loads, piece.saves)
        self.reserved = max(self.reserved, function.end - free)
        self.declare(f"declare x86_64_sysvcc void {_native(k)}(ptr, ptr, ptr, ptr) nounwind")
        return "\n".join(f'module asm "{line}"' for line in [".text", *lines])

    def _input(self, a: int) -> tuple[str, int] | None:
        return ("x", self.place(a)[1]) if a < self.plan.n_in else None

    def _known_outputs(self) -> None:
        """Outputs that are inputs or constants; of a mass matrix most are zeros, which are copied in a row."""
        outputs = self.plan.outputs
        slot = 0
        while slot < len(outputs):
            o = outputs[slot]
            end = slot
            while end < len(outputs) and type(outputs[end]) is not int:
                end += 1
            if end - slot >= ROW:
                self._copied([float(v) for v in outputs[slot:end]], slot)
                slot = end
                continue
            if type(o) is not int or o < self.plan.n_in:
                self.store(self.ref(o), "%y", slot)
            slot += 1

    def _copied(self, values: list[float], slot: int) -> None:
        table = self._table(tuple(v for v in values for _ in range(self.lanes)))
        self.declare("declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)")
        size = 8 * self.lanes * len(values)
        to = self._address("%y", slot)
        self.lines.append(f"  call void @llvm.memcpy.p0.p0.i64(ptr {to}, ptr {table}, i64 {size}, i1 false)")

    def _pair(self, pair: Pair, saves: dict[int, int]) -> None:
        first = pair.outs[0]
        self.pair(pair)
        if first in saves:
            address = self._address("%w", saves[first])
            self.lines.append(f"  store {self.W} %p{first}, ptr {address}, align 8")
        for o in pair.outs:
            for slot in self.outputs.get(o, ()):
                self.store(self.ref(o), "%y", slot)

    def place(self, a: int) -> tuple[str, int]:
        if self.target is None:
            return "%x", a
        block, slot = self.target.places[a]
        return ("%x" if block == 0 else f"%b{block}"), slot

    def _call(self, step: Step) -> None:
        """Lay out the arguments behind the workspace, call, and take the results from behind them.

        Calls that are made together lie side by side. Blocks that stand in a row among the inputs are handed over where
        they are.
        """
        (target, width), made = step.args[0], step.calls()
        # Lanes that are left over repeat the last call.
        sides = [made[min(lane, len(made) - 1)][0] for lane in range(width)]
        x, free = self.plan.slots, self.plan.slots
        for k, (block, _) in enumerate(target.places):
            if block == 0:
                for args in sides:
                    self.store(self.ref(args[k]), "%w", free)
                    free += 1
        pointers = ""
        for first, count in target.blocks:
            blocks = [args[first : first + count] for args in sides]
            base = self._row(blocks[0]) if width == 1 else None
            if base is None:
                for lane, block in enumerate(blocks):
                    self._beside(block, free + lane, width)
                base = "%w", free
                free += count * width
            pointers += f", ptr {self._address(*base)}"
        behind = self.plan.slots + self.handed
        name = _name(target, width * self.lanes)
        self.declare(f"declare void @{name}(ptr, ptr{', ptr' * len(target.blocks)}) nounwind")
        to = self._address("%w", behind)
        self.lines.append(f"  call void @{name}(ptr {self._address('%w', x)}, ptr {to}{pointers})")
        for lane, (_, outs) in enumerate(made):
            for k, o in enumerate(outs):
                if o >= 0:
                    at = self._address("%w", behind + k * width + lane)
                    self.op(f"load {self.T}, ptr {at}, align 8", f"%v{o}")

    def _routine(self, step: Step) -> None:
        """Call a routine for one lane after the other, its numbers behind the workspace.

        Its memory lies among the inputs. There it is handed over where it is; that of several lanes is interleaved, so
        it is copied there and back.
        """
        target: Routine = step.args[0].target
        name, lanes = target.symbol, self.lanes
        self.declare(f"declare void @{name}(ptr, ptr, ptr) nounwind")
        inputs = [self.ref(a) for a in step.args[1 : 1 + target.n_in]]
        cells = [self.place(a) for a in step.args[1 + target.n_in :]]
        if cells != [(cells[0][0], cells[0][1] + k) for k in range(len(cells))] or any(
            b != "%x" for b, _ in cells
        ):
            raise ValueError(f"the memory of {target.name} must stand in a row among the inputs")
        behind = (self.plan.slots + self.handed) * lanes
        results = dict.fromkeys((o for o in step.outs if o >= 0), "undef")
        for lane in range(lanes):
            for k, value in enumerate(inputs):
                one = value if lanes == 1 else self.op(f"extractelement {self.T} {value}, i32 {lane}")
                self.lines.append(
                    f"  store double {one}, ptr {self._word('%w', self.plan.slots * lanes + k)}"
                )
            memory, copied = "null", 0
            if cells and lanes == 1:
                memory = self._word("%x", cells[0][1])
            elif cells:
                copied = self.plan.slots * lanes + target.n_in
                memory = self._word("%w", copied)
                self._copy("%x", cells[0][1] * lanes + lane, lanes, "%w", copied, 1, len(cells))
            x, y = self._word("%w", self.plan.slots * lanes), self._word("%w", behind)
            self.lines.append(f"  call void @{name}(ptr {x}, ptr {y}, ptr {memory})")
            if copied:
                self._copy("%w", copied, 1, "%x", cells[0][1] * lanes + lane, lanes, len(cells))
            for k, o in enumerate(step.outs):
                if o < 0:
                    continue
                at = self._word("%w", behind + k)
                if lanes == 1:
                    self.op(f"load double, ptr {at}, align 8", f"%v{o}")
                    continue
                one = self.op(f"load double, ptr {at}, align 8")
                last = f"%v{o}" if lane == lanes - 1 else None
                results[o] = self.op(f"insertelement {self.T} {results[o]}, double {one}, i32 {lane}", last)

    def _word(self, base: str, place: int) -> str:
        """The address of one double."""
        return self.op(f"getelementptr double, ptr {base}, i64 {place}")

    def _copy(self, source: str, first: int, stride: int, to: str, place: int, step: int, count: int) -> None:
        for k in range(count):
            one = self.op(f"load double, ptr {self._word(source, first + k * stride)}, align 8")
            self.lines.append(f"  store double {one}, ptr {self._word(to, place + k * step)}, align 8")

    def _beside(self, block: Sequence[int | float], slot: int, width: int) -> None:
        """Store a block into every so many slots of the workspace."""
        base = self._row(block)
        if base is None:
            for k, a in enumerate(block):
                self.store(self.ref(a), "%w", slot + k * width)
            return
        self.copies = True
        to, place = self._address("%w", slot), self._address(*base)
        self.lines.append(f"  call void @copy(ptr {place}, i64 1, ptr {to}, i64 {width}, i64 {len(block)})")

    def _row(self, args: Sequence[int | float]) -> tuple[str, int] | None:
        """Where arguments begin that stand in a row among the inputs."""
        if not all(type(a) is int and a < self.plan.n_in for a in args):
            return None
        places = [self.place(a) for a in args if type(a) is int]
        base, slot = places[0]
        return (base, slot) if places == [(base, slot + k) for k in range(len(places))] else None

    def _workspace(self, size: int, name: str) -> bool:
        """Reserve `size` doubles; True when they come from the heap and must be freed."""
        if size * 8 <= LARGEST_FRAME:
            self.op(f"alloca [{max(size, 1)} x double], align 64", name)
            return False
        self.declare("declare noalias ptr @malloc(i64) nounwind")
        self.declare("declare void @free(ptr) nounwind")
        self.op(f"call ptr @malloc(i64 {size * 8})", name)
        return True

    def _main(self) -> None:
        name = "kernel" if self.target is None else _name(self.target, self.lanes)
        self.lines.append(f"define void @{name}({self.x}, ptr noalias %y{self.blocks}) nounwind {{")
        heap = self._workspace(
            (self.plan.slots + self.handed + self.given + self.reserved) * self.lanes, "%w"
        )
        self.begin({})
        self.op("getelementptr double, ptr @constants, i64 0", "%c")
        self._known_outputs()
        blocks = "" if self.target is None else _blocks(self.target, "ptr ")
        for k, piece in enumerate(self.plan.pieces):
            arguments = f"(ptr %x, ptr %y, ptr %w, ptr %c{blocks})"
            kind = f"x86_64_sysvcc void {_native(k)}" if piece.native else f"void @piece{k}"
            self.lines.append(f"  call {kind}{arguments}")
        if heap:
            self.lines.append("  call void @free(ptr %w)")
        self.lines.append("  ret void\n}")

    def _many(self) -> None:
        n_in, n_out, lanes = self.plan.n_in, len(self.plan.outputs), self.lanes
        if lanes == 1:
            self.lines.append(many_text(n_in, n_out))
            return
        self.lines.append(
            "define void @kernel_many(ptr noalias %X, ptr noalias %Y, i64 %rows) nounwind {\nentry:"
        )
        self.begin({})
        heap = [self._workspace(n_in * lanes, "%xs"), self._workspace(n_out * lanes, "%ys")]
        frees = [f"  call void @free(ptr {p})" for p, h in zip(("%xs", "%ys"), heap, strict=True) if h]
        self.lines.append(many_lanes_text(n_in, n_out, lanes))
        self.lines += [*frees, "  ret void\n}"]


def _native(k: int) -> str:
    """The function of a native piece, whose name no platform may change."""
    return f'@"\\01native{k}"'


def _blocks(target: Subprogram, kind: str) -> str:
    """The blocks of a subprogram as further arguments."""
    return "".join(f", {kind}%b{k + 1}" for k in range(len(target.blocks)))
