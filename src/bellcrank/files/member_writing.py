"""Flexible members as entries of a model file: the recipe where a file can say it, else all numbers."""

from __future__ import annotations

import base64
from collections.abc import Mapping, MutableMapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bellcrank.errors import ModelError
from bellcrank.files import layout
from bellcrank.files.documents import MAX_BYTES
from bellcrank.files.layout import MAX_ELEMENTS
from bellcrank.files.rods import rod_entries
from bellcrank.files.yaml_text import Flow, Row
from bellcrank.flexible.member import Member
from bellcrank.flexible.rods import Rod

if TYPE_CHECKING:
    from bellcrank.flexible.member import FlexibleMember
    from bellcrank.flexible.recipe import MemberRecipe
    from bellcrank.model import Body, Frame

MAX_ROWS = 60
"""Freedoms up to which given matrices are written out."""


class _Unsaid(Exception):
    """A recipe that the format has no words for."""


def member_entries(
    body: Body,
    member: FlexibleMember,
    folder: Path | None,
    stored: MutableMapping[str, FlexibleMember] | None,
) -> dict[str, Any]:
    """What `flexible` of a body says; see :func:`bellcrank.files.dumps`."""
    if stored is not None:
        stored[body.name] = member
        return Flow(kind="numbers")
    name = {} if member.name == body.name else {"name": member.name}
    try:
        if isinstance(member, Rod) and (said := rod_entries(member, _section, _material)) is not None:
            return name | said
        if isinstance(member, Member) and member.recipe is not None:
            return name | _recipe(member.recipe, folder)
    except _Unsaid:
        pass
    from bellcrank.flexible.packing import packed_member

    data = base64.b64encode(packed_member(member)).decode("ascii")
    if len(data) > MAX_BYTES // 2:
        raise ModelError(
            f"body {body.name!r} is flexible, and its {len(data) >> 20} MiB of numbers are too many for a model file; "
            "give its mesh as a file in the model's folder"
        )
    return {"kind": "numbers", "data": data}


def node_of(frame: Frame) -> str:
    """The name of the node a frame sits on; empty where it has none."""
    member = frame.body.member
    if member is None:
        return ""
    if isinstance(member, Rod) and frame.name.startswith("at "):
        return frame.name
    here = [name for name, node in member.nodes.items() if tuple(node.position) == tuple(frame.position)]
    return frame.name if frame.name in here else next(iter(here), "")


def _recipe(recipe: MemberRecipe, folder: Path | None) -> dict[str, Any]:
    write = {"beam": _beam, "solid": _solid, "matrices": _matrices}[recipe.model.kind]
    result = {
        "kind": recipe.model.kind,
        **write(recipe.model.given, folder),
        "modes": _modes(recipe.reduction),
    }
    if recipe.frame is not None:
        result["frame"] = _frame(recipe.frame)
    if recipe.damping is not None:
        result["damping"] = _damping(recipe.damping)
    result["stiffening"] = bool(recipe.stiffening)
    return result


def _beam(given: Mapping[str, Any], folder: Path | None) -> dict[str, Any]:
    elements = given["elements"]
    if (elements if isinstance(elements, int) else len(elements)) > MAX_ELEMENTS:
        raise _Unsaid
    result: dict[str, Any] = {
        "length": float(given["length"]),
        "section": _section(given["section"], float(given["length"])),
        "material": _material(given["material"]),
        "elements": elements if isinstance(elements, int) else Row(float(x) for x in elements),
        "theory": str(given["theory"]),
        "mass": str(given["mass"]),
        "planar": bool(given["planar"]),
    }
    if given["rotary_inertia"] is not None:
        result["rotary_inertia"] = bool(given["rotary_inertia"])
    if given["start"]:
        result["start"] = float(given["start"])
    if given["points"]:
        result["points"] = Flow({str(name): float(x) for name, x in given["points"].items()})
    return result | _unchecked(given)


def _solid(given: Mapping[str, Any], folder: Path | None) -> dict[str, Any]:
    if folder is None:
        raise _Unsaid
    mesh, below = given["mesh"].resolve(), folder.resolve()
    if not mesh.is_relative_to(below):
        raise _Unsaid
    material = given["material"]
    result: dict[str, Any] = {
        "mesh": mesh.relative_to(below).as_posix(),
        "material": {str(name): _material(one) for name, one in material.items()}
        if isinstance(material, Mapping)
        else _material(material),
    }
    if given["interfaces"]:
        result["interfaces"] = {str(name): _region(which) for name, which in given["interfaces"].items()}
    if given["order"] is not None:
        result["order"] = int(given["order"])
    if given["rigid"]:
        result["rigid"] = Row(given["rigid"])
    result |= {"mass": str(given["mass"]), "scale": float(given["scale"])}
    return result | _unchecked(given)


def _unchecked(given: Mapping[str, Any]) -> dict[str, Any]:
    return {} if given["check_units"] else {"check_units": False}


def _region(which: Any) -> Any:
    from bellcrank.flexible.interfaces import Box

    if isinstance(which, str):
        return which
    if isinstance(which, Box):
        return Flow(box=Row([Row(map(float, which.low)), Row(map(float, which.high))]))
    if callable(which):
        raise _Unsaid
    given = np.asarray(which)
    if given.dtype.kind in "iu":
        return Flow(nodes=Row(int(x) for x in given))
    return Flow(point=Row(float(x) for x in given))


def _matrices(given: Mapping[str, Any], folder: Path | None) -> dict[str, Any]:
    if given["mass_matrix"].shape[0] > MAX_ROWS:
        raise _Unsaid
    result: dict[str, Any] = {
        key: [Row(float(x) for x in row) for row in given[key].toarray()]
        for key in ("mass_matrix", "stiffness_matrix")
    }
    result["positions"] = [Row(float(x) for x in row) for row in given["positions"]]
    result["freedoms"] = given["freedoms"]
    if given["nodes"]:
        result["nodes"] = Flow({str(name): int(k) for name, k in given["nodes"].items()})
    return result | _unchecked(given)


def _section(section: Any, length: float) -> Flow:
    from bellcrank.flexible.sections import Section, Tapered

    if isinstance(section, Tapered):
        if section.length != length:
            raise _Unsaid
        more = dict(section.more)
        if "offset" in more:
            more["offset"] = Row(map(float, more["offset"]))
        return Flow(kind=section.kind, **{k: Row(map(float, ab)) for k, ab in section.sizes.items()}, **more)
    if not isinstance(section, Section):
        raise _Unsaid
    result = Flow(kind="general")
    for key in layout.SECTION_NUMBERS:
        if getattr(section, key) is not None:
            result[key] = float(getattr(section, key))
    if any(section.offset):
        result["offset"] = Row(map(float, section.offset))
    if section.extremes:
        result["extremes"] = Row(Row(map(float, point)) for point in section.extremes)
    return result


def _material(material: Any) -> Flow:
    return Flow({key: float(getattr(material, key)) for key in layout.MATERIAL})


def _modes(reduction: Any) -> Flow:
    from bellcrank.flexible.modes import AttachmentModes, CraigBampton, NormalModes

    match reduction:
        case NormalModes():
            result = Flow(kind="normal")
            if reduction.count is not None:
                result["count"] = int(reduction.count)
            if reduction.up_to is not None:
                result["up_to"] = float(reduction.up_to)
            if reduction.along is not None:
                result["along"] = Flow({axis: int(n) for axis, n in reduction.along.items()})
            if reduction.boundary is not None:
                result["boundary"] = _frame(reduction.boundary)
            return result
        case CraigBampton():
            interface = Row(map(str, reduction.interface))
            return Flow(
                kind="craig_bampton",
                interface=interface,
                count=int(reduction.count),
                directions=reduction.directions,
            )
        case AttachmentModes():
            return Flow(kind="attachment", loads=Flow(reduction.loads), count=int(reduction.count))
    raise _Unsaid


def _frame(frame: Any) -> Flow:
    from bellcrank.flexible.frames import Chord, Clamped, MeanAxes
    from bellcrank.flexible.modes import Supports

    match frame:
        case MeanAxes():
            return Flow(kind="mean_axes")
        case Clamped():
            return Flow(kind="clamped", node=frame.node)
        case Chord():
            return Flow(kind="chord", first=frame.first, last=frame.last)
        case Supports():
            return Flow(kind="supports", held=Flow(frame.held))
    raise _Unsaid


def _damping(damping: Any) -> Flow:
    from bellcrank.flexible.damping import Ratios, Rayleigh

    match damping:
        case Ratios():
            given = np.asarray(damping.ratios, dtype=float)
            return Flow(kind="ratios", ratios=Row(map(float, given)) if given.ndim else float(given))
        case Rayleigh():
            factors = {key: float(getattr(damping, key)) for key in ("mass_factor", "stiffness_factor")}
            return Flow(kind="rayleigh", **factors)
    raise _Unsaid
