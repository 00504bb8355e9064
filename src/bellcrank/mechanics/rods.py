"""Rods in strain coordinates as links of the recursion; the loops over their slices are routines of the program."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from bellcrank.math.rotations import Symmetric
from bellcrank.math.tuples import UNIT, ZERO, Mat, Vec, add, cross, neg, sub, times, transpose
from bellcrank.math.vectors import Vector
from bellcrank.mechanics.flexible import DeformedMember, FrameMotion, MemberShape, MovedNode, NodePlace
from bellcrank.mechanics.inertia import Inertia
from bellcrank.mechanics.kinematics import summed
from bellcrank.program.loops import Routine
from bellcrank.program.trace import Scalar

if TYPE_CHECKING:
    from bellcrank.flexible.rod_motion import RodRoutines
    from bellcrank.flexible.rods import Rod, Station

START = 1e-12
"""Share of the length within which a station is the start itself, which no coordinate moves."""


@dataclass(frozen=True, eq=False)
class RodShape(MemberShape):
    """A rod; its frame is that of the section at its start."""

    routines: RodRoutines

    @staticmethod
    def of(rod: Rod) -> RodShape:
        """From the description."""
        # What couples coordinates by rounding alone is dropped, so that it folds.
        own = abs(rod.stiffness.diagonal()) ** 0.5
        level = 1e-14 * own[:, None] * own[None, :]

        def numbers(matrix: Any) -> tuple[tuple[float, ...], ...]:
            kept = matrix * (abs(rod.stiffness) > level)
            return tuple(tuple(float(x) for x in row) for row in kept)

        return RodShape(rod.modes, rod.mass, numbers(rod.stiffness), numbers(rod.damping), rod.routines)

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
        found: list[Scalar] = self.shape.routines.inertia(self.eta)[1]
        return found

    @cached_property
    def P(self) -> Sequence[tuple[Vec, Vec]]:  # type: ignore[override]
        """Momentum of a unit rate of each coordinate on the frame."""
        return [_screw(self._inertia, 9 + 6 * k) for k in range(self.shape.modes)]

    def inertia(self) -> Inertia:
        """The rod as if frozen in its present shape."""
        h0, h1, h2, *rest = self._inertia[:9]
        J: Symmetric = (rest[0], rest[1], rest[2], rest[3], rest[4], rest[5])
        return Inertia(self.shape.mass, (h0, h1, h2), J)

    def modal_mass(self, k: int, j: int) -> Scalar:
        """m_kj."""
        row, column = max(k, j), min(k, j)
        return self._inertia[9 + 6 * self.shape.modes + row * (row + 1) // 2 + column]

    def force(
        self, motion: FrameMotion, rates: Sequence[Scalar], accelerations: Sequence[Scalar]
    ) -> tuple[tuple[Vec, Vec], list[Scalar]]:
        """Wrench on the frame, and forces on the coordinates, by the recursion along the slices."""
        frame = (_vector(motion.w), _vector(motion.alpha), _vector(motion.a))
        found = self.shape.routines.forces(self.eta, tuple(rates), tuple(accelerations), *frame)[1]
        return _screw(found, 0), list(found[6:])


@dataclass(frozen=True, eq=False)
class RodStations:
    """The stations of a rod that are in use, sorted along the arc; found together, in one call."""

    poses: Routine
    biases: Routine
    modes: int


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


def station_places(rod: Rod, stations: Iterable[Station]) -> dict[str, NodePlace]:
    """Stations by name."""
    ordered = sorted(stations, key=lambda station: station.arc)
    still = [s for s in ordered if s.arc <= START * rod.length]
    moving = ordered[len(still) :]
    found: dict[str, NodePlace] = {s.name: StartPlace(_floats(s.position)) for s in still}
    if moving:
        branches = rod.branches([s.arc for s in moving], [s.axes for s in moving])
        together = RodStations(rod.routines.poses(branches), rod.routines.biases(branches), rod.modes)
        found |= {s.name: StationPlace(_floats(s.position), together, k) for k, s in enumerate(moving)}
    return found


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
        own = 12 + 6 * stations.modes
        found = stations.poses(self.eta)[1][own * number : own * (number + 1)]
        self.R_node: Mat = (_three(found, 0), _three(found, 3), _three(found, 6))
        self.s = _three(found, 9)
        self._own = [_screw(found, 12 + 6 * k) for k in range(stations.modes)]
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
        dw, dv = _screw(self.stations.biases(self.eta, tuple(rates))[1], 6 * self.number)
        if not self.inverse:
            return dw, dv
        w, v = summed(rates, self._own)
        lean, slide = times(self.R_node, w), times(self.R_node, v)
        spun, pushed = times(self.R_node, dw), times(self.R_node, add(dv, cross(w, v)))
        return neg(spun), sub(add(cross(spun, self.s), cross(lean, slide)), pushed)


def _three(values: Sequence[Scalar], first: int) -> Vec:
    return (values[first], values[first + 1], values[first + 2])


def _screw(values: Sequence[Scalar], first: int) -> tuple[Vec, Vec]:
    return _three(values, first), _three(values, first + 3)


def _vector(v: Vec) -> Vector:
    x, y, z = v
    return Vector(x, y, z)  # type: ignore[arg-type]


def _floats(a: Any) -> Vec:
    return (float(a[0]), float(a[1]), float(a[2]))


__all__ = ["BentRod", "RodShape", "station_places"]
