"""Two halves of a mechanism in the two lanes of one register.

Left and right of a car, the legs of a walker, the arms of a linkage: their steps are the same on other numbers.
Given which inputs are each other's `twins`, the twin of a step is looked for among the users of its operands'
twins; what depends on no twin input (the body between the legs) may serve both. Mirror images differ in signs,
so steps match up to signs, and lane 1 may hold the negative of its value where that makes both lanes one
instruction. Nothing here changes a bit of the result: every lane does the operations it did before, on the same
numbers up to exact changes of sign.

No pair waits for itself: twins lie equally deep in the program, so pairs can be ordered by depth.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bellcrank.program.pair_signs import Form, Joint, settled
from bellcrank.program.step import Both, Pair, Step

DEEPEST = 8
"""How far two values that depend on no twin are compared before they count as different."""

_FAMILY = {"sub": "add", "fnma": "fma", "fms": "fma"}
_SIGNS = {"sub": (1, -1), "fnma": (-1, 1, 1), "fms": (1, 1, -1)}
_PAIRED = frozenset({"mul", "div", "add", "fma", "sqrt"})
_COMMUTE = frozenset({"mul", "add", "fma"})


Match = tuple[Form, Form]


def paired(
    steps: Sequence[Step], twins: Mapping[int, int], outputs: Iterable[int | float]
) -> list[Step | Pair]:
    """The same steps with twins joined, in an order in which everything is made before it is used."""
    search = _Search(steps, twins)
    matches = search.matches()
    if not matches:
        return list(steps)
    return _packed(_needed(settled(_Joining(steps, matches).ordered()), outputs))


@dataclass(frozen=True)
class Halves:
    """Which values correspond in two alike halves, and whether one of them is of the second half."""

    twin: Mapping[int, int]
    second: Callable[[int], bool]


def halves(steps: Sequence[Step], twins: Mapping[int, int]) -> Halves:
    """The values of the steps that are each other's twins, for twin inputs."""
    if not twins:
        return Halves({}, lambda value: False)
    search = _Search(steps, twins)
    sides = _Sides(search.matches())
    return Halves(search.twin, sides.second)


class _Search:
    """Which step is whose twin."""

    def __init__(self, steps: Sequence[Step], twins: Mapping[int, int]) -> None:
        self.steps = steps
        self.twin = dict(twins)
        self.positive: dict[int, tuple[int, int]] = {}
        """By the negative of a value: that value, and the sign between them."""
        self.forms: dict[int, Form] = {}
        self.users: dict[tuple[int, str], list[Form]] = defaultdict(list)
        """By a value that depends on an input with a twin, and a family: the forms that read it."""
        self.sided: set[int] = set(twins)
        """Values that depend on an input with a twin."""
        self.sines: dict[tuple[int, int], int] = {}
        self.calls: dict[str, list[tuple[tuple[int | float, ...], tuple[int, ...]]]] = defaultdict(list)
        """By their subprogram: calls whose twin has not come yet."""
        for step in steps:
            if step.op == "neg" and type(step.args[0]) is int:
                base, sign = self.positive.get(step.args[0], (step.args[0], 1))
                self.positive[step.outs[0]] = base, -sign
            elif step.op == "sincos":
                self._note_sines(step)
            elif step.op in ("call", "routine"):
                self._note_call(step)
            else:
                self._note(step)

    def _note(self, step: Step) -> None:
        args, signs, values = step.args, _SIGNS.get(step.op) or (1,) * len(step.args), step.reads()
        if not self.positive.keys().isdisjoint(values):
            known = [self.positive.get(a, (a, 1)) if type(a) is int else (a, 1) for a in args]
            args = tuple([a for a, _ in known])
            signs = tuple([sign * own for sign, (_, own) in zip(signs, known, strict=True)])
            values = [a for a in args if type(a) is int]
        out = step.outs[0]
        form = self.forms[out] = Form(_FAMILY.get(step.op, step.op), out, args, signs)
        sided = self.sided.intersection(values)
        if sided:
            self.sided.add(out)
        for a in sided:
            self.users[a, form.family].append(form)

    def _note_sines(self, step: Step) -> None:
        for n, a in enumerate(step.args):
            for k in (0, 1):
                out = step.outs[2 * n + k]
                if out >= 0:
                    self.sines[a, k] = out
                    if a in self.sided:
                        self.sided.add(out)

    def _note_call(self, step: Step) -> None:
        """What a call gives is of the side of what it is given."""
        for args, outs in step.calls():
            if any(type(a) is int and self.positive.get(a, (a, 1))[0] in self.sided for a in args):
                self.sided.update(o for o in outs if o >= 0)

    def matches(self) -> dict[int, Match]:
        """By each value of a pair: both forms, their operands in the same order."""
        found: dict[int, Match] = {}
        for step in self.steps:
            if step.op == "sincos":
                self._join_sines(step)
                continue
            if step.op in ("call", "routine"):
                self._join_calls(step)
                continue
            form = self.forms.get(step.outs[0])
            if form is not None and form.out in self.sided and form.out not in self.twin:
                self._match(form, found)
        return found

    def _join_sines(self, step: Step) -> None:
        for a in step.args:
            for k in (0, 1):
                out, other = self.sines.get((a, k)), self.sines.get((self.twin.get(a, -1), k))
                if out is not None and other is not None:
                    self.twin[out], self.twin[other] = other, out

    def _join_calls(self, step: Step) -> None:
        """Calls on twins give twins."""
        for call in step.calls():
            args, outs = call
            if self.sided.isdisjoint(outs):
                continue
            waiting = self.calls[step.args[0].target.digest]
            for k, (others, results) in enumerate(waiting):
                if all(self._same_side(a, b) for a, b in zip(args, others, strict=True)):
                    del waiting[k]
                    for o, p in zip(outs, results, strict=True):
                        if o >= 0 and p >= 0:
                            self.twin[o], self.twin[p] = p, o
                    break
            else:
                waiting.append(call)

    def _same_side(self, a: int | float, b: int | float) -> bool:
        """Whether two arguments of calls are twins, or one that serves both; constants may differ."""
        if type(a) is not int or type(b) is not int:
            return type(a) is not int and type(b) is not int
        (one, sign), (two, other) = self.positive.get(a, (a, 1)), self.positive.get(b, (b, 1))
        return sign == other and (one not in self.sided if one == two else self.twin.get(one) == two)

    def _match(self, form: Form, found: dict[int, Match]) -> None:
        sided = [a for a in form.args if type(a) is int and a in self.sided]
        if not self.twin.keys() >= set(sided):
            return
        users = min([self.users[self.twin[a], form.family] for a in sided], key=len)
        candidates = [other for other in users if other.out not in self.twin and other.out != form.out]
        if len(candidates) > 1 and float in map(type, form.args):
            # Mirror images have the same dimensions up to signs, other steps on the same values have others.
            candidates.sort(key=lambda other: _apart(form, other))
        for other in candidates:
            trial: dict[int, Match] = {}
            if self._fits(form, other, trial, 0):
                for one, two in trial.values():
                    self.twin[one.out], self.twin[two.out] = two.out, one.out
                    if one.family in _PAIRED:
                        found[one.out] = found[two.out] = one, two
                return

    def _fits(self, one: Form, two: Form, trial: dict[int, Match], depth: int) -> bool:
        """Whether the operands of two forms are twins in some order; `trial` collects the matches."""
        if len(one.args) != len(two.args):
            return False
        if self._fits_in_order(one, two, trial, depth):
            return True
        return one.family in _COMMUTE and self._fits_in_order(one, two.swapped(), trial, depth)

    def _fits_in_order(self, one: Form, two: Form, trial: dict[int, Match], depth: int) -> bool:
        """Whether the operands of two forms are twins one by one."""
        made = dict(trial)
        for a, b in zip(one.args, two.args, strict=True):
            if not self._twins(a, b, made, depth):
                return False
        trial.update(made)
        trial[one.out] = one, two
        return True

    def _twins(self, a: Any, b: Any, trial: dict[int, Match], depth: int) -> bool:
        if type(a) is not int or type(b) is not int:
            return type(a) is not int and type(b) is not int
        if a == b:
            return a not in self.sided
        if a in self.twin:
            return self.twin[a] == b
        if a in trial:
            return trial[a][1].out == b
        if a in self.sided or b in self.sided or b in self.twin or depth == DEEPEST:
            return False
        if b in trial or any(b == two.out or a == two.out for _, two in trial.values()):
            return False
        one, two = self.forms.get(a), self.forms.get(b)
        if one is None or two is None or one.family != two.family:
            return False
        return self._fits(one, two, trial, depth + 1)


class _Joining:
    """Puts pairs in the place of their first member."""

    def __init__(self, steps: Sequence[Step], matches: Mapping[int, Match]) -> None:
        self.steps = steps
        self.matches = matches
        self.sides = _Sides(matches)

    def ordered(self) -> list[Step | Joint]:
        """Natural order, with what a second member needs pulled to the place of the first."""
        makers = {o: s for s in self.steps for o in s.outs if o >= 0}
        order: list[Step | Joint] = []
        made: set[int] = set()
        for root in self.steps:
            pending = [root]
            while pending:
                step = pending[-1]
                if max(step.outs) in made:
                    pending.pop()
                    continue
                match = self.matches.get(step.outs[0])
                needs = (
                    step.reads() if match is None else [a for f in match for a in f.args if type(a) is int]
                )
                missing = [makers[a] for a in needs if a not in made and a in makers]
                if missing:
                    pending.extend(reversed(missing))
                    continue
                pending.pop()
                unit = step if match is None else self._joint(*match)
                order.append(unit)
                made.update(unit.outs)
        return order

    def _joint(self, one: Form, two: Form) -> Joint:
        return Joint(two, one) if self.sides.second(one.out) else Joint(one, two)


class _Sides:
    """The half of the mechanism that each member of a pair belongs to, which is its lane.

    A step and its operands are of one half, so that no operand waits for its lanes to be exchanged. Where a mechanism
    joins its halves in a ring, some step contradicts the others, and that one exchanges lanes.
    """

    def __init__(self, matches: Mapping[int, Match]) -> None:
        self.above: dict[int, tuple[int, bool]] = {}
        """By a value: one known before it, and whether that is of the other half."""
        for out, (one, two) in matches.items():
            if out != one.out:
                continue
            self._join(out, two.out, True)
            for a, b in zip(one.args, two.args, strict=True):
                if type(a) is int and a != b:
                    if a not in matches:
                        self._join(a, b, True)
                    self._join(out, a, False)

    def second(self, value: int) -> bool:
        """Whether a value is of the second half."""
        return self._first(value)[1]

    def _first(self, value: int) -> tuple[int, bool]:
        """The first value that this one is joined to, and whether it is of the other half."""
        known = self.above.get(value)
        if known is None:
            return value, False
        if known[0] not in self.above:
            return known
        path = []
        while value in self.above:
            path.append(value)
            value = self.above[value][0]
        other = False
        for v in reversed(path):
            other ^= self.above[v][1]
            self.above[v] = value, other
        return value, other

    def _join(self, a: int, b: int, other: bool) -> None:
        (one, p), (two, r) = self._first(a), self._first(b)
        if one != two:
            self.above[max(one, two)] = min(one, two), other ^ p ^ r


def _packed(units: Sequence[Step | Pair]) -> list[Step | Pair]:
    """With every register that is put together from single values, or changes a sign, made once, where it is needed."""
    free = max((o for unit in units for o in unit.outs), default=0) + 1
    together = {unit.outs for unit in units if isinstance(unit, Pair)}
    made: dict[Both, Both] = {}
    found: list[Step | Pair] = []
    for unit in units:
        if isinstance(unit, Step):
            found.append(unit)
            continue
        args = []
        for both in unit.args:
            if type(both.first) is int and (both.negated or both[:2] not in together):
                if both not in made:
                    made[both] = Both(free, free + 1)
                    found.append(Pair("pack", (free, free + 1), (both,), (1,), False))
                    free += 2
                both = made[both]
            args.append(both)
        found.append(Pair(unit.op, unit.outs, tuple(args), unit.signs, unit.negative))
    return found


def _apart(one: Form, two: Form) -> float:
    """How far the constants of two forms are apart, up to signs."""
    left, right = (sorted(abs(a) for a in form.args if type(a) is float) for form in (one, two))
    if len(left) != len(right):
        return math.inf
    return sum(abs(a - b) / (a + b) for a, b in zip(left, right, strict=True) if a != b)


def _needed(order: list[Step | Pair], outputs: Iterable[int | float]) -> list[Step | Pair]:
    """Without the negatives that only pairs used: these carry the sign themselves."""
    read = {o for o in outputs if type(o) is int}
    kept: list[Step | Pair] = []
    for unit in reversed(order):
        if unit.op == "neg" and unit.outs[0] not in read:
            continue
        read.update(unit.reads())
        kept.append(unit)
    kept.reverse()
    return kept
