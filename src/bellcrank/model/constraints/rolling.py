"""Rolling without slip: a disc, a wheel with a round rim or a ball on a plane or on a curved surface.

The touching point of a wheel of radius R with a rim of radius r, centre c and axis a on a plane with normal n is

    p = c - R e - r n,   e = (n - (a . n) a) / |n - (a . n) a|,

for a thin disc r = 0, for a ball R = 0. The equations: p lies on the plane, and the material points of wheel and plane
at p have the same velocity along the plane. The first is of positions, the other two of velocities alone.

On a curved surface with the signed distance f a wheel touches where its rim is nearest, not below its centre. The place
on the rim is a coordinate s that the constraint brings along, q(s) = c + R (u cos s + w sin s) with u and w across the
axis, held by f(q) = r and by the tangent of the rim lying along the surface, f' . q' = 0.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bellcrank.base.keys import AXIS, FUNCTION, NUMBER, SIDE, Keys, may, must
from bellcrank.errors import ModelError
from bellcrank.math.tuples import Vec, add, cross, dot, norm, scale, sub, times
from bellcrank.model import checks
from bellcrank.model.constraints.constraint import BetweenFrames, ConstraintMethod, Effort, Unknown
from bellcrank.model.frames import Frame
from bellcrank.model.functions import user_function
from bellcrank.model.joints import Side
from bellcrank.program.derive import directional
from bellcrank.program.functions import cos, sin, where
from bellcrank.program.graph import Graph
from bellcrank.program.trace import Scalar

if TYPE_CHECKING:
    from bellcrank.mechanics.constraints import Seen
    from bellcrank.mechanics.forces import Acting

PLACE = ("x", "y", "z")
AROUND = 144
"""Places of a rim among which the start is the nearest to a surface: from there Newton's steps find the exact one."""


def material_velocity(act: Acting, seen: Seen, at: Vec) -> Vec:
    """Velocity of the point of a body that is at a place now."""
    w = act.kin.motion(seen.link).w
    return add(seen.velocity(), cross(w, sub(at, seen.point)))


def tangents(n: Vec) -> tuple[Vec, Vec]:
    """Two unit vectors perpendicular to n and to each other, for every direction of it (Duff and others 2017).

    They jump where z of n changes its sign; the plane that they span does not.
    """
    x, y, z = n
    s = where(z < 0.0, -1.0, 1.0)
    a = -1.0 / (s + z)
    b = x * y * a
    return (1.0 + s * x * x * a, s * b, -s * x), (b, s + y * y * a, -y)


@dataclass(frozen=True, eq=False)
class Rolling(BetweenFrames):
    """A wheel or ball, with its centre in frame `b`, rolls on the surface of frame `a`.

    axis: Of the wheel in the axes of b's body; None for a ball. radius: [m], to the centre of the rim where there is an
    axis. rim: Radius of the rim's cross-section [m]. surface: Signed distance [m] of a point (x, y, z) in frame a from
    the surface, positive on the side of the wheel; None for the plane z = 0.
    """

    kind = "rolling"
    keys = Keys(
        "A disc, wheel or ball that rolls without slip.",
        must("a", SIDE, "What it rolls on: z of this frame is the normal of the plane."),
        must("b", SIDE, "Centre of the wheel or ball."),
        must("radius", NUMBER, "[m]; of a wheel to the centre of its rim."),
        may("axis", AXIS, "Axis of the wheel, in the axes of its body; a ball where missing."),
        may("rim", NUMBER, "Radius of the cross-section of a wheel's rim [m]; 0 where missing, a thin disc."),
        may(
            "surface",
            FUNCTION,
            "Signed distance [m] of a point x, y, z [m] of frame a from the surface; the plane z = 0 where missing.",
            of=PLACE,
        ),
    )

    radius: Scalar
    axis: Vec | None = None
    rim: Scalar = 0.0
    surface: Callable[..., Scalar] | None = None

    start: float = 0.0

    @property
    def _searched(self) -> bool:
        """Whether the touching place of the rim is a coordinate."""
        return self.axis is not None and self.surface is not None

    def unknowns(self) -> Sequence[Unknown]:
        return (Unknown("s", self.start),) if self._searched else ()

    def position_efforts(self) -> Sequence[Effort]:
        found = (Effort("normal_force", "N"),)
        return (*found, Effort("tangent", "N")) if self._searched else found

    def velocity_efforts(self) -> Sequence[Effort]:
        along = ("longitudinal_force", "lateral_force") if self.axis is not None else ("force_1", "force_2")
        return tuple(Effort(name, "N") for name in along)

    def positions(self, act: Acting) -> Sequence[Scalar]:
        if self._searched:
            gap, n, _, along, _, _ = self._on_rim(act)
            return (gap - act.kin.number(self.rim), dot(n, along))
        gap, n, _, B = self._near(act)
        if self.axis is None:
            return (gap - act.kin.number(self.radius),)
        a = self._axis(act, B)
        spread = norm(sub(n, scale(dot(a, n), a)))
        return (gap - act.kin.number(self.radius) * spread - act.kin.number(self.rim),)

    def velocities(self, act: Acting) -> Sequence[Scalar]:
        if self._searched:
            _, n, arm, along, A, B = self._on_rim(act)
            first = scale(1.0 / norm(along), along)
            return self._slips(
                act, A, B, sub(scale(act.kin.number(self.rim), n), arm), first, cross(n, first)
            )
        _, n, A, B = self._near(act)
        if self.axis is None:
            first, second = tangents(n) if self.surface is not None else (A.axis(0), A.axis(1))
            down = scale(act.kin.number(self.radius), n)
        else:
            a = self._axis(act, B)
            across = sub(n, scale(dot(a, n), a))
            spread = norm(across)
            first = scale(1.0 / spread, cross(a, n))
            second = cross(n, first)
            down = add(
                scale(act.kin.number(self.radius) / spread, across), scale(act.kin.number(self.rim), n)
            )
        return self._slips(act, A, B, down, first, second)

    def _slips(
        self, act: Acting, A: Seen, B: Seen, down: Vec, first: Vec, second: Vec
    ) -> tuple[Scalar, Scalar]:
        """Slip of the touching point along two directions; down: from it to the centre."""
        p = sub(B.point, down)
        slip = sub(material_velocity(act, B, p), material_velocity(act, A, p))
        return (dot(first, slip), dot(second, slip))

    def _on_rim(self, act: Acting) -> tuple[Scalar, Vec, Vec, Vec, Seen, Seen]:
        """Distance and normal at the touching place of the rim, its arm from the centre, the arm by s, the frames."""
        A, B, _ = act.ends(self.a, self.b)
        R, s = act.kin.pose(B.link).R, self.unknown(act, "s")
        assert self.axis is not None
        u, w = (times(R, act.kin.vector(v)) for v in tangents(self.axis))
        c, d = scale(act.kin.number(self.radius), u), scale(act.kin.number(self.radius), w)
        arm = add(scale(cos(s), c), scale(sin(s), d))
        along = sub(scale(cos(s), d), scale(sin(s), c))
        gap, n = self._distance(act, A, sub(add(B.point, arm), A.point))
        # Of a function that is no distance the slope is not one; the force along the normal still is.
        steep = 1.0 / norm(n)
        return steep * gap, scale(steep, n), arm, along, A, B

    def _axis(self, act: Acting, B: Seen) -> Vec:
        assert self.axis is not None
        return times(act.kin.pose(B.link).R, act.kin.vector(self.axis))

    def _near(self, act: Acting) -> tuple[Scalar, Vec, Seen, Seen]:
        """Distance of the centre from the surface, normal there, and the two frames."""
        A, B, _ = act.ends(self.a, self.b)
        d = sub(B.point, A.point)
        if self.surface is None:
            return dot(A.axis(2), d), A.axis(2), A, B
        return *self._distance(act, A, d), A, B

    def _distance(self, act: Acting, A: Seen, d: Vec) -> tuple[Scalar, Vec]:
        """Signed distance of a point from the surface, and the normal there; d: from the origin of frame a."""
        assert self.surface is not None
        place = (dot(A.axis(0), d), dot(A.axis(1), d), dot(A.axis(2), d))
        inputs = [Graph().input("x of a surface")]
        inputs += [inputs[0].graph.input(f"{c} of a surface") for c in "yz"]
        distance = inputs[0].graph.bring(self.surface(*inputs))
        slopes = [directional([distance], {x.id: 1.0})[0] for x in inputs]
        gap, *local = act.substituted(
            [distance, *slopes], {e.id: x for e, x in zip(inputs, place, strict=True)}
        )
        n = add(add(scale(local[0], A.axis(0)), scale(local[1], A.axis(1))), scale(local[2], A.axis(2)))
        return gap, n


class RollingMethod(ConstraintMethod):
    """Makes rolling wheels and balls."""

    def rolling(
        self,
        name: str,
        a: Side,
        b: Side,
        radius: Any,
        axis: Any = None,
        rim: Any = 0.0,
        surface: Callable[..., Any] | None = None,
    ) -> Rolling:
        """Let a wheel or ball roll without slip, and without leaving the surface it rolls on.

        a: What it rolls on: a body, or a frame of one, whose z is the normal of the plane. b: Centre of the wheel or
        ball. radius: [m], of a wheel to the centre of its rim. axis: Of a wheel, in the axes of its body ("x", "y", "z"
        or a vector); a ball without. rim: Radius of the cross-section of a wheel's rim [m], 0 for a thin disc.
        surface: Signed distance [m] of a point x, y, z [m] of frame a from the surface, positive outside, such as
        ``lambda x, y, z: np.sqrt(x * x + y * y + z * z) - 0.5``; a thin disc takes any smooth function that is zero on
        it. A wheel touches where its rim is nearest, at the one place that it starts with.
        """
        name, who = self._constraint_name(name)
        frames = self._two_frames(who, a, b)
        radius = checks.positive(f"radius of {who}", radius, self.parameters)
        rim = checks.number(f"rim of {who}", rim, self.parameters)
        if self.parameters.value(rim) < 0.0:
            raise ModelError(
                f"rim of {who} is negative; give the radius of its cross-section [m], 0 for a disc"
            )
        along: Vec | None = None
        if axis is not None:
            x, y, z = checks.axis(
                f"axis of {who}", axis, "the axis of a wheel is made of plain numbers"
            ).tolist()
            along = (x, y, z)
        elif self.parameters.value(rim) != 0.0:
            raise ModelError(f"{who} is a ball, which has no rim; give a wheel its axis=")
        law, start = None, 0.0
        if surface is not None:
            law = user_function(f"surface of {who}", surface, PLACE, self.parameters)
            if along is not None:
                start = self._nearest(frames, radius, along, law)
        return self._add_constraint(Rolling(name, *frames, radius, along, rim, law, start))

    def _nearest(
        self, frames: tuple[Frame, Frame], radius: Scalar, axis: Vec, surface: Callable[..., Scalar]
    ) -> float:
        """Where on its rim a wheel starts nearest to the surface [rad]."""
        a, b = frames
        R, Q = b.body.start_rotation(), a.start_rotation().T
        u, w = (self.parameters.value(radius) * (R @ np.array(v, dtype=float)) for v in tangents(axis))
        angles = np.linspace(-np.pi, np.pi, AROUND, endpoint=False)
        centre = b.start_position() - a.start_position()
        places = [Q @ (centre + np.cos(s) * u + np.sin(s) * w) for s in angles]
        return float(angles[np.argmin([self.parameters.value(surface(*p.tolist())) for p in places])])


__all__ = ["Rolling", "RollingMethod", "material_velocity", "tangents"]
