"""Rods as plain arrays, for result files and for models that no text describes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bellcrank.flexible.rods import MAX_COORDINATES, Rod, Table

Array = NDArray[np.float64]

_SHAPES: Mapping[str, tuple[int | None, ...]] = {
    "stiffness_table": (None, 6, 6),
    "density": (None, 10),
    "curvature": (None, 3),
    "stress": (None, None, 3),
}


def rod_arrays(one: Rod) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
    """Its tables, and the rest of it in words."""
    tables = {key: getattr(one, key) for key in _SHAPES}
    arrays: dict[str, NDArray[Any]] = {}
    for key, table in tables.items():
        if table is not None:
            arrays[f"{key}_arcs"], arrays[key] = table.arcs, table.values
    about = {
        "kind": "rod",
        "name": one.name,
        "length": one.length,
        "counts": list(one.counts),
        "slices": one.slices,
        "damping": list(one.damping_times),
        "stations": dict(one.stations),
    }
    return arrays, about


def rod_from_arrays(about: Mapping[str, Any], number: Callable[..., Array], known: Any) -> Rod:
    """The rod in some arrays; `number` reads one of a shape and checks it, `known` are their names."""
    counts = tuple(int(n) for n in about["counts"])
    slices, length = int(about["slices"]), float(about["length"])
    if len(counts) != 6 or not all(0 <= n <= MAX_COORDINATES for n in counts) or not any(counts):
        raise ValueError(f"coordinates {counts}")
    if not (1 <= slices <= 1000 and np.isfinite(length) and length > 0.0):
        raise ValueError(f"{slices} slices of {length} m")
    tables: dict[str, Table | None] = {}
    for key, shape in _SHAPES.items():
        if key == "stress" and key not in known:
            tables[key] = None
            continue
        arcs = number(f"{key}_arcs", None)
        values = number(key, *shape)
        if len(arcs) != len(values) or not len(arcs) or (np.diff(arcs) <= 0.0).any():
            raise ValueError(f"arcs of {key}")
        tables[key] = Table(arcs, values)
    damping = tuple(float(x) for x in about["damping"])
    stations = {str(name): float(s) for name, s in dict(about["stations"]).items()}
    if len(damping) != 6 or not all(0.0 <= s <= length for s in stations.values()):
        raise ValueError("damping or stations")
    C, density, curvature = tables["stiffness_table"], tables["density"], tables["curvature"]
    assert C is not None
    assert density is not None
    assert curvature is not None
    return Rod(
        str(about["name"]), length, counts, slices, C, density, curvature, tables["stress"], damping, stations
    )
