"""MJCF: models nobody here wrote beside mujoco, and every element by hand."""

from __future__ import annotations

import re
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from bellcrank import Limits
from bellcrank.errors import ModelError
from bellcrank.files import dumps, loads
from bellcrank.files.mjcf import load_mjcf, loads_mjcf
from bellcrank.files.mjcf_inertia import solid
from bellcrank.files.places import ModelFileError
from files.foreign import against_mujoco, limits_against_mujoco
from formulations.comparison import solved

AGREEMENT = 1e-9
GYMNASIUM = (
    *("ant", "half_cheetah", "hopper", "humanoid", "inverted_double_pendulum", "inverted_pendulum"),
    *("point", "pusher_v5", "reacher", "swimmer", "walker2d_v5"),
)


def asset(name: str) -> Path:
    """A model of the package gymnasium, which is not imported for it."""
    found = find_spec("gymnasium")
    if found is None or found.origin is None:
        pytest.skip("the package gymnasium is not installed")
    return Path(found.origin).parent / f"envs/mujoco/assets/{name}.xml"


@pytest.mark.parametrize("name", GYMNASIUM)
def test_models_agree_with_mujoco(name: str) -> None:
    mujoco = pytest.importorskip("mujoco")
    path = asset(name)
    model = mujoco.MjModel.from_xml_path(str(path))
    speeds, mass, bias = against_mujoco(mujoco, model, load_mjcf(path, allow="all"))
    assert max(speeds, mass, bias) < AGREEMENT


EVERYTHING = """<mujoco model="everything">
  <compiler angle="{angle}" eulerseq="{sequence}"/>
  <option gravity="1 -2 -9"/>
  <default>
    <joint armature="0.3" damping="0.2"/>
    <geom density="500"/>
    <default class="thin"><geom size="0.02 0.3"/><joint axis="0 1 0" stiffness="3"/></default>
  </default>
  <worldbody>
    <geom type="plane" size="1 1 1"/>
    <site name="hook" pos="0 0 2"/>
    <body name="a" pos="0 0 1" euler="{euler}" childclass="thin">
      <joint name="a1" pos="0.1 0 0" ref="0.2" springref="0.5"/>
      <joint name="a2" type="slide" axis="1 1 0" ref="0.1"/>
      <geom type="capsule"/>
      <geom type="box" size="0.1 0.2 0.3" pos="0.1 0 0" axisangle="1 1 0 0.5"/>
      <site name="eye" pos="0.1 0.2 0.3"/>
      <frame pos="0 0.1 0" xyaxes="0 1 0 -1 0 0">
        <body name="b" pos="0 0 -0.5" zaxis="1 0 1">
          <joint name="b1" class="main" axis="1 0 0" pos="0 0 0.1"/>
          <geom type="ellipsoid" size="0.1 0.2 0.3" mass="2"/>
          <geom type="cylinder" fromto="0 0 0 0.3 0 0.1" size="0.05"/>
        </body>
        <geom type="sphere" size="0.1" pos="0.2 0 0"/>
      </frame>
      <body name="c" pos="0.3 0 0">
        <joint name="c1" type="ball" pos="0 0 0.1"/>
        <inertial mass="1" pos="0 0 -0.2" quat="1 1 0 0" diaginertia="0.1 0.2 0.25"/>
      </body>
    </body>
    <body name="d" pos="1 0 1">
      <joint type="free" damping="0.4" armature="0"/><geom type="box" size="0.1 0.1 0.2"/>
    </body>
    <body name="e" pos="2 0 1"><geom type="box" size="0.1 0.1 0.2"/>
      <body name="f">
        <joint name="f1"/><inertial mass="1" pos="0 0.1 0" fullinertia="1 2 2.5 0.1 0.2 0.3"/>
      </body></body>
  </worldbody>
  <tendon>
    <spatial name="rope" stiffness="40" damping="2" springlength="0.5"><site site="hook"/><site site="eye"/></spatial>
  </tendon>
  <equality>
    <connect name="pin" body1="b" body2="c" anchor="0 0 0.2" active="{active}"/>
    <weld body1="d" body2="a" active="{active}"/>
    <joint joint1="f1" joint2="b1" polycoef="0.1 2 0 0 0"/>
  </equality>
  <actuator><motor joint="a1"/></actuator>
  <keyframe><key qpos="0"/></keyframe>
</mujoco>"""


def everything(angle: str = "radian", sequence: str = "xyz", active: str = "false") -> str:
    turns = "0.3 -0.2 0.7" if angle == "radian" else "30 -20 70"
    return EVERYTHING.format(angle=angle, sequence=sequence, euler=turns, active=active)


@pytest.mark.parametrize("sequence", ["xyz", "ZYX", "zyz", "xYz"])
@pytest.mark.parametrize("angle", ["radian", "degree"])
def test_everything_together_agrees_with_mujoco(angle: str, sequence: str) -> None:
    mujoco = pytest.importorskip("mujoco")
    text = everything(angle, sequence).replace('name="c1" type="ball"', 'name="c1" type="ball" stiffness="0"')
    text = text.replace('armature="0"/><geom', 'armature="0.7"/><geom')
    model = mujoco.MjModel.from_xml_string(text)
    assert max(against_mujoco(mujoco, model, loads_mjcf(text, allow="all"), seed=3)) < AGREEMENT


def test_tendons_are_springs() -> None:
    mujoco = pytest.importorskip("mujoco")
    text = everything()
    model = mujoco.MjModel.from_xml_string(text)
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    system = loads_mjcf(text, allow="all").system
    result = system.mechanism().simulate(1e-6, output=1)
    assert result["rope.length"][0] == pytest.approx(data.ten_length[0], rel=1e-12)
    assert result["rope.tension"][0] == pytest.approx(40.0 * (data.ten_length[0] - 0.5), rel=1e-9)


def test_equalities_are_loops_and_couplings() -> None:
    system = loads_mjcf(everything(active="true"), allow="all").system
    assert (system.joints["pin"].kind, system.joints["pin"].cut) == ("spherical", True)
    assert (system.joints["d to a"].kind, system.joints["d to a"].cut) == ("fixed", True)
    assert system.couplings["f1 coupling"].offset == 0.1
    open_system = loads_mjcf(everything(), allow="all").system
    # The coupling stays; the ball takes 3 freedoms, the weld 6.
    closed, free = system.mechanism(), open_system.mechanism()
    assert free.degrees_of_freedom - closed.degrees_of_freedom == 9
    assert np.abs(closed.loop_state().rows(closed.start.q, 0.0).residual).max() < 1e-10


def test_what_is_not_imported_is_listed() -> None:
    found = loads_mjcf(everything(), allow="all")
    listed = [note.what for note in found.ignored]
    for what in ("<geom>", "<connect name='pin'>", "<weld>", "<key>"):
        assert what in listed
    assert len(found.summary()) <= len(found.ignored)


def test_nothing_is_left_out_of_the_list() -> None:
    """Every attribute of the file is understood, or listed by its element or by itself."""
    text = everything().replace("<site ", '<site odd="1" ').replace("<joint name", '<joint odd="1" name')
    text = text.replace("<worldbody>", '<strange><thing odd="1"/></strange><worldbody odd="1">')
    found = loads_mjcf(text, allow="all")
    notes = " ".join(note.what for note in found.ignored)
    assert "odd of <worldbody>" in notes
    assert "<strange>" in notes
    assert notes.count("odd of <joint") == len(re.findall("<joint odd", text))
    assert notes.count("odd of <site") == 2 + 2


def test_an_imported_model_is_a_model_file_too() -> None:
    system = loads_mjcf(everything(), allow="all").system
    again = loads(dumps(system))
    assert again.mechanism().degrees_of_freedom == system.mechanism().degrees_of_freedom


@pytest.mark.parametrize("kind", ["sphere", "capsule", "cylinder", "box", "ellipsoid"])
def test_solids_against_a_lattice_of_points(kind: str) -> None:
    """Volume and inertia by counting the points of a lattice that lie inside."""
    size = np.array([0.3, 0.2, 0.4][: {"sphere": 1, "capsule": 2, "cylinder": 2}.get(kind, 3)])
    line = (np.arange(100) + 0.5) / 100 - 0.5
    x = np.stack(np.meshgrid(line, line, line), axis=-1).reshape(-1, 3)
    r = np.hypot(x[:, 0], x[:, 1])
    inside = {
        "sphere": np.linalg.norm(x, axis=1) < 0.3,
        "capsule": np.hypot(r, np.maximum(np.abs(x[:, 2]) - size[-1], 0.0)) < 0.3,
        "cylinder": (r < 0.3) & (np.abs(x[:, 2]) < size[-1]),
        "box": (np.abs(x) < [0.3, 0.2, 0.4]).all(axis=1),
        "ellipsoid": np.linalg.norm(x / [0.3, 0.2, 0.4], axis=1) < 1.0,
    }[kind]
    p = x[inside]
    volume, inertia = solid(kind, size.tolist())
    assert volume == pytest.approx(inside.mean(), rel=0.01)
    expected = (p**2).sum() / len(p) * np.eye(3) - p.T @ p / len(p)
    assert np.abs(inertia - expected).max() < 0.01 * np.abs(inertia).max()


def test_includes_come_from_the_own_folder_only(tmp_path: Path) -> None:
    body = '<mujocoinclude><body name="x"><freejoint/><geom size="0.1"/></body></mujocoinclude>'
    (tmp_path / "inner").mkdir()
    (tmp_path / "inner" / "body.xml").write_text(body)
    (tmp_path / "secret.xml").write_text(body)
    model = tmp_path / "inner" / "model.xml"
    text = '<mujoco><worldbody><include file="{}"/></worldbody></mujoco>'
    model.write_text(text.format("body.xml"))
    assert list(load_mjcf(model).system.bodies) == ["x"]
    for outside in ("../secret.xml", str(tmp_path / "secret.xml")):
        model.write_text(text.format(outside))
        with pytest.raises(ModelFileError, match="outside of the model's folder"):
            load_mjcf(model)
    model.write_text(text.format("model.xml"))
    with pytest.raises(ModelFileError, match="included twice"):
        load_mjcf(model)


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ('type="slide"', 'type="slied"', "did you mean 'slide'?"),
        ('childclass="thin"', 'childclass="thick"', "no default class 'thick'"),
        ('axis="1 1 0"', 'axis="0 0 0"', "zero vector"),
        ('size="0.1 0.2 0.3"', 'size="0.1 -0.2 0.3"', "must be positive"),
        ('zaxis="1 0 1"', 'zaxis="0 0 0"', "no length"),
        ('site="eye"', 'site="ear"', "no site named 'ear'"),
        ('joint2="b1"', 'joint2="b2"', "no joint named 'b2'; did you mean 'b1'?"),
        ('quat="1 1 0 0"', 'quat="1 1 0"', "4 numbers, not 3"),
        ('fullinertia="1 2 2.5', 'fullinertia="1 2 25', "triangle inequality"),
        ('angle="radian"', 'angle="grad"', "is one of degree, radian"),
        ("<worldbody>", "<wordlbody>", "not well-formed"),
    ],
)
def test_mistakes_are_told_with_their_place(old: str, new: str, told: str) -> None:
    with pytest.raises(ModelFileError) as error:
        loads_mjcf(everything().replace(old, new, 1), "model.xml", allow="all")
    assert told in str(error.value)
    assert str(error.value).startswith("model.xml:")


def write_cube(path: Path, half: float) -> None:
    """A cube around (1, 0, 0) in MuJoCo's own binary format."""
    corners = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]) * half + [1, 0, 0]
    sides = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    faces = np.array([t for a, b, c, d in sides for t in ((a, b, c), (a, c, d))])
    counts = np.array([len(corners), 0, 0, len(faces)], "<i4")
    path.write_bytes(counts.tobytes() + corners.astype("<f4").tobytes() + faces.astype("<i4").tobytes())


@pytest.mark.parametrize("mode", ["legacy", "exact", "convex"])
def test_mass_and_inertia_come_from_meshes(tmp_path: Path, mode: str) -> None:
    write_cube(tmp_path / "cube.msh", 0.5)
    text = (
        f'<mujoco><asset><mesh name="cube" file="cube.msh" scale="2 1 1" inertia="{mode}"/></asset><worldbody>'
        '<body name="x"><freejoint/><geom type="mesh" mesh="cube" density="3" pos="0 0 1"/></body>'
        "</worldbody></mujoco>"
    )
    model = tmp_path / "model.xml"
    model.write_text(text)
    body = load_mjcf(model).system.bodies["x"]
    assert body.mass == pytest.approx(6.0)
    assert np.array(body.center_of_mass, dtype=float) == pytest.approx([2.0, 0.0, 1.0])
    assert np.diag(np.array(body.inertia, dtype=float)) == pytest.approx([1.0, 2.5, 2.5])
    mujoco = pytest.importorskip("mujoco")
    assert max(against_mujoco(mujoco, mujoco.MjModel.from_xml_path(str(model)), load_mjcf(model))) < AGREEMENT


def test_meshes_that_cannot_be_read_are_refused() -> None:
    text = '<mujoco><worldbody><body name="x"><freejoint/><geom type="mesh" mesh="skull"/></body></worldbody></mujoco>'
    with pytest.raises(ModelFileError, match="no mesh named 'skull'"):
        loads_mjcf(text)
    named = text.replace("<worldbody>", '<asset><mesh name="skull" file="skull.stl"/></asset><worldbody>')
    with pytest.raises(ModelFileError, match="which a text has not beside it"):
        loads_mjcf(named)


def test_includes_and_meshes_come_from_a_folder_that_is_named(tmp_path: Path) -> None:
    (tmp_path / "models").mkdir()
    (tmp_path / "shared").mkdir()
    write_cube(tmp_path / "shared" / "cube.msh", 0.5)
    (tmp_path / "shared" / "assets.xml").write_text(
        '<mujoco><asset><mesh name="cube" file="../shared/cube.msh"/></asset></mujoco>'
    )
    model = tmp_path / "models" / "model.xml"
    model.write_text(
        '<mujoco><include file="../shared/assets.xml"/><worldbody><body name="x"><freejoint/>'
        '<geom type="mesh" mesh="cube"/></body></worldbody></mujoco>'
    )
    with pytest.raises(ModelFileError, match="include_root=, --include-root"):
        load_mjcf(model)
    assert load_mjcf(model, include_root=tmp_path).system.bodies["x"].mass == pytest.approx(1000.0)
    with pytest.raises(ModelFileError, match="does not lie in the folder"):
        load_mjcf(model, include_root=tmp_path / "shared")
    (tmp_path / "shared" / "assets.xml").write_text('<mujoco><include file="../../../etc/passwd"/></mujoco>')
    with pytest.raises(ModelFileError, match="outside of the model's folder"):
        load_mjcf(model, include_root=tmp_path)


@pytest.mark.parametrize(
    ("old", "new", "effect"),
    [
        ("<freejoint/>", '<joint type="ball" frictionloss="0.1"/>', "friction"),
        ("<worldbody>", '<option viscosity="0.1"/><worldbody>', "fluid"),
        ('name="x"', 'name="x" gravcomp="1"', "gravcomp"),
    ],
)
def test_what_changes_the_motion_is_an_error_unless_allowed(old: str, new: str, effect: str) -> None:
    text = '<mujoco><worldbody><body name="x"><freejoint/><geom size="1"/></body></worldbody></mujoco>'
    changed = text.replace(old, new)
    with pytest.raises(ModelFileError, match=f"--allow {effect}"):
        loads_mjcf(changed)
    assert effect in {note.effect for note in loads_mjcf(changed, allow=[effect]).ignored}
    with pytest.raises(ModelError, match="did you mean 'friction'"):
        loads_mjcf(text, allow=["frictoin"])
    zero = re.sub(r'="[0-9.]+"', '="0"', new)
    assert not any(note.effect for note in loads_mjcf(text.replace(old, zero)).ignored)


def test_inertia_that_is_rounded_is_mended_with_a_note() -> None:
    text = (
        '<mujoco><worldbody><body name="x"><freejoint/>'
        '<inertial pos="0 0 0" mass="1" diaginertia="1 1 2.001"/></body></worldbody></mujoco>'
    )
    found = loads_mjcf(text)
    moments = np.diag(np.array(found.system.bodies["x"].inertia, dtype=float))
    assert moments == pytest.approx([1.0 + 1 / 3000, 1.0 + 1 / 3000, 2.001 - 1 / 3000], abs=1e-9)
    assert "by rounding" in found.changed[0].why
    with pytest.raises(ModelFileError, match="triangle inequality"):
        loads_mjcf(text.replace("2.001", "2.1"))


def test_linear_actuators_become_forces_with_a_parameter() -> None:
    """Beside MuJoCo's own forces of actuators, at a control and a state drawn at random."""
    mujoco = pytest.importorskip("mujoco")
    text = """<mujoco><compiler angle="radian"/><worldbody>
      <body name="x"><joint name="a" axis="0 0 1" ref="0.3"/><geom size="1"/>
      <body name="y" pos="1 0 0"><joint name="b" type="slide" axis="1 0 0"/><geom size="0.5"/></body></body>
    </worldbody><actuator>
      <motor name="m" joint="a" gear="3"/>
      <position name="p" joint="a" kp="20" kv="0.5" gear="2"/>
      <velocity name="v" joint="b" kv="4"/>
      <general name="g" joint="b" gainprm="2" biastype="affine" biasprm="0.1 -5 -0.2" gear="1.5"/>
      <general name="odd" joint="b" gaintype="muscle"/>
    </actuator></mujoco>"""
    found = loads_mjcf(text)
    assert [n.what for n in found.ignored if "odd" in n.what] == ["<general name='odd'>"]
    model = mujoco.MjModel.from_xml_string(
        text.replace('<general name="odd" joint="b" gaintype="muscle"/>', "")
    )
    data = mujoco.MjData(model)
    data.qpos[:], data.qvel[:], data.ctrl[:] = (0.5, -0.2), (1.0, -2.0), (0.7, 0.4, -0.3, 0.9)
    mujoco.mj_forward(model, data)
    parameters = dict(zip("mpvg", data.ctrl.tolist(), strict=True))
    start = {"a": (0.5 - 0.3, 1.0), "b": (-0.2, -2.0)}
    mechanism = found.system.mechanism(initial=start, parameters=parameters)
    assert mechanism.applied_forces() == pytest.approx(data.qfrc_actuator, rel=1e-12)


ACTING = """<mujoco>
  <compiler angle="degree"/>
  <option gravity="0 0 0"><flag contact="enable"/></option>
  <default><joint range="-60 90"/></default>
  <worldbody>
    <geom name="floor" type="plane" size="1 1 1" friction="0.3"/>
    <body name="a" pos="0 0 3">
      <joint name="j1" axis="0 0 1" ref="10" springref="20"/>
      <geom type="sphere" size="0.1" pos="0.3 0 0"/>
    </body>
    <body name="b" pos="0 0 4">
      <joint name="j2" axis="0 0 1" limited="false"/>
      <geom type="sphere" size="0.1" pos="0.3 0 0"/>
    </body>
    <body name="c" pos="0 0 5">
      <joint name="j3" type="slide" axis="1 0 0" range="-0.2 0.5" springref="0.1"/>
      <geom type="box" size="0.1 0.1 0.1"/>
    </body>
  </worldbody>
  <tendon>
    <fixed name="sum" stiffness="20" damping="1" range="-200 200">
      <joint joint="j1" coef="2"/><joint joint="j2" coef="-1"/>
    </fixed>
    <fixed name="pull" springlength="0.3" stiffness="7"><joint joint="j3" coef="3"/></fixed>
  </tendon>
  <equality>
    <joint joint1="j3" joint2="j2" polycoef="0.01 0.2 0.03 0.004 0"/>
  </equality>
  <actuator><motor name="m" tendon="sum" gear="3"/><position name="p" joint="j2" kp="2"/></actuator>
  <keyframe><key name="home" qpos="0.5 -0.4 0.1" qvel="1 2 0.5" ctrl="2 0.3"/></keyframe>
</mujoco>"""


def test_fixed_tendons_and_keyframes_agree_with_mujoco() -> None:
    """Accelerations in the keyframe, where springs, dampers and actuators of joints and tendons act."""
    mujoco = pytest.importorskip("mujoco")
    text = re.sub(r"<equality>.*</equality>", "", ACTING, flags=re.DOTALL)
    found = loads_mjcf(text)
    model = mujoco.MjModel.from_xml_string(text)
    assert limits_against_mujoco(model, found) < 1e-12
    model.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_CONSTRAINT)
    data = mujoco.MjData(model)
    mujoco.mj_resetDataKeyframe(model, data, 0)
    mujoco.mj_forward(model, data)
    found.start_in("home")
    mechanism = found.system.mechanism()
    state = mechanism.start
    du = solved(mechanism.traced(), state, mechanism.parameter_values).du
    ours = [du[mechanism.speed_names.index(n)] for n in ("j1.angle", "j2.angle", "j3.displacement")]
    assert ours == pytest.approx(data.qacc, rel=1e-9)


ROPES = """
<mujoco>
  <compiler angle="radian"/><option gravity="0 0 0"/>
  <worldbody>
    <site name="hook" pos="0 0 1"/>
    <body name="arm" pos="0.2 0 0.5">
      <joint name="j1" axis="0 1 0" frictionloss="0.3"/><geom type="capsule" fromto="0 0 0 0.5 0 0" size="0.05"/>
      <site name="eye" pos="0.2 0.1 0.1"/><site name="ring" pos="0.4 0 0.1"/>
      <body name="hand" pos="0.5 0 0">
        <joint name="ball" type="ball" range="0 0.6"/><geom type="box" size="0.1 0.05 0.02" pos="0.1 0 0"/>
        <site name="tip" pos="0.2 0 0.05"/>
      </body>
    </body>
  </worldbody>
  <tendon>
    <spatial name="elastic" stiffness="200" springlength="0 0.9">
      <site site="hook"/><site site="eye"/><site site="ring"/><site site="tip"/>
    </spatial>
    <spatial name="leash" range="0 0.4" limited="true"><site site="hook"/><site site="eye"/></spatial>
  </tendon>
  <keyframe><key name="bent" qpos="0.4 0.9 0.1 0.3 0.2" qvel="1 0.2 0.3 0.4"/></keyframe>
</mujoco>"""


def test_ropes_along_sites_and_limits_of_balls_agree_with_mujoco() -> None:
    mujoco = pytest.importorskip("mujoco")
    found = loads_mjcf(ROPES, limits=Limits(stiffness=50.0), allow=["friction"])
    model = mujoco.MjModel.from_xml_string(
        ROPES.replace("<option ", "<option><flag contact='disable'/></option><option ")
    )
    data = mujoco.MjData(model)
    mujoco.mj_resetDataKeyframe(model, data, 0)
    mujoco.mj_forward(model, data)
    found.start_in("bent")
    system = found.system
    result = system.simulate(1e-9, output=1)
    assert result["elastic.length"][0] == pytest.approx(data.ten_length[0], rel=1e-12)
    assert result["elastic.tension"][0] == pytest.approx(200.0 * (data.ten_length[0] - 0.9), rel=1e-9)
    assert result["leash limits.tension"][0] == pytest.approx(50.0 * (data.ten_length[1] - 0.4), rel=1e-9)
    # Beyond its limit the ball is pressed back about the axis of its whole rotation.
    beyond = [x for x, kind in zip(data.efc_pos, data.efc_type, strict=True)
              if kind == mujoco.mjtConstraint.mjCNSTR_LIMIT_JOINT]  # fmt: skip
    assert 0.6 - result["ball.turn"][0] == pytest.approx(beyond[0], rel=1e-9)
    del system.forces["leash limits"], system.forces["ball limits"]
    # Links have axes of their own: the torque on the ball is compared by its size and its power.
    mechanism = system.mechanism()
    names, forces = mechanism.speed_names, np.asarray(mechanism.applied_forces())
    own = [k for k, name in enumerate(names) if name.startswith("ball.")]
    assert forces[names.index("j1.angle")] == pytest.approx(data.qfrc_passive[0], rel=1e-9)
    assert np.linalg.norm(forces[own]) == pytest.approx(np.linalg.norm(data.qfrc_passive[1:]), rel=1e-9)
    assert forces[own] @ mechanism.start.u[own] == pytest.approx(
        data.qfrc_passive[1:] @ data.qvel[1:], rel=1e-9
    )
    ignored = " ".join(note.why for note in loads_mjcf(ROPES).ignored)
    assert "need a stiffness: limits=bellcrank.Limits(stiffness=...)" in ignored


def test_dry_friction_is_a_clutch() -> None:
    """0.3 N m stop a rotor of 0.02 kg m^2 at 3 rad/s after 0.2 s."""
    text = """<mujoco><option gravity="0 0 0"/><worldbody><body name="wheel">
    <joint name="axle" frictionloss="0.3"/><inertial pos="0 0 0" mass="1" diaginertia="0.01 0.01 0.02"/></body>
    </worldbody></mujoco>"""
    system = loads_mjcf(text).system
    result = system.simulate(0.4, initial={"axle": (0.0, 3.0)}, output=4, tolerance=1e-9)
    assert result["axle.angle_rate"][1:] == pytest.approx([1.5, 0.0, 0.0, 0.0], abs=1e-3)
    assert not loads_mjcf(text, allow=["friction"]).system.forces


def test_polynomials_of_equalities_are_transmissions() -> None:
    mujoco = pytest.importorskip("mujoco")
    found = loads_mjcf(ACTING)
    model = mujoco.MjModel.from_xml_string(ACTING)
    model.opt.jacobian = mujoco.mjtJacobian.mjJAC_DENSE
    data = mujoco.MjData(model)
    mechanism = found.system.mechanism(initial={"j2": 0.7, "j1": 0.1})
    names = ("j1.angle", "j2.angle", "j3.displacement")
    q = dict(zip(mechanism.speed_names, mechanism.start.q, strict=True))
    data.qpos[:] = [q[n] for n in names] + model.qpos0
    mujoco.mj_forward(model, data)
    assert abs(data.efc_pos[0]) < 1e-9
    J = mechanism.constraint_jacobian()[0]
    row = next(r for r in J if abs(r[mechanism.speed_names.index("j3.displacement")]) == 1.0)
    theirs = data.efc_J.reshape(data.nefc, model.nv)[0]
    assert [row[mechanism.speed_names.index(n)] for n in names] == pytest.approx(theirs, abs=1e-12)


SLIDING = """<mujoco>
  <worldbody>
    <geom type="plane" size="9 9 1" friction="0.2 0.01 0.001"/>
    <body name="fixture" pos="0 0.35 0.1"><geom type="box" size="0.05 0.05 0.1" friction="0.1"/></body>
    <body name="sled" pos="0 0 0.1">
      <freejoint/><geom type="box" size="0.2 0.1 0.1" friction="0.4 0.02 0.003" condim="3"/>
      <body name="arm" pos="0 0 0.2">
        <joint axis="0 1 0"/><joint axis="1 0 0"/>
        <geom type="capsule" size="0.05 0.1" friction="0.1" mass="0.01" contype="2" conaffinity="1"/>
      </body>
    </body>
    <body name="ball" pos="0 3 0.1"><freejoint/><geom type="sphere" size="0.1" friction="0.4" condim="6"/></body>
    <body name="ghost" pos="0 -3 -5"><freejoint/><geom type="sphere" size="0.1" contype="0" conaffinity="0"/></body>
  </worldbody>
  <contact><exclude body1="ball" body2="sled"/></contact>
</mujoco>"""


def test_geoms_collide_with_their_friction_where_asked_for() -> None:
    """Which pairs touch is MuJoCo's rule; friction of a pair is the larger one: a sled slows by 0.4 g."""
    found = loads_mjcf(SLIDING, contacts=True)
    system = found.system
    pairs: dict[frozenset[str], set[tuple[float, float]]] = {}
    for group in system.collisions.values():
        for a in group.a:
            for b in group.b if group.b is not None else group.a:
                names = frozenset((a.frame.body.name, b.frame.body.name))
                pairs.setdefault(names, set()).add((group.friction, group.rolling_resistance))
    # The plane and the fixture, which is welded to the world.
    assert pairs[frozenset(("ground", "sled"))] == {(0.4, 0.0)}
    assert pairs[frozenset(("ground", "ball"))] == {(0.4, 0.001), (0.4, 0.0001)}
    assert frozenset(("ball", "sled")) not in pairs
    assert frozenset(("arm", "sled")) not in pairs
    assert not any("ghost" in pair for pair in pairs)
    free = next(name for name, joint in system.joints.items() if joint.b.body.name == "sled")
    result = system.simulate(
        0.4, initial={free: {"velocity": (2.0, 0, 0)}}, impacts="stepping", step=1e-3, output=2
    )
    assert result["sled.velocity.x"][-1] == pytest.approx(2.0 - 0.4 * 9.81 * 0.4, abs=0.02)
    assert result["sled.position.z"][-1] == pytest.approx(0.1, abs=1e-4)
    assert loads_mjcf(SLIDING).system.collisions == {}
    assert loads(dumps(system)).collisions.keys() == system.collisions.keys()


def test_springs_of_ball_and_free_joints_agree_with_mujoco() -> None:
    mujoco = pytest.importorskip("mujoco")
    text = """<mujoco><worldbody>
      <body name="a" pos="0.1 0.2 1" euler="20 30 40">
        <joint type="free" stiffness="30" damping="2"/><geom type="box" size="0.1 0.2 0.3"/>
        <body name="b" pos="0.3 0 0"><joint type="ball" pos="-0.1 0 0" stiffness="9" damping="0.5"/>
          <geom type="box" size="0.2 0.1 0.1" pos="0.2 0 0"/></body>
      </body></worldbody></mujoco>"""
    found = loads_mjcf(text)
    assert not found.ignored
    for seed in range(3):
        model = mujoco.MjModel.from_xml_string(text)
        assert max(against_mujoco(mujoco, model, loads_mjcf(text), seed)) < AGREEMENT


def test_springs_by_time_and_damping_ratio_agree_with_mujoco() -> None:
    mujoco = pytest.importorskip("mujoco")
    text = """<mujoco><worldbody><body name="a"><joint name="i" axis="0 1 0" springdamper="0.1 0.5" springref="20"/>
      <geom type="box" size="0.1 0.2 0.3" pos="0.2 0 0"/>
      <body name="b" pos="0.4 0 0"><joint name="j" axis="1 1 0" springdamper="0.2 1" armature="0.3"/>
        <geom type="box" size="0.2 0.1 0.1" pos="0.2 0.1 0"/></body></body></worldbody></mujoco>"""
    model = mujoco.MjModel.from_xml_string(text)
    assert max(against_mujoco(mujoco, model, loads_mjcf(text))) < AGREEMENT
