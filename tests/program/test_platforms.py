"""What is compiled here compiles for other processors and systems as well, and asks them for nothing unusual."""

from __future__ import annotations

import re
from collections.abc import Callable

import llvmlite.binding as llvm
import pytest

from bellcrank.program import jit
from fmu.conftest import ball

TRIPLES = (
    "x86_64-unknown-linux-gnu",
    "aarch64-unknown-linux-gnu",
    "x86_64-pc-windows-msvc",
    "aarch64-pc-windows-msvc",
    "x86_64-apple-macosx",
    "arm64-apple-macosx",
)
LIBRARY = {
    "malloc",
    "free",
    "sin",
    "cos",
    "tan",
    "asin",
    "acos",
    "atan",
    "atan2",
    "sinh",
    "cosh",
    "tanh",
    "exp",
    "log",
    "pow",
    "fmod",
    "floor",
}
"""Functions of C99, in the libraries of every one of these systems."""


def test_programs_compile_for_every_platform(monkeypatch: pytest.MonkeyPatch) -> None:
    texts: list[str] = []
    compiled = jit.compiled

    def kept(identity: str, write: Callable[[], str], *rest: int | None) -> tuple[bytes, bool]:
        texts.append(write())
        return compiled(identity, write, *rest)

    monkeypatch.setattr(jit, "compiled", kept)
    ball().simulate(0.4, output=2)
    assert len(texts) >= 3
    defined = {name for text in texts for name in re.findall(r"^define [^@]*@([\w.]+)", text, re.M)}
    declared = {name for text in texts for name in re.findall(r"^declare [^@]*@([\w.]+)", text, re.M)}
    assert {name for name in declared - defined if not name.startswith("llvm.")} <= LIBRARY
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    for triple in TRIPLES:
        target = llvm.Target.from_triple(triple).create_target_machine(opt=0)
        for text in texts:
            module = llvm.parse_assembly(text)
            module.triple, module.data_layout = triple, str(target.target_data)
            assert target.emit_object(module)
