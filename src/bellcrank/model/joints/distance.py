"""The distance joint: two points at a given distance, as if by a massless rod with balls at its ends.

With d from the point of A to that of B and the length L(t), the equation is (d . d / L - L) / 2 = 0: a length, whose
row is that of the rod's direction, without roots and without a division by |d|.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bellcrank.base.keys import FUNCTION, SIDE, Keys, may, must
from bellcrank.errors import ModelError
from bellcrank.math.tuples import ZERO, dot, scale, sub
from bellcrank.model import checks
from bellcrank.model.bodies import Body
from bellcrank.model.functions import user_function
from bellcrank.model.joints.joint import Joint, JointQuantity, Mark, Plane, Side
from bellcrank.model.joints.making import JointMethod
from bellcrank.model.parameters import names_in, value
from bellcrank.program.graph import Graph
from bellcrank.program.trace import Expr, Scalar

if TYPE_CHECKING:
    from bellcrank.mechanics.constraints import Equation, Pair

_BALL = "two points at no distance are a ball joint: use system.spherical"


@dataclass(frozen=True, eq=False)
class Distance(Joint):
    """Two points at the distance `length` [m], a number or a function of t [s]."""

    kind = "distance"
    keys = Keys(
        "Two points at a distance, as by a massless rod with balls at its ends.",
        must("a", SIDE, "First point."),
        must("b", SIDE, "Second point."),
        may(
            "length",
            FUNCTION,
            "[m], may be of t [s]; the distance in the start pose where missing.",
            of=("t",),
        ),
    )
    has_axis = False
    marks = (Mark.ROD,)
    plane = Plane.ANY
    in_tree = False

    length: Scalar | Callable[[Scalar], Scalar] = 0.0

    @property
    def drives(self) -> bool:
        return callable(self.length)

    @property
    def dof(self) -> int:
        """Degrees of freedom left by the joint."""
        return 5

    def labels(self) -> list[str]:
        return ["distance of the points"]

    def equations(self, pair: Pair, t: Scalar) -> list[Equation]:
        L, rate, _ = self._length(pair, t)
        d = sub(pair.B.point, pair.A.point)
        e = scale(1.0 / L, d)
        row = pair.row(lambda w, v: -dot(e, v), lambda w, v: dot(e, v))
        stretched = dot(e, e)
        nu = 0.5 * rate * (stretched + 1.0)
        return [pair.equation(0.5 * L * (stretched - 1.0), row, nu, on_b=(ZERO, e))]

    def gammas(self, pair: Pair, t: Scalar) -> list[Scalar]:
        """L'' - (d . a + d' . d' - L'^2) / L with a = d'' at constant speeds, for d . d = L^2 and d . d' = L L'."""
        L, rate, second = self._length(pair, t)
        A, B = pair.A, pair.B
        d, v = sub(B.point, A.point), sub(B.velocity(), A.velocity())
        return [second - (dot(d, sub(B.bias(), A.bias())) + dot(v, v) - rate * rate) / L]

    def _length(self, pair: Pair, t: Scalar) -> tuple[Scalar, Scalar, Scalar]:
        """L, L' and L''."""
        found = pair.in_time(self.length, t)
        if not isinstance(found[0], Expr) and not found[0] > 0.0:
            raise ModelError(f"length of distance joint {self.name!r} is {found[0]:g} m; {_BALL}")
        return found

    def quantities(self) -> dict[str, JointQuantity]:
        return {
            "length": JointQuantity(lambda e, length, rate, force: length, "m"),
            "rate": JointQuantity(lambda e, length, rate, force: rate, "m/s"),
            "tension": JointQuantity(lambda e, length, rate, force: -dot(e, force()), "N", reaction=True),
        }


class DistanceMethod(JointMethod):
    """Makes distance joints."""

    def distance(self, name: str, a: Side, b: Side, length: Any = None) -> Distance:
        """Two points at a distance, as by a massless rod with balls at its ends; it always closes a loop.

        a, b: Points of two bodies; a body stands for its origin. length: [m], a number, an expression of parameters, or
        a function of t [s], which is differentiated twice; the distance in the start pose where missing. A positive
        tension pulls the points together.
        """
        who = f"distance joint {name!r}"
        sides = [self._body_or_frame(who, side) for side in (a, b)]
        points = [side.origin if isinstance(side, Body) else side for side in sides]
        if length is None:
            if any(isinstance(x, Expr) for point in points for x in point.position):
                raise ModelError(f"{who} has a point with parameters; give its length= [m]")
            length = float(np.linalg.norm(points[1].start_position() - points[0].start_position()))
        elif callable(length):
            length = self._of_time(who, length)
        if not callable(length):
            length = checks.number(f"length of {who}", length, self.parameters)
        start = self.parameters.value(length(0.0) if callable(length) else length)
        if not start > 0.0:
            raise ModelError(f"length of {who} is {start:g} m; {_BALL}")
        return self._add_joint(Distance, name, points[0], points[1], cut=None, length=length)

    def _of_time(self, who: str, function: Any) -> Any:
        """A function of time, or the number that it is where time does not enter."""
        found = user_function(f"length of {who}", function, ("t",), self.parameters)
        clock = Graph().input("t of a length")
        result = found(clock)
        for state in self.parameters.states & set(names_in(result)):
            raise ModelError(f"length of {who} uses the state {state!r}; it may use t and parameters")
        if clock.args[0] in names_in(result):
            return found
        return self.parameters.graph.bring(result) if isinstance(result, Expr) else value(result, {})
