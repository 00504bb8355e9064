"""What impacts leave behind: one record an impact, and the table of all of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, overload

import numpy as np
from numpy.typing import NDArray

from bellcrank.base.optional import needed

if TYPE_CHECKING:
    from bellcrank.mechanism import Mechanism

Array = NDArray[np.float64]

COLUMNS = (
    ("time", "s"),
    ("pair", ""),
    ("point", "m"),
    ("normal", ""),
    ("impulse", "N s"),
    ("friction impulse", "N s"),
    ("speed before", "m/s"),
    ("speed after", "m/s"),
    ("energy lost", "J"),
)


@dataclass(frozen=True, eq=False)
class ContactRecord:
    """One contact in an impact, in world axes: where, along which normal, how much.

    normal: From shape a to shape b. impulse: On b along the normal [N s]. friction_impulse: On b, world axes [N s].
    speed_before, speed_after: Normal speed of parting [m/s]. bodies: Of colliding groups, a and b, or their nodes.
    """

    contact: str
    point: Array
    normal: Array
    impulse: float
    friction_impulse: Array
    speed_before: float
    speed_after: float
    bodies: tuple[str, str] | None = None

    @property
    def on_b(self) -> Array:
        """The whole impulse on b, world axes [N s]."""
        return np.asarray(self.impulse * self.normal + self.friction_impulse)


@dataclass(frozen=True, eq=False)
class ImpactRecord:
    """An impact: when, which contacts, and what it cost.

    q, parameters: Positions and parameter values at it. speeds_before, speeds_after: All speeds of the mechanism.
    energy_before, energy_after: Kinetic [J]. law_limited: Whether the law asked for would have raised the energy.
    """

    time: float
    contacts: tuple[ContactRecord, ...]
    q: Array
    speeds_before: Array
    speeds_after: Array
    energy_before: float
    energy_after: float
    law_limited: bool
    parameters: Array = field(default_factory=lambda: np.zeros(0))

    @property
    def impulse(self) -> float:
        """The normal impulse of the first contact [N s]."""
        return self.contacts[0].impulse

    @property
    def energy_lost(self) -> float:
        """Kinetic energy lost [J]."""
        return self.energy_before - self.energy_after


@dataclass(frozen=True)
class ContactChange:
    """A lasting contact that begins (rest), sticks, slips or is let go (release), and when [s].

    Or a contact that met without its restitution (plastic), because an impact did not end by itself, or with friction
    that misses Coulomb's law (approximate).
    """

    time: float
    contact: str
    what: str


class ImpactTable(Sequence[ImpactRecord]):
    """All impacts of a run, in order. ``print(table)`` shows them; ``table.to_pandas()`` gives a data frame."""

    def __init__(self, records: Sequence[ImpactRecord] = (), mechanism: Mechanism | None = None) -> None:
        self.records = tuple(records)
        self.mechanism = mechanism

    @overload
    def __getitem__(self, index: int) -> ImpactRecord: ...

    @overload
    def __getitem__(self, index: slice) -> ImpactTable: ...

    def __getitem__(self, index: int | slice) -> ImpactRecord | ImpactTable:
        if isinstance(index, slice):
            return ImpactTable(self.records[index], self.mechanism)
        return self.records[index]

    def __len__(self) -> int:
        return len(self.records)

    def __iter__(self) -> Iterator[ImpactRecord]:
        return iter(self.records)

    @property
    def times(self) -> Array:
        """[s]."""
        return np.array([r.time for r in self.records])

    @property
    def energy_lost(self) -> float:
        """By all impacts together [J]."""
        return float(sum(r.energy_lost for r in self.records))

    @property
    def joint_impulses(self) -> dict[str, Array]:
        """Impulse every joint exerts on its body b, world axes, one row an impact [N s]."""
        return {name: block[:, :3] for name, block in self._transmitted.items()}

    @property
    def joint_moments(self) -> dict[str, Array]:
        """Impulsive moment every joint exerts on its body b about b's point, world axes [N m s]."""
        return {name: block[:, 3:] for name, block in self._transmitted.items()}

    @cached_property
    def _transmitted(self) -> dict[str, Array]:
        from bellcrank.result.joint_impulses import joint_impulses

        return {} if self.mechanism is None else joint_impulses(self.mechanism, self.records)

    def rows(self) -> list[tuple[Any, ...]]:
        """One row a contact that struck, in the order of COLUMNS; the energy stands with the first of an impact."""
        found: list[tuple[Any, ...]] = []
        for r in self.records:
            for k, c in enumerate(r.contacts):
                rubbed = float(np.linalg.norm(c.friction_impulse))
                lost = r.energy_lost if k == 0 else 0.0
                speeds = (c.speed_before, c.speed_after)
                found.append((r.time, c.contact, c.point, c.normal, c.impulse, rubbed, *speeds, lost))
        return found

    def to_pandas(self, joints: bool = False) -> Any:
        """A data frame, one row a contact that struck; with `joints` also the impulse each joint took."""
        pd = needed("pandas", "to_pandas", "pandas", "frames")

        struck = [(i, c) for i, r in enumerate(self.records) for c in r.contacts]
        columns: dict[str, Any] = {}
        for k, (name, unit) in enumerate(COLUMNS):
            values = [row[k] for row in self.rows()]
            label = f"{name} [{unit}]" if unit else name
            if name in ("point", "normal"):
                columns.update(
                    {
                        f"{name}.{a} [{unit}]".removesuffix(" []"): [v[i] for v in values]
                        for i, a in enumerate("xyz")
                    }
                )
            elif name == "friction impulse":
                columns.update(
                    {
                        f"{name}.{a} [{unit}]": [c.friction_impulse[i] for _, c in struck]
                        for i, a in enumerate("xyz")
                    }
                )
            else:
                columns[label] = values
        if joints:
            for joint, block in self.joint_impulses.items():
                columns.update(
                    {f"{joint}.{a} [N s]": [block[n, i] for n, _ in struck] for i, a in enumerate("xyz")}
                )
        return pd.DataFrame(columns)

    def __str__(self) -> str:
        if not self.records:
            return "no impacts"
        head = [f"{name} [{unit}]" if unit else name for name, unit in COLUMNS]
        body = [[_cell(x) for x in row] for row in self.rows()]
        widths = [max(len(row[k]) for row in (head, *body)) for k in range(len(head))]
        lines = [
            "  ".join(cell.rjust(w) for cell, w in zip(row, widths, strict=True)) for row in (head, *body)
        ]
        return "\n".join([*lines, f"{len(self)} impacts, {self.energy_lost:.6g} J lost"])

    def __repr__(self) -> str:
        return f"<{len(self)} impacts>"


def _cell(value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, np.ndarray):
        return "(" + ", ".join(f"{x + 0.0:.4g}" for x in value) + ")"
    return f"{value:.9g}"
