"""The keys of the native format: one table for the reader, the writer and the test of the schema."""

from __future__ import annotations

from collections.abc import Mapping

VERSION = "1"
TOP = (
    *("bellcrank", "name", "gravity", "parameters", "definitions"),
    *("bodies", "joints", "drivers", "couplings", "states", "forces", "contacts", "initial"),
)
PARAMETER = ("value", "unit")
BODY = ("mass", "inertia", "center_of_mass", "at", "angle", "quaternion", "rotation", "flexible")
FRAME = ("body", "position", "at", "rotation", "name", "node")
_PLACED = ("kind", "a", "b", "at", "cut")
JOINTS: Mapping[str, tuple[str, ...]] = {
    "fixed": _PLACED,
    "revolute": (*_PLACED, "axis"),
    "prismatic": (*_PLACED, "axis"),
    "cylindrical": (*_PLACED, "axis"),
    "universal": (*_PLACED, "axis_a", "axis_b"),
    "spherical": _PLACED,
    "planar": (*_PLACED, "axis"),
    "screw": (*_PLACED, "axis", "pitch"),
    "free": _PLACED,
}
DRIVER = ("joint", "coordinate", "point", "axis", "function")
COORDINATE = ("joint", "coordinate")
TERM = (*COORDINATE, "factor")
COUPLINGS: Mapping[str, tuple[str, ...]] = {
    "linear": ("kind", "terms", "offset"),
    "gear": ("kind", "a", "b", "ratio", "offset"),
    "rack_and_pinion": ("kind", "prismatic", "revolute", "radius", "offset"),
}
FORCES: Mapping[str, tuple[str, ...]] = {
    "spring": ("kind", "a", "b", "stiffness", "damping", "free_length"),
    "force": ("kind", "a", "b", "function", "energy"),
    "torsion_spring": ("kind", "joint", "coordinate", "stiffness", "damping", "free_angle"),
    "joint_force": ("kind", "joint", "coordinate", "function"),
    "bushing": ("kind", "a", "b", "stiffness", "damping"),
    "applied_force": ("kind", "point", "axes", "function"),
    "applied_torque": ("kind", "point", "axes", "function"),
    "ground_spring": (
        *("kind", "point", "axis", "radius", "stiffness", "damping"),
        *("longitudinal", "lateral", "reference_load", "road"),
    ),
}
STATE = ("rate", "measures", "initial", "unit")
CONTACT = (
    *("a", "b", "restitution", "friction", "law", "treatment"),
    *("stiffness", "exponent", "damping", "young", "poisson", "approach_speed", "points", "method"),
)
FRICTION = (
    *("kinetic", "static", "stribeck_speed", "slip_speed"),
    *("stiffness", "damping", "viscous", "recovery"),
)
_ON_BODY = ("kind", "body", "position", "rotation", "node")
_CUT = ("vertices", "triangles", "spacing", "rounding")
SHAPES: Mapping[str, tuple[str, ...]] = {
    "sphere": (*_ON_BODY, "radius"),
    "ellipsoid": (*_ON_BODY, "semi_axes"),
    "superellipsoid": (*_ON_BODY, "semi_axes", "exponents"),
    "box": (*_ON_BODY, "half_lengths", "rounding"),
    "capsule": (*_ON_BODY, "radius", "half_length"),
    "cylinder": (*_ON_BODY, "radius", "half_length", "rounding"),
    "cone": (*_ON_BODY, "radius", "half_length", "top_radius", "rounding"),
    "torus": (*_ON_BODY, "radius", "tube"),
    "plane": _ON_BODY,
    "circle": (*_ON_BODY, "radius"),
    "ellipse": (*_ON_BODY, "semi_axes"),
    "line": _ON_BODY,
    "implicit": (*_ON_BODY, "function", "size", "name"),
    "revolution": (*_ON_BODY, "function", "length", "rounding"),
    "sampled": (*_ON_BODY, "points", "normals", "rims", "corners", "rings", *_CUT),
    "mesh": (*_ON_BODY, "file", "spacing", "scale"),
    "triangles": (*_ON_BODY, "file", "scale", "vertices", "faces", "thickness", "resolution"),
    "bezier_grid": (*_ON_BODY, "points", "around", "inside"),
    "parametric": (*_ON_BODY, "points", "sign"),
}

_REDUCED = ("name", "modes", "frame", "damping", "stiffening")
MEMBERS: Mapping[str, tuple[str, ...]] = {
    "beam": (
        *("kind", "length", "section", "material", "elements", "theory", "mass", "planar", "rotary_inertia"),
        *("start", "points", "check_units", *_REDUCED),
    ),
    "solid": (
        *("kind", "mesh", "material", "interfaces", "order", "rigid", "mass", "scale", "check_units"),
        *_REDUCED,
    ),
    "matrices": (
        "kind",
        "mass_matrix",
        "stiffness_matrix",
        "positions",
        "freedoms",
        "nodes",
        "check_units",
        *_REDUCED,
    ),
    "numbers": ("kind", "data"),
}
MATERIAL = ("young", "density", "poisson")
SECTION_NUMBERS = ("area", "bending_y", "bending_z", "product", "torsion", "shear_y", "shear_z")
SIZES = ("diameter", "outer", "inner", "height", "width")
_SHAPED = ("poisson", "offset")
SECTIONS: Mapping[str, tuple[str, ...]] = {
    "general": ("kind", *SECTION_NUMBERS, "offset", "extremes"),
    "circle": ("kind", "diameter", *_SHAPED),
    "tube": ("kind", "outer", "inner", *_SHAPED),
    "rectangle": ("kind", "height", "width", *_SHAPED),
}
REGION = ("point", "box", "nodes")
MODES: Mapping[str, tuple[str, ...]] = {
    "normal": ("kind", "count", "up_to", "along", "boundary"),
    "craig_bampton": ("kind", "interface", "count", "directions"),
    "attachment": ("kind", "loads", "count"),
}
MEMBER_FRAMES: Mapping[str, tuple[str, ...]] = {
    "mean_axes": ("kind",),
    "clamped": ("kind", "node"),
    "chord": ("kind", "first", "last"),
    "supports": ("kind", "held"),
}
DAMPINGS: Mapping[str, tuple[str, ...]] = {
    "ratios": ("kind", "ratios"),
    "rayleigh": ("kind", "mass_factor", "stiffness_factor"),
}

SHAPE_ARGUMENTS = ("x", "y", "z")
PROFILE_ARGUMENTS = ("z",)
DRIVER_ARGUMENTS = ("t",)
LINE_ARGUMENTS = ("length", "rate", "t")
ENERGY_ARGUMENTS = ("length",)
JOINT_ARGUMENTS = ("coordinate", "rate", "t")
POINT_ARGUMENTS = ("t", "position", "velocity", "rotation", "angular_velocity")
ROAD_ARGUMENTS = ("x", "y", "t")
