"""A cable over pulleys: taut it pulls with one tension all along, slack it does nothing.

The cable runs from the first point to the last, straight between pulleys and around them. With centres C, axes z and
radii r with the sign of the sense in which the cable goes round, the straight piece from one pulley to the next has the
direction e and the length l,

    D = C2 - C1,  d = r2 - r1,  l = sqrt(D . D - d^2),  e = (l D - d z x D) / (D . D),

and touches at C + r e x z. Its whole length L is that of the straight pieces and of the arcs. Pulleys turn on it
without friction, so that the tension is the same all along: T = stiffness (L - length) + damping L-dot where that is
positive and L > length, nothing elsewhere.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bellcrank.base.keys import NUMBER, SIDE, Keys, list_of, may, must
from bellcrank.errors import ModelError
from bellcrank.math.tuples import Vec, add, cross, dot, scale, sub
from bellcrank.model import checks
from bellcrank.model.forces.element import ForceElement, ForceMethod, ForceQuantity, Line
from bellcrank.model.frames import Frame
from bellcrank.model.joints import Side
from bellcrank.program.functions import atan2, maximum, sqrt, where
from bellcrank.program.trace import Scalar, compare

if TYPE_CHECKING:
    from bellcrank.mechanics.constraints import Seen
    from bellcrank.mechanics.forces import Acting
    from bellcrank.mechanics.loads import Loads
    from bellcrank.quantities.snapshot import Snapshot

GROUND = -1


@dataclass(frozen=True)
class Piece:
    """A straight piece: direction, length, where it touches what it joins."""

    along: Vec
    length: Scalar
    begin: Vec
    end: Vec


@dataclass(frozen=True, eq=False)
class Cable(ForceElement):
    """A cable through `points`, with pulleys of `radii` [m] at all but the first and last of them."""

    kind = "cable"
    drawn = Line.CABLE
    keys = Keys(
        "A cable over pulleys, taut or slack.",
        must(
            "points", list_of(SIDE) | {"minItems": 2}, "First end, pulleys with their axes along z, last end."
        ),
        may(
            "radii",
            list_of(NUMBER),
            "Of the pulleys between [m]; negative where the cable goes round clockwise about z.",
        ),
        must("stiffness", NUMBER, "[N/m]."),
        may("damping", NUMBER, "[N s/m]; 0 where missing."),
        must("length", NUMBER, "Of the slack cable [m]."),
    )

    name: str
    points: tuple[Frame, ...]
    radii: tuple[Scalar, ...]
    stiffness: Scalar
    damping: Scalar
    length: Scalar

    @property
    def frames(self) -> tuple[Frame, ...]:
        return self.points

    def load(self, act: Acting, loads: Loads) -> None:
        seen = self._seen(act)
        pieces = self._pieces(act, seen)
        T = self._tension(act, seen, pieces)
        for k, piece in enumerate(pieces):
            a, b = seen[k], seen[k + 1]
            loads.among(self.points[k].body.name, self.points[k + 1].body.name)
            loads.between(a.link, b.link, GROUND, piece.begin, piece.end, scale(-T, piece.along))

    def _seen(self, act: Acting) -> list[Seen]:
        return [act.seen(frame, GROUND) for frame in self.points]

    def _radius(self, act: Acting, k: int) -> Scalar:
        inner = 0 < k < len(self.points) - 1
        return act.kin.number(self.radii[k - 1]) if inner else 0.0

    def _pieces(self, act: Acting, seen: Sequence[Seen]) -> list[Piece]:
        found = []
        for k in range(len(seen) - 1):
            D = sub(seen[k + 1].point, seen[k].point)
            first, second = self._radius(act, k), self._radius(act, k + 1)
            # Pulleys next to each other have parallel axes.
            z = seen[k].axis(2) if k > 0 else seen[k + 1].axis(2)
            apart, d = dot(D, D), second - first
            straight = sqrt(apart - d * d)
            e = scale(1.0 / apart, sub(scale(straight, D), scale(d, cross(z, D))))
            side = cross(e, z)
            begin, end = add(seen[k].point, scale(first, side)), add(seen[k + 1].point, scale(second, side))
            found.append(Piece(e, straight, begin, end))
        return found

    def _length(self, act: Acting, seen: Sequence[Seen], pieces: Sequence[Piece]) -> Scalar:
        total: Scalar = 0.0
        for piece in pieces:
            total = total + piece.length
        for k in range(1, len(seen) - 1):
            come, go, r = pieces[k - 1].along, pieces[k].along, self._radius(act, k)
            turned = atan2(dot(seen[k].axis(2), cross(come, go)), dot(come, go))
            # In the sense of the sign of r, from a quarter turn back to three quarters on.
            round_ = where(compare("lt", r, 0.0), -turned, turned)
            arc = where(compare("lt", round_, -0.5 * math.pi), round_ + 2.0 * math.pi, round_)
            total = total + where(compare("lt", r, 0.0), -r, r) * arc
        return total

    def _rate(self, seen: Sequence[Seen], pieces: Sequence[Piece]) -> Scalar:
        """By the centres alone: to first order a path of least length does not change with where it touches."""
        total: Scalar = 0.0
        for k, piece in enumerate(pieces):
            total = total + dot(piece.along, sub(seen[k + 1].velocity(), seen[k].velocity()))
        return total

    def _tension(self, act: Acting, seen: Sequence[Seen], pieces: Sequence[Piece]) -> Scalar:
        stretch = self._length(act, seen, pieces) - act.kin.number(self.length)
        pull = act.kin.number(self.stiffness) * stretch + act.kin.number(self.damping) * self._rate(
            seen, pieces
        )
        return where(compare("lt", 0.0, stretch), maximum(pull, 0.0), 0.0)

    def stored(self, s: Snapshot) -> Scalar:
        act = s.acting
        seen = self._seen(act)
        stretch = maximum(self._length(act, seen, self._pieces(act, seen)) - s.kin.number(self.length), 0.0)
        return 0.5 * s.kin.number(self.stiffness) * (stretch * stretch)

    def power(self, s: Snapshot) -> Scalar:
        act = s.acting
        seen = self._seen(act)
        pieces = self._pieces(act, seen)
        return -self._tension(act, seen, pieces) * self._rate(seen, pieces)

    def quantities(self, s: Snapshot) -> dict[str, ForceQuantity]:
        act = s.acting
        seen = self._seen(act)
        pieces = self._pieces(act, seen)
        return {
            "length": ForceQuantity(lambda: [self._length(act, seen, pieces)], "m"),
            "rate": ForceQuantity(lambda: [self._rate(seen, pieces)], "m/s"),
            "tension": ForceQuantity(lambda: [self._tension(act, seen, pieces)], "N"),
        }


class CableMethod(ForceMethod):
    """Makes cables."""

    def cable(
        self,
        name: str,
        points: Sequence[Side],
        radii: Sequence[Any] = (),
        stiffness: Any = None,
        damping: Any = 0.0,
        length: Any = None,
    ) -> Cable:
        """A cable from the first of `points` over pulleys to the last, taut or slack.

        points: The ends, and between them frames in the centres of the pulleys with z along their axes; next to each
        other these are parallel, and the cable runs across them. radii: Of the pulleys [m], as many as there are
        between the ends; negative where the cable goes round clockwise about z; a ring has 0. The cable lies on a
        pulley for three quarters of a turn at most, and does not lift off. stiffness: [N/m]. damping: [N s/m]. length:
        Of the slack cable [m].
        """
        name, who = self._force_name(name)
        if not isinstance(points, list | tuple) or len(points) < 2:
            raise ModelError(f"{who} needs two points or more, first and last end with the pulleys between")
        frames = tuple(self._frame(who, point) for point in points)
        if len({id(frame.body) for frame in frames}) == 1:
            raise ModelError(f"{who} lies on body {frames[0].body.name!r} alone; lead it to another body")
        if not isinstance(radii, list | tuple) or len(radii) != len(frames) - 2:
            raise ModelError(f"{who} has {len(frames) - 2} pulleys between its ends; give as many radii=")
        sizes = tuple(checks.number(f"a radius of {who}", r, self.parameters) for r in radii)
        if stiffness is None or length is None:
            raise ModelError(f"{who} needs stiffness= [N/m] and length= [m], that of the slack cable")
        k = checks.positive(f"stiffness of {who}", stiffness, self.parameters)
        c = checks.at_least_zero(f"damping of {who}", damping, self.parameters)
        whole = checks.positive(f"length of {who}", length, self.parameters)
        return self._add_force(Cable(name, frames, sizes, k, c, whole))


__all__ = ["Cable", "CableMethod"]
