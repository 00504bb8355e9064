"""Flexible bodies over time: displacement, strain and stress fields, and the deformed shape in world axes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bellcrank.errors import ModelError, unknown_name
from bellcrank.quantities.node_fields import near_node
from bellcrank.result.series import Series

if TYPE_CHECKING:
    from bellcrank.flexible.member import FlexibleMember
    from bellcrank.flexible.recovery import Field
    from bellcrank.result.result import Result

Array = NDArray[np.float64]
Integers = NDArray[np.int64]


def member_of(result: Result, body: str) -> FlexibleMember:
    """The member of a flexible body."""
    bodies = result.mechanism.system.bodies
    if body not in bodies:
        raise unknown_name("body", body, bodies)
    member = bodies[body].member
    if member is None:
        flexible = [name for name, b in bodies.items() if b.member is not None]
        known = f"flexible bodies here: {', '.join(flexible)}" if flexible else "no body here is flexible"
        raise ModelError(f"body {body!r} is rigid and has no fields; {known}")
    return member


def field_of(member: FlexibleMember, name: str) -> Field:
    """A field of a member by name."""
    if name not in member.fields:
        raise unknown_name(f"field of member {member.name!r}", name, member.fields)
    return member.fields[name]


def field(result: Result, body: str, name: str) -> Series:
    """See :meth:`bellcrank.result.result.Result.field`."""
    found = field_of(member_of(result, body), name)
    return Series(found.of(result[f"{body}.modes"].to_numpy()), result.time, f"{body}.{name}", found.unit)


def history(result: Result, body: str, name: str, point: Any, component: str) -> Series:
    """See :meth:`bellcrank.result.result.Result.history`."""
    member = member_of(result, body)
    found = field_of(member, name)
    eta = result[f"{body}.modes"].to_numpy()
    if component not in found.components:
        raise unknown_name(f"component of {found.name}", component, found.components)
    near = near_node(found, member.node(point).position) if isinstance(point, str) else [found.nearest(point)]
    candidates = eta @ found.values[near, found.components.index(component)].T
    values = candidates[:, int(np.abs(candidates).max(axis=0, initial=0.0).argmax())]
    label = point if isinstance(point, str) else "(" + ", ".join(f"{float(x):g}" for x in point) + ")"
    return Series(values, result.time, f"{body}.{label}.{name}.{component}", found.unit)


def deformed(result: Result, body: str, magnified: float = 1.0) -> tuple[Array, Integers]:
    """See :meth:`bellcrank.result.result.Result.deformed`."""
    member = member_of(result, body)
    points, cells = member.drawn_points, member.drawn_cells
    moved = member.drawn(result[f"{body}.modes"].to_numpy())
    shown = points + magnified * (moved - points)
    position, rotation = (s.to_numpy() for s in result.compute([f"{body}.position", f"{body}.rotation"]))
    return np.einsum("tij,tpj->tpi", rotation, shown) + position[:, None], cells


def edges_of(cells: Integers) -> Integers:
    """Edges between points, (m, 2), of lines, triangles, tetrahedra or hexahedra, each once."""
    corners = cells.shape[1] if cells.ndim == 2 else 0
    pairs = {
        2: [(0, 1)],
        3: [(0, 1), (1, 2), (0, 2)],
        4: [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)],
        # scikit-fem's hexahedron: the corners that differ in one coordinate.
        8: [(0, 1), (0, 2), (0, 3), (1, 4), (1, 5), (2, 4), (2, 6), (3, 5), (3, 6), (4, 7), (5, 7), (6, 7)],
    }.get(corners, [])
    if not pairs:
        return np.zeros((0, 2), dtype=np.int64)
    every = np.concatenate([cells[:, list(pair)] for pair in pairs])
    return np.asarray(np.unique(np.sort(every, axis=1), axis=0), dtype=np.int64)
