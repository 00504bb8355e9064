"""The Magic Formula of 2002 (5.2), whose files are still the most common.

H. B. Pacejka, Tire and Vehicle Dynamics, 2nd edition, 2006, section 4.3.2. Its equations are those of 6.1 but for the
camber in the lateral force, the aligning and the rolling moment, the load, and relaxation lengths of their own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

from bellcrank.base.keys import NUMBER, Keys, by_name, list_of, may, must
from bellcrank.errors import ModelError
from bellcrank.program.functions import maximum, sin, where
from bellcrank.program.tables import smooth_table
from bellcrank.program.trace import Scalar, function
from bellcrank.tyres.law import Deflection, Slip
from bellcrank.tyres.magic_formula import (
    LEAST_RELAXING_LOAD,
    MOUNTED,
    MagicFormula,
    Pure,
    Rolling,
    atan,
    check,
    names,
)

OWN = names(
    """
    PHY3 LGAX LGAY LGAZ LKYG LKG PTX1 PTX2 PTX3 PTY1 PTY2 LSGKP LSGAL LCZ LIP QFZ1 QFZ2 QFZ3 QPFZ1 QV1
    QV2 QRE0 QFCX1 QFCY1 QPX1 QPZ1 QPZ2 IP IP_NOM
    """
)
SINCE = names(
    """
    PKY6 PKY7 QSY7 QSY8 Q_FZ2 PCFX1 PCFX2 PCFX3 PCFY1 PCFY2 PCFY3
    Q_FCY2 Q_CAM1 Q_CAM2 Q_CAM3 Q_FYS1 Q_FYS2 Q_FYS3
    """
)
"""Coefficients that came with 6.1 and 6.2."""
NAMES = {
    "QPX1": "PPMX1",
    "QPZ1": "PPZ1",
    "QPZ2": "PPZ2",
    "IP": "INFLPRES",
    "IP_NOM": "NOMPRES",
    "QPFZ1": "PFZ1",
    "QV1": "Q_V1",
    "QV2": "Q_V2",
    "QRE0": "Q_RE0",
    "QFCX1": "Q_FCX",
    "QFCY1": "Q_FCY",
    "LKYG": "LKYC",
    "LKG": "LKYC",
}
"""What coefficients are called since."""
CURVE = list_of(list_of(NUMBER, 2))
ONES = dict.fromkeys(("LGAX", "LGAY", "LGAZ", "LSGKP", "LSGAL", "LCZ", "LIP"), 1.0)


class MagicFormula2002(MagicFormula):
    """A tyre by the Magic Formula of 2002.

    coefficients: By the names of tyre property files. deflections, bottoming: Pairs of deflection [m] and load [N] of
    the carcass and of the rim, in the place of stiffnesses. The rest as for :class:`MagicFormula`.
    """

    kind = "magic_formula_2002"
    keys = Keys(
        "By the Magic Formula of 2002 (5.2).",
        must("coefficients", by_name(NUMBER), "By the names of tyre property files.", plain=True),
        *MOUNTED,
        may("deflections", CURVE, "Pairs of deflection [m] and load [N] of the carcass.", plain=True),
        may("bottoming", CURVE, "Pairs of deflection [m] and load [N] of the rim.", plain=True),
    )
    known = frozenset((*MagicFormula.known, *OWN)) - frozenset(SINCE)

    def __init__(
        self,
        coefficients: Mapping[str, float],
        pressure: float | None = None,
        turn_slip: bool = False,
        mirrored: bool = False,
        deflections: Sequence[Sequence[float]] = (),
        bottoming: Sequence[Sequence[float]] = (),
    ) -> None:
        given = check(coefficients, self.known, self.needed)
        renamed = {NAMES.get(name, name): value for name, value in given.items()}
        self.deflections, self.bottoming = rising("deflections", deflections), rising("bottoming", bottoming)
        super().__init__({**ONES, **renamed}, pressure, turn_slip, mirrored, 52)
        self.coefficients = given

    def _longitudinal(self, s: Rolling) -> Pure:
        return super()._longitudinal(s._replace(gamma=s.gamma * self.c.LGAX))

    def _lateral(self, s: Rolling, upright: bool = False) -> Pure:
        return super()._lateral(s._replace(g=s.g * self.c.LGAY), upright)

    def _camber(self, s: Rolling, g: Scalar, K: Scalar, S_Vg: Scalar) -> tuple[Scalar, Scalar]:
        c = self.c
        upright = self._stiffness(s, 0.0, 1.0) / c.LKY * c.LKYC
        K_camber = c.PHY3 * upright + s.z * (c.PVY3 + c.PVY4 * s.f) * c.LKYC
        return K_camber, c.PHY3 * g * c.LKYC

    def _aligning(
        self, s: Rolling, y: Pure, K_x: Scalar, F_x: Scalar, F_y: Scalar, G: Scalar, S_V: Scalar, slip: Slip
    ) -> Scalar:
        turned = s._replace(gamma=s.gamma * self.c.LGAZ, g=s.g * self.c.LGAZ)
        return super()._aligning(turned, y, K_x, F_x, F_y, G, S_V, slip)

    def _pushing(self, s: Rolling, F_y: Scalar, G: Scalar, S_V: Scalar) -> Scalar:
        return F_y - S_V

    def _rolling(self, s: Rolling, F_x: Scalar, speed: Scalar) -> Scalar:
        return -self.free_radius * s.z * self.c.LMY * self._resistance(s, F_x, speed)

    def load(self, at: Deflection) -> Scalar:
        """By the curve of the file, else by QFZ1 to QFZ3, else by the stiffness; the rim by its curve."""
        c, R = self.c, self.free_radius
        depth = self._free_radius(at.spin) - at.radius
        d = maximum(depth, 0.0)
        if self.deflections:
            carcass = through(self.deflections, d)
        elif c.QFZ1 or c.QFZ2:
            linear = c.QFZ1 + c.QFZ3 * at.camber * at.camber
            carcass = c.FNOMIN * (d / R) * (linear + c.QFZ2 * (d / R))
        else:
            carcass = c.VERTICAL_STIFFNESS * d
        x, y = c.Q_FCX * at.longitudinal / c.FNOMIN, c.Q_FCY * at.lateral / c.FNOMIN
        soft = 1.0 + c.Q_V2 * (R / c.LONGVL) * function("abs", at.spin) - x * x - y * y
        carcass = carcass * soft * ((1.0 + c.PFZ1 * self.dpi) * c.LCZ)
        rim: Scalar = 0.0
        if self.bottoming:
            rim = through(self.bottoming, d)
        elif c.BOTTOM_STIFF and c.RIM_RADIUS:
            rim = c.BOTTOM_STIFF * maximum(c.RIM_RADIUS + c.BOTTOM_OFFST - at.radius, 0.0)
        return where(depth > 0.0, maximum(carcass + rim - c.VERTICAL_DAMPING * at.rate, 0.0), 0.0)

    def relaxation(self, load: Scalar, camber: Scalar) -> tuple[Scalar, Scalar]:
        c, R = self.c, self.free_radius
        if not (c.PTX1 or c.PTY1):
            return super().relaxation(load, camber)
        z = maximum(load, LEAST_RELAXING_LOAD * self.F_0)
        f = (z - self.F_0) / self.F_0
        along = z / c.FNOMIN * R * (c.PTX1 + c.PTX2 * f) * function("exp", -c.PTX3 * f) * c.LSGKP
        rise = sin(2.0 * atan(z / (c.PTY2 * self.F_0)))
        across = c.PTY1 * rise * (1.0 - c.PKY3 * function("abs", camber)) * R * c.LFZO * c.LSGAL
        least = 1e-2 * R
        return maximum(along, least), maximum(across, least)


def rising(what: str, rows: Sequence[Sequence[float]]) -> tuple[tuple[float, float], ...]:
    """Pairs of deflection and load, checked."""
    pairs = tuple((float(x), float(y)) for x, y in rows)
    if pairs and (len(pairs) < 2 or any(a[0] >= b[0] for a, b in pairwise(pairs))):
        raise ModelError(f"{what} of a tyre need at least two pairs with growing deflections")
    return pairs


def through(rows: tuple[tuple[float, float], ...], d: Scalar) -> Scalar:
    """The load at a deflection, by the curve through some."""
    table = smooth_table([x for x, _ in rows], [y for _, y in rows], extrapolate="linear", monotone=True)
    return table(d)
