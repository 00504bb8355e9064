"""``{extras}``: a table of the extras, what they are for and what they bring, from the package's own metadata."""

from __future__ import annotations

from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from bellcrank.cli.doctor import DEVELOPMENT, EXTRAS, requirements


class Extras(SphinxDirective):
    """The extras of a user; those for work on the package itself are left out."""

    def run(self) -> list[nodes.Node]:
        brought: dict[str, list[str]] = {}
        for requirement in requirements():
            if requirement.extra and requirement.extra not in DEVELOPMENT:
                brought.setdefault(requirement.extra, []).append(requirement.name)
        text = ["| extra | for | brings |", "| --- | --- | --- |"]
        text += [f"| `{extra}` | {EXTRAS[extra]} | {', '.join(names)} |" for extra, names in brought.items()]
        return self.parse_text_to_nodes("\n".join(text))


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_directive("extras", Extras)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
