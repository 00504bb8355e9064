"""What once ended in an error of Python or of another package is refused in words."""

from __future__ import annotations

import io
import sys
from pathlib import Path

import numpy as np
import pytest

import bellcrank as bc
from bellcrank import elastic, flexible
from bellcrank.cli import main
from bellcrank.cli.inputs import foreign
from bellcrank.contact import Sampled
from bellcrank.errors import AssemblyError, ModelError
from bellcrank.files import load, loads
from hostile.kinds import MATRICES, SOLID

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")

BEAM = """
bellcrank: 1
name: m
bodies:
  rod:
    flexible:
      kind: beam
      length: 1
      section: {kind: circle, diameter: 0.01}
      material: {young: 2e11, density: 7850}
      elements: 4
      modes: {count: 2}
"""
DISC = """
elastic: 1
name: disc
materials: {soft: {young: 500, poisson: 0.3, density: 1}}
bodies:
  disc: {shape: disc, material: soft, radius: 1, centre: [0, 1.1], divisions: 4}
obstacles: {floor: {kind: plane, point: [0, 0], normal: [0, 1]}}
contacts: {touch: {body: disc, against: floor}}
duration: 1
step: 0.1
"""


@pytest.mark.parametrize(
    ("text", "old", "new", "message"),
    [
        (BEAM, "count: 2", "count: 0", "none is chosen; ask for one"),
        (
            BEAM,
            "elements: 4",
            "elements: [0, 1e-100, 1]",
            "modes of flexible member 'rod' cannot be computed",
        ),
        (
            BEAM,
            "7850}",
            "5e-324}\n      check_units: false",
            "density of a material must be positive, from 1e-100",
        ),
        (BEAM, "count: 2", "along: {}", "none is chosen; ask for one"),
        (BEAM, "count: 2", "up_to: 1e-9", "none is chosen; ask for one"),
        (BEAM, "count: 2", "kind: craig_bampton, interface: []", "interface of Craig-Bampton modes is empty"),
        (BEAM, "count: 2", "kind: attachment, loads: {}", "loads of attachment modes are empty"),
        (
            BEAM,
            "diameter: 0.01",
            "diameter: 1e300",
            "diameter of circle section .* is 1e.300; it must not exceed 1e.100",
        ),
        (BEAM, "diameter: 0.01", "diameter: 1e90", "diameter must be positive, from 1e-50 m to 1e.50 m"),
        (DISC, "divisions: 4", "divisions: inf", "divisions of .* is inf; it must be a finite number"),
        (DISC, "[0, 1.1]", "[0, 1e308]", "centre of .* is 1e.308; it must not exceed"),
        (DISC, "[0, 1.1]", "[0, 1e20]", "elements of the mesh of 'disc' are flat up to rounding"),
        (
            DISC,
            "divisions: 4",
            "divisions: 4, element: triangle6, refinement: 12, contact_zone: 0.2",
            "unknowns or more; up to 2e.06 are built: ask for fewer, or for a smaller contact_zone",
        ),
        (DISC, "radius: 1", "radius: 1e-120", "elements of the mesh of 'disc' are flat up to rounding"),
    ],
)
def test_numbers_that_cannot_be_computed_with(text: str, old: str, new: str, message: str) -> None:
    read = elastic.loads if text is DISC else loads
    with pytest.raises(ModelError, match=message):
        read(text.replace(old, new))


@pytest.mark.parametrize("kind", ["capsule", "cylinder", "sphere"])
@pytest.mark.parametrize("size", ["1e308 1", "1e99 1", "1e-300 1"])
def test_sizes_of_solids(tmp_path: Path, kind: str, size: str) -> None:
    geom = f'<geom type="{kind}" size="{size}"/>'
    path = tmp_path / "m.xml"
    path.write_text(f'<mujoco><worldbody><body name="b"><joint/>{geom}</body></worldbody></mujoco>')
    with pytest.raises(ModelError, match="size of <geom> must"):
        foreign(str(path))


def test_whole_numbers_beyond_all_floats() -> None:
    for make in (
        lambda: flexible.Material(young=10**400, density=1.0),
        lambda: flexible.Material(young=10**5000, density=1.0),
        lambda: elastic.Material(young=10**400, poisson=0.3, density=1.0),
        lambda: flexible.circle(10**400),
    ):
        with pytest.raises(ModelError, match="must be positive"):
            make()


@pytest.mark.parametrize("name", ["x" * 5000 + ".stl", '"x\\0.stl"'])
def test_names_that_no_file_can_have(tmp_path: Path, name: str) -> None:
    shape = f"{{body: b, kind: mesh, file: {name}}}"
    path = tmp_path / "m.yaml"
    path.write_text(
        "bellcrank: 1\nname: m\nbodies: {b: {mass: 1, inertia: [1, 1, 1]}}\n"
        f"joints: {{f: {{kind: free, a: ground, b: b}}}}\ncontacts: {{c: {{a: {shape}, b: ground}}}}\n"
    )
    with pytest.raises(
        ModelError, match=r"file of .*(there is no file|must be a file in the model's folder)"
    ):
        load(path)


@pytest.mark.parametrize("attribute", ["", 'filename=""', 'profile="x"'])
def test_a_urdf_mesh_without_a_name_is_no_mesh(tmp_path: Path, attribute: str) -> None:
    path = tmp_path / "m.urdf"
    mesh = f"<geometry><mesh {attribute}/></geometry>"
    path.write_text(f'<robot name="r"><link name="a"><visual>{mesh}</visual></link></robot>')
    assert foreign(str(path)).meshes == ()


def test_a_ply_header_that_does_not_count(tmp_path: Path) -> None:
    path = tmp_path / "m.ply"
    path.write_text(
        "ply\nformat ascii 1.0\nelement vertex 1\nproperty float x\nelement face many\nend_header\n0\n"
    )
    with pytest.raises(ModelError, match="does not say how many"):
        Sampled.from_file(path)


def test_a_missing_package_is_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "skfem", None)
    with pytest.raises(SystemExit) as ended:
        main(["run", "elastic_discs"])
    assert ended.value.code == 2
    assert "needs scikit-fem: pip install 'bellcrank[elastic]'" in capsys.readouterr().err


def test_a_search_that_is_led_beyond_all_numbers_ends() -> None:
    bodies = ", ".join(
        f"{name}: {{mass: 1, inertia: [1, 1, 1], at: [{x}, 0, 0]}}" for x, name in enumerate("abc")
    )
    joints = (
        "hinge: {kind: revolute, a: {body: ground}, b: {body: a}}, "
        "slide: {kind: cylindrical, a: {body: ground, position: [1, 0, 0]}, b: {body: b}}, "
        "rail: {kind: prismatic, a: {body: ground, position: [2, 0, 0]}, b: {body: c}}, "
        "new: {kind: screw, a: {body: a}, b: {body: b, position: [1e-300, 0, 0]}, pitch: 0.2}"
    )
    system = loads(f"{{bellcrank: 1, name: m, bodies: {{{bodies}}}, joints: {{{joints}}}}}")
    with pytest.raises(AssemblyError, match="cannot be satisfied"):
        system.mechanism()


@pytest.mark.parametrize("treatment", ["impulsive", "continuous"])
def test_a_misspelt_option_of_a_contact_is_told_with_the_contact(treatment: str) -> None:
    system = bc.System("m")
    ball = system.body("ball", 1.0)
    words = r"no option of contact 'touch' named 'frction'; did you mean 'friction'\?"
    with pytest.raises(ModelError, match=words):
        system.contact("touch", system.ground.plane(), ball.sphere(0.1), treatment=treatment, frction=0.3)


MATRIX = "%%MatrixMarket matrix "


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("no header\n1 1\n1\n", "first line is not that of a Matrix Market file"),
        (f"{MATRIX}array complex general\n1 1\n1 0\n", "complex, general are not read"),
        (f"{MATRIX}array real general\n2 2\n1\n2\n3\n", "cut off"),
        (f"{MATRIX}array real general\n2 2\n1\n2\n3\n4 5\n", "cannot be read"),
        (f"{MATRIX}array real general\n100000 100000\n1\n", "10000000000 entries is too large"),
        (f"{MATRIX}coordinate real general\n2 2 1\n3 1 1\n", "outside of 2 x 2"),
        (f"{MATRIX}coordinate real general\n2 2 1\n1 1 nan\n", "not finite"),
    ],
)
def test_matrices_that_are_none(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "a.mtx").write_text(text)
    path = tmp_path / "m.yaml"
    path.write_text(MATRICES.format(name="a.mtx", stiffness="a.mtx", positions=[[0, 0, 0]]))
    with pytest.raises(ModelError, match=message):
        load(path)


@pytest.mark.parametrize("shape", [b"(9999, 9999), }", b"((2, 2), }     "])
def test_matrices_whose_headers_lie(tmp_path: Path, shape: bytes) -> None:
    buffer = io.BytesIO()
    np.save(buffer, np.eye(2))
    header = b"(2, 2), }      "
    assert header in buffer.getvalue()
    (tmp_path / "a.npy").write_bytes(buffer.getvalue().replace(header, shape))
    path = tmp_path / "m.yaml"
    path.write_text(MATRICES.format(name="a.npy", stiffness="a.npy", positions=[[0, 0, 0]]))
    with pytest.raises(ModelError, match=r"a.npy cannot be read"):
        load(path)


NODES = "$MeshFormat\n4.1 0 8\n$EndMeshFormat\n$Nodes\n1 4 1 {0}\n3 1 0 4\n1\n2\n3\n{0}\n0 0 0\n1 0 0\n0 1 0\n0 0 1\n"
TETRAHEDRON = NODES + "$EndNodes\n$Elements\n1 1 1 1\n3 1 4 1\n1 1 2 3 {0}\n$EndElements\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (TETRAHEDRON.format(2**31), "meshio cannot read 'a.msh': Unable to allocate"),
        (TETRAHEDRON.format(4).replace("1 1 2 3 4", "1 1 2 3"), "meshio cannot read 'a.msh'"),
        ("no mesh", "meshio cannot read 'a.msh'"),
    ],
)
def test_meshes_that_lead_their_reader_astray(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "a.msh").write_text(text)
    path = tmp_path / "m.yaml"
    path.write_text(SOLID.format(name="a.msh"))
    with pytest.raises(ModelError, match=message):
        load(path)
