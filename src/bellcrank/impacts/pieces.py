"""The segments of a run with contacts so far, and the one result they make."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from bellcrank.impacts.contacts import Contacts
from bellcrank.impacts.segment import Segment
from bellcrank.mechanism import Mechanism
from bellcrank.result.impact_table import ImpactTable
from bellcrank.result.result import Happening, Result, RunReport

Array = NDArray[np.float64]


class Pieces:
    """The segments so far."""

    def __init__(self, mechanism: Mechanism, contacts: Contacts) -> None:
        self.mechanism, self.contacts = mechanism, contacts
        self.pieces: list[Result] = []
        self.breaks: list[Array] = []
        self.outputs = 0

    @property
    def events(self) -> tuple[Happening, ...]:
        """Met so far."""
        return tuple(e for piece in self.pieces for e in piece.events)

    def open(self, run: Segment) -> None:
        """Before a segment: breaks come in pairs, so that of its start belongs to the end of the one before."""
        if self.pieces:
            start, p = run.begin, np.array(run.mechanism.parameter_values)
            self.breaks.append(run.row(start.t, run.machine.pack(start.q, start.u), p))

    def add(self, run: Segment, piece: Result) -> None:
        """One more segment."""
        self.breaks += run.breaks
        self.take(piece)

    def take(self, piece: Result) -> None:
        """One more stretch of the run."""
        self.pieces.append(piece)
        self.outputs += len(piece)

    def report(self) -> RunReport:
        """How all of them went; the last one has its end."""
        runs = [piece.run for piece in self.pieces]
        return replace(
            runs[-1],
            steps=sum(r.steps for r in runs),
            rejected=sum(r.rejected for r in runs),
            evaluations=sum(r.evaluations for r in runs),
            seconds=sum(r.seconds for r in runs),
            repartitions=tuple(t for r in runs for t in r.repartitions),
            switches=tuple(s for r in runs for s in r.switches),
            residual=max(r.residual for r in runs),
            unsolved=sum(r.unsolved for r in runs),
            penetration=max(r.penetration for r in runs),
            stepped=tuple(s for r in runs for s in r.stepped),
        )

    def joined(self, status: str | None = None) -> Result:
        """One result from the segments. status: How the run ended, where not as its last segment."""
        pieces, whole = self.pieces, self.report()
        time, q, u, du, parameters, forces = (
            np.concatenate([getattr(piece, key) for piece in pieces])
            for key in ("time", "q", "u", "du", "parameters", "contact_forces")
        )
        paired = self.breaks[: len(self.breaks) // 2 * 2]
        return Result(
            self.mechanism,
            time,
            q,
            u,
            du,
            parameters,
            whole if status is None else replace(whole, status=status),
            self.events,
            impacts=ImpactTable(self.contacts.records, self.mechanism),
            contact_forces=forces,
            contact_changes=tuple(self.contacts.changes),
            breaks=np.array(paired) if paired else None,
        )
