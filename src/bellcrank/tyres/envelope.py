"""What a tyre feels of a road with obstacles shorter than its contact: two elliptical cams, one behind the other.

A. J. C. Schmeitz, A semi-empirical three-dimensional model of the pneumatic tyre rolling over arbitrarily uneven road
surfaces, Delft 2004; H. B. Pacejka, Tire and Vehicle Dynamics, 3rd edition, 2012, section 10.1.6. Cams with the outline
|x/a|^c + |z/b|^c = 1 stand at the distance l in the wheel plane and follow the road h by their lowest points. With
their depth e(s) = b - b (1 - |s/a|^c)^(1/c) at the distance s from their middle,

    Z(x) = max over s of (h(x + s) - e(s)),   w = (Z(l/2) + Z(-l/2))/2,   tan(beta) = (Z(l/2) - Z(-l/2))/l

is the road that the tyre feels: its height w and its slope. Several pairs beside each other give means, and the bank.

Differs in: a cam on a plane of slope s touches beside its middle and stands too high by

    e*(s) = ((a |s|)^q + b^q)^(1/q) - b,   1/c + 1/q = 1,

which is taken from w, with the slope of the road over the whole length of the cams: a plane is felt as it is, and a
step of 20 mm lower by 0.05 mm. The length of contact, and with it l, is that of one load.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, TypeAlias

from bellcrank.base.keys import NUMBER, WHOLE, Keys, Kinds, may
from bellcrank.base.reach import within
from bellcrank.errors import ModelError
from bellcrank.program.functions import maximum, minimum, where
from bellcrank.program.subprogram import Subprogram
from bellcrank.program.trace import Scalar, function, power

if TYPE_CHECKING:
    from bellcrank.tyres.law import TyreLaw

STEP = 0.05
"""Between samples of the road, over the radius: 15 mm of a passenger car, less than a cleat is long."""
SHIFT, ORDER = 0.8, 1.8
"""Distance between the cams over the length of contact, and exponent of their outline, as of passenger car tyres."""
GOLDEN = 0.5 * (math.sqrt(5.0) - 1.0)
NARROWINGS = 16
"""Of two samples by the golden section, to 5e-4 of them: the height at a crest is known to the square of that."""
HALVINGS = 24
"""Of an interval with an edge, to 6e-8 of it: there the height of a cam is as uncertain as the place of the edge, and
methods with error control follow that noise where they see it."""
MOST_SAMPLES, MOST_TRACKS = 2000, 100
"""Of one pair of cams, and their pairs: the road is written out as often."""
Pair: TypeAlias = tuple[Scalar, Scalar]
Along: TypeAlias = Callable[[Scalar], Scalar]


class Felt(NamedTuple):
    """The road that a tyre feels: height [m], slopes ahead and to the left, rate of the height [m/s]."""

    height: Scalar
    ahead: Scalar
    left: Scalar
    rising: Scalar


@dataclass(frozen=True, kw_only=True)
class Envelope:
    """Cams that follow the road in the place of a tyre; numbers that are missing are those of the law of the tyre.

    base: Distance between the two cams [m]. length, height: Half axes of a cam [m]. order: Exponent of its outline; 2
    is an ellipse. width: Of the contact [m]. tracks: Pairs of cams, spread over the width. step: Between samples of the
    road [m]; obstacles shorter than it may be missed.
    """

    kind: ClassVar[str] = "cams"
    keys: ClassVar[Keys] = Keys(
        "Elliptical cams that follow the road; what is missing is that of the law of the tyre.",
        may("base", NUMBER, "Distance between the two cams [m].", plain=True),
        may("length", NUMBER, "Half axis of a cam along the wheel [m].", plain=True),
        may("height", NUMBER, "Half axis of a cam upwards [m].", plain=True),
        may("order", NUMBER, "Exponent of the outline of a cam; 2 is an ellipse.", plain=True),
        may("width", NUMBER, "Of the contact [m].", plain=True),
        may("tracks", WHOLE, "Pairs of cams, spread over the width.", whole=(1, MOST_TRACKS)),
        may("step", NUMBER, "Between samples of the road [m].", plain=True),
    )

    base: float | None = None
    length: float | None = None
    height: float | None = None
    order: float | None = None
    width: float | None = None
    tracks: int | None = None
    step: float | None = None

    def __post_init__(self) -> None:
        for field in fields(self):
            x = getattr(self, field.name)
            if x is not None and not (math.isfinite(x) and within(x) and x > 0.0):
                raise ModelError(f"{field.name} of the envelope of a tyre must be greater than 0, not {x!r}")
        if self.order is not None and not self.order > 1.0:
            raise ModelError(
                f"order of the envelope of a tyre must be greater than 1, that of a roof, not {self.order:g}"
            )
        if self.tracks is not None:
            if self.tracks != int(self.tracks) or self.tracks > MOST_TRACKS:
                raise ModelError(
                    f"tracks of the envelope of a tyre must be a whole number up to {MOST_TRACKS}, not {self.tracks!r}"
                )
            object.__setattr__(self, "tracks", int(self.tracks))

    def on(self, law: TyreLaw) -> Envelope:
        """With the numbers of a law in the place of those that are missing."""
        usual = law.envelope()
        missing = {f.name: getattr(usual, f.name) for f in fields(self) if getattr(self, f.name) is None}
        found = replace(self, **missing)
        samples = (2.0 * found.length + found.base) / found.step  # type: ignore[operator]
        if not samples <= MOST_SAMPLES:
            raise ModelError(
                f"step of the envelope of a tyre is {found.step:g} m, {samples:.3g} samples for a pair of cams; "
                f"{MOST_SAMPLES} are the most"
            )
        return found

    def feel(
        self,
        road: Subprogram,
        moving: Subprogram,
        at: Pair,
        ahead: Pair,
        slopes: Pair,
        velocity: Pair,
        t: Scalar,
    ) -> Felt:
        """What is felt below a place, by numbers that are all there (:meth:`on`).

        road: Height of (x, y, t). moving: Its rate, of these and of a velocity (v_x, v_y). at, ahead: Place and
        direction of the wheel in the plane. slopes: Of the road ahead and to the left, over the length and the width
        of the cams. velocity: Of the wheel in the plane.
        """
        assert self.tracks is not None
        assert self.width is not None
        assert self.base is not None
        felt = []
        offsets = [self.width * ((k + 0.5) / self.tracks - 0.5) for k in range(self.tracks)]
        for offset in offsets:
            middle = at[0] - offset * ahead[1], at[1] + offset * ahead[0]

            def place(s: Scalar, middle: Pair = middle) -> Pair:
                return middle[0] + s * ahead[0], middle[1] + s * ahead[1]

            touches = self._touches(lambda s: road(*place(s), t)[0])
            rates = [moving(*place(s), t, *velocity)[0] for s, _ in touches]
            felt.append((*(z for _, z in touches), *rates))
        share = 1.0 / self.tracks
        rear, front, falling, rising = (
            share * sum(column[1:], column[0]) for column in zip(*felt, strict=True)
        )
        left = slopes[1]
        if self.tracks > 1:
            left = sum(y * 0.5 * (row[0] + row[1]) for y, row in zip(offsets, felt, strict=True))
            left = left / sum(y * y for y in offsets)
        height = 0.5 * (rear + front) - self._standing(slopes[0])
        return Felt(height, (front - rear) / self.base, left, 0.5 * (falling + rising))

    def _standing(self, slope: Scalar) -> Scalar:
        """e* [m]."""
        assert self.length is not None
        assert self.height is not None
        assert self.order is not None
        q = self.order / (self.order - 1.0)
        steep = self.length / self.height * function("abs", slope)
        return self.height * (power(1.0 + power(steep, q), 1.0 / q) - 1.0)

    def chord(self, road: Subprogram, at: Pair, ahead: Pair, t: Scalar) -> Pair:
        """Slopes of the road about a place, ahead over the length of the cams and to the left over their width."""
        assert self.base is not None
        assert self.length is not None
        assert self.width is not None
        left = -ahead[1], ahead[0]
        found = []
        for (x, y), size in ((ahead, self.base + 2.0 * self.length), (left, self.width)):
            high, low = (road(at[0] + side * size * x, at[1] + side * size * y, t)[0] for side in (0.5, -0.5))
            found.append((high - low) / size)
        return found[0], found[1]

    def _touches(self, road: Along) -> list[tuple[Scalar, Scalar]]:
        """Where the rear and the front cam touch, from the middle between them [m], and how high they stand [m].

        The highest of equally spaced samples is refined, and so is the interval in which the cam could stand highest:
        at an edge between two samples it may be higher than on all of them.
        """
        assert self.base is not None
        assert self.length is not None
        assert self.step is not None
        between = max(round(self.base / self.step), 1)
        step = self.base / between
        reach = math.ceil(self.length / step) - 1
        places = [(k - 0.5 * between) * step for k in range(-reach, between + reach + 1)]
        heights = [road(s) for s in places]
        found = []
        for first, middle in ((0, -0.5 * self.base), (between, 0.5 * self.base)):

            def depth(s: Scalar, middle: float = middle) -> Scalar:
                return self._depth(s - middle)

            own = slice(first, first + 2 * reach + 1)
            samples = [_Sample(s, h, depth(s)) for s, h in zip(places[own], heights[own], strict=True)]
            highest = _largest([one.stands for one in samples], samples)
            rising = _largest([_bound(a, b) for a, b in pairwise(samples)], list(pairwise(samples)))
            candidates = [highest, *_crest(road, depth, highest.at - step, highest.at + step)]
            candidates += _edge(road, depth, *rising)
            best = _largest([one.stands for one in candidates], candidates)
            found.append((best.at, best.stands))
        return found

    def _depth(self, s: Scalar) -> Scalar:
        """e(s) [m]."""
        assert self.length is not None
        assert self.height is not None
        assert self.order is not None
        inside = maximum(1.0 - power(function("abs", s / self.length), self.order), 0.0)
        return self.height - self.height * power(inside, 1.0 / self.order)


class _Sample(NamedTuple):
    """A place [m], the height of the road there and the depth of the cam [m]."""

    at: Scalar
    height: Scalar
    depth: Scalar

    @property
    def stands(self) -> Scalar:
        """How high the cam stands that touches here [m]."""
        return self.height - self.depth


def _chosen(condition: Scalar | bool, a: Any, b: Any) -> Any:
    """Of two samples, or rows of samples."""
    if isinstance(a, tuple):
        parts = [_chosen(condition, x, y) for x, y in zip(a, b, strict=True)]
        return _Sample(*parts) if isinstance(a, _Sample) else tuple(parts)
    return where(condition, a, b)


def _largest(values: Sequence[Scalar], things: Sequence[Any]) -> Any:
    """The thing with the largest value."""
    found, best = things[0], values[0]
    for thing, value in zip(things[1:], values[1:], strict=True):
        found, best = _chosen(value > best, thing, found), maximum(value, best)
    return found


def _bound(a: _Sample, b: _Sample) -> Scalar:
    """How high a cam can stand between two samples on a road that rises or falls there [m]."""
    return maximum(a.height, b.height) - minimum(a.depth, b.depth)


def _crest(road: Along, depth: Along, low: Scalar, high: Scalar) -> list[_Sample]:
    """Samples about the place between two where a cam stands highest, by golden sections."""

    def sample(s: Scalar) -> _Sample:
        return _Sample(s, road(s), depth(s))

    c, d = sample(high - GOLDEN * (high - low)), sample(low + GOLDEN * (high - low))
    for _ in range(NARROWINGS):
        left = c.stands > d.stands
        low, high = where(left, low, c.at), where(left, d.at, high)
        new = sample(where(left, high - GOLDEN * (high - low), low + GOLDEN * (high - low)))
        c, d = _chosen(left, new, d), _chosen(left, c, new)
    return [c, d]


def _edge(road: Along, depth: Along, low: _Sample, high: _Sample) -> list[_Sample]:
    """Samples on both sides of an edge between two, by halves in which the cam could stand higher."""
    for _ in range(HALVINGS):
        s = 0.5 * (low.at + high.at)
        middle = _Sample(s, road(s), depth(s))
        left = _bound(low, middle) > _bound(middle, high)
        low, high = _chosen(left, low, middle), _chosen(left, middle, high)
    return [low, high]


ENVELOPES = Kinds(
    "How a tyre feels obstacles shorter than its contact.",
    usual=Envelope.kind,
    kinds={Envelope.kind: Envelope.keys},
    makes={Envelope.kind: Envelope},
)
"""Envelopes in model files."""
