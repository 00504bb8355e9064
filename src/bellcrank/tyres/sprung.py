"""What the tyre laws with few numbers have in common: a linear spring, a rolling resistance, relaxation lengths."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, ClassVar

from bellcrank.base.keys import NUMBER, list_of, may, must
from bellcrank.base.reach import is_positive, within
from bellcrank.errors import ModelError
from bellcrank.program.functions import maximum, minimum, where
from bellcrank.program.trace import Scalar
from bellcrank.tyres.law import Deflection, TyreLaw
from bellcrank.tyres.magic_formula import slowly

SLOW = 0.1
"""Speed [m/s] below which rolling resistance and pneumatic trail fade out: a tenth of walking pace."""


SPRUNG = (
    must("radius", NUMBER, "Without load [m].", plain=True),
    must("stiffness", NUMBER, "Vertical [N/m].", plain=True),
    may("damping", NUMBER, "Vertical [N s/m].", plain=True),
    may("width", NUMBER, "[m].", plain=True),
    may("rolling_resistance", NUMBER, "Rolling moment over load and radius.", plain=True),
    may(
        "relaxation_lengths",
        list_of(NUMBER, 2),
        "Along and across the wheel [m]; the radius where missing.",
        plain=True,
    ),
    may(
        "damping_time",
        NUMBER,
        "Damping of the carcass over its stiffness [s]; 0.001 where missing.",
        plain=True,
    ),
    may(
        "rim_radius", NUMBER, "Loaded radius at which the tyre bottoms [m]; never where missing.", plain=True
    ),
    may("rim_stiffness", NUMBER, "Vertical, beside that of the carcass, from there on [N/m].", plain=True),
)
"""Keys of tyres on a linear spring."""


@dataclass(frozen=True, kw_only=True)
class SprungTyre(TyreLaw):
    """A tyre on a linear spring.

    radius: Without load [m]. stiffness: Vertical [N/m]. damping: Vertical [N s/m]. width: [m]. rolling_resistance:
    Rolling moment over load and radius. relaxation_lengths: Along and across the wheel [m]; the radius where missing.
    damping_time: Damping of the carcass along and across the wheel over its stiffness [s]. rim_radius: Loaded radius at
    which the tyre bottoms [m]; None: never. rim_stiffness: Vertical, beside that of the carcass, from there on [N/m].
    """

    positive: ClassVar[tuple[str, ...]] = ()
    """Other numbers that must not be 0."""

    radius: float
    stiffness: float
    damping: float = 0.0
    width: float = 0.2
    rolling_resistance: float = 0.0
    relaxation_lengths: tuple[float, float] | None = None
    damping_time: float = 1e-3
    rim_radius: float | None = None
    rim_stiffness: float | None = None

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if value is None and field.default is None:
                continue
            positive = field.name in ("radius", "stiffness", "relaxation_lengths", *self.positive)
            if field.name == "relaxation_lengths":
                if not isinstance(value, list | tuple) or len(value) != 2:
                    raise ModelError(
                        f"relaxation_lengths of a {self.kind} tyre are two numbers, not {value!r}"
                    )
                object.__setattr__(self, field.name, tuple(value))
            for number in value if field.name == "relaxation_lengths" else (value,):
                self._check(field.name, number, positive)
        if (self.rim_radius is None) != (self.rim_stiffness is None):
            raise ModelError(f"a {self.kind} tyre bottoms by rim_radius and rim_stiffness; give both or none")
        if self.rim_radius is not None and not self.rim_radius < self.radius:
            raise ModelError(
                f"rim_radius of a {self.kind} tyre must be less than its radius of {self.radius:g} m, "
                f"not {self.rim_radius:g}"
            )

    def _check(self, name: str, number: Any, positive: bool) -> None:
        if not within(number) or number < 0.0:
            raise ModelError(f"{name} of a {self.kind} tyre is {number!r}; give a number from 0 on")
        if positive and not is_positive(number):
            raise ModelError(f"{name} of a {self.kind} tyre must be greater than 0, not {number!r}")

    @property
    def free_radius(self) -> float:  # type: ignore[override]
        """[m]."""
        return self.radius

    def load(self, at: Deflection) -> Scalar:
        depth = self.radius - at.radius
        pressed = self.stiffness * depth
        if self.rim_radius is not None and self.rim_stiffness is not None:
            pressed = pressed + self.rim_stiffness * maximum(self.rim_radius - at.radius, 0.0)
        return where(depth > 0.0, maximum(pressed - self.damping * at.rate, 0.0), 0.0)

    def rolling_radius(self, load: Scalar, spin: Scalar) -> Scalar:
        """R - d/3: the belt keeps its length, the arc of which rolls off as its chord (Pacejka 2012, 8.3)."""
        d = load / self.stiffness
        if self.rim_radius is not None and self.rim_stiffness is not None:
            free = self.radius - self.rim_radius
            d = minimum(d, (load + self.rim_stiffness * free) / (self.stiffness + self.rim_stiffness))
        return self.radius - d / 3.0

    def relaxation(self, load: Scalar, camber: Scalar) -> tuple[Scalar, Scalar]:
        return self.relaxation_lengths or (self.radius, self.radius)

    def resistance(self, load: Scalar, onward: Scalar) -> Scalar:
        """Rolling moment [N m]."""
        return -self.rolling_resistance * self.radius * load * onward

    def onward(self, speed: Scalar) -> Scalar:
        """The direction of travel: 1 forwards, -1 backwards, smooth at standstill."""
        return slowly(speed, SLOW)
