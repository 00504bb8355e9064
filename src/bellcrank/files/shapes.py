"""Shapes of contacts in model files: each by the keys of its own class, on a body or as a part of a union."""

from __future__ import annotations

from typing import Any

import numpy as np

from bellcrank.base.keys import VECTOR3, Keys, Kinds, may
from bellcrank.contact.bezier import BezierGrid
from bellcrank.contact.mesh import Mesh
from bellcrank.contact.parametric import Parametric
from bellcrank.contact.sampled import Sampled
from bellcrank.contact.shapes import KINDS, Part, Shape
from bellcrank.contact.shapes.union import PLACED
from bellcrank.contact.skin import RodSkin, Skin
from bellcrank.errors import ModelError
from bellcrank.files.documents import Node
from bellcrank.files.fields import Fields
from bellcrank.files.values import ValueReader, ValueWriter
from bellcrank.files.yaml_text import Flow
from bellcrank.model.frames import on_body

CLASSES: tuple[type[Shape], ...] = (*KINDS, BezierGrid, Parametric, Sampled, Mesh, Skin, RodSkin)
_KEYS = {
    name: keys for shape in CLASSES for name, keys in ((shape.kind, shape.keys), *shape.old_kinds.items())
}
_MADE = {name: shape for shape in CLASSES for name in (shape.kind, *shape.old_kinds)}
_ON_BODY = on_body(may("at", VECTOR3, "Origin in body axes [m].", formerly="position"))
SHAPES = Kinds(kinds={name: Keys(keys.text, *_ON_BODY, *keys.keys) for name, keys in _KEYS.items()})
PARTS = Kinds(
    "A part of a union: a shape without a body.",
    kinds={name: Keys(keys.text, *PLACED, *keys.keys) for name, keys in _KEYS.items()},
)


def read_shape(values: ValueReader, kind: str, fields: Fields) -> Shape:
    """The shape of a kind from its keys."""
    return _MADE[kind].of_keys(values.values(fields, _KEYS[kind]))


def read_part(values: ValueReader, node: Node, who: str) -> Part:
    """A part of a union."""
    kind, fields = values.kind(PARTS, node, who)
    with fields.blamed():
        return Part(read_shape(values, kind, fields), **values.values(fields, PLACED))


def shape_entries(writer: ValueWriter, shape: Shape) -> dict[str, Any]:
    """The kind and the keys of a shape."""
    if not shape.kind:
        raise ModelError(
            f"model files cannot carry a shape {type(shape).__name__}; describe it by an implicit surface"
        )
    said = shape.to_keys()
    if isinstance(shape, Mesh) and shape.source is not None and writer.beside(shape.source[0]):
        file, scale = shape.source
        said |= {"vertices": None, "faces": None, "file": file, "scale": None if scale == 1.0 else scale}
    return {"kind": shape.kind, **writer.values(shape.keys, said)}


def part_entries(writer: ValueWriter, part: Part) -> Flow:
    """The keys of a part of a union."""
    at, turned = np.asarray(part.at), np.asarray(part.rotation)
    said = {
        "at": at.tolist() if at.any() else None,
        "rotation": None if np.array_equal(turned, np.eye(3)) else turned.tolist(),
    }
    return Flow({**shape_entries(writer, part.shape), **writer.values(PLACED, said)})


__all__ = ["PARTS", "SHAPES", "part_entries", "read_part", "read_shape", "shape_entries"]
