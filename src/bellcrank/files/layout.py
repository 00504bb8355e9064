"""The native format: one table of keys from which the readers, the writer and the JSON Schema are made.

What a reader knows, an editor learns: a key added here is read by name and stands in the schema at once.
"""

from __future__ import annotations

from bellcrank.base.keys import (
    EXPRESSION,
    FUNCTION,
    LET,
    MATRIX,
    NAME,
    NOT_NEGATIVE,
    NUMBER,
    PACKED,
    POSITIVE,
    SIDE,
    TEXT,
    TRUTH,
    TRUTH_OR_NULL,
    VECTOR3,
    VECTOR4,
    VECTOR6,
    WORD,
    Keys,
    Kinds,
    Schema,
    any_of,
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
from bellcrank.contact.bezier import BezierGrid
from bellcrank.contact.parametric import Parametric
from bellcrank.contact.shapes import KINDS, Shape
from bellcrank.files.rods import ROD
from bellcrank.model import forces, joints
from bellcrank.model.forces.element import COORDINATE as COORDINATE_KEYS

VERSION = "1"
MAX_ELEMENTS = 500
"""Of a beam; finding its modes takes some seconds then, growing with the square. Beams of more are written by their
numbers."""
MAX_MODES = 500

DRIVER_ARGUMENTS = ("t",)

_ON_BODY = (
    must("body", TEXT, "Name of the body; ground is one."),
    may("position", VECTOR3, "Origin of the shape in body axes [m]."),
    may("rotation", MATRIX, "Rows of the matrix whose columns are the shape's axes in body axes."),
    may("node", TEXT, "Node of a flexible body, instead of position."),
)
_POINTS_PACKED = must(
    "points",
    PACKED,
    "Numbers [m] as sizes, a colon, and base64 of the zlib-compressed little-endian doubles.",
)
_REDUCED = (
    may("name", TEXT, "Name of the member in messages; by default the name of the body."),
    must("modes", ref("modes"), "Modal coordinates that are kept."),
    may("frame", ref("member_frame"), "Frame in which deformation is measured; by default mean axes."),
    may("damping", ref("member_damping"), "Structural damping; none by default."),
    may(
        "stiffening",
        TRUTH,
        "Whether second-order displacements (geometric stiffening) are kept; true by default.",
    ),
)
_CHECK_UNITS = may("check_units", TRUTH, "Whether numbers far from SI units are refused.")
_SPREAD = may("mass", words("consistent", "lumped"))
_SHAPED = (
    may("poisson", NUMBER, "For the shear correction; 0.3 by default."),
    may("offset", list_of(NUMBER, 2), "Centroid from the node line, (y, z) [m]."),
)
_OFFSET = may("offset", list_of(NUMBER, 2), "Centroid from the node line, (y, z) [m].")
_COUNT = may("count", NUMBER, "How many normal modes.", whole=(0, MAX_MODES))
BODY = Keys(
    "A rigid body, or a flexible one; its start rotation is one of angle, quaternion and rotation.",
    may("mass", NUMBER, "Mass [kg]; zero is allowed."),
    may(
        "inertia",
        any_of(VECTOR3, VECTOR6, MATRIX),
        "About the centre of mass in body axes [kg m^2]: 3 numbers (diagonal), 6 (xx, yy, zz, xy, "
        "xz, yz: matrix elements) or 3 rows of 3.",
    ),
    may("center_of_mass", VECTOR3, "In body axes [m]."),
    may("at", VECTOR3, "World position of the body's origin in the start pose [m]; plain numbers."),
    may("angle", NUMBER, "Start rotation about z [rad]; plain number."),
    may("quaternion", VECTOR4, "Start rotation as unit quaternion (w, x, y, z); plain numbers."),
    may("rotation", MATRIX, "Start rotation from body to world axes, by rows; plain numbers."),
    may(
        "flexible",
        ref("member"),
        "The flexible member that this body is; mass, inertia and center_of_mass follow from it.",
    ),
    rules={
        "oneOf": [
            {"required": ["mass"]},
            {
                "required": ["flexible"],
                "not": {
                    "anyOf": [
                        {"required": ["mass"]},
                        {"required": ["inertia"]},
                        {"required": ["center_of_mass"]},
                    ]
                },
            },
        ]
    },
)
FRAME = Keys(
    "A point, or a frame, fixed in a body.",
    must("body", TEXT, "Name of the body; ground is one."),
    may("position", VECTOR3, "Origin in body axes [m]."),
    may("at", VECTOR3, "World point in the start pose [m], instead of position; plain numbers."),
    may("rotation", MATRIX, "Rows of the matrix whose columns are the frame's axes in body axes."),
    may("name", TEXT, "Name of the frame."),
    may("node", TEXT, "Node of a flexible body, instead of position."),
)
PARAMETER = Keys(
    "",
    must("value", NUMBER, "Value; an expression of plain numbers."),
    may("unit", TEXT, "Unit, for people to read."),
)
JOINTS = Kinds(kinds={kind.kind: kind.keys for kind in joints.KINDS})
COORDINATE = Keys("", *COORDINATE_KEYS)
DRIVER = Keys(
    "Makes a joint coordinate, or a world coordinate of a point, follow a function of time.",
    may("joint", TEXT, "Name of the joint."),
    may(
        "coordinate",
        TEXT,
        "Coordinate of the joint: angle, displacement, x, y, ...; may be left out where there is one.",
    ),
    may("point", SIDE, "A point driven instead of a joint coordinate."),
    may("axis", words("x", "y", "z"), "World axis along which the point is driven."),
    must("function", FUNCTION, "Value of the coordinate [m or rad] as a function of t [s]."),
    rules={"oneOf": [{"required": ["joint"]}, {"required": ["point", "axis"]}]},
)
TERM = Keys("", *COORDINATE_KEYS, must("factor", NUMBER, "Factor of the coordinate."))
COUPLINGS = Kinds(
    usual="linear",
    linear=Keys(
        "sum(factor * coordinate) = offset.",
        must("terms", list_of(ref("term")) | {"minItems": 1}),
        may("offset", NUMBER, "Right-hand side [m or rad]; 0 where missing."),
    ),
    gear=Keys(
        "angle_a - ratio * angle_b = offset.",
        must("a", ref("coordinate"), "First angle."),
        must("b", ref("coordinate"), "Second angle."),
        must("ratio", NUMBER, "Turns of a for one of b; negative where they turn in opposite directions."),
        may("offset", NUMBER, "[rad]; the meshing of the start pose where missing."),
    ),
    rack_and_pinion=Keys(
        "displacement - radius * angle = offset.",
        must("prismatic", ref("coordinate"), "Displacement of the rack."),
        must("revolute", ref("coordinate"), "Angle of the pinion."),
        must("radius", NUMBER, "Radius of the pinion [m]."),
        may("offset", NUMBER, "[m]; the meshing of the start pose where missing."),
    ),
)
STATE = Keys(
    "A first-order state.",
    must("rate", FUNCTION, "Its rate, an expression of t, the words of measures, parameters and states."),
    may(
        "measures",
        by_name(NAME),
        "Words for the rate, each with the quantity it stands for, such as crank.angular_velocity.z.",
    ),
    may("initial", NUMBER, "Value at the start; 0 where missing. A plain number."),
    may("unit", WORD, "Unit of the value."),
)
FORCES = Kinds(kinds={kind.kind: kind.keys for kind in forces.KINDS})
FRICTION = Keys(
    "Law of friction of a continuous contact.",
    must("kinetic", NUMBER, "Coefficient while slipping."),
    may("static", NUMBER, "Coefficient at rest."),
    may("stribeck_speed", NUMBER, "[m/s]"),
    may("slip_speed", NUMBER, "[m/s], coulomb"),
    may("stiffness", NUMBER, "Of bristles over the load [1/m], lugre"),
    may("damping", NUMBER, "Of bristles over the load [s/m], lugre"),
    may("viscous", NUMBER, "[s/m], lugre"),
    may("recovery", NUMBER, "[s], lugre"),
)
_RESISTANCE = (
    may(
        "rolling_resistance",
        NUMBER,
        "Largest moment against rolling over the normal force [m], in runs by steps; 0 where missing.",
    ),
    may(
        "spinning_resistance",
        NUMBER,
        "Largest moment against spinning about the normal over the normal force [m], likewise.",
    ),
)
COLLISIONS = Keys(
    "Shapes that collide: each of a with each of b, or those of a with each other where b is missing.",
    must("a", list_of(ref("shape")), "Shapes on bodies."),
    may("b", list_of(ref("shape")), "Shapes on bodies."),
    may("restitution", NUMBER, "Speed of parting over speed of approach, 0 to 1; 1 where missing."),
    may("friction", NUMBER, "Coulomb's coefficient; 0 where missing."),
    *_RESISTANCE,
)
CONTACT = Keys(
    "Two shapes that may touch.",
    must("a", ref("shape"), "First shape; the normal points away from it."),
    must("b", ref("shape"), "Second shape."),
    may(
        "restitution",
        NUMBER,
        "Speed of parting over speed of approach, 0 to 1; 1 where missing. A plain number.",
    ),
    may(
        "friction",
        one_of(NUMBER, ref("friction")),
        "Coulomb's coefficient; 0 where missing. In the continuous treatment also a mapping with its law.",
    ),
    may(
        "law",
        words(
            "newton",
            "poisson",
            "stronge",
            "kelvin-voigt",
            "hertz",
            "hunt-crossley",
            "lankarani-nikravesh",
            "flores",
            "calibrated",
            "half-space",
            "foundation",
        ),
        "Law of restitution (newton where missing), or in the continuous treatment of the force "
        "(calibrated where missing).",
    ),
    may("treatment", words("impulsive", "continuous"), "How the contact acts; impulsive where missing."),
    may(
        "stiffness",
        NUMBER,
        "K of F = K d^exponent [N/m^exponent], continuous; of law foundation its modulus over the "
        "thickness of the layer [N/m^3].",
    ),
    may("exponent", NUMBER, "Of the overlap; 1.5 where missing. A plain number."),
    may("damping", NUMBER, "Of law kelvin-voigt [N s/m]."),
    may(
        "young",
        one_of(NUMBER, list_of(NUMBER, 2)),
        "Young's modulus [Pa] of both bodies or of each; rigid is one without bound.",
    ),
    may(
        "poisson",
        one_of(NUMBER, list_of(NUMBER, 2)),
        "Poisson's ratio of both bodies or of each; 0.3 where missing.",
    ),
    may("approach_speed", NUMBER, "Speed of the first touch [m/s]; 1 where missing. A plain number."),
    may("points", NUMBER, "Points at which a sampled surface touches at a time, at most; 1 where missing."),
    *_RESISTANCE,
    may(
        "method",
        words("auto", "points", "field"),
        "By closest points or by fields of depth, continuous; chosen by shapes and law where missing.",
    ),
)
_BY_KEYS: tuple[type[Shape], ...] = (*KINDS, BezierGrid, Parametric)
SHAPE_CLASSES = {kind.kind: kind for kind in _BY_KEYS}
SHAPES = Kinds(
    kinds={name: Keys(kind.keys.text, *_ON_BODY, *kind.keys.keys) for name, kind in SHAPE_CLASSES.items()},
    sampled=Keys(
        "A smooth surface through points with normals.",
        *_ON_BODY,
        _POINTS_PACKED,
        must("normals", PACKED, "Outward normals, written like the points."),
        may(
            "rims",
            PACKED,
            "Numbers of the points along each rim of an open surface, -1 behind each rim, written like "
            "the points; found where missing.",
        ),
        may(
            "corners",
            PACKED,
            "Corners of the mesh that touch planes [m], three numbers each, written like the points.",
        ),
        may(
            "rings",
            PACKED,
            "Round rims of the mesh that touch planes: centre [m], unit axis and radius [m], seven "
            "numbers each, written like the points.",
        ),
        may(
            "vertices",
            PACKED,
            "Of the closed mesh that is cut along its creases [m], written like the points.",
        ),
        may("triangles", PACKED, "Of that mesh: numbers of vertices, three each, written like the points."),
        may("spacing", POSITIVE, "Distance of samples on that mesh [m]; its vertices where missing."),
        may(
            "rounding",
            NOT_NEGATIVE,
            "By how much edges of the mesh that the samples were taken from are rounded, at most [m].",
        ),
    ),
    mesh=Keys(
        "The surface of a triangle mesh.",
        *_ON_BODY,
        must("file", TEXT, "STL, OBJ or PLY file in the folder of the model or below it."),
        may("spacing", POSITIVE, "Distance of samples [m]; one that follows from the mesh where missing."),
        may("scale", POSITIVE, "Of the coordinates, such as 1e-3 for millimetres; 1 where missing."),
    ),
    triangles=Keys(
        "A triangle mesh, closed or open, that touches by its field.",
        *_ON_BODY,
        may(
            "file",
            TEXT,
            "Mesh file beside the model (STL, OBJ, PLY, OFF, GLB, glTF), instead of vertices and faces.",
        ),
        may("scale", NUMBER, "Metres in a unit of length of the file; 1 where missing. A plain number."),
        may(
            "vertices",
            PACKED,
            "Numbers [m] as sizes, a colon, and base64 of the zlib-compressed little-endian doubles.",
        ),
        may("faces", PACKED, "Numbers of the vertices of each triangle, packed as vertices are."),
        may("thickness", NUMBER, "Of sheets [m]. A plain number."),
        may("resolution", NUMBER, "Cells of the grid of depths along the longest side. A plain number."),
    ),
    skin=Keys(
        "The surface of a flexible body, which bends with it; touches rigid shapes.",
        *_ON_BODY,
        must("vertices", PACKED, "At rest, in the axes of the body [m], written like points."),
        must("faces", PACKED, "Numbers of the vertices of each triangle, packed as vertices are."),
        must("modes", PACKED, "Displacement of each vertex for each modal coordinate, three rows a vertex."),
    ),
    union=Keys(
        "Several shapes of finite size as one.",
        *_ON_BODY,
        must(
            "parts",
            list_of(ref("part")),
            "Shapes, each at its position and rotation in the frame of the union.",
        ),
        may("blending", NUMBER, "Width over which they are blended where they meet [m]. A plain number."),
    ),
)
PARTS = SHAPES.without("A part of a union: a shape without a body.", "body", "node")
MEMBERS = Kinds(
    "A flexible member: a finite element model reduced to modal coordinates, a rod, or a member by its"
    " numbers. All numbers are plain.",
    beam=Keys(
        "A straight beam along the body's x axis.",
        must("length", NUMBER, "[m]."),
        must("section", ref("section"), "Cross-section."),
        must("material", ref("material"), "Material."),
        may(
            "elements",
            any_of(NUMBER, list_of(NUMBER)),
            "How many elements, or where the nodes are as growing shares 0..1 of the length; 10 by default.",
            whole=(1, MAX_ELEMENTS),
        ),
        may("theory", words("euler-bernoulli", "timoshenko")),
        _SPREAD,
        may("planar", TRUTH, "Only stretching and bending in the x-y plane."),
        may("rotary_inertia", TRUTH_OR_NULL, "Whether bending turns the mass of the sections."),
        may("start", NUMBER, "x of the beam's start [m]; 0 by default."),
        may("points", by_name(NUMBER), "Further named nodes by their distance from the start [m]."),
        _CHECK_UNITS,
        *_REDUCED,
    ),
    solid=Keys(
        "A solid from a volume mesh beside the model file.",
        must("mesh", TEXT, "File below the model's folder: Gmsh, Abaqus, Nastran or VTK."),
        must(
            "material",
            any_of(ref("material"), by_name(ref("material"))),
            "One, or one by named region of the mesh.",
        ),
        may("interfaces", by_name(ref("region")), "Nodes by name, each the mean motion of a region."),
        may("order", words(1, 2), "Of the elements; by default that of the mesh.", whole=(1, 2)),
        may("rigid", list_of(TEXT), "Interfaces that do not deform."),
        _SPREAD,
        may("scale", NUMBER, "Of the mesh's unit in metres."),
        _CHECK_UNITS,
        *_REDUCED,
    ),
    matrices=Keys(
        "A body given by its mass and stiffness matrices, free of supports.",
        must(
            "mass_matrix",
            any_of(TEXT, described("Rows.", list_of(list_of(NUMBER)))),
            "Rows, or a file below the model's folder (.npy, .mtx).",
        ),
        must(
            "stiffness_matrix",
            any_of(TEXT, described("Rows.", list_of(list_of(NUMBER)))),
            "Rows, or a file below the model's folder (.npy, .mtx).",
        ),
        must("positions", list_of(VECTOR3), "Of the nodes [m]."),
        may("freedoms", TEXT, "Of every node in their order, out of x y z rx ry rz; 'x y z' by default."),
        may("nodes", by_name(NUMBER), "Names for node numbers, counted from 0."),
        may("check_units", TRUTH, "Whether sizes far from metres are refused."),
        *_REDUCED,
    ),
    rod=ROD,
    numbers=Keys(
        "A reduced member by all its numbers, as written by Bellcrank.",
        may("data", TEXT, "Compressed arrays as base64 text."),
    ),
)
MATERIAL = Keys(
    "An isotropic linear elastic material.",
    must("young", NUMBER, "Young's modulus [Pa]."),
    must("density", NUMBER, "[kg/m^3]."),
    may("poisson", NUMBER, "Poisson's ratio; 0.3 by default."),
)
SECTIONS = Kinds(
    "A cross-section in the member's y-z plane.",
    usual="general",
    general=Keys(
        "By its moments.",
        must("area", NUMBER),
        must("bending_y", NUMBER),
        must("bending_z", NUMBER),
        may("product", NUMBER),
        may("torsion", NUMBER),
        may("shear_y", NUMBER),
        may("shear_z", NUMBER),
        _OFFSET,
        may(
            "extremes",
            list_of(list_of(NUMBER, 2)),
            "Points (y, z) from the centroid where stress is recovered [m].",
        ),
    ),
    circle=Keys(
        "A full round bar.",
        must(
            "diameter",
            any_of(NUMBER, list_of(NUMBER, 2)),
            "Diameter [m]; two numbers run linearly from the beam's start to its end.",
        ),
        *_SHAPED,
    ),
    tube=Keys(
        "A round tube.",
        must(
            "outer",
            any_of(NUMBER, list_of(NUMBER, 2)),
            "Outer diameter [m]; two numbers run linearly from the beam's start to its end.",
        ),
        must(
            "inner",
            any_of(NUMBER, list_of(NUMBER, 2)),
            "Inner diameter [m]; two numbers run linearly from the beam's start to its end.",
        ),
        *_SHAPED,
    ),
    rectangle=Keys(
        "A full rectangle, height along y, width along z.",
        must(
            "height",
            any_of(NUMBER, list_of(NUMBER, 2)),
            "Height [m]; two numbers run linearly from the beam's start to its end.",
        ),
        must(
            "width",
            any_of(NUMBER, list_of(NUMBER, 2)),
            "Width [m]; two numbers run linearly from the beam's start to its end.",
        ),
        *_SHAPED,
    ),
)
REGION = Keys(
    "",
    may("point", VECTOR3, "[m]."),
    may("box", list_of(VECTOR3, 2), "Two corners [m]."),
    may("nodes", list_of({"type": "integer", "minimum": 0}), "Node numbers."),
    rules={"minProperties": 1, "maxProperties": 1},
)
MODES = Kinds(
    "A choice of modal coordinates.",
    usual="normal",
    normal=Keys(
        "The lowest `count` modes, all up to a frequency [Hz], or so many along each axis.",
        _COUNT,
        may("up_to", NUMBER, "[Hz]."),
        may(
            "along",
            by_name(NUMBER),
            "Modes by the axis they move along: x, y, z, turn.",
            whole=(1, MAX_MODES),
        ),
        may("boundary", ref("member_frame"), "Where the body is held while it vibrates."),
    ),
    craig_bampton=Keys(
        "Static modes of interface nodes and normal modes with the interface held.",
        must("interface", list_of(TEXT)),
        _COUNT,
        may("directions", TEXT, "Of x y z rx ry rz."),
    ),
    attachment=Keys(
        "Static answers to unit loads at nodes, and normal modes.",
        must("loads", by_name(TEXT), "Directions by node."),
        _COUNT,
    ),
)
MEMBER_FRAMES = Kinds(
    "The frame in which deformation is measured.",
    mean_axes=Keys("No momentum in the deformation."),
    clamped=Keys("On one node, turning with it.", must("node", TEXT, "Node.")),
    chord=Keys("From one node through another.", must("first", TEXT, "Node."), must("last", TEXT, "Node.")),
    supports=Keys("Nodes held in some directions.", must("held", by_name(TEXT), "Directions by node.")),
)
DAMPINGS = Kinds(
    "Structural damping.",
    ratios=Keys(
        "Ratios of the natural modes, one for all or one each.",
        must("ratios", any_of(NUMBER, list_of(NUMBER))),
    ),
    rayleigh=Keys(
        "C = mass_factor M + stiffness_factor K.",
        may("mass_factor", NUMBER, "[1/s]."),
        may("stiffness_factor", NUMBER, "[s]."),
    ),
)
TOP = Keys(
    "A mechanism: bodies, joints, drivers, couplings, forces and contacts. SI units throughout,"
    " right-handed axes, angles in radians. Every number may be an expression of parameters and"
    " definitions, written as text. Names are unique over the whole file.",
    must("bellcrank", {"const": 1}, "Version of the format."),
    must("name", NAME, "Name of the system."),
    may("gravity", VECTOR3, "Acceleration of free fall in world axes [m/s^2]; (0, 0, -9.81) where missing."),
    may("parameters", section(ref("parameter")), "Numbers that can change without compiling anew, by name."),
    may(
        "definitions",
        section(NUMBER, WORD),
        "Expressions of parameters and earlier definitions, by name, for use in all expressions.",
    ),
    may("bodies", section(ref("body")), "Bodies by name."),
    may("joints", section(ref("joint")), "Joints by name."),
    may("drivers", section(ref("driver")), "Prescribed motions by name."),
    may("couplings", section(ref("coupling")), "Linear relations between joint coordinates, by name."),
    may(
        "states",
        by_name(ref("state")),
        "First-order states by name: numbers with a rate of their own, for forces to use.",
    ),
    may("forces", section(ref("force")), "Forces by name."),
    may(
        "contacts", section(ref("contact")), "Pairs of shapes that may strike and touch each other, by name."
    ),
    may(
        "collisions",
        section(ref("collisions")),
        "Groups of shapes that collide with each other, by name; for runs by steps.",
    ),
    may(
        "initial",
        section(ref("start")),
        "Where joints start, and the modes of flexible bodies, by name, instead of the pose in "
        "which the bodies are described.",
    ),
)
_MOTION = described("Position and rate.", list_of(NUMBER, 1, 2))
START = Keys(
    "",
    may("position", VECTOR3, "Of frame B in the axes of frame A [m]."),
    may("quaternion", VECTOR4, "Of frame B in the axes of frame A: w, x, y, z."),
    may("velocity", VECTOR3, "Of frame B seen from A, in A's axes [m/s]."),
    may("angular_velocity", VECTOR3, "Of frame B seen from A, in B's axes [rad/s]."),
)
DEFINITIONS: dict[str, Schema | Keys | Kinds] = {
    "packed": described(
        "An array of numbers: its sizes, a colon, and base64 of the zlib-compressed little-endian doubles.",
        {"type": "string", "pattern": "^[0-9]+(x[0-9]+)*:[A-Za-z0-9+/]+=*$"},
    ),
    "number": described(
        "A number, or an expression: + - * / ^, comparisons, and or not, where(condition, a, b), "
        "sin cos tan asin acos atan atan2 sinh cosh tanh exp log sqrt abs floor sign min max clip, "
        "table(x, [xs], [ys]), spline(x, [xs], [ys]), pi, names. Names that are not words are "
        "written in double quotes.",
        EXPRESSION,
    ),
    "word": {"type": "string", "pattern": "^[^\\W\\d]\\w*$"},
    "vector3": list_of(NUMBER, 3),
    "vector4": list_of(NUMBER, 4),
    "vector6": list_of(NUMBER, 6),
    "matrix": list_of(VECTOR3, 3),
    "tables": described(
        "Rows of two plain numbers by name.", by_name(list_of(list_of(NUMBER, 2)) | {"minItems": 2})
    ),
    "axis": any_of(words("x", "y", "z"), VECTOR3),
    "let": described(
        "Named parts of a function, each an expression of its arguments, parameters and earlier parts.",
        by_name(NUMBER, WORD),
    ),
    "function": any_of(NUMBER, Keys("", may("let", LET), must("value", NUMBER))),
    "vector_function": any_of(VECTOR3, Keys("", may("let", LET), must("value", VECTOR3))),
    "parameter": any_of(NUMBER, PARAMETER),
    "body": BODY,
    "frame": FRAME,
    "side": any_of(TEXT, ref("frame")),
    "joint": JOINTS,
    "driver": DRIVER,
    "coordinate": any_of(TEXT, COORDINATE),
    "term": TERM,
    "coupling": COUPLINGS,
    "state": STATE,
    "force": FORCES,
    "friction": Keys(FRICTION.text, must("kind", words("coulomb", "lugre")), *FRICTION.keys),
    "contact": CONTACT,
    "collisions": COLLISIONS,
    "start": described(
        "A position [m or rad], a list of a position and its rate [m/s or rad/s], or a mapping of "
        "coordinates to them; ball and free joints have position, quaternion, velocity and "
        "angular_velocity, flexible bodies mode 1, mode 2 and so on.",
        one_of(
            NUMBER, _MOTION, by_name(one_of(NUMBER, _MOTION)) | {"properties": START.schema["properties"]}
        ),
    ),
    "shape": SHAPES,
    "part": PARTS,
    "member": MEMBERS,
    "material": MATERIAL,
    "section": SECTIONS,
    "region": described(
        "Nodes of a mesh: the name of a boundary, a point, all nodes in a box, or node numbers.",
        any_of(TEXT, REGION),
    ),
    "modes": MODES,
    "member_frame": MEMBER_FRAMES,
    "member_damping": DAMPINGS,
}

SECTION_NUMBERS = ("area", "bending_y", "bending_z", "product", "torsion", "shear_y", "shear_z")
SIZES = ("diameter", "outer", "inner", "height", "width")
REDUCED = tuple(key.name for key in _REDUCED)
"""Keys of a member that say how it is reduced."""


def schema() -> Schema:
    """The JSON Schema of the format (draft 2020-12)."""
    return document("Bellcrank model file, version 1", "model:1", TOP, DEFINITIONS)
