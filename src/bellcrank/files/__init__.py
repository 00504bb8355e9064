"""Model files: the native format, YAML with expressions.

``load`` and ``save`` take paths, ``loads`` and ``dumps`` texts. The format is described by the JSON Schema
:func:`schema`; all numbers are in SI units, and any of them may be an expression of the file's parameters.
Files may come from strangers: reading one runs no code of its own, and opens no other files than meshes and matrices
of flexible members in the file's own folder or below it.
"""

from __future__ import annotations

from collections.abc import Mapping, MutableMapping
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bellcrank.base.whole_files import read_given
from bellcrank.files.documents import MAX_BYTES
from bellcrank.files.places import ModelFileError

if TYPE_CHECKING:
    from bellcrank.flexible.member import FlexibleMember
    from bellcrank.model.system import System

__all__ = ["ModelFileError", "dumps", "load", "loads", "save", "schema"]

HDF5 = b"\x89HDF"
"""How files of results begin."""


def load(path: str | PathLike[str]) -> System:
    """The system a model file describes."""
    return loads(read_text(path), str(path), Path(path).parent)


def read_text(path: str | PathLike[str]) -> str:
    """The text of a file, which must be UTF-8 and of a reasonable size."""
    name = str(path)
    data = read_given(path, MAX_BYTES)
    if data.startswith(HDF5):
        raise ModelFileError("this is no model file; load_result reads results", name, 1, 1)
    if len(data) > MAX_BYTES:
        raise ModelFileError(f"the file is larger than {MAX_BYTES // 2**20} MiB", name, 1, 1)
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise ModelFileError("the file is not UTF-8 text", name, line, 1) from error


def loads(
    text: str,
    name: str = "model",
    folder: str | PathLike[str] | None = None,
    stored: Mapping[str, FlexibleMember] | None = None,
) -> System:
    """The system a text in the format of model files describes; `name` is what errors call the text.

    folder: Where meshes of flexible members may lie; without one none is read. stored: Flexible members by body,
    where the text leaves their numbers out.
    """
    from bellcrank.files.reading import read_system

    return read_system(text, name, None if folder is None else Path(folder), stored)


def save(system: System, path: str | PathLike[str]) -> None:
    """Write a system into a model file, without loss; functions are written as expressions.

    Mesh files of shapes and of flexible members stay files of their own where they lie in the new file's folder or
    below it; otherwise the triangles, or the member's reduced numbers, are written.
    """
    Path(path).write_text(dumps(system, Path(path).parent), encoding="utf-8")


def dumps(
    system: System,
    folder: str | PathLike[str] | None = None,
    stored: MutableMapping[str, FlexibleMember] | None = None,
) -> str:
    """The text of a model file that describes the system.

    folder: Where the text will lie: meshes there or below are named, not written. stored: Takes the flexible members
    by body, whose numbers the text then leaves out.
    """
    from bellcrank.files.writing import write_system

    return write_system(system, None if folder is None else Path(folder), stored)


def schema() -> dict[str, Any]:
    """The JSON Schema of the format (draft 2020-12)."""
    from bellcrank.files import layout

    return layout.schema()
