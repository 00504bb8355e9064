"""What a tyre law is: load, rolling radius, relaxation lengths, and forces of slip, all in traced code.

Axes of the contact (ISO 8855, the W axes of tyre files): x along the wheel plane in the road, y to the left in the
road, z along the normal of the road, up. With V the velocity of the wheel centre, Omega the speed of rotation and R_e
the effective rolling radius, slip and camber are

    kappa = -(V_x - R_e Omega)/|V_x|,   tan(alpha) = V_y/|V_x|,   sin(gamma) = a.n

with the spin axis a, to the left where the wheel rolls forwards, and the normal n. A wheel with positive camber leans
to the right (its top moves to -y). Turn slip is (yaw rate)/|V_x|, positive to the left.
"""

from __future__ import annotations

from typing import ClassVar, NamedTuple

from bellcrank.base.keys import Keys
from bellcrank.program.trace import Scalar
from bellcrank.tyres.envelope import ORDER, SHIFT, STEP, Envelope


class Slip(NamedTuple):
    """In what state a tyre rolls.

    load: F_z [N], at least 0. kappa: Longitudinal slip. tangent: tan(alpha) of the slip angle. camber: gamma [rad].
    turn: Turn slip phi_t [1/m]. speed: V_x, forwards [m/s]. friction: Of the road over that of the road on which
    the tyre was measured. swerve: Rate of the lateral deflection of the carcass [m/s].
    """

    load: Scalar
    kappa: Scalar = 0.0
    tangent: Scalar = 0.0
    camber: Scalar = 0.0
    turn: Scalar = 0.0
    speed: Scalar = 10.0
    friction: Scalar = 1.0
    swerve: Scalar = 0.0


class TyreForces(NamedTuple):
    """Forces on the wheel at the centre of the contact [N] and moments about it [N m], in the axes of the contact."""

    longitudinal: Scalar
    lateral: Scalar
    overturning: Scalar
    rolling: Scalar
    aligning: Scalar


class Deflection(NamedTuple):
    """How a tyre is pressed.

    radius: R_l, from the wheel centre to the road along the wheel plane [m]. rate: Its rate, negative where the tyre
    is pressed [m/s]. camber: [rad]. spin: [rad/s]. longitudinal, lateral: Forces [N], which soften the carcass.
    """

    radius: Scalar
    rate: Scalar = 0.0
    camber: Scalar = 0.0
    spin: Scalar = 0.0
    longitudinal: Scalar = 0.0
    lateral: Scalar = 0.0


class TyreLaw:
    """The contract of a tyre law; a kind fills it in its own file. All methods but the numbers are traced.

    kind: Its name in model files. keys: Its keys there, all of plain numbers.
    free_radius: [m]. width: [m]. most_slip: The largest slip to which the law is known. softens: Whether the load
    depends on the forces of slip. damping_time: Damping of the carcass along and across the wheel over its stiffness
    [s]; it calms a wheel that stands.
    """

    kind: ClassVar[str]
    keys: ClassVar[Keys]

    free_radius: float
    width: float
    most_slip: float = 1.5
    softens: bool = False
    damping_time: float = 1e-3

    def load(self, at: Deflection) -> Scalar:
        """Force along the normal of the road [N]; 0 where the tyre does not touch."""
        raise NotImplementedError

    def rolling_radius(self, load: Scalar, spin: Scalar) -> Scalar:
        """Effective rolling radius R_e [m]."""
        raise NotImplementedError

    def forces(self, slip: Slip) -> TyreForces:
        """Forces and moments of steady slip."""
        raise NotImplementedError

    def envelope(self) -> Envelope:
        """Cams that follow the road, of numbers that are all there: those of passenger car tyres over the radius.

        Half of the contact length is a fifth of the radius, its width four fifths of that of the tyre; cams as high and
        as long as the radius, with the exponent 1.8, at four fifths of the contact length from each other, are what
        the files of the Magic Formula 6.1 give.
        """
        R = self.free_radius
        return Envelope(
            base=SHIFT * 0.4 * R,
            length=R,
            height=R,
            order=ORDER,
            width=0.8 * self.width,
            tracks=3,
            step=STEP * R,
        )

    def relaxation(self, load: Scalar, camber: Scalar) -> tuple[Scalar, Scalar]:
        """Relaxation lengths of longitudinal and of lateral slip [m], above 0."""
        raise NotImplementedError

    def steepness(self, load: Scalar, camber: Scalar, friction: Scalar) -> tuple[Scalar, Scalar]:
        """Slip stiffness over friction force, along and across: one over the slips at which the contact would slide
        if its forces went on growing as at no slip. At most `STEEPEST`, 0 without friction."""
        return 0.0, 0.0


STEEPEST = 100.0
"""Steepness at most: no tyre slides at a hundredth of slip on a road, and lengths shall not vanish on ice."""


__all__ = ["Deflection", "Slip", "TyreForces", "TyreLaw"]
