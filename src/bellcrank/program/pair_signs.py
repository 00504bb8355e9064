"""The signs of pairs: mirror images differ in signs, and lane 1 of a register may hold the negative of its value."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple

from bellcrank.program.step import Both, Pair, Step


class Form(NamedTuple):
    """A step up to signs: what is done on which values, and the sign each of them has there."""

    family: str
    out: int
    args: tuple[Any, ...]
    signs: tuple[int, ...]

    def swapped(self) -> Form:
        """This form with its first two operands exchanged."""
        (a, b, *rest), (p, r, *signs) = self.args, self.signs
        return Form(self.family, self.out, (b, a, *rest), (r, p, *signs))


class Joint(NamedTuple):
    """Two forms in one register, before the signs of the second lane are settled."""

    one: Form
    two: Form

    @property
    def outs(self) -> tuple[int, int]:
        return self.one.out, self.two.out

    def operands(self) -> list[tuple[Any, Any, int]]:
        """Of both lanes, and the sign between them."""
        one, two = self.one, self.two
        both = zip(one.args, two.args, one.signs, two.signs, strict=True)
        return [(a, b, sign * other) for a, b, sign, other in both]


class _Signs:
    """The signs with which second lanes hold their values, chosen so that few signs have to be changed.

    Each is a sum modulo two of unknowns, kept as the bits of an integer, bit 0 for the constant: one unknown for
    every operand that is put together from single values, which may enter with either sign. A sum whose terms must
    agree is an equation between them. Those that most steps ask for are solved first; an equation that contradicts
    them is left to a change of sign.
    """

    def __init__(self, joints: Sequence[Joint]) -> None:
        self.beside = {joint.one.out: joint.two.out for joint in joints}
        self.unknowns: dict[tuple[int, int], int] = {}
        self.held: dict[int, int] = {}
        """By the value of a second lane: the sum that gives its sign."""
        self.demands: Counter[int] = Counter()
        """How often each sum must vanish."""
        for joint in joints:
            self.held[joint.two.out] = self._state(joint)
        self.rows: dict[int, int] = {}
        """Equations by the unknown they determine; no other equation contains it."""
        for total, _ in self.demands.most_common():
            self._demand(total)

    def _state(self, joint: Joint) -> int:
        operands = joint.operands()
        sums = [(self._operand(a, b) if type(a) is int else 0) ^ (sign < 0) for a, b, sign in operands]
        free = [type(a) is not int for a, _, _ in operands]
        family = joint.one.family
        if family in ("mul", "div"):
            return sums[0] ^ sums[1]
        if family == "sqrt":
            self.demands[sums[0]] += 1
            return 0
        if family == "fma":
            sums, free = [sums[0] ^ sums[1], sums[2]], [free[0] or free[1], free[2]]
        if free[0]:
            return sums[1]
        if not free[1]:
            self.demands[sums[0] ^ sums[1]] += 1
        return sums[0]

    def _operand(self, a: int, b: int) -> int:
        if self.beside.get(a) == b:
            return self.held[b]
        return 2 << self.unknowns.setdefault((a, b), len(self.unknowns))

    def _demand(self, total: int) -> None:
        """That a sum vanish."""
        for pivot, row in self.rows.items():
            if total >> pivot & 1:
                total ^= row
        if total <= 1:
            return
        pivot = total.bit_length() - 1
        for other, row in self.rows.items():
            if row >> pivot & 1:
                self.rows[other] = row ^ total
        self.rows[pivot] = total

    def negated(self) -> set[tuple[int, int]]:
        """The operands put together from single values whose second lane enters negated."""
        places = {1 + k: pair for pair, k in self.unknowns.items()}
        return {places[pivot] for pivot, row in self.rows.items() if row & 1}


def settled(order: Sequence[Step | Joint]) -> list[Step | Pair]:
    """The pairs with their signs."""
    joints = [unit for unit in order if isinstance(unit, Joint)]
    signs = _Signs(joints)
    negated = signs.negated()
    negative: set[int] = set()
    units: list[Step | Pair] = []
    for unit in order:
        if isinstance(unit, Step):
            units.append(unit)
            continue
        args: list[Both] = []
        change: list[int] = []
        for a, b, sign in unit.operands():
            turned = (a, b) in negated
            together = type(a) is int and signs.beside.get(a) == b
            args.append(Both(a, b, turned))
            change.append(-sign if turned or (together and b in negative) else sign)
        is_negative = _agreed(unit.one.family, args, change) < 0
        if is_negative:
            negative.add(unit.two.out)
        units.append(Pair(unit.one.family, unit.outs, tuple(args), unit.one.signs, is_negative))
    return units


def _agreed(family: str, args: list[Both], change: list[int]) -> int:
    """The sign of lane 1 after the operation; where terms disagree, one of them is negated first.

    A constant is negated for nothing.
    """
    if family == "sqrt":
        if change[0] < 0:
            args[0] = _turned(args[0])
        return 1
    if family in ("mul", "div"):
        return change[0] * change[1]
    terms = [(0,), (1,)] if family == "add" else [(0, 1), (2,)]
    first, second = (math.prod(change[k] for k in term) for term in terms)
    if first == second:
        return first
    for term, sign in ((terms[0], second), (terms[1], first)):
        for k in term:
            if type(args[k].first) is not int:
                args[k] = _turned(args[k])
                return sign
    last = terms[1][0]
    args[last] = _turned(args[last])
    return first


def _turned(both: Both) -> Both:
    return both._replace(negated=not both.negated)
