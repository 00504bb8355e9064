"""From Python functions to the intermediate form: names, control flow, calls, records, arrays.

Every function is translated once for each shape of its arguments. A function of one `return` is written out where it is
called, and so is one that returns arrays: operators of vectors cost no call. With dual numbers a variable gets room for
the rates it needs: a function is translated again until no variable asks for more.
"""

from __future__ import annotations

import ast
import functools
import inspect
import textwrap
import types
import typing
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from bellcrank.program.loops import ir
from bellcrank.program.loops.ir import CONSTANT, Operand, Ref, Statement
from bellcrank.program.loops.layout import (
    ArrayType,
    RecordType,
    RowType,
    ScalarType,
    TupleType,
    Type,
    is_record,
    width,
)
from bellcrank.program.loops.numbers import NumberWriter
from bellcrank.program.loops.values import (
    NUMBER,
    Array,
    Dual,
    Function,
    Mismatch,
    Place,
    Record,
    Variable,
    described,
    dual_words,
    fitted_scalars,
    from_scalars,
    full_dual,
    joined,
    kinds,
    of_numbers,
    scalars,
    shape_of,
)
from bellcrank.program.loops.vocabulary import VOCABULARY

PASSES = 12
"""Translations of one function before its variables are taken to grow without end. Each adds a rate to one variable at
least; longer chains of variables that wait for each other have not been seen."""


class Motion(NamedTuple):
    """Inputs that move: each in a direction of its own, for partial derivatives, or all `along` rates that are given as
    further inputs."""

    places: tuple[int, ...]
    along: bool

    @property
    def directions(self) -> int:
        """Rates of each number."""
        return 1 if self.along else len(self.places)


class Called:
    """What stands for a function of the language; within the language it is that function."""

    function: Callable[..., Any]


class NotTranslatable(TypeError):
    """A function uses what the loop language does not have."""


class Module:
    """The functions translated so far, by Python function and shapes of the arguments."""

    def __init__(self, directions: Sequence[int] = ()) -> None:
        """directions: Of the dual numbers, by level."""
        self.directions = tuple(directions)
        self.level = len(self.directions)
        """Of the next dual numbers: rates that are taken within others are of a higher level."""
        self.functions: list[ir.Function] = []
        self._known: dict[Any, tuple[ir.Function, Any] | None] = {}

    def function(self, python: Callable[..., Any], arguments: Sequence[Any]) -> tuple[ir.Function, Any]:
        """A function for arguments of these shapes, and the shape of its result."""
        roots = _renamed(arguments)
        shapes = tuple(shape_of(a, roots) for a in arguments)
        key = python, shapes
        if key in self._known:
            found = self._known[key]
            if found is None:
                raise NotTranslatable(
                    f"{python.__qualname__} calls itself, which the loop language does not have"
                )
            return found
        self._known[key] = None
        grown: dict[Any, Any] = {}
        name = f"{python.__name__}.{len(self._known)}"
        for _ in range(PASSES):
            body = _Body(self, python, name, grown)
            body.whole(shapes)
            if not body.again:
                break
        else:
            raise NotTranslatable(f"the rates in {python.__qualname__} grow without end")
        self.functions.append(body.made)
        result = body.made, body.result
        self._known[key] = result
        return result

    def entry(self, python: Callable[..., Any], declared: Sequence[Type], name: str) -> ir.Function:
        """The function `name` of one pointer, to the words of the arguments; it returns an integer."""
        writer = _Body(self, python, name, {})
        pointer = writer.ref("pointer")
        writer.made.parameters = [pointer]
        words = iter(range(10**9))
        arguments = [writer.unpacked(t, pointer, words) for t in declared]
        result = writer.called(python, arguments)
        writer.block.append(ir.Return((0 if result is None else writer.scalar(result, "int"),)))
        writer.made.results = ("int",)
        self.functions.append(writer.made)
        return writer.made

    def routine(
        self,
        python: Callable[..., Any],
        inputs: Sequence[Type],
        tables: Sequence[Type],
        memory: int,
        more: int,
        moving: Sequence[Motion],
        name: str,
    ) -> ir.Function:
        """The function `name` of pointers to inputs, outputs, memory and the words of the tables.

        more: Results that it writes into an array, its last parameter. moving: Which inputs move, by level; see
        :class:`~bellcrank.program.loops.Routine`.
        """
        writer = _Body(self, python, name, {})
        x, y, kept, words_at = (writer.ref("pointer") for _ in range(4))
        writer.made.parameters = [x, y, kept, words_at]
        writer.made.alone = {x.id, y.id, kept.id}
        numbers = iter(_moved(writer, x, sum(width(t) for t in inputs), moving))
        arguments = [writer.built(t, numbers) for t in inputs]
        words = iter(range(10**9))
        arguments += [writer.unpacked(t, words_at, words) for t in tables]
        if memory:
            arguments.append(Array("real", (kept,), (memory,), writer.root()))
        written = writer.local("real", more) if more else None
        result = writer.called(python, arguments if written is None else [*arguments, written])
        found = _flat(result)
        if written is not None:
            found += [writer.load(written, k) for k in range(more)]
        outputs = [writer.output(o) for o in found]
        for level in range(len(moving)):
            outputs = [
                *(_value(o, level) for o in outputs),
                *(r for o in outputs for r in _rates(o, level, moving)),
            ]
        for k, o in enumerate(outputs):
            writer.block.append(ir.Store(y, k, writer.scalar(o, "real")))
        writer.block.append(ir.Return(()))
        self.functions.append(writer.made)
        return writer.made


def _moved(writer: _Body, x: Ref, count: int, moving: Sequence[Motion]) -> list[Any]:
    """The inputs at a pointer, as duals where they move."""
    total = count + sum(len(m.places) for m in moving if m.along)
    found: list[Any] = [writer.op("load", "real", x, k) for k in range(total)]
    end = total
    # The highest level first: rates that are inputs may move themselves.
    for level in range(len(moving) - 1, -1, -1):
        places, along = moving[level]
        if along:
            end -= len(places)
        for j, k in enumerate(places):
            if along:
                step = Dual(level, 0.0, (1.0,))
                found[k] = writer.add(found[k], writer.mul(step, found[end + j]))
            else:
                unit = Dual(level, 0.0, tuple(float(i == j) for i in range(len(places))))
                found[k] = writer.add(found[k], unit)
    return found


def _flat(value: Any) -> list[Any]:
    """The numbers of a value, duals whole."""
    if isinstance(value, Record):
        return [x for f in value.fields for x in _flat(f)]
    if isinstance(value, tuple) and not isinstance(value, NUMBER):
        return [x for v in value for x in _flat(v)]
    return [] if value is None else [value]


def _value(value: Any, level: int) -> Any:
    """A number without its rates of this level; those of lower ones stay."""
    if isinstance(value, Dual):
        if value.level == level:
            return value.value
        if value.level > level:
            return Dual(value.level, _value(value.value, level), tuple(_value(r, level) for r in value.rates))
    return value


def _rates(value: Any, level: int, moving: Sequence[Motion]) -> list[Any]:
    """The rates of a number of this level."""
    if isinstance(value, Dual):
        if value.level == level:
            return list(value.rates)
        if value.level > level:
            inner = _rates(value.value, level, moving)
            outer = [_rates(r, level, moving) for r in value.rates]
            return [Dual(value.level, v, tuple(rates)) for v, *rates in zip(inner, *outer, strict=True)]
    return [0.0] * moving[level].directions


def _renamed(arguments: Sequence[Any]) -> dict[int, int]:
    """The arrays of the arguments by which of them may overlap: the first one's number stands for all."""
    found: dict[int, int] = {}

    def collect(value: Any) -> None:
        if isinstance(value, Array):
            found.setdefault(value.root, len(found))
        elif isinstance(value, Record):
            for field in value.fields:
                collect(field)
        elif isinstance(value, Function):
            collect(value.owner)
        elif isinstance(value, tuple) and not isinstance(value, NUMBER):
            for item in value:
                collect(item)

    for a in arguments:
        collect(a)
    return found


@functools.cache
def _source(function: Callable[..., Any]) -> ast.FunctionDef:
    """A function as it is written."""
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(function))).body[0]
    except (OSError, TypeError) as problem:
        raise NotTranslatable(f"{function!r} has no source that can be read") from problem
    if not isinstance(tree, ast.FunctionDef):
        raise NotTranslatable(f"{function!r} is no function written with def")
    return tree


@functools.cache
def _signature(function: Callable[..., Any]) -> inspect.Signature:
    return inspect.signature(function)


@functools.cache
def _written_out(function: Callable[..., Any]) -> bool:
    """Whether calls are replaced by the function's text: one expression, or arrays that are returned."""
    tree = _source(function)
    body = [s for s in tree.body if not _is_text(s)]
    if not body or not isinstance(body[-1], ast.Return) or body[-1].value is None:
        return False
    if any(not isinstance(s, ast.Assign | ast.AnnAssign | ast.Expr) for s in body[:-1]):
        return False
    return len(body) == 1 or _returns_arrays(function)


def _returns_arrays(function: Callable[..., Any]) -> bool:
    try:
        hint = typing.get_type_hints(function, include_extras=True).get("return")
    except Exception:
        return False
    return "ndarray" in repr(hint) or "Records" in repr(hint)


def _is_text(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


class _Body(NumberWriter):
    """Writes one function."""

    def __init__(self, module: Module, python: Callable[..., Any], name: str, grown: dict[Any, Any]) -> None:
        super().__init__()
        self.module, self.python, self.grown = module, python, grown
        self.made = ir.Function(name)
        self.block = self.made.body
        self.scope: dict[str, Any] = {}
        self.frame: tuple[int, ...] = ()
        self.frames = 0
        self.roots = 0
        self.loops = 0
        self.again = False
        self.result = grown.get("return")
        self.returned: list[Any] | None = None

    def refusal(self, node: ast.AST, what: str) -> NotTranslatable:
        """Say what is not in the language, and where."""
        line = self.python.__code__.co_firstlineno + getattr(node, "lineno", 1) - 1
        return NotTranslatable(f"{self.python.__module__}, line {line}: {what} is not in the loop language")

    def root(self) -> int:
        """The number of another array."""
        self.roots += 1
        return -self.roots

    def whole(self, shapes: Sequence[Any]) -> None:
        """The function for arguments of these shapes."""
        arguments: list[Any] = []
        owners: dict[int, list[int]] = {}
        for shape in shapes:
            refs = [self.ref(kind) for kind in kinds(shape)]
            self.made.parameters += refs
            value = from_scalars(shape, iter(refs))
            arguments.append(value)
            for array in _arrays(value):
                owners.setdefault(array.root, []).extend(ref.id for ref in array.data)
        for array_refs in owners.values():
            if len(array_refs) == 1:
                self.made.alone.update(array_refs)
        self.bind(self.python, arguments, {})
        self.statements(_source(self.python).body)
        self.made.results = tuple(kinds(self.result))
        if not self.made.results:
            self.block.append(ir.Return(()))

    def bind(self, python: Callable[..., Any], arguments: Sequence[Any], named: dict[str, Any]) -> None:
        """Make the arguments the first variables."""
        signature = _signature(python)
        try:
            bound = signature.bind(*arguments, **named)
        except TypeError as problem:
            raise Mismatch(f"{python.__qualname__}: {problem}") from None
        bound.apply_defaults()
        for name, given in bound.arguments.items():
            parameter = signature.parameters[name]
            value = self._argument(parameter, given)
            if parameter.kind is parameter.VAR_POSITIONAL or not of_numbers(shape_of(value)):
                self.scope[name] = value
            else:
                self.assign_name(name, value)

    def _argument(self, parameter: inspect.Parameter, given: Any) -> Any:
        """A value of the type that a parameter is declared with."""
        value = self.constant(given) if _is_constant(given) else given
        wanted = _SIMPLE.get(parameter.annotation)
        if wanted is None or value is None:
            return value
        return self.real(value) if wanted == "real" else self.scalar(value, wanted)

    # Arguments in memory

    def unpacked(self, given: Type, pointer: Ref, words: Iterator[int]) -> Any:
        """A value from the words of the arguments."""
        if isinstance(given, ScalarType):
            if given.kind == "bool":
                return self.op("ne", "bool", self.op("load", "int", pointer, next(words)), 0)
            return self.op("load", given.kind, pointer, next(words))
        if isinstance(given, RecordType):
            return Record(given.record, tuple(self.unpacked(f, pointer, words) for _, f in given.fields))
        if isinstance(given, TupleType):
            return tuple(self.unpacked(item, pointer, words) for item in given.items)
        assert isinstance(given, ArrayType)
        data = self.op("load", "pointer", pointer, next(words))
        sizes = tuple(self.op("load", "int", pointer, next(words)) for _ in range(given.dimensions))
        return Array(given.element, (data,), sizes, self.root())

    def built(self, given: Type, numbers: Iterator[Any]) -> Any:
        """A value of numbers alone."""
        if isinstance(given, RecordType):
            return Record(given.record, tuple(self.built(f, numbers) for _, f in given.fields))
        if isinstance(given, TupleType):
            return tuple(self.built(item, numbers) for item in given.items)
        if isinstance(given, RowType):
            row = self.local("real", given.count)
            for k in range(given.count):
                self.keep(row, k, next(numbers))
            return row
        number = next(numbers)
        if given == ScalarType("int"):
            return self.op("whole", "int", self.plain(number))
        return self.compare("ne", number, 0.0) if given == ScalarType("bool") else number

    def output(self, value: Any) -> Any:
        """A result as a real."""
        if isinstance(value, Dual):
            return value
        plain = self.plain(value)
        if ir.kind_of(plain) == "bool":
            return self.select(plain, 1.0, 0.0)
        return self.scalar(plain, "real")

    # Statements

    def statements(self, given: Sequence[ast.stmt]) -> None:
        """One after the other."""
        for statement in given:
            try:
                self.statement(statement)
            except Mismatch as problem:
                raise self.refusal(statement, str(problem)) from None

    def within(self, given: Sequence[ast.stmt]) -> list[Statement]:
        """Statements as a block of their own."""
        outer, self.block = self.block, []
        self.statements(given)
        found, self.block = self.block, outer
        return found

    def statement(self, node: ast.stmt) -> None:
        """One statement."""
        match node:
            case ast.Expr(value=ast.Constant()) | ast.Pass() | ast.Import() | ast.ImportFrom():
                pass
            case ast.Expr(value=ast.Call()):
                self.expression(node.value)
            case ast.Assign():
                value = self.loaded(self.expression(node.value))
                for target in node.targets:
                    self.assign(target, value)
            case ast.AnnAssign(value=ast.expr() as given):
                self.assign(node.target, self.expression(given))
            case ast.AugAssign():
                self._update(node)
            case ast.Return():
                self._return(node)
            case ast.If():
                self._if(node)
            case ast.While(orelse=[]):
                self._while(node)
            case ast.For():
                self._for(node)
            case ast.Break() if self.loops:
                self.block.append(ir.Jump("break"))
            case ast.Continue() if self.loops:
                self.block.append(ir.Jump("continue"))
            case _:
                raise self.refusal(node, ast.unparse(node).splitlines()[0])

    def assign(self, target: ast.expr, value: Any) -> None:
        """To a name, an entry of an array, or several at once."""
        match target:
            case ast.Tuple():
                parts = self.items(value)
                if len(parts) != len(target.elts):
                    raise self.refusal(target, "an assignment of unequal lengths")
                for part, given in zip(target.elts, parts, strict=True):
                    self.assign(part, given)
            case ast.Subscript():
                self.store(target, value)
            case ast.Name(id="_"):
                pass
            case ast.Name():
                self.assign_name(target.id, self.loaded(value))
            case _:
                raise self.refusal(target, ast.unparse(target))

    def items(self, value: Any) -> tuple[Any, ...]:
        """The parts of a tuple or of a record."""
        value = self.loaded(value)
        if isinstance(value, Record):
            return value.fields
        if not isinstance(value, tuple) or isinstance(value, NUMBER):
            raise Mismatch(f"{described(shape_of(value))} in place of a tuple")
        return value

    def assign_name(self, name: str, value: Any) -> None:
        """To a variable, which the first assignment makes."""
        shape = shape_of(value)
        if not of_numbers(shape):
            if name in self.scope and self.scope[name] != value:
                raise Mismatch(f"another {described(shape)} under the name {name!r}")
            self.scope[name] = value
            return
        key = (*self.frame, name)
        known = self.scope.get(name)
        if not isinstance(known, Variable):
            shape = joined(self.grown[key], shape) if key in self.grown else shape
            known = self.scope[name] = self.variable(shape)
        wanted = self._as(value, known.shape)
        self.grow(key, known.shape, wanted)
        for id, scalar in zip(known.ids, fitted_scalars(wanted, known.shape), strict=True):
            self.block.append(ir.Set(id, scalar))

    def grow(self, key: Any, shape: Any, value: Any) -> None:
        """Ask for another translation where a shape has no room for the rates of a value."""
        total = joined(shape, shape_of(value))
        if total != shape:
            self.grown[key] = joined(self.grown[key], total) if key in self.grown else total
            self.again = True

    def _as(self, value: Any, shape: Any) -> Any:
        """A value whose integers are reals where the shape has those."""
        if shape == "real" or hasattr(shape, "level"):
            return self.real(value)
        if isinstance(shape, str):
            return self.scalar(value, shape)  # type: ignore[arg-type]
        if isinstance(value, Record) and hasattr(shape, "fields"):
            return Record(
                value.record, tuple(self._as(f, s) for f, s in zip(value.fields, shape.fields, strict=True))
            )
        return value

    def variable(self, shape: Any) -> Variable:
        """Room for a value."""
        ids = []
        for kind in kinds(shape):
            ids.append(len(self.made.variables))
            self.made.variables.append(kind)
        return Variable(shape, tuple(ids))

    def read(self, variable: Variable) -> Any:
        """The present value of a variable."""
        refs = (
            self.op("get", kind, id) for kind, id in zip(kinds(variable.shape), variable.ids, strict=True)
        )
        return from_scalars(variable.shape, refs)

    def _update(self, node: ast.AugAssign) -> None:
        if isinstance(node.target, ast.Subscript):
            array, word = self.place(node.target)
            after = self.operation(node.op, self.load(array, word), self.expression(node.value))
            self.keep(array, word, after)
            return
        self.assign(
            node.target, self.operation(node.op, self.expression(node.target), self.expression(node.value))
        )

    def _return(self, node: ast.Return) -> None:
        value = None if node.value is None else self.loaded(self.expression(node.value))
        wanted = _SIMPLE.get(_signature(self.python).return_annotation)
        if wanted and value is not None:
            value = self.real(value) if wanted == "real" else self.scalar(value, wanted)
        if self.returned is not None:
            self.returned.append(value)
            return
        if value is None:
            self.block.append(ir.Return(()))
            return
        if not of_numbers(shape_of(value)):
            raise self.refusal(node, "a result that is an array, behind a loop or a condition,")
        if self.result is None:
            self.result = shape_of(value)
        value = self._as(value, self.result)
        self.grow("return", self.result, value)
        self.block.append(ir.Return(tuple(fitted_scalars(value, self.result))))

    def _if(self, node: ast.If) -> None:
        condition = self.truth(node.test)
        if isinstance(condition, bool):
            self.statements(node.body if condition else node.orelse)
            return
        self.block.append(ir.If(condition, self.within(node.body), self.within(node.orelse)))

    def _while(self, node: ast.While) -> None:
        outer, self.block = self.block, []
        condition = self.truth(node.test)
        test, self.block = self.block, outer
        self.loops += 1
        body = self.within(node.body)
        self.loops -= 1
        if condition is not False:
            self.block.append(ir.Loop(test, condition, body, []))

    def _for(self, node: ast.For) -> None:
        """`for i in range(...)`, the stride a constant."""
        match node:
            case ast.For(
                target=ast.Name(id=name), iter=ast.Call(func=ast.Name(id="range"), args=bounds), orelse=[]
            ):
                values = [self.scalar(self.expression(b), "int") for b in bounds]
            case _:
                raise self.refusal(node, ast.unparse(node).splitlines()[0])
        start, stop, stride = {1: (0, *values, 1), 2: (*values, 1), 3: tuple(values)}[len(values)]
        if not isinstance(stride, int) or stride == 0:
            raise self.refusal(node, "a stride that varies")
        counter = self.variable("int")
        (id,) = counter.ids
        self.block.append(ir.Set(id, start))
        outer, self.block = self.block, []
        now = self.op("get", "int", id)
        condition = self.op("lt" if stride > 0 else "gt", "bool", now, stop)
        test, self.block = self.block, []
        self.assign_name(name, now)
        head, self.block = self.block, outer
        self.loops += 1
        body = self.within(node.body)
        self.loops -= 1
        self.block, outer = [], self.block
        self.block.append(ir.Set(id, self.op("iadd", "int", self.op("get", "int", id), stride)))
        step, self.block = self.block, outer
        self.block.append(ir.Loop(test, condition, [*head, *body], step))

    def gradient(self, function: Any, x: Any) -> Any:
        """A function of a record of reals at x, and its slope there."""
        if not isinstance(function, Function) or not isinstance(x, Record):
            raise Mismatch("a gradient of what is not a function of a record")
        level = self.module.level
        self.module.level += 1
        count = len(x.fields)
        seeds = [
            Dual(level, self.real(f), tuple(float(j == k) for j in range(count)))
            for k, f in enumerate(x.fields)
        ]
        owner = () if function.owner is None else (function.owner,)
        found = self.called(function.python, [*owner, Record(x.record, tuple(seeds))])
        self.module.level -= 1
        if not isinstance(found, Dual) or found.level != level:
            return found, Record(x.record, (0.0,) * count)
        return found.value, Record(x.record, found.rates)

    # Memory

    def place(self, node: ast.Subscript) -> tuple[Array, Operand]:
        """The array and the word of an entry."""
        array = self.expression(node.value)
        if not isinstance(array, Array):
            raise self.refusal(node, ast.unparse(node))
        found = self.indexed(array, node)
        if isinstance(found, Array):
            raise self.refusal(node, "an assignment to a row")
        return array, found

    def indexed(self, array: Array, node: ast.Subscript) -> Array | Operand:
        """The word of an entry, or a row, or a slice."""
        if isinstance(node.slice, ast.Slice):
            return self._slice(array, node.slice)
        indices = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        if len(indices) > max(len(array.sizes), 1):
            raise self.refusal(node, ast.unparse(node))
        if not array.sizes:  # a bare address
            return self.scalar(self.expression(indices[0]), "int")
        place: Any = 0
        for k in range(len(array.sizes)):
            if k:
                place = self.binary(ast.Mult(), place, array.sizes[k])
            if k < len(indices):
                place = self.binary(ast.Add(), place, self.scalar(self.expression(indices[k]), "int"))
        if isinstance(array.element, RecordType):
            place = self.binary(ast.Mult(), place, len(array.element.kinds))
        if len(indices) == len(array.sizes):
            return place  # type: ignore[no-any-return]
        return self.shifted(array, place, array.sizes[len(indices) :])

    def _slice(self, array: Array, node: ast.Slice) -> Array:
        if len(array.sizes) != 1 or node.step is not None:
            raise Mismatch("a slice of several dimensions, or with a stride,")
        first = 0 if node.lower is None else self.scalar(self.expression(node.lower), "int")
        last = array.sizes[0] if node.upper is None else self.scalar(self.expression(node.upper), "int")
        words = len(array.element.kinds) if isinstance(array.element, RecordType) else 1
        begin = self.binary(ast.Mult(), first, words)
        return self.shifted(array, begin, (self.binary(ast.Sub(), last, first),))

    def shifted(self, array: Array, words: Operand, sizes: Sequence[Operand]) -> Array:
        """A part of an array, so many words behind its beginning."""
        if isinstance(words, int) and words == 0:
            data = array.data
        else:
            data = tuple(self.op("offset", "pointer", pointer, words) for pointer in array.data)
        return Array(array.element, data, tuple(sizes), array.root, array.directions)

    def load(self, array: Array, word: Operand) -> Any:
        """The entry at a word."""
        if isinstance(array.element, RecordType):
            return Place(array.element, array, word)
        if len(array.data) == 1:
            return self.op("load", array.element, array.data[0], word)
        refs = (self.op("load", "real", pointer, word) for pointer in array.data)
        return from_scalars(full_dual(array.directions), refs)

    def loaded(self, value: Any) -> Any:
        """A value, read from memory if it lies there."""
        if not isinstance(value, Place):
            return value
        pointer, place = value.array.data[0], value.word

        def read(given: Type) -> Any:
            nonlocal place
            if isinstance(given, RecordType):
                return Record(given.record, tuple(read(f) for _, f in given.fields))
            assert isinstance(given, ScalarType)
            number = self.op("load", given.kind, pointer, place)
            place = self.binary(ast.Add(), place, 1)
            return number

        return read(value.type)

    def store(self, target: ast.Subscript, value: Any) -> None:
        """Into an entry of an array."""
        array, word = self.place(target)
        self.keep(array, word, value)

    def keep(self, array: Array, word: Operand, value: Any) -> None:
        """An entry takes a value; rates are kept in local arrays alone."""
        value = self.loaded(value)
        if isinstance(array.element, RecordType):
            if not isinstance(value, Record) or value.record is not array.element.record:
                raise Mismatch(f"{described(shape_of(value))} in an array of {array.element.record.__name__}")
            numbers = _flat(value)
            for k, (kind, number) in enumerate(zip(array.element.kinds, numbers, strict=True)):
                at = self.binary(ast.Add(), word, k)
                self.block.append(ir.Store(array.data[0], at, self.scalar(number, kind)))
        elif len(array.data) == 1:
            self.block.append(ir.Store(array.data[0], word, self.scalar(value, array.element)))
        else:
            numbers = fitted_scalars(self.real(value), full_dual(array.directions))
            for pointer, number in zip(array.data, numbers, strict=True):
                self.block.append(ir.Store(pointer, word, number))

    def local(self, element: ir.Kind, count: Any) -> Array:
        """A local array of zeros."""
        if not isinstance(count, int):
            raise Mismatch("a local array whose size is not a constant")
        if element == "real" and self.module.level > len(self.module.directions):
            raise Mismatch("a local array of reals in a function whose gradient is taken")
        directions = self.module.directions if element == "real" else ()
        data = []
        for _ in range(dual_words(directions)):
            data.append(self.op("local", "pointer", len(self.made.locals)))
            self.made.locals.append(count)
            self.block.append(ir.Clear(data[-1], count))
        return Array(element, tuple(data), (count,), self.root(), directions)

    # Expressions

    def expression(self, node: ast.expr) -> Any:
        """The value of an expression."""
        match node:
            case ast.Constant(value=bool() | int() | float() | None):
                return node.value
            case ast.Name():
                return self._name(node)
            case ast.Attribute():
                return self._attribute(node)
            case ast.Subscript():
                return self._subscript(node)
            case ast.BinOp():
                return self.operation(node.op, self.expression(node.left), self.expression(node.right))
            case ast.UnaryOp(op=ast.USub()):
                return self._minus(self.loaded(self.expression(node.operand)))
            case ast.UnaryOp(op=ast.Not()):
                return self.opposite(self.truth(node.operand))
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

    def truth(self, node: ast.expr) -> Any:
        """A truth value, or a decision now."""
        value = self.expression(node)
        return value if isinstance(value, bool) else self.scalar(value, "bool")

    def _name(self, node: ast.Name) -> Any:
        if node.id in self.scope:
            found = self.scope[node.id]
            return self.read(found) if isinstance(found, Variable) else found
        return self.constant(self.python_object(node), node)

    def python_object(self, node: ast.expr) -> Any:
        """What a name or an attribute means in Python, outside the language."""
        match node:
            case ast.Name(id=name):
                free = self.python.__code__.co_freevars
                if name in free and self.python.__closure__:
                    return self.python.__closure__[free.index(name)].cell_contents
                found = self.python.__globals__.get(name, _MISSING)
                if found is _MISSING:
                    builtins = self.python.__globals__["__builtins__"]
                    own = builtins if isinstance(builtins, dict) else vars(builtins)
                    found = own.get(name, _MISSING)
                if found is _MISSING:
                    raise self.refusal(node, f"the name {name!r}")
                return found
            case ast.Attribute(value=of, attr=name):
                return getattr(self.python_object(of), name)
        raise self.refusal(node, ast.unparse(node))

    def constant(self, found: Any, node: ast.AST | None = None) -> Any:
        """A Python object as a value of the language."""
        if found is None or isinstance(found, CONSTANT):
            return found
        if isinstance(found, np.integer | np.floating):
            return found.item()
        if is_record(type(found)):
            return Record(type(found), tuple(self.constant(f, node) for f in found))
        if isinstance(found, tuple):
            return tuple(self.constant(f, node) for f in found)
        if isinstance(found, Called):
            return Function(found.function)
        if isinstance(found, types.FunctionType):
            return Function(found)
        where = node if node is not None else _source(self.python)
        raise self.refusal(where, f"{ast.unparse(node)!r}" if isinstance(node, ast.expr) else repr(found))

    def _outside(self, node: ast.expr) -> bool:
        """Whether a chain of attributes begins with a name of the module, not of the function."""
        while isinstance(node, ast.Attribute):
            node = node.value
        return isinstance(node, ast.Name) and node.id not in self.scope

    def _attribute(self, node: ast.Attribute) -> Any:
        if self._outside(node):
            return self.constant(self.python_object(node), node)
        base = self.expression(node.value)
        if isinstance(base, Array) and node.attr == "shape":
            return base.sizes
        if isinstance(base, Place):
            return self._narrowed(base, node)
        if not isinstance(base, Record):
            raise self.refusal(node, ast.unparse(node))
        if node.attr in base.record._fields:  # type: ignore[attr-defined]
            return base.field(node.attr)
        return self.member(base, node)

    def _narrowed(self, base: Place, node: ast.Attribute) -> Any:
        """A field of a record in memory: only what is needed is read."""
        word = base.word
        for name, field in base.type.fields:
            if name == node.attr:
                if isinstance(field, RecordType):
                    return Place(field, base.array, word)
                assert isinstance(field, ScalarType)
                return self.op("load", field.kind, base.array.data[0], word)
            size = len(field.kinds) if isinstance(field, RecordType) else 1
            word = self.binary(ast.Add(), word, size)
        return self.member(self.loaded(base), node)

    def member(self, base: Record, node: ast.Attribute) -> Any:
        """A method or a property of a record."""
        found = inspect.getattr_static(base.record, node.attr, None)
        if isinstance(found, property) and found.fget is not None:
            return self.called(found.fget, [base])
        if isinstance(found, types.FunctionType):
            return Function(found, base)
        if isinstance(found, staticmethod):
            return Function(found.__func__)
        return self.constant(getattr(base.record, node.attr, _MISSING), node)

    def _subscript(self, node: ast.Subscript) -> Any:
        base = self.loaded(self.expression(node.value))
        if isinstance(base, Array):
            found = self.indexed(base, node)
            return found if isinstance(found, Array) else self.load(base, found)
        place = self.expression(node.slice)
        if type(place) is not int:
            raise self.refusal(node, "a part of a tuple that varies")
        return self.items(base)[place]

    def operation(self, operation: ast.operator, a: Any, b: Any) -> Any:
        """a operation b; of records what their classes say."""
        a, b = self.loaded(a), self.loaded(b)
        if isinstance(a, Record) or isinstance(b, Record):
            word = _OPERATORS[type(operation)]
            if isinstance(a, Record):
                method = inspect.getattr_static(a.record, f"__{word}__", None)
                if isinstance(method, types.FunctionType):
                    return self.called(method, [a, b])
            if isinstance(b, Record):
                method = inspect.getattr_static(b.record, f"__r{word}__", None)
                if isinstance(method, types.FunctionType):
                    return self.called(method, [b, a])
            raise Mismatch(f"{word} of {described(shape_of(a))} and {described(shape_of(b))}")
        return self.binary(operation, a, b)

    def _minus(self, value: Any) -> Any:
        if isinstance(value, Record):
            return self.called(inspect.getattr_static(value.record, "__neg__"), [value])
        return self.negative(value)

    def _compare(self, node: ast.Compare) -> Any:
        """a < b < c evaluates b once; the operands have no effects, so nothing needs to be skipped."""
        values = [self.expression(e) for e in (node.left, *node.comparators)]
        result: Any = True
        for k, operation in enumerate(node.ops):
            if isinstance(operation, ast.Is | ast.IsNot):
                same = values[k] is None and values[k + 1] is None
                further: Any = same == isinstance(operation, ast.Is)
            else:
                further = self.comparison(operation, values[k], values[k + 1])
            result = self.both(result, further)
        return result

    def _logic(self, node: ast.BoolOp) -> Any:
        """`and`, `or`: what comes behind is evaluated only where it decides."""
        stops = isinstance(node.op, ast.Or)
        first, *rest = node.values
        value = self.truth(first)
        if isinstance(value, bool):
            if value == stops or not rest:
                return value
            return self._logic(ast.BoolOp(node.op, rest)) if len(rest) > 1 else self.truth(rest[0])
        if not rest:
            return value
        decided = self.variable("bool")
        self.block.append(ir.Set(decided.ids[0], value))
        outer, self.block = self.block, []
        behind = self._logic(ast.BoolOp(node.op, rest)) if len(rest) > 1 else self.truth(rest[0])
        self.block.append(ir.Set(decided.ids[0], behind))
        inner, self.block = self.block, outer
        self.block.append(ir.If(value, [], inner) if stops else ir.If(value, inner, []))
        return self.read(decided)

    def _choice(self, node: ast.IfExp) -> Any:
        """`a if c else b`: only the one taken is evaluated."""
        condition = self.truth(node.test)
        if isinstance(condition, bool):
            return self.expression(node.body if condition else node.orelse)
        blocks, values = [], []
        outer = self.block
        for branch in (node.body, node.orelse):
            self.block = []
            values.append(self.loaded(self.expression(branch)))
            blocks.append(self.block)
        self.block = outer
        shapes = [shape_of(v) for v in values]
        if set(shapes) == {"int", "real"}:
            shapes = ["real", "real"]
        shape = joined(*("real" if s == "int" and "int" not in shapes else s for s in shapes))
        chosen = self.variable(shape)
        for block, value in zip(blocks, values, strict=True):
            self.block = block
            for id, scalar in zip(chosen.ids, fitted_scalars(self._as(value, shape), shape), strict=True):
                self.block.append(ir.Set(id, scalar))
        self.block = outer
        self.block.append(ir.If(condition, *blocks))
        return self.read(chosen)

    # Calls

    def _call(self, node: ast.Call) -> Any:
        if self._outside(node.func):
            target = self.python_object(node.func)
            if target is isinstance:
                return self._isinstance(node)
        else:
            target = self.expression(node.func) if not self._replaces(node) else None
        arguments: list[Any] = []
        for a in node.args:
            if isinstance(a, ast.Starred):
                arguments += self.items(self.expression(a.value))
            else:
                arguments.append(self.loaded(self.expression(a)))
        named = {k.arg: self.loaded(self.expression(k.value)) for k in node.keywords if k.arg is not None}
        if target is None:
            assert isinstance(node.func, ast.Attribute)
            return self._replaced(self.loaded(self.expression(node.func.value)), named)
        if isinstance(target, Function):
            owner = () if target.owner is None else (target.owner,)
            return self.called(target.python, [*owner, *arguments], named)
        if is_record(target):
            return self._record(target, arguments, named)
        try:
            word = VOCABULARY.get(target)
        except TypeError:
            word = None
        if word is not None and not named:
            return word(self, *arguments)
        target = getattr(target, "function", target)  # that of an entry
        if isinstance(target, types.FunctionType):
            return self.called(target, arguments, named)
        raise self.refusal(node, f"the function {ast.unparse(node.func)!r}")

    def _replaces(self, node: ast.Call) -> bool:
        return isinstance(node.func, ast.Attribute) and node.func.attr == "_replace"

    def _replaced(self, base: Any, named: dict[str, Any]) -> Record:
        """A record with some of its fields changed."""
        if not isinstance(base, Record) or not set(named) <= set(base.record._fields):  # type: ignore[attr-defined]
            raise Mismatch(f"fields {', '.join(named)} of {described(shape_of(base))}")
        fields = zip(base.record._fields, base.fields, strict=True)  # type: ignore[attr-defined]
        return Record(base.record, tuple(named.get(name, value) for name, value in fields))

    def _record(self, record: type, arguments: Sequence[Any], named: dict[str, Any]) -> Record:
        """A new record; its reals are reals."""
        names: tuple[str, ...] = record._fields  # type: ignore[attr-defined]
        defaults = {k: self.constant(v) for k, v in record._field_defaults.items()}  # type: ignore[attr-defined]
        given = {**defaults, **dict(zip(names, arguments, strict=False)), **named}
        if len(arguments) > len(names) or set(given) != set(names):
            raise Mismatch(f"a {record.__name__} made of {', '.join(sorted(given))}")
        reals = {k for k, hint in record.__annotations__.items() if hint in (float, "float")}
        return Record(record, tuple(self.real(given[k]) if k in reals else given[k] for k in names))

    def _isinstance(self, node: ast.Call) -> bool:
        value = self.loaded(self.expression(node.args[0]))
        classes = node.args[1].elts if isinstance(node.args[1], ast.Tuple) else [node.args[1]]
        wanted = tuple(self.python_object(c) for c in classes)
        if isinstance(value, Record):
            return issubclass(value.record, wanted)
        own = {"real": float, "int": int, "bool": bool}.get(str(shape_of(value)))
        own = float if isinstance(value, Dual) else own
        return own is not None and issubclass(own, wanted)

    def called(
        self, python: Callable[..., Any], arguments: Sequence[Any], named: dict[str, Any] | None = None
    ) -> Any:
        """The result of another function of the language."""
        named = named or {}
        if _written_out(python):
            return self._written_out(python, arguments, named)
        if named or len(arguments) < len(_signature(python).parameters):
            bound = _signature(python).bind(*arguments, **named)
            bound.apply_defaults()
            arguments = [a if not _is_constant(a) else self.constant(a) for a in bound.args]
        function, shape = self.module.function(python, arguments)
        outs = tuple(self.ref(kind) for kind in function.results)
        given = [x for a in arguments for x in scalars(a)]
        self.block.append(ir.Call(outs, function.name, tuple(given)))
        return from_scalars(shape, iter(outs))

    def _written_out(
        self, python: Callable[..., Any], arguments: Sequence[Any], named: dict[str, Any]
    ) -> Any:
        outer = self.scope, self.python, self.frame, self.returned
        self.frames += 1
        self.scope, self.python, self.frame = {}, python, (*self.frame, self.frames)
        found: list[Any] = []
        self.returned = found
        bound = _signature(python).bind(*arguments, **named)
        bound.apply_defaults()
        parameters = _signature(python).parameters
        self.scope = {name: self._argument(parameters[name], a) for name, a in bound.arguments.items()}
        self.statements(_source(python).body)
        self.scope, self.python, self.frame, self.returned = outer
        return found[-1]


_MISSING = object()
_SIMPLE: dict[Any, ir.Kind] = {
    float: "real", int: "int", bool: "bool", "float": "real", "int": "int", "bool": "bool",
}  # fmt: skip
_OPERATORS: dict[type[ast.operator], str] = {
    ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul", ast.Div: "truediv", ast.MatMult: "matmul", ast.Pow: "pow",
    ast.Mod: "mod", ast.FloorDiv: "floordiv", ast.BitAnd: "and", ast.BitOr: "or", ast.BitXor: "xor",
}  # fmt: skip


_VALUES = (*NUMBER, Record, Array, Function, Place)
"""What is a value already, beside tuples of values."""


def _is_constant(value: Any) -> bool:
    """Whether this is an object of Python, such as a default, and not yet a value."""
    return not isinstance(value, _VALUES) and not (isinstance(value, tuple) and not is_record(type(value)))


def _arrays(value: Any) -> list[Array]:
    if isinstance(value, Array):
        return [value]
    if isinstance(value, Record):
        return [a for f in value.fields for a in _arrays(f)]
    if isinstance(value, tuple) and not isinstance(value, NUMBER):
        return [a for v in value for a in _arrays(v)]
    return _arrays(value.owner) if isinstance(value, Function) else []


__all__ = ["Module", "Motion", "NotTranslatable"]
