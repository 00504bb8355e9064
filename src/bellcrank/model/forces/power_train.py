"""Power trains: an engine with its map, a clutch, gears and differentials, down to the wheels.

The engine has the speed w and the inertia J, the train behind the clutch has none. With the ratio i of gear and final
drive, shares s_k of the wheels and their speeds w_k against the body that carries the train,

    J w' = T_engine(w, throttle) - T_c,   T_c = capacity clutch tanh((w - i sum(s_k w_k)) / slip).

A differential hands on the torque T it is given in fixed shares and locks by up to

    preload + locking |T|   (limited slip),   times tanh((w_a - w_b) / slip),

from the faster to the slower side; a locked one by any torque, slip carrying the largest that the train has. Below
`idle` the clutch opens, so that the engine does not stall; up to one half above it takes hold.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from bellcrank.base.keys import FUNCTION, JOINT, NUMBER, SIDE, Keys, list_of, may, must, words
from bellcrank.base.provided import provided
from bellcrank.errors import ModelError
from bellcrank.math.tuples import ZERO, Vec, dot, scale, sub
from bellcrank.model import checks
from bellcrank.model.forces.element import ForceElement, ForceMethod, ForceQuantity
from bellcrank.model.frames import Frame
from bellcrank.model.functions import user_function
from bellcrank.model.joints import Joint, Side
from bellcrank.model.states import StateVariable
from bellcrank.program.functions import clip, gather, where
from bellcrank.program.tables import linear_table
from bellcrank.program.trace import Expr, Scalar, compare, function

if TYPE_CHECKING:
    from bellcrank.mechanics.forces import Acting
    from bellcrank.mechanics.kinematics import Kinematics
    from bellcrank.mechanics.links import Linkage
    from bellcrank.mechanics.loads import Loads
    from bellcrank.quantities.snapshot import Snapshot

OPEN, LIMITED, LOCKED = "open", "limited_slip", "locked"
DIFFERENTIALS = (OPEN, LIMITED, LOCKED)
PLACES = {2: ("wheels",), 4: ("front", "rear", "centre")}
PLAIN = "the map and the gears of a power train are plain numbers"


class Turning(NamedTuple):
    """A hub: links of the train's body and of the wheel's carrier, base, place, direction, speed of the wheel."""

    body: int
    carrier: int
    base: int
    at: Vec
    axis: Vec
    speed: Scalar


class Torques(NamedTuple):
    """Torques [N m] of the engine, of its clutch and on the hubs."""

    engine: Scalar
    clutch: Scalar
    hubs: tuple[Scalar, ...]


@dataclass(frozen=True, eq=False)
class PowerTrain(ForceElement):
    """An engine that drives two or four wheels.

    frame: A point of the body that carries the train and takes its reaction. hubs: Joints of the wheels, (left, right)
    or (front left, front right, rear left, rear right); their angle rises as the car drives forwards, and their second
    body is the wheel. engine: Rows of speed [rad/s] and torques [N m] at throttles from 0 to 1 in equal steps. inertia:
    Of the engine [kg m^2]. ratios: Of the gears. throttle, gear, clutch: Of t [s]; the gear is 1 for the first, 0 for
    neutral, -1 for reverse. reverse: Ratio of the reverse gear. final: Ratio of the final drive. capacity: Of the
    clutch [N m]. differentials: open, limited_slip or locked: of the wheels, or of the front, the rear and the centre.
    preload, locking: Of limited slip [N m, share of the torque]. front: Share of the torque of the front axle. slip:
    Difference of speeds at which clutch and locks carry most of their torque [rad/s]. idle: Speed below which the
    clutch opens [rad/s]. speed: The state of the engine.
    """

    kind = "power_train"
    keys = Keys(
        "An engine with its map, a clutch, gears and differentials, which drives two or four wheels.",
        must("body", SIDE, "The body that carries the train and takes its reaction.", python="frame"),
        must(
            "hubs",
            list_of(JOINT),
            "Joints of the wheels, left and right, front axle first; their angle rises as the car drives forwards, "
            "their second body is the wheel.",
        ),
        must(
            "engine",
            list_of(list_of(NUMBER)) | {"minItems": 2},
            "Rows of speed [rad/s] and torques [N m] at throttles from 0 to 1 in equal steps, the speeds rising.",
            plain=True,
        ),
        must("inertia", NUMBER, "Of the engine with its flywheel [kg m^2]."),
        must("ratios", list_of(NUMBER) | {"minItems": 1}, "Of the gears, from the first on.", plain=True),
        must("throttle", FUNCTION, "From 0 to 1, of t [s].", of=("t",)),
        may(
            "gear",
            FUNCTION,
            "1 for the first, 0 for neutral, -1 for reverse, of t [s]; 1 where missing.",
            of=("t",),
        ),
        may("clutch", FUNCTION, "From 0, open, to 1, of t [s]; 1 where missing.", of=("t",)),
        may("final", NUMBER, "Ratio of the final drive; 1 where missing."),
        may("reverse", NUMBER, "Ratio of the reverse gear; that of the first where missing.", plain=True),
        may(
            "capacity", NUMBER, "Of the clutch [N m]; 1.5 times the largest torque of the map where missing."
        ),
        may(
            "differentials",
            list_of(words(*DIFFERENTIALS)),
            "Of the wheels; or of the front, the rear and the centre; open where missing.",
        ),
        may("preload", NUMBER, "Locking torque of limited slip without load [N m]; 0 where missing."),
        may("locking", NUMBER, "Locking torque of limited slip over its torque; 0.3 where missing."),
        may("front", NUMBER, "Share of the torque of the front axle; 0.5 where missing."),
        may(
            "slip",
            NUMBER,
            "Difference of speeds at which clutch and locks carry most [rad/s]; 1 where missing.",
        ),
        may(
            "idle",
            NUMBER,
            "Speed below which the clutch opens [rad/s]; where the closed throttle gives no torque where missing.",
        ),
    )

    name: str
    frame: Frame
    hubs: tuple[Joint, ...]
    engine: tuple[tuple[float, ...], ...]
    inertia: Scalar
    ratios: tuple[float, ...]
    throttle: Callable[..., Scalar]
    gear: Callable[..., Scalar]
    clutch: Callable[..., Scalar]
    final: Scalar
    reverse: float
    capacity: Scalar
    differentials: tuple[str, ...]
    preload: Scalar
    locking: Scalar
    front: Scalar
    slip: Scalar
    idle: Scalar
    speed: Scalar

    @property
    def frames(self) -> tuple[Frame, ...]:
        return (self.frame, *(hub.a for hub in self.hubs))

    @property
    def held_at(self) -> tuple[Frame, ...]:
        return ()

    @property
    def largest(self) -> float:
        """Largest torque of the map [N m]."""
        return max(abs(torque) for row in self.engine for torque in row[1:])

    def load(self, act: Acting, loads: Loads) -> None:
        hubs = [self._turning(act, hub) for hub in self.hubs]
        for hub, found, torque in zip(self.hubs, hubs, self._torques(act, hubs).hubs, strict=True):
            u = act.speed(hub, "angle")
            moment = scale(torque, found.axis)
            if u is None:
                a, b, base, at, direction, _ = act.direction(hub, "angle")
                loads.between(a, b, base, at, at, ZERO, scale(torque, direction))
            else:
                loads.on_speed(u, torque)
            # The hub's torque leaves its reaction on the carrier; that belongs to the body of the train.
            if found.carrier != found.body:
                loads.among(self.frame.body.name, hub.a.body.name)
                loads.between(found.body, found.carrier, found.base, found.at, found.at, ZERO, moment)

    def _turning(self, act: Acting, hub: Joint) -> Turning:
        A, B, base = act.ends(self.frame, hub.a)
        _, rate = act.coordinate(hub, "angle")
        axis = B.axis(2)
        if A.link == B.link:
            return Turning(A.link, B.link, base, B.point, axis, rate)
        w = sub(act.kin.motion(B.link, base).w, act.kin.motion(A.link, base).w)
        return Turning(A.link, B.link, base, B.point, axis, rate + dot(axis, w))

    def _torques(self, act: Acting, hubs: Sequence[Turning]) -> Torques:
        n = act.kin.number
        speeds = [hub.speed for hub in hubs]
        front, slip = n(self.front), n(self.slip)
        shares: list[Scalar] = [0.5, 0.5]
        if len(speeds) == 4:
            shares = [0.5 * front, 0.5 * front, 0.5 * (1.0 - front), 0.5 * (1.0 - front)]
        mean: Scalar = 0.0
        for share, speed in zip(shares, speeds, strict=True):
            mean = mean + share * speed
        w, ratio = n(self.speed), self._ratio(act)
        engine = self._engine(w, clip(n(self.throttle(act.t)), 0.0, 1.0))
        idle = n(self.idle)
        # One rad/s is no speed of an engine; it keeps a clutch without an idle speed whole.
        awake = clip((w - idle) / (0.5 * idle + 1.0), 0.0, 1.0)
        grip = n(self.capacity) * clip(n(self.clutch(act.t)), 0.0, 1.0) * awake
        engaged = where(compare("eq", ratio, 0.0), 0.0, 1.0)
        clutch = grip * engaged * function("tanh", (w - ratio * mean) / slip)
        given = ratio * clutch
        torques = [share * given for share in shares]
        for k, kind in enumerate(self.differentials):
            self._lock(act, kind, torques, speeds, given, k)
        return Torques(engine, clutch, tuple(torques))

    def _lock(
        self,
        act: Acting,
        kind: str,
        torques: list[Scalar],
        speeds: Sequence[Scalar],
        given: Scalar,
        k: int,
    ) -> None:
        """Shift torque within one differential: of the k-th axle, or (the third) between the axles."""
        if kind == OPEN:
            return
        n = act.kin.number
        front = n(self.front)
        if k == 2:
            a, b, through = [0, 1], [2, 3], given
            faster = 0.5 * (speeds[0] + speeds[1]) - 0.5 * (speeds[2] + speeds[3])
        else:
            a, b = [2 * k], [2 * k + 1]
            through = given if len(speeds) == 2 else given * (front if k == 0 else 1.0 - front)
            faster = speeds[2 * k] - speeds[2 * k + 1]
        slipping = faster / n(self.slip)
        if kind == LOCKED:
            shifted = self.largest * max(map(abs, self.ratios)) * n(self.final) * slipping
        else:
            most = n(self.preload) + n(self.locking) * function("abs", through)
            shifted = most * function("tanh", slipping)
        for i in a:
            torques[i] = torques[i] - shifted * (0.5 / len(a))
        for i in b:
            torques[i] = torques[i] + shifted * (0.5 / len(b))

    def _ratio(self, act: Acting) -> Scalar:
        """Of gear and final drive, 0 in neutral."""
        row = (-self.reverse, 0.0, *self.ratios)
        gear = clip(act.kin.number(self.gear(act.t)), -1.0, float(len(self.ratios)))
        return gather(function("floor", gear + 1.5), row) * act.kin.number(self.final)

    @property
    def speed_name(self) -> str:
        """Name of the state that is the speed of the engine."""
        return f"{self.name} speed"

    def engine_speed(self, wheel: float, value: Callable[[Scalar], float]) -> float:
        """Speed of the engine [rad/s] at that of the wheels [rad/s] and time 0; `value` gives that of parameters."""
        gear = min(max(round(value(self.gear(0.0))), -1), len(self.ratios))
        return (-self.reverse, 0.0, *self.ratios)[gear + 1] * value(self.final) * wheel

    def _engine(self, w: Scalar, throttle: Scalar) -> Scalar:
        """Torque by the map [N m], linear between its speeds and throttles, constant beyond."""
        speeds = [row[0] for row in self.engine]
        columns = [
            linear_table(speeds, [row[k] for row in self.engine])(w) for k in range(1, len(self.engine[0]))
        ]
        steps = len(columns) - 1
        if not steps:
            return throttle * columns[0]
        total = columns[0]
        for k in range(steps):
            total = total + clip(throttle * steps - float(k), 0.0, 1.0) * (columns[k + 1] - columns[k])
        return total

    def rate(self, act: Acting) -> Scalar:
        """Of the speed of the engine [rad/s^2]."""
        found = self._torques(act, [self._turning(act, hub) for hub in self.hubs])
        return (found.engine - found.clutch) / act.kin.number(self.inertia)

    def power(self, s: Snapshot) -> Scalar:
        hubs = [self._turning(s.acting, hub) for hub in self.hubs]
        total: Scalar = 0.0
        for hub, torque in zip(hubs, self._torques(s.acting, hubs).hubs, strict=True):
            total = total + torque * hub.speed
        return total

    def quantities(self, s: Snapshot) -> dict[str, ForceQuantity]:
        act = s.acting

        def found() -> Torques:
            return self._torques(act, [self._turning(act, hub) for hub in self.hubs])

        names = (
            ("left", "right")
            if len(self.hubs) == 2
            else ("front_left", "front_right", "rear_left", "rear_right")
        )
        return {
            "engine_torque": ForceQuantity(lambda: [found().engine], "N m"),
            "clutch_torque": ForceQuantity(lambda: [found().clutch], "N m"),
            "hub_torque": ForceQuantity(lambda: found().hubs, "N m", names),
        }


class PowerTrainMethod(ForceMethod):
    """Makes power trains."""

    if TYPE_CHECKING:

        def _add_state(self, state: StateVariable) -> Expr: ...

    def power_train(
        self,
        name: str,
        frame: Side,
        hubs: Sequence[Joint | str],
        engine: Any,
        inertia: Any,
        ratios: Sequence[float],
        *,
        throttle: Any,
        gear: Any = 1,
        clutch: Any = 1.0,
        final: Any = 1.0,
        reverse: float | None = None,
        capacity: Any = None,
        differentials: Sequence[str] = (),
        preload: Any = 0.0,
        locking: Any = 0.3,
        front: Any = 0.5,
        slip: Any = 1.0,
        idle: Any = None,
    ) -> PowerTrain:
        """An engine that drives wheels through a clutch, gears and differentials.

        frame: The body that carries the train and takes its reaction. hubs: Joints of the wheels, (left, right) or
        (front left, front right, rear left, rear right); their angle rises as the car drives forwards, their second
        body is the wheel. engine: Rows of speed [rad/s] and torques [N m] at throttles from 0 to 1 in equal steps, such
        as ``[(0, 40, 150), (100, 0, 220), (600, -40, 160)]``; with one torque a row it is scaled by the throttle.
        inertia: Of the engine [kg m^2]. ratios: Of the gears. throttle, gear, clutch: Parameters, or functions of t
        [s]; gear 1 is the first, 0 neutral, -1 reverse. final, reverse: Ratios. capacity: Of the clutch [N m].
        differentials: "open", "limited_slip" or "locked", one for two wheels, for four that of the front, the rear and
        the centre. preload, locking: Of limited slip [N m, share of the torque]. front: Share of the torque of the
        front axle. slip: Difference of speeds [rad/s] at which clutch and locks carry three quarters of what they can.
        idle: Speed below which the clutch opens [rad/s]. The state ``NAME speed`` is that of the engine [rad/s].
        """
        name, who = self._force_name(name)
        seat = self._frame(who, frame)
        joints = self._hubs(who, hubs)
        rows = _map(who, engine)
        gears = _gears(f"ratios of {who}", ratios)
        back = gears[0] if reverse is None else _gears(f"reverse of {who}", [reverse])[0]
        laws = []
        for key, given in (("throttle", throttle), ("gear", gear), ("clutch", clutch)):
            if not callable(given):
                constant = checks.number(f"{key} of {who}", given, self.parameters)
                given = lambda t, constant=constant: constant  # noqa: E731
            laws.append(user_function(f"{key} of {who}", given, ("t",), self.parameters))
        kinds = self._differentials(who, differentials, len(joints))
        most = max(abs(torque) for row in rows for torque in row[1:])
        if capacity is None:
            capacity = 1.5 * most
        calm = _calm(rows) if idle is None else checks.at_least_zero(f"idle of {who}", idle, self.parameters)
        positive = {
            key: checks.positive(f"{key} of {who}", given, self.parameters)
            for key, given in (("inertia", inertia), ("capacity", capacity), ("slip", slip))
        }
        kept = {
            key: checks.at_least_zero(f"{key} of {who}", given, self.parameters)
            for key, given in (("preload", preload), ("locking", locking))
        }
        kept["front"] = checks.share(f"front of {who}", front, self.parameters)
        made = PowerTrain(
            name=name,
            frame=seat,
            hubs=joints,
            engine=rows,
            ratios=gears,
            throttle=laws[0],
            gear=laws[1],
            clutch=laws[2],
            final=checks.number(f"final of {who}", final, self.parameters),
            reverse=back,
            differentials=kinds,
            idle=calm,
            speed=self.parameters.graph.input(f"{name} speed"),
            **positive,
            **kept,
        )
        self._add_force(made)
        start = float(self.parameters.value(calm))
        self._add_state(
            StateVariable(made.speed_name, None, start, "rad/s", partial(_rate, made), owner=made)
        )
        return made

    def _hubs(self, who: str, hubs: Any) -> tuple[Joint, ...]:
        if not isinstance(hubs, list | tuple) or len(hubs) not in PLACES:
            raise ModelError(
                f"{who} needs two or four hubs, joints of wheels: left and right, the front axle first"
            )
        found = tuple(self._joint(who, hub) for hub in hubs)
        if len({joint.name for joint in found}) < len(found):
            raise ModelError(f"{who} names a hub twice")
        for joint in found:
            if joint.coordinate(None) != "angle":
                raise ModelError(f"hub {joint.name!r} of {who} has no angle; give a revolute joint")
        return found

    def _differentials(self, who: str, given: Any, wheels: int) -> tuple[str, ...]:
        places = PLACES[wheels]
        if isinstance(given, str):
            given = (given,)
        if not given:
            return (OPEN,) * len(places)
        if not isinstance(given, list | tuple) or len(given) != len(places):
            raise ModelError(
                f"{who} has {len(places)} differentials ({', '.join(places)}); give as many kinds"
            )
        return tuple(checks.choice(f"differential of {who}", kind, DIFFERENTIALS) for kind in given)


def _map(who: str, given: Any) -> tuple[tuple[float, ...], ...]:
    try:
        rows = np.asarray(given, dtype=float)
    except (TypeError, ValueError) as error:
        raise ModelError(f"engine of {who} must be rows of a speed and torques in plain numbers") from error
    if rows.ndim != 2 or rows.shape[0] < 2 or rows.shape[1] < 2 or not np.isfinite(rows).all():
        raise ModelError(f"engine of {who} needs 2 rows or more of a speed and torques, finite numbers")
    if not np.all(np.diff(rows[:, 0]) > 0.0):
        raise ModelError(f"the speeds in the engine of {who} must rise from row to row")
    return tuple(tuple(float(x) for x in row) for row in rows)


def _gears(what: str, given: Any) -> tuple[float, ...]:
    if not isinstance(given, list | tuple) or not given:
        raise ModelError(f"{what} must be a list of numbers, one for each gear, not {given!r}")
    found = tuple(checks.plain_number(what, x, PLAIN) for x in given)
    if any(x == 0.0 for x in found):
        raise ModelError(f"{what}: 0 is neutral, which is gear 0 anyway")
    return found


def _calm(rows: tuple[tuple[float, ...], ...]) -> float:
    """The speed at which the closed throttle first gives no torque [rad/s]; 0 where there is none."""
    if len(rows[0]) == 2:
        return 0.0
    for low, high in pairwise(rows):
        if low[1] > 0.0 >= high[1]:
            return low[0] + (high[0] - low[0]) * low[1] / (low[1] - high[1])
    return 0.0


def _rate(train: PowerTrain, linkage: Linkage, kin: Kinematics, t: Scalar) -> Scalar:
    return train.rate(provided("a force in action")(linkage, kin, t))


__all__ = ["PowerTrain", "PowerTrainMethod"]
