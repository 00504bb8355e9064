"""Cross-sections of beams."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from bellcrank.base.reach import (
    LARGEST,
    LARGEST_SIZE,
    SMALLEST,
    SMALLEST_SIZE,
    is_positive,
    is_size,
    shown,
)
from bellcrank.errors import ModelError


@dataclass(frozen=True)
class Section:
    """A cross-section in the y-z plane of the member.

    area: [m^2]. bending_y, bending_z: Second moments of area about y (int z^2) and about z (int y^2) through
    the centroid [m^4]. product: int y z [m^4]. torsion: Torsion constant [m^4]; the polar moment where None.
    shear_y, shear_z: Shear correction factors of Timoshenko's theory (Cowper 1966 for the shapes below).
    offset: Centroid from the node line, (y, z) [m]. extremes: Points (y, z) from the centroid where stress is
    recovered [m].
    """

    area: float
    bending_y: float
    bending_z: float
    product: float = 0.0
    torsion: float | None = None
    shear_y: float = 5.0 / 6.0
    shear_z: float = 5.0 / 6.0
    offset: tuple[float, float] = (0.0, 0.0)
    extremes: tuple[tuple[float, float], ...] = field(default=())

    def __post_init__(self) -> None:
        for what in ("area", "bending_y", "bending_z"):
            value = getattr(self, what)
            if not is_positive(value):
                raise ModelError(
                    f"{what} of a section must be positive, from {SMALLEST:g} to {LARGEST:g}, not {shown(value)}"
                )

    @property
    def torsion_constant(self) -> float:
        """[m^4]."""
        return self.bending_y + self.bending_z if self.torsion is None else self.torsion


Profile = Section | Callable[[float], Section]
"""One section, or the section as a function of the place along the axis [m]."""


def circle(diameter: float, poisson: float = 0.3, offset: tuple[float, float] = (0.0, 0.0)) -> Section:
    """A full round bar."""
    r = _positive("diameter", diameter) / 2
    second = math.pi * r**4 / 4
    k = 6 * (1 + poisson) / (7 + 6 * poisson)
    rim = ((0.0, r), (r, 0.0), (0.0, -r), (-r, 0.0))
    return Section(math.pi * r * r, second, second, 0.0, 2 * second, k, k, offset, rim)


def tube(
    outer: float, inner: float, poisson: float = 0.3, offset: tuple[float, float] = (0.0, 0.0)
) -> Section:
    """A round tube of outer and inner diameter [m]."""
    R, r = _positive("outer diameter", outer) / 2, _positive("inner diameter", inner) / 2
    if r >= R:
        raise ModelError(f"the inner diameter {inner:g} of a tube must be below the outer, {outer:g}")
    m2 = (r / R) ** 2
    a, b = (1 + m2) ** 2, m2
    k = 6 * (1 + poisson) * a / ((7 + 6 * poisson) * a + (20 + 12 * poisson) * b)
    second = math.pi * (R**4 - r**4) / 4
    rim = ((0.0, R), (R, 0.0), (0.0, -R), (-R, 0.0))
    return Section(math.pi * (R * R - r * r), second, second, 0.0, 2 * second, k, k, offset, rim)


def rectangle(
    height: float, width: float, poisson: float = 0.3, offset: tuple[float, float] = (0.0, 0.0)
) -> Section:
    """A full rectangle, `height` along y and `width` along z [m].

    Torsion constant by the series of Saint-Venant's solution (Timoshenko, Goodier: Theory of Elasticity,
    section 109).
    """
    h, b = _positive("height", height), _positive("width", width)
    long, short = max(h, b), min(h, b)
    total = sum(math.tanh(n * math.pi * long / (2 * short)) / n**5 for n in range(1, 60, 2))
    torsion = long * short**3 * (1 / 3 - 64 * short / (math.pi**5 * long) * total)
    k = 10 * (1 + poisson) / (12 + 11 * poisson)
    corners = ((h / 2, b / 2), (-h / 2, b / 2), (-h / 2, -b / 2), (h / 2, -b / 2))
    return Section(h * b, h * b**3 / 12, b * h**3 / 12, 0.0, torsion, k, k, offset, corners)


def taper(
    make: Callable[[float], Section], start: float, end: float, length: float
) -> Callable[[float], Section]:
    """A section whose one size runs linearly from `start` to `end` over `length` [m]: taper(circle, 0.02,
    0.01, 1.0)."""
    _positive("length of a taper", length)
    if make is circle:
        return Tapered("circle", {"diameter": (start, end)}, length)

    def at(x: float) -> Section:
        return make(start + (end - start) * x / length)

    return at


@dataclass(frozen=True, eq=False)
class Tapered:
    """A "circle", "tube" or "rectangle" whose sizes run linearly over `length` [m], each from one value to another.

    more: What else the shape is given: poisson, offset.
    """

    kind: str
    sizes: Mapping[str, tuple[float, float]]
    length: float
    more: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        _positive("length of a taper", self.length)

    def __call__(self, x: float) -> Section:
        """The section at x [m]."""
        here = {name: a + (b - a) * x / self.length for name, (a, b) in self.sizes.items()}
        return SHAPES[self.kind](**here, **self.more)


SHAPES: Mapping[str, Callable[..., Section]] = {"circle": circle, "tube": tube, "rectangle": rectangle}
"""Sections by name."""


def section_at(profile: Profile, x: float) -> Section:
    """The section at x [m]."""
    section = profile(x) if callable(profile) else profile
    if not isinstance(section, Section):
        raise ModelError(
            f"the section of a beam must be a Section or a function of x giving one, not {section!r}"
        )
    return section


def _positive(what: str, value: float) -> float:
    if not is_size(value):
        limits = f"{SMALLEST_SIZE:g} m to {LARGEST_SIZE:g} m"
        raise ModelError(f"{what} must be positive, from {limits}, not {shown(value)}")
    return value
