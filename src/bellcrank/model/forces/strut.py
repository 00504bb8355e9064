"""Struts: a spring and a damper by numbers or tables, with a bump and a rebound stop.

With the length l, the free length f and the lengths b and r at which the stops begin to touch, the tension is

    T = k (l - f) + spring(l - f) + c l' + damper(l') - bump(b - l) + rebound(l - r),

each stop only where its argument is positive.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bellcrank.base.keys import NUMBER, TABLES, Keys, may
from bellcrank.errors import ModelError
from bellcrank.model import checks
from bellcrank.model.forces.element import POINTS, ForceMethod, ForceQuantity
from bellcrank.model.forces.line_force import AlongLine
from bellcrank.model.forces.tabulated import Tables, tables_by_name
from bellcrank.model.joints import Side
from bellcrank.program.functions import maximum
from bellcrank.program.tables import table_and_integral
from bellcrank.program.trace import Expr, Scalar

if TYPE_CHECKING:
    from bellcrank.mechanics.forces import Acting
    from bellcrank.quantities.snapshot import Snapshot

CURVES = ("spring", "damper", "bump", "rebound")
STOPS = ("bump", "rebound")


@dataclass(frozen=True, eq=False)
class Strut(AlongLine):
    """A spring and a damper between two points, with stops.

    stiffness: [N/m]. damping: [N s/m]. free_length: Without force [m]. bump, rebound: Lengths [m] below and above which
    a stop presses; None for no stop. tables: Pairs by name, beside the numbers: `spring`, of elongation [m] and tension
    [N]; `damper`, of the rate of length [m/s] and tension [N]; `bump` and `rebound`, of the depth into the stop [m]
    and the force [N] against it, from 0.
    """

    kind = "strut"
    keys = Keys(
        "A spring and a damper by numbers or tables between two points, with a bump and a rebound stop.",
        *POINTS,
        may("stiffness", NUMBER, "[N/m]."),
        may("damping", NUMBER, "[N s/m]."),
        may("free_length", NUMBER, "Length without force [m]; needed where there is a spring."),
        may("bump", NUMBER, "Length below which the bump stop presses [m]; no stop where missing."),
        may("rebound", NUMBER, "Length above which the rebound stop presses [m]; no stop where missing."),
        may(
            "tables",
            TABLES,
            "Pairs by name, beside the numbers: spring (elongation [m], tension [N]), damper (rate of length [m/s], "
            "tension [N]), bump and rebound (depth into the stop [m], force against it [N], from 0).",
        ),
    )

    stiffness: Scalar
    damping: Scalar = 0.0
    free_length: Scalar = 0.0
    bump: Scalar | None = None
    rebound: Scalar | None = None
    tables: Tables | None = None

    def _curve(self, name: str, x: Scalar, part: int = 0) -> Scalar:
        """The force (part 0) or the energy (part 1) of a table."""
        points = (self.tables or {}).get(name)
        return 0.0 if points is None else table_and_integral(*zip(*points, strict=True))[part](x)

    def _depth(self, act: Acting, name: str, length: Scalar) -> Scalar:
        """How far a stop is pressed [m]."""
        at: Scalar | None = getattr(self, name)
        if at is None:
            return 0.0
        beyond = length - act.kin.number(at)
        return maximum(beyond if name == "rebound" else -beyond, 0.0)

    def push(self, act: Acting, length: Scalar, rate: Scalar) -> Scalar:
        k, c, free = (act.kin.number(x) for x in (self.stiffness, self.damping, self.free_length))
        x = length - free
        tension = k * x + self._curve("spring", x) + c * rate + self._curve("damper", rate)
        bump, rebound = (self._curve(name, self._depth(act, name, length)) for name in STOPS)
        return -(tension - bump + rebound)

    def stored(self, s: Snapshot) -> Scalar:
        act = s.acting
        _, length, _ = act.line(self.a, self.b)
        x = length - s.kin.number(self.free_length)
        bump, rebound = (self._curve(name, self._depth(act, name, length), 1) for name in STOPS)
        return 0.5 * s.kin.number(self.stiffness) * (x * x) + self._curve("spring", x, 1) + bump + rebound

    def quantities(self, s: Snapshot) -> dict[str, ForceQuantity]:
        act = s.acting

        def pressed(name: str) -> ForceQuantity:
            return ForceQuantity(
                lambda: [self._curve(name, self._depth(act, name, act.line(self.a, self.b)[1]))], "N"
            )

        return {
            **super().quantities(s),
            **{f"{name}_force": pressed(name) for name in STOPS if getattr(self, name) is not None},
        }


class StrutMethod(ForceMethod):
    """Makes struts."""

    def strut(
        self,
        name: str,
        a: Side,
        b: Side,
        stiffness: Any = 0.0,
        damping: Any = 0.0,
        free_length: Any = None,
        bump: Any = None,
        rebound: Any = None,
        tables: Mapping[str, Any] | None = None,
    ) -> Strut:
        """A spring and a damper between two points, with a bump and a rebound stop.

        a, b: Points of two bodies; a body stands for its origin. stiffness: [N/m]. damping: [N s/m]. free_length:
        Without force [m]. bump, rebound: Lengths [m] below and above which a stop presses, by its table. tables: Pairs
        by name, plain numbers, beside the numbers: "spring", of elongation [m] and tension [N]; "damper", of the rate
        of length [m/s] and tension [N]; "bump" and "rebound", of depth into the stop [m] and force against it [N], from
        (0, 0). Between pairs runs a monotone cubic spline.
        """
        name, who = self._force_name(name)
        points = self._two_points(who, a, b)
        curves = tables_by_name(who, tables, CURVES)
        sprung = isinstance(stiffness, Expr) or stiffness != 0.0 or "spring" in (curves or {})
        if free_length is None and sprung:
            raise ModelError(f"{who} has a spring but no length at rest; give free_length=")
        length = checks.at_least_zero(f"free_length of {who}", free_length or 0.0, self.parameters)
        ends: list[Scalar | None] = []
        for stop, at in zip(STOPS, (bump, rebound), strict=True):
            rows = (curves or {}).get(stop)
            if (at is None) != (rows is None):
                raise ModelError(
                    f"{who}: a {stop} stop needs both {stop}=, the length at which it touches, and a table {stop!r} of "
                    "depth and force"
                )
            if rows is not None and (rows[0] != (0.0, 0.0) or any(force < 0.0 for _, force in rows)):
                raise ModelError(f"{who}: the table {stop!r} must begin at (0, 0) and have no force below 0")
            ends.append(None if at is None else checks.number(f"{stop} of {who}", at, self.parameters))
        number = self._numbers(who)
        k, c = number("stiffness", stiffness), number("damping", damping)
        return self._add_force(Strut(name, *points, k, c, length, ends[0], ends[1], curves))


__all__ = ["Strut", "StrutMethod"]
