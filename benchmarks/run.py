"""All measurements in one process on one core: a table, and the same numbers as JSON.

    python -m benchmarks.run [--quick] [--only car,forces,chain,lanes,compile,...] [--output FILE]

Every time is a minimum over repeats. Peers are called from Python; what such a call costs before the
algorithm starts is measured and taken off in their favour. Forces other than gravity are left out everywhere.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from benchmarks import ours
from benchmarks.peers.car import load_car
from benchmarks.timing import REPEATS, Timing, all_cores, one_core

CHAINS = (10, 50, 200, 1000)
SECTIONS = (
    "car",
    "forces",
    "chain",
    "lanes",
    "compile",
    "elastic",
    "impacts",
    "contact",
    "flexible",
    "batch",
)
Row = dict[str, Any]


def measured(section: str, case: str, code: str, measure: Callable[[], Timing | float]) -> Row:
    """One row; what cannot be measured here says why instead of stopping the run."""
    row: Row = {"section": section, "case": case, "code": code, "seconds": None, "overhead": None, "note": ""}
    try:
        found = measure()
    except Exception as error:
        row["note"] = f"{type(error).__name__}: {error}".splitlines()[0][:200]
        return row
    timing = found if isinstance(found, Timing) else Timing(found)
    return row | {"seconds": timing.seconds, "overhead": timing.overhead, "note": timing.note}


def car_rows(repeats: int) -> Iterator[Row]:
    """One evaluation of the closed loops of the car."""

    def peer(method: str) -> Timing:
        from benchmarks.peers import agreement, pinocchio_models

        model, q, v = agreement.moving_state(load_car())
        return pinocchio_models.time_car(model, q, v, method, repeats)

    def mujoco() -> Timing:
        from benchmarks.peers import mujoco_models

        return mujoco_models.time_car(load_car(), repeats)

    yield measured("car", "22 bodies", "mujoco mj_forward", mujoco)
    for method in ("constraintDynamics", "lcaba", "lcaba, refined"):
        yield measured("car", "22 bodies", f"pinocchio {method}", lambda m=method: peer(m))
    for formulation in ("lagrange", "reduced_lagrange", "partitioning", "independent", "recursive", "auto"):
        code = f"bellcrank {formulation}"
        yield measured("car", "22 bodies", code, lambda f=formulation: our_car(f, repeats))


def forces_rows(repeats: int) -> Iterator[Row]:
    """The whole car, springs, tyres and rack actuator included; the peers have none of these."""
    yield measured("forces", "22 bodies", "bellcrank auto", lambda: our_car("auto", repeats, True))


def our_car(formulation: str, repeats: int, forces: bool = False) -> Timing:
    """One evaluation of ours."""
    build = ours.build(ours.car_system(forces), formulation)
    x = ours.sample_inputs(build.mechanism, build.kernel)
    return Timing(ours.kernel_seconds(build.kernel, x, repeats), note="compiled loop")


def chain_rows(repeats: int) -> Iterator[Row]:
    """Planar chains of growing length."""

    def peer(code: str, links: int) -> Timing:
        if code == "pinocchio":
            from benchmarks.peers import pinocchio_models

            if links > pinocchio_models.LONGEST_CHAIN:
                raise MemoryError(f"its data for {links} links are too large (cube of the size)")
            return pinocchio_models.time_chain(links, repeats)
        if code == "mujoco":
            from benchmarks.peers import mujoco_models

            return mujoco_models.time_chain(links, repeats)
        from benchmarks.peers import drake_models

        return drake_models.time_chain(links, repeats)

    def our_chain(links: int) -> Timing:
        with empty_cache():
            build = ours.build(ours.chain_system(links), "recursive")
        x = ours.sample_inputs(build.mechanism, build.kernel)
        return Timing(ours.kernel_seconds(build.kernel, x, repeats), note=build.in_words)

    for links in CHAINS:
        for code in ("pinocchio", "mujoco", "drake"):
            yield measured("chain", f"{links} links", code, lambda c=code, n=links: peer(c, n))
        yield measured("chain", f"{links} links", "bellcrank recursive", lambda n=links: our_chain(n))


def lane_rows(repeats: int) -> Iterator[Row]:
    """Four states at once against one: seconds a state."""
    for lanes in (1, 4):

        def measure(lanes: int = lanes) -> Timing:
            build = ours.build(ours.car_system(), "auto", lanes)
            x = ours.sample_inputs(build.mechanism, build.kernel)
            return Timing(ours.kernel_seconds(build.kernel, x, repeats) / lanes, note="a state")

        yield measured("lanes", "22 bodies", f"bellcrank, lanes: {lanes}", measure)


def compile_rows(repeats: int) -> Iterator[Row]:
    """From the description to machine code in a new process: with an empty cache, then with a filled one."""
    program = (
        "from benchmarks import ours; b = ours.build(ours.car_system()); "
        "print(b.trace_seconds + b.compile_seconds); print(b.in_words)"
    )
    with empty_cache():
        for what in ("empty cache", "filled cache"):

            def measure() -> Timing:
                command = [sys.executable, "-c", program]
                seconds, note = subprocess.run(
                    command, capture_output=True, text=True, check=True
                ).stdout.splitlines()
                return Timing(float(seconds), note=note)

            yield measured("compile", "22 bodies", f"bellcrank, {what}", measure)


def elastic_rows(repeats: int) -> Iterator[Row]:
    """One step of dynamic contact against the number of unknowns; few repeats leave out the large ones."""
    from benchmarks import elastic

    found: dict[str, list[elastic.Row]] = {"flat": [], "solid": []}
    for kind, divisions in elastic.sizes(quick=repeats < REPEATS):

        def measure(kind: str = kind, divisions: int = divisions) -> Timing:
            row = elastic.one_size(kind, divisions)
            found[kind].append(row)
            slope = f", growing as n^{elastic.exponent(found[kind]):.2f}" if len(found[kind]) > 1 else ""
            prepared = f"{row['preparation']:.2g} s to prepare, {row['memory_MB']:.0f} MB"
            return Timing(row["step"], note=f"{row['unknowns']} unknowns, {prepared}{slope}")

        yield measured("elastic", f"{kind} {divisions}", "bellcrank elastic", measure)


def flexible_rows(repeats: int) -> Iterator[Row]:
    """One turn of paper B's slider-crank at 1 % of the nonlinear peak; one evaluation with 1 to 40 modes."""
    from benchmarks import flexible

    def turn(found: tuple[float, float, str]) -> Timing:
        return Timing(found[0], note=f"{found[2]}, error {found[1]:.2%}")

    yield measured("flexible", "one turn", "bellcrank", lambda: turn(flexible.ours()))
    for n in (2, 4, 8):
        yield measured("flexible", "one turn", f"exudyn, {n} elements", lambda n=n: turn(flexible.exudyn(n)))
    for modes, operations, seconds in flexible.cost_of_modes():
        note = f"{operations} operations"
        yield measured("flexible", f"{modes} modes", "bellcrank", lambda s=seconds, t=note: Timing(s, note=t))


def contact_rows(repeats: int) -> Iterator[Row]:
    """Closest points of sampled bodies, and a run with a lasting contact."""
    from benchmarks.contact import contact_measures
    from benchmarks.contact_partners import partner_measures

    for measures in (contact_measures, partner_measures):
        for case, code, measure in measures(repeats, repeats < REPEATS):
            yield measured("contact", case, code, measure)


def impact_rows(repeats: int) -> Iterator[Row]:
    """One second of a bouncing ball; errors of impact time and rebound speed in the notes."""
    from benchmarks.impacts import measurements

    for case, code, measure in measurements():
        yield measured("impacts", case, code, measure)


def batch_rows(repeats: int) -> Iterator[Row]:
    """Many runs at once, on all cores and so in a process of its own: seconds a simulated second."""
    quick = ["--quick"] if repeats < REPEATS else []
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / "batch.json"
        command = [sys.executable, "-m", "benchmarks.batch", *quick, "--output", str(target)]
        ended = subprocess.run(command, capture_output=True, text=True, check=False, preexec_fn=all_cores)
        if ended.returncode:
            yield measured("batch", "", "bellcrank", lambda: _failed(ended.stderr))
            return
        for found in json.loads(target.read_text())["rows"]:
            error = f", error {found['error']:.1e}" if "error" in found else ""
            note = f"{found['simulated_per_second']:.4g} simulated s/s{error}"
            seconds = 1.0 / found["simulated_per_second"]
            yield measured(
                "batch", found["case"], found["code"], lambda s=seconds, n=note: Timing(s, note=n)
            ) | {"detail": found}


def _failed(text: str) -> Timing:
    raise RuntimeError(text.strip().splitlines()[-1] if text.strip() else "no output")


@contextmanager
def empty_cache() -> Iterator[None]:
    """A machine-code cache of its own, empty at the start."""
    before = os.environ.get("BELLCRANK_CACHE")
    with tempfile.TemporaryDirectory() as folder:
        os.environ["BELLCRANK_CACHE"] = folder
        try:
            yield
        finally:
            if before is None:
                del os.environ["BELLCRANK_CACHE"]
            else:
                os.environ["BELLCRANK_CACHE"] = before


def peer_agreement() -> dict[str, float | str]:
    """Whether the peers hold the same car."""
    try:
        from benchmarks.peers import agreement

        return dict(agreement.deviations(load_car()))
    except Exception as error:
        return {"not checked": f"{type(error).__name__}: {error}"}


def versions() -> dict[str, str]:
    """Versions of everything measured."""
    found = {}
    for name in ("bellcrank", "mujoco", "pin", "exudyn", "drake", "numpy", "numba", "llvmlite"):
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = "not installed"
    return found


def processor() -> str:
    """The name of the processor."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()


def load() -> float | None:
    """The work waiting on the machine, averaged over a minute; this process counts as one."""
    return round(os.getloadavg()[0], 2) if hasattr(os, "getloadavg") else None


def in_words(seconds: float | None) -> str:
    """A time with a fitting unit."""
    if seconds is None:
        return "-"
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds / 1e-9:.3g} ns"


def print_table(console: Console, rows: list[Row]) -> None:
    """The rows, with the ratio to the fastest peer of the same case."""
    table = Table(title="one evaluation of the accelerations, minima over repeats")
    table.add_column("case")
    table.add_column("code")
    table.add_column("time", justify="right")
    table.add_column("ratio", justify="right")
    table.add_column("note")
    for row in rows:
        peers = [
            r["seconds"] for r in rows
            if (r["section"], r["case"]) == (row["section"], row["case"])
            and r["seconds"] and not r["code"].startswith("bellcrank")
        ]  # fmt: skip
        ratio = f"{min(peers) / row['seconds']:.1f}x" if peers and row["seconds"] else ""
        note = row["note"]
        table.add_row(f"{row['section']}, {row['case']}", row["code"], in_words(row["seconds"]), ratio, note)
    console.print(table)


def main() -> None:
    """Measure, print, write."""
    parser = argparse.ArgumentParser(description="Measure against other codes.")
    parser.add_argument("--quick", action="store_true", help="few repeats, for a look")
    parser.add_argument("--only", default=",".join(SECTIONS), help=f"sections: {', '.join(SECTIONS)}")
    parser.add_argument("--output", default=str(Path(__file__).parent / "results" / "latest.json"))
    arguments = parser.parse_args()
    chosen = arguments.only.split(",")
    unknown = [name for name in chosen if name not in SECTIONS]
    if unknown:
        parser.error(f"no section {unknown[0]!r}; sections: {', '.join(SECTIONS)}")
    repeats = 50 if arguments.quick else REPEATS
    console = Console()
    core = one_core()
    load_before = load()
    sections = {
        "car": car_rows,
        "forces": forces_rows,
        "chain": chain_rows,
        "lanes": lane_rows,
        "compile": compile_rows,
        "batch": batch_rows,
        "elastic": elastic_rows,
        "impacts": impact_rows,
        "contact": contact_rows,
        "flexible": flexible_rows,
    }
    rows: list[Row] = []
    for name in chosen:
        for row in sections[name](repeats):
            rows.append(row)
            console.print(f"{row['section']:8} {row['case']:12} {row['code']:38} {in_words(row['seconds'])}")
    print_table(console, rows)
    agreement = peer_agreement() if "car" in chosen else {}
    for what, value in agreement.items():
        console.print(f"{what}: {value:.1e}" if isinstance(value, float) else f"{what}: {value}")
    output = Path(arguments.output)
    output.parent.mkdir(parents=True, exist_ok=True)
    busy = [load_before, load()]
    if any(x is not None and x > 1.5 for x in busy):
        console.print(f"other work ran on this machine (load {busy[0]} to {busy[1]}): repeat on an idle one")
    machine = {"processor": processor(), "system": platform.system(), "core": core, "load": busy}
    result = {"machine": machine, "versions": versions(), "agreement": agreement, "rows": rows}
    output.write_text(json.dumps(result, indent=1) + "\n")
    console.print(f"written: {os.path.relpath(output)}")


if __name__ == "__main__":
    main()
