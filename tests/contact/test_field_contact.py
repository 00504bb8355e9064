"""Contacts by fields in whole runs: laws of conservation, restitution, rest, files, resumption."""

from __future__ import annotations

import ctypes
import os
import shutil
from functools import partial

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import bellcrank as bc
import bellcrank.contact
from bellcrank.errors import ModelError
from bellcrank.files import dumps, load, loads, save
from bellcrank.files.layout import schema
from bellcrank.mechanism.export import export_of
from bellcrank.program import cuda
from bellcrank.program.c_file import c_file
from bellcrank.program.gpu import evaluate
from bellcrank.program.kernel import compile_program
from bellcrank.run import recording, simulation
from program.c_compiler import library, needs_gcc, pointer, relative
from program.cuda_shim import Processor

MASS, HALF = 0.5, (0.1, 0.07, 0.05)
INERTIA = tuple(MASS / 3 * (HALF[j] ** 2 + HALF[k] ** 2) for j, k in ((1, 2), (0, 2), (0, 1)))


def _thrown(height=0.3, rotation=None, restitution=1.0, friction=0.0, **contact):
    system = bc.System("throw", gravity=(0.0, 0.0, -9.81))
    turned = np.eye(3) if rotation is None else rotation
    box = system.body("box", mass=MASS, inertia=INERTIA, at=(0.0, 0.0, height), rotation=turned)
    system.free("flight", system.ground, box)
    system.contact(
        "floor",
        system.ground.plane(),
        box.box(*HALF),
        restitution=restitution,
        friction=friction,
        treatment="continuous",
        method="field",
        **contact,
    )
    return system


def test_a_tumbling_box_keeps_its_energy():
    turned = Rotation.random(random_state=2).as_matrix()
    result = _thrown(rotation=turned).simulate(
        0.8, initial={"flight": {"angular_velocity": (3.0, -2.0, 4.0)}}, tolerance=1e-8
    )
    energy = np.asarray(result["energy.total"])
    assert np.abs(energy - energy[0]).max() < 1e-5 * energy[0]
    assert np.asarray(result["floor.penetration"]).max() > 1e-4


@pytest.mark.parametrize("on", ["face", "edge", "corner"])
@pytest.mark.parametrize(
    "law", [{}, {"law": "foundation", "stiffness": 1e9}], ids=["half-space", "foundation"]
)
def test_the_restitution_asked_for_is_delivered(on, law):
    angles = {"face": (0.0, 0.0), "edge": (0.0, np.pi / 4), "corner": (np.pi / 4, np.arctan(0.5**0.5))}
    turned = Rotation.from_euler("xy", angles[on])
    system = bc.System("throw", gravity=(0.0, 0.0, 0.0))
    cube = system.body("cube", mass=0.5, inertia=(1e-3,) * 3, at=(0.0, 0.0, 0.2), rotation=turned.as_matrix())
    system.free("flight", system.ground, cube)
    shape, plane = cube.box(0.1, 0.1, 0.1), system.ground.plane()
    system.contact("floor", plane, shape, 0.4, treatment="continuous", method="field", **law)
    result = system.simulate(
        0.3, initial={"flight": {"velocity": (0.0, 0.0, -1.0)}}, tolerance=1e-9, output=4
    )
    assert float(result["cube.velocity.z"][-1]) == pytest.approx(0.4, abs=1e-4)


def test_a_box_comes_to_rest_where_its_weight_is_carried():
    turned = Rotation.from_euler("xyz", (0.4, 0.2, 0.1)).as_matrix()
    result = _thrown(rotation=turned, restitution=0.2, friction=0.5).simulate(1.5, tolerance=1e-6)
    assert float(result["floor.normal_force"][-1]) == pytest.approx(MASS * 9.81, rel=1e-3)
    assert np.linalg.norm(result["box.velocity"][-1]) < 1e-4
    area = float(result["floor.area"][-1])
    assert float(result["floor.pressure"][-1]) == pytest.approx(MASS * 9.81 / area, rel=1e-3)
    assert float(result["floor.peak_pressure"][-1]) > float(result["floor.pressure"][-1])
    total = np.asarray(result["energy.total"])
    assert (np.diff(total) < 1e-6).all()


def test_bristles_hold_without_creep():
    angle = 0.3
    system = bc.System("slope", gravity=(9.81 * np.sin(angle), 0.0, -9.81 * np.cos(angle)))
    box = system.body("box", mass=MASS, inertia=INERTIA, at=(0.0, 0.0, 0.05))
    system.free("flight", system.ground, box)
    system.contact(
        "floor", system.ground.plane(), box.box(*HALF), restitution=0.3, friction=bc.contact.LuGre(0.6),
        treatment="continuous", law="half-space",
    )  # fmt: skip
    result = system.simulate(1.0, tolerance=1e-6, output=10)
    moved = np.asarray(result["box.position.x"])
    assert abs(moved[-1] - moved[5]) < 1e-7


def test_a_resumed_run_has_the_same_bits(tmp_path, monkeypatch):
    monkeypatch.setattr(simulation, "Options", partial(simulation.Options, chunk_seconds=1e-9))
    monkeypatch.setattr(recording, "SHORTEST", 0.0)
    monkeypatch.setattr(recording, "PAUSE", 0.0)
    turned = Rotation.from_euler("x", 0.3).as_matrix()
    system = _thrown(height=0.1, rotation=turned, restitution=0.5, friction=0.3)
    options = {"tolerance": 1e-6, "output": 200, "max_step": 1e-3}
    whole = system.simulate(0.3, **options)
    write, calls = os.write, 0

    def interrupted(handle, data):
        nonlocal calls
        calls += 1
        if calls == 150:
            raise KeyboardInterrupt
        return write(handle, data)

    monkeypatch.setattr(os, "write", interrupted)
    part = system.simulate(0.3, save=tmp_path / "run.h5", **options)
    monkeypatch.setattr(os, "write", write)
    # It has touched, so that the warm start and the speed of the touch are in the checkpoint.
    assert np.asarray(part["floor.penetration"]).max() > 0.0
    assert len(part) < len(whole)
    again = bc.resume(tmp_path / "run.h5")
    np.testing.assert_array_equal(again["box.position"], whole["box.position"])
    np.testing.assert_array_equal(again["box.angular_velocity"], whole["box.angular_velocity"])


def test_written_and_read_again(tmp_path):
    system = _thrown(restitution=0.5, friction=0.3, law="foundation", stiffness=2e9)
    path = tmp_path / "throw.yaml"
    save(system, path)
    text = path.read_text()
    assert "foundation" in text
    assert "method: field" in text
    read = load(path)
    one, two = (s.simulate(0.3, tolerance=1e-6, output=10) for s in (system, read))
    np.testing.assert_array_equal(one["box.position.z"], two["box.position.z"])
    assert "fields of depth, law foundation" in str(read.mechanism())


@needs_gcc
def test_exported_c_and_cuda_give_the_same_rates(tmp_path):
    turned = Rotation.from_euler("xy", (0.2, 0.1)).as_matrix()
    mechanism = _thrown(height=0.0745, rotation=turned, restitution=0.5, friction=0.3).mechanism()
    export = export_of(mechanism, "box")
    n = len(export.states)
    x = np.tile(mechanism.kernel_input(), (4, 1))
    x[:, 3] -= np.linspace(0.0, 0.003, 4)
    x[:, 8:14] += np.random.default_rng(0).normal(size=(4, 6))
    expected = compile_program(export.rates).many(x)
    source = tmp_path / "box.c"
    source.write_text(c_file(export))
    rates = library(source).box_rates
    rates.argtypes = [ctypes.c_double, *3 * [ctypes.c_void_p]]
    for row, wanted in zip(x, expected, strict=True):
        y, p, found = row[1 : 1 + n].copy(), row[1 + n :].copy(), np.zeros(n)
        rates(row[0], pointer(y), pointer(p), pointer(found))
        assert relative(found, wanted) < 1e-13
    assert np.abs(expected[-1]).max() > 100.0  # it touches
    if shutil.which("g++"):
        text = cuda.evaluation(export.rates, n, "double", 4)
        # Tables go beside the text: no four of their numbers stand in it in a row.
        assert sum(len(words) for words in text.tables.values()) > 1000
        for name, words in text.tables.items():
            assert f"__device__ long long {name}[{max(len(words), 1)}];" in text
            assert len(words) < 4 or ", ".join(f"{word}LL" for word in words[:4]) not in text
        found = evaluate(Processor(tmp_path), text, 4, x[:, 0], x[:, 1 : 1 + n], x[:, 1 + n :], n, np.float64)
        assert relative(found, expected) < 1e-13
    with pytest.raises(ValueError, match="precision='double'"):
        cuda.evaluation(export.rates, n, "single", 4)


def test_batches_do_what_single_runs_do():
    system = _thrown(height=0.1, restitution=0.5, friction=0.3)
    system.gravity = (0.0, 0.0, system.parameter("g", -9.81))
    pulls = [-9.81, -9.0, -8.0, -7.0, -6.0]
    many = bc.simulate_many(
        system, {"g": pulls}, 0.2, quantities=["box.position.z"], tolerance=1e-8, output=4
    )
    assert not many.failures
    for k, g in enumerate(pulls):
        single = system.simulate(0.2, parameters={"g": g}, tolerance=1e-8, output=4)
        assert many["box.position.z"][k].tolist() == single["box.position.z"].tolist()


def test_what_is_refused_says_what_to_do():
    with pytest.raises(ModelError, match="points= is not taken any more"):
        _thrown(points=4)
    with pytest.raises(ModelError, match="exponent= belongs to contact by closest points"):
        _thrown(exponent=1.5)
    with pytest.raises(ModelError, match="foundation needs stiffness="):
        _thrown(law="foundation")
    with pytest.raises(ModelError, match="takes young="):
        _thrown(stiffness=1e9)
    with pytest.raises(ModelError, match=r"at least 0\.001"):
        _thrown(restitution=0.0)
    system = bc.System("plane curves")
    ball = system.body("ball", mass=1.0, inertia=(1.0, 1.0, 1.0))
    with pytest.raises(ModelError, match="HalfPlane has no field"):
        system.contact("c", system.ground.line(), ball.circle(0.1), treatment="continuous", method="field")


@pytest.mark.parametrize("share", [0.8, 1.3])
def test_bristles_hold_against_turning_up_to_coulombs_moment(share):
    """A block turned about the normal is held without creep below mu N r, r the mean distance of the load from its
    middle; above that it turns."""
    half, mu, weight = 0.05, 0.4, 9.80665
    x, y = np.meshgrid(np.linspace(-half, half, 401), np.linspace(-half, half, 401))
    turn = share * mu * weight * float(np.hypot(x, y).mean())
    system = bc.System("block")
    block = system.body("block", mass=1.0, inertia=(2e-3,) * 3, at=(0.0, 0.0, half))
    system.free("flight", system.ground, block)
    system.contact("floor", system.ground.plane(), block.box(half, half, half), 0.1, bc.contact.LuGre(mu),
                   treatment="continuous", method="field")  # fmt: skip
    system.applied_torque("turn", block, lambda t: (0.0, 0.0, turn))
    run = system.simulate(1.0, output=20, tolerance=1e-6)
    late = np.asarray(run["block.angular_velocity.z"])[10:]
    assert np.abs(late).max() < 1e-6 if share < 1.0 else late.min() > 0.1


def test_terrains_and_unions_come_back_from_files():
    """With the same bits, and as the schema of the format has them."""
    jsonschema, yaml = pytest.importorskip("jsonschema"), pytest.importorskip("yaml")
    system = bc.System("terrain")
    body = system.body("body", mass=0.5, inertia=(1e-3,) * 3, at=(0.0, 0.0, 0.12))
    system.free("flight", system.ground, body)
    x = np.linspace(-1.0, 1.0, 11)
    terrain = bc.contact.HeightField(0.02 * np.cos(x)[:, None] * np.cos(x), 0.1)
    quarter = ((0.0, -1.0, 0.0), (1.0, 0.0, 0.0), (0.0, 0.0, 1.0))
    parts = (
        bc.contact.Part(bc.contact.Box(0.05, 0.03, 0.03)),
        bc.contact.Part(bc.contact.Capsule(0.02, 0.03), (0.05, 0.0, 0.0), quarter),
    )
    below = system.ground.shape(terrain, at=(-0.5, -0.5, 0.0))
    system.contact(
        "floor", below, body.shape(bc.contact.Union(parts, 0.01)), 0.5, 0.3, treatment="continuous"
    )
    text = dumps(system)
    jsonschema.validate(yaml.safe_load(text), schema())
    runs = [s.simulate(0.2, output=40) for s in (system, loads(text))]
    assert np.array_equal(runs[0].q, runs[1].q)
    assert runs[0]["floor.penetration"].max() > 0.0
    with pytest.raises(ModelError, match=r"item 2 of parts of .* has no key 'radus'; did you mean 'radius'"):
        loads(text.replace("kind: capsule, radius", "kind: capsule, radus"))


def _bullet(speed):
    """Towards a wall of 2 mm."""
    system = bc.System("wall", gravity=(0.0, 0.0, 0.0))
    bullet = system.body("bullet", mass=0.01, inertia=(1e-5,) * 3, at=(0.0, 0.0, 0.03))
    system.free("flight", system.ground, bullet)
    wall = system.ground.shape(bc.contact.Box(0.1, 0.1, 0.001))
    system.contact("hit", wall, bullet.box(0.01, 0.01, 0.01), treatment="continuous", young=1e8)
    return system.simulate(0.05 / speed, initial={"flight": {"velocity": (0.0, 0.0, -speed)}}, output=20)


def test_a_wall_holds_or_says_that_it_may_be_pressed_through():
    """Beyond its middle the bullet is driven out on the other side, with the energy that it brought."""
    assert float(_bullet(1.0)["bullet.velocity.z"][-1]) == pytest.approx(1.0, rel=1e-4)
    for speed, behind in ((20.0, 20.0), (1000.0, -1000.0)):
        said = r"'hit': at t = .* s 'bullet' is pressed .* into 'ground', to its middle"
        with pytest.warns(bellcrank.contact.ContactNote, match=said):
            run = _bullet(speed)
        assert float(run["bullet.velocity.z"][-1]) == pytest.approx(behind, rel=1e-4)


@pytest.mark.parametrize("speed", [100.0, 3000.0])
def test_fast_equal_boxes_do_not_pass_through_each_other(speed):
    """Steps of free flight are longer than the bodies; as one lies within the other no vertex is deep, but they are."""
    system = bc.System("boxes", gravity=(0.0, 0.0, 0.0))
    bodies = []
    for name, x in (("one", 0.0), ("other", 1.0)):
        body = system.body(name, mass=1.0, inertia=(1e-3,) * 3, at=(x, 0.0, 0.0))
        system.free(f"flight of {name}", system.ground, body)
        bodies.append(body.box(0.05, 0.05, 0.05))
    system.contact("bump", *bodies, treatment="continuous", method="field", young=1e9 * (speed / 10.0) ** 2)
    run = system.simulate(
        2.0 / speed, initial={"flight of other": {"velocity": (-speed, 0.0, 0.0)}}, output=20
    )
    assert float(run["one.velocity.x"][-1]) == pytest.approx(-speed, rel=1e-3)
    assert float(run["other.velocity.x"][-1]) == pytest.approx(0.0, abs=1e-3 * speed)
