"""Time to a given accuracy of whole runs, against other codes: a table, and the same numbers as JSON.

    python -m benchmarks.simulation [--quick] [--only slider-crank,car,cold] [--output FILE]

Every code runs through a ladder of settings from loose to tight. For a wanted accuracy the loosest rung counts from
which on all tighter ones reach it, so that a lucky hit is none. Run time alone: models are built and compiled
before. Minima over repeats, one process, one core; what counts is timed again in rounds of all codes.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from benchmarks.run import in_words, load, processor, versions
from benchmarks.timing import one_core

ACCURACIES = {"slider-crank": (1e-3, 1e-6, 1e-9), "car": (1e-4, 1e-6)}


@dataclass(frozen=True)
class Rung:
    """One setting of a code: what it is called, a run, the state its result stands for, the error of that."""

    setting: str
    run: Callable[[], Any]
    state: Callable[[Any], Any]
    error: Callable[[Any], float]


@dataclass(frozen=True)
class Climbed:
    """What a rung gave."""

    setting: str
    error: float
    seconds: float


def climb(rungs: Iterable[Rung], limit: float, repeats: int, kept: dict[str, Rung]) -> list[Climbed]:
    """Every rung once for its error and a few times for its time; a code that takes too long stops there."""
    found = []
    for rung in rungs:
        kept[rung.setting] = rung
        begun = time.perf_counter()
        try:
            error = rung.error(rung.state(rung.run()))
        except Exception as problem:
            found.append(
                Climbed(f"{rung.setting}: {type(problem).__name__}: {problem}"[:160], float("nan"), 0.0)
            )
            continue
        taken = time.perf_counter() - begun
        found.append(Climbed(rung.setting, error, least(rung.run, repeats)))
        if taken > limit:
            break
    return found


def least(run: Callable[[], Any], repeats: int, patience: float = 1.0) -> float:
    """The shortest of several runs [s]; at least two, unless one alone exhausts the patience."""
    enabled = gc.isenabled()
    gc.disable()
    best, spent = float("inf"), 0.0
    try:
        for _ in range(repeats):
            begun = time.perf_counter()
            run()
            taken = time.perf_counter() - begun
            best, spent = min(best, taken), spent + taken
            if spent > patience:
                break
    finally:
        if enabled:
            gc.enable()
    return best


def reached(ladder: list[Climbed], accuracy: float) -> Climbed | None:
    """The quickest of the rungs from which on the accuracy is kept."""
    good: list[Climbed] = []
    for step in reversed(ladder):
        if not step.error <= accuracy:
            break
        good.append(step)
    return min(good, key=lambda step: step.seconds, default=None)


def refine(rows: list[dict[str, Any]], rungs: list[dict[str, Rung]], seconds: float) -> None:
    """Time what was reached again, all codes in turn, so that other work on the machine meets all of them.

    A minimum needs a run without interruption, which a long run seldom gets; rounds go on for `seconds`.
    """
    chosen = [(step, kept[step["setting"]]) for row, kept in zip(rows, rungs, strict=True)
              for step in row["reached"].values() if step]  # fmt: skip
    begun, rounds = time.perf_counter(), 0
    while rounds < 5 or time.perf_counter() - begun < seconds:
        for step, rung in chosen:
            # Codes of seconds a run have a say in the first rounds only.
            if step["seconds"] < 0.2 or rounds < 3:
                step["seconds"] = min(step["seconds"], least(rung.run, 3, 0.1))
        rounds += 1


Codes = Iterator[tuple[str, Callable[[], Iterable[Rung]]]]


def measure(section: str, codes: Codes, repeats: int, limit: float, console: Console) -> list[dict[str, Any]]:
    """All codes of a section; what cannot be measured here says why instead of stopping the run."""
    rows: list[dict[str, Any]] = []
    rungs: list[dict[str, Rung]] = []
    for code, make in codes:
        rungs.append({})
        row: dict[str, Any] = {"section": section, "code": code, "note": "", "ladder": [], "reached": {}}
        try:
            ladder = climb(make(), limit, repeats, rungs[-1])
            row["ladder"] = [asdict(step) for step in ladder]
            for accuracy in ACCURACIES[section]:
                best = reached(ladder, accuracy)
                row["reached"][f"{accuracy:g}"] = asdict(best) if best else None
            errors = [s.error for s in ladder if s.error == s.error]
            row["best_error"] = min(errors) if errors else None
        except Exception as problem:
            row["note"] = f"{type(problem).__name__}: {problem}".splitlines()[0][:200]
        rows.append(row)
        times = ", ".join(f"{a}: {in_words(s and s['seconds'])}" for a, s in row["reached"].items())
        console.print(f"{section:13} {code:44} {times or row['note']}")
    refine(rows, rungs, 3.0 * repeats)
    return rows


def show(console: Console, section: str, rows: list[dict[str, Any]]) -> None:
    """Times to each accuracy; behind ours, how many times faster than the best other code."""
    table = Table(title=f"{section}: run time to an accuracy, minima over repeats")
    table.add_column("code")
    for accuracy in ACCURACIES[section]:
        table.add_column(f"{accuracy:g}", justify="right")
    table.add_column("best error", justify="right")
    for row in rows:
        cells = []
        for accuracy in ACCURACIES[section]:
            mine = row["reached"].get(f"{accuracy:g}")
            ratio = (
                mine
                and row["code"].startswith("bellcrank")
                and ratio_to_peers(rows, accuracy, mine["seconds"])
            )
            cells.append(in_words(mine and mine["seconds"]) + (f" ({ratio:.1f}x)" if ratio else ""))
        error = row.get("best_error")
        table.add_row(row["code"], *cells, f"{error:.1e}" if error is not None else row["note"])
    console.print(table)


def ratio_to_peers(rows: list[dict[str, Any]], accuracy: float, seconds: float) -> float | None:
    """The shortest time of another code over ours."""
    others = [
        r["reached"][f"{accuracy:g}"]["seconds"]
        for r in rows
        if not r["code"].startswith("bellcrank") and r["reached"].get(f"{accuracy:g}")
    ]
    return min(others) / seconds if others else None


def main() -> None:
    """Measure, print, write."""
    from benchmarks import simulation_car, simulation_cold, simulation_slider_crank

    parser = argparse.ArgumentParser(description="Measure whole runs against other codes.")
    parser.add_argument("--quick", action="store_true", help="few repeats, for a look")
    parser.add_argument("--only", default="slider-crank,car,cold", help="sections: slider-crank, car, cold")
    parser.add_argument("--output", default=str(Path(__file__).parent / "results" / "simulation.json"))
    arguments = parser.parse_args()
    chosen = arguments.only.split(",")
    sections = {"slider-crank": simulation_slider_crank.codes, "car": simulation_car.codes}
    unknown = [name for name in chosen if name not in (*sections, "cold")]
    if unknown:
        parser.error(f"no section {unknown[0]!r}; sections: {', '.join((*sections, 'cold'))}")
    repeats = 3 if arguments.quick else 20
    console, core, before = Console(), one_core(), load()
    result: dict[str, Any] = {}
    for name in (n for n in sections if n in chosen):
        rows = measure(name, sections[name](), repeats, 3.0 if arguments.quick else 20.0, console)
        show(console, name, rows)
        result[name] = rows
    if "car" in chosen:
        result["real time"] = simulation_car.real_time(result["car"])
        console.print(f"full car: {result['real time']}")
    if "cold" in chosen:
        result["cold"] = simulation_cold.measured(3 if arguments.quick else 5)
        for row in result["cold"]:
            console.print(f"cold start, {row['what']}: {in_words(row['seconds'])}")
    busy = [before, load()]
    if any(x is not None and x > 1.5 for x in busy):
        console.print(f"other work ran on this machine (load {busy[0]} to {busy[1]}): repeat on an idle one")
    machine = {"processor": processor(), "core": core, "load": busy}
    output = Path(arguments.output)
    output.parent.mkdir(parents=True, exist_ok=True)
    output.write_text(json.dumps({"machine": machine, "versions": versions(), **result}, indent=1) + "\n")
    console.print(f"written: {os.path.relpath(output)}")


if __name__ == "__main__":
    main()
