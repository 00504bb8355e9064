"""Cases of the verification manual: how they are found, run and reported."""

from __future__ import annotations

import ast
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from importlib import import_module
from importlib.resources import files
from typing import Any

from bellcrank.errors import unknown_name


class Within(StrEnum):
    """How value and reference of a quantity must lie to each other."""

    ABSOLUTE = "absolute"
    """|value - reference| <= tolerance."""
    RELATIVE = "relative"
    """|value - reference| <= tolerance * |reference|."""
    AT_MOST = "at most"
    """value <= reference + tolerance."""
    AT_LEAST = "at least"
    """value >= reference - tolerance."""
    REPORTED = "reported"
    """Beside a reference that belongs to something else: nothing is asked but that the value is a number."""


@dataclass(frozen=True)
class Quantity:
    """One number of a case beside its reference; `tolerance` is read as `within` says."""

    quantity: str
    value: float
    reference: float
    tolerance: float
    unit: str = ""
    within: Within = Within.ABSOLUTE

    @property
    def ok(self) -> bool:
        """Whether the value is as the reference asks; a value that is not a number never is."""
        difference = self.value - self.reference
        if self.within is Within.AT_MOST:
            return difference <= self.tolerance
        if self.within is Within.AT_LEAST:
            return difference >= -self.tolerance
        if self.within is Within.REPORTED:
            return math.isfinite(self.value)
        allowed = self.tolerance * abs(self.reference) if self.within is Within.RELATIVE else self.tolerance
        return self.value == self.reference or abs(difference) <= allowed

    def to_json(self) -> dict[str, Any]:
        """The fields of a report; numbers JSON does not know become null."""
        return {
            "quantity": self.quantity,
            "value": _finite(self.value),
            "reference": _finite(self.reference),
            "tolerance": _finite(self.tolerance),
            "unit": self.unit,
            "ok": bool(self.ok),
        }


def _finite(number: float) -> float | None:
    return float(number) if math.isfinite(number) else None


@dataclass(frozen=True)
class Case:
    """A case that can be run; nothing of it is imported before."""

    name: str
    title: str
    source: str
    module: str

    def quantities(self) -> list[Quantity]:
        """Run the case."""
        function: Callable[[], Sequence[Quantity]] = import_module(self.module).quantities
        return list(function())


@dataclass(frozen=True)
class CaseReport:
    """What a case found, or the error that stopped it."""

    case: Case
    quantities: tuple[Quantity, ...]
    error: str = ""

    @property
    def ok(self) -> bool:
        """Whether the case ran and all its quantities are as they should be."""
        return not self.error and all(q.ok for q in self.quantities)

    def to_json(self) -> dict[str, Any]:
        """The report of the case; an error is a quantity that is not ok."""
        rows = [q.to_json() for q in self.quantities]
        if self.error:
            nothing = {"value": None, "reference": None, "tolerance": None, "unit": "", "ok": False}
            rows.append({"quantity": f"error: {self.error}", **nothing})
        return {"case": self.case.name, "quantities": rows}


@cache
def known_cases() -> dict[str, Case]:
    """All cases by name, read from the source files without importing them."""
    found: dict[str, Case] = {}
    for file in sorted(files("bellcrank.verify").iterdir(), key=lambda f: f.name):
        stem, dot, suffix = file.name.rpartition(".")
        if not dot or suffix != "py" or stem.startswith("_"):
            continue
        tree = ast.parse(file.read_text(encoding="utf-8"))
        if any(isinstance(node, ast.FunctionDef) and node.name == "quantities" for node in tree.body):
            name = stem.replace("_", "-")
            title, source = _title_and_source(ast.get_docstring(tree) or "")
            found[name] = Case(name, title, source, f"bellcrank.verify.{stem}")
    return found


def _title_and_source(docstring: str) -> tuple[str, str]:
    paragraphs = [" ".join(part.split()) for part in docstring.split("\n\n")]
    sources = [p.removeprefix("Source:").strip() for p in paragraphs if p.startswith("Source:")]
    return paragraphs[0], " ".join(sources)


def find(names: Sequence[str]) -> list[Case]:
    """The cases of these names, each once; all cases where none are named."""
    known = known_cases()
    for name in names:
        if name not in known:
            raise unknown_name("case", name, known)
    return [known[name] for name in dict.fromkeys(names or known)]


def run(case: Case) -> CaseReport:
    """Run a case; an error in it becomes part of the report."""
    try:
        quantities = tuple(case.quantities())
    except Exception as error:
        text = " ".join(str(error).split())
        return CaseReport(case, (), f"{type(error).__name__}: {text}" if text else type(error).__name__)
    if not quantities:
        return CaseReport(case, (), "the case returned no quantities")
    return CaseReport(case, quantities)
