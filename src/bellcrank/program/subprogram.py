"""Programs within programs: traced and compiled once, called wherever the same arithmetic is done on other numbers.

A contact on samples is some ten thousand operations, and each of its points does the same ones. Written out for every
point, in every program of a run, that is what takes the time until the first result. A :class:`Subprogram` is one node
in the graph of its caller, ``call``, with a node ``part`` for each of its results that is used. It has machine code of
its own, which programs are linked to. :func:`inlined` writes calls out again, for what knows no calls.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from bellcrank.program.functions import reachable, rebuild
from bellcrank.program.graph import Graph, ParameterGraph
from bellcrank.program.program import Program
from bellcrank.program.trace import Expr, Scalar

if TYPE_CHECKING:
    from bellcrank.program.count import Count


class Subprogram:
    """A program to be called from others.

    Its results are numbers, no truth values. Inputs named in `taken` are taken from the caller's graph by their name,
    as the parameters of a model are; they come last. `blocks` are the first places and the numbers of inputs that are
    likely to stand in a row among the caller's own inputs too: these are handed over where they are.
    """

    def __init__(
        self, program: Program, taken: Sequence[str] = (), blocks: Sequence[tuple[int, int]] = ()
    ) -> None:
        self.program = program
        self.taken = tuple(taken)
        self.blocks = tuple(blocks)
        self.objects: dict[tuple[Any, ...], bytes] = {}
        """Machine code by how it was made, for this process."""
        self._derivatives: dict[tuple[int, ...], Subprogram] = {}

    @staticmethod
    def traced(
        name: str,
        count: int,
        build: Callable[[Sequence[Expr]], Sequence[Scalar]],
        blocks: Sequence[tuple[int, int]] = (),
        twins: Mapping[int, int] | None = None,
    ) -> Subprogram:
        """Trace `build` on so many inputs; parameters of a model that it meets become further inputs.

        twins: Places of inputs that correspond, in both directions, as in :attr:`Graph.twins`.
        """
        graph = Graph()
        own = [graph.input(f"{name} {k}") for k in range(count)]
        graph.twins = {f"{name} {k}": f"{name} {j}" for k, j in (twins or {}).items()}
        outputs = [graph.bring(o) for o in build(own)]
        mine = {e.id for e in own}
        taken = [e for e in reachable(outputs) if e.op == "input" and e.id not in mine]
        return Subprogram(Program.of([*own, *taken], outputs, name), [e.args[0] for e in taken], blocks)

    def __repr__(self) -> str:
        return f"<subprogram {self.digest}>"

    @cached_property
    def digest(self) -> str:
        """What it does, in letters: equal subprograms, equal letters, whatever the names."""
        return hashlib.sha256(repr((self.program.text(), self.blocks)).encode()).hexdigest()

    @property
    def arguments(self) -> int:
        """How many numbers it takes."""
        return len(self.program.inputs)

    @property
    def results(self) -> int:
        """How many numbers it gives."""
        return len(self.program.outputs)

    @cached_property
    def places(self) -> tuple[tuple[int, int], ...]:
        """By input: 0 and its place among those that are packed, or the number of its block from 1 on and its place."""
        held = {first + j: (b + 1, j) for b, (first, count) in enumerate(self.blocks) for j in range(count)}
        packed = [k for k in range(len(self.program.inputs)) if k not in held]
        return tuple(
            {**held, **{k: (0, j) for j, k in enumerate(packed)}}[k] for k in range(len(self.program.inputs))
        )

    @cached_property
    def count(self) -> Count:
        """Its operations, those of what it calls included."""
        from bellcrank.program.count import count

        return count(self.program)

    def __call__(self, *args: Scalar) -> tuple[Scalar, ...]:
        """Its results at arguments of which at least one belongs to a trace."""
        graph = next(a.graph for a in args if isinstance(a, Expr) and not isinstance(a.graph, ParameterGraph))
        whole = call(self, *args, *(graph.input(name) for name in self.taken))
        return tuple(part(whole, k) for k in range(len(self.program.outputs)))

    def derivative(self, moving: tuple[int, ...]) -> Subprogram:
        """Its results, then their rates; its inputs are followed by the rates of those at the places `moving`."""
        found = self._derivatives.get(moving)
        if found is None:
            from bellcrank.program.derive import dual

            found = Subprogram(dual(self.program, moving), blocks=self.blocks)
            self._derivatives[moving] = found
        return found


def call(target: Subprogram, *args: Scalar) -> Any:
    """All results of a subprogram at once; :func:`part` takes them apart."""
    graph: Graph | None = None
    for a in args:
        if isinstance(a, Expr) and (graph is None or isinstance(graph, ParameterGraph)):
            graph = a.graph
    if graph is None:
        from bellcrank.program.evaluate import evaluate

        return [float(y) for y in evaluate(target.program, np.array(args, dtype=float))]
    brought = [graph.bring(a) if isinstance(a, Expr) else float(a) for a in args]
    key = tuple(a.id if isinstance(a, Expr) else (a,) for a in brought)
    return graph.node("call", (target, *brought), ("call", target.digest, *key))


def part(whole: Any, k: int) -> Scalar:
    """One of the results of a subprogram or of a routine."""
    if not isinstance(whole, Expr):
        return cast("float", whole[k])
    if whole.op == "call":
        result = whole.args[0].program.outputs[k]
        if not isinstance(result, Expr):
            return cast("float", result)
    return whole.graph.node("part", (whole, k), ("part", whole.id, k))


def call_moving(target: Subprogram, args: Sequence[Scalar], rates: Sequence[Scalar]) -> Any:
    """The call that gives the results of a subprogram and then their rates, from its arguments and theirs."""
    moving = tuple(k for k, r in enumerate(rates) if isinstance(r, Expr) or r != 0.0)
    return call(target.derivative(moving), *args, *(rates[k] for k in moving))


def part_rate(node: Expr, moving: Any) -> Scalar:
    """The rate of the result `node` of a subprogram or routine, from the call that gives values and rates."""
    whole, k = node.args
    return part(moving, whole.args[0].results + k)


def called(program: Program) -> list[Subprogram]:
    """The subprograms that a program calls, and those that they call, each once."""
    found: dict[str, Subprogram] = {}
    pending = [program]
    while pending:
        for node in pending.pop().operations:
            if node.op == "call" and node.args[0].digest not in found:
                found[node.args[0].digest] = node.args[0]
                pending.append(node.args[0].program)
    return list(found.values())


def inlined(program: Program) -> Program:
    """The same program with all calls written out."""
    if not any(node.op == "call" for node in program.operations):
        return program
    graph = Graph()
    if program.graph is not None:
        graph.twins = program.graph.twins
    inputs = [graph.input(e.args[0]) for e in program.inputs]
    outputs = _written(program, inputs, graph)
    return Program.of(inputs, outputs, program.name)


def _written(program: Program, args: Sequence[Scalar], graph: Graph) -> list[Scalar]:
    """The results of a program at these arguments, operation by operation."""
    known: dict[int, Any] = {e.id: a for e, a in zip(program.inputs, args, strict=True)}
    for node in program.operations:
        own = [known[a.id] if isinstance(a, Expr) else a for a in node.args]
        with graph.counting(node.stage):
            if node.op == "call":
                known[node.id] = _written(own[0].program, own[1:], graph)
            else:
                known[node.id] = rebuild(node.op, own)
    return [known[o.id] if isinstance(o, Expr) else o for o in program.outputs]


__all__ = ["Subprogram", "call", "call_moving", "called", "inlined", "part", "part_rate"]
