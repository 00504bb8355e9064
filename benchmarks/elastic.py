"""Cost of a step of dynamic contact against the number of unknowns, in two and three dimensions.

A sphere on a wall: half disc of nine-node quadrilaterals, and a solid ball of eight-node hexahedra. The factorisation
is done once and reported beside the steps; memory is the peak of a process of its own for each size.

    python -m benchmarks.elastic                 all sizes
    python -m benchmarks.elastic one flat 40     one size, as JSON
"""

from __future__ import annotations

import json
import math
import subprocess
import sys
import time
from collections.abc import Iterator
from typing import Any

FLAT = (10, 20, 40, 80, 158)
"""Divisions of the half disc: about 1e3 to 3e5 unknowns."""
SOLID = (6, 8, 11)
STEPS = 75
"""To the peak of the force; the compliance of all nodes that touch is formed on the way."""
Row = dict[str, Any]


def measure(kind: str, divisions: int) -> Row:
    """Mean seconds a step up to the peak of the force, seconds of the preparation, peak of memory."""
    import resource

    from bellcrank import elastic

    soft = elastic.Material(young=500.0, poisson=0.3, density=1.0)
    if kind == "flat":
        body = elastic.sphere(
            8.0, soft, divisions=divisions, grading=6.0, centre=(0.0, 8.0), velocity=(0.0, -1.0)
        )
        wall = elastic.RigidPlane()
    else:
        body = elastic.sphere(
            8.0, soft, analysis=elastic.Analysis.SOLID, element=elastic.Element.HEXAHEDRON8, divisions=divisions,
            grading=4.0, centre=(0.0, 0.0, 8.0), velocity=(0.0, 0.0, -1.0),
        )  # fmt: skip
        wall = elastic.RigidPlane((0.0, 0.0, 0.0), (0.0, 0.0, 1.0))
    before = time.perf_counter()
    body.stiffness_matrix, body.mass_matrix  # noqa: B018
    assembled = time.perf_counter() - before
    run = elastic.simulate(body, wall, STEPS * 0.02, 0.02, frames=1)
    return {
        "unknowns": run.run.unknowns,
        "step": run.run.seconds / STEPS,
        "preparation": assembled + run.run.preparation,
        "candidates": run.run.candidates,
        "memory_MB": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024.0,
    }


def sizes(quick: bool = False) -> Iterator[tuple[str, int]]:
    """What is measured."""
    yield from (("flat", n) for n in (FLAT[:3] if quick else FLAT))
    yield from (("solid", n) for n in (SOLID[:1] if quick else SOLID))


def one_size(kind: str, divisions: int) -> Row:
    """One size in a process of its own, so that its memory is its own."""
    command = [sys.executable, "-m", "benchmarks.elastic", "one", kind, str(divisions)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    row: Row = json.loads(done.stdout.splitlines()[-1])
    return row


def exponent(rows: list[Row], key: str = "step") -> float:
    """Slope of the cost over the unknowns, both in logarithms."""
    x = [math.log(row["unknowns"]) for row in rows]
    y = [math.log(row[key]) for row in rows]
    mx, my = sum(x) / len(x), sum(y) / len(y)
    above = sum((a - mx) * (b - my) for a, b in zip(x, y, strict=True))
    return above / sum((a - mx) ** 2 for a in x)


def main() -> None:
    """Print a table, with a bar for the sizes still to come."""
    if len(sys.argv) == 4 and sys.argv[1] == "one":
        print(json.dumps(measure(sys.argv[2], int(sys.argv[3]))))
        return
    from rich.console import Console
    from rich.progress import track

    console = Console(width=120)
    found: dict[str, list[Row]] = {"flat": [], "solid": []}
    for kind, divisions in track(list(sizes()), "elastic contact", console=console, transient=True):
        row = one_size(kind, divisions)
        found[kind].append(row)
        console.print(
            f"{kind:6} {row['unknowns']:7d} unknowns  {1e3 * row['step']:9.2f} ms a step  "
            f"{row['preparation']:7.2f} s to prepare  {row['candidates']:4d} contact nodes  {row['memory_MB']:6.0f} MB"
        )
    for kind, rows in found.items():
        console.print(f"{kind}: cost of a step grows as n^{exponent(rows):.2f}")


if __name__ == "__main__":
    main()
