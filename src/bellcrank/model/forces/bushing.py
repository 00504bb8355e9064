"""Bushings: springs, dampers and tables along and about three axes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from bellcrank.base.keys import TABLES, VECTOR6, Keys, may
from bellcrank.math.tuples import Mat, Vec, cross, matmul, scale, sub, times, transpose, transposed_times, vec
from bellcrank.model import checks
from bellcrank.model.forces.element import POINTS, ForceElement, ForceMethod, Line
from bellcrank.model.forces.tabulated import Tables, tables_by_name
from bellcrank.model.frames import Frame
from bellcrank.model.joints import Side
from bellcrank.program.tables import table_and_integral
from bellcrank.program.trace import Scalar

if TYPE_CHECKING:
    from bellcrank.mechanics.constraints import Seen
    from bellcrank.mechanics.forces import Acting
    from bellcrank.mechanics.loads import Loads
    from bellcrank.quantities.snapshot import Snapshot

Six: TypeAlias = tuple[Scalar, Scalar, Scalar, Scalar, Scalar, Scalar]
SIX = ("x", "y", "z", "rx", "ry", "rz")
NOTHING = (0.0,) * 6


@dataclass(frozen=True, eq=False)
class Bushing(ForceElement):
    """Six springs and dampers between two frames, along and about the axes of `a`.

    stiffness: 3 [N/m] and 3 [N m/rad]. damping: 3 [N s/m] and 3 [N m s/rad]. Force on B is -k*displacement
    - c*rate of b's origin in a's axes; the rotation is half the antisymmetric part of the relative
    rotation matrix. tables: By axis (x, y, z, rx, ry, rz) pairs of a deflection [m or rad] and the force [N] or
    torque [N m] that goes with it, in the place of stiffness * deflection or beside it: the monotone cubic
    spline through them (PCHIP), with its end slopes beyond.
    """

    kind = "bushing"
    keys = Keys(
        "Six springs and dampers between two frames.",
        *POINTS,
        may("stiffness", VECTOR6, "3 [N/m] and 3 [N m/rad], along and about the axes of a; 0 where missing."),
        may("damping", VECTOR6, "3 [N s/m] and 3 [N m s/rad]."),
        may(
            "tables",
            TABLES,
            "By axis (x, y, z, rx, ry, rz) pairs of deflection [m or rad] and force [N] or torque [N m], beside the "
            "stiffness.",
        ),
    )
    drawn = Line.PLAIN

    name: str
    a: Frame
    b: Frame
    stiffness: Six
    damping: Six
    tables: Tables | None = None

    @property
    def frames(self) -> tuple[Frame, ...]:
        return (self.a, self.b)

    def load(self, act: Acting, loads: Loads) -> None:
        A, B, base = act.ends(self.a, self.b)
        axes_a = _axes(A)
        x, rates = motion_between(act, A, B, base)
        f, m = self._forces(act, x, rates)
        # Both sides act at b's origin, so that force and moment balance exactly.
        loads.between(
            A.link, B.link, base, B.point, B.point, transposed_times(axes_a, f), transposed_times(axes_a, m)
        )

    def _forces(self, act: Acting, x: tuple[Vec, Vec], rates: tuple[Vec, Vec]) -> tuple[Vec, Vec]:
        """Force and moment on b in the axes of a."""
        (gap, turn), (gap_rate, turn_rate) = x, rates
        k, c = [act.kin.number(v) for v in self.stiffness], [act.kin.number(v) for v in self.damping]
        f = vec([-(k[i] * gap[i] + c[i] * gap_rate[i]) for i in range(3)])
        m = vec([-(k[3 + i] * turn[i] + c[3 + i] * turn_rate[i]) for i in range(3)])
        if self.tables:
            by_table = self._by_table((*gap, *turn), 0)
            return sub(f, vec(by_table[:3])), sub(m, vec(by_table[3:]))
        return f, m

    def _by_table(self, x: Sequence[Scalar], part: int) -> list[Scalar]:
        """Forces (part 0) or energies (part 1) of the tables at six deflections."""
        curves = {
            axis: table_and_integral(*zip(*points, strict=True))
            for axis, points in (self.tables or {}).items()
        }
        return [curves[axis][part](at) if axis in curves else 0.0 for axis, at in zip(SIX, x, strict=True)]

    def stored(self, s: Snapshot) -> Scalar:
        (gap, turn), _ = motion_between(s.acting, *s.acting.ends(self.a, self.b))
        k = [s.kin.number(x) for x in self.stiffness]
        parts = [0.5 * k[i] * (gap[i] * gap[i]) for i in range(3)]
        parts += [0.5 * k[3 + i] * (turn[i] * turn[i]) for i in range(3)]
        return total(parts + self._by_table((*gap, *turn), 1))

    def power(self, s: Snapshot) -> Scalar:
        """Work of the six components; the moment works on the true relative angular velocity."""
        x, rates = motion_between(s.acting, *s.acting.ends(self.a, self.b))
        f, m = self._forces(s.acting, x, rates)
        parts = [f[i] * rates[0][i] for i in range(3)]
        return total(parts + [m[i] * rates[1][i] for i in range(3)])


def total(parts: list[Scalar]) -> Scalar:
    """The sum."""
    found: Scalar = 0.0
    for part in parts:
        found = found + part
    return found


def _axes(A: Seen) -> Mat:
    return (A.axis(0), A.axis(1), A.axis(2))


def motion_between(act: Acting, A: Seen, B: Seen, base: int) -> tuple[tuple[Vec, Vec], tuple[Vec, Vec]]:
    """Displacement and small rotation of b in the axes of a, and their rates."""
    kin, axes_a, axes_b = act.kin, _axes(A), _axes(B)
    d = sub(B.point, A.point)
    w_a, w_b = kin.motion(A.link, base).w, kin.motion(B.link, base).w
    R = matmul(axes_a, transpose(axes_b))
    turn = scale(0.5, vec([R[2][1] - R[1][2], R[0][2] - R[2][0], R[1][0] - R[0][1]]))
    gap_rate = times(axes_a, sub(sub(B.velocity(), A.velocity()), cross(w_a, d)))
    return (times(axes_a, d), turn), (gap_rate, times(axes_a, sub(w_b, w_a)))


class BushingMethod(ForceMethod):
    """Makes bushings."""

    def bushing(
        self,
        name: str,
        a: Side,
        b: Side,
        stiffness: Any = NOTHING,
        damping: Any = NOTHING,
        tables: Mapping[str, Any] | None = None,
    ) -> Bushing:
        """Six springs and dampers between two frames `a` and `b`, along and about the axes of `a`.

        stiffness: 3 [N/m] and 3 [N m/rad]. damping: 3 [N s/m] and 3 [N m s/rad]. tables: For measured bushings, by axis
        ("x", "y", "z", "rx", "ry", "rz") pairs of a deflection [m or rad] and the force [N] or torque [N m] that goes
        with it, such as ``{"x": [(-0.01, -900), (0, 0), (0.01, 900)]}``; plain numbers. Between the pairs runs a
        monotone cubic spline, beyond them its end slopes; what `stiffness` says of the axis is added.
        """
        name, who = self._force_name(name)
        points = self._two_points(who, a, b)
        k, c = self._six(f"stiffness of {who}", stiffness), self._six(f"damping of {who}", damping)
        return self._add_force(Bushing(name, *points, k, c, tables_by_name(who, tables, SIX)))

    def _six(self, what: str, given: Any) -> Six:
        items = checks.sequence(what, given, 6, "(kx, ky, kz, kxx, kyy, kzz)")
        a, b, c, d, e, f = (checks.number(what, x, self.parameters) for x in items)
        return (a, b, c, d, e, f)
