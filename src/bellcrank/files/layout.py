"""The native format: one table of keys from which the readers, the writer and the JSON Schema are made.

Joints, forces, shapes, contacts and flexible members say their keys in their own files; this one says the rest, and
puts all of them together.
"""

from __future__ import annotations

from bellcrank.base.keys import (
    EXPRESSION,
    FUNCTION,
    JOINT,
    LET,
    MATRIX,
    NAME,
    NUMBER,
    SIDE,
    TEXT,
    TRUTH,
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
from bellcrank.contact.friction import Coulomb, LuGre
from bellcrank.files.shapes import PARTS, SHAPES
from bellcrank.model import constraints, forces, joints
from bellcrank.model.collisions import Collisions
from bellcrank.model.contact_keys import CONTACT
from bellcrank.model.forces.element import COORDINATE as COORDINATE_KEYS
from bellcrank.model.forces.limits import STOPS
from bellcrank.model.frames import Frame
from bellcrank.model.visuals import Visual
from bellcrank.roads.kinds import ROADS
from bellcrank.tyres.envelope import ENVELOPES
from bellcrank.tyres.property_file import TYRES

VERSION = "1"
DRIVER_ARGUMENTS = ("t",)

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
PARAMETER = Keys(
    "",
    must("value", NUMBER, "Value; an expression of plain numbers."),
    may("unit", TEXT, "Unit, for people to read."),
)
JOINTS = Kinds(kinds={kind.kind: kind.keys for kind in joints.KINDS})
COORDINATE = Keys("", *COORDINATE_KEYS)
DRIVER = Keys(
    "Makes a joint coordinate, or a world coordinate of a point, follow a function of time.",
    may("joint", JOINT, "Name of the joint."),
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
        must("terms", ref("terms")),
        may("offset", NUMBER, "Right-hand side [m or rad]; 0 where missing."),
    ),
    gear=Keys(
        "angle_a - ratio * angle_b = offset.",
        must("a", ref("coordinate"), "First angle."),
        must("b", ref("coordinate"), "Second angle."),
        must("ratio", NUMBER, "Turns of a for one of b; negative where they turn in opposite directions."),
        may("offset", NUMBER, "[rad]; the meshing of the start pose where missing."),
        may("carrier", ref("coordinate"), "Angle of the arm that carries both axes, against the same body."),
    ),
    belt=Keys(
        "radius_a * angle_a - radius_b * angle_b = offset.",
        must("a", ref("coordinate"), "Angle of the first pulley."),
        must("b", ref("coordinate"), "Angle of the second."),
        must("radius_a", NUMBER, "[m]."),
        must("radius_b", NUMBER, "[m]."),
        may("crossed", TRUTH, "Whether the belt crosses, so that the pulleys turn opposite ways."),
        may("offset", NUMBER, "[m]; that of the start pose where missing."),
    ),
    worm=Keys(
        "angle_worm - teeth / starts * angle_wheel = offset.",
        must("worm", ref("coordinate"), "Angle of the worm."),
        must("wheel", ref("coordinate"), "Angle of the wheel."),
        must("starts", NUMBER, "Threads of the worm; negative for a left-hand one."),
        must("teeth", NUMBER, "Of the wheel."),
        may("offset", NUMBER, "[rad]; the meshing of the start pose where missing."),
    ),
    differential=Keys(
        "angle_left + angle_right - 2 * angle_carrier = offset.",
        must("carrier", ref("coordinate"), "Angle of the cage."),
        must("left", ref("coordinate"), "Angle of one shaft."),
        must("right", ref("coordinate"), "Angle of the other."),
        may("offset", NUMBER, "[rad]; that of the start pose where missing."),
    ),
    rack_and_pinion=Keys(
        "displacement - radius * angle = offset.",
        must("prismatic", ref("coordinate"), "Displacement of the rack."),
        must("revolute", ref("coordinate"), "Angle of the pinion."),
        must("radius", NUMBER, "Radius of the pinion [m]."),
        may("offset", NUMBER, "[m]; the meshing of the start pose where missing."),
    ),
)
CONSTRAINTS = Kinds(kinds={kind.kind: kind.keys for kind in constraints.KINDS})
STATE = Keys(
    "A first-order state.",
    may("rate", FUNCTION, "Its rate, an expression of t, the words of measures, parameters and states."),
    may(
        "follows",
        FUNCTION,
        "In the place of a rate: what it follows, an expression with reactions and accelerations among its measures.",
    ),
    may("lag", NUMBER, "Time in which it follows [s]; 1e-12 where missing.", plain=True),
    may(
        "measures",
        by_name(NAME),
        "Words for the expression, each with the quantity it stands for, such as crank.angular_velocity.z.",
    ),
    may("initial", NUMBER, "Value at the start; 0 where missing. A plain number."),
    may("unit", WORD, "Unit of the value."),
)
FORCES = Kinds(kinds={kind.kind: kind.keys for kind in forces.KINDS})
FRICTIONS = Kinds.of("Law of friction of a continuous contact.", Coulomb, LuGre)
TOP = Keys(
    "A mechanism: bodies, joints, drivers, couplings, constraints, forces and contacts. SI units throughout,"
    " right-handed axes, angles in radians. Every number may be an expression of parameters and"
    " definitions, written as text. Names are unique over the whole file.",
    must("bellcrank", {"const": 1}, "Version of the format."),
    must("name", NAME, "Name of the system."),
    may("gravity", VECTOR3, "Acceleration of free fall in world axes [m/s^2]; (0, 0, -9.81) where missing."),
    may(
        "zero",
        words(*(zero.value for zero in joints.Zero)),
        "Where coordinates of joints are zero: axes, where their frames coincide, or described, in the described pose; "
        "axes where missing, with a warning of start values that depend on it.",
    ),
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
    may("constraints", section(ref("constraint")), "Constraints beside joints, by name."),
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
    may("visuals", list_of(ref("visual")), "What bodies are drawn by, without effect on the motion."),
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
    "frame": Frame.keys,
    "side": any_of(TEXT, ref("frame")),
    "joint": JOINTS,
    "driver": DRIVER,
    "coordinate": any_of(TEXT, COORDINATE),
    "term": TERM,
    "terms": list_of(ref("term")) | {"minItems": 1},
    "joint_name": TEXT,
    "of_both": one_of(NUMBER, list_of(NUMBER, 2)),
    "limit": any_of(list_of(any_of(NUMBER, {"type": "null"}), 2), Keys("", *STOPS)),
    "limits": any_of(ref("limit"), by_name(ref("limit"))),
    "coupling": COUPLINGS,
    "constraint": CONSTRAINTS,
    "state": STATE,
    "force": FORCES,
    "friction": FRICTIONS,
    "tyre": TYRES,
    "envelope": ENVELOPES,
    "road": any_of(FUNCTION, ROADS),
    "contact": CONTACT,
    "collisions": Collisions.keys,
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
    "visual": Visual.keys,
}


def schema() -> Schema:
    """The JSON Schema of the format (draft 2020-12)."""
    from bellcrank.files.members import DEFINITIONS as OF_MEMBERS

    return document("Bellcrank model file, version 1", "model:1", TOP, {**DEFINITIONS, **OF_MEMBERS})
