"""How a result lies in its file: the head that a run starts from, and tables that grow with its outputs."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bellcrank.base.blocks import packed, unpacked
from bellcrank.base.version import __version__
from bellcrank.errors import ResultFileError
from bellcrank.result.header import Header
from bellcrank.result.result import Happening

Array = NDArray[np.float64]

FORMAT = "bellcrank result"
VERSION = 2
TABLES = ("time", "q", "u", "du", "parameters")
EVENTS = ("event_time", "event_index")
FORCES = "contact_forces"
"""The table of contact forces of a run that writes as it goes."""


def attributes(header: Header) -> dict[str, str | int]:
    """Attributes that identify a file."""
    digest = hashlib.sha256(header.model.encode()).hexdigest()
    return {
        "format": FORMAT, "version": VERSION, "bellcrank": __version__, "model_sha256": digest
    }  # fmt: skip


def head(header: Header, report: Mapping[str, Any] | None = None) -> dict[str, NDArray[Any]]:
    """The tables a run starts from; `report` is missing while the run goes on."""
    about = {
        "formulation": header.formulation,
        "t": header.t,
        "kept": list(header.kept),
        "event_names": list(header.event_names),
        "settings": dict(header.settings),
        "report": report,
    }
    tables: dict[str, NDArray[Any]] = {
        "model": as_bytes(header.model.encode()),
        "about": as_bytes(json.dumps(about).encode()),
        "start_q": header.q,
        "start_u": header.u,
        "start_parameters": header.parameters,
        "output_times": header.output_times,
    }
    if header.members:
        tables["members"] = as_bytes(header.members)
    return tables


def as_bytes(data: bytes) -> NDArray[np.uint8]:
    """Bytes as a table."""
    return np.frombuffer(data, dtype="u1")


class Growing:
    """Tables that grow: what was added since it was last taken over, and how much there was before."""

    def __init__(self) -> None:
        self.fresh: dict[str, list[Array]] = {name: [] for name in (*TABLES, *EVENTS)}
        self.first = dict.fromkeys(self.fresh, 0)

    def __getitem__(self, name: str) -> list[Array]:
        return self.fresh[name]

    def block(self) -> bytes:
        """What is fresh, as bytes."""
        return packed(self.tables(), {"first": self.first})

    def tables(self) -> dict[str, Array]:
        """What is fresh, by name."""
        return {name: np.concatenate(rows) for name, rows in self.fresh.items() if rows}

    def taken(self) -> None:
        """What was fresh has been taken over."""
        for name, rows in self.fresh.items():
            self.first[name] += sum(len(block) for block in rows)
            rows.clear()


def add_table(file: Growing, name: str, width: int) -> None:
    """One more table, of so many columns."""
    file.fresh[name] = [np.zeros((0, width))]
    file.first[name] = 0


def extend(table: list[Array], rows: Array) -> None:
    """Add rows to a table."""
    table.append(rows)


def append(file: Growing, *columns: Array) -> None:
    """Add outputs: time, q, u, du, parameters."""
    for name, rows in zip(TABLES, columns, strict=True):
        extend(file[name], rows)


def append_events(file: Growing, header: Header, events: Sequence[Happening]) -> None:
    """Add events that were met."""
    places = {name: k for k, name in enumerate(header.event_names)}
    extend(file["event_index"], np.array([places[e.name] for e in events], dtype=float))
    extend(file["event_time"], np.array([e.time for e in events], dtype=float))


def joined(blocks: Iterable[bytes]) -> dict[str, NDArray[Any]]:
    """The tables that blocks of :class:`Growing` make up; a block says where its rows belong."""
    parts: dict[str, list[NDArray[Any]]] = {}
    lengths: dict[str, int] = {}
    for block in blocks:
        tables, about = unpacked(block)
        for name, rows in tables.items():
            first, there = about["first"][name], lengths.get(name, 0)
            if first < there:
                # The writer was interrupted after this block and before it knew.
                parts[name] = [np.concatenate(parts[name])[:first]]
            elif first > there or rows.ndim == 0:
                raise ResultFileError(f"the file is damaged (rows of {name!r} are missing)")
            parts.setdefault(name, []).append(rows)
            lengths[name] = first + len(rows)
    return {name: np.concatenate(rows) for name, rows in parts.items()}


__all__ = ["FORCES", "FORMAT", "TABLES", "VERSION", "Growing", "packed", "unpacked"]
