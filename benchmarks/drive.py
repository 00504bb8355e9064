"""The car with a driver against the clock, on one core: a table, and the same numbers as JSON.

    python -m benchmarks.drive [--seconds 5] [--output FILE]

A scripted drive over bumps in steps of 1 ms, on tyres of the Magic Formula, once held to the clock as a page is driven,
once as fast as it goes, and one around the circuit. Times are wall times of single steps, controls included; the worst
step is the worst of all, not of a choice of them.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from bellcrank.apps.drive.drive import Drive
from bellcrank.base.words import seconds
from benchmarks.run import processor
from benchmarks.timing import one_core


def measured(duration: float) -> dict[str, Any]:
    """All drives."""
    found = {}
    for name, terrain, real in (
        ("held to the clock", "bumps", True),
        ("as fast as it goes", "bumps", False),
        ("around the circuit", "circuit", False),
    ):
        found[name] = Drive(terrain, 10.0).scripted(duration, real)["timing"]
    return found


def main() -> None:
    """Measure and tell."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=5.0, help="of driving, for each")
    parser.add_argument("--output", type=Path, default=Path("benchmarks/results/drive.json"))
    arguments = parser.parse_args()
    one_core()
    found = measured(arguments.seconds)
    table = Table(title=f"22-body car in steps of 1 ms, {processor()}")
    for head in ("", "median step", "99 of 100 under", "worst step", "of real time", "steps over 1 ms"):
        table.add_column(head, justify="right" if head else "left")
    for name, t in found.items():
        share = f"{100 * t['share_of_real_time']:.1f} %"
        table.add_row(name, *(seconds(t[k]) for k in ("median", "p99", "worst")), share, str(t["late"]))
    Console().print(table)
    arguments.output.parent.mkdir(parents=True, exist_ok=True)
    arguments.output.write_text(json.dumps(found, indent=2), encoding="utf-8")


if __name__ == "__main__":
    main()
