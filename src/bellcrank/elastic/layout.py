"""The format of elastic contact problems: one table of keys from which the reader and the JSON Schema are made."""

from __future__ import annotations

from bellcrank.base.keys import (
    EXPRESSION,
    NAME,
    NUMBER,
    TEXT,
    TRUTH,
    WHOLE,
    Keys,
    Kinds,
    Schema,
    by_name,
    described,
    document,
    list_of,
    may,
    must,
    one_of,
    ref,
    section,
    words,
)
from bellcrank.elastic.elements import Element
from bellcrank.elastic.material import Analysis, Mass

VERSION = "1"

VECTOR, FUNCTIONS, BOX = ref("vector"), ref("functions"), ref("box")
AXES: Schema = {"type": "string", "pattern": "^[xyz]+$"}

MATERIAL = Keys(
    "Isotropic, linear elastic.",
    must("young", NUMBER, "[Pa]."),
    must("poisson", NUMBER),
    must("density", NUMBER, "[kg/m^3]."),
    may("mass_damping", NUMBER, "[1/s]."),
    may("stiffness_damping", NUMBER, "[s]."),
)
SUPPORT = Keys(
    "Nodes held in some directions.",
    must("box", BOX),
    may("directions", AXES, "Letters of the axes; all where missing."),
)
_MATERIAL = must("material", TEXT, "Name of a material.")
_ANALYSES = words(*(analysis.value for analysis in Analysis))
_COMMON = (
    may("element", words(*(element.value for element in Element))),
    may("thickness", NUMBER, "Of a plane body [m]."),
    may("velocity", FUNCTIONS, "At the start [m/s]: numbers, or expressions of x, y (and z)."),
    may("body_force", VECTOR, "Per volume [N/m^3]."),
    may("mass", words(*(mass.value for mass in Mass))),
    may("supports", list_of(SUPPORT)),
)
_MADE = (_MATERIAL, may("analysis", _ANALYSES), *_COMMON)
_RADIUS = must("radius", NUMBER, "[m].")
_DIVISIONS = may("divisions", list_of(WHOLE, 2, 3))
_GRADING = may("grading", NUMBER, "Size of the elements at the top over those at the bottom.")
_ROUND = (
    _RADIUS,
    may("centre", VECTOR, "[m]."),
    may("divisions", WHOLE, "Elements over a quarter of the rim."),
    _GRADING,
    may("refinement", WHOLE, "Times triangles or tetrahedra are halved around the lowest point."),
    may("contact_zone", NUMBER, "Never refined within less than this of the lowest point [m]."),
)
BODIES = Kinds(
    tag="shape",
    disc=Keys("A disc.", *_MADE, *_ROUND),
    sphere=Keys("A sphere.", *_MADE, *_ROUND),
    block=Keys(
        "A block.",
        *_MADE,
        must("size", VECTOR, "[m]."),
        may("lowest", VECTOR, "Corner of lowest coordinates [m]."),
        _DIVISIONS,
        _GRADING,
    ),
    cylinder=Keys(
        "A cylinder.",
        *_MADE,
        _RADIUS,
        must("height", NUMBER, "[m]."),
        may("lowest", NUMBER, "Height of the lower face [m]."),
        _DIVISIONS,
        _GRADING,
    ),
    mesh=Keys(
        "A mesh.",
        _MATERIAL,
        must("analysis", _ANALYSES),
        *_COMMON,
        must("file", TEXT, "A volume mesh in the folder of this file or below."),
        may("scale", NUMBER, "Metres in a unit of length of the file."),
    ),
)
_MOVED = (
    may("velocity", VECTOR, "Constant velocity [m/s]."),
    may("path", FUNCTIONS, "Displacement over time instead [m]: expressions of t."),
)
OBSTACLES = Kinds(
    plane=Keys(
        "A plane.", *_MOVED, must("point", VECTOR, "[m]."), must("normal", VECTOR, "Out of the obstacle.")
    ),
    sphere=Keys("A sphere.", *_MOVED, must("centre", VECTOR, "[m]."), _RADIUS, may("hollow", TRUTH)),
    surface=Keys(
        "A surface.",
        *_MOVED,
        must(
            "level",
            {"type": ["string", "number", "object"]},
            "Expression of x, y (and z), positive outside, zero on the surface.",
        ),
        may("size", NUMBER, "A length over which the surface bends [m]."),
    ),
)
CONTACT = Keys(
    "A body that may touch an obstacle or another body.",
    must("body", TEXT),
    must("against", TEXT),
    may("friction", NUMBER, "Coulomb's coefficient."),
    may(
        "surface",
        BOX,
        "Boundary nodes that may touch, between two corners; those that face the obstacle where missing.",
    ),
)
SCHEMES = Kinds(
    newmark=Keys("Newmark's method.", may("alpha", NUMBER), may("delta", NUMBER)),
    generalised_alpha=Keys("Generalised-alpha.", may("spectral_radius", NUMBER)),
)
SOLVERS = Kinds(
    direct=Keys("Direct active set."),
    accelerated=Keys(
        "The accelerated iteration of Lee (1995).", may("level", WHOLE), may("tolerance", NUMBER)
    ),
)
COMPATIBILITY = Keys("", may("velocity", TRUTH), may("acceleration", TRUTH))
TOP = Keys(
    "Elastic bodies of finite elements in dynamic contact with rigid obstacles and each other. SI units throughout. "
    "Every number may be an expression of parameters and definitions, written as text.",
    must("elastic", {"const": 1}, "Version of the format."),
    must("name", NAME),
    may("parameters", section(NUMBER), "Numbers that can be set from outside, by name."),
    may("definitions", section(NUMBER), "Expressions of parameters and earlier definitions, by name."),
    may("materials", section(ref("material")), "Materials by name."),
    must("bodies", section(ref("body")), "Elastic bodies by name."),
    may("obstacles", section(ref("obstacle")), "Rigid obstacles by name."),
    must("contacts", section(ref("contact")), "Who may touch whom, by name."),
    must("duration", NUMBER, "[s]."),
    must("step", NUMBER, "[s]."),
    may("scheme", SCHEMES),
    may("solver", SOLVERS),
    may("compatibility", COMPATIBILITY, "Conditions beside that of displacements; both hold where missing."),
    may("frames", WHOLE, "Whole fields kept, spread over the run."),
)
_ROW = list_of(NUMBER, 2, 3)
DEFINITIONS: dict[str, Schema | Keys | Kinds] = {
    "number": described("A number, or an expression of parameters and definitions as text.", EXPRESSION),
    "vector": _ROW,
    "functions": described(
        "Two or three expressions, or such with definitions of their own.",
        one_of(_ROW, Keys("", may("let", by_name(NUMBER)), must("value", _ROW))),
    ),
    "box": described("All nodes between two corners [m].", list_of(VECTOR, 2)),
    "material": MATERIAL,
    "body": BODIES,
    "obstacle": OBSTACLES,
    "contact": CONTACT,
}


def schema() -> Schema:
    """The JSON Schema of the format (draft 2020-12)."""
    return document("Bellcrank elastic contact problem, version 1", "elastic:1", TOP, DEFINITIONS)
