"""Accelerations of links in their own axes (Kang and Yoon 2001, equations 10 and 11)."""

from __future__ import annotations

from collections.abc import Sequence

from bellcrank.math.rotations import into
from bellcrank.math.tuples import ZERO, Mat, Vec, add, times
from bellcrank.mechanics.flexible import FrameMotion
from bellcrank.mechanics.inertia import turning_matrix
from bellcrank.mechanics.kinematics import Kinematics
from bellcrank.mechanics.links import GROUND
from bellcrank.program.trace import Scalar


class Accelerations:
    """Accelerations of all links in their own axes for given speed rates (10, 11), gravity included.

    The ground is accelerated by -g instead of pulling every link by its weight.
    """

    def __init__(self, kin: Kinematics, du: Sequence[Scalar]) -> None:
        du = kin.with_shadow_rates(du)
        self.K: list[Mat] = []
        self.a: list[Vec] = []
        alphas: list[Vec] = []
        gravity = kin.vector(kin.linkage.gravity)
        still: Mat = (ZERO, ZERO, ZERO)
        for link in kin.linkage.links:
            k, turns, r = link.index, kin.turns[link.index], kin.r[link.index]
            if link.parent == GROUND:
                w_p, alpha_p, K_p, a_p = ZERO, ZERO, still, (-gravity[0], -gravity[1], -gravity[2])
            else:
                p = link.parent
                w_p, alpha_p, K_p, a_p = kin.w(p), alphas[p], self.K[p], self.a[p]
            a = add(a_p, times(K_p, r))
            w, w_in = kin.w(k), into(turns, w_p)
            alpha, a = link.kind.accelerated(kin, link, du, w_in, into(turns, alpha_p), into(turns, a))
            alphas.append(alpha)
            self.K.append(turning_matrix(w, alpha) if any(link.kind.turning) else K_p)
            self.a.append(a)
        self.alpha = alphas
        self.kin = kin

    def of(self, link: int) -> FrameMotion:
        """The motion of one link."""
        return FrameMotion(self.kin.w(link), self.alpha[link], self.a[link], self.K[link])
