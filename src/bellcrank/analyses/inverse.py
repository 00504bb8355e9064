"""Inverse dynamics: the forces and torques that produce a prescribed motion of a mechanism."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bellcrank.analyses.kinematics import kinematics
from bellcrank.analyses.lasting import refuse_touch
from bellcrank.analyses.tangent import is_turning
from bellcrank.errors import ModelError, SingularMechanism, unknown_name
from bellcrank.program.evaluate import evaluate
from bellcrank.program.program import Program
from bellcrank.quantities.multipliers import multiplier_terms
from bellcrank.result.result import Result
from bellcrank.result.series import Series

if TYPE_CHECKING:
    from bellcrank.analyses.equilibrium import Equilibrium
    from bellcrank.mechanism import Mechanism, State
    from bellcrank.model.system import System

Array = NDArray[np.float64]
Motion = Callable[..., Any] | ArrayLike


@dataclass(frozen=True, eq=False)
class InverseDynamics:
    """Efforts by coordinate (``joint.coordinate``) or driver, and the motion with all its quantities.

    ``inverse["bearing.angle"]`` is the effort [N or N m], ``inverse.result["guide.force.y"]`` a reaction.
    """

    efforts: Mapping[str, Series]
    result: Result

    def __getitem__(self, name: str) -> Series:
        if name not in self.efforts:
            raise unknown_name("effort", name, self.efforts)
        return self.efforts[name]


def inverse_dynamics(
    system: System | Mechanism,
    motion: Mapping[Any, Motion] | Result | None = None,
    duration: float | None = None,
    *,
    output: int | float | ArrayLike = 1000,
    actuators: Sequence[str] | None = None,
    initial: Mapping[str, Any] | None = None,
    parameters: Mapping[str, float] | None = None,
    start: State | Equilibrium | None = None,
) -> InverseDynamics:
    """The efforts needed for a motion, all forces of the system acting.

    motion: by joint, ``"joint.coordinate"`` or (joint, coordinate): a function of t, or values at the output times
    (joined by a spline); with the system's own drivers they must cover every freedom. Or a Result of this
    mechanism, whose accelerations and first-order states are taken as they are; rigid contacts must be open all
    along. None: the system's own drivers. duration, output, initial, parameters, start: as for a run. actuators:
    with a Result, the coordinates that make the effort (default: the independent ones).
    """
    from bellcrank.run.simulation import output_times, prepared

    if isinstance(motion, Result):
        mechanism = prepared(system, "auto", initial, parameters)
        return _of_result(mechanism, motion, actuators)
    if actuators is not None:
        raise ModelError(
            "actuators= goes with a Result as motion; otherwise the coordinates named in motion make the effort"
        )
    if duration is None:
        raise ModelError("inverse_dynamics needs a duration [s] unless the motion is a Result")
    described = system if not hasattr(system, "system") else system.system
    known: Any = getattr(start, "state", None) or start
    begin = 0.0 if known is None else float(known.t)
    times = output_times(begin, duration, output)
    driven, drivers = _driven(described, motion or {}, times)
    result = kinematics(driven, duration, output=output, initial=initial, parameters=parameters, start=start)
    names = {**{name: name for name in described.drivers}, **drivers}
    return InverseDynamics({key: _named(result[f"{d}.effort"], key) for key, d in names.items()}, result)


def _named(series: Series, name: str) -> Series:
    return Series(series.to_numpy(), series.time, name, series.unit)


def _driven(system: System, motion: Mapping[Any, Motion], times: Array) -> tuple[System, dict[str, str]]:
    """A copy of the system with a driver for each prescribed motion, and the drivers' names by coordinate."""
    from bellcrank.program.tables import smooth_table

    driven = copy.copy(system)
    driven.drivers = dict(system.drivers)
    names = {}
    for key, given in motion.items():
        joint, coordinate = _coordinate(system, key)
        function = given
        if not callable(given):
            values = np.asarray(given, dtype=float)
            if values.ndim == 0:
                values = np.full(len(times), float(values))
            if values.shape != times.shape:
                raise ModelError(
                    f"motion of {joint}.{coordinate}: {len(times)} output times need as many values, "
                    f"not an array of shape {values.shape}"
                )
            function = smooth_table(times, values, extrapolate="linear")
        label = f"{joint}.{coordinate}"
        name = f"motion of {joint} {coordinate}"
        names[label] = driven.driver(joint, function, coordinate, name=name).name  # type: ignore[arg-type]
    return driven, names


def _coordinate(system: System, key: Any) -> tuple[str, str]:
    """Joint and coordinate of a key."""
    if isinstance(key, tuple):
        joint, coordinate = key
    elif isinstance(key, str) and key not in system.joints and "." in key:
        joint, _, coordinate = key.rpartition(".")
    else:
        joint, coordinate = key, None
    found = system.joint_named(joint) if isinstance(joint, str) else joint
    return found.name, found.coordinate(coordinate)


def _of_result(mechanism: Mechanism, result: Result, actuators: Sequence[str] | None) -> InverseDynamics:
    """J^T mu + E tau = f - Q at the positions, speeds and rates of a result."""
    speeds = _actuated(mechanism, actuators)
    if result.q.shape[1] != mechanism.linkage.positions or result.u.shape[1] != mechanism.linkage.speeds:
        raise ModelError(
            f"the result of {result.mechanism.system.name!r} has other coordinates "
            f"than {mechanism.system.name!r}"
        )
    p = np.tile(np.array(mechanism.parameter_values), (len(result), 1))
    refuse_touch(replace(result, mechanism=mechanism, parameters=p), "inverse_dynamics")
    moved = replace(result, mechanism=mechanism, parameters=p, _computed={})
    s = moved.quantities.s
    states = moved._states(False)
    needed, rows = multiplier_terms(s, mechanism.kept)
    entries = [(i, j) for i, row in enumerate(rows) for j in row]
    values = evaluate(Program.of(s.inputs, [*needed, *(rows[i][j] for i, j in entries)]), states)
    n, m = len(needed), len(rows)
    matrix = np.zeros((len(result), n, m + len(speeds)))
    for k, (i, j) in enumerate(entries):
        matrix[:, j, i] = values[n + k]
    matrix[:, speeds, range(m, m + len(speeds))] = 1.0
    if matrix.shape[1] != matrix.shape[2]:
        raise ModelError(
            f"{mechanism.system.name!r} has {mechanism.degrees_of_freedom} degrees of freedom; "
            f"name as many actuators, not {len(speeds)}"
        )
    try:
        solution = np.linalg.solve(matrix, values[:n].T[..., None])[..., 0]
    except np.linalg.LinAlgError as error:
        raise SingularMechanism(
            f"the actuators cannot hold {mechanism.system.name!r}: some freedom has none; choose others"
        ) from error
    turning = is_turning(mechanism.linkage)
    names = [mechanism.speed_names[i] for i in speeds]
    efforts = {
        name: Series(solution[:, m + k], result.time, name, "N m" if turning[i] else "N")
        for k, (i, name) in enumerate(zip(speeds, names, strict=True))
    }
    return InverseDynamics(efforts, moved)


def _actuated(mechanism: Mechanism, actuators: Sequence[str] | None) -> list[int]:
    if actuators is None:
        return list(mechanism.partition.independent)
    names = mechanism.speed_names
    found = []
    for name in actuators:
        label = name if name in names else ".".join(_coordinate(mechanism.system, name))
        if label not in names:
            raise unknown_name("actuated coordinate", name, names)
        found.append(names.index(label))
    return found
