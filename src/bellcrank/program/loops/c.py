"""The loop language as C99, and as CUDA: the same statements in another dialect.

Arrays are bytes whose words are read and written through small functions, since records mix integers and reals.
"""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bellcrank.program.loops import ir
from bellcrank.program.loops.ir import Kind, Operand, Ref, Statement, kind_of
from bellcrank.program.loops.layout import ArrayType, Records, RecordType, ScalarType, TupleType, Type

WORDS = """\
#ifndef BC_WORDS
#define BC_WORDS
#ifndef __CUDACC_RTC__
#include <string.h>
#endif
{static} inline {real} bc_get_real(const char *p, long long k) {{ double v; memcpy(&v, p + 8 * k, 8); return v; }}
{static} inline long long bc_get_int(const char *p, long long k) {{ long long v; memcpy(&v, p + 8 * k, 8); return v; }}
{static} inline char *bc_get_pointer(const char *p, long long k) {{ char *v; memcpy(&v, p + 8 * k, 8); return v; }}
{static} inline void bc_set_real(char *p, long long k, {real} given) {{ double v = given; memcpy(p + 8 * k, &v, 8); }}
{static} inline void bc_set_int(char *p, long long k, long long v) {{ memcpy(p + 8 * k, &v, 8); }}
{static} inline long long bc_mod(long long a, long long b) {{ return (a % b + b) % b; }}
#endif
"""
"""What every file with loops needs."""
_BINARY = {
    "add": "+", "sub": "-", "mul": "*", "div": "/", "iadd": "+", "isub": "-", "imul": "*", "iand": "&", "ior": "|",
    "ixor": "^", "ishl": "<<", "ishr": ">>", "lt": "<", "le": "<=", "gt": ">", "ge": ">=", "eq": "==", "ne": "!=",
    "and": "&", "or": "|",
}  # fmt: skip
_NAMES = {"abs": "fabs"}


def emit(functions: Sequence[ir.Function], prefix: str, real: str = "double", static: str = "static") -> str:
    """The C functions; the last one, whose pointers are bytes, comes last. Names begin with `prefix`."""
    by_name = {f.name: f for f in functions}
    return "\n".join(_Writer(ir.trimmed(f), by_name, prefix, real, static).text() for f in functions)


def table_lines(
    given: Sequence[Type],
    tables: Sequence[Any],
    prefix: str,
    written: dict[str, NDArray[np.int64]],
    apart: bool = False,
) -> list[str]:
    """Arrays of words for the tables of a routine, and ``prefix_TABLES``, which lists their addresses and sizes.

    written: Arrays that the file has already, by name, which grow; arrays go by what they hold, so that routines with
    the same shapes share them. apart: Whether the words stay out of the text: whoever loads the code fills the arrays.
    """
    arrays: list[str] = []
    words: list[str] = []

    def lay(kind: Type, value: Any) -> None:
        if isinstance(kind, ScalarType):
            bits = np.array([value], np.float64 if kind.kind == "real" else np.int64).view(np.int64)[0]
            words.append(literal(int(bits)))
        elif isinstance(kind, RecordType):
            for (_, field), part in zip(kind.fields, value, strict=True):
                lay(field, part)
        elif isinstance(kind, TupleType):
            for item, part in zip(kind.items, value, strict=True):
                lay(item, part)
        else:
            assert isinstance(kind, ArrayType)
            array = value.words if isinstance(value, Records) else value
            bits = np.ascontiguousarray(array).view(np.int64).ravel()
            name = f"bc_data_{hashlib.sha256(bits.tobytes()).hexdigest()[:24]}"
            if name not in written:
                written[name] = bits
                room = f"long long {name}[{max(len(bits), 1)}]"
                if apart:
                    line = f'extern "C" {{ __device__ {room}; }}'
                else:
                    listed = ", ".join(literal(int(b)) for b in bits) or "0"
                    line = f"static const {room} = {{{listed}}};"
                # Several programs of one file may bring the same one.
                arrays.extend([f"#ifndef {name}_", f"#define {name}_", line, "#endif"])
            words.append(f"(long long)(size_t){name}")
            words.extend(str(n) for n in array.shape[: kind.dimensions])

    for kind, value in zip(given, tables, strict=True):
        lay(kind, value)
    return [*arrays, f"#define {prefix}_TABLES {{{', '.join(words) or '0'}}}"]


def literal(bits: int) -> str:
    # The least integer has no literal of its own.
    return "(-9223372036854775807LL - 1)" if bits == -(2**63) else f"{bits}LL"


class _Writer:
    """Writes one function."""

    def __init__(
        self, function: ir.Function, functions: dict[str, ir.Function], prefix: str, real: str, static: str
    ) -> None:
        self.function, self.functions, self.prefix, self.real, self.static = (
            function,
            functions,
            prefix,
            real,
            static,
        )
        self.types: dict[Kind, str] = {"int": "long long", "real": real, "bool": "int", "pointer": "char *"}
        self.used = ir.used_in(function)
        self.lines: list[str] = []
        self.depth = 1
        self.labels: list[str] = []
        self.count = 0

    def text(self) -> str:
        """The whole function; several results are written through further pointers."""
        f = self.function
        self.several = len(f.results) != 1
        parameters = [f"{self.types[p.kind]} v{p.id}" for p in f.parameters]
        if self.several:
            parameters += [f"{self.types[k]} *out{j}" for j, k in enumerate(f.results)]
        head = f"{self.static} {'void' if self.several else self.types[f.results[0]]} {self._name(f.name)}"
        self.depth = 1
        self.statements(f.body)
        body, self.lines = self.lines, []
        text = "\n".join(body)
        for k, kind in enumerate(f.variables):
            if re.search(rf"\bs{k}\b", text):
                self.line(f"{self.types[kind]} s{k} = 0;")
        for k, words in enumerate(f.locals):
            if re.search(rf"\bl{k}\b", text):
                self.line(f"long long l{k}[{max(words, 1)}];")
        self.lines += body
        return "\n".join([f"{head}({', '.join(parameters) or 'void'}) {{", *self.lines, "}\n"])

    def _name(self, name: str) -> str:
        return f"{self.prefix}_{name.replace('.', '_')}"

    def line(self, text: str) -> None:
        """One line."""
        self.lines.append("  " * self.depth + text)

    def operand(self, value: Operand) -> str:
        """A scalar."""
        if isinstance(value, Ref):
            return f"v{value.id}"
        if isinstance(value, bool):
            return str(int(value))
        if isinstance(value, int):
            return literal(value)
        if math.isnan(value):
            return "BC_NAN"
        if math.isinf(value):
            return "BC_INFINITY" if value > 0 else "(-BC_INFINITY)"
        text = repr(value) if self.real == "double" else f"{np.float32(value)!s}f"
        text = text if any(c in text for c in ".en") else text.replace("f", ".0f")
        return f"({text})" if text.startswith("-") else text

    def statements(self, given: Sequence[Statement]) -> None:
        """One after the other."""
        for statement in given:
            match statement:
                case ir.Op():
                    self.line(f"{self._kind(statement.out.kind)}v{statement.out.id} = {self.op(statement)};")
                case ir.Set():
                    self.line(f"s{statement.variable} = {self.operand(statement.value)};")
                case ir.Store():
                    kind = "real" if kind_of(statement.value) == "real" else "int"
                    value = self.operand(statement.value)
                    if kind_of(statement.value) == "pointer":
                        value = f"(long long)(size_t){value}"
                    at = f"{self.operand(statement.pointer)}, {self.operand(statement.index)}"
                    self.line(f"bc_set_{kind}({at}, {value});")
                case ir.Clear():
                    self.line(f"memset({self.operand(statement.pointer)}, 0, {8 * statement.words});")
                case ir.Call():
                    self.call(statement)
                case ir.CallAddress():
                    self.call_address(statement)
                case ir.If():
                    self.line(f"if ({self.operand(statement.condition)}) {{")
                    self.inner(statement.then)
                    if statement.orelse:
                        self.line("} else {")
                        self.inner(statement.orelse)
                    self.line("}")
                case ir.Loop():
                    self.loop(statement)
                case ir.Jump():
                    self.line("break;" if statement.word == "break" else f"goto {self.labels[-1]};")
                case ir.Return():
                    self.give(statement)

    def _kind(self, kind: Kind) -> str:
        return "char *const " if kind == "pointer" else f"const {self.types[kind]} "

    def inner(self, block: Sequence[Statement]) -> None:
        """A block, indented."""
        self.depth += 1
        self.statements(block)
        self.depth -= 1

    def loop(self, statement: ir.Loop) -> None:
        """Test, body, step; a continue leaves the block of the body."""
        self.count += 1
        label = f"next{self.count}"
        self.line("for (;;) {")
        self.depth += 1
        self.statements(statement.test)
        self.line(f"if (!{self.operand(statement.condition)}) break;")
        self.labels.append(label)
        self.line("{")
        before = len(self.lines)
        self.inner(statement.body)
        self.line("}")
        self.labels.pop()
        if any(f"goto {label};" in line for line in self.lines[before:]):
            self.line(f"{label}:;")
        self.statements(statement.step)
        self.depth -= 1
        self.line("}")

    def op(self, op: ir.Op) -> str:
        """One operation as an expression."""
        name, texts = op.op, [self.operand(a) for a in op.args]
        if name in _BINARY:
            return f"{texts[0]} {_BINARY[name]} {texts[1]}"
        if name == "get":
            return f"s{op.args[0]}"
        if name == "load":
            return f"bc_get_{op.out.kind}({texts[0]}, {texts[1]})"
        if name == "offset":
            return f"{texts[0]} + 8 * {texts[1]}"
        if name == "local":
            return f"(char *)l{op.args[0]}"
        if name == "neg":
            return f"-{texts[0]}"
        if name == "not":
            return f"!{texts[0]}"
        if name == "select":
            return f"{texts[0]} ? {texts[1]} : {texts[2]}"
        if name == "real":
            return f"({self.real}){texts[0]}"
        if name == "whole":
            return f"(long long){texts[0]}"
        if name == "imod":
            return f"bc_mod({texts[0]}, {texts[1]})"
        if name == "ifloor":
            return f"({texts[0]} - bc_mod({texts[0]}, {texts[1]})) / {texts[1]}"
        return f"{_NAMES.get(name, name)}({', '.join(texts)})"

    def call(self, call: ir.Call) -> None:
        """A function of the same file."""
        results = self.functions[call.name].results
        given = [self.operand(a) for a in call.args]
        name = self._name(call.name)
        if len(results) == 1:
            out = call.outs[0]
            # A call whose result nobody asks for may still store something.
            kept = f"{self._kind(out.kind)}v{out.id} = " if out.id in self.used else ""
            self.line(f"{kept}{name}({', '.join(given)});")
            return
        for out in call.outs:
            self.line(f"{self.types[out.kind]} v{out.id};")
        self.line(f"{name}({', '.join([*given, *(f'&v{out.id}' for out in call.outs)])});")

    def call_address(self, call: ir.CallAddress) -> None:
        """A kernel, or an entry, at an address."""
        address = f"(size_t){self.operand(call.address)}"
        given = [self.operand(a) for a in call.args]
        if call.out is None:
            x, y = given
            self.line(f"((void (*)(const double *, double *)){address})((const double *){x}, (double *){y});")
        else:
            kept = f"{self._kind(call.out.kind)}v{call.out.id} = " if call.out.id in self.used else ""
            self.line(f"{kept}((long long (*)(char *)){address})({', '.join(given)});")

    def give(self, statement: ir.Return) -> None:
        """The results."""
        if not self.several:
            self.line(f"return {self.operand(statement.values[0])};")
            return
        for k, value in enumerate(statement.values):
            self.line(f"*out{k} = {self.operand(value)};")
        self.line("return;")
