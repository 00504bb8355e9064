"""Straight-line arithmetic as code for x86-64 processors, with registers by the rule of Belady (1966).

A program is one long row of sums and products with hundreds of values alive. LLVM takes it a few hundred steps at a
time and spends a third of its instructions on moves. Where the whole row is known, so is the next use of every value:
the register that is needed last is the one to give up, and what lies in memory is read by the instruction that uses it.
Addresses within reach of a displacement of one byte make the code short, so that the caches of instructions hold it.

The text is that of LLVM's assembler: one function ``f(x, y, w, c)`` a piece, of inputs, outputs, workspace and
constants. Every instruction is the operation of a step; signs, which are exact, go into the choice among its forms. So
the bits are those of any other machine code.
"""

from __future__ import annotations

import functools
import platform
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from bellcrank.program import jit
from bellcrank.program.elementary import constant
from bellcrank.program.step import Both, Pair, Step

_THREE = {"add": "vadd", "sub": "vsub", "mul": "vmul", "div": "vdiv"}
_FUSED = {"fma": (1, 1, 1), "fms": (1, 1, -1), "fnma": (-1, 1, 1)}
_FORMS = {(1, 1): "vfmadd", (1, -1): "vfmsub", (-1, 1): "vfnmadd", (-1, -1): "vfnmsub"}
"""Fused operations by the signs of their product and of what is added."""
_WRITTEN = frozenset({*_THREE, *_FUSED, "sqrt", "neg", "pack"})
_NEVER = 1 << 60
_ANCHORS = {"x": ("rdi",), "y": ("rsi",), "w": ("rdx", "r8", "r9"), "c": ("rcx", "r10", "r11", "rax")}
"""Registers that hold addresses: the beginning of a base, and every 2048 bytes from there. A displacement of one byte
counts the numbers of a register, so that it reaches 128 of them to either side."""
_APART = 2048
_WIDTHS = {1: "xmm", 2: "xmm", 4: "ymm", 8: "zmm"}
"""Registers by the doubles that they hold."""

_Place = tuple[str, int]
"""A base, and the number of a slot from there, of as many doubles as there are lanes; of constants, of a double."""
_Operand = str | tuple[str, int, int]
"""A register, or a place and how many slots there belong to it."""


@functools.cache
def registers() -> int:
    """How many registers there are for such code: none on processors of other kinds, nor elsewhere than on Linux.

    The assemblers of Windows and macOS take the same text, but nobody has run it there yet.
    """
    if sys.platform != "linux" or platform.machine().lower() not in ("x86_64", "amd64"):
        return 0
    features = set(jit.features().split(","))
    if not {"+avx", "+fma"} <= features:
        return 0
    return 32 if {"+avx512f", "+avx512vl", "+avx512dq"} <= features else 16


def fits(lanes: int) -> bool:
    """Whether programs of so many states at once are written here."""
    return registers() > 0 if lanes == 1 else registers() == 32 and lanes in (4, 8)


def written(unit: Step | Pair) -> bool:
    """Whether a step is one of those that are written here."""
    return unit.op in _WRITTEN


@dataclass(eq=False, slots=True)
class _Cell:
    """What fills a register: one number or two, where it is, and when it is needed."""

    size: int
    uses: list[int] = field(default_factory=list)
    """The steps that read it; while code is written those behind the next one, the last one first."""
    next: int = _NEVER
    """The next step that reads it."""
    register: int = -1
    home: _Place | None = None
    """Where it lies in memory."""
    lent: bool = False
    """Whether its home can be given to others once nothing needs it."""
    pair: _Cell | None = None
    """The cell of which it is the second half."""

    @property
    def place(self) -> _Place | None:
        """Where it can be read in memory."""
        if self.pair is not None and self.pair.home is not None:
            base, at = self.pair.home
            return base, at + 1
        return self.home

    def needed(self, step: int) -> None:
        """Note a step that reads it; later steps come later."""
        if not self.uses or self.uses[-1] != step:
            self.uses.append(step)
        if self.pair is not None:
            self.pair.needed(step)

    def advance(self) -> None:
        """Go on to the next step that reads it."""
        self.next = self.uses.pop() if self.uses else _NEVER


class _Value(NamedTuple):
    """A half of a cell, which holds a value or its negative."""

    cell: _Cell
    half: int = 0
    sign: int = 1


class _Operation(NamedTuple):
    """A step on cells, and what it makes, if that fills a cell."""

    unit: Step | Pair
    args: tuple[_Value, ...]
    made: _Cell | None


class Function:
    """The function of one piece."""

    def __init__(
        self,
        places: Callable[[int], _Place | None],
        pairs: Mapping[int, Pair],
        outputs: Mapping[int, Sequence[int]],
        constants: Callable[..., int],
        free: int,
        lanes: int = 1,
    ) -> None:
        """Nothing is written yet.

        places: Where an input stands; none for other values. outputs: By value, its places in y. constants: Gives
        numbers, as text, a place in the table c. free: The first slot of the workspace that is free for values which
        lose their registers. lanes: States at once.
        """
        self.lanes = lanes
        self.places, self.pairs, self.constants = places, pairs, constants
        self.outputs = {o: [("y", at) for at in slots] for o, slots in outputs.items()}
        self.lines: list[str] = []
        self.values: dict[int, _Value] = {}
        self.known: dict[tuple[str, ...], _Cell] = {}
        self.seconds: dict[_Cell, _Cell] = {}
        self.held: dict[int, _Cell] = {}
        self.idle = (1 << registers()) - 1
        """The registers that hold nothing, as the bits of a number."""
        self.prefix = "{evex} " if registers() == 32 else ""
        self.addresses: dict[tuple[str, int, int], tuple[str, bool]] = {}
        """By the place of an operand: what :meth:`_address` says."""
        self.end = free + free % 2
        """The end of the workspace in use."""
        self.spare: dict[int, list[int]] = {1: [], 2: []}
        self.returned: list[_Cell] = []
        self.pinned: list[_Cell] = []
        self.anchors: dict[str, tuple[str, int]] = {}

    def text(
        self, name: str, units: Iterable[Step | Pair], loads: Mapping[int, int], saves: Mapping[int, int]
    ) -> list[str]:
        """Its lines, from values that other pieces saved to those that they load."""
        operations = [self._operation(k, unit, loads) for k, unit in enumerate(units)]
        cells = {v.cell for o in operations for v in o.args} | {o.made for o in operations if o.made}
        for cell in cells | {cell.pair for cell in cells if cell.pair}:
            cell.uses.reverse()
            cell.advance()
        for k, operation in enumerate(operations):
            self._write(k, operation, saves)
        begin = [".p2align 4, 0x90", f"{name}:"]
        begin += [f"leaq {at}(%{base}), %{register}" for register, (base, at) in self.anchors.items()]
        # Other code may use the older instructions, which wait for what is left in the upper parts of registers.
        return [*begin, *self.lines, *(["vzeroupper"] if self.lanes > 1 else []), "retq"]

    def _operation(self, k: int, unit: Step | Pair, loads: Mapping[int, int]) -> _Operation:
        if isinstance(unit, Step):
            args = tuple([self._scalar(a, loads) for a in unit.args])
            sign = args[0].sign * args[1].sign if unit.op in ("mul", "div") else 1
            made = None if unit.op == "neg" else _Cell(1)
            (out,) = unit.outs
            if made is None:
                self.values[out] = _Value(args[0].cell, args[0].half, -args[0].sign)
            else:
                self.values[out] = _Value(made, 0, sign)
        else:
            if unit.op == "pack":
                args = self._packed(unit.args[0], loads)
            else:
                args = tuple([self._both(b, s, loads) for b, s in zip(unit.args, unit.signs, strict=True)])
            made = _Cell(2)
            self.values[unit.outs[0]] = _Value(made)
            self.values[unit.outs[1]] = _Value(made, 1, -1 if unit.negative else 1)
        for value in args:
            value.cell.needed(k)
        return _Operation(unit, args, made)

    def _value(self, a: int | float, loads: Mapping[int, int]) -> _Value:
        """A value that a step reads."""
        if type(a) is not int:
            return _Value(self._known(constant(float(a))))
        value = self.values.get(a)
        if value is None:
            pair = self.pairs.get(a)
            given = self.places(a)
            if given is not None or pair is None:
                value = _Value(_Cell(1, home=given or ("w", loads[a])))
            else:
                half = pair.outs.index(a)
                cell = _Cell(2, home=("w", loads[a] - half))
                for k, o in enumerate(pair.outs):
                    self.values[o] = _Value(cell, k, -1 if k and pair.negative else 1)
                return self.values[a]
            self.values[a] = value
        return value

    def _known(self, *numbers: str) -> _Cell:
        if numbers not in self.known:
            # One number is read into all lanes, two are there for each.
            row = numbers if len(numbers) == 1 else [x for x in numbers for _ in range(self.lanes)]
            self.known[numbers] = _Cell(len(numbers), home=("c", self.constants(*row)))
        return self.known[numbers]

    def _scalar(self, a: int | float, loads: Mapping[int, int]) -> _Value:
        """A value by itself: the second half of a pair becomes a cell of its own."""
        value = self._value(a, loads)
        if value.half == 0:
            return value
        if value.cell not in self.seconds:
            self.seconds[value.cell] = _Cell(1, pair=value.cell)
        return _Value(self.seconds[value.cell], 0, value.sign)

    def _both(self, both: Both, sign: int, loads: Mapping[int, int]) -> _Value:
        """An operand of a pair, which is a cell."""
        if type(both.first) is int:
            return _Value(self._value(both.first, loads).cell, 0, sign)
        second = -both.second if both.negated else both.second
        return _Value(self._known(constant(float(both.first)), constant(float(second))), 0, sign)

    def _packed(self, both: Both, loads: Mapping[int, int]) -> tuple[_Value, ...]:
        first, second = self._value(both.first, loads), self._value(both.second, loads)
        if first.cell is second.cell and first.half < second.half:
            # A register as it is, whatever the sign with which it holds its second half.
            second = _Value(second.cell, 1)
        return first, _Value(second.cell, second.half, -second.sign if both.negated else second.sign)

    def _ins(self, name: str, *operands: _Operand) -> None:
        """Write an instruction, the target last."""
        texts, short = [], False
        for operand in operands:
            if isinstance(operand, str):
                texts.append(operand)
                continue
            if operand not in self.addresses:
                self.addresses[operand] = self._address(*operand)
            text, short = self.addresses[operand]
            if name != "vbroadcastsd" and self._spread(operand):
                text += f"{{1to{self.lanes}}}"
            texts.append(text)
        # The assembler takes the older encoding where it can, though four bytes of displacement make it longer.
        self.lines.append(f"{self.prefix if short else ''}{name} {', '.join(texts)}")

    def _address(self, base: str, at: int, size: int) -> tuple[str, bool]:
        """A place as it is written, and whether only the newer encoding has one byte for its displacement."""
        slot = 8 if base == "c" else 8 * self.lanes
        width = 8 if self._spread((base, at, size)) else 8 * self.lanes * size
        apart = _APART if base == "c" else _APART * self.lanes
        anchors = _ANCHORS[base]
        k = min((slot * at + apart // 2) // apart, len(anchors) - 1)
        if k:
            self.anchors[anchors[k]] = anchors[0], k * apart
        beyond = slot * at - k * apart
        short = not -128 <= beyond < 128 and beyond % width == 0 and -128 <= beyond // width < 128
        return f"{beyond}(%{anchors[k]})", short

    def _spread(self, operand: tuple[str, int, int]) -> bool:
        """Whether one number in memory is read into all lanes."""
        return self.lanes > 1 and operand[0] == "c" and operand[2] == 1

    def _name(self, register: int, size: int) -> str:
        """A register, as wide as so many slots."""
        return f"%{_WIDTHS[size * self.lanes]}{register}"

    def _move(self, cell: _Cell, target: str) -> None:
        """Read a cell from memory."""
        assert cell.place is not None
        place = (*cell.place, cell.size)
        if self._spread(place):
            self._ins("vbroadcastsd", place, target)
        else:
            self._ins("vmovsd" if self.lanes * cell.size == 1 else "vmovupd", place, target)

    def _take(self, cell: _Cell) -> str:
        """A register for a cell."""
        if not self.idle:
            self._spill(self._victim())
        register = (self.idle & -self.idle).bit_length() - 1
        self._fill(register, cell)
        self.pinned.append(cell)
        return self._name(register, cell.size)

    def _fill(self, register: int, cell: _Cell) -> None:
        """Give an idle register to a cell."""
        self.idle &= ~(1 << register)
        self.held[register] = cell
        cell.register = register

    def _victim(self) -> _Cell:
        """The cell that is needed last; of several one that lies in memory."""
        free = set(self.held.values()).difference(self.pinned)
        last = max([c.next for c in free])
        return max([c for c in free if c.next == last], key=lambda c: (c.place is not None, c.register))

    def _spill(self, cell: _Cell) -> None:
        """Take the register of a cell, which is read from memory from then on."""
        if cell.place is None and cell.pair is None:
            if cell.size == 1 and not self.spare[1] and self.spare[2]:
                at = self.spare[2].pop()
                self.spare[1].append(at + 1)
            elif self.spare[cell.size]:
                at = self.spare[cell.size].pop()
            else:
                at = self.end
                self.end += 2
                if cell.size == 1:
                    self.spare[1].append(at + 1)
            cell.home, cell.lent = ("w", at), True
            self._store(cell.register, 0, cell.size, cell.home)
        self._drop(cell)

    def _drop(self, cell: _Cell) -> None:
        del self.held[cell.register]
        self.idle |= 1 << cell.register
        cell.register = -1

    def _store(self, register: int, half: int, size: int, place: _Place) -> None:
        """Write a register, or a half of it, to memory."""
        if half and self.lanes > 1:
            self._ins("vextractf64x4", "$1", self._name(register, 2), (*place, 1))
        else:
            move = "vmovhpd" if half else "vmovsd" if size * self.lanes == 1 else "vmovupd"
            self._ins(move, self._name(register, size), (*place, size))

    def _load(self, cell: _Cell) -> str:
        """The register of a cell, loaded if need be."""
        if cell.register >= 0:
            return self._name(cell.register, cell.size)
        if cell.place is not None:
            target = self._take(cell)
            self._move(cell, target)
            return target
        assert cell.pair is not None
        source = self._name(cell.pair.register, 2)
        target = self._take(cell)
        if self.lanes == 1:
            self._ins("vunpckhpd", source, source, target)
        else:
            self._ins("vextractf64x4", "$1", source, target)
        return target

    def _operand(self, cell: _Cell, size: int) -> _Operand:
        """Where an instruction on so many slots reads a cell that need not be in a register."""
        if cell.register >= 0 or cell.place is None:
            return self._name(cell.register, size)
        return (*cell.place, size)

    def _found(self, value: _Value) -> _Operand:
        """The register that holds a value in one of its halves, or the value's place in memory."""
        cell = value.cell
        if cell.register >= 0 or cell.place is None:
            return self._name(cell.register, 2)
        base, at = cell.place
        return base, at + value.half, 1

    def _away(self, cells: Iterable[_Cell]) -> list[_Cell]:
        """Those that are not in registers, the ones needed soonest first; second halves of registers are made ones."""
        found: list[_Cell] = []
        for cell in cells:
            if cell.register < 0 and cell.place is None:
                self._load(cell)
            elif cell.register < 0 and cell not in found:
                found.append(cell)
        return sorted(found, key=lambda c: c.uses[-1] if c.uses else _NEVER)

    def _read(self, k: int, cells: Iterable[_Cell]) -> None:
        """Note that a step has read its operands: registers that nothing needs are free."""
        for cell in cells:
            if cell.next == k:
                self._done(cell)
            if cell.pair is not None and cell.pair.next == k:
                self._done(cell.pair)

    def _done(self, cell: _Cell) -> None:
        """Note that the next step that reads a cell has read it."""
        cell.advance()
        if cell.next == _NEVER:
            if cell.register >= 0:
                self._drop(cell)
            if cell.lent:
                self.returned.append(cell)

    def _write(self, k: int, operation: _Operation, saves: Mapping[int, int]) -> None:
        unit, args, made = operation.unit, operation.args, operation.made
        cells = [v.cell for v in args]
        self.pinned = [*cells, *[c.pair for c in cells if c.pair is not None]]
        kind = "pd" if isinstance(unit, Pair) or self.lanes > 1 else "sd"
        if made is None:
            self._keep(unit, saves)
            self._read(k, cells)
        elif unit.op == "pack":
            self._pack(k, args, made)
        elif unit.op in _FUSED:
            self._fused(k, unit, args, made, kind)
        elif unit.op == "sqrt":
            self._sqrt(k, args[0], made, kind)
        else:
            self._three(k, unit, args, made, kind)
        if made is not None:
            self.pinned.append(made)
            self._keep(unit, saves)
            if made.next == _NEVER:
                self._drop(made)
                if made.lent:
                    self.returned.append(made)
        for cell in self.returned:
            assert cell.home is not None
            self.spare[cell.size].append(cell.home[1])
        self.returned.clear()

    def _three(self, k: int, unit: Step | Pair, args: Sequence[_Value], made: _Cell, kind: str) -> None:
        """Sums, products and quotients."""
        op, (a, b), size = unit.op, args, made.size
        cells = a.cell, b.cell
        away = self._away(cells)
        if op in ("add", "sub"):
            signs = [a.sign, b.sign if op == "add" else -b.sign]
            if signs == [-1, -1]:
                # The negative of the sum of both would be another zero where that vanishes.
                self._load(a.cell)
                target = self._take(made)
                self._turn(self._name(a.cell.register, size), target, size, -1, -1)
                self._ins(f"vsub{kind}", self._operand(b.cell, size), target, target)
                self._read(k, cells)
                return
            if signs[0] < 0:
                a, b = b, a
            op = "add" if signs == [1, 1] else "sub"
        if op in ("sub", "div"):
            if a.cell in away:
                self._load(a.cell)
        elif len(away) == 2 or (away and a.cell is b.cell):
            self._load(away[0])
        if a.cell.register < 0:
            a, b = b, a
        one, two = self._name(a.cell.register, size), self._operand(b.cell, size)
        self._read(k, cells)
        self._ins(f"{_THREE[op]}{kind}", two, one, self._take(made))

    def _sqrt(self, k: int, a: _Value, made: _Cell, kind: str) -> None:
        self._load(a.cell)
        source = self._name(a.cell.register, made.size)
        if a.sign < 0:
            target = self._take(made)
            self._turn(source, target, made.size, -1, -1)
            source = target
            self._read(k, [a.cell])
        else:
            self._read(k, [a.cell])
            target = self._take(made)
        self._ins(f"vsqrt{kind}", *((source, target) if kind == "pd" else (source, source, target)))

    def _fused(self, k: int, unit: Step | Pair, args: Sequence[_Value], made: _Cell, kind: str) -> None:
        """a b + c, in the register of an operand that nothing else needs, or added to a copy of c.

        One operand may be read from memory.
        """
        signs, size = _FUSED[unit.op], made.size
        a, b, c = (v.cell for v in args)
        one, two, three = (v.sign * s for v, s in zip(args, signs, strict=True))
        name = _FORMS[one * two, three]
        cells = (a, b, c)
        away = [x for x in self._away(cells) if x is a or x is b]
        if len(away) == 2 or (away and (a is b or away[0] is c)):
            self._load(away[0])
        if a.register < 0:
            a, b = b, a
        last = [x for x in cells if x.register >= 0 and x.next == k and not x.uses]
        if c in last:
            target, order, others = c, "231", (b, a)
        elif a in last and b.register >= 0:
            target, order, others = a, "213", (c, b)
        elif b in last:
            target, order, others = b, "213", (c, a)
        elif a in last and c.register >= 0:
            target, order, others = a, "132", (b, c)
        else:
            copy = self._take(made)
            if c.register >= 0:
                self._ins("vmovapd", self._name(c.register, size), copy)
            else:
                self._move(c, copy)
            self._ins(f"{name}231{kind}", self._operand(b, size), self._name(a.register, size), copy)
            self._read(k, cells)
            return
        register = target.register
        operands = [self._operand(x, size) for x in others]
        self._read(k, cells)
        self._fill(register, made)
        self._ins(f"{name}{order}{kind}", *operands, self._name(register, size))

    def _pack(self, k: int, args: Sequence[_Value], made: _Cell) -> None:
        """Two values in a register."""
        a, b = args
        one, two = self._found(a), self._found(b)
        target = self._take(made)
        signs = a.sign, b.sign
        if a.cell is b.cell and a.half < b.half and isinstance(one, str) and signs != (1, 1):
            self._turn(one, target, 2, *signs)
            self._read(k, [a.cell])
            return
        if isinstance(one, str) and isinstance(two, str):
            self._join(one, a.half, two, b.half, target)
        elif one == two:
            self._ins("vmovddup" if self.lanes == 1 else "vbroadcastf64x4", one, target)
        elif not isinstance(one, str) and two == (one[0], one[1] + 1, 1):
            self._ins("vmovupd", (one[0], one[1], 2), target)
        else:
            half = a.half
            if not isinstance(one, str):
                low = self._name(made.register, 1)
                self._ins("vmovsd" if self.lanes == 1 else "vmovupd", one, low)
                one, half = target, 0
            if isinstance(two, str):
                self._join(one, half, two, b.half, target)
            else:
                if half:
                    self._join(one, 1, one, 1, target)
                    one = target
                first = () if self.lanes == 1 else ("$1",)
                self._ins("vmovhpd" if self.lanes == 1 else "vinsertf64x4", *first, two, one, target)
        self._turn(target, target, 2, *signs)
        self._read(k, [a.cell, b.cell])

    def _join(self, one: str, half: int, two: str, other: int, target: str) -> None:
        """A half of one register, and beside it one of another."""
        if self.lanes == 1:
            self._ins("vshufpd", f"${half + 2 * other}", two, one, target)
        else:
            # By quarters.
            quarters = (2 * half, 2 * half + 1, 2 * other, 2 * other + 1)
            self._ins("vshuff64x2", f"${sum(q << 2 * n for n, q in enumerate(quarters))}", two, one, target)

    def _turn(self, source: str, target: str, size: int, first: int, second: int) -> None:
        """Change the signs of halves."""
        if first > 0 and second > 0:
            return
        mask = self._known(*(constant(0.0 if sign > 0 else -0.0) for sign in (first, second)))
        assert mask.home is not None
        self._ins("vxorpd", (*mask.home, size), source, target)

    def _keep(self, unit: Step | Pair, saves: Mapping[int, int]) -> None:
        """Store what a step made where outputs and other pieces are to find it."""
        if isinstance(unit, Pair) and unit.outs[0] in saves:
            cell = self.values[unit.outs[0]].cell
            cell.home = "w", saves[unit.outs[0]]
            self._store(cell.register, 0, 2, cell.home)
        for o in unit.outs:
            places: Sequence[_Place] = self.outputs.get(o, ())
            if o in saves and isinstance(unit, Step):
                places = [*places, ("w", saves[o])]
            if not places:
                continue
            value = self.values[o]
            self._load(value.cell)
            if value.sign < 0:
                size = value.cell.size
                turned = _Cell(size)
                self._turn(self._name(value.cell.register, size), self._take(turned), size, -1, -1)
                register = turned.register
                self._drop(turned)
            else:
                register = value.cell.register
            for place in places:
                self._store(register, value.half, 1, place)


__all__ = ["Function", "registers", "written"]
