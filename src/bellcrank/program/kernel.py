"""Programs as machine code in this process."""

from __future__ import annotations

import ctypes
import functools
import hashlib
import os
import time
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bellcrank.base.garbage import collection_paused
from bellcrank.base.version import __version__
from bellcrank.program import jit
from bellcrank.program.llvm import emit, linked, routines
from bellcrank.program.program import Program
from bellcrank.program.schedule import STEPS_A_PIECE
from bellcrank.program.subprogram import Subprogram

LEVEL = 1
"""Effort of LLVM's code generator. Level 0 gives the same bits by code that takes 1.2 to 1.5 times as long, a fifth of
the time after: it pays for fewer than 100,000 evaluations, and BELLCRANK_EFFORT=0 asks for it. Levels 2 and 3 give the
code of level 1 later. On Linux with x86-64 little is left to it of long programs, and no level matters."""
LARGE = 300_000
"""Programs of more operations than this are compiled with the least effort, to bound the wait."""

_EMITTERS = (
    "schedule",
    "order",
    "sums",
    "together",
    "pairs",
    "pair_signs",
    "step",
    "llvm",
    "x86",
    "registers",
    "writer",
    "elementary",
)


class Kernel:
    """Machine code of one program: ``void f(const double *x, double *y)`` at `address`.

    x has `n_in` and y `n_out` slots of `lanes` doubles each; they must not overlap. The code lives as long as
    the kernel object, so whoever uses the address keeps the kernel.
    """

    def __init__(
        self,
        engine: Any,
        name: str,
        n_in: int,
        n_out: int,
        lanes: int,
        from_cache: bool,
        seconds: float,
        tables: Any = (),
        remembers: bool = False,
    ) -> None:
        """tables: What its routines read, kept alive. remembers: Whether it writes to its inputs, for warm starts."""
        self._engine, self._tables = engine, tables
        self.remembers = remembers
        self.name = name
        self.n_in = n_in
        self.n_out = n_out
        self.lanes = lanes
        self.from_cache = from_cache
        self.seconds = seconds
        self.address: int = engine.get_function_address("kernel")
        self.many_address: int = engine.get_function_address("kernel_many")
        pointer = ctypes.c_void_p
        self._one = ctypes.CFUNCTYPE(None, pointer, pointer)(self.address)
        self._rows = ctypes.CFUNCTYPE(None, pointer, pointer, ctypes.c_int64)(self.many_address)

    def __repr__(self) -> str:
        lanes = f", {self.lanes} lanes" if self.lanes > 1 else ""
        return f"<kernel {self.name!r}: {self.n_in} -> {self.n_out}{lanes}>"

    def __call__(self, x: ArrayLike) -> NDArray[np.float64]:
        """The outputs at `x`: shapes (n_in,) -> (n_out,), or (n_in, lanes) -> (n_out, lanes)."""
        wide = () if self.lanes == 1 else (self.lanes,)
        values = self._own(x)
        if values.shape != (self.n_in, *wide):
            raise ValueError(f"{self.name!r} takes inputs of shape {(self.n_in, *wide)}, not {values.shape}")
        result = np.empty((self.n_out, *wide))
        self._one(values.ctypes.data, result.ctypes.data)
        return result

    def _own(self, x: ArrayLike) -> NDArray[np.float64]:
        """Inputs that may be written to where the kernel remembers."""
        if self.remembers:
            return np.array(x, dtype=np.float64, order="C")
        return np.ascontiguousarray(x, dtype=np.float64)

    def many(self, X: ArrayLike) -> NDArray[np.float64]:
        """The outputs at every row of `X`: shapes (rows, n_in) -> (rows, n_out), with any number of lanes."""
        values = self._own(X)
        if values.ndim != 2 or values.shape[1] != self.n_in:
            raise ValueError(f"{self.name!r} takes rows of shape (rows, {self.n_in}), not {values.shape}")
        result = np.empty((len(values), self.n_out))
        self._rows(values.ctypes.data, result.ctypes.data, len(values))
        return result


@collection_paused()
def compile_program(program: Program, lanes: int = 1, limit: int = STEPS_A_PIECE) -> Kernel:
    """Machine code for `program`, from the cache on disk if it has been compiled before.

    `lanes` states are evaluated at once; pieces of at most `limit` steps become functions of their own.
    Neither changes the bits of the result.
    """
    begin = time.perf_counter()
    with jit.lock:
        code, found = _object(program, lanes, limit)
        objects = {"kernel": code}
        for target, wide in linked(program, lanes):
            if (wide, limit) not in target.objects:
                target.objects[wide, limit], _ = _object(target.program, wide, limit, target)
            objects[f"{target.digest} {wide}"] = target.objects[wide, limit]
        loops = routines(program)
        for routine in loops:
            shared, own = routine.objects()
            objects[routine.code_digest], objects[routine.symbol] = shared, own
        engine = jit.loaded(list(objects.values()))
        tables = []
        for routine in loops:
            words, kept = routine.words()
            bind = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(
                engine.get_function_address(f"bind_{routine.symbol}")
            )
            bind(words.ctypes.data)
            tables.append((words, kept))
    return Kernel(
        engine,
        program.name,
        len(program.inputs),
        len(program.outputs),
        lanes,
        found,
        time.perf_counter() - begin,
        tables,
        any(routine.memory for routine in loops),
    )


def _level(program: Program) -> int:
    least = os.environ.get("BELLCRANK_EFFORT") == "0" or len(program.operations) > LARGE
    return 0 if least else LEVEL


def _object(program: Program, lanes: int, limit: int, target: Subprogram | None = None) -> tuple[bytes, bool]:
    """The object file of a program (or of the subprogram `target` it is of), and whether it was in the cache."""
    level = _level(program)
    kind = str((lanes, limit)) + (" called" if target is not None else "")
    identity = f"{program.text()} {_emitter()} {kind}"
    return jit.compiled(identity, lambda: emit(program, lanes, limit, target), level)


@functools.cache
def _emitter() -> str:
    """What the code between a program and its machine code is, to the letter: other code, other entries."""
    digest = hashlib.sha256()
    for name in _EMITTERS:
        source = Path(__file__).with_name(f"{name}.py")
        digest.update(source.read_bytes() if source.exists() else __version__.encode())
    return digest.hexdigest()
