"""The reference: ``.. package:: bellcrank.contact`` documents every module of a package, found when the site is built.

``:except:`` names modules that stand elsewhere; ``:only:`` names the modules to take. ``.. folders::`` lists the
folders of the package in their order, each with the first line of its docstring.

What has a docstring is documented, in the order of the source, with its signature as it is written there; a method
that is overridden stands with the class that declares it. The entries are made from the syntax tree at once: autodoc,
which writes reStructuredText and reads it again, takes several times as long.
"""

from __future__ import annotations

import ast
import functools
import inspect
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from pkgutil import iter_modules
from types import ModuleType
from typing import Any, ClassVar

from docstrings import LITERAL, split
from docutils import nodes
from docutils.parsers.rst import directives
from folders import FOLDERS, first_words
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.domains.python import PythonDomain
from sphinx.util.docutils import SphinxDirective

LONGEST = 90
"""Characters of a signature from which on its parameters stand on lines of their own."""
ROLE = re.compile(r":(?:py:)?(\w+):`(?:([^`<]+) <([^`>]+)>|([^`]+))`", re.S)
PARTS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


@dataclass
class Described:
    """One entry: its kind, names, parameters, result, value and docstring, and the entries within.

    explained: What the docstring may explain.
    """

    kind: str
    names: list[str]
    doc: str
    parameters: list[str] | None = None
    result: str = ""
    value: str = ""
    explained: list[str] = field(default_factory=list)
    inner: list[Described] = field(default_factory=list)


def entries(
    body: Sequence[ast.stmt], within: str = "", wanted: set[str] | None = None
) -> Iterator[Described]:
    """Of a module, or of a class; wanted: names that the module exports, where it says so."""
    for k, node in enumerate(body):
        if isinstance(node, PARTS):
            if not shown(node.name, wanted) or not (doc := ast.get_docstring(node)):
                continue
            if isinstance(node, ast.ClassDef):
                yield class_entry(node, doc)
            else:
                yield function_entry(node, doc, within)
        elif isinstance(node, ast.Assign | ast.AnnAssign) and (doc := said_behind(body, k)):
            names = [name for name in assigned(node, within) if shown(name, wanted)]
            if names:
                value = ast.unparse(node.value) if node.value is not None and len(names) == 1 else ""
                result = ast.unparse(node.annotation) if isinstance(node, ast.AnnAssign) else ""
                kind = "attribute" if within else "data"
                yield Described(
                    kind, names, doc, result=result, value=value if len(value) < LONGEST // 2 else ""
                )
        if within and isinstance(node, ast.FunctionDef) and node.name == "__init__":
            yield from entries(node.body, "__init__")


def shown(name: str, wanted: set[str] | None) -> bool:
    """Whether a name is public."""
    return name in wanted if wanted is not None else not name.startswith("_") or name == "__init__"


def said_behind(body: Sequence[ast.stmt], k: int) -> str:
    """The string behind a statement."""
    after = body[k + 1] if k + 1 < len(body) else None
    if (
        isinstance(after, ast.Expr)
        and isinstance(after.value, ast.Constant)
        and isinstance(after.value.value, str)
    ):
        return inspect.cleandoc(after.value.value)
    return ""


def assigned(node: ast.Assign | ast.AnnAssign, within: str) -> list[str]:
    """The names that a statement binds; in a constructor, those of attributes."""
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    flat = [t for target in targets for t in (target.elts if isinstance(target, ast.Tuple) else [target])]
    if within == "__init__":
        return [t.attr for t in flat if isinstance(t, ast.Attribute)]
    return [t.id for t in flat if isinstance(t, ast.Name)]


def class_entry(node: ast.ClassDef, doc: str) -> Described:
    """A class: its fields are its parameters where it has no constructor of its own."""
    inner = list(entries(node.body, node.name))
    own = next((n for n in node.body if isinstance(n, ast.FunctionDef) and n.name == "__init__"), None)
    if own is not None:
        found = function_entry(own, doc, node.name)
        inner = [entry for entry in inner if entry.names != ["__init__"]]
        further = ast.get_docstring(own)
        doc = f"{doc}\n\n{further}" if further else doc
        parameters, explained = found.parameters, found.explained
    else:
        fields = [n for n in node.body if isinstance(n, ast.AnnAssign) and isinstance(n.target, ast.Name)]
        fields = [f for f in fields if not ast.unparse(f.annotation).startswith("ClassVar")]
        parameters = [
            ast.unparse(f.target)
            + ": "
            + ast.unparse(f.annotation)
            + (" = ..." if f.value is not None else "")
            for f in fields
        ]
        explained = [ast.unparse(f.target) for f in fields]
        made = any("dataclass" in ast.unparse(d) for d in node.decorator_list)
        made = made or any(ast.unparse(base) == "NamedTuple" for base in node.bases)
        parameters = parameters if made else None
    raised = any(ast.unparse(base).endswith(("Error", "Exception", "Warning")) for base in node.bases)
    kind = "exception" if raised else "class"
    return Described(kind, [node.name], doc, parameters, explained=explained, inner=inner)


def function_entry(node: ast.FunctionDef | ast.AsyncFunctionDef, doc: str, within: str) -> Described:
    """A function, a method or a property."""
    marks = {ast.unparse(d).rpartition(".")[2] for d in node.decorator_list}
    result = ast.unparse(node.returns) if node.returns is not None else ""
    if within and marks & {"property", "cached_property"}:
        return Described("property", [node.name], doc, result=result)
    given = node.args
    positional = [*given.posonlyargs, *given.args]
    defaults = [None] * (len(positional) - len(given.defaults)) + list(given.defaults)
    pairs: list[tuple[str, ast.arg, ast.expr | None]] = [
        ("", a, d) for a, d in zip(positional, defaults, strict=True)
    ]
    if within and "staticmethod" not in marks:
        pairs = pairs[1:]
    if given.vararg:
        pairs.append(("*", given.vararg, None))
    keywords = [("", a, d) for a, d in zip(given.kwonlyargs, given.kw_defaults, strict=True)]
    parameters = [parameter(*pair) for pair in pairs]
    parameters += ["*"] if keywords and not given.vararg else []
    parameters += [parameter(*pair) for pair in keywords]
    if given.kwarg:
        parameters.append(parameter("**", given.kwarg, None))
    explained = [a.arg for _, a, _ in [*pairs, *keywords]]
    return Described("method" if within else "function", [node.name], doc, parameters, result, "", explained)


def parameter(stars: str, given: ast.arg, default: ast.expr | None) -> str:
    """One parameter as it is written."""
    text = stars + given.arg
    if given.annotation is not None:
        text += ": " + ast.unparse(given.annotation)
    if default is not None:
        text += (" = " if given.annotation is not None else "=") + ast.unparse(default)
    return text


class Writer:
    """Makes the nodes of one module and registers its entries."""

    def __init__(self, directive: SphinxDirective, module: ModuleType) -> None:
        domain = directive.env.get_domain("py")
        assert isinstance(domain, PythonDomain)
        self.domain, self.module, self.name = domain, module, module.__name__
        self.place, self.location = directive.env.docname, directive.get_location()
        self.tree = ast.parse(inspect.getsource(module))
        self._meant: dict[str, str] = {}

    def section(self, title: str) -> nodes.section:
        """The module with all its entries."""
        place = f"module-{self.name}"
        found = nodes.section("", nodes.title("", title), ids=[place], names=[title])
        self.domain.note_module(self.name, place, "", "", False)
        self.domain.note_object(self.name, "module", place, location=self.location)
        exported = getattr(self.module, "__all__", None)
        found += self.text(ast.get_docstring(self.tree) or "", [], "")
        for entry in entries(self.tree.body, "", None if exported is None else set(exported)):
            found += self.entry(entry, "")
        return found

    def entry(self, entry: Described, owner: str) -> list[nodes.Node]:
        """One entry with those within."""
        desc = addnodes.desc("", domain="py", objtype=entry.kind, desctype=entry.kind)
        desc["classes"] += ["py", entry.kind]
        desc["no-index"] = desc["noindex"] = False
        desc["no-index-entry"] = desc["noindexentry"] = False
        desc["no-contents-entry"] = desc["nocontentsentry"] = True
        desc["no-typesetting"] = False
        listed = addnodes.index(entries=[])
        for name in entry.names:
            path = f"{owner}.{name}" if owner else name
            full = f"{self.name}.{path}"
            desc += self.signature(entry, name, path, full)
            if full not in self.domain.objects:
                self.domain.note_object(full, entry.kind, full, location=self.location)
            listed["entries"].append(("single", self.index(entry.kind, name, owner), full, "", None))
        path = f"{owner}.{entry.names[0]}" if owner else entry.names[0]
        inside = path if entry.inner or entry.kind in ("class", "exception") else owner
        content = addnodes.desc_content("", *self.text(entry.doc, entry.explained, inside))
        for inner in entry.inner:
            content += self.entry(inner, path)
        desc += content
        return [listed, desc]

    def index(self, kind: str, name: str, owner: str) -> str:
        """What the index says of an entry."""
        if owner:
            call = "()" if kind == "method" else ""
            return f"{name}{call} ({self.name}.{owner} {kind})"
        call = "()" if kind == "function" else ""
        return f"{name}{call} ({'class ' if kind == 'class' else ''}in module {self.name})"

    def signature(self, entry: Described, name: str, path: str, full: str) -> addnodes.desc_signature:
        """The line, or the lines, that name an entry."""
        found = addnodes.desc_signature("", "", ids=[full], module=self.name, fullname=path)
        found["class"], found["_toc_parts"], found["_toc_name"] = path.rpartition(".")[0], (), ""
        found["classes"] += ["sig", "sig-object", "py"]
        if entry.kind in ("class", "exception", "property"):
            found += addnodes.desc_annotation("", entry.kind + " ")
        found += addnodes.desc_name(name, name)
        if entry.parameters is not None:
            long = len(name) + len(", ".join(entry.parameters)) + len(entry.result) > LONGEST
            listed = addnodes.desc_parameterlist("", "", multi_line_parameter_list=long)
            listed["multi_line_trailing_comma"] = False
            for text in entry.parameters:
                listed += addnodes.desc_parameter("", "", *self.typed(text), noemph=True)
            found += listed
        if entry.result and entry.result != "None":
            kind = addnodes.desc_returns if entry.parameters is not None else addnodes.desc_annotation
            before = [] if entry.parameters is not None else [nodes.Text(": ")]
            found += kind("", "", *before, *self.typed(entry.result))
        if entry.value:
            found += addnodes.desc_annotation("", f" = {entry.value}")
        return found

    def typed(self, text: str) -> list[nodes.Node]:
        """A piece of a signature, with links to the classes of the package that it names."""
        found: list[nodes.Node] = []
        end = 0
        for match in re.finditer(r"(?<![\w.'\"])[A-Za-z_][\w.]*", text):
            target = self.meant(match[0])
            if target:
                found += [nodes.Text(text[end : match.start()])] if match.start() > end else []
                found.append(self.link(match[0], target, "class", "", literal=False))
                end = match.end()
        return [*found, nodes.Text(text[end:])] if end < len(text) else found

    @functools.cached_property
    def imported(self) -> dict[str, str]:
        """What names stand for that the module takes from others of the package, for type checkers alone too."""
        found = {}
        for node in ast.walk(self.tree):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("bellcrank"):
                found |= {a.asname or a.name: f"{node.module}:{a.name}" for a in node.names}
        return found

    def meant(self, name: str) -> str:
        """The full name of a class of the package, nothing for other names."""
        if name not in self._meant:
            self._meant[name] = self._found(name)
        return self._meant[name]

    def _found(self, name: str) -> str:
        first, *rest = name.split(".")
        thing = getattr(self.module, first, None)
        if thing is None and first in self.imported:
            place, _, member = self.imported[first].partition(":")
            thing = getattr(import_module(place), member, None)
        for part in rest:
            thing = getattr(thing, part, None)
        if inspect.isclass(thing) and thing.__module__.startswith("bellcrank"):
            return f"{thing.__module__}.{thing.__qualname__}"
        return ""

    def link(
        self, shown: str, target: str, role: str, owner: str, literal: bool = True
    ) -> addnodes.pending_xref:
        """A reference, resolved when all pages are read."""
        inner = (
            nodes.literal(shown, shown, classes=["xref", "py", f"py-{role}"])
            if literal
            else nodes.Text(shown)
        )
        found = addnodes.pending_xref(
            "", inner, refdomain="py", reftype=role, reftarget=target, refexplicit=False, refwarn=literal
        )
        found["refdoc"], found["py:module"], found["py:class"] = self.place, self.name, owner or None
        return found

    def text(self, doc: str, names: list[str], owner: str) -> list[nodes.Node]:
        """A docstring: paragraphs, lists, lines as they stand, and what it says of each argument."""
        found: list[nodes.Node] = []
        said: list[tuple[str, str]] = []
        for block in re.split(r"\n\s*\n", doc):
            if not block.strip():
                continue
            if block.startswith((" ", "\t")):
                lines = inspect.cleandoc(block)
                found.append(nodes.literal_block(lines, lines, language="text"))
            elif block.startswith(("- ", "1. ")):
                items = re.split(r"\n(?=- |\d+\. )", block)
                listed: nodes.Element = nodes.bullet_list() if block[0] == "-" else nodes.enumerated_list()
                for item in items:
                    words = " ".join(re.sub(r"^(- |\d+\. )", "", item).split())
                    listed += nodes.list_item("", nodes.paragraph("", "", *self.inline(words, owner)))
                found.append(listed)
            else:
                running, further = " ".join(block.split()), list[tuple[str, str]]()
                if names:
                    running, further = split(running, names)
                said += further
                if running:
                    found.append(nodes.paragraph("", "", *self.inline(running, owner)))
        if said:
            listed = nodes.bullet_list()
            for name, words in said:
                line = nodes.paragraph(
                    "", "", nodes.strong("", name), nodes.Text(" – "), *self.inline(words, owner)
                )
                listed += nodes.list_item("", line)
            body = nodes.field_body("", listed)
            found.append(nodes.field_list("", nodes.field("", nodes.field_name("", "Parameters"), body)))
        return found

    def inline(self, text: str, owner: str) -> list[nodes.Node]:
        """Running text with literals and references."""
        found: list[nodes.Node] = []
        for k, part in enumerate(LITERAL.split(text)):
            if not part:
                continue
            if k % 2 == 0:
                found.append(nodes.Text(part))
            elif match := ROLE.fullmatch(part):
                role, words, target, plain = match.groups()
                target = (target or plain).strip()
                shown = words or (target.rpartition(".")[2] if target.startswith("~") else target.lstrip("."))
                shown += "()" if role in ("func", "meth") and not words else ""
                found.append(self.link(shown, target.lstrip("~."), role, owner))
            else:
                words = part.strip("`")
                found.append(nodes.literal(words, words))
        return found


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
        taken = [n for n in names if n not in left_out and not n.startswith("_") and (not only or n in only)]
        return [Writer(self, import_module(f"{package.__name__}.{name}")).section(name) for name in taken]


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
