"""The Magic Formula 6.1 and 6.2, with combined slip, camber, inflation pressure and turn slip.

H. B. Pacejka, Tire and Vehicle Dynamics, 3rd edition, 2012, section 4.3.2 (numbers 4.E...) and 4.3.3 (turn slip);
loads and radii, overturning and rolling moments, equivalent slips as in I. J. M. Besselink, A. J. C. Schmeitz and
H. B. Pacejka, Vehicle System Dynamics 48 (2010) S1, 337-352 (numbers A...), which is what tyre files are fitted to.

Differs in: the road's friction multiplies the scaling factors of friction; the shapes of the curves are held below a
thousandth of the nominal load and above the largest load of the file, where forces go on in proportion to the load;
A_mu of 4.E8 is 1. A wheel that rolls backwards is the same wheel seen from behind: what is not the same both ways, the
shifts of the curves above all, carries the direction of travel b, which goes smoothly from -1 to 1 within the speed
VXLOW, so that forces have no jump at standstill. Turn slip is counted positive to the left, so that the spin of 4.76
has the sign it has in the axes of the files.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from bellcrank.base.keys import NUMBER, TRUTH, Keys, by_name, may, must, words
from bellcrank.base.reach import LARGEST, within
from bellcrank.errors import ModelError, unknown_name
from bellcrank.program.functions import clip, cos, maximum, minimum, sin, sqrt, where
from bellcrank.program.trace import Scalar, function, power
from bellcrank.tyres.envelope import ORDER, SHIFT, Envelope
from bellcrank.tyres.law import STEEPEST, Deflection, Slip, TyreForces, TyreLaw


def names(text: str) -> tuple[str, ...]:
    """Names separated by blanks."""
    return tuple(text.split())


LEAST_LOAD = 1e-3
"""Of the nominal load: the least that slopes over the load are divided by; forces are a thousandth of the usual."""
MOST_LOAD = 3.0
"""Of the nominal load: the largest for which a file that names none is taken to be fitted."""
MOST_GROWTH = 0.1
"""Of the radius: the most that a tyre grows by turning. It has burst by then, at some 200 m/s; a wheel that turns ever
faster because it grows would have no end."""
LEAST_RELAXING_LOAD = 0.05
"""Of the nominal load: the least that relaxation lengths are taken at, since they vanish with the load and the rate of
slip goes to infinity, while the forces vanish too."""
SCALES = names(
    """
    LFZO LCX LMUX LEX LKX LHX LVX LCY LMUY LEY LKY LHY LVY LKYC LKZC LTR LRES LXAL LYKA LVYKA LS LMX LVMX LMY
    LMP LGYR
    """
)
COEFFICIENTS = names(
    """
    PCX1 PDX1 PDX2 PDX3 PEX1 PEX2 PEX3 PEX4 PKX1 PKX2 PKX3 PHX1 PHX2 PVX1 PVX2 PPX1 PPX2 PPX3 PPX4 RBX1 RBX2
    RBX3 RCX1 REX1 REX2 RHX1 PCY1 PDY1 PDY2 PDY3 PEY1 PEY2 PEY3 PEY4 PEY5 PKY1 PKY2 PKY3 PKY4 PKY5 PKY6 PKY7
    PHY1 PHY2 PVY1 PVY2 PVY3 PVY4 PPY1 PPY2 PPY3 PPY4 PPY5 RBY1 RBY2 RBY3 RBY4 RCY1 REY1 REY2 RHY1 RHY2 RVY1
    RVY2 RVY3 RVY4 RVY5 RVY6 QSX1 QSX2 QSX3 QSX4 QSX5 QSX6 QSX7 QSX8 QSX9 QSX10 QSX11 QSX12 QSX13 QSX14 PPMX1
    QSY1 QSY2 QSY3 QSY4 QSY5 QSY6 QSY7 QSY8 QBZ1 QBZ2 QBZ3 QBZ4 QBZ5 QBZ9 QBZ10 QCZ1 QDZ1 QDZ2 QDZ3 QDZ4 QDZ6
    QDZ7 QDZ8 QDZ9 QDZ10 QDZ11 QEZ1 QEZ2 QEZ3 QEZ4 QEZ5 QHZ1 QHZ2 QHZ3 QHZ4 PPZ1 PPZ2 SSZ1 SSZ2 SSZ3 SSZ4
    """
)
TURNING = names(
    """
    PDXP1 PDXP2 PDXP3 PKYP1 PDYP1 PDYP2 PDYP3 PDYP4 PHYP1 PHYP2 PHYP3 PHYP4 PECP1 PECP2 QDTP1 QCRP1 QCRP2 QBRP1
    QDRP1
    """
)
BUILD = names(
    """
    UNLOADED_RADIUS WIDTH ASPECT_RATIO RIM_RADIUS LONGVL INFLPRES NOMPRES FNOMIN VERTICAL_STIFFNESS
    VERTICAL_DAMPING BREFF DREFF FREFF Q_RE0 Q_V1 Q_V2 Q_FZ2 Q_FCX Q_FCY PFZ1 BOTTOM_OFFST BOTTOM_STIFF
    LONGITUDINAL_STIFFNESS LATERAL_STIFFNESS PCFX1 PCFX2 PCFX3 PCFY1 PCFY2 PCFY3 DAMP_VLOW VXLOW QTZ1 MBELT
    """
)
CAMBERED = names("Q_FCY2 Q_CAM1 Q_CAM2 Q_CAM3 Q_FYS1 Q_FYS2 Q_FYS3")
"""Of the load in 6.2."""
ENVELOPE = names("Q_RA1 Q_RA2 Q_RB1 Q_RB2 ELLIPS_SHIFT ELLIPS_LENGTH ELLIPS_HEIGHT ELLIPS_ORDER")
"""Of the contact and of the cams that follow short obstacles."""
RANGES = names(
    """
    PRESMIN PRESMAX FZMAX KPUMIN KPUMAX ALPMIN ALPMAX CAMMIN CAMMAX
    """
)
DEFAULTS = (
    dict.fromkeys((*SCALES, *names("QSX6 QSX11 QSY7 RCX1 RCY1 Q_RE0 PHYP1 QDRP1")), 1.0)
    | {"PKY4": 2.0, "NOMPRES": 220e3, "LONGVL": 16.7, "WIDTH": 0.2, "DAMP_VLOW": 1e-3}
    | {"KPUMIN": -1.5, "KPUMAX": 1.5, "ALPMIN": -1.5, "ALPMAX": 1.5, "CAMMIN": -0.2, "CAMMAX": 0.2}
    | {"PRESMIN": 1e4, "PRESMAX": 1e7}
)
"""Of coefficients that are not 0 where a file leaves them out."""
NEEDED = names(
    """
    UNLOADED_RADIUS FNOMIN VERTICAL_STIFFNESS PCX1 PDX1 PKX1 PCY1 PDY1 PKY1 PKY2
    """
)


MOUNTED = (
    may("pressure", NUMBER, "Inflation [Pa]; that of the coefficients where missing.", plain=True),
    may("turn_slip", TRUTH, "Whether turning on the spot and curved paths count; false where missing."),
    may("mirrored", TRUTH, "Whether it is mounted on the other side than measured; false where missing."),
)
"""Keys of how a tyre is used."""


class Pure(NamedTuple):
    """A force of pure slip: D sin(bend(B, C, E, slip + S_H)) + S_V with the slope K of the curve, and D = mu F_z."""

    B: Scalar
    C: Scalar
    D: Scalar
    K: Scalar
    S_H: Scalar
    S_V: Scalar
    mu: Scalar
    force: Scalar


class Rolling(NamedTuple):
    """A state with what follows from it: z, the load for the shape of the curves; f = dfz; a = alpha*, c = cos(alpha);
    gamma, g = gamma*; k = kappa; scaling factors of friction; b, the direction of travel; phi, the spin slip [1/m]."""

    z: Scalar
    f: Scalar
    a: Scalar
    c: Scalar
    gamma: Scalar
    g: Scalar
    k: Scalar
    mu_x: Scalar
    mu_y: Scalar
    b: Scalar
    phi: Scalar


def atan(x: Scalar) -> Scalar:
    """The arc tangent [rad]."""
    return function("atan", x)


def bend(B: Scalar, C: Scalar, E: Scalar, x: Scalar) -> Scalar:
    """C atan(B x - E (B x - atan(B x))), the argument of all sines and cosines of the formula."""
    Bx = B * x
    return C * atan(Bx - E * (Bx - atan(Bx)))


def flattened(x: Scalar) -> Scalar:
    """cos(atan(x))."""
    return 1.0 / sqrt(1.0 + x * x)


class MagicFormula(TyreLaw):
    """A tyre by the Magic Formula 6.1 or 6.2.

    coefficients: By the names of tyre property files. pressure: Inflation [Pa]; that of the file where None.
    turn_slip: Whether the tyre resists turning on the spot and its forces feel the curvature of its path; needs the
    turn slip coefficients. mirrored: Whether the tyre is mounted on the other side than that it was measured on.
    version: 61 or 62, by which the load depends on camber too.
    """

    kind = "magic_formula"
    keys = Keys(
        "By the Magic Formula 6.1 or 6.2.",
        must("coefficients", by_name(NUMBER), "By the names of tyre property files.", plain=True),
        *MOUNTED,
        may("version", words(61, 62), "Of the vertical force; 6.1 where missing.", whole=(61, 62)),
    )
    known: frozenset[str] = frozenset(
        (*SCALES, *COEFFICIENTS, *TURNING, *BUILD, *CAMBERED, *ENVELOPE, *RANGES)
    )
    needed: tuple[str, ...] = NEEDED

    def __init__(
        self,
        coefficients: Mapping[str, float],
        pressure: float | None = None,
        turn_slip: bool = False,
        mirrored: bool = False,
        version: int = 61,
    ) -> None:
        self.version = version
        self.coefficients = check(coefficients, self.known, self.needed)
        c = self.c = Coefficients({**DEFAULTS, **self.coefficients})
        check_signs(c)
        self.free_radius, self.width = c.UNLOADED_RADIUS, c.WIDTH
        self.turn_slip, self.mirrored = turn_slip, mirrored
        self.pressure = (pressure or c.INFLPRES or c.NOMPRES) * (c.LIP or 1.0)
        self.dpi = (min(max(self.pressure, c.PRESMIN), c.PRESMAX) - c.NOMPRES) / c.NOMPRES
        self.F_0 = c.LFZO * c.FNOMIN
        self.most_load = c.FZMAX or MOST_LOAD * c.FNOMIN
        self.most_slip = max(-c.KPUMIN, c.KPUMAX, math.tan(min(max(-c.ALPMIN, c.ALPMAX), 1.2)))
        self.softens = bool(c.Q_FCX or c.Q_FCY)
        self.damping_time = c.DAMP_VLOW
        self.fitted = bool(c.RBX1 or c.RBY1)
        self._try_out()

    def _try_out(self) -> None:
        """Refuse coefficients that give no number at the corners of their own range."""
        c = self.c
        corners = itertools.product(
            (LEAST_LOAD * self.F_0, self.F_0, self.most_load),
            (c.KPUMIN, 0.0, c.KPUMAX),
            (-self.most_slip, 0.0, self.most_slip),
            (c.CAMMIN, c.CAMMAX),
        )
        try:
            for load, kappa, tangent, camber in corners:
                found = [*self.forces(Slip(load, kappa, tangent, camber)), *self.relaxation(load, camber)]
                pressed = Deflection(0.9 * self.free_radius, 0.0, camber, 100.0, load, load)
                found += [self.load(pressed), self.rolling_radius(load, 100.0)]
                if not all(math.isfinite(float(x)) and within(float(x)) for x in found):
                    raise OverflowError
        except (ArithmeticError, ValueError):
            raise ModelError(
                "the coefficients of the Magic Formula give no finite force within their own range of load, slip and "
                "camber; compare their sizes with those of another tyre"
            ) from None

    def forces(self, slip: Slip) -> TyreForces:
        side = -1.0 if self.mirrored else 1.0
        s = self._state(slip, side)
        share = slip.load / s.z
        x, y = self._longitudinal(s), self._lateral(s)
        if self.fitted:
            G, S_V = self._weight_y(s, y.mu)
            F_x = self._weight_x(s) * x.force
        else:
            (weight, G), S_V = ellipse(s, x, y), 0.0
            F_x = weight * x.force
        F_y = G * y.force + S_V
        M_z = self._aligning(s, y, x.K, F_x, F_y, G, S_V, slip)
        M_x = self._overturning(s, F_y)
        M_y = self._rolling(s, F_x, slip.speed)
        return TyreForces(*(share * x for x in (F_x, side * F_y, side * M_x, M_y, side * M_z)))

    def _state(self, slip: Slip, side: float) -> Rolling:
        """Slip within the range of the file, mirrored for the other side."""
        c = self.c
        z = clip(slip.load, LEAST_LOAD * self.F_0, self.most_load)
        steepest = math.tan(min(c.ALPMAX, 1.55)), math.tan(max(c.ALPMIN, -1.55))
        tangent = clip(side * slip.tangent, steepest[1], steepest[0])
        camber = side * clip(slip.camber, c.CAMMIN, c.CAMMAX)
        b = slowly(slip.speed, c.VXLOW or 1.0)
        g = sin(camber)
        phi: Scalar = 0.0
        if self.turn_slip:
            f = (z - self.F_0) / self.F_0
            share = 1.0 - c.PECP1 * (1.0 + c.PECP2 * f)
            # 4.76: a wheel that leans spins about the normal with Omega sin(gamma); R_e Omega = V_x (1 + kappa).
            phi = side * slip.turn + share * (1.0 + b * slip.kappa) * b * g / self.free_radius
        return Rolling(
            z,
            (z - self.F_0) / self.F_0,
            tangent,
            flattened(tangent),
            camber,
            g,
            clip(slip.kappa, c.KPUMIN, c.KPUMAX),
            c.LMUX * slip.friction,
            c.LMUY * slip.friction,
            b,
            phi,
        )

    def _longitudinal(self, s: Rolling) -> Pure:
        """F_x0 (4.E9-4.E18)."""
        c, f, p = self.c, s.f, self.dpi
        zeta: Scalar = 1.0
        if self.turn_slip:
            B = c.PDXP1 * (1.0 + c.PDXP2 * f) * flattened(c.PDXP3 * s.k)
            zeta = flattened(B * self.free_radius * s.phi)
        C = c.PCX1 * c.LCX
        mu = (c.PDX1 + c.PDX2 * f) * (1.0 + c.PPX3 * p + c.PPX4 * p * p) * (1.0 - c.PDX3 * s.gamma * s.gamma)
        mu = mu * s.mu_x
        D = mu * s.z * zeta
        K = s.z * (c.PKX1 + c.PKX2 * f) * function("exp", c.PKX3 * f)
        K = K * ((1.0 + c.PPX1 * p + c.PPX2 * p * p) * c.LKX)
        S_H = s.b * (c.PHX1 + c.PHX2 * f) * c.LHX
        x = s.k + S_H
        E = minimum((c.PEX1 + f * (c.PEX2 + c.PEX3 * f)) * (1.0 - c.PEX4 * s.b * sign_of(x)) * c.LEX, 1.0)
        S_V = s.b * s.z * (c.PVX1 + c.PVX2 * f) * (c.LVX * zeta) * s.mu_x
        B = K / (C * D)
        return Pure(B, C, D, K, S_H, S_V, mu, D * sin(bend(B, C, E, x)) + S_V)

    def _stiffness(self, s: Rolling, g: Scalar, zeta: Scalar) -> Scalar:
        """K_ya (4.E25)."""
        c, p = self.c, self.dpi
        rise = atan(s.z / self.F_0 / ((c.PKY2 + c.PKY5 * g * g) * (1.0 + c.PPY2 * p)))
        scale = c.PKY1 * self.F_0 * (1.0 + c.PPY1 * p) * c.LKY
        return scale * (1.0 - c.PKY3 * function("abs", g)) * sin(c.PKY4 * rise) * zeta

    def _lateral(self, s: Rolling, upright: bool = False) -> Pure:
        """F_y0 and what it is made of (4.E19-4.E30); `upright`: without camber and spin."""
        c, f, p = self.c, s.f, self.dpi
        g = 0.0 if upright else s.g
        turning = self.turn_slip and not upright
        zeta_2: Scalar = 1.0
        zeta_3: Scalar = 1.0
        if turning:
            spin = self.free_radius * function("abs", s.phi)
            zeta_3 = flattened(c.PKYP1 * spin * spin)
            B = c.PDYP1 * (1.0 + c.PDYP2 * f) * flattened(c.PDYP3 * s.a)
            zeta_2 = flattened(B * (spin + c.PDYP4 * sqrt(spin)) if c.PDYP4 else B * spin)
        C = c.PCY1 * c.LCY
        K = self._stiffness(s, g, zeta_3)
        S_Vg = s.z * (c.PVY3 + c.PVY4 * f) * g * c.LKYC * s.mu_y * zeta_2
        K_camber, leaning = self._camber(s, g, K, S_Vg)
        S_H = s.b * (c.PHY1 + c.PHY2 * f) * c.LHY
        if turning:
            S_H = S_H + s.b * self._spin_shift(s, K_camber) - S_Vg / K
        elif not upright:
            S_H = S_H + leaning
        S_V = s.b * s.z * (c.PVY1 + c.PVY2 * f) * c.LVY * s.mu_y * zeta_2 + S_Vg
        mu = (c.PDY1 + c.PDY2 * f) * (1.0 + c.PPY3 * p + c.PPY4 * p * p) * (1.0 - c.PDY3 * g * g) * s.mu_y
        D = mu * s.z * zeta_2
        x = s.a + S_H
        E = (c.PEY1 + c.PEY2 * f) * (1.0 + c.PEY5 * g * g - (c.PEY3 * s.b + c.PEY4 * g) * sign_of(x)) * c.LEY
        B = K / (C * D)
        force = D * sin(bend(B, C, minimum(E, 1.0), x)) + S_V
        return Pure(B, C, D, K, S_H, S_V, mu, force)

    def _camber(self, s: Rolling, g: Scalar, K: Scalar, S_Vg: Scalar) -> tuple[Scalar, Scalar]:
        """Camber stiffness K_yg0 [N] and the shift by camber, part of S_Hy (4.E27, 4.E30)."""
        c = self.c
        K_camber = s.z * (c.PKY6 + c.PKY7 * s.f) * ((1.0 + c.PPY5 * self.dpi) * c.LKYC)
        return K_camber, (K_camber * g - S_Vg) / K

    def _spin_shift(self, s: Rolling, K_camber: Scalar) -> Scalar:
        """S_Hyphi (4.80, 4.85-4.89)."""
        c = self.c
        D = c.PHYP2 + c.PHYP3 * s.f
        share = 1.0 - c.PECP1 * (1.0 + c.PECP2 * s.f)
        B = K_camber / (share * c.PHYP1 * D * self._stiffness(s, 0.0, 1.0))
        return D * sin(bend(B, c.PHYP1, min(c.PHYP4, 1.0), self.free_radius * s.phi))

    def _weight_x(self, s: Rolling) -> Scalar:
        """G_xa (4.E51-4.E57)."""
        c = self.c
        B = (c.RBX1 + c.RBX3 * s.g * s.g) * flattened(c.RBX2 * s.k) * c.LXAL
        E = minimum(c.REX1 + c.REX2 * s.f, 1.0)
        return cos(bend(B, c.RCX1, E, s.a + s.b * c.RHX1)) / cos(bend(B, c.RCX1, E, c.RHX1))

    def _weight_y(self, s: Rolling, mu: Scalar, zeta: Scalar = 1.0) -> tuple[Scalar, Scalar]:
        """G_yk and S_Vyk (4.E59-4.E67)."""
        c, f = self.c, s.f
        B = (c.RBY1 + c.RBY4 * s.g * s.g) * flattened(c.RBY2 * (s.a - s.b * c.RBY3)) * c.LYKA
        E = minimum(c.REY1 + c.REY2 * f, 1.0)
        S_H = c.RHY1 + c.RHY2 * f
        G = cos(bend(B, c.RCY1, E, s.k + s.b * S_H)) / cos(bend(B, c.RCY1, E, S_H))
        D = mu * s.z * (c.RVY1 + c.RVY2 * f + c.RVY3 * s.b * s.g) * flattened(c.RVY4 * s.a) * zeta
        return G, D * sin(c.RVY5 * atan(c.RVY6 * s.k)) * c.LVYKA

    def _aligning(
        self, s: Rolling, y: Pure, K_x: Scalar, F_x: Scalar, F_y: Scalar, G: Scalar, S_V: Scalar, slip: Slip
    ) -> Scalar:
        """M_z (4.E31-4.E49, 4.E71-4.E78; A54-A60)."""
        c, f, p, R, gamma = self.c, s.f, self.dpi, self.free_radius, s.gamma
        zeta_5: Scalar = 1.0
        zeta_6: Scalar = 1.0
        if self.turn_slip:
            zeta_5, zeta_6 = flattened(c.QDTP1 * R * s.phi), flattened(c.QBRP1 * R * s.phi)
        a_r = s.a + y.S_H + y.S_V / y.K
        a_t = s.a + s.b * (c.QHZ1 + c.QHZ2 * f) + (c.QHZ3 + c.QHZ4 * f) * s.g
        B_t = (c.QBZ1 + f * (c.QBZ2 + c.QBZ3 * f)) * (c.LKY / s.mu_y)
        B_t = B_t * (1.0 + c.QBZ4 * s.b * gamma + c.QBZ5 * function("abs", gamma))
        D_t = s.z * (R / self.F_0) * (c.QDZ1 + c.QDZ2 * f) * ((1.0 - c.PPZ1 * p) * c.LTR) * zeta_5
        D_t = D_t * (1.0 + gamma * (c.QDZ3 * s.b + c.QDZ4 * gamma))
        E_t = (c.QEZ1 + f * (c.QEZ2 + c.QEZ3 * f)) * (
            1.0 + (c.QEZ4 * s.b + c.QEZ5 * s.g) * (2.0 / math.pi) * atan(B_t * c.QCZ1 * a_t)
        )
        longitudinal = (K_x / y.K * s.k) ** 2
        a_t, a_r = equivalent(a_t, longitudinal), equivalent(a_r, longitudinal)
        trail = D_t * cos(bend(B_t, c.QCZ1, minimum(E_t, 1.0), a_t)) * s.c * s.b * c.LFZO
        B_r = (c.QBZ9 * c.LKY / s.mu_y + c.QBZ10 * y.B * y.C) * zeta_6
        lean = (c.QDZ8 + c.QDZ9 * f) * (1.0 + c.PPZ2 * p) + (c.QDZ10 + c.QDZ11 * f) * function("abs", s.g)
        D_r = s.b * s.b * (c.QDZ6 + c.QDZ7 * f) * c.LRES
        if self.turn_slip:
            C_r, spinning = self._spin_moment(s, y.mu, G)
        else:
            C_r, spinning, D_r = 1.0, 0.0, D_r + lean * s.b * s.g * c.LKZC
        D_r = s.z * R * D_r * s.mu_y * s.c + spinning
        arm = R * (c.SSZ1 * s.b + c.SSZ2 * F_y / c.FNOMIN + (c.SSZ3 + c.SSZ4 * f) * gamma) * c.LS
        belt = c.QTZ1 * c.MBELT * c.LGYR * slip.speed * (1.0 + s.b * slip.kappa) * slip.swerve
        residual = D_r * cos(C_r * atan(B_r * a_r)) + belt * flattened(B_r * a_r)
        return -trail * self._pushing(s, F_y, G, S_V) + residual + arm * F_x

    def _pushing(self, s: Rolling, F_y: Scalar, G: Scalar, S_V: Scalar) -> Scalar:
        """The lateral force that acts at the pneumatic trail: without camber and spin (4.E74)."""
        return G * self._lateral(s, upright=True).force

    def _spin_moment(self, s: Rolling, mu: Scalar, G: Scalar) -> tuple[Scalar, Scalar]:
        """zeta_7 and D_rphi (4.93-4.103)."""
        c, R = self.c, self.free_radius
        most = maximum(c.QCRP1 * mu * R * s.z * sqrt(s.z / self.F_0) * c.LMP, LEAST_LOAD * R * s.z)
        D = most / math.sin(0.5 * math.pi * c.QDRP1)
        share = 1.0 - c.PECP1 * (1.0 + c.PECP2 * s.f)
        K = s.z * R * (c.QDZ8 + c.QDZ9 * s.f) * c.LKZC / share
        spin = R * s.phi
        moment = D * sin(c.QDRP1 * atan(K / (c.QDRP1 * D) * spin))
        sideways = most * (2.0 / math.pi) * atan(c.QCRP2 * function("abs", spin)) * G
        # Both vanish with the spin; the share of the least moment keeps their ratio finite there.
        ratio = sideways / (function("abs", moment) + LEAST_LOAD * most)
        return (2.0 / math.pi) * function("acos", minimum(ratio, 1.0 - LEAST_LOAD)), moment

    def _overturning(self, s: Rolling, F_y: Scalar) -> Scalar:
        """M_x (A49)."""
        c, z, gamma, n, y = self.c, s.z, s.gamma, s.z / self.c.FNOMIN, F_y / self.c.FNOMIN
        mixed = cos(c.QSX5 * atan((c.QSX6 * n) ** 2)) * sin(c.QSX7 * gamma + c.QSX8 * atan(c.QSX9 * y))
        turned = c.QSX10 * atan(c.QSX11 * n) - c.QSX2 * (1.0 + c.PPMX1 * self.dpi)
        steep = function("abs", gamma)
        found = z * (
            c.QSX1 * s.b * c.LVMX + turned * gamma + c.QSX3 * y + c.QSX4 * mixed - c.QSX12 * gamma * steep
        )
        return self.free_radius * c.LMX * (found + F_y * (c.QSX13 + c.QSX14 * steep))

    def _rolling(self, s: Rolling, F_x: Scalar, speed: Scalar) -> Scalar:
        """M_y against the rolling (A48)."""
        c, n = self.c, s.z / self.c.FNOMIN
        scale = power(self.pressure / c.NOMPRES, c.QSY8) * c.LMY * c.FNOMIN * self.free_radius
        return -scale * power(n, c.QSY7) * self._resistance(s, F_x, speed)

    def _resistance(self, s: Rolling, F_x: Scalar, speed: Scalar) -> Scalar:
        """Rolling moment over load and radius."""
        c, v = self.c, speed / self.c.LONGVL
        rolling = c.QSY1 + c.QSY3 * function("abs", v) + c.QSY4 * v**4
        rolling = rolling + (c.QSY5 + c.QSY6 * s.z / c.FNOMIN) * s.gamma * s.gamma
        # The load acts within the radius of the wheel; the fourth power of speed would put it anywhere.
        return s.b * clip(rolling, -1.0, 1.0) + c.QSY2 * F_x / c.FNOMIN

    def load(self, at: Deflection) -> Scalar:
        """A3.3 and, for 6.2, the effects of camber; A5 for pressure; bottoming; damping that never pulls."""
        c, R = self.c, self.free_radius
        free = self._free_radius(at.spin)
        depth = free - at.radius
        if self.version == 62:
            depth = depth + self._camber_depth(at, free, maximum(depth, 0.0))
        d = maximum(depth, 0.0) / R
        quadratic = c.Q_FZ2
        linear = math.sqrt(max((c.VERTICAL_STIFFNESS * R / c.FNOMIN) ** 2 - 4.0 * quadratic, 0.0))
        x, y = at.longitudinal / c.FNOMIN, at.lateral / c.FNOMIN
        if self.version == 62:
            ratio = at.radius / free
            y = y - (c.Q_FYS1 + ratio * (c.Q_FYS2 + ratio * c.Q_FYS3)) * at.camber / c.FNOMIN
            y = power(maximum(d, LEAST_LOAD), c.Q_FCY2) * y
        soft = (
            1.0 + c.Q_V2 * (R / c.LONGVL) * function("abs", at.spin) - (c.Q_FCX * x) ** 2 - (c.Q_FCY * y) ** 2
        )
        carcass = soft * d * (linear + quadratic * d) * ((1.0 + c.PFZ1 * self.dpi) * c.FNOMIN)
        rim: Scalar = 0.0
        if c.BOTTOM_STIFF and c.RIM_RADIUS:
            rim = c.BOTTOM_STIFF * maximum(c.RIM_RADIUS + c.BOTTOM_OFFST - at.radius, 0.0)
        damped = carcass + rim - c.VERTICAL_DAMPING * at.rate
        return where(depth > 0.0, maximum(damped, 0.0), 0.0)

    def _free_radius(self, spin: Scalar) -> Scalar:
        """R_Omega, larger the faster the wheel turns (A3.1), up to `MOST_GROWTH`."""
        c, R = self.c, self.free_radius
        growth = c.Q_V1 * (spin * R / c.LONGVL) ** 2
        return R * (c.Q_RE0 + clip(growth, -MOST_GROWTH, MOST_GROWTH))

    def _camber_depth(self, at: Deflection, free: Scalar, depth: Scalar) -> Scalar:
        """What camber adds to the depth by the width of the tread (6.2)."""
        c = self.c
        steep = function("abs", at.camber)
        tread = (1.075 - 0.5 * c.ASPECT_RATIO) * c.WIDTH
        if not (c.Q_CAM1 or c.Q_CAM2):
            return -c.Q_CAM3 * depth * steep
        curve = (c.Q_CAM1 + c.Q_CAM2 * at.radius) * at.radius / ((c.Q_CAM1 + c.Q_CAM2 * free) * free)
        return curve * curve * (tread / 8.0) * function("tan", steep) - c.Q_CAM3 * depth * steep

    def rolling_radius(self, load: Scalar, spin: Scalar) -> Scalar:
        """A3.7."""
        c, n = self.c, load / self.c.FNOMIN
        stiffness = c.VERTICAL_STIFFNESS * (1.0 + c.PFZ1 * self.dpi)
        return self._free_radius(spin) - c.FNOMIN / stiffness * (c.DREFF * atan(c.BREFF * n) + c.FREFF * n)

    def carcass(self, load: Scalar) -> tuple[Scalar, Scalar]:
        """Stiffness along and across the wheel [N/m] (A17, A18)."""
        c, p = self.c, self.dpi
        f = (maximum(load, LEAST_RELAXING_LOAD * self.F_0) - self.F_0) / self.F_0
        along = c.LONGITUDINAL_STIFFNESS * (1.0 + f * (c.PCFX1 + c.PCFX2 * f)) * (1.0 + c.PCFX3 * p)
        across = c.LATERAL_STIFFNESS * (1.0 + f * (c.PCFY1 + c.PCFY2 * f)) * (1.0 + c.PCFY3 * p)
        return along, across

    def envelope(self) -> Envelope:
        """By the contact at the nominal load (A12, A13) and the cams of the file; what it does not name is usual."""
        c, R, usual = self.c, self.free_radius, super().envelope()
        q = c.FNOMIN / (c.VERTICAL_STIFFNESS * R)
        half = R * (c.Q_RA1 * math.sqrt(q) + c.Q_RA2 * q)
        across = c.WIDTH * (c.Q_RB1 * q ** (1.0 / 3.0) + c.Q_RB2 * q)
        return replace(
            usual,
            base=(c.ELLIPS_SHIFT or SHIFT) * 2.0 * half if half > 0.0 else usual.base,
            length=(c.ELLIPS_LENGTH or 1.0) * R,
            height=(c.ELLIPS_HEIGHT or 1.0) * R,
            order=c.ELLIPS_ORDER or ORDER,
            width=2.0 * across if across > 0.0 else usual.width,
        )

    def relaxation(self, load: Scalar, camber: Scalar) -> tuple[Scalar, Scalar]:
        """K over the stiffness of the carcass (A19); one radius each where the file names no stiffness."""
        c = self.c
        z = clip(load, LEAST_RELAXING_LOAD * self.F_0, self.most_load)
        s = self._state(Slip(z, camber=camber), -1.0 if self.mirrored else 1.0)
        along, across = self.carcass(load)
        K_x, K_y = self._longitudinal(s).K, self._stiffness(s, s.g, 1.0)
        sigma_x: Scalar = self.free_radius
        sigma_y: Scalar = self.free_radius
        if c.LONGITUDINAL_STIFFNESS:
            sigma_x = function("abs", K_x / along)
        if c.LATERAL_STIFFNESS:
            sigma_y = function("abs", K_y / across)
        return sigma_x, sigma_y

    def steepness(self, load: Scalar, camber: Scalar, friction: Scalar) -> tuple[Scalar, Scalar]:
        z = clip(load, LEAST_RELAXING_LOAD * self.F_0, self.most_load)
        s = self._state(Slip(z, camber=camber, friction=friction), -1.0 if self.mirrored else 1.0)
        x, y = self._longitudinal(s), self._lateral(s)
        found = (function("abs", x.K / x.D), function("abs", y.K / y.D))
        return minimum(found[0], STEEPEST), minimum(found[1], STEEPEST)


def check(given: Mapping[str, float], known: Collection[str], needed: Sequence[str]) -> dict[str, float]:
    """Coefficients by name, all of them known, with what is needed among them."""
    for name, value in given.items():
        if name not in known:
            raise unknown_name("coefficient of the Magic Formula", str(name), sorted(known))
        if not math.isfinite(value) or not within(value):
            raise ModelError(
                f"coefficient {name} of the Magic Formula is {value!r}; give a finite number up to {LARGEST:g}"
            )
    for name in needed:
        if not given.get(name):
            raise ModelError(f"the Magic Formula needs the coefficient {name}, not 0 or none")
    return dict(given)


def check_signs(c: Coefficients) -> None:
    """Refuse sizes that are not positive, and ranges that do not hold 0."""
    for name in ("UNLOADED_RADIUS", "FNOMIN", "LFZO", "VERTICAL_STIFFNESS", "NOMPRES", "LONGVL"):
        if not getattr(c, name) > 0.0:
            raise ModelError(f"{name} of the Magic Formula must be greater than 0, not {getattr(c, name):g}")
    for low, high in (("KPUMIN", "KPUMAX"), ("ALPMIN", "ALPMAX"), ("CAMMIN", "CAMMAX")):
        if not getattr(c, low) < 0.0 < getattr(c, high):
            raise ModelError(f"{low} and {high} of the Magic Formula must lie on both sides of 0")
    if c.FZMAX and not c.FZMAX > LEAST_LOAD * c.LFZO * c.FNOMIN:
        raise ModelError(f"FZMAX of the Magic Formula is {c.FZMAX:g} N, next to nothing beside FNOMIN")


class Coefficients:
    """Numbers by name; 0 where there is none."""

    def __init__(self, values: Mapping[str, float]) -> None:
        self._values = values

    def __getattr__(self, name: str) -> float:
        if name.startswith("_"):
            raise AttributeError(name)
        return self._values.get(name, 0.0)


def ellipse(s: Rolling, x: Pure, y: Pure) -> tuple[Scalar, Scalar]:
    """Weights of F_x0 and F_y0 in combined slip by the friction ellipse, for tyres without combined slip coefficients.

    With the slips kappa_c and alpha_c at which both curves pass through zero, tan(beta) = sin(alpha_c)/kappa_c: the
    force along the wheel is that at which the ellipse with the half axes of the actual F_x0 and the largest F_y0 has
    the direction beta, and across it likewise.
    """
    kappa, alpha = s.k + x.S_H + x.S_V / x.K, s.a + y.S_H + y.S_V / y.K
    across = alpha / sqrt(1.0 + alpha * alpha)
    along = secant(x.force - x.S_V, kappa, x.K) * across / y.D
    sideways = secant(y.force - y.S_V, across, y.K) * kappa / x.D
    return 1.0 / sqrt(1.0 + along * along), 1.0 / sqrt(1.0 + sideways * sideways)


def secant(force: Scalar, slip: Scalar, slope: Scalar) -> Scalar:
    """Force over slip, the slope at slip 0; the guard lies at slips of 1e-6, where a curve is its tangent."""
    return (force * slip + 1e-12 * slope) / (slip * slip + 1e-12)


def equivalent(a: Scalar, longitudinal: Scalar) -> Scalar:
    """A slip angle with the longitudinal slip in it (A54, A55), with its sign."""
    tangent = function("tan", a)
    # The guard is below the square of any slip that matters, and keeps the slope finite at none.
    return atan(sqrt(tangent * tangent + longitudinal + 1e-24)) * sign_of(a)


def sign_of(x: Scalar) -> Scalar:
    """1 or -1; 1 at 0."""
    return where(x < 0.0, -1.0, 1.0)


def slowly(speed: Scalar, limit: float) -> Scalar:
    """The sign of a speed, in a sine from -limit to limit [m/s]."""
    return sin(clip(speed / limit, -1.0, 1.0) * (0.5 * math.pi))
