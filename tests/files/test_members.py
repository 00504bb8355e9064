"""Flexible members in model files: every option read, written and read again; what must be refused."""

from __future__ import annotations

import base64
import re
import zlib
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pytest
import yaml

import bellcrank as bc
from bellcrank.files import ModelFileError, dumps, load, loads, save, schema
from bellcrank.flexible import (
    STEEL,
    AttachmentModes,
    Box,
    Chord,
    Clamped,
    CraigBampton,
    GivenModes,
    MeanAxes,
    Member,
    NormalModes,
    Ratios,
    Rayleigh,
    Supports,
    Tapered,
    beam,
    circle,
    given_matrices,
    rectangle,
    solid,
    taper,
)
from bellcrank.flexible.beams import MAX_ELEMENTS
from bellcrank.result.header import start_pose
from bellcrank.result.storage import load_result
from bellcrank.verify import flexible_slider_crank as paper

VALIDATOR = jsonschema.Draft202012Validator(schema())
EXAMPLE = Path(__file__).parents[2] / "examples" / "flexible_slider_crank.yaml"


def numbers(member: Member) -> dict[str, np.ndarray]:
    """Every array of a member."""
    own = ("first_moment", "second_moment", "momentum", "coupling", "modal_coupling", "stiffness", "damping")
    more = ("shortening_momentum", "shortening_coupling", "frequencies")
    found = {name: getattr(member, name) for name in (*own, *more)}
    for node in member.nodes.values():
        parts = ("position", "translation", "rotation", "shortening")
        found |= {f"{node.name} {part}": getattr(node, part) for part in parts}
    for field in member.fields.values():
        found |= {f"{field.name} {part}": getattr(field, part) for part in ("points", "values", "cells")}
    residuals = {f"residual {name}": x for name, x in member.truncation.static_residual.items()}
    return found | residuals | {"effective mass": member.truncation.effective_mass}


def assert_same(a: Member, b: Member) -> None:
    assert (a.name, a.mass, a.modes) == (b.name, b.mass, b.modes)
    first, second = numbers(a), numbers(b)
    assert first.keys() == second.keys()
    for name, values in first.items():
        np.testing.assert_array_equal(values, second[name], err_msg=name)


def holding(member: Member, node: str = "start") -> bc.System:
    system = bc.System("one body")
    body = system.flexible_body("part", member, at=(0.1, 0.0, 0.2), angle=0.3)
    system.revolute("hinge", system.ground.point(0.1, 0.0, 0.2), body.node(node), axis="z")
    return system


BAR = {"length": 0.8, "section": rectangle(0.02, 0.03), "material": STEEL, "elements": 5}
MEMBERS = {
    "plain": beam("part", **BAR).reduce(NormalModes(3)),
    "every option": beam(
        "bar", 0.8, replace(circle(0.02, offset=(0.001, 0.002)), product=1e-10), STEEL, [0, 0.3, 0.7, 1],
        theory="timoshenko", mass="lumped", rotary_inertia=False, start=-0.1,
        points={"a third": 0.8 / 3}, check_units=False,
    ).reduce(NormalModes(up_to=2000.0), Clamped("start"), Ratios(0.01), stiffening=False),
    "tapered": beam("part", 0.8, taper(circle, 0.03, 0.01, 0.8), STEEL, 4, planar=True).reduce(
        NormalModes(along={"y": 2, "x": 1}), Chord("start", "end"), Rayleigh(0.1, 1e-5)
    ),
    "tapered box": beam(
        "part", 0.8, Tapered("rectangle", {"height": (0.03, 0.02), "width": (0.02, 0.02)}, 0.8), STEEL, 4
    ).reduce(NormalModes(2, boundary=Supports({"start": "x y z rx", "end": "y z"})), MeanAxes()),
    "Craig-Bampton": beam("part", **BAR).reduce(CraigBampton(["start", "end"], 2), Clamped("start")),
    "attachment": beam("part", **BAR).reduce(
        AttachmentModes({"end": "y z"}, 1), Clamped("start"), Ratios([0.01, 0.02, 0.03])
    ),
    "given shapes": beam("part", **BAR).reduce(GivenModes(np.eye(36)[:, 6:9]), Clamped("start")),
    "any profile": beam("part", 0.8, lambda x: circle(0.02 + 0.01 * x * x), STEEL, 4).reduce(NormalModes(2)),
}  # fmt: skip


@pytest.mark.parametrize("name", MEMBERS)
def test_members_come_back_bit_for_bit(name: str) -> None:
    system = holding(MEMBERS[name])
    text = dumps(system)
    VALIDATOR.validate(yaml.safe_load(text))
    again = loads(text)
    assert_same(again.bodies["part"].member, MEMBERS[name])
    assert dumps(again) == text
    for side in ("a", "b"):
        assert getattr(again.joints["hinge"], side).position == getattr(system.joints["hinge"], side).position


def test_a_recipe_is_written_where_there_is_one() -> None:
    for name, member in MEMBERS.items():
        said = yaml.safe_load(dumps(holding(member)))["bodies"]["part"]["flexible"]["kind"]
        assert said == ("numbers" if name in ("given shapes", "any profile") else "beam")


@pytest.mark.parametrize("elements", [MAX_ELEMENTS + 1, list(np.linspace(0, 1, MAX_ELEMENTS + 2))])
def test_beams_of_many_elements_are_written_by_their_numbers(elements: Any) -> None:
    member = MEMBERS["plain"]
    assert member.recipe is not None
    many = replace(member.recipe.model, given={**member.recipe.model.given, "elements": elements})
    text = dumps(holding(replace(member, recipe=replace(member.recipe, model=many))))
    assert "kind: numbers" in text
    assert_same(loads(text).bodies["part"].member, member)


def test_members_by_their_matrices() -> None:
    made = beam("part", **BAR | {"elements": 3})
    x = np.column_stack([np.linspace(0, 0.8, 4), np.zeros((4, 2))])
    model = given_matrices(
        "part", made.mass_matrix, made.stiffness_matrix, x, "x y z rx ry rz", {"start": 0, "end": 3}
    )
    member = model.reduce(NormalModes(3), Clamped("start"))
    text = dumps(holding(member))
    VALIDATOR.validate(yaml.safe_load(text))
    assert yaml.safe_load(text)["bodies"]["part"]["flexible"]["nodes"] == {"start": 0, "end": 3}
    assert_same(loads(text).bodies["part"].member, member)


def test_matrices_in_files_beside_the_model(tmp_path: Path) -> None:
    from scipy.io import mmwrite

    made = beam("part", **BAR | {"elements": 3})
    x = np.column_stack([np.linspace(0, 0.8, 4), np.zeros((4, 2))])
    direct = given_matrices("part", made.mass_matrix, made.stiffness_matrix, x, "x y z rx ry rz").reduce(
        NormalModes(2)
    )
    text = dumps(holding(direct, "node 0"))
    document = yaml.safe_load(text)
    entry = document["bodies"]["part"]["flexible"]
    np.save(tmp_path / "mass.npy", np.array(entry["mass_matrix"], dtype=float))
    mmwrite(tmp_path / "stiffness.mtx", np.array(entry["stiffness_matrix"], dtype=float), precision=17)
    entry |= {"mass_matrix": "mass.npy", "stiffness_matrix": "stiffness.mtx"}
    (tmp_path / "model.yaml").write_text(yaml.safe_dump(document, sort_keys=False))
    assert_same(load(tmp_path / "model.yaml").bodies["part"].member, direct)
    np.save(tmp_path / "mass.npy", np.array([{"code": 1}], dtype=object))
    with pytest.raises(ModelFileError, match="cannot be read"):
        load(tmp_path / "model.yaml")


def brick(folder: Path, name: str = "brick.vtk") -> Path:
    """A bar of 4 x 1 x 1 hexahedra, 0.4 x 0.1 x 0.1 m."""
    import meshio
    from skfem import MeshHex

    mesh = MeshHex.init_tensor(np.linspace(0, 0.4, 5), np.linspace(0, 0.1, 2), np.linspace(0, 0.1, 2))
    points = mesh.p.T
    cells = np.array([_ordered(points, c) for c in mesh.t.T])
    meshio.write(folder / name, meshio.Mesh(points, [("hexahedron", cells)]))
    return folder / name


def _ordered(points: np.ndarray, cell: np.ndarray) -> np.ndarray:
    """The corners of an axis-parallel brick in the usual order."""
    p = points[cell]
    half = p.mean(axis=0)
    signs = [tuple(row) for row in (p > half).astype(int)]
    usual = [(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0), (0, 0, 1), (1, 0, 1), (1, 1, 1), (0, 1, 1)]
    return np.array([cell[signs.index(one)] for one in usual])


def solid_member(mesh: Path) -> Member:
    ends = {
        "start": Box((0.0, 0.0, 0.0), (0.0, 0.1, 0.1)),
        "end": Box((0.4, 0.0, 0.0), (0.4, 0.1, 0.1)),
        "corner": np.array([0.4, 0.1, 0.1]),
    }
    model = solid("part", mesh, STEEL, ends, order=2, rigid=("start",))
    return model.reduce(NormalModes(2), Clamped("start"), Ratios(0.02))


def test_solids_keep_their_mesh_beside_the_model(tmp_path: Path) -> None:
    (tmp_path / "meshes").mkdir()
    member = solid_member(brick(tmp_path / "meshes"))
    save(holding(member), tmp_path / "model.yaml")
    text = (tmp_path / "model.yaml").read_text()
    assert "mesh: meshes/brick.vtk" in text
    VALIDATOR.validate(yaml.safe_load(text))
    assert_same(load(tmp_path / "model.yaml").bodies["part"].member, member)
    # Elsewhere the mesh is not at hand, and the member's numbers are written.
    other = tmp_path / "other"
    other.mkdir()
    save(holding(member), other / "model.yaml")
    assert_same(load(other / "model.yaml").bodies["part"].member, member)


SOLID = """
bellcrank: 1
name: part
bodies:
  part:
    flexible:
      kind: solid
      mesh: {}
      material: {{young: 210e9, density: 7850}}
      interfaces: {{start: {{box: [[0, 0, 0], [0, 0.1, 0.1]]}}}}
      modes: {{count: 1}}
joints:
  loose: {{kind: free, a: ground, b: {{body: part, node: start}}}}
"""


@pytest.mark.parametrize(
    "path", ["../brick.vtk", "/etc/passwd", "link.vtk", "a/../../brick.vtk", "..\\brick.vtk"]
)
def test_meshes_outside_the_folder_are_refused(tmp_path: Path, path: str) -> None:
    brick(tmp_path)
    folder = tmp_path / "models"
    folder.mkdir()
    (folder / "link.vtk").symlink_to(tmp_path / "brick.vtk")
    (folder / "model.yaml").write_text(SOLID.format(f"'{path}'"))
    with pytest.raises(ModelFileError, match="in the model's folder or below"):
        load(folder / "model.yaml")


def test_other_meshes_that_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = tmp_path / "model.yaml"

    def refused(mesh: str, match: str) -> None:
        model.write_text(SOLID.format(mesh))
        with pytest.raises(ModelFileError, match=match):
            load(model)

    refused("none.vtk", "no file 'none.vtk' beside")
    (tmp_path / "part.xdmf").write_text("<Xdmf/>")
    refused("part.xdmf", "files of these kinds are read")
    (tmp_path / "part.inp").write_text("*NODE\n*INCLUDE, INPUT=/etc/passwd\n")
    refused("part.inp", "includes other files")
    (tmp_path / "part.msh").write_text("nonsense")
    refused("part.msh", "cannot read 'part.msh'")
    brick(tmp_path)
    monkeypatch.setattr("bellcrank.files.beside.MAX_MESH_BYTES", 100)
    refused("brick.vtk", "larger than")
    with pytest.raises(ModelFileError, match="only a model file on disk"):
        loads(SOLID.format("brick.vtk"))


BEAM = EXAMPLE.read_text()


@pytest.mark.parametrize(
    ("before", "after", "match"),
    [
        ("kind: beam", "kind: shell", "kind of flexible member of 'rod' is 'shell'; choose from beam"),
        ("length: rod_length", "length: -1", "length of beam 'rod' must be positive"),
        ("diameter: 0.0064", "diameter: 0", "diameter must be positive"),
        ("diameter: 0.0064", "width: 0.0064", "no key 'width'"),
        ("young: 200e9", "young: 200", "Young's modulus of 'rod' is 200 Pa"),
        (", density: 7830", "", "needs 'density'"),
        ("elements: 10", "elements: 1e9", "whole number from 1 to 500"),
        ("elements: 10", "elements: 2.5", "whole number"),
        ("along: {y: 5}", "count: 100000", "whole number from 0 to 500"),
        ("along: {y: 5}", "along: {y: 5}, count: 2", "exactly one"),
        ("first: start", "first: begin", "no node of 'rod' named 'begin'"),
        ("node: start", "node: begin", "no node of member 'rod' named 'begin'"),
        ("node: start", "node: start, position: [0, 0, 0]", "placed twice"),
        ("at: [crank_length, 0, 0]\n", "mass: 1\n", "follows from its flexible member"),
        ("      material: {", "      matter: {", "no key 'matter'"),
    ],
)
def test_mistakes_are_named_where_they_are(before: str, after: str, match: str) -> None:
    assert before in BEAM
    with pytest.raises(ModelFileError, match=match) as caught:
        loads(BEAM.replace(before, after, 1), "rod.yaml")
    assert re.match(r"rod.yaml:\d+:\d+: ", str(caught.value))


def test_numbers_of_members_are_plain() -> None:
    text = BEAM.replace("definitions:", "parameters: {size: 0.0064}\ndefinitions:")
    with pytest.raises(ModelFileError, match="must be a plain number"):
        loads(text.replace("diameter: 0.0064", "diameter: size"))


def spoiled(data: bytes) -> str:
    system = holding(MEMBERS["given shapes"])
    text = dumps(system)
    return re.sub("data: .*", f"data: {base64.b64encode(data).decode()}", text)


def test_spoiled_numbers_are_refused() -> None:
    good = base64.b64decode(re.search("data: (.*)", dumps(holding(MEMBERS["given shapes"])))[1])  # type: ignore[index]
    plain = zlib.decompress(good)
    for data in (b"", b"nonsense", good[: len(good) // 2], zlib.compress(plain[: len(plain) // 2])):
        with pytest.raises(ModelFileError, match="cannot be read"):
            loads(spoiled(data))
    with pytest.raises(ModelFileError, match="not base64"):
        loads(re.sub("data: .*", "data: '?'", dumps(holding(MEMBERS["given shapes"]))))


def test_the_example_is_the_case_of_the_verification_manual() -> None:
    direct = paper.mechanism(paper.rod(10, bending=5, stiffening=True))
    again = load(EXAMPLE)
    assert_same(again.bodies["rod"].member, direct.bodies["rod"].member)
    assert dumps(again) == dumps(direct)


def test_results_with_flexible_bodies_are_saved_and_loaded(tmp_path: Path) -> None:
    for system in (load(EXAMPLE), holding(MEMBERS["given shapes"])):
        run = system.simulate(0.002, output=5)
        run.save(tmp_path / "run.h5")
        again = load_result(tmp_path / "run.h5")
        name = next(n for n, b in system.bodies.items() if b.member is not None)
        np.testing.assert_array_equal(again.q, run.q)
        for quantity in ("end.position", "end.stress", "strain_energy"):
            np.testing.assert_array_equal(again[f"{name}.{quantity}"], run[f"{name}.{quantity}"])
        np.testing.assert_array_equal(again.field(name, "stress"), run.field(name, "stress"))


def test_the_start_of_a_saved_run_can_be_found_again() -> None:
    """What `initial` would say of a start, for runs whose model is drawn elsewhere, holds the modes too."""
    system = load(EXAMPLE)
    mechanism = system.mechanism(initial={"rod": {"mode 1": 1e-3, "mode 3": -2e-4}})
    pose = start_pose(system, {}, mechanism.start)
    assert pose["rod"]["mode 1"] == pytest.approx(1e-3)
    again = system.mechanism(initial=pose)
    np.testing.assert_allclose(again.start.q, mechanism.start.q, atol=1e-12)


def test_a_region_the_mesh_does_not_have_is_named(tmp_path: Path) -> None:
    text = SOLID.format("brick.vtk").replace(
        "{young: 210e9, density: 7850}", "{core: {young: 210e9, density: 7850}}"
    )
    brick(tmp_path)
    (tmp_path / "model.yaml").write_text(text)
    with pytest.raises(ModelFileError, match="core"):
        load(tmp_path / "model.yaml")
