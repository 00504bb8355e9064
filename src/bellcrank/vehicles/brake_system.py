"""Brakes of a car with balance, lag and a slip controller, of clutches and states that any system takes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bellcrank.errors import ModelError
from bellcrank.model import System, checks
from bellcrank.model.joints import Joint
from bellcrank.program.functions import clip
from bellcrank.program.trace import Scalar
from bellcrank.run.events import Controller

if TYPE_CHECKING:
    from bellcrank.vehicles.vehicle import Vehicle

STIFFNESS = 50.0
"""Of a locked brake over its capacity [1/rad]: it yields by one degree. Bristles of a turning wheel fade with this
times its speed, 4000 1/s at 80 rad/s, which explicit methods follow in steps of half a millisecond."""


QUICK, AHEAD = 6.0, 0.06
"""Rate at which a brake is eased at twice the wanted slip [1/s]; time by which the slip is extrapolated [s], the lag of
a pressure and that of a tyre at 10 m/s. Much quicker ones let slip and pressure chase each other."""


@dataclass(frozen=True)
class Brakes:
    """Brakes of wheels. hubs: Names of their joints. releases: Parameters that ease each of them, from 0 to 1."""

    hubs: tuple[str, ...]
    releases: tuple[str, ...]


def brakes(
    system: System,
    hubs: Sequence[Joint],
    pedal: Scalar,
    torque: Scalar,
    balance: Scalar = 0.65,
    lag: Scalar = 0.03,
) -> Brakes:
    """Brakes in the joints of wheels, front axle first, left and right.

    pedal: From 0 to 1, a parameter. torque: Of all brakes together at full pedal [N m]. balance: Share of the first two
    wheels. lag: Time in which the pressure follows [s]. Each brake gets a state ``HUB pressure`` and a parameter ``HUB
    release``, by which :func:`anti_lock` eases it.
    """
    if len(hubs) not in (2, 4):
        raise ModelError(f"brakes need two or four hubs, front axle first, not {len(hubs)}")
    known = system.parameters
    pedal = checks.number("pedal of brakes", pedal, known)
    torque = checks.at_least_zero("torque of brakes", torque, known)
    balance, lag = (
        checks.share("balance of brakes", balance, known),
        checks.positive("lag of brakes", lag, known),
    )
    releases = []
    for k, hub in enumerate(hubs):
        share = 0.5 * (1.0 if len(hubs) == 2 else balance if k < 2 else 1.0 - balance)
        release = system.parameter(f"{hub.name} release", 0.0)
        name = f"{hub.name} pressure"

        def rate(m: Mapping[str, Any], name: str = name, release: Scalar = release) -> Scalar:
            return (clip(pedal, 0.0, 1.0) * (1.0 - release) - m[name]) / lag  # type: ignore[no-any-return]

        pressure = system.state(name, rate)
        most = torque * share

        def capacity(t: Scalar, most: Scalar = most, pressure: Scalar = pressure) -> Scalar:
            return most * clip(pressure, 0.0, 1.0)

        system.clutch(f"{hub.name} brake", hub, capacity, stiffness=STIFFNESS)
        releases.append(f"{hub.name} release")
    return Brakes(tuple(hub.name for hub in hubs), tuple(releases))


def anti_lock(
    made: Brakes,
    radius: float,
    slip: float = 0.12,
    period: float = 0.005,
    slow: float = 2.0,
) -> Callable[[Vehicle], Controller]:
    """A slip controller for the brakes of a car, as `assistance=` of a vehicle takes it.

    radius: Of the rolling wheels [m]. slip: Above which a brake is eased. period: Between two looks at the wheels [s].
    slow: Speed below which it leaves the brakes alone [m/s]. A brake is eased and comes back in proportion to the slip
    above and below the wanted one.
    """
    if not radius > 0.0 or not 0.0 < slip < 1.0 or not period > 0.0:
        raise ModelError(
            "a slip controller needs a radius and a period greater than 0, and a slip between 0 and 1"
        )

    def controller(vehicle: Vehicle) -> Controller:
        body = vehicle.body
        eased, before = dict.fromkeys(made.releases, 0.0), dict.fromkeys(made.hubs, 0.0)

        def control(t: float, m: Mapping[str, Any]) -> dict[str, float]:
            ahead = np.reshape(m[f"{body}.rotation"], (3, 3))[:, 0]
            v = float(np.asarray(m[f"{body}.velocity"]) @ ahead)
            for hub, release in zip(made.hubs, made.releases, strict=True):
                if v < slow:
                    eased[release] = 0.0
                    continue
                now = 1.0 - float(m[f"{hub}.angle_rate"]) * radius / v
                over = now + AHEAD * (now - before[hub]) / period - slip
                before[hub] = now
                change = QUICK * min(max(over / slip, -0.3), 1.0)
                eased[release] = min(max(eased[release] + change * period, 0.0), 1.0)
            return dict(eased)

        measured = [f"{body}.velocity", f"{body}.rotation", *(f"{hub}.angle_rate" for hub in made.hubs)]
        return Controller("slip controller", period, measured, control)

    return controller


__all__ = ["Brakes", "anti_lock", "brakes"]
