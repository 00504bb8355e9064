"""Arithmetic of the loop language: constants now, reals and integers at run time, duals with their rates."""

from __future__ import annotations

import ast
import math
from collections.abc import Callable, Sequence
from typing import Any, cast

from bellcrank.program.loops.ir import CONSTANT, FUNCTIONS, SCALAR, Kind, Op, Operand, Ref, Statement, kind_of
from bellcrank.program.loops.values import Dual, Mismatch, described, shape_of

_ARITHMETIC: dict[type[ast.operator], tuple[str, str | None]] = {
    ast.Add: ("add", "iadd"), ast.Sub: ("sub", "isub"), ast.Mult: ("mul", "imul"), ast.Div: ("div", None),
}  # fmt: skip
_WHOLE: dict[type[ast.operator], str] = {
    ast.FloorDiv: "ifloor", ast.Mod: "imod", ast.BitAnd: "iand", ast.BitOr: "ior", ast.BitXor: "ixor",
    ast.LShift: "ishl", ast.RShift: "ishr",
}  # fmt: skip
_COMPARISONS: dict[type[ast.cmpop], str] = {
    ast.Lt: "lt", ast.LtE: "le", ast.Gt: "gt", ast.GtE: "ge", ast.Eq: "eq", ast.NotEq: "ne",
}  # fmt: skip
_COMPUTED: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: lambda a, b: a + b,
    ast.Sub: lambda a, b: a - b,
    ast.Mult: lambda a, b: a * b,
    ast.Div: lambda a, b: a / b,
    ast.FloorDiv: lambda a, b: a // b,
    ast.Mod: lambda a, b: a % b,
    ast.Pow: lambda a, b: a**b,
    ast.BitAnd: lambda a, b: a & b,
    ast.BitOr: lambda a, b: a | b,
    ast.BitXor: lambda a, b: a ^ b,
    ast.LShift: lambda a, b: a << b,
    ast.RShift: lambda a, b: a >> b,
}
_DECIDED: dict[str, Callable[[Any, Any], bool]] = {
    "lt": lambda a, b: a < b,
    "le": lambda a, b: a <= b,
    "gt": lambda a, b: a > b,
    "ge": lambda a, b: a >= b,
    "eq": lambda a, b: a == b,
    "ne": lambda a, b: a != b,
}
_KNOWN: dict[str, Callable[..., float]] = {
    "abs": abs,
    "floor": lambda x: float(math.floor(x)),
    **{name: getattr(math, name) for name in FUNCTIONS if name not in ("abs", "floor")},
}
LARGEST_POWER = 8
"""Whole powers below this are products, as Python's own rounding of them is no better."""


class NumberWriter:
    """Writes scalar operations into the current block."""

    def __init__(self) -> None:
        self.block: list[Statement] = []
        self.count = 0

    def ref(self, kind: Kind) -> Ref:
        """A new scalar."""
        self.count += 1
        return Ref(kind, self.count)

    def op(self, op: str, kind: Kind, *args: Operand) -> Ref:
        """The result of an operation."""
        out = self.ref(kind)
        self.block.append(Op(out, op, args))
        return out

    def plain(self, value: Any) -> Operand:
        """A number without its rates."""
        while isinstance(value, Dual):
            value = value.value
        if not isinstance(value, SCALAR):
            raise Mismatch(f"{described(shape_of(value))} in place of a number")
        return value

    def scalar(self, value: Any, kind: Kind) -> Operand:
        """A scalar of a kind: integers become reals where those are asked for, nothing else changes."""
        found = self.plain(value)
        own = kind_of(found)
        if own == kind:
            return found
        if (own, kind) == ("int", "real"):
            return float(found) if not isinstance(found, Ref) else self.op("real", "real", found)
        raise Mismatch(f"{own} in place of {kind}")

    def real(self, value: Any) -> Any:
        """A real, with its rates where it has some."""
        return value if isinstance(value, Dual) else self.scalar(value, "real")

    def binary(self, operation: ast.operator, a: Any, b: Any) -> Any:
        """a operation b, of numbers."""
        if isinstance(a, CONSTANT) and isinstance(b, CONSTANT):
            return _COMPUTED[type(operation)](a, b)
        if isinstance(operation, ast.Pow):
            return self.power(a, b)
        whole = self._whole(a) and self._whole(b)
        if type(operation) in _ARITHMETIC:
            real, integer = _ARITHMETIC[type(operation)]
            if whole and integer is not None:
                return self.op(integer, "int", a, b)
            return cast("Callable[[Any, Any], Any]", getattr(self, real))(self.real(a), self.real(b))
        if whole and type(operation) in _WHOLE:
            return self.op(_WHOLE[type(operation)], "int", a, b)
        raise Mismatch(f"{type(operation).__name__} of {described(shape_of(a))} and {described(shape_of(b))}")

    def _whole(self, value: Any) -> bool:
        return not isinstance(value, Dual) and kind_of(self.plain(value)) == "int"

    def negative(self, value: Any) -> Any:
        """-value."""
        if isinstance(value, CONSTANT):
            return -value
        if self._whole(value):
            return self.op("isub", "int", 0, value)
        return self._along(lambda v: self._folded("neg", v), value, lambda v: -1.0)

    def add(self, a: Any, b: Any) -> Any:
        """a + b of reals."""
        return self._dual(lambda x, y: self._folded("add", x, y), a, b, lambda x, y: (1.0, 1.0))

    def sub(self, a: Any, b: Any) -> Any:
        """a - b of reals."""
        return self._dual(lambda x, y: self._folded("sub", x, y), a, b, lambda x, y: (1.0, -1.0))

    def mul(self, a: Any, b: Any) -> Any:
        """a b of reals."""
        return self._dual(lambda x, y: self._folded("mul", x, y), a, b, lambda x, y: (y, x))

    def div(self, a: Any, b: Any) -> Any:
        """a / b of reals."""
        if not isinstance(a, Dual) and not isinstance(b, Dual):
            return self._folded("div", a, b)
        level = max(x.level for x in (a, b) if isinstance(x, Dual))
        (va, ra), (vb, rb) = self._split(a, level), self._split(b, level)
        quotient = self.div(va, vb)
        inverse: list[Any] = []

        def rate(x: Any, y: Any) -> Any:
            moved = self._less(x, self._times(quotient, y))
            if isinstance(moved, float) and moved == 0.0:
                return 0.0
            if not inverse:
                inverse.append(self.div(1.0, vb))
            return self._times(moved, inverse[0])

        return Dual(level, quotient, self._paired(ra, rb, rate))

    def power(self, a: Any, b: Any) -> Any:
        """a to the b."""
        if type(b) is int and 0 < b < LARGEST_POWER:
            square, result, left = a, None, b
            while left:
                if left & 1:
                    result = square if result is None else self.binary(ast.Mult(), result, square)
                left >>= 1
                square = self.binary(ast.Mult(), square, square) if left else square
            return result
        if isinstance(b, float) and b == 0.5:
            return self.function("sqrt", a)
        return self.function("pow", a, b)

    def function(self, name: str, *given: Any) -> Any:
        """One of the functions of reals."""
        args = [self.real(a) for a in given]
        if name in ("atan2", "pow"):
            a, b = args
            slopes = self._atan2_slopes if name == "atan2" else self._pow_slopes
            return self._dual(lambda x, y: self._apply(name, x, y), a, b, slopes)
        (x,) = args
        if name == "floor":
            return self._apply("floor", self.plain(x))
        if not isinstance(x, Dual):
            return self._apply(name, x)
        result = self.function(name, x.value)
        slope = _SLOPES[name](self, x.value, result)
        return Dual(x.level, result, tuple(self._times(slope, r) for r in x.rates))

    def _apply(self, name: str, *args: Any) -> Any:
        if not any(isinstance(a, Ref) for a in args):
            try:
                return _KNOWN[name](*args)
            except (ValueError, OverflowError):
                pass  # what is not a number is found at run time
        return self.op(name, "real", *args)

    def _atan2_slopes(self, y: Any, x: Any) -> tuple[Any, Any]:
        square = self.add(self.mul(x, x), self.mul(y, y))
        return self.div(x, square), self.div(self.negative(y), square)

    def _pow_slopes(self, x: Any, y: Any) -> tuple[Any, Any]:
        return self.mul(y, self.function("pow", x, self.sub(y, 1.0))), self.mul(
            self.function("pow", x, y), self.function("log", x)
        )

    def sign(self, value: Any) -> Any:
        """-1, 0 or 1; what is not a number stays so."""
        x = self.scalar(value, "real")
        below = self.select(self.compare("lt", x, 0.0), -1.0, x)
        return self.select(self.compare("gt", x, 0.0), 1.0, below)

    def compare(self, how: str, a: Any, b: Any) -> Any:
        """A comparison by values."""
        x, y = self.plain(a), self.plain(b)
        if not isinstance(x, Ref) and not isinstance(y, Ref):
            return _DECIDED[how](x, y)
        if {kind_of(x), kind_of(y)} == {"int", "real"}:
            x, y = self.scalar(x, "real"), self.scalar(y, "real")
        if kind_of(x) != kind_of(y):
            raise Mismatch(f"a comparison of {kind_of(x)} and {kind_of(y)}")
        return self.op(how, "bool", x, y)

    def comparison(self, operation: ast.cmpop, a: Any, b: Any) -> Any:
        """A comparison as it is written."""
        return self.compare(_COMPARISONS[type(operation)], a, b)

    def both(self, a: Any, b: Any) -> Any:
        """Whether two truth values hold."""
        if isinstance(a, bool):
            return b if a else False
        if isinstance(b, bool):
            return a if b else False
        return self.op("and", "bool", a, b)

    def opposite(self, a: Any) -> Any:
        """The opposite truth value."""
        return not a if isinstance(a, bool) else self.op("not", "bool", self.scalar(a, "bool"))

    def select(self, condition: Any, a: Any, b: Any) -> Any:
        """a where the condition holds, else b; both are known."""
        if isinstance(condition, bool):
            return a if condition else b
        if isinstance(a, Dual) or isinstance(b, Dual):
            level = max(x.level for x in (a, b) if isinstance(x, Dual))
            (va, ra), (vb, rb) = self._split(a, level), self._split(b, level)
            rates = self._paired(ra, rb, lambda x, y: self.select(condition, x, y))
            return Dual(level, self.select(condition, va, vb), rates)
        if (
            isinstance(a, float)
            and isinstance(b, float)
            and a == b
            and math.copysign(1, a) == math.copysign(1, b)
        ):
            return a
        kind: Kind = "real" if "real" in (kind_of(a), kind_of(b)) else kind_of(a)
        return self.op("select", kind, condition, self.scalar(a, kind), self.scalar(b, kind))

    def extreme(self, how: str, a: Any, b: Any) -> Any:
        """The first, unless the second is beyond it: Python's min ("lt") and max ("gt")."""
        if isinstance(a, CONSTANT) and isinstance(b, CONSTANT):
            return b if _DECIDED[how](b, a) else a
        if not (self._whole(a) and self._whole(b)):
            a, b = self.real(a), self.real(b)
        return self.select(self.compare(how, b, a), b, a)

    def _split(self, value: Any, level: int) -> tuple[Any, tuple[Any, ...]]:
        if isinstance(value, Dual) and value.level == level:
            return value.value, value.rates
        return value, ()

    def _paired(
        self, ra: Sequence[Any], rb: Sequence[Any], rule: Callable[[Any, Any], Any]
    ) -> tuple[Any, ...]:
        count = max(len(ra), len(rb))
        zeros = (0.0,) * count
        return tuple(rule(x, y) for x, y in zip(ra or zeros, rb or zeros, strict=True))

    def _dual(
        self,
        rule: Callable[[Any, Any], Any],
        a: Any,
        b: Any,
        slopes: Callable[[Any, Any], tuple[Any, Any]],
    ) -> Any:
        """An operation of two reals by its rule for plain ones and its partial derivatives."""
        if not isinstance(a, Dual) and not isinstance(b, Dual):
            return rule(a, b)
        level = max(x.level for x in (a, b) if isinstance(x, Dual))
        (va, ra), (vb, rb) = self._split(a, level), self._split(b, level)
        result = self._dual(rule, va, vb, slopes)
        by_a, by_b = slopes(va, vb)
        rates = self._paired(ra, rb, lambda x, y: self._plus(self._times(by_a, x), self._times(by_b, y)))
        return Dual(level, result, rates)

    def _along(self, rule: Callable[[Any], Any], a: Any, slope: Callable[[Any], Any]) -> Any:
        """An operation of one real by its rule for plain ones and its derivative."""
        if not isinstance(a, Dual):
            return rule(a)
        result = self._along(rule, a.value, slope)
        return Dual(a.level, result, tuple(self._times(slope(a.value), r) for r in a.rates))

    def _folded(self, op: str, *args: Any) -> Any:
        """An operation of plain reals; done now where all are constants."""
        if not any(isinstance(a, Ref) for a in args) and not (op == "div" and args[1] == 0.0):
            return _PLAIN[op](*args)
        return self.op(op, "real", *args)

    def _times(self, a: Any, b: Any) -> Any:
        """A product in a rate: zeros and ones fold."""
        for x, y in ((a, b), (b, a)):
            if isinstance(x, float):
                if x == 0.0:
                    return 0.0
                if x == 1.0:
                    return y
                if x == -1.0:
                    return self.negative(y)
        return self.mul(a, b)

    def _plus(self, a: Any, b: Any) -> Any:
        for x, y in ((a, b), (b, a)):
            if isinstance(x, float) and x == 0.0:
                return y
        return self.add(a, b)

    def _less(self, a: Any, b: Any) -> Any:
        if isinstance(b, float) and b == 0.0:
            return a
        return self.negative(b) if isinstance(a, float) and a == 0.0 else self.sub(a, b)


_PLAIN: dict[str, Callable[..., float]] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "div": lambda a, b: a / b,
    "neg": lambda a: -a,
}


def _circular(w: NumberWriter, x: Any) -> Any:
    return w.function("sqrt", w.sub(1.0, w.mul(x, x)))


_SLOPES: dict[str, Callable[[NumberWriter, Any, Any], Any]] = {
    "sqrt": lambda w, x, y: w.div(0.5, y),
    "abs": lambda w, x, y: w.sign(x),
    "exp": lambda w, x, y: y,
    "log": lambda w, x, y: w.div(1.0, x),
    "sin": lambda w, x, y: w.function("cos", x),
    "cos": lambda w, x, y: w.negative(w.function("sin", x)),
    "tan": lambda w, x, y: w.add(1.0, w.mul(y, y)),
    "asin": lambda w, x, y: w.div(1.0, _circular(w, x)),
    "acos": lambda w, x, y: w.div(-1.0, _circular(w, x)),
    "atan": lambda w, x, y: w.div(1.0, w.add(1.0, w.mul(x, x))),
    "sinh": lambda w, x, y: w.function("cosh", x),
    "cosh": lambda w, x, y: w.function("sinh", x),
    "tanh": lambda w, x, y: w.sub(1.0, w.mul(y, y)),
}
