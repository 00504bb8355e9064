"""Import of URDF: links and joints of a robot, with every element that has no counterpart listed.

Source: http://wiki.ros.org/urdf/XML. Link frames become body frames; a joint's frame is its origin in the
parent, and the child's frame coincides with it at zero. Joint coordinates are those of the file, with their
signs. Dynamics' damping becomes a damper, mimic a coupling.
"""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from bellcrank.files.elements import Element, parse_elements, read_bytes
from bellcrank.files.imported import MENDED, Array, Builder, Imported, Pose, balanced, identity, nearly_real
from bellcrank.files.places import ModelFileError, nearest
from bellcrank.files.visuals import urdf_collision, urdf_materials, urdf_visual
from bellcrank.math.arrays import rotation_with_z_along, tidy
from bellcrank.model import Body
from bellcrank.model.forces.limits import Limits

NOTHING = 1e-9
"""Share of the largest moment of a robot below which a moment is rounding."""
BASES = ("fixed", "free")
WORLD = "world"
_KINDS = {
    "revolute": "revolute",
    "continuous": "revolute",
    "prismatic": "prismatic",
    "fixed": "fixed",
    "floating": "free",
    "planar": "planar",
}
_REASONS = {
    "limit": "of joints that are neither revolute nor prismatic, limits are not enforced",
    "limit.effort": "bounds of efforts and speeds belong to a controller",
    "limit.velocity": "bounds of efforts and speeds belong to a controller",
    "safety_controller": "belongs to a controller",
    "calibration": "belongs to a controller",
    "transmission": "actuators are not imported; use drivers or joint forces",
    "gazebo": "belongs to another program",
    "material": "no visual has it",
    "drake:joint": "belongs to another program",
    ".friction": "dry friction of planar and floating joints is not imported",
}
_USUAL = "unknown here, without effect"


def load_urdf(
    path: str | PathLike[str],
    base: str = "fixed",
    balance_inertia: bool = False,
    allow: Sequence[str] = (),
    limits: bool | Limits = True,
) -> Imported:
    """The system of a URDF file.

    base: "fixed" welds the root link to the ground, "free" lets it float; a root link called "world" is the
    ground itself. balance_inertia: replace inertias that no real body has by their mean, and say so. allow: What may be
    left out though it changes the motion, see :data:`bellcrank.files.imported.EFFECTS`; "all" for everything. limits:
    Whether stops of joints are taken over, rigid and without rebound, or as what they are
    (``bellcrank.Limits(stiffness=1e4)``). Shapes of `collision` elements stand on the bodies
    (:meth:`~bellcrank.model.bodies.Body.collides`) for ``system.contacts_between(friction=...)``.
    """
    root = parse_elements(read_bytes(path), str(path))
    return read_urdf(root, base, balance_inertia, allow, Path(path).parent, limits)


def loads_urdf(
    text: str,
    name: str = "model",
    base: str = "fixed",
    balance_inertia: bool = False,
    allow: Sequence[str] = (),
    limits: bool | Limits = True,
) -> Imported:
    """The system of a URDF text; `name` is what errors call the text."""
    return read_urdf(parse_elements(text, name), base, balance_inertia, allow, limits=limits)


def read_urdf(
    root: Element,
    base: str = "fixed",
    balance_inertia: bool = False,
    allow: Sequence[str] = (),
    folder: Path | None = None,
    limits: bool | Limits = True,
) -> Imported:
    """The system of a parsed file; meshes are read from its folder, where that is known, or its package's."""
    if root.tag != "robot":
        raise root.error(f"a URDF file begins with <robot>, not <{root.tag}>")
    if base not in BASES:
        raise root.error(f"base is 'fixed' or 'free', not {base!r}")
    return _Reader(root, base, balance_inertia, allow, folder, limits).result


class _Reader:
    def __init__(
        self,
        root: Element,
        base: str,
        balance: bool,
        allow: Sequence[str],
        folder: Path | None,
        limits: bool | Limits,
    ) -> None:
        self.build = Builder(root.text("name", "robot") or "robot", (0.0, 0.0, -9.81), allow, limits)
        self.system, self.base, self.balance = self.build.system, base, balance
        self.materials, self.folder = urdf_materials(root), folder
        self.links: dict[str, Element] = {}
        for link in root.all("link"):
            if self.links.setdefault(link.needed("name"), link) is not link:
                raise link.error(f"there is already a link named {link.needed('name')!r}")
        if not self.links:
            raise root.error("the robot has no links")
        # Links have their names first, joints of the same name another.
        self.names = {name: self.build.name(name, "link", e) for name, e in self.links.items()}
        self.joints = root.all("joint")
        inertias = [e for link in self.links.values() for e in link.walk() if e.tag == "inertia"]
        self.largest = max(
            (abs(e.number(key, 0.0)) for e in inertias for key in ("ixx", "iyy", "izz")), default=0.0
        )
        self.bodies: dict[str, Body] = {}
        self.poses: dict[str, Pose] = {}
        self.made: dict[str, str] = {}
        self._grow(root)
        for joint in self.joints:
            self._mimic(joint)
        for name, link in self.links.items():
            for v in link.all("visual"):
                urdf_visual(self.build, v, self.bodies[name], _origin(v), self.materials, folder)
            for c in link.all("collision"):
                urdf_collision(self.build, c, self.bodies[name], _origin(c), folder)
        self.build.leftovers(
            root, _REASONS, _USUAL, {"dynamics.friction": "friction", "dynamics.damping": "friction"}
        )
        self.result = self.build.finished("URDF", root)

    def _grow(self, root: Element) -> None:
        """Make the bodies from the root link outwards."""
        children: dict[str, list[Element]] = {}
        carried: dict[str, Element] = {}
        for joint in self.joints:
            parent, child = self._end(joint, "parent"), self._end(joint, "child")
            if child in carried:
                raise joint.error(f"link {child!r} hangs on two joints; URDF describes trees only")
            carried[child] = joint
            children.setdefault(parent, []).append(joint)
        roots = [name for name in self.links if name not in carried]
        if not roots:
            raise root.error("the joints run in a circle: no link is the root")
        pending: list[tuple[str, Element | None]] = [(name, None) for name in reversed(roots)]
        while pending:
            name, by = pending.pop()
            with self.build.at(by or self.links[name]):
                self._root(name) if by is None else self._joint(name, by)
            pending.extend((self._end(j, "child"), j) for j in reversed(children.get(name, [])))
        lost = [name for name in self.links if name not in self.poses]
        if lost:
            raise self.links[lost[0]].error(f"link {lost[0]!r} hangs in a circle of joints")

    def _end(self, joint: Element, which: str) -> str:
        end = joint.first(which)
        if end is None:
            raise joint.error(f"{joint.label} needs a <{which}>")
        name = end.needed("link")
        if name not in self.links:
            raise end.error(f"no link named {name!r}{nearest(name, self.links)}")
        return name

    def _root(self, name: str) -> None:
        self.poses[name] = identity()
        element = self.links[name]
        if name == WORLD and element.first("inertial") is None:
            self.bodies[name] = self.system.ground
            return
        body = self._body(name)
        label = self.build.name(f"{self.base} base of {body.name}", "joint")
        make = self.system.fixed if self.base == "fixed" else self.system.free
        self.build.blamed(element, make, label, self.system.ground, body)

    def _body(self, name: str) -> Body:
        element = self.links[name]
        given: dict[str, Any] = {"mass": 0.0}
        inertial = element.first("inertial")
        if inertial is not None:
            given = self._inertial(inertial, name)
        pose = self.poses[name]
        label, make = self.names[name], self.system.body
        try:
            body: Body = self.build.blamed(element, make, label, at=pose.p, rotation=pose.R, **given)
        except ModelFileError as error:
            if self.balance or "inertia" not in str(error) or inertial is None:
                raise
            first = str(error.__cause__).split("; check")[0].split(" (no moment")[0]
            raise inertial.error(
                f"{first}; correct it, or let the import put the mean of the moments in its place "
                "(balance_inertia=True, --balance-inertia)"
            ) from error
        self.bodies[name] = body
        return body

    def _inertial(self, element: Element, link: str) -> dict[str, Any]:
        frame = _origin(element)
        mass, inertia = element.first("mass"), element.first("inertia")
        value = 0.0 if mass is None else mass.number("value")
        J = np.zeros((3, 3))
        if inertia is not None:
            xx, xy, xz, yy, yz, zz = (
                inertia.number(f"i{k}", 0.0) for k in ("xx", "xy", "xz", "yy", "yz", "zz")
            )
            J = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
            if (mended := nearly_real(J, NOTHING * self.largest)) is not J:
                J = mended
                self.build.change(inertia, f"inertia of link {link!r}", MENDED)
            elif self.balance and (fixed := balanced(J)) is not J:
                J = fixed
                self.build.change(
                    inertia, f"inertia of link {link!r}", "no real body has it; the mean was taken"
                )
        J = tidy(frame.R @ J @ frame.R.T, float(np.abs(J).max(initial=0.0)))
        return {"mass": value, "inertia": 0.5 * (J + J.T), "center_of_mass": frame.p}

    def _joint(self, child: str, joint: Element) -> None:
        parent = self._end(joint, "parent")
        kind = joint.needed("type")
        if kind not in _KINDS:
            raise joint.error(
                f"no joint type {kind!r}{nearest(kind, _KINDS) or '; types: ' + ', '.join(_KINDS)}"
            )
        origin = _origin(joint)
        self.poses[child] = self.poses[parent] @ origin
        body = self._body(child)
        axes = self._axes(joint) if kind in ("revolute", "continuous", "prismatic", "planar") else np.eye(3)
        label = self.build.name(joint.needed("name"), "joint", joint)
        self.made[joint.needed("name")] = label
        a = self.bodies[parent].frame(origin.p, tidy(origin.R @ axes))
        make = getattr(self.system, _KINDS[kind])
        self.build.blamed(joint, make, label, a, body.frame(rotation=axes))
        dynamics = joint.first("dynamics")
        if dynamics is not None:
            self._damping(dynamics, label, kind)
        limit = joint.first("limit") if kind in ("revolute", "prismatic") else None
        if limit is not None and {"lower", "upper"} & set(limit.attributes):
            self.build.limit(limit, label, limit.number("lower", 0.0), limit.number("upper", 0.0))

    def _axes(self, joint: Element) -> Array:
        element = joint.first("axis")
        axis = np.array([1.0, 0.0, 0.0] if element is None else element.numbers("xyz", (3,), (1.0, 0.0, 0.0)))
        length = float(np.linalg.norm(axis))
        if length < 1e-12:
            raise joint.error(f"the axis of {joint.label} is the zero vector; give it a direction")
        return rotation_with_z_along(tidy(axis / length))

    def _damping(self, dynamics: Element, joint: str, kind: str) -> None:
        damping = dynamics.number("damping", 0.0)
        if damping and kind in ("revolute", "continuous", "prismatic"):
            label = self.build.name(f"{joint} damping", "force")
            self.build.blamed(dynamics, self.system.torsion_spring, label, joint, damping=damping)
        elif damping:
            dynamics.taken.discard("damping")
        if kind in ("revolute", "continuous", "prismatic"):
            self.build.dry_friction(dynamics, joint, "friction")

    def _mimic(self, joint: Element) -> None:
        mimic = joint.first("mimic")
        if mimic is None:
            return
        leader, own = mimic.needed("joint"), joint.needed("name")
        if leader not in self.made:
            raise mimic.error(f"no joint named {leader!r}{nearest(leader, self.made)}")
        terms = {self.made[own]: 1.0, self.made[leader]: -mimic.number("multiplier", 1.0)}
        if leader == own:
            raise mimic.error(f"joint {own!r} cannot mimic itself")
        for name in terms:
            if len(self.system.joints[name].scalar_coordinates) != 1:
                self.build.ignore(mimic, f"joint {name!r} has no single coordinate to couple")
                return
        label = self.build.name(f"{self.made[own]} mimic", "coupling")
        self.build.blamed(mimic, self.system.coupling, label, terms, mimic.number("offset", 0.0))


def _origin(element: Element) -> Pose:
    origin = element.first("origin")
    if origin is None:
        return identity()
    p = np.array(origin.numbers("xyz", (3,), (0.0, 0.0, 0.0)))
    return Pose(p, rotation_of_rpy(*origin.numbers("rpy", (3,), (0.0, 0.0, 0.0))))


def rotation_of_rpy(roll: float, pitch: float, yaw: float) -> Array:
    """Turned about the fixed axes x, y, z in this order [rad]: Rz(yaw) Ry(pitch) Rx(roll)."""
    (cr, sr), (cp, sp), (cy, sy) = ((np.cos(a), np.sin(a)) for a in (roll, pitch, yaw))
    return tidy(
        np.array(
            [
                [cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr],
                [sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr],
                [-sp, cp * sr, cp * cr],
            ]
        )
    )
