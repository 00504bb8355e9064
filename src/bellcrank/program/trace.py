"""The tracer: arithmetic on symbols, with folding and sharing as it goes.

Mechanics is written as plain Python over scalars. A scalar is a ``float``, known now, or an
:class:`Expr`, known at run time. Every operation on an ``Expr`` asks its :class:`Graph` for the node,
which folds zeros and ones away and returns the node it already has for an operation it has seen, so
that what remains is exactly the arithmetic the mechanism needs.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any, TypeAlias, cast

import numpy as np

from bellcrank.errors import TracedBranch

Scalar: TypeAlias = "float | Expr"

ARITHMETIC = ("neg", "add", "sub", "mul", "div")
FUNCTIONS_1 = (
    *("sqrt", "sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh"),
    *("exp", "log", "abs", "floor"),
)
FUNCTIONS_2 = ("atan2", "pow", "min", "max")
LOGIC = ("lt", "le", "eq", "and", "or", "not", "select")
TABLES = ("interval", "gather")
CALLS = ("call", "part")
OPS = ("input", *ARITHMETIC, *FUNCTIONS_1, *FUNCTIONS_2, *LOGIC, *TABLES, *CALLS)
"""Every operation a program may hold.

``lt le eq and or not`` yield truth values (used only by ``select`` and each other);
``select(c, a, b)`` is a where c else b; ``interval(x, breakpoints)`` is the largest k, as a float, with
``breakpoints[k] <= x``, clipped to 0 ... n-2; ``gather(k, values)`` is ``values[int(k)]``. ``call`` and ``part``:
:mod:`bellcrank.program.subprogram`.
"""

TRUTH_OPS = frozenset({"lt", "le", "eq", "and", "or", "not"})


class BudgetExceeded(Exception):
    """A trace grew past the size at which it was given up."""


class Graph:
    """The nodes of one or more programs; equal operations are one node."""

    __slots__ = ("_by_key", "budget", "nodes", "stage", "twins")

    def __init__(self, budget: int | None = None) -> None:
        """budget: the most nodes to make before :class:`BudgetExceeded` is raised."""
        self.budget = budget
        self.nodes: list[Expr] = []
        self.stage = ""
        self.twins: dict[str, str] = {}
        """Names of inputs that play the same part in two alike halves, each way; a hint, never a promise."""
        self._by_key: dict[tuple[object, ...], Expr] = {}

    def input(self, name: str) -> Expr:
        """The run-time number called `name`; asking twice gives the same node."""
        return self.node("input", (name,), ("input", name))

    def node(self, op: str, args: tuple[Any, ...], key: tuple[object, ...]) -> Expr:
        """The node of this operation, shared if it exists already."""
        found = self._by_key.get(key)
        if found is None:
            if self.budget is not None and len(self.nodes) >= self.budget:
                raise BudgetExceeded
            found = Expr(self, len(self.nodes), op, args, self.stage)
            self.nodes.append(found)
            self._by_key[key] = found
        return found

    @contextmanager
    def counting(self, stage: str) -> Iterator[None]:
        """Book the operations made inside under `stage` (the outermost name wins)."""
        before = self.stage
        self.stage = before or stage
        try:
            yield
        finally:
            self.stage = before

    def bring(self, value: Scalar, memo: dict[int, Scalar] | None = None) -> Scalar:
        """`value`, possibly of another graph, as a value of this one."""
        if not isinstance(value, Expr) or value.graph is self:
            return value
        memo = {} if memo is None else memo
        pending = [value]
        while pending:
            node = pending[-1]
            if node.id in memo:
                pending.pop()
                continue
            missing = [a for a in node.args if isinstance(a, Expr) and a.id not in memo]
            if missing:
                pending.extend(missing)
                continue
            pending.pop()
            args = [memo[a.id] if isinstance(a, Expr) else a for a in node.args]
            memo[node.id] = self.input(node.args[0]) if node.op == "input" else rebuild(node.op, args)
        return memo[value.id]


def _same_graph(a: Expr, b: Expr) -> tuple[Scalar, Scalar]:
    """Bring the operand of the older graph (a model's parameters) into the other (a trace)."""
    if a.graph.__class__ is ParameterGraph:
        return b.graph.bring(a), b
    return a, a.graph.bring(b)


class ParameterGraph(Graph):
    """The graph of a model's own parameters; its nodes move into whichever trace meets them."""

    __slots__ = ()


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
            return _sub(b, a)
        return self.graph.node("neg", (self,), ("neg", self.id))

    def __pos__(self) -> Scalar:
        return self

    def __add__(self, other: Scalar) -> Scalar:
        return _add(self, other) if isinstance(other, _OPERAND) else NotImplemented

    def __radd__(self, other: Scalar) -> Scalar:
        return _add(self, other) if isinstance(other, _OPERAND) else NotImplemented

    def __sub__(self, other: Scalar) -> Scalar:
        return _sub(self, other) if isinstance(other, _OPERAND) else NotImplemented

    def __rsub__(self, other: Scalar) -> Scalar:
        return _sub(other, self) if isinstance(other, _OPERAND) else NotImplemented

    def __mul__(self, other: Scalar) -> Scalar:
        return _mul(self, other) if isinstance(other, _OPERAND) else NotImplemented

    def __rmul__(self, other: Scalar) -> Scalar:
        return _mul(self, other) if isinstance(other, _OPERAND) else NotImplemented

    def __truediv__(self, other: Scalar) -> Scalar:
        return _div(self, other) if isinstance(other, _OPERAND) else NotImplemented

    def __rtruediv__(self, other: Scalar) -> Scalar:
        return _div(other, self) if isinstance(other, _OPERAND) else NotImplemented

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
        function_of_one = _UFUNC_METHODS.get(name)
        if function_of_one is None:
            raise AttributeError(name)
        return lambda: function_of_one(self)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        if method != "__call__" or kwargs:
            raise TypeError(f"numpy.{ufunc.__name__}.{method} cannot be traced")
        if any(isinstance(x, np.ndarray) and x.ndim for x in inputs):
            arrays = np.broadcast_arrays(*[_as_object_array(x) for x in inputs])
            flat = [
                self.__array_ufunc__(ufunc, method, *items) if _any_expr(items) else ufunc(*items)
                for items in zip(*[a.ravel() for a in arrays], strict=True)
            ]
            result = np.empty(len(flat), dtype=object)
            result[:] = flat
            return result.reshape(arrays[0].shape)
        handler = _UFUNCS.get(ufunc.__name__)
        if handler is None:
            raise TypeError(
                f"numpy.{ufunc.__name__} cannot be traced into a mechanism; "
                f"known: {', '.join(sorted(_UFUNCS))}"
            )
        return handler(*[x.item() if isinstance(x, np.ndarray | np.generic) else x for x in inputs])

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        handler = _ARRAY_FUNCTIONS.get(func.__name__)
        if handler is None:
            raise TypeError(
                f"numpy.{func.__name__} cannot be traced into a mechanism; "
                f"known: {', '.join(sorted([*_UFUNCS, *_ARRAY_FUNCTIONS]))}"
            )
        return handler(*args, **kwargs)


_OPERAND = (Expr, float, int, np.floating, np.integer)


def _as_object_array(x: Any) -> np.ndarray[Any, Any]:
    if isinstance(x, Expr):
        cell = np.empty((), dtype=object)
        cell[()] = x
        return cell
    return np.asarray(x)


def _any_expr(items: Sequence[Any]) -> bool:
    return any(isinstance(item, Expr) for item in items)


def _add(a: Scalar, b: Scalar) -> Scalar:
    if not isinstance(a, Expr):
        a, b = b, a
    if not isinstance(b, Expr):
        b = float(b)
        if not isinstance(a, Expr):
            return a + b
        if b == 0.0:
            return a
        if a.op == "add" and not isinstance(a.args[1], Expr):
            return _add(a.args[0], a.args[1] + b)
        return a.graph.node("add", (a, b), ("add", a.id, None, b))
    assert isinstance(a, Expr)
    if a.graph is not b.graph:
        return operator_add(*_same_graph(a, b))
    if b.op == "neg":
        return _sub(a, b.args[0])
    if a.op == "neg":
        return _sub(b, a.args[0])
    if b.id < a.id:
        a, b = b, a
    return a.graph.node("add", (a, b), ("add", a.id, b.id))


def _sub(a: Scalar, b: Scalar) -> Scalar:
    if not isinstance(b, Expr):
        return _add(a, -float(b))
    if not isinstance(a, Expr):
        a = float(a)
        if a == 0.0:
            return -b
        if b.op == "neg":
            return _add(b.args[0], a)
        return b.graph.node("sub", (a, b), ("sub", None, a, b.id))
    if a.graph is not b.graph:
        return operator_sub(*_same_graph(a, b))
    if a is b:
        return 0.0
    if b.op == "neg":
        return _add(a, b.args[0])
    if a.op == "neg":
        return -_add(a.args[0], b)
    return a.graph.node("sub", (a, b), ("sub", a.id, b.id))


def _mul(a: Scalar, b: Scalar) -> Scalar:
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
            return _add(a, a)
        if a.op == "neg":
            return _mul(a.args[0], -b)
        if a.op == "mul" and not isinstance(a.args[1], Expr):
            return _mul(a.args[0], a.args[1] * b)
        if b < 0.0:
            return -a.graph.node("mul", (a, -b), ("mul", a.id, None, -b))
        return a.graph.node("mul", (a, b), ("mul", a.id, None, b))
    assert isinstance(a, Expr)
    if a.graph is not b.graph:
        return operator_mul(*_same_graph(a, b))
    if a.op == "neg":
        return -_mul(a.args[0], b)
    if b.op == "neg":
        return -_mul(a, b.args[0])
    if b.id < a.id:
        a, b = b, a
    return a.graph.node("mul", (a, b), ("mul", a.id, b.id))


def _div(a: Scalar, b: Scalar) -> Scalar:
    if not isinstance(b, Expr):
        b = float(b)
        if not isinstance(a, Expr):
            return a / b
        if b == 0.0:
            raise ZeroDivisionError("a traced value is divided by the constant zero")
        return _mul(a, 1.0 / b) if math.frexp(b)[0] in (0.5, -0.5) else _divide_node(a, b)
    if not isinstance(a, Expr):
        a = float(a)
        if a == 0.0:
            return 0.0
        if b.op == "neg":
            return -_div(a, b.args[0])
        return b.graph.node("div", (a, b), ("div", None, a, b.id))
    if a.graph is not b.graph:
        return operator_div(*_same_graph(a, b))
    if a is b:
        return 1.0
    if a.op == "neg":
        return -_div(a.args[0], b)
    if b.op == "neg":
        return -_div(a, b.args[0])
    return a.graph.node("div", (a, b), ("div", a.id, b.id))


def _divide_node(a: Expr, b: float) -> Scalar:
    if b == 1.0:
        return a
    if b == -1.0:
        return -a
    # One rounding more than a division, many cycles less.
    return _mul(a, 1.0 / b)


def operator_add(a: Scalar, b: Scalar) -> Scalar:
    """a + b."""
    return _add(a, b)


def operator_sub(a: Scalar, b: Scalar) -> Scalar:
    """a - b."""
    return _sub(a, b)


def operator_mul(a: Scalar, b: Scalar) -> Scalar:
    """a * b."""
    return _mul(a, b)


def operator_div(a: Scalar, b: Scalar) -> Scalar:
    """a / b."""
    return _div(a, b)


def _joined(*args: Scalar) -> tuple[Graph | None, list[Scalar]]:
    """The graph the arguments share (traces take in parameters), and the arguments in it."""
    graph: Graph | None = None
    for a in args:
        if isinstance(a, Expr) and (graph is None or graph.__class__ is ParameterGraph):
            graph = a.graph
    if graph is None:
        return None, [float(a) if not isinstance(a, bool) else a for a in args]
    return graph, [graph.bring(a) if isinstance(a, Expr) else float(a) for a in args]


def _key(args: Sequence[Scalar]) -> tuple[object, ...]:
    return tuple(a.id if isinstance(a, Expr) else (a,) for a in args)


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


def sin(x: Scalar) -> Scalar:
    """The sine [x in rad]."""
    return function("sin", x)


def cos(x: Scalar) -> Scalar:
    """The cosine [x in rad]."""
    return function("cos", x)


def sqrt(x: Scalar) -> Scalar:
    """The square root."""
    return function("sqrt", x)


def atan2(y: Scalar, x: Scalar) -> Scalar:
    """The angle of the point (x, y) [rad]."""
    graph, args = _joined(y, x)
    if graph is None:
        return math.atan2(cast("float", args[0]), cast("float", args[1]))
    return graph.node("atan2", tuple(args), ("atan2", *_key(args)))


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
    graph, args = _joined(x, y)
    assert graph is not None
    return graph.node("pow", tuple(args), ("pow", *_key(args)))


def _whole_power(x: Expr, n: int) -> Scalar:
    if n < 0:
        return _div(1.0, _whole_power(x, -n))
    result: Scalar = 1.0
    square: Scalar = x
    while n:
        if n & 1:
            result = _mul(result, square)
        n >>= 1
        if n:
            square = _mul(square, square)
    return result


def minimum(a: Scalar, b: Scalar) -> Scalar:
    """The smaller of two numbers."""
    graph, args = _joined(a, b)
    if graph is None:
        x, y = cast("list[float]", args)
        return x if x < y or x != x else y
    return graph.node("min", tuple(args), ("min", *_key(args)))


def maximum(a: Scalar, b: Scalar) -> Scalar:
    """The larger of two numbers."""
    graph, args = _joined(a, b)
    if graph is None:
        x, y = cast("list[float]", args)
        return x if x > y or x != x else y
    return graph.node("max", tuple(args), ("max", *_key(args)))


def compare(op: str, a: Scalar, b: Scalar) -> Scalar:
    """A truth value: a < b ("lt"), a <= b ("le") or a == b ("eq")."""
    graph, args = _joined(a, b)
    if graph is None:
        x, y = args
        return bool(x < y if op == "lt" else x <= y if op == "le" else x == y)
    return graph.node(op, tuple(args), (op, *_key(args)))


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
    graph, args = _joined(a, b)
    assert graph is not None
    return graph.node(op, tuple(args), (op, *_key(args)))


def logical_not(a: Scalar) -> Scalar:
    """The opposite truth value."""
    if not isinstance(a, Expr):
        return not a
    if a.op == "not":
        return cast("Scalar", a.args[0])
    if a.op not in TRUTH_OPS:
        raise TypeError("'not' needs a condition such as x > 0, not a number")
    return a.graph.node("not", (a,), ("not", a.id))


def where(condition: Scalar | bool, a: Scalar, b: Scalar) -> Scalar:
    """`a` where the condition holds, else `b`; both are evaluated."""
    if not isinstance(condition, Expr):
        return a if condition else b
    if condition.op not in TRUTH_OPS:
        raise TypeError("the first argument of where must be a condition such as x > 0, not a number")
    graph, (condition, a, b) = _joined(condition, a, b)
    assert graph is not None
    if a is b or (not isinstance(a, Expr) and not isinstance(b, Expr) and a == b):
        return a
    return graph.node("select", (condition, a, b), ("select", *_key((condition, a, b))))


def interval(x: Scalar, breakpoints: Sequence[float]) -> Scalar:
    """The number of the interval of the increasing `breakpoints` that holds x, clipped to the table."""
    points = tuple(float(p) for p in breakpoints)
    if not isinstance(x, Expr):
        found = int(np.searchsorted(points, x, side="right")) - 1
        return float(min(max(found, 0), len(points) - 2))
    return x.graph.node("interval", (x, points), ("interval", x.id, points))


def gather(k: Scalar, values: Sequence[float]) -> Scalar:
    """The k-th of `values` (k a whole number)."""
    table = tuple(float(v) for v in values)
    if not isinstance(k, Expr):
        return table[int(k)]
    if all(v == table[0] for v in table):
        return table[0]
    return k.graph.node("gather", (k, table), ("gather", k.id, table))


def clip(x: Scalar, low: Scalar, high: Scalar) -> Scalar:
    """x held between `low` and `high`."""
    return minimum(maximum(x, low), high)


def sign(x: Scalar) -> Scalar:
    """-1, 0 or 1."""
    return where(compare("lt", x, 0.0), -1.0, where(compare("lt", 0.0, x), 1.0, 0.0))


def rebuild(op: str, args: Sequence[Any]) -> Scalar:
    """The operation `op` on new arguments, folded anew."""
    return _BUILDERS[op](*args)


def _calls() -> Any:
    from bellcrank.program import subprogram

    return subprogram


_BUILDERS: dict[str, Callable[..., Scalar]] = {
    "neg": lambda a: -a, "add": _add, "sub": _sub, "mul": _mul, "div": _div,
    "atan2": atan2, "pow": power, "min": minimum, "max": maximum,
    "lt": lambda a, b: compare("lt", a, b), "le": lambda a, b: compare("le", a, b),
    "eq": lambda a, b: compare("eq", a, b), "and": lambda a, b: logical("and", a, b),
    "or": lambda a, b: logical("or", a, b), "not": logical_not, "select": where,
    "interval": interval, "gather": gather,
    "call": lambda target, *args: _calls().call(target, *args), "part": lambda whole, k: _calls().part(whole, k),
    **{name: partial(function, name) for name in FUNCTIONS_1},
}  # fmt: skip

_RENAMED = {"arcsin": "asin", "arccos": "acos", "arctan": "atan", "absolute": "abs", "fabs": "abs"}
_UFUNC_METHODS: dict[str, Callable[[Expr], Scalar]] = {
    **{name: partial(function, name) for name in FUNCTIONS_1},
    **{new: partial(function, name) for new, name in _RENAMED.items()},
    "square": lambda x: x * x,
    "sign": sign,
    "degrees": lambda x: x * (180.0 / math.pi),
    "radians": lambda x: x * (math.pi / 180.0),
    "deg2rad": lambda x: x * (math.pi / 180.0),
    "rad2deg": lambda x: x * (180.0 / math.pi),
    "reciprocal": lambda x: 1.0 / x,
    "conjugate": lambda x: x,
}
_UFUNCS: dict[str, Callable[..., Any]] = {
    **_UFUNC_METHODS,
    "add": _add, "subtract": _sub, "multiply": _mul, "divide": _div, "true_divide": _div,
    "negative": lambda x: -x, "positive": lambda x: x, "power": power, "float_power": power,
    "minimum": minimum, "maximum": maximum, "fmin": minimum, "fmax": maximum, "arctan2": atan2,
    "hypot": lambda a, b: sqrt(_add(_mul(a, a), _mul(b, b))),
    "less": lambda a, b: compare("lt", a, b), "less_equal": lambda a, b: compare("le", a, b),
    "greater": lambda a, b: compare("lt", b, a), "greater_equal": lambda a, b: compare("le", b, a),
    "equal": lambda a, b: compare("eq", a, b), "not_equal": lambda a, b: logical_not(compare("eq", a, b)),
    "logical_and": lambda a, b: logical("and", a, b), "logical_or": lambda a, b: logical("or", a, b),
    "logical_not": logical_not,
    "heaviside": lambda x, half: where(compare("lt", x, 0.0), 0.0, where(compare("lt", 0.0, x), 1.0, half)),
}  # fmt: skip


def _interp(x: Any, xp: Any, fp: Any) -> Scalar:
    from bellcrank.program.tables import linear_table

    return linear_table(xp, fp)(x)


_ARRAY_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "where": where,
    "clip": lambda x, low, high: clip(x, low, high),
    "interp": _interp,
    "real": lambda x: x,
}
