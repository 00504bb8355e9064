"""The tracer: arithmetic on symbols, with folding and sharing as it goes.

Mechanics is written as plain Python over scalars. A scalar is a ``float``, known now, or an
:class:`Expr`, known at run time. Every operation on an ``Expr`` folds zeros and ones away and asks the
:class:`~bellcrank.program.graph.Graph` for the node, which is the one it already has for an operation it has
seen, so that what remains is exactly the arithmetic the mechanism needs.

Here are the operations Python has signs for, and what they need; those with names are in
:mod:`bellcrank.program.functions`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias, cast

import numpy as np

from bellcrank.errors import TracedBranch

if TYPE_CHECKING:
    from bellcrank.program.graph import Graph

Scalar: TypeAlias = "float | Expr"

ARITHMETIC = ("neg", "add", "sub", "mul", "div")
FUNCTIONS_1 = (
    *("sqrt", "sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh"),
    *("exp", "log", "abs", "floor"),
)
FUNCTIONS_2 = ("atan2", "pow", "min", "max")
LOGIC = ("lt", "le", "eq", "and", "or", "not", "select")
TABLES = ("interval", "gather")
CALLS = ("call", "routine", "part")
OPS = ("input", *ARITHMETIC, *FUNCTIONS_1, *FUNCTIONS_2, *LOGIC, *TABLES, *CALLS)
"""Every operation a program may hold.

``lt le eq and or not`` yield truth values (used only by ``select`` and each other);
``select(c, a, b)`` is a where c else b; ``interval(x, breakpoints)`` is the largest k, as a float, with
``breakpoints[k] <= x``, clipped to 0 ... n-2; ``gather(k, values)`` is ``values[int(k)]``. ``call``, and ``part``
of what it gives: :mod:`bellcrank.program.subprogram`; ``routine``: :mod:`bellcrank.program.loops.routine`.
"""

TRUTH_OPS = frozenset({"lt", "le", "eq", "and", "or", "not"})


class Expr:
    """A number known at run time. Behaves like one in arithmetic and in NumPy's functions."""

    __slots__ = ("args", "graph", "id", "op", "stage")
    __array_priority__ = 1000

    def __init__(self, graph: Graph, id: int, op: str, args: tuple[Any, ...], stage: str) -> None:
        self.graph = graph
        self.id = id
        self.op = op
        self.args = args
        self.stage = stage

    def __repr__(self) -> str:
        return f"<{self.args[0]}>" if self.op == "input" else f"<{self.op} #{self.id}>"

    def __bool__(self) -> bool:
        raise TracedBranch(
            "this value is known only at run time, so Python cannot branch on it; "
            "write where(condition, a, b), minimum(a, b) or maximum(a, b) instead of if, and, or, min, max"
        )

    def __float__(self) -> float:
        raise TracedBranch(
            "this value is known only at run time and cannot become a float now; "
            "use NumPy's functions (np.sin, not math.sin) on it"
        )

    __int__ = __float__
    __index__ = __float__

    def __hash__(self) -> int:
        return hash((id(self.graph), self.id))

    def __neg__(self) -> Scalar:
        if self.op == "neg":
            return cast("Scalar", self.args[0])
        if self.op == "sub":
            a, b = self.args
            return sub(b, a)
        return self.graph.node("neg", (self,), ("neg", self.id))

    def __pos__(self) -> Scalar:
        return self

    def __add__(self, other: Scalar) -> Scalar:
        return add(self, other) if isinstance(other, _OPERAND) else NotImplemented

    def __radd__(self, other: Scalar) -> Scalar:
        return add(self, other) if isinstance(other, _OPERAND) else NotImplemented

    def __sub__(self, other: Scalar) -> Scalar:
        return sub(self, other) if isinstance(other, _OPERAND) else NotImplemented

    def __rsub__(self, other: Scalar) -> Scalar:
        return sub(other, self) if isinstance(other, _OPERAND) else NotImplemented

    def __mul__(self, other: Scalar) -> Scalar:
        return mul(self, other) if isinstance(other, _OPERAND) else NotImplemented

    def __rmul__(self, other: Scalar) -> Scalar:
        return mul(self, other) if isinstance(other, _OPERAND) else NotImplemented

    def __truediv__(self, other: Scalar) -> Scalar:
        return div(self, other) if isinstance(other, _OPERAND) else NotImplemented

    def __rtruediv__(self, other: Scalar) -> Scalar:
        return div(other, self) if isinstance(other, _OPERAND) else NotImplemented

    def __pow__(self, other: Scalar) -> Scalar:
        return power(self, other) if isinstance(other, _OPERAND) else NotImplemented

    def __rpow__(self, other: Scalar) -> Scalar:
        return power(other, self) if isinstance(other, _OPERAND) else NotImplemented

    def __abs__(self) -> Scalar:
        return function("abs", self)

    def __lt__(self, other: Scalar) -> Any:
        return compare("lt", self, other)

    def __le__(self, other: Scalar) -> Any:
        return compare("le", self, other)

    def __gt__(self, other: Scalar) -> Any:
        return compare("lt", other, self)

    def __ge__(self, other: Scalar) -> Any:
        return compare("le", other, self)

    def __eq__(self, other: object) -> Any:
        return compare("eq", self, cast("Scalar", other)) if isinstance(other, _OPERAND) else NotImplemented

    def __ne__(self, other: object) -> Any:
        if not isinstance(other, _OPERAND):
            return NotImplemented
        return logical_not(compare("eq", self, cast("Scalar", other)))

    def __and__(self, other: Scalar) -> Scalar:
        return logical("and", self, other)

    __rand__ = __and__

    def __or__(self, other: Scalar) -> Scalar:
        return logical("or", self, other)

    __ror__ = __or__

    def __invert__(self) -> Scalar:
        return logical_not(self)

    def __getattr__(self, name: str) -> Any:
        # NumPy calls these methods on the elements of object arrays: np.sin(array of Expr) -> element.sin().
        from bellcrank.program.numpy_functions import METHODS

        function_of_one = METHODS.get(name)
        if function_of_one is None:
            raise AttributeError(name)
        return lambda: function_of_one(self)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        from bellcrank.program.numpy_functions import call_ufunc

        return call_ufunc(ufunc, method, inputs, kwargs)

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        from bellcrank.program.numpy_functions import call_function

        return call_function(func, args, kwargs)


_OPERAND = (Expr, float, int, np.floating, np.integer)


def _same_graph(a: Expr, b: Expr) -> tuple[Scalar, Scalar]:
    """Bring the operand of the older graph (a model's parameters) into the other (a trace)."""
    if a.graph.lends:
        return b.graph.bring(a), b
    return a, a.graph.bring(b)


def add(a: Scalar, b: Scalar) -> Scalar:
    """a + b, folded."""
    if not isinstance(a, Expr):
        a, b = b, a
    if not isinstance(b, Expr):
        b = float(b)
        if not isinstance(a, Expr):
            return a + b
        if b == 0.0:
            return a
        if a.op == "add" and not isinstance(a.args[1], Expr):
            return add(a.args[0], a.args[1] + b)
        if a.op == "sub" and not isinstance(a.args[0], Expr):
            return sub(a.args[0] + b, a.args[1])
        if a.op == "neg":
            return sub(b, a.args[0])
        return a.graph.node("add", (a, b), ("add", a.id, None, b))
    assert isinstance(a, Expr)
    if a.graph is not b.graph:
        return add(*_same_graph(a, b))
    if b.op == "neg":
        return sub(a, b.args[0])
    if a.op == "neg":
        return sub(b, a.args[0])
    if b.id < a.id:
        a, b = b, a
    return a.graph.node("add", (a, b), ("add", a.id, b.id))


def sub(a: Scalar, b: Scalar) -> Scalar:
    """a - b, folded."""
    if not isinstance(b, Expr):
        return add(a, -float(b))
    if not isinstance(a, Expr):
        a = float(a)
        if a == 0.0:
            return -b
        if b.op == "neg":
            return add(b.args[0], a)
        if b.op == "add" and not isinstance(b.args[1], Expr):
            return sub(a - b.args[1], b.args[0])
        if b.op == "sub" and not isinstance(b.args[0], Expr):
            return add(b.args[1], a - b.args[0])
        return b.graph.node("sub", (a, b), ("sub", None, a, b.id))
    if a.graph is not b.graph:
        return sub(*_same_graph(a, b))
    if a is b:
        return 0.0
    if b.op == "neg":
        return add(a, b.args[0])
    if a.op == "neg":
        return -add(a.args[0], b)
    return a.graph.node("sub", (a, b), ("sub", a.id, b.id))


def mul(a: Scalar, b: Scalar) -> Scalar:
    """a * b, folded."""
    if not isinstance(a, Expr):
        a, b = b, a
    if not isinstance(b, Expr):
        b = float(b)
        if not isinstance(a, Expr):
            return a * b
        if b == 0.0:
            return 0.0
        if b == 1.0:
            return a
        if b == -1.0:
            return -a
        if b == 2.0 and (a.op != "mul" or isinstance(a.args[1], Expr)):
            return add(a, a)
        if a.op == "neg":
            return mul(a.args[0], -b)
        if a.op == "mul" and not isinstance(a.args[1], Expr):
            return mul(a.args[0], a.args[1] * b)
        if b < 0.0:
            return -a.graph.node("mul", (a, -b), ("mul", a.id, None, -b))
        return a.graph.node("mul", (a, b), ("mul", a.id, None, b))
    assert isinstance(a, Expr)
    if a.graph is not b.graph:
        return mul(*_same_graph(a, b))
    if a.op == "neg":
        return -mul(a.args[0], b)
    if b.op == "neg":
        return -mul(a, b.args[0])
    if b.id < a.id:
        a, b = b, a
    return a.graph.node("mul", (a, b), ("mul", a.id, b.id))


def div(a: Scalar, b: Scalar) -> Scalar:
    """a / b, folded."""
    if not isinstance(b, Expr):
        b = float(b)
        if not isinstance(a, Expr):
            return a / b
        if b == 0.0:
            raise ZeroDivisionError("a traced value is divided by the constant zero")
        return mul(a, 1.0 / b) if math.frexp(b)[0] in (0.5, -0.5) else _divide_node(a, b)
    if not isinstance(a, Expr):
        a = float(a)
        if a == 0.0:
            return 0.0
        if b.op == "neg":
            return -div(a, b.args[0])
        return b.graph.node("div", (a, b), ("div", None, a, b.id))
    if a.graph is not b.graph:
        return div(*_same_graph(a, b))
    if a is b:
        return 1.0
    if a.op == "neg":
        return -div(a.args[0], b)
    if b.op == "neg":
        return -div(a, b.args[0])
    return a.graph.node("div", (a, b), ("div", a.id, b.id))


def _divide_node(a: Expr, b: float) -> Scalar:
    if b == 1.0:
        return a
    if b == -1.0:
        return -a
    # One rounding more than a division, many cycles less.
    return mul(a, 1.0 / b)


def joined(*args: Scalar) -> tuple[Graph | None, list[Scalar]]:
    """The graph the arguments share (traces take in parameters), and the arguments in it."""
    graph: Graph | None = None
    for a in args:
        if isinstance(a, Expr) and (graph is None or graph.lends):
            graph = a.graph
    if graph is None:
        return None, [float(a) if not isinstance(a, bool) else a for a in args]
    return graph, [graph.bring(a) if isinstance(a, Expr) else float(a) for a in args]


def key_of(args: Sequence[Scalar]) -> tuple[object, ...]:
    """The key by which nodes with equal arguments are shared."""
    # 0.0 and -0.0 are equal, but not the same number.
    return tuple(a.id if isinstance(a, Expr) else (a,) if a else (a, math.copysign(1.0, a)) for a in args)


_FLOAT_FUNCTIONS: dict[str, Callable[[float], float]] = {
    "sqrt": math.sqrt, "sin": math.sin, "cos": math.cos, "tan": math.tan, "asin": math.asin,
    "acos": math.acos, "atan": math.atan, "sinh": math.sinh, "cosh": math.cosh, "tanh": math.tanh,
    "exp": math.exp, "log": math.log, "abs": abs, "floor": lambda x: float(math.floor(x)),
}  # fmt: skip
_ODD = frozenset({"sin", "tan", "asin", "atan", "sinh", "tanh"})
_EVEN = frozenset({"cos", "cosh", "abs"})


def function(name: str, x: Scalar) -> Scalar:
    """One of :data:`FUNCTIONS_1` of `x`."""
    if not isinstance(x, Expr):
        return _FLOAT_FUNCTIONS[name](float(x))
    if x.op == "neg" and name in _ODD:
        return -function(name, x.args[0])
    if x.op == "neg" and name in _EVEN:
        return function(name, x.args[0])
    return x.graph.node(name, (x,), (name, x.id))


def power(x: Scalar, y: Scalar) -> Scalar:
    """x to the y; small whole exponents become multiplications."""
    if not isinstance(y, Expr):
        y = float(y)
        if not isinstance(x, Expr):
            return math.pow(x, y)  # ** would turn complex for a negative x
        if y == 0.5:
            return function("sqrt", x)
        if abs(y) <= 64 and y == int(y):
            return _whole_power(x, int(y))
    graph, args = joined(x, y)
    assert graph is not None
    return graph.node("pow", tuple(args), ("pow", *key_of(args)))


def _whole_power(x: Expr, n: int) -> Scalar:
    if n < 0:
        return div(1.0, _whole_power(x, -n))
    result: Scalar = 1.0
    square: Scalar = x
    while n:
        if n & 1:
            result = mul(result, square)
        n >>= 1
        if n:
            square = mul(square, square)
    return result


def compare(op: str, a: Scalar, b: Scalar) -> Scalar:
    """A truth value: a < b ("lt"), a <= b ("le") or a == b ("eq")."""
    if not isinstance(a, Expr) and not isinstance(b, Expr):
        return bool(a < b if op == "lt" else a <= b if op == "le" else a == b)
    graph, args = joined(a, b)
    assert graph is not None
    return graph.node(op, tuple(args), (op, *key_of(args)))


def logical(op: str, a: Scalar, b: Scalar) -> Scalar:
    """Both ("and") or either ("or") of two truth values."""
    for x, y in ((a, b), (b, a)):
        if not isinstance(x, Expr):
            return (y if x else False) if op == "and" else (True if x else y)
    assert isinstance(a, Expr)
    assert isinstance(b, Expr)
    for x in (a, b):
        if x.op not in TRUTH_OPS:
            raise TypeError(f"{op!r} needs conditions such as x > 0 on both sides, not numbers")
    graph, args = joined(a, b)
    assert graph is not None
    return graph.node(op, tuple(args), (op, *key_of(args)))


def logical_not(a: Scalar) -> Scalar:
    """The opposite truth value."""
    if not isinstance(a, Expr):
        return not a
    if a.op == "not":
        return cast("Scalar", a.args[0])
    if a.op not in TRUTH_OPS:
        raise TypeError("'not' needs a condition such as x > 0, not a number")
    return a.graph.node("not", (a,), ("not", a.id))
