"""The header of a result: what a run starts from, and the mechanism it gives back."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bellcrank.errors import AssemblyError, ResultFileError

if TYPE_CHECKING:
    from bellcrank.flexible.member import FlexibleMember
    from bellcrank.mechanism import Mechanism
    from bellcrank.model.system import System

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Header:
    """What is known of a run before it starts: everything but the outputs.

    start: q and u at the start time. parameters: values at the start. kept: numbers of the constraint
    equations in use. settings: what was asked for, for a run to be gone on with. event_names: of the events
    that are watched. members: the numbers of flexible members.
    """

    model: str
    formulation: str
    t: float
    q: Array
    u: Array
    parameters: Array
    kept: tuple[int, ...]
    event_names: tuple[str, ...] = ()
    settings: Mapping[str, Any] = field(default_factory=dict)
    output_times: Array = field(default_factory=lambda: np.zeros(0))
    members: bytes = b""

    @property
    def widths(self) -> tuple[int | None, ...]:
        """Columns of the tables."""
        return (None, len(self.q), len(self.u), len(self.u), len(self.parameters))

    @classmethod
    def of(cls, mechanism: Mechanism, formulation: str, **more: Any) -> Header:
        """The header of a run of a mechanism."""
        from bellcrank.files import dumps
        from bellcrank.flexible.packing import packed_members

        start = mechanism.start
        values = np.array(mechanism.parameter_values, dtype=float)
        members: dict[str, FlexibleMember] = {}
        model = dumps(mechanism.system, stored=members)
        kept = mechanism.kept
        return cls(
            model,
            formulation,
            start.t,
            start.q,
            start.u,
            values,
            kept,
            members=packed_members(members),
            **more,
        )

    def mechanism(self) -> Mechanism:
        """The mechanism of the run, with its start."""
        from bellcrank.files import loads
        from bellcrank.flexible.packing import unpacked_members
        from bellcrank.mechanism import State

        system = loads(self.model, stored=unpacked_members(self.members))
        start = State(self.t, self.q, self.u)
        names = list(system.parameters)
        if len(names) != len(self.parameters):
            raise ResultFileError("the parameters of the file do not fit its model")
        given = dict(zip(names, self.parameters.tolist(), strict=True))
        for found in _analysed(system, self.formulation, given, start):
            linkage = found.linkage
            if (linkage.positions, linkage.speeds) != (len(start.q), len(start.u)):
                raise ResultFileError("the states of the file do not fit its model")
            if found.kept == self.kept:
                return replace(found, start=start, initial=None)
        raise ResultFileError("the constraint equations of the file do not fit its model")


MOST_RESTORED = 8
"""Mechanisms a process keeps that came to it by pickle; a pool is sent the same one again and again."""
_restored: dict[tuple[Any, ...], Mechanism] = {}


def pickled(mechanism: Mechanism) -> tuple[Any, ...]:
    """What :meth:`Mechanism.__reduce__` gives: the text of its model and its start."""
    return restored, (Header.of(mechanism, mechanism.formulation.value),)


def restored(header: Header) -> Mechanism:
    """The mechanism that was pickled; the same one for the same bytes, so that it is analysed and compiled once."""
    numbers = (header.q, header.u, header.parameters)
    key = (
        header.model, header.formulation, header.t, *(x.tobytes() for x in numbers), header.kept, header.members
    )  # fmt: skip
    known = _restored.get(key)
    if known is None:
        known = header.mechanism()
        while len(_restored) >= MOST_RESTORED:
            _restored.pop(next(iter(_restored)))
        _restored[key] = known
    return known


def _analysed(
    system: System, formulation: str, values: Mapping[str, float], start: Any
) -> Iterator[Mechanism]:
    """The mechanism as described, then as it stood at the start of the run, where that differs."""
    from bellcrank.mechanism import analyse

    found: Mechanism | None = None
    with suppress(AssemblyError):
        found = analyse(system, formulation=formulation, parameters=values, t=start.t)
        yield found
    pose = start_pose(system, values, start)
    yield analyse(system, formulation=formulation, parameters=values, t=start.t, initial=pose)


def start_pose(system: System, values: Mapping[str, float], start: Any) -> dict[str, Any]:
    """The start positions by joint, as `initial` takes them."""
    from bellcrank.mechanics.lowering import lower
    from bellcrank.mechanics.start import to_joint
    from bellcrank.topology import spanning_tree

    linkage = lower(system, spanning_tree(system))
    if linkage.positions != len(start.q):
        raise ResultFileError("the states of the file do not fit its model")
    pose: dict[str, Any] = {}
    for link in linkage.links:
        here = start.q[list(link.own_positions)]
        if len(here):
            x = to_joint(linkage, link, here, values) if link.kind.has_quaternion else here
            pose.setdefault(link.joint or link.name, {}).update(link.kind.start_values(link, x))
    return pose
