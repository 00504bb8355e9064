"""Mathematics as MathML, made when the site is built: browsers draw it themselves, without scripts."""

from __future__ import annotations

from typing import Any

import latex2mathml.converter
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.errors import ExtensionError


def mathml(latex: str, display: str) -> str:
    """One formula."""
    try:
        return latex2mathml.converter.convert(latex.strip(), display=display)
    except Exception as error:
        raise ExtensionError(f"no MathML for {latex!r}: {error!r}") from error


def _inline(self: Any, node: nodes.math) -> None:
    self.body.append(mathml(node.astext(), "inline"))
    raise nodes.SkipNode


def _block(self: Any, node: nodes.math_block) -> None:
    self.body.append(f'<div class="formula">{mathml(node.astext(), "block")}</div>\n')
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_html_math_renderer("mathml", (_inline, None), (_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
