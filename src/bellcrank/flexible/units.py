"""Numbers that cannot be in SI units."""

from __future__ import annotations

from bellcrank.errors import ModelError
from bellcrank.fe.material import Material

UNITS = "; if it is meant so, pass check_units=False"


def check_size(name: str, extent: float) -> None:
    """Refuse a body far smaller or larger than any machine part in metres."""
    if not 1e-4 < extent < 200.0:
        raise ModelError(
            f"member {name!r} is {extent:g} m large: lengths are in metres (a mesh in millimetres needs "
            f"scale=1e-3){UNITS}"
        )


def check_units(name: str, extent: float, material: Material) -> None:
    """Refuse numbers that are orders of magnitude away from any machine part in SI units."""
    check_size(name, extent)
    if not 10.0 < material.density < 3e4:
        raise ModelError(
            f"the density of {name!r} is {material.density:g} kg/m^3 (steel has 7850; g/cm^3 and t/mm^3 are other "
            f"units){UNITS}"
        )
    if not 1e3 < material.young < 3e12 or not 10.0 < material.bar_wave_speed < 3e4:
        raise ModelError(
            f"Young's modulus of {name!r} is {material.young:g} Pa, sound would run at "
            f"{material.bar_wave_speed:.3g} m/s (steel has 2.1e11 Pa and 5170 m/s; GPa and N/mm^2 are other units)"
            f"{UNITS}"
        )
