"""Programs as machine code in this process."""

from __future__ import annotations

import ctypes
import functools
import hashlib
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

import bellcrank
from bellcrank.program import cache
from bellcrank.program.llvm import emit, linked
from bellcrank.program.program import Program
from bellcrank.program.schedule import STEPS_A_PIECE
from bellcrank.program.subprogram import Subprogram

LEVEL = 1
"""Effort of LLVM's code generator. Level 0 gives code half as fast, levels 2 and 3 the same code later."""
LARGE = 300_000
"""Programs of more operations than this are compiled with the least effort, to bound the wait."""

_EMITTERS = "schedule", "together", "pairs", "pair_signs", "step", "llvm", "registers", "writer", "elementary"
_lock = threading.RLock()
_started = False


class Kernel:
    """Machine code of one program: ``void f(const double *x, double *y)`` at `address`.

    x has `n_in` and y `n_out` slots of `lanes` doubles each; they must not overlap. The code lives as long as
    the kernel object, so whoever uses the address keeps the kernel.
    """

    def __init__(
        self, engine: Any, name: str, n_in: int, n_out: int, lanes: int, from_cache: bool, seconds: float
    ) -> None:
        self._engine = engine
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
        values = np.ascontiguousarray(x, dtype=np.float64)
        if values.shape != (self.n_in, *wide):
            raise ValueError(f"{self.name!r} takes inputs of shape {(self.n_in, *wide)}, not {values.shape}")
        result = np.empty((self.n_out, *wide))
        self._one(values.ctypes.data, result.ctypes.data)
        return result

    def many(self, X: ArrayLike) -> NDArray[np.float64]:
        """The outputs at every row of `X`: shapes (rows, n_in) -> (rows, n_out), with any number of lanes."""
        values = np.ascontiguousarray(X, dtype=np.float64)
        if values.ndim != 2 or values.shape[1] != self.n_in:
            raise ValueError(f"{self.name!r} takes rows of shape (rows, {self.n_in}), not {values.shape}")
        result = np.empty((len(values), self.n_out))
        self._rows(values.ctypes.data, result.ctypes.data, len(values))
        return result


def compile_program(program: Program, lanes: int = 1, limit: int = STEPS_A_PIECE) -> Kernel:
    """Machine code for `program`, from the cache on disk if it has been compiled before.

    `lanes` states are evaluated at once; pieces of at most `limit` steps become functions of their own.
    Neither changes the bits of the result.
    """
    begin = time.perf_counter()
    with _lock:
        binding = _start()
        code, found = _object(program, lanes, limit)
        engine = binding.create_mcjit_compiler(binding.parse_assembly(""), _machine(_level(program)))
        engine.add_object_file(binding.ObjectFileRef.from_data(code))
        for target, wide in linked(program, lanes):
            if (wide, limit) not in target.objects:
                target.objects[wide, limit], _ = _object(target.program, wide, limit, target)
            engine.add_object_file(binding.ObjectFileRef.from_data(target.objects[wide, limit]))
        engine.finalize_object()
    return Kernel(
        engine,
        program.name,
        len(program.inputs),
        len(program.outputs),
        lanes,
        found,
        time.perf_counter() - begin,
    )


def _level(program: Program) -> int:
    return LEVEL if len(program.operations) <= LARGE else 0


def _object(program: Program, lanes: int, limit: int, target: Subprogram | None = None) -> tuple[bytes, bool]:
    """The object file of a program (or of the subprogram `target` it is of), and whether it was in the cache."""
    binding = _start()
    level = _level(program)
    machine = _machine(level)
    kind = str((lanes, limit, level)) + (" called" if target is not None else "")
    key = cache.key(program.text(), _emitter(), kind, machine.triple, _cpu(), _features(), _version())
    code = cache.load(key)
    if code is not None:
        return code, True
    module = binding.parse_assembly(emit(program, lanes, limit, target))
    module.verify()
    module.triple = machine.triple
    module.data_layout = str(machine.target_data)
    code = machine.emit_object(module)
    cache.store(key, code)
    return code, False


def _start() -> Any:
    """LLVM, initialised once."""
    global _started
    import llvmlite.binding as binding

    if not _started:
        binding.initialize_native_target()
        binding.initialize_native_asmprinter()
        _started = True
    return binding


@functools.cache
def _emitter() -> str:
    """What the code between a program and its machine code is, to the letter: other code, other entries."""
    digest = hashlib.sha256()
    for name in _EMITTERS:
        source = Path(__file__).with_name(f"{name}.py")
        digest.update(source.read_bytes() if source.exists() else bellcrank.__version__.encode())
    return digest.hexdigest()


def _version() -> str:
    import llvmlite
    import llvmlite.binding as binding

    return f"{llvmlite.__version__} {binding.llvm_version_info}"


def _cpu() -> str:
    import llvmlite.binding as binding

    return str(binding.get_host_cpu_name())


def _features() -> str:
    import llvmlite.binding as binding

    try:
        return str(binding.get_host_cpu_features().flatten())
    except RuntimeError:  # not known for every host; the CPU name then says it all
        return ""


def _machine(level: int) -> Any:
    import llvmlite.binding as binding

    triple = binding.get_process_triple()
    # Static addresses are right for x86 only; elsewhere LLVM knows best.
    reloc = "static" if triple.startswith("x86") else "default"
    return binding.Target.from_triple(triple).create_target_machine(
        cpu=_cpu(), features=_features(), opt=level, reloc=reloc, codemodel="jitdefault", jit=True
    )
