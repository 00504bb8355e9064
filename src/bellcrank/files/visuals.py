"""Visuals of URDF and MJCF files: primitives, meshes and colours, for pictures alone.

A file may come from anywhere. Meshes are read within their bounds, and only from the folder of the model or of the
package that holds it; one that is missing or cannot be read is listed, and the model goes without it.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

import numpy as np

from bellcrank.contact.mesh import Mesh
from bellcrank.contact.shapes import Box, Capsule, Cylinder, Ellipsoid, Plane, Shape, Sphere
from bellcrank.errors import ModelError
from bellcrank.fe.triangle_files import KINDS, read_triangles
from bellcrank.files.elements import Element
from bellcrank.files.imported import Builder, Pose

if TYPE_CHECKING:
    from bellcrank.model import Body

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
        shape = _urdf_shape(given, folder)
        body.visual(shape, pose.p, pose.R, colour, opacity)
    except (Unseen, ModelError) as error:
        build.ignore(element, f"not drawn: {error}")
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


def mjcf_visual(
    build: Builder,
    geom: Element,
    body: Body,
    pose: Pose,
    kind: str,
    sizes: list[float],
    meshes: Mapping[str, Mesh],
) -> None:
    """Draw a body by a geom of a kind and sizes (half lengths), its frame at a pose."""
    colour, opacity = None, 1.0
    if "rgba" in geom.attributes or (geom.fallback is not None and geom.text("rgba") is not None):
        colour, opacity = _hex(geom.numbers("rgba", (4,)))
    try:
        match kind:
            case "sphere":
                shape: Shape = Sphere(sizes[0])
            case "capsule":
                shape = Capsule(*sizes)
            case "cylinder":
                shape = Cylinder(*sizes)
            case "box":
                shape = Box(*sizes)
            case "ellipsoid":
                shape = Ellipsoid(*sizes)
            case "plane":
                shape = Plane()
            case _:
                name = geom.text("mesh") or ""
                if name not in meshes:
                    return
                shape = meshes[name]
        body.visual(shape, pose.p, pose.R, colour, opacity)
    except ModelError:
        build.skip(geom, "mesh", "not drawn")


def mesh(name: str, folder: Path | None, scale: list[float]) -> Mesh:
    """A mesh file that a model names, in metres."""
    path = _found(name, folder)
    if path.suffix.lower().lstrip(".") not in KINDS:
        raise Unseen(f"{name}: meshes are read from {', '.join(KINDS)} files")
    vertices, faces = read_triangles(path)
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
