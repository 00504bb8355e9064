"""What a step needs of bodies and shapes: programs that grow with the bodies, and one for each kind of pair.

:class:`Placed` gives mass matrix, poses and velocities of all frames that carry shapes. :class:`Meeting` gives the
closest points of a pair of shapes from their two poses; pairs of equal shapes share it.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import fields, is_dataclass, replace
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from bellcrank.contact.closest import Closest, closest
from bellcrank.contact.shapes import HalfPlane, Plane, Shape, Stop
from bellcrank.formulations.equations import Mechanics
from bellcrank.formulations.loops import Loops, Partition
from bellcrank.math.tuples import ZERO, Mat, Vec, add, dot, mat, matmul, times, vec
from bellcrank.mechanics.constraints import Equation, Marker, over_speeds, twist_columns
from bellcrank.mechanics.contacts import ContactPair, with_turns
from bellcrank.mechanics.dynamics import mass_matrix
from bellcrank.mechanics.kinematics import Kinematics
from bellcrank.mechanics.links import GROUND
from bellcrank.mechanics.numbers import Traced
from bellcrank.program.graph import Graph
from bellcrank.program.kernel import Kernel, compile_program
from bellcrank.program.program import Program
from bellcrank.program.trace import Expr, Scalar

Array = NDArray[np.float64]
Index = NDArray[np.int64]

POSE = 12
"""Rotation by rows, then the origin."""
TWIST = 6
"""Angular velocity, then that of the origin."""
SPOT = 10
"""Distance, normal from a to b, and the points on a and b."""
AXES: tuple[Vec, Vec, Vec] = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))


class Placed:
    """Reduced mass matrix, and pose, drift and twist rows of frames in world axes, in one partition, compiled.

    mass: Place (row, column) of each entry, below and on the diagonal. first: Where the block of each frame begins:
    pose, drift of its twist, then the entries of its rows. twists: Component and speed of each entry, those of a frame
    from `begin` on. turned: Where the counted angle of each of the pairs is, -1 of those without. laws: Where numbers
    of laws are that parameters give.
    """

    def __init__(
        self,
        mechanics: Mechanics,
        partition: Partition,
        frames: Sequence[Marker],
        pairs: Sequence[ContactPair] = (),
        laws: Sequence[Scalar] = (),
    ) -> None:
        self.partition, self.n = partition, len(partition.independent)
        graph = Graph()
        t = graph.input("t.")
        q = mechanics.linkage.position_inputs(graph)
        v = {i: graph.input(f"u.{i}") for i in partition.independent}
        parameters = [graph.input(name) for name in mechanics.parameters]
        kin = Kinematics(mechanics.linkage, q, Traced(graph))
        loops = Loops(kin, mechanics.constraints, partition, t)
        kin.set_speeds(loops.speeds(v))
        M = mass_matrix(kin, mechanics.inertias, loops.columns())
        outputs: list[Scalar] = list(M.values())
        self.mass: Index = np.array(list(M), np.int64).reshape(-1, 2)
        place = {i: k for k, i in enumerate(partition.independent)}
        first, begin, twists = [], [0], list[tuple[int, int]]()
        for frame in frames:
            first.append(len(outputs))
            pose = kin.pose(frame.link)
            R: Mat = (kin.vector(frame.R[0]), kin.vector(frame.R[1]), kin.vector(frame.R[2]))
            R, p = matmul(pose.R, R), add(pose.p, times(pose.R, kin.vector(frame.p)))
            outputs += [*R[0], *R[1], *R[2], *p]
            drifts, entries = _twist(kin, loops, frame.link, p, place)
            outputs += [*drifts, *(x for _, x in entries)]
            twists += [where for where, _ in entries]
            begin.append(len(twists))
        self.turned: list[int] = []
        for pair in pairs:
            angle = pair.turned(kin)
            self.turned.append(-1 if angle is None else len(outputs))
            outputs += [] if angle is None else [angle]
        self.laws = len(outputs)
        outputs += [kin.number(x) for x in laws]
        self.first: Index = np.array(first, np.int64)
        self.begin: Index = np.array(begin, np.int64)
        self.twists: Index = np.array(twists, np.int64).reshape(-1, 2)
        self.program = Program.of([t, *q, *v.values(), *parameters], outputs, "frames of contacts")
        self.kernel: Kernel = compile_program(self.program)

    def nodes(self) -> list[Index]:
        """Speeds that the mass matrix or a frame couples, set by set."""
        parent = list(range(self.n))

        def root(i: int) -> int:
            while parent[i] != i:
                parent[i] = parent[parent[i]]
                i = parent[i]
            return i

        for i, j in self.mass.tolist():
            parent[root(i)] = root(j)
        for k in range(len(self.first)):
            moving = self.twists[self.begin[k] : self.begin[k + 1], 1].tolist()
            for i in moving[1:]:
                parent[root(i)] = root(moving[0])
        found: dict[int, list[int]] = {}
        for i in range(self.n):
            found.setdefault(root(i), []).append(i)
        return [np.array(group, np.int64) for group in found.values()]


def _twist(
    kin: Kinematics, loops: Loops, link: int, point: Vec, place: dict[int, int]
) -> tuple[list[Scalar], list[tuple[tuple[int, int], Scalar]]]:
    """Drift of the six components of a twist, and their entries over the independent speeds."""
    columns = {k: twist_columns(kin, k, GROUND, point) for k in kin.linkage.path(link)}
    drifts: list[Scalar] = []
    entries: list[tuple[tuple[int, int], Scalar]] = []
    for component in range(TWIST):
        d, part = AXES[component % 3], component // 3
        row = {k: tuple(dot(d, twist[part]) for twist in of) for k, of in columns.items()}
        found: dict[int, Scalar] = {}
        drift: Scalar = 0.0
        for i, entry in over_speeds(kin, Equation(0.0, row, GROUND, on_b=(ZERO, d))).items():
            if i in place:
                found[place[i]] = found.get(place[i], 0.0) + entry
                continue
            for j, x in loops.B[i].items():
                found[place[j]] = found.get(place[j], 0.0) + entry * x
            drift = drift + entry * loops.b[i]
        drifts.append(drift)
        entries += [((component, j), x) for j, x in found.items()]
    return drifts, entries


class Meeting:
    """Closest points of a pair of shapes at all their spots from the poses of both, compiled.

    warm: Numbers behind the poses in which a search keeps where it begins. sizes: Inputs that the shapes are made of,
    behind the poses. counted: Whether the angle of a stop, counted over all turns, stands there.
    """

    def __init__(
        self,
        spots: Sequence[tuple[Shape, Shape]],
        warm: int,
        sizes: Sequence[Expr] = (),
        counted: bool = False,
    ) -> None:
        graph = sizes[0].graph if sizes else Graph()
        x = [graph.input(f"x.{i}") for i in range(2 * POSE)]
        memory = [graph.input(f"warm.{i}") for i in range(warm * len(spots))]
        angle = [graph.input("angle.")] if counted else []
        R_a, p_a = mat([x[0:3], x[3:6], x[6:9]]), vec(x[9:12])
        R_b, p_b = mat([x[12:15], x[15:18], x[18:21]]), vec(x[21:24])
        outputs: list[Scalar] = []
        for k, (a, b) in enumerate(spots):
            cells = memory[warm * k : warm * (k + 1)]
            found: Closest = closest(a, R_a, p_a, b, R_b, p_b, memory=cells)
            if counted and isinstance(a, Stop):
                found = with_turns(a, found, angle[0])
            outputs += [found.distance, *found.normal, *found.point_a, *found.point_b]
        inputs = [*x, *sizes, *angle, *memory]
        self.spots, self.inputs = len(spots), len(inputs)
        self.program = Program.of(inputs, outputs, "closest points")
        self.kernel: Kernel = compile_program(self.program)


def shape_key(shape: Any) -> Hashable:
    """Equal for shapes that are described alike; those of data are known by themselves."""
    if isinstance(shape, float | int | str | bool | None):
        return shape
    if isinstance(shape, tuple):
        return tuple(shape_key(x) for x in shape)
    if isinstance(shape, Shape) and is_dataclass(shape):
        return type(shape), tuple(shape_key(getattr(shape, f.name)) for f in fields(shape))
    return id(shape)


def sizes_of(shape: Shape) -> dict[str, float]:
    """The numbers that make a shape what it is, where these are all: shapes that differ in them are alike."""
    if not is_dataclass(shape):
        return {}
    values = {f.name: getattr(shape, f.name) for f in fields(shape) if getattr(shape, f.name) is not None}
    plain = all(isinstance(x, float | int) and not isinstance(x, bool) for x in values.values())
    return {name: float(x) for name, x in values.items()} if plain else {}


def kind_of(shape: Shape) -> Hashable:
    """Equal for shapes that are alike but for their sizes."""
    sizes = sizes_of(shape)
    return (type(shape), tuple(sizes)) if sizes else shape_key(shape)


def open_shape(graph: Graph, prefix: str, shape: Shape) -> tuple[Shape, list[Expr]]:
    """A shape whose sizes are inputs, and these."""
    inputs = {name: graph.input(f"{prefix}.{name}") for name in sizes_of(shape)}
    return (replace(cast("Any", shape), **inputs) if inputs else shape), list(inputs.values())


def flat_axis(shape: Shape) -> int:
    """The axis of its frame along which the normal of an endless plane points; -1 of other shapes."""
    if not isinstance(shape, Plane):
        return -1
    return 1 if isinstance(shape, HalfPlane) else 2


__all__ = [
    "POSE",
    "SPOT",
    "TWIST",
    "Meeting",
    "Placed",
    "flat_axis",
    "kind_of",
    "open_shape",
    "shape_key",
    "sizes_of",
]
