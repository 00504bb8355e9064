"""What impulsive contacts ask of a model before a run."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from bellcrank.contact.shapes import Stop
from bellcrank.errors import ModelError
from bellcrank.mechanics.contacts import ContactPair
from bellcrank.mechanism import Mechanism
from bellcrank.model.contacts import Contact

Array = NDArray[np.float64]

TOUCHING = 1e-8
"""Contacts nearer than this part of the unit of length at an impact take part in it."""


def check_apart(
    name: str,
    bodies: tuple[str, str],
    gap: float,
    normal: Array,
    length: float,
    stop: Contact | None = None,
) -> None:
    """Shapes may touch at the start, not overlap; gap and unit of length [m]. stop: Of a joint, where it is one."""
    if gap >= -TOUCHING * length:
        return
    if stop is not None:
        assert stop.limits is not None
        assert isinstance(stop.a.shape, Stop)
        limits, unit = stop.limits, "m" if not stop.a.shape.lever else "rad"
        beyond = -gap / (stop.a.shape.lever or 1.0)
        raise ModelError(
            f"{limits.coordinate} of joint {limits.joint.name!r} starts {beyond:.4g} {unit} beyond its limit {name!r}; "
            "start within it, with system.initial(...) or initial="
        )
    a, b = bodies
    way = ", ".join(f"{-gap * x + 0.0:.4g}" for x in normal)
    raise ModelError(
        f"contact {name!r}: {a!r} and {b!r} start {-gap * 1e3:.3g} mm inside each other; "
        f"to separate them, move {b!r} by ({way}) m, or make a shape smaller"
    )


def check_movable(pair: ContactPair, base: Mechanism) -> None:
    """Shapes between which nothing moves never meet."""
    links = (*base.linkage.path(pair.a.link, pair.base), *base.linkage.path(pair.b.link, pair.base))
    if not any(len(base.linkage.links[k].own_speeds) for k in links):
        a, b = pair.contact.a.frame.body.name, pair.contact.b.frame.body.name
        raise ModelError(
            f"contact {pair.contact.name!r} can never close: {a!r} and {b!r} do not move against each other; "
            "put one of its shapes on a body that moves"
        )


def check_dimensions(pairs: Sequence[ContactPair]) -> None:
    """Impacts are solved in the plane or in space, all of them."""
    flat = [pair.contact.name for pair in pairs if pair.planar]
    if flat and len(flat) < len(pairs):
        solid = next(pair.contact.name for pair in pairs if not pair.planar)
        raise ModelError(
            f"contact {flat[0]!r} is between plane curves, contact {solid!r} between solid shapes; use one kind: "
            "a circle becomes a sphere or a cylinder, a line becomes a plane"
        )
