"""Files that are not there: one error wherever they are named, which says which file it is."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import bellcrank as bc
from bellcrank.elastic import Analysis, Material, read_mesh
from bellcrank.errors import MissingFile, ModelError
from bellcrank.files.mjcf import load_mjcf
from bellcrank.files.step import load_step
from bellcrank.files.urdf import load_urdf
from bellcrank.roads.crg import crg
from bellcrank.tyres import read_property_file


def body() -> bc.Body:
    return bc.System("one body").body("block", 1.0, (0.1, 0.1, 0.1))


@pytest.mark.parametrize(
    ("name", "read"),
    [
        ("model.yaml", bc.load),
        ("robot.urdf", load_urdf),
        ("robot.xml", load_mjcf),
        ("tyre.tir", read_property_file),
        ("road.crg", crg),
        ("part.step", load_step),
        ("part.stl", lambda path: body().mesh(path)),
        ("part.obj", lambda path: body().visual(path)),
        ("part.msh", lambda path: read_mesh(path, Material(1e9, poisson=0.3, density=1e3), Analysis.SOLID)),
    ],
)
def test_it_is_named(tmp_path: Path, name: str, read: Callable[[Any], object]) -> None:
    if name.endswith("step"):
        pytest.importorskip("OCP")
    path = tmp_path / name
    with pytest.raises(MissingFile, match=rf"{name}: there is no such file"):
        read(str(path))
    # Both of what scripts look out for.
    assert issubclass(MissingFile, ModelError)
    assert issubclass(MissingFile, FileNotFoundError)
