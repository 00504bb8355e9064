"""Motors by their curve of torque over speed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bellcrank.base.keys import FUNCTION, NUMBER, Keys, list_of, may, must
from bellcrank.errors import ModelError
from bellcrank.model.forces.element import COORDINATE, ForceMethod
from bellcrank.model.forces.joint_force import OnCoordinate
from bellcrank.model.functions import user_function
from bellcrank.model.joints import Joint
from bellcrank.program.tables import smooth_table
from bellcrank.program.trace import Scalar

if TYPE_CHECKING:
    from bellcrank.mechanics.forces import Acting


@dataclass(frozen=True, eq=False)
class Motor(OnCoordinate):
    """Torque [N m] or force [N] by a curve over the rate [rad/s or m/s], times a throttle of time.

    curve: Rows of rate and torque, the rates rising; between them the torque follows without overshoot, beyond them it
    keeps the last slope.
    """

    kind = "motor"
    keys = Keys(
        "A motor with a curve of torque over speed.",
        *COORDINATE,
        must(
            "curve",
            list_of(list_of(NUMBER, 2)) | {"minItems": 2},
            "Rows of rate [rad/s or m/s] and torque [N m] or force [N], the rates rising.",
            plain=True,
        ),
        may("throttle", FUNCTION, "Share of the curve that it gives, of t [s]; 1 where missing.", of=("t",)),
    )

    curve: tuple[tuple[float, float], ...]
    throttle: Callable[..., Scalar] | None = None

    def push(self, act: Acting, x: Scalar, rate: Scalar) -> Scalar:
        speeds, torques = zip(*self.curve, strict=True)
        torque = smooth_table(speeds, torques, extrapolate="linear", monotone=True)(rate)
        return torque if self.throttle is None else act.kin.number(self.throttle(act.t)) * torque


class MotorMethod(ForceMethod):
    """Makes motors."""

    def motor(
        self,
        name: str,
        joint: Joint | str,
        curve: Any,
        throttle: Callable[..., Any] | None = None,
        coordinate: str | None = None,
    ) -> Motor:
        """A motor in a joint by its curve of torque over speed.

        curve: Rows of rate [rad/s or m/s] and torque [N m] or force [N], such as ``[(0, 12), (100, 10), (300, 0)]``;
        beyond them the last slopes go on. throttle: Share of the curve that it gives, a function of t [s]. coordinate:
        Which one, where the joint has several.
        """
        name, who = self._force_name(name)
        found = self._joint(who, joint)
        try:
            rows = np.asarray(curve, dtype=float)
        except (TypeError, ValueError) as error:
            raise ModelError(f"curve of {who} must be rows of rate and torque in plain numbers") from error
        if rows.ndim != 2 or rows.shape[1] != 2 or len(rows) < 2 or not np.isfinite(rows).all():
            raise ModelError(f"curve of {who} needs 2 rows or more of a rate and a torque, finite numbers")
        if not np.all(np.diff(rows[:, 0]) > 0.0):
            raise ModelError(f"the rates in the curve of {who} must rise from row to row")
        law = None
        if throttle is not None:
            law = user_function(f"throttle of {who}", throttle, ("t",), self.parameters)
        points = tuple((float(a), float(b)) for a, b in rows)
        return self._add_force(Motor(name, found, found.coordinate(coordinate), points, law))


__all__ = ["Motor", "MotorMethod"]
