"""Blocks that run when the site is built: Python, and commands of ``bellcrank``.

All blocks of a page share one namespace and one folder, from the first to the last. A last expression
that is a matplotlib figure is shown as a picture. What fails stops the build.

    ```{run}
    :show: swing.html, curves.png
    :alt: words for those who do not see the picture
    result.html("swing.html")
    ```

    ```{command}
    bellcrank check pendulum.yaml
    ```

``:quiet:`` hides what is printed, ``:lines: 12`` keeps that many lines of it, ``:hidden:`` hides the block itself,
``:raises:`` shows the error that the block must end in.
"""

from __future__ import annotations

import ast
import contextlib
import io
import linecache
import logging
import os
import shlex
import shutil
import traceback
import warnings
from collections.abc import Iterator
from html import escape
from pathlib import Path
from typing import Any, ClassVar

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.util.docutils import SphinxDirective

PLACE = "_made"
"""Folder of the site for what the blocks made."""


class Page:
    """What the blocks of one page share."""

    def __init__(self, env: BuildEnvironment) -> None:
        self.name = env.docname.replace("/", "-")
        self.folder = Path(env.app.doctreedir).parent / "runs" / self.name
        self.shown = Path(env.app.outdir) / PLACE / self.name
        for folder in (self.folder, self.shown):
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir(parents=True)
        self.root = "../" * env.docname.count("/") + f"{PLACE}/{self.name}"
        self.scope: dict[str, Any] = {"__name__": "__docs__"}
        self.figures = 0
        self.blocks = 0

    @classmethod
    def of(cls, env: BuildEnvironment) -> Page:
        """That of the page which is being read."""
        pages: dict[str, Page] = env.temp_data.setdefault("executed", {})
        return pages.setdefault(env.docname, cls(env)) if env.docname not in pages else pages[env.docname]

    def registered(self, text: str) -> str:
        """A file name under which the source of a block is found: the loop language reads that of its functions."""
        self.blocks += 1
        name = f"<{self.name} block {self.blocks}>"
        linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
        return name

    @contextlib.contextmanager
    def inside(self) -> Iterator[io.StringIO]:
        """In its folder, with what is printed collected."""
        before, said = Path.cwd(), io.StringIO()
        os.chdir(self.folder)
        try:
            with contextlib.redirect_stdout(said), warnings.catch_warnings():
                warnings.simplefilter("default")
                yield said
        finally:
            os.chdir(before)


class Block(SphinxDirective):
    """What the two kinds of blocks have in common."""

    has_content = True
    language = "python"
    option_spec: ClassVar[dict[str, Any]] = {
        "show": directives.unchanged,
        "alt": directives.unchanged,
        "height": directives.positive_int,
        "quiet": directives.flag,
        "hidden": directives.flag,
        "raises": directives.flag,
        "lines": directives.positive_int,
    }

    def run(self) -> list[nodes.Node]:
        text = "\n".join(self.content)
        page = Page.of(self.env)
        with page.inside() as said:
            pictures = self.execute(page, text)
        result: list[nodes.Node] = []
        if "hidden" not in self.options:
            result.append(nodes.literal_block(text, text, language=self.language, classes=["run"]))
        printed = said.getvalue().rstrip()
        if printed and "quiet" not in self.options:
            lines = printed.splitlines()
            keep = self.options.get("lines", len(lines))
            printed = "\n".join([*lines[:keep], *(["..."] if len(lines) > keep else [])])
            classes = ["printed", "raised"] if "raises" in self.options else ["printed"]
            result.append(nodes.literal_block(printed, printed, language="text", classes=classes))
        wanted = [name.strip() for name in self.options.get("show", "").split(",") if name.strip()]
        result.extend(self.shown(page, name, "curves drawn by the block above") for name in pictures)
        result.extend(self.shown(page, name) for name in wanted)
        return result

    def execute(self, page: Page, text: str) -> list[str]:
        """Run the block; the pictures it made."""
        raise NotImplementedError

    def shown(self, page: Page, name: str, usual: str = "") -> nodes.raw:
        """A picture, or a page of its own in a frame."""
        source = page.folder / name
        if not source.is_file():
            raise self.error(f"the block did not write {name!r}")
        shutil.copyfile(source, page.shown / name)
        alt, where = escape(self.options.get("alt", usual), quote=True), f"{page.root}/{name}"
        if not alt:
            raise self.error(f"{name!r} needs words: give :alt:")
        if name.endswith(".html"):
            height = self.options.get("height", 520)
            html = (
                f'<iframe class="made" src="{where}" title="{alt}" height="{height}" loading="lazy"></iframe>'
            )
        else:
            html = f'<img class="made" src="{where}" alt="{alt}" loading="lazy">'
        return nodes.raw("", html, format="html")


class RunPython(Block):
    """A block of Python."""

    def execute(self, page: Page, text: str) -> list[str]:
        tree, source = ast.parse(text), page.registered(text)
        last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
        try:
            exec(compile(tree, source, "exec", dont_inherit=True), page.scope)
            value = None
            if last is not None:
                code = compile(ast.Expression(last.value), source, "eval", dont_inherit=True)
                value = eval(code, page.scope)
        except Exception as error:
            if "raises" in self.options:
                print(f"{type(error).__name__}: {error}")
                return []
            trace = traceback.format_exc(limit=-3)
            raise self.error(f"the block failed:\n{text}\n{trace}") from error
        if "raises" in self.options:
            raise self.error(f"the block should end in an error:\n{text}")
        if hasattr(value, "savefig"):
            page.figures += 1
            name = f"figure{page.figures}.svg"
            value.savefig(name)
            return [name]
        return []


class RunCommand(Block):
    """Commands of the command line, one a line."""

    language = "console"

    def execute(self, page: Page, text: str) -> list[str]:
        from bellcrank.cli import main

        for line in text.splitlines():
            words = shlex.split(line, comments=True)
            if not words:
                continue
            if words[0] != "bellcrank":
                raise self.error(f"{line!r} is no command of bellcrank")
            errors = io.StringIO()
            try:
                with contextlib.redirect_stderr(errors):
                    main(words[1:])
            except SystemExit as end:
                failed = bool(end.code)
                if failed != ("raises" in self.options):
                    raise self.error(f"{line}: exit status {end.code}\n{errors.getvalue()}") from end
                if failed:
                    print(errors.getvalue(), end="")
        return []


def setup(app: Sphinx) -> dict[str, Any]:
    logging.getLogger("skfem").setLevel(logging.WARNING)
    app.add_directive("run", RunPython)
    app.add_directive("command", RunCommand)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
