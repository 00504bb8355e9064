"""Documents as text: YAML with what is short on one line, and numbers as short as they can be."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import yaml

from bellcrank.program.trace import Expr


class Flow(dict[str, Any]):
    """A mapping written on one line."""


class Row(list[Any]):
    """A list written on one line."""


def plain(value: float) -> int | float:
    """A whole number without its point, where that says the same."""
    value = float(value)
    whole = value.is_integer() and abs(value) < 1e15 and not (value == 0.0 and math.copysign(1.0, value) < 0)
    return int(value) if whole else value


def collect(data: Any, found: list[Expr]) -> None:
    """The expressions in the order of :func:`replaced`."""
    if isinstance(data, Expr):
        found.append(data)
    elif isinstance(data, Mapping):
        for item in data.values():
            collect(item, found)
    elif isinstance(data, list):
        for item in data:
            collect(item, found)


def replaced(data: Any, texts: Any) -> Any:
    """The data with expressions as texts and floats as short as they can be."""
    if isinstance(data, Expr):
        return next(texts)
    if isinstance(data, Mapping):
        return type(data)({key: replaced(item, texts) for key, item in data.items()})  # type: ignore[call-arg]
    if isinstance(data, list):
        return type(data)(replaced(item, texts) for item in data)
    return plain(data) if isinstance(data, float) else data


class _Dumper(yaml.SafeDumper):
    """Writes rows and flows on one line, never an alias."""

    def ignore_aliases(self, data: Any) -> bool:
        return True


_Dumper.add_representer(
    Flow,
    lambda dumper, data: dumper.represent_mapping("tag:yaml.org,2002:map", data.items(), flow_style=True),
)
_Dumper.add_representer(
    Row, lambda dumper, data: dumper.represent_sequence("tag:yaml.org,2002:seq", data, flow_style=True)
)


def dumped(document: dict[str, Any]) -> str:
    """The text of a document."""
    text: str = yaml.dump(
        document, Dumper=_Dumper, sort_keys=False, default_flow_style=False, allow_unicode=True, width=110
    )
    return text
