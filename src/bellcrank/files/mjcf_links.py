"""Connections of MJCF bodies other than joints: springs, armature, equality constraints, tendons."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from bellcrank.files.elements import Element
from bellcrank.files.imported import Array, Builder, Pose
from bellcrank.files.mjcf_values import Compiler, truth
from bellcrank.files.places import nearest
from bellcrank.math.arrays import rotation_of_quaternion
from bellcrank.model import Body, Frame
from bellcrank.model.forces.limits import Limits
from bellcrank.program.trace import Scalar

T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class Site:
    """A mark on a body, in its axes."""

    body: Body
    pose: Pose

    @property
    def frame(self) -> Frame:
        """As a frame of the body."""
        return self.body.frame(self.pose.p, self.pose.R)


class Links:
    """Bodies, joints and sites by their names in the file, and what is made from them."""

    def __init__(self, build: Builder, compiler: Compiler) -> None:
        self.build, self.compiler, self.system = build, compiler, build.system
        self.bodies: dict[str, Body] = {}
        self.joints: dict[str, str] = {}
        self.tendons: dict[str, str] = {}
        self.refs: dict[str, float] = {}
        self.rests: dict[str, float] = {}
        self.timed: list[tuple[Element, str, float, float, float]] = []
        self.sites: dict[str, tuple[Element, Pose, Body]] = {}

    def add_site(self, element: Element, frame: Pose, body: Body) -> None:
        """Remember a site; it is read when something refers to it."""
        name = element.attributes.get("name")
        if name is not None:
            self.sites[name] = (element, frame, body)

    def _site(self, by: Element, name: str) -> Site:
        element, frame, body = self._known(by, "site", name, self.sites)
        element.seen = True
        element.taken.add("name")
        return Site(body, frame @ self.compiler.placement(element))

    def _known(self, by: Element, kind: str, name: str, known: Mapping[str, T]) -> T:
        if name not in known:
            raise by.error(f"no {kind} named {name!r}{nearest(name, known)}")
        return known[name]

    def spring(self, joint: Element, label: str, kind: str) -> None:
        """Stiffness and damping of a joint."""
        k, c = self._first(joint, "stiffness"), self._first(joint, "damping")
        ref, rest = joint.number("ref", 0.0), joint.number("springref", 0.0)
        if kind == "hinge":
            ref, rest = self.compiler.angle(ref), self.compiler.angle(rest)
        own = joint.attributes.get("name", label)
        self.refs[own], self.rests[own] = ref, rest
        time, ratio = joint.numbers("springdamper", (2,), (0.0, 0.0))
        if time > 0.0 and ratio > 0.0:
            self.timed.append((joint, label, time, ratio, rest - ref))
            return
        if not k and not c:
            return
        name = self.build.name(f"{label} spring" if k else f"{label} damping", "force")
        free = rest - ref if k else 0.0
        self.build.blamed(
            joint, self.system.torsion_spring, name, label, stiffness=k, damping=c, free_angle=free
        )

    def timed_springs(self) -> None:
        """Springs and dampers given by a time and a damping ratio, for the inertia that each joint feels in the pose.

        MuJoCo documentation, XML reference, joint, springdamper: with the inertia m, the inverse of the joint's entry
        in the inverse mass matrix, stiffness = m / (time ratio)^2 and damping = 2 m / time.
        """
        if not self.timed:
            return
        mechanism = self.system.mechanism()
        place = {name.rpartition(".")[0]: k for k, name in enumerate(mechanism.speed_names)}
        ease = np.linalg.inv(mechanism.mass_matrix()).diagonal()
        for joint, label, time, ratio, free in self.timed:
            m = 1.0 / float(ease[place[label]])
            name = self.build.name(f"{label} spring", "force")
            stiffness, damping = m / (time * ratio) ** 2, 2.0 * m / time
            self.build.blamed(joint, self.system.torsion_spring, name, label, stiffness, damping, free)

    def damper(self, joint: Element, label: str, a: Frame, b: Frame, freedoms: int) -> None:
        """Springs and damping of a ball or free joint, alike in all directions; a, b: frames that coincide at rest."""
        k, c = self._first(joint, "stiffness"), self._first(joint, "damping")
        if not k and not c:
            return
        turning = self.build.name(f"{label} spring" if k else f"{label} damping", "force")
        self.build.blamed(joint, self.system.rotation_spring, turning, a, b, k, c)
        if freedoms == 6:
            moving = self.build.name(f"{label} pull" if k else f"{label} drag", "force")
            six = [(x,) * 3 + (0.0,) * 3 for x in (k, c)]
            self.build.blamed(joint, self.system.bushing, moving, a, b, *six)

    def limits(self, joint: Element, label: str, kind: str) -> None:
        """Stops of a joint with one coordinate, or of the rotation of a ball."""
        found = self.compiler.limited(joint)
        if found is None:
            return
        if kind == "ball":
            self.build.limit(joint, label, None, self.compiler.angle(found[1]), "turn")
            return
        ref = self.refs[joint.attributes.get("name", label)]
        low, high = (self.compiler.angle(x) if kind == "hinge" else x for x in found)
        for key in ("solreflimit", "solimplimit", "margin"):
            self.build.skip(joint, key, "limits are soft in MuJoCo, rigid here")
        self.build.limit(joint, label, low - ref, high - ref)

    def _first(self, element: Element, key: str) -> float:
        """The linear coefficient; higher ones are listed."""
        values = element.numbers(key, (), (0.0,)) or [0.0]
        if any(values[1:]):
            why = "only the linear coefficient is taken"
            self.build.lose(element, f"{key} of {element.label}", why, "stiffness")
        return values[0]

    def _given(self, element: Element, key: str) -> bool:
        return any(element.numbers(key, (), (0.0,)))

    def armature(self, element: Element, label: str, kind: str) -> None:
        """Inertia of the motion in a joint, alike in all of its directions, or of a tendon."""
        given = element.number("armature", 0.0)
        if not given:
            return
        own = {
            "hinge": {"inertia": given},
            "ball": {"inertia": given},
            "slide": {"mass": given},
            "free": {"inertia": given, "mass": given},
        }[kind]
        self.build.blamed(
            element, self.system.armature, self.build.name(f"{label} armature", "force"), label, **own
        )

    def equality(self, element: Element) -> None:
        """An equality constraint."""
        kinds = {
            "connect": self._connect,
            "weld": self._weld,
            "joint": self._couple,
            "tendon": self._couple_tendons,
        }
        if not truth(element, "active", True):
            self.build.ignore(element, "it is not active")
        elif element.tag not in kinds:
            self.build.ignore(element, "this kind of equality is not imported", effect="equalities")
        else:
            for key in ("solref", "solimp"):
                self.build.skip(element, key, "soft in MuJoCo, exact here")
            kinds[element.tag](element)

    def _label(self, element: Element, unnamed: str, kind: str) -> str:
        given = element.text("name")
        return self.build.name(given or unnamed, kind, element if given else None)

    def _two_bodies(self, element: Element) -> tuple[Body, Body]:
        a = self._known(element, "body", element.needed("body1"), self.bodies)
        b = self._known(element, "body", element.text("body2", "world") or "world", self.bodies)
        return a, b

    def _connect(self, element: Element) -> None:
        if element.text("site1") is not None:
            a, b = self._site(element, element.needed("site1")), self._site(element, element.needed("site2"))
            frames = a.body.point(a.pose.p), b.body.point(b.pose.p)
        else:
            one, two = self._two_bodies(element)
            here = one.point(element.numbers("anchor", (3,)))
            frames = here, two.point_at(here.start_position())
        label = self._label(element, f"{frames[0].body.name} to {frames[1].body.name}", "joint")
        self.build.blamed(element, self.system.spherical, label, *frames, cut=True)

    def _weld(self, element: Element) -> None:
        if element.text("site1") is not None:
            frames = tuple(self._site(element, element.needed(key)).frame for key in ("site1", "site2"))
        else:
            one, two = self._two_bodies(element)
            relative = np.array(element.numbers("relpose", (7,), (0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0)))
            element.taken.update(("anchor", "torquescale"))
            frames = (self._partner(one, two, relative), two.origin)
        label = self._label(element, f"{frames[0].body.name} to {frames[1].body.name}", "joint")
        self.build.blamed(element, self.system.fixed, label, *frames, cut=True)

    def _partner(self, one: Body, two: Body, relative: Array) -> Frame:
        """Where the second body belongs in the first; a zero quaternion stands for the pose of the file."""
        length = float(np.linalg.norm(relative[3:]))
        if length > 1e-10:
            return one.frame(relative[:3], rotation_of_quaternion(relative[3:] / length))
        R = one.start_rotation()
        return one.frame(one.local(np.array(two.position)), R.T @ two.start_rotation())

    def _couple(self, element: Element) -> None:
        names = [element.needed("joint1")] + ([second] if (second := element.text("joint2")) else [])
        labels = [self._known(element, "joint", name, self.joints) for name in names]
        usual = (0.0, 1.0, 0.0, 0.0, 0.0)
        given = element.numbers("polycoef", (1, 2, 3, 4, 5), usual)
        offset, factor, *more = [*given, *usual[len(given) :]]
        if any(len(self.system.joints[label].scalar_coordinates) != 1 for label in labels):
            self.build.ignore(
                element, "a joint of it has no single coordinate to couple", effect="equalities"
            )
            return
        self._follow(element, labels, offset, factor, more)

    def _follow(
        self, element: Element, labels: list[str], offset: float, factor: float, more: list[float]
    ) -> None:
        """The first coordinate as a polynomial of the second; constant where there is no second."""
        name = self._label(element, f"{labels[0]} coupling", "coupling")
        if len(labels) == 2 and any(more):
            powers = (offset, factor, *more)

            def polynomial(x: Scalar) -> Scalar:
                total: Scalar = 0.0
                for c in reversed(powers):
                    total = total * x + c
                return total

            self.build.blamed(element, self.system.transmission, name, *labels, polynomial)
            return
        terms = dict(zip(labels, (1.0, -factor), strict=False))
        self.build.blamed(element, self.system.coupling, name, terms, offset)

    def fixed_tendon(self, element: Element) -> None:
        """A fixed tendon: a massless slider whose displacement is a sum of joint coordinates, by a coupling.

        Springs, dampers, stops, actuators and equalities of the tendon act on the slider.
        """
        terms: dict[str, float] = {}
        start = rest = 0.0
        for part in element.children:
            part.seen = True
            given, factor = part.needed("joint"), part.number("coef")
            label = self._known(part, "joint", given, self.joints)
            if len(self.system.joints[label].scalar_coordinates) != 1:
                self.build.ignore(element, "a joint of it has no single coordinate", effect="tendons")
                return
            terms[label] = terms.get(label, 0.0) - factor
            start += factor * self.refs[given]
            rest += factor * self.rests[given]
        make, system, build = self.build.blamed, self.system, self.build
        own = self._label(element, "tendon", "tendon")
        slider = make(element, system.body, build.name(f"{own} slider", "body"), 0.0)
        make(element, system.prismatic, own, system.ground, slider, axis="x")
        make(element, system.coupling, build.name(f"{own} coupling", "coupling"), {own: 1.0, **terms})
        self.tendons[element.attributes.get("name", own)] = own
        self.refs[f"tendon {own}"] = start
        self._tendon_spring(element, own, start, rest)
        self.armature(element, own, "slide")
        build.dry_friction(element, own, "frictionloss")
        found = self.compiler.limited(element)
        if found is not None:
            for key in ("solreflimit", "solimplimit", "margin"):
                build.skip(element, key, "limits are soft in MuJoCo, rigid here")
            build.limit(element, own, found[0] - start, found[1] - start)

    def _tendon_spring(self, element: Element, own: str, start: float, rest: float) -> None:
        k, c = self._first(element, "stiffness"), self._first(element, "damping")
        length = element.numbers("springlength", (1, 2), (-1.0,))
        if k and len(length) == 2 and length[0] != length[1]:
            why = "springs with a range of free lengths are not imported"
            self.build.lose(element, f"springlength of {element.label}", why, "tendons")
            k = 0.0
        if k or c:
            free = (rest if length[0] < 0.0 else length[0]) - start
            name = self.build.name(f"{own} spring", "force")
            self.build.blamed(
                element, self.system.torsion_spring, name, own, stiffness=k, damping=c, free_angle=free
            )

    def _couple_tendons(self, element: Element) -> None:
        names = [element.needed("tendon1")] + ([second] if (second := element.text("tendon2")) else [])
        if any(name not in self.tendons for name in names):
            self.build.ignore(element, "a tendon of it is not imported", effect="equalities")
            return
        usual = (0.0, 1.0, 0.0, 0.0, 0.0)
        given = element.numbers("polycoef", (1, 2, 3, 4, 5), usual)
        offset, factor, *more = [*given, *usual[len(given) :]]
        self._follow(element, [self.tendons[name] for name in names], offset, factor, more)

    def tendon(self, element: Element) -> None:
        """A fixed tendon, or one from site to site; all other tendons are listed."""
        if element.tag == "fixed":
            self.fixed_tendon(element)
            return
        ends = [child for child in element.children if child.tag == "site"]
        k, c = self._first(element, "stiffness"), self._first(element, "damping")
        length = element.numbers("springlength", (1, 2), (-1.0,))
        why = self._untaken(element, ends, k, c, length)
        if why:
            acts = any(
                self._given(element, key) for key in ("stiffness", "damping", "frictionloss", "armature")
            )
            self.build.ignore(element, why, effect="tendons" if acts else "")
            return
        for end in ends:
            end.seen = True
        points = [self._site(element, end.needed("site")).frame for end in ends]
        name = self._label(element, "tendon", "force")
        if self._slack(length):
            rings = [0.0] * (len(points) - 2)
            self.build.blamed(element, self.system.cable, name, points, rings, k, length=length[1])
        elif k or c:
            start = float(np.linalg.norm(points[1].start_position() - points[0].start_position()))
            free = start if length[0] < 0.0 else length[0]
            self.build.blamed(element, self.system.spring, name, *points, k, c, free_length=free)
        self._rope(element, name, points)

    def _slack(self, length: list[float]) -> bool:
        """Whether the spring of a tendon only pulls."""
        return len(length) == 2 and length[0] == 0.0 < length[1]

    def _untaken(self, element: Element, ends: list[Element], k: float, c: float, length: list[float]) -> str:
        """Why a tendon is not taken, if it is not."""
        if element.tag != "spatial" or len(ends) < 2 or len(ends) < len(element.children):
            return "only tendons from site to site are imported"
        if self._slack(length) and k:
            return "damping of springs that only pull is not imported" if c else ""
        if len(length) == 2 and length[0] != length[1]:
            return "springs that push and pull with a range of free lengths are not imported"
        if (k or c) and len(ends) > 2:
            return "springs that push along several sites are not imported; springlength='0 1.2' makes one that pulls"
        if k or c or self._stretched(element) is not None:
            return ""
        if self.compiler.limited(element) is not None:
            return "its limits need a stiffness: limits=bellcrank.Limits(stiffness=...)"
        return "it has neither stiffness nor damping"

    def _stretched(self, element: Element) -> tuple[Limits, float] | None:
        """How stiff a tendon is at its greatest length [m], where that is known."""
        found, limits = self.compiler.limited(element), self.build.limits
        if found is None or not isinstance(limits, Limits) or limits.stiffness is None:
            return None
        return limits, found[1]

    def _rope(self, element: Element, name: str, points: list[Frame]) -> None:
        """The greatest length of a tendon as a cable that is slack below it."""
        found = self._stretched(element)
        if found is None:
            if self.compiler.limited(element) is not None:
                why = "limits of spatial tendons need a stiffness: limits=bellcrank.Limits(stiffness=...)"
                self.build.lose(element, f"limits of {element.label}", why, "")
            return
        limits, greatest = found
        own = self.build.name(f"{name} limits", "force")
        for key in ("solreflimit", "solimplimit", "margin"):
            self.build.skip(element, key, "limits have the stiffness that was asked for")
        rings = [0.0] * (len(points) - 2)
        self.build.blamed(
            element, self.system.cable, own, points, rings, limits.stiffness, limits.damping, greatest
        )
