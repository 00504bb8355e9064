"""Contacts of older files: meshes touched at one point, flat sides at some; now they touch by their fields."""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping
from typing import Any

from bellcrank.contact.laws import ForceLaw
from bellcrank.contact.mesh import Mesh
from bellcrank.contact.notes import ContactNote
from bellcrank.files.documents import Entries, Text
from bellcrank.files.fields import Fields
from bellcrank.model.field_contacts import OF_POINTS, touch_along
from bellcrank.program.trace import Expr

SHALLOW = 1e-3
"""Depth over the size of a body at which a force at one point and a field carry the same load: that of light parts."""


def by_field(fields: Fields, given: Mapping[str, Any]) -> Mapping[str, Any]:
    """What a contact takes in place of forces at points, where a mesh of an older file or two flat sides are in it.

    The modulus is that with which a ball as large as the smaller body, pressed in by `SHALLOW` of its size, carries the
    load that the stiffness would give at a point.
    """
    shapes = [given[side].shape for side in ("a", "b")]
    sizes = [x.size for side, x in zip("ab", shapes, strict=True) if _is_old_mesh(fields, side, x)]
    what, stay = "meshes touched at one point", ", or give method: points"
    flat = not sizes and touch_along(*shapes)
    if flat:
        radii = [shape.bounding_radius() for shape in shapes]
        sizes = [2.0 * r for r in radii if not isinstance(r, Expr)]
        what, stay = "boxes, cylinders and capsules touched each other at some points", ""
    of_points = [key for key in OF_POINTS if key in given] or given.get("law") in list(ForceLaw)
    if not (sizes or flat) or given.get("treatment") != "continuous" or "method" in given or not of_points:
        return given
    if "damping" in given:
        raise fields.get("damping").error(
            f"{fields.who}: in older files {what}, with damping; this contact touches by fields now: "
            f"give restitution in its place{stay}"
        )
    changed = {key: value for key, value in given.items() if key not in (*OF_POINTS, "law")}
    changed |= {"method": "field"}
    said = ""
    if "stiffness" in given:
        exponent, stiffness = given.get("exponent", 1.5), given["stiffness"]
        if isinstance(exponent, Expr) or isinstance(stiffness, Expr) or not sizes:
            raise fields.node.error(
                f"{fields.who}: in older files {what}; stiffness, exponent and sizes must then be plain numbers; give "
                f"young in their place{stay}"
            )
        size = min(sizes) if flat else max(sizes)
        stiffness *= (SHALLOW * size) ** (exponent - 1.5)
        # Of a rigid ball on a body without sideways contraction: the contact modulus is the body's own.
        changed |= {"young": (0.75 * stiffness / math.sqrt(0.5 * size), math.inf), "poisson": 0.0}
        said = f", with a contact modulus of {changed['young'][0]:.3g} Pa, as stiff as a ball of its size"
    warnings.warn(
        f"{fields.who}: in older files {what}; this one touches by its field{said}. Save the model again to "
        f"keep that{stay}",
        ContactNote,
        stacklevel=2,
    )
    return changed


def _is_old_mesh(fields: Fields, side: str, shape: Any) -> bool:
    """Whether a shape is a mesh by a kind that only older files have."""
    node = fields.get(side)
    kind = node.values.get("kind") if isinstance(node, Entries) else None
    return isinstance(shape, Mesh) and isinstance(kind, Text) and kind.value != Mesh.kind


__all__ = ["by_field"]
