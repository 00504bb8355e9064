"""A mechanism in words: tree, cuts, groups, freedoms, redundant equations."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bellcrank.base.words import counted
from bellcrank.model.forces import ContactForce, FieldContact
from bellcrank.topology import describe

if TYPE_CHECKING:
    from bellcrank.mechanism.mechanism import Mechanism


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
    return list(dict.fromkeys(said))
