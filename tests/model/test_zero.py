"""With ``zero="described"`` every coordinate starts at zero, and the mechanism is the same."""

from __future__ import annotations

import warnings
from functools import cache
from typing import Any

import numpy as np
import pytest

from bellcrank import Limits, ModelError, System
from bellcrank.files import dumps, loads
from bellcrank.flexible import STEEL, Clamped, NormalModes, beam, circle
from bellcrank.math.arrays import quaternion_of_rotation
from bellcrank.mechanism import analyse
from bellcrank.mechanism.description import described_coordinates
from bellcrank.result.result import Result
from reference.engine import Array, turn

START: dict[str, dict[str, float]] = {
    "revolute": {"angle": 0.7},
    "prismatic": {"displacement": -0.4},
    "cylindrical": {"angle": -2.1, "displacement": 0.3},
    "universal": {"angle_a": 0.9, "angle_b": -1.3},
    "planar": {"x": 0.2, "y": -0.5, "angle": 2.6},
    "screw": {"angle": 1.1},
    "spherical": {},
    "free": {"x": 0.6, "y": -0.7, "z": 0.8},
}
"""Where the coordinates are in the described pose when they count from the frames."""
PITCH = 0.13
WHOLE = turn(np.array([0.8, -1.1, 0.4]))
"""The rotation of ball and free joints there."""
UNIT = np.eye(3)


def transform(kind: str) -> tuple[Array, Array]:
    """Place and rotation of frame B in frame A at START, by the table of conventions."""
    q = START[kind]
    about_z = turn(np.array([0.0, 0.0, q.get("angle", 0.0)]))
    if kind == "universal":
        quarter = turn(np.array([0.0, np.pi / 2, 0.0]))
        a, b = (turn(np.array([0.0, 0.0, q[name]])) for name in ("angle_a", "angle_b"))
        return np.zeros(3), a @ quarter @ b
    if kind in ("spherical", "free"):
        return np.array([q.get(name, 0.0) for name in "xyz"]), WHOLE
    if kind == "screw":
        return np.array([0.0, 0.0, PITCH * q["angle"]]), about_z
    return np.array([q.get("x", 0.0), q.get("y", 0.0), q.get("displacement", 0.0)]), about_z


class Drawn:
    """A system of bodies at random poses; joints of every kind between random frames of them."""

    def __init__(self, zero: str, seed: int) -> None:
        self.rng = np.random.default_rng(seed)
        self.system = System("drawn", gravity=(1.0, 2.0, -9.0), zero=zero)
        self.from_axes = zero == "axes"
        self.initial: dict[str, dict[str, Any]] = {}

    def body(self, name: str) -> None:
        m, size = self.rng.uniform(0.5, 2.0), self.rng.uniform(0.3, 0.5, 3)
        inertia = m * (size @ size * UNIT - np.outer(size, size)) + 0.1 * UNIT
        at, R = self.rng.uniform(-1, 1, 3), turn(self.rng.uniform(-2, 2, 3))
        self.system.body(name, m, inertia, self.rng.uniform(-0.2, 0.2, 3), at=at, rotation=R)

    def join(self, name: str, kind: str, a: str, b: str, moving: bool = True, **more: Any) -> None:
        """A joint whose frames are moved against each other by START, and the same motion of both to begin with."""
        side_a, side_b = (self.system.body_named(x) for x in (a, b))
        p, Q = transform(kind)
        Ra, Rb = side_a.start_rotation(), side_b.start_rotation()
        local, place = turn(self.rng.uniform(-2, 2, 3)), self.rng.uniform(-0.3, 0.3, 3)
        world_R, world_p = Ra @ local, Ra @ place + np.array(side_a.position)
        on_b = Rb.T @ (world_p + world_R @ p - np.array(side_b.position))
        if kind == "screw":
            more["pitch"] = PITCH
        frames = side_a.frame(place, local), side_b.frame(on_b, Rb.T @ world_R @ Q)
        getattr(self.system, kind)(name, *frames, **more)
        rates = self.rng.uniform(-0.4, 0.4, 6)
        if not moving:
            return
        if kind in ("spherical", "free"):
            # Components of one vector in the axes of the frame of B, which the zero turns.
            spin = rates[:3] if self.from_axes else WHOLE @ rates[:3]
            self.initial[name] = {"angular_velocity": spin}
            if kind == "free":
                self.initial[name]["velocity"] = rates[3:]
        else:
            self.initial[name] = {f"{c}_rate": x for c, x in zip(START[kind], rates, strict=False)}

    def at(self, kind: str, coordinate: str, value: float) -> float:
        """A value that counts from the described pose as the coordinate of this system."""
        return value + START[kind][coordinate] if self.from_axes else value


def tree(zero: str) -> Drawn:
    """One joint of each kind on a driven body, with limits, a force and a coupling of coordinates."""
    drawn = Drawn(zero, 3)
    system, at = drawn.system, drawn.at
    limits = {
        "prismatic": Limits(at("prismatic", "displacement", -0.02), None, stiffness=400.0, damping=3.0),
        "universal": {"angle_b": Limits(None, at("universal", "angle_b", 0.01), stiffness=50.0, damping=1.0)},
    }
    for kind in START:
        drawn.body(f"with {kind}")
        more = {"limits": limits[kind]} if kind in limits else {}
        on = "ground" if kind == "revolute" else "with revolute"
        drawn.join(kind, kind, on, f"with {kind}", moving=kind not in ("revolute", "screw"), **more)
    system.driver("revolute", lambda t: at("revolute", "angle", 0.3 * t * t), name="motor")
    system.coupling(
        "gear",
        {("screw", "angle"): 1.0, ("cylindrical", "angle"): -0.5},
        at("screw", "angle", 0.0) - 0.5 * at("cylindrical", "angle", 0.0),
    )
    system.joint_force(
        "coil",
        "universal",
        lambda coordinate: -3.0 * (coordinate - at("universal", "angle_a", 0.1)),
        "angle_a",
    )
    return drawn


def cuts(zero: str) -> Drawn:
    """Bodies that float, each also held by a joint that closes a loop, with forces on its coordinates."""
    drawn = Drawn(zero, 5)
    for kind, start in START.items():
        if kind == "free":
            continue
        drawn.body(kind)
        drawn.join(f"air of {kind}", "free", "ground", kind, moving=False)
        drawn.join(f"cut {kind}", kind, "ground", kind, moving=False, cut=True)
        for name in start:
            drawn.system.joint_force(
                f"{name} of {kind}",
                f"cut {kind}",
                lambda coordinate, kind=kind, name=name: (
                    -5.0 * np.sin(coordinate - drawn.at(kind, name, 0.2))
                ),
                name,
            )
    return drawn


MAKERS = {"tree": tree, "cuts": cuts}


@cache
def run(maker: str, zero: str) -> Result:
    drawn = MAKERS[maker](zero)
    return drawn.system.simulate(0.4, initial=drawn.initial, tolerance=1e-12, output=20)


@pytest.mark.parametrize("maker", MAKERS)
def test_coordinates_start_at_zero_and_the_motion_is_the_same(maker: str) -> None:
    expected, found = run(maker, "axes"), run(maker, "described")
    system = found.mechanism.system
    for name in system.bodies:
        for what in ("position", "rotation"):
            difference = found[f"{name}.{what}"] - expected[f"{name}.{what}"]
            assert np.abs(difference).max() < 1e-9
        assert np.ptp(expected[f"{name}.position"], axis=0).max() > 1e-3
    for name, joint in system.joints.items():
        kind = joint.kind
        at_zero = dict(zip(joint.coordinates, joint.start_coordinates(), strict=True))
        for coordinate in joint.scalar_coordinates:
            ours, usual = found[f"{name}.{coordinate}"], expected[f"{name}.{coordinate}"]
            assert abs(at_zero[coordinate]) < 1e-14
            assert abs(ours[0]) < 1e-14
            turns = (usual - ours - START[kind][coordinate]) / (2 * np.pi)
            assert np.abs(turns - np.round(turns)).max() < 1e-9
        if joint.has_quaternion:
            assert np.abs(quaternion_of_rotation(joint.start_relation()[1])[1:]).max() < 1e-14


@pytest.mark.parametrize("maker", MAKERS)
def test_files_keep_the_zero_and_the_frames(maker: str) -> None:
    system = MAKERS[maker]("described").system
    text = dumps(system)
    assert "zero: described" in text
    again = loads(text)
    assert dumps(again) == text
    assert "zero: axes" in dumps(MAKERS[maker]("axes").system)
    assert "zero" not in dumps(System("said nothing"))
    # Read without the key it is the same mechanism: the frames carry the zero.
    assert dumps(loads(text.replace("zero: described\n", ""))) == text.replace("zero: described\n", "")


def test_bodies_drawn_turned_start_at_zero_in_plain_words() -> None:
    system = System("crank", zero="described")
    crank = system.body("crank", 1.0, (0.1, 0.1, 0.1), at=(1, 0, 0), angle=0.5)
    nut = system.body("nut", 1.0, (0.1, 0.1, 0.1), at=(0, 0, 1), angle=0.25)
    system.revolute("pin", "ground", crank, at=(0, 0, 0))
    thread = system.screw("thread", "ground", nut, at=(0, 0, 0), pitch=0.1)
    assert np.abs(thread.a.start_position()).max() == 0.0
    assert np.abs(thread.b.start_position()).max() < 1e-15
    assert described_coordinates(analyse(system)) == []
    assert "all coordinates count from the described pose" in str(system.mechanism())


def test_a_word_that_is_no_zero_is_refused() -> None:
    with pytest.raises(ModelError, match=r"zero of system 'crank'.*axes, described"):
        System("crank", zero="drawn")
    with pytest.raises(ModelError, match="zero of a model file"):
        loads("bellcrank: 1\nname: crank\nzero: drawn\n")


@pytest.mark.parametrize("zero", [None, "axes", "described"])
def test_starts_that_depend_on_the_zero_are_warned_of_where_nothing_says_it(zero: str | None) -> None:
    system = System("crank", zero=zero)
    crank = system.body("crank", 1.0, (0.1, 0.1, 0.1), at=(1, 0, 0), angle=0.5)
    system.revolute("pin", "ground", crank, at=(0, 0, 0))
    again = loads(dumps(system))
    for one in (system, again):
        alike: tuple[Any, ...] = (0.5 if zero != "described" else 0.0, {"angle_rate": 2.0})
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            for given in alike:
                analyse(one, initial={"pin": given})
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            analyse(one, initial={"pin": (0.3, 2.0)})
        assert [("'pin'" in str(w.message), "0.5, not 0" in str(w.message)) for w in said] == (
            [(True, True)] if zero is None else []
        )


def test_points_on_nodes_of_flexible_bodies_stay_there() -> None:
    """The other point takes the shift; between two nodes that lie apart lengths count from where these meet."""
    member = beam("bar", 1.0, circle(0.01), STEEL, 4).reduce(NormalModes(1), Clamped("start"))
    system = System("beams", zero="described")
    first = system.flexible_body("first", member)
    second = system.flexible_body("second", member, at=(0, 0, 0.2))
    block = system.body("block", 1.0, (0.1, 0.1, 0.1), at=(0, 0, 0.3), angle=0.4)
    node = first.node("end")
    for a, b in ((node, block.origin), (block.origin, node)):
        joint = system.cylindrical(f"{a.body.name} to {b.body.name}", a, b)
        at_node = joint.a if joint.a.body is first else joint.b
        assert at_node.position == node.position
        assert np.abs(joint.start_coordinates()).max() < 1e-15
    apart = system.prismatic("apart", node, second.node("end"))
    assert apart.start_coordinates() == (0.2,)
