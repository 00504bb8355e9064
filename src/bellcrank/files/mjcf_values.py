"""Values of MJCF: compiler settings, classes of defaults, placements.

Source: MuJoCo documentation, XML reference (https://mujoco.readthedocs.io/en/stable/XMLreference.html).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from bellcrank.files.elements import Element
from bellcrank.files.imported import Array, Pose
from bellcrank.files.mjcf_meshes import Meshes
from bellcrank.files.places import nearest
from bellcrank.math.arrays import rotation_of_quaternion, tidy

MAIN = "main"


@dataclass(eq=False)
class Compiler:
    """How numbers of the file are to be read."""

    degrees: bool = True
    sequence: str = "xyz"
    inertia_from_geom: str = "auto"
    groups: tuple[float, float] = (0.0, 5.0)
    balance: bool = False
    least_mass: float = 0.0
    least_inertia: float = 0.0
    total_mass: float = -1.0
    auto_limits: bool = True
    limits: bool = True
    contacts: bool = True
    meshes: Meshes = field(default_factory=Meshes)

    @classmethod
    def of(cls, root: Element) -> Compiler:
        """From the <compiler> elements, later ones over earlier ones."""
        made = cls()
        for element in root.all("compiler"):
            made.degrees = _word(element, "angle", ("degree", "radian"), made.degrees_word) == "degree"
            made.sequence = element.text("eulerseq", made.sequence) or ""
            if len(made.sequence) != 3 or any(c not in "xyzXYZ" for c in made.sequence):
                raise element.error(f"eulerseq is three of x, y, z, X, Y, Z, not {made.sequence!r}")
            choices = ("auto", "true", "false")
            made.inertia_from_geom = _word(element, "inertiafromgeom", choices, made.inertia_from_geom)
            low, high = element.numbers("inertiagrouprange", (2,), made.groups)
            made.groups = (low, high)
            made.balance = truth(element, "balanceinertia", made.balance)
            made.least_mass = element.number("boundmass", made.least_mass)
            made.least_inertia = element.number("boundinertia", made.least_inertia)
            made.total_mass = element.number("settotalmass", made.total_mass)
            made.auto_limits = truth(element, "autolimits", made.auto_limits)
            if _word(element, "coordinate", ("local", "global"), "local") == "global":
                raise element.error("coordinate='global' is not read; save the model from MuJoCo first")
        for option in root.all("option"):
            for flag in option.all("flag"):
                made.limits = _word(flag, "limit", ("enable", "disable"), "enable") == "enable"
                made.contacts = _word(flag, "contact", ("enable", "disable"), "enable") == "enable"
        return made

    def limited(self, element: Element) -> tuple[float, float] | None:
        """The range of an element that has limits, as it is written."""
        said = _word(element, "limited", ("auto", "true", "false"), "auto")
        given = element.text("range")
        auto = self.auto_limits and given is not None
        if said == "false" or (said == "auto" and not auto) or not self.limits:
            return None
        low, high = element.numbers("range", (2,), (0.0, 0.0))
        return low, high

    @property
    def degrees_word(self) -> str:
        """The unit of angles in the file."""
        return "degree" if self.degrees else "radian"

    def angle(self, given: float) -> float:
        """An angle of the file [rad]."""
        return math.radians(given) if self.degrees else given

    def placement(self, element: Element) -> Pose:
        """pos and one of quat, axisangle, xyaxes, zaxis, euler."""
        return Pose(np.array(element.numbers("pos", (3,), (0.0, 0.0, 0.0))), self.rotation(element))

    def rotation(self, element: Element) -> Array:
        """The orientation of an element."""
        if element.text("quat") is not None:
            return rotation_of_quaternion(_unit(element, "quat", element.numbers("quat", (4,))))
        if element.text("axisangle") is not None:
            *axis, angle = element.numbers("axisangle", (4,))
            half = 0.5 * self.angle(angle)
            x, y, z = math.sin(half) * _unit(element, "axisangle", axis)
            return rotation_of_quaternion(np.array([math.cos(half), x, y, z]))
        if element.text("euler") is not None:
            return self._euler(element.numbers("euler", (3,)))
        if element.text("xyaxes") is not None:
            six = element.numbers("xyaxes", (6,))
            x = _unit(element, "xyaxes", six[:3])
            y = np.array(six[3:])
            y = _unit(element, "xyaxes", list(y - (x @ y) * x))
            return tidy(np.column_stack([x, y, np.cross(x, y)]))
        if element.text("zaxis") is not None:
            return rotation_to(_unit(element, "zaxis", element.numbers("zaxis", (3,))))
        return np.eye(3)

    def _euler(self, angles: list[float]) -> Array:
        R = np.eye(3)
        for angle, letter in zip(angles, self.sequence, strict=True):
            half = 0.5 * self.angle(angle)
            q = np.zeros(4)
            q[0], q[1 + "xyz".index(letter.lower())] = math.cos(half), math.sin(half)
            turn = rotation_of_quaternion(q)
            # Small letters turn about the axes as they move, capital ones about the fixed axes.
            R = R @ turn if letter.islower() else turn @ R
        return tidy(R)


def rotation_to(z: Array) -> Array:
    """The shortest rotation that turns z to a unit vector."""
    if z[2] < -1.0 + 1e-12:
        return np.diag([1.0, -1.0, -1.0])
    v, c = np.cross([0.0, 0.0, 1.0], z), float(z[2])
    K = np.array([[0.0, -v[2], v[1]], [v[2], 0.0, -v[0]], [-v[1], v[0], 0.0]])
    return tidy(np.eye(3) + K + K @ K / (1.0 + c))


def _unit(element: Element, key: str, given: list[float]) -> Array:
    vector = np.array(given)
    length = float(np.linalg.norm(vector))
    if length < 1e-10:
        raise element.error(f"{key} of {element.label} has no length; give it a direction")
    return np.asarray(vector / length)


def _word(element: Element, key: str, choices: tuple[str, ...], default: str) -> str:
    found = element.text(key, default) or ""
    if found not in choices:
        raise element.error(f"{key} of {element.label} is one of {', '.join(choices)}, not {found!r}")
    return found


def truth(element: Element, key: str, default: bool) -> bool:
    """An attribute that is true or false."""
    return _word(element, key, ("true", "false"), "true" if default else "false") == "true"


@dataclass(eq=False)
class Defaults:
    """Classes of default attributes: by class and tag the element that stands in."""

    table: dict[str, dict[str, Element]] = field(default_factory=lambda: {MAIN: {}})

    @classmethod
    def of(cls, root: Element) -> Defaults:
        """From the <default> elements."""
        made = cls()
        for element in root.all("default"):
            made._read(element, element.text("class", MAIN) or MAIN, {})
        return made

    def _read(self, element: Element, name: str, inherited: dict[str, Element]) -> None:
        table = self.table.setdefault(name, {})
        table.update({tag: known for tag, known in inherited.items() if tag not in table})
        for child in element.children:
            if child.tag == "default":
                continue
            child.seen = True
            child.fallback = table.get(child.tag)
            table[child.tag] = child
        for child in element.all("default"):
            self._read(child, child.needed("class"), table)

    def of_other_actuators(self, element: Element, inherited: str) -> bool:
        """Whether the class of an actuator has defaults of another kind; MuJoCo keeps one set for all kinds."""
        table = self.table.get(element.text("class", inherited) or inherited, {})
        return any(tag in table for tag in ("general", "motor", "position", "velocity", "damper", "muscle"))

    def apply(self, element: Element, inherited: str) -> Element:
        """Let the class of an element stand in for what it leaves out."""
        name = element.text("class", inherited) or inherited
        if name not in self.table:
            raise element.error(f"no default class {name!r}{nearest(name, self.table)}")
        element.fallback = self.table[name].get(element.tag)
        return element
