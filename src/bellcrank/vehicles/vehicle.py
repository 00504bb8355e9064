"""A car to be driven: a system with tyres, and the parameters that its driver moves.

Axes and angles are those of ISO 8855: x forwards, y to the left, z up; the steering turns left where it is positive.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bellcrank.errors import ModelError, unknown_name
from bellcrank.mechanism import Mechanism, State, analyse
from bellcrank.model import System
from bellcrank.model.forces import PowerTrain, Tyre
from bellcrank.model.forces.road import ARGUMENTS
from bellcrank.model.functions import user_function
from bellcrank.model.joints import Joint
from bellcrank.model.parameters import value as parameter_value
from bellcrank.result.result import Result
from bellcrank.run.events import Controller
from bellcrank.run.simulation import simulate
from bellcrank.vehicles.report import Plot

Array = NDArray[np.float64]
SETTLING = 4.0
"""Time in which the drive of a car settles at a speed [s]; the speed keeper learns a resistance in half of it."""


class Motion(NamedTuple):
    """How a car moves, over time.

    time: [s]. speed: Forwards [m/s]. yaw_rate: [rad/s]. lateral_acceleration: In the road, to the left of the car
    [m/s^2]. sideslip: Angle of the velocity to the left of the car [rad]. roll: About its x axis [rad].
    """

    time: Array
    speed: Array
    yaw_rate: Array
    lateral_acceleration: Array
    sideslip: Array
    roll: Array

    def plots(self, marks: Sequence[float] = ()) -> list[Plot]:
        """Over time. marks: Instants to show [s]."""
        over = "time [s]"
        angles = {"sideslip": np.degrees(self.sideslip), "roll": np.degrees(self.roll)}
        return [
            Plot("Yaw rate", over, "rad/s", self.time, {"yaw rate": self.yaw_rate}, marks),
            Plot(
                "Lateral acceleration",
                over,
                "m/s^2",
                self.time,
                {"to the left": self.lateral_acceleration},
                marks,
            ),
            Plot("Sideslip and roll", over, "deg", self.time, angles, marks),
            Plot("Speed", over, "m/s", self.time, {"speed": self.speed}, marks),
        ]


@dataclass(frozen=True, eq=False)
class Vehicle:
    """A system that a driver can steer.

    body: Name of the body whose motion is measured; it has a free joint to the ground. steering: Name of the parameter
    that steers. drive, brake: Names of those that drive and brake; empty where there are none. ratio: Angle of the
    front wheels [rad] for one of the steering parameter. drive_force: Force forwards [N] for one of the drive
    parameter. assistance: What makes controllers that go along in every run, such as :func:`anti_lock`. parameters:
    Values other than the described ones.
    """

    system: System
    body: str
    steering: str = "steering"
    drive: str = ""
    brake: str = ""
    ratio: float = 1.0
    drive_force: float = 1.0
    assistance: Sequence[Callable[[Vehicle], Controller]] = ()
    parameters: Mapping[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.body not in self.system.bodies:
            raise unknown_name("body", self.body, self.system.bodies)
        for name in (self.steering, self.drive, self.brake):
            if name and name not in self.system.parameters:
                raise unknown_name("parameter", name, self.system.parameters)
        if not self.tyres:
            raise ModelError(f"{self.system.name!r} has no tyres; add them by system.tyre(...)")
        if self.ratio == 0.0 or self.drive_force == 0.0:
            raise ModelError("ratio and drive_force of a vehicle must not be 0")

    @property
    def tyres(self) -> tuple[Tyre, ...]:
        """Its tyres."""
        return tuple(f for f in self.system.forces.values() if isinstance(f, Tyre))

    @cached_property
    def mechanism(self) -> Mechanism:
        """The system, analysed once for all manoeuvres."""
        return analyse(self.system, parameters=self.parameters)

    def with_parameters(self, values: Mapping[str, float]) -> Vehicle:
        """The same car with other values of parameters."""
        made = replace(self, parameters={**self.parameters, **values})
        made.mechanism.with_programs_of(self.mechanism)
        return made

    def on(self, road: Callable[..., Any]) -> Vehicle:
        """The same car with another road under its tyres, a height [m] of (x, y, t)."""
        system = copy.copy(self.system)
        law = user_function("the road", road, ARGUMENTS, system.parameters)
        moved: dict[Any, Any] = {tyre: replace(tyre, road=law) for tyre in self.tyres}
        system.forces = {name: moved.get(force, force) for name, force in system.forces.items()}
        system.states = {
            name: replace(
                state, trace=partial(state.trace.func, *(moved.get(x, x) for x in state.trace.args))
            )
            if isinstance(state.trace, partial)
            else state
            for name, state in system.states.items()
        }
        return replace(self, system=system)

    def axle(self, which: str) -> tuple[str, str]:
        """Names of the wheels of the front or of the rear axle, left and right."""
        places = {t.frame.body.name: t.frame.start_position() for t in self.tyres}
        middle = float(np.mean([p[0] for p in places.values()]))
        found = [name for name, p in places.items() if (p[0] > middle) == (which == "front")]
        if len(found) != 2:
            raise ModelError(f"the {which} axle of {self.system.name!r} has {len(found)} wheels, not two")
        found.sort(key=lambda name: -places[name][1])
        return found[0], found[1]

    @cached_property
    def rest(self) -> Any:
        """Where it stands, held at its place and heading: a tyre at rest may push a little, an uneven road more."""
        free = [j.name for j in self.system.joints.values() if j.kind == "free" and self._floats(j)]
        return self.mechanism.equilibrium(
            hold=[f"{name}.{move}" for name in free for move in ("x", "y", "rotation_z")]
        )

    def _floats(self, joint: Joint) -> bool:
        """Whether a joint is that of the body to the ground."""
        return {joint.a.body.name, joint.b.body.name} == {self.body, self.system.ground.name}

    @cached_property
    def wheelbase(self) -> float:
        """Between the middle of the front and of the rear wheels where it stands [m]."""
        x = np.array([float(self.rest.result[f"{t.frame.body.name}.position.x"][-1]) for t in self.tyres])
        front = x > x.mean()
        if not front.any() or front.all():
            raise ModelError(
                f"the wheels of {self.system.name!r} stand one beside the other; there is no wheelbase"
            )
        return float(x[front].mean() - x[~front].mean())

    @cached_property
    def mass(self) -> float:
        """Of all bodies, by the loads of the tyres where it stands [kg]."""
        load = sum(float(self.rest.result[f"{t.name}.load"][-1]) for t in self.tyres)
        return load / float(np.linalg.norm([float(x) for x in self.system.gravity]))

    def rolling(self, speed: float) -> State:
        """Static equilibrium with a speed forwards [m/s] and wheels that roll without slip."""
        mechanism, rest = self.mechanism, self.rest
        linkage, names = mechanism.linkage, mechanism.speed_names
        placed = linkage.placements[self.body]
        link = linkage.links[placed.link]
        free = f"{link.joint}.velocity_x"
        if free not in names or link.parent >= 0:
            raise ModelError(f"body {self.body!r} needs a free joint to the ground, by which it drives")
        u = np.zeros_like(rest.state.u)
        turned = np.array(rest.result[f"{self.body}.rotation"][-1])
        k = names.index(free)
        u[k : k + 3] = np.array(placed.r, dtype=float) @ turned.T @ np.array([speed, 0.0, 0.0])
        for tyre in self.tyres:
            wheel = tyre.frame.body
            hub = next((one for one in linkage.links if one.name == wheel.name), None)
            spins = f"{hub.joint}.angle" if hub is not None else ""
            if spins not in names:
                continue
            joint = self.system.joints[hub.joint]  # type: ignore[union-attr]
            side, sense = (joint.b, 1.0) if joint.b.body is wheel else (joint.a, -1.0)
            axis = np.array(side.rotation, dtype=float)[:, 2] @ np.array(tyre.axis, dtype=float)
            load = float(rest.result[f"{tyre.name}.load"][-1])
            radius = float(tyre.law.rolling_radius(load, speed / tyre.law.free_radius))
            u[names.index(spins)] = np.sign(axis) * sense * speed / radius
        return State(rest.state.t, rest.state.q, u)

    def run(
        self, speed: float, duration: float, controllers: Sequence[Controller] = (), **options: Any
    ) -> Result:
        """A run that begins in :meth:`rolling`, engines turning with the wheels. options: Those of `simulate`."""
        helpers = [make(self) for make in self.assistance]
        engines = {train.speed_name: self._engine_speed(train, speed) for train in self._trains}
        initial = {**engines, **options.pop("initial", {})}
        return simulate(
            self.mechanism,
            duration,
            start=self.rolling(speed),
            controllers=[*controllers, *helpers],
            initial=initial or None,
            **options,
        )

    @property
    def _trains(self) -> tuple[PowerTrain, ...]:
        return tuple(f for f in self.system.forces.values() if isinstance(f, PowerTrain))

    def _engine_speed(self, train: PowerTrain, speed: float) -> float:
        """Of an engine that the wheels turn at a speed [m/s], at least that at which its clutch opens."""

        known = {name: p.value for name, p in self.system.parameters.items()} | dict(self.parameters)
        value = partial(parameter_value, parameters=known)
        wheel = train.hubs[0].b.body
        law = next((t.law for t in self.tyres if t.frame.body is wheel), self.tyres[0].law)
        return max(train.engine_speed(speed / law.free_radius, value), value(train.idle))

    def steady_drive(self, speed: float) -> float:
        """The value of the drive parameter that keeps a speed [m/s] straight ahead."""
        from bellcrank.vehicles.drivers import speed_keeper

        if not self.drive:
            return 0.0
        if speed not in self._steady:
            run = self.run(speed, SETTLING, [speed_keeper(self, speed)], output=10)
            self._steady[speed] = float(run.parameters[-1, list(self.system.parameters).index(self.drive)])
        return self._steady[speed]

    @cached_property
    def _steady(self) -> dict[float, float]:
        return {}

    def setting(self, parameter: str, value: float, duration: float) -> Controller:
        """Sets a parameter at the start of a run of a duration [s]."""
        return Controller(f"set {parameter}", duration, [], lambda t, m: {parameter: value})

    def driving_steadily(self, speed: float, duration: float) -> list[Controller]:
        """Holds the drive, where there is one, at what keeps a speed [m/s] straight ahead."""
        return [self.setting(self.drive, self.steady_drive(speed), duration)] if self.drive else []

    def motion_at_rest(self) -> Motion:
        """How the car stands."""
        return self.motion(self.rest.result)

    def motion(self, result: Result) -> Motion:
        """How the car moves in a run."""
        turned = np.asarray(result[f"{self.body}.rotation"])
        v, a = np.asarray(result[f"{self.body}.velocity"]), np.asarray(result[f"{self.body}.acceleration"])
        ahead = turned[:, :2, 0] / np.linalg.norm(turned[:, :2, 0], axis=1)[:, None]
        left = np.stack([-ahead[:, 1], ahead[:, 0]], axis=1)
        onward, across = np.sum(v[:, :2] * ahead, axis=1), np.sum(v[:, :2] * left, axis=1)
        return Motion(
            np.asarray(result.time),
            onward,
            np.asarray(result[f"{self.body}.angular_velocity.z"]),
            np.sum(a[:, :2] * left, axis=1),
            np.arctan2(across, onward),
            np.arcsin(np.clip(turned[:, 2, 1], -1.0, 1.0)),
        )
