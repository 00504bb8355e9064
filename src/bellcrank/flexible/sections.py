"""Cross-sections of beams."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from bellcrank.base.keys import NUMBER, Key, Keys, Kinds, any_of, list_of, may, must
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

OFFSET = may("offset", list_of(NUMBER, 2), "Centroid from the node line, (y, z) [m].")
SHAPED = (may("poisson", NUMBER, "For the shear correction; 0.3 by default."), OFFSET)


def _size(name: str, what: str) -> Key:
    """The key of a size that may run along a beam."""
    text = f"{what} [m]; two numbers run linearly from the beam's start to its end."
    return must(name, any_of(NUMBER, list_of(NUMBER, 2)), text)


@dataclass(frozen=True)
class Section:
    """A cross-section in the y-z plane of the member.

    area: [m^2]. bending_y, bending_z: Second moments of area about y (int z^2) and about z (int y^2) through
    the centroid [m^4]. product: int y z [m^4]. torsion: Torsion constant [m^4]; the polar moment where None.
    shear_y, shear_z: Shear correction factors of Timoshenko's theory (Cowper 1966 for the shapes below).
    offset: Centroid from the node line, (y, z) [m]. extremes: Points (y, z) from the centroid where stress is
    recovered [m].
    """

    kind: ClassVar[str] = "general"
    keys: ClassVar[Keys] = Keys(
        "By its moments.",
        *(must(name, NUMBER) for name in ("area", "bending_y", "bending_z")),
        *(may(name, NUMBER) for name in ("product", "torsion", "shear_y", "shear_z")),
        OFFSET,
        may(
            "extremes",
            list_of(list_of(NUMBER, 2)),
            "Points (y, z) from the centroid where stress is recovered [m].",
        ),
    )

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
        made: Section = SECTIONS.makes[self.kind](**here, **self.more)
        return made


SECTIONS = Kinds(
    "A cross-section in the member's y-z plane.",
    usual="general",
    makes={"general": Section, "circle": circle, "tube": tube, "rectangle": rectangle},
    general=Section.keys,
    circle=Keys("A full round bar.", _size("diameter", "Diameter"), *SHAPED),
    tube=Keys("A round tube.", _size("outer", "Outer diameter"), _size("inner", "Inner diameter"), *SHAPED),
    rectangle=Keys(
        "A full rectangle, height along y, width along z.",
        _size("height", "Height"),
        _size("width", "Width"),
        *SHAPED,
    ),
)
"""Sections by name."""


def profile_of(kind: str, given: Mapping[str, Any], length: float) -> Profile:
    """A section by name for a beam of a length [m]; a size of two numbers runs from one to the other over it."""
    runs = {
        name for name, size in given.items() if name not in ("offset", "extremes") and isinstance(size, tuple)
    }
    if not runs:
        made: Section = SECTIONS.makes[kind](**given)
        return made
    sizes = {key.name: given[key.name] for key in SECTIONS[kind].keys if key.needed and key.name != "kind"}
    ends = {name: size if isinstance(size, tuple) else (size, size) for name, size in sizes.items()}
    more = {name: value for name, value in given.items() if name not in sizes}
    if all(a == b for a, b in ends.values()):
        return profile_of(kind, {**{name: a for name, (a, _) in ends.items()}, **more}, length)
    profile = Tapered(kind, ends, length, more)
    for x in (0.0, length):
        profile(x)
    return profile


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
