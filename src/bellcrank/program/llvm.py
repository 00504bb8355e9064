"""A program as LLVM IR text: ``void kernel(const double *x, double *y)``, for one state or four in lanes.

The text depends on nothing but the program: equal programs give equal text, which is what the machine code
cache goes by. Sums and products are fused where :mod:`schedule` says so and nowhere else, so that the bits do
not depend on optimisation level, lanes or the size of pieces.

NaN is never lost. ``min`` and ``max`` return it. A condition is two bits, surely true and surely false;
comparing a NaN sets neither, ``and``/``or``/``not`` follow Kleene's three-valued logic, and ``select`` on an
undecided condition is NaN. A NaN in the branch not taken does no harm. ``interval`` and ``gather`` of NaN are
NaN; an index outside a table is held at its end. A condition used as a number is 1 or 0, or NaN undecided.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from bellcrank.program.elementary import (
    COPY,
    SEARCH,
    constant,
    many_lanes_text,
    many_text,
    sincos_name,
    sincos_text,
    splat,
    vector_type,
)
from bellcrank.program.program import Program
from bellcrank.program.schedule import STEPS_A_PIECE, Piece, Schedule, Step, schedule

LARGEST_FRAME = 64 * 1024
"""Workspaces and buffers above this size [bytes] come from the heap, not from the stack of the caller."""

TOGETHER = 8
"""Sines evaluated at once: one register of 512 bits or two of 256, whose latencies overlap."""

_C_FUNCTIONS = frozenset(
    {"tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "exp", "log", "atan2", "pow"},
)
_INTRINSICS = {"sqrt": "sqrt", "abs": "fabs", "floor": "floor"}
_PLAIN = {"add": "fadd", "sub": "fsub", "mul": "fmul", "div": "fdiv"}
_COMPARE = {"lt": ("olt", "oge"), "le": ("ole", "ogt"), "eq": ("oeq", "one")}
_NAN = constant(float("nan"))
_ZERO = constant(0.0)


def emit(program: Program, lanes: int = 1, limit: int = STEPS_A_PIECE) -> str:
    """The module of `program`: functions ``kernel(x, y)`` and ``kernel_many(X, Y, rows)``.

    With `lanes` = 4 every slot of x and y is four doubles, one a state. ``kernel_many`` takes and gives one
    row a state in either case. Pieces of at most `limit` steps become functions of their own.
    """
    if lanes not in (1, 2, 4, 8):
        raise ValueError(f"lanes must be 1, 2, 4 or 8, not {lanes}")
    plan = schedule(program, max(1, TOGETHER // lanes), limit)
    return _Emitter(plan, lanes).text()


class _Emitter:
    """Writes one module."""

    def __init__(self, plan: Schedule, lanes: int) -> None:
        self.plan = plan
        self.lanes = lanes
        self.T = vector_type(lanes)
        self.B = vector_type(lanes, "i1")
        self.suffix = "f64" if lanes == 1 else f"v{lanes}f64"
        self.lines: list[str] = []
        self.declared: dict[str, None] = {}
        self.globals: dict[tuple[str, ...], str] = {}
        self.constants: dict[str, int] = {}
        self.widths: set[int] = set()
        self.searches = False
        self.outputs: dict[int, list[int]] = {}
        for k, o in enumerate(plan.outputs):
            if type(o) is int:
                self.outputs.setdefault(o, []).append(k)
        self.here: set[int] = set()
        self.bits: set[int] = set()
        self.whole: dict[int, tuple[int, list[str]]] = {}
        self.loads: dict[int, int] = {}
        self.fresh = 0
        self.number = cache(self._number)

    def text(self) -> str:
        bodies: list[str] = []
        for k, piece in enumerate(self.plan.pieces):
            self._piece(k, piece)
            bodies.append("\n".join(self.lines))
            self.lines = []
        self._main()
        self._many()
        bodies.append("\n".join(self.lines))
        helpers = []
        if self.searches:
            helpers.append(SEARCH)
        if self.widths:
            self._declare("declare double @sin(double) nounwind")
            self._declare("declare double @cos(double) nounwind")
            helpers += [sincos_text(w) for w in sorted(self.widths | {1})]
        tables = [
            "!0 = !{}",
            f"@constants = private unnamed_addr constant [{len(self.constants)} x double] "
            f"[{', '.join('double ' + v for v in self.constants)}], align 64",
        ]
        tables += [
            f"{name} = private unnamed_addr constant [{len(values)} x double] "
            f"[{', '.join('double ' + v for v in values)}], align 64"
            for values, name in self.globals.items()
        ]
        mine = "\n".join(helpers)
        declared = [d for d in self.declared if d not in mine]
        return "\n".join([*tables, *declared, *helpers, *bodies, ""])

    def _declare(self, text: str) -> None:
        self.declared[text] = None

    def _number(self, value: float) -> str:
        return splat(constant(float(value)), self.lanes)

    def _name(self) -> str:
        self.fresh += 1
        return f"%t{self.fresh}"

    def _op(self, text: str, out: str | None = None) -> str:
        out = out or self._name()
        self.lines.append(f"  {out} = {text}")
        return out

    def _address(self, base: str, slot: int) -> str:
        return base if slot == 0 else self._op(f"getelementptr {self.T}, ptr {base}, i64 {slot}")

    def _ref(self, a: int | float) -> str:
        """The operand `a`; fetched here if this piece has not seen it yet."""
        if type(a) is not int:
            return self._constant(a) if self.lanes == 1 else self.number(a)
        if a not in self.here:
            self.here.add(a)
            if a in self.bits:
                self._decided(f"%y{a}", f"%n{a}", self.number(1.0), self.number(0.0), f"%v{a}")
                return f"%v{a}"
            base, slot = ("%x", a) if a < self.plan.n_in else ("%w", self.loads[a])
            address = self._address(base, slot)
            self._op(f"load {self.T}, ptr {address}, align 8", f"%v{a}")
        return f"%v{a}"

    def _constant(self, value: float) -> str:
        """A constant from the module's own table, whose address is at hand.

        Code that may be loaded anywhere would spend an instruction on the address of each literal; this one is
        part of the instruction that uses it. In lanes a literal is broadcast as it is loaded, and is left so.
        """
        k = self.constants.setdefault(constant(float(value)), len(self.constants))
        address = "%c" if k == 0 else self._op(f"getelementptr double, ptr %c, i64 {k}")
        return self._op(f"load double, ptr {address}, align 8, !invariant.load !0")

    def _truth(self, a: int | float) -> tuple[str, str]:
        """The surely-true and surely-false bits of `a`; other pieces hand them over as 1, 0 or NaN."""
        if type(a) is not int:
            yes, no = ("true", "false") if a else ("false", "true")
            return splat(yes, self.lanes, "i1"), splat(no, self.lanes, "i1")
        if a not in self.bits:
            value = self._ref(a)
            self.bits.add(a)
            self._op(f"fcmp oeq {self.T} {value}, {self.number(1.0)}", f"%y{a}")
            self._op(f"fcmp oeq {self.T} {value}, {self.number(0.0)}", f"%n{a}")
        return f"%y{a}", f"%n{a}"

    def _piece(self, k: int, piece: Piece) -> None:
        self.here = set()
        self.bits = set()
        self.whole = {}
        self.loads = piece.loads
        self.fresh = 0
        self.lines.append(
            f"define internal void @piece{k}(ptr noalias readonly %x, ptr noalias %y, ptr noalias %w, "
            "ptr noalias readonly %c) noinline nounwind {"
        )
        if k == 0:
            for slot, o in enumerate(self.plan.outputs):
                if type(o) is not int or o < self.plan.n_in:
                    self._store(self._ref(o), "%y", slot)
        truths, outputs, saves = self.plan.truths, self.outputs, piece.saves
        for step in piece.steps:
            self._step(step)
            for o in step.outs:
                if o < 0:
                    continue
                (self.bits if o in truths else self.here).add(o)
                if o in saves:
                    self._store(self._ref(o), "%w", saves[o])
                for slot in outputs.get(o, ()):
                    self._store(self._ref(o), "%y", slot)
        self.lines.append("  ret void\n}")

    def _store(self, value: str, base: str, slot: int) -> None:
        address = self._address(base, slot)
        self.lines.append(f"  store {self.T} {value}, ptr {address}, align 8")

    def _decided(self, yes: str, no: str, a: str, b: str, out: str) -> None:
        other = self._op(f"select {self.B} {no}, {self.T} {b}, {self.T} {self.number(float('nan'))}")
        self._op(f"select {self.B} {yes}, {self.T} {a}, {self.T} {other}", out)

    def _step(self, step: Step) -> None:
        op = step.op
        plain = _PLAIN.get(op)
        if plain is not None:
            a, b = self._ref(step.args[0]), self._ref(step.args[1])
            self.lines.append(f"  %v{step.outs[0]} = {plain} {self.T} {a}, {b}")
        elif op in _C_FUNCTIONS:
            self._c_function(step)
        elif op in _INTRINSICS:
            self._intrinsic(f"%v{step.outs[0]}", _INTRINSICS[op], [self._ref(step.args[0])])
        else:
            _RULES[op](self, step)

    def _intrinsic(self, out: str, name: str, args: list[str]) -> None:
        T, full = self.T, f"@llvm.{name}.{self.suffix}"
        self._declare(f"declare {T} {full}({', '.join([T] * len(args))})")
        self._op(f"call {T} {full}({', '.join(f'{T} {a}' for a in args)})", out)

    def _fused(self, step: Step) -> None:
        a, b, c = (self._ref(s) for s in step.args)
        if step.op == "fnma":
            a = self._op(f"fneg {self.T} {a}")
        elif step.op == "fms":
            c = self._op(f"fneg {self.T} {c}")
        self._intrinsic(f"%v{step.outs[0]}", "fmuladd", [a, b, c])

    def _neg(self, step: Step) -> None:
        self._op(f"fneg {self.T} {self._ref(step.args[0])}", f"%v{step.outs[0]}")

    def _c_function(self, step: Step) -> None:
        args = [self._ref(a) for a in step.args]
        self._declare(f"declare double @{step.op}({', '.join(['double'] * len(args))}) nounwind")
        self._each(
            args,
            f"%v{step.outs[0]}",
            lambda parts, out: self._op(
                f"call double @{step.op}({', '.join('double ' + p for p in parts)})", out
            ),
        )

    def _each(self, args: list[str], out: str, act: Callable[[list[str], str | None], str]) -> None:
        """Apply `act` lane by lane."""
        if self.lanes == 1:
            act(args, out)
            return
        result = "undef"
        for lane in range(self.lanes):
            parts = [self._op(f"extractelement {self.T} {a}, i32 {lane}") for a in args]
            value = act(parts, None)
            result = self._op(
                f"insertelement {self.T} {result}, double {value}, i32 {lane}",
                out if lane == self.lanes - 1 else None,
            )

    def _sincos(self, step: Step) -> None:
        T, lanes, count = self.T, self.lanes, len(step.args)
        group = 1
        while group < count:
            group *= 2
        width = lanes * group
        self.widths.add(width)
        wide = vector_type(width)
        args = [self._ref(a) for a in step.args]
        if group == 1:
            packed = args[0]
        elif lanes == 1:
            packed = splat(_ZERO, width)
            for k, a in enumerate(args):
                packed = self._op(f"insertelement {wide} {packed}, double {a}, i32 {k}")
        else:
            packed = self._concatenated(args, group)
        pair = f"{{ {wide}, {wide} }}"
        both = self._op(f"call {pair} {sincos_name(width)}({wide} {packed})")
        for which in (0, 1):
            values = self._op(f"extractvalue {pair} {both}, {which}")
            for k in range(count):
                o = step.outs[2 * k + which]
                if o < 0:
                    continue
                if group == 1:
                    # A name for the same value; folds away.
                    self._op(f"bitcast {T} {values} to {T}", f"%v{o}")
                elif lanes == 1:
                    self._op(f"extractelement {wide} {values}, i32 {k}", f"%v{o}")
                else:
                    mask = ", ".join(f"i32 {j}" for j in range(k * lanes, (k + 1) * lanes))
                    picked = f"{wide} {values}, {wide} undef, <{lanes} x i32> <{mask}>"
                    self._op(f"shufflevector {picked}", f"%v{o}")

    def _concatenated(self, args: list[str], group: int) -> str:
        parts = [*args, *[self.number(0.0)] * (group - len(args))]
        width = self.lanes
        while len(parts) > 1:
            t = vector_type(width)
            mask = ", ".join(f"i32 {j}" for j in range(2 * width))
            parts = [
                self._op(f"shufflevector {t} {a}, {t} {b}, <{2 * width} x i32> <{mask}>")
                for a, b in zip(parts[::2], parts[1::2], strict=True)
            ]
            width *= 2
        return parts[0]

    def _extreme(self, step: Step) -> None:
        a, b = step.args
        if type(a) is not int:
            a, b = b, a
        out = f"%v{step.outs[0]}"
        if type(b) is int:
            self._intrinsic(out, "minimum" if step.op == "min" else "maximum", [self._ref(a), self._ref(b)])
            return
        # Against a constant one instruction does: "unordered or less" keeps the NaN of a.
        x, c = self._ref(a), self.number(b)
        better = self._op(f"fcmp {'ult' if step.op == 'min' else 'ugt'} {self.T} {x}, {c}")
        self._op(f"select {self.B} {better}, {self.T} {x}, {self.T} {c}", out)

    def _compare(self, step: Step) -> None:
        a, b = self._ref(step.args[0]), self._ref(step.args[1])
        for name, predicate in zip(("y", "n"), _COMPARE[step.op], strict=True):
            self._op(f"fcmp {predicate} {self.T} {a}, {b}", f"%{name}{step.outs[0]}")

    def _logic(self, step: Step) -> None:
        out = step.outs[0]
        (ya, na), (yb, nb) = self._truth(step.args[0]), self._truth(step.args[1])
        first, second = ("and", "or") if step.op == "and" else ("or", "and")
        self._op(f"{first} {self.B} {ya}, {yb}", f"%y{out}")
        self._op(f"{second} {self.B} {na}, {nb}", f"%n{out}")

    def _not(self, step: Step) -> None:
        yes, no = self._truth(step.args[0])
        self._op(f"or {self.B} {no}, {no}", f"%y{step.outs[0]}")
        self._op(f"or {self.B} {yes}, {yes}", f"%n{step.outs[0]}")

    def _select(self, step: Step) -> None:
        yes, no = self._truth(step.args[0])
        self._decided(yes, no, self._ref(step.args[1]), self._ref(step.args[2]), f"%v{step.outs[0]}")

    def _table(self, values: tuple[float, ...]) -> str:
        return self.globals.setdefault(tuple(constant(v) for v in values), f"@table{len(self.globals)}")

    def _interval(self, step: Step) -> None:
        x, points = step.args
        size = 1
        while size < len(points) - 1:
            size *= 2
        table = self._table((*points[:-1], *[float("nan")] * (size - len(points) + 1))) if size > 1 else ""
        self.searches |= size > 1
        wholes: list[str] = []
        self.whole[step.outs[0]] = (len(points) - 1, wholes)

        def act(parts: list[str], out: str | None) -> str:
            k = "0"
            if size > 1:
                k = self._op(f"call i64 @search(double {parts[0]}, ptr {table}, i64 {size // 2})")
            wholes.append(k)
            number = self._op(f"sitofp i64 {k} to double")
            lost = self._op(f"fcmp uno double {parts[0]}, {parts[0]}")
            return self._op(f"select i1 {lost}, double {_NAN}, double {number}", out)

        self._each([self._ref(x)], f"%v{step.outs[0]}", act)

    def _gather(self, step: Step) -> None:
        k, values = step.args
        table = self._table(values)
        reach, wholes = self.whole.get(k, (0, []))
        known = list(wholes) if reach <= len(values) else []

        def act(parts: list[str], out: str | None) -> str:
            whole = known.pop(0) if known else self._held(parts[0], len(values))
            at = self._op(f"getelementptr double, ptr {table}, i64 {whole}")
            value = self._op(f"load double, ptr {at}, align 8")
            lost = self._op(f"fcmp uno double {parts[0]}, {parts[0]}")
            return self._op(f"select i1 {lost}, double {_NAN}, double {value}", out)

        self._each([self._ref(k)], f"%v{step.outs[0]}", act)

    def _held(self, k: str, size: int) -> str:
        """The whole number of `k`, held inside a table of `size`; 0 for NaN."""
        above = self._op(f"fcmp ogt double {k}, {_ZERO}")
        low = self._op(f"select i1 {above}, double {k}, double {_ZERO}")
        top = constant(float(size - 1))
        below = self._op(f"fcmp olt double {low}, {top}")
        held = self._op(f"select i1 {below}, double {low}, double {top}")
        return self._op(f"fptosi double {held} to i64")

    def _workspace(self, size: int, name: str) -> bool:
        """Reserve `size` doubles; True when they come from the heap and must be freed."""
        if size * 8 <= LARGEST_FRAME:
            self._op(f"alloca [{max(size, 1)} x double], align 64", name)
            return False
        self._declare("declare noalias ptr @malloc(i64) nounwind")
        self._declare("declare void @free(ptr) nounwind")
        self._op(f"call ptr @malloc(i64 {size * 8})", name)
        return True

    def _main(self) -> None:
        self.lines.append("define void @kernel(ptr noalias readonly %x, ptr noalias %y) nounwind {")
        heap = self._workspace(self.plan.slots * self.lanes, "%w")
        for k in range(len(self.plan.pieces)):
            self.lines.append(f"  call void @piece{k}(ptr %x, ptr %y, ptr %w, ptr @constants)")
        if heap:
            self.lines.append("  call void @free(ptr %w)")
        self.lines.append("  ret void\n}")

    def _many(self) -> None:
        n_in, n_out, lanes = self.plan.n_in, len(self.plan.outputs), self.lanes
        if lanes == 1:
            self.lines.append(many_text(n_in, n_out))
            return
        self.lines.append(COPY)
        self.lines.append(
            "define void @kernel_many(ptr noalias readonly %X, ptr noalias %Y, i64 %rows) nounwind {\nentry:"
        )
        self.fresh = 0
        heap = [self._workspace(n_in * lanes, "%xs"), self._workspace(n_out * lanes, "%ys")]
        frees = [f"  call void @free(ptr {p})" for p, h in zip(("%xs", "%ys"), heap, strict=True) if h]
        self.lines.append(many_lanes_text(n_in, n_out, lanes))
        self.lines += [*frees, "  ret void\n}"]


_RULES: dict[str, Callable[[_Emitter, Step], None]] = {
    **dict.fromkeys(("fma", "fms", "fnma"), _Emitter._fused),
    **dict.fromkeys(("min", "max"), _Emitter._extreme),
    **dict.fromkeys(("lt", "le", "eq"), _Emitter._compare),
    **dict.fromkeys(("and", "or"), _Emitter._logic),
    "neg": _Emitter._neg,
    "sincos": _Emitter._sincos,
    "not": _Emitter._not,
    "select": _Emitter._select,
    "interval": _Emitter._interval,
    "gather": _Emitter._gather,
}
