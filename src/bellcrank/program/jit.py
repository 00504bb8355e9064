"""The one compiler: LLVM IR text to object files, kept on disk, and object files to code in this process."""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Sequence
from typing import Any

from bellcrank.program import cache
from bellcrank.program.preparing import preparing

lock = threading.RLock()
"""Held while LLVM is at work: it is not meant for several threads."""
INLINED = 50
"""Threshold of inlining: LLVM's own where it optimises for size. Loops of mechanics wait for memory and divisions, so
that more copies of functions, and unrolled loops, double the time to compile and run no faster."""


def compiled(
    identity: str, write: Callable[[], str], effort: int, optimise: int | None = None
) -> tuple[bytes, bool]:
    """The object file of a module, and whether it was on disk.

    Args:
        identity: All that the text depends on; equal identities mean equal text.
        write: Gives the text, where it is needed.
        effort: Of the code generator, 0 to 3.
        optimise: Level of the optimiser that rewrites the text first, or None for the text as it is.
    """
    with lock, preparing():
        binding = start()
        target = compiler(effort)
        key = cache.key(identity, f"{effort} {optimise}", target.triple, cpu(), features(), version())
        code = cache.load(key)
        if code is not None:
            return code, True
        module = binding.parse_assembly(write())
        module.verify()
        module.triple = target.triple
        module.data_layout = str(target.target_data)
        if optimise is not None:
            tuning = binding.create_pipeline_tuning_options(speed_level=optimise)
            tuning.loop_vectorization = True
            tuning.loop_unrolling = False
            tuning.inlining_threshold = INLINED
            builder = binding.create_pass_builder(target, tuning)
            builder.getModulePassManager().run(module, builder)
        code = target.emit_object(module)
        cache.store(key, code)
        return code, False


def assembled(text: str) -> bytes:
    """The object file of a module that is of use to this process alone."""
    with lock:
        target = compiler(0)
        module = start().parse_assembly(text)
        module.triple = target.triple
        module.data_layout = str(target.target_data)
        code: bytes = target.emit_object(module)
        return code


def loaded(objects: Sequence[bytes]) -> Any:
    """The engine that owns the code of object files, linked to each other; ask it for addresses of functions."""
    with lock, preparing():
        binding = start()
        engine = binding.create_mcjit_compiler(binding.parse_assembly(""), machine(0))
        for code in objects:
            engine.add_object_file(binding.ObjectFileRef.from_data(code))
        engine.finalize_object()
        return engine


@functools.cache
def start() -> Any:
    """LLVM, initialised once."""
    import llvmlite.binding as binding

    binding.initialize_native_target()
    binding.initialize_native_asmprinter()
    binding.initialize_native_asmparser()
    return binding


@functools.cache
def version() -> str:
    """Of LLVM and of what binds it."""
    import llvmlite
    import llvmlite.binding as binding

    return f"{llvmlite.__version__} {binding.llvm_version_info}"


@functools.cache
def cpu() -> str:
    """The processor, as LLVM calls it."""
    import llvmlite.binding as binding

    return str(binding.get_host_cpu_name())


@functools.cache
def features() -> str:
    """What the processor has."""
    import llvmlite.binding as binding

    try:
        return str(binding.get_host_cpu_features().flatten())
    except RuntimeError:  # not known for every host; the CPU name then says it all
        return ""


@functools.cache
def compiler(effort: int) -> Any:
    """The code generator that writes object files, made once."""
    return machine(effort)


def machine(effort: int) -> Any:
    """A code generator for this processor; an engine owns the one that it is given."""
    import llvmlite.binding as binding

    triple = binding.get_process_triple()
    # Static addresses are right for x86 only; elsewhere LLVM knows best.
    reloc = "static" if triple.startswith("x86") else "default"
    return binding.Target.from_triple(triple).create_target_machine(
        cpu=cpu(), features=features(), opt=effort, reloc=reloc, codemodel="jitdefault", jit=True
    )
