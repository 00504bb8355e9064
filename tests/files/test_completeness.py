"""Everything that can be said of a system in Python stands in its file: each method, each of its arguments.

For every argument there are two calls that differ in it alone. Their files must differ, and must come back as they are:
the same description, the same functions, the same text. A method or an argument that nobody shows here fails.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass, replace
from typing import Any

import jsonschema
import numpy as np
import pytest
import yaml

from bellcrank import Limits, SplineCurve, flexible
from bellcrank.contact import (
    Capsule,
    Coulomb,
    Cylinder,
    Ellipsoid,
    Implicit,
    LuGre,
    Mesh,
    Revolution,
    Sampled,
    Superellipsoid,
    Tube,
)
from bellcrank.files import dumps, loads, schema
from bellcrank.model import System
from bellcrank.model.bodies import Body
from bellcrank.model.constraints import ConstraintMethods
from bellcrank.model.contacts import ContactMethods
from bellcrank.model.forces import ForceMethods
from bellcrank.model.frames import Frame
from bellcrank.model.functions import UserFunction
from bellcrank.model.joints import JointMethods
from bellcrank.model.motion_methods import MotionMethods
from bellcrank.model.parameters import ParameterTable
from bellcrank.model.pressing import contact_force
from bellcrank.model.states import StateMethods
from bellcrank.program.graph import Graph
from bellcrank.program.trace import Expr
from bellcrank.tyres import Brush, Envelope

from .test_round_trip import traced

VALIDATOR = jsonschema.Draft202012Validator(schema())
Call = Mapping[str, Any]
Values = dict[str, tuple[Any, Any]]
DESCRIBING = (
    *JointMethods.__bases__,
    *ConstraintMethods.__bases__,
    MotionMethods,
    *ForceMethods.__bases__,
    ContactMethods,
    StateMethods,
)
OWN = ("parameter", "body", "flexible_body", "initial")
"""Where methods that describe something stand; those of System itself but for these run it."""


def base() -> System:
    """Something to hang everything on."""
    system = System("base")
    system.parameter("p", 2.0)
    for name, x in (("one", 0.0), ("two", 1.0), ("three", 2.0)):
        system.body(name, mass=1.0, inertia=(1, 1, 1), at=(x, 0, 0))
    system.revolute("hinge", system.ground, "one", at=(0, 0, 0))
    system.cylindrical("slide", system.ground, "two", at=(1, 0, 0))
    system.prismatic("rail", system.ground, "three", at=(2, 0, 0))
    system.body("four", mass=1.0, inertia=(1, 1, 1), at=(3, 0, 0))
    system.revolute("axle", "one", "four", at=(3, 0, 0))
    return system


def member(length: float = 1.0) -> flexible.Member:
    section = flexible.circle(0.01)
    model = flexible.beam("rod", length, section, flexible.STEEL, 4, planar=True)
    return model.reduce(flexible.NormalModes(count=1), flexible.Clamped("start"))


BRUSH = Brush(radius=0.3, stiffness=2e5, longitudinal=20.0, lateral=15.0)
TURN = ((0.0, -1.0, 0.0), (1.0, 0.0, 0.0), (0.0, 0.0, 1.0))
PLACED: Values = {
    "a": ("one", "ground"),
    "b": ("two", "three"),
    "at": ((0, 0, 0), (1, 2, 3)),
    "cut": (None, True),
}
AXIS: Values = {"axis": ("z", (0, 1, 1))}
EITHER: Values = {"a": ("one", "ground"), "b": ("two", "three")}
STOPS = {"bump": [(0, 0), (0.1, 2.0)], "rebound": [(0, 0), (0.1, 3.0)]}
APPLIED: Values = {
    "frame": ("one", "two"),
    "function": (lambda t, velocity: -velocity * t, (1.0, 2.0, 3.0)),
    "axes": ("world", "body"),
}
ARGUMENTS: dict[str, Values] = {
    "parameter": {"value": (1.0, 2.5), "unit": ("", "N/m")},
    "body": {
        "mass": (1.0, 2.0),
        "inertia": ((1, 1, 1), (1, 1, 1, 0.1, 0, 0)),
        "center_of_mass": ((0, 0, 0), (1, 2, 3)),
        "at": ((0, 0, 0), (1, 2, 3)),
        "angle": (None, 0.3),
        "rotation": (None, TURN),
        "quaternion": (None, (0.6, 0, 0.8, 0)),
    },
    "flexible_body": {
        "member": (member(), member(2.0)),
        "at": ((0, 0, 0), (1, 2, 3)),
        "angle": (None, 0.3),
        "rotation": (None, TURN),
        "quaternion": (None, (0.6, 0, 0.8, 0)),
    },
    "initial": {"values": ((0.1, 0.2), 0.1)},
    "fixed": PLACED,
    "revolute": {**PLACED, **AXIS, "limits": ((-3.5, None), Limits(-3.5, 4.0, restitution=0.5))},
    "prismatic": {**PLACED, **AXIS, "limits": ((-3.5, None), Limits(-3.5, 4.0, restitution=0.5))},
    "cylindrical": {
        **PLACED,
        **AXIS,
        "limits": (None, {"angle": (-3.5, 4), "displacement": Limits(-2, stiffness=10)}),
    },
    "universal": {
        **PLACED,
        "axis_a": ("x", "z"),
        "axis_b": ("y", (0, 1, 1)),
        "limits": (None, {"angle_b": (-3.5, 4.0)}),
    },
    "spherical": {**PLACED, "limits": (None, {"tilt": (None, 1.0), "turn": Limits(None, 2.0, stiffness=10)})},
    "planar": {**PLACED, **AXIS, "limits": (None, {"x": (-3.5, 4.0)})},
    "screw": {**PLACED, **AXIS, "pitch": (0.1, 0.2), "limits": (None, (-3.5, 4.0))},
    "free": {**PLACED, "limits": (None, {"z": (-3.5, 4.0)})},
    "tyre": {
        "frame": ("one", "two"),
        "law": (BRUSH, replace(BRUSH, friction=0.5)),
        "axis": ("y", "z"),
        "road": (None, lambda x, y, t: 0.1 * x * t),
        "friction": (None, lambda x, y, t: 1.0 + 0.1 * y),
        "transient": (True, False),
        "envelope": (
            None,
            Envelope(base=0.1, length=0.3, height=0.3, order=2.0, width=0.2, tracks=1, step=0.02),
        ),
    },
    "distance": {**EITHER, "length": (0.5, lambda t: 1.0 + 0.1 * np.sin(t))},
    "driver": {
        "target": ("slide", "point"),
        "function": (lambda t: t, lambda t: np.sin(t)),
        "coordinate": ("angle", "displacement"),
        "axis": ("x", "z"),
    },
    "coupling": {"terms": ({"hinge": 1.0, "rail": 2.0}, {"hinge": 1.0, "rail": 3.0}), "offset": (0.0, 0.5)},
    "gear": {
        "a": ("hinge", "rail"),
        "b": (("slide", "angle"), ("slide", "displacement")),
        "ratio": (2.0, 3.0),
        "offset": (None, 0.5),
        "carrier": (None, "rail"),
    },
    "belt": {
        "a": ("hinge", "rail"),
        "b": (("slide", "angle"), ("slide", "displacement")),
        "radius_a": (0.1, 0.2),
        "radius_b": (0.3, 0.4),
        "crossed": (False, True),
        "offset": (None, 0.5),
    },
    "worm": {
        "worm": ("hinge", "rail"),
        "wheel": (("slide", "angle"), ("slide", "displacement")),
        "starts": (1, 2),
        "teeth": (20, 30),
        "offset": (None, 0.5),
    },
    "differential": {
        "carrier": ("hinge", "rail"),
        "left": (("slide", "angle"), "rail"),
        "right": (("slide", "displacement"), "hinge"),
        "offset": (None, 0.5),
    },
    "rack_and_pinion": {
        "prismatic": ("rail", ("slide", "displacement")),
        "revolute": ("hinge", ("slide", "angle")),
        "radius": (0.5, 0.6),
        "offset": (None, 0.5),
    },
    "constraint": {
        "function": (
            lambda m: m["one.position.x"] - 0.1 * m["t"],
            lambda m: m["one.position"][0] - m["p"] * m["hinge.angle"],
        ),
        "velocity": (False, True),
    },
    "rolling": {
        **EITHER,
        "radius": (0.5, 0.6),
        "axis": ("y", (0, 1, 1)),
        "rim": (0.0, 0.1),
        "surface": (None, lambda x, y, z: z - 0.1 * x * y),
    },
    "knife_edge": {**EITHER, "axis": ("y", (0, 1, 1))},
    "point_on_line": EITHER,
    "point_on_plane": EITHER,
    "point_on_surface": {**EITHER, "surface": (lambda x, y, z: z - x, lambda x, y, z: z - np.sin(x) * y)},
    "point_on_curve": {
        **EITHER,
        "curve": (lambda s: (s, s * s, 0.0), SplineCurve([(0.1, 0), (1, 0.7), (0.3, 2)], closed=True)),
        "start": (None, 0.5),
    },
    "curve_on_curve": {
        **EITHER,
        "curve_a": (lambda s: (s, s * s, 0.0), lambda s: (np.cos(s), np.sin(s), 0.0)),
        "curve_b": (lambda s: (s, -s * s, 0.0), SplineCurve([(0.1, 0), (1, 0.7), (0.3, 2)])),
        "start_a": (0.0, 0.5),
        "start_b": (0.0, 0.5),
    },
    "parallel": EITHER,
    "perpendicular": EITHER,
    "constant_velocity": EITHER,
    "transmission": {
        "a": ("hinge", "rail"),
        "b": (("slide", "angle"), ("slide", "displacement")),
        "function": (lambda x: 2.0 * x, lambda x: np.sin(x)),
    },
    "state": {
        "rate": (lambda m: -m["new"], lambda m: m["one.position"][0] - m["t"] * m["two.velocity.x"]),
        "initial": (None, 1.0),
        "unit": ("", "m"),
        "follows": (None, lambda m: m["hinge.force.x"] * m["one.acceleration.y"]),
        "lag": (None, 1e-3),
    },
    "spring": {**EITHER, "stiffness": (1.0, 2.0), "damping": (0.0, 1.0), "free_length": (1.0, 0.5)},
    "force": {
        **EITHER,
        "function": (lambda length, rate, t: -length, lambda length, rate, t: np.minimum(rate, t)),
        "energy": (None, lambda length: length**2 / 2),
    },
    "torsion_spring": {
        "joint": ("slide", "hinge"),
        "stiffness": (1.0, 2.0),
        "damping": (0.0, 1.0),
        "free_angle": (0.0, 0.1),
        "coordinate": ("angle", "displacement"),
    },
    "joint_force": {
        "joint": ("slide", "hinge"),
        "function": (lambda coordinate, rate, t: -coordinate, lambda coordinate, rate, t: np.tanh(rate)),
        "coordinate": ("angle", "displacement"),
        "energy": (None, lambda coordinate: coordinate**2 / 2),
    },
    "joint_friction": {
        "joint": ("slide", "hinge"),
        "friction": (0.3, LuGre(0.2, 0.3, damping=10.0)),
        "radius": (0.02, 0.03),
        "preload": (0.0, 5.0),
        "coordinate": ("angle", "displacement"),
        "lag": (1e-5, 2e-3),
    },
    "clutch": {
        "joint": ("slide", "hinge"),
        "capacity": (5.0, lambda t: 2.0 * t),
        "static": (1.0, 1.5),
        "stiffness": (1e4, 2e4),
        "stribeck_speed": (1e-2, 2e-2),
        "coordinate": ("angle", "displacement"),
    },
    "armature": {
        "joint": ("slide", "hinge"),
        "inertia": (0.1, 0.2),
        "mass": (0.0, 0.3),
        "coordinate": (None, "angle"),
    },
    "limits": {
        "joint": ("slide", "hinge"),
        "low": (-0.5, -0.6),
        "high": (0.5, 0.6),
        "restitution": (None, 0.3),
        "stiffness": (1e5, 2e5),
        "damping": (0.0, 10.0),
        "coordinate": ("angle", "displacement"),
    },
    "cable": {
        "points": (["ground", "one", "two"], ["ground", "one", "three"]),
        "radii": ([0.1], [-0.1]),
        "stiffness": (1e4, 2e4),
        "damping": (0.0, 1.0),
        "length": (2.0, 3.0),
    },
    "motor": {
        "joint": ("slide", "hinge"),
        "curve": ([(0, 10), (100, 0)], [(0, 10), (50, 8), (100, 0)]),
        "throttle": (None, lambda t: 0.5 + t),
        "coordinate": ("angle", "displacement"),
    },
    "bushing": {
        **EITHER,
        "stiffness": ((1, 2, 3, 4, 5, 6), (1, 2, 3, 4, 5, 7)),
        "damping": ((0,) * 6, (0, 0, 0, 0, 0, 1)),
        "tables": (None, {"x": [(0.0, 0.0), (0.1, 2.0)]}),
    },
    "rotation_spring": {**EITHER, "stiffness": (1.0, 2.0), "damping": (0.0, 1.0)},
    "applied_force": APPLIED,
    "applied_torque": APPLIED,
    "ground_spring": {
        "frame": ("one", "two"),
        "axis": ("y", (0, 1, 1)),
        "radius": (0.3, 0.4),
        "stiffness": (1e5, 2e5),
        "damping": (0.0, 1.0),
        "longitudinal": (0.0, 1.0),
        "lateral": (0.0, 1.0),
        "reference_load": (1.0, 2.0),
        "road": (None, lambda x, y, t: 0.1 * np.sin(x) * y),
    },
    "strut": {
        **EITHER,
        "stiffness": (1.0, 2.0),
        "damping": (0.0, 1.0),
        "free_length": (1.0, 0.5),
        "bump": (0.4, 0.5),
        "rebound": (0.8, 0.9),
        "tables": (STOPS, {**STOPS, "damper": [(-1, -2), (0, 0), (1, 3)]}),
    },
    "anti_roll_bar": {
        "bar": ((0.5, 0, 0.5), (0.5, 0, 0.6)),
        "levers": (((0.1, 0, 0.2), (1.1, 0, 0.2)), ((0.1, 0, 0.3), (1.1, 0, 0.2))),
        "links": (("one", "two"), ("one", "three")),
        "stiffness": (1.0, 2.0),
        "damping": (0.0, 1.0),
        "axis": ("y", (0, 1, 0.1)),
    },
    "steering": {
        "joint": ("slide", "hinge"),
        "angle": (0.1, lambda t: 0.1 * t),
        "ratio": (15.0, 16.0),
        "stiffness": (80.0, 90.0),
        "damping": (0.0, 1.0),
        "assistance": (None, [(-1, -5), (0, 0), (1, 5)]),
        "coordinate": ("angle", "displacement"),
    },
    "power_train": {
        "frame": ("one", "two"),
        "hubs": (["hinge", "axle"], ["axle", "hinge"]),
        "engine": ([(0, 10, 100), (500, -10, 50)], [(0, 10), (500, 5)]),
        "inertia": (0.1, 0.2),
        "ratios": ([3.0, 2.0], [3.0, 1.0]),
        "throttle": (0.5, lambda t: 0.1 * t),
        "gear": (1.0, 2.0),
        "clutch": (1.0, lambda t: 1.0 - t),
        "final": (1.0, 4.0),
        "reverse": (3.0, 3.5),
        "capacity": (200.0, 300.0),
        "differentials": (["open"], ["locked"]),
        "preload": (0.0, 10.0),
        "locking": (0.3, 0.4),
        "front": (0.5, 0.4),
        "slip": (1.0, 2.0),
        "idle": (50.0, 60.0),
    },
    "aerodynamics": {
        "frame": ("one", "two"),
        "area": (2.0, 2.1),
        **dict.fromkeys(("drag", "lift", "side", "roll", "pitch", "yaw"), (0.0, 0.1)),
        "length": (1.0, 2.5),
        "density": (1.2, 1.0),
        "wind": ((0, 0, 0), (0, 5, 0)),
    },
    "contact": {
        "a": ("sphere", "ellipsoid"),
        "b": ("plane", "ground plane"),
        "restitution": (1.0, 0.5),
        "friction": (0.0, 0.3),
        "law": ("newton", "poisson"),
        "treatment": ("impulsive", "continuous"),
        "pressing": ({}, {}),
    },
}
ONLY_WITH: dict[tuple[str, str], dict[str, Any]] = {
    ("differential", "right"): {"carrier": "rail"},
    ("rolling", "surface"): {"axis": None},
    ("state", "follows"): {"rate": None, "follows": lambda m: m["t"]},
    ("state", "lag"): {"rate": None, "follows": lambda m: m["t"]},
    ("driver", "target"): {"target": "hinge", "coordinate": None, "axis": None},
    ("driver", "function"): {"coordinate": "angle", "axis": None},
    ("driver", "coordinate"): {"axis": None},
    ("driver", "axis"): {"target": "point", "coordinate": None, "axis": "x"},
    ("torsion_spring", "joint"): {"coordinate": None, "joint": "rail"},
    ("joint_friction", "joint"): {"coordinate": "angle"},
    ("clutch", "joint"): {"coordinate": "angle"},
    ("limits", "joint"): {"coordinate": "angle"},
    ("limits", "restitution"): {"restitution": 0.5, "stiffness": None, "damping": 0.0},
    ("motor", "joint"): {"coordinate": "angle"},
    ("joint_force", "joint"): {"coordinate": None, "joint": "rail"},
    ("steering", "joint"): {"coordinate": "angle"},
}
"""Arguments that need others to be as told here."""
DESCRIBED_ELSEWHERE = {("contact", "treatment"), ("contact", "pressing")}
"""Arguments that the test of continuous contacts varies."""
SOFT: Call = {"treatment": "continuous", "stiffness": 1e5}
CURVED: Call = {"treatment": "continuous", "young": 1e9}
CONTINUOUS: dict[str, tuple[Call, Call]] = {
    "treatment": ({}, SOFT),
    "stiffness": (SOFT, {**SOFT, "stiffness": 2e5}),
    "exponent": (SOFT, {**SOFT, "exponent": 1.2}),
    "damping": tuple(  # type: ignore[dict-item]
        {"treatment": "continuous", "law": "kelvin-voigt", "stiffness": 1e5, "damping": d} for d in (1.0, 2.0)
    ),
    "young": (CURVED, {**CURVED, "young": (1e9, 2e9)}),
    "poisson": (CURVED, {**CURVED, "poisson": (0.3, 0.2)}),
    "approach_speed": ({**SOFT, "restitution": 0.5}, {**SOFT, "restitution": 0.5, "approach_speed": 3.0}),
    "restitution": (SOFT, {**SOFT, "restitution": 0.5}),
    "law": (SOFT, {**SOFT, "law": "flores"}),
    "friction": (SOFT, {**SOFT, "friction": 0.3}),
    "coulomb": (SOFT, {**SOFT, "friction": Coulomb(0.3, 0.4, 0.02, 0.002)}),
    "lugre": (SOFT, {**SOFT, "friction": LuGre(0.3, stiffness=1e3)}),
}
"""What the continuous treatment takes."""


def given(system: System, method: str, values: Call) -> dict[str, Any]:
    """Values in which words stand for things of the system."""
    one, two, ground = system.bodies["one"], system.bodies["two"], system.ground
    shapes = {
        "sphere": lambda: one.sphere(0.1),
        "ellipsoid": lambda: one.ellipsoid(0.1, 0.2, 0.3, at=(0, 0, 1)),
        "plane": lambda: two.plane(),
        "ground plane": lambda: ground.plane(at=(0, 0, -1)),
    }
    made: dict[str, Any] = {}
    for key, value in values.items():
        if method == "contact" and key in "ab":
            made[key] = shapes[value]()
        elif method == "anti_roll_bar" and key in ("bar", "levers"):
            made[key] = ground.point(value) if key == "bar" else [ground.point(end) for end in value]
        elif isinstance(value, str) and value == "point":
            made[key] = one.point(1, 2, 3)
        else:
            made[key] = value
    return made


def described(method: str, values: Call) -> System:
    system = base()
    call = given(system, method, {k: v for k, v in values.items() if k != "pressing"})
    getattr(system, method)(**call, name="hinge" if method == "initial" else "new")
    return system


def pairs() -> list[tuple[str, str]]:
    every = [(method, argument) for method, values in ARGUMENTS.items() for argument in values]
    return [pair for pair in every if pair not in DESCRIBED_ELSEWHERE]


def usual_call(method: str, argument: str) -> Call:
    """The first value of every argument, and what this one needs."""
    usual = {key: values[0] for key, values in ARGUMENTS[method].items()}
    if method == "driver":
        usual |= {"axis": None}
    return usual | ONLY_WITH.get((method, argument), {})


def two_calls(method: str, argument: str) -> tuple[Call, Call]:
    """Calls that differ in one argument alone."""
    usual = usual_call(method, argument)
    other = {**usual, argument: ARGUMENTS[method][argument][1]}
    if (method, argument) == ("driver", "target"):
        other |= {"axis": "x"}
    if (method, argument) == ("joint_friction", "coordinate"):
        other |= {"radius": None}
    return usual, other


def describing() -> dict[str, Callable[..., Any]]:
    """The public methods of a system that say something."""
    found = {name: getattr(System, name) for name in OWN}
    for part in DESCRIBING:
        found |= {name: item for name, item in vars(part).items() if inspect.isfunction(item)}
    return {name: item for name, item in found.items() if name[0] != "_"}


def carried(system: System) -> str:
    """The text of a system, which the schema knows and which gives the same system and text again."""
    text = dumps(system)
    VALIDATOR.validate(parsed(text))
    again = loads(text)
    assert same(system, again)
    assert dumps(again) == text
    return text


def parsed(text: str) -> Any:
    """What any reader of YAML makes of a text; that in C takes a tenth of the time."""
    return yaml.load(text, getattr(yaml, "CSafeLoader", yaml.SafeLoader))


def test_every_method_and_every_argument_is_shown() -> None:
    for name, method in describing().items():
        assert name in ARGUMENTS, f"System.{name} has no entry here: can a file carry what it says?"
        told = set(inspect.signature(method).parameters) - {"self", "name"}
        assert told == set(ARGUMENTS[name]), name
    assert set(ARGUMENTS) == set(describing())


@pytest.mark.parametrize(("method", "argument"), pairs(), ids=lambda x: x)
def test_every_argument_stands_in_the_file(method: str, argument: str) -> None:
    other = carried(described(method, two_calls(method, argument)[1]))
    usual = usual_text(method, argument if (method, argument) in ONLY_WITH else "")
    assert usual != other, f"{argument} of System.{method} is not in the file"


@functools.cache
def usual_text(method: str, argument: str) -> str:
    """The text of the usual call, made once for all arguments that need no others to be as told."""
    return carried(described(method, usual_call(method, argument)))


def touching(argument: str, call: Call) -> System:
    """A contact in the continuous treatment."""
    system = base()
    one = system.bodies["one"]
    system.contact("touch", one.sphere(0.1), system.bodies["two"].sphere(0.2, at=(0, 0, 1)), **call)
    return system


def test_every_argument_of_continuous_contacts_is_shown() -> None:
    signature = inspect.signature(contact_force).parameters.values()
    # The number of points is refused.
    assert {p.name for p in signature if p.kind is p.KEYWORD_ONLY} - {"points"} <= set(CONTINUOUS)


@pytest.mark.parametrize("argument", CONTINUOUS)
def test_every_argument_of_continuous_contacts_stands_in_the_file(argument: str) -> None:
    texts = []
    for call in CONTINUOUS[argument]:
        texts.append(carried(touching(argument, call)))
    assert texts[0] != texts[1]


def test_gravity_and_name_stand_in_the_file() -> None:
    system = System("a name", gravity=(1, 2, 3))
    assert loads(dumps(system)).name == "a name"
    assert loads(dumps(system)).gravity == (1.0, 2.0, 3.0)
    system.gravity = (0, 0, system.parameter("g", -1.6))
    assert isinstance(loads(dumps(system)).gravity[2], Expr)


SHAPES: dict[str, Callable[[Body], Any]] = {
    "sphere": lambda body: body.sphere(0.1, at=(1, 2, 3)),
    "ellipsoid": lambda body: body.ellipsoid(0.1, 0.2, 0.3),
    "superellipsoid": lambda body: body.shape(Superellipsoid(0.1, 0.2, 0.3, (3.0, 2.5))),
    "capsule": lambda body: body.shape(Capsule(0.1, 0.5), (0, 0, 1), TURN),
    "cylinder": lambda body: body.shape(Cylinder(0.1, 0.5)),
    "rounded cylinder": lambda body: body.cylinder(0.1, 0.5, rounding=0.02),
    "rounded box": lambda body: body.box(0.1, 0.5, 0.2, rounding=0.02),
    "general ellipsoid": lambda body: body.shape(Ellipsoid(0.1, 0.2, 0.3), (0, 0, 1), TURN),
    "implicit": lambda body: body.shape(Implicit(lambda x, y, z: x**4 + y**4 + z**4 - 1e-4, 0.2, "cube")),
}


def sampled(body: Body) -> Any:
    k = np.arange(400)
    z, turn = 1 - (2 * k + 1) / 400, np.pi * (1 + np.sqrt(5)) * k
    n = np.stack([np.sqrt(1 - z**2) * np.cos(turn), np.sqrt(1 - z**2) * np.sin(turn), z], axis=1)
    return body.shape(Sampled(0.1 * n, n))


def opened(body: Body) -> Any:
    x, y = np.meshgrid(np.linspace(-1, 1, 7), np.linspace(-1, 1, 6) ** 3, indexing="ij")
    return body.shape(Sampled.from_grid(np.stack([x, y, 0.0 * x], axis=2)))


def meshed(body: Body) -> Any:
    corners = 0.1 * np.array([(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)])
    return body.shape(Mesh(corners, np.array([(0, 2, 1), (0, 1, 3), (1, 2, 3), (0, 3, 2)]), resolution=16))


FIELDS: dict[str, Callable[[Body], Any]] = {
    "cone": lambda body: body.cone(0.1, 0.5, 0.05, (0, 0, 1), TURN, 0.01),
    "torus": lambda body: body.torus(0.2, 0.1, (0, 0, 1), TURN),
    "tube": lambda body: body.shape(Tube(0.2, 0.1, 0.3, 0.01), (0, 0, 1), TURN),
    "triangles": meshed,
}

PRESSED: dict[str, Callable[[Body], Any]] = {
    "open": opened,
    "revolution": lambda body: body.shape(Revolution(lambda z: 0.1 + 0.05 * z, 1.0, rounding=0.01)),
    "sampled": sampled,
}


@pytest.mark.parametrize("name", PRESSED)
def test_every_shape_of_continuous_contacts_stands_in_the_file(name: str) -> None:
    system = base()
    system.contact("touch", PRESSED[name](system.bodies["one"]), system.bodies["two"].sphere(0.1), **SOFT)
    again = loads(dumps(system))
    VALIDATOR.validate(parsed(dumps(system)))
    assert same(system, again)
    assert dumps(again) == dumps(system)


@pytest.mark.parametrize("name", FIELDS)
def test_every_shape_with_a_field_alone_stands_in_the_file(name: str) -> None:
    system = base()
    system.contact(
        "touch",
        FIELDS[name](system.bodies["one"]),
        system.bodies["two"].sphere(0.1),
        0.5,
        treatment="continuous",
        young=1e8,
    )
    again = loads(dumps(system))
    VALIDATOR.validate(parsed(dumps(system)))
    assert same(system, again)
    assert dumps(again) == dumps(system)


@pytest.mark.parametrize("name", SHAPES)
def test_every_shape_stands_in_the_file(name: str) -> None:
    system = base()
    system.contact("touch", SHAPES[name](system.bodies["one"]), system.ground.plane((0, 1, 1)))
    again = loads(dumps(system))
    VALIDATOR.validate(parsed(dumps(system)))
    assert same(system, again)
    assert dumps(again) == dumps(system)


def same(a: System, b: System) -> bool:
    """Whether two systems say the same: every field of every thing, functions by what they compute."""
    if (a.name, _facts(a.gravity)) != (b.name, _facts(b.gravity)):
        return False
    for (kind, things), (_, others) in zip(a._kinds(), b._kinds(), strict=True):
        if list(things) != list(others):
            raise AssertionError(f"{kind}: {list(things)} became {list(others)}")
        for name, thing in things.items():
            if _facts(thing) != _facts(others[name]):
                raise AssertionError(f"{kind} {name!r}: {_facts(thing)} became {_facts(others[name])}")
    return _facts(a.initials) == _facts(b.initials)


GRAPH = Graph()


def _facts(thing: Any) -> Any:
    if isinstance(thing, UserFunction):
        return [x.id if isinstance(x, Expr) else x for x in traced(thing, GRAPH)]
    if isinstance(thing, ParameterTable) or callable(thing):
        return None
    if isinstance(thing, Frame):
        return ("frame", thing.body.name, _facts(thing.position), _facts(thing.rotation), thing.name)
    if isinstance(thing, flexible.Member):
        return thing.name, len(thing.frequencies)
    if is_dataclass(thing):
        return type(thing).__name__, {
            f.name: _facts(getattr(thing, f.name)) for f in fields(thing) if f.name != "parameters"
        }
    if isinstance(thing, np.ndarray):
        return thing.tolist()
    if isinstance(thing, dict):
        return {key: _facts(x) for key, x in thing.items()}
    if isinstance(thing, tuple | list):
        return [_facts(x) for x in thing]
    if isinstance(thing, Expr):
        return GRAPH.bring(thing).id if isinstance(GRAPH.bring(thing), Expr) else GRAPH.bring(thing)
    return repr(thing) if isinstance(thing, float) else thing
