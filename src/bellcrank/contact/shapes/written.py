"""A traced function as text of the loop language, so that fields may call what the user wrote."""

from __future__ import annotations

import functools
import linecache
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from bellcrank.errors import ModelError
from bellcrank.program.functions import reachable
from bellcrank.program.trace import Expr, Scalar

_TEXT: Mapping[str, str] = {
    "neg": "-{0}", "add": "{0} + {1}", "sub": "{0} - {1}", "mul": "{0} * {1}", "div": "{0} / {1}",
    "pow": "{0} ** {1}", "lt": "{0} < {1}", "le": "{0} <= {1}", "eq": "{0} == {1}", "and": "{0} and {1}",
    "or": "{0} or {1}", "not": "not {0}", "select": "{1} if {0} else {2}", "min": "min({0}, {1})",
    "max": "max({0}, {1})", "abs": "abs({0})", "sqrt": "np.sqrt({0})", "sin": "np.sin({0})",
    "cos": "np.cos({0})", "tan": "np.tan({0})", "asin": "np.arcsin({0})", "acos": "np.arccos({0})",
    "atan": "np.arctan({0})", "atan2": "np.arctan2({0}, {1})", "sinh": "np.sinh({0})", "cosh": "np.cosh({0})",
    "tanh": "np.tanh({0})", "exp": "np.exp({0})", "log": "np.log({0})", "floor": "np.floor({0})",
}  # fmt: skip


def written(
    name: str, inputs: Sequence[Expr], outputs: Sequence[Scalar], values: Mapping[str, float]
) -> Callable[..., tuple[float, ...]]:
    """A function of plain numbers that gives the outputs; other inputs of theirs have the given values."""
    own = {node.id: f"x{k}" for k, node in enumerate(inputs)}
    lines = [f"def function({', '.join(own.values())}):"]

    def text(value: Any) -> str:
        if isinstance(value, Expr):
            return own.get(value.id, f"v{value.id}")
        number = float(value)
        # Whole powers are products.
        return str(int(number)) if number.is_integer() and abs(number) < 8.0 else repr(number)

    for node in reachable(outputs):
        if node.id in own:
            continue
        if node.op == "input":
            lines.append(f"    v{node.id} = {float(values[node.args[0]])!r}")
            continue
        if node.op not in _TEXT:
            raise ModelError(
                f"{name}: its function uses {node.op!r}, which a field cannot; write it by formulas"
            )
        args = [text(a) if node.op == "pow" else _real(text(a)) for a in node.args]
        lines.append(f"    v{node.id} = {_TEXT[node.op].format(*args)}")
    lines.append(f"    return {', '.join(_real(text(o)) for o in outputs)}")
    return _made("\n".join(lines) + "\n")


def _real(text: str) -> str:
    """A number of the text as a real, in brackets where it is negative."""
    found = f"{text}.0" if text.lstrip("-").isdigit() else text
    return f"({found})" if found.startswith("-") else found


@functools.cache
def _made(text: str) -> Callable[..., tuple[float, ...]]:
    """The function of a text; it keeps its source, which the loop language translates."""
    file = f"<function {abs(hash(text)):x}>"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    scope: dict[str, Any] = {"np": np, "__name__": __name__, "__builtins__": __builtins__}
    exec(compile(text, file, "exec", dont_inherit=True), scope)
    found: Callable[..., tuple[float, ...]] = scope["function"]
    return found


__all__ = ["written"]
