"""Contacts of older files: meshes that touched at one point, which now touch by their fields."""

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
from bellcrank.model.field_contacts import OF_POINTS
from bellcrank.program.trace import Expr

SHALLOW = 1e-3
"""Depth over the size of a mesh at which a force at one point and a field carry the same load: that of light parts."""


def by_field(fields: Fields, given: Mapping[str, Any]) -> Mapping[str, Any]:
    """What a contact takes in place of a force at one point, where a mesh of an older file is in it.

    The modulus is that with which a ball as large as the mesh, pressed in by `SHALLOW` of its size, carries the load
    that the stiffness would give.
    """
    sizes = [given[side].shape.size for side in ("a", "b") if _is_old_mesh(fields, side, given[side].shape)]
    of_points = [key for key in OF_POINTS if key in given] or given.get("law") in list(ForceLaw)
    if not sizes or given.get("treatment") != "continuous" or "method" in given or not of_points:
        return given
    if "damping" in given:
        raise fields.get("damping").error(
            f"{fields.who}: in older files the mesh touched at one point, with damping; it touches by its field now: "
            "give restitution in its place, or method: points"
        )
    changed = {key: value for key, value in given.items() if key not in (*OF_POINTS, "law")}
    changed |= {"method": "field"}
    said = ""
    if "stiffness" in given:
        size, exponent, stiffness = max(sizes), given.get("exponent", 1.5), given["stiffness"]
        if isinstance(exponent, Expr) or isinstance(stiffness, Expr):
            raise fields.node.error(
                f"{fields.who}: stiffness and exponent of a mesh of an older file must be plain numbers; give young in "
                "their place, or method: points"
            )
        stiffness *= (SHALLOW * size) ** (exponent - 1.5)
        # Of a rigid ball on a body without sideways contraction: the contact modulus is the body's own.
        changed |= {"young": (0.75 * stiffness / math.sqrt(0.5 * size), math.inf), "poisson": 0.0}
        said = f", with a contact modulus of {changed['young'][0]:.3g} Pa, as stiff as a ball of its size"
    warnings.warn(
        f"{fields.who}: in older files meshes touched at one point; this one touches by its field{said}. Save the "
        "model again to keep that, or give method: points",
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
