"""Elastic bodies as flexible members of a mechanism: reduced modes for the motion, every node of the contact zone kept.

    model = elastic.flexible_model(link, nodes={"pin": (0.0, 0.0)}, zone=lambda x: x[:, 1] < 1e-9)
    member = model.reduce(elastic.kept_zone(model, {"pin": "x y"}, count=12))
    body = system.flexible_body("link", member)
    system.revolute("pin", system.ground, body.node("pin"), axis="z")
    elastic.touch(system, "stop", body, system.ground.line())

A plane body moves in the x-y plane of the mechanism. Strains stay small, rotations may be large: they belong to the
floating frame.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from bellcrank.elastic.body import ElasticBody, Where
from bellcrank.elastic.lattices import Array, Index
from bellcrank.elastic.material import Mass
from bellcrank.elastic.stress import stress
from bellcrank.elastic.triangles import outer_triangles
from bellcrank.errors import ModelError
from bellcrank.flexible.interfaces import Region
from bellcrank.flexible.member import Member
from bellcrank.flexible.model import ElasticModel, FieldMatrix, Place
from bellcrank.flexible.modes import AttachmentModes
from bellcrank.flexible.nodal_inertia import NodalInertia, rigid_motions
from bellcrank.flexible.recovery import SPATIAL, SYMMETRIC
from bellcrank.model import checks
from bellcrank.model.contacts import Treatment

if TYPE_CHECKING:
    from bellcrank.model.bodies import Body
    from bellcrank.model.contacts import PlacedShape
    from bellcrank.model.system import System

ZONE = "zone"
"""Nodes of the contact zone are called "zone 1", "zone 2", ..."""
POINT = 1e-9
"""Radius of the shape that stands for a node, as a share of the extent of its body."""


def flexible_model(
    body: ElasticBody,
    nodes: Mapping[str, Sequence[float] | Where] | None = None,
    zone: Where | None = None,
) -> ElasticModel:
    """The body with all its freedoms, for `reduce`.

    nodes: Places for joints and forces by name: a position [m] where a node is, or a function that picks several nodes,
    whose mean motion is taken. zone: Picks the boundary nodes that may touch; each becomes a place of its own. Supports
    and the start of the body are left behind: joints and the mechanism say them.
    """
    if body.axisymmetric:
        raise ModelError(
            f"{body.name!r} is axisymmetric: only its axis could move in a mechanism; make it plane or solid"
        )
    if body.supports:
        raise ModelError(
            f"{body.name!r} has supports; a member of a mechanism is held by joints at its nodes instead"
        )
    picked = _zone(body, zone)
    if body.dimension == 3:
        return _solid(body, nodes or {}, picked)
    regions = {label: _region(body, label, which) for label, which in (nodes or {}).items()}
    regions |= {f"{ZONE} {k + 1}": np.array([node]) for k, node in enumerate(picked)}
    return _plane(body, regions)


def kept_zone(
    model: ElasticModel, interface: Mapping[str, str], count: int, directions: str = "x y z"
) -> AttachmentModes:
    """The reduction that keeps the static answer to any forces at the nodes of the contact zone.

    interface: Directions in which joints load other nodes, {"pin": "x y"}. count: Vibration modes of the free body
    beside them. directions: Of contact forces; the normal alone, such as "y", where there is no friction.
    """
    zone = zone_nodes(model)
    if not zone:
        raise ModelError(f"{model.name!r} has no contact zone; name it in elastic.flexible_model(..., zone=)")
    return AttachmentModes({**interface, **dict.fromkeys(zone, directions)}, count)


def zone_nodes(member: Any) -> list[str]:
    """Names of the nodes of the contact zone of a model or a member."""
    places = member.places if isinstance(member, ElasticModel) else member.nodes
    return [name for name in places if name.startswith(f"{ZONE} ")]


def touch(
    system: System,
    name: str,
    body: Body,
    against: PlacedShape,
    *,
    friction: Any = 0.0,
    treatment: str | Treatment = Treatment.CONTINUOUS,
    stiffer: float | None = None,
    ratio: float | None = None,
) -> list[str]:
    """Let every node of the body's contact zone touch a shape; returns the names of the contacts.

    treatment: "continuous": a node is stopped by a spring `stiffer` times (300 unless given) as stiff as the body is
    at that node, and by a damper of the damping `ratio` (0.5) for the little mass that moves with the node alone. So
    a node comes to rest on the shape within a time that is short against that of the contact, and loses no more than
    the energy of its own mass: what the compatibility of velocities, Lee (1995), (12), does in one step.

    "impulsive": the three compatibilities of Lee (1995) themselves, and nothing to choose. A node meets the shape at a
    located time (displacement), an impulse without restitution takes the speed of the mass that moves with it alone
    (velocity), and while it touches its force keeps it there, never pulling (acceleration); friction sticks or slips.
    The force of the impulse is not in the series of forces but among the impacts.
    """
    member = body.member
    if not isinstance(member, Member):
        what = "rigid" if member is None else "a rod"
        raise ModelError(f"body {body.name!r} is {what}; contact zones belong to members of finite elements")
    zone = zone_nodes(member)
    if not zone:
        raise ModelError(f"body {body.name!r} has no contact zone; make its member by elastic.flexible_model")
    who = f"contact {name!r}"
    chosen = Treatment(checks.choice(f"treatment of {who}", treatment, [t.value for t in Treatment]))
    exact = chosen is Treatment.IMPULSIVE
    if exact and not (stiffer is None and ratio is None):
        raise ModelError(
            f"{who}: `stiffer` and `ratio` are of the spring of treatment='continuous'; leave them out"
        )
    stiffer, ratio = 300.0 if stiffer is None else stiffer, 0.5 if ratio is None else ratio
    if not stiffer > 0.0 or not ratio >= 0.0:
        raise ModelError(f"{who}: `stiffer` must be positive and `ratio` not negative")
    planar = against.shape.planar
    radius = POINT * member.extent
    names = []
    for node in zone:
        at = member.node(node).position
        shape = body.circle(radius, at=at) if planar else body.sphere(radius, at=at)
        names.append(f"{name} {node.removeprefix(ZONE).strip()}")
        if exact:
            system.contact(names[-1], shape, against, restitution=0.0, friction=friction)
            continue
        k, m = _own(member, node)
        system.contact(
            names[-1], shape, against, friction=friction, treatment="continuous", law="kelvin-voigt",
            stiffness=stiffer * k, damping=2.0 * ratio * math.sqrt(stiffer * k * m),
        )  # fmt: skip
    return names


def _own(member: Member, node: str) -> tuple[float, float]:
    """Stiffness [N/m] and mass [kg] that a sudden force at a node meets, in the direction that yields most."""
    phi = member.node(node).translation
    yields = phi @ np.linalg.solve(member.stiffness, phi.T)
    moves = phi @ np.linalg.solve(member.modal_mass, phi.T) + np.eye(3) / member.mass
    return 1.0 / float(np.linalg.eigvalsh(yields)[-1]), 1.0 / float(np.linalg.eigvalsh(moves)[-1])


def _zone(body: ElasticBody, zone: Where | None) -> Index:
    if zone is None:
        return np.empty(0, dtype=np.int64)
    rim = body.surface.nodes
    picked = rim[np.flatnonzero(np.asarray(zone(body.nodes[rim]), dtype=bool))]
    if picked.size == 0:
        raise ModelError(f"the contact zone of {body.name!r} picks no boundary node; check `zone`")
    order = np.lexsort(body.nodes[picked].T[::-1])
    return np.asarray(picked[order])


def _region(body: ElasticBody, label: str, which: Sequence[float] | Where) -> Index:
    if callable(which):
        picked = np.flatnonzero(np.asarray(which(body.nodes), dtype=bool))
        if picked.size == 0:
            raise ModelError(f"node {label!r} of {body.name!r} picks no node of the mesh")
        return picked
    point = np.asarray(which, float)
    if point.shape != (body.dimension,):
        raise ModelError(f"node {label!r} of {body.name!r} needs {body.dimension} coordinates, not {which!r}")
    distance = np.linalg.norm(body.nodes - point, axis=1)
    nearest = int(distance.argmin())
    size = float(np.ptp(body.nodes, axis=0).max())
    if distance[nearest] > 1e-6 * size:
        there = ", ".join(f"{x:.6g}" for x in body.nodes[nearest])
        raise ModelError(
            f"node {label!r} of {body.name!r}: the mesh has no node at {tuple(point.tolist())}; the nearest is at "
            f"({there}); take that one, or divide the mesh so that a node comes to lie there"
        )
    return np.array([nearest])


def _solid(body: ElasticBody, nodes: Mapping[str, Any], zone: Index) -> ElasticModel:
    from bellcrank.flexible.solids import solid

    def region(which: Any) -> Region:
        return (lambda x: which(x.T)) if callable(which) else which

    interfaces: dict[str, Region] = {label: region(which) for label, which in nodes.items()}
    interfaces |= {f"{ZONE} {k + 1}": body.nodes[node] for k, node in enumerate(zone)}
    material = replace(body.material, mass_damping=0.0, stiffness_damping=0.0)
    return solid(
        body.name, body.mesh, material, interfaces, mass="lumped" if body.mass is Mass.LUMPED else "consistent",
        check_units=False,
    )  # fmt: skip


def _plane(body: ElasticBody, regions: Mapping[str, Index]) -> ElasticModel:
    x = np.column_stack([body.nodes, np.zeros(len(body.nodes))])
    lift = sp.csr_array(sp.kron(sp.eye_array(len(x)), np.eye(3)[:, :2], format="csr"))
    inertia = NodalInertia(sp.csr_array(body.mass_matrix[::2, ::2]), x, lift)
    mass, first, second = inertia.rigid_moments()
    second = second + np.diag([0.0, 0.0, mass * body.thickness**2 / 12.0])
    rigid = np.asarray(lift.T @ rigid_motions(x))
    rigid[:, [2, 3, 4]] = 0.0
    cells = outer_triangles(body)
    return ElasticModel(
        name=body.name,
        mass=mass,
        first_moment=first,
        second_moment=second,
        mass_matrix=body.mass_matrix,
        stiffness_matrix=body.stiffness_matrix,
        rigid=rigid,
        freedom_places=np.repeat(x, 2, axis=0),
        places={label: _place(body, label, nodes) for label, nodes in regions.items()},
        inertia=inertia,
        fields={
            "displacement": FieldMatrix(x, lift, SPATIAL, "m", cells),
            "stress": FieldMatrix(x, _NodalStress(body), SYMMETRIC, "Pa", cells),
        },
    )


@dataclass(frozen=True, eq=False)
class _NodalStress:
    """Stress at the nodes from displacements, as a matrix that is never formed."""

    body: ElasticBody

    def __matmul__(self, basis: Array) -> Array:
        columns = [stress(self.body, u.reshape(-1, 2)).tensor for u in basis.T]
        tensor = np.stack(columns, axis=-1)
        six = [tensor[:, i, j] for i, j in ((0, 0), (1, 1), (2, 2), (0, 1), (1, 2), (0, 2))]
        return np.stack(six, axis=1).reshape(-1, basis.shape[1])


def _place(body: ElasticBody, label: str, nodes: Index) -> Place:
    """Mean translation of the nodes, and the rotation nearest to theirs; a single node turns with its elements."""
    centre = body.nodes[nodes].mean(axis=0)
    turning = nodes
    if len(nodes) < 2:
        cells = body.fields.scalar.element_dofs
        turning = np.unique(cells[:, np.isin(cells, nodes).any(axis=0)])
    r = body.nodes[turning] - body.nodes[turning].mean(axis=0)
    unknowns = body.nodes.size
    translation = np.zeros((3, unknowns))
    for axis in range(2):
        translation[axis, 2 * nodes + axis] = 1.0 / len(nodes)
    rotation = np.zeros((3, unknowns))
    rotation[2, 2 * turning], rotation[2, 2 * turning + 1] = -r[:, 1], r[:, 0]
    rotation /= float((r**2).sum())
    return Place(label, np.append(centre, 0.0), sp.csr_array(translation), sp.csr_array(rotation))
