"""The loop language: numerical algorithms as plain Python, compiled to machine code or written as C.

What the tracer cannot express (searches, iterations, loops over tables) is written as ordinary Python functions over
numbers, arrays and records, and translated. The functions stay plain Python: the interpreter runs the same text, which
is how the translation is tested.

**Values.** 64-bit integers, doubles, truth values; tuples; arrays of any dimension; records, which are classes derived
from `NamedTuple` with fields of these types. A record may hold arrays, and an array may hold records of numbers
(:class:`Records`). Methods, properties and operators of a record class are functions of the language too, so that
vectors and matrices (:mod:`bellcrank.math.vectors`) need nothing of their own here. Functions are values while they
are known at translation: a function may take another as an argument.

**Statements.** Assignment, `if`, `while`, `for ... in range`, `break`, `continue`, `return`, calls; `isinstance` of a
record decides at translation. Local arrays of a constant size come from :func:`reals` and :func:`ints`. A variable has
the type of the first value it is given; a variable that stands for an array stands for that array alone. There is no
recursion.

**Derivatives.** :class:`Routine` translates a function for dual numbers of any number of directions, and again for
second derivatives: every operation carries its exact rates. Comparisons decide by values. :func:`value` drops the rates
of a number, for iterations of which only the last step needs them. :func:`gradient` takes a slope within the language;
the function it is of uses NumPy's functions, not those of `math`, so that the interpreter can do the same. Arrays that
are given hold plain numbers.

**Promises.** Nothing is reordered, products and sums may be contracted: the same input gives the same bits. Indices are
not checked. Arrays given under different names must not overlap, unless they are parts of one array that was given.
"""

from bellcrank.program.loops.entry import BoundKernel, Entry, compiled, entry
from bellcrank.program.loops.layout import Address, Ints, Ints2, Reals, Reals2, Records
from bellcrank.program.loops.routine import Routine
from bellcrank.program.loops.translate import NotTranslatable
from bellcrank.program.loops.vocabulary import (
    call,
    call_at,
    call_entry,
    gradient,
    ints,
    matrix,
    reals,
    value,
    vector,
)

__all__ = [
    "Address",
    "BoundKernel",
    "Entry",
    "Ints",
    "Ints2",
    "NotTranslatable",
    "Reals",
    "Reals2",
    "Records",
    "Routine",
    "call",
    "call_at",
    "call_entry",
    "compiled",
    "entry",
    "gradient",
    "ints",
    "matrix",
    "reals",
    "value",
    "vector",
]
