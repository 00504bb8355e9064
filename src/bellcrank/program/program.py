"""A program: named inputs, outputs, and the live operations between them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from bellcrank.program.functions import Numbers
from bellcrank.program.graph import Graph
from bellcrank.program.trace import Expr, Scalar


@dataclass(frozen=True, eq=False)
class Program:
    """A straight-line program: `inputs` in flat order, `outputs` in flat order.

    An output may be a plain float where everything folded. Operations not needed for an output are
    not part of the program.
    """

    inputs: tuple[Expr, ...]
    outputs: tuple[Scalar, ...]
    name: str = "program"

    @staticmethod
    def of(inputs: Sequence[Expr], outputs: Sequence[Scalar], name: str = "program") -> Program:
        """A program from sequences; every input must be an input node."""
        wrong = [e for e in inputs if e.op != "input"]
        if wrong:
            raise ValueError(f"{wrong[0]!r} is computed, it cannot be an input of {name!r}")
        return Program(tuple(inputs), tuple(outputs), name)

    @property
    def graph(self) -> Graph | None:
        """The graph the operations live in; None when all outputs are constants."""
        return next((e.graph for e in (*self.outputs, *self.inputs) if isinstance(e, Expr)), None)

    @cached_property
    def operations(self) -> tuple[Expr, ...]:
        """The live operations in evaluation order, inputs left out."""
        graph = self.graph
        if graph is None:
            return ()
        known = {e.id for e in self.inputs}
        wanted = bytearray(len(graph.nodes))
        for e in self.outputs:
            if isinstance(e, Expr):
                wanted[e.id] = 1
        live: list[Expr] = []
        # What an operation needs was asked for before it.
        for node in reversed(graph.nodes):
            if not wanted[node.id]:
                continue
            if node.op != "input":
                live.append(node)
                for a in node.args:
                    if isinstance(a, Expr):
                        wanted[a.id] = 1
            elif node.id not in known:
                raise ValueError(f"program {self.name!r} uses {node!r}, which is not among its inputs")
        return tuple(reversed(live))

    @cached_property
    def twins(self) -> dict[int, int]:
        """Places of inputs that play the same part in two alike halves."""
        if self.graph is None or not self.graph.twins:
            return {}
        places = {e.args[0]: k for k, e in enumerate(self.inputs)}
        return {k: places[t] for n, k in places.items() if (t := self.graph.twins.get(n)) in places}

    def text(self) -> str:
        """Everything machine code depends on, in letters: equal programs, equal text, whatever the names."""
        number = {e.id: k for k, e in enumerate((*self.inputs, *self.operations))}
        # Constants differ from numbers of values by their type, -0.0 from 0.0 by its sign.
        tables: dict[str, int] = {}
        spelled: dict[int, tuple[str, int]] = {}

        def spelling(a: Any) -> Any:
            if not isinstance(a, Numbers):
                return (a,)
            if id(a) not in spelled:
                # Many operations look into one long table: it is written once.
                spelled[id(a)] = "table", tables.setdefault(repr(tuple(a)), len(tables))
            return spelled[id(a)]

        steps = [
            (e.op, *[number[a.id] if isinstance(a, Expr) else spelling(a) for a in e.args])
            for e in self.operations
        ]
        outputs = [number[e.id] if isinstance(e, Expr) else (float(e),) for e in self.outputs]
        return repr((len(self.inputs), steps, outputs, sorted(self.twins.items()))) + "".join(tables)
