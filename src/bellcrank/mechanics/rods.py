"""Rods in strain coordinates as links of the recursion; the loops over their slices are routines of the program."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from bellcrank.math.rotations import Symmetric
from bellcrank.math.tuples import UNIT, ZERO, Mat, Vec, add, cross, neg, sub, times, transpose
from bellcrank.mechanics.flexible import DeformedMember, FrameMotion, MemberShape, MovedNode, NodePlace
from bellcrank.mechanics.inertia import Inertia
from bellcrank.mechanics.kinematics import summed
from bellcrank.program.loops import Routine
from bellcrank.program.trace import Expr, Scalar

if TYPE_CHECKING:
    from bellcrank.flexible.rod_motion import RodRoutines
    from bellcrank.flexible.rods import Rod, Station

PLANAR = 3
"""Numbers of a screw in the plane."""
START = 1e-12
"""Share of the length within which a station is the start itself, which no coordinate moves."""


@dataclass(frozen=True, eq=False)
class RodShape(MemberShape):
    """A rod; its frame is that of the section at its start.

    loops: Its routines, those in the plane if its coordinates do not leave it. spatial: Those for a frame that does.
    walk: Gives its weights, and its stations in one go.
    """

    loops: RodRoutines
    spatial: RodRoutines
    walk: Routine

    @staticmethod
    def of(rod: Rod, walk: Routine) -> RodShape:
        """From the description."""
        # What couples coordinates by rounding alone is dropped, so that it folds.
        own = abs(rod.stiffness.diagonal()) ** 0.5
        level = 1e-14 * own[:, None] * own[None, :]

        def numbers(matrix: Any) -> tuple[tuple[float, ...], ...]:
            kept = matrix * (abs(rod.stiffness) > level)
            return tuple(tuple(float(x) for x in row) for row in kept)

        stiffness, damping = numbers(rod.stiffness), numbers(rod.damping)
        return RodShape(rod.modes, rod.mass, stiffness, damping, rod.loops, rod.routines, walk)

    @property
    def has_constant_masses(self) -> bool:
        """They change as the rod bends."""
        return False

    def deformed(self, eta: Sequence[Scalar]) -> BentRod:
        """The rod at strain coordinates eta."""
        return BentRod(self, eta)


class BentRod(DeformedMember):
    """A rod's inertia and forces at strain coordinates eta."""

    shape: RodShape

    def __init__(self, shape: RodShape, eta: Sequence[Scalar]) -> None:
        self.shape, self.eta = shape, tuple(eta)

    @cached_property
    def _inertia(self) -> list[Scalar]:
        found: list[Scalar] = self.shape.walk(self.eta)[1]
        return found

    @cached_property
    def P(self) -> Sequence[tuple[Vec, Vec]]:  # type: ignore[override]
        """Momentum of a unit rate of each coordinate on the frame."""
        own = self.shape.loops
        return [_screw(self._inertia, own.moments + own.width * k, own.width) for k in range(own.n)]

    def inertia(self) -> Inertia:
        """The rod as if frozen in its present shape."""
        found: Sequence[Scalar] = self._inertia[: self.shape.loops.moments]
        if self.shape.loops.width == PLANAR:
            found = (*found[:2], 0.0, *found[2:], 0.0, 0.0)
        J: Symmetric = (found[3], found[4], found[5], found[6], found[7], found[8])
        return Inertia(self.shape.mass, _three(found, 0), J)

    def modal_mass(self, k: int, j: int) -> Scalar:
        """m_kj."""
        own = self.shape.loops
        row, column = max(k, j), min(k, j)
        return self._inertia[own.masses + row * (row + 1) // 2 + column]

    def force(
        self, motion: FrameMotion, rates: Sequence[Scalar], accelerations: Sequence[Scalar]
    ) -> tuple[tuple[Vec, Vec], list[Scalar]]:
        """Wrench on the frame, and forces on the coordinates, by the recursion along the slices."""
        loops = self.shape.loops
        start: tuple[Scalar, ...] = (motion.w[2], 0.0, 0.0, motion.alpha[2], *motion.a[:2])
        leaving = (*motion.w[:2], *motion.alpha[:2], motion.a[2])
        if loops.width != PLANAR or any(isinstance(x, Expr) or x != 0.0 for x in leaving):
            loops = self.shape.spatial
            start = (*motion.w, 0.0, 0.0, 0.0, *motion.alpha, *motion.a)
        found = loops.forces(self.eta, tuple(rates), tuple(accelerations), start)[1]
        return _screw(found, 0, loops.width), list(found[loops.width :])


@dataclass(frozen=True, eq=False)
class RodStations:
    """The stations of a rod that are in use, sorted along the arc; found together, in one call.

    first: Where their results begin among those of `poses`.
    """

    loops: RodRoutines
    poses: Routine
    first: int
    biases: Routine


@dataclass(frozen=True, eq=False)
class StartPlace(NodePlace):
    """The start of a rod."""

    def pose(self, eta: Sequence[Scalar], inverse: bool) -> StillNode:
        """Where it is at rest."""
        return StillNode(len(eta))


@dataclass(frozen=True, eq=False)
class StationPlace(NodePlace):
    """A station by its number among those in use."""

    stations: RodStations
    number: int

    def pose(self, eta: Sequence[Scalar], inverse: bool) -> StationPose:
        """The station at strain coordinates eta."""
        return StationPose(self.stations, self.number, eta, inverse)


def rod_parts(rod: Rod, stations: Iterable[Station]) -> tuple[RodShape, dict[str, NodePlace]]:
    """The shape of a rod, and stations by name."""
    still, moving = _sorted(rod, stations)
    walk = rod.loops.inertia(rod.station_branches(moving))
    places = still | _moving(rod, moving, walk, rod.loops.weights) if moving else still
    return RodShape.of(rod, walk), places


def station_places(rod: Rod, stations: Iterable[Station]) -> dict[str, NodePlace]:
    """Stations by name, without the rest of the rod."""
    still, moving = _sorted(rod, stations)
    if not moving:
        return still
    return still | _moving(rod, moving, rod.loops.poses(rod.station_branches(moving)), 0)


def _sorted(rod: Rod, stations: Iterable[Station]) -> tuple[dict[str, NodePlace], list[Station]]:
    """Stations at the start by name, and the others along the arc."""
    ordered = sorted(stations, key=lambda station: station.arc)
    still = [s for s in ordered if s.arc <= START * rod.length]
    return {s.name: StartPlace(_floats(s.position)) for s in still}, ordered[len(still) :]


def _moving(rod: Rod, stations: list[Station], poses: Routine, first: int) -> dict[str, NodePlace]:
    """Stations by name, whose results begin at `first` among those of `poses`."""
    biases = rod.loops.biases(rod.station_branches(stations))
    together = RodStations(rod.loops, poses, first, biases)
    return {s.name: StationPlace(_floats(s.position), together, k) for k, s in enumerate(stations)}


class StillNode(MovedNode):
    """The start of a rod: its frame itself."""

    R, r, s, straight = UNIT, ZERO, ZERO, True

    def __init__(self, modes: int) -> None:
        self.modes = modes

    def columns(self) -> list[tuple[Vec, Vec]]:
        """Nothing moves it."""
        return [(ZERO, ZERO)] * self.modes

    def bias(self, rates: Sequence[Scalar]) -> tuple[Vec, Vec]:
        """Nothing moves it."""
        return ZERO, ZERO


class StationPose(MovedNode):
    """A station against the rod's frame, or the frame against it."""

    straight = False

    def __init__(self, stations: RodStations, number: int, eta: Sequence[Scalar], inverse: bool) -> None:
        self.stations, self.number, self.eta, self.inverse = stations, number, tuple(eta), inverse
        loops = stations.loops
        first = stations.first + loops.station_numbers * number
        found = stations.poses(self.eta)[1][first : first + loops.station_numbers]
        if loops.width == PLANAR:
            c, s, x, y = found[:4]
            self.R_node: Mat = ((c, -s, 0.0), (s, c, 0.0), (0.0, 0.0, 1.0))
            self.s = (x, y, 0.0)
        else:
            self.R_node = (_three(found, 0), _three(found, 3), _three(found, 6))
            self.s = _three(found, 9)
        self._own = [_screw(found, loops.pose_numbers + loops.width * k, loops.width) for k in range(loops.n)]
        self.R = transpose(self.R_node) if inverse else self.R_node
        self.r = neg(times(self.R, self.s)) if inverse else self.s

    @cached_property
    def _inverted(self) -> list[tuple[Vec, Vec]]:
        found = []
        for w, v in self._own:
            lean, shift = times(self.R_node, w), times(self.R_node, v)
            found.append((neg(lean), sub(cross(lean, self.s), shift)))
        return found

    def columns(self) -> list[tuple[Vec, Vec]]:
        """For each coordinate the motion of the outer frame, in its own axes."""
        return self._inverted if self.inverse else self._own

    def bias(self, rates: Sequence[Scalar]) -> tuple[Vec, Vec]:
        """Rates of the outer frame's motion, in its own axes, while the rates of the coordinates stay constant."""
        width = self.stations.loops.width
        dw, dv = _screw(self.stations.biases(self.eta, tuple(rates))[1], width * self.number, width)
        if not self.inverse:
            return dw, dv
        w, v = summed(rates, self._own)
        lean, slide = times(self.R_node, w), times(self.R_node, v)
        spun, pushed = times(self.R_node, dw), times(self.R_node, add(dv, cross(w, v)))
        return neg(spun), sub(add(cross(spun, self.s), cross(lean, slide)), pushed)


def _three(values: Sequence[Scalar], first: int) -> Vec:
    return (values[first], values[first + 1], values[first + 2])


def _screw(values: Sequence[Scalar], first: int, width: int) -> tuple[Vec, Vec]:
    """A screw of six numbers, or of three in the plane."""
    if width == PLANAR:
        return (0.0, 0.0, values[first]), (values[first + 1], values[first + 2], 0.0)
    return _three(values, first), _three(values, first + 3)


def _floats(a: Any) -> Vec:
    return (float(a[0]), float(a[1]), float(a[2]))


__all__ = ["BentRod", "RodShape", "rod_parts", "station_places"]
