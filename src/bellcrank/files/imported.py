"""What an import of a foreign format brings back: the system, and all that was left behind."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bellcrank.errors import ModelError
from bellcrank.files.elements import Element
from bellcrank.files.places import ModelFileError
from bellcrank.model import System
from bellcrank.model.bodies import GROUND

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Note:
    """Something of the file that is not in the system, or is there under another name.

    what: the element, or attribute of an element. why: what that means. line: counted from 1.
    """

    what: str
    why: str
    line: int

    def __str__(self) -> str:
        return f"line {self.line}: {self.what}: {self.why}"


@dataclass(frozen=True, eq=False)
class Imported:
    """A system from a foreign file.

    ignored: elements and attributes that have no part in the system, every one of them. renamed: names that
    had to change, old to new. changed: what is there in another form than written. meshes: files of shapes
    that the model points to; none was opened.
    """

    system: System
    format: str
    ignored: tuple[Note, ...] = ()
    changed: tuple[Note, ...] = ()
    renamed: dict[str, str] = field(default_factory=dict)
    meshes: tuple[str, ...] = ()

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

    def __init__(self, name: str, gravity: Any) -> None:
        self.system = System(name.replace(".", "_").strip() or "imported", gravity=gravity)
        self.ignored: list[Note] = []
        self.changed: list[Note] = []
        self.renamed: dict[str, str] = {}
        self.meshes: dict[str, None] = {}
        self.given: set[str] = {GROUND}

    def ignore(self, element: Element, why: str, what: str = "") -> None:
        """List an element that has no part in the system; nothing of it is listed a second time."""
        element.seen = True
        for below in element.walk():
            below.seen = True
            below.taken.update(below.attributes)
            named = below.attributes.get("filename") or below.attributes.get("file")
            if below.tag == "mesh" and named:
                self.meshes.setdefault(named)
        self.ignored.append(Note(what or element.label, why, element.line))

    def skip(self, element: Element, key: str, why: str) -> None:
        """List an attribute that is not taken over, if it is there."""
        if key in element.attributes:
            element.taken.add(key)
            self.ignored.append(Note(f"{key} of {element.label}", why, element.line))

    def change(self, element: Element, what: str, why: str) -> None:
        """List what is there in another form."""
        self.changed.append(Note(what, why, element.line))

    def leftovers(self, root: Element, reasons: dict[str, str], usual: str) -> None:
        """List every element and attribute that nobody asked for."""
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
                    self.skip(element, key, why)
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

    def finished(self, format: str, root: Element) -> Imported:
        """The result."""
        if not self.system.bodies:
            raise root.error(f"{self.system.name!r} holds no bodies")
        ignored = tuple(sorted(self.ignored, key=lambda note: note.line))
        return Imported(self.system, format, ignored, tuple(self.changed), self.renamed, tuple(self.meshes))


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


def balanced(J: Array) -> Array:
    """The inertia of a real body in place of one that breaks the triangle inequality: the mean for all axes."""
    low, middle, high = np.linalg.eigvalsh(J)
    if low < 0.0 or low + middle < high:
        return np.asarray(np.eye(3) * max(low + middle + high, 0.0) / 3.0)
    return J


__all__ = ["GROUND", "Builder", "Imported", "Note", "Pose", "balanced", "identity"]
