"""How the site is built: strictly, without the network, with every block of code run."""

from __future__ import annotations

import gc
import os
import sys
from pathlib import Path

# Pages and traced programs are many small objects that stay: looking for garbage less often makes the build shorter.
gc.set_threshold(50_000, 20, 20)
# Binaries of FMUs on the pages are run for a second at most: optimising them takes longer.
os.environ.setdefault("CFLAGS", "-O0")
HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "extensions"))
sys.path.insert(0, str(HERE.parent / "src"))

from sphinx.pycode.parser import Parser  # noqa: E402

import bellcrank  # noqa: E402

# Where each definition begins and ends serves pages with source code alone, which there are none of; finding it takes
# a third of the time of the reference.
Parser.parse_definition = lambda self: None  # type: ignore[method-assign]

project = "Bellcrank"
author = "the authors of Bellcrank"
copyright = "the authors of Bellcrank; BSD-3-Clause"
version = release = bellcrank.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx_design",
    "sphinx_copybutton",
    "docstrings",
    "equations",
    "executed",
    "extras",
    "gallery",
    "manual",
    "mathml",
    "model_keys",
    "packages",
]
exclude_patterns = ["_build", "extensions", "_static"]
myst_enable_extensions = ["dollarmath", "amsmath", "colon_fence", "deflist", "attrs_inline"]
myst_heading_anchors = 3
default_role = "literal"
# Pages in Markdown have plain quotes; so do those of the reference.
smartquotes = False

# A name that leads nowhere is an error. Types in signatures may be those of other packages.
nitpicky = True
nitpick_ignore_regex = [("py:class", ".*")]

autodoc_member_order = "bysource"
autodoc_typehints_format = "short"
autodoc_class_signature = "separated"
python_use_unqualified_type_names = True
python_maximum_signature_line_length = 90
add_module_names = False
# The contents of a page are its modules, not each of their members: the tree would be copied for every page.
toc_object_entries = False

html_theme = "furo"
html_title = "Bellcrank"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_math_renderer = "mathml"
html_copy_source = False
html_show_sourcelink = False
html_show_sphinx = False
copybutton_exclude = ".linenos, .gp, .go"
