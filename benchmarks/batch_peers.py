"""The peers of the batch benchmark: MuJoCo's rollout on all cores, Exudyn in a process a core."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from bellcrank.mechanism import Mechanism
from benchmarks import varied
from benchmarks.batch_timing import Row, cores, median_error, row, timed

DURATION = 10.0
SAMPLES = 100
"""Of the chassis in the second of a car."""
MASSES = ("crank mass", "rod mass", "slider mass")


def mujoco_cranks(
    case: str, table: dict[str, Any], reference: Any, checked: int, repeats: int
) -> Iterator[Row]:
    """Fewer instances than ours, which is enough for the rate; masses varied in the same way."""
    try:
        import mujoco

        from benchmarks.peers import minimal_simulation as minimal
        from benchmarks.peers.mujoco_simulation import MODEL, start
    except ImportError as error:
        print(f"mujoco is not measured: {error}")
        return
    q, v = start()
    kinds = mujoco.mjtIntegrator
    methods = {"RK4": kinds.mjINT_RK4, "Euler": kinds.mjINT_EULER}
    ladder = (
        ("Euler", 2e-3, 200),
        ("RK4", 1e-2, 200),
        ("RK4", 2e-3, 200),
        ("RK4", 1e-3, 80),
        ("RK4", 2e-4, 40),
    )
    for method, step, count in ladder:
        softness, count = 4.0, min(count, len(table[MASSES[0]]))
        models = []
        for k in range(count):
            model = mujoco.MjModel.from_xml_string(MODEL.format(gravity=-minimal.GRAVITY))
            model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_REFSAFE
            model.opt.timestep, model.opt.integrator = step, methods[method]
            model.eq_solref[0] = -1.0 / (softness * step) ** 2, -2.0 / (softness * step)
            for name in MASSES:
                model.body_mass[model.body(name.removesuffix(" mass")).id] = table[name][k]
            mujoco.mj_setConst(model, mujoco.MjData(model))
            models.append(model)
        initial = np.tile(np.concatenate([[0.0], q, v]), (count, 1))
        wall, processor, found = timed(_rollout(models, initial, round(DURATION / step)), repeats)
        ends = found[:checked, -1][:, [1, 1 + len(q)]]
        yield row(
            case, f"mujoco rollout {method}, step {step:g} s", count * DURATION, wall, processor,
            error=median_error(ends, reference[: len(ends)]),
        )  # fmt: skip


def _rollout(models: list[Any], initial: Any, steps: int) -> Any:
    """A run of all models on all cores; their states after every step."""
    import mujoco
    from mujoco import rollout

    data = [mujoco.MjData(models[0]) for _ in range(cores())]
    size = mujoco.mj_stateSize(models[0], mujoco.mjtState.mjSTATE_FULLPHYSICS)
    state = np.zeros((len(models), steps, size))
    begin = np.zeros((len(models), size))
    begin[:, : initial.shape[1]] = initial
    return lambda: rollout.rollout(models, data, begin, nstep=steps, state=state)[0]


def exudyn_cranks(
    case: str, table: dict[str, Any], reference: Any, checked: int, repeats: int
) -> Iterator[Row]:
    """In processes that are up and have built a model before the clock starts; their models are built inside it."""
    try:
        import exudyn  # noqa: F401

        from benchmarks.peers import minimal_simulation as minimal
    except ImportError as error:
        print(f"exudyn is not measured: {error}")
        return
    with _processes(_exudyn, minimal.MASSES, 1e-2) as pool:
        for step, count in ((1e-2, 60), (2e-3, 40), (5e-4, 20)):
            count = min(count, checked)
            masses = [tuple(float(table[name][k]) for name in MASSES) for k in range(count)]

            def run(masses: Any = masses, step: float = step) -> Any:
                chunks = max(1, len(masses) // (4 * cores()))
                return np.array(list(pool.map(_exudyn, masses, [step] * len(masses), chunksize=chunks)))

            wall, _, ends = timed(run, repeats)
            yield row(
                case, f"exudyn trapezoidal, step {step:g} s, {cores()} processes", count * DURATION, wall,
                wall * cores(), error=median_error(ends, reference[:count]),
            )  # fmt: skip


def _exudyn(masses: tuple[float, ...], step: float) -> tuple[float, float]:
    from benchmarks.peers.exudyn_simulation import varied_run

    return varied_run(masses, step)


@contextmanager
def _processes(work: Callable[..., Any], *warming: Any) -> Iterator[Any]:
    """A process a core, each of which has done the work `warming` once before any other."""
    from concurrent.futures import ProcessPoolExecutor
    from multiprocessing import get_context

    context = get_context("spawn")
    together = context.Barrier(cores())
    with ProcessPoolExecutor(
        cores(), mp_context=context, initializer=_warm, initargs=(together, work, warming)
    ) as pool:
        # None is ready for this before all are.
        list(pool.map(abs, range(cores())))
        yield pool


def _warm(together: Any, work: Callable[..., Any], warming: tuple[Any, ...]) -> None:
    # Asks Exudyn, before it is imported, for its build without range checks.
    sys.exudynFast = True  # type: ignore[attr-defined]
    work(*warming)
    together.wait(300.0)


@dataclass(frozen=True, eq=False)
class _Cars:
    """Varied cars, each standing at its own start; factors on their nominal values; chassis of the first ones."""

    owns: list[Mechanism]
    factors: list[dict[str, float]]
    tight: Any


def _cars(count: int, checked: int) -> _Cars:
    """Springs, dampers and chassis mass as in our table, tyres nominal; the first `checked` in tight runs."""
    mechanism, nominal = varied.car()
    table = varied.varied(np.random.default_rng(2), count, nominal)
    table["tyre stiffness"][:] = nominal["tyre stiffness"]
    starts = varied.rolling_starts(mechanism, table)
    tight = mechanism.simulate_many(
        {name: v[:checked] for name, v in table.items()}, 1.0, quantities=["chassis.position"], output=SAMPLES,
        starts=(starts[0][:checked], starts[1][:checked]), tolerance=1e-12, progress=False,
    )["chassis.position"]  # fmt: skip
    owns, factors = [], []
    for k in range(count):
        values = tuple(float(table[name][k]) for name in mechanism.mechanics.parameters)
        state = replace(mechanism.start, q=starts[0][k], u=starts[1][k])
        owns.append(replace(mechanism, start=state, parameter_values=values).with_programs_of(mechanism))
        factors.append({name: float(v[k]) / nominal[name] for name, v in table.items()})
    return _Cars(owns, factors, tight)


def mujoco_cars(case: str, repeats: int) -> Iterator[Row]:
    """Springs, dampers and masses varied, each car from its own equilibrium; tyres, one law in C for all, are not."""
    try:
        from benchmarks.peers import mujoco_car_simulation as peer
    except ImportError as error:
        print(f"mujoco is not measured: {error}")
        return
    cars = _cars(32, 4)
    count, checked, tight = len(cars.owns), len(cars.tight), cars.tight
    model, data = peer.built("RK4")
    models, initial = [], []
    for own, factors in zip(cars.owns, cars.factors, strict=True):
        models.append(_varied_car(model, factors))
        initial.append(np.concatenate([[0.0], *peer.beginning(models[-1], data, own)]))
    law = peer.tyre_function(model)
    for steps in (2, 5, 10, 20):
        h = 1.0 / (SAMPLES * steps)
        best: tuple[float, float] | None = None
        for softness in peer.SOFTNESS:
            _loops(models, h, softness)
            found = _with_tyres(law, _rollout(models[:checked], np.array(initial[:checked]), SAMPLES * steps))
            off = np.abs(found[:, steps - 1 :: steps, 1:4] - tight[:, 1:]).max()
            if np.isfinite(off) and (best is None or off < best[0]):
                best = float(off), softness
        if best is None:
            continue
        _loops(models, h, best[1])
        run = _rollout(models, np.array(initial), SAMPLES * steps)
        wall, processor, _ = timed(lambda run=run: _with_tyres(law, run), repeats)
        code = f"mujoco rollout RK4, step {h:g} s, tyres in C"
        yield row(case, code, float(count), wall, processor, error=best[0])


def _varied_car(model: Any, factors: dict[str, float]) -> Any:
    """A copy with other springs, dampers and chassis mass."""
    import copy

    own = copy.copy(model)
    for k in range(own.ntendon):
        axle = varied.axle(own.tendon(k).name)
        own.tendon_stiffness[k] *= factors[f"{axle} spring"]
        own.tendon_damping[k] *= factors[f"{axle} damper"]
    own.body_mass[own.body("chassis").id] *= factors["mass of chassis"]
    return own


def _loops(models: list[Any], h: float, softness: float) -> None:
    for model in models:
        model.opt.timestep = h
        model.eq_solref[:] = -1.0 / (softness * h) ** 2, -2.0 / (softness * h)


def _with_tyres(law: Any, run: Any) -> Any:
    """The callback belongs to the whole library, so it stands only as long as a run."""
    import mujoco

    mujoco.set_mjcb_passive(law)
    try:
        return run()
    finally:
        mujoco.set_mjcb_passive(None)


def exudyn_cars(case: str, repeats: int) -> Iterator[Row]:
    """The cars of `mujoco_cars`, in warm processes; each model is built inside the clock, its start outside."""
    try:
        import exudyn  # noqa: F401
    except ImportError as error:
        print(f"exudyn is not measured: {error}")
        return
    from benchmarks.peers.car_state import placements

    cars = _cars(4 * cores(), 4)
    places = [placements(own) for own in cars.owns]
    for factors in cars.factors:
        del factors["tyre stiffness"]
    with _processes(_exudyn_car, places[0], cars.factors[0], SAMPLES) as pool:
        for steps in (1, 2, 5, 10, 20):

            def run(steps: int = SAMPLES * steps) -> Any:
                return np.array(list(pool.map(_exudyn_car, places, cars.factors, [steps] * len(places))))

            wall, _, found = timed(run, repeats)
            code = f"exudyn trapezoidal, step {1.0 / (SAMPLES * steps):g} s, {cores()} processes"
            error = float(np.abs(found[: len(cars.tight)] - cars.tight).max())
            yield row(case, code, float(len(places)), wall, wall * cores(), error=error)


def _exudyn_car(places: Any, factors: dict[str, float], steps: int) -> Any:
    from benchmarks.peers.exudyn_car_simulation import varied_run

    return varied_run(places, factors, "trapezoidal", steps, SAMPLES)
