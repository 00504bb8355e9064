"""Tables of forces, as users give them: pairs of numbers by name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from bellcrank.errors import ModelError, unknown_name
from bellcrank.model import checks
from bellcrank.program.tables import table_and_integral

Pairs: TypeAlias = tuple[tuple[float, float], ...]
Tables: TypeAlias = Mapping[str, Pairs]
WHY = "a table is made of plain numbers; a parameter can scale a stiffness beside it"


def tables_by_name(who: str, given: Any, names: Sequence[str]) -> Tables | None:
    """Checked tables of a force by name; None where there are none."""
    if not given:
        return None
    if not isinstance(given, Mapping):
        raise ModelError(f"tables of {who} must be a mapping such as {{{names[0]!r}: [(0, 0), (0.01, 900)]}}")
    for name in given:
        if name not in names:
            raise unknown_name(f"axis or curve of the tables of {who}", str(name), names)
    return {name: pairs(f"tables of {who}: table {name!r}", rows) for name, rows in given.items()}


def pairs(what: str, rows: Any) -> Pairs:
    """A table of two numbers a row, the first rising."""
    if isinstance(rows, str | bytes) or not hasattr(rows, "__iter__"):
        raise ModelError(f"{what} must be pairs such as [(0, 0), (0.01, 900)], not {rows!r}")
    found = tuple(
        (checks.plain_number(what, x, WHY), checks.plain_number(what, y, WHY))
        for x, y in (checks.sequence(f"a row of {what}", row, 2, "(0.01, 900)") for row in rows)
    )
    try:
        table_and_integral([x for x, _ in found], [y for _, y in found])
    except ValueError as error:
        raise ModelError(f"{what}: {error}") from error
    return found
