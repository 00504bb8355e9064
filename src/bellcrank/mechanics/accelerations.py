"""Accelerations of links in their own axes (paper D, equations 10 and 11)."""

from __future__ import annotations

from collections.abc import Sequence

from bellcrank.math.rotations import into
from bellcrank.math.tuples import ZERO, Mat, Vec, add, cross, is_zero, scale, times
from bellcrank.mechanics.inertia import turning_matrix
from bellcrank.mechanics.kinematics import Kinematics
from bellcrank.mechanics.links import GROUND, LinkKind
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
            if link.kind is LinkKind.PRISMATIC:
                axis = kin.vector(link.axis)
                twice = 2.0 * kin.speed(link)
                a = add(a, add(scale(twice, cross(w_p, axis)), scale(du[link.u], axis)))
                alphas.append(alpha_p)
                self.K.append(K_p)
                self.a.append(a)
                continue
            w, w_in = kin.w(k), into(turns, w_p)
            alpha, a = into(turns, alpha_p), into(turns, a)
            if link.kind in (LinkKind.REVOLUTE, LinkKind.SCREW):
                u = kin.speed(link)
                alpha = (alpha[0] + w_in[1] * u, alpha[1] - w_in[0] * u, alpha[2] + du[link.u])
                if link.kind is LinkKind.SCREW:
                    h = kin.number(link.pitch)
                    twice = 2.0 * (h * u)
                    a = (a[0] + twice * w_in[1], a[1] - twice * w_in[0], a[2] + h * du[link.u])
            else:
                spin = kin.three_speeds(link)
                rate = (du[link.u], du[link.u + 1], du[link.u + 2])
                alpha = add(add(alpha, cross(w_in, spin)), rate)
                if link.kind in (LinkKind.FREE, LinkKind.NODE):
                    slide = kin.three_speeds(link, 3)
                    push = (du[link.u + 3], du[link.u + 4], du[link.u + 5])
                    turning = w if is_zero(w_in) else add(w, w_in)
                    a = add(add(a, cross(turning, slide)), push)
            alphas.append(alpha)
            self.K.append(turning_matrix(w, alpha))
            self.a.append(a)
        self.alpha = alphas
