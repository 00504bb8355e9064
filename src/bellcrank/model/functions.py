"""User functions: checked where they are given, called with what they ask for, traced into the program."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from bellcrank.errors import ModelError, TracedBranch, UnknownName, unknown_name
from bellcrank.model import checks
from bellcrank.model.parameters import ParameterTable, names_in
from bellcrank.program.graph import BudgetExceeded, Graph
from bellcrank.program.trace import TRUTH_OPS, Expr, Scalar

_POSITIONAL = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
SHAPES: dict[str, tuple[int, ...]] = {
    "position": (3,),
    "velocity": (3,),
    "angular_velocity": (3,),
    "rotation": (3, 3),
}
"""Arguments that are arrays; all others are scalars."""


class UserFunction:
    """A user's function behind one calling convention.

    Call it with all of `arguments`, in order or by keyword; it hands on those the function names. Vectors
    arrive at the function as NumPy arrays, so that ``-c * velocity`` works. The result is one scalar, or
    `count` of them as a tuple. What goes wrong inside carries the name of the user's object.
    """

    def __init__(self, who: str, function: Any, arguments: Sequence[str], count: int = 0) -> None:
        if not callable(function):
            shown = ", ".join(arguments)
            raise ModelError(
                f"{who} needs a function of ({shown}), not {function!r}; write lambda {shown}: ..."
            )
        self.who = who
        self.function: Callable[..., Any] = function
        self.arguments = tuple(arguments)
        self.count = count
        self.by_position, self.by_name = _wanted(who, function, self.arguments)

    @property
    def wants(self) -> frozenset[str]:
        """The arguments the function uses."""
        return frozenset((*self.by_position, *self.by_name))

    def __repr__(self) -> str:
        return f"<function of {self.who}>"

    def __call__(self, *values: Any, **named: Any) -> Any:
        given = dict(zip(self.arguments, values, strict=False)) | named
        given = {key: _as_array(given[key]) if key in SHAPES else given[key] for key in given}
        try:
            result = self.function(
                *(given[key] for key in self.by_position), **{key: given[key] for key in self.by_name}
            )
        except TracedBranch as error:
            raise TracedBranch(f"{self.who}: {error}") from error
        except (ModelError, BudgetExceeded):
            raise
        except Exception as error:
            raise ModelError(
                f"the function of {self.who} failed when it was traced: {type(error).__name__}: {error}"
            ) from error
        return self._checked(result)

    def _checked(self, result: Any) -> Any:
        what = f"the result of the function of {self.who}"
        if self.count:
            return tuple(self._scalar(what, x) for x in checks.sequence(what, result, self.count))
        if isinstance(result, np.ndarray) and result.size == 1:
            result = result.item()
        return self._scalar(what, result)

    def _scalar(self, what: str, result: Any) -> Scalar:
        if result is None:
            raise ModelError(f"{what} is None; let it return a number")
        if isinstance(result, Expr):
            if result.op in TRUTH_OPS:
                raise ModelError(f"{what} is a condition; return a number: where(condition, a, b)")
            return result
        return checks.number(what, result)

    def try_out(self, parameters: ParameterTable) -> None:
        """Trace the function once on throwaway inputs, so that its mistakes surface where it is given."""
        graph = Graph()
        prefix = f"{self.who}."
        given: dict[str, Any] = {}
        for key in self.arguments:
            shape = SHAPES.get(key, ())
            inputs = [graph.input(f"{prefix}{key}{index}") for index in np.ndindex(shape)]
            given[key] = _fill(inputs, shape) if shape else inputs[0]
        result = self(**given)
        for item in result if self.count else (result,):
            for used in names_in(item):
                if not used.startswith(prefix) and used not in parameters and used not in parameters.states:
                    raise ModelError(
                        f"the function of {self.who} uses {used!r}, which is not a parameter of this system"
                    )


def _fill(items: Sequence[Any], shape: tuple[int, ...]) -> np.ndarray[Any, Any]:
    result = np.empty(len(items), dtype=object)
    result[:] = items
    return result.reshape(shape)


def _as_array(given: Any) -> np.ndarray[Any, Any]:
    if isinstance(given, np.ndarray):
        return given
    rows = list(given)
    if rows and isinstance(rows[0], tuple | list | np.ndarray):
        return _fill([x for row in rows for x in row], (len(rows), len(rows[0])))
    return _fill(rows, (len(rows),))


def _wanted(who: str, function: Any, arguments: tuple[str, ...]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Which arguments to hand on by position and which by name."""
    try:
        signature = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        # Built-in functions without a signature take everything in order.
        return arguments, ()
    needed = [p for p in signature if p.kind in _POSITIONAL and p.default is p.empty]
    if any(p.kind is p.VAR_POSITIONAL for p in signature):
        return arguments, ()
    if len(arguments) == 1 and len(needed) == 1:
        return arguments, ()
    named: list[str] = []
    for p in signature:
        if p.kind is p.VAR_KEYWORD:
            named.extend(a for a in arguments if a not in named)
        elif p.name in arguments and p.kind is not p.POSITIONAL_ONLY:
            named.append(p.name)
        elif p.default is p.empty:
            said = unknown_name("argument", p.name, arguments)
            raise UnknownName(f"the function of {who}: {said}, as in lambda {', '.join(arguments)}: ...")
    return (), tuple(named)


def user_function(
    who: str, function: Any, arguments: Sequence[str], parameters: ParameterTable, count: int = 0
) -> UserFunction:
    """A checked and tried user function."""
    result = UserFunction(who, function, arguments, count)
    result.try_out(parameters)
    return result
