"""Flexible members: finite element models reduced to a few modal coordinates.

Beams, solids and given matrices make an :class:`ElasticModel`; its `reduce` chooses modal coordinates and a
frame and gives a :class:`Member`: shape integrals, stiffness, damping and the nodes where joints and forces
may sit. Assumed shapes make a member at once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bellcrank.fe.material import STEEL, Material

if TYPE_CHECKING:
    from bellcrank.flexible.beams import MassModel, Theory, beam
    from bellcrank.flexible.damping import Damping, Ratios, Rayleigh
    from bellcrank.flexible.frames import Chord, Clamped, MeanAxes, MemberFrame
    from bellcrank.flexible.given import given_matrices
    from bellcrank.flexible.interfaces import Box
    from bellcrank.flexible.member import Member, Node
    from bellcrank.flexible.model import ElasticModel
    from bellcrank.flexible.modes import (
        AttachmentModes,
        CraigBampton,
        GivenModes,
        NormalModes,
        Reduction,
        Supports,
    )
    from bellcrank.flexible.recovery import Field, equivalent_stress
    from bellcrank.flexible.reduce import StiffeningNote
    from bellcrank.flexible.rods import Rod, Table, rod
    from bellcrank.flexible.sections import Section, Tapered, circle, rectangle, taper, tube
    from bellcrank.flexible.shapes import Shape, assumed_shapes, polynomial, sine
    from bellcrank.flexible.solids import solid
    from bellcrank.flexible.truncation import Truncation

_HOMES = {
    "MassModel": "beams",
    "Theory": "beams",
    "beam": "beams",
    "Damping": "damping",
    "Ratios": "damping",
    "Rayleigh": "damping",
    "Chord": "frames",
    "Clamped": "frames",
    "MeanAxes": "frames",
    "MemberFrame": "frames",
    "given_matrices": "given",
    "Box": "interfaces",
    "Member": "member",
    "Node": "member",
    "ElasticModel": "model",
    "AttachmentModes": "modes",
    "CraigBampton": "modes",
    "GivenModes": "modes",
    "NormalModes": "modes",
    "Reduction": "modes",
    "Supports": "modes",
    "Field": "recovery",
    "equivalent_stress": "recovery",
    "StiffeningNote": "reduce",
    "Rod": "rods",
    "Table": "rods",
    "rod": "rods",
    "Section": "sections",
    "Tapered": "sections",
    "circle": "sections",
    "rectangle": "sections",
    "taper": "sections",
    "tube": "sections",
    "Shape": "shapes",
    "assumed_shapes": "shapes",
    "polynomial": "shapes",
    "sine": "shapes",
    "solid": "solids",
    "Truncation": "truncation",
}

__all__ = [
    "STEEL",
    "AttachmentModes",
    "Box",
    "Chord",
    "Clamped",
    "CraigBampton",
    "Damping",
    "ElasticModel",
    "Field",
    "GivenModes",
    "MassModel",
    "Material",
    "MeanAxes",
    "Member",
    "MemberFrame",
    "Node",
    "NormalModes",
    "Ratios",
    "Rayleigh",
    "Reduction",
    "Rod",
    "Section",
    "Shape",
    "StiffeningNote",
    "Supports",
    "Table",
    "Tapered",
    "Theory",
    "Truncation",
    "assumed_shapes",
    "beam",
    "circle",
    "equivalent_stress",
    "given_matrices",
    "polynomial",
    "rectangle",
    "rod",
    "sine",
    "solid",
    "taper",
    "tube",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'bellcrank.flexible' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"bellcrank.flexible.{_HOMES[name]}"), name)
