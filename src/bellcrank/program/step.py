"""One operation of a schedule, on numbered values."""

from __future__ import annotations

from typing import Any, NamedTuple


class Step(NamedTuple):
    """One operation on numbered values: `args` are value numbers (int), constants (float) or tables (tuple).

    `op` is an operation of the tracer, or ``fma`` (a*b + c), ``fms`` (a*b - c), ``fnma`` (c - a*b), or
    ``sincos``, whose `outs` are the sines and cosines (-1 where not needed) of its arguments in turn. The first
    argument of ``call`` and ``routine`` is what is :class:`Called`; the others, and the `outs`, all results (-1 where
    not needed), are those of one call after the other.
    """

    op: str
    outs: tuple[int, ...]
    args: tuple[Any, ...]

    def reads(self) -> list[int]:
        """The numbers of the values it reads."""
        return [a for a in self.args if type(a) is int]

    def calls(self) -> list[tuple[tuple[int | float, ...], tuple[int, ...]]]:
        """Arguments and results of each of the calls that are made together."""
        target, args = self.args[0].target, self.args[1:]
        m, n = target.arguments, target.results
        return [
            (args[k * m : (k + 1) * m], self.outs[k * n : (k + 1) * n]) for k in range(len(self.outs) // n)
        ]


class Called(NamedTuple):
    """A subprogram or a routine, and how many calls of it are made at once, at most.

    Lanes that are left over do nothing of use.
    """

    target: Any
    width: int


class Both(NamedTuple):
    """An operand of a pair: a value or constant for each lane; `negated` where lane 1 enters with its sign changed."""

    first: int | float
    second: int | float
    negated: bool = False


class Pair(NamedTuple):
    """Two steps in the two lanes of a register.

    `op` is one of ``mul div add fma sqrt``, done on the `args` with the signs `signs` in both lanes. `outs` are the
    values of lane 0 and lane 1; where `negative`, lane 1 holds the negative of its value.
    """

    op: str
    outs: tuple[int, int]
    args: tuple[Both, ...]
    signs: tuple[int, ...]
    negative: bool

    def reads(self) -> list[int]:
        """The numbers of the values it reads."""
        return [a for both in self.args for a in both[:2] if type(a) is int]
