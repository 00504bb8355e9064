"""Files an MJCF model includes: from its own folder only, and not without end."""

from __future__ import annotations

from pathlib import Path

from bellcrank.files.beside import below, is_file
from bellcrank.files.elements import MAX_ELEMENTS, Element, parse_elements, read_bytes

MAX_FILES = 100


def included(root: Element, folder: Path, include_root: Path | None = None) -> Element:
    """The model with the contents of included files in the place of each <include>.

    include_root: The folder that is never left, `folder` where not given.
    """
    read: set[Path] = set()
    count = 0
    pending = [root]
    while pending:
        element = pending.pop()
        count += 1
        if count > MAX_ELEMENTS:
            raise element.error(f"the model has more than {MAX_ELEMENTS} elements with the files it includes")
        children: list[Element] = []
        queue = list(reversed(element.children))
        while queue:
            child = queue.pop()
            if child.tag == "include":
                queue.extend(reversed(_contents(child, folder, include_root or folder, read)))
            else:
                children.append(child)
        element.children = children
        pending.extend(reversed(children))
    return root


def _contents(include: Element, folder: Path, root: Path, read: set[Path]) -> list[Element]:
    name = include.needed("file")
    path = below(root, _from(root, folder, name))
    if path is None:
        raise include.error(
            f"{name!r} lies outside of the model's folder and is not read, for safety; to read it, name a folder above "
            "both: include_root=, --include-root"
        )
    if path in read:
        raise include.error(f"{name!r} is included twice")
    if len(read) >= MAX_FILES:
        raise include.error(f"the model includes more than {MAX_FILES} files")
    if not is_file(path):
        raise include.error(f"there is no file {name!r} to include")
    read.add(path)
    return parse_elements(read_bytes(path), str(path)).children


def _from(root: Path, folder: Path, name: str) -> str:
    """A name beside the model as seen from the folder that is never left; absolute ones stay, and are refused."""
    try:
        return str((folder.resolve() / name).resolve().relative_to(root.resolve()))
    except (OSError, RuntimeError, ValueError):
        return "/"
