"""The gallery: every example with its picture, its words and its files; what moves plays.

Pictures and scenes lie in ``pictures/gallery``; ``python docs/extensions/pictures.py`` runs the examples for them.
"""

from __future__ import annotations

import ast
import json
import lzma
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from bellcrank.cli.library import examples
from bellcrank.view.pages import animation

PLACE = "_made/gallery"
"""Folder of the site for the pages that play."""
PICTURES = Path(__file__).parents[1] / "pictures" / "gallery"
LANGUAGES = {".py": "python"}
"""By suffix; all other files of examples are YAML."""


def picture(name: str) -> Path | None:
    """The picture of an example."""
    return next((path for path in sorted(PICTURES.glob(f"{name}.*")) if path.suffix != ".scene"), None)


def playing(name: str, folder: Path) -> Path | None:
    """The page that plays an example, written into a folder; None for one that does not move."""
    kept = PICTURES / f"{name}.scene"
    if not kept.is_file():
        return None
    found = json.loads(lzma.decompress(kept.read_bytes()))
    folder.mkdir(parents=True, exist_ok=True)
    target = folder / f"{name}.html"
    target.write_text(animation(found["title"], found["subtitle"], found["data"]), encoding="utf-8")
    return target


def words(text: str, suffix: str) -> str:
    """What an example says of itself, as paragraphs."""
    if suffix == ".py":
        return ast.get_docstring(ast.parse(text)) or ""
    lines = []
    for line in text.splitlines():
        if not line.startswith("#"):
            break
        lines.append(line[1:].removeprefix(" "))
    return "\n".join(lines)


class Cards(SphinxDirective):
    """All examples, a card each."""

    def run(self) -> list[nodes.Node]:
        text: list[str] = ["````{grid} 2 2 3 3", ":gutter: 2", ""]
        for example in examples().values():
            found, name = picture(example.name), title(example.name)
            text += [f"```{{grid-item-card}} {name}", f':link: "#{place(example.name)}"', ":link-type: url"]
            text += [":class-card: example"]
            text += [f":img-top: pictures/gallery/{found.name}", f":img-alt: {name}"] if found else []
            text += ["", escaped(example.title), "```", ""]
        return self.parse_text_to_nodes("\n".join([*text, "````"]))


class Gallery(SphinxDirective):
    """All examples, a section each."""

    def run(self) -> list[nodes.Node]:
        text = [line for example in examples().values() for line in self.section(example)]
        return self.parse_text_to_nodes("\n".join(text), allow_section_headings=True)

    def section(self, example: Any) -> list[str]:
        """One example in Markdown."""
        text = [f"({place(example.name)})=", f"## {title(example.name)}", ""]
        if found := picture(example.name):
            text += [f"```{{image}} pictures/gallery/{found.name}", f":alt: {title(example.name)}"]
            text += [":class: example", "```", ""]
        if page := playing(example.name, Path(self.env.app.outdir) / PLACE):
            frame = f'src="{PLACE}/{page.name}" title="{title(example.name)}, playing" height="520" loading="lazy"'
            text += ["```{raw} html", "<details class='plays'><summary>play it in 3D</summary>"]
            text += [f"<iframe class='made' {frame}></iframe></details>", "```", ""]
        first = example.files[0]
        said = words(first.read_text(encoding="utf-8"), Path(first.name).suffix)
        text += [*paragraphs(said), "```console", f"bellcrank examples copy {example.name}", "```", ""]
        for file in example.files:
            language = LANGUAGES.get(Path(file.name).suffix, "yaml")
            text += [f"`````{{dropdown}} {file.name}", f"````{{code-block}} {language}"]
            text += [file.read_text(encoding="utf-8").rstrip(), "````", "`````", ""]
        return text


def place(name: str) -> str:
    """Where an example stands on the page."""
    return "example-" + name.replace("_", "-")


def title(name: str) -> str:
    """The name of an example for people."""
    return name.replace("_", " ").capitalize()


def escaped(text: str) -> str:
    """Plain words in Markdown."""
    for mark in "\\*_`$<[":
        text = text.replace(mark, "\\" + mark)
    return text


def paragraphs(said: str) -> list[str]:
    """Words of an example in Markdown; indented lines are commands."""
    text: list[str] = []
    for block in said.split("\n\n"):
        lines = block.splitlines()
        if lines and all(line.startswith("    ") for line in lines):
            text += ["```console", *(line[4:] for line in lines), "```", ""]
        else:
            text += [escaped(" ".join(block.split())), ""]
    return text


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_directive("gallery-cards", Cards)
    app.add_directive("gallery", Gallery)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
