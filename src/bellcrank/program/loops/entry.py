"""Functions of the loop language as machine code that Python, or other machine code, calls.

An entry takes one pointer, to the words of its arguments (:mod:`layout`), and returns an integer. So one calling
convention serves every signature, and a run lays out its arguments once.
"""

from __future__ import annotations

import ctypes
import threading
import typing
from collections.abc import Callable, Sequence
from typing import Any, ParamSpec, TypeVar

import numpy as np
from numpy.typing import NDArray

from bellcrank.base.garbage import collection_paused
from bellcrank.program import jit
from bellcrank.program.loops import llvm
from bellcrank.program.loops.layout import Type, declared, words
from bellcrank.program.loops.translate import Module
from bellcrank.program.preparing import preparing

OPTIMISE, EFFORT = 1, 2
"""Levels of LLVM's optimiser and code generator for loops."""
_PROTOTYPE = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p)
_lock = threading.RLock()


class Entry:
    """A compiled function, made or loaded from disk when it is first asked for.

    Calling it runs machine code; `function` is the Python text, which does the same. Other Python threads go on
    meanwhile.
    """

    def __init__(self, function: Callable[..., Any], types: Sequence[Type] | None = None) -> None:
        """types: Of the parameters, where there are no annotations."""
        self.function = function
        self._types = types
        self._code: tuple[int, Callable[[int], int], Any] | None = None

    @property
    def types(self) -> Sequence[Type]:
        """Of the parameters."""
        if self._types is None:
            hints = typing.get_type_hints(self.function, include_extras=True)
            self._types = [declared(hint) for name, hint in hints.items() if name != "return"]
        return self._types

    @property
    def address(self) -> int:
        """Where the machine code lies: ``int64 f(const int64 *words)``."""
        return self._compiled()[0]

    def __call__(self, *arguments: Any) -> int:
        return self.bound(*arguments)()

    def at(self, words: int) -> int:
        """Run the code on the words of its arguments that lie at an address."""
        return (self._code or self._compiled())[1](words)

    def bound(self, *arguments: Any) -> Bound:
        """The entry with its arguments: what they hold may change, where they lie may not."""
        found: list[int] = []
        kept: list[Any] = []
        for given, argument in zip(self.types, arguments, strict=True):
            words(given, argument, found, kept)
        return Bound(self, arguments, np.array(found, np.int64), kept)

    def _compiled(self) -> tuple[int, Callable[[int], int], Any]:
        """Address, function and owner of the machine code."""
        with _lock:
            if self._code is None:
                with preparing():
                    self._make()
            assert self._code is not None
            return self._code

    @collection_paused()
    def _make(self) -> None:
        module = Module()
        module.entry(self.function, self.types, "entry")
        text = llvm.emit(module.functions, "entry")
        code, _ = jit.compiled(text, lambda: text, EFFORT, OPTIMISE)
        engine = jit.loaded([code])
        address = int(engine.get_function_address("entry"))
        self._code = address, _PROTOTYPE(address), engine


class Bound:
    """An entry and the words of its arguments; calling it runs the code."""

    __slots__ = ("_at", "_kept", "_words", "arguments", "entry")

    def __init__(
        self,
        entry: Entry,
        arguments: tuple[Any, ...],
        found: NDArray[np.int64],
        kept: Sequence[Any],
    ) -> None:
        """found: The words. kept: What must live as long."""
        self.entry, self.arguments, self._kept = entry, arguments, kept
        self._words = found
        self._at = found.__array_interface__["data"][0]

    def __call__(self, *last: float) -> int:
        """Run the code; last: other values of the last arguments, which are numbers."""
        if last:
            types = self.entry.types[len(self.arguments) - len(last) :]
            for k, (given, value) in enumerate(zip(types, last, strict=True), len(self._words) - len(last)):
                number: list[int] = []
                words(given, value, number, [])
                self._words[k] = number[0]
        return self.entry.at(self._at)


class BoundKernel:
    """An entry whose first two parameters are the addresses of inputs and outputs, and the other ones are bound.

    It is machine code ``void f(const double *x, double *y)`` at `address`, as a kernel is.
    """

    def __init__(self, entry: Entry, *arguments: Any) -> None:
        nowhere = np.zeros(0)
        self._bound = entry.bound(nowhere, nowhere, *arguments)
        words = self._bound._at
        text = (
            "define void @kernel(ptr %x, ptr %y) nounwind {\n"
            f"  store ptr %x, ptr inttoptr (i64 {words} to ptr)\n"
            f"  store ptr %y, ptr inttoptr (i64 {words + 8} to ptr)\n"
            f"  %done = call i64 inttoptr (i64 {entry.address} to ptr)(ptr inttoptr (i64 {words} to ptr))\n"
            "  ret void\n}\n"
        )
        self._engine = jit.loaded([jit.assembled(text)])
        self.address = int(self._engine.get_function_address("kernel"))
        self._run = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)(self.address)

    def __call__(self, x: NDArray[np.float64], y: NDArray[np.float64]) -> NDArray[np.float64]:
        """Run it on contiguous arrays; gives the second one back."""
        self._run(x.ctypes.data, y.ctypes.data)
        return y


Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")


def compiled(function: Callable[Parameters, Result]) -> Callable[Parameters, Result]:
    """Mark a function of the loop language, which entries and routines call; it stays what it is."""
    return function


def entry(function: Callable[..., Any]) -> Entry:
    """Make a function of the loop language an entry; its annotations give the types of its parameters."""
    return Entry(function)
