"""Sums of products, one fused instruction a product.

A scalar product subtracted from a number costs as many instructions as it has products if the number comes first and
each product is taken into the sum so far; written as it was traced, the products are summed by themselves and their sum
is taken off at the end, one instruction and one rounding more. Products that are known late come last, so that little
is left to do when they arrive: recursions along a chain wait for that and nothing else.

What joins two alike halves, as a car's body its wheels, sums over both. There each half is summed by itself, so that
both sums share registers to their end, and only the two results are taken apart and added.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple

from bellcrank.program.pairs import Halves
from bellcrank.program.step import Step

_CYCLES = {"div": 13, "sqrt": 15, "sin": 40, "cos": 40, "mul": 3, "add": 3, "sub": 3}
"""How long an operation takes in a processor of today, others 4 cycles; only the order of sums depends on it."""


_ADDERS = frozenset({"add", "sub", "neg"})


class _Term(NamedTuple):
    """A part of a sum, by the value it had, or a constant, and its sign."""

    value: Any
    sign: int
    product: bool = False

    def turned(self, sign: int) -> _Term:
        """This part in a sum that enters with a sign."""
        return self if sign > 0 else _Term(self.value, -self.sign, self.product)


class _Across(NamedTuple):
    """A sum over both halves: the terms of the first, their twins in the second, and those of neither."""

    first: list[_Term]
    second: list[_Term]
    others: list[_Term]


def _signed(a: int | float, sign: int) -> _Term:
    """A value with a sign, or a constant with its own."""
    return _Term(a, sign) if type(a) is int else _Term(sign * a, 1)


def _signs(step: Step) -> tuple[int, ...]:
    """The signs of the operands of a sum."""
    return (-1,) if step.op == "neg" else (1, 1 if step.op == "add" else -1)


class _Sums:
    def __init__(self, steps: Sequence[Step], outputs: Sequence[int | float], halves: Halves) -> None:
        self.steps = steps
        self.twin = halves.twin
        self.second = halves.second
        self.maker = {step.outs[0]: step for step in steps if len(step.outs) == 1}
        self.uses = Counter([a for step in steps for a in step.args if type(a) is int])
        self.uses.update([o for o in outputs if type(o) is int])
        self.terms: dict[int, list[_Term]] = {}
        """By values that are products or sums of them and are used once: those products."""
        self.known: dict[int, int] = {}
        """When a value is known, in cycles."""
        self.free = max([o for step in steps for o in step.outs], default=0) + 1
        self.across: dict[int, list[_Term]] = {}
        """By sums over both halves: the sum over each, and that of the rest."""
        self.inside: set[int] = set()
        """Values that are parts of sums over both halves and of nothing else."""
        self.position: dict[int, int] = {}
        """Of sums over both halves: the number of the step that makes a value."""
        self.due: dict[int, list[Step]] = {}
        """Steps to be written behind the one with this number."""
        if self.twin:
            self.position = {o: k for k, step in enumerate(steps) for o in step.outs if o >= 0}
            found = self._find_across()
            self.across = {out: self._written_across(sums) for out, sums in found.items()}

    def written(self) -> list[Step]:
        """All steps, sums of products gathered."""
        absorbed = self._absorbed()
        found: list[Step] = []
        for k, step in enumerate(self.steps):
            out = step.outs[0]
            made: list[Step] = []
            if out in self.across:
                made = self._ended(made, self._chain(self.across[out], made), out)
            elif out not in absorbed and out not in self.inside:
                made = self._sum(step) if step.op in _ADDERS else [step]
            if k in self.due:
                made += self.due[k]
            for one in made:
                last = self._when(one.args)
                for o in one.outs:
                    self.known[o] = last + _CYCLES.get(one.op, 4)
            found += made
        return found

    def _absorbed(self) -> set[int]:
        """The values that are part of a sum and of nothing else; notes their products."""
        asked: set[int] = set()
        for step in self.steps:
            out = step.outs[0]
            if out in self.inside or out in self.across:
                continue
            if step.op in _ADDERS:
                parts = [a for a in step.args if type(a) is int and a in self.terms]
                if not parts:
                    continue
                # What has a twin goes into sums with twins, in which its twin goes; alone it would lose it.
                for a in parts:
                    if (a in self.twin) != (out in self.twin):
                        del self.terms[a]
                parts = [a for a in parts if a in self.terms]
                asked.update(parts)
                if self.uses[out] == 1 and len(parts) == len(step.args):
                    self.terms[out] = [
                        t.turned(sign)
                        for a, sign in zip(step.args, _signs(step), strict=True)
                        for t in self.terms[a]
                    ]
            elif step.op == "mul" and self.uses[out] == 1:
                self.terms[out] = [_Term(out, 1, True)]
        return asked

    def _find_across(self) -> dict[int, _Across]:
        """Sums of what is of neither half, over two and more values of one half and their twins."""
        seen: set[int] = set()
        found: dict[int, _Across] = {}
        for step in reversed(self.steps):
            out = step.outs[0]
            if step.op not in _ADDERS or out in self.twin or out in seen:
                continue
            terms, within = self._terms(out)
            seen.update(within)
            signs = {t.value: t.sign for t in terms if type(t.value) is int}
            couples = [t for t in terms if self.twin.get(t.value) in signs]
            firsts = [t for t in couples if not self.second(t.value)]
            twice = len(signs) < sum(type(t.value) is int for t in terms)
            if twice or len(firsts) < 2 or 2 * len(firsts) != len(couples):
                continue
            sums = _Across([], [], [self._whole(t) for t in terms if t not in couples])
            for t in firsts:
                twin = self.twin[t.value]
                within += self._add_couple(sums, t, _Term(twin, signs[twin]))
            found[out] = sums
            self.inside.update(v for v in within if v != out)
            self.inside.update(t.value for half in sums for t in half if t.product)
        return found

    def _add_couple(self, sums: _Across, one: _Term, two: _Term) -> list[int]:
        """Add twins to a sum, term by term where they are sums themselves; the values that are used up thereby."""
        parts, within = [(one, two)], []
        if self.uses[one.value] == self.uses[two.value] == 1:
            (left, inner), (right, outer) = self._terms(one.value), self._terms(two.value)
            signs = {t.value: t.sign for t in right}
            if len(signs) == len(left) == len(right) and all(self.twin.get(t.value) in signs for t in left):
                twins = [_Term(self.twin[t.value], two.sign * signs[self.twin[t.value]]) for t in left]
                left = [t._replace(sign=one.sign * t.sign) for t in left]
                parts, within = list(zip(left, twins, strict=True)), [*inner, *outer]
        for a, b in parts:
            whole = self._whole(a), self._whole(b)
            a, b = whole if whole[0].product and whole[1].product else (a, b)
            sums.first.append(a)
            sums.second.append(b)
        return within

    def _whole(self, term: _Term) -> _Term:
        """A term, as a product if that is what it is and nothing else uses it."""
        step = self.maker.get(term.value)
        return term._replace(product=step is not None and step.op == "mul" and self.uses[term.value] == 1)

    def _terms(self, whole: int) -> tuple[list[_Term], list[int]]:
        """The terms of a value that may be a sum, and the sums that they are written out of: itself and others.

        The others are used once, and of a half where this value is.
        """
        terms: list[_Term] = []
        within: list[int] = []
        pending = [_Term(whole, 1)]
        while pending:
            term = pending.pop()
            step = self.maker.get(term.value)
            plain = (
                step is None or step.op not in _ADDERS or (term.value in self.twin) != (whole in self.twin)
            )
            if step is None or plain or (term.value != whole and self.uses[term.value] > 1):
                terms.append(term)
                continue
            within.append(term.value)
            parts = zip(step.args, _signs(step), strict=True)
            pending += [_signed(a, term.sign * sign) for a, sign in parts][::-1]
        return terms, within

    def _written_across(self, sums: _Across) -> list[_Term]:
        """Write a sum over both halves, each in the same order, every step as soon as its operands are there."""
        couples = zip(sums.first, sums.second, strict=True)
        order = sorted((max(self._place(a), self._place(b)), a, b) for a, b in couples)
        alone = sorted((self._place(t), t) for t in sums.others)
        halves = [[(at, one) for at, one, _ in order], [(at, two) for at, _, two in order]]
        return [self._placed(terms) for terms in (alone, *halves) if terms]

    def _placed(self, terms: Sequence[tuple[int, _Term]]) -> _Term:
        """Write a sum step by step, each after the step named with its term."""
        so_far: _Term | None = None
        for at, term in terms:
            so_far = self._take(so_far, term, self.due.setdefault(at, []))
        assert so_far is not None
        return so_far

    def _place(self, term: _Term) -> int:
        """The step after which a term, or the factors of a product, are there."""
        factors = self.maker[term.value].args if term.product else (term.value,)
        return max((self.position.get(a, 0) for a in factors if type(a) is int), default=0)

    def _sum(self, step: Step) -> list[Step]:
        """A sum that is no part of another: what is known first comes first, a number before all products."""
        if self.terms.keys().isdisjoint(step.reads()):
            return [step]
        products: list[_Term] = []
        plain: list[_Term] = []
        for a, sign in zip(step.args, _signs(step), strict=True):
            if type(a) is int and a in self.terms:
                products += [t.turned(sign) for t in self.terms[a]]
            else:
                plain.append(_signed(a, sign))
        made: list[Step] = []
        if len(products) > 1:
            products.sort(key=lambda t: self._rank(t.value))
        return self._ended(made, self._chain([*plain, *products], made), step.outs[0])

    def _chain(self, terms: Sequence[_Term], made: list[Step]) -> _Term:
        """Write a sum term by term; the value it has, which may be the negative of the sum."""
        so_far: _Term | None = None
        for term in terms:
            so_far = self._take(so_far, term, made)
        assert so_far is not None
        return so_far

    def _take(self, so_far: _Term | None, t: _Term, made: list[Step]) -> _Term:
        """A sum with one more term.

        So far it may be the negative of the sum: the order is by time alone, alike for mirror images.
        """
        factors = self.maker[t.value].args if t.product else ()
        if so_far is None:
            return self._write(made, "mul", factors, t.sign) if t.product else t
        if t.product:
            op = "fma" if t.sign == so_far.sign else "fms" if so_far.sign < 0 else "fnma"
            sign = 1 if op == "fms" else so_far.sign
            return self._write(made, op, (*factors, so_far.value), sign)
        if t.sign == so_far.sign:
            return self._write(made, "add", (so_far.value, t.value), t.sign)
        values = (so_far.value, t.value) if so_far.sign > 0 else (t.value, so_far.value)
        return self._write(made, "sub", values, 1)

    def _write(self, made: list[Step], op: str, args: tuple[int | float, ...], sign: int) -> _Term:
        self.free += 1
        made.append(Step(op, (self.free - 1,), args))
        return _Term(self.free - 1, sign)

    def _ended(self, made: list[Step], so_far: _Term, out: int) -> list[Step]:
        """The steps of a sum with its own name for its value."""
        if so_far.sign < 0:
            return [*made, Step("neg", (out,), (so_far.value,))]
        op, _, args = made[-1]
        made[-1] = Step(op, (out,), args)
        return made

    def _rank(self, product: int) -> tuple[int, int]:
        """When a product can be made, and a number that tells it from others; the same for twins."""
        first = min(product, self.twin.get(product, product))
        factors = self.maker[first].args
        return self._when(factors), first

    def _when(self, values: Sequence[Any]) -> int:
        """When all of some values are known."""
        return max([self.known.get(a, 0) for a in values if type(a) is int], default=0)


def gathered_sums(steps: Sequence[Step], outputs: Sequence[int | float], halves: Halves) -> list[Step]:
    """The same steps with every product that is used in one sum alone made part of it.

    Values that are each other's twins in `halves` have sums that are written alike.
    """
    return _Sums(steps, outputs, halves).written()


__all__ = ["gathered_sums"]
