"""A passenger car tyre by the Magic Formula 6.1 at twelve operating points, and the limits of its curves.

Forces and moments in combined slip with camber and pressure beside those of an implementation of the same equations
by others (MFeval, in the Julia version of matheusft, with the guards of its divisions at zero); the slope at no slip is
the cornering stiffness of 4.E25, the largest force the friction of 4.E23 times the load.

Source: H. B. Pacejka, Tire and Vehicle Dynamics, 3rd edition, 2012, section 4.3.2.
"""

from __future__ import annotations

import json
import math
import warnings
from importlib.resources import as_file, files
from typing import Any

import numpy as np

from bellcrank.tyres import MagicFormula, Slip, tyre
from bellcrank.verify.cases import Quantity, Within

NAMES = ("longitudinal", "lateral", "overturning", "rolling", "aligning")


def passenger(**options: Any) -> MagicFormula:
    """The tyre of the case."""
    with as_file(files("bellcrank.verify") / "data" / "passenger_61.tir") as path, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # The rigid ring of the file is not wanted.
        found = tyre(path, **options)
    assert isinstance(found, MagicFormula)
    return found


def points() -> list[dict[str, Any]]:
    """Operating points with forces and moments of the other implementation."""
    text = (files("bellcrank.verify") / "data" / "magic_formula.json").read_text()
    return list(json.loads(text))


def quantities() -> list[Quantity]:
    """The largest differences over the load, and the limits."""
    worst = dict.fromkeys(NAMES, 0.0)
    for point in points():
        state = Slip(
            point["load"], point["kappa"], math.tan(point["alpha"]), point["gamma"], speed=point["speed"]
        )
        found = passenger(pressure=point["pressure"]).forces(state)
        for name, value in zip(NAMES, found, strict=True):
            worst[name] = max(worst[name], abs(float(value) - point[name]) / point["load"])
    rows = [Quantity(f"{name}_difference", worst[name], 0.0, 1e-9) for name in NAMES]
    law = passenger()
    c, load = law.c, law.c.FNOMIN
    shift = law._lateral(law._state(Slip(load), 1.0)).S_H
    step = 1e-6
    force = [float(law.forces(Slip(load, tangent=x - float(shift))).lateral) for x in (-step, step)]
    stiffness = c.PKY1 * load * math.sin(c.PKY4 * math.atan(1.0 / c.PKY2))
    slope = (force[1] - force[0]) / (2.0 * step)
    rows.append(Quantity("cornering_stiffness", slope, stiffness, 1e-8, "N/rad", Within.RELATIVE))
    vertical = c.PVY1 * load
    swept = [float(law.forces(Slip(load, tangent=x)).lateral) for x in np.linspace(-1.4, 0.0, 4001)]
    peak = (max(swept) - vertical) / load
    rows.append(Quantity("lateral_friction", peak, c.PDY1, 1e-6, "", Within.RELATIVE))
    return rows
