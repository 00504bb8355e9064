"""Contact patches over the outputs of a result: wet triangles with their pressure, in world axes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bellcrank.contact.patch import Patch, patch
from bellcrank.contact.shapes.base import with_values
from bellcrank.contact.skin import SkinShape
from bellcrank.errors import ModelError, unknown_name
from bellcrank.mechanics.pressing import Pressing
from bellcrank.model.forces import ContactForce, FieldContact
from bellcrank.model.parameters import value

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bellcrank.result.result import Result


EVERY = slice(None)


def patches(result: Result, name: str, rows: slice = EVERY) -> Iterator[Patch]:
    """The patch of a contact by fields at each of some outputs, empty while the bodies are apart."""
    force = _found(result, name)
    s = result.quantities.s
    placed = Pressing.of(force, s.linkage, s.kin)
    base = s.kin.pose(placed.pair.base)
    frames = [(base.R, base.p), *(placed.seen(side) for side in (placed.pair.a, placed.pair.b))]
    traced = [x for R, p in frames for x in (*(x for row in R for x in row), *p)]
    values = dict(zip(result.mechanism.system.parameters, result.parameters[rows][0].tolist(), strict=True))
    a, b = (
        with_values(side.shape, lambda size: value(size, values))
        for side in (force.contact.a, force.contact.b)
    )
    members = [
        (side.shape, side.frame.body.member, result[f"{side.frame.body.name}.modes"].to_numpy()[rows])
        if isinstance(side.shape, SkinShape)
        else None
        for side in (force.contact.a, force.contact.b)
    ]
    for k, row in enumerate(result.on_states([*traced, placed.stiffness, placed.load])[:, rows].T):
        stiffness, load = float(row[-2]), float(row[-1])
        if load == 0.0:
            yield Patch(np.zeros((0, 3, 3)), np.zeros((0, 3)))
            continue
        (R, p), (R_a, p_a), (R_b, p_b) = ((x[:9].reshape(3, 3), x[9:]) for x in row[:-2].reshape(3, 12))
        bent = [None if m is None else m[0].deformed(m[1], m[2][k]) for m in members]
        found = patch(a, b, force.field_law, stiffness, R_a.T @ (p_b - p_a), R_a.T @ R_b, bent)
        yield Patch((found.corners @ R_a.T + p_a) @ R.T + p, found.pressure)


def _found(result: Result, name: str) -> FieldContact:
    system = result.mechanism.system
    fields = [n for n, f in system.forces.items() if isinstance(f, FieldContact)]
    if name in fields:
        found = system.forces[name]
        assert isinstance(found, FieldContact)
        return found
    known = f"contacts by fields here: {', '.join(fields)}" if fields else "no contact here acts by fields"
    points = isinstance(system.forces.get(name), ContactForce) or name in system.contacts
    if points:
        raise ModelError(f"contact {name!r} acts at a point and has no patch; {known}")
    raise unknown_name("contact by fields", name, fields)
