"""Forces along the line between two points."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bellcrank.base.keys import FUNCTION, Keys, may, must
from bellcrank.math.tuples import scale
from bellcrank.model.forces.element import POINTS, XYZ, ForceElement, ForceMethod, ForceQuantity, Line
from bellcrank.model.frames import Frame
from bellcrank.model.functions import user_function
from bellcrank.model.joints import Side
from bellcrank.program.trace import Scalar

if TYPE_CHECKING:
    from bellcrank.math.tuples import Vec
    from bellcrank.mechanics.forces import Acting
    from bellcrank.mechanics.loads import Loads
    from bellcrank.quantities.snapshot import Snapshot

ARGUMENTS = ("length", "rate", "t")


@dataclass(frozen=True, eq=False)
class AlongLine(ForceElement):
    """A force between the points `a` and `b` along the line that joins them."""

    drawn = Line.COIL

    name: str
    a: Frame
    b: Frame

    @property
    def frames(self) -> tuple[Frame, ...]:
        return (self.a, self.b)

    def push(self, act: Acting, length: Scalar, rate: Scalar) -> Scalar:
        """The force that pushes the points apart [N]."""
        raise NotImplementedError

    def load(self, act: Acting, loads: Loads) -> None:
        A, B, base = act.ends(self.a, self.b)
        loads.line(A, B, base, lambda length, rate: self.push(act, length, rate))

    def power(self, s: Snapshot) -> Scalar:
        _, length, rate = s.acting.line(self.a, self.b)
        return self.push(s.acting, length, rate) * rate

    def quantities(self, s: Snapshot) -> dict[str, ForceQuantity]:
        act = s.acting

        def tension() -> Scalar:
            _, length, rate = act.line(self.a, self.b)
            return -self.push(act, length, rate)

        def on_b() -> Vec:
            e, length, rate = act.line(self.a, self.b, seen_from_ground=True)
            return scale(self.push(act, length, rate), e)

        return {
            "length": ForceQuantity(lambda: [act.line(self.a, self.b)[1]], "m"),
            "rate": ForceQuantity(lambda: [act.line(self.a, self.b)[2]], "m/s"),
            "tension": ForceQuantity(lambda: [tension()], "N"),
            "force": ForceQuantity(on_b, "N", XYZ),
        }


@dataclass(frozen=True, eq=False)
class LineForce(AlongLine):
    """A force along the line between two points.

    function(length, rate, t): Force that pushes the points apart [N], of their distance [m], its rate
    [m/s] and time [s]. energy(length): Potential energy [J], where there is one.
    """

    kind = "force"
    keys = Keys(
        "A force along the line between two points.",
        *POINTS,
        must(
            "function",
            FUNCTION,
            "Force that pushes the points apart [N], of length [m], rate [m/s] and t [s].",
            of=ARGUMENTS,
        ),
        may("energy", FUNCTION, "Potential energy [J] of length [m].", of=("length",)),
    )

    function: Callable[..., Scalar]
    energy: Callable[..., Scalar] | None = None

    def push(self, act: Acting, length: Scalar, rate: Scalar) -> Scalar:
        return act.kin.number(self.function(length, rate, act.t))

    def stored(self, s: Snapshot) -> Scalar | None:
        return None if self.energy is None else s.kin.number(self.energy(s.acting.line(self.a, self.b)[1]))


class LineForceMethod(ForceMethod):
    """Makes forces along lines."""

    def force(
        self,
        name: str,
        a: Side,
        b: Side,
        function: Callable[..., Any],
        energy: Callable[..., Any] | None = None,
    ) -> LineForce:
        """A force along the line between two points: function(length, rate, t) [N] pushes them apart.

        a, b: Points of two bodies. function: Of any of length [m], rate [m/s] and t [s], on NumPy's functions.
        energy: Potential energy [J] of length [m], for the energy balance, where there is one.
        """
        name, who = self._force_name(name)
        points = self._two_points(who, a, b)
        law = user_function(who, function, ARGUMENTS, self.parameters)
        stored = None
        if energy is not None:
            stored = user_function(f"the energy of {who}", energy, ("length",), self.parameters)
        return self._add_force(LineForce(name, *points, law, stored))
