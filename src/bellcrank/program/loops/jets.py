"""Numbers with rates for the interpreter: what dual numbers are in compiled code.

NumPy's functions and Python's operators take them; comparisons decide by value.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np


class Jet:
    """A number and its rates in some directions; both may be jets again."""

    __slots__ = ("rates", "value")

    def __init__(self, value: Any, rates: Sequence[Any]) -> None:
        self.value, self.rates = value, tuple(rates)

    def __repr__(self) -> str:
        return f"Jet({self.value!r}, {self.rates!r})"

    def _with(self, other: Any, value: Any, mine: Any, others: Any) -> Jet:
        if isinstance(other, Jet):
            rates = [mine * a + others * b for a, b in zip(self.rates, other.rates, strict=True)]
        else:
            rates = [mine * a for a in self.rates]
        return Jet(value, rates)

    def __add__(self, other: Any) -> Jet:
        return self._with(other, self.value + plain(other), 1.0, 1.0)

    __radd__ = __add__

    def __sub__(self, other: Any) -> Jet:
        return self._with(other, self.value - plain(other), 1.0, -1.0)

    def __rsub__(self, other: Any) -> Jet:
        return (-self).__add__(other)

    def __mul__(self, other: Any) -> Jet:
        return self._with(other, self.value * plain(other), plain(other), self.value)

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Jet:
        divisor = plain(other)
        return self._with(other, self.value / divisor, 1.0 / divisor, -self.value / (divisor * divisor))

    def __rtruediv__(self, other: Any) -> Jet:
        return self.along(other / self.value, -other / (self.value * self.value))

    def __pow__(self, power: float) -> Jet:
        return self.along(self.value**power, power * self.value ** (power - 1))

    def __neg__(self) -> Jet:
        return Jet(-self.value, [-r for r in self.rates])

    def __abs__(self) -> Jet:
        return -self if self < 0.0 else self

    def __lt__(self, other: Any) -> bool:
        return bool(self.value < plain(other))

    def __le__(self, other: Any) -> bool:
        return bool(self.value <= plain(other))

    def __gt__(self, other: Any) -> bool:
        return bool(self.value > plain(other))

    def __ge__(self, other: Any) -> bool:
        return bool(self.value >= plain(other))

    def __eq__(self, other: object) -> bool:
        return bool(self.value == plain(other))

    def __hash__(self) -> int:
        return hash(self.value)

    def __float__(self) -> float:
        raise TypeError("a number with rates is no plain float; use NumPy's functions (np.sin, not math.sin)")

    def __int__(self) -> int:
        return int(self.value)

    def along(self, value: Any, slope: Any) -> Jet:
        """A function of this number, by its value and its slope."""
        return Jet(value, [slope * r for r in self.rates])

    def __getattr__(self, name: str) -> Callable[[], Jet]:
        # NumPy asks for these where it meets an object: np.sin(jet) -> jet.sin().
        slope = _SLOPES.get(name)
        if slope is None:
            raise AttributeError(name)
        value = getattr(np, name)(self.value)
        return lambda: self.along(value, slope(self.value, value))


def plain(x: Any) -> Any:
    """The value of a jet, or a number as it is."""
    return x.value if isinstance(x, Jet) else x


_SLOPES: dict[str, Callable[[Any, Any], Any]] = {
    "sqrt": lambda x, y: 0.5 / y,
    "exp": lambda x, y: y,
    "log": lambda x, y: 1.0 / x,
    "sin": lambda x, y: np.cos(x),
    "cos": lambda x, y: -np.sin(x),
    "tan": lambda x, y: 1.0 + y * y,
    "arcsin": lambda x, y: 1.0 / np.sqrt(1.0 - x * x),
    "arccos": lambda x, y: -1.0 / np.sqrt(1.0 - x * x),
    "arctan": lambda x, y: 1.0 / (1.0 + x * x),
    "sinh": lambda x, y: np.cosh(x),
    "cosh": lambda x, y: np.sinh(x),
    "tanh": lambda x, y: 1.0 - y * y,
    "fabs": lambda x, y: np.sign(x),
}
