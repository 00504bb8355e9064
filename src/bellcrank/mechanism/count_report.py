"""Our operation counts of every formulation beside the multiplications of the formulas of Kang and Yoon."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bellcrank.formulations.registry import Formulation
from bellcrank.mechanism.paper_counts import STAGES, PaperCounts
from bellcrank.program.count import Count

if TYPE_CHECKING:
    from rich.console import Group

COLUMNS = ("multiplications", "additions", "divisions", "functions")
"""What is printed of a count."""


def products(count: Count) -> int:
    """Multiplications and divisions: what the formulas of the paper count."""
    return count.multiplications + count.divisions


@dataclass(frozen=True, eq=False)
class CountReport(Mapping[Formulation, Count]):
    """The arithmetic of one evaluation of all accelerations; a mapping from formulations to counts.

    paper: what the formulas give for the same topology. They know neither forces other than gravity nor
    sparse matrices, and leave out the joints' own rotations; a traced program has all of these.
    """

    name: str
    counts: Mapping[Formulation, Count]
    paper: PaperCounts

    def __getitem__(self, formulation: Formulation | str) -> Count:
        return self.counts[Formulation(formulation)]

    def __iter__(self) -> Iterator[Formulation]:
        return iter(self.counts)

    def __len__(self) -> int:
        return len(self.counts)

    def percent(self, formulation: Formulation | str) -> float | None:
        """Multiplications and divisions against our `lagrange` [%]; None where that was not counted."""
        whole = self.counts.get(Formulation.LAGRANGE)
        return None if whole is None else 100.0 * products(self[formulation]) / products(whole)

    @property
    def best(self) -> Formulation:
        """The formulation with the fewest multiplications and divisions."""
        return min(self.counts, key=lambda f: products(self.counts[f]))

    def to_json(self) -> dict[str, Any]:
        """Everything as plain numbers."""
        return {
            "mechanism": self.name,
            "formulations": {str(f): self._formulation_json(f, count) for f, count in self.counts.items()},
            "paper": {
                str(f): {
                    "stages": dict(stages),
                    "total": self.paper.total(f),
                    "percent": self.paper.percent(f),
                }
                for f, stages in self.paper.stages.items()
            },
        }

    def _formulation_json(self, formulation: Formulation, count: Count) -> dict[str, Any]:
        def numbers(part: Count) -> dict[str, int]:
            return {column: int(getattr(part, column)) for column in COLUMNS}

        stages = {stage or "unnamed": numbers(part) for stage, part in count.stages.items()}
        return {"stages": stages, "total": numbers(count), "percent": self.percent(formulation)}

    def tables(self) -> list[tuple[str, list[tuple[str, ...]]]]:
        """Titled tables, the first row of each its head: ours by stage, the sums, the paper's by stage."""
        ours: list[tuple[str, ...]] = [("formulation", "stage", *COLUMNS)]
        for f, count in self.counts.items():
            for stage, part in (*count.stages.items(), ("all", count)):
                ours.append((f, stage or "unnamed", *(f"{getattr(part, c)}" for c in COLUMNS)))
        tables = [(f"{self.name}: operations of one evaluation of all accelerations", ours)]
        if len(self.counts) > 1:
            tables.append(
                ("multiplications and divisions, ours and by the formulas of Kang and Yoon", self._sums())
            )
        methods = [f for f in self.paper.stages if f in self.counts]
        if methods:
            formulas: list[tuple[str, ...]] = [("stage", *methods)]
            formulas += [(stage, *(f"{self.paper.stages[f][stage]}" for f in methods)) for stage in STAGES]
            formulas.append(("all", *(f"{self.paper.total(f)}" for f in methods)))
            tables.append(("multiplications by the formulas of Kang and Yoon, Tables 1 to 3", formulas))
        return tables

    def _sums(self) -> list[tuple[str, ...]]:
        rows: list[tuple[str, ...]] = [("formulation", "ours", "% of lagrange", "formulas", "% of lagrange")]
        for f, count in self.counts.items():
            known = f in self.paper.stages
            percent = self.percent(f)
            rows.append(
                (
                    f,
                    f"{products(count)}",
                    "-" if percent is None else f"{percent:.1f}",
                    f"{self.paper.total(f)}" if known else "-",
                    f"{self.paper.percent(f):.1f}" if known else "-",
                )
            )
        return rows

    def __str__(self) -> str:
        return "\n\n".join(f"{title}\n{_plain(rows)}" for title, rows in self.tables())

    def rich(self) -> Group:
        """The tables for a terminal."""
        from rich.console import Group
        from rich.table import Table

        drawn = []
        for title, rows in self.tables():
            table = Table(title=title, title_justify="left")
            texts = _text_columns(rows)
            for k, head in enumerate(rows[0]):
                table.add_column(head, justify="left" if k < texts else "right")
            for row in rows[1:]:
                table.add_row(
                    *row, end_section=row[texts - 1] == "all", style="bold" if "all" in row[:2] else ""
                )
            drawn.append(table)
        return Group(*drawn)


def _text_columns(rows: Sequence[tuple[str, ...]]) -> int:
    """How many columns of a table are words; numbers follow."""
    return 2 if rows[0][1] == "stage" else 1


def _plain(rows: Sequence[tuple[str, ...]]) -> str:
    widths = [max(len(row[k]) for row in rows) for k in range(len(rows[0]))]
    texts = _text_columns(rows)
    lines = []
    for row in rows:
        cells = [
            cell.ljust(width) if k < texts else cell.rjust(width)
            for k, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        lines.append("  " + "  ".join(cells).rstrip())
    return "\n".join(lines)
