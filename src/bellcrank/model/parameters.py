"""Named numbers of a model, and the value an expression of them has now."""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from dataclasses import dataclass

from bellcrank.errors import ModelError
from bellcrank.program.functions import reachable, rebuilt
from bellcrank.program.graph import ParameterGraph
from bellcrank.program.trace import Expr, Scalar


@dataclass(frozen=True)
class Parameter:
    """A number that stays an input of the compiled program: `value` in `unit`.

    internal: Kept by the package itself (what contacts remember during a run); stands behind those of the user.
    """

    name: str
    value: float
    unit: str = ""
    internal: bool = False


class ParameterTable(dict[str, Parameter]):
    """The parameters of one system by name, with the graph their expressions live in.

    states: names of first-order states, which forces may use beside the parameters.
    """

    def __init__(self) -> None:
        super().__init__()
        self.graph = ParameterGraph()
        self.states: set[str] = set()
        self._internal: list[str] = []

    def add(self, parameter: Parameter) -> Expr:
        """A new parameter, those of the user before the internal ones, whenever they are made."""
        self[parameter.name] = parameter
        if parameter.internal:
            self._internal.append(parameter.name)
        else:
            for name in self._internal:
                self[name] = self.pop(name)
        return self.graph.input(parameter.name)

    def copied(self) -> ParameterTable:
        """A table of its own, whose expressions live in the same graph."""
        found = copy(self)
        found.states, found._internal = set(self.states), list(self._internal)
        return found

    def own(self) -> list[str]:
        """The names of the user's parameters."""
        return [name for name, parameter in self.items() if not parameter.internal]

    def value(self, number: Scalar) -> float:
        """The number that `number` is with the present parameter values."""
        return value(number, self)


def value(number: Scalar, parameters: Mapping[str, Parameter] | Mapping[str, float]) -> float:
    """The float that an expression of parameters comes to.

    `parameters` maps names to :class:`Parameter` or plain floats.
    """
    if not isinstance(number, Expr):
        return float(number)

    def known(name: str) -> float:
        if name not in parameters:
            raise ModelError(f"an expression uses {name!r}, which is not a parameter of this system")
        found = parameters[name]
        return found.value if isinstance(found, Parameter) else float(found)

    return float(rebuilt(number, known, {}))


def names_in(number: Scalar) -> tuple[str, ...]:
    """The names of the inputs an expression is made of, in order of creation."""
    return tuple(node.args[0] for node in reachable([number]) if node.op == "input")
