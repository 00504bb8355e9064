"""Loops written as plain Python functions, as LLVM IR text.

The language is what numerical loops need and no more: 64-bit integers, doubles, truth values and arrays of
one or two dimensions; `if`, `while`, `for ... in range`, `break`, `continue`, `return`; arithmetic,
comparison and short-circuit logic; the functions of :mod:`vocabulary`, and calls of other such functions.
Module level numbers are constants. A local variable has the type of the first value it is given. A function that
returns arrays is written out where it is called; it has assignments and one `return` at its end. What is not
in the language is refused with the line it stands in. The functions stay plain Python, so the same text can
be run by the interpreter, which is how the translation is tested.

Products and sums may be contracted, nothing is reordered: the same run gives the same bits. Indices are not
checked, and arrays given under different names must not overlap.
"""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Callable, Sequence
from typing import Any

from bellcrank.simulate.expressions import (
    BOOL,
    INT,
    NOTHING,
    REAL,
    TYPES,
    ExpressionWriter,
    NotTranslatable,
    Variable,
    type_text,
)
from bellcrank.simulate.vocabulary import Array, Pointer, Value

__all__ = ["NotTranslatable", "translate"]


def translate(function: Callable[..., Any], pointers: Sequence[str], name: str) -> str:
    """The module whose function `name` takes one pointer to numbers of each of the given types."""
    module = _Module()
    arguments = [Pointer(element, "") for element in pointers]
    module.function(function, arguments, name)
    return "\n".join([*sorted(module.declarations), *module.bodies]) + "\n"


class _Module:
    """The functions translated so far, by Python function and types of the arguments."""

    def __init__(self) -> None:
        self.bodies: list[str] = []
        self.declarations: set[str] = set()
        self._known: dict[Any, tuple[str, Any]] = {}

    def function(
        self, function: Callable[..., Any], arguments: Sequence[Any], name: str = ""
    ) -> tuple[str, Any]:
        """The name and the type of the result of a function for arguments of these types."""
        key = (function, tuple(_shape(a) for a in arguments))
        if key not in self._known:
            exported = bool(name)
            writer = _Function(self, function, name or f"{function.__name__}.{len(self._known)}")
            self._known[key] = writer.name, writer.result
            self.bodies.append(writer.text(arguments, exported))
        return self._known[key]


def _shape(value: Any) -> Any:
    """What distinguishes arguments of different types."""
    if isinstance(value, tuple):
        return tuple(_shape(v) for v in value)
    if isinstance(value, Array):
        return value.element, tuple(s if isinstance(s, int) else None for s in value.sizes)
    if isinstance(value, Pointer):
        return "pointer", value.element
    return "number"


def _source(function: Callable[..., Any]) -> ast.FunctionDef:
    """A function as it is written."""
    tree = ast.parse(textwrap.dedent(inspect.getsource(function))).body[0]
    assert isinstance(tree, ast.FunctionDef)
    return tree


def _results(tree: ast.FunctionDef) -> list[str]:
    """The types a function declares to return."""
    declared = tree.returns
    if isinstance(declared, ast.Subscript) and isinstance(declared.slice, ast.Tuple):
        return [ast.unparse(e) for e in declared.slice.elts]
    return [ast.unparse(declared) if declared else "None"]


class _Function(ExpressionWriter):
    """Writes one function."""

    def __init__(self, module: _Module, function: Callable[..., Any], name: str) -> None:
        super().__init__(function, module.declarations, module.function)
        self.name = name
        self.tree = _source(function)
        self.loops: list[tuple[str, str]] = []
        self.alone = ""
        self.result = self._result()

    def _result(self) -> Any:
        kinds = _results(self.tree)
        unknown = [kind for kind in kinds if kind not in TYPES]
        if unknown:
            raise self.refusal(self.tree, f"result of type {unknown[0]}")
        found = tuple(TYPES[kind] for kind in kinds)
        return found if len(found) > 1 else found[0]

    @property
    def result_text(self) -> str:
        """The type of the result in LLVM."""
        return type_text(self.result)

    def text(self, arguments: Sequence[Any], exported: bool) -> str:
        """The whole function."""
        declared: list[str] = []
        given, rest = self.tree.args.args, self.tree.args.vararg
        # Pointers given beside the arrays they belong to are a second way to the same memory.
        self.alone = "" if any(isinstance(a, tuple) for a in arguments) else "noalias "
        if len(given) != len(arguments) and (rest is None or len(given) > len(arguments)):
            raise self.refusal(self.tree, f"{self.name} with {len(arguments)} arguments")
        if rest is not None:
            more = enumerate(arguments[len(given) :])
            self.scope[rest.arg] = tuple(self._parameter(f"{rest.arg}.{k}", v, declared) for k, v in more)
        for parameter, value in zip(given, arguments[: len(given)], strict=True):
            if isinstance(value, Value | int | float):
                kind = TYPES[ast.unparse(parameter.annotation)] if parameter.annotation else REAL
                declared.append(f"{kind} %{parameter.arg}")
                self.assign_name(parameter, parameter.arg, Value(kind, f"%{parameter.arg}"))
            else:
                self.scope[parameter.arg] = self._parameter(parameter.arg, value, declared)
        self.block(self.tree.body)
        if self.result == NOTHING:
            self.emit("ret void")
        else:
            self.emit("unreachable")
        linkage = "" if exported else "internal "
        head = f"define {linkage}{self.result_text} @{self.name}({', '.join(declared)}) nounwind {{\nentry:"
        return "\n".join([head, *self.slots, *self.lines, "}"])

    def _parameter(self, name: str, value: Any, declared: list[str]) -> Any:
        if isinstance(value, tuple):
            return tuple(self._parameter(f"{name}.{k}", v, declared) for k, v in enumerate(value))
        declared.append(f"ptr {self.alone}%{name}")
        if isinstance(value, Pointer):
            return Pointer(value.element, f"%{name}")
        sizes = [
            size if isinstance(size, int) else Value(INT, f"%{name}.size{k}")
            for k, size in enumerate(value.sizes)
        ]
        declared += [f"i64 {s.name}" for s in sizes if isinstance(s, Value)]
        return Array(value.element, f"%{name}", tuple(sizes))

    def call(self, node: ast.AST, function: Callable[..., Any], arguments: Sequence[Any]) -> Any:
        """Another function of the language; one that returns arrays is written out here."""
        tree = _source(function)
        if all(kind in TYPES for kind in _results(tree)):
            return super().call(node, function, arguments)
        *body, last = tree.body
        outer, caller = self.scope, self.python
        self.scope = {p.arg: value for p, value in zip(tree.args.args, arguments, strict=True)}
        self.python = function
        for statement in body:
            if not isinstance(statement, ast.Assign | ast.Expr):
                raise self.refusal(statement, "what is not an assignment, in a function that returns arrays,")
            self.statement(statement)
        if not isinstance(last, ast.Return) or last.value is None:
            raise self.refusal(last, "a function that returns arrays without a return at its end")
        found = self.expression(last.value)
        self.scope, self.python = outer, caller
        return found

    def block(self, statements: Sequence[ast.stmt]) -> None:
        """One statement after the other."""
        for statement in statements:
            self.statement(statement)

    def statement(self, node: ast.stmt) -> None:
        """One statement."""
        match node:
            case ast.Expr(value=ast.Constant(value=str())) | ast.Pass():
                pass
            case ast.Expr(value=ast.Call()):
                self.expression(node.value)
            case ast.Assign(targets=[target]):
                self.assign(target, self.expression(node.value))
            case ast.AnnAssign(value=ast.expr() as given):
                self.assign(node.target, self.expression(given))
            case ast.AugAssign():
                self._update(node)
            case ast.Return():
                self._return(node)
            case ast.If():
                self._if(node)
            case ast.While():
                self._while(node)
            case ast.For():
                self._for(node)
            case ast.Break() if self.loops:
                self.jump(self.loops[-1][1])
            case ast.Continue() if self.loops:
                self.jump(self.loops[-1][0])
            case _:
                raise self.refusal(node, ast.unparse(node))

    def assign(self, target: ast.expr, value: Any) -> None:
        """To a name, an entry of an array, or several at once."""
        match target:
            case ast.Tuple():
                if not isinstance(value, tuple) or len(value) != len(target.elts):
                    raise self.refusal(target, "an assignment of unequal lengths")
                for part, given in zip(target.elts, value, strict=True):
                    self.assign(part, given)
            case ast.Subscript():
                at = self.entry(target)
                if isinstance(at, Array):
                    raise self.refusal(target, "an assignment to a row")
                number = self.number(target, value, at.element)
                self.emit(f"store {at.element} {number.name}, ptr {at.name}")
            case ast.Name():
                self.assign_name(target, target.id, value)
            case _:
                raise self.refusal(target, ast.unparse(target))

    def assign_name(self, node: ast.AST, name: str, value: Any) -> None:
        """To a variable, which the first assignment makes."""
        if not isinstance(value, Value | int | float):
            if name in self.scope:
                raise self.refusal(node, f"another array under the name {name!r}")
            self.scope[name] = value
            return
        if name not in self.scope:
            kind = self.number(node, value).type
            self.scope[name] = Variable(kind, self.slot(kind))
        variable = self.scope[name]
        number = self.number(node, value, variable.type)
        self.emit(f"store {variable.type} {number.name}, ptr {variable.at}")

    def _update(self, node: ast.AugAssign) -> None:
        if isinstance(node.target, ast.Subscript):
            at = self.entry(node.target)
            if isinstance(at, Array):
                raise self.refusal(node, "an assignment to a row")
            before = self.new(f"load {at.element}, ptr {at.name}", at.element)
            after = self.binary(node, node.op, before, self.expression(node.value))
            self.emit(f"store {at.element} {self.number(node, after, at.element).name}, ptr {at.name}")
            return
        after = self.binary(node, node.op, self.expression(node.target), self.expression(node.value))
        self.assign(node.target, after)

    def _return(self, node: ast.Return) -> None:
        if isinstance(self.result, str):
            given = NOTHING
            if node.value is not None:
                number = self.number(node, self.expression(node.value), self.result)
                given = f"{number.type} {number.name}"
            self.emit(f"ret {given}")
        else:
            assert node.value is not None
            whole = "undef"
            for k, (kind, part) in enumerate(zip(self.result, self.expression(node.value), strict=True)):
                number = self.number(node, part, kind)
                whole = self.new(
                    f"insertvalue {self.result_text} {whole}, {kind} {number.name}, {k}", ""
                ).name
            self.emit(f"ret {self.result_text} {whole}")
        self.lines.append(f"{self.label('dead')}:")

    def _if(self, node: ast.If) -> None:
        yes, no, end = self.label("then"), self.label("else"), self.label("endif")
        self.emit(f"br i1 {self.truth(node.test).name}, label %{yes}, label %{no}")
        self.lines.append(f"{yes}:")
        self.block(node.body)
        self.emit(f"br label %{end}")
        self.lines.append(f"{no}:")
        self.block(node.orelse)
        self.place(end)

    def _while(self, node: ast.While) -> None:
        head, body, end = self.label("while"), self.label("do"), self.label("done")
        self.place(head)
        self.emit(f"br i1 {self.truth(node.test).name}, label %{body}, label %{end}")
        self.lines.append(f"{body}:")
        self.loops.append((head, end))
        self.block(node.body)
        self.loops.pop()
        self.emit(f"br label %{head}")
        self.lines.append(f"{end}:")

    def _for(self, node: ast.For) -> None:
        """`for i in range(...)`, the stride a constant."""
        match node:
            case ast.For(
                target=ast.Name(id=name), iter=ast.Call(func=ast.Name(id="range"), args=bounds), orelse=[]
            ):
                values = [self.expression(b) for b in bounds]
            case _:
                raise self.refusal(node, ast.unparse(node).splitlines()[0])
        start, stop, stride = {1: (0, *values, 1), 2: (*values, 1), 3: tuple(values)}[len(values)]
        if not isinstance(stride, int):
            raise self.refusal(node, "a stride that varies")
        first, last = self.number(node, start, INT), self.number(node, stop, INT)
        counter = self.slot(INT)
        head, body, after, end = (self.label(w) for w in ("for", "each", "next", "done"))
        self.emit(f"store i64 {first.name}, ptr {counter}")
        self.place(head)
        now = self.new(f"load i64, ptr {counter}", INT)
        test = self.new(f"icmp {'slt' if stride > 0 else 'sgt'} i64 {now.name}, {last.name}", BOOL)
        self.emit(f"br i1 {test.name}, label %{body}, label %{end}")
        self.lines.append(f"{body}:")
        self.assign_name(node, name, now)
        self.loops.append((after, end))
        self.block(node.body)
        self.loops.pop()
        self.place(after)
        moved = self.new(f"add nsw i64 {now.name}, {stride}", INT)
        self.emit(f"store i64 {moved.name}, ptr {counter}")
        self.emit(f"br label %{head}")
        self.lines.append(f"{end}:")
