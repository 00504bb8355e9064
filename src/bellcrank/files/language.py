"""What expressions mean: postfix code run on scalars of the tracer.

Only the functions of :data:`FUNCTIONS` can be called and only given names are seen: an expression cannot reach
Python's own names.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial, reduce
from itertools import pairwise
from typing import Any, Protocol, TypeAlias

from bellcrank.files.documents import Text
from bellcrank.files.grammar import CONSTANTS, OPERATORS, Step, parse
from bellcrank.files.places import ModelFileError, nearest
from bellcrank.program import functions, trace
from bellcrank.program.tables import linear_table, smooth_table
from bellcrank.program.trace import FUNCTIONS_1, TRUTH_OPS, Expr, Scalar

Value: TypeAlias = "Scalar | bool | list[float]"


@dataclass(frozen=True)
class Function:
    """A function of the language: what each argument is ("number", "condition", "list"), and what it does.

    The last kind repeats where `many`.
    """

    kinds: tuple[str, ...]
    apply: Callable[..., Scalar]
    many: bool = False

    def takes(self, count: int) -> bool:
        """Whether it can be called with `count` arguments."""
        return count >= len(self.kinds) if self.many else count == len(self.kinds)


def _interval(x: Scalar, points: Sequence[float]) -> Scalar:
    if len(points) < 2 or any(b <= a for a, b in pairwise(points)):
        raise ValueError("the points of an interval must be two or more that increase")
    return functions.interval(x, points)


def _gather(k: Scalar, values: Sequence[float]) -> Scalar:
    if not values:
        raise ValueError("gather needs values to choose from")
    return functions.gather(
        functions.clip(k, 0.0, len(values) - 1.0) if not isinstance(k, Expr) else k, values
    )


def _tabulated(x: Scalar, xs: Sequence[float], ys: Sequence[float], make: Callable[..., Any]) -> Scalar:
    result: Scalar = make(xs, ys)(x)
    return result


_ONE, _TWO, _TABLE = ("number",), ("number", "number"), ("number", "list", "list")
_TABLES: Mapping[str, Callable[..., Any]] = {
    "table": linear_table,
    "extended_table": partial(linear_table, extrapolate="linear"),
    "spline": smooth_table,
    "extended_spline": partial(smooth_table, extrapolate="linear"),
    "natural_spline": partial(smooth_table, ends="natural"),
    "monotone_spline": partial(smooth_table, monotone=True),
}
FUNCTIONS: Mapping[str, Function] = {
    **{name: Function(_ONE, partial(trace.function, name)) for name in FUNCTIONS_1},
    "sign": Function(_ONE, functions.sign),
    "atan2": Function(_TWO, functions.atan2),
    "min": Function(_TWO, lambda *args: reduce(functions.minimum, args), many=True),
    "max": Function(_TWO, lambda *args: reduce(functions.maximum, args), many=True),
    "clip": Function(("number",) * 3, functions.clip),
    "where": Function(("condition", "number", "number"), functions.where),
    **{name: Function(_TABLE, partial(_tabulated, make=make)) for name, make in _TABLES.items()},
    "interval": Function(("number", "list"), _interval),
    "gather": Function(("number", "list"), _gather),
}
"""Tables keep their last value beyond their ends, `extended_` ones their last slope.

``interval(x, points)`` is the number of the interval that holds x, ``gather(k, values)`` the k-th value, both
counted from 0: what tables are made of.
"""

RESERVED = frozenset({*FUNCTIONS, *CONSTANTS, *OPERATORS})
"""Words that cannot be names; a parameter called so is written in quotes."""

_ARITHMETIC: Mapping[str, Callable[[Any, Any], Scalar]] = {
    "+": trace.add,
    "-": trace.sub,
    "*": trace.mul,
    "/": trace.div,
    "^": trace.power,
}
_COMPARING: Mapping[str, Callable[[Scalar, Scalar], Any]] = {
    "<": lambda a, b: trace.compare("lt", a, b),
    "<=": lambda a, b: trace.compare("le", a, b),
    ">": lambda a, b: trace.compare("lt", b, a),
    ">=": lambda a, b: trace.compare("le", b, a),
    "==": lambda a, b: trace.compare("eq", a, b),
    "!=": lambda a, b: trace.logical_not(trace.compare("eq", a, b)),
}
_SHOULD_BE = {
    "number": "a number",
    "condition": "a condition such as x > 0",
    "list": "a list such as [0, 1, 2]",
}


class Names(Protocol):
    """The names an expression may use; quoted names are always parameters."""

    def find(self, name: str) -> Value | None:
        """What a bare name stands for."""

    def find_parameter(self, name: str) -> Value | None:
        """What a quoted name stands for."""

    def listed(self) -> list[str]:
        """All bare names, nearest first."""

    def listed_parameters(self) -> list[str]:
        """All parameters."""


def kind_of(value: Value) -> str:
    """Whether a value is a "number", a "condition" or a "list"."""
    if isinstance(value, list):
        return "list"
    if isinstance(value, bool) or (isinstance(value, Expr) and value.op in TRUTH_OPS):
        return "condition"
    return "number"


class Formula:
    """An expression of a file, ready to be evaluated any number of times."""

    def __init__(self, source: Text) -> None:
        self.source = source
        self.code = parse(source)

    @property
    def names(self) -> frozenset[str]:
        """The names used without quotes."""
        return frozenset(step.what for step in self.code if step.action == "name")

    def number(self, names: Names) -> Scalar:
        """The value, which must be a number."""
        value = self.value(names)
        if isinstance(value, list) or kind_of(value) != "number":
            raise self.source.error(f"this must be a number, not {_SHOULD_BE[kind_of(value)]}")
        return value

    def value(self, names: Names) -> Value:
        """The value, whatever it is."""
        stack: list[Value] = []
        for step in self.code:
            match step.action:
                case "number":
                    stack.append(step.what)
                case "name" | "parameter":
                    stack.append(self._named(step, names))
                case "list":
                    stack.append(self._list(step, _pop(stack, step.count)))
                case "call":
                    function = self._function(step)
                    args = self._checked(step, _pop(stack, step.count), function.kinds)
                    stack.append(self._applied(step, function.apply, args))
                case "negate":
                    args = self._checked(step, _pop(stack, 1), _ONE)
                    stack.append(self._applied(step, _negative, args))
                case "not":
                    args = self._checked(step, _pop(stack, 1), ("condition",))
                    stack.append(trace.logical_not(args[0]))
                case "and" | "or":
                    args = self._checked(step, _pop(stack, 2), ("condition", "condition"))
                    stack.append(trace.logical(step.action, *args))
                case "compare":
                    args = self._checked(step, _pop(stack, step.count), _ONE)
                    stack.append(_chain(step.what, args))
                case action:
                    args = self._checked(step, _pop(stack, 2), _TWO)
                    stack.append(self._applied(step, _ARITHMETIC[action], args))
        return stack[0]

    def _error(self, step: Step, message: str) -> ModelFileError:
        return self.source.error(message, step.token.start, step.token.width)

    def _named(self, step: Step, names: Names) -> Value:
        name = step.what
        quoted = step.action == "parameter"
        found = names.find_parameter(name) if quoted else names.find(name)
        if found is not None:
            return found
        if quoted:
            raise self._error(step, f"no parameter named {name!r}{nearest(name, names.listed_parameters())}")
        if name in FUNCTIONS:
            raise self._error(step, f"{name!r} is a function; write {name}(...)")
        known = names.listed()
        hint = nearest(name, [*known, *FUNCTIONS, *CONSTANTS]) or _listed(known)
        raise self._error(step, f"no name {name!r} here{hint}")

    def _function(self, step: Step) -> Function:
        function = FUNCTIONS.get(step.what)
        if function is None:
            hint = nearest(step.what, FUNCTIONS) or f"; functions: {', '.join(FUNCTIONS)}"
            raise self._error(step, f"no function {step.what!r}{hint}")
        if not function.takes(step.count):
            least = "at least " if function.many else ""
            raise self._error(
                step, f"{step.what} takes {least}{len(function.kinds)} arguments, not {step.count}"
            )
        return function

    def _list(self, step: Step, items: list[Value]) -> list[float]:
        if any(kind_of(item) != "number" or isinstance(item, Expr) for item in items):
            raise self._error(step, "a list holds plain numbers, without parameters or arguments")
        return [float(item) for item in items]  # type: ignore[arg-type]

    def _checked(self, step: Step, args: list[Value], kinds: tuple[str, ...]) -> list[Any]:
        for n, arg in enumerate(args):
            wanted = kinds[min(n, len(kinds) - 1)]
            if kind_of(arg) != wanted:
                who = step.what if step.action == "call" else step.token.text
                count = f"argument {n + 1} of " if len(args) > 1 else "the argument of "
                raise self._error(
                    step, f"{count}{who!r} must be {_SHOULD_BE[wanted]}, not {_SHOULD_BE[kind_of(arg)]}"
                )
        return args

    def _applied(self, step: Step, apply: Callable[..., Scalar], args: list[Any]) -> Scalar:
        try:
            result = apply(*args)
        except (ZeroDivisionError, OverflowError, ValueError, IndexError) as error:
            raise self._error(step, f"this has no value: {error}") from error
        if isinstance(result, float) and not math.isfinite(result) and all(_finite(a) for a in args):
            raise self._error(step, f"this has no finite value: it comes to {result}")
        return result


def _negative(x: Scalar) -> Scalar:
    return -x


def _pop(stack: list[Value], count: int) -> list[Value]:
    taken = stack[len(stack) - count :]
    del stack[len(stack) - count :]
    return taken


def _chain(signs: Sequence[str], args: list[Any]) -> Any:
    """a < b <= c as (a < b) and (b <= c)."""
    parts = [_COMPARING[sign](a, b) for sign, a, b in zip(signs, args, args[1:], strict=False)]
    return reduce(lambda a, b: trace.logical("and", a, b), parts)


def _finite(x: Any) -> bool:
    return not isinstance(x, float) or math.isfinite(x)


def _listed(names: Sequence[str]) -> str:
    shown = ", ".join(names[:20]) + (", ..." if len(names) > 20 else "")
    return f"; names here: {shown}" if names else "; no names can be used here, only numbers"
