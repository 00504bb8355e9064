"""How much arithmetic a program does, by kind and by stage of the mechanics."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from bellcrank.program.program import Program
from bellcrank.program.trace import FUNCTIONS_1, FUNCTIONS_2

_CHEAP = frozenset({"abs", "floor", "min", "max"})
_FUNCTIONS = frozenset({*FUNCTIONS_1, *FUNCTIONS_2}) - _CHEAP
COLUMNS = ("multiplications", "additions", "divisions", "functions", "negations", "other", "total", "calls")


@dataclass(frozen=True)
class Count:
    """Numbers of operations. `operations` maps each kind of operation to its number."""

    operations: Mapping[str, int]
    stages: Mapping[str, Count] = field(default_factory=dict)

    @property
    def total(self) -> int:
        """All operations; what routines do inside is not known beforehand and counts as `calls`."""
        return sum(n for op, n in self.operations.items() if op != "routine")

    @property
    def calls(self) -> int:
        """Calls of routines."""
        return self.operations.get("routine", 0)

    @property
    def multiplications(self) -> int:
        """Products."""
        return self.operations.get("mul", 0)

    @property
    def additions(self) -> int:
        """Sums and differences; changes of sign are `negations`."""
        return self.operations.get("add", 0) + self.operations.get("sub", 0)

    @property
    def divisions(self) -> int:
        """Quotients."""
        return self.operations.get("div", 0)

    @property
    def negations(self) -> int:
        """Changes of sign."""
        return self.operations.get("neg", 0)

    @property
    def functions(self) -> int:
        """Square roots, sines and their kin."""
        return sum(n for op, n in self.operations.items() if op in _FUNCTIONS)

    @property
    def other(self) -> int:
        """Comparisons, selections, extremes, absolute values, table look-ups."""
        parts = self.multiplications + self.additions + self.divisions + self.negations + self.functions
        return self.total - parts

    def rows(self) -> list[tuple[str, ...]]:
        """A table: a head, a row a stage in order of first appearance, the sum."""

        def row(name: str, count: Count) -> tuple[str, ...]:
            return (name, *(f"{getattr(count, column)}" for column in COLUMNS))

        return [
            ("stage", *COLUMNS),
            *(row(name or "unnamed", count) for name, count in self.stages.items()),
            row("all", self),
        ]

    def __str__(self) -> str:
        rows = self.rows()
        widths = [max(len(r[k]) for r in rows) for k in range(len(rows[0]))]
        return "\n".join(
            "  ".join([r[0].ljust(widths[0]), *(c.rjust(w) for c, w in zip(r[1:], widths[1:], strict=True))])
            for r in rows
        )


def count(program: Program) -> Count:
    """The operations of `program`, exactly; inputs and constants cost nothing."""
    stages: dict[str, Counter[str]] = {}
    for (stage, op), number in Counter((node.stage, node.op) for node in program.operations).items():
        counted = stages.setdefault(stage, Counter())
        if op not in ("call", "part"):
            counted[op] = number
    for node in program.operations:
        if node.op == "call":
            stages[node.stage].update(node.args[0].count.operations)
    whole: Counter[str] = Counter()
    for each in stages.values():
        whole.update(each)
    return Count(dict(whole), {name: Count(dict(counted)) for name, counted in stages.items()})
