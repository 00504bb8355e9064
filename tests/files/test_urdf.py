"""URDF: robots nobody here wrote beside pinocchio, and every element by hand."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from bellcrank import Limits
from bellcrank.errors import ModelError
from bellcrank.files import dumps, loads
from bellcrank.files.places import ModelFileError
from bellcrank.files.urdf import load_urdf, loads_urdf
from files.foreign import against_pinocchio

AGREEMENT = 1e-9
ROBOTS = {
    "double_pendulum": "double_pendulum_description/urdf/double_pendulum.urdf",
    "panda": "panda_description/urdf/panda.urdf",
    "ur5": "ur_description/urdf/ur5_robot.urdf",
    "kinova": "kinova_description/robots/kinova.urdf",
    "so101": "so_arm_description/urdf/so101.urdf",
    "finger": "finger_edu_description/robots/finger_edu.urdf",
    "iris": "iris_description/robots/iris.urdf",
    "solo12": "solo_description/robots/solo12.urdf",
    "laikago": "laikago_description/urdf/laikago.urdf",
    "go2": "go2_description/urdf/go2.urdf",
    "baxter": "baxter_description/urdf/baxter.urdf",
    "human": "human_description/robots/human.urdf",
}
FLOATING = ("solo12", "go2", "iris", "finger")


def robot(name: str) -> Path:
    """A robot of the package example-robot-data, which installs its files beside those of pinocchio."""
    pin = pytest.importorskip("pinocchio")
    for folder in Path(pin.__file__).parents:
        path = folder / "share/example-robot-data/robots" / ROBOTS[name]
        if path.exists():
            return path
    pytest.skip("the package example-robot-data is not installed")


@pytest.mark.parametrize("name", ROBOTS)
def test_robots_agree_with_pinocchio(name: str) -> None:
    pin = pytest.importorskip("pinocchio")
    path = robot(name)
    speeds, mass, bias = against_pinocchio(
        pin, pin.buildModelFromUrdf(str(path)), load_urdf(path, allow="all")
    )
    assert max(speeds, mass, bias) < AGREEMENT


@pytest.mark.parametrize("name", FLOATING)
def test_floating_robots_agree_with_pinocchio(name: str) -> None:
    pin = pytest.importorskip("pinocchio")
    path = robot(name)
    model = pin.buildModelFromUrdf(str(path), pin.JointModelFreeFlyer())
    speeds, mass, bias = against_pinocchio(pin, model, load_urdf(path, base="free", allow="all"))
    assert max(speeds, mass, bias) < AGREEMENT


ARM = """<robot name="arm">
  <link name="base"/>
  <link name="upper">
    <inertial><origin xyz="0 0 0.5" rpy="0.3 0.2 0.1"/><mass value="2"/>
      <inertia ixx="0.2" ixy="0.01" ixz="0.02" iyy="0.3" iyz="-0.01" izz="0.25"/></inertial>
    <visual><geometry><mesh filename="package://arm/upper.dae"/></geometry></visual>
    <collision><geometry><box size="1 1 1"/></geometry></collision>
  </link>
  <link name="elbow.1"><inertial><mass value="1"/>
    <inertia ixx="0.1" ixy="0" ixz="0" iyy="0.1" iyz="0" izz="0.1"/></inertial></link>
  <link name="slide"><inertial><mass value="1"/>
    <inertia ixx="0.1" ixy="0" ixz="0" iyy="0.1" iyz="0" izz="0.1"/></inertial></link>
  <joint name="shoulder" type="revolute"><parent link="base"/><child link="upper"/>
    <origin xyz="0 0 1" rpy="0 1.2 0"/><axis xyz="0 0 -2"/>
    <limit lower="-1" upper="1" effort="10" velocity="2"/><dynamics damping="0.5" friction="0.1"/></joint>
  <joint name="elbow.1" type="continuous"><parent link="upper"/><child link="elbow.1"/>
    <origin xyz="0 0 1"/><mimic joint="shoulder" multiplier="-2" offset="0.1"/></joint>
  <joint name="slider" type="prismatic"><parent link="elbow.1"/><child link="slide"/><axis xyz="1 0 0"/></joint>
  <gazebo reference="upper"><material>Red</material></gazebo>
</robot>"""


def test_every_part_finds_its_place() -> None:
    found = loads_urdf(ARM, allow="all")
    system = found.system
    assert list(system.bodies) == ["base", "upper", "elbow_1", "slide"]
    assert [j.kind for j in system.joints.values()] == ["fixed", "revolute", "revolute", "prismatic"]
    assert found.renamed == {"link elbow.1": "elbow_1", "joint elbow.1": "elbow_1 joint"}
    assert system.couplings["elbow_1 joint mimic"].offset == 0.1
    assert system.forces["shoulder damping"].damping == 0.5  # type: ignore[union-attr]
    state = system.mechanism(initial={"shoulder": 0.0})
    assert state.degrees_of_freedom == 2
    upper = system.bodies["upper"]
    assert np.trace(np.array(upper.inertia, dtype=float)) == pytest.approx(0.75)
    assert upper.position == (0.0, 0.0, 1.0)


def test_what_is_not_imported_is_listed() -> None:
    found = loads_urdf(ARM, allow="all")
    assert [note.what for note in found.ignored] == [
        "<visual>",
        "friction of <dynamics>",
        "effort of <limit>",
        "velocity of <limit>",
        "<gazebo>",
    ]
    assert found.meshes == ("package://arm/upper.dae",)
    assert [note.line for note in found.ignored] == [6, 15, 15, 15, 19]


def test_limits_are_stops_and_collisions_are_shapes() -> None:
    system = loads_urdf(ARM, allow="all").system
    stops = {name: contact.a.shape.place for name, contact in system.contacts.items()}
    assert stops == {"shoulder limits low": -1.0, "shoulder limits high": 1.0}
    assert [shape.shape.half_x for shape in system.bodies["upper"].colliding] == [0.5]  # type: ignore[attr-defined]
    elastic = loads_urdf(ARM, allow="all", limits=Limits(stiffness=1e3)).system
    assert not elastic.contacts
    assert elastic.forces["shoulder limits"].low == -1.0  # type: ignore[union-attr]
    bare = loads_urdf(ARM, allow="all", limits=False)
    assert not bare.system.contacts
    assert "limits of <limit>" in [note.what for note in bare.ignored]


def test_nothing_is_left_out_of_the_list() -> None:
    """Whatever is put into the file, it is understood or listed."""
    strange = ARM.replace(
        '<link name="base"/>', '<link name="base" colour="red"><smell kind="sweet"/></link>'
    )
    listed = [note.what for note in loads_urdf(strange, allow="all").ignored]
    assert "colour of <link name='base'>" in listed
    assert "<smell>" in listed


def test_an_imported_robot_is_a_model_file_too() -> None:
    system = loads(dumps(loads_urdf(ARM, allow="all").system))
    assert list(system.joints) == ["fixed base of base", "shoulder", "elbow_1 joint", "slider"]


def test_planar_and_floating_joints() -> None:
    inertial = (
        '<inertial><mass value="1"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial>'
    )
    text = (
        f'<robot name="r"><link name="world"/><link name="puck">{inertial}</link><link name="bird">{inertial}</link>'
        '<joint name="table" type="planar"><parent link="world"/><child link="puck"/><axis xyz="0 1 0"/></joint>'
        '<joint name="air" type="floating"><parent link="world"/><child link="bird"/></joint></robot>'
    )
    system = loads_urdf(text, allow="all").system
    assert list(system.bodies) == ["puck", "bird"]
    mechanism = system.mechanism()
    assert mechanism.degrees_of_freedom == 9
    run = mechanism.simulate(0.5, output=2)
    assert run["puck.position.y"][-1] == 0.0
    assert run["puck.position.z"][-1] == pytest.approx(-0.5 * 9.81 * 0.25)


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ('type="prismatic"', 'type="prismatik"', "did you mean 'prismatic'?"),
        ('<child link="slide"/>', '<child link="slid"/>', "no link named 'slid'; did you mean 'slide'?"),
        ('<child link="slide"/>', "", "needs a <child>"),
        ('<child link="slide"/>', '<child link="upper"/>', "hangs on two joints"),
        ('xyz="0 0 -2"', 'xyz="0 0 0"', "zero vector"),
        ('xyz="0 0 -2"', 'xyz="0 0"', "3 numbers, not 2"),
        ('xyz="0 0 -2"', 'xyz="0 0 up"', "must be numbers"),
        ('mass value="2"', 'mass value="nan"', "finite"),
        ('mass value="2"', 'mass value="-2"', "must not be negative"),
        ('mass value="2"', 'mass vaule="2"', "needs the attribute 'value'; did you mean 'vaule'?"),
        ('ixx="0.2"', 'ixx="20"', "--balance-inertia"),
        ('mimic joint="shoulder"', 'mimic joint="sholder"', "did you mean 'shoulder'?"),
        ('mimic joint="shoulder"', 'mimic joint="elbow.1"', "cannot mimic itself"),
        ("</robot>", "", "not well-formed XML"),
        ("<robot", "<sdf", "not well-formed XML"),
    ],
)
def test_mistakes_are_told_with_their_place(old: str, new: str, told: str) -> None:
    with pytest.raises(ModelFileError) as error:
        loads_urdf(ARM.replace(old, new, 1), "arm.urdf", allow="all")
    assert told in str(error.value)
    assert str(error.value).startswith("arm.urdf:")


def test_unreal_inertias_can_be_balanced() -> None:
    found = loads_urdf(ARM.replace('ixx="0.2"', 'ixx="20"'), balance_inertia=True, allow="all")
    assert [note.what for note in found.changed] == ["inertia of link 'upper'"]


BOMB = '<!DOCTYPE r [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;">]><robot name="&b;"><link name="x"/></robot>'
OUTSIDE = '<!DOCTYPE r SYSTEM "file:///etc/passwd"><robot name="x"><link name="x"/></robot>'


@pytest.mark.parametrize("text", [BOMB, OUTSIDE], ids=["bomb", "outside"])
def test_document_types_are_refused(text: str) -> None:
    with pytest.raises(ModelFileError, match="for safety"):
        loads_urdf(text)


def test_depth_and_size_are_bounded(tmp_path: Path) -> None:
    with pytest.raises(ModelFileError, match="nested"):
        loads_urdf("<robot>" + "<a>" * 100_000 + "</a>" * 100_000 + "</robot>")
    large = tmp_path / "large.urdf"
    large.write_bytes(b"<robot>" + b" " * (17 * 2**20) + b"</robot>")
    with pytest.raises(ModelError, match="larger than 16 MiB"):
        load_urdf(large)


def test_a_ring_of_links_is_refused() -> None:
    joint = '<joint name="{0}" type="fixed"><parent link="{0}"/><child link="{1}"/></joint>'
    ring = '<link name="a"/><link name="b"/>' + joint.format("a", "b") + joint.format("b", "a")
    with pytest.raises(ModelFileError, match="in a circle"):
        loads_urdf(f"<robot>{ring}</robot>")
    with pytest.raises(ModelFileError, match="in a circle"):
        loads_urdf(f'<robot><link name="c"/>{ring}</robot>')
