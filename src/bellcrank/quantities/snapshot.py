"""One traced state with everything known: what named quantities are computed from."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from bellcrank.formulations.equations import Mechanics
from bellcrank.math.rotations import constant_turns
from bellcrank.math.tuples import ZERO, Mat, Vec, add, cross, mat, matmul, scale, sub, times, vec
from bellcrank.mechanics.accelerations import Accelerations
from bellcrank.mechanics.constraints import Equation
from bellcrank.mechanics.dynamics import brought, deformed
from bellcrank.mechanics.flexible import DeformedMember, combination
from bellcrank.mechanics.forces import Acting
from bellcrank.mechanics.inertia import Inertia, from_body
from bellcrank.mechanics.kinematics import Kinematics
from bellcrank.mechanics.links import GROUND
from bellcrank.mechanics.numbers import Traced
from bellcrank.model.joints.elementary import Wrench
from bellcrank.program.graph import Graph
from bellcrank.program.trace import Expr, Scalar

if TYPE_CHECKING:
    from bellcrank.model.frames import Frame
    from bellcrank.model.system import System
    from bellcrank.quantities.contacts import TracedContact
    from bellcrank.topology.tree import Tree


@dataclass(frozen=True, eq=False)
class PointMotion:
    """World position, velocity and acceleration of a point, as functions so that only the used is traced."""

    snapshot: Snapshot
    link: int
    local: Vec

    def position(self) -> Vec:
        """[m]."""
        pose = self.snapshot.kin.pose(self.link)
        return add(pose.p, times(pose.R, self.local))

    def velocity(self) -> Vec:
        """[m/s]."""
        kin = self.snapshot.kin
        motion = kin.motion(self.link)
        return add(motion.v, cross(motion.w, times(kin.pose(self.link).R, self.local)))

    def acceleration(self) -> Vec:
        """[m/s^2]."""
        if self.link == GROUND:
            return ZERO
        acc = self.snapshot.acc
        felt = add(acc.a[self.link], times(acc.K[self.link], self.local))
        return add(times(self.snapshot.kin.pose(self.link).R, felt), self.snapshot.gravity)


@dataclass(frozen=True, eq=False)
class CenterMotion(PointMotion):
    """Motion of a flexible body's centre of mass."""

    name: str
    member: DeformedMember

    def velocity(self) -> Vec:
        """[m/s]."""
        kin = self.snapshot.kin
        slide = combination(kin.eta_rates(kin.linkage.links[self.link]), [push for _, push in self.member.P])
        moved = times(kin.pose(self.link).R, scale(1.0 / self.member.shape.mass, slide))
        return add(super().velocity(), moved)

    def acceleration(self) -> Vec:
        """[m/s^2], from the force that the body's acceleration takes."""
        _, push = self.snapshot.inertia_wrench(self.name)
        felt = times(self.snapshot.kin.pose(self.link).R, scale(1.0 / self.member.shape.mass, push))
        return add(felt, self.snapshot.gravity)


WRENCH = ("moment x", "moment y", "moment z", "force x", "force y", "force z")


class Snapshot:
    """Inputs t, q, u, du, multipliers and parameters, and the kinematics on them."""

    def __init__(self, system: System, tree: Tree, mechanics: Mechanics) -> None:
        self.system, self.mechanism_tree, self.mechanics = system, tree, mechanics
        self.linkage = mechanics.linkage
        self.graph = Graph()
        graph = self.graph
        self.t = graph.input("t.")
        self.q = self.linkage.position_inputs(graph)
        self.u = [graph.input(f"u.{i}") for i in range(self.linkage.speeds)]
        self._unknown_inputs()
        self.parameters = [graph.input(name) for name in mechanics.parameters]
        self.kin = Kinematics(self.linkage, self.q, Traced(graph))
        self.kin.set_speeds(self.u)
        self.gravity = self.kin.vector(self.linkage.gravity)

    @classmethod
    def on(
        cls, system: System, tree: Tree, mechanics: Mechanics, kin: Kinematics, t: Expr, graph: Graph
    ) -> Snapshot:
        """Within a trace at hand, for quantities that need no accelerations."""
        s = cls.__new__(cls)
        s.system, s.mechanism_tree, s.mechanics, s.linkage = system, tree, mechanics, mechanics.linkage
        s.graph, s.t, s.kin = graph, t, kin
        s.q, s.u = list(kin.q), list(kin.u or ())  # type: ignore[arg-type]
        s.parameters = [graph.input(name) for name in mechanics.parameters]
        s._unknown_inputs()
        s.gravity = kin.vector(mechanics.linkage.gravity)
        return s

    @cached_property
    def acting(self) -> Acting:
        """The state as forces ask for it."""
        return Acting(self.linkage, self.kin, self.t)

    def _unknown_inputs(self) -> None:
        """What follows from the motion: accelerations, multipliers, forces of contacts."""
        graph, equations = self.graph, sum(c.size for c in self.mechanics.constraints)
        self.du = [graph.input(f"du.{i}") for i in range(self.linkage.speeds)]
        self.mu = [graph.input(f"mu.{i}") for i in range(equations)]
        self.contact_inputs = [graph.input(name) for name in contact_inputs(self.system)]

    @property
    def inputs(self) -> list[Expr]:
        """All inputs in order: t, q, u, du, multipliers, parameters, forces of contacts on b and wrenches on the
        places of colliding groups, in world axes."""
        return [self.t, *self.q, *self.u, *self.du, *self.mu, *self.parameters, *self.contact_inputs]

    @cached_property
    def contacts(self) -> dict[str, TracedContact]:
        """All contacts by name."""
        from bellcrank.mechanics.contacts import ContactPair
        from bellcrank.quantities.contacts import TracedContact

        found = {}
        for k, (name, contact) in enumerate(self.system.contacts.items()):
            x, y, z = self.contact_inputs[3 * k : 3 * k + 3]
            found[name] = TracedContact(self, ContactPair.of(contact, self.linkage), (x, y, z))
        return found

    @cached_property
    def collided(self) -> dict[str, tuple[Vec, Vec]]:
        """For the places of colliding groups force and moment about the origin of the world, of lasting contacts."""
        first = 3 * len(self.system.contacts)
        found: dict[str, tuple[Vec, Vec]] = {}
        for k, name in enumerate(self.system.colliding):
            mx, my, mz, x, y, z = self.contact_inputs[first + 6 * k : first + 6 * k + 6]
            found[name] = ((x, y, z), (mx, my, mz))
        return found

    @cached_property
    def acc(self) -> Accelerations:
        """Accelerations of the links, gravity taken off as in inertia forces."""
        return Accelerations(self.kin, self.du)

    @cached_property
    def equations(self) -> list[Equation]:
        """All constraint equations."""
        return [e for c in self.mechanics.constraints for e in c.equations(self.kin, self.t)]

    def point(self, frame: Frame) -> PointMotion:
        """The motion of a frame's origin."""
        seat = self.linkage.seat(frame)
        local = add(self.kin.vector(seat.p), times(self.matrix(seat.r), self.kin.vector(vec(frame.position))))
        return PointMotion(self, seat.link, local)

    def body_point(self, name: str, local: Vec = ZERO) -> PointMotion:
        """The motion of a point given in the axes of a body."""
        seat = self.linkage.placements[name]
        at = add(self.kin.vector(seat.p), times(self.matrix(seat.r), self.kin.vector(local)))
        return PointMotion(self, seat.link, at)

    def rotation(self, frame: Frame | str) -> Mat:
        """Rotation matrix of a body (by name) or a frame in the world."""
        seat = self.linkage.placements[frame] if isinstance(frame, str) else self.linkage.seat(frame)
        R = matmul(self.kin.pose(seat.link).R, self.matrix(seat.r))
        return R if isinstance(frame, str) else matmul(R, self.matrix(mat(frame.rotation)))

    def angular_velocity(self, name: str) -> Vec:
        """World angular velocity of a body [rad/s]."""
        return self.kin.motion(self.linkage.placements[name].link).w

    def angular_acceleration(self, name: str) -> Vec:
        """World angular acceleration of a body [rad/s^2]."""
        link = self.linkage.placements[name].link
        return ZERO if link == GROUND else times(self.kin.pose(link).R, self.acc.alpha[link])

    def matrix(self, m: Mat) -> Mat:
        """A matrix of the model in this trace."""
        return (self.kin.vector(m[0]), self.kin.vector(m[1]), self.kin.vector(m[2]))

    def member(self, name: str) -> DeformedMember | None:
        """A flexible body's member in its present shape, None for a rigid body."""
        seat = self.linkage.placements[name]
        if self.system.bodies[name].member is None:
            return None
        return deformed(self.kin, self.linkage.links[seat.link])

    def center(self, name: str) -> PointMotion:
        """The motion of a body's centre of mass, which in a flexible one moves against its axes too."""
        member = self.member(name)
        if member is None:
            return self.body_point(name, vec(self.system.bodies[name].center_of_mass))
        own = member.inertia()
        return CenterMotion(self, self.linkage.placements[name].link, scale(1.0 / own.m, own.h), name, member)

    def inertia(self, name: str) -> Inertia:
        """A body's own inertia in its link's axes about the link's origin."""
        member = self.member(name)
        if member is not None:
            return member.inertia()
        body, seat = self.system.bodies[name], self.linkage.placements[name]
        own = from_body(body.mass, vec(body.center_of_mass), mat(body.inertia))
        return brought(self.kin, own.moved(constant_turns(seat.r), seat.p))

    def inertia_wrench(self, name: str) -> Wrench:
        """What it takes to accelerate a body, weight included, in its link's axes."""
        link = self.linkage.placements[name].link
        if link == GROUND:
            a = self.gravity
            still: Mat = (ZERO, ZERO, ZERO)
            return self.inertia(name).force((-a[0], -a[1], -a[2]), still)
        member = self.member(name)
        if member is not None:
            this = self.linkage.links[link]
            rates = self.kin.eta_rates(this)
            bent = self.du[this.eta_u : this.eta_u + this.modes]
            return member.force(self.acc.of(link), rates, bent)[0]
        return self.inertia(name).force(self.acc.a[link], self.acc.K[link])


def contact_inputs(system: System) -> list[str]:
    """Names of the inputs for forces of contacts on b and wrenches on the places of colliding groups, world axes."""
    names = [f"contact {name}.{axis}" for name in system.contacts for axis in "xyz"]
    return names + [f"collision {body}.{part}" for body in system.colliding for part in WRENCH]


def difference(a: Vec, b: Vec) -> Vec:
    """a - b."""
    return sub(a, b)


def total(values: list[Scalar]) -> Scalar:
    """The sum."""
    result: Scalar = 0.0
    for value in values:
        result = result + value
    return result
