"""Kinematics and compliance of an axle: how its wheels stand over travel, roll, steering and forces in the road.

The body is held, the wheels do not turn on their carriers, and their centres are lifted; all is quasi-static. Toe is
positive towards the middle of the car, camber where the top leans outwards, angles of steering to the left (ISO 8855).
Centres follow from the motion of the contact points over travel z of the wheels (W. Matschinsky, Radfuehrungen der
Strassenfahrzeuge, 3rd edition, 2007, chapter 3):

    roll centre above the road:  y_C dy_C/dz of one wheel, with y_C from the middle of the car,
    angle of support of brakes in the wheel: atan(dx_C/dz), of shafts that drive it: atan(dx_M/dz) of its centre.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from bellcrank.analyses.statics import swept
from bellcrank.errors import ModelError, unknown_name
from bellcrank.mechanism import State, analyse
from bellcrank.model import System
from bellcrank.model.bodies import Body
from bellcrank.model.forces import Aerodynamics, GroundSpring, PowerTrain, Tyre
from bellcrank.model.forces.element import ForceElement
from bellcrank.model.frames import Frame
from bellcrank.model.joints import Joint
from bellcrank.program.functions import gather
from bellcrank.program.trace import function
from bellcrank.result.result import Result
from bellcrank.vehicles.report import Plot, Reported
from bellcrank.vehicles.suspensions import Axle

Array = NDArray[np.float64]
SIDES = ("left", "right")
OVER = {"heave": "travel of the wheels", "roll": "travel of the left wheel", "steer": "travel of the rack"}
LOAD, TORQUE = 1000.0, 100.0
"""Forces [N] and torques [N m] by which compliance is measured: some hundredth of what bushings of a car bear."""
LOADS = ("lateral", "braking", "driving", "aligning")


NOTHING = 1e-12
"""Lengths, angles and their slopes [SI] below this are rounding of equilibria."""


@dataclass(frozen=True, eq=False)
class Sweep:
    """Curves over one motion of the axle.

    over: Of the motion, in `unit`. curves: By name; those of a wheel are called ``left.toe``. units: Of each.
    """

    name: str
    unit: str
    over: Array
    curves: Mapping[str, Array]
    units: Mapping[str, str]

    def __getitem__(self, name: str) -> Array:
        if name not in self.curves:
            raise unknown_name(f"curve of {self.name}", name, self.curves)
        return self.curves[name]

    def at(self, name: str, place: float = 0.0) -> float:
        """A curve at a place, between samples by a cubic spline."""
        return float(_spline(self.over, self[name])(place))

    def slope(self, name: str, place: float = 0.0) -> float:
        """The slope of a curve at a place."""
        return float(_spline(self.over, self[name])(place, 1))


@dataclass(frozen=True, eq=False)
class SuspensionReport(Reported):
    """What an axle does.

    heave: Both wheels over their travel [m]. roll: Over half the difference of travels [m], left wheel up. steer: Over
    the travel of the rack [m]; None without one. compliance: Change for each N or N m at both wheels, by load
    (``lateral``, ``braking``, ``driving``, ``aligning``) and quantity, such as ``lateral.left.toe`` [rad/N]. figures:
    Values in the design position by name, with their units.
    """

    title: ClassVar[str] = "Kinematics and compliance"

    name: str
    heave: Sweep
    roll: Sweep
    steer: Sweep | None
    compliance: Mapping[str, float]
    figures: Mapping[str, tuple[float, str]] = field(default_factory=dict)

    @property
    def subject(self) -> str:
        return self.name

    @property
    def values(self) -> Mapping[str, tuple[float, str]]:
        found = dict(self.figures)
        for load, keys in (
            ("lateral", ("toe", "camber")),
            ("braking", ("toe", "contact.x")),
            ("aligning", ("toe",)),
        ):
            for key in keys if any(self.compliance.values()) else ():
                unit = f"{'rad' if key in ('toe', 'camber') else 'm'}/{'N m' if load == 'aligning' else 'N'}"
                found[f"{key} by {load} load"] = (self.compliance[f"{load}.left.{key}"], unit)
        return found

    @property
    def plots(self) -> Sequence[Plot]:
        found = []
        for sweep in self.sweeps:
            over = f"{OVER[sweep.name]} [mm]"
            x = 1e3 * sweep.over
            keys = ("angle",) if sweep.name == "steer" else ("toe", "camber")
            for key in keys:
                sides = {side: np.degrees(sweep[f"{side}.{key}"]) for side in SIDES}
                found.append(Plot(f"{key.capitalize()} in {sweep.name}", over, "deg", x, sides))
            forces = {side: sweep[f"{side}.force"] for side in SIDES}
            found.append(Plot(f"Wheel load in {sweep.name}", over, "N", x, forces))
        x = 1e3 * self.heave.over
        over = f"{OVER['heave']} [mm]"
        moved = {
            "track": self.heave["track"] - self.heave.at("track"),
            "roll centre": self.heave["roll_centre"],
        }
        found.append(Plot("Change of track, and roll centre above the road", over, "m", x, moved))
        rates = {side: self.heave[f"{side}.wheel_rate"] for side in SIDES}
        found.append(Plot("Wheel rate", over, "N/m", x, rates))
        angles = {what: np.degrees(self.heave[f"left.{what}_support"]) for what in ("braking", "driving")}
        found.append(Plot("Angles of support", over, "deg", x, angles))
        return found

    @property
    def sweeps(self) -> tuple[Sweep, ...]:
        """Those that there are."""
        return tuple(sweep for sweep in (self.heave, self.roll, self.steer) if sweep is not None)


def _spline(x: Array, y: Array) -> Any:
    from scipy.interpolate import CubicSpline

    return CubicSpline(x, y)


@dataclass(frozen=True)
class _Case:
    """What the rig asks for: travels of the wheels, of the rack [m], and a load in the road."""

    left: float = 0.0
    right: float = 0.0
    rack: float = 0.0
    load: str = ""
    size: float = 0.0


def kinematics_and_compliance(
    system: System,
    body: Body | str,
    wheels: Axle | Sequence[Body | str],
    *,
    rack: str = "",
    travel: float = 0.08,
    steer: float = 0.06,
    radius: float | None = None,
    points: int = 17,
    compliance: bool = True,
) -> SuspensionReport:
    """Lift, roll, steer and load an axle on a held body; see the module for signs.

    system: The car; what does not hang together with the wheels is left out. body: That which is held. wheels: An
    axle, or its wheels, left and right. rack: Joint of the steering rack, held at 0 but for steering; free where
    missing. travel: Of the wheels upwards and downwards [m]. steer: Of the rack to either side [m]. radius: From the
    centre of a wheel to the road [m]; that of its tyre where missing. points: Of each curve. compliance: Whether the
    axle is loaded in the road too.
    """
    if not travel > 0.0 or points < 5:
        raise ModelError("kinematics and compliance need a travel greater than 0 and at least 5 points")
    wheels = wheels.wheels if isinstance(wheels, Axle) else wheels
    named = [w if isinstance(w, Body) else system.body_named(w) for w in wheels]
    if len(named) != 2:
        raise ModelError(f"an axle has two wheels, left and right, not {len(named)}")
    if rack and rack not in system.joints:
        raise unknown_name("joint", rack, system.joints)
    held = body if isinstance(body, Body) else system.body_named(body)
    rolling = [_radius(system, wheel, radius) for wheel in named]
    half = np.linspace(-1.0, 1.0, points | 1)
    runs: dict[str, list[_Case]] = {
        "heave": [_Case(z, z) for z in travel * half],
        "roll": [_Case(z, -z) for z in travel * half],
        "steer": [_Case(rack=s) for s in steer * half] if rack else [],
        "loads": [
            _Case(load=load, size=sign * (TORQUE if load == "aligning" else LOAD))
            for load in LOADS
            for sign in (-1.0, 1.0)
            if compliance
        ],
    }
    cases = [case for run in runs.values() for case in run]
    rig = _Rig(system, held, named, rolling, rack, cases)
    rows = iter(rig.measured(_order(runs)))
    by_name = {run: [next(rows) for _ in made] for run, made in runs.items()}
    heave = _sweep("heave", travel * half, by_name["heave"])
    roll = _sweep("roll", travel * half, by_name["roll"])
    turned = _sweep("steer", steer * half, by_name["steer"]) if rack else None
    heave, roll = _shown(_with_centres(heave)), _shown(roll)
    turned = None if turned is None else _shown(turned)
    yielding = _compliance(by_name["loads"]) if compliance else {}
    return SuspensionReport(system.name, heave, roll, turned, yielding, _figures(heave, roll, turned))


def _order(runs: Mapping[str, Sequence[_Case]]) -> list[tuple[str, int]]:
    """Cases of each run with their numbers, from the middle outwards, so that each begins near one that is known."""
    found, first = [], 0
    for run, cases in runs.items():
        middle = len(cases) // 2
        numbers = (
            [*range(middle, len(cases)), *range(middle - 1, -1, -1)] if run != "loads" else range(len(cases))
        )
        found += [(run, first + k) for k in numbers]
        first += len(cases)
    return found


def _radius(system: System, wheel: Body, given: float | None) -> float:
    if given is not None:
        if not given > 0.0:
            raise ModelError(f"radius of a wheel must be greater than 0, not {given!r}")
        return given
    for force in system.forces.values():
        if isinstance(force, Tyre | GroundSpring) and force.frame.body is wheel:
            return float(system.parameters.value(force.radius))
    raise ModelError(f"wheel {wheel.name!r} has no tyre; give radius= [m] of the wheel above the road")


class _Rig:
    """The axle on a held body, in one of numbered cases at each time."""

    def __init__(
        self,
        system: System,
        body: Body,
        wheels: Sequence[Body],
        radii: Sequence[float],
        rack: str,
        cases: Sequence[_Case],
    ) -> None:
        self.wheels, self.radii, self.rack = wheels, radii, rack
        self.hubs = [_hub(system, wheel) for wheel in wheels]
        self.axes = [_axis(hub, wheel) for hub, wheel in zip(self.hubs, wheels, strict=True)]
        rig = _alone(system, body, wheels, self.hubs)
        self.origin = [wheel.origin.start_position() for wheel in wheels]

        def over(values: Sequence[float]) -> Any:
            return lambda t: gather(function("floor", t + 0.5), values)

        for side, wheel in zip(SIDES, wheels, strict=True):
            height = [float(wheel.position[2]) + getattr(case, side) for case in cases]
            rig.driver(wheel.origin, over(height), axis="z", name=f"travel of the {side} wheel")
        if rack:
            start = float(rig.joints[rack].start_coordinates()[0])
            rig.driver(rack, over([start + case.rack for case in cases]), name="travel of the rack")
        self._load(rig, cases, over)
        self.mechanism = analyse(rig)
        swept(self.mechanism)

    def _load(self, rig: System, cases: Sequence[_Case], over: Any) -> None:
        def sized(*loads: str) -> Any:
            return over([case.size if case.load in loads else 0.0 for case in cases])

        lateral, braking, driving, aligning = (sized(load) for load in LOADS)
        for side, wheel, r, axis in zip(SIDES, self.wheels, self.radii, self.axes, strict=True):
            below = wheel.point_at(wheel.origin.start_position() + _down(axis) * r)
            rig.applied_force(f"{side} road", below, lambda t: (-braking(t), lateral(t), 0.0 * t))
            rig.applied_force(f"{side} shaft", wheel, lambda t: (driving(t), 0.0 * t, 0.0 * t))
            rig.applied_torque(f"{side} aligning", wheel, lambda t: (0.0 * t, 0.0 * t, aligning(t)))

    def measured(self, order: Sequence[tuple[str, int]]) -> list[Mapping[str, float]]:
        """Where the wheels stand in each case of a run, and what it takes to hold them; in the order of the cases."""
        design = State(0.0, self.mechanism.start.q, self.mechanism.start.u)
        near, states = ("", design), {}
        for run, k in order:
            start = near[1] if near[0] == run else design
            found = self.mechanism.equilibrium(t=float(k), drivers="moving", start=replace(start, t=float(k)))
            states[k] = found.result
            near = (run, found.state)
        results = [states[k] for k in range(len(states))]
        whole = Result(
            self.mechanism,
            np.concatenate([one.time for one in results]),
            np.concatenate([one.q for one in results]),
            np.concatenate([one.u for one in results]),
            np.concatenate([one.du for one in results]),
            np.concatenate([one.parameters for one in results]),
            results[0].run,
        )
        names = [f"{wheel.name}.{what}" for wheel in self.wheels for what in ("rotation", "position")]
        whole.compute([*names, *(f"travel of the {side} wheel.effort" for side in SIDES)])
        return [self._row(whole, k) for k in range(len(results))]

    def _row(self, result: Result, k: int) -> Mapping[str, float]:
        row: dict[str, float] = {}
        for side, wheel, r, local in zip(SIDES, self.wheels, self.radii, self.local_axes, strict=True):
            sign = 1.0 if side == "left" else -1.0
            turned = np.reshape(np.asarray(result[f"{wheel.name}.rotation"])[k], (3, 3))
            a = turned @ local
            centre = np.asarray(result[f"{wheel.name}.position"])[k]
            row |= {
                f"{side}.toe": sign * float(np.arctan2(a[0], a[1])),
                f"{side}.camber": -sign * float(np.arcsin(np.clip(a[2], -1.0, 1.0))),
                f"{side}.angle": -float(np.arctan2(a[0], a[1])),
                **{f"{side}.centre.{c}": float(x) for c, x in zip("xyz", centre, strict=True)},
                **{
                    f"{side}.contact.{c}": float(x) for c, x in zip("xyz", centre + r * _down(a), strict=True)
                },
                **{f"{side}.turned.{n}": float(x) for n, x in enumerate(turned.ravel())},
                f"{side}.force": float(result[f"travel of the {side} wheel.effort"][k]),
            }
        row["track"] = row["left.contact.y"] - row["right.contact.y"]
        return row

    @property
    def local_axes(self) -> list[Array]:
        """Spin axes in the axes of the wheels."""
        return [wheel.start_rotation().T @ axis for wheel, axis in zip(self.wheels, self.axes, strict=True)]


def _down(axis: Array) -> Array:
    """From the centre of a wheel to the road, in its plane."""
    up = np.array([0.0, 0.0, 1.0]) - axis[2] * axis
    return np.asarray(-up / np.linalg.norm(up))


def _hub(system: System, wheel: Body) -> Joint:
    joints = [j for j in system.joints.values() if wheel in (j.a.body, j.b.body)]
    if len(joints) != 1 or joints[0].kind != "revolute":
        raise ModelError(f"wheel {wheel.name!r} must turn in one revolute joint of its carrier")
    return joints[0]


def _axis(hub: Joint, wheel: Body) -> Array:
    """The spin axis in the design position, to the left."""
    frame = hub.b if hub.b.body is wheel else hub.a
    axis = np.asarray(frame.start_rotation()[:, 2])
    return axis * (1.0 if axis[1] >= 0.0 else -1.0)


def _alone(system: System, body: Body, wheels: Sequence[Body], hubs: Sequence[Joint]) -> System:
    """The axle with its body held and its wheels fixed on their carriers, without the rest of the car."""
    rig = copy.copy(system)
    for name, value in vars(system).items():
        if type(value) is dict:
            setattr(rig, name, dict(value))
    kept = _hanging_together(system, body, wheels)
    everything = {body.name, system.ground.name, *kept}

    def stays(bodies: set[str]) -> bool:
        return bodies <= everything and bool(bodies & kept)

    rig.bodies = {name: one for name, one in system.bodies.items() if name in everything}
    rig.joints = {
        name: j
        for name, j in system.joints.items()
        if j not in hubs and stays({j.a.body.name, j.b.body.name})
    }
    rig.constraints = {name: c for name, c in system.constraints.items() if stays(_bodies(c))}
    rig.forces = {
        name: force
        for name, force in system.forces.items()
        if isinstance(force, ForceElement)
        and not isinstance(force, Tyre | GroundSpring | PowerTrain | Aerodynamics)
        and (
            stays({f.body.name for f in force.frames})
            if force.in_joint is None
            else force.in_joint.name in rig.joints
        )
    }
    gone = [force for name, force in system.forces.items() if name not in rig.forces]
    rig.states = {
        name: state for name, state in system.states.items() if state.owner is None or state.owner not in gone
    }
    rig.couplings = {
        name: c
        for name, c in system.couplings.items()
        if all(joint.name in rig.joints for joint, *_ in c.terms)
    }
    rig.drivers, rig.contacts, rig.collisions, rig.initials = {}, {}, {}, {}
    rig.fixed("held body", rig.ground, body)
    for hub in hubs:
        rig.fixed(hub.name, hub.a.body, hub.b.body)
    return rig


def _bodies(constraint: Any) -> set[str]:
    frames = (getattr(constraint, side, None) for side in ("a", "b"))
    return {frame.body.name for frame in frames if isinstance(frame, Frame)}


def _hanging_together(system: System, body: Body, wheels: Sequence[Body]) -> set[str]:
    """Bodies that joints, constraints and forces join to the wheels without passing through the held body."""
    edges = [{j.a.body.name, j.b.body.name} for j in system.joints.values()]
    edges += [_bodies(c) for c in system.constraints.values()]
    edges += [
        {f.body.name for f in force.frames}
        for force in system.forces.values()
        if not isinstance(force, PowerTrain)
    ]
    found, new = set(), {wheel.name for wheel in wheels}
    while new:
        found |= new
        touched = set().union(*(edge for edge in edges if edge & new))
        new = touched - found - {body.name, system.ground.name}
    return found


UNITS = {"toe": "rad", "camber": "rad", "angle": "rad", "force": "N", "track": "m"}


def _sweep(name: str, over: Array, rows: Sequence[Mapping[str, float]]) -> Sweep:
    curves = {key: np.array([row[key] for row in rows]) for key in rows[0]}
    units = {key: UNITS.get(key.rpartition(".")[2], "m") for key in curves}
    return Sweep(name, "m", over, curves, units)


def _with_centres(heave: Sweep) -> Sweep:
    """Wheel rates, roll centre and angles of support over heave, by the motion of the wheel as a body."""
    curves, units = dict(heave.curves), dict(heave.units)
    middle = 0.5 * (curves["left.contact.y"] + curves["right.contact.y"])
    heights = []
    for side in SIDES:

        def slope(key: str, side: str = side) -> Array:
            return np.asarray(_spline(heave.over, curves[f"{side}.{key}"])(heave.over, 1))

        def place(point: str, side: str = side) -> Array:
            return np.stack([curves[f"{side}.{point}.{c}"] for c in "xyz"], axis=1)

        numbers = [f"turned.{n}" for n in range(9)]
        turned = np.stack([curves[f"{side}.{n}"] for n in numbers], axis=1).reshape(-1, 3, 3)
        turning = np.stack([slope(n) for n in numbers], axis=1).reshape(-1, 3, 3)
        centre = np.stack([slope(f"centre.{c}") for c in "xyz"], axis=1)
        arm = place("contact") - place("centre")
        contact = centre + np.einsum("kij,klj,kl->ki", turning, turned, arm)
        heights.append((curves[f"{side}.contact.y"] - middle) * contact[:, 1] / contact[:, 2])
        curves[f"{side}.wheel_rate"], units[f"{side}.wheel_rate"] = slope("force"), "N/m"
        for what, moved in (("braking", contact), ("driving", centre)):
            curves[f"{side}.{what}_support"] = np.arctan2(moved[:, 0], moved[:, 2])
            units[f"{side}.{what}_support"] = "rad"
    curves["roll_centre"], units["roll_centre"] = 0.5 * (heights[0] + heights[1]), "m"
    return Sweep(heave.name, heave.unit, heave.over, curves, units)


def _shown(sweep: Sweep) -> Sweep:
    """Without the entries of rotations."""
    curves = {name: curve for name, curve in sweep.curves.items() if ".turned." not in name}
    return Sweep(sweep.name, sweep.unit, sweep.over, curves, sweep.units)


def _compliance(rows: Sequence[Mapping[str, float]]) -> dict[str, float]:
    found = {}
    for k, load in enumerate(LOADS):
        size = TORQUE if load == "aligning" else LOAD
        low, high = rows[2 * k], rows[2 * k + 1]
        for side in SIDES:
            for key in ("toe", "camber", "angle", "contact.x", "contact.y", "centre.x", "centre.y"):
                name = f"{side}.{key}"
                found[f"{load}.{name}"] = (high[name] - low[name]) / (2.0 * size)
    return found


def _figures(heave: Sweep, roll: Sweep, steer: Sweep | None) -> dict[str, tuple[float, str]]:
    figures = {
        "track": (heave.at("track"), "m"),
        "toe": (heave.at("left.toe"), "rad"),
        "camber": (heave.at("left.camber"), "rad"),
        "toe over travel": (heave.slope("left.toe"), "rad/m"),
        "camber over travel": (heave.slope("left.camber"), "rad/m"),
        "wheel rate": (heave.at("left.wheel_rate"), "N/m"),
        "wheel rate in roll": (roll.slope("left.force"), "N/m"),
        "roll centre": (heave.at("roll_centre"), "m"),
        "braking support": (heave.at("left.braking_support"), "rad"),
        "driving support": (heave.at("left.driving_support"), "rad"),
    }
    if steer is not None:
        figures["angle over rack"] = (steer.slope("left.angle"), "rad/m")
    return {name: (x if abs(x) > NOTHING else 0.0, unit) for name, (x, unit) in figures.items()}


__all__ = ["SuspensionReport", "Sweep", "kinematics_and_compliance"]
