"""Numbers with their first and second derivative along one motion, exact to rounding.

A :class:`Jet` holds f, f' and f'' as arrays of one shape. Constraint equations are written once, at
position level, on jets; velocities, accelerations and the quadratic velocity terms then fall out
without a formula of their own that could be wrong.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from bellcrank.program.trace import Expr


class Jet:
    """f, f', f'' of an array-valued function of one variable."""

    __slots__ = ("f", "f1", "f2")
    __array_ufunc__ = None

    def __init__(self, f: Any, f1: Any = 0.0, f2: Any = 0.0) -> None:
        self.f, self.f1, self.f2 = (
            np.array(c) for c in np.broadcast_arrays(*[np.asarray(x, dtype=float) for x in (f, f1, f2)])
        )

    def __getitem__(self, index: Any) -> Jet:
        return Jet(self.f[index], self.f1[index], self.f2[index])

    def __neg__(self) -> Jet:
        return Jet(-self.f, -self.f1, -self.f2)

    def __add__(self, other: Any) -> Jet:
        g = jet(other)
        return Jet(self.f + g.f, self.f1 + g.f1, self.f2 + g.f2)

    __radd__ = __add__

    def __sub__(self, other: Any) -> Jet:
        return self + (-jet(other))

    def __rsub__(self, other: Any) -> Jet:
        return jet(other) - self

    def __mul__(self, other: Any) -> Jet:
        g = jet(other)
        return Jet(
            self.f * g.f,
            self.f1 * g.f + self.f * g.f1,
            self.f2 * g.f + 2.0 * self.f1 * g.f1 + self.f * g.f2,
        )

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Jet:
        return self * jet(other).reciprocal()

    def __rtruediv__(self, other: Any) -> Jet:
        return jet(other) * self.reciprocal()

    def __matmul__(self, other: Any) -> Jet:
        g = jet(other)
        return Jet(
            self.f @ g.f,
            self.f1 @ g.f + self.f @ g.f1,
            self.f2 @ g.f + 2.0 * (self.f1 @ g.f1) + self.f @ g.f2,
        )

    def __rmatmul__(self, other: Any) -> Jet:
        return jet(other) @ self

    @property
    def transposed(self) -> Jet:
        """The last two axes exchanged."""
        return Jet(*(np.swapaxes(c, -1, -2) for c in (self.f, self.f1, self.f2)))

    def through(self, value: Any, slope: Any, curvature: Any) -> Jet:
        """The chain rule: a function with these derivatives at f."""
        return Jet(value, slope * self.f1, curvature * self.f1**2 + slope * self.f2)

    def reciprocal(self) -> Jet:
        """1/f."""
        return self.through(1.0 / self.f, -1.0 / self.f**2, 2.0 / self.f**3)

    def sqrt(self) -> Jet:
        """The square root."""
        root = np.sqrt(self.f)
        return self.through(root, 0.5 / root, -0.25 / (root * self.f))


def jet(x: Any) -> Jet:
    """A constant as a jet; a jet as it is."""
    return x if isinstance(x, Jet) else Jet(x)


def stack(jets: list[Jet]) -> Jet:
    """Jets of equal shape along a new last axis."""
    return Jet(*(np.stack([getattr(j, c) for j in jets], axis=-1) for c in ("f", "f1", "f2")))


def atan2(y: Any, x: Any) -> Jet:
    """The angle of the point (x, y)."""
    y, x = jet(y), jet(x)
    square = x.f**2 + y.f**2
    turn = x.f * y.f1 - y.f * x.f1
    turn_rate = x.f * y.f2 - y.f * x.f2
    square_rate = 2.0 * (x.f * x.f1 + y.f * y.f1)
    return Jet(np.arctan2(y.f, x.f), turn / square, turn_rate / square - turn * square_rate / square**2)


def _select(condition: Any, a: Any, b: Any) -> Jet:
    a, b = jet(a), jet(b)
    return Jet(*(np.where(condition, getattr(a, c), getattr(b, c)) for c in ("f", "f1", "f2")))


def _power(x: Any, y: Any) -> Jet:
    x, y = jet(x), jet(y)
    if not np.any(y.f1) and not np.any(y.f2):
        n = y.f
        return x.through(x.f**n, n * x.f ** (n - 1), n * (n - 1) * x.f ** (n - 2))
    return _function("exp", y * _function("log", x))


_DERIVATIVES: dict[str, Callable[[Any], tuple[Any, Any, Any]]] = {
    "sqrt": lambda x: (np.sqrt(x), 0.5 / np.sqrt(x), -0.25 * x**-1.5),
    "sin": lambda x: (np.sin(x), np.cos(x), -np.sin(x)),
    "cos": lambda x: (np.cos(x), -np.sin(x), -np.cos(x)),
    "tan": lambda x: (np.tan(x), 1 + np.tan(x) ** 2, 2 * np.tan(x) * (1 + np.tan(x) ** 2)),
    "asin": lambda x: (np.arcsin(x), (1 - x * x) ** -0.5, x * (1 - x * x) ** -1.5),
    "acos": lambda x: (np.arccos(x), -((1 - x * x) ** -0.5), -x * (1 - x * x) ** -1.5),
    "atan": lambda x: (np.arctan(x), 1 / (1 + x * x), -2 * x / (1 + x * x) ** 2),
    "sinh": lambda x: (np.sinh(x), np.cosh(x), np.sinh(x)),
    "cosh": lambda x: (np.cosh(x), np.sinh(x), np.cosh(x)),
    "tanh": lambda x: (np.tanh(x), 1 - np.tanh(x) ** 2, -2 * np.tanh(x) * (1 - np.tanh(x) ** 2)),
    "exp": lambda x: (np.exp(x), np.exp(x), np.exp(x)),
    "log": lambda x: (np.log(x), 1 / x, -1 / x**2),
    "abs": lambda x: (np.abs(x), np.sign(x), 0.0 * x),
    "floor": lambda x: (np.floor(x), 0.0 * x, 0.0 * x),
}


def _function(name: str, x: Any) -> Jet:
    x = jet(x)
    return x.through(*_DERIVATIVES[name](x.f))


def _interval(x: Any, breakpoints: Any) -> Jet:
    found = np.searchsorted(breakpoints, jet(x).f, side="right") - 1
    return Jet(np.clip(found, 0, len(breakpoints) - 2))


def _truth(x: Any) -> Any:
    return x.f.astype(bool) if isinstance(x, Jet) else x


_OPERATIONS: dict[str, Callable[..., Any]] = {
    "neg": lambda a: -jet(a),
    "add": lambda a, b: jet(a) + b,
    "sub": lambda a, b: jet(a) - b,
    "mul": lambda a, b: jet(a) * b,
    "div": lambda a, b: jet(a) / b,
    "atan2": atan2,
    "pow": _power,
    "min": lambda a, b: _select(jet(a).f <= jet(b).f, a, b),
    "max": lambda a, b: _select(jet(a).f >= jet(b).f, a, b),
    "lt": lambda a, b: jet(a).f < jet(b).f,
    "le": lambda a, b: jet(a).f <= jet(b).f,
    "eq": lambda a, b: jet(a).f == jet(b).f,
    "and": lambda a, b: _truth(a) & _truth(b),
    "or": lambda a, b: _truth(a) | _truth(b),
    "not": lambda a: ~np.asarray(_truth(a)),
    "select": _select,
    "interval": _interval,
    "gather": lambda k, values: Jet(np.asarray(values)[jet(k).f.astype(int)]),
    **{name: (lambda x, name=name: _function(name, x)) for name in _DERIVATIVES},
}


def evaluate(value: Any, inputs: Mapping[str, Any]) -> Jet:
    """A traced value (or a plain number) as a jet, its inputs given by name as numbers or jets."""
    if not isinstance(value, Expr):
        return jet(value)
    seen: dict[int, Expr] = {}
    pending = [value]
    while pending:
        node = pending.pop()
        if node.id not in seen:
            seen[node.id] = node
            pending.extend(a for a in node.args if isinstance(a, Expr))
    known: dict[int, Any] = {}
    for id in sorted(seen):
        node = seen[id]
        if node.op == "input":
            known[id] = jet(inputs[node.args[0]])
        else:
            known[id] = _OPERATIONS[node.op](*(known[a.id] if isinstance(a, Expr) else a for a in node.args))
    return jet(known[value.id])
