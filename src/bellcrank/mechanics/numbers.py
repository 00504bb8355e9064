"""What the numbers of a model are in a state: inputs of a trace, or the floats they have now."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from bellcrank.model.parameters import value as parameter_value
from bellcrank.program.graph import Graph
from bellcrank.program.trace import Expr, Scalar


class Numbers(Protocol):
    """What a model's numbers are in this state: inputs of a trace, or the floats they are now."""

    def number(self, value: Scalar) -> Scalar:
        """An expression of parameters."""
        ...

    def parameter(self, name: str) -> Scalar:
        """A parameter by name."""
        ...


class Traced:
    """Parameters become inputs of the graph traced into."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph

    def number(self, value: Scalar) -> Scalar:
        """An expression of parameters, brought into the graph."""
        return self.graph.bring(value)

    def parameter(self, name: str) -> Scalar:
        """The input of a parameter."""
        return self.graph.input(name)


class Known:
    """Parameters have the given values."""

    def __init__(self, values: Mapping[str, float]) -> None:
        self.values = values

    def number(self, value: Scalar) -> Scalar:
        """The float an expression of parameters comes to."""
        return parameter_value(value, self.values) if isinstance(value, Expr) else value

    def parameter(self, name: str) -> Scalar:
        """The value of a parameter."""
        return self.values[name]
