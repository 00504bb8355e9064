"""Contacts in the continuous treatment in model files: how they are read and written."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from dataclasses import fields as fields_of
from typing import Any

from bellcrank.contact.fields import FieldLaw
from bellcrank.contact.friction import Coulomb, LuGre
from bellcrank.contact.laws import ForceLaw
from bellcrank.contact.notes import ContactNote
from bellcrank.files import layout
from bellcrank.files.documents import Entries, Items, Text
from bellcrank.files.fields import Fields
from bellcrank.files.shapes import plain
from bellcrank.model.contacts import PlacedShape
from bellcrank.model.field_contacts import METHODS, OF_POINTS
from bellcrank.model.forces import ContactForce, FieldContact
from bellcrank.program.trace import Scalar

SHALLOW = 1e-3
"""Depth over the size of a mesh at which a force at one point and a field carry the same load: that of light parts."""
FRICTIONS = {"coulomb": Coulomb, "lugre": LuGre}


def read_pressing(fields: Fields) -> dict[str, Any]:
    """Arguments of :meth:`System.contact` for the continuous treatment, without the shapes."""
    given: dict[str, Any] = {"treatment": "continuous"}
    for key in ("restitution", "exponent", "approach_speed"):
        if key in fields:
            given[key] = plain(fields, fields.number(key))
    for key in ("stiffness", "damping"):
        if key in fields:
            given[key] = fields.number(key)
    if "law" in fields:
        given["law"] = fields.word("law", [law.value for law in (*ForceLaw, *FieldLaw)])
    if "method" in fields:
        given["method"] = fields.word("method", METHODS)
    note_points(fields)
    for key in ("young", "poisson"):
        if key in fields:
            given[key] = _one_or_two(fields, key)
    if "friction" in fields:
        given["friction"] = _friction(fields)
    return given


def field_of_points(fields: Fields, given: dict[str, Any], size: float) -> dict[str, Any]:
    """What a contact of a mesh takes in place of a force at one point, by which meshes of older files touched.

    The modulus is that with which a ball as large as the mesh, pressed in by `SHALLOW` of its size, carries the load
    that the stiffness would give. size: Of the mesh [m].
    """
    of_points = [key for key in OF_POINTS if key in given]
    if "method" in given or not (of_points or given.get("law") in list(ForceLaw)):
        return given
    if "damping" in given:
        raise fields.get("damping").error(
            f"{fields.who}: in older files the mesh touched at one point, with damping; it touches by its field now: "
            "give restitution in its place, or method: points"
        )
    changed = {key: value for key, value in given.items() if key not in (*OF_POINTS, "law")} | {
        "method": "field"
    }
    said = ""
    if "stiffness" in given:
        radius, exponent = 0.5 * size, given.get("exponent", 1.5)
        stiffness = plain(fields, given["stiffness"]) * (SHALLOW * size) ** (exponent - 1.5)
        # Of a rigid ball on a body without sideways contraction: the contact modulus is the body's own.
        changed |= {"young": (0.75 * stiffness / math.sqrt(radius), math.inf), "poisson": 0.0}
        said = f", with a contact modulus of {changed['young'][0]:.3g} Pa, as stiff as a ball of its size"
    warnings.warn(
        f"{fields.who}: in older files meshes touched at one point; this one touches by its field{said}. Save the "
        "model again to keep that, or give method: points",
        ContactNote,
        stacklevel=2,
    )
    return changed


def _one_or_two(fields: Fields, key: str) -> Any:
    """One number for both bodies or one each; 'rigid' is an infinite modulus."""
    node = fields.get(key)
    items = node.items if isinstance(node, Items) else [node]
    found: list[Scalar] = []
    for item in items:
        if isinstance(item, Text) and item.value == "rigid":
            found.append(math.inf)
        else:
            found.append(fields.scope.number(item, f"{key} of {fields.who}"))
    return tuple(found) if isinstance(node, Items) else found[0]


def _friction(fields: Fields) -> Any:
    node = fields.get("friction")
    if not isinstance(node, Entries):
        return fields.number("friction")
    own = Fields(fields.scope, node, f"friction of {fields.who}", ("kind", *layout.FRICTION))
    kind = own.word("kind", tuple(FRICTIONS))
    law: Any = FRICTIONS[kind]
    known = [f.name for f in fields_of(law)]
    given = {}
    for key in node.keys:
        if key != "kind":
            if key not in known:
                raise node.keys[key].error(
                    f"friction {kind} has no key {key!r}; keys here: {', '.join(known)}"
                )
            given[key] = own.number(key)
    if "kinetic" not in given:
        raise node.error(f"friction {kind} needs 'kinetic'")
    with own.blamed():
        return law(**given)


def pressing_entries(
    force: ContactForce, placed: Callable[[PlacedShape], Any], row: Callable[[Any], Any]
) -> dict[str, Any]:
    """The keys of a contact; `placed` writes a shape, `row` makes a list on one line."""
    sides = [placed(side) for side in (force.contact.a, force.contact.b)]
    result: dict[str, Any] = {"a": sides[0], "b": sides[1], "treatment": "continuous", "law": str(force.law)}
    if isinstance(force, FieldContact):
        result |= {"law": str(force.field_law), "method": "field"}
    if force.law is ForceLaw.KELVIN_VOIGT:
        result["damping"] = force.damping
    else:
        result["restitution"] = force.contact.restitution
    if force.stiffness is not None:
        result["stiffness"] = force.stiffness
        if force.law is not ForceLaw.KELVIN_VOIGT and not isinstance(force, FieldContact):
            result["exponent"] = force.exponent
    for key in ("young", "poisson"):
        if key in force.given:
            result[key] = row(
                ["rigid" if isinstance(x, float) and math.isinf(x) else x for x in force.given[key]]
            )
    result["approach_speed"] = force.given["approach_speed"]
    law = force.friction
    if law is not None:
        kind = next(name for name, made in FRICTIONS.items() if type(law) is made)
        values = {f.name: getattr(law, f.name) for f in fields_of(law)}
        result["friction"] = {"kind": kind, **{k: v for k, v in values.items() if v is not None}}
    return result


def note_points(fields: Fields) -> None:
    """Say what becomes of the number of points that older files give to contacts."""
    if "points" not in fields:
        return
    given = plain(fields, fields.number("points"))
    if given != int(given) or given < 1:
        raise fields.get("points").error(f"points of {fields.who} is a whole number from 1 on")
    warnings.warn(
        f"{fields.who}: the key 'points' of an older file is ignored: Bellcrank finds the closest points of a pair "
        "itself, and method: field lets the whole patch act",
        ContactNote,
        stacklevel=2,
    )


__all__ = ["field_of_points", "note_points", "pressing_entries", "read_pressing"]
