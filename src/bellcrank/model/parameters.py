"""Named numbers of a model, and the value an expression of them has now."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from bellcrank.errors import ModelError
from bellcrank.program.functions import rebuild
from bellcrank.program.graph import ParameterGraph
from bellcrank.program.trace import Expr, Scalar


@dataclass(frozen=True)
class Parameter:
    """A number that stays an input of the compiled program: `value` in `unit`.

    internal: Kept by the package itself (what contacts remember during a run); stands behind those of the user.
    """

    name: str
    value: float
    unit: str = ""
    internal: bool = False


class ParameterTable(dict[str, Parameter]):
    """The parameters of one system by name, with the graph their expressions live in.

    states: names of first-order states, which forces may use beside the parameters.
    """

    def __init__(self) -> None:
        super().__init__()
        self.graph = ParameterGraph()
        self.states: set[str] = set()

    def add(self, parameter: Parameter) -> Expr:
        """A new parameter, those of the user before the internal ones, whenever they are made."""
        self[parameter.name] = parameter
        if not parameter.internal:
            for name in [name for name, other in self.items() if other.internal]:
                self[name] = self.pop(name)
        return self.graph.input(parameter.name)

    def own(self) -> list[str]:
        """The names of the user's parameters."""
        return [name for name, parameter in self.items() if not parameter.internal]

    def value(self, number: Scalar) -> float:
        """The number that `number` is with the present parameter values."""
        return value(number, self)


def value(number: Scalar, parameters: Mapping[str, Parameter] | Mapping[str, float]) -> float:
    """The float that an expression of parameters comes to.

    `parameters` maps names to :class:`Parameter` or plain floats.
    """
    if not isinstance(number, Expr):
        return float(number)
    memo: dict[int, Scalar] = {}
    pending = [number]
    while pending:
        node = pending[-1]
        if node.id in memo:
            pending.pop()
            continue
        missing = [a for a in node.args if isinstance(a, Expr) and a.id not in memo]
        if missing:
            pending.extend(missing)
            continue
        pending.pop()
        if node.op == "input":
            name = node.args[0]
            if name not in parameters:
                raise ModelError(f"an expression uses {name!r}, which is not a parameter of this system")
            known = parameters[name]
            memo[node.id] = known.value if isinstance(known, Parameter) else float(known)
        else:
            memo[node.id] = rebuild(node.op, [memo[a.id] if isinstance(a, Expr) else a for a in node.args])
    return float(memo[number.id])


def names_in(number: Scalar) -> tuple[str, ...]:
    """The names of the inputs an expression is made of, in order of creation."""
    if not isinstance(number, Expr):
        return ()
    seen: set[int] = set()
    names: list[tuple[int, str]] = []
    pending = [number]
    while pending:
        node = pending.pop()
        if node.id in seen:
            continue
        seen.add(node.id)
        if node.op == "input":
            names.append((node.id, node.args[0]))
        pending.extend(a for a in node.args if isinstance(a, Expr))
    return tuple(name for _, name in sorted(names))
