"""Spells out the steps of a schedule as LLVM IR, for any number of lanes.

NaN is never lost. ``min`` and ``max`` return it. A condition is two bits, surely true and surely false;
comparing a NaN sets neither, ``and``/``or``/``not`` follow Kleene's three-valued logic, and ``select`` on an
undecided condition is NaN. A NaN in the branch not taken does no harm. ``interval`` and ``gather`` of NaN are
NaN; an index outside a table is held at its end. A condition used as a number is 1 or 0, or NaN undecided.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from bellcrank.program.elementary import constant, sincos_name, splat, vector_type
from bellcrank.program.schedule import Schedule
from bellcrank.program.step import Both, Pair, Step

_C_FUNCTIONS = frozenset(
    {"tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "exp", "log", "atan2", "pow"},
)
_INTRINSICS = {"sqrt": "sqrt", "abs": "fabs", "floor": "floor"}
_PLAIN = {"add": "fadd", "sub": "fsub", "mul": "fmul", "div": "fdiv"}
_COMPARE = {"lt": ("olt", "oge"), "le": ("ole", "ogt"), "eq": ("oeq", "one")}
_NAN = constant(float("nan"))
_ZERO = constant(0.0)


def _mask(start: int, count: int) -> str:
    """Of a shuffle: `count` lanes from `start` on."""
    return f"<{count} x i32> <{', '.join(f'i32 {j}' for j in range(start, start + count))}>"


class StepWriter:
    """Writes steps into `lines`; value k is ``%vk``, the bits of condition k are ``%yk`` and ``%nk``."""

    def __init__(self, plan: Schedule, lanes: int) -> None:
        self.plan = plan
        self.lanes = lanes
        self.T = vector_type(lanes)
        self.W = vector_type(2 * lanes)
        self.B = vector_type(lanes, "i1")
        self.suffix = "f64" if lanes == 1 else f"v{lanes}f64"
        self._splat = cache(lambda text: splat(text, lanes))
        self.lines: list[str] = []
        self.declared: dict[str, None] = {}
        self.globals: dict[tuple[str, ...], str] = {}
        self.constants: dict[tuple[str, ...], int] = {}
        self.table: list[str] = []
        self.widths: set[int] = set()
        self.searches = False
        self.begin({})

    def begin(self, loads: dict[int, int]) -> None:
        """Begin a function, in which nothing is known yet; `loads` are the slots of values from others."""
        self.loads = loads
        self.here: set[int] = set()
        self.bits: set[int] = set()
        self.whole: dict[int, tuple[int, list[str]]] = {}
        self.fresh = 0
        self.registers: set[int] = set()
        self.packed: dict[tuple[int, int], str] = {}
        self.turned: dict[tuple[int, int], str] = {}

    def declare(self, text: str) -> None:
        """Declare a function of others, once."""
        self.declared[text] = None

    def number(self, value: float) -> str:
        """The literal of a number; kept by its text, since 0.0 and -0.0 are equal."""
        return self._splat(constant(float(value)))

    def _name(self) -> str:
        self.fresh += 1
        return f"%t{self.fresh}"

    def op(self, text: str, out: str | None = None) -> str:
        """Write an instruction; returns the name of its value."""
        out = out or self._name()
        self.lines.append(f"  {out} = {text}")
        return out

    def _address(self, base: str, slot: int) -> str:
        return base if slot == 0 else self.op(f"getelementptr {self.T}, ptr {base}, i64 {slot}")

    def place(self, a: int) -> tuple[str, int]:
        """Where an input stands."""
        return "%x", a

    def ref(self, a: int | float) -> str:
        """The operand `a`; fetched here if this piece has not seen it yet."""
        if type(a) is not int:
            return self._constant(a) if self.lanes == 1 else self.number(a)
        if a not in self.here:
            self.here.add(a)
            if a in self.bits:
                self._decided(f"%y{a}", f"%n{a}", self.number(1.0), self.number(0.0), f"%v{a}")
                return f"%v{a}"
            pair = self.plan.pairs.get(a)
            if pair is not None:
                self._of_pair(a, pair)
                return f"%v{a}"
            base, slot = self.place(a) if a < self.plan.n_in else ("%w", self.loads[a])
            address = self._address(base, slot)
            self.op(f"load {self.T}, ptr {address}, align 8", f"%v{a}")
        return f"%v{a}"

    def _constant(self, value: float) -> str:
        """A constant from the module's own table, whose address is at hand.

        Code that may be loaded anywhere would spend an instruction on the address of each literal; this one
        is part of the instruction that uses it. In lanes a literal is broadcast as it is loaded.
        """
        return self._constants(constant(float(value)))

    def _constants(self, *values: str) -> str:
        k = self.constants.get(values)
        if k is None:
            k = self.constants[values] = len(self.table)
            self.table.extend(values)
        address = "%c" if k == 0 else self.op(f"getelementptr double, ptr %c, i64 {k}")
        return self.op(f"load {vector_type(len(values))}, ptr {address}, align 8, !invariant.load !0")

    def _truth(self, a: int | float) -> tuple[str, str]:
        """The surely-true and surely-false bits of `a`; other pieces hand them over as 1, 0 or NaN."""
        if type(a) is not int:
            yes, no = ("true", "false") if a else ("false", "true")
            return splat(yes, self.lanes, "i1"), splat(no, self.lanes, "i1")
        if a not in self.bits:
            value = self.ref(a)
            self.bits.add(a)
            self.op(f"fcmp oeq {self.T} {value}, {self.number(1.0)}", f"%y{a}")
            self.op(f"fcmp oeq {self.T} {value}, {self.number(0.0)}", f"%n{a}")
        return f"%y{a}", f"%n{a}"

    def store(self, value: str, base: str, slot: int) -> None:
        """Store `value` into a slot of x, y or the workspace."""
        address = self._address(base, slot)
        self.lines.append(f"  store {self.T} {value}, ptr {address}, align 8")

    def _decided(self, yes: str, no: str, a: str, b: str, out: str) -> None:
        other = self.op(f"select {self.B} {no}, {self.T} {b}, {self.T} {self.number(float('nan'))}")
        self.op(f"select {self.B} {yes}, {self.T} {a}, {self.T} {other}", out)

    def _of_pair(self, a: int, pair: Pair) -> None:
        """One value of a pair by itself."""
        half = pair.outs.index(a)
        negative = half == 1 and pair.negative
        name = None if negative else f"%v{a}"
        if pair.outs[0] in self.registers:
            value = self._half(f"%p{pair.outs[0]}", half, name)
        else:
            value = self.op(f"load {self.T}, ptr {self._address('%w', self.loads[a])}, align 8", name)
        if negative:
            self.op(f"fneg {self.T} {value}", f"%v{a}")

    def _half(self, register: str, half: int, name: str | None) -> str:
        if self.lanes == 1:
            return self.op(f"extractelement {self.W} {register}, i32 {half}", name)
        mask = _mask(half * self.lanes, self.lanes)
        return self.op(f"shufflevector {self.W} {register}, {self.W} undef, {mask}", name)

    def pair(self, pair: Pair) -> None:
        """Write one operation on both halves of a register."""
        W, out = self.W, f"%p{pair.outs[0]}"
        args = [self._both(both, sign) for both, sign in zip(pair.args, pair.signs, strict=True)]
        if pair.op in _PLAIN:
            self.op(f"{_PLAIN[pair.op]} {W} {args[0]}, {args[1]}", out)
        else:
            name = f"@llvm.{'fmuladd' if pair.op == 'fma' else pair.op}.v{2 * self.lanes}f64"
            self.declare(f"declare {W} {name}({', '.join([W] * len(args))})")
            self.op(f"call {W} {name}({', '.join(f'{W} {a}' for a in args)})", out)
        self.registers.add(pair.outs[0])

    def _both(self, both: Both, sign: int) -> str:
        """An operand of a pair in a register."""
        a, b = both.first, both.second
        if type(a) is not int or type(b) is not int:
            values = constant(sign * float(a)), constant(-sign * b if both.negated else sign * b)
            return self._constants(*values) if self.lanes == 1 else self._halves(*values)
        name = self._register(a, b)
        if both.negated and (a, b) in self.turned:
            name = self.turned[a, b]
        elif both.negated:
            integers = vector_type(2 * self.lanes, "i64")
            bits = self.op(f"bitcast {self.W} {name} to {integers}")
            bits = self.op(f"xor {integers} {bits}, {self._halves('0', '-9223372036854775808', 'i64')}")
            name = self.turned[a, b] = self.op(f"bitcast {integers} {bits} to {self.W}")
        return name if sign > 0 else self.op(f"fneg {self.W} {name}")

    def _halves(self, first: str, second: str, element: str = "double") -> str:
        """The literal of a register with one number in its first half and one in its second."""
        numbers = [first] * self.lanes + [second] * self.lanes
        return "<" + ", ".join(f"{element} {x}" for x in numbers) + ">"

    def _register(self, a: int, b: int) -> str:
        pair = self.plan.pairs.get(a)
        if pair is not None and pair.outs == (a, b):
            if a not in self.registers:
                self.registers.add(a)
                address = self._address("%w", self.loads[a])
                self.op(f"load {self.W}, ptr {address}, align 8", f"%p{a}")
            return f"%p{a}"
        if (a, b) not in self.packed:
            first, second = self.ref(a), self.ref(b)
            if self.lanes == 1:
                half = self.op(f"insertelement {self.W} undef, double {first}, i32 0")
                packed = self.op(f"insertelement {self.W} {half}, double {second}, i32 1")
            else:
                mask = _mask(0, 2 * self.lanes)
                packed = self.op(f"shufflevector {self.T} {first}, {self.T} {second}, {mask}")
            self.packed[a, b] = packed
        return self.packed[a, b]

    def step(self, step: Step) -> None:
        """Write one step."""
        op = step.op
        plain = _PLAIN.get(op)
        if plain is not None:
            a, b = self.ref(step.args[0]), self.ref(step.args[1])
            self.lines.append(f"  %v{step.outs[0]} = {plain} {self.T} {a}, {b}")
        elif op in _C_FUNCTIONS:
            self._c_function(step)
        elif op in _INTRINSICS:
            self._intrinsic(f"%v{step.outs[0]}", _INTRINSICS[op], [self.ref(step.args[0])])
        else:
            _RULES[op](self, step)

    def _intrinsic(self, out: str, name: str, args: list[str]) -> None:
        T, full = self.T, f"@llvm.{name}.{self.suffix}"
        self.declare(f"declare {T} {full}({', '.join([T] * len(args))})")
        self.op(f"call {T} {full}({', '.join(f'{T} {a}' for a in args)})", out)

    def _fused(self, step: Step) -> None:
        a, b, c = (self.ref(s) for s in step.args)
        if step.op == "fnma":
            a = self.op(f"fneg {self.T} {a}")
        elif step.op == "fms":
            c = self.op(f"fneg {self.T} {c}")
        self._intrinsic(f"%v{step.outs[0]}", "fmuladd", [a, b, c])

    def _neg(self, step: Step) -> None:
        self.op(f"fneg {self.T} {self.ref(step.args[0])}", f"%v{step.outs[0]}")

    def _c_function(self, step: Step) -> None:
        args = [self.ref(a) for a in step.args]
        self.declare(f"declare double @{step.op}({', '.join(['double'] * len(args))}) nounwind")
        self._each(
            args,
            f"%v{step.outs[0]}",
            lambda parts, out: self.op(
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
            parts = [self.op(f"extractelement {self.T} {a}, i32 {lane}") for a in args]
            value = act(parts, None)
            result = self.op(
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
        args = [self.ref(a) for a in step.args]
        if group == 1:
            packed = args[0]
        elif lanes == 1:
            packed = splat(_ZERO, width)
            for k, a in enumerate(args):
                packed = self.op(f"insertelement {wide} {packed}, double {a}, i32 {k}")
        else:
            packed = self._concatenated(args, group)
        pair = f"{{ {wide}, {wide} }}"
        both = self.op(f"call {pair} {sincos_name(width)}({wide} {packed})")
        for which in (0, 1):
            values = self.op(f"extractvalue {pair} {both}, {which}")
            for k in range(count):
                o = step.outs[2 * k + which]
                if o < 0:
                    continue
                if group == 1:
                    # A name for the same value; folds away.
                    self.op(f"bitcast {T} {values} to {T}", f"%v{o}")
                elif lanes == 1:
                    self.op(f"extractelement {wide} {values}, i32 {k}", f"%v{o}")
                else:
                    mask = _mask(k * lanes, lanes)
                    self.op(f"shufflevector {wide} {values}, {wide} undef, {mask}", f"%v{o}")

    def _concatenated(self, args: list[str], group: int) -> str:
        parts = [*args, *[self.number(0.0)] * (group - len(args))]
        width = self.lanes
        while len(parts) > 1:
            t = vector_type(width)
            parts = [
                self.op(f"shufflevector {t} {a}, {t} {b}, {_mask(0, 2 * width)}")
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
            self._intrinsic(out, "minimum" if step.op == "min" else "maximum", [self.ref(a), self.ref(b)])
            return
        # Against a constant one instruction does: "unordered or less" keeps the NaN of a.
        x, c = self.ref(a), self.number(b)
        better = self.op(f"fcmp {'ult' if step.op == 'min' else 'ugt'} {self.T} {x}, {c}")
        self.op(f"select {self.B} {better}, {self.T} {x}, {self.T} {c}", out)

    def _compare(self, step: Step) -> None:
        a, b = self.ref(step.args[0]), self.ref(step.args[1])
        for name, predicate in zip(("y", "n"), _COMPARE[step.op], strict=True):
            self.op(f"fcmp {predicate} {self.T} {a}, {b}", f"%{name}{step.outs[0]}")

    def _logic(self, step: Step) -> None:
        out = step.outs[0]
        (ya, na), (yb, nb) = self._truth(step.args[0]), self._truth(step.args[1])
        first, second = ("and", "or") if step.op == "and" else ("or", "and")
        self.op(f"{first} {self.B} {ya}, {yb}", f"%y{out}")
        self.op(f"{second} {self.B} {na}, {nb}", f"%n{out}")

    def _not(self, step: Step) -> None:
        yes, no = self._truth(step.args[0])
        self.op(f"or {self.B} {no}, {no}", f"%y{step.outs[0]}")
        self.op(f"or {self.B} {yes}, {yes}", f"%n{step.outs[0]}")

    def _select(self, step: Step) -> None:
        yes, no = self._truth(step.args[0])
        self._decided(yes, no, self.ref(step.args[1]), self.ref(step.args[2]), f"%v{step.outs[0]}")

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
                k = self.op(f"call i64 @search(double {parts[0]}, ptr {table}, i64 {size // 2})")
            wholes.append(k)
            number = self.op(f"sitofp i64 {k} to double")
            lost = self.op(f"fcmp uno double {parts[0]}, {parts[0]}")
            return self.op(f"select i1 {lost}, double {_NAN}, double {number}", out)

        self._each([self.ref(x)], f"%v{step.outs[0]}", act)

    def _gather(self, step: Step) -> None:
        k, values = step.args
        table = self._table(values)
        reach, wholes = self.whole.get(k, (0, []))
        known = list(wholes) if reach <= len(values) else []

        def act(parts: list[str], out: str | None) -> str:
            whole = known.pop(0) if known else self._held(parts[0], len(values))
            at = self.op(f"getelementptr double, ptr {table}, i64 {whole}")
            value = self.op(f"load double, ptr {at}, align 8")
            lost = self.op(f"fcmp uno double {parts[0]}, {parts[0]}")
            return self.op(f"select i1 {lost}, double {_NAN}, double {value}", out)

        self._each([self.ref(k)], f"%v{step.outs[0]}", act)

    def _held(self, k: str, size: int) -> str:
        """The whole number of `k`, held inside a table of `size`; 0 for NaN."""
        above = self.op(f"fcmp ogt double {k}, {_ZERO}")
        low = self.op(f"select i1 {above}, double {k}, double {_ZERO}")
        top = constant(float(size - 1))
        below = self.op(f"fcmp olt double {low}, {top}")
        held = self.op(f"select i1 {below}, double {low}, double {top}")
        return self.op(f"fptosi double {held} to i64")


_RULES: dict[str, Callable[[StepWriter, Step], None]] = {
    **dict.fromkeys(("fma", "fms", "fnma"), StepWriter._fused),
    **dict.fromkeys(("min", "max"), StepWriter._extreme),
    **dict.fromkeys(("lt", "le", "eq"), StepWriter._compare),
    **dict.fromkeys(("and", "or"), StepWriter._logic),
    "neg": StepWriter._neg,
    "sincos": StepWriter._sincos,
    "not": StepWriter._not,
    "select": StepWriter._select,
    "interval": StepWriter._interval,
    "gather": StepWriter._gather,
}
