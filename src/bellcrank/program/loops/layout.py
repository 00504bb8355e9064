"""Types of the loop language as they are declared, and how values of them lie in memory.

Everything is a word of eight bytes: an integer, a real, the address of an array, or one of its sizes. A record is its
fields one after the other, in an array as in an argument.
"""

from __future__ import annotations

import functools
import hashlib
import math
import struct
import typing
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Annotated, Any, Generic, TypeAlias, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bellcrank.program.loops.ir import CONSTANT, Kind

Address = Annotated[NDArray[np.float64], 0]
"""Where reals begin; how many there are is not said."""
Reals = Annotated[NDArray[np.float64], 1]
Reals2 = Annotated[NDArray[np.float64], 2]
Ints = Annotated[NDArray[np.int64], 1]
Ints2 = Annotated[NDArray[np.int64], 2]

R = TypeVar("R", bound=tuple[Any, ...])


@dataclass(frozen=True)
class ScalarType:
    """A number or a truth value."""

    kind: Kind


@dataclass(frozen=True)
class RecordType:
    """A record: its class and the types of its fields."""

    record: type
    fields: tuple[tuple[str, Type], ...]

    @functools.cached_property
    def kinds(self) -> tuple[Kind, ...]:
        """The words of a record of numbers."""
        found: list[Kind] = []
        for name, field in self.fields:
            if isinstance(field, ScalarType) and field.kind in ("int", "real"):
                found.append(field.kind)
            elif isinstance(field, RecordType):
                found += field.kinds
            else:
                raise TypeError(
                    f"{self.record.__name__}.{name} cannot stand in an array: only integers and reals can"
                )
        return tuple(found)


@dataclass(frozen=True)
class ArrayType:
    """A contiguous array of integers, reals or records of them. Without dimensions it is a bare address."""

    element: Kind | RecordType
    dimensions: int


@dataclass(frozen=True)
class TupleType:
    """Several values, one after the other."""

    items: tuple[Type, ...]


@dataclass(frozen=True)
class RowType:
    """So many reals, handed over one by one and kept in an array."""

    count: int


Type: TypeAlias = ScalarType | RecordType | ArrayType | TupleType | RowType

INT, REAL, BOOL = ScalarType("int"), ScalarType("real"), ScalarType("bool")


def is_record(found: Any) -> bool:
    """Whether this is a class of records."""
    return isinstance(found, type) and issubclass(found, tuple) and hasattr(found, "_fields")


@functools.cache
def record_type(record: type) -> RecordType:
    """The type of a class of records."""
    hints = typing.get_type_hints(record, include_extras=True)
    fields: tuple[str, ...] = record._fields  # type: ignore[attr-defined]
    return RecordType(record, tuple((name, declared(hints[name])) for name in fields))


def declared(hint: Any) -> Type:
    """The type that an annotation means."""
    simple = {int: INT, float: REAL, bool: BOOL}.get(hint)
    if simple is not None:
        return simple
    if is_record(hint):
        return record_type(hint)
    origin = typing.get_origin(hint)
    if origin is Records:
        return ArrayType(record_type(typing.get_args(hint)[0]), 1)
    if origin is tuple:
        return TupleType(tuple(declared(item) for item in typing.get_args(hint)))
    if origin is Annotated:
        array, dimensions = typing.get_args(hint)
        # An alias of NumPy stays one from Python 3.12: NDArray[float64] then names no dtype[float64].
        scalar = typing.get_args(array)[-1]
        scalar = (typing.get_args(scalar) or (scalar,))[0]
        return ArrayType("int" if scalar is np.int64 else "real", dimensions)
    raise TypeError(f"{hint} is not a type of the loop language")


def type_of(value: Any) -> Type:
    """The type of a value."""
    if isinstance(value, Records):
        return ArrayType(value.type, 1)
    if isinstance(value, np.ndarray):
        return ArrayType("int" if value.dtype == np.int64 else "real", value.ndim)
    if is_record(type(value)):
        return RecordType(type(value), tuple(zip(value._fields, map(type_of, value), strict=True)))
    if isinstance(value, tuple):
        return TupleType(tuple(type_of(v) for v in value))
    return declared(type(value))


def of_numbers(given: Type) -> bool:
    """Whether values of a type are numbers alone, no arrays."""
    if isinstance(given, RecordType):
        return all(of_numbers(field) for _, field in given.fields)
    if isinstance(given, TupleType):
        return all(of_numbers(item) for item in given.items)
    return isinstance(given, ScalarType | RowType)


def leaves(given: Type, value: Any) -> Iterator[Any]:
    """The numbers of a value of a type of numbers, in order."""
    if isinstance(given, RecordType):
        for (_, field), part in zip(given.fields, value, strict=True):
            yield from leaves(field, part)
    elif isinstance(given, TupleType):
        for item, part in zip(given.items, value, strict=True):
            yield from leaves(item, part)
    elif isinstance(given, RowType):
        if len(value) != given.count:
            raise ValueError(f"{given.count} numbers are wanted here, not {len(value)}")
        yield from value
    else:
        yield value


def width(given: Type) -> int:
    """How many numbers a value of a type of numbers has."""
    if isinstance(given, RecordType):
        return sum(width(field) for _, field in given.fields)
    if isinstance(given, TupleType):
        return sum(width(item) for item in given.items)
    return given.count if isinstance(given, RowType) else 1


def built(given: Type, numbers: Iterator[Any]) -> Any:
    """The value of a type of numbers from its numbers."""
    if isinstance(given, RecordType):
        return given.record(*[built(field, numbers) for _, field in given.fields])
    if isinstance(given, TupleType):
        return tuple(built(item, numbers) for item in given.items)
    if isinstance(given, RowType):
        row = [next(numbers) for _ in range(given.count)]
        return np.array(row) if all(isinstance(x, CONSTANT) for x in row) else row
    number = next(numbers)
    if not isinstance(number, CONSTANT):
        return number  # a traced value; those are all reals
    return int(number) if given == INT else bool(number) if given == BOOL else number


class Records(Generic[R]):
    """An array of records of numbers, for the interpreter and for compiled code."""

    def __init__(self, record: type[R], words: NDArray[np.float64]) -> None:
        self.type = record_type(record)
        if words.ndim != 2 or words.shape[1] != len(self.type.kinds) or words.dtype != np.float64:
            raise ValueError(
                f"{record.__name__} has {len(self.type.kinds)} numbers, not rows of shape {words.shape}"
            )
        self.words = np.ascontiguousarray(words)

    @staticmethod
    def empty(record: type[R], count: int) -> Records[R]:
        """So many records of zeros."""
        return Records(record, np.zeros((count, len(record_type(record).kinds))))

    @staticmethod
    def of(record: type[R], given: Iterable[R]) -> Records[R]:
        """The given records."""
        rows = list(given)
        found = Records.empty(record, len(rows))
        for k, row in enumerate(rows):
            found[k] = row
        return found

    @staticmethod
    def columns(record: type[R], *columns: ArrayLike) -> Records[R]:
        """Records from one array for each of their numbers, or from arrays whose rows are several of them."""
        kinds = record_type(record).kinds
        stacked = [np.asarray(c).reshape(len(np.asarray(c)), -1) for c in columns]
        flat = [c[:, k] for c in stacked for k in range(c.shape[1])]
        found = Records.empty(record, len(stacked[0]))
        whole = found.words.view(np.int64)
        for k, (kind, column) in enumerate(zip(kinds, flat, strict=True)):
            (whole if kind == "int" else found.words)[:, k] = column
        return found

    def __len__(self) -> int:
        return len(self.words)

    @property
    def shape(self) -> tuple[int]:
        """The number of records."""
        return (len(self.words),)

    def __getitem__(self, k: int) -> R:
        row, whole = self.words[k], self.words.view(np.int64)[k]
        numbers = (
            int(i) if kind == "int" else float(r)
            for kind, r, i in zip(self.type.kinds, row, whole, strict=True)
        )
        found: R = built(self.type, numbers)
        return found

    def __setitem__(self, k: int, value: R) -> None:
        row, whole = self.words[k], self.words.view(np.int64)[k]
        for j, (kind, number) in enumerate(zip(self.type.kinds, leaves(self.type, value), strict=True)):
            if kind == "int":
                whole[j] = number
            else:
                row[j] = number


def address(array: NDArray[Any]) -> int:
    """Where an array begins; quicker than its `ctypes`."""
    return int(array.__array_interface__["data"][0])


def words(given: Type, value: Any, found: list[int], kept: list[Any]) -> None:
    """Append the words of a value, and to `kept` its arrays, each with the place of its address among the words.

    The arrays must live as long as the words are used.
    """
    if isinstance(given, ScalarType):
        if given.kind == "real":
            found.append(struct.unpack("<q", struct.pack("<d", value))[0])
        else:
            found.append(int(value))
    elif isinstance(given, RecordType):
        for (_, field), part in zip(given.fields, value, strict=True):
            words(field, part, found, kept)
    elif isinstance(given, TupleType):
        for item, part in zip(given.items, value, strict=True):
            words(item, part, found, kept)
    else:
        assert isinstance(given, ArrayType)
        array = value.words if isinstance(value, Records) else value
        if given.dimensions:
            _check(given, value, array)
        kept.append((len(found), array))
        found.append(address(array))
        found.extend(array.shape[: given.dimensions])


def _check(given: ArrayType, value: Any, array: NDArray[Any]) -> None:
    """The compiled code trusts types and sizes."""
    if isinstance(given.element, RecordType):
        fits = isinstance(value, Records) and value.type == given.element
    else:
        wanted = np.int64 if given.element == "int" else np.float64
        fits = array.dtype == wanted and array.ndim == given.dimensions
    if not fits or not array.flags.c_contiguous:
        raise TypeError(
            f"the loop language was declared {given} and got an array of {array.dtype}, shape {array.shape}"
        )


def digest(given: Type, value: Any) -> str:
    """What a value holds, in letters: equal contents, equal letters."""
    found = hashlib.sha256()

    def add(given: Type, value: Any) -> None:
        if isinstance(given, RecordType):
            for (_, field), part in zip(given.fields, value, strict=True):
                add(field, part)
        elif isinstance(given, TupleType):
            for item, part in zip(given.items, value, strict=True):
                add(item, part)
        elif isinstance(given, ArrayType):
            array = value.words if isinstance(value, Records) else value
            found.update(repr((array.dtype.str, array.shape)).encode())
            found.update(np.ascontiguousarray(array).tobytes())
        else:
            found.update(
                repr(value if not isinstance(value, float) or not math.isnan(value) else "nan").encode()
            )

    add(given, value)
    return found.hexdigest()
