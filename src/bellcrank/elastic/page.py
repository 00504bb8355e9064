"""An animation of elastic bodies as one HTML file: deformed bodies in stress colours, obstacles, curves."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from bellcrank.elastic.body import ElasticBody
from bellcrank.elastic.lattices import Array
from bellcrank.elastic.obstacles import Obstacle, RigidPlane, RigidSphere
from bellcrank.elastic.pages import shown
from bellcrank.elastic.triangles import outer_triangles, rim
from bellcrank.view.animation import page_data
from bellcrank.view.pages import animation, counted
from bellcrank.view.placing import GROUND
from bellcrank.view.scene import GROUND_COLOUR, Deforming, Scene, colour_of
from bellcrank.view.shapes import Solid, ball, box, plate, polygons

if TYPE_CHECKING:
    from bellcrank.elastic.result import ElasticResult

FRAMES = 120
POINTS = 1200
CELLS = {2: 80, 3: 24}
"""Along each side of the grid on which an obstacle without a simple form is looked for."""
ONTO = 3
"""Steps from the grid onto the surface; its distance is of first order."""
DEPTH = 0.08
"""Of the ribbon such an obstacle is in the plane, as a share of the size of the bodies."""


def page(result: ElasticResult, quantities: Sequence[str] | None = None, magnified: float = 1.0) -> str:
    """The text of the page."""
    nodes = sum(len(body.nodes) for body in result.bodies)
    subtitle = (
        f"{counted(len(result.bodies), 'elastic body', 'elastic bodies')}, {nodes:,} nodes, "
        f"{result.time[0]:g} to {result.time[-1]:g} s"
    )
    drawn, curves = scene(result, FRAMES, magnified), shown(result, quantities, POINTS)
    return animation(result.name, subtitle, page_data(drawn, result.time, curves, stress="von Mises stress"))


def scene(result: ElasticResult, frames: int, magnified: float = 1.0) -> Scene:
    """What is drawn, over at most so many of the kept times."""
    kept = np.unique(np.linspace(0, len(result.frame_times) - 1, frames).round().astype(int)).tolist()
    solid = result.bodies[0].dimension == 3
    centres = np.zeros((len(kept), len(result.bodies), 3))
    deforming = []
    for k, body in enumerate(result.bodies):
        deforming.append(_deforming(result, body, k, kept, magnified))
        centres[:, k] = deforming[-1].points.mean(axis=1)
    size = float(max(np.ptp(d.points[0], axis=0).max() for d in deforming))
    up, view = np.array([0.0, 1.0, 0.0]), np.array([0.0, 0.0, 1.0])
    if solid:
        up, view = np.array([0.0, 0.0, 1.0]), np.array([0.3, -0.9, 0.3]) / np.linalg.norm([0.3, -0.9, 0.3])
    names = [body.name for body in result.bodies]
    solids, positions = [], [centres]
    for label, met, drawn in _obstacles(result, deforming, size):
        number = GROUND
        travels = np.array(
            [met.travel(float(t), result.bodies[0].dimension) for t in result.frame_times[kept]]
        )
        if np.any(travels):
            number = len(names)
            names.append(label)
            moved = np.zeros((len(kept), 1, 3))
            moved[:, 0, : travels.shape[1]] = travels
            positions.append(moved)
        solids += [(number, s) for s in drawn]
    still = np.zeros((len(kept), len(names), 4))
    still[..., 0] = 1.0
    return Scene(
        tuple(names),
        tuple(solids),
        (),
        result.frame_times[kept],
        np.concatenate(positions, axis=1),
        still,
        np.ones(still.shape[:2]),
        up,
        view,
        size,
        not solid,
        tuple(deforming),
    )


def _deforming(
    result: ElasticResult, body: ElasticBody, number: int, kept: Sequence[int], magnified: float
) -> Deforming:
    d = body.dimension
    faces = outer_triangles(body)
    used, renumbered = np.unique(faces, return_inverse=True)
    points = np.zeros((len(kept), len(used), 3))
    stress = np.zeros((len(kept), len(used)))
    for row, frame in enumerate(kept):
        u = result.displacement(frame, body.name)
        mean = body.node_masses @ u / body.total_mass
        if body.axisymmetric:
            mean[0] = 0.0
        points[row, :, :d] = (body.nodes + mean + magnified * (u - mean))[used]
        stress[row] = result.stress(frame, body.name).von_mises[used]
    triangles = renumbered.reshape(-1, 3)
    place = np.full(len(body.nodes), -1)
    place[used] = np.arange(len(used))
    lines = place[rim(body)] if d == 2 else np.zeros((0, 2), dtype=np.int64)
    if body.axisymmetric:
        mirrored = points * np.array([-1.0, 1.0, 1.0])
        points, stress = np.concatenate([points, mirrored], axis=1), np.tile(stress, 2)
        triangles = np.vstack([triangles, triangles + len(used)])
        lines = np.vstack([lines, lines + len(used)])
    return Deforming(number, points, lines, colour_of(number), 0.0, triangles, stress)


def _obstacles(
    result: ElasticResult, bodies: Sequence[Deforming], size: float
) -> Iterator[tuple[str, Obstacle, list[Solid]]]:
    """Names, obstacles and what is seen of them at the start."""
    everything = np.vstack([d.points.reshape(-1, 3) for d in bodies])
    seen: set[int] = set()
    for name, contact in zip(result.contact_names, result.contacts, strict=True):
        met = contact.against
        if isinstance(met, Obstacle) and id(met) not in seen:
            seen.add(id(met))
            yield name, met, list(_obstacle(met, result.bodies[0].dimension, everything, size))


def _obstacle(met: Obstacle, d: int, everything: Array, size: float) -> Iterator[Solid]:
    if isinstance(met, RigidPlane):
        n = np.zeros(3)
        n[:d] = np.asarray(met.normal, float) / np.linalg.norm(met.normal)
        at = np.zeros(3)
        at[:d] = met.point
        middle = everything.mean(axis=0)
        middle = middle - n * float((middle - at) @ n)
        across = np.linalg.svd(n[None])[2][1:]
        depth = 0.04 * size
        reach = 1.3 * size
        axes = np.column_stack([across[0], across[1], n])
        yield box(middle - 0.5 * depth * n, axes, (reach, reach if d == 3 else depth, depth), GROUND_COLOUR)
    elif isinstance(met, RigidSphere) and not met.hollow and met.radius < 20.0 * size:
        centre = np.zeros(3)
        centre[:d] = met.centre
        if d == 3:
            yield ball(centre, met.radius, GROUND_COLOUR, 25)
            return
        turn = np.linspace(0.0, 2.0 * np.pi, 120, endpoint=False)
        ring = centre + met.radius * np.column_stack([np.cos(turn), np.sin(turn), np.zeros(120)])
        near = ring[np.linalg.norm(ring - everything.mean(axis=0), axis=1) < 3.0 * size + met.radius]
        yield plate(near, np.array([0.0, 0.0, 1.0]), 0.01 * size, GROUND_COLOUR)
    else:
        yield from _surface(met, d, everything, size)


def _surface(met: Obstacle, d: int, everything: Array, size: float) -> Iterator[Solid]:
    """Any other obstacle near the bodies, where its distance changes sign: a ribbon in the plane, else a skin."""
    low, high = everything.min(axis=0)[:d] - 0.3 * size, everything.max(axis=0)[:d] + 0.3 * size
    count = CELLS[d]
    axes = [np.linspace(a, b, count) for a, b in zip(low, high, strict=True)]
    grid = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1)
    inside = np.asarray(met.distance(grid.reshape(-1, d))[0]).reshape(grid.shape[:-1]) < 0.0
    corners: list[Array] = []
    thick = np.array([0.0, 0.0, 0.5 * DEPTH * size])
    for axis in range(d):
        # Where two neighbours lie on different sides, the wall between them is seen, drawn onto the surface.
        other = np.flatnonzero(np.arange(d) != axis)
        first = np.moveaxis(inside, axis, 0)
        for crossing in np.argwhere(first[1:] != first[:-1]):
            cell = np.insert(crossing[1:], axis, crossing[0])
            middle = np.array([axes[k][cell[k]] for k in range(d)])
            middle[axis] += 0.5 * (axes[axis][1] - axes[axis][0])
            half = [0.5 * (axes[k][1] - axes[k][0]) * np.eye(d)[k] for k in other]
            signs = ((-1,), (1,)) if d == 2 else ((-1, -1), (1, -1), (1, 1), (-1, 1))
            ring = np.array([middle + sum(s * h for s, h in zip(sign, half, strict=True)) for sign in signs])
            for _ in range(ONTO):
                distance, normal = met.distance(ring)
                ring = ring - distance[:, None] * normal
            flat = np.zeros((len(ring), 3))
            flat[:, :d] = ring
            corners.append(
                flat
                if d == 3
                else np.array([flat[0] - thick, flat[1] - thick, flat[1] + thick, flat[0] + thick])
            )
    if corners:
        faces = polygons([(4 * k, 4 * k + 1, 4 * k + 2, 4 * k + 3) for k in range(len(corners))])
        yield Solid(np.vstack(corners), faces, GROUND_COLOUR, sharp=False)
