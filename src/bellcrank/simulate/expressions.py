"""Expressions of the loops as LLVM IR text; see :mod:`translate`."""

from __future__ import annotations

import ast
import inspect
import math
import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from bellcrank.simulate.vocabulary import FUNCTIONS, Array, Pointer, Value

INT, REAL, BOOL, NOTHING = "i64", "double", "i1", "void"
TYPES = {"int": INT, "float": REAL, "bool": BOOL, "None": NOTHING}
_ARITHMETIC = {ast.Add: ("add", "fadd"), ast.Sub: ("sub", "fsub"), ast.Mult: ("mul", "fmul")}
_COMPARISONS = {
    ast.Lt: ("slt", "olt"), ast.LtE: ("sle", "ole"), ast.Gt: ("sgt", "ogt"),
    ast.GtE: ("sge", "oge"), ast.Eq: ("eq", "oeq"), ast.NotEq: ("ne", "une"),
}  # fmt: skip


class NotTranslatable(TypeError):
    """A function uses what the language of the loops does not have."""


@dataclass(frozen=True)
class Variable:
    """A local variable: its type and its memory."""

    type: str
    at: str


class ExpressionWriter:
    """Writes the instructions of one function, of which `python` is the source."""

    def __init__(
        self,
        python: Callable[..., Any],
        declarations: set[str],
        translated: Callable[[Callable[..., Any], Sequence[Any]], tuple[str, Any]],
    ) -> None:
        self.python, self.declarations, self.translated = python, declarations, translated
        self.scope: dict[str, Any] = {}
        self.slots: list[str] = []
        self.lines: list[str] = []
        self.count = 0

    def refusal(self, node: ast.AST, what: str) -> NotTranslatable:
        """Say what is not in the language, and where."""
        line = self.python.__code__.co_firstlineno + getattr(node, "lineno", 1) - 1
        return NotTranslatable(
            f"{self.python.__module__}, line {line}: {what} is not in the language of loops"
        )

    def emit(self, line: str) -> None:
        """One instruction."""
        self.lines.append("  " + line)

    def new(self, instruction: str, kind: str) -> Value:
        """The result of an instruction."""
        self.count += 1
        self.emit(f"%t{self.count} = {instruction}")
        return Value(kind, f"%t{self.count}")

    def label(self, what: str) -> str:
        """A name for a block."""
        self.count += 1
        return f"{what}{self.count}"

    def place(self, label: str) -> None:
        """Begin a block; whatever came before goes on into it."""
        self.emit(f"br label %{label}")
        self.lines.append(f"{label}:")

    def jump(self, label: str) -> None:
        """Go elsewhere; what follows is not reached from here."""
        self.emit(f"br label %{label}")
        self.lines.append(f"{self.label('dead')}:")

    def slot(self, kind: str) -> str:
        """Memory for a variable; LLVM makes a register of it."""
        self.count += 1
        self.slots.append(f"  %s{self.count} = alloca {kind}")
        return f"%s{self.count}"

    def number(self, node: ast.AST, value: Any, kind: str | None = None) -> Value:
        """A value at run time, brought to a type if one is asked for; truth values stay what they are."""
        if isinstance(value, bool):
            value = Value(BOOL, "true" if value else "false")
        elif isinstance(value, int):
            value = Value(INT, str(value)) if kind != REAL else Value(REAL, _double(float(value)))
        elif isinstance(value, float):
            value = Value(REAL, _double(value))
        if not isinstance(value, Value):
            raise self.refusal(node, f"{type(value).__name__} in place of a number")
        if kind is None or value.type == kind:
            return value
        if (value.type, kind) == (INT, REAL):
            return self.new(f"sitofp i64 {value.name} to double", REAL)
        raise self.refusal(node, f"{value.type} in place of {kind}")

    def pair(self, node: ast.AST, a: Any, b: Any) -> tuple[Value, Value]:
        """Two numbers of the same type."""
        real = any(isinstance(x, float) or (isinstance(x, Value) and x.type == REAL) for x in (a, b))
        boolean = any(isinstance(x, bool) or (isinstance(x, Value) and x.type == BOOL) for x in (a, b))
        kind = REAL if real else BOOL if boolean else INT
        return self.number(node, a, kind), self.number(node, b, kind)

    def expression(self, node: ast.expr) -> Any:
        """The value of an expression."""
        match node:
            case ast.Constant(value=bool() | int() | float()):
                return node.value
            case ast.Name():
                return self._name(node)
            case ast.Attribute() | ast.Subscript():
                return self._part(node)
            case ast.BinOp():
                return self.binary(node, node.op, self.expression(node.left), self.expression(node.right))
            case ast.UnaryOp(op=ast.USub()):
                return self._minus(node)
            case ast.UnaryOp(op=ast.Not()):
                return self.new(f"xor i1 {self.truth(node.operand).name}, true", BOOL)
            case ast.Compare():
                return self._compare(node)
            case ast.BoolOp():
                return self._logic(node)
            case ast.IfExp():
                return self._choice(node)
            case ast.Tuple():
                return tuple(self.expression(e) for e in node.elts)
            case ast.Call():
                return self._call(node)
        raise self.refusal(node, ast.unparse(node))

    def truth(self, node: ast.expr) -> Value:
        """A truth value."""
        return self.number(node, self.expression(node), BOOL)

    def _name(self, node: ast.Name) -> Any:
        if node.id in self.scope:
            found = self.scope[node.id]
            if isinstance(found, Variable):
                return self.new(f"load {found.type}, ptr {found.at}", found.type)
            return found
        value = self.python.__globals__.get(node.id)
        if not isinstance(value, bool | int | float):
            raise self.refusal(node, f"the name {node.id!r}")
        return value

    def _part(self, node: ast.Attribute | ast.Subscript) -> Any:
        """`a.shape[k]`, `math.inf`, a part of a tuple, an entry or a row of an array."""
        match node:
            case ast.Attribute(value=ast.Name(id="math"), attr="inf"):
                return math.inf
            case ast.Subscript(value=ast.Attribute(value=of, attr="shape"), slice=ast.Constant(value=int(k))):
                return self.expression(of).sizes[k]
            case ast.Subscript(value=ast.Name(id=name)) if isinstance(self.scope.get(name), tuple):
                place = self.expression(node.slice)
                if type(place) is not int:
                    raise self.refusal(node, "a part of a tuple that varies")
                return self.scope[name][place]
            case ast.Subscript():
                at = self.entry(node)
                if isinstance(at, Array):
                    return at
                return self.new(f"load {at.element}, ptr {at.name}", at.element)
        raise self.refusal(node, ast.unparse(node))

    def entry(self, node: ast.Subscript) -> Pointer | Array:
        """Where an entry of an array is, or a row of it."""
        array = self.expression(node.value)
        if not isinstance(array, Array):
            raise self.refusal(node, ast.unparse(node))
        indices = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        place = self.number(node, self.expression(indices[0]), INT)
        if len(array.sizes) == 2:
            columns = self.number(node, array.sizes[1], INT)
            place = self.new(f"mul nsw i64 {place.name}, {columns.name}", INT)
            if len(indices) == 1:
                return Array(array.element, self.shifted(array, place).name, array.sizes[1:])
            column = self.number(node, self.expression(indices[1]), INT)
            place = self.new(f"add nsw i64 {place.name}, {column.name}", INT)
        return self.shifted(array, place)

    def shifted(self, array: Array | Pointer, place: Value) -> Pointer:
        """So many numbers behind the beginning."""
        data = array.data if isinstance(array, Array) else array.name
        at = self.new(f"getelementptr inbounds {array.element}, ptr {data}, i64 {place.name}", "ptr")
        return Pointer(array.element, at.name)

    def binary(self, node: ast.AST, operation: ast.operator, a: Any, b: Any) -> Any:
        """Arithmetic; with two constants it is done now."""
        if isinstance(a, int | float) and isinstance(b, int | float):
            return _COMPUTED[type(operation)](a, b)
        if isinstance(operation, ast.Pow):
            return self._power(node, a, b)
        if isinstance(operation, ast.Div):
            x, y = self.number(node, a, REAL), self.number(node, b, REAL)
            return self.new(f"fdiv contract double {x.name}, {y.name}", REAL)
        x, y = self.pair(node, a, b)
        if isinstance(operation, ast.Mod | ast.FloorDiv) and x.type == INT:
            # The sign of the divisor, as in Python.
            rest = self.new(f"srem i64 {x.name}, {y.name}", INT)
            again = self.new(f"add nsw i64 {rest.name}, {y.name}", INT)
            rest = self.new(f"srem i64 {again.name}, {y.name}", INT)
            if isinstance(operation, ast.Mod):
                return rest
            whole = self.new(f"sub nsw i64 {x.name}, {rest.name}", INT)
            return self.new(f"sdiv exact i64 {whole.name}, {y.name}", INT)
        if type(operation) not in _ARITHMETIC or x.type == BOOL:
            raise self.refusal(node, f"{type(operation).__name__} of {x.type}")
        integer, real = _ARITHMETIC[type(operation)]
        how = f"{integer} nsw i64" if x.type == INT else f"{real} contract double"
        return self.new(f"{how} {x.name}, {y.name}", x.type)

    def _power(self, node: ast.AST, a: Any, b: Any) -> Value:
        if type(b) is int and 0 < b < 8:
            square, result = self.number(node, a), None
            while b:
                if b & 1:
                    result = square if result is None else self.binary(node, ast.Mult(), result, square)
                b >>= 1
                square = self.binary(node, ast.Mult(), square, square) if b else square
            assert result is not None
            return result
        return self.library("llvm.pow.f64", self.number(node, a, REAL), self.number(node, b, REAL))

    def _minus(self, node: ast.UnaryOp) -> Any:
        value = self.expression(node.operand)
        if isinstance(value, int | float):
            return -value
        if value.type == REAL:
            return self.new(f"fneg contract double {value.name}", REAL)
        return self.binary(node, ast.Sub(), 0, value)

    def compare(self, node: ast.AST, operation: ast.cmpop, a: Any, b: Any) -> Value:
        """One comparison."""
        x, y = self.pair(node, a, b)
        whole, real = _COMPARISONS[type(operation)]
        how = f"fcmp {real} double" if x.type == REAL else f"icmp {whole} {x.type}"
        return self.new(f"{how} {x.name}, {y.name}", BOOL)

    def _compare(self, node: ast.Compare) -> Value:
        """a < b < c evaluates b once; the operands have no effects, so nothing needs to be skipped."""
        values = [self.expression(e) for e in (node.left, *node.comparators)]
        result = self.compare(node, node.ops[0], *values[:2])
        for k, operation in enumerate(node.ops[1:], 1):
            further = self.compare(node, operation, *values[k : k + 2])
            result = self.new(f"and i1 {result.name}, {further.name}", BOOL)
        return result

    def _logic(self, node: ast.BoolOp) -> Value:
        """`and`, `or`: what comes behind is evaluated only where it decides."""
        slot, end = self.slot(BOOL), self.label("decided")
        for k, operand in enumerate(node.values):
            value = self.truth(operand)
            self.emit(f"store i1 {value.name}, ptr {slot}")
            if k < len(node.values) - 1:
                more = self.label("more")
                targets = (more, end) if isinstance(node.op, ast.And) else (end, more)
                self.emit(f"br i1 {value.name}, label %{targets[0]}, label %{targets[1]}")
                self.lines.append(f"{more}:")
        self.place(end)
        return self.new(f"load i1, ptr {slot}", BOOL)

    def _choice(self, node: ast.IfExp) -> Any:
        """`a if c else b`: only the one taken is evaluated."""
        yes, no, end = self.label("yes"), self.label("no"), self.label("chosen")
        self.emit(f"br i1 {self.truth(node.test).name}, label %{yes}, label %{no}")
        before, self.lines = self.lines, [f"{yes}:"]
        a = self.expression(node.body)
        lines_a, self.lines = self.lines, [f"{no}:"]
        b = self.expression(node.orelse)
        lines_b, self.lines = self.lines, lines_a
        kind = REAL if REAL in (_kind(a), _kind(b)) else _kind(a)
        slot = self.slot(kind)
        for lines, value in ((lines_a, a), (lines_b, b)):
            self.lines = lines
            self.emit(f"store {kind} {self.number(node, value, kind).name}, ptr {slot}")
            self.emit(f"br label %{end}")
        self.lines = [*before, *lines_a, *lines_b, f"{end}:"]
        return self.new(f"load {kind}, ptr {slot}", kind)

    def _call(self, node: ast.Call) -> Any:
        if node.keywords:
            raise self.refusal(node, "an argument by name")
        arguments: list[Any] = []
        for a in node.args:
            if isinstance(a, ast.Starred):
                arguments += self.expression(a.value)
            else:
                arguments.append(self.expression(a))
        name = ast.unparse(node.func)
        if name in FUNCTIONS:
            return FUNCTIONS[name](self, node, *arguments)
        function = self.python.__globals__.get(name)
        if not inspect.isfunction(function):
            raise self.refusal(node, f"the function {name!r}")
        return self.call(node, function, arguments)

    def call(self, node: ast.AST, function: Callable[..., Any], arguments: Sequence[Any]) -> Any:
        """Another function of the language."""
        name, result = self.translated(function, arguments)
        given = inspect.signature(function).parameters.values()
        named = [p for p in given if p.kind is not p.VAR_POSITIONAL]
        # What stands behind the named parameters comes first in the machine code.
        texts = [text for value in arguments[len(named) :] for text in self._passed(node, value)]
        for parameter, value in zip(named, arguments, strict=False):
            if isinstance(value, Value | int | float):
                number = self.number(node, value, TYPES[str(parameter.annotation)])
                texts.append(f"{number.type} {number.name}")
            else:
                texts += self._passed(node, value)
        call = f"call {type_text(result)} @{name}({', '.join(texts)})"
        if result == NOTHING:
            self.emit(call)
            return None
        if isinstance(result, str):
            return self.new(call, result)
        whole, kind = self.new(call, ""), type_text(result)
        return tuple(self.new(f"extractvalue {kind} {whole.name}, {k}", r) for k, r in enumerate(result))

    def _passed(self, node: ast.AST, value: Any) -> list[str]:
        if isinstance(value, tuple):
            return [text for v in value for text in self._passed(node, v)]
        if isinstance(value, Pointer):
            return [f"ptr {value.name}"]
        return [f"ptr {value.data}", *(f"i64 {s.name}" for s in value.sizes if isinstance(s, Value))]

    def library(self, name: str, *arguments: Value) -> Value:
        """A function of LLVM or of the C library on doubles."""
        self.declarations.add(f"declare double @{name}({', '.join(['double'] * len(arguments))})")
        given = ", ".join(f"double {a.name}" for a in arguments)
        return self.new(f"call contract double @{name}({given})", REAL)


def _double(value: float) -> str:
    return f"0x{struct.unpack('<Q', struct.pack('<d', value))[0]:016X}"


def _kind(value: Any) -> str:
    if isinstance(value, bool):
        return BOOL
    if isinstance(value, int | float):
        return INT if isinstance(value, int) else REAL
    return str(value.type)


def type_text(result: Any) -> str:
    return result if isinstance(result, str) else f"{{{', '.join(result)}}}"


_COMPUTED: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: lambda a, b: a + b,
    ast.Sub: lambda a, b: a - b,
    ast.Mult: lambda a, b: a * b,
    ast.Div: lambda a, b: a / b,
    ast.FloorDiv: lambda a, b: a // b,
    ast.Mod: lambda a, b: a % b,
    ast.Pow: lambda a, b: a**b,
}
