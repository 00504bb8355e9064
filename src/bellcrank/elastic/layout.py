"""The keys of files of elastic contact problems: one table for the reader and the test of the schema."""

from __future__ import annotations

from collections.abc import Mapping

VERSION = "1"
TOP = (
    *("elastic", "name", "parameters", "definitions", "materials", "bodies", "obstacles", "contacts"),
    *("duration", "step", "scheme", "solver", "compatibility", "frames"),
)
MATERIAL = ("young", "poisson", "density", "mass_damping", "stiffness_damping")
_COMMON = (
    *("shape", "material", "analysis", "element", "thickness", "velocity", "body_force", "mass"),
    "supports",
)
_ROUND = ("radius", "centre", "divisions", "grading", "refinement", "contact_zone")
BODIES: Mapping[str, tuple[str, ...]] = {
    "disc": (*_COMMON, *_ROUND),
    "sphere": (*_COMMON, *_ROUND),
    "block": (*_COMMON, "size", "lowest", "divisions", "grading"),
    "cylinder": (*_COMMON, "radius", "height", "lowest", "divisions", "grading"),
    "mesh": (*_COMMON, "file", "scale"),
}
SUPPORT = ("box", "directions")
_MOVED = ("kind", "velocity", "path")
OBSTACLES: Mapping[str, tuple[str, ...]] = {
    "plane": (*_MOVED, "point", "normal"),
    "sphere": (*_MOVED, "centre", "radius", "hollow"),
    "surface": (*_MOVED, "level", "size"),
}
CONTACT = ("body", "against", "friction", "surface")
SCHEMES: Mapping[str, tuple[str, ...]] = {
    "newmark": ("kind", "alpha", "delta"),
    "generalised_alpha": ("kind", "spectral_radius"),
}
SOLVERS: Mapping[str, tuple[str, ...]] = {
    "direct": ("kind",),
    "accelerated": ("kind", "level", "tolerance"),
}
COMPATIBILITY = ("velocity", "acceleration")
