"""Import of MJCF, MuJoCo's format: bodies, joints, springs and equality constraints; the rest is listed.

A body with several joints becomes a chain of massless bodies. A joint's coordinate is qpos - ref, so that it
is zero in the pose of the file. Equality constraints, soft in MuJoCo, are exact here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from bellcrank.files.elements import Element, parse_elements, read_bytes
from bellcrank.files.imported import Array, Builder, Imported, Pose, Start, identity
from bellcrank.files.mjcf_actuators import actuator
from bellcrank.files.mjcf_contacts import Contacts, Seat
from bellcrank.files.mjcf_includes import included
from bellcrank.files.mjcf_inertia import Mass, mass_of
from bellcrank.files.mjcf_links import Links
from bellcrank.files.mjcf_meshes import Meshes
from bellcrank.files.mjcf_values import MAIN, Compiler, Defaults
from bellcrank.files.places import nearest
from bellcrank.files.visuals import mjcf_meshes, mjcf_visual
from bellcrank.math.arrays import rotation_with_z_along, tidy
from bellcrank.model import Body
from bellcrank.model.forces.limits import Limits

KINDS = {"hinge": "revolute", "slide": "prismatic", "ball": "spherical", "free": "free"}
_REASONS = {
    "asset": "materials and textures are not imported; meshes are drawn alone",
    "visual": "without effect on the motion",
    "statistic": "without effect on the motion",
    "actuator": "actuators are not imported; use drivers or joint forces",
    **dict.fromkeys(
        (
            "motor",
            "general",
            "position",
            "velocity",
            "muscle",
            "cylinder",
            "intvelocity",
            "damper",
            "adhesion",
        ),
        "actuators are not imported; use drivers or joint forces",
    ),
    "sensor": "ask the result for quantities instead",
    "contact": "contacts were not asked for (contacts=True, --contacts)",
    "camera": "without effect on the motion",
    "light": "without effect on the motion",
    "site": "marks are not imported",
    "geom": "shapes are drawn alone; they collide with contacts=True (--contacts)",
    "size": "without effect on the motion",
    "custom": "without effect on the motion",
    "composite": "composite bodies are not read",
    "flexcomp": "flexible bodies are not read",
    "replicate": "repeated bodies are not read; save the model from MuJoCo first",
    "attach": "attached models are not read; save the model from MuJoCo first",
    "include": "other files are read only from the folder of a model file",
    "plugin": "belongs to another program",
    ".frictionloss": "dry friction of ball and free joints is not imported",
    ".margin": "shapes and limits touch where they are",
    ".gravcomp": "gravity compensation is not imported",
    ".mocap": "the body is fixed where it stands",
    ".springdamper": "give stiffness and damping instead",
    "option.density": "forces of a fluid are not imported",
    "option.viscosity": "forces of a fluid are not imported",
    "option.wind": "forces of a fluid are not imported",
    ".group": "without effect on the motion",
    ".rgba": "colours are not imported",
    ".material": "colours are not imported",
    ".friction": "contacts were not asked for",
    ".contype": "contacts were not asked for",
    ".conaffinity": "contacts were not asked for",
    ".condim": "contacts were not asked for",
    ".solref": "soft in MuJoCo, rigid here",
    ".solimp": "soft in MuJoCo, rigid here",
}
_USUAL = "without effect here"
_EFFECTS = {
    ".frictionloss": "friction",
    ".springdamper": "stiffness",
    ".gravcomp": "gravcomp",
    "option.density": "fluid",
    "option.viscosity": "fluid",
}


def load_mjcf(
    path: str | PathLike[str],
    include_root: str | PathLike[str] | None = None,
    allow: Sequence[str] = (),
    limits: bool | Limits = True,
    contacts: bool = False,
) -> Imported:
    """The system of an MJCF file.

    include_root: The folder from which included files and meshes are read, and never beyond; the file's own where not
    given. allow: What may be left out though it changes the motion, see :data:`bellcrank.files.imported.EFFECTS`; "all"
    for everything. limits: Whether stops of joints and tendons are taken over, rigid and without rebound, or as what
    they are (``bellcrank.Limits(stiffness=1e4)``). contacts: Whether geoms collide, with their friction, for runs with
    ``impacts="stepping"``.
    """
    root = parse_elements(read_bytes(path), str(path))
    return read_mjcf_file(root, path, include_root, allow, limits, contacts)


def read_mjcf_file(
    root: Element,
    path: str | PathLike[str],
    include_root: str | PathLike[str] | None = None,
    allow: Sequence[str] = (),
    limits: bool | Limits = True,
    contacts: bool = False,
) -> Imported:
    """The system of a parsed file with what it includes."""
    folder = Path(path).parent
    if include_root is not None and not folder.resolve().is_relative_to(Path(include_root).resolve()):
        raise root.error(
            f"the model does not lie in the folder {str(include_root)!r} that it may include from"
        )
    whole = None if include_root is None else Path(include_root)
    return read_mjcf(included(root, folder, whole), folder, whole, allow, limits, contacts)


def loads_mjcf(
    text: str,
    name: str = "model",
    allow: Sequence[str] = (),
    limits: bool | Limits = True,
    contacts: bool = False,
) -> Imported:
    """The system of an MJCF text; `name` is what errors call the text."""
    return read_mjcf(parse_elements(text, name), allow=allow, limits=limits, contacts=contacts)


def read_mjcf(
    root: Element,
    folder: Path | None = None,
    include_root: Path | None = None,
    allow: Sequence[str] = (),
    limits: bool | Limits = True,
    contacts: bool = False,
) -> Imported:
    """The system of a parsed file. folder: Where its meshes lie. include_root: The folder that is never left."""
    if root.tag != "mujoco":
        raise root.error(f"an MJCF file begins with <mujoco>, not <{root.tag}>")
    return _Reader(root, folder, include_root, allow, limits, contacts).result


@dataclass(frozen=True, eq=False)
class _Item:
    """A child of a body with the frame it stands in and the class that holds there."""

    element: Element
    frame: Pose
    child_class: str


def _unit(quaternion: list[float]) -> list[float]:
    """A quaternion of unit length; MuJoCo takes one of zero for no turn."""
    length = float(np.linalg.norm(quaternion))
    return [x / length for x in quaternion] if length > 1e-14 else [1.0, 0.0, 0.0, 0.0]


class _Reader:
    def __init__(
        self,
        root: Element,
        folder: Path | None,
        include_root: Path | None,
        allow: Sequence[str],
        limits: bool | Limits,
        contacts: bool,
    ) -> None:
        self.meshes = mjcf_meshes(root, folder)
        self.compiler, self.defaults = Compiler.of(root), Defaults.of(root)
        self.compiler.meshes = Meshes.of(root, folder, include_root)
        for mesh in self.compiler.meshes.elements.values():
            self.defaults.apply(mesh, MAIN)
        self.build = Builder(
            root.text("model", "mujoco") or "mujoco", self._gravity(root), allow, limits, contacts
        )
        self.system = self.build.system
        self.links = Links(self.build, self.compiler)
        self.contacts = Contacts(self.build, self.compiler, self.meshes, contacts)
        self.masses: dict[int, Mass] = {}
        self.controls: list[str | None] = []
        self.welds = 0
        self.placed: list[tuple[str, str, str, float]] = []
        worlds = root.all("worldbody")
        if not worlds:
            raise root.error("the model has no <worldbody>")
        # Bodies have their names first, joints of the same name another.
        bodies = [e for world in worlds for e in world.walk() if e.tag == "body"]
        self.names = {id(e): self.build.name(self._given(e, k), "body", e) for k, e in enumerate(bodies)}
        for world in worlds:
            self._weigh(world, world.text("childclass", MAIN) or MAIN)
        self._scale_masses()
        for world in worlds:
            self._world(world)
        self.links.timed_springs()
        for section in root.all("tendon"):
            self._section(section, self.links.tendon)
        for section in root.all("equality"):
            self._section(section, self.links.equality)
        for section in root.all("actuator"):
            self._section(section, self._actuator)
        self._keyframes(root)
        self.contacts.finish(root.all("contact") if self.contacts.wanted else [])
        self.build.leftovers(root, _REASONS, _USUAL, _EFFECTS)
        self.result = self.build.finished("MJCF", root)

    def _actuator(self, element: Element) -> None:
        if element.fallback is None and self.defaults.of_other_actuators(element, MAIN):
            self.build.ignore(
                element, "its defaults are given under another kind of actuator, which is not read"
            )
            self.controls.append(None)
            return
        links = self.links
        self.controls.append(actuator(self.build, element, links.joints, links.tendons, links.refs))

    def _keyframes(self, root: Element) -> None:
        """Keyframes as starts: positions, speeds and controls in the order of joints and actuators."""
        positions = sum({"free": 7, "ball": 4}.get(kind, 1) for _, kind, _, _ in self.placed)
        speeds = sum({"free": 6, "ball": 3}.get(kind, 1) for _, kind, _, _ in self.placed)
        keys = [key for section in root.all("keyframe") for key in section.all("key")]
        for number, key in enumerate(keys):
            counts = {"qpos": positions, "qvel": speeds, "ctrl": len(self.controls)}
            wrong = [k for k, n in counts.items() if len(key.numbers(k, (), (0.0,) * n)) != n]
            if wrong:
                self.build.ignore(key, f"{wrong[0]} is not of as many numbers as the model has")
                continue
            q = key.numbers("qpos", (positions,)) if key.text("qpos") is not None else None
            u = key.numbers("qvel", (speeds,), (0.0,) * speeds)
            ctrl = key.numbers("ctrl", (len(self.controls),), (0.0,) * len(self.controls))
            controls = {name: x for name, x in zip(self.controls, ctrl, strict=True) if name is not None}
            name = key.text("name") or str(number)
            self.build.starts[name] = Start(self._start(q, u), controls, key.number("time", 0.0))

    def _start(self, q: list[float] | None, u: list[float]) -> dict[str, Any]:
        found: dict[str, Any] = {}
        i = j = 0
        for label, kind, coordinate, ref in self.placed:
            own: dict[str, Any] = {}
            if kind == "free":
                own = {"velocity": u[j : j + 3], "angular_velocity": u[j + 3 : j + 6]}
                own |= {} if q is None else {"position": q[i : i + 3], "quaternion": _unit(q[i + 3 : i + 7])}
            elif kind == "ball":
                own = {"angular_velocity": u[j : j + 3]}
                own |= {} if q is None else {"quaternion": _unit(q[i : i + 4])}
            else:
                own = {f"{coordinate}_rate": u[j]} if q is None else {coordinate: (q[i] - ref, u[j])}
            found[label] = own
            i, j = i + {"free": 7, "ball": 4}.get(kind, 1), j + {"free": 6, "ball": 3}.get(kind, 1)
        return found

    def _given(self, body: Element, number: int) -> str:
        return body.text("name") or f"body {number + 1}"

    def _gravity(self, root: Element) -> list[float]:
        gravity = [0.0, 0.0, -9.81]
        for option in root.all("option"):
            gravity = option.numbers("gravity", (3,), gravity)
            for flag in option.all("flag"):
                if flag.text("gravity", "enable") == "disable":
                    return [0.0, 0.0, 0.0]
        return gravity

    def _section(self, section: Element, read: Callable[[Element], None]) -> None:
        for element in section.children:
            element.seen = True
            with self.build.at(element):
                read(self.defaults.apply(element, MAIN))

    def _weigh(self, element: Element, child_class: str) -> None:
        """The masses of all bodies below an element."""
        items = list(self._items(element, identity(), child_class))
        if element.tag == "body":
            geoms = [(i.element, i.frame) for i in items if i.element.tag == "geom"]
            for geom, _ in geoms:
                geom.seen = True
            inertial = next((i.element for i in items if i.element.tag == "inertial"), None)
            name = self.names[id(element)]
            self.masses[id(element)] = mass_of(self.build, self.compiler, inertial, geoms, name)
        for i in items:
            if i.element.tag == "body":
                self._weigh(i.element, i.element.text("childclass", i.child_class) or i.child_class)

    def _scale_masses(self) -> None:
        """settotalmass: all masses in proportion."""
        total = sum(mass.mass for mass in self.masses.values())
        if self.compiler.total_mass > 0.0 and total > 0.0:
            share = self.compiler.total_mass / total
            for key, m in self.masses.items():
                self.masses[key] = Mass(share * m.mass, m.center, share * m.inertia)

    def _world(self, world: Element) -> None:
        self.links.bodies["world"] = self.system.ground
        seat = Seat(self.system.ground, identity(), 0, 0)
        for item in self._items(world, identity(), world.text("childclass", MAIN) or MAIN):
            if item.element.tag == "site":
                self.links.add_site(item.element, item.frame, self.system.ground)
            elif item.element.tag == "body":
                self._body(item, seat)
            elif item.element.tag == "geom":
                mjcf_visual(self.compiler, item.element, item.frame, self.system.ground, self.meshes)
                self.contacts.add(item.element, item.frame, seat, "world")

    def _items(self, element: Element, frame: Pose, child_class: str) -> Iterator[_Item]:
        """The children of a body, those inside of <frame> elements included."""
        for child in element.children:
            if child.tag == "frame":
                child.seen = True
                child.taken.add("name")
                inner = frame @ self.compiler.placement(child)
                yield from self._items(child, inner, child.text("childclass", child_class) or child_class)
            elif child.tag in ("body", "geom", "site", "joint", "freejoint", "inertial"):
                # Geoms of the world and sites nobody refers to stay unseen until then.
                child.seen = child.seen or child.tag in ("body", "joint", "freejoint", "inertial")
                if child.tag != "body":
                    self.defaults.apply(child, child_class)
                yield _Item(child, frame, child_class)

    def _body(self, item: _Item, parent: Seat) -> None:
        element = item.element
        child_class = element.text("childclass", item.child_class) or MAIN
        label = self.names[id(element)]
        local = item.frame @ self.compiler.placement(element)
        pose = parent.pose @ local
        items = list(self._items(element, identity(), child_class))
        joints = [i for i in items if i.element.tag in ("joint", "freejoint")]
        mass = self.masses[id(element)]
        with self.build.at(element):
            body = self._chain(element, label, joints, mass, (parent.body, local), pose)
        self.welds += bool(joints)
        weld, hung = (self.welds, parent.weld) if joints else (parent.weld, parent.above)
        seat = Seat(body, pose, weld, hung)
        own = element.attributes.get("name", label)
        self.links.bodies[own] = body
        for i in items:
            if i.element.tag == "site":
                self.links.add_site(i.element, i.frame, body)
            elif i.element.tag == "body":
                self._body(i, seat)
            elif i.element.tag == "geom":
                mjcf_visual(self.compiler, i.element, i.frame, body, self.meshes)
                self.contacts.add(i.element, i.frame, seat, own)

    def _chain(
        self,
        element: Element,
        name: str,
        joints: list[_Item],
        mass: Mass,
        hung: tuple[Body, Pose],
        pose: Pose,
    ) -> Body:
        """The body on its joints: massless bodies between them where there are several."""
        make = self.build.blamed
        placed = {"at": pose.p, "rotation": pose.R}
        before, local = hung
        labels = [self._joint_name(name, k, i.element, len(joints)) for k, i in enumerate(joints)]
        names = [self.build.name(f"{name} on {label}", "body") for label in labels[:-1]]
        for k, (item, label) in enumerate(zip(joints, labels, strict=True)):
            if k < len(names):
                after = make(element, self.system.body, names[k], 0.0, **placed)
            else:
                after = self._weighed(element, name, mass, pose)
            self._joint(item, label, before, local, after)
            before, local = after, identity()
        if not joints:
            after = self._weighed(element, name, mass, pose)
            label = self.build.name(f"{name} mount", "joint")
            make(element, self.system.fixed, label, before.frame(local.p, local.R), after.origin)
            return after
        return before

    def _weighed(self, element: Element, name: str, mass: Mass, pose: Pose) -> Body:
        J = tidy(mass.inertia, float(np.abs(mass.inertia).max(initial=0.0)))
        made: Body = self.build.blamed(
            element, self.system.body, name, mass.mass, J, mass.center, at=pose.p, rotation=pose.R
        )
        return made

    def _joint_name(self, body: str, number: int, joint: Element, count: int) -> str:
        given = joint.text("name")
        unnamed = f"joint of {body}" if count == 1 else f"joint {number + 1} of {body}"
        return self.build.name(given or unnamed, "joint", joint if given else None)

    def _joint(self, item: _Item, label: str, before: Body, local: Pose, after: Body) -> None:
        joint = item.element
        kind = "free" if joint.tag == "freejoint" else joint.text("type", "hinge") or ""
        if kind not in KINDS:
            raise joint.error(
                f"no joint type {kind!r}{nearest(kind, KINDS) or '; types: ' + ', '.join(KINDS)}"
            )
        self.links.joints[joint.attributes.get("name", label)] = label
        make = getattr(self.system, KINDS[kind])
        if kind == "free":
            joint.taken.add("type")
            self.build.blamed(joint, make, label, before, after)
            if joint.tag == "joint":
                self.links.damper(joint, label, before.frame(local.p, local.R), after.origin, 6)
                self.links.armature(joint, label, kind)
            self.placed.append((label, kind, "", 0.0))
            return
        at = item.frame.p + item.frame.R @ np.array(joint.numbers("pos", (3,), (0.0, 0.0, 0.0)))
        axes = np.eye(3) if kind == "ball" else self._axes(joint, item.frame)
        a = before.frame(local.p + local.R @ at, tidy(local.R @ axes))
        b = after.frame(at, axes)
        self.build.blamed(joint, make, label, a, b)
        self.links.armature(joint, label, kind)
        if kind == "ball":
            self.links.damper(joint, label, a, b, 3)
            self.links.limits(joint, label, kind)
            self.placed.append((label, kind, "", 0.0))
        else:
            self.links.spring(joint, label, kind)
            self.links.limits(joint, label, kind)
            self.build.dry_friction(joint, label, "frictionloss")
            ref = self.links.refs[joint.attributes.get("name", label)]
            self.placed.append((label, kind, "angle" if kind == "hinge" else "displacement", ref))

    def _axes(self, joint: Element, frame: Pose) -> Array:
        axis = frame.R @ np.array(joint.numbers("axis", (3,), (0.0, 0.0, 1.0)))
        length = float(np.linalg.norm(axis))
        if length < 1e-12:
            raise joint.error(f"the axis of {joint.label} is the zero vector; give it a direction")
        return rotation_with_z_along(tidy(axis / length))
