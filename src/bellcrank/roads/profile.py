"""Profiles: heights along x, measured or tabulated, of one track or two."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

from bellcrank.base.keys import ARRAY, NUMBER, PACKED, Keys, any_of, list_of, may, must
from bellcrank.errors import ModelError
from bellcrank.program.functions import Numbers, clip
from bellcrank.program.trace import Scalar
from bellcrank.roads.road import Array, Axis, Road, along, number, numbers, pad, points, table


@dataclass(frozen=True, eq=False)
class Profile(Road):
    """Heights along x, under all wheels, or of a left and a right track.

    x: Places [m], increasing. left: Heights there [m], at y >= width/2. right: Those at y <= -width/2; as `left` where
    missing. width: Between the two tracks [m]; between them the road goes over from one to the other without an edge,
    and each track is level across. Beyond its ends the road stays as high as it is there.
    """

    kind: ClassVar[str] = "profile"
    keys: ClassVar[Keys] = Keys(
        "Heights along x, of one track or two.",
        must("x", any_of(list_of(NUMBER), PACKED), "Places [m], increasing.", plain=True, dimensions=1),
        must("left", any_of(list_of(NUMBER), PACKED), f"Heights there. {ARRAY}", plain=True, dimensions=1),
        may(
            "right",
            any_of(list_of(NUMBER), PACKED),
            "Heights of the right track; those of the left one where missing.",
            plain=True,
            dimensions=1,
        ),
        may("width", NUMBER, "Between the two tracks [m]; 1.5 where missing.", plain=True),
    )

    x: Any
    left: Any
    right: Any = None
    width: float = 1.5

    def __post_init__(self) -> None:
        object.__setattr__(self, "x", points("x of a road profile", self.x))
        object.__setattr__(self, "width", number("width of a road profile", self.width, positive=True))
        for side in ("left", "right"):
            if side == "right" and self.right is None:
                continue
            heights = numbers(f"{side} of a road profile", getattr(self, side))
            if heights.shape != self.x.shape:
                raise ModelError(
                    f"{side} of a road profile must have a height for each of the {len(self.x)} places, "
                    f"not the shape {heights.shape}"
                )
            object.__setattr__(self, side, heights)

    @cached_property
    def _axis(self) -> Axis:
        return Axis(self.x)

    @cached_property
    def _tables(self) -> tuple[Numbers, ...]:
        tracks: tuple[Array, ...] = (self.left,) if self.right is None else (self.left, self.right)
        return tuple(table(pad(track)) for track in tracks)

    def __call__(self, x: Scalar, y: Scalar, t: Scalar = 0.0) -> Scalar:
        at = self._axis.weights(x)
        found = [along(row, at) for row in self._tables]
        if len(found) == 1:
            return found[0]
        s = clip(y / self.width + 0.5, 0.0, 1.0)
        return found[1] + (found[0] - found[1]) * (s * s * (3.0 - 2.0 * s))
