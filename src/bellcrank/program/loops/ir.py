"""What a function of the loop language becomes before it is machine code or C: scalars, memory, structured control.

Values are in single assignment form (:class:`Ref`) or constants; what a loop changes is a variable, which is read and
set. Records, duals and tuples are gone: only their scalars are left.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Literal, NamedTuple, TypeAlias

Kind: TypeAlias = Literal["int", "real", "bool", "pointer"]


class Ref(NamedTuple):
    """A scalar known at run time."""

    kind: Kind
    id: int


Operand: TypeAlias = Ref | int | float | bool

CONSTANT = (int, float)
"""What a scalar known now is, a truth value included. A union written out would be made anew at every look."""
SCALAR = (Ref, int, float)
"""What a scalar is."""


def kind_of(value: Operand) -> Kind:
    """The kind of a scalar or constant."""
    if isinstance(value, Ref):
        return value.kind
    return "bool" if isinstance(value, bool) else "int" if isinstance(value, int) else "real"


@dataclass(slots=True)
class Op:
    """One operation.

    Real: add sub mul div neg, and the functions of :data:`FUNCTIONS`. Whole: iadd isub imul ifloor imod iand ior ixor
    ishl ishr. Truth: lt le gt ge eq ne of two operands of one kind, and or not. `select` of a condition. `real` of an
    integer, `whole` of a real (towards zero). `get` of a variable. `load` of (pointer, index), of the kind of `out`;
    `offset` of (pointer, index): addresses count words of eight bytes. `local`: the pointer to a local array.
    """

    out: Ref
    op: str
    args: tuple[Operand, ...]


@dataclass(slots=True)
class Set:
    """A variable takes a value."""

    variable: int
    value: Operand


@dataclass(slots=True)
class Store:
    """A word of memory takes a value."""

    pointer: Ref
    index: Operand
    value: Operand


@dataclass(slots=True)
class Clear:
    """A local array becomes zero."""

    pointer: Ref
    words: int


@dataclass(slots=True)
class Call:
    """A function of the module; `outs` are its results."""

    outs: tuple[Ref, ...]
    name: str
    args: tuple[Operand, ...]


@dataclass(slots=True)
class CallAddress:
    """Machine code at an address, with pointers; `out`: its whole result, if it has one."""

    out: Ref | None
    address: Operand
    args: tuple[Ref, ...]


@dataclass(slots=True)
class If:
    """One of two blocks."""

    condition: Operand
    then: list[Statement]
    orelse: list[Statement]


@dataclass(slots=True)
class Loop:
    """`test` and the condition before each pass; `step` after it, and after a continue."""

    test: list[Statement]
    condition: Operand
    body: list[Statement]
    step: list[Statement]


@dataclass(slots=True)
class Jump:
    """`break` or `continue` of the innermost loop."""

    word: Literal["break", "continue"]


@dataclass(slots=True)
class Return:
    """The results of the function."""

    values: tuple[Operand, ...]


Statement: TypeAlias = Op | Set | Store | Clear | Call | CallAddress | If | Loop | Jump | Return


@dataclass(slots=True)
class Function:
    """One function. `alone`: the pointers among the parameters that overlap no other one."""

    name: str
    parameters: list[Ref] = field(default_factory=list)
    alone: set[int] = field(default_factory=set)
    results: tuple[Kind, ...] = ()
    variables: list[Kind] = field(default_factory=list)
    locals: list[int] = field(default_factory=list)
    """Words of each local array."""
    body: list[Statement] = field(default_factory=list)


FUNCTIONS = {
    **dict.fromkeys(("sqrt", "abs", "floor", "exp", "log", "sin", "cos", "tan", "asin", "acos", "atan"), 1),
    **dict.fromkeys(("sinh", "cosh", "tanh"), 1),
    **dict.fromkeys(("atan2", "pow"), 2),
}
"""Functions of reals, by the number of their arguments."""


def trimmed(function: Function) -> Function:
    """The function without what it computes in vain."""
    body = function.body
    while True:
        used: set[int] = set()
        read: set[int] = set()
        _note(body, used, read)
        left = _kept(body, used, read)
        if _size(left) == _size(body):
            break
        body = left
    return replace(function, body=left)


def used_in(function: Function) -> set[int]:
    """The scalars that something in the function depends on."""
    used: set[int] = set()
    _note(function.body, used, set())
    return used


def _note(block: list[Statement], used: set[int], read: set[int]) -> None:
    """Note the scalars and the variables that statements depend on."""

    def note(*values: Operand) -> None:
        used.update(v.id for v in values if isinstance(v, Ref))

    for s in block:
        match s:
            case Op(op="get"):
                read.add(int(s.args[0]))  # type: ignore[arg-type]
            case Op(args=args) | Call(args=args) | Return(values=args):
                note(*args)
            case Set(value=given):
                note(given)
            case Store():
                note(s.pointer, s.index, s.value)
            case Clear(pointer=pointer):
                note(pointer)
            case CallAddress():
                note(s.address, *s.args)
            case If():
                note(s.condition)
                _note(s.then, used, read)
                _note(s.orelse, used, read)
            case Loop():
                note(s.condition)
                for part in (s.test, s.body, s.step):
                    _note(part, used, read)


def _kept(block: list[Statement], used: set[int], read: set[int]) -> list[Statement]:
    found: list[Statement] = []
    for s in block:
        if (isinstance(s, Op) and s.out.id not in used) or (isinstance(s, Set) and s.variable not in read):
            continue
        if isinstance(s, If):
            s = If(s.condition, _kept(s.then, used, read), _kept(s.orelse, used, read))
            if not s.then and not s.orelse:
                continue
        elif isinstance(s, Loop):
            test, body, step = (_kept(part, used, read) for part in (s.test, s.body, s.step))
            s = Loop(test, s.condition, body, step)
        found.append(s)
    return found


def _size(block: list[Statement]) -> int:
    total = len(block)
    for s in block:
        if isinstance(s, If):
            total += _size(s.then) + _size(s.orelse)
        elif isinstance(s, Loop):
            total += _size(s.test) + _size(s.body) + _size(s.step)
    return total
