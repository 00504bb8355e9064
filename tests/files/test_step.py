"""STEP assemblies made with the library that reads them: masses, moments, names, proposed joints, damage."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bellcrank import files
from bellcrank.errors import ModelError
from bellcrank.files.step import Assembly, load_step
from cli.conftest import Call, call  # noqa: F401

pytest.importorskip("OCP", reason="STEP files need pip install 'bellcrank[cad]'")

from OCP.BRepAlgoAPI import BRepAlgoAPI_Cut, BRepAlgoAPI_Fuse
from OCP.BRepPrimAPI import BRepPrimAPI_MakeBox, BRepPrimAPI_MakeCylinder, BRepPrimAPI_MakeSphere
from OCP.gp import gp_Ax1, gp_Ax2, gp_Dir, gp_Pnt, gp_Trsf, gp_Vec
from OCP.STEPCAFControl import STEPCAFControl_Writer
from OCP.TCollection import TCollection_ExtendedString, TCollection_HAsciiString
from OCP.TDataStd import TDataStd_Name
from OCP.TDocStd import TDocStd_Document
from OCP.TopLoc import TopLoc_Location
from OCP.XCAFDoc import XCAFDoc_DocumentTool

STEEL = 7850.0


def box(corner: Any, *sizes: float) -> Any:
    return BRepPrimAPI_MakeBox(gp_Pnt(*corner), *sizes).Shape()


def rod(foot: Any, radius: float, height: float, axis: Any = (0, 0, 1)) -> Any:
    return BRepPrimAPI_MakeCylinder(gp_Ax2(gp_Pnt(*foot), gp_Dir(*axis)), radius, height).Shape()


def ball(centre: Any, radius: float) -> Any:
    return BRepPrimAPI_MakeSphere(gp_Pnt(*centre), radius).Shape()


def fused(first: Any, *more: Any) -> Any:
    for shape in more:
        first = BRepAlgoAPI_Fuse(first, shape).Shape()
    return first


def cut(first: Any, *more: Any) -> Any:
    for shape in more:
        first = BRepAlgoAPI_Cut(first, shape).Shape()
    return first


def place(x: float = 0.0, y: float = 0.0, z: float = 0.0, angle: float = 0.0) -> Any:
    turned, moved = gp_Trsf(), gp_Trsf()
    turned.SetRotation(gp_Ax1(gp_Pnt(0, 0, 0), gp_Dir(0, 0, 1)), angle)
    moved.SetTranslation(gp_Vec(x, y, z))
    return TopLoc_Location(moved.Multiplied(turned))


class Drawing:
    """An assembly in the making, in millimetres."""

    def __init__(self) -> None:
        self.document = TDocStd_Document(TCollection_ExtendedString("drawing"))
        self.shapes = XCAFDoc_DocumentTool.ShapeTool_s(self.document.Main())
        self.top = self.assembly("machine")

    def assembly(self, name: str) -> Any:
        label = self.shapes.NewShape()
        TDataStd_Name.Set_s(label, TCollection_ExtendedString(name))
        return label

    def part(self, name: str, shape: Any) -> Any:
        label = self.shapes.AddShape(shape, False)
        TDataStd_Name.Set_s(label, TCollection_ExtendedString(name))
        return label

    def put(self, label: Any, where: Any, name: str = "", into: Any = None) -> None:
        component = self.shapes.AddComponent(into or self.top, label, where)
        if name:
            TDataStd_Name.Set_s(component, TCollection_ExtendedString(name))

    def density(self, label: Any, value: float) -> None:
        words = [TCollection_HAsciiString(w) for w in ("metal", "", "density", "POSITIVE_RATIO_MEASURE")]
        tool = XCAFDoc_DocumentTool.MaterialTool_s(self.document.Main())
        tool.SetMaterial(label, words[0], words[1], value, words[2], words[3])

    def written(self, path: Path) -> Path:
        self.shapes.UpdateAssemblies()
        writer = STEPCAFControl_Writer()
        assert writer.Transfer(self.document)
        writer.Write(str(path))
        return path


CRANK, ROD, ROCKER, BASE = 60.0, 200.0, 160.0, 200.0


def four_bar() -> tuple[float, float, float]:
    """Angles of crank, rod and rocker in the drawing, from the law of cosines [rad]."""
    angle = 1.0
    tip = CRANK * np.array([math.cos(angle), math.sin(angle)])
    to = np.array([BASE, 0.0]) - tip
    d = float(np.hypot(*to))
    inner = math.acos((ROD**2 + d**2 - ROCKER**2) / (2 * ROD * d))
    rod_angle = math.atan2(to[1], to[0]) + inner
    pin = tip + ROD * np.array([math.cos(rod_angle), math.sin(rod_angle)])
    return angle, rod_angle, math.atan2(pin[1], pin[0] - BASE)


@pytest.fixture(scope="module")
def linkage(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Assembly]:
    """A four-bar linkage: base with pins, crank and rocker in an assembly of their own, rod above."""
    drawing = Drawing()
    a, b, c = four_bar()
    base = fused(box((-20, -20, 0), 240, 40, 10), rod((0, 0, 10), 5, 10), rod((BASE, 0, 10), 5, 10))
    label = drawing.part("base", base)
    drawing.density(label, 7200.0)
    drawing.put(label, place(), "base")
    arms = drawing.assembly("arms")
    for name, length, at, angle in (("crank", CRANK, 0.0, a), ("rocker", ROCKER, BASE, c)):
        bar = fused(box((-10, -10, 0), length + 20, 20, 10), rod((length, 0, 10), 4, 10))
        drawing.put(drawing.part(name, cut(bar, rod((0, 0, -1), 5, 20))), place(at, 0, 10, angle), name, arms)
    drawing.put(arms, place())
    bar = cut(box((-10, -10, 0), ROD + 20, 20, 10), rod((0, 0, -1), 4.1, 20), rod((ROD, 0, -1), 4.1, 20))
    tip = CRANK * math.cos(a), CRANK * math.sin(a)
    drawing.put(drawing.part("rod", bar), place(*tip, 20, b), "rod")
    path = drawing.written(tmp_path_factory.mktemp("cad") / "linkage.step")
    return path, load_step(path)


def test_masses_centres_and_moments(linkage: tuple[Path, Assembly]) -> None:
    _, assembly = linkage
    system = assembly.system("steel")
    assert list(system.bodies) == ["base", "crank", "rocker", "rod"]
    assert assembly.part("crank").assembly == ("machine", "arms")
    plate, pin = 240 * 40 * 10e-9, math.pi * 25 * 10e-9
    assert system.bodies["base"].mass == pytest.approx(7200.0 * (plate + 2 * pin), rel=1e-9)
    # The rod about its centre, by the moments of a box less those of two cylinders.
    holes, a = math.pi * 4.1**2 * 10e-9, ROD / 2 * 1e-3
    body = system.bodies["rod"]
    bar = 220 * 20 * 10e-9
    assert body.mass == pytest.approx(STEEL * (bar - 2 * holes), rel=1e-9)
    np.testing.assert_allclose(body.center_of_mass, (a, 0.0, 5e-3), atol=1e-12)
    zz = bar * (0.22**2 + 0.02**2) / 12 - 2 * holes * (4.1e-3**2 / 2 + a**2)
    yy = bar * (0.22**2 + 0.01**2) / 12 - 2 * holes * ((3 * 4.1e-3**2 + 0.01**2) / 12 + a**2)
    np.testing.assert_allclose(
        np.diag(np.array(body.inertia, float))[1:], STEEL * np.array([yy, zz]), rtol=1e-9
    )


def test_a_linkage_closes_and_turns_as_one_described_by_hand(linkage: tuple[Path, Assembly]) -> None:
    _, assembly = linkage
    assert {(j.kind, j.a, j.b) for j in assembly.joints} == {
        ("revolute", "base", "crank"),
        ("revolute", "base", "rocker"),
        ("revolute", "crank", "rod"),
        ("revolute", "rocker", "rod"),
    }
    mechanism = assembly.system(STEEL).mechanism()
    assert mechanism.degrees_of_freedom == 1
    found = mechanism.simulate(0.05, initial={"base to crank": {"angle_rate": 20.0}})
    turned = found["base to crank.angle"][-1]
    p = assembly.part("rod")
    tip = CRANK * 1e-3 * np.array([math.cos(turned), math.sin(turned)])
    assert p.name == "rod"
    np.testing.assert_allclose(found["rod.position"][-1, :2], tip, atol=1e-9)


def test_the_model_file_loads_and_runs(linkage: tuple[Path, Assembly], tmp_path: Path) -> None:
    _, assembly = linkage
    system = assembly.system("steel", folder=tmp_path / "parts")
    files.save(system, tmp_path / "model.yaml")
    text = (tmp_path / "model.yaml").read_text()
    assert "file: parts/rod.stl" in text
    assert "vertices" not in text
    again = files.load(tmp_path / "model.yaml")
    assert again.bodies["rod"].mass == system.bodies["rod"].mass
    shape = again.bodies["rod"].visuals[0].shape
    v, f = assembly.part("rod").vertices, assembly.part("rod").faces
    np.testing.assert_allclose(shape.vertices[shape.faces], v[f], atol=1e-7)  # type: ignore[attr-defined]
    assert again.simulate(0.01).time[-1] == pytest.approx(0.01)


def test_the_command_writes_a_model_that_runs(
    linkage: tuple[Path, Assembly],
    call: Call,  # noqa: F811
    tmp_path: Path,
) -> None:
    path, _ = linkage
    answer = call("cad", path, "linkage.yaml", "--density", "steel")
    assert answer.status == 0, answer.err
    assert answer.out.count("revolute") == 4
    assert (tmp_path / "linkage_parts" / "rod.stl").is_file()
    assert call("run", "linkage.yaml", "-d", "0.01").status == 0
    assert call("cad", path, "linkage.yaml", "--density", "steel").status != 0  # It is there already.
    answer = call("cad", path, "other.yaml", "--density", "stele")
    assert answer.status != 0
    assert "steel" in answer.err


def closed_volume(assembly: Assembly, name: str) -> float:
    """By the divergence theorem over the triangles: their winding is outward throughout."""
    part = assembly.part(name)
    a, b, c = np.moveaxis(part.vertices[part.faces], 1, 0)
    return float(np.einsum("ij,ij->", a, np.cross(b, c)) / 6.0)


def test_triangles_are_closed_and_outward(linkage: tuple[Path, Assembly]) -> None:
    for part in linkage[1].parts:
        assert closed_volume(linkage[1], part.name) == pytest.approx(part.volume, rel=1e-2)


def pairs() -> dict[str, tuple[Any, Any]]:
    """Two parts that fit, by the joint between them."""
    block = box((-20, -20, -20), 40, 40, 40)
    bore = cut(block, rod((0, 0, -30), 6, 60))
    two = cut(block, rod((-10, 0, -30), 3, 60), rod((10, 0, -30), 3, 60))
    socket = cut(block, ball((0, 0, 20), 10))
    rails = cut(box((-50, -20, 0), 100, 40, 20), box((-60, -10, 10), 120, 20, 20))
    return {
        "cylindrical": (bore, rod((0, 0, -40), 6, 80)),
        "revolute": (bore, fused(rod((0, 0, -40), 6, 80), rod((0, 0, 20), 12, 5))),
        "prismatic": (
            two,
            fused(rod((-10, 0, -40), 3, 80), rod((10, 0, -40), 3, 80), box((-15, -4, 40), 30, 8, 5)),
        ),
        "fixed": (
            two,
            fused(rod((-10, 0, -20), 3, 40), rod((10, 0, -20), 3, 40), box((-15, -4, 20), 30, 8, 5)),
        ),
        "planar": (block, box((0, 0, 20), 60, 60, 5)),
        "spherical": (socket, ball((0, 0, 20), 10)),
        "rail": (rails, box((-10, -10, 10), 20, 20, 30)),
        "apart": (block, box((0, 0, 20.5), 60, 60, 5)),
        "corner": (block, box((20, 20, 20), 10, 10, 10)),
    }


@pytest.fixture(scope="module")
def fitted(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """All pairs in one file, each at a place and a turn of its own, with their proposals by name."""
    drawing = Drawing()
    for k, (name, (a, b)) in enumerate(pairs().items()):
        where = place(300.0 * k, 70.0 * k, -40.0 * k, 0.3 * k)
        drawing.put(drawing.part(f"{name} a", a), where, f"{name} a")
        drawing.put(drawing.part(f"{name} b", b), where, f"{name} b")
    assembly = load_step(drawing.written(tmp_path_factory.mktemp("pairs") / "pairs.step"))
    assert not assembly.notes
    found: dict[str, Any] = {j.a.removesuffix(" a"): j for j in assembly.joints}
    assert len(found) == len(assembly.joints)
    # Whatever is proposed can be analysed: each pair moves by itself.
    freedoms = {"cylindrical": 2, "revolute": 1, "prismatic": 1, "planar": 3, "spherical": 3, "rail": 1}
    system = assembly.system(2700.0)
    # The block of the first pair is the ground; the other groups float.
    floating = len(pairs()) - 1 + 2
    assert system.mechanism().degrees_of_freedom == sum(freedoms.values()) + 6 * floating
    return found


@pytest.mark.parametrize("name", list(pairs()))
def test_faces_name_the_joint(name: str, fitted: dict[str, Any]) -> None:
    if name in ("apart", "corner"):
        assert name not in fitted
        return
    joint = fitted[name]
    assert joint.kind == ("prismatic" if name == "rail" else name)
    k = list(pairs()).index(name)
    if joint.axis is not None:
        along = (math.cos(0.3 * k), math.sin(0.3 * k), 0.0) if name == "rail" else (0.0, 0.0, 1.0)
        assert abs(np.dot(joint.axis, along)) == pytest.approx(1.0, abs=1e-12)


def test_instances_of_one_part_share_its_mesh_and_not_its_name(tmp_path: Path) -> None:
    drawing = Drawing()
    label = drawing.part("wheel v1.2", rod((0, 0, 0), 10, 4))
    for k in range(3):
        drawing.put(label, place(50.0 * k))
    assembly = load_step(drawing.written(tmp_path / "wheels.step"))
    assert [part.name for part in assembly.parts] == ["wheel v1_2", "wheel v1_2 2", "wheel v1_2 3"]
    system = assembly.system(
        "aluminium", of={"wheel v1_2 2": 1000.0}, folder=tmp_path / "meshes", contacts=True
    )
    assert [file.name for file in (tmp_path / "meshes").iterdir()] == ["wheel_v1_2.stl"]
    volume = math.pi * 100 * 4e-9
    masses = [body.mass for body in system.bodies.values()]
    np.testing.assert_allclose(masses, np.array([2700.0, 1000.0, 2700.0]) * volume, rtol=1e-9)
    with pytest.raises(
        ModelError, match=r"density of part 'wheel v1_2' is not in the file; give density=7850"
    ):
        assembly.system()
    with pytest.raises(ModelError, match="no material named 'stel'"):
        assembly.system("stel")


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        (lambda text: text[: len(text) // 2], "cannot read"),
        (lambda text: b"hello", "damaged, or no STEP file"),
        (lambda text: b"", "cannot read"),
        (
            lambda text: text.replace(b"ENDSEC;", b"#1=DOCUMENT_FILE('../a','','',$,'','');ENDSEC;"),
            "other files",
        ),
        (lambda text: text.replace(b"MANIFOLD_SOLID_BREP", b"NOTHING_OF_THIS_KIND"), "no solid"),
    ],
)
def test_damaged_files(damage: Any, said: str, linkage: tuple[Path, Assembly], tmp_path: Path) -> None:
    path = tmp_path / "bad.step"
    path.write_bytes(damage(linkage[0].read_bytes()))
    with pytest.raises(ModelError, match=said):
        load_step(path)
