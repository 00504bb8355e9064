"""What an import of a foreign format brings back: the system, and all that was left behind."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bellcrank.errors import ModelError, unknown_name
from bellcrank.files.elements import Element
from bellcrank.files.places import ModelFileError
from bellcrank.model import System
from bellcrank.model.bodies import GROUND
from bellcrank.model.forces.limits import Limits

Array = NDArray[np.float64]

EFFECTS = ("friction", "stiffness", "fluid", "gravcomp", "tendons", "equalities", "limits")
"""What changes the motion all along where it is left out: an error unless it is allowed by name."""


@dataclass(frozen=True)
class Note:
    """Something of the file that is not in the system, or is there under another name.

    what: the element, or attribute of an element. why: what that means. line: counted from 1. effect: What of the
    motion it changes, one of :data:`EFFECTS`; empty where it acts only when it is met or driven, or not at all.
    """

    what: str
    why: str
    line: int
    effect: str = ""

    def __str__(self) -> str:
        return f"line {self.line}: {self.what}: {self.why}"


@dataclass(frozen=True, eq=False)
class Start:
    """A keyframe: `initial` and `parameters` of a run that starts in it, and its time [s].

    parameters: Controls of actuators that were taken over.
    """

    initial: dict[str, Any]
    parameters: dict[str, float]
    time: float = 0.0


@dataclass(frozen=True, eq=False)
class Imported:
    """A system from a foreign file.

    ignored: elements and attributes that have no part in the system, every one of them. renamed: names that
    had to change, old to new. changed: what is there in another form than written. meshes: files of shapes
    that the model points to; none was opened. starts: Keyframes by name.
    """

    system: System
    format: str
    ignored: tuple[Note, ...] = ()
    changed: tuple[Note, ...] = ()
    renamed: dict[str, str] = field(default_factory=dict)
    meshes: tuple[str, ...] = ()
    starts: dict[str, Start] = field(default_factory=dict)

    def start_in(self, name: str) -> None:
        """Let runs of the system start in a keyframe."""
        if name not in self.starts:
            raise unknown_name("keyframe", name, self.starts)
        for joint, values in self.starts[name].initial.items():
            self.system.initial(joint, values)
        for parameter, value in self.starts[name].parameters.items():
            table = self.system.parameters
            table[parameter] = replace(table[parameter], value=value)

    def to_json(self) -> dict[str, Any]:
        """Everything but the system as plain data."""
        notes = {
            key: [{"what": n.what, "why": n.why, "line": n.line} for n in notes]
            for key, notes in (("ignored", self.ignored), ("changed", self.changed))
        }
        return {
            "format": self.format,
            "system": self.system.name,
            "bodies": len(self.system.bodies),
            "joints": len(self.system.joints),
            **notes,
            "renamed": dict(self.renamed),
            "meshes": list(self.meshes),
            "starts": list(self.starts),
        }

    def summary(self) -> list[tuple[str, str, int, int]]:
        """What was ignored, like with like: what, why, how many, the first line."""
        found: dict[tuple[str, str], list[int]] = {}
        for note in self.ignored:
            kind = re.sub(r" name='.*?'(?=[>])", "", note.what)
            found.setdefault((kind, note.why), []).append(note.line)
        return [(what, why, len(lines), min(lines)) for (what, why), lines in found.items()]


class Builder:
    """A system in the making, with names that fit and a list of what could not be taken over."""

    def __init__(
        self,
        name: str,
        gravity: Any,
        allow: Sequence[str] = (),
        limits: bool | Limits = True,
        contacts: bool = False,
    ) -> None:
        self.allow, self.limits, self.contacts = allowed(allow), limits, contacts
        self.starts: dict[str, Start] = {}
        self.system = System(name.replace(".", "_").strip() or "imported", gravity=gravity)
        self.ignored: list[Note] = []
        self.changed: list[Note] = []
        self.renamed: dict[str, str] = {}
        self.meshes: dict[str, None] = {}
        self.given: set[str] = {GROUND}

    def ignore(self, element: Element, why: str, what: str = "", effect: str = "") -> None:
        """List an element that has no part in the system; nothing of it is listed a second time."""
        element.seen = True
        for below in element.walk():
            below.seen = True
            below.taken.update(below.attributes)
            named = below.attributes.get("filename") or below.attributes.get("file")
            if below.tag == "mesh" and named:
                self.meshes.setdefault(named)
        self._listed(element, Note(what or element.label, why, element.line, effect))

    def _listed(self, element: Element, note: Note) -> None:
        if note.effect and note.effect not in self.allow:
            raise element.error(
                f"{note.what}: {note.why}, and it changes the motion; to leave it out all the same, "
                f"allow={[note.effect]!r}, --allow {note.effect}"
            )
        self.ignored.append(note)

    def skip(self, element: Element, key: str, why: str, effect: str = "") -> None:
        """List an attribute that is not taken over, if it is there; zeros have no effect."""
        if key in element.attributes:
            element.taken.add(key)
            acts = effect if any(word.strip("+-0.eE") for word in element.attributes[key].split()) else ""
            self._listed(element, Note(f"{key} of {element.label}", why, element.line, acts))

    def lose(self, element: Element, what: str, why: str, effect: str) -> None:
        """List a part of an element that is not taken over though the rest is."""
        self._listed(element, Note(what, why, element.line, effect))

    def change(self, element: Element, what: str, why: str) -> None:
        """List what is there in another form."""
        self.changed.append(Note(what, why, element.line))

    def leftovers(
        self, root: Element, reasons: dict[str, str], usual: str, effects: Mapping[str, str] | None = None
    ) -> None:
        """List every element and attribute that nobody asked for; effects: by the same keys as the reasons."""
        effects = effects or {}
        pending = [root]
        while pending:
            element = pending.pop()
            if not element.seen:
                self.ignore(element, reasons.get(element.tag, usual))
                continue
            for key in element.attributes:
                if key not in element.taken:
                    keys = (f"{element.tag}.{key}", f".{key}", element.tag)
                    why = next((reasons[k] for k in keys if k in reasons), usual)
                    self.skip(element, key, why, next((effects[k] for k in keys if k in effects), ""))
            pending.extend(reversed(element.children))

    def name(self, given: str, kind: str, element: Element | None = None) -> str:
        """A name no other thing has, as near to the given one as can be."""
        base = re.sub(r"\s+", " ", given.replace(".", "_")).strip() or kind
        new, number = base, 1
        while new in self.given:
            new = f"{base} {kind}" if number == 1 else f"{base} {kind} {number}"
            number += 1
        self.given.add(new)
        if new != given and element is not None:
            self.renamed[f"{kind} {given}"] = new
        return new

    def blamed(self, element: Element, make: Callable[..., Any], *args: Any, **given: Any) -> Any:
        """Make a thing of the system; what is wrong with it is said at its place in the file."""
        with self.at(element):
            return make(*args, **given)

    @contextmanager
    def at(self, element: Element) -> Iterator[None]:
        """Give errors of the model the place of an element."""
        try:
            yield
        except ModelFileError:
            raise
        except ModelError as error:
            raise element.error(str(error)) from error

    def limit(
        self, element: Element, joint: str, low: float | None, high: float, coordinate: str | None = None
    ) -> None:
        """Limits of a joint with one coordinate, or of one that is named."""
        if low is not None and not low < high:
            self.ignore(
                element, "its limits leave no room to move in; weld the joint instead", effect="limits"
            )
            return
        if self.limits is False:
            self.lose(element, f"limits of {element.label}", "limits were not asked for", "")
            return
        given = Limits() if self.limits is True else self.limits
        name = self.name(f"{joint} limits", "limits")
        self.blamed(
            element,
            self.system.limits,
            name,
            joint,
            **vars(replace(given, low=low, high=high)),
            coordinate=coordinate,
        )

    def dry_friction(self, element: Element, joint: str, key: str) -> None:
        """Dry friction of a joint with one coordinate: a clutch that slips at a constant load."""
        load = element.number(key, 0.0)
        if not load:
            return
        if "friction" in self.allow:
            self.lose(element, f"{key} of {element.label}", "it was allowed to be left out", "friction")
            return
        name = self.name(f"{joint} friction", "force")
        self.blamed(element, self.system.clutch, name, joint, load)

    def finished(self, format: str, root: Element) -> Imported:
        """The result."""
        if not self.system.bodies:
            raise root.error(f"{self.system.name!r} holds no bodies")
        ignored = tuple(sorted(self.ignored, key=lambda note: note.line))
        return Imported(
            self.system,
            format,
            ignored,
            tuple(self.changed),
            self.renamed,
            tuple(self.meshes),
            self.starts,
        )


def allowed(given: Sequence[str]) -> tuple[str, ...]:
    """Names of effects that may be left out; "all" stands for all of them."""
    given = (given,) if isinstance(given, str) else tuple(given)
    for name in given:
        if name not in (*EFFECTS, "all"):
            raise unknown_name("effect to allow", name, (*EFFECTS, "all"))
    return EFFECTS if "all" in given else given


@dataclass(frozen=True, eq=False)
class Pose:
    """A place and a rotation: x -> R x + p."""

    p: Array
    R: Array

    def __matmul__(self, other: Pose) -> Pose:
        return Pose(self.p + self.R @ other.p, self.R @ other.R)


def identity() -> Pose:
    """Nothing moved."""
    return Pose(np.zeros(3), np.eye(3))


ROUNDED = 1e-3
"""Share of the largest moment by which the triangle inequality may be broken by rounding: files give three digits."""

MENDED = "it broke the triangle inequality by rounding; its moments were moved by that"


def nearly_real(J: Array, floor: float = 0.0) -> Array:
    """The nearest inertia of a real body, where the triangle inequality is broken by no more than rounding.

    floor: What is none beside the other bodies of the model [kg m^2].
    """
    moments, axes = np.linalg.eigh(J)
    largest = float(moments[2])
    excess = max(largest - moments[0] - moments[1], -2.0 * moments[0])
    if not 1e-12 * max(largest, 0.0) < excess <= max(ROUNDED * largest, floor):
        return J
    low = np.maximum(moments, 0.0)
    over = max(low[2] - low[0] - low[1], 0.0) / 3.0
    # A trace of rounding more, so that the moments pass however they are turned.
    low = low + np.array([over, over, -over]) + 1e-12 * max(largest, excess)
    return np.asarray(axes @ np.diag(low) @ axes.T)


def balanced(J: Array) -> Array:
    """The inertia of a real body in place of one that breaks the triangle inequality: the mean for all axes."""
    low, middle, high = np.linalg.eigvalsh(J)
    if low < 0.0 or low + middle < high:
        return np.asarray(np.eye(3) * max(low + middle + high, 0.0) / 3.0)
    return J


__all__ = [
    *(
        "GROUND",
        "MENDED",
        "Builder",
        "Imported",
        "Note",
        "Pose",
        "Start",
        "balanced",
        "identity",
        "nearly_real",
    ),
]
