"""Visuals of URDF and MJCF files: primitives, meshes and colours, for pictures alone.

A file may come from anywhere. Meshes are read within their bounds, and only from the folder of the model or of the
package that holds it; one that is missing or cannot be read is listed, and the model goes without it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cache
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from bellcrank.contact.mesh import Mesh
from bellcrank.contact.shapes import Box, Capsule, Cylinder, Ellipsoid, Plane, Shape, Sphere
from bellcrank.errors import ModelError
from bellcrank.fe.triangle_files import KINDS, read_pieces, read_triangles
from bellcrank.files.elements import Element
from bellcrank.files.imported import Builder, Pose
from bellcrank.files.mjcf_inertia import SOLIDS, size_and_pose
from bellcrank.files.mjcf_values import Compiler

if TYPE_CHECKING:
    from bellcrank.model import Body

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]

PACKAGE = "package://"
SHOWN_GROUPS = 2.0
"""Geoms of higher groups are not shown by MuJoCo's viewer: by custom they are for collisions."""


class Unseen(Exception):
    """A visual that cannot be drawn; its text says why."""


def urdf_materials(root: Element) -> dict[str, Element]:
    """Materials of a robot by name."""
    return {m.attributes.get("name", ""): m for m in root.children if m.tag == "material"}


def urdf_visual(
    build: Builder,
    element: Element,
    body: Body,
    pose: Pose,
    materials: Mapping[str, Element],
    folder: Path | None,
) -> None:
    """Draw a body by a <visual>, its frame at a pose; one that cannot be drawn is listed."""
    geometry = element.first("geometry")
    given = geometry.children[0] if geometry is not None and geometry.children else None
    if given is None:
        build.ignore(element, "it has no geometry")
        return
    colour, opacity = _urdf_colour(element, materials)
    try:
        if given.tag == "mesh" and colour is None:
            # A mesh file may have colours of its own.
            scale = given.numbers("scale", (1, 3), (1.0,))
            for part, own in coloured_meshes(given.needed("filename"), folder, scale):
                body.visual(part, pose.p, pose.R, own)
        else:
            body.visual(_urdf_shape(given, folder), pose.p, pose.R, colour, opacity)
    except (Unseen, ModelError) as error:
        build.ignore(element, f"not drawn: {error}")
        return
    _take(element)


def urdf_collision(build: Builder, element: Element, body: Body, pose: Pose, folder: Path | None) -> None:
    """Put the shape of a <collision> on a body, for groups of contacts; one that cannot be read is listed."""
    geometry = element.first("geometry")
    given = geometry.children[0] if geometry is not None and geometry.children else None
    try:
        if given is None:
            raise Unseen("it has no geometry")
        body.collides(body.shape(_urdf_shape(given, folder), tuple(pose.p), pose.R))
    except (Unseen, ModelError) as error:
        build.ignore(element, f"it collides with nothing: {error}")
        return
    _take(element)


def _urdf_shape(given: Element, folder: Path | None) -> Shape:
    match given.tag:
        case "box":
            x, y, z = given.numbers("size", (3,))
            return Box(0.5 * x, 0.5 * y, 0.5 * z)
        case "sphere":
            return Sphere(given.number("radius"))
        case "cylinder":
            return Cylinder(given.number("radius"), 0.5 * given.number("length"))
        case "capsule":
            return Capsule(given.number("radius"), 0.5 * given.number("length"))
        case "mesh":
            return mesh(given.needed("filename"), folder, given.numbers("scale", (1, 3), (1.0,)))
    raise Unseen(f"<{given.tag}> is not a shape")


def _urdf_colour(element: Element, materials: Mapping[str, Element]) -> tuple[str | None, float]:
    material = element.first("material")
    if material is None:
        return None, 1.0
    named = materials.get(material.attributes.get("name", ""))
    for m in (material, named):
        colour = None if m is None else m.first("color")
        if m is not None and colour is not None:
            _take(m)
            return _hex(colour.numbers("rgba", (4,), (0.7, 0.7, 0.7, 1.0)))
    return None, 1.0


def mjcf_meshes(root: Element, folder: Path | None) -> Callable[[str], Mesh]:
    """How meshes of a model's assets are found by name."""
    below = ""
    named: dict[str, Element] = {}
    for element in root.children:
        if element.tag == "compiler":
            below = element.attributes.get("meshdir", element.attributes.get("assetdir", below))
        if element.tag == "asset":
            for m in element.children:
                file = m.attributes.get("file", "")
                if m.tag == "mesh" and file:
                    named[m.attributes.get("name", PurePosixPath(file).stem)] = m

    def find(name: str) -> Mesh:
        if name not in named:
            raise Unseen(f"no mesh named {name!r}")
        asset = named[name].attributes
        scale = [float(x) for x in asset.get("scale", "1 1 1").split()]
        return mesh(str(PurePosixPath(below) / asset["file"]), folder, scale)

    return cache(find)


def mjcf_visual(
    compiler: Compiler, geom: Element, frame: Pose, body: Body, meshes: Callable[[str], Mesh]
) -> None:
    """Draw a body by a geom; one that cannot be drawn, or that MuJoCo's viewer does not show, is left out.

    Which elements have no part in the motion is listed elsewhere, so nothing is marked as taken here.
    """
    marked = {id(e): (e, set(e.taken)) for e in (geom, *_classes(geom))}
    try:
        kind = geom.text("type", "mesh" if geom.text("mesh") is not None else "sphere") or ""
        if geom.number("group", 0.0) > SHOWN_GROUPS:
            return
        shape, pose = mjcf_shape(compiler, geom, kind, meshes)
        given = geom.text("rgba")
        colour, opacity = (None, 1.0) if given is None else _hex(geom.numbers("rgba", (4,)))
        whole = frame @ pose
        body.visual(shape, whole.p, whole.R, colour, opacity)
    except (Unseen, ModelError, ValueError):
        return
    finally:
        for element, taken in marked.values():
            element.taken.clear()
            element.taken.update(taken)


def _classes(geom: Element) -> Iterator[Element]:
    """The defaults behind an element."""
    here = geom.fallback
    while here is not None:
        yield here
        here = here.fallback


def mjcf_shape(
    compiler: Compiler, geom: Element, kind: str, meshes: Callable[[str], Mesh]
) -> tuple[Shape, Pose]:
    """The shape of a geom, and its place in the frame it stands in."""
    if kind in ("mesh", "plane"):
        shape: Shape = Plane() if kind == "plane" else meshes(geom.text("mesh") or "")
        return shape, compiler.placement(geom)
    if kind not in SOLIDS:
        raise Unseen(f"{kind} geoms are not drawn")
    sizes, pose = size_and_pose(compiler, geom, kind)
    made = {"sphere": Sphere, "capsule": Capsule, "cylinder": Cylinder, "box": Box, "ellipsoid": Ellipsoid}
    return made[kind](*sizes), pose


def mesh(name: str, folder: Path | None, scale: list[float]) -> Mesh:
    """A mesh file that a model names, in metres."""
    return _scaled(*read_triangles(_mesh_file(name, folder)), scale)


def coloured_meshes(name: str, folder: Path | None, scale: list[float]) -> list[tuple[Mesh, str | None]]:
    """A mesh file that a model names, in metres, one mesh for each of its colours."""
    found = []
    for piece in read_pieces(_mesh_file(name, folder)):
        colour = None if piece.colour is None else _hex([*piece.colour, 1.0])[0]
        found.append((_scaled(piece.vertices, piece.faces, scale), colour))
    return found


def _mesh_file(name: str, folder: Path | None) -> Path:
    path = _found(name, folder)
    if path.suffix.lower().lstrip(".") not in KINDS:
        raise Unseen(f"{name}: meshes are read from {', '.join(KINDS)} files")
    return path


def _scaled(vertices: Floats, faces: Indices, scale: list[float]) -> Mesh:
    factor = np.array(scale if len(scale) == 3 else scale * 3)
    if np.prod(factor) < 0.0:
        faces = faces[:, ::-1]
    return Mesh(vertices * factor, faces)


def _found(name: str, folder: Path | None) -> Path:
    """A file that a model names, in the folder of the model or of the package that holds it."""
    if folder is None:
        raise Unseen(f"{name}: files are read from the folder of a model file only")
    here = folder.resolve()
    if name.startswith(PACKAGE):
        package, _, rest = name.removeprefix(PACKAGE).partition("/")
        # A package is a folder of its name: one above the model, or one beside those.
        roots = [p for p in (here, *here.parents) if p.name == package]
        roots += [p / package for p in (here, *here.parents) if (p / package).is_dir()]
    else:
        rest = name.removeprefix("file://")
        roots = [here]
    for root in roots:
        path = (root / PurePosixPath(rest)).resolve()
        if path.is_relative_to(root) and path.is_file():
            return path
    raise Unseen(f"{name}: no such file in the folder of the model or its package")


def _hex(rgba: list[float]) -> tuple[str, float]:
    levels = [round(255 * float(np.clip(x, 0.0, 1.0))) for x in rgba]
    return "#" + "".join(f"{x:02x}" for x in levels[:3]), float(np.clip(rgba[3], 0.0, 1.0))


def _take(element: Element) -> None:
    """Nothing of it is left over."""
    for below in element.walk():
        below.seen = True
        below.taken.update(below.attributes)
