"""The full car of Kang and Yoon: 22 bodies, 39 relative coordinates, 24 loop equations, 15 degrees of freedom.

Source: Kang, Yoon, "independent coordinates by body groups"; the topology is reconstructed from the counts
in the text, the numbers are those of a mid-size car (data/fullcar.json, where every point, axis and centre
of mass is in world coordinates in the design position).
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from importlib.resources import files
from typing import Any

import numpy as np

from bellcrank.errors import unknown_name
from bellcrank.model import Body, System
from bellcrank.program.functions import where
from bellcrank.program.trace import Scalar
from bellcrank.verify.cases import Quantity

RACK = "rack guide"
"""The joint of the steering rack."""


def quantities() -> list[Quantity]:
    """Counts of topology and operations, on the uneven road."""
    from bellcrank.mechanism import analyse
    from bellcrank.verify.full_car_counts import counted

    return counted(analyse(full_car_system("bump")))


def full_car_data() -> dict[str, Any]:
    """The numbers of the car."""
    text = files("bellcrank.verify").joinpath("data/fullcar.json").read_text(encoding="utf-8")
    data: dict[str, Any] = json.loads(text)
    return data


def full_car_system(
    scenario: str | None = None,
    cuts_as_published: bool = True,
    springs: Callable[[System, dict[str, Any]], dict[str, Any]] | None = None,
) -> System:
    """The car in its design position.

    scenario: None (flat road, straight steering), "bump" (a bump under the left wheels) or "steer" (the
    rack is moved by 10 mm). cuts_as_published: Cut the eight ball joints the paper cuts; otherwise the
    cuts are left to the analysis. springs: function of the system and the numbers of a spring (name, stiffness,
    damping, free_length) to those that replace some of them, such as parameters.
    """
    data = full_car_data()
    if scenario is not None and scenario not in data["scenarios"]:
        raise unknown_name("scenario", scenario, data["scenarios"])
    chosen = data["scenarios"][scenario] if scenario else {}
    system, bodies = car_without_tyres(data, cuts_as_published, springs)
    _add_actuator(system, data["rack_actuator"], chosen.get("steering"))
    road = _road(chosen.get("bump"))
    for item in data["tyres"]:
        system.ground_spring(
            f"{item['name']}_tyre",
            bodies[item["body"]],
            axis="y",
            radius=item["radius"],
            stiffness=item["stiffness"],
            damping=item["damping"],
            longitudinal=item["c_long"],
            lateral=item["c_lat"],
            reference_load=item["N_ref"],
            road=road,
        )
    return system


def car_without_tyres(
    data: dict[str, Any],
    cuts_as_published: bool = True,
    springs: Callable[[System, dict[str, Any]], dict[str, Any]] | None = None,
) -> tuple[System, dict[int, Body]]:
    """Bodies, joints and suspension springs of the car; the system, and its bodies by their numbers."""
    system = System("full car", gravity=tuple(data["gravity"]))
    bodies: dict[int, Body] = {0: system.ground}
    for item in data["bodies"]:
        bodies[item["id"]] = system.body(
            item["name"], mass=item["mass"], inertia=item["inertia"], at=item["com"]
        )
    for item in data["joints"]:
        _add_joint(system, item, bodies)
    for item in data["cuts"]:
        a, b = bodies[item["body_a"]], bodies[item["body_b"]]
        system.spherical(
            f"{a.name} to {b.name}", a, b, at=item["point"], cut=True if cuts_as_published else None
        )
    for item in data["springs"]:
        if springs is not None:
            item |= springs(system, item)
        system.spring(
            item["name"],
            bodies[item["body_a"]].point_at(item["point_a"]),
            bodies[item["body_b"]].point_at(item["point_b"]),
            stiffness=item["stiffness"],
            damping=item["damping"],
            free_length=item["free_length"],
        )
    return system, bodies


def _add_joint(system: System, item: dict[str, Any], bodies: dict[int, Body]) -> None:
    parent, body = bodies[item["parent"]], bodies[item["body"]]
    name = RACK if body.name == "steering_rack" else f"{parent.name} to {body.name}"
    match item["type"]:
        case "free":
            system.free(name, parent, body)
        case "revolute":
            system.revolute(name, parent, body, at=item["point"], axis=item["axis"])
        case "prismatic":
            system.prismatic(name, parent, body, at=item["point"], axis=item["axis"])
        case "spherical":
            system.spherical(name, parent, body, at=item["point"])
        case "universal":
            axis_a, axis_b = item["axis_parent"], item["axis_body"]
            system.universal(name, parent, body, at=item["point"], axis_a=axis_a, axis_b=axis_b)


def _add_actuator(system: System, item: dict[str, Any], steering: dict[str, float] | None) -> None:
    k, c = item["stiffness"], item["damping"]

    def actuator(coordinate: Scalar, rate: Scalar, t: Scalar) -> Scalar:
        u, u_rate = _steering(steering, t)
        force: Scalar = -k * (coordinate - u) - c * (rate - u_rate)
        return force

    system.joint_force("rack actuator", RACK, actuator)


def _steering(steering: dict[str, float] | None, t: Scalar) -> tuple[Scalar, Scalar]:
    """u(t) = U S(s) with S = 10 s^3 - 15 s^4 + 6 s^5 clipped to 0 ... 1, and its rate."""
    if steering is None:
        return 0.0, 0.0
    U, span = steering["U"], steering["t1"] - steering["t0"]
    s = np.clip((t - steering["t0"]) / span, 0.0, 1.0)
    # dS/ds vanishes at both ends, so clipping s clips the rate as well.
    return U * s**3 * (10 - 15 * s + 6 * s**2), U / span * 30 * s**2 * (1 - s) ** 2


def _road(bump: dict[str, Any] | None) -> Callable[[Scalar, Scalar, Scalar], Scalar] | None:
    """h = H sin(pi s)^4 for 0 < s < 1 on the given side."""
    if bump is None:
        return None
    H, x0, length = bump["H"], bump["x0"], bump["length"]

    def road(x: Scalar, y: Scalar, t: Scalar) -> Scalar:
        s = (x - x0) / length
        inside = (s > 0) & (s < 1)
        match bump["side"]:
            case "left":
                inside = inside & (y > 0)
            case "right":
                inside = inside & (y < 0)
        return where(inside, H * np.sin(math.pi * s) ** 4, 0.0)

    return road
