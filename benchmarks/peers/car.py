"""The 22-body car as plain numbers, read from the model file of the package."""

from __future__ import annotations

import json
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Link:
    """A body and the joint that hangs it on its parent; all in world axes of the design pose."""

    number: int
    name: str
    parent: int
    mass: float
    centre: Array
    inertia: Array
    joint: str
    point: Array
    axes: tuple[Array, ...]


@dataclass(frozen=True)
class Cut:
    """A spherical joint that closes a loop."""

    body_a: int
    body_b: int
    point: Array


@dataclass(frozen=True)
class Car:
    """The tree (parents first), the cuts and gravity."""

    links: tuple[Link, ...]
    cuts: tuple[Cut, ...]
    gravity: Array


def load_car(path: str | Path | None = None) -> Car:
    """The car; springs, tyres and the rack actuator are left out: the mechanics is what is compared."""
    source = Path(path) if path else files("bellcrank.verify") / "data" / "fullcar.json"
    data: dict[str, Any] = json.loads(source.read_text())
    bodies = {body["id"]: body for body in data["bodies"]}
    links = []
    for joint in data["joints"]:
        body = bodies[joint["body"]]
        keys = ("axis_parent", "axis_body") if joint["type"] == "universal" else ("axis",)
        links.append(
            Link(
                joint["body"],
                body["name"],
                joint["parent"],
                float(body["mass"]),
                np.array(body["com"]),
                np.array(body["inertia"]),
                joint["type"],
                np.array(joint["point"]),
                tuple(np.array(joint[key]) for key in keys if key in joint),
            )
        )
    cuts = tuple(Cut(c["body_a"], c["body_b"], np.array(c["point"])) for c in data["cuts"])
    return Car(tuple(links), cuts, np.array(data["gravity"]))


def depth_first(car: Car) -> list[Link]:
    """The links with each subtree without gaps."""
    children: dict[int, list[Link]] = {}
    for link in car.links:
        children.setdefault(link.parent, []).append(link)
    order: list[Link] = []
    pending = list(reversed(children[0]))
    while pending:
        link = pending.pop()
        order.append(link)
        pending.extend(reversed(children.get(link.number, [])))
    return order
