"""The car on a graphics processor: evaluations a second, and 100,000 cars over the bump, against the processor.

    python -m benchmarks.gpu prepare FOLDER     # here: emits the kernels, start states, reference numbers
    python -m benchmarks.gpu measure FOLDER     # on the machine with the card: needs NumPy and CuPy or nvcc
    python -m benchmarks.gpu                    # both, where everything is installed
    python -m benchmarks.gpu contacts FOLDER    # prepares bodies in contact alone; then measure FOLDER

`measure` writes FOLDER/gpu.json. Run it with ``PYTHONPATH=src`` where Bellcrank is not installed.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

BLOCK = 128
STEP, STEPS, SAMPLES = 1e-3, 1000, 10
CONTACT_STATES, SAMPLED = 2000, 100
"""States along a run with contact, repeated for the measurement; points of a surface of samples."""
LASTING = {"rod_on_bar": 0.06}
"""Seconds of runs that are shorter than those of rigid bodies: waves in a rod take small steps."""
CARS, DISTINCT, CHECKED, STATES = 100_000, 20_000, 64, 1 << 20
"""Cars on the bump, how many of them differ (their starts travel), are checked; states in one evaluation."""
METHODS = "runge_kutta4", "dormand_prince5", "runge_kutta5"
KINDS: dict[str, Any] = {"double": np.float64, "single": np.float32}
TOLERANCE = {"double": 1e-11, "single": 2e-6}
"""Position residual [m] to which loops are closed on the device."""
AGREEMENT = 1e-10


def contacts() -> dict[str, Any]:
    """Bodies thrown onto another: a field on a plane, mesh on mesh by fields, two surfaces of samples by points."""
    import trimesh

    import bellcrank as bc
    from bellcrank.contact import Box, Mesh, Sampled, Torus

    def mesh(made: Any) -> Any:
        return Mesh(np.array(made.vertices), np.array(made.faces), resolution=24)

    k = np.arange(SAMPLED) + 0.5
    z, turn = 1 - 2 * k / SAMPLED, np.pi * (1 + np.sqrt(5)) * k
    normals = np.column_stack([np.sqrt(1 - z * z) * np.cos(turn), np.sqrt(1 - z * z) * np.sin(turn), z])
    ring = mesh(trimesh.creation.torus(0.1, 0.04, major_sections=24, minor_sections=12))
    ball = mesh(trimesh.creation.icosphere(2, 0.1))
    samples = Sampled(0.1 * normals, normals)
    pairs = {
        "box_on_torus": (Torus(0.1, 0.04), Box(0.05, 0.05, 0.05), {}),
        "mesh_on_mesh": (ring, ball, {}),
        "samples_on_samples": (samples, samples, {"method": "points"}),
    }
    found = {}
    for name, (below, above, more) in pairs.items():
        system = bc.System(name, gravity=(0.0, 0.0, -9.81))
        body = system.body("body", mass=1.0, inertia=(0.003,) * 3, at=(0.02, 0.01, 0.24))
        system.free("flight", system.ground, body)
        system.contact(
            "touch",
            system.ground.shape(below),
            body.shape(above),
            0.6,
            friction=0.3,
            young=1e6,
            treatment="continuous",
            **more,
        )
        found[name] = system
    return found | skins()


def skins() -> dict[str, Any]:
    """A ball on a bar that bends by modes, and a rod dropped across it."""
    from scipy.spatial.transform import Rotation

    import bellcrank as bc
    from bellcrank.contact import Capsule
    from bellcrank.flexible import STEEL, Clamped, NormalModes, beam, circle, rod

    thick, length = 0.02, 1.0
    model = beam("bar", length, circle(thick), STEEL, elements=5)
    made = model.reduce(NormalModes(count=4), Clamped("start"))
    along = Rotation.from_euler("y", 90, degrees=True).as_matrix()

    def skin(body: Any) -> Any:
        shape = Capsule(0.5 * thick, 0.5 * (length - thick))
        return body.skin(shape, at=(0.5 * length, 0.0, 0.0), rotation=along, spacing=0.05)

    found = {}
    for name in ("ball_on_bar", "rod_on_bar"):
        system = bc.System(name, gravity=(0.0, 0.0, -9.81))
        bar = system.flexible_body("bar", made)
        system.fixed("root", system.ground, bar.node("start"))
        at = (0.63, 0.0, 0.5 * thick + 0.06) if name == "ball_on_bar" else (0.8, -0.8, thick + 0.005)
        body = system.body("body", mass=1.0, inertia=(1e-2,) * 3, at=at)
        system.prismatic("guide", system.ground, body, axis="z")
        if name == "ball_on_bar":
            above = body.sphere(0.05)
        else:
            across = Rotation.from_euler("z", 90, degrees=True).as_matrix()
            member = rod("wire", length, circle(thick), STEEL, bending=3, torsion=1)
            wire = system.flexible_body("wire", member, rotation=across, at=at)
            system.fixed("clamp", body, wire.node("start"))
            above = skin(wire)
        system.contact("touch", skin(bar), above, 0.6, friction=0.3, young=1e8, treatment="continuous")
        found[name] = system
    return found


def prepare(folder: Path) -> None:
    """Emit and compute everything that needs a compiler for this machine's own processor."""
    from bellcrank.batch.group import LaneGroups, lane_machine
    from bellcrank.batch.table import read_table
    from bellcrank.integrate import Options
    from bellcrank.integrate.cuda import Problem, integration
    from bellcrank.integrate.methods import load
    from bellcrank.mechanism import analyse
    from bellcrank.mechanism.export import export_of
    from bellcrank.program import cuda
    from bellcrank.program.kernel import compile_program
    from bellcrank.verify.full_car import full_car_system
    from bellcrank.verify.full_car_bump import rolling_start
    from benchmarks import varied

    folder.mkdir(parents=True, exist_ok=True)
    plain = analyse(full_car_system("bump"))
    program = plain.traced().rates
    n = len(program.outputs)
    x = np.tile(plain.kernel_input(rolling_start(plain, varied.SPEED)), (1000, 1))
    x[:, 1:] += np.random.default_rng(1).normal(0.0, 1e-3, x[:, 1:].shape)
    arrays: dict[str, Any] = {"x": x, "expected": compile_program(program).many(x)}

    mechanism, nominal = varied.car()
    table = varied.varied(np.random.default_rng(2), DISTINCT, nominal)
    q, u = varied.rolling_starts(mechanism, table)
    y = np.hstack([q, u[:, list(mechanism.partition.independent)]])
    p = read_table(mechanism, table).parameters
    arrays |= {"y": y, "p": p}
    times = np.linspace(0.0, STEP * STEPS, SAMPLES + 1)[1:]
    for name, method, options in (
        ("fixed", "runge_kutta4", Options(fixed_step=STEP, repartition_threshold=0.0)),
        ("tight", "dop853", Options(rtol=1e-12, atol=1e-14, repartition_threshold=0.0)),
    ):
        first = np.arange(0, CHECKED, 4)
        groups = LaneGroups(lane_machine(mechanism), method, times, p.shape[1], options, capacity=len(first))
        groups.run(0.0, y[:CHECKED], p[:CHECKED], first, lambda: False)
        arrays[name] = groups.kept[:CHECKED].transpose(1, 2, 0)
    e = export_of(mechanism)
    problem = Problem(e.rates, e.projection, len(e.states), len(e.parameters))
    np.savez(folder / "numbers.npz", **arrays)
    for precision in cuda.BLOCK:
        _write(folder / f"evaluate_{precision}.cu", cuda.evaluation(program, n, precision, BLOCK))
        for method in METHODS:
            text = integration(problem, load(method).table, precision, BLOCK)
            _write(folder / f"{method}_{precision}.cu", text)
    prepare_contacts(folder)
    print(f"written: {folder}")


def prepare_contacts(folder: Path) -> None:
    """Emit the bodies in contact, and compute their rates along a run on the processor."""
    from bellcrank.mechanism import analyse
    from bellcrank.mechanism.export import export_of
    from bellcrank.program import cuda
    from bellcrank.program.kernel import compile_program

    folder.mkdir(parents=True, exist_ok=True)
    arrays: dict[str, Any] = {}
    for name, system in contacts().items():
        mechanism = analyse(system)
        export = export_of(mechanism)
        run = system.simulate(LASTING.get(name, 0.4), output=CONTACT_STATES)
        free = run.u[:, list(mechanism.partition.independent)]
        rows = np.hstack([run.time[:, None], run.q, free, run.parameters])
        arrays |= {f"x_{name}": rows, f"expected_{name}": compile_program(export.rates).many(rows)}
        arrays[f"touching_{name}"] = np.mean(np.asarray(run["touch.penetration"]) > 0.0)
        text = cuda.evaluation(export.rates, len(export.states), "double", BLOCK)
        _write(folder / f"contact_{name}.cu", text)
        words = sum(len(words) for words in text.tables.values())
        print(f"{name}: {len(text) / 1e3:.0f} kB of source, {8e-3 * words:.0f} kB of tables")
    np.savez(folder / "contacts.npz", **arrays)


def _write(path: Path, source: Any) -> None:
    """Keep a source, with its tables beside it."""
    path.write_text(source)
    np.savez(path.with_suffix(".npz"), **source.tables)


def _read(path: Path) -> Any:
    """A source that was kept."""
    from bellcrank.program.cuda import Source

    return Source(path.read_text(), dict(np.load(path.with_suffix(".npz"))))


def measure(folder: Path) -> dict[str, Any]:
    """All measurements; raises where double precision does not agree with the processor."""
    from bellcrank.program.gpu import CupyDevice, DriverDevice, GpuUnavailable

    numbers: dict[str, Any] = {}
    for name in ("numbers.npz", "contacts.npz"):
        if (folder / name).exists():
            numbers |= np.load(folder / name)
    report: dict[str, Any] = {"devices": []}
    for make in (CupyDevice, DriverDevice):
        try:
            on = make()
        except GpuUnavailable as error:
            print(f"{make.__name__}: {error}")
            continue
        print(on.name)
        rows = _contacts(on, folder, numbers)
        if "x" in numbers:
            rows += [*_evaluations(on, folder, numbers), *_bump(on, folder, numbers)]
        found = {"name": on.name, "rows": rows}
        report["devices"].append(found)
    if not report["devices"]:
        raise SystemExit("no graphics processor could be used here")
    (folder / "gpu.json").write_text(json.dumps(report, indent=1) + "\n")
    worst = max(r["error"] for d in report["devices"] for r in d["rows"] if r.get("must_agree"))
    if not worst < AGREEMENT:
        raise SystemExit(f"device and processor differ by {worst:.1e}, more than {AGREEMENT:g}")
    return report


def _row(**values: Any) -> dict[str, Any]:
    print(
        "  " + ", ".join(f"{k}: {v:.4g}" if isinstance(v, float) else f"{k}: {v}" for k, v in values.items())
    )
    sys.stdout.flush()
    return values


def _relative(got: Any, expected: Any) -> float:
    """Largest difference against the largest number of the same output."""
    scale = np.maximum(np.abs(expected).max(axis=0), 1e-3 * np.abs(expected).max())
    return float((np.abs(got - expected) / scale).max())


def _seconds(on: Any, launch: Callable[[], None], repeats: int) -> float:
    """The shortest of several launches."""
    launch()
    on.wait()
    best = np.inf
    for _ in range(repeats):
        begin = time.perf_counter()
        launch()
        on.wait()
        best = min(best, time.perf_counter() - begin)
    return float(best)


def _evaluations(on: Any, folder: Path, numbers: dict[str, Any]) -> list[dict[str, Any]]:
    """Evaluations of the car's rates a second, numbers already on the device."""
    from bellcrank.program.gpu import evaluate

    rows = []
    x, expected = numbers["x"], numbers["expected"]
    n = expected.shape[1]
    for precision, real in KINDS.items():
        source = _read(folder / f"evaluate_{precision}.cu")
        begin = time.perf_counter()
        got = evaluate(on, source, BLOCK, x[:, 0], x[:, 1 : 1 + n], x[:, 1 + n :], n, real)
        compiling = time.perf_counter() - begin
        error = _relative(got, expected)
        many = np.resize(x, (STATES, x.shape[1])).astype(real)
        t, y = on.put(np.ascontiguousarray(many[:, 0])), on.put(np.ascontiguousarray(many[:, 1 : 1 + n].T))
        p, out = on.put(np.zeros(1, real)), on.put(np.zeros((n, STATES), real))
        kernel = on.compiled(source, "bc_evaluate")
        arguments = [t, y, p, out, np.int64(STATES)]
        seconds = _seconds(on, lambda k=kernel, a=arguments: k(STATES, BLOCK, a), 20)  # type: ignore[misc]
        rows.append(
            _row(
                what="evaluations",
                precision=precision,
                a_second=STATES / seconds,
                error=error,
                must_agree=precision == "double",
                first_call=compiling,
            )
        )
    return rows


def _contacts(on: Any, folder: Path, numbers: dict[str, Any]) -> list[dict[str, Any]]:
    """Evaluations of bodies in contact a second: the searches run on the device."""
    from bellcrank.program.gpu import evaluate

    rows = []
    for path in sorted(folder.glob("contact_*.cu")):
        name = path.stem.removeprefix("contact_")
        x, expected = numbers[f"x_{name}"], numbers[f"expected_{name}"]
        n = expected.shape[1]
        source = _read(path)
        begin = time.perf_counter()
        got = evaluate(on, source, BLOCK, x[:, 0], x[:, 1 : 1 + n], x[:, 1 + n :], n, np.float64)
        compiling = time.perf_counter() - begin
        many = np.resize(x, (STATES // 8, x.shape[1]))
        t, y = on.put(np.ascontiguousarray(many[:, 0])), on.put(np.ascontiguousarray(many[:, 1 : 1 + n].T))
        p, out = on.put(np.ascontiguousarray(many[:, 1 + n :].T)), on.put(np.zeros((n, len(many))))
        kernel = on.compiled(source, "bc_evaluate")
        arguments = [t, y, p, out, np.int64(len(many))]
        seconds = _seconds(on, lambda k=kernel, a=arguments: k(int(a[-1]), BLOCK, a), 5)  # type: ignore[misc]
        rows.append(
            _row(
                what=f"contact {name}",
                precision="double",
                a_second=len(many) / seconds,
                touching=float(numbers[f"touching_{name}"]),
                error=_relative(got, expected),
                must_agree=True,
                first_call=compiling,
            )
        )
    return rows


def _bump(on: Any, folder: Path, numbers: dict[str, Any]) -> list[dict[str, Any]]:
    """One second over the bump for all cars, transfers included, against the processor for some of them."""
    from bellcrank.program.gpu import integrate_adaptive, integrate_fixed

    rows = []
    y, p = (np.resize(numbers[name], (CARS, numbers[name].shape[1])) for name in ("y", "p"))
    times = np.linspace(0.0, STEP * STEPS, SAMPLES + 1)[1:]

    def states(found: Any) -> Any:
        return found[:, :, :CHECKED].transpose(0, 2, 1).reshape(-1, y.shape[1]).astype(float)

    for precision, real in KINDS.items():
        closing = TOLERANCE[precision]
        rtol = 1e-6 if precision == "double" else 1e-4
        for method in METHODS:
            source = _read(folder / f"{method}_{precision}.cu")
            reference = "fixed" if method == "runge_kutta4" else "tight"
            best, found, status, steps = np.inf, None, np.zeros(0), STEPS
            for _ in range(3):
                begin = time.perf_counter()
                if method == "runge_kutta4":
                    every = STEPS // SAMPLES
                    found, status = integrate_fixed(
                        on, source, BLOCK, 0.0, y, p, STEP, STEPS, every, real, closing
                    )
                else:
                    found, status, counts = integrate_adaptive(
                        on, source, BLOCK, 0.0, y, p, times, rtol, 0.01 * rtol, real, closing
                    )
                    steps = int(counts.mean())
                best = min(best, time.perf_counter() - begin)
            error = _relative(states(found), states(numbers[reference]))
            rows.append(
                _row(
                    what="bump",
                    method=method,
                    precision=precision,
                    cars=len(y),
                    seconds=best,
                    car_seconds_a_second=len(y) * STEP * STEPS / best,
                    steps=steps,
                    failed=int((status != 0).sum()),
                    against=reference,
                    error=error,
                    must_agree=precision == "double" and method == "runge_kutta4",
                )
            )
    return rows


def main() -> None:
    """Prepare, measure, or both."""
    parser = argparse.ArgumentParser(description="Measure the car on a graphics processor.")
    parser.add_argument("what", nargs="?", choices=("prepare", "contacts", "measure", "both"), default="both")
    parser.add_argument("folder", nargs="?", type=Path, default=Path(__file__).parent / "results" / "gpu")
    arguments = parser.parse_args()
    if arguments.what in ("prepare", "both"):
        prepare(arguments.folder)
    if arguments.what == "contacts":
        prepare_contacts(arguments.folder)
    if arguments.what in ("measure", "both"):
        measure(arguments.folder)


if __name__ == "__main__":
    main()
