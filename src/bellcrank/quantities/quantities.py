"""Quantities by name: ``slider.velocity.x``, ``guide.force.y``, ``energy.total``.

A name is the user's own name of a body, joint, driver or force, then what is asked for, then a component
where one is wanted. Every quantity is traced from the state, so it can be computed for all outputs at once,
watched by an event or measured by a controller.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

from bellcrank.errors import ModelError, unknown_name
from bellcrank.math.tuples import ZERO, Vec, add, cross, mat, matmul, scale, sub, times, transposed_times
from bellcrank.mechanics.constraints import Seen
from bellcrank.mechanics.field_contact import FieldPressing
from bellcrank.mechanics.flexible import MovedNode
from bellcrank.mechanics.forces import stretch
from bellcrank.mechanics.joint_coordinates import joint_coordinate, markers
from bellcrank.mechanics.kinematics import summed
from bellcrank.mechanics.links import GROUND
from bellcrank.mechanics.members import node_places
from bellcrank.mechanics.pressing import Pressing
from bellcrank.model.drivers import CoordinateTarget
from bellcrank.model.forces import ContactForce, Force
from bellcrank.model.forces.element import ANGLES
from bellcrank.program.functions import maximum
from bellcrank.program.trace import Scalar
from bellcrank.quantities import energy
from bellcrank.quantities.node_fields import node_rows
from bellcrank.quantities.points import WHAT, parse_point
from bellcrank.quantities.reactions import Reactions
from bellcrank.quantities.snapshot import Snapshot
from bellcrank.quantities.states import state_rate
from bellcrank.quantities.traceable import MATRIX, XYZ, Traceable, Values
from bellcrank.quantities.whole import whole

if TYPE_CHECKING:
    from bellcrank.model.frames import Frame
    from bellcrank.model.joints import Joint
    from bellcrank.model.joints.joint import JointQuantity


def _length_or_angle(coordinate: str) -> str:
    return "rad" if coordinate in ANGLES else "m"


class Quantities:
    """All quantities of a mechanism on one traced state."""

    def __init__(self, snapshot: Snapshot) -> None:
        self.s = snapshot

    @cached_property
    def reactions(self) -> Reactions:
        """Wrenches of all joints."""
        return Reactions(self.s)

    @cached_property
    def table(self) -> Mapping[str, Traceable]:
        """Every quantity by name, without components."""
        found: dict[str, Traceable] = {}
        for name in self.s.system.bodies:
            found.update({f"{name}.{key}": q for key, q in self._body(name).items()})
        for name, joint in self.s.system.joints.items():
            found.update({f"{name}.{key}": q for key, q in self._joint(joint).items()})
        for name in self.s.system.drivers:
            found.update({f"{name}.{key}": q for key, q in self._driver(name).items()})
        for name in self.s.system.constraints:
            found.update({f"{name}.{key}": q for key, q in self._constraint(name).items()})
        for name, force in self.s.system.forces.items():
            found.update({f"{name}.{key}": q for key, q in self._force(force).items()})
        for name in self.s.system.contacts:
            found.update({f"{name}.{key}": q for key, q in self._contact(name).items()})
        for name in self.s.system.states:
            found.update(self._state(name))
        found.update(whole(self.s))
        return found

    def _state(self, name: str) -> dict[str, Traceable]:
        """A first-order state and its rate."""
        s, unit = self.s, self.s.system.states[name].unit
        reacts = self.s.system.states[name].follows is not None
        value = s.q[s.linkage.positions - len(s.linkage.states) + s.linkage.states.index(name)]
        return {
            name: Traceable(lambda: [value], (), unit),
            f"{name}.rate": Traceable(lambda: [state_rate(s, name)], (), f"{unit or '1'}/s", reacts, reacts),
        }

    def find(self, name: str) -> tuple[Traceable, tuple[int, ...] | None]:
        """A quantity and the components asked for (None: all)."""
        table = self.table
        if name in table:
            return table[name], None
        head, _, component = name.rpartition(".")
        if head in table and component in table[head].components:
            return table[head], (table[head].components.index(component),)
        if (point := parse_point(name)) is not None:
            return self._point(name, *point)
        raise unknown_name("quantity", name, self._near(name, head))

    def _point(
        self, name: str, body: str, at: Vec, what: str, component: str | None
    ) -> tuple[Traceable, tuple[int, ...] | None]:
        """The motion of a point of a body."""
        s = self.s
        known = {n: b for n, b in s.system.bodies.items() if not b.is_ground}
        if body not in known:
            raise unknown_name("body", body, known)
        member = known[body].member
        if member is not None:
            nodes = ", ".join(member.nodes)
            raise ModelError(f"{name!r}: body {body!r} is flexible; its nodes can be asked for: {nodes}")
        if what not in WHAT:
            raise unknown_name(f"quantity of a point of {body!r}", what, WHAT)
        if component is not None and component not in XYZ:
            raise unknown_name(f"component of {name!r}", component, XYZ)
        motion = partial(s.body_point, body, at)
        traced = Traceable(lambda: getattr(motion(), what)(), XYZ, WHAT[what], what == "acceleration")
        return traced, None if component is None else (XYZ.index(component),)

    def _near(self, name: str, head: str) -> list[str]:
        """Candidates for a mistyped name: components of a known quantity, or quantities of a known object."""
        table = self.table
        if head in table:
            return [f"{head}.{c}" for c in table[head].components]
        owner = name.split(".")[0]
        own = [n for n in table if n.split(".")[0] == owner]
        return own or list(table)

    def _body(self, name: str) -> dict[str, Traceable]:
        s = self.s
        origin = partial(s.body_point, name)
        center = partial(s.center, name)
        return {
            "position": Traceable(lambda: origin().position(), XYZ, "m"),
            "velocity": Traceable(lambda: origin().velocity(), XYZ, "m/s"),
            "acceleration": Traceable(lambda: origin().acceleration(), XYZ, "m/s^2", True),
            "center_position": Traceable(lambda: center().position(), XYZ, "m"),
            "center_velocity": Traceable(lambda: center().velocity(), XYZ, "m/s"),
            "center_acceleration": Traceable(lambda: center().acceleration(), XYZ, "m/s^2", True),
            "angular_velocity": Traceable(lambda: s.angular_velocity(name), XYZ, "rad/s"),
            "angular_acceleration": Traceable(lambda: s.angular_acceleration(name), XYZ, "rad/s^2", True),
            "rotation": Traceable(lambda: [x for row in s.rotation(name) for x in row], MATRIX, ""),
            **self._flexible(name),
            **self._colliding(name),
        }

    def _colliding(self, name: str) -> dict[str, Traceable]:
        """What lasting contacts of colliding groups do to a body: force, and moment about its origin."""
        s = self.s
        own = [s.collided[place] for place, frame in s.system.colliding.items() if frame.body.name == name]
        if not own:
            return {}
        force, moment = ZERO, ZERO
        for pushed, turned in own:
            force, moment = add(force, pushed), add(moment, turned)

        def about() -> Vec:
            return sub(moment, cross(s.body_point(name).position(), force))

        return {
            "contact_force": Traceable(lambda: force, XYZ, "N", True),
            "contact_torque": Traceable(about, XYZ, "N m", True),
        }

    def _flexible(self, name: str) -> dict[str, Traceable]:
        """Modal coordinates and nodes of a flexible body."""
        s = self.s
        member = s.system.bodies[name].member
        if member is None:
            return {}
        link = s.linkage.links[s.linkage.placements[name].link]
        modes = member.coordinate_names
        bent = s.du[link.eta_u : link.eta_u + link.modes]
        found = {
            "modes": Traceable(lambda: s.kin.eta(link), modes, ""),
            "modes_rate": Traceable(lambda: s.kin.eta_rates(link), modes, "1/s"),
            "modes_acceleration": Traceable(lambda: bent, modes, "1/s^2", True),
            "strain_energy": Traceable(lambda: [self._strain(name)], (), "J"),
        }
        for node in member.nodes.values():
            at = partial(self._node, name, node)
            found[f"{node.name}.position"] = Traceable(partial(_first, at), XYZ, "m")
            found[f"{node.name}.velocity"] = Traceable(partial(_second, at), XYZ, "m/s")
            found[f"{node.name}.rotation"] = Traceable(partial(self._node_axes, name, node), MATRIX, "")
            for field in ("strain", "stress", "section_force"):
                if field in member.fields:
                    rows, components = node_rows(member.fields[field], node.position)
                    trace = partial(_recovered, rows, partial(s.kin.eta, link))
                    found[f"{node.name}.{field}"] = Traceable(trace, components, member.fields[field].unit)
        return found

    def _strain(self, name: str) -> Scalar:
        member = self.s.member(name)
        return 0.0 if member is None else member.strain_energy()

    def _node(self, name: str, node: Any) -> tuple[Vec, Vec]:
        """World position and velocity of any node of a flexible body."""
        s = self.s
        link = s.linkage.links[s.linkage.placements[name].link]
        pose = self._moved(name, node)
        slide = times(pose.R, summed(s.kin.eta_rates(link), pose.columns())[1])
        frame, motion = s.kin.pose(link.index), s.kin.motion(link.index)
        arm = times(frame.R, pose.s)
        return add(frame.p, arm), add(motion.v, add(cross(motion.w, arm), times(frame.R, slide)))

    def _node_axes(self, name: str, node: Any) -> list[Scalar]:
        """Axes of a node of a flexible body in the world, by rows; undeformed they are those of its frame."""
        s = self.s
        base = s.kin.pose(s.linkage.placements[name].link).R
        axes = matmul(matmul(base, self._moved(name, node).R), mat(node.axes.tolist()))
        return [x for row in axes for x in row]

    def _moved(self, name: str, node: Any) -> MovedNode:
        """A node against the frame of its flexible body."""
        s = self.s
        member = s.system.bodies[name].member
        assert member is not None
        link = s.linkage.links[s.linkage.placements[name].link]
        return node_places(member, [node])[node.name].pose(s.kin.eta(link), False)

    def _joint(self, joint: Joint) -> dict[str, Traceable]:
        found: dict[str, Traceable] = {}
        for c in (*joint.scalar_coordinates, *joint.measures):
            unit = _length_or_angle(c)
            measured = partial(joint_coordinate, self.s.linkage, self.s.kin, joint, c)
            found[c] = Traceable(lambda m=measured: [m()[0]], (), unit)  # type: ignore[misc]
            found[f"{c}_rate"] = Traceable(lambda m=measured: [m()[1]], (), f"{unit}/s")  # type: ignore[misc]
            rate = self._coordinate_acceleration(joint, c)
            if rate is not None:
                found[f"{c}_acceleration"] = Traceable(lambda r=rate: [r], (), f"{unit}/s^2", True)  # type: ignore[misc]
        for key, own in joint.quantities().items():
            trace = partial(self._own, joint, own)
            found[key] = Traceable(trace, (), own.unit, own.reaction, own.reaction)
        for key, axes in (("", None), ("_in_a", joint.a), ("_in_b", joint.b)):
            found[f"force{key}"] = Traceable(partial(self._reaction, joint, 1, axes), XYZ, "N", True, True)
            found[f"torque{key}"] = Traceable(partial(self._reaction, joint, 0, axes), XYZ, "N m", True, True)
        return found

    def _own(self, joint: Joint, quantity: JointQuantity) -> list[Scalar]:
        """A quantity that only this kind of joint has."""
        a, b = markers(self.s.linkage, joint)
        span = stretch(self.s.kin, Seen(self.s.kin, a, GROUND), Seen(self.s.kin, b, GROUND))
        return [quantity.value(*span, lambda: self._reaction(joint, 1, None))]

    def _coordinate_acceleration(self, joint: Joint, coordinate: str) -> Scalar | None:
        for link in self.s.linkage.links:
            if link.joint == joint.name and coordinate in link.coordinates:
                return None if link.kind.has_quaternion else self.s.du[link.u]
        return None

    def _reaction(self, joint: Joint, part: int, axes: Any) -> Vec:
        wrench = self.reactions.joint(joint)[part]
        return wrench if axes is None else transposed_times(self.s.rotation(axes), wrench)

    def _driver(self, name: str) -> dict[str, Traceable]:
        number = self._first_equation(f"driver {name!r}")
        target = self.s.system.drivers[name].target
        turning = isinstance(target, CoordinateTarget) and target.coordinate in ANGLES
        effort = self.s.mu[number]
        rate = self.s.equations[number].nu
        return {
            "effort": Traceable(lambda: [effort], (), "N m" if turning else "N", True, True),
            "power": Traceable(lambda: [effort * rate], (), "W", True, True),
        }

    def _constraint(self, name: str) -> dict[str, Traceable]:
        """Efforts of a constraint by equation, and force and torque on its last body where it holds bodies."""
        item, first = self.s.system.constraints[name], self._first_equation(f"constraint {name!r}")
        found: dict[str, Traceable] = {}
        for k, effort in enumerate((*item.position_efforts(), *item.velocity_efforts())):
            mu = self.s.mu[first + k]
            found[effort.name] = Traceable(lambda mu=mu: [mu], (), effort.unit, True, True)  # type: ignore[misc]
        for unknown in item.unknowns():
            _, place, speed = self.s.linkage.coordinate(name, unknown.name)
            x, rate = self.s.q[place], self.s.u[speed]
            found[unknown.name] = Traceable(lambda x=x: [x], (), "")  # type: ignore[misc]
            found[f"{unknown.name}_rate"] = Traceable(lambda rate=rate: [rate], (), "1/s")  # type: ignore[misc]
        if item.frames:
            found["force"] = Traceable(lambda: self._pushed(name, item.frames[-1])[0], XYZ, "N", True, True)
            found["torque"] = Traceable(
                lambda: self._pushed(name, item.frames[-1])[1], XYZ, "N m", True, True
            )
        return found

    def _pushed(self, name: str, frame: Frame) -> tuple[Vec, Vec]:
        """Force of a constraint on the body of a frame, and moment about the frame's point, in world axes."""
        s, what = self.s, f"constraint {name!r}"
        first, c = self._first_equation(what), next(c for c in s.mechanics.constraints if c.what == what)
        assert c.pushes is not None
        base, at = s.kin.pose(c.base), s.point(frame).position()
        f, n = ZERO, ZERO
        for k, pushed in enumerate(c.pushes(s.kin, s.t)):
            if frame.body.name in pushed:
                origin, moment, force = pushed[frame.body.name]
                one = scale(s.mu[first + k], times(base.R, force))
                arm = sub(add(base.p, times(base.R, origin)), at)
                f = add(f, one)
                n = add(n, add(scale(s.mu[first + k], times(base.R, moment)), cross(arm, one)))
        return f, n

    def _first_equation(self, what: str) -> int:
        first = 0
        for c in self.s.mechanics.constraints:
            if c.what == what:
                return first
            first += c.size
        raise KeyError(what)

    def _force(self, force: Force) -> dict[str, Traceable]:
        s = self.s
        found = {"power": Traceable(lambda: [energy.power(s, force)], (), "W")}
        if isinstance(force, ContactForce):
            found.update(self._pressing(force))
        else:
            own = force.quantities(s).items()
            found.update({key: Traceable(q.trace, q.components, q.unit) for key, q in own})
        stored = None if "energy" in found else energy.stored(s, force)
        if stored is not None:
            found["energy"] = Traceable(lambda: [stored], (), "J")
        return found

    def _pressing(self, force: ContactForce) -> dict[str, Traceable]:
        """A continuous contact: its overlap, and the forces on b."""
        c = Pressing.of(force, self.s.linkage, self.s.kin)
        base = c.pair.base

        def in_world(v: Vec) -> Vec:
            return times(self.s.kin.pose(base).R, v)

        return {
            "gap": Traceable(lambda: [-c.depth], (), "m"),
            "penetration": Traceable(lambda: [maximum(c.depth, 0.0)], (), "m"),
            "rate": Traceable(lambda: [c.rate], (), "m/s"),
            "point": Traceable(lambda: add(self.s.kin.pose(base).p, in_world(c.point)), XYZ, "m"),
            "normal": Traceable(lambda: in_world(c.normal), XYZ, ""),
            "slip": Traceable(lambda: in_world(c.slip), XYZ, "m/s"),
            "stiffness": Traceable(lambda: [c.stiffness], (), "N/m^n"),
            "normal_force": Traceable(lambda: [c.load], (), "N"),
            "friction_force": Traceable(lambda: in_world(c.friction), XYZ, "N"),
            "force": Traceable(lambda: in_world(c.on_b), XYZ, "N"),
            "energy": Traceable(lambda: [c.energy], (), "J"),
            **(self._patch(c, in_world) if isinstance(c, FieldPressing) else {}),
        }

    def _patch(self, c: FieldPressing, in_world: Callable[[Vec], Vec]) -> dict[str, Traceable]:
        """Quantities that only a contact by fields has: the patch with its pressure, and a moment about the point."""
        return {
            "moment": Traceable(lambda: in_world(c.moment), XYZ, "N m"),
            "area": Traceable(lambda: [c.pressed.area], (), "m^2"),
            "pressure": Traceable(lambda: [c.mean_pressure], (), "Pa"),
            "peak_pressure": Traceable(lambda: [c.pressed.pressure], (), "Pa"),
        }

    def _contact(self, name: str) -> dict[str, Traceable]:
        """Gap and points at all times; forces while a contact lasts, zero while it is open."""
        c = self.s.contacts[name]
        turning = {
            "angle": Traceable(lambda: [c.angle()], (), "rad"),
            "torque": Traceable(c.torque, XYZ, "N m", True),
        }
        return {
            **(turning if c.pair.couples else {}),
            "gap": Traceable(lambda: [c.gap()], (), "m"),
            "point": Traceable(c.point, XYZ, "m"),
            "normal": Traceable(c.normal, XYZ, ""),
            "slip": Traceable(c.slip_velocity, XYZ, "m/s"),
            "force": Traceable(lambda: c.force, XYZ, "N", True),
            "normal_force": Traceable(lambda: [c.normal_force()], (), "N", True),
            "friction_force": Traceable(c.friction_force, XYZ, "N", True),
            "power": Traceable(lambda: [c.power()], (), "W", True),
        }


def _recovered(rows: Any, eta: Callable[[], Values]) -> list[Scalar]:
    """Rows on the modal coordinates."""
    return [sum((float(a) * x for a, x in zip(row, eta(), strict=True)), 0.0) for row in rows]


def _first(pair: Callable[[], tuple[Vec, Vec]]) -> Vec:
    return pair()[0]


def _second(pair: Callable[[], tuple[Vec, Vec]]) -> Vec:
    return pair()[1]


__all__ = ["Quantities"]
