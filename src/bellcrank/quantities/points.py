"""Points of bodies by name: ``rod.point(0.5, 0, 0).velocity``, written as in the description of a model."""

from __future__ import annotations

import re

from bellcrank.errors import ModelError
from bellcrank.math.tuples import Vec

WHAT = {"position": "m", "velocity": "m/s", "acceleration": "m/s^2"}
"""What can be asked of a point, and its unit."""

_POINT = re.compile(r"(?P<body>.+)\.point\((?P<place>[^()]*)\)\.(?P<what>\w+)(?:\.(?P<component>\w+))?")


def parse_point(name: str) -> tuple[str, Vec, str, str | None] | None:
    """Body, place in its axes [m], what is asked for, component; None where the name is not one of a point."""
    found = _POINT.fullmatch(name)
    if found is None:
        return None
    try:
        x, y, z = (float(part) for part in found["place"].split(","))
    except ValueError:
        raise ModelError(
            f"{name!r}: a point is three numbers in body axes, such as rod.point(0.5, 0, 0)"
        ) from None
    return found["body"], (x, y, z), found["what"], found["component"]
