"""Results of elastic contact as files: one HDF5 file a run, compressed, versioned.

A file holds the meshes and materials of the bodies, the obstacles, and all that was recorded, so that what is loaded
answers every series, field and picture. Nothing in a file is code: of an obstacle given by a function nothing but
its velocity is kept.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bellcrank.base.blocks import plain_json
from bellcrank.base.version import __version__
from bellcrank.base.whole_files import check_target
from bellcrank.elastic.assembled import Assembled
from bellcrank.elastic.body import ElasticBody
from bellcrank.elastic.elements import Element, mesh_kind
from bellcrank.elastic.interface import Contact
from bellcrank.elastic.lattices import Array
from bellcrank.elastic.material import Analysis, Mass
from bellcrank.elastic.obstacles import Obstacle, RigidPlane, RigidSphere
from bellcrank.elastic.recording import WORKS, Recorded
from bellcrank.elastic.result import ContactPoints, ElasticReport, ElasticResult
from bellcrank.errors import ModelError, ResultFileError
from bellcrank.fe.material import Material
from bellcrank.result import sealed
from bellcrank.result.layout import as_bytes
from bellcrank.result.sealed import Contents
from bellcrank.result.storage import ELASTIC, check_version, opened, telling_of_damage

VERSION = 1
_STEPS = ("works", "normal", "force", "area", "momentum")


@dataclass(frozen=True, eq=False)
class UnknownObstacle(Obstacle):
    """An obstacle that was given by a function, which files do not keep."""

    def distance(self, x: Array) -> tuple[Array, Array]:
        """Not known any more."""
        raise ModelError("this obstacle was given by a function, which the result file does not hold")


def save(result: ElasticResult, path: str | PathLike[str]) -> None:
    """Write a result; an existing file is replaced only when all is written."""
    sealed.write(check_target(path), contents(result))


def contents(result: ElasticResult) -> Contents:
    """A result as the tables of a file."""
    r = result.recording
    about = {
        "name": result.name,
        "run": asdict(result.run),
        "notes": list(result.notes),
        "bodies": [_body_words(body) for body in result.bodies],
        "contacts": [_contact_words(c, result.bodies) for c in result.contacts],
    }
    tables: dict[str, NDArray[Any]] = {"about": as_bytes(json.dumps(about).encode())}
    for k, body in enumerate(result.bodies):
        tables[f"body_{k}_points"] = body.mesh.doflocs
        tables[f"body_{k}_cells"] = np.asarray(body.mesh.t, dtype=np.int64)
    for k, points in enumerate(result.interfaces):
        tables[f"contact_{k}_places"] = points.places
        tables[f"contact_{k}_areas"] = points.areas
    for name in ("time", "kinetic", "strain", *_STEPS):
        tables[name] = np.array(getattr(r, name))
    counts = [len(points) for points, _, _ in r.points]
    tables |= {
        "updates": np.array(r.updates, dtype=np.int64),
        "touching_count": np.array(counts, dtype=np.int64),
        "touching": np.concatenate([p for p, _, _ in r.points]).astype(np.int64),
        "touching_force": np.concatenate([f for _, f, _ in r.points]),
        "touching_world": np.concatenate([w for _, _, w in r.points]),
        "frame_steps": np.array(r.frame_steps, dtype=np.int64),
        "frames": np.array(r.frames),
        "frame_velocities": np.array(r.frame_velocities),
    }
    attributes: dict[str, str | int] = {
        "format": ELASTIC,
        "version": VERSION,
        "bellcrank": __version__,
    }
    return Contents(attributes, tables)


def _body_words(body: ElasticBody) -> dict[str, Any]:
    return {
        "name": body.name,
        "element": body.element.value,
        "analysis": body.analysis.value,
        "thickness": body.thickness,
        "mass": body.mass.value,
        "material": asdict(body.material),
    }


def _contact_words(contact: Contact, bodies: tuple[ElasticBody, ...]) -> dict[str, Any]:
    words: dict[str, Any] = {
        "name": contact.name,
        "body": next(k for k, b in enumerate(bodies) if b is contact.body),
        "friction": contact.friction,
    }
    met = contact.against
    if isinstance(met, ElasticBody):
        return {**words, "against": next(k for k, b in enumerate(bodies) if b is met)}
    kind: dict[str, Any] = {"kind": "unknown"}
    if isinstance(met, RigidPlane) and met.path is None:
        kind = {"kind": "plane", "point": list(met.point), "normal": list(met.normal)}
    elif isinstance(met, RigidSphere) and met.path is None:
        kind = {"kind": "sphere", "centre": list(met.centre), "radius": met.radius, "hollow": met.hollow}
    return {**words, "obstacle": {**kind, "velocity": [float(v) for v in met.velocity]}}


def load(path: str | PathLike[str]) -> ElasticResult:
    """The result in a file."""
    return result_of(opened(path), path)


def result_of(found: Contents, path: str | PathLike[str]) -> ElasticResult:
    """The result in the contents of a file."""
    if found.attributes.get("format") != ELASTIC:
        raise ResultFileError(f"{path}: this is not a result of elastic contact")
    with telling_of_damage(path):
        check_version(found, ELASTIC, VERSION)
        try:
            return _Stored(found).result()
        except ModelError as error:
            raise ResultFileError(f"the file is damaged ({error})") from error


class _Stored:
    def __init__(self, found: Contents) -> None:
        self.found = found
        self.about = plain_json(found.text("about"))

    def table(self, name: str, kind: Any = float) -> NDArray[Any]:
        """A table of numbers."""
        values = np.asarray(self.found.table(name), dtype=kind)
        finite = kind is not float or bool(np.isfinite(values).all())
        # A run that diverged ends in numbers without bound; nothing else does.
        if not finite and self.about["run"]["status"] != "diverged":
            raise ValueError(f"table {name!r} is not finite")
        return values

    def result(self) -> ElasticResult:
        bodies = tuple(self.body(k, words) for k, words in enumerate(self.about["bodies"]))
        contacts = tuple(_contact(words, bodies) for words in self.about["contacts"])
        points = tuple(
            ContactPoints(self.table(f"contact_{k}_places"), self.table(f"contact_{k}_areas"))
            for k in range(len(contacts))
        )
        system = Assembled(bodies)
        if any(p.places.shape != (len(p.areas), system.dimension) for p in points):
            raise ValueError("contact points do not fit each other")
        return ElasticResult(
            bodies, contacts, ElasticReport(**self.about["run"]), tuple(map(str, self.about["notes"])), system,
            points, self.recorded(system, points), str(self.about["name"]),
        )  # fmt: skip

    def body(self, k: int, words: dict[str, Any]) -> ElasticBody:
        points, cells = self.table(f"body_{k}_points"), self.table(f"body_{k}_cells", np.int64)
        if points.ndim != 2 or cells.ndim != 2 or cells.min() < 0 or cells.max() >= points.shape[1]:
            raise ValueError("a mesh names points that are not there")
        mesh = mesh_kind(Element(words["element"]))(points, cells)
        return ElasticBody(
            mesh, Material(**words["material"]), Analysis(words["analysis"]), str(words["name"]),
            float(words["thickness"]), mass=Mass(words["mass"]),
        )  # fmt: skip

    def recorded(self, system: Assembled, points: tuple[ContactPoints, ...]) -> Recorded:
        time = self.table("time")
        n, c, d = len(time), len(points), system.dimension
        shapes = {
            "works": (n, len(WORKS)), "normal": (n, c), "force": (n, c, d), "area": (n, c),
            "momentum": (n, len(system.bodies), d),
        }  # fmt: skip
        tables = {name: self.shaped(name, shape) for name, shape in shapes.items()}
        counts = self.table("touching_count", np.int64)
        touching = self.table("touching", np.int64)
        first = np.concatenate([[0], np.cumsum([p.count for p in points])])
        if len(counts) != n or (counts < 0).any() or counts.sum() != len(touching):
            raise ValueError("the points that touch do not fit the steps")
        if touching.size and not (touching.min() >= 0 and touching.max() < first[-1]):
            raise ValueError("points touch that are not there")
        cuts = np.cumsum(counts)[:-1]
        local, world = (
            np.split(self.shaped(name, (len(touching), d)), cuts)
            for name in ("touching_force", "touching_world")
        )
        steps = self.table("frame_steps", np.int64)
        if steps.size and not (steps.min() >= 0 and steps.max() < n):
            raise ValueError("fields are kept of steps that are not there")
        whole = (len(steps), len(system.nodes), d)
        updates = [(int(a), int(b), int(c)) for a, b, c in self.table("updates", np.int64)]
        rows: Callable[[str], list[Array]] = lambda name: list(tables[name])  # noqa: E731
        return Recorded(
            first, time.tolist(), self.shaped("kinetic", (n,)).tolist(), self.shaped("strain", (n,)).tolist(),
            rows("works"), rows("normal"), rows("force"), rows("area"), rows("momentum"), updates,
            list(zip(np.split(touching, cuts), local, world, strict=True)), steps.tolist(),
            list(self.shaped("frames", whole)), list(self.shaped("frame_velocities", whole)),
        )  # fmt: skip

    def shaped(self, name: str, shape: tuple[int, ...]) -> Array:
        found = self.table(name)
        if found.shape != shape:
            raise ValueError(f"table {name!r} has the shape {found.shape}, not {shape}")
        return found


def _contact(words: dict[str, Any], bodies: tuple[ElasticBody, ...]) -> Contact:
    body, friction, name = bodies[int(words["body"])], float(words["friction"]), str(words["name"])
    if "against" in words:
        return Contact(body, bodies[int(words["against"])], friction, name=name)
    given = dict(words["obstacle"])
    velocity = tuple(float(v) for v in given["velocity"])
    met: Obstacle
    if given["kind"] == "plane":
        met = RigidPlane(_numbers(given["point"]), _numbers(given["normal"]), velocity=velocity)
    elif given["kind"] == "sphere":
        met = RigidSphere(
            _numbers(given["centre"]), float(given["radius"]), bool(given["hollow"]), velocity=velocity
        )
    else:
        met = UnknownObstacle(velocity=velocity)
    return Contact(body, met, friction, name=name)


def _numbers(given: Any) -> tuple[float, ...]:
    return tuple(float(x) for x in given)
