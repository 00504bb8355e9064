"""Rigid contacts in model exchange: the memory of their events, the programs they call, and who cannot take part."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bellcrank.errors import ModelError
from bellcrank.formulations.loops import Partition
from bellcrank.impacts import event_units as events
from bellcrank.impacts import held_units as held
from bellcrank.impacts.contacts import ROUNDING, YIELDING, Contacts
from bellcrank.impacts.coulomb_units import room
from bellcrank.impacts.modes import FreeAccelerations
from bellcrank.impacts.routh import LAW, ROWS, ImpactLaw
from bellcrank.impacts.solver import BEFORE_ROWS, ImpactProgram
from bellcrank.impacts.strikes import room_for
from bellcrank.mechanics.kinematics import Kinematics
from bellcrank.mechanics.numbers import Traced
from bellcrank.mechanism import Mechanism
from bellcrank.mechanism.carried_loads import lagging_loads
from bellcrank.model.parameters import names_in
from bellcrank.program.graph import Graph
from bellcrank.program.loops import c as loops_c
from bellcrank.program.loops.layout import words
from bellcrank.program.program import Program
from bellcrank.program.trace import Scalar

HELD_AT = {"RATES": held.RATES, "IMPACT_KERNEL": held.IMPACT, "FREE": held.FREE, "PROJECT": held.PROJECT}
"""Places of the addresses of programs, as ``impacts.c`` calls them."""


def refusal(mechanism: Mechanism) -> str:
    """Why contacts that strike cannot be events of a program that somebody else integrates; nothing where they can."""
    system = mechanism.system
    for group in system.collisions.values():
        return f"{group.who} is solved by steps"
    if loads := lagging_loads(mechanism):
        name = mechanism.linkage.states[
            loads[0].place - mechanism.linkage.positions + len(mechanism.linkage.states)
        ]
        return f"{name!r} follows the forces of contacts"
    laws = {contact.law for contact in system.contacts.values()}
    if len(laws) > 1:
        return "contacts have different laws of impact"
    return ""


@dataclass(frozen=True, eq=False)
class Striking:
    """The contacts of a mechanism that strike, for events in model exchange."""

    mechanism: Mechanism
    tolerance: float

    @cached_property
    def contacts(self) -> Contacts:
        """Placed on the links, and checked."""
        return Contacts.of(self.mechanism, tolerance=self.tolerance)

    @property
    def count(self) -> int:
        """Number of contacts."""
        return len(self.contacts.pairs)

    @cached_property
    def placed(self) -> list[int]:
        """Contacts whose places may end."""
        return [k for k, pair in enumerate(self.contacts.pairs) if not pair.lasting]

    def programs(self, partition: Partition) -> tuple[Program, Program, Program | None]:
        """Impacts, accelerations without contact forces, and rooms of places, in a partition."""
        impact = ImpactProgram(self.mechanism.mechanics, partition, self.contacts.pairs).program
        free = FreeAccelerations(self.mechanism, partition, self.contacts.pairs).program
        return impact, free, self._rooms(partition) if self.placed else None

    def _rooms(self, partition: Partition) -> Program:
        graph, linkage = Graph(), self.mechanism.linkage
        t = graph.input("t.")
        q = linkage.position_inputs(graph)
        v = [graph.input(f"u.{i}") for i in partition.independent]
        parameters = [graph.input(name) for name in self.mechanism.mechanics.parameters]
        kin = Kinematics(linkage, q, Traced(graph))
        rooms: list[Scalar] = []
        for k in self.placed:
            left = self.contacts.pairs[k].closest(kin).room
            rooms.append(1.0 if left is None else left)
        return Program.of([t, *q, *v, *parameters], rooms, "rooms")

    @cached_property
    def meeting(self) -> events.Meeting:
        """The arrays as a run begins."""
        m, pairs = self.mechanism, self.contacts.pairs
        q, n, p = m.linkage.positions, len(m.partition.independent), len(m.parameter_values)
        width, many, whole = 1 + self.contacts.tangents, len(pairs), np.int64
        rows, size = width * many, 1 + q + n + p
        sizes = np.zeros(held.SIZES, whole)
        sizes[held.POSITIONS], sizes[held.MOVING] = q, q - len(m.linkage.states)
        sizes[held.SPEEDS], sizes[held.PARAMETERS] = n, p
        sizes[held.CONTACTS], sizes[held.WIDTH] = many, width
        blocks = self.contacts.impact_program(m.partition).kernel.n_out
        none = np.zeros(0)
        lasting = held.Held(
            np.zeros(held.ADDRESSES, whole),
            sizes,
            np.zeros((many, held.IDENTITY), whole),
            np.zeros((many, held.PROPERTIES)),
            np.zeros(blocks),
            np.zeros((rows, n)),
            np.zeros((rows, n)),
            np.zeros((many, width)),
            np.zeros((many, width)),
            np.zeros((2, rows)),
            np.zeros((5, n)),
            np.zeros((n, n)),
            np.zeros(rows, whole),
            np.zeros(rows * rows + max(rows + q + n, size + 2 * (q + n))),
            room(many),
            np.zeros((rows, n)),
            held.Carried(np.zeros(0, whole), none, none.copy(), none.copy()),
        )
        strikes = room_for(many, width)
        strikes.one.flags[LAW] = ImpactLaw(pairs[0].contact.law).number
        strikes.one.flags[ROWS] = width
        nature, roles = np.zeros((many, events.NATURES)), np.zeros((many, events.ROLES), whole)
        links = [tuple(sorted((pair.a.link, pair.b.link))) for pair in pairs]
        for k, pair in enumerate(pairs):
            nature[k, events.LENGTH], nature[k, events.UNIT] = pair.length, pair.speed
            roles[k, events.HEADS] = self.contacts.headings.get(pair.contact.name, -1)
            roles[k, events.BETWEEN] = links.index(links[k])
            roles[k, events.PLACED] = self.placed.index(k) if k in self.placed else -1
        yields = YIELDING if any(pair.yields for pair in pairs) else ROUNDING
        return events.Meeting(
            lasting,
            strikes,
            room(many),
            nature,
            roles,
            np.zeros((many, 2)),
            np.zeros((many, 2)),
            np.zeros(size),
            np.zeros(q + n),
            np.zeros((rows, n)),
            np.zeros((rows, n)),
            np.zeros((rows, rows)),
            np.zeros(rows),
            np.zeros(rows),
            np.zeros(max(len(self.placed), 1)),
            np.zeros(rows, whole),
            np.zeros(rows, whole),
            np.zeros(rows * rows),
            np.zeros((events.VECTORS, rows)),
            np.zeros(events.FURTHER, whole),
            np.array([self.tolerance, yields]),
        )

    def text(self) -> list[str]:
        """The memory as a run begins, and where it keeps what, in C."""
        found: list[int] = []
        kept: list[tuple[int, NDArray[Any]]] = []
        nowhere = np.zeros(0)
        for given, argument in zip(events.meet.types, (nowhere, nowhere, self.meeting), strict=True):
            words(given, argument, found, kept)
        # The addresses of x and y are those of a call.
        owned = kept[2:]
        places, end = dict[int, int](), len(found)
        for _, array in owned:
            places[id(array)], end = end, end + array.size
        memory = np.zeros(end, np.int64)
        memory[: len(found)] = found
        for _, array in owned:
            memory[places[id(array)] : places[id(array)] + array.size] = array.view(np.int64).ravel()
        near = [(place, places[id(array)]) for place, array in owned]
        memory[[0, 1, *(place for place, _ in near)]] = 0
        g = self.meeting
        filled = np.flatnonzero(memory)
        named = {
            "KERNELS": g.held.kernels,
            "SIZES": g.held.sizes,
            "LASTING": g.held.contacts,
            "IMPACT": g.held.impact,
            "FORCES": g.held.forces,
            "PROGRAMS": g.programs,
            "NUMBERS": g.numbers,
        }
        numbers: dict[str, int] = {f"STRUCK_{name}": places[id(array)] for name, array in named.items()}
        numbers |= {
            "STRUCK_HELD": held.LASTING,
            "STRUCK_WIDTH": held.WIDTH,
            "STRUCK_PAIR": held.PAIR,
            "STRUCK_IDENTITY": held.IDENTITY,
            "STRUCK_BEFORE_ROWS": BEFORE_ROWS,
            "STRUCK_BEHIND_ROW": held.BEHIND_ROW,
            "STRUCK_CONES": held.CONES,
            "STRUCK_STRIKE": events.STRIKE,
            "STRUCK_ROOMS": events.ROOMS,
            "STRUCK_TOLERANCE": events.TOLERANCE,
            "STRUCK_ENTRIES": len(filled),
            "STRUCK_POINTERS": len(near),
            "BC_STRUCK_MEMORY": end,
        }
        numbers |= {f"STRUCK_{name}": place for name, place in HELD_AT.items()}
        return [
            _table("int", "STRUCK_AT", filled.tolist()),
            _table("long long", "STRUCK_VALUE", [loops_c.literal(int(v)) for v in memory[filled]]),
            _table("int", "STRUCK_NEAR", [place for pair in near for place in pair]),
            *(f"#define {name} {value}" for name, value in numbers.items()),
        ]


def _table(kind: str, name: str, values: Sequence[object]) -> str:
    """A constant array in C; one zero where it is empty."""
    return f"static const {kind} {name}[] = {{{', '.join(map(str, values)) or '0'}}};"


def check_coefficients(mechanism: Mechanism, inputs: Sequence[str]) -> None:
    """Raise where an input is a coefficient of a contact, which is known from one event to the next."""
    for contact in mechanism.system.contacts.values():
        for what, value in (("friction", contact.friction), ("restitution", contact.restitution)):
            for name in set(names_in(value)) & set(inputs):
                raise ModelError(
                    f"parameter {name!r} is part of the {what} of contact {contact.name!r}, which changes in events "
                    "alone; leave it a parameter"
                )


def check(mechanism: Mechanism) -> None:
    """Raise where contacts strike and neither steps are asked for nor events can be exported."""
    why = refusal(mechanism)
    if why:
        raise ModelError(
            f"{why}, which events in model exchange do not follow: give the length of steps [s], step=1e-3 or "
            "--step 1e-3, for an FMU for co-simulation that solves impacts by steps"
        )
