"""The graph of a trace: every operation once, in the order it was first asked for."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, ClassVar

from bellcrank.program.functions import rebuilt
from bellcrank.program.trace import Expr, Scalar


class BudgetExceeded(Exception):
    """A trace grew past the size at which it was given up."""


class Graph:
    """The nodes of one or more programs; equal operations are one node."""

    __slots__ = ("_by_key", "budget", "nodes", "stage", "twins", "written_out")
    lends: ClassVar[bool] = False
    """Whether an operation with a node of another graph moves this one's nodes there."""

    def __init__(self, budget: int | None = None) -> None:
        """budget: the most nodes to make before :class:`BudgetExceeded` is raised."""
        self.budget = budget
        self.nodes: list[Expr] = []
        self.stage = ""
        self.twins: dict[str, str] = {}
        """Names of inputs that correspond in two alike halves, in both directions; a hint, never a promise."""
        self.written_out: dict[Any, int] = {}
        """Operations of loops that are written out here, about, by what the loops share; 0 where they stay loops."""
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
        return rebuilt(value, self.input, {} if memo is None else memo)


class ParameterGraph(Graph):
    """The graph of a model's own parameters; its nodes move into whichever trace meets them."""

    __slots__ = ()
    lends: ClassVar[bool] = True
