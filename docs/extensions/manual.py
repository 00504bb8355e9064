"""The verification manual: every case of ``bellcrank verify`` with its source, its values and its references.

The page is made from ``verification.json`` beside the pages, which ``python docs/extensions/manual.py`` writes anew. A
case whose source is not the one that was stored is run when the site is built.
"""

from __future__ import annotations

import hashlib
import json
from importlib.resources import files
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.errors import ExtensionError
from sphinx.util.docutils import SphinxDirective

from bellcrank.verify import Case, find, run

STORED = Path(__file__).parents[1] / "verification.json"
HEAD = ("quantity", "computed", "reference", "allowed", "unit", "")


def fingerprint(case: Case) -> str:
    """Of the file that describes a case."""
    file = files("bellcrank.verify").joinpath(case.module.rpartition(".")[2] + ".py")
    return hashlib.sha256(file.read_bytes()).hexdigest()[:16]


def computed(case: Case) -> dict[str, Any]:
    """Run a case."""
    report = run(case)
    if report.error:
        raise ExtensionError(f"case {case.name} of the verification manual: {report.error}")
    rows = [{**q.to_json(), "within": str(q.within)} for q in report.quantities]
    words = {"title": case.title, "source": case.source}
    return {"case": case.name, **words, "fingerprint": fingerprint(case), "quantities": rows}


def stored() -> dict[str, dict[str, Any]]:
    """What was written last, by name of the case."""
    return {case["case"]: case for case in json.loads(STORED.read_text(encoding="utf-8"))["cases"]}


def present() -> list[dict[str, Any]]:
    """All cases, those that changed since they were stored run anew."""
    known = stored()
    return [
        known[case.name]
        if known.get(case.name, {}).get("fingerprint") == fingerprint(case)
        else computed(case)
        for case in find([])
    ]


def number(value: float | None, digits: int) -> str:
    """A number for people."""
    return "none" if value is None else f"{value:.{digits}g}"


def allowed(row: dict[str, Any]) -> str:
    """What may lie between value and reference."""
    match row["within"]:
        case "absolute":
            return f"± {number(row['tolerance'], 2)}"
        case "relative":
            return f"± {number(100 * row['tolerance'], 2)} %"
        case "reported":
            return "for comparison"
        case other:
            return str(other)


class Manual(SphinxDirective):
    """All cases, a section each."""

    def run(self) -> list[nodes.Node]:
        self.env.note_dependency(str(STORED))
        cases = present()
        total = sum(len(case["quantities"]) for case in cases)
        good = sum(row["ok"] for case in cases for row in case["quantities"])
        text = f"{len(cases)} cases, {total} quantities, {good} of them as their references ask."
        return [nodes.paragraph("", text, classes=["summary"]), *(self.section(case) for case in cases)]

    def section(self, case: dict[str, Any]) -> nodes.section:
        """One case."""
        section = nodes.section(ids=[f"case-{case['case']}"], names=[case["case"]])
        section += nodes.title("", case["case"].replace("-", " ").capitalize())
        self.state.document.note_explicit_target(section)
        section += nodes.paragraph("", case["title"])
        if case["source"]:
            section += nodes.paragraph("", "", nodes.strong("", "Source: "), nodes.Text(case["source"]))
        section += self.table(case["quantities"])
        return section

    def table(self, rows: list[dict[str, Any]]) -> nodes.table:
        """Values beside references."""
        group = nodes.tgroup(cols=len(HEAD))
        group += [nodes.colspec(colwidth=width) for width in (30, 18, 18, 14, 10, 4)]
        group += nodes.thead("", line(HEAD))
        body = nodes.tbody()
        for row in rows:
            ok = "✓" if row["ok"] else "✗"
            digits = number(row["value"], 9), number(row["reference"], 9)
            body += line((row["quantity"].replace("_", " "), *digits, allowed(row), row["unit"], ok))
        group += body
        return nodes.table("", group, classes=["manual"])


def line(texts: tuple[str, ...]) -> nodes.row:
    """A row of a table."""
    return nodes.row("", *(nodes.entry("", nodes.paragraph("", text)) for text in texts))


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_directive("verification-manual", Manual)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


if __name__ == "__main__":
    everything = {"cases": [computed(case) for case in find([])]}
    STORED.write_text(json.dumps(everything, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
