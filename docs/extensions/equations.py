"""Equations beside the functions that compute them.

    ```{equation} (12)
    :by: bellcrank.impacts.impulses.solve_impact
    :in: words that say what it means
    \\LaTeX
    ```

Every function named must exist and have its entry in the reference.
"""

from __future__ import annotations

from functools import reduce
from importlib import import_module
from typing import Any, ClassVar

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective


def named(path: str) -> Any:
    """What a dotted path stands for."""
    parts = path.split(".")
    for cut in range(len(parts), 0, -1):
        try:
            module = import_module(".".join(parts[:cut]))
        except ModuleNotFoundError:
            continue
        return reduce(member, parts[cut:], module)
    raise AttributeError(path)


def member(owner: Any, name: str) -> Any:
    """An attribute, or a field of a dataclass, which the class itself need not have."""
    fields = getattr(owner, "__dataclass_fields__", {})
    return fields[name] if name in fields and not hasattr(owner, name) else getattr(owner, name)


class Equation(SphinxDirective):
    """One equation: its number in the paper, its formula, the functions that compute it."""

    has_content = True
    required_arguments = 1
    final_argument_whitespace = True
    option_spec: ClassVar[dict[str, Any]] = {"by": directives.unchanged_required, "in": directives.unchanged}

    def run(self) -> list[nodes.Node]:
        row = nodes.container(classes=["equation"])
        left, right = nodes.container(classes=["said"]), nodes.container(classes=["done"])
        latex = "\n".join(self.content)
        left += nodes.math_block(latex, latex, nowrap=False, number=None)
        if "in" in self.options:
            children, _ = self.parse_inline(self.options["in"])
            left += nodes.paragraph("", "", *children)
        right += nodes.paragraph("", self.arguments[0], classes=["number"])
        for path in self.options.get("by", "").replace(",", " ").split():
            try:
                named(path)
            except AttributeError as error:
                raise self.error(f"equation {self.arguments[0]}: there is no {path}") from error
            right += self._link(path)
        row += [left, right]
        return [row]

    def _link(self, path: str) -> nodes.paragraph:
        shown = path.removeprefix("bellcrank.")
        link = addnodes.pending_xref(
            "",
            nodes.literal(shown, shown),
            refdomain="py",
            reftype="obj",
            reftarget=path,
            refexplicit=True,
            refwarn=True,
            strict=True,
        )
        link["refdoc"] = self.env.docname
        return nodes.paragraph("", "", link)


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_directive("equation", Equation)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
