"""Contact shapes of model files that lie in mesh files beside them."""

from pathlib import Path

import numpy as np
import pytest

from bellcrank.errors import ModelError
from bellcrank.files import dumps, load, loads

trimesh = pytest.importorskip("trimesh")

MODEL = """
bellcrank: 1
name: part
gravity: [0, 0, -9.81]
bodies:
  part: {mass: 1.0, inertia: [0.005, 0.005, 0.005], at: [0, 0, 0.12]}
joints:
  flight: {kind: free, a: {body: ground}, b: {body: part}}
contacts:
  floor:
    a: {kind: plane, body: ground}
    b: {kind: mesh, body: part, file: FILE, scale: 1e-3}
    treatment: continuous
    young: 1e6
    restitution: 0.3
"""


def write(folder: Path, file: str = "part.stl") -> Path:
    trimesh.creation.box((200.0, 200.0, 200.0)).export(folder / "part.stl")
    model = folder / "model.yaml"
    model.write_text(MODEL.replace("FILE", file), encoding="utf-8")
    return model


def test_a_mesh_beside_the_model_is_taken_in_its_scale(tmp_path: Path) -> None:
    system = load(write(tmp_path))
    surface = system.forces["floor"].contact.b.shape
    assert np.abs(surface.vertices).max() == pytest.approx(0.1)
    # Written back it needs no other file.
    again = loads(dumps(system))
    np.testing.assert_array_equal(again.forces["floor"].contact.b.shape.vertices, surface.vertices)
    result = system.simulate(0.3, output=3)
    assert result["part.position.z"][-1] == pytest.approx(0.1, abs=1e-3)


@pytest.mark.parametrize(
    ("file", "why"),
    [
        ("../part.stl", "must be a file in the model's folder or below it"),
        ("/etc/passwd", "must be a file in the model's folder or below it"),
        ("part.py", "files of these kinds are read: .stl, .obj, .ply"),
        ("other.stl", "there is no file 'other.stl' beside the model"),
    ],
)
def test_other_files_are_refused(tmp_path: Path, file: str, why: str) -> None:
    with pytest.raises(ModelError, match=why):
        load(write(tmp_path, file))


def test_a_text_has_no_files_beside_it() -> None:
    with pytest.raises(ModelError, match="only a model file on disk can have beside it"):
        loads(MODEL.replace("FILE", "part.stl"))


def test_what_is_no_mesh_is_told(tmp_path: Path) -> None:
    model = write(tmp_path)
    (tmp_path / "part.stl").write_text("nothing of the kind", encoding="utf-8")
    with pytest.raises(ModelError, match=r"part\.stl"):
        load(model)
