"""Values during translation: what an expression of the loop language stands for, and of which scalars it is made.

A shape is what distinguishes values of different types. Functions are translated once for each shape of their
arguments; a variable has memory for the scalars of its shape.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from bellcrank.program.loops.ir import SCALAR, Kind, Operand, Ref, kind_of
from bellcrank.program.loops.layout import RecordType


class Mismatch(TypeError):
    """Values of different types where one type is needed."""


class Dual(NamedTuple):
    """A real and its rates in some directions; a rate that is surely zero is the constant 0.0.

    Value and rates are reals or duals of lower levels: second derivatives are duals of duals.
    """

    level: int
    value: Any
    rates: tuple[Any, ...]


NUMBER = (Ref, Dual)
"""What a number known at run time is, with rates or without."""


@dataclass(frozen=True)
class Record:
    """A record by its fields."""

    record: type
    fields: tuple[Any, ...]

    def field(self, name: str) -> Any:
        """One of the fields."""
        return self.fields[self.record._fields.index(name)]  # type: ignore[attr-defined]


@dataclass(frozen=True)
class Array:
    """A contiguous array: where it begins, and its sizes.

    data: The pointer, and for a local array of duals one more for each rate. root: Arrays that share it may overlap.
    directions: Of the duals in a local array, by level.
    """

    element: Kind | RecordType
    data: tuple[Ref, ...]
    sizes: tuple[Operand, ...]
    root: int
    directions: tuple[int, ...] = ()


@dataclass(frozen=True)
class Place:
    """A record in an array, or a part of one; read when it is asked for."""

    type: RecordType
    array: Array
    word: Operand


@dataclass(frozen=True)
class Function:
    """A Python function, with the record it is a method of, if any."""

    python: Callable[..., Any]
    owner: Any = None


@dataclass(frozen=True)
class Variable:
    """A local variable: the shape of its value and the scalars it is kept in."""

    shape: Any
    ids: tuple[int, ...]


class DualShape(NamedTuple):
    """The shape of a dual; None for a rate that is surely zero."""

    level: int
    value: Any
    rates: tuple[Any, ...]


_OF_A_NUMBER = (str, DualShape)
"""What the shape of a number is."""


class RecordShape(NamedTuple):
    """The shape of a record."""

    record: type
    fields: tuple[Any, ...]


class TupleShape(NamedTuple):
    """The shape of a tuple."""

    items: tuple[Any, ...]


class ArrayShape(NamedTuple):
    """The shape of an array; sizes that are constants belong to it, and which other arrays it may overlap."""

    element: Any
    sizes: tuple[int | None, ...]
    root: int
    directions: tuple[int, ...]


class FunctionShape(NamedTuple):
    """The shape of a function."""

    python: Any
    owner: Any


def shape_of(value: Any, roots: Mapping[int, int] | None = None) -> Any:
    """The shape of a value; `roots` renames what arrays may overlap."""
    if value is None:
        return None
    if isinstance(value, SCALAR):
        return kind_of(value)
    if isinstance(value, Dual):
        rates = tuple(None if _is_zero(r) else shape_of(r) for r in value.rates)
        return DualShape(value.level, shape_of(value.value), rates)
    if isinstance(value, Record):
        return RecordShape(value.record, tuple(shape_of(f, roots) for f in value.fields))
    if isinstance(value, tuple):
        return TupleShape(tuple(shape_of(v, roots) for v in value))
    if isinstance(value, Array):
        sizes = tuple(s if isinstance(s, int) else None for s in value.sizes)
        root = value.root if roots is None else roots[value.root]
        return ArrayShape(value.element, sizes, root, value.directions)
    if isinstance(value, Function):
        return FunctionShape(value.python, shape_of(value.owner, roots))
    raise Mismatch(f"{type(value).__name__} is no value")


def _is_zero(value: Any) -> bool:
    return isinstance(value, float) and value == 0.0


def scalars(value: Any) -> list[Operand]:
    """The scalars of a value, in the order of its shape."""
    found: list[Operand] = []
    _collect(value, found)
    return found


def _collect(value: Any, found: list[Operand]) -> None:
    if isinstance(value, SCALAR):
        found.append(value)
    elif isinstance(value, Dual):
        _collect(value.value, found)
        for rate in value.rates:
            if not _is_zero(rate):
                _collect(rate, found)
    elif isinstance(value, Record):
        for field in value.fields:
            _collect(field, found)
    elif isinstance(value, tuple):
        for item in value:
            _collect(item, found)
    elif isinstance(value, Array):
        found.extend(value.data)
        found.extend(s for s in value.sizes if not isinstance(s, int))
    elif isinstance(value, Function):
        _collect(value.owner, found)


def from_scalars(shape: Any, given: Iterator[Operand]) -> Any:
    """The value of a shape from its scalars."""
    if shape is None:
        return None
    if isinstance(shape, str):
        return next(given)
    if isinstance(shape, DualShape):
        value = from_scalars(shape.value, given)
        return Dual(
            shape.level, value, tuple(0.0 if r is None else from_scalars(r, given) for r in shape.rates)
        )
    if isinstance(shape, RecordShape):
        return Record(shape.record, tuple(from_scalars(f, given) for f in shape.fields))
    if isinstance(shape, TupleShape):
        return tuple(from_scalars(item, given) for item in shape.items)
    if isinstance(shape, ArrayShape):
        data = tuple(next(given) for _ in range(dual_words(shape.directions)))
        sizes = tuple(next(given) if s is None else s for s in shape.sizes)
        return Array(shape.element, data, sizes, shape.root, shape.directions)  # type: ignore[arg-type]
    return Function(shape.python, from_scalars(shape.owner, given))


def kinds(shape: Any) -> list[Kind]:
    """The kinds of the scalars of a shape."""
    if shape is None:
        return []
    if isinstance(shape, str):
        return [shape]  # type: ignore[list-item]
    if isinstance(shape, DualShape):
        return [*kinds(shape.value), *(k for r in shape.rates for k in kinds(r))]
    if isinstance(shape, RecordShape):
        return [k for f in shape.fields for k in kinds(f)]
    if isinstance(shape, TupleShape):
        return [k for item in shape.items for k in kinds(item)]
    if isinstance(shape, ArrayShape):
        sizes: list[Kind] = ["int" for s in shape.sizes if s is None]
        return [*["pointer"] * dual_words(shape.directions), *sizes]  # type: ignore[list-item]
    return kinds(shape.owner)


def of_numbers(shape: Any) -> bool:
    """Whether a variable of this shape can take other values."""
    if isinstance(shape, _OF_A_NUMBER):
        return True
    if isinstance(shape, RecordShape):
        return all(of_numbers(f) for f in shape.fields)
    return isinstance(shape, TupleShape) and all(of_numbers(item) for item in shape.items)


def dual_words(directions: Sequence[int]) -> int:
    """The scalars of a full dual of all these levels."""
    count = 1
    for n in directions:
        count *= 1 + n
    return count


def full_dual(directions: Sequence[int]) -> Any:
    """The shape of a dual without zeros."""
    shape: Any = "real"
    for level, n in enumerate(directions):
        shape = DualShape(level, shape, (shape,) * n)
    return shape


def joined(a: Any, b: Any) -> Any:
    """The least shape that takes values of both; only rates may differ."""
    if a == b:
        return a
    if isinstance(a, RecordShape) and isinstance(b, RecordShape) and a.record is b.record:
        return RecordShape(a.record, tuple(joined(x, y) for x, y in zip(a.fields, b.fields, strict=True)))
    if isinstance(a, TupleShape) and isinstance(b, TupleShape) and len(a.items) == len(b.items):
        return TupleShape(tuple(joined(x, y) for x, y in zip(a.items, b.items, strict=True)))
    if all(isinstance(s, DualShape) or s == "real" for s in (a, b)):
        top = max(s.level for s in (a, b) if isinstance(s, DualShape))
        (va, ra), (vb, rb) = _split(a, top), _split(b, top)
        count = max(len(ra), len(rb))
        ra, rb = (r or (None,) * count for r in (ra, rb))
        rates = (y if x is None else x if y is None else joined(x, y) for x, y in zip(ra, rb, strict=True))
        return DualShape(top, joined(va, vb), tuple(rates))
    raise Mismatch(f"{described(b)} in place of {described(a)}")


def _split(shape: Any, level: int) -> tuple[Any, tuple[Any, ...]]:
    if isinstance(shape, DualShape) and shape.level == level:
        return shape.value, shape.rates
    return shape, ()


def fitted(value: Any, shape: Any) -> Any:
    """A value brought to a shape that is at least its own; what the shape has no room for is left out."""
    if isinstance(shape, DualShape):
        inner, rates = value, (0.0,) * len(shape.rates)
        if isinstance(value, Dual) and value.level == shape.level:
            inner, rates = value.value, value.rates
        kept = tuple(0.0 if s is None else fitted(r, s) for r, s in zip(rates, shape.rates, strict=True))
        return _Whole(shape.level, fitted(inner, shape.value), kept, shape)
    if isinstance(value, Dual):
        return fitted(value.value, shape)
    if isinstance(shape, RecordShape):
        return Record(
            shape.record, tuple(fitted(f, s) for f, s in zip(value.fields, shape.fields, strict=True))
        )
    if isinstance(shape, TupleShape):
        return tuple(fitted(v, s) for v, s in zip(value, shape.items, strict=True))
    if shape == "real" and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    return value


class _Whole(NamedTuple):
    """A dual fitted to a shape, whose zeros are written out where the shape has room for them."""

    level: int
    value: Any
    rates: tuple[Any, ...]
    shape: DualShape


def fitted_scalars(value: Any, shape: Any) -> list[Operand]:
    """The scalars of a value brought to a shape."""
    found: list[Operand] = []

    def collect(part: Any) -> None:
        if isinstance(part, _Whole):
            collect(part.value)
            for rate, s in zip(part.rates, part.shape.rates, strict=True):
                if s is not None:
                    collect(rate)
        elif isinstance(part, Record):
            for field in part.fields:
                collect(field)
        elif isinstance(part, tuple) and not isinstance(part, NUMBER):
            for item in part:
                collect(item)
        else:
            _collect(part, found)

    collect(fitted(value, shape))
    return found


def described(shape: Any) -> str:
    """A shape in words."""
    if shape is None:
        return "nothing"
    if isinstance(shape, str):
        return shape
    if isinstance(shape, DualShape):
        return "real"
    if isinstance(shape, RecordShape):
        return shape.record.__name__
    if isinstance(shape, TupleShape):
        return f"({', '.join(described(item) for item in shape.items)})"
    return "an array" if isinstance(shape, ArrayShape) else "a function"
