"""Constraint equations from traced functions: rows and right-hand sides by exact derivatives.

A function is evaluated once on inputs that stand for the poses and twists of the bodies it looks at, and for the
coordinates and speeds of tree joints. With x the positions and s the speeds,

    holonomic      phi(x, t) = 0     rate = phi_x x-dot + phi_t
    non-holonomic  psi(x, s, t) = 0  rate = psi, affine in s

and both go on alike: the row is the derivative of the rate by s, nu minus the rate at s = 0, and gamma minus the rate
of the rate while all speeds of the tree keep their values. Rows by the twist of a body become rows by the speeds of the
links that carry it; they are also the moment and force of a unit multiplier on that body.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import reduce
from typing import NoReturn

from bellcrank.errors import ModelError
from bellcrank.math.tuples import UNIT, ZERO, Mat, Vec, add, cross, dot, matmul, times
from bellcrank.mechanics.constraints import Constraint, Equation, twist_columns
from bellcrank.mechanics.functions import substituted
from bellcrank.mechanics.kinematics import Kinematics, Motion, Pose
from bellcrank.mechanics.links import GROUND, Link, Linkage, Placement
from bellcrank.mechanics.numbers import Traced
from bellcrank.program.derive import directional, jacobian
from bellcrank.program.functions import reachable
from bellcrank.program.graph import Graph
from bellcrank.program.trace import Expr, Scalar

Function = Callable[["BodyKinematics", Expr], Sequence[Scalar]]


@dataclass(frozen=True, eq=False)
class BodyLinkage(Linkage):
    """A linkage as functions of bodies see it: every body, and every node in use, is a link of its own.

    seats: What stands on the links of the mechanism, and the body it belongs to, by the numbers used here.
    """

    seats: tuple[tuple[Placement, str], ...] = ()

    def common(self, a: int, b: int) -> int:
        """All are seen from one place, whatever carries them."""
        return GROUND


def body_linkage(linkage: Linkage) -> BodyLinkage:
    """The bodies and nodes of a linkage, those on the ground as they are."""
    seats: list[tuple[Placement, str]] = []

    def loose(place: Placement, body: str) -> Placement:
        if place.link == GROUND:
            return place
        seats.append((place, body))
        return Placement(len(seats) - 1, UNIT, ZERO)

    placements = {name: loose(place, name) for name, place in linkage.placements.items()}
    nodes = {key: loose(place, key[0]) for key, place in linkage.nodes.items()}
    same = {name: getattr(linkage, name) for name in ("links", "positions", "speeds", "gravity", "maps")}
    return BodyLinkage(**same, placements=placements, nodes=nodes, states=linkage.states, seats=tuple(seats))


class BodyKinematics(Kinematics):
    """Poses and twists of bodies, and coordinates of tree joints, as inputs of a graph of their own."""

    def __init__(self, linkage: BodyLinkage, graph: Graph) -> None:
        numbers = Traced(graph)
        self.linkage, self.graph = linkage, graph
        self.seats = linkage.seats
        self.number, self.parameter = numbers.number, numbers.parameter
        self.q = tuple(linkage.position_inputs(graph))
        self.u = tuple(graph.input(f"u.{i}") for i in range(linkage.speeds))
        self.nodes, self.closest = {}, {}

    def _vector(self, what: str, k: int) -> tuple[Expr, Expr, Expr]:
        x, y, z = (self.graph.input(f"{what} {c} of seat {k}.") for c in "xyz")
        return x, y, z

    def rotation(self, k: int) -> Mat:
        """Inputs for the axes of a body, by rows."""
        x, y, z = (self._vector(f"row {c}", k) for c in "xyz")
        return x, y, z

    def place(self, k: int) -> Vec:
        """Inputs for its origin."""
        return self._vector("place", k)

    def twist(self, k: int) -> tuple[Vec, Vec]:
        """Inputs for its angular velocity and the velocity of its origin."""
        return self._vector("turning", k), self._vector("moving", k)

    def twist_rate(self, k: int) -> tuple[Vec, Vec]:
        """Inputs for their rates while the speeds of the tree stay."""
        return self._vector("turning rate", k), self._vector("moving rate", k)

    def pose(self, link: int, base: int = GROUND) -> Pose:
        """Of a body."""
        return Pose(UNIT, ZERO) if link == GROUND else Pose(self.rotation(link), self.place(link))

    def motion(self, link: int, base: int = GROUND) -> Motion:
        """Of a body."""
        return Motion(ZERO, ZERO) if link == GROUND else Motion(*self.twist(link))

    def shadow_speeds(self, u: Sequence[Scalar]) -> list[Scalar]:
        """Nodes have inputs of their own."""
        return []


@dataclass
class _Derived:
    """One equation on the inputs: residual, derivatives by speeds, nu and gamma."""

    residual: Scalar
    by_body: dict[int, tuple[Vec, Vec]]
    by_speed: dict[int, Scalar]
    nu: Scalar
    gamma: Scalar


@dataclass
class Derivation:
    """The equations of one constraint, derived once and evaluated in every state.

    what: In errors. positions, velocities: phi and psi. within: Whether only motions against each other count, so that
    all may be seen from the lowest common link; otherwise from the ground.
    """

    linkage: Linkage
    name: str
    what: str
    labels: tuple[str, ...]
    positions: Function
    velocities: Function
    within: bool = True
    kin: BodyKinematics = field(init=False)
    equations: list[_Derived] = field(init=False)
    base: int = field(init=False, default=GROUND)

    def __post_init__(self) -> None:
        graph = Graph()
        self.kin = BodyKinematics(body_linkage(self.linkage), graph)
        self.t = graph.input("t.")
        self.by_position = {link.q: link for link in self.linkage.links if link.kind.positions == 1}
        phi = [graph.bring(x) for x in self.positions(self.kin, self.t)]
        psi = [graph.bring(x) for x in self.velocities(self.kin, self.t)]
        self.bodies = self._bodies_in([*phi, *psi])
        self.used = self._coordinates_in([*phi, *psi])
        for x in phi:
            self._check_position(x)
        self.equations = [self._derived(x, x) for x in phi] + [self._derived(0.0, x) for x in psi]
        self.nonholonomic = frozenset(range(len(phi), len(phi) + len(psi)))
        links = [self._seat(k).link for k in self.bodies]
        self.base = reduce(self.linkage.common, links) if self.within and links else GROUND

    def constraint(self) -> Constraint:
        """The equations on the links of the tree."""
        paths = [k for body in self.bodies for k in self.linkage.path(self._seat(body).link, self.base)]
        links = self.linkage.owning([*paths, *(link.index for link in self.used)])
        return Constraint(
            self.name,
            self.what,
            len(self.equations),
            self.base,
            links,
            self.labels,
            self._equations,
            self._gammas,
            nonholonomic=self.nonholonomic,
            drives=any(not (isinstance(e.nu, float) and e.nu == 0.0) for e in self.equations),
            pushes=self._pushes,
            turns=self.linkage.owning(paths),
        )

    def _seat(self, body: int) -> Placement:
        return self.kin.seats[body][0]

    def _inputs(self, values: Iterable[Scalar]) -> set[int]:
        return {e.id for e in reachable([x for x in values if isinstance(x, Expr)]) if e.op == "input"}

    def _bodies_in(self, values: Sequence[Scalar]) -> list[int]:
        present = self._inputs(values)
        found = []
        for k in range(len(self.kin.seats)):
            own = [x for row in self.kin.rotation(k) for x in row]
            own += [*self.kin.place(k), *(x for part in self.kin.twist(k) for x in part)]
            if any(isinstance(x, Expr) and x.id in present for x in own):
                found.append(k)
        return found

    def _coordinates_in(self, values: Sequence[Scalar]) -> list[Link]:
        present, u = self._inputs(values), self.kin.u
        assert u is not None
        found = []
        for i, x in enumerate(self.kin.q):
            if isinstance(x, Expr) and x.id in present:
                if i not in self.by_position:
                    self._refuse()
                found.append(self.by_position[i])
        single = {link.u: link for link in self.by_position.values()}
        for i, x in enumerate(u):
            if isinstance(x, Expr) and x.id in present:
                if i not in single:
                    self._refuse()
                if single[i] not in found:
                    found.append(single[i])
        return found

    def _refuse(self) -> NoReturn:
        raise ModelError(
            f"{self.what} depends on a first-order state or on the modes of a flexible body; a constraint holds "
            "between points, directions and joint coordinates"
        )

    def _speeds(self) -> list[Expr]:
        """Inputs of all speeds that count."""
        u = self.kin.u
        assert u is not None
        twists = [x for k in self.bodies for part in self.kin.twist(k) for x in part]
        return [x for x in (*twists, *(u[link.u] for link in self.used)) if isinstance(x, Expr)]

    def _check_position(self, phi: Scalar) -> None:
        present = self._inputs([phi])
        if any(x.id in present for x in self._speeds()):
            raise ModelError(f"{self.what} depends on velocities; give it velocity=True")

    def _flow(self) -> dict[int, Scalar]:
        """Rates of all inputs but the speeds, by their numbers."""
        kin, u = self.kin, self.kin.u
        assert u is not None
        found: dict[int, Scalar] = {self.t.id: 1.0}
        for k in self.bodies:
            w, v = kin.twist(k)
            R = kin.rotation(k)
            for j in range(3):
                turned = cross(w, (R[0][j], R[1][j], R[2][j]))
                found.update({R[i][j].id: turned[i] for i in range(3)})  # type: ignore[union-attr]
            found.update({x.id: rate for x, rate in zip(kin.place(k), v, strict=True)})  # type: ignore[union-attr]
        found.update({kin.q[link.q].id: u[link.u] for link in self.used})  # type: ignore[union-attr]
        return found

    def _derived(self, residual: Scalar, value: Scalar) -> _Derived:
        """residual: 0 for velocities alone."""
        flow = self._flow()
        holonomic = residual is value
        rate = directional([value], flow)[0] if holonomic else value
        speeds = self._speeds()
        row = jacobian([rate], speeds)[0]
        moving = {x.id for x in speeds}
        if self._inputs(row.values()) & moving:
            raise ModelError(
                f"{self.what} is not linear in the velocities; write it so that every term holds one velocity at most"
            )
        still = substituted([rate], {x.id: 0.0 for x in speeds}, self.kin)[0]
        for k in self.bodies:
            for part, changed in zip(self.kin.twist(k), self.kin.twist_rate(k), strict=True):
                flow.update({x.id: dx for x, dx in zip(part, changed, strict=True)})  # type: ignore[union-attr]
        second = directional([rate], flow)[0]
        by_body: dict[int, tuple[Vec, Vec]] = {}
        for n, k in enumerate(self.bodies):
            w0, w1, w2, v0, v1, v2 = (row.get(6 * n + i, 0.0) for i in range(6))
            by_body[k] = ((w0, w1, w2), (v0, v1, v2))
        first = 6 * len(self.bodies)
        by_speed = {link.index: row.get(first + i, 0.0) for i, link in enumerate(self.used)}
        nu = -still if isinstance(still, Expr) or still != 0.0 else 0.0
        return _Derived(residual, by_body, by_speed, nu, -second)

    def _posed(self, kin: Kinematics, t: Scalar) -> dict[int, Scalar]:
        """Values of the inputs for positions."""
        found: dict[int, Scalar] = {self.t.id: t}
        for k in self.bodies:
            R, p = self._pose(kin, k)
            for names, values in zip((*self.kin.rotation(k), self.kin.place(k)), (*R, p), strict=True):
                found.update({x.id: y for x, y in zip(names, values, strict=True)})  # type: ignore[union-attr]
        for link in self.used:
            found[self.kin.q[link.q].id] = kin.q[link.q]  # type: ignore[union-attr]
        return found

    def _pose(self, kin: Kinematics, body: int) -> tuple[Mat, Vec]:
        """Axes and origin of a body seen from the base."""
        seat = self._seat(body)
        pose = kin.pose(seat.link, self.base)
        r = (kin.vector(seat.r[0]), kin.vector(seat.r[1]), kin.vector(seat.r[2]))
        return matmul(pose.R, r), add(pose.p, times(pose.R, kin.vector(seat.p)))

    def _by_body(self, values: list[Scalar]) -> dict[int, tuple[Vec, Vec]]:
        """Rows by twists, out of a flat list."""
        found: dict[int, tuple[Vec, Vec]] = {}
        for n, k in enumerate(self.bodies):
            a, b, c, x, y, z = values[6 * n : 6 * n + 6]
            found[k] = ((a, b, c), (x, y, z))
        return found

    def _equations(self, kin: Kinematics, t: Scalar) -> list[Equation]:
        posed = self._posed(kin, t)
        outputs: list[Scalar] = []
        for e in self.equations:
            outputs += [e.residual, e.nu, *e.by_speed.values()]
            outputs += [x for k in self.bodies for part in e.by_body[k] for x in part]
        values = substituted(outputs, posed, kin)
        size = len(values) // max(len(self.equations), 1)
        found = []
        for n in range(len(self.equations)):
            residual, nu, *rest = values[n * size : (n + 1) * size]
            row: dict[int, tuple[Scalar, ...]] = {}
            for link, entry in zip(self.used, rest, strict=False):
                row[link.index] = (entry,)
            for k, (moment, force) in self._by_body(rest[len(self.used) :]).items():
                point = self._pose(kin, k)[1]
                for j in self.linkage.path(self._seat(k).link, self.base):
                    own = [dot(moment, w) + dot(force, v) for w, v in twist_columns(kin, j, self.base, point)]
                    before = row.get(j, (0.0,) * len(own))
                    row[j] = tuple(x + y for x, y in zip(before, own, strict=True))
            found.append(Equation(residual, row, self.base, nu))
        return found

    def _gammas(self, kin: Kinematics, t: Scalar) -> list[Scalar]:
        values = self._posed(kin, t)
        for k in self.bodies:
            seat = self._seat(k)
            m, b = kin.motion(seat.link, self.base), kin.bias(seat.link, self.base)
            arm = times(kin.pose(seat.link, self.base).R, kin.vector(seat.p))
            v = add(m.v, cross(m.w, arm))
            dv = add(b.v, add(cross(b.w, arm), cross(m.w, cross(m.w, arm))))
            for names, given in zip(
                (*self.kin.twist(k), *self.kin.twist_rate(k)), (m.w, v, b.w, dv), strict=True
            ):
                values.update({x.id: y for x, y in zip(names, given, strict=True)})  # type: ignore[union-attr]
        u = self.kin.u
        assert u is not None
        for link in self.used:
            values[u[link.u].id] = kin.speed(link)  # type: ignore[union-attr]
        return substituted([e.gamma for e in self.equations], values, kin)

    def _pushes(self, kin: Kinematics, t: Scalar) -> list[dict[str, tuple[Vec, Vec, Vec]]]:
        """For each equation and body: point, moment about it and force of a unit multiplier, seen from the base."""
        posed = self._posed(kin, t)
        found = []
        for e in self.equations:
            flat = substituted([x for k in self.bodies for part in e.by_body[k] for x in part], posed, kin)
            found.append(
                {
                    self.kin.seats[k][1]: (self._pose(kin, k)[1], moment, force)
                    for k, (moment, force) in self._by_body(flat).items()
                }
            )
        return found


def derived(
    linkage: Linkage,
    name: str,
    what: str,
    labels: tuple[str, ...],
    positions: Function,
    velocities: Function,
    within: bool = True,
) -> Constraint:
    """The constraint that functions of bodies and coordinates be zero; see :class:`Derivation`."""
    return Derivation(linkage, name, what, labels, positions, velocities, within).constraint()


__all__ = ["BodyKinematics", "Derivation", "derived"]
