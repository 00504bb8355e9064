"""The reference: ``.. package:: bellcrank.contact`` documents every module of a package, found when the site is built.

``:except:`` names modules that stand elsewhere; ``:only:`` names the modules to take. ``.. folders::`` lists the
folders of the package in their order, each with the first line of its docstring.
"""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules
from typing import Any, ClassVar

from docutils import nodes
from docutils.parsers.rst import directives
from folders import FOLDERS, first_words
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective


class Package(SphinxDirective):
    """All modules of a package with their public functions and classes."""

    required_arguments = 1
    option_spec: ClassVar[dict[str, Any]] = {"except": directives.unchanged, "only": directives.unchanged}

    def run(self) -> list[nodes.Node]:
        package = import_module(self.arguments[0])
        names = sorted(found.name for found in iter_modules(package.__path__) if not found.ispkg)
        left_out = self.options.get("except", "").replace(",", " ").split()
        only = self.options.get("only", "").replace(",", " ").split()
        for name in [*left_out, *only]:
            if name not in names:
                raise self.error(f"{package.__name__} has no module {name!r}")
        text = []
        for name in names:
            if name in left_out or name.startswith("_") or (only and name not in only):
                continue
            path = f"{package.__name__}.{name}"
            text += [name, "-" * len(name), "", f".. automodule:: {path}", "   :members:", ""]
        return self.parse_text_to_nodes("\n".join(text), allow_section_headings=True)


class Folders(SphinxDirective):
    """The folders of the package in their order, each with the first line of its docstring."""

    def run(self) -> list[nodes.Node]:
        listed = nodes.definition_list()
        for folder in FOLDERS:
            term = nodes.term("", "", nodes.literal(text=folder))
            words = nodes.paragraph(text=first_words(folder))
            listed += nodes.definition_list_item("", term, nodes.definition("", words))
        return [listed]


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_directive("package", Package)
    app.add_directive("folders", Folders)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
