"""Where a mechanism starts: positions and speeds by joint, as part of the description."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

from bellcrank.errors import ModelError, unknown_name
from bellcrank.model import checks
from bellcrank.model.bodies import Body
from bellcrank.model.joints import Joint
from bellcrank.model.parameters import ParameterTable
from bellcrank.model.states import StateVariable
from bellcrank.program.trace import Expr, Scalar

Start: TypeAlias = "dict[str, tuple[Scalar, ...]]"
"""By coordinate: a position, a position and its rate, a rate, or the components of a vector or quaternion."""


class InitialMethods:
    """The described start of a system."""

    parameters: ParameterTable
    bodies: dict[str, Body]
    joints: dict[str, Joint]
    states: dict[str, StateVariable]
    initials: dict[str, Start]

    def initial(self, name: str | Joint | Body, values: Any) -> None:
        """Where a joint starts, instead of the pose in which the bodies were described.

        name: A joint, or a flexible body for its modes. values: What ``initial`` of a run takes: for a joint with
        one coordinate its position [m or rad], or a pair of position and rate [m/s or rad/s]; for others a
        mapping of coordinates to such, or of ``NAME_rate`` to a rate alone; for ball and free joints of
        ``position`` [m], ``quaternion``, ``velocity`` [m/s] and ``angular_velocity`` [rad/s]; for a
        flexible body a mapping such as ``{"mode 1": 0.001}``. Numbers may be expressions of parameters.
        Loops are closed around what is given. Said again, it replaces what was said; what a run says in its
        own ``initial`` comes before this, coordinate by coordinate.
        """
        name = name.name if isinstance(name, Joint | Body) else name
        counts = self.start_keys(name)
        given = values if isinstance(values, Mapping) else self._single(name, counts, values)
        start: Start = {}
        for key, value in given.items():
            if key not in counts:
                raise unknown_name(f"start value of {name!r}", str(key), counts)
            start[key] = _numbers(f"{key} of the start of {name!r}", value, counts[key], self.parameters)
        twice = [key for key in start if len(start[key]) == 2 and f"{key}_rate" in start and counts[key] == 0]
        if twice:
            raise ModelError(f"start of {name!r} gives the rate of {twice[0]!r} twice")
        if not start:
            raise ModelError(
                f"start of {name!r} says nothing; give some of {', '.join(counts)}, or leave it out"
            )
        if not any(self.parameters.value(x) for x in start.get("quaternion", (1.0,))):
            raise ModelError(f"quaternion of the start of {name!r} is zero; (1, 0, 0, 0) is no turn")
        self.initials[name] = start

    def start_keys(self, name: str) -> dict[str, int]:
        """What the start of a joint or a flexible body may say; 0 is a position or a pair, else so many numbers."""
        if name in self.states:
            raise ModelError(
                f"state {name!r} starts from an initial of its own; give it where the state is described"
            )
        if name in self.joints:
            joint = self.joints[name]
            if not joint.coordinates:
                raise ModelError(f"{joint.kind} joint {name!r} has no coordinate, so nothing of it can start")
            return joint.start_keys()
        flexible = {key: body.member for key, body in self.bodies.items() if body.member is not None}
        if name in self.bodies and name not in flexible:
            at = [j.name for j in self.joints.values() if name in (j.a.body.name, j.b.body.name)]
            raise ModelError(
                f"body {name!r} starts where its joints put it; give the start of one of them: "
                f"{', '.join(at) or 'it has none yet'}"
            )
        if name not in flexible:
            raise unknown_name("joint or flexible body", str(name), [*self.joints, *flexible])
        names = flexible[name].coordinate_names
        return dict.fromkeys(names, 0) | {f"{mode}_rate": 1 for mode in names}

    def _single(self, name: str, counts: Mapping[str, int], values: Any) -> Mapping[str, Any]:
        if name in self.joints and len(self.joints[name].coordinates) == 1:
            return {next(iter(counts)): values}
        known = ", ".join(counts)
        raise ModelError(f"start of {name!r} must be a mapping of {known}, not {values!r}")


def _numbers(what: str, given: Any, count: int, parameters: ParameterTable) -> tuple[Scalar, ...]:
    if count > 1:
        items = checks.sequence(what, given, count)
    elif isinstance(given, str | bytes | Expr) or not hasattr(given, "__len__"):
        items = [given]
    elif len(given) in ((1,) if count else (1, 2)):
        items = list(given)
    elif count:
        raise ModelError(f"{what} must be one number, not {given!r}")
    else:
        raise ModelError(f"{what} must be a position, or a pair of position and rate, not {given!r}")
    return tuple(checks.number(what, x, parameters) for x in items)


__all__ = ["InitialMethods", "Start"]
