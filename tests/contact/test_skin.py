"""Surfaces of flexible members in contact: they bend with the member, and the modes feel what presses on them."""

import ctypes
import shutil
from pathlib import Path

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.optimize import minimize, root
from scipy.spatial.transform import Rotation
from skfem import MeshHex

import bellcrank as bc
from bellcrank.contact import Box, Capsule, LuGre, Plane, Sphere
from bellcrank.contact.fields import FieldLaw, routine
from bellcrank.contact.skin import Party, Skin, SkinShape, skin_routine
from bellcrank.files import dumps, loads
from bellcrank.flexible import STEEL, Clamped, NormalModes, beam, circle, rod, solid
from bellcrank.flexible.member import FlexibleMember, Member
from bellcrank.flexible.rods import Rod
from bellcrank.mechanism.export import export_of
from bellcrank.model.contacts import PlacedShape
from bellcrank.program import cuda
from bellcrank.program.gpu import evaluate
from program.c_compiler import library, needs_gcc, pointer, relative
from program.cuda_shim import Processor

LENGTH, THICK, RADIUS, AT = 1.0, 0.02, 0.05, 0.63
ALONG = Rotation.from_euler("y", 90, degrees=True).as_matrix()


def member(modes: int = 4) -> Member:
    model = beam("bar", LENGTH, circle(THICK), STEEL, elements=5)
    return model.reduce(NormalModes(count=modes), Clamped("start"))


def ball_on_bar(
    made: Member, mass: float, overlap: float, turned: float = 0.0, **contact: float
) -> bc.System:
    """A bar is clamped at one end, and a ball in a guide stands on it between two nodes; all turned about z.

    Young's modulus is a parameter where none is given.
    """
    system = bc.System("bar", gravity=(0, 0, -9.81))
    modulus = {} if "young" in contact else {"young": system.parameter("young", 1e7)}
    R = Rotation.from_euler("z", turned).as_matrix()
    bar = system.flexible_body("bar", made, rotation=R)
    system.fixed("root", system.ground, bar.node("start"))
    place = R @ (AT, 0, THICK / 2 + RADIUS - overlap)
    ball = system.body("ball", mass=mass, inertia=(1e-4,) * 3, at=place, rotation=R)
    system.prismatic("guide", system.ground, ball, axis="z")
    system.contact("touch", skin(bar), ball.sphere(RADIUS), treatment="continuous", **modulus, **contact)
    return system


def skin(bar: bc.Body) -> PlacedShape:
    shape = Capsule(THICK / 2, LENGTH / 2 - THICK / 2)
    return bar.skin(shape, at=(LENGTH / 2, 0, 0), rotation=ALONG)


@pytest.fixture(scope="module")
def bar() -> Member:
    return member()


def test_a_load_between_nodes_bends_the_bar_as_beam_theory_says(bar: Member) -> None:
    mass = 1.0
    system = ball_on_bar(bar, mass, 1e-3, restitution=0.5, young=1e6)
    rest = system.equilibrium()
    found = system.simulate(1e-6, start=rest.state, output=1)
    load, stiffness = mass * 9.81, STEEL.young * np.pi * THICK**4 / 64
    own = STEEL.density * np.pi * THICK**2 / 4 * 9.81
    tip = -load * AT**2 * (3 * LENGTH - AT) / (6 * stiffness) - own * LENGTH**4 / (8 * stiffness)
    assert found["touch.force"][0][2] == pytest.approx(load, rel=1e-6)
    # Four modes carry the tip to less than a percent.
    assert found["bar.end.position"][0][2] == pytest.approx(tip, rel=1e-2)


def test_an_elastic_impact_keeps_the_energy_and_turning_everything_changes_nothing(bar: Member) -> None:
    ends = []
    for turned in (0.0, 0.7):
        system = ball_on_bar(bar, 0.2, -1e-3, turned, restitution=1.0, friction=0.0, young=1e8)
        run = system.simulate(0.03, output=30, tolerance=1e-9)
        energy = run["energy.total"].to_numpy()
        assert np.ptp(energy) < 1e-6 * np.ptp(run["energy.kinetic"].to_numpy())
        assert run["touch.normal_force"].max() > 10.0
        hardest = int(run["touch.normal_force"].to_numpy().argmax())
        patch = run.patch("touch", run.time[hardest])
        middle = np.average(patch.corners.mean(axis=1), axis=0, weights=patch.pressure.mean(axis=1))
        assert np.allclose(middle, run["touch.point"][hardest], atol=1e-3)
        assert abs(run.ledger.residual).max() < 1e-5 * np.ptp(run["energy.kinetic"].to_numpy())
        ends.append([run["ball.position.z"][-1], run["bar.end.position"][-1][2]])
    assert ends[0] == pytest.approx(ends[1], abs=1e-9)


def wire() -> Rod:
    return rod("wire", LENGTH, circle(THICK), STEEL, bending=3, torsion=1)


@pytest.mark.parametrize("partner", ["bar", "wire", "ball"])
def test_force_and_forces_on_all_coordinates_are_the_slope_of_one_energy(bar: Member, partner: str) -> None:
    system = bc.System("pair")
    rng = np.random.default_rng(2)
    first, second = (bar, bar) if partner == "bar" else (wire(), bar if partner == "wire" else None)
    a = skin(system.flexible_body("one", first)).shape
    b = Sphere(RADIUS) if second is None else skin(system.flexible_body("two", second)).shape
    law = FieldLaw.FOUNDATION if partner == "wire" else FieldLaw.HALF_SPACE
    made = skin_routine(Party(a, a, first), Party(b, b, second), law)
    n, m = first.modes, 0 if second is None else second.modes
    moved = (*range(12), *range(28, 28 + n), *range(28 + 2 * n, 28 + 2 * n + m))
    kernel = made.directional(moved).kernel
    for _ in range(5):
        # Strains of a rod are large, modal coordinates of a bar bend it by some millimetres.
        q = rng.normal(size=n) * (2.0 if isinstance(first, Rod) else 0.02)
        r = rng.normal(size=m) * 0.02
        x, axes = place(a, first, q, 0.61)
        if isinstance(b, Sphere):
            y, turned, gap = np.zeros(3), Rotation.random(random_state=rng).as_matrix(), THICK / 2 + RADIUS
        else:
            y, own = place(b, second, r, 0.43)
            turned, gap = axes @ Rotation.from_euler("z", 1.3).as_matrix() @ own.T, THICK
        p = x + axes @ (0.0, 0.0, gap - 2e-3) - turned @ y
        v, w, dq, dr = rng.normal(size=3), rng.normal(size=3), rng.normal(size=n), rng.normal(size=m)
        rate = np.cross(w, turned.T).T
        law_numbers = [1e8, 0, 1, 0, 0, 1, 1, 0, 0, 0]
        given = [*p, *turned.ravel(), *np.zeros(6), *law_numbers, *q, *(0 * q), *r, *(0 * r)]
        found = kernel(np.array([*given, *v, *rate.ravel(), *dq, *dr, -1.0, -1.0]))
        count = made.n_out
        force, moment, energy, slope = found[:3], found[3:6], found[13], found[count + 13]
        power = force @ v + (moment - np.cross(p, force)) @ w + found[19:count] @ [*dq, *dr]
        assert energy > 0.0
        assert power == pytest.approx(-slope, rel=1e-9)


def test_two_solid_members_touch_as_the_boxes_that_they_are_at_rest() -> None:
    """What their triangles enclose is a grid of depths; edges are sharp there, and rounded in the boxes."""
    mesh = MeshHex.init_tensor(np.linspace(0, 0.2, 9), *[np.linspace(-0.01, 0.01, 3)] * 2)
    model = solid("bar", mesh, STEEL, {"start": np.flatnonzero(mesh.p[0] < 1e-9)}, order=1, rigid=("start",))
    made = model.reduce(NormalModes(count=3), Clamped("start"))
    shape = bc.System("x").flexible_body("bar", made).skin(spacing=0.004).shape
    box, n = Box(0.1, 0.01, 0.01), made.modes
    turned, elastic = Rotation.from_euler("z", 1.3).as_matrix(), [1e8, 0, 1, 0, 0, 1, 1, 0]
    p = np.array([0.02, 0.0, 0.019])
    rigid = routine(box, box, FieldLaw.HALF_SPACE).kernel(
        np.array([*p, *turned.ravel(), *np.zeros(6), *elastic, -1.0, -1.0])
    )
    half = np.array([0.1, 0.0, 0.0])
    p = p + half - turned @ half
    made_routine = skin_routine(Party(shape, shape, made), Party(shape, shape, made), FieldLaw.HALF_SPACE)
    kernel = made_routine.directional((*range(3), *range(28, 28 + n), *range(28 + 2 * n, 28 + 3 * n))).kernel
    rng = np.random.default_rng(1)
    for size in (0.0, 0.01):
        q, r = size * rng.normal(size=(2, n))
        v, dq, dr = rng.normal(size=3), rng.normal(size=n), rng.normal(size=n)
        given = [*p, *turned.ravel(), *np.zeros(6), *elastic, 0, 0, *q, *np.zeros(n), *r, *np.zeros(n)]
        found = kernel(np.array([*given, *v, *dq, *dr, -1.0, -1.0]))
        count = made_routine.n_out
        assert found[:3] @ v + found[19:count] @ [*dq, *dr] == pytest.approx(-found[count + 13], rel=1e-9)
        if size == 0.0:
            assert found[2] == pytest.approx(rigid[2], rel=0.06)


def place(shape: SkinShape, made: FlexibleMember, q: np.ndarray, arc: float) -> tuple[np.ndarray, np.ndarray]:
    """Where the axis is at an arc, and axes of the section there."""
    if isinstance(made, Rod):
        at, axes = made.poses([arc], q)
        return at[0], axes[0]
    near = np.abs(shape.vertices[:, 0] - arc) < 0.02
    return np.array([arc, 0.0, 0.0]) + shape.modes[near].mean(axis=0) @ q, np.eye(3)


def test_two_crossing_bars_share_the_deflection() -> None:
    """A load at a carries through both cantilevers: each bends by F a^3 / (3 E I), and Hertz's part is small."""
    system = bc.System("cross")
    made = member(10)
    shape = skin(system.flexible_body("bar", made)).shape
    kernel = skin_routine(*[Party(shape, shape, made)] * 2, FieldLaw.HALF_SPACE).kernel
    turned = Rotation.from_euler("z", 90, degrees=True).as_matrix()
    lowered, n, modulus = 0.02, made.modes, 1e10

    def forces(q: np.ndarray) -> np.ndarray:
        p = [AT, -AT, THICK - lowered]
        given = [*p, *turned.ravel(), *np.zeros(6), modulus, 0, 1, 0, 0, 1, 1, 0, 0, 0]
        return kernel(np.array([*given, *q[:n], *np.zeros(n), *q[n:], *np.zeros(n), -1.0, -1.0]))

    K = np.kron(np.eye(2), made.stiffness)

    def unbalanced(q: np.ndarray) -> np.ndarray:
        return np.linalg.solve(K, forces(q)[19:]) - q

    # Start half way, almost apart.
    up = shape.modes[np.linalg.norm(shape.vertices - (AT, 0, THICK / 2), axis=1).argmin(), 2]
    half = np.linalg.solve(made.stiffness, up)
    half *= 0.49 * lowered / (half @ up)
    rest = root(unbalanced, np.array([*-half, *half]), tol=1e-12)
    found = forces(rest.x)
    load, overlap = found[2], found[14]
    stiffness = 3 * STEEL.young * np.pi * THICK**4 / 64 / AT**3
    assert rest.success
    assert load == pytest.approx(stiffness * (lowered - overlap) / 2, rel=1e-2)
    assert up @ rest.x[:n] == pytest.approx(-up @ rest.x[n:], rel=1e-3)
    assert 0.0 < overlap < 0.01 * lowered


def test_a_rod_bends_under_a_peg_as_the_elastica_does() -> None:
    """A ball without friction holds a clamped rod down, bent by more than half a right angle."""
    made = rod("wire", LENGTH, circle(THICK), STEEL, bending=(0, 7), torsion=0)
    shape = skin(bc.System("x").flexible_body("wire", made)).shape
    ball = Sphere(RADIUS)
    kernel = skin_routine(Party(shape, shape, made), Party(ball, ball), FieldLaw.HALF_SPACE).kernel
    peg, K = np.array([0.55, -0.3, 0.0]), made.stiffness

    def contact(q: np.ndarray) -> np.ndarray:
        given = [*peg, *np.eye(3).ravel(), *np.zeros(6), 1e10, 0, 1, 0, 0, 1, 1, 0, 0, 0]
        return kernel(np.array([*given, *q, *(0 * q), -1.0, -1.0]))

    def energy(q: np.ndarray) -> tuple[float, np.ndarray]:
        found = contact(q)
        return (0.5 * q @ K @ q + found[13]) / K[0, 0], (K @ q - found[19:]) / K[0, 0]

    # From below the peg.
    rest = minimize(energy, np.eye(made.modes)[0] * -1.8, jac=True, method="BFGS", options={"gtol": 1e-8})
    found = contact(rest.x)
    stiffness = STEEL.young * np.pi * THICK**4 / 64

    def missed(unknown: np.ndarray) -> np.ndarray:
        """Of the axis up to the place of contact, whose force, arc and angle are guessed."""
        force, arc, angle = unknown
        normal = np.array([-np.sin(angle), np.cos(angle)])
        end = peg[:2] - (RADIUS + THICK / 2 - found[14]) * normal

        def along(s: float, y: np.ndarray) -> list[float]:
            arm = end - y[:2]
            turn = force * (arm[1] * normal[0] - arm[0] * normal[1]) / stiffness
            return [np.cos(y[2]), np.sin(y[2]), turn]

        y = solve_ivp(along, (0.0, arc), np.zeros(3), rtol=1e-9, atol=1e-11).y[:, -1]
        return np.array([*(y[:2] - end), y[2] - angle])

    force, arc, angle = root(missed, [np.linalg.norm(found[:3]), 0.68, -0.9]).x
    assert angle < -0.8
    assert np.linalg.norm(found[:3]) == pytest.approx(force, rel=5e-3)
    at, axes = made.poses([arc], rest.x)
    assert np.arctan2(axes[0][1, 0], axes[0][0, 0]) == pytest.approx(angle, abs=5e-3)
    out = (RADIUS + THICK / 2) * np.array([np.sin(angle), -np.cos(angle), 0.0])
    assert at[0] == pytest.approx(peg + out, abs=2e-3)


def test_an_impact_of_a_rod_on_a_bar_keeps_the_energy(bar: Member) -> None:
    system = bc.System("cross", gravity=(0, 0, 0))
    lower = system.flexible_body("lower", bar)
    upright = Rotation.from_euler("z", 90, degrees=True).as_matrix()
    start = (0.8, -0.8, THICK + 1e-4)
    upper = system.flexible_body("upper", wire(), rotation=upright, at=start)
    block = system.body("block", mass=1.0, inertia=(1e-2,) * 3, at=start)
    system.fixed("root", system.ground, lower.node("start"))
    system.prismatic("drop", system.ground, block, axis="z")
    system.fixed("clamp", block, upper.node("start"))
    system.contact("touch", skin(lower), skin(upper), restitution=1.0, young=1e8, treatment="continuous")
    again = loads(dumps(system))
    how = {"tolerance": 1e-8, "integrator": "dop853", "initial": {"drop": {"displacement_rate": -0.3}}}
    run = system.simulate(0.005, output=40, **how)
    energy = run["energy.total"].to_numpy()
    assert run["touch.normal_force"].max() > 50.0
    assert np.ptp(energy) < 1e-6 * energy[0]
    assert abs(run.ledger.residual).max() < 1e-6 * energy[0]
    hardest = int(run["touch.normal_force"].to_numpy().argmax())
    patch = run.patch("touch", run.time[hardest])
    middle = np.average(patch.corners.mean(axis=1), axis=0, weights=patch.pressure.mean(axis=1))
    assert np.allclose(middle, run["touch.point"][hardest], atol=1e-3)
    ends = [s.simulate(1e-3, output=1, **how)["block.position.z"][-1] for s in (system, again)]
    assert ends[0] == pytest.approx(ends[1], abs=1e-12)


def test_bristles_on_a_bar_give_and_take_what_the_ledger_says(bar: Member) -> None:
    system = bc.System("block on a bar", gravity=(0, 0, -9.81))
    body = system.flexible_body("bar", bar)
    system.fixed("root", system.ground, body.node("start"))
    block = system.body("block", mass=1.0, inertia=(1e-3,) * 3, at=(AT, 0, THICK / 2 + 0.02 - 1e-5))
    system.free("flight", system.ground, block)
    box = block.box(0.03, 0.03, 0.02)
    system.contact(
        "touch", skin(body), box, restitution=0.1, young=1e8, friction=LuGre(0.3), treatment="continuous"
    )
    start = {"flight": {"velocity": (0.3, 0, 0), "angular_velocity": (0, 0, 3.0)}}
    run = system.simulate(0.03, output=400, tolerance=1e-7, initial=start, integrator="dop853")
    lost = run["energy.total"][0] - run["energy.total"][-1]
    assert lost > 0.01
    assert abs(run.ledger.residual).max() < 1e-4 * lost
    rubbed = np.linalg.norm(run["touch.friction_force"].to_numpy(), axis=1)
    assert (rubbed <= 0.31 * run["touch.normal_force"].to_numpy() + 1e-3).all()
    # The block slides along the bar, and turns ever slower.
    assert run["block.velocity.x"][-1] < 0.25
    assert abs(run["block.angular_velocity.z"][-1]) < 2.9


def test_what_cannot_touch_is_named(bar: Member) -> None:
    system = bc.System("two")
    one, two = (system.flexible_body(name, bar) for name in ("one", "two"))
    line = system.flexible_body("line", wire())
    ball = system.body("ball", mass=1.0, inertia=(1e-4,) * 3)
    how = {"restitution": 0.5, "treatment": "continuous"}
    with pytest.raises(bc.ModelError, match="joins body 'one' to itself"):
        system.contact("c", skin(one), skin(one), **how)
    with pytest.raises(bc.ModelError, match="leave method='points' out"):
        system.contact("c", skin(one), ball.sphere(0.1), method="points", **how)
    with pytest.raises(bc.ModelError, match="body 'two' is no rod"):
        system.contact("c", PlacedShape(two.node("start"), skin(line).shape), skin(one), **how)
    with pytest.raises(bc.ModelError, match="a Plane has no end"):
        line.skin(Plane())
    with pytest.raises(bc.ModelError, match="body 'ball': the body is rigid"):
        ball.skin()
    with pytest.raises(bc.ModelError, match="give the shape around its axis"):
        one.skin()


def test_a_batch_has_the_bits_of_single_runs(bar: Member) -> None:
    system = ball_on_bar(bar, 0.2, -1e-5, restitution=0.5, friction=0.3)
    table = {"young": [3e6, 1e7, 5e7]}
    names = ["ball.position.z", "touch.normal_force"]
    many = bc.simulate_many(system, table, 0.01, quantities=names, output=8, tolerance=1e-8)
    for k, young in enumerate(table["young"]):
        alone = system.simulate(0.01, output=8, tolerance=1e-8, parameters={"young": young})
        for name in names:
            np.testing.assert_array_equal(many[name][k], alone[name])
    assert many[names[1]].max() > 1.0


@needs_gcc
def test_it_is_exported_as_c_and_cuda(bar: Member, tmp_path: Path) -> None:
    """Rates of both where the ball has sunk into the bent bar are those of the kernel."""
    mechanism = ball_on_bar(bar, 0.2, 1e-3, restitution=0.5, friction=0.3, young=1e7).mechanism()
    states = len(export_of(mechanism).states)
    code = library(mechanism.export_c(tmp_path / "bar.c", "bar"))
    x = mechanism.kernel_input()
    x[1 : 1 + states] += np.random.default_rng(0).normal(0.0, 1e-4, states)
    y, p, rates = x[1 : 1 + states].copy(), x[1 + states :].copy(), np.zeros(states)
    code.bar_rates(ctypes.c_double(0.0), pointer(y), pointer(p), pointer(rates))
    assert relative(rates, mechanism.kernel(x)) < 1e-11
    if shutil.which("g++"):
        text = cuda.evaluation(export_of(mechanism).rates, states, "double", 4)
        there = Processor(tmp_path)
        found = evaluate(
            there, text, 4, x[:1], x[None, 1 : 1 + states], x[None, 1 + states :], states, np.float64
        )
        assert relative(found[0], mechanism.kernel(x)) < 1e-11
    y[export_of(mechanism).states.index("position 0 of ball")] += 0.01
    apart = np.zeros(states)
    code.bar_rates(ctypes.c_double(0.0), pointer(y), pointer(p), pointer(apart))
    assert relative(apart, rates) > 0.1


def test_files_carry_it(bar: Member) -> None:
    system = ball_on_bar(bar, 0.2, 1e-4, restitution=1.0, young=1e8)
    again = loads(dumps(system))
    ends = [s.simulate(2e-3, output=1)["ball.position.z"][-1] for s in (system, again)]
    assert ends[0] == pytest.approx(ends[1], abs=1e-12)
    with pytest.raises(bc.ModelError, match="triangles of a skin name vertices"):
        Skin(np.eye(3), np.array([[0, 1, 7]]), np.zeros((3, 3, 1)))
    strange = PlacedShape(
        system.bodies["bar"].node("start"), Skin(np.eye(3), np.array([[0, 1, 2]]), np.zeros((3, 3, 1)))
    )
    with pytest.raises(bc.ModelError, match="has 1 modes, the body 4"):
        system.contact("d", strange, system.bodies["ball"].sphere(0.1), 0.5, treatment="continuous")
