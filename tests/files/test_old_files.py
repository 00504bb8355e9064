"""Model files of older versions: what became of their keys is told, and they run."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pytest
import yaml

from bellcrank.contact import ContactNote, Mesh, Sampled
from bellcrank.errors import ModelError
from bellcrank.files import ModelFileError, dumps, load, loads, schema
from bellcrank.files.packed import packed
from contact.test_sampled import on_sphere

MODEL = """
bellcrank: 1
name: old
gravity: [0, 0, -9.81]
bodies:
  ball: {{mass: 1.0, inertia: [0.004, 0.004, 0.004], at: [0, 0, 0.105]}}
  block: {{mass: 1.0, inertia: [0.005, 0.005, 0.005], at: [1, 0, 0.105]}}
joints:
  flight: {{kind: free, a: {{body: ground}}, b: {{body: ball}}}}
  fall: {{kind: free, a: {{body: ground}}, b: {{body: block}}}}
contacts:
  floor:
    a: {{kind: plane, body: ground}}
    b: {{kind: sampled, body: ball, points: "{points}", normals: "{normals}", rims: "{rims}"}}
    treatment: continuous
    stiffness: 1e6
    restitution: 0.3
    points: 2
  plate:
    a: {{kind: plane, body: ground}}
    b: {{kind: mesh, body: block, file: block.stl, scale: 1e-3, spacing: 0.01}}
    treatment: continuous
    young: 1e6
    restitution: 0.3
    points: 4
"""


def test_files_of_older_versions_load_with_notes_and_run(tmp_path: Path) -> None:
    trimesh = pytest.importorskip("trimesh")
    trimesh.creation.box((200.0, 200.0, 200.0)).export(tmp_path / "block.stl")
    u = on_sphere(400)
    text = MODEL.format(points=packed(0.1 * u), normals=packed(u), rims=packed(np.array([0.0, 1.0, 2.0])))
    path = tmp_path / "old.yaml"
    path.write_text(text, encoding="utf-8")
    with pytest.warns(ContactNote) as told:
        system = load(path)
    notes = [str(w.message) for w in told]
    for where, what in (
        ("floor", "points"),
        ("floor", "rims"),
        ("plate", "spacing"),
        ("plate", "points"),
    ):
        assert any(where in note and what in note and "older file" in note for note in notes), (where, what)
    ball, block = (system.forces[name].contact.b.shape for name in ("floor", "plate"))
    assert isinstance(ball, Sampled)
    assert isinstance(block, Mesh)
    # Saved again, nothing of it is left.
    with warnings.catch_warnings():
        warnings.simplefilter("error", ContactNote)
        loads(dumps(system))
    run = system.simulate(0.3, output=3)
    assert run["ball.position.z"][-1] == pytest.approx(0.1 - (9.81 / 1e6) ** (2.0 / 3.0), abs=5e-4)
    assert run["block.position.z"][-1] == pytest.approx(0.1, abs=1e-3)


SLAB = """
bellcrank: 1
name: old
gravity: [0, 0, -9.81]
bodies:
  block: {{mass: 1.0, inertia: [0.005, 0.005, 0.005], at: [0, 0, 0.1005]}}
joints:
  fall: {{kind: free, a: {{body: ground}}, b: {{body: block}}}}
contacts:
  plate:
    a: {{kind: plane, body: ground}}
    b: {{kind: mesh, body: block, file: block.stl, scale: 1e-3}}
    treatment: continuous
    law: {law}
    stiffness: 1e6
    {more}
"""


def test_a_mesh_of_an_older_file_touches_by_its_field(tmp_path: Path) -> None:
    """A force at one point would let a face tilt; the old stiffness becomes the modulus of a ball of that size."""
    trimesh = pytest.importorskip("trimesh")
    trimesh.creation.box((200.0, 200.0, 200.0)).export(tmp_path / "block.stl")
    path = tmp_path / "old.yaml"
    path.write_text(SLAB.format(law="calibrated", more="exponent: 1.5\n    restitution: 0.3"))
    with pytest.warns(ContactNote, match="touched at one point.*modulus of 2.37e\\+06 Pa"):
        system = load(path)
    assert type(system.forces["plate"]).__name__ == "FieldContact"
    run = system.simulate(0.2, output=2)
    flat = 9.81 / (1.69 * 0.75 * 1e6 / 0.1**0.5 * (0.04 / np.pi) ** 0.5)
    assert run["block.position.z"][-1] == pytest.approx(0.1 - flat, abs=2e-6)
    assert np.abs(run["block.rotation"][-1] - np.eye(3)).max() < 1e-5
    path.write_text(SLAB.format(law="kelvin-voigt", more="damping: 10.0"))
    with pytest.raises(ModelError, match="give restitution"):
        load(path)


BLOCKS = """
bellcrank: 1
name: blocks
gravity: [0, 0, -9.81]
bodies:
  block: {mass: 1.0, inertia: [0.01, 0.01, 0.01], at: [0, 0, 0.2]}
joints:
  flight: {kind: free, a: ground, b: block}
contacts:
  pile:
    a: {kind: box, body: ground, half_lengths: [0.1, 0.1, 0.1]}
    b: {kind: box, body: block, half_lengths: [0.1, 0.1, 0.1]}
    treatment: continuous
    stiffness: 1e6
    restitution: 0.3
"""


def test_flat_sides_of_an_older_file_touch_by_their_fields() -> None:
    """Forces at their corners became one over the patch; the stiffness is that of a ball around the smaller body."""
    with pytest.warns(ContactNote, match=r"touched each other at some points.*modulus of 1.8e\+06 Pa"):
        system = loads(BLOCKS)
    assert type(system.forces["pile"]).__name__ == "FieldContact"
    assert system.simulate(0.3, output=2)["pile.normal_force"][-1] == pytest.approx(9.81, rel=1e-2)
    with pytest.raises(ModelError, match="give restitution"):
        loads(BLOCKS.replace("restitution: 0.3", "law: kelvin-voigt\n    damping: 10.0"))


PLACES = """
bellcrank: 1
name: old
bodies:
  part: {mass: 1.0, inertia: [1, 1, 1]}
contacts:
  touch:
    a: {kind: plane, body: ground, PLACE: [0, 0, -1]}
    b: {kind: union, body: part, PLACE: [0, 0.1, 0], parts: [{kind: sphere, radius: 0.1, PLACE: [0.2, 0, 0]}]}
    treatment: continuous
    young: 1e6
joints:
  flight: {kind: free, a: {body: ground, position: [0, 0, 0.5]}, b: part}
visuals:
  - {shape: {kind: sphere, body: part, radius: 0.1, PLACE: [0, 0, 0.3]}}
"""


def test_the_place_of_a_shape_has_the_name_it_has_in_python() -> None:
    """Older files call it position; saved again they say `at`. Of points, position is in the axes of the body."""
    jsonschema = pytest.importorskip("jsonschema")
    valid = jsonschema.Draft202012Validator(schema()).is_valid
    old, new = (PLACES.replace("PLACE", name) for name in ("position", "at"))
    system = loads(new)
    a, b = (system.forces["touch"].contact.a, system.forces["touch"].contact.b)
    assert a.frame.position == (0.0, 0.0, -1.0)
    assert b.frame.position == (0.0, 0.1, 0.0)
    assert list(b.shape.parts[0].at) == [0.2, 0.0, 0.0]
    assert system.bodies["part"].visuals[0].frame.position == (0.0, 0.0, 0.3)
    saved = dumps(system)
    assert dumps(loads(old)) == saved == dumps(loads(saved))
    assert saved.count("at: [") == 4
    assert saved.count("position: [") == 1
    assert valid(yaml.safe_load(old))
    assert valid(yaml.safe_load(new))
    for place in ("PLACE: [0, 0.1, 0]", "PLACE: [0.2, 0, 0]"):
        twice = PLACES.replace(place, f"at: [0, 0, 1], {place}").replace("PLACE", "position")
        assert not valid(yaml.safe_load(twice))
        with pytest.raises(ModelFileError, match="has both 'at' and 'position'") as caught:
            loads(twice, "old.yaml")
        assert caught.value.line == PLACES.split(place)[0].count("\n") + 1
