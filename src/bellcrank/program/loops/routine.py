"""Functions of the loop language that traced programs call.

A :class:`Routine` is one node in the graph of its caller, with a node for each of its results that is used. Its
derivative is the same function translated for dual numbers: one call gives the results and all their partial
derivatives, so that every column of a Jacobian shares it.
"""

from __future__ import annotations

import hashlib
import typing
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bellcrank.base.garbage import collection_paused
from bellcrank.program import jit
from bellcrank.program.graph import Graph, ParameterGraph
from bellcrank.program.loops import ir, llvm
from bellcrank.program.loops.entry import EFFORT, OPTIMISE
from bellcrank.program.loops.layout import (
    ArrayType,
    RowType,
    TupleType,
    Type,
    built,
    declared,
    digest,
    leaves,
    of_numbers,
    type_of,
    width,
    words,
)
from bellcrank.program.loops.translate import Called, Module, Motion
from bellcrank.program.loops.vocabulary import reals, unrolling
from bellcrank.program.subprogram import part
from bellcrank.program.trace import Expr, Scalar, add, key_of, mul

if TYPE_CHECKING:
    from bellcrank.program.kernel import Kernel

DIRECTIONS = 6
"""Rates that one call carries at most. Code grows with them; six are those of a pose."""


class _Translation(NamedTuple):
    """The functions that a routine is made of, as LLVM IR text, and the digest of that."""

    functions: list[ir.Function]
    text: str
    digest: str


_translations: dict[Any, _Translation] = {}


class Routine(Called):
    """A function of the loop language with its constant tables, to be called from programs.

    The parameters of the function are the inputs (numbers and records of numbers), the tables, and the memory if there
    is one: an array that keeps its numbers from call to call, for a warm start. What is kept there may change how fast
    a result is found, not the result beyond its tolerance. Results are numbers, records or tuples of them.

    Inputs that are arrays have the sizes `rows`, in order. With `more`, the last parameter is an array of so many zeros
    into which the function writes further results.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        tables: Sequence[Any] = (),
        memory: int = 0,
        name: str = "",
        moving: Sequence[Motion] = (),
        rows: Sequence[int] = (),
        more: int = 0,
    ) -> None:
        """moving: Inputs that move, once for every derivative taken; see :meth:`partials` and :meth:`directional`."""
        self.function, self.tables, self.memory = function, tuple(tables), memory
        self.name = name or function.__name__
        self.moving, self.rows, self.more = tuple(moving), tuple(rows), more
        hints = typing.get_type_hints(function, include_extras=True)
        result: Type = declared(hints.pop("return"))
        count = len(hints) - len(self.tables) - (memory > 0) - (more > 0)
        self.inputs = [declared(hint) for hint in list(hints.values())[:count]]
        arrays = [k for k, given in enumerate(self.inputs) if isinstance(given, ArrayType)]
        for k, size in zip(arrays, rows, strict=False):
            self.inputs[k] = RowType(size)
        if more:
            result = TupleType((result, RowType(more)))
        self.table_types = [type_of(table) for table in self.tables]
        for given in (*self.inputs, result):
            if not of_numbers(given):
                raise TypeError(f"{self.name} takes and gives numbers beside its tables, not {given}")
        self.result = result
        self.n_in = sum(width(given) for given in self.inputs)
        self.n_out = width(result)
        for motion in self.moving:
            self.n_in += len(motion.places) if motion.along else 0
            self.n_out *= 1 + motion.directions
        self._derivatives: dict[Motion, Routine] = {}

    @property
    def arguments(self) -> int:
        """How many numbers it takes, those of its memory included."""
        return self.n_in + self.memory

    @property
    def results(self) -> int:
        """How many numbers it gives."""
        return self.n_out

    def __repr__(self) -> str:
        return f"<routine {self.digest}>"

    @cached_property
    def code(self) -> list[ir.Function]:
        """The functions it is made of; the last one, `routine`, takes pointers to inputs, outputs, memory, tables."""
        return self._translated.functions

    @cached_property
    def code_digest(self) -> str:
        """What it does, in letters."""
        return self._translated.digest

    @cached_property
    def _translated(self) -> _Translation:
        """Its translation, which is the same for all tables of these types."""
        key = self.function, tuple(self.inputs), tuple(self.table_types), self.memory, self.more, self.moving
        if key not in _translations:
            _translations[key] = self._translate()
        return _translations[key]

    @collection_paused()
    def _translate(self) -> _Translation:
        module = Module([motion.directions for motion in self.moving])
        module.routine(
            self.function, self.inputs, self.table_types, self.memory, self.more, self.moving, "routine"
        )
        text = llvm.emit(module.functions, "routine")
        return _Translation(module.functions, text, hashlib.sha256(text.encode()).hexdigest())

    @cached_property
    def table_digest(self) -> str:
        """What its tables hold, in letters."""
        return digest(TupleType(tuple(self.table_types)), self.tables)

    @cached_property
    def digest(self) -> str:
        """What it does with its tables, in letters: equal routines, equal letters."""
        return hashlib.sha256(f"{self.code_digest} {self.table_digest}".encode()).hexdigest()

    @property
    def symbol(self) -> str:
        """The name of its machine code: ``void f(const double *x, double *y, double *memory)``."""
        return f"routine_{self.digest[:40]}"

    def objects(self) -> list[bytes]:
        """Object files: the code, which routines with other tables share, and its binding to these tables."""
        code, name = f"routine_code_{self.code_digest[:40]}", self.symbol

        def text() -> str:
            return self._translated.text.replace('@"routine"(', f"@{code}(")

        binding = (
            f"@tables = internal global ptr null\n"
            f"declare void @{code}(ptr, ptr, ptr, ptr)\n"
            f"define void @bind_{name}(ptr %tables) nounwind {{\n  store ptr %tables, ptr @tables\n  ret void\n}}\n"
            f"define void @{name}(ptr %x, ptr %y, ptr %memory) nounwind {{\n"
            f"  %t = load ptr, ptr @tables\n  call void @{code}(ptr %x, ptr %y, ptr %memory, ptr %t)\n  ret void\n}}\n"
        )
        return [
            jit.compiled(f"routine {self.code_digest}", text, EFFORT, OPTIMISE)[0],
            jit.compiled(binding, lambda: binding, 0)[0],
        ]

    def words(self) -> tuple[NDArray[np.int64], list[Any]]:
        """The words of the tables, and the arrays that must live as long as they are used."""
        found: list[int] = []
        kept: list[Any] = []
        for given, table in zip(self.table_types, self.tables, strict=True):
            words(given, table, found, kept)
        return np.array(found, np.int64), kept

    def __call__(self, *arguments: Any, memory: Sequence[Expr] = ()) -> Any:
        """Its results as traced values; plain numbers where all arguments are.

        memory: As many inputs of the program as it keeps numbers, which stand in a row there and serve nothing else.
        """
        flat = [x for given, a in zip(self.inputs, arguments, strict=True) for x in leaves(given, a)]
        whole = call_routine(self, *flat, *memory)
        return built(self.result, iter([part(whole, k) for k in range(width(self.result))]))

    def unrolled(self, *arguments: Any) -> Any:
        """Its results as the arithmetic they are made of, so that what is constant folds and what is shared is shared.

        Python runs its text: loops go by tables and sizes; a function that branches on traced values is a routine
        itself, and stays a call.
        """
        with unrolling():
            written = [reals(self.more)] if self.more else []
            found = self.function(*arguments, *self.tables, *written)
        return (found, *(list(row) for row in written)) if written else found

    def evaluate(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        """Its results at numbers, by the interpreter; by machine code at many columns, or where rates are asked for."""
        if x.ndim == 2:
            return self.kernel.many(x.T).T
        if self.moving:
            return self.kernel(x)
        numbers = iter([float(v) for v in x[: self.n_in]])
        arguments = [built(given, numbers) for given in self.inputs]
        kept = [np.array(x[self.n_in :], dtype=float)] if self.memory else []
        written = [np.zeros(self.more)] if self.more else []
        found = self.function(*arguments, *self.tables, *kept, *written)
        whole = (found, *written) if self.more else found
        return np.array([float(v) for v in leaves(self.result, whole)])

    @cached_property
    def kernel(self) -> Kernel:
        """The routine alone as machine code."""
        from bellcrank.program.kernel import compile_program
        from bellcrank.program.program import Program

        graph = Graph()
        inputs = [graph.input(f"x{k}") for k in range(self.n_in + self.memory)]
        whole = call_routine(self, *inputs)
        return compile_program(Program.of(inputs, [part(whole, k) for k in range(self.n_out)], self.name))

    def partials(self, places: tuple[int, ...]) -> Routine:
        """Its results, then for each of them its partial derivatives by the inputs at these places."""
        return self._derivative(Motion(places, False))

    def directional(self, places: tuple[int, ...]) -> Routine:
        """Its results, then their rates; the inputs at these places move at rates that are its last inputs."""
        return self._derivative(Motion(places, True))

    def _derivative(self, motion: Motion) -> Routine:
        found = self._derivatives.get(motion)
        if found is None:
            moving = (*self.moving, motion)
            found = Routine(self.function, self.tables, self.memory, self.name, moving, self.rows, self.more)
            self._derivatives[motion] = found
        return found


def call_routine(target: Routine, *args: Scalar) -> Any:
    """All results of a routine at once, from its inputs and its memory; ``part`` takes them apart."""
    if len(args) != target.n_in + target.memory:
        raise ValueError(
            f"{target.name} takes {target.n_in} numbers and {target.memory} of memory, not {len(args)}"
        )
    graph: Graph | None = None
    for a in args:
        if isinstance(a, Expr) and (graph is None or isinstance(graph, ParameterGraph)):
            graph = a.graph
    if graph is None:
        return target.evaluate(np.array(args, dtype=float)).tolist()
    brought = [graph.bring(a) if isinstance(a, Expr) else float(a) for a in args]
    if any(not isinstance(a, Expr) or a.op != "input" for a in brought[target.n_in :]):
        raise ValueError(f"the memory of {target.name} must be inputs of the program")
    return graph.node("routine", (target, *brought), ("routine", target.digest, *key_of(brought)))


def routine_moving(target: Routine, args: Sequence[Scalar], rates: Sequence[Scalar]) -> Any:
    """The call that gives the results of a routine and then their rates, from its arguments and theirs."""
    places = tuple(k for k in range(target.n_in) if isinstance(rates[k], Expr) or rates[k] != 0.0)
    given, memory = args[: target.n_in], args[target.n_in :]
    return call_routine(target.directional(places), *given, *(rates[k] for k in places), *memory)


def routine_partials(node: Expr, rates: Sequence[Scalar]) -> Scalar:
    """The rate of the result `node` of a call whose inputs move at `rates`, by partial derivatives.

    Those by all inputs that are not constants come from the same calls, whatever moves: the columns of a Jacobian share
    them.
    """
    whole, k = node.args
    target: Routine = whole.args[0]
    places = [j for j in range(target.n_in) if isinstance(whole.args[1 + j], Expr)]
    total: Scalar = 0.0
    for first in range(0, len(places), DIRECTIONS):
        moving = tuple(places[first : first + DIRECTIONS])
        if all(not isinstance(rates[j], Expr) and rates[j] == 0.0 for j in moving):
            continue
        derived = call_routine(target.partials(moving), *whole.args[1:])
        for i, j in enumerate(moving):
            slope = part(derived, target.n_out + k * len(moving) + i)
            total = add(total, mul(slope, rates[j]))
    return total


__all__ = ["Routine", "call_routine", "routine_moving", "routine_partials"]
