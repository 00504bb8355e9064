"""Shapes of contacts in model files: for each kind its numbers, how it is read and how it is written."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bellcrank.base.keys import TEXT, TRUTH, Key
from bellcrank.contact.mesh import Mesh
from bellcrank.contact.notes import ContactNote
from bellcrank.contact.sampled import Sampled
from bellcrank.contact.shapes import Part, Shape, Union
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
    if kind in layout.SHAPE_CLASSES:
        shape = layout.SHAPE_CLASSES[kind]
        keys = (key for key in shape.keys.keys if key.needed or key.name in fields)
        return shape.of_keys({key.attribute: _value(fields, key) for key in keys})
    match kind:
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
        case _:
            return _union(fields, folder)


def _value(fields: Fields, key: Key) -> Any:
    """What a key of a shape says, by its type."""
    name = key.name
    found: Any
    match key.defined:
        case "number":
            found = fields.number(name)
            return plain(fields, found) if key.plain else found
        case "function":
            law = fields.function(name, key.arguments)
            return lambda *values: law(**dict(zip(key.arguments, values, strict=True)))
        case "packed":
            return _array(fields, name, key.dimensions)
    if key.takes == TRUTH:
        return bool(fields.truth(name))
    if key.takes == TEXT:
        return fields.word(name)
    found = fields.vector(name, (3 if key.defined == "vector3" else key.takes["minItems"],))
    return tuple(plain(fields, x) for x in found) if key.plain else found


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
    if shape.kind:
        said, keys = shape.to_keys(), shape.keys.keys
        entries = {key.name: _written(key, said[key.attribute], function, row) for key in keys}
        return {"kind": shape.kind, **{name: value for name, value in entries.items() if value is not None}}
    match shape:
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
        case Union():
            blending = {"blending": shape.blending} if shape.blending else {}
            return {
                "kind": "union",
                "parts": [_part(part, function, row) for part in shape.parts],
                **blending,
            }
    raise ModelError(
        f"model files cannot carry a shape {type(shape).__name__}; describe it by an implicit surface"
    )


def _written(key: Key, value: Any, function: Write, row: Callable[[Any], Any]) -> Any:
    """What a key of a shape says, by its type; None where it need not stand there."""
    if value is None or (key.takes == TRUTH and not value):
        return None
    match key.defined:
        case "function":
            return function(value, key.arguments)
        case "packed":
            return packed(np.asarray(value, dtype=float))
        case "vector3":
            return row(value)
    return row(value) if key.takes.get("type") == "array" else value
