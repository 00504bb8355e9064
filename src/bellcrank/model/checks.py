"""Checks of what the user hands in; each error names the object and says what to do."""

from __future__ import annotations

import math
import numbers
from collections.abc import Sequence
from typing import Any

import numpy as np

from bellcrank.base.reach import LARGEST
from bellcrank.errors import ModelError, unknown_name
from bellcrank.math.arrays import AXES, Array, is_rotation, tidy
from bellcrank.math.tuples import Mat, Vec
from bellcrank.model.parameters import ParameterTable, names_in
from bellcrank.program.trace import TRUTH_OPS, Expr, Scalar


def name(kind: str, given: Any) -> str:
    """A usable name: a non-empty string without dots."""
    if not isinstance(given, str):
        raise ModelError(f"the name of a {kind} must be a string, not {given!r}")
    if not given.strip():
        raise ModelError(f"a {kind} needs a name that is not empty")
    if "." in given:
        raise ModelError(
            f"{kind} name {given!r} holds a dot; dots separate the parts of result names "
            f"('{given.split('.')[0]}.velocity.x'), so choose a name without one"
        )
    return given


def number(what: str, given: Any, parameters: ParameterTable | None = None) -> Scalar:
    """A finite float, or an expression of this system's parameters. `what` says whose number it is."""
    if isinstance(given, np.ndarray) and given.ndim == 0:
        given = given.item()
    if isinstance(given, Expr):
        _of_this_system(what, given, parameters)
        return given
    if isinstance(given, bool) or not isinstance(given, numbers.Real):
        raise ModelError(f"{what} must be a number, not {given!r}")
    try:
        checked = float(given)
    except OverflowError:
        checked = math.inf
    if not math.isfinite(checked):
        raise ModelError(f"{what} is {checked}; it must be a finite number")
    if abs(checked) > LARGEST:
        raise ModelError(f"{what} is {checked:g}; it must not exceed {LARGEST:g}, or its powers overflow")
    return checked


def _of_this_system(what: str, given: Expr, parameters: ParameterTable | None) -> None:
    if parameters is not None and given.graph is not parameters.graph:
        names = ", ".join(repr(n) for n in names_in(given))
        raise ModelError(
            f"{what} uses {names or 'a traced value'}, which is not a parameter of this system; "
            "make it with this system's own system.parameter(...)"
        )
    if given.op in TRUTH_OPS:
        raise ModelError(f"{what} is a condition; it must be a number (use where(condition, a, b))")
    if parameters is not None:
        try:
            now = parameters.value(given)
        except (ArithmeticError, ValueError) as error:
            raise ModelError(f"{what} cannot be evaluated with the parameter values: {error}") from error
        if not math.isfinite(now):
            raise ModelError(f"{what} is {now} with the parameter values; it must be finite")
        if abs(now) > LARGEST:
            raise ModelError(f"{what} is {now:g} with the parameter values; it must not exceed {LARGEST:g}")


def at_least_zero(what: str, given: Any, parameters: ParameterTable, remedy: str = "") -> Scalar:
    """A number that is not negative (with the present parameter values)."""
    checked = number(what, given, parameters)
    now = parameters.value(checked)
    if now < 0:
        raise ModelError(f"{what} is {now:g}; it must not be negative{remedy}")
    return checked


def positive(what: str, given: Any, parameters: ParameterTable, remedy: str = "") -> Scalar:
    """A number above zero (with the present parameter values)."""
    checked = number(what, given, parameters)
    now = parameters.value(checked)
    if now <= 0:
        raise ModelError(f"{what} is {now:g}; it must be positive{remedy}")
    return checked


def share(what: str, given: Any, parameters: ParameterTable) -> Scalar:
    """A number from 0 to 1 (with the present parameter values)."""
    checked = at_least_zero(what, given, parameters, "; it is a share from 0 to 1")
    now = parameters.value(checked)
    if now > 1:
        raise ModelError(f"{what} is {now:g}; it is a share from 0 to 1")
    return checked


def plain_number(what: str, given: Any, why: str) -> float:
    """A number without parameters; `why` says why parameters make no sense here."""
    checked = number(what, given)
    if isinstance(checked, Expr):
        names = ", ".join(repr(n) for n in names_in(checked))
        raise ModelError(f"{what} holds the parameter {names}, but {why}")
    return checked


def sequence(what: str, given: Any, count: int, example: str = "") -> Sequence[Any]:
    """`count` items, whatever they are."""
    hint = f", such as {example}" if example else ""
    if isinstance(given, str | bytes | Expr) or not hasattr(given, "__len__"):
        raise ModelError(f"{what} must be {count} numbers{hint}, not {given!r}")
    items = list(given)
    if len(items) != count:
        raise ModelError(f"{what} must be {count} numbers{hint}, not {len(items)}")
    return items


def vector(what: str, given: Any, parameters: ParameterTable | None = None) -> Vec:
    """Three scalars."""
    x, y, z = sequence(what, given, 3, "(0, 0, 1)")
    return (
        number(f"x of {what}", x, parameters),
        number(f"y of {what}", y, parameters),
        number(f"z of {what}", z, parameters),
    )


def plain_vector(what: str, given: Any, why: str) -> Array:
    """Three floats; parameters are refused with the reason `why`."""
    items = sequence(what, given, 3, "(0, 0, 1)")
    return np.array([plain_number(what, x, why) for x in items])


def matrix(what: str, given: Any, parameters: ParameterTable | None = None) -> Mat:
    """3x3 scalars, as rows."""
    if not hasattr(given, "__len__") or len(given) != 3 or not all(hasattr(r, "__len__") for r in given):
        raise ModelError(f"{what} must be a 3x3 matrix given by rows")
    a, b, c = given
    return (
        vector(f"row 1 of {what}", a, parameters),
        vector(f"row 2 of {what}", b, parameters),
        vector(f"row 3 of {what}", c, parameters),
    )


def numeric(a: Sequence[Any], parameters: ParameterTable) -> Array:
    """The array of floats that nested tuples of scalars are with the present parameter values."""
    return np.array(
        [numeric(x, parameters) if isinstance(x, tuple) else parameters.value(x) for x in a], dtype=float
    )


def rotation(what: str, given: Any, parameters: ParameterTable) -> Mat:
    """A right-handed orthonormal 3x3 matrix; parameters allowed."""
    checked = matrix(what, given, parameters)
    if not is_rotation(numeric(checked, parameters)):
        raise ModelError(
            f"{what} is not a rotation matrix: its columns must be orthogonal unit vectors, right-handed"
        )
    return checked


def axis(what: str, given: Any, why: str) -> Array:
    """A unit vector from "x", "y", "z" or three floats that are not all zero."""
    if isinstance(given, str):
        if given not in AXES:
            raise ModelError(f"{what} is {given!r}; give 'x', 'y', 'z' or a vector")
        return np.array(AXES[given], dtype=float)
    direction = plain_vector(what, given, why)
    length = float(np.linalg.norm(direction))
    if length < 1e-12:
        raise ModelError(f"{what} is the zero vector; give it a direction")
    return tidy(direction / length)


def choice(what: str, given: Any, known: Sequence[str]) -> str:
    """One of the words `known`."""
    if not isinstance(given, str) or given not in known:
        raise unknown_name(what, str(given), known)
    return str(given)
