"""Manoeuvres of standards, one call each: a run, and the characteristic values that the standard takes from it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from bellcrank.errors import ModelError
from bellcrank.result.result import Result
from bellcrank.run.events import Controller
from bellcrank.vehicles.comfort import weighted
from bellcrank.vehicles.drivers import PERIOD, path_follower, speed_keeper, steer
from bellcrank.vehicles.report import TRUTH, Plot, Reported
from bellcrank.vehicles.vehicle import Motion, Vehicle

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class SteadyCircle(Reported):
    """ISO 4138, constant speed.

    angles: Of the front wheels [rad]. lateral_acceleration [m/s^2], yaw_rate [rad/s], sideslip [rad], roll [rad]:
    Steady values for each. understeer_gradient: d(angle)/d(a_y) - L/V^2 at the smallest angle [rad s^2/m].
    sideslip_gradient, roll_gradient: Over a_y there [rad s^2/m]. characteristic_speed: At which the yaw gain is
    largest [m/s]; of a car that oversteers, the critical speed as a negative number; infinite where it is neutral.
    unsteady: The largest change of the yaw rate over the last second, over the yaw rate.
    """

    title: ClassVar[str] = "Steady-state circle, ISO 4138"

    speed: float
    angles: Array
    lateral_acceleration: Array
    yaw_rate: Array
    sideslip: Array
    roll: Array
    understeer_gradient: float
    sideslip_gradient: float
    roll_gradient: float
    characteristic_speed: float
    unsteady: float
    name: str = ""

    @property
    def values(self) -> Mapping[str, tuple[float, str]]:
        fast = self.characteristic_speed
        return {
            "speed": (self.speed, "m/s"),
            "understeer gradient": (self.understeer_gradient, "rad s^2/m"),
            "sideslip gradient": (self.sideslip_gradient, "rad s^2/m"),
            "roll gradient": (self.roll_gradient, "rad s^2/m"),
            "characteristic speed" if fast > 0.0 else "critical speed": (abs(fast), "m/s"),
            "largest lateral acceleration": (float(np.abs(self.lateral_acceleration).max()), "m/s^2"),
            "change of the yaw rate in the last second": (self.unsteady, ""),
        }

    @property
    def plots(self) -> Sequence[Plot]:
        order = np.argsort(self.lateral_acceleration)
        a_y, over = self.lateral_acceleration[order], "lateral acceleration [m/s²]"
        curves = {"front wheels": self.angles, "sideslip": self.sideslip, "roll": self.roll}
        return [
            Plot("Angles", over, "deg", a_y, {n: np.degrees(c[order]) for n, c in curves.items()}),
            Plot("Yaw rate", over, "rad/s", a_y, {"yaw rate": self.yaw_rate[order]}),
        ]

    @property
    def subject(self) -> str:
        return self.name


def steady_circle(
    vehicle: Vehicle, speed: float, angles: Sequence[float], duration: float = 8.0, **options: Any
) -> SteadyCircle:
    """Drive circles at one speed [m/s] with several angles of the front wheels [rad] (ISO 4138).

    duration: Of each [s]; the last state is taken as steady. options: Those of `simulate`.
    """
    angles_ = np.asarray(angles, dtype=float)
    if angles_.ndim != 1 or not len(angles_) or np.any(angles_ == 0.0):
        raise ModelError("angles of a steady circle must be one or more numbers other than 0")
    rows, unsteady = [], 0.0
    for angle in angles_:
        drivers = [steer(vehicle, lambda t, angle=angle: angle, duration), speed_keeper(vehicle, speed)]  # type: ignore[misc]
        run = vehicle.run(speed, duration, drivers, **{"output": np.linspace(0.0, duration, 101), **options})
        motion = vehicle.motion(run)
        last = motion.time >= motion.time[-1] - 1.0
        rows.append(
            [motion.lateral_acceleration[-1], motion.yaw_rate[-1], motion.sideslip[-1], motion.roll[-1]]
        )
        unsteady = max(unsteady, float(np.ptp(motion.yaw_rate[last]) / abs(motion.yaw_rate[-1])))
    a_y, yaw, beta, roll = np.array(rows).T
    k = int(np.argmin(np.abs(angles_)))
    gradient = float(angles_[k] / a_y[k]) - vehicle.wheelbase / speed**2
    level = vehicle.motion_at_rest()
    slope = vehicle.wheelbase / gradient if gradient else np.inf
    return SteadyCircle(
        speed,
        angles_,
        a_y,
        yaw,
        beta,
        roll,
        gradient,
        float((beta[k] - level.sideslip[0]) / a_y[k]),
        float((roll[k] - level.roll[0]) / a_y[k]),
        float(np.copysign(np.sqrt(abs(slope)), slope)),
        unsteady,
        vehicle.system.name,
    )


@dataclass(frozen=True, eq=False)
class StepSteer(Reported):
    """ISO 7401, step input.

    result: The run. yaw_gain: Steady yaw rate over the angle of the front wheels [1/s]. lateral_gain: Steady lateral
    acceleration over it [m/s^2]. response_time: From the instant of the step at half its height to 90 % of the steady
    yaw rate [s]. lateral_response_time: So for the lateral acceleration. peak_time: To the largest yaw rate [s].
    overshoot: Largest over steady yaw rate, less 1. sideslip: Steady [rad]. tb: peak_time times the steady sideslip
    [s deg], the TB value.
    """

    title: ClassVar[str] = "Step steer, ISO 7401"

    result: Result
    motion: Motion
    yaw_gain: float
    lateral_gain: float
    response_time: float
    lateral_response_time: float
    peak_time: float
    overshoot: float
    sideslip: float
    tb: float

    @property
    def values(self) -> Mapping[str, tuple[float, str]]:
        return {
            "yaw gain": (self.yaw_gain, "1/s"),
            "lateral acceleration gain": (self.lateral_gain, "m/s^2/rad"),
            "response time of the yaw rate": (self.response_time, "s"),
            "response time of the lateral acceleration": (self.lateral_response_time, "s"),
            "peak time of the yaw rate": (self.peak_time, "s"),
            "overshoot of the yaw rate": (self.overshoot, ""),
            "steady sideslip": (self.sideslip, "rad"),
            "TB value": (self.tb, "s deg"),
        }

    @property
    def plots(self) -> Sequence[Plot]:
        return self.motion.plots()


def step_steer(
    vehicle: Vehicle, speed: float, angle: float, rise: float = 0.1, duration: float = 4.0, **options: Any
) -> StepSteer:
    """Turn the front wheels by an angle [rad] within `rise` [s] at a speed [m/s] and hold them (ISO 7401).

    The drive is held at what keeps the speed straight ahead. options: Those of `simulate`.
    """
    start = 0.2
    if angle == 0.0 or not rise > 0.0 or not duration > start + rise:
        raise ModelError(
            "a step of the steering needs an angle other than 0, a rise above 0, and time after it"
        )
    # Calls of the driver end with the rise, so that the held angle is the wanted one.
    period = rise / max(round(rise / 2e-3), 1)
    driver = steer(vehicle, lambda t: angle * float(np.clip((t - start) / rise, 0.0, 1.0)), period)
    driving = [driver, *vehicle.driving_steadily(speed, duration)]
    run = vehicle.run(speed, duration, driving, **{"output": np.linspace(0.0, duration, 2001), **options})
    motion = vehicle.motion(run)
    begin = start + 0.5 * rise
    yaw, a_y = motion.yaw_rate, motion.lateral_acceleration
    final, beta = float(yaw[-1]), float(motion.sideslip[-1])
    peak = int(np.argmax(yaw * np.sign(final)))
    peak_time = float(motion.time[peak]) - begin
    return StepSteer(
        run,
        motion,
        final / angle,
        float(a_y[-1]) / angle,
        _reached(motion.time, yaw / final, 0.9) - begin,
        _reached(motion.time, a_y / a_y[-1], 0.9) - begin,
        peak_time,
        float(yaw[peak] / final) - 1.0,
        beta,
        peak_time * abs(float(np.degrees(beta))),
    )


def _reached(time: Array, values: Array, level: float) -> float:
    """When values first reach a level, between samples."""
    k = int(np.argmax(values >= level))
    if not values[k] >= level:
        return float("nan")
    if k == 0:
        return float(time[0])
    share = (level - values[k - 1]) / (values[k] - values[k - 1])
    return float(time[k - 1] + share * (time[k] - time[k - 1]))


@dataclass(frozen=True, eq=False)
class Braking(Reported):
    """Straight-line braking.

    distance: From the first touch of the brake to standstill [m]. time: Until then [s]. deceleration: Mean fully
    developed deceleration of UN R13-H [m/s^2], (v_b^2 - v_e^2)/(2 (s_e - s_b)) between 80 % and 10 % of the speed.
    aside: How far the car came off its line, to the left [m]. turned: Its yaw angle at the end [rad].
    """

    title: ClassVar[str] = "Straight-line braking, UN R13-H"

    result: Result
    distance: float
    time: float
    deceleration: float
    aside: float
    turned: float
    body: str

    @property
    def values(self) -> Mapping[str, tuple[float, str]]:
        return {
            "braking distance": (self.distance, "m"),
            "time to standstill": (self.time, "s"),
            "mean fully developed deceleration": (self.deceleration, "m/s^2"),
            "off its line, to the left": (self.aside, "m"),
            "yaw angle at the end": (self.turned, "rad"),
        }

    @property
    def plots(self) -> Sequence[Plot]:
        at = np.asarray(self.result[f"{self.body}.position"])
        v = np.linalg.norm(np.asarray(self.result[f"{self.body}.velocity"])[:, :2], axis=1)
        return [
            Plot("Speed over the way", "way [m]", "m/s", at[:, 0] - at[0, 0], {"speed": v}),
            Plot("Speed", "time [s]", "m/s", self.result.time, {"speed": v}),
            Plot("Off its line", "way [m]", "m", at[:, 0] - at[0, 0], {"to the left": at[:, 1] - at[0, 1]}),
        ]


def braking(vehicle: Vehicle, speed: float, pedal: float, duration: float = 10.0, **options: Any) -> Braking:
    """Brake from a speed [m/s] with a value of the brake parameter, the steering held, to standstill.

    duration: The longest time to wait [s].
    """
    if not vehicle.brake:
        raise ModelError("a car brakes by its brake: Vehicle(..., brake=PARAMETER)")
    run = vehicle.run(
        speed,
        duration,
        [vehicle.setting(vehicle.brake, pedal, duration)],
        **{"output": np.linspace(0.0, duration, 2001), **options},
    )
    motion = vehicle.motion(run)
    at = np.asarray(run[f"{vehicle.body}.position"])
    gone = at[:, 0] - at[0, 0]
    stands = np.flatnonzero(motion.speed <= 0.01 * speed)
    if not len(stands):
        raise ModelError(
            f"the car still drives at {motion.speed[-1]:.3g} m/s after {duration:g} s; brake harder or wait longer"
        )
    end = int(stands[0])
    # The speed falls until standstill: places by speed.
    places = np.interp([0.8 * speed, 0.1 * speed], motion.speed[end::-1], gone[end::-1])
    turned = np.asarray(run[f"{vehicle.body}.rotation"])[end]
    return Braking(
        run,
        float(gone[end]),
        float(motion.time[end]),
        float((0.64 - 0.01) * speed**2 / (2.0 * (places[1] - places[0]))),
        float(at[end, 1] - at[0, 1]),
        float(np.arctan2(turned[1, 0], turned[0, 0])),
        vehicle.body,
    )


@dataclass(frozen=True, eq=False)
class BrakeInTurn(Reported):
    """Brake in turn, ISO 7975.

    deceleration: Mean, over the second after the brake was touched [m/s^2]. yaw_ratio: Yaw rate one second after that
    over that before, both over the speed: above 1 the car turns into the bend. largest_yaw_ratio: The largest until
    then. sideslip: The largest change of the sideslip angle [rad]. aside: How far the car leaves the circle within that
    second, outwards [m].
    """

    title: ClassVar[str] = "Braking in a turn, ISO 7975"

    result: Result
    motion: Motion
    deceleration: float
    yaw_ratio: float
    largest_yaw_ratio: float
    sideslip: float
    aside: float
    touched: float

    @property
    def values(self) -> Mapping[str, tuple[float, str]]:
        return {
            "mean deceleration in the first second": (self.deceleration, "m/s^2"),
            "curvature after 1 s over that before": (self.yaw_ratio, ""),
            "largest curvature over that before": (self.largest_yaw_ratio, ""),
            "largest change of the sideslip": (self.sideslip, "rad"),
            "off the circle after 1 s, outwards": (self.aside, "m"),
        }

    @property
    def plots(self) -> Sequence[Plot]:
        return self.motion.plots([self.touched])


def brake_in_turn(
    vehicle: Vehicle, speed: float, radius: float, pedal: float, settle: float = 4.0, **options: Any
) -> BrakeInTurn:
    """Brake with a value of the brake parameter on a circle of a radius [m], the steering held (ISO 7975).

    settle: Time on the circle before the brake is touched [s]. The drive lets go then. options: Those of `simulate`.
    """
    if not vehicle.brake:
        raise ModelError("a car brakes by its brake: Vehicle(..., brake=PARAMETER)")
    if radius == 0.0 or not settle > 1.0:
        raise ModelError("braking in a turn needs a radius other than 0 and more than 1 s to settle")
    ease = 0.3 * settle
    angle = vehicle.wheelbase / radius
    duration = settle + 1.5

    def angled(t: float) -> float:
        return angle * float(np.clip(t / ease, 0.0, 1.0))

    drivers = [
        steer(vehicle, angled),
        Controller("brake", settle, [], lambda t, m: {vehicle.brake: pedal * (t > 0.0)}),
    ]
    if vehicle.drive:
        keeper = speed_keeper(vehicle, speed)

        def drive(t: float, m: Mapping[str, Any]) -> dict[str, float]:
            return dict(keeper.function(t, m) or {}) if t < settle else {vehicle.drive: 0.0}

        drivers.append(Controller(keeper.name, keeper.period, keeper.measures, drive))
    time = np.linspace(0.0, duration, 1001)
    run = vehicle.run(speed, duration, drivers, **{"output": time, **options})
    motion = vehicle.motion(run)

    def at(values: Array, t: float) -> float:
        return float(np.interp(t, motion.time, values))

    bend = motion.yaw_rate / np.maximum(np.abs(motion.speed), 1.0)
    before = at(bend, settle)
    after = (motion.time >= settle) & (motion.time <= settle + 1.0)
    place = np.asarray(run[f"{vehicle.body}.position"])[:, :2]
    here, v = (
        np.array([at(x[:, k], settle) for k in range(2)]) for x in (place, np.gradient(place, time, axis=0))
    )
    left = np.array([-v[1], v[0]]) / np.linalg.norm(v)
    centre = here + left / before
    then = np.array([at(place[:, k], settle + 1.0) for k in range(2)])
    slip = motion.sideslip[after] - at(motion.sideslip, settle)
    return BrakeInTurn(
        run,
        motion,
        at(motion.speed, settle) - at(motion.speed, settle + 1.0),
        at(bend, settle + 1.0) / before,
        float((bend[after] / before).max()),
        float(slip[np.argmax(np.abs(slip))]),
        float(np.linalg.norm(then - centre) - 1.0 / abs(before)),
        settle,
    )


@dataclass(frozen=True, eq=False)
class SineWithDwell(Reported):
    """Sine with dwell of ISO 19365 and UN R140.

    yaw_ratio_1, yaw_ratio_175: Yaw rate 1 s and 1.75 s after the end of the steering over its second peak; a stable
    car has at most 0.35 and 0.20. displacement: To the side 1.07 s after the begin of the steering [m]; at least 1.83 m
    are wanted of a car up to 3.5 t. stable: Whether both ratios hold.
    """

    title: ClassVar[str] = "Sine with dwell, ISO 19365"

    result: Result
    motion: Motion
    yaw_ratio_1: float
    yaw_ratio_175: float
    displacement: float
    stable: bool

    @property
    def values(self) -> Mapping[str, tuple[float, str]]:
        return {
            "yaw rate ratio after 1 s, at most 0.35": (self.yaw_ratio_1, ""),
            "yaw rate ratio after 1.75 s, at most 0.20": (self.yaw_ratio_175, ""),
            "displacement after 1.07 s": (self.displacement, "m"),
            "stable": (float(self.stable), TRUTH),
        }

    @property
    def plots(self) -> Sequence[Plot]:
        return self.motion.plots()


def sine_with_dwell(
    vehicle: Vehicle, speed: float, angle: float, frequency: float = 0.7, dwell: float = 0.5, **options: Any
) -> SineWithDwell:
    """A sine of the steering [rad at the front wheels] that waits at its second peak, from a speed [m/s] on."""
    start = 0.2
    waits = 0.75 / frequency
    end = start + 1.0 / frequency + dwell

    def turned(t: float) -> float:
        s = t - start
        s = min(s, waits) if s < waits + dwell else s - dwell
        return angle * float(np.sin(2.0 * np.pi * frequency * np.clip(s, 0.0, 1.0 / frequency)))

    duration = end + 2.0
    run = vehicle.run(
        speed,
        duration,
        [steer(vehicle, turned, 0.5 * PERIOD), *vehicle.driving_steadily(speed, duration)],
        **{"output": np.linspace(0.0, duration, 1001), **options},
    )
    motion = vehicle.motion(run)
    second = (motion.time > start + 0.5 / frequency) & (motion.time < end)
    peak = float(np.min(motion.yaw_rate[second] * np.sign(angle)))
    after = [
        float(np.interp(end + wait, motion.time, motion.yaw_rate)) * np.sign(angle) / peak
        for wait in (1.0, 1.75)
    ]
    aside = np.asarray(run[f"{vehicle.body}.position.y"])
    moved = float(np.interp(start + 1.07, motion.time, aside)) - float(aside[0])
    stable = after[0] <= 0.35 and after[1] <= 0.20
    return SineWithDwell(
        run, motion, float(after[0]), float(after[1]), moved * float(np.sign(angle)), bool(stable)
    )


@dataclass(frozen=True, eq=False)
class LaneChange(Reported):
    """Double lane change of ISO 3888-1.

    path: That which the driver follows [m], shape (n, 2). clearance: The least distance of a corner of the car from the
    cones [m], negative where it hits them. passed: Whether it hits none. deviation: The largest distance of the car
    from the path [m]. lateral_acceleration: The largest [m/s^2]. speed_lost: [m/s].
    """

    title: ClassVar[str] = "Double lane change, ISO 3888-1"

    result: Result
    motion: Motion
    path: Array
    clearance: float
    passed: bool
    deviation: float
    lateral_acceleration: float
    speed_lost: float
    places: Array
    tracks: Sequence[tuple[float, float, float, float]]

    @property
    def values(self) -> Mapping[str, tuple[float, str]]:
        return {
            "passed": (float(self.passed), TRUTH),
            "clearance to the cones": (self.clearance, "m"),
            "largest distance from the path": (self.deviation, "m"),
            "largest lateral acceleration": (self.lateral_acceleration, "m/s^2"),
            "speed lost": (self.speed_lost, "m/s"),
        }

    @property
    def plots(self) -> Sequence[Plot]:
        cones = {
            f"lane {k}": np.array([(a, b, b, a, a), (right, right, left, left, right)])
            for k, (a, b, right, left) in enumerate(self.tracks, 1)
        }
        curves = {"car": self.places.T, "path": self.path.T, **cones}
        return [Plot("Path", "along [m]", "m", self.path[:, 0], curves), *self.motion.plots()]


def lanes(width: float) -> tuple[tuple[float, float, float, float], ...]:
    """Lanes of ISO 3888-1 for a car of a width [m]: from and to along x, right and left edge [m].

    The offset of 3.5 m is taken between the right edges.
    """
    first, second, third = 1.1 * width + 0.25, 1.2 * width + 0.25, 1.3 * width + 0.25
    right = -0.5 * first
    return (
        (0.0, 15.0, right, right + first),
        (45.0, 70.0, right + 3.5, right + 3.5 + second),
        (95.0, 125.0, right, right + third),
    )


def double_lane_change(
    vehicle: Vehicle,
    speed: float,
    width: float = 1.8,
    preview: float = 0.5,
    understeer: float | None = None,
    **options: Any,
) -> LaneChange:
    """Drive through the lanes of ISO 3888-1 at a speed [m/s], with a driver that looks ahead by `preview` [s].

    width: Of the car [m]; lanes are as wide as the standard says for it. understeer: As for the driver; measured on a
    wide circle where missing. The speed is kept where the car has a drive.
    """
    track = lanes(width)
    before, after = 20.0, 30.0
    path = _through(track, width, before, after)
    at = np.array([float(vehicle.rest.result[f"{vehicle.body}.position.{c}"][-1]) for c in "xy"])
    if understeer is None:
        understeer = steady_circle(
            vehicle, speed, [1.5 * vehicle.wheelbase / speed**2], 3.0
        ).understeer_gradient
    drivers = [path_follower(vehicle, path + at + [before, 0.0], preview, understeer)]
    if vehicle.drive:
        drivers.append(speed_keeper(vehicle, speed))
    duration = (before + track[-1][1] + 0.5 * after) / speed
    run = vehicle.run(speed, duration, drivers, **{"output": np.linspace(0.0, duration, 1001), **options})
    motion = vehicle.motion(run)
    places = np.asarray(run[f"{vehicle.body}.position"])[:, :2] - at - [before, 0.0]
    turned = np.asarray(run[f"{vehicle.body}.rotation"])
    clearance = np.inf
    half = 0.5 * vehicle.wheelbase
    for along, aside in ((half, 0.5), (half, -0.5), (-half, 0.5), (-half, -0.5)):
        corner = places + along * turned[:, :2, 0] + aside * width * turned[:, :2, 1]
        for first, last, right, left in track:
            inside = (corner[:, 0] >= first) & (corner[:, 0] <= last)
            if inside.any():
                gap = np.minimum(corner[inside, 1] - right, left - corner[inside, 1])
                clearance = min(clearance, float(gap.min()))
    deviation = np.abs(places[:, 1] - np.interp(places[:, 0], path[:, 0], path[:, 1]))
    return LaneChange(
        run,
        motion,
        path,
        clearance,
        clearance >= 0.0,
        float(deviation.max()),
        float(np.abs(motion.lateral_acceleration).max()),
        float(motion.speed[0] - motion.speed[-1]),
        places,
        track,
    )


MARGIN = 0.1
"""Of the planned path to the cones [m]; the first lane leaves 0.2 m on either side of a car 1.8 m wide."""
EASING = 8.0
"""Weight of the change of curvature over the way [m]: what a car does in a third of a second at 25 m/s."""


def _through(
    track: Sequence[tuple[float, float, float, float]], width: float, before: float, after: float
) -> Array:
    """The path through lanes whose largest curvature, and its largest change, are least: a linear programme.

    It uses the width of the lanes as drivers do: one along their middles with turns between them alone would need four
    times the lateral acceleration. Level in the middle of the first and of the last lane outside of them.
    """
    from scipy.optimize import linprog

    x = np.arange(-before, track[-1][1] + after + 0.5, 1.0)
    low, high = np.full(len(x), -np.inf), np.full(len(x), np.inf)
    room = 0.5 * width + MARGIN
    for first, last, right, left in track:
        inside = (x >= first) & (x <= last)
        low[inside], high[inside] = right + room, left - room
    for ends, (_, _, right, left) in (
        (x <= -0.5 * before, track[0]),
        (x >= track[-1][1] + 0.5 * after, track[-1]),
    ):
        low[ends] = high[ends] = 0.5 * (right + left)
    n = len(x)
    bend, change = (np.diff(np.eye(n), order, axis=0) for order in (2, 3))
    ones, none = -np.ones((n - 2, 1)), np.zeros((n - 2, 1))
    rows = [[sign * bend, ones, none] for sign in (1.0, -1.0)]
    rows += [[sign * change, none[1:], ones[1:]] for sign in (1.0, -1.0)]
    A = np.block(rows)
    bounds = [*zip(low, high, strict=True), (0.0, None), (0.0, None)]
    found = linprog([*np.zeros(n), 1.0, EASING], A, np.zeros(len(A)), bounds=bounds, method="highs")
    if found.x is None:
        raise ModelError(f"no path leads a car {width:g} m wide through the lanes")
    return np.column_stack([x, found.x[:n]])


@dataclass(frozen=True, eq=False)
class Ride(Reported):
    """A ride over a rough road, by ISO 2631-1.

    weighted: Root mean square of the vertical acceleration weighted by W_k [m/s^2]. rms: Without weights. crest:
    Largest over rms of the weighted one. vdv: Vibration dose value [m/s^1.75].
    """

    title: ClassVar[str] = "Ride, ISO 2631-1"

    result: Result
    weighted: float
    rms: float
    crest: float
    vdv: float
    acceleration: Array

    @property
    def values(self) -> Mapping[str, tuple[float, str]]:
        return {
            "weighted vertical acceleration": (self.weighted, "m/s^2"),
            "without weights": (self.rms, "m/s^2"),
            "crest factor": (self.crest, ""),
            "vibration dose value": (self.vdv, "m/s^1.75"),
        }

    @property
    def plots(self) -> Sequence[Plot]:
        from scipy.signal import welch

        time = np.asarray(self.result.time)
        f, density = welch(self.acceleration, 1.0 / float(time[1] - time[0]), nperseg=min(1024, len(time)))
        seen = (f > 0.0) & (f <= 30.0)
        return [
            Plot("Vertical acceleration", "time [s]", "m/s^2", time, {"acceleration": self.acceleration}),
            Plot("Its spectral density", "frequency [Hz]", "m²/s³", f[seen], {"density": density[seen]}),
        ]


def ride(
    vehicle: Vehicle, speed: float, duration: float, place: str = "", settle: float = 2.0, **options: Any
) -> Ride:
    """Drive over the road of the tyres at a speed [m/s], which is kept where the car has a drive.

    place: The body whose vertical acceleration counts; that of the vehicle where missing. settle: Time at the begin
    that does not count [s].
    """
    if not 0.0 <= settle < duration:
        raise ModelError(
            f"settle of a ride must lie between 0 and its duration of {duration:g} s, not {settle!r}"
        )
    interval = 1.0 / 400.0
    count = int(np.floor(duration / interval)) + 1
    drivers = [speed_keeper(vehicle, speed)] if vehicle.drive else []
    run = vehicle.run(speed, interval * (count - 1), drivers, **{"output": count - 1, **options})
    a = np.asarray(run[f"{place or vehicle.body}.acceleration.z"])
    counts = np.asarray(run.time) >= settle
    felt = weighted(a, interval)[counts]
    rms = float(np.sqrt(np.mean(felt**2)))
    return Ride(
        run,
        rms,
        float(np.sqrt(np.mean(a[counts] ** 2))),
        float(np.abs(felt).max() / rms) if rms else 0.0,
        float((np.sum(felt**4) * interval) ** 0.25),
        a,
    )


@dataclass(frozen=True, eq=False)
class FourPost(Reported):
    """A car on four posts that move up and down together, in opposition of axles, or of sides.

    frequency: [Hz]. body: Motion of the body over that of the posts: heave, or the pitch or roll angle [rad/m]. load:
    Change of the load of each tyre over the motion of its post [N/m], largest of all. resonance: Frequency at which the
    body moves most [Hz]. gain: By how much. hop: Frequency above twice that at which loads change most [Hz].
    """

    title: ClassVar[str] = "Four-post shaker"

    result: Result
    mode: str
    frequency: Array
    body: Array
    load: Array
    resonance: float
    gain: float
    hop: float

    @property
    def values(self) -> Mapping[str, tuple[float, str]]:
        unit = "" if self.mode == "heave" else "rad/m"
        return {
            f"resonance of the body in {self.mode}": (self.resonance, "Hz"),
            "motion of the body over that of the posts there": (self.gain, unit),
            "frequency of the largest change of load beyond": (self.hop, "Hz"),
        }

    @property
    def plots(self) -> Sequence[Plot]:
        over, unit = "frequency [Hz]", "" if self.mode == "heave" else "rad/m"
        return [
            Plot("Body over posts", over, unit, self.frequency, {self.mode: self.body}),
            Plot("Change of load over posts", over, "N/m", self.frequency, {"load": self.load}),
        ]


MODES = ("heave", "pitch", "roll")


def four_post(
    vehicle: Vehicle,
    mode: str = "heave",
    amplitude: float = 2e-3,
    band: tuple[float, float] = (0.5, 20.0),
    duration: float = 20.0,
    **options: Any,
) -> FourPost:
    """Shake a standing car with a sine whose frequency rises through a band [Hz], and read its responses.

    mode: "heave", "pitch" (front against rear) or "roll" (left against right). amplitude: Of each post [m]. The
    frequency rises in proportion to time; responses are quotients of Fourier transforms, of half the difference of two
    runs with opposite posts. options: Those of `simulate`.
    """
    from bellcrank.errors import unknown_name
    from bellcrank.program.functions import sin, where

    if mode not in MODES:
        raise unknown_name("mode of a four-post shaker", mode, MODES)
    low, high = band
    if not 0.0 < low < high or not duration > 4.0 / low or not amplitude > 0.0:
        raise ModelError(
            "a four-post shaker needs a rising band, an amplitude, and time for four of its slowest waves"
        )
    rest = 0.15 * duration
    # Whole waves, so that the posts end where they began: dampers would miss a step of the road.
    last = np.floor(0.5 * (low + high) * (duration - rest)) / (0.5 * (low + high))
    middle = float(np.mean([t.frame.start_position()[0] for t in vehicle.tyres]))

    def wave(t: Any) -> Any:
        phase = 2.0 * np.pi * (low * t + 0.5 * (high - low) / last * t * t)
        # The posts stand at time 0, at which the car comes to rest on them: dampers would feel them move.
        value: Any = where((t > 0.0) & (t < last), amplitude * sin(phase), 0.0)
        return value

    def shaken(sense: float) -> Result:
        def road(x: Any, y: Any, t: Any) -> Any:
            along, across = where(x > middle, sense, -sense), where(y > 0.0, sense, -sense)
            return {"heave": sense, "pitch": along, "roll": across}[mode] * wave(t)

        return vehicle.on(road).run(0.0, interval * count, [], **{"output": count, **options})

    def measured(run: Result) -> Array:
        turned = np.asarray(run[f"{vehicle.body}.rotation"])
        moved = {
            "heave": np.asarray(run[f"{vehicle.body}.position.z"]),
            "pitch": np.arctan2(turned[:, 2, 0], turned[:, 0, 0]),
            "roll": np.arcsin(np.clip(turned[:, 2, 1], -1.0, 1.0)),
        }[mode]
        return np.array([moved, *(np.asarray(run[f"{tyre.name}.load"]) for tyre in vehicle.tyres)])

    interval = 1.0 / (20.0 * high)
    count = int(duration / interval)
    run = shaken(1.0)
    # What a car does alike whichever way the posts go, as when its dampers jack it down, is no response to them.
    both = 0.5 * (measured(run) - measured(shaken(-1.0)))
    drive = np.fft.rfft(np.array([float(wave(t)) for t in np.asarray(run.time)]))
    f: Array = np.asarray(np.fft.rfftfreq(count + 1, interval), dtype=np.float64)
    seen = (f >= low) & (f <= high)

    body, *loads = np.abs(np.fft.rfft(both, axis=1)[:, seen] / drive[seen])
    load, shown = np.max(loads, axis=0), f[seen]
    k = int(np.argmax(body))
    beyond = shown > 2.0 * shown[k]
    hop = float(shown[beyond][np.argmax(load[beyond])]) if beyond.any() else float("nan")
    return FourPost(run, mode, shown, body, load, float(shown[k]), float(body[k]), hop)
