"""Sums of products, one fused instruction a product.

A scalar product subtracted from a number costs as many instructions as it has products if the number comes first and
each product is taken into the sum so far; written as it was traced, the products are summed by themselves and their sum
is taken off at the end, one instruction and one rounding more. Products that are known late come last, so that little
is left to do when they arrive: recursions along a chain wait for that and nothing else.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from bellcrank.program.step import Step

_CYCLES = {"div": 13, "sqrt": 15, "sin": 40, "cos": 40, "mul": 3, "add": 3, "sub": 3}
"""How long an operation takes in a processor of today, others 4 cycles; only the order of sums depends on it."""


class _Term(NamedTuple):
    """A product, by the value it had, and its sign."""

    value: int
    sign: int


class _Sums:
    def __init__(
        self, steps: Sequence[Step], outputs: Sequence[int | float], twins: Mapping[int, int]
    ) -> None:
        self.steps = steps
        self.twin = twins
        self.maker = {step.outs[0]: step for step in steps if len(step.outs) == 1}
        self.uses: dict[int, int] = {}
        for step in steps:
            for a in step.args:
                if type(a) is int:
                    self.uses[a] = self.uses.get(a, 0) + 1
        for o in outputs:
            if type(o) is int:
                self.uses[o] = self.uses.get(o, 0) + 1
        self.terms: dict[int, list[_Term]] = {}
        """By values that are products or sums of them and are used once: those products."""
        self.known: dict[int, int] = {}
        """When a value is known, in cycles."""
        self.free = max((o for step in steps for o in step.outs), default=0) + 1

    def written(self) -> list[Step]:
        """All steps, sums of products gathered."""
        absorbed = self._absorbed()
        found: list[Step] = []
        for step in self.steps:
            out = step.outs[0]
            if out in absorbed:
                continue
            made = self._sum(step) if step.op in ("add", "sub", "neg") else [step]
            for one in made:
                last = max((self.known.get(a, 0) for a in one.args if type(a) is int), default=0)
                for o in one.outs:
                    self.known[o] = last + _CYCLES.get(one.op, 4)
            found += made
        return found

    def _absorbed(self) -> set[int]:
        """The values that are part of a sum and of nothing else; notes their products."""
        asked: set[int] = set()
        for step in self.steps:
            out = step.outs[0]
            if step.op in ("add", "sub", "neg"):
                parts = [a for a in step.args if type(a) is int and a in self.terms]
                # What has a twin goes into sums with twins, in which its twin goes; alone it would lose it.
                for a in parts:
                    if (a in self.twin) != (out in self.twin):
                        del self.terms[a]
                parts = [a for a in parts if a in self.terms]
                asked.update(parts)
                signs = (-1,) if step.op == "neg" else (1, 1 if step.op == "add" else -1)
                if self.uses.get(out) == 1 and len(parts) == len(step.args):
                    self.terms[out] = [
                        _Term(t.value, t.sign * sign)
                        for a, sign in zip(step.args, signs, strict=True)
                        for t in self.terms[a]
                    ]
            elif step.op == "mul" and self.uses.get(out) == 1:
                self.terms[out] = [_Term(out, 1)]
        return asked

    def _sum(self, step: Step) -> list[Step]:
        """A sum that is no part of another: what is known first comes first, a number before all products."""
        signs = (-1,) if step.op == "neg" else (1, 1 if step.op == "add" else -1)
        products: list[_Term] = []
        plain: list[tuple[int | float, int]] = []
        for a, sign in zip(step.args, signs, strict=True):
            if type(a) is int and a in self.terms:
                products += [_Term(t.value, t.sign * sign) for t in self.terms[a]]
            elif type(a) is int:
                plain.append((a, sign))
            else:
                plain.append((sign * a, 1))
        if not products:
            return [step]
        products.sort(key=lambda t: self._rank(t.value))
        made: list[Step] = []
        if plain:
            (so_far, sign), *_ = plain
        else:
            (first, sign), *products = products
            made.append(Step("mul", (self._name(),), self.maker[first].args))
            so_far = made[0].outs[0]
        # So far it may be the negative of the sum: the order is by time alone, alike for mirror images.
        for t in products:
            op = "fma" if t.sign == sign else "fms" if sign < 0 else "fnma"
            made.append(Step(op, (self._name(),), (*self.maker[t.value].args, so_far)))
            so_far = made[-1].outs[0]
            sign = 1 if op == "fms" else sign
        if sign < 0:
            return [*made, Step("neg", step.outs, (so_far,))]
        made[-1] = made[-1]._replace(outs=step.outs)
        return made

    def _rank(self, product: int) -> tuple[int, int]:
        """When a product can be made, and a number that tells it from others; the same for twins."""
        first = min(product, self.twin.get(product, product))
        args = self.maker[first].args
        return max((self.known.get(a, 0) for a in args if type(a) is int), default=0), first

    def _name(self) -> int:
        self.free += 1
        return self.free - 1


def gathered_sums(
    steps: Sequence[Step], outputs: Sequence[int | float], twins: Mapping[int, int]
) -> list[Step]:
    """The same steps with every product that is used in one sum alone made part of it.

    twins: Values of one half of a mechanism by those of the other; their sums are written alike.
    """
    return _Sums(steps, outputs, twins).written()


__all__ = ["gathered_sums"]
