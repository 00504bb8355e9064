"""Craig and Bampton's modes of a solid against its size: time, memory, and frequencies against those of the full model.

A bar of first-order hexahedra, ten times as long as wide, both ends as interfaces and twenty normal modes; with
geometric stiffening and without. Times are of the processor, in a process of its own for each size, model and reduction
apart; memory is its peak. The error is the largest one of the first ten free frequencies against those of the unreduced
mesh, found by an iteration that knows nothing of interfaces.

    python -m benchmarks.sizes                    all sizes
    python -m benchmarks.sizes one 8 stiffened    so many elements across, as JSON
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import time
from typing import Any

import numpy as np

from benchmarks.elastic import exponent

ACROSS = (5, 8, 14, 21, 31)
"""Elements across the bar: 1,700 to 290,000 unknowns."""
STIFFENED = 21
"""Elements across up to which stiffening is measured, too."""
COMPARED = 10


def measure(across: int, stiffening: bool, compare: bool = True) -> dict[str, Any]:
    """One size."""
    from skfem import MeshHex

    from bellcrank.flexible import STEEL, CraigBampton, NormalModes, solid

    along = 3 * across
    mesh = MeshHex.init_tensor(
        np.linspace(0.0, 1.0, along + 1), np.linspace(0.0, 0.1, across + 1), np.linspace(0.0, 0.1, across + 1)
    )
    start = time.process_time()
    ends = {"left": lambda x: x[0] < 1e-9, "right": lambda x: x[0] > 1.0 - 1e-9}
    model = solid("bar", mesh, STEEL, ends)
    built = time.process_time()
    member = model.reduce(CraigBampton(("left", "right"), 20), stiffening=stiffening)
    reduced = time.process_time()
    found = {
        "unknowns": model.freedoms,
        "model": built - start,
        "reduction": reduced - built,
        "memory_MB": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024.0,
        "foretold": str(model.forecast()),
    }
    if compare:
        full = model.reduce(NormalModes(COMPARED), stiffening=False)
        found["error"] = float(np.abs(member.frequencies[:COMPARED] / full.frequencies - 1.0).max())
    return found


def main() -> None:
    """Print a table."""
    if sys.argv[1:2] == ["one"]:
        print(json.dumps(measure(int(sys.argv[2]), sys.argv[3:] == ["stiffened"])))
        return
    for word in ("", "stiffened"):
        rows = []
        for across in ACROSS:
            if word and across > STIFFENED:
                continue
            command = [
                sys.executable,
                "-m",
                "benchmarks.sizes",
                "one",
                str(across),
                *([word] if word else []),
            ]
            done = subprocess.run(command, capture_output=True, text=True, check=True)
            row = json.loads(done.stdout.splitlines()[-1])
            rows.append(row)
            print(
                f"{word or 'plain':9} {row['unknowns']:7d} unknowns  model {row['model']:6.1f} s  "
                f"reduction {row['reduction']:7.1f} s  {row['memory_MB']:6.0f} MB  error {row['error']:.1e}  "
                f"factorising foretold: {row['foretold']}",
                flush=True,
            )
        print(f"{word or 'plain':9} grows as n^{exponent(rows, 'reduction'):.2f}")


if __name__ == "__main__":
    main()
