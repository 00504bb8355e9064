"""The table of a batch: one row an instance, columns of parameters and start values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bellcrank.errors import ModelError, unknown_name
from bellcrank.mechanism import Mechanism

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Table:
    """What was asked for.

    columns: by name, as given. parameters: values of all parameters, shape (rows, parameters). initial: columns
    that are start values, as (column, joint, coordinate, whether it is a rate).
    """

    columns: Mapping[str, Array]
    parameters: Array
    initial: tuple[tuple[str, str, str, bool], ...]

    def __len__(self) -> int:
        return len(self.parameters)

    def row(self, k: int) -> dict[str, float]:
        """One instance, by column."""
        return {name: float(values[k]) for name, values in self.columns.items()}

    def start_values(self, k: int) -> dict[str, Any]:
        """``initial=`` of one instance."""
        found: dict[str, dict[str, float]] = {}
        for column, joint, coordinate, is_rate in self.initial:
            key = f"{coordinate}_rate" if is_rate else coordinate
            found.setdefault(joint, {})[key] = float(self.columns[column][k])
        return found


def read_table(mechanism: Mechanism, given: Any) -> Table:
    """`given` is a mapping of names to columns, a pandas DataFrame, or a sequence of mappings, one a row.

    A column is named as a parameter, or ``joint.coordinate`` or ``joint.coordinate_rate`` for a start value.
    A single number counts for all rows.
    """
    columns = _columns(given)
    lengths = {len(values) for values in columns.values() if values.ndim}
    if len(lengths) > 1:
        sizes = ", ".join(f"{name}: {len(v)}" for name, v in columns.items() if v.ndim)
        raise ModelError(f"the columns of the table differ in length ({sizes})")
    rows = lengths.pop() if lengths else 1
    if rows == 0:
        raise ModelError("the table has no rows: nothing to simulate")
    columns = {name: np.broadcast_to(v, (rows,)).astype(float) for name, v in columns.items()}
    names = mechanism.mechanics.parameters
    parameters = np.tile(np.array(mechanism.parameter_values), (rows, 1))
    starts = _start_columns(mechanism)
    initial = []
    for name, values in columns.items():
        if not np.isfinite(values).all():
            k = int(np.flatnonzero(~np.isfinite(values))[0])
            raise ModelError(f"column {name!r} of the table is not finite in row {k}: {values[k]}")
        if name in names:
            parameters[:, names.index(name)] = values
        elif name in starts:
            initial.append((name, *starts[name]))
        else:
            raise unknown_name("parameter or start value", name, [*names, *starts])
    return Table(columns, parameters, tuple(initial))


def _columns(given: Any) -> dict[str, Array]:
    if hasattr(given, "columns") and hasattr(given, "to_dict"):
        return {str(name): np.asarray(given[name], dtype=float) for name in given.columns}
    if isinstance(given, Mapping):
        return {str(name): np.asarray(values, dtype=float) for name, values in given.items()}
    if isinstance(given, Sequence) and all(isinstance(row, Mapping) for row in given):
        names = dict.fromkeys(name for row in given for name in row)
        missing = [(k, name) for k, row in enumerate(given) for name in names if name not in row]
        if missing:
            raise ModelError(f"row {missing[0][0]} of the table has no {missing[0][1]!r}")
        return {name: np.array([row[name] for row in given], dtype=float) for name in names}
    raise ModelError(
        "a table is a mapping of names to columns, a DataFrame or a list of rows (mappings), "
        f"not {type(given).__name__}"
    )


def _start_columns(mechanism: Mechanism) -> dict[str, tuple[str, str, bool]]:
    found = {}
    for joint in mechanism.system.joints.values():
        for c in joint.scalar_coordinates:
            found[f"{joint.name}.{c}"] = (joint.name, c, False)
            found[f"{joint.name}.{c}_rate"] = (joint.name, c, True)
    return found


__all__ = ["Table", "read_table"]
