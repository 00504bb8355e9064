"""Docstrings as this package writes them: ``name: meaning [unit].`` in running text becomes a list of arguments."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import inspect
import re
import sys
import textwrap
from typing import Any

from docutils import nodes
from equations import member, named
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.util.nodes import make_refnode

MISSING = object()
LITERAL = re.compile(r"(``.+?``|:\w+(?::\w+)?:`[^`]+`|`[^`\s][^`]*`)", re.S)


def names_of(thing: Any) -> list[str]:
    """What a docstring may explain: arguments of a function, fields of a class."""
    names: list[str] = []
    if inspect.isclass(thing) and dataclasses.is_dataclass(thing):
        names += [field.name for field in dataclasses.fields(thing)]
    with contextlib.suppress(TypeError, ValueError):
        names += list(inspect.signature(thing).parameters)
    return [name for name in dict.fromkeys(names) if name not in ("self", "cls", "args", "kwargs")]


def escaped(text: str) -> str:
    """Plain text in which stars, bars and final underscores mean themselves; literals and links are left alone."""
    parts = LITERAL.split(text)
    for k in range(0, len(parts), 2):
        parts[k] = re.sub(r"([*|\\])", r"\\\1", parts[k])
        parts[k] = re.sub(r"(\w)_(?=\W|$)", r"\1\\_", parts[k])
    return "".join(parts)


def split(paragraph: str, names: list[str]) -> tuple[str, list[tuple[str, str]]]:
    """The running text of a paragraph, and what it says of each argument."""
    either = "|".join(map(re.escape, names))
    mark = re.compile(rf"(?:^|(?<=[.;:\])] )|(?<=, ))((?:{either})(?:(?:, | and )(?:{either}))*): (?=\S)")
    found = list(mark.finditer(paragraph))
    if not found:
        return paragraph, []
    ends = [m.start() for m in found[1:]] + [len(paragraph)]
    said = [
        (name, paragraph[m.end() : end].strip())
        for m, end in zip(found, ends, strict=True)
        for name in [m[1]]
    ]
    return paragraph[: found[0].start()].strip(), said


def indented(block: str) -> str:
    """Lines as they stand, as a block of their own."""
    return textwrap.indent(textwrap.dedent(block.rstrip()), "    ")


def process(app: Sphinx, what: str, name: str, thing: Any, options: Any, lines: list[str]) -> None:
    """Rewrite one docstring in place."""
    text = "\n".join(lines)
    names = names_of(thing) if what in ("function", "method", "class", "exception") else []
    made: list[str] = []
    fields: list[str] = []
    for block in re.split(r"\n\s*\n", text):
        if not block.strip():
            continue
        if block.startswith((" ", "\t")):
            made.append("::\n\n" + indented(block))
            continue
        if block.startswith("- "):
            made.append(escaped(block))
            continue
        running = " ".join(block.split())
        said: list[tuple[str, str]] = []
        if names:
            running, said = split(running, names)
        if running:
            made.append(escaped(running))
        fields += [f":param {key}: {escaped(value)}" for key, value in said]
    lines[:] = "\n\n".join([*made, "\n".join(fields)]).splitlines()
    if lines:
        lines.append("")


def exact(app: Sphinx, doctree: nodes.document) -> None:
    """Names mean what they say: a short one is not looked for in all modules, which is slow and may find another.

    A dash stands between a parameter and what is said of it.
    """
    for text in list(doctree.findall(nodes.Text)):
        if text == " -- ":
            text.parent.replace(text, nodes.Text(" – "))
    for link in doctree.findall(addnodes.pending_xref):
        if link.get("refdomain") == "py":
            link.attributes.pop("refspecific", None)


@functools.cache
def meant(target: str, module: str | None, owner: str | None) -> Any:
    """What a name stands for by itself, in a module and class, or in any module of the package; MISSING for nothing."""
    places = [place for place in (module, owner) if place]
    for path in (target, *(f"{place}.{target}" for place in places), ".".join([*places, target])):
        with contextlib.suppress(AttributeError):
            return named(path)
    first = target.partition(".")[0]
    for name in homes(frozenset(name for name in sys.modules if name.startswith("bellcrank."))).get(
        first, ()
    ):
        with contextlib.suppress(AttributeError):
            return functools.reduce(member, target.split("."), sys.modules[name])
    return MISSING


@functools.lru_cache(maxsize=1)
def homes(modules: frozenset[str]) -> dict[str, list[str]]:
    """For each name the modules that have it, in order."""
    found: dict[str, list[str]] = {}
    for name in sorted(modules):
        for thing in dir(sys.modules[name]):
            found.setdefault(thing, []).append(name)
    return found


def found_elsewhere(app: Sphinx, env: Any, node: Any, content: nodes.TextElement) -> nodes.Node | None:
    """A name that the reference has at another place, or that exists but has no entry; the rest are errors."""
    if node.get("refdomain") != "py" or node.get("reftype") == "class" or node.get("strict"):
        return None
    objects, target = env.get_domain("py").objects, node["reftarget"]
    thing = meant(target, node.get("py:module"), node.get("py:class"))
    if thing is not MISSING:
        home = f"{getattr(thing, '__module__', '')}.{getattr(thing, '__qualname__', '')}"
        if home not in objects:
            return content
        entry = objects[home]
        return make_refnode(app.builder, node["refdoc"], entry.docname, entry.node_id, content, home)
    ends = [(name, entry) for name, entry in objects.items() if name.endswith(f".{target}")]
    if not ends:
        return None
    name, entry = ends[0]
    return make_refnode(app.builder, node["refdoc"], entry.docname, entry.node_id, content, name)


def setup(app: Sphinx) -> dict[str, Any]:
    app.connect("autodoc-process-docstring", process)
    app.connect("doctree-read", exact)
    app.connect("missing-reference", found_elsewhere)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
