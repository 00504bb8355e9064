"""Files that a model file names: in its own folder or below, of a known kind and a bounded size."""

from __future__ import annotations

from pathlib import Path

from bellcrank.files.documents import Node
from bellcrank.files.fields import word

MAX_MESH_BYTES = 256 * 2**20


def below(folder: Path, name: str) -> Path | None:
    """The place in a folder that a relative name leads to; None where it leads outside, or nowhere at all."""
    try:
        home = folder.resolve()
        path = (home / name).resolve()
    except (OSError, RuntimeError, ValueError):
        # Names with zeros in them, loops of links.
        return None
    inside = not Path(name).is_absolute() and "\\" not in name and path.is_relative_to(home)
    return path if inside else None


def is_file(path: Path) -> bool:
    """Whether there is a file; not under a name that is too long for one."""
    try:
        return path.is_file()
    except OSError:
        return False


def file_beside(folder: Path | None, node: Node, what: str, kinds: tuple[str, ...]) -> Path:
    """The file that a value names; folder: where the model lies, None for a text, which has nothing beside it."""
    name = word(node, what)
    if folder is None:
        raise node.error(
            f"{what} names the file {name!r}, which only a model file on disk can have beside it"
        )
    path = below(folder, name)
    if path is None:
        raise node.error(f"{what} must be a file in the model's folder or below it, not {name!r}")
    if path.suffix.lower() not in kinds:
        raise node.error(f"{what} is {name!r}; files of these kinds are read: {', '.join(kinds)}")
    if not is_file(path):
        raise node.error(f"{what}: there is no file {name!r} beside the model")
    if path.stat().st_size > MAX_MESH_BYTES:
        raise node.error(f"{what}: {name!r} is larger than {MAX_MESH_BYTES >> 20} MiB")
    if includes(path):
        raise node.error(f"{what}: {path.name} includes other files; put everything into one")
    return path


def includes(path: Path) -> bool:
    """Whether a mesh file asks for other files, which could be any file of the reader's."""
    if path.suffix.lower() not in (".inp", ".nas", ".bdf", ".fem"):
        return False
    with path.open("rb") as file:
        return any(line.lstrip(b" \t*").lower().startswith(b"include") for line in file)
