"""Assemblies from CAD: STEP files through OpenCASCADE, in a process of its own.

Parts become bodies with mass, centre of mass, inertia and triangles. Mates are not in STEP files; joints are proposed
where faces fit (:mod:`bellcrank.files.fits`).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bellcrank.base import blocks
from bellcrank.base.confined import EndedError, RefusedError, confined
from bellcrank.base.optional import needed
from bellcrank.base.whole_files import read_regular, write_whole
from bellcrank.contact.mesh import Mesh
from bellcrank.errors import BellcrankError, MissingFile, ModelError, unknown_name
from bellcrank.files.fits import Placed, Proposal, proposals
from bellcrank.files.imported import nearly_real
from bellcrank.files.step_reader import FACE_COLUMNS
from bellcrank.math.arrays import is_rotation, tidy
from bellcrank.model import System
from bellcrank.model.bodies import GROUND

Array = NDArray[np.float64]

BEGUN = re.compile(rb"ISO-10303-21|STEP;", re.IGNORECASE)
"""What a STEP file begins with, today and long ago: without it no process has to be started."""
LARGEST = 500_000_000
"""Bytes of a file at most: assemblies of thousands of parts."""
SECONDS = 60.0
"""Time a child has to start and read a small file, on a busy machine."""
BYTES_PER_SECOND = 100e3
"""What a child reads at least: a tenth of what OpenCASCADE reads, heals and cuts into triangles."""
MEMORY = 2**31
"""Address space of a child [bytes] for a small file."""
EXPANSION = 60
"""Bytes for one of the file, beyond that: entities, shapes and triangles."""
DEFLECTION = 1e-3
"""Largest distance of triangles from the surface over the size of a part."""
DENSITIES = {
    "steel": 7850.0,
    "stainless steel": 7930.0,
    "cast iron": 7200.0,
    "aluminium": 2700.0,
    "titanium": 4430.0,
    "magnesium": 1800.0,
    "brass": 8500.0,
    "bronze": 8800.0,
    "copper": 8960.0,
    "lead": 11340.0,
    "glass": 2500.0,
    "concrete": 2400.0,
    "wood": 600.0,
    "rubber": 1100.0,
    "abs": 1050.0,
    "nylon": 1140.0,
    "pom": 1410.0,
    "polycarbonate": 1200.0,
    "pla": 1240.0,
    "carbon fibre": 1600.0,
}
"""Of materials by name [kg/m^3], as handbooks round them."""


@dataclass(frozen=True, eq=False)
class Part:
    """An instance of a part of an assembly.

    name: Of its body. product: As the file calls the part. at, rotation: Of its own frame in world axes [m]. volume:
    [m^3]. center, moments: Centre [m] and inertia about it at unit density [m^5], in its own axes. density: That of the
    file [kg/m^3], 0 where it gives none. colour: "#rrggbb" or empty. assembly: Names of the assemblies it stands in.
    """

    name: str
    product: str
    at: Array
    rotation: Array
    volume: float
    center: Array
    moments: Array
    density: float
    colour: str
    assembly: tuple[str, ...]
    vertices: Array = field(repr=False)
    faces: NDArray[np.int64] = field(repr=False)
    surfaces: Array = field(repr=False)
    spans: NDArray[np.int64] = field(repr=False)

    def placed(self) -> Placed:
        """Its faces in world axes."""
        R = self.rotation
        surfaces = self.surfaces.copy()
        surfaces[:, 1:4] = surfaces[:, 1:4] @ R.T + self.at
        surfaces[:, 4:7] = surfaces[:, 4:7] @ R.T
        points = self.vertices @ R.T + self.at
        return Placed(self.name, surfaces, self.spans, points[self.faces], points.min(0), points.max(0))


@dataclass(frozen=True, eq=False)
class Assembly:
    """What a STEP file holds.

    parts: In the order of the file. joints: Proposed where faces fit. notes: Parts that touch without a joint of ours,
    names that changed, shapes without a solid.
    """

    name: str
    parts: tuple[Part, ...]
    joints: tuple[Proposal, ...]
    notes: tuple[str, ...]

    def part(self, name: str) -> Part:
        """The part of a name."""
        for part in self.parts:
            if part.name == name:
                return part
        raise unknown_name("part", name, [part.name for part in self.parts])

    def densities(
        self, density: float | str | None = None, of: Mapping[str, float | str] | None = None
    ) -> dict[str, float]:
        """Density of every part [kg/m^3]: its own of `of`, that of the file, then `density`; or a material's name."""
        own = {name: density_of(value) for name, value in (of or {}).items()}
        for name in own:
            self.part(name)
        usual = None if density is None else density_of(density)
        found = {}
        for part in self.parts:
            value = own.get(part.name) or part.density or usual
            if value is None:
                raise ModelError(
                    f"the density of part {part.name!r} is not in the file; give density=7850.0 or a material, such as "
                    'density="steel" (--density 7850, --density steel)'
                )
            found[part.name] = value
        return found

    def system(
        self,
        density: float | str | None = None,
        of: Mapping[str, float | str] | None = None,
        ground: str | None = None,
        joints: bool = True,
        contacts: bool = False,
        friction: float = 0.0,
        restitution: float = 0.0,
        folder: str | PathLike[str] | None = None,
    ) -> System:
        """A system of the parts, joined as proposed.

        density: [kg/m^3] or a material of :data:`DENSITIES`, for parts whose density the file does not give. of: That
        of parts by name. ground: The part that is welded to the ground; the first where None. joints: Whether to join
        parts as proposed; otherwise each floats. contacts: Whether unjoined parts collide as meshes, in runs with
        ``impacts="stepping"``, with a friction coefficient and a restitution. folder: Where mesh files are written, so
        that a model file can name them; without one the system holds the triangles itself.
        """
        system = System(self.name)
        densities = self.densities(density, of)
        fixed = self.part(ground).name if ground is not None else self.parts[0].name
        meshes = self._meshes(None if folder is None else Path(folder))
        for part in self.parts:
            rho = densities[part.name]
            body = system.body(
                part.name,
                mass=rho * part.volume,
                inertia=nearly_real(rho * part.moments),
                center_of_mass=part.center,
                at=part.at,
                rotation=part.rotation,
            )
            body.visual(meshes[id(part.vertices)], colour=part.colour or None)
            if contacts:
                body.collides(body.shape(meshes[id(part.vertices)]))
        used = {*system.bodies, GROUND}

        def name(text: str) -> str:
            new, number = text, 2
            while new in used:
                new, number = f"{text} {number}", number + 1
            used.add(new)
            return new

        system.fixed(name(f"{fixed} to ground"), system.ground, fixed)
        groups = {part.name: part.name for part in self.parts}

        def group(of: str) -> str:
            while groups[of] != of:
                of = groups[of]
            return of

        for joint in self.joints if joints else ():
            make = getattr(system, joint.kind)
            more = {} if joint.axis is None else {"axis": joint.axis}
            make(name(f"{joint.a} to {joint.b}"), joint.a, joint.b, at=joint.at, **more)
            groups[group(joint.b)] = group(joint.a)
        for part in self.parts:
            if group(part.name) != group(fixed):
                system.free(name(f"{part.name} free"), system.ground, part.name)
                groups[group(part.name)] = group(fixed)
        if contacts:
            system.contacts_between(restitution=restitution, friction=friction)
        return system

    def _meshes(self, folder: Path | None) -> dict[int, Mesh]:
        """Triangles of every product, from files where a folder is given."""
        found: dict[int, Mesh] = {}
        names: set[str] = set()
        for part in self.parts:
            key = id(part.vertices)  # Instances of a product share its arrays.
            if key in found:
                continue
            if folder is None:
                found[key] = Mesh(part.vertices, part.faces)
                continue
            stem = re.sub(r"[^A-Za-z0-9_-]+", "_", part.product).strip("_")[:60].lower() or "part"
            file, number = stem, 2
            while file in names:
                file, number = f"{stem}_{number}", number + 1
            names.add(file)
            folder.mkdir(exist_ok=True)
            write_whole(folder / f"{file}.stl", [_stl(part.vertices[part.faces])])
            found[key] = Mesh.from_file(folder / f"{file}.stl")
        return found


def load_step(path: str | PathLike[str], deflection: float = DEFLECTION) -> Assembly:
    """The parts of a STEP file, and joints where their faces fit.

    deflection: Largest distance of triangles from the surface over the size of a part.
    """
    needed("OCP", "a STEP file", "cadquery-ocp-novtk", "cad")
    file = Path(path)
    if not 1e-6 <= deflection <= 0.1:
        raise ModelError(f"the deflection of triangles lies between 1e-6 and 0.1, not {deflection!r}")
    if not file.is_file():
        raise MissingFile(f"{file}: there is no such file")
    size = file.stat().st_size
    if size > LARGEST:
        raise ModelError(f"{file.name}: larger than {LARGEST // 10**6} MB; export fewer parts at a time")
    try:
        text = read_regular(file, LARGEST)
        if not BEGUN.search(text):
            raise ValueError("it is damaged, or no STEP file")
        found = confined(
            "bellcrank.files.step_reader:packed",
            f"{deflection!r}\n".encode() + text,
            SECONDS + size / BYTES_PER_SECOND,
            MEMORY + EXPANSION * size,
        )
        arrays, about = blocks.unpacked(found)
        parts, notes = _parts(arrays, about)
    except (RefusedError, EndedError, BellcrankError, ValueError, KeyError, IndexError, TypeError) as error:
        raise ModelError(f"OpenCASCADE cannot read {file.name!r}: {error}") from error
    if not parts:
        raise ModelError(f"{file.name}: it holds no solids; export the assembly with solid bodies")
    joints, left = proposals([part.placed() for part in parts])
    name = re.sub(r"[^\w -]+", "_", file.stem).strip() or "assembly"
    return Assembly(name, tuple(parts), tuple(joints), (*notes, *left))


def _parts(arrays: dict[str, NDArray[Any]], about: dict[str, Any]) -> tuple[list[Part], list[str]]:
    """Instances of parts with names that differ; what the child sent is held against what it should be."""
    nodes, products, places = about["nodes"], about["parts"], arrays["places"]
    if places.shape != (len(nodes), 4, 4) or not np.isfinite(places).all():
        raise ValueError("the places of its parts make no sense")
    found: list[Part] = []
    notes: list[str] = []
    used = {GROUND}
    for k, node in enumerate(nodes):
        number = int(node["part"])
        if number < 0:
            if not any(other["parent"] == k for other in nodes):
                notes.append(f"{_said(node)!r} holds no solid and is left out")
            continue
        vertices, faces = arrays[f"vertices {number}"], arrays[f"faces {number}"]
        moments, surfaces = arrays[f"moments {number}"], arrays[f"surfaces {number}"]
        spans = arrays[f"spans {number}"]
        given = _said(node)
        name = _name(given, used)
        if name != given:
            notes.append(f"{given!r} is called {name!r}")
        if not len(faces) or faces.max() >= len(vertices) or surfaces.shape[1:] != (FACE_COLUMNS,):
            raise ValueError(f"part {name!r} has no surface")
        if not all(np.isfinite(x).all() for x in (vertices, moments, surfaces)):
            raise ValueError(f"part {name!r} has numbers that are none")
        R = places[k, :3, :3]
        if not is_rotation(R, 1e-6):
            raise ValueError(f"part {name!r} is not turned by a rotation")
        # STEP files give directions by few digits.
        u, _, v = np.linalg.svd(R)
        R = tidy(u @ v)
        inertia = moments[4:].reshape(3, 3)
        found.append(
            Part(
                name,
                str(products[number]["name"]) or given,
                tidy(places[k, :3, 3]),
                R,
                float(moments[0]),
                moments[1:4],
                (inertia + inertia.T) / 2.0,
                max(float(products[number]["density"]), 0.0),
                str(node.get("colour", "")),
                tuple(_above(nodes, k)),
                vertices,
                faces,
                surfaces,
                spans,
            )
        )
    return found, notes


def _above(nodes: list[dict[str, Any]], k: int) -> list[str]:
    """Names of the assemblies around a node, the outermost first."""
    found: list[str] = []
    parent = int(nodes[k]["parent"])
    while parent >= 0:
        found.insert(0, _said(nodes[parent]))
        parent = int(nodes[parent]["parent"])
    return found


def _said(node: dict[str, Any]) -> str:
    """The name of an instance; where it has a number instead of a name, that of its product."""
    given, product = str(node["name"]), str(node["product"])
    return product if not given or re.fullmatch(r"NAUO\d*|=>\[[\d:]+\]|\d+", given) else given


def _name(given: str, used: set[str]) -> str:
    """A name that no other part has."""
    base = re.sub(r"\s+", " ", given.replace(".", "_")).strip() or "part"
    new, number = base, 2
    while new in used:
        new, number = f"{base} {number}", number + 1
    used.add(new)
    return new


def density_of(value: float | str) -> float:
    """A density [kg/m^3], or that of a material by its name."""
    if isinstance(value, str):
        if value.lower() not in DENSITIES:
            raise unknown_name("material", value, DENSITIES)
        return DENSITIES[value.lower()]
    if not (isinstance(value, int | float) and 0.0 < value < float("inf")):
        raise ModelError(f"a density is a positive number [kg/m^3] or a material, not {value!r}")
    return float(value)


def _stl(corners: Array) -> bytes:
    """Triangles as a binary STL file."""
    rows = np.zeros((len(corners), 50), np.uint8)
    numbers = np.zeros((len(corners), 12), "<f4")
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    lengths = np.linalg.norm(normals, axis=1, keepdims=True)
    numbers[:, :3] = np.divide(normals, lengths, out=np.zeros_like(normals), where=lengths > 0.0)
    numbers[:, 3:] = corners.reshape(-1, 9)
    rows[:, :48] = numbers.view(np.uint8).reshape(-1, 48)
    return b"bellcrank".ljust(80) + len(corners).to_bytes(4, "little") + rows.tobytes()


__all__ = ["DENSITIES", "Assembly", "Part", "density_of", "load_step"]
