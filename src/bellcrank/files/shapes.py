"""Shapes of contacts in model files: for each kind its numbers, how it is read and how it is written."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bellcrank.contact.bezier import BezierGrid
from bellcrank.contact.mesh import Mesh
from bellcrank.contact.notes import ContactNote
from bellcrank.contact.parametric import Parametric
from bellcrank.contact.sampled import Sampled
from bellcrank.contact.shapes import (
    Box,
    Capsule,
    Circle,
    Cone,
    Cylinder,
    Ellipse,
    Ellipsoid,
    HalfPlane,
    HeightField,
    Part,
    Plane,
    Shape,
    Sphere,
    Superellipsoid,
    Torus,
    Union,
)
from bellcrank.contact.shapes.implicit import Implicit
from bellcrank.contact.shapes.revolution import Revolution
from bellcrank.contact.skin import Skin
from bellcrank.errors import ModelError
from bellcrank.files import layout
from bellcrank.files.beside import file_beside
from bellcrank.files.documents import Entries, Items
from bellcrank.files.fields import Fields, word
from bellcrank.files.packed import packed, unpacked
from bellcrank.program.trace import Expr, Scalar

MESHES = (".stl", ".obj", ".ply")
TRIANGLES = (*MESHES, ".off", ".glb", ".gltf")
Write = Callable[[Any, tuple[str, ...]], Any]


def read_shape(kind: str, fields: Fields, folder: Path | None = None) -> Shape:
    """The shape of a kind from its keys; folder: Where meshes may lie."""
    match kind:
        case "sphere" | "circle":
            return (Sphere if kind == "sphere" else Circle)(fields.number("radius"))
        case "capsule":
            return Capsule(fields.number("radius"), fields.number("half_length"))
        case "cylinder":
            return Cylinder(fields.number("radius"), fields.number("half_length"), _rounding(fields))
        case "cone":
            top = fields.number("top_radius") if "top_radius" in fields else 0.0
            return Cone(fields.number("radius"), fields.number("half_length"), top, _rounding(fields))
        case "torus":
            return Torus(fields.number("radius"), fields.number("tube"))
        case "box":
            x, y, z = fields.vector("half_lengths", (3,))
            return Box(x, y, z, _rounding(fields))
        case "ellipsoid":
            return Ellipsoid(*fields.vector("semi_axes", (3,)))
        case "ellipse":
            return Ellipse(*fields.vector("semi_axes", (2,)))
        case "superellipsoid":
            p, q = (plain(fields, x) for x in fields.vector("exponents", (2,)))
            a, b, c = fields.vector("semi_axes", (3,))
            return Superellipsoid(a, b, c, (p, q))
        case "implicit":
            return _implicit(fields)
        case "revolution":
            law = fields.function("function", layout.PROFILE_ARGUMENTS)
            rounding = plain(fields, fields.number("rounding")) if "rounding" in fields else None
            return Revolution(lambda z: law(z=z), plain(fields, fields.number("length")), rounding)
        case "sampled":
            points, normals = _array(fields, "points", 2), _array(fields, "normals", 2)
            _note_old(fields, points)
            if "triangles" in fields:
                return _creased(fields)
            return Sampled(points, normals)
        case "mesh":
            path = file_beside(folder, fields, "file", MESHES)
            _note_old(fields)
            scale = plain(fields, fields.number("scale")) if "scale" in fields else 1.0
            return Mesh.from_file(path, scale=scale)
        case "triangles":
            return _triangles(fields, folder)
        case "skin":
            return Skin(_array(fields, "vertices", 2), _corners(fields), _array(fields, "modes", 3))
        case "height_field":
            dx, dy = (plain(fields, x) for x in fields.vector("spacing", (2,)))
            return HeightField(_array(fields, "heights", 2), (dx, dy), bool(fields.truth("above")))
        case "union":
            return _union(fields, folder)
        case "bezier_grid":
            inside = None
            if "inside" in fields:
                x, y, z = (plain(fields, v) for v in fields.vector("inside"))
                inside = (x, y, z)
            return BezierGrid(_array(fields, "points", 3), bool(fields.truth("around")), inside)
        case "parametric":
            sign = plain(fields, fields.number("sign")) if "sign" in fields else 1.0
            return Parametric(_array(fields, "points", 4), sign)
        case _:
            return Plane() if kind == "plane" else HalfPlane()


def _triangles(fields: Fields, folder: Path | None) -> Mesh:
    """A mesh that touches by its field, from a file or from its arrays."""
    given: dict[str, Any] = {
        key: plain(fields, fields.number(key)) for key in ("thickness", "resolution") if key in fields
    }
    if "resolution" in given:
        given["resolution"] = int(given["resolution"])
    if "file" in fields:
        path = file_beside(folder, fields, "file", TRIANGLES)
        scale = plain(fields, fields.number("scale")) if "scale" in fields else 1.0
        return Mesh.from_file(path, scale=scale, **given)
    return Mesh(_array(fields, "vertices", 2), _corners(fields), **given)


def _corners(fields: Fields) -> NDArray[np.int64]:
    """Numbers of vertices, for each triangle."""
    faces = _array(fields, "faces", 2)
    if not (np.all(np.abs(faces) < 2.0**31) and np.all(faces == np.round(faces))):
        raise fields.get("faces").error(f"faces of {fields.who} are whole numbers of vertices")
    return faces.astype(np.int64)


def _union(fields: Fields, folder: Path | None) -> Union:
    node = fields.get("parts")
    if not isinstance(node, Items):
        raise node.error(f"parts of {fields.who} are a list of shapes, not {node.described}")
    found = []
    for number, item in enumerate(node.items, 1):
        who = f"part {number} of {fields.who}"
        if not isinstance(item, Entries) or "kind" not in item.values:
            raise item.error(f"{who} is a mapping with a 'kind': {', '.join(layout.PARTS)}")
        kind = word(item.values["kind"], f"kind of {who}", tuple(layout.PARTS))
        own = Fields(fields.scope, item, who, layout.PARTS[kind])
        at = [plain(own, x) for x in own.vector("position")] if "position" in own else (0.0, 0.0, 0.0)
        turned = (
            [[plain(own, x) for x in row] for row in own.matrix("rotation")]
            if "rotation" in own
            else np.eye(3)
        )
        with own.blamed():
            found.append(Part(read_shape(kind, own, folder), at, turned))
    blending = plain(fields, fields.number("blending")) if "blending" in fields else 0.0
    return Union(tuple(found), blending)


def _rounding(fields: Fields) -> Scalar | None:
    """The radius of edges, where it is given."""
    return fields.number("rounding") if "rounding" in fields else None


def _array(fields: Fields, key: str, dimensions: int) -> NDArray[np.float64]:
    try:
        return unpacked(fields.word(key), dimensions)
    except ValueError as error:
        raise fields.get(key).error(f"{key} of {fields.who} cannot be read: {error}") from error


def _note_old(fields: Fields, points: NDArray[np.float64] | None = None) -> None:
    """Say what becomes of keys that older files have; the numbers in them are looked at all the same."""
    old = [key for key in ("rims", "corners", "rings", "rounding", "spacing") if key in fields]
    for key in old:
        if key in ("rounding", "spacing"):
            if not plain(fields, fields.number(key)) >= 0.0:
                raise fields.get(key).error(f"{key} of {fields.who} is a length [m]")
        else:
            _array(fields, key, 1 if key == "rims" else 2)
    if old:
        warnings.warn(
            f"{fields.who}: keys of an older file are ignored ({', '.join(old)}): where a surface ends follows from "
            "its samples, and edges are those of its triangles; save the model again to leave them out",
            ContactNote,
            stacklevel=2,
        )


def _creased(fields: Fields) -> Mesh:
    """The mesh that samples of an older file came from, which has edges."""
    faces = _array(fields, "triangles", 2)
    if not (np.all(np.abs(faces) < 2.0**31) and np.all(faces == np.round(faces))):
        raise fields.get("triangles").error(f"triangles of {fields.who} are whole numbers of vertices")
    try:
        return Mesh(_array(fields, "vertices", 2), faces.astype(np.int64))
    except ModelError as error:
        raise fields.get("triangles").error(f"{fields.who}: {error}") from None


def plain(fields: Fields, value: Scalar) -> float:
    """A number without parameters in it."""
    if isinstance(value, Expr):
        raise fields.node.error(f"{fields.who}: an exponent, size, restitution or friction is a plain number")
    return float(value)


def _implicit(fields: Fields) -> Implicit:
    law = fields.function("function", layout.SHAPE_ARGUMENTS)

    def surface(x: Scalar, y: Scalar, z: Scalar) -> Scalar:
        value: Scalar = law(x=x, y=y, z=z)
        return value

    size = plain(fields, fields.number("size"))
    return Implicit(surface, size, fields.optional_word("name") or Implicit.name)


def _rounded(rounding: Scalar | None) -> dict[str, Any]:
    return {} if rounding is None else {"rounding": rounding}


def _part(part: Part, function: Write, row: Callable[[Any], Any]) -> dict[str, Any]:
    """The keys of a part of a union."""
    at, turned = np.asarray(part.at), np.asarray(part.rotation)
    found = shape_entries(part.shape, function, row)
    if at.any():
        found["position"] = row(at.tolist())
    if not np.array_equal(turned, np.eye(3)):
        found["rotation"] = row([row(line) for line in turned.tolist()])
    return found


def shape_entries(shape: Shape, function: Write, row: Callable[[Any], Any]) -> dict[str, Any]:
    """The keys of a shape; `function` writes a function, `row` makes a list on one line."""
    match shape:
        case Circle():
            return {"kind": "circle", "radius": shape.radius}
        case Sphere():
            return {"kind": "sphere", "radius": shape.radius}
        case Capsule():
            return {"kind": "capsule", "radius": shape.radius, "half_length": shape.half_length}
        case Cylinder():
            sizes = {"radius": shape.radius, "half_length": shape.half_length}
            return {"kind": "cylinder", **sizes, **_rounded(shape.rounding)}
        case Cone():
            sizes = {"radius": shape.radius, "half_length": shape.half_length, "top_radius": shape.top_radius}
            return {"kind": "cone", **sizes, **_rounded(shape.rounding)}
        case Torus():
            return {"kind": "torus", "radius": shape.radius, "tube": shape.tube}
        case Box():
            return {"kind": "box", "half_lengths": row(shape.half_lengths), **_rounded(shape.rounding)}
        case Ellipsoid():
            return {"kind": "ellipsoid", "semi_axes": row((shape.a, shape.b, shape.c))}
        case Ellipse():
            return {"kind": "ellipse", "semi_axes": row((shape.a, shape.b))}
        case Superellipsoid():
            axes = row((shape.a, shape.b, shape.c))
            return {"kind": "superellipsoid", "semi_axes": axes, "exponents": row(shape.exponents)}
        case HalfPlane():
            return {"kind": "line"}
        case Plane():
            return {"kind": "plane"}
        case Implicit():
            law = function(shape.function, layout.SHAPE_ARGUMENTS)
            return {"kind": "implicit", "function": law, "size": shape.size, "name": shape.name}
        case Revolution():
            return {
                "kind": "revolution",
                "function": function(shape.profile, layout.PROFILE_ARGUMENTS),
                "length": shape.length,
                **_rounded(shape.rounding),
            }
        case Mesh():
            more = {key: getattr(shape, key) for key in ("thickness", "resolution")}
            return {
                "kind": "triangles",
                "vertices": packed(shape.vertices),
                "faces": packed(np.asarray(shape.faces, dtype=float)),
                **{key: value for key, value in more.items() if value is not None},
            }
        case Skin():
            return {
                "kind": "skin",
                "vertices": packed(shape.vertices),
                "faces": packed(np.asarray(shape.corners, dtype=float)),
                "modes": packed(shape.modes),
            }
        case Sampled():
            return {"kind": "sampled", "points": packed(shape.points), "normals": packed(shape.normals)}
        case HeightField():
            above = {"above": True} if shape.above else {}
            return {
                "kind": "height_field",
                "heights": packed(np.asarray(shape.heights)),
                "spacing": row(list(shape._grid[1:])),
                **above,
            }
        case Union():
            blending = {"blending": shape.blending} if shape.blending else {}
            return {
                "kind": "union",
                "parts": [_part(part, function, row) for part in shape.parts],
                **blending,
            }
        case BezierGrid():
            inside = {} if shape.inside is None else {"inside": row(list(shape.inside))}
            return {"kind": "bezier_grid", "points": packed(shape.grid), "around": shape.around, **inside}
        case Parametric():
            return {"kind": "parametric", "points": packed(shape.nets), "sign": shape.sign}
    raise ModelError(
        f"model files cannot carry a shape {type(shape).__name__}; describe it by an implicit surface"
    )
