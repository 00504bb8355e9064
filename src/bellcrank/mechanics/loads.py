"""Where forces go: generalised forces of speeds, and wrenches on links."""

from __future__ import annotations

from collections.abc import Callable

from bellcrank.math.tuples import (
    ZERO,
    Vec,
    add,
    cross,
    is_zero,
    neg,
    norm,
    sub,
)
from bellcrank.mechanics.constraints import Seen
from bellcrank.mechanics.dynamics import added, deformed
from bellcrank.mechanics.kinematics import Kinematics
from bellcrank.mechanics.links import GROUND
from bellcrank.model.joints.elementary import Wrench
from bellcrank.program.trace import Scalar


class Loads:
    """Collects what forces do to a mechanism in one state."""

    def __init__(self, kin: Kinematics) -> None:
        self.kin = kin
        self.Q: list[Scalar] = [0.0] * kin.linkage.all_speeds
        self.wrenches: dict[int, Wrench] = {}

    def among(self, a: str, b: str) -> None:
        """Which bodies what follows acts between, for a force on more than two; links are enough here."""

    def on_speed(self, index: int, force: Scalar) -> None:
        """A generalised force on one speed."""
        self.Q[index] = self.Q[index] + force

    def on_link(self, link: int, point: Vec, force: Vec, moment: Vec = ZERO) -> None:
        """A force at a point of a link and a moment, in the link's own axes."""
        if link == GROUND:
            return
        wrench = (add(moment, cross(point, force)), force)
        self.wrenches[link] = added(self.wrenches.get(link, (ZERO, ZERO)), wrench)

    def between(
        self, a: int, b: int, base: int, at_a: Vec, at_b: Vec, force: Vec, moment: Vec = ZERO
    ) -> None:
        """A force and moment on link b at `at_b`, and the opposite on link a at `at_a`, seen from `base`.

        Only links inside the loop feel it: what the two sides do to the base cancels where the line of
        force runs through both points, and is put on the base otherwise.
        """
        self._inside(b, base, at_b, force, moment)
        self._inside(a, base, at_a, neg(force), neg(moment))
        if at_a is not at_b and base != GROUND:
            lever = (at_b[0] - at_a[0], at_b[1] - at_a[1], at_b[2] - at_a[2])
            rest = cross(lever, force)
            if not is_zero(rest):
                self.on_link(base, ZERO, ZERO, rest)

    def along_line(self, a: int, b: int, base: int, at_a: Vec, at_b: Vec, force: Vec) -> None:
        """A force on b and its opposite on a, along the line between the points."""
        self._inside(b, base, at_b, force, ZERO)
        self._inside(a, base, at_a, neg(force), ZERO)

    def line(self, A: Seen, B: Seen, base: int, law: Callable[[Scalar, Scalar], Scalar]) -> None:
        """A force along the line between two points, by a law of length and rate.

        Rate and generalised forces come from one set of factors: the work of the line on every speed.
        """
        linkage = self.kin.linkage
        d = sub(B.point, A.point)
        work = Loads(self.kin)
        work.along_line(A.link, B.link, base, A.point, B.point, d)
        moved = [linkage.links[k] for k in (*linkage.path(A.link, base), *linkage.path(B.link, base))]
        speeds = [(link.u + j, self.kin.speed(link, j)) for link in moved for j in range(link.kind.speeds)]
        length = norm(d)
        shrink = 1.0 / length
        rate: Scalar = 0.0
        for s, u in speeds:
            rate = rate + work.Q[s] * u
        push = law(length, rate * shrink) * shrink
        for s, _ in speeds:
            self.on_speed(s, push * work.Q[s])

    def seen_from(self, link: int, base: int, at: Vec, force: Vec, moment: Vec = ZERO) -> None:
        """A force and moment on a link, given in the axes of an inner link `base`."""
        self._inside(link, base, at, force, moment)
        self.on_link(base, at, force, moment)

    def _inside(self, link: int, base: int, at: Vec, force: Vec, moment: Vec) -> None:
        for k in self.kin.linkage.path(link, base):
            this = self.kin.linkage.links[k]
            work = this.kind.works(self.kin, this, base, at, force, moment)
            for j, q in enumerate(work):
                self.on_speed(this.u + j, q)


def elastic_forces(kin: Kinematics, loads: Loads) -> None:
    """Stiffness and damping of flexible members on their modal coordinates."""
    for link in kin.linkage.links:
        if link.shape is not None:
            rates = kin.eta_rates(link)
            for j, force in enumerate(deformed(kin, link).elastic_forces(rates)):
                loads.on_speed(link.eta_u + j, force)
