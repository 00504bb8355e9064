"""How the loops here are compiled.

A `Unit` is machine code with an address, called with the arrays of a run as plain pointers, by the driver or
by another unit. A `part` is compiled into the units that use it. Both are plain Python functions in the small
language of :mod:`translate`; LLVM optimises the text, and the machine code is kept on disk beside that of the
mechanisms. Numba took 3.3 s for the loop of the explicit methods, most of a cold start; this takes a tenth.
"""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

from numpy.typing import NDArray

from bellcrank.simulate.vocabulary import call_unit, matrix, vector

__all__ = ["Unit", "call_unit", "matrix", "part", "vector"]

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")

# addresses, ints, reals, x, v, g, corrected, out_t, out_y, own_ints, own_reals
_POINTERS = ("i64", "i64", *7 * ("double",), "i64", "double")
_PROTOTYPE = ctypes.CFUNCTYPE(ctypes.c_int64, *len(_POINTERS) * (ctypes.c_void_p,))
_lock = threading.RLock()

LEVEL, CODE_LEVEL = 2, 2
"""Effort of LLVM's optimiser and code generator for the loops."""


class Unit:
    """Machine code of a loop, compiled or loaded from disk when it is first asked for."""

    def __init__(self, function: Callable[..., int]):
        self.function = function
        self._code: tuple[int, Callable[..., int], Any] | None = None

    @property
    def address(self) -> int:
        """Where the machine code lies: `int64 f(...)` of the eleven pointers above."""
        return self._compiled()[0]

    def __call__(self, *arrays: NDArray[Any]) -> int:
        """Run it; other Python threads go on meanwhile."""
        # Ten times quicker than a.ctypes.data, which shows in short runs.
        return self.at(tuple([a.__array_interface__["data"][0] for a in arrays]))

    def at(self, pointers: tuple[int, ...]) -> int:
        """Run it on arrays given by their addresses; other Python threads go on meanwhile."""
        code = self._code or self._compiled()
        return int(code[1](*pointers))

    def _compiled(self) -> tuple[int, Callable[..., int], Any]:
        """Address, function and owner of the machine code."""
        with _lock:
            if self._code is None:
                engine = _compile(self.function)
                address = int(engine.get_function_address("unit"))
                self._code = address, _PROTOTYPE(address), engine
        return self._code


def _compile(function: Callable[..., int]) -> Any:
    """Machine code for the unit, from the cache on disk if the same text was compiled before."""
    from bellcrank.program import cache
    from bellcrank.program.kernel import _cpu, _features, _machine, _start, _version
    from bellcrank.simulate.translate import translate

    text = translate(function, _POINTERS, "unit")
    binding = _start()
    machine = _machine(CODE_LEVEL)
    key = cache.key(text, f"unit {LEVEL} {CODE_LEVEL}", machine.triple, _cpu(), _features(), _version())
    code = cache.load(key)
    if code is None:
        module = binding.parse_assembly(text)
        module.verify()
        module.triple = machine.triple
        module.data_layout = str(machine.target_data)
        tuning = binding.create_pipeline_tuning_options(speed_level=LEVEL)
        tuning.loop_vectorization = True
        builder = binding.create_pass_builder(machine, tuning)
        builder.getModulePassManager().run(module, builder)
        code = machine.emit_object(module)
        cache.store(key, code)
    engine = binding.create_mcjit_compiler(binding.parse_assembly(""), machine)
    engine.add_object_file(binding.ObjectFileRef.from_data(code))
    engine.finalize_object()
    return engine


def part(function: Callable[Parameters, Result]) -> Callable[Parameters, Result]:
    """A function compiled into the units that call it; for the interpreter it stays what it is."""
    return function
