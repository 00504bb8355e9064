"""Rods in model files: their keys, how they are read and how they are written."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from bellcrank.base.keys import NUMBER, TEXT, Keys, any_of, by_name, list_of, may, must, ref
from bellcrank.errors import ModelError
from bellcrank.files.yaml_text import Flow, Row
from bellcrank.flexible.rods import MAX_COORDINATES, Rod, Table, rod

MAX_ROWS = 100
"""Of a table along the arc that is written out; a longer one goes by its numbers."""

_SIX_BY_SIX = list_of(list_of(NUMBER, 6))
ROD = Keys(
    "A rod that bends without limit, along the body's x axis at its start; its strains are the coordinates.",
    may("name", TEXT, "Name of the rod in messages; by default the name of the body."),
    must("length", NUMBER, "[m]."),
    may("section", ref("section"), "Cross-section; with material."),
    may("material", ref("material"), "Material."),
    may(
        "stiffness",
        _SIX_BY_SIX,
        "Instead of a section: six rows of the section's stiffness over torsion, bending_y, bending_z, stretch, "
        "shear_y, shear_z; or six rows for each of stiffness_arcs.",
    ),
    may("stiffness_arcs", list_of(NUMBER), "Arcs [m] at which the stiffness is given; linear in between."),
    may(
        "mass",
        _SIX_BY_SIX,
        "Six rows of the section's mass over angular and linear velocity; or for each arc.",
    ),
    may("mass_arcs", list_of(NUMBER), "Arcs [m] at which the mass is given."),
    may("curvature", list_of(NUMBER, 3), "Of the axis at rest: twist, about y, about z [1/m]."),
    may(
        "curvature_table",
        list_of(list_of(NUMBER, 4)),
        "Curvature along the rod: rows of arc [m], twist, about y, about z [1/m]; linear in between.",
    ),
    may(
        "bending",
        any_of(NUMBER, list_of(NUMBER, 2)),
        "Coordinates of bending about y and z; 4 by default.",
        whole=(0, MAX_COORDINATES),
    ),
    may("torsion", NUMBER, "Coordinates of torsion; 2 by default.", whole=(0, MAX_COORDINATES)),
    may("stretch", NUMBER, "Coordinates of stretching; none by default.", whole=(0, MAX_COORDINATES)),
    may(
        "shear",
        any_of(NUMBER, list_of(NUMBER, 2)),
        "Coordinates of shear along y and z; none by default.",
        whole=(0, MAX_COORDINATES),
    ),
    may("slices", NUMBER, "Of the chain that carries pose and mass.", whole=(1, 1000)),
    may(
        "damping",
        any_of(NUMBER, list_of(NUMBER, 6)),
        "Time [s] by which the rate of each strain counts like the strain; none by default.",
    ),
    may("stations", by_name(NUMBER), "Named arcs [m]; start and end exist anyway."),
)
PLAIN = ("length", "bending", "torsion", "stretch", "shear", "slices", "damping", "stations")
"""Keys that mean the argument of their name."""


def made_rod(name: str, given: Mapping[str, Any]) -> Rod:
    """A rod from the values of its keys."""
    plain: dict[str, Any] = {key: given[key] for key in PLAIN if key in given}
    for key in ("bending", "shear"):
        if key in plain and not isinstance(plain[key], int):
            plain[key] = tuple(int(n) if n == int(n) else n for n in plain[key])
    for key in ("section", "material"):
        if key in given:
            plain[key] = given[key]
    for key in ("stiffness", "mass"):
        if key in given:
            plain[key] = _along(name, key, np.asarray(given[key], dtype=float), given.get(f"{key}_arcs"))
    if "curvature" in given and "curvature_table" in given:
        raise ModelError(
            f"rod {name!r} is curved twice, by curvature and by curvature_table; give one of them"
        )
    if "curvature" in given:
        plain["curvature"] = given["curvature"]
    if "curvature_table" in given:
        rows = np.asarray(given["curvature_table"], dtype=float).reshape(-1, 4)
        plain["curvature"] = Table(rows[:, 0], rows[:, 1:])
    return rod(name, **plain)


def _along(name: str, key: str, values: Any, arcs: Any) -> Any:
    """Six rows, or six for each arc."""
    count = 1 if arcs is None else len(arcs)
    if values.shape != (6 * count, 6):
        raise ModelError(f"{key} of rod {name!r} has {len(values)} rows; {6 * count} are wanted")
    return values if arcs is None else Table(np.asarray(arcs, dtype=float), values.reshape(-1, 6, 6))


def rod_entries(
    one: Rod, section: Callable[[Any, float], Any], material: Callable[[Any], Any]
) -> dict[str, Any] | None:
    """What a file says of a rod; None where only its numbers can."""
    result: dict[str, Any] = {"kind": "rod", "length": one.length}
    if one.given["section"] is not None:
        result["section"] = section(one.given["section"], one.length)
        result["material"] = material(one.given["material"])
    else:
        tables = {"stiffness": one.stiffness_table, "mass": one.mass_table}
        for key, table in tables.items():
            if len(table.arcs) > MAX_ROWS:
                return None
            result[key] = _rows(table.values.reshape(-1, 6))
            if len(table.arcs) > 1:
                result[f"{key}_arcs"] = _row(table.arcs)
    bent = one.curvature
    if len(bent.arcs) > MAX_ROWS:
        return None
    if bent.values.any():
        if len(bent.arcs) == 1:
            result["curvature"] = _row(bent.values[0])
        else:
            result["curvature_table"] = _rows(np.column_stack([bent.arcs, bent.values]))
    torsion, about_y, about_z, stretch, across_y, across_z = one.counts
    result |= {"bending": Row((about_y, about_z)), "torsion": torsion}
    if stretch:
        result["stretch"] = stretch
    if across_y or across_z:
        result["shear"] = Row((across_y, across_z))
    result["slices"] = one.slices
    if any(one.damping_times):
        result["damping"] = _row(one.damping_times)
    named = {key: float(s) for key, s in one.stations.items() if key not in ("start", "end")}
    if named:
        result["stations"] = Flow(named)
    return result


def _row(values: Any) -> Row:
    return Row(float(x) for x in values)


def _rows(values: Any) -> Any:
    return [_row(row) for row in values]


__all__ = ["ROD", "made_rod", "rod_entries"]
