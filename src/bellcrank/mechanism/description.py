"""A mechanism in words: tree, cuts, groups, freedoms, redundant equations."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.linalg import inv
from numpy.typing import NDArray

from bellcrank.base.words import counted
from bellcrank.math.tuples import UNIT, ZERO
from bellcrank.model.forces import ContactForce, FieldContact
from bellcrank.model.joints.free import Free
from bellcrank.model.joints.joint import SHIFTS, Zero
from bellcrank.topology import describe

if TYPE_CHECKING:
    from bellcrank.mechanism.mechanism import Mechanism

Array = NDArray[np.float64]

NOTHING = 1e-12
"""Coordinates [m or rad] below this are rounding of a pose that is described as zero."""


MOVED = 1e-9
"""Moves [rad, or over the size of the mechanism] below this are those of a description rounded to nine digits."""


def describe_mechanism(mechanism: Mechanism) -> str:
    """A plain-text report."""
    linkage = mechanism.linkage
    more = mechanism.position_freedoms - mechanism.degrees_of_freedom
    besides = (
        f" ({mechanism.position_freedoms} of positions: {more} equations are of velocities alone)"
        if more
        else ""
    )
    lines = [
        f"{mechanism.system.name}: {counted(len(mechanism.system.bodies), 'body', 'bodies')}, "
        f"{counted(mechanism.coordinates, 'coordinate')}, {counted(mechanism.constraints, 'constraint equation')} "
        f"({len(mechanism.dropped)} redundant), "
        f"{counted(mechanism.degrees_of_freedom, 'degree of freedom', 'degrees of freedom')}{besides}",
        "",
        describe(mechanism.tree),
        "",
        "groups",
    ]
    # Nodes of flexible bodies are links of their own, but nothing is solved there.
    solved = [g for g in mechanism.groups if any(linkage.links[k].own_speeds for k in g.links)]
    for n, group in enumerate(solved):
        bodies = list(dict.fromkeys(linkage.links[k].name for k in group.links))
        closed = [mechanism.mechanics.constraints[c].what for c in group.constraints]
        driven = list(dict.fromkeys(linkage.links[k].name for k in group.inputs))
        text = f"  {n + 1}. {', '.join(bodies)}"
        text += f"; closed by {', '.join(closed)}" if closed else ""
        text += f"; driven by {', '.join(driven)}" if driven else ""
        lines.append(text)
    names = mechanism.speed_names
    lines += ["", "independent speeds: " + ", ".join(names[i] for i in mechanism.partition.independent)]
    if mechanism.system.zero is Zero.DESCRIBED:
        lines += ["", "all coordinates count from the described pose"]
    offsets = described_coordinates(mechanism)
    if offsets:
        lines += ["", "coordinates that are not zero in the described pose:"]
        lines += [f"  {name} = {value:.6g} {unit}: {why}" for name, value, unit, why in offsets]
    bodies_moved = moved_bodies(mechanism)
    if bodies_moved:
        lines += ["", "put elsewhere than described by joints whose frames lie apart:"]
        lines += [f"  {name} by {far:.6g} m and {turned:.6g} rad" for name, far, turned in bodies_moved]
    moved = moved_coordinates(mechanism)
    if moved:
        lines += ["", "moved from the described pose at the start:"]
        lines += [f"  {name} from {before:.6g} to {start:.6g} {unit}" for name, before, start, unit in moved]
    if mechanism.dropped:
        lines += ["", "redundant equations, dropped (their share of reactions is not determined):"]
        lines += [f"  {name}" for name in mechanism.redundant]
    methods = contact_methods(mechanism)
    if methods:
        lines += ["", "continuous contacts:", *(f"  {name}: {how}, law {law}" for name, how, law in methods)]
    notes = _notes(mechanism)
    if notes:
        lines += ["", "notes:", *(f"  {note}" for note in notes)]
    return "\n".join(lines)


def described_coordinates(mechanism: Mechanism) -> list[tuple[str, float, str, str]]:
    """Joint coordinates that are not zero in the pose in which the bodies are described: value, unit, and why.

    The place of a free body is meant to be a place, and is not among them.
    """
    found = []
    for joint in mechanism.system.joints.values():
        if not joint.in_tree or isinstance(joint, Free):
            continue
        values = dict(zip(joint.coordinates, joint.start_coordinates(), strict=True))
        for name in joint.scalar_coordinates:
            if abs(values[name]) > NOTHING:
                unit, counts = ("m", "points") if name in SHIFTS else ("rad", "axes")
                why = f"it counts from where the {counts} of its two frames coincide"
                found.append((f"{joint.name}.{name}", values[name], unit, why))
    return found


def moved_coordinates(mechanism: Mechanism) -> list[tuple[str, float, float, str]]:
    """Joint coordinates that start elsewhere than described: name, value there and at the start, unit.

    Loops were closed, drivers begin there, or start values were given. Less than the tolerance of the assembly is none.
    """
    found = []
    for joint in mechanism.system.joints.values():
        if not joint.in_tree or isinstance(joint, Free):
            continue
        described = dict(zip(joint.coordinates, joint.start_coordinates(), strict=True))
        links = {x.coordinates[0]: x for x in mechanism.linkage.links if x.joint == joint.name}
        for name in joint.scalar_coordinates:
            if name in links:
                start = float(mechanism.start.q[links[name].q])
                size = mechanism.length_scale if name in SHIFTS else 1.0
                if abs(start - described[name]) > MOVED * size:
                    unit = "m" if name in SHIFTS else "rad"
                    found.append((f"{joint.name}.{name}", described[name], start, unit))
    return found


def moved_bodies(mechanism: Mechanism) -> list[tuple[str, float, float]]:
    """Bodies that joints of the tree put elsewhere than described: name, how far [m], how far turned [rad].

    So it is where no motion of a joint takes one of its frames to the other as they are described. A body described at
    the origin is left out: joints between frames alone may be meant to place it.
    """
    found = []
    moves = {mechanism.system.ground.name: np.eye(4)}
    for link in mechanism.tree.links:
        joint, body = link.joint, link.body
        near = _motion(joint.a.start_position(), joint.a.start_rotation())
        described, joined = _motion(*joint.start_relation()), _motion(*joint.joined_relation())
        # Of the world, which takes frame b to where the joint holds it, or frame a.
        move = near @ joined @ inv(near @ described)
        moves[body.name] = moves[link.parent.name] @ (move if link.forward else inv(move))
        before = _motion(np.array(body.position), body.start_rotation())
        after = moves[body.name] @ before
        far = float(np.linalg.norm(after[:3, 3] - before[:3, 3]))
        # Of two rotations that differ by an angle a the difference has the norm 2 sqrt(2) sin(a / 2).
        differ = np.linalg.norm(after[:3, :3] - before[:3, :3]) / np.sqrt(8.0)
        turned = 2.0 * float(np.arcsin(min(differ, 1.0)))
        said = body.position != ZERO or body.rotation != UNIT
        if said and (far > MOVED * mechanism.length_scale or turned > MOVED):
            found.append((body.name, far, turned))
    return found


def _motion(position: Array, rotation: Array) -> Array:
    """As a matrix (4, 4)."""
    made = np.eye(4)
    made[:3, :3], made[:3, 3] = rotation, position
    return made


def contact_methods(mechanism: Mechanism) -> list[tuple[str, str, str]]:
    """Each continuous contact: its name, how it is found, and by which law it presses."""
    found = []
    for f in mechanism.system.forces.values():
        if isinstance(f, FieldContact):
            found.append((f.name, "fields of depth", str(f.field_law)))
        elif isinstance(f, ContactForce):
            found.append((f.name, "closest points", str(f.law)))
    return found


def _notes(mechanism: Mechanism) -> list[str]:
    """What contacts are not exactly as they were given, each once."""
    pressing = [f.contact for f in mechanism.system.forces.values() if isinstance(f, ContactForce)]
    said = [note for contact in (*pressing, *mechanism.system.contacts.values()) for note in contact.notes]
    return [*dict.fromkeys(said), *_load_notes(mechanism)]


def _load_notes(mechanism: Mechanism) -> list[str]:
    """What is not known of loads that follow reactions."""
    system, found = mechanism.system, []
    names = [name for name, state in system.states.items() if state.follows is not None]
    if names and system.strikes:
        found.append(
            f"{names[0]}: friction by reaction acts between impacts; what a joint takes in one causes no friction"
        )
    if names and mechanism.dropped:
        equations = len(mechanism.dropped)
        found.append(
            f"{names[0]}: {equations} redundant equation{'s' if equations > 1 else ''} carry nothing here, though "
            "they may bear a part of what joints carry; free the joints that share a load to know the friction"
        )
    return found
