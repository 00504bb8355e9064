"""Where the values of a schedule are, and how they come into registers, as LLVM IR for any number of lanes."""

from __future__ import annotations

from functools import cache

from bellcrank.program.elementary import constant, splat, vector_type
from bellcrank.program.schedule import Schedule
from bellcrank.program.step import Both, Pair

PLAIN = {"add": "fadd", "sub": "fsub", "mul": "fmul", "div": "fdiv"}
"""Operations that are one instruction."""


def lanes_from(start: int, count: int) -> str:
    """Of a shuffle: `count` lanes from `start` on."""
    return f"<{count} x i32> <{', '.join(f'i32 {j}' for j in range(start, start + count))}>"


class RegisterWriter:
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
        self.spelled: dict[int, tuple[tuple[float, ...], str]] = {}
        self.constants: dict[tuple[str, ...], int] = {}
        self.table: list[str] = []
        self.spare: list[int] = []
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
        k = self.constant_place(*values)
        address = "%c" if k == 0 else self.op(f"getelementptr double, ptr %c, i64 {k}")
        return self.op(f"load {vector_type(len(values))}, ptr {address}, align 8, !invariant.load !0")

    def constant_place(self, *values: str) -> int:
        """Where one, two or more numbers stand in the table; they begin at a multiple of their number."""
        k = self.constants.get(values)
        if k is None:
            if len(values) == 1 and self.spare:
                k = self.spare.pop()
                self.table[k] = values[0]
            else:
                while len(self.table) % len(values):
                    self.spare.append(len(self.table))
                    self.table.append(constant(0.0))
                k = len(self.table)
                self.table.extend(values)
            self.constants[values] = k
        return k

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
        mask = lanes_from(half * self.lanes, self.lanes)
        return self.op(f"shufflevector {self.W} {register}, {self.W} undef, {mask}", name)

    def pair(self, pair: Pair) -> None:
        """Write one operation on both halves of a register."""
        W, out = self.W, f"%p{pair.outs[0]}"
        args = [self._both(both, sign) for both, sign in zip(pair.args, pair.signs, strict=True)]
        if pair.op == "pack":
            self.op(f"bitcast {W} {args[0]} to {W}", out)
        elif pair.op in PLAIN:
            self.op(f"{PLAIN[pair.op]} {W} {args[0]}, {args[1]}", out)
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
                mask = lanes_from(0, 2 * self.lanes)
                packed = self.op(f"shufflevector {self.T} {first}, {self.T} {second}, {mask}")
            self.packed[a, b] = packed
        return self.packed[a, b]
