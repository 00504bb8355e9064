"""Groups of shapes that collide: the same motion as with a contact for every pair, and what results tell of it."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from bellcrank import files
from bellcrank.errors import ModelError
from bellcrank.impacts.stepping import SteppedRun
from bellcrank.mechanism import analyse
from bellcrank.model import System
from bellcrank.result.result import Result
from bellcrank.result.storage import load
from impacts.models import G

LAWS = {"restitution": 0.3, "friction": 0.4}


def tower(grouped: bool, count: int = 3) -> System:
    """Boxes that fall on each other, a little beside."""
    system = System("tower", gravity=(0.0, 0.0, -G))
    shapes = [system.ground.plane()]
    system.ground.collides(shapes[0])
    for k in range(count):
        at = (0.01 * k, -0.005 * k, 0.06 + 0.12 * k)
        body = system.body(f"box {k}", mass=1.0, inertia=(1.7e-3,) * 3, at=at)
        system.free(f"flight {k}", system.ground, body)
        shapes.append(body.box(0.05, 0.05, 0.05))
        body.collides(shapes[-1])
    if grouped:
        system.contacts_between(**LAWS, name="heap")
    else:
        for i, a in enumerate(shapes):
            for j, b in enumerate(shapes[i + 1 :], i + 1):
                system.contact(f"pair {i} {j}", a, b, **LAWS)
    return system


def run(system: System, duration: float = 0.6, **more: object) -> Result:
    return system.simulate(duration, impacts="stepping", step=1e-3, **({"output": 12} | more))


@pytest.fixture(scope="module")
def heap() -> Result:
    return run(tower(True))


def test_a_group_moves_as_its_pairs_do(heap: Result) -> None:
    """Contacts come in another order, so impulses agree to the tolerance."""
    pairs = run(tower(False))
    for name in ("box 0", "box 2"):
        a, b = (np.asarray(r[f"{name}.position"]) for r in (heap, pairs))
        assert a == pytest.approx(b, abs=2e-5)
    assert len(heap.impacts) == len(pairs.impacts)


def test_bodies_at_rest_feel_their_weight(heap: Result) -> None:
    assert np.asarray(heap["box 2.contact_force"])[-1] == pytest.approx([0.0, 0.0, G], abs=1e-3 * G)
    assert np.asarray(heap["box 0.contact_force"])[-1] == pytest.approx([0.0, 0.0, G], abs=1e-3 * G)
    assert np.asarray(heap["box 1.contact_torque"])[-1] == pytest.approx([0.0] * 3, abs=1e-3)
    assert heap.run.unsolved == 0
    assert heap.run.penetration < 1e-6


def test_impacts_name_group_and_bodies(heap: Result, tmp_path: Path) -> None:
    first = heap.impacts[0].contacts[0]
    assert first.contact == "heap: ground box 0"
    assert first.bodies == ("ground", "box 0")
    heap.save(tmp_path / "heap.h5")
    again = load(tmp_path / "heap.h5")
    assert [c.contact for i in again.impacts for c in i.contacts] == [
        c.contact for i in heap.impacts for c in i.contacts
    ]
    assert again.contact_forces == pytest.approx(heap.contact_forces)


def test_a_group_goes_through_a_file(tmp_path: Path) -> None:
    files.save(tower(True), tmp_path / "tower.yaml")
    again = run(files.load(tmp_path / "tower.yaml"), 0.1)
    assert np.asarray(again["box 0.position"]) == pytest.approx(
        np.asarray(run(tower(True), 0.1)["box 0.position"]), abs=1e-12
    )


def test_room_for_contacts_grows() -> None:
    small, plain = (SteppedRun(analyse(tower(True)), 1e-3, [], []) for _ in range(2))
    small.room = 1
    small._enter(small.mechanism.start, np.array(small.mechanism.parameter_values))
    times = np.linspace(0.0, 0.2, 5)
    a, b = (each.go_on(times, False) for each in (small, plain))
    assert small.room > 4
    assert a.q == pytest.approx(b.q, abs=1e-12)


@pytest.mark.parametrize("spread", [(1.0, 1.0, 1.0), (1.0, 4.0, 1.0), (0.0, 0.0, 3.0)])
@pytest.mark.parametrize("sizes", [(0.1, 0.1), (0.01, 0.4)])
def test_sweep_finds_every_pair_that_is_near(
    spread: tuple[float, float, float], sizes: tuple[float, float]
) -> None:
    """Spheres at random, alike and of all sizes, in a cloud, a wall, a tower: pairs whose boxes overlap, once each."""
    rng, count = np.random.default_rng(0), 40
    radii = np.exp(rng.uniform(*np.log(sizes), count))
    system = System("cloud", gravity=(0.0, 0.0, 0.0))
    at = np.add(rng.uniform(0.0, 1.0, (count, 3)) * spread, (0.0, 0.0, 1.0))
    for k in range(count):
        body = system.body(f"ball {k}", mass=1.0, inertia=(1e-3,) * 3, at=tuple(at[k]))
        system.free(f"flight {k}", system.ground, body)
        body.collides(body.sphere(radii[k]))
    system.contacts_between()
    from bellcrank.impacts import broad_phase, moreau

    stepped = SteppedRun(analyse(system), 1e-3, [], [])
    scene = stepped.scene
    with pytest.raises(ModelError, match="inside each other"):
        stepped._check_start()
    count_found = broad_phase.candidates(scene.broad, scene.frames, scene.y, scene.colliders, 0.0, 0.0)
    found = [tuple(sorted(pair)) for pair in scene.broad.found[:count_found].tolist()]
    near = np.abs(at[:, None] - at[None]).max(axis=2) <= radii[:, None] + radii
    wanted = {(i, j) for i in range(count) for j in range(i + 1, count) if near[i, j]}
    assert set(found) == wanted
    assert len(found) == len(wanted)
    # A body that is nowhere hides no other ones.
    scene.y[scene.frames.first[scene.colliders[0].frame] + 9] = math.nan
    count_found = broad_phase.candidates(scene.broad, scene.frames, scene.y, scene.colliders, 0.0, 0.0)
    left = {tuple(sorted(pair)) for pair in scene.broad.found[:count_found].tolist()}
    assert {pair for pair in left if 0 not in pair} == {pair for pair in wanted if 0 not in pair}
    gaps = scene.near.gap[: int(scene.cones.counts[moreau.CONTACTS])]
    assert (gaps < 0.0).sum() == sum(math.dist(at[i], at[j]) < radii[i] + radii[j] for i, j in found)


def test_contacts_are_looked_for_again_where_bodies_moved() -> None:
    """Two of eight boxes are moved: what is kept and what is found anew are all contacts there are."""
    from bellcrank.impacts import moreau

    system = System("boxes", gravity=(0.0, 0.0, -G))
    system.ground.collides(system.ground.plane())
    for k in range(8):
        body = system.body(
            f"box {k}", mass=1.0, inertia=(1e-2,) * 3, at=(0.11 * (k % 4), 0.0, 0.05 + 0.1 * (k // 4))
        )
        system.free(f"flight {k}", system.ground, body)
        body.collides(body.box(0.05, 0.05, 0.05))
    system.contacts_between(restitution=0.0, friction=0.3)
    stepped = SteppedRun(analyse(system), 1e-3, [], [])
    stepped.go_on(np.array([0.0, 0.02]), False)
    scene, c = stepped.scene, stepped.scene.cones

    def contacts() -> list[tuple[float, ...]]:
        near = scene.near
        rows = range(c.counts[moreau.CONTACTS])
        return sorted((float(near.key[i]), near.gap[i], near.length[i], *near.place[i]) for i in rows)

    moreau.forget_places(scene)
    moreau.locate(scene, 1e-3)
    before = contacts()
    scene.x[1:3] += 1e-4, 2e-4
    scene.x[1 + 7 * 5] += 3e-4
    moreau.weigh(scene)
    deepest = moreau.locate(scene, 1e-3)
    assert 0 < int(scene.near.still.sum()) < len(scene.near.still)
    again = contacts()
    moreau.forget_places(scene)
    assert moreau.locate(scene, 1e-3) == deepest
    assert again == contacts() != before
    assert len(again) > 20


def test_joined_bodies_and_pairs_of_their_own_do_not_collide_in_a_group() -> None:
    """Two links that overlap at their pin fall and rest on the floor."""
    system = System("chain", gravity=(0.0, 0.0, -G))
    a = system.body("a", mass=1.0, inertia=(0.01,) * 3, at=(0.0, 0.0, 0.3))
    b = system.body("b", mass=1.0, inertia=(0.01,) * 3, at=(0.2, 0.0, 0.3))
    system.free("flight", system.ground, a)
    system.revolute("pin", a, b, at=(0.1, 0.0, 0.3), axis="y")
    floor = system.ground.plane()
    shapes = [a.capsule(0.03, 0.12), b.capsule(0.03, 0.12)]
    system.contacts_between([floor, *shapes], friction=0.5, restitution=0.0)
    result = run(system, 1.0)
    assert np.asarray(result["a.contact_force"])[-1, 2] + np.asarray(result["b.contact_force"])[
        -1, 2
    ] == pytest.approx(2.0 * G, rel=1e-3)
    # The pin carries what the floor and the weight of a link leave.
    left = np.asarray(result["b.contact_force"])[-1] + np.asarray(result["pin.force"])[-1]
    assert left == pytest.approx([0.0, 0.0, G], abs=1e-2 * G)


def test_groups_without_a_name_are_numbered() -> None:
    system = System("two floors")
    floor = system.ground.plane()
    for k in range(3):
        ball = system.body(f"ball {k}", 1.0, (1.0, 1.0, 1.0))
        system.contacts_between([ball.sphere(0.1)], [floor])
    assert list(system.collisions) == ["collisions", "collisions 2", "collisions 3"]


def test_what_a_group_cannot_be_is_said() -> None:
    system = tower(False)
    with pytest.raises(ModelError, match="no shapes"):
        system.contacts_between([])
    with pytest.raises(ModelError, match="takes shapes on bodies"):
        system.contacts_between([3.0])
    with pytest.raises(ModelError, match="its own shapes"):
        system.bodies["box 0"].collides(system.ground.plane())
    with pytest.raises(ModelError, match="impacts='stepping'"):
        tower(True).simulate(0.1)
