"""The reference of model files, from their schema: for each mapping what it means, its keys, and examples of them all.

``{model-keys} joint limit`` documents definitions of the schema; ``top`` is the file itself. The examples are pieces of
the model files in ``reference/model_files``, which are loaded when the site is built. A key that none shows stops
the build.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from bellcrank.files import load, schema

FOLDER = Path(__file__).parents[1] / "reference" / "model_files"
PLAIN = {
    "number": "number",
    "word": "name",
    "vector3": "3 numbers",
    "vector4": "4 numbers",
    "vector6": "6 numbers",
    "matrix": "3 x 3 numbers",
    "packed": "packed array",
    "tables": "tables",
    "axis": "axis",
    "let": "named parts",
    "joint_name": "name of a joint",
    "of_both": "number, or one for each side",
    "terms": "list of [terms](#keys-term)",
    "materials": "[material](#keys-material), or by name",
    "given_matrix": "rows, or a file",
    "limits": "[limits](#keys-limit)",
    "function": "[function](#keys-function)",
    "vector_function": "[functions](#keys-function)",
    "part": "shape without a body",
    "side": "body or [frame](#keys-frame)",
}
"""What definitions that are no mappings are called in the column of types."""
TITLES = {"top": "The file", "vector_function": "Functions", "member_frame": "Frame of a member"}
Schema = dict[str, Any]


@dataclass(frozen=True)
class Piece:
    """A mapping of an example: the keys it has, and its lines as they stand there."""

    keys: frozenset[str]
    text: str


@cache
def definitions() -> dict[str, Schema]:
    """All definitions by name, the file itself as ``top``."""
    whole = schema()
    found: dict[str, Schema] = whole.pop("$defs")
    return {"top": whole, **found}


def kinds(name: str) -> Iterator[tuple[str, Schema]]:
    """The mappings that a definition allows, each with its kind; empty where there is one alone."""
    for choice in _mappings(definitions()[name]):
        yield str(choice["properties"].get("kind", {}).get("const", "")), choice


def _mappings(expected: Schema) -> Iterator[Schema]:
    if "properties" in expected:
        yield expected
        return
    for choice in expected.get("oneOf") or expected.get("anyOf") or []:
        yield from _mappings(choice)


@cache
def pieces() -> dict[tuple[str, str], list[Piece]]:
    """The mappings of all examples by definition and kind, after each file was loaded."""
    found: dict[tuple[str, str], list[Piece]] = {}
    for path in sorted(FOLDER.glob("*.yaml")):
        load(path).mechanism()
        text = path.read_text(encoding="utf-8")
        _walk(
            yaml.compose(text, Loader=yaml.SafeLoader), definitions()["top"], "top", text.splitlines(), found
        )
    return found


def _walk(
    node: Any, expected: Schema, name: str, lines: list[str], found: dict[tuple[str, str], list[Piece]]
) -> None:
    while "$ref" in expected:
        name = expected["$ref"].rpartition("/")[2]
        expected = definitions()[name]
    choices = [] if "properties" in expected else expected.get("oneOf") or expected.get("anyOf") or []
    if choices:
        chosen = _chosen(node, choices)
        if chosen is not None:
            _walk(node, chosen, name, lines, found)
        return
    if isinstance(node, yaml.SequenceNode):
        for item in node.value:
            _walk(item, expected.get("items", {}), name, lines, found)
    elif isinstance(node, yaml.MappingNode):
        known = expected.get("properties", {})
        entries = {key.value: value for key, value in node.value}
        if known:
            kind = str(known.get("kind", {}).get("const", ""))
            found.setdefault((name, kind), []).append(Piece(frozenset(entries), _text(node, lines)))
        for key, value in entries.items():
            more = expected.get("additionalProperties")
            _walk(value, known.get(key) or (more if isinstance(more, dict) else {}), name, lines, found)


def _chosen(node: Any, choices: list[Schema]) -> Schema | None:
    """The one of several types that a node is of."""
    for choice in choices:
        whole = choice
        while "$ref" in whole:
            whole = definitions()[whole["$ref"].rpartition("/")[2]]
        nested = [] if "properties" in whole else whole.get("oneOf") or whole.get("anyOf") or []
        if nested:
            if _chosen(node, nested) is not None:
                return choice
        elif isinstance(node, yaml.MappingNode):
            known, said = whole.get("properties", {}), {key.value: value for key, value in node.value}
            tag = known.get("kind", {}).get("const")
            if "kind" in said and tag is not None:
                right = said["kind"].value == tag
            else:
                right = set(said) <= set(known) and set(whole.get("required", ())) <= set(said)
                right = right or (not known and whole.get("type") == "object")
            if right:
                return choice
        elif isinstance(node, yaml.SequenceNode):
            if whole.get("type") == "array":
                return choice
        elif whole.get("type") not in ("object", "array"):
            return choice
    return None


def _text(node: Any, lines: list[str]) -> str:
    """The lines of a mapping, without what stands before and behind it."""
    start, end = node.start_mark, node.end_mark
    if start.line == end.line:
        return _short(lines[start.line][start.column : end.column])
    rows = [" " * start.column + lines[start.line][start.column :], *lines[start.line + 1 : end.line]]
    if end.column and lines[end.line][: end.column].strip():
        rows.append(lines[end.line][: end.column])
    while rows and (not rows[-1].strip() or rows[-1].lstrip().startswith("#")):
        rows.pop()
    return _short(textwrap.dedent("\n".join(rows)))


def _short(text: str) -> str:
    """Without the inside of packed arrays."""
    return re.sub(r"\b((?:[0-9x]+:)?[A-Za-z0-9+/]{12})[A-Za-z0-9+/]{24,}=*", r"\1...", text)


def shown(name: str, kind: str | None, keys: list[str]) -> list[str]:
    """As few examples as show all keys of a mapping, of any kind where that is None."""
    left, texts = set(keys), []
    candidates = [
        piece
        for (of, own), found in pieces().items()
        if of == name and kind in (None, own)
        for piece in found
    ]
    if not keys and candidates:
        texts.append(min((piece.text for piece in candidates), key=len))
    while left:
        best = max(candidates, key=lambda piece: (len(piece.keys & left), -len(piece.text)), default=None)
        if best is None or not best.keys & left:
            raise LookupError(
                f"no model file in {FOLDER} shows {', '.join(sorted(left))} of {name} {kind or ''}"
            )
        texts.append(best.text)
        left -= best.keys
    return texts


def takes(given: Schema) -> str:
    """A type in words."""
    if "$ref" in given:
        name = given["$ref"].rpartition("/")[2]
        return PLAIN.get(name) or f"[{name.replace('_', ' ')}](#keys-{name.replace('_', '-')})"
    if "const" in given:
        return f"`{given['const']}`"
    if "enum" in given:
        return ", ".join(f"`{word}`" for word in given["enum"])
    for key in ("anyOf", "oneOf"):
        if key in given:
            return " or ".join(dict.fromkeys(takes(choice) for choice in given[key]))
    kind = given.get("type")
    if isinstance(kind, list):
        if set(kind) <= {"number", "string"}:
            return PLAIN["number"]
        if set(kind) <= {"integer", "string"}:
            return "whole number"
        return takes({**given, "type": next(k for k in kind if k != "null")})
    if kind == "array":
        count, inner = given.get("minItems"), takes(given.get("items", {}))
        exact = f"{count} of " if count and count == given.get("maxItems") else ""
        return f"list of {exact}{inner}"
    if kind == "object" and isinstance(given.get("additionalProperties"), dict):
        return f"by name: {takes(given['additionalProperties'])}"
    words = {
        "string": "text",
        "boolean": "true or false",
        "integer": "whole number",
        "object": "mapping",
        "null": "null",
    }
    return words.get(str(kind), "number")


def shared(name: str) -> list[str]:
    """Keys that all kinds of a definition have, where there are many kinds: they are said once."""
    every = [choice["properties"] for _, choice in kinds(name)]
    if len(every) < 5:
        return []
    return [
        key
        for key, value in every[0].items()
        if key != "kind" and not value.get("deprecated") and all(k.get(key) == value for k in every)
    ]


class ModelKeys(SphinxDirective):
    """Definitions of the schema, each with its kinds."""

    has_content = True

    def run(self) -> list[nodes.Node]:
        text: list[str] = []
        for name in " ".join(self.content).split():
            found, common = list(kinds(name)), shared(name)
            text += [f"(keys-{name.replace('_', '-')})="]
            if len(found) > 1 or name != "top":
                text += [f"## {TITLES.get(name, name.replace('_', ' ').capitalize())}", ""]
            words = definitions()[name].get("description", "")
            if words and words != found[0][1].get("description"):
                text += [escaped(words), ""]
            if common:
                text += ["Every kind has these keys:", "", *self.table(found[0][1], common)]
                text += self.examples(name, None, common)
            for kind, choice in found:
                own = [key for key in choice["properties"] if key not in ("kind", *common)]
                own = [key for key in own if not choice["properties"][key].get("deprecated")]
                text += [f"### `kind: {kind}`", ""] if kind else []
                text += [escaped(choice["description"]), ""] if choice.get("description") else []
                if own:
                    text += self.table(choice, own)
                text += self.examples(name, kind, own)
        return self.parse_text_to_nodes("\n".join(text), allow_section_headings=True)

    def table(self, choice: Schema, keys: list[str]) -> list[str]:
        """Keys of a mapping in Markdown; those that must be there are bold."""
        text = ["| key | takes | |", "| --- | --- | --- |"]
        for key in keys:
            value = choice["properties"][key]
            label = f"**`{key}`**" if key in choice.get("required", ()) else f"`{key}`"
            kind = takes({k: v for k, v in value.items() if k != "description"})
            text.append(f"| {label} | {kind} | {escaped(value.get('description', ''))} |")
        return [*text, ""]

    def examples(self, name: str, kind: str | None, keys: list[str]) -> list[str]:
        """Pieces of model files in Markdown, which show all keys."""
        try:
            found = shown(name, kind, keys)
        except LookupError as error:
            raise self.error(str(error)) from error
        return ["```yml", *"\n\n".join(found).splitlines(), "```", ""] if found else []


def escaped(text: str) -> str:
    """Words of the schema in Markdown."""
    for mark in "\\*_|$<[":
        text = text.replace(mark, "\\" + mark)
    return " ".join(text.split())


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_directive("model-keys", ModelKeys)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
