"""What contacts did in a run, as arrays for a result file and back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bellcrank.result.impact_table import ContactChange, ContactRecord, ImpactRecord, ImpactTable

if TYPE_CHECKING:
    from bellcrank.mechanism import Mechanism
    from bellcrank.result.result import Result

Array = NDArray[np.float64]

IMPACT = ("q", "speeds_before", "speeds_after", "parameters")
NUMBERS = ("time", "energy_before", "energy_after", "law_limited")
STRUCK = 1 + 1 + 3 + 3 + 1 + 3 + 2
"""Columns of a contact that struck: impact, contact, point, normal, impulse, friction, speeds before and after."""


def contact_arrays(result: Result) -> tuple[dict[str, Array], dict[str, Any]]:
    """Arrays and names of everything contacts did."""
    names = list(result.mechanism.system.contacts)
    arrays, about = impact_arrays(names, list(result.impacts), result.contact_changes)
    if result.contact_forces is not None:
        arrays["forces"] = result.contact_forces
    if result.breaks is not None:
        arrays["breaks"] = result.breaks
    return arrays, about


def impact_arrays(
    names: Sequence[str], impacts: Sequence[ImpactRecord], changes: Sequence[ContactChange]
) -> tuple[dict[str, Array], dict[str, Any]]:
    """Arrays and names of impacts and of changes of lasting contacts. names: Of the contacts of the model."""
    met = {c.contact: c.bodies for i in impacts for c in i.contacts if c.bodies is not None}
    places = {name: k for k, name in enumerate([*names, *met])}
    arrays = {key: np.array([getattr(i, key) for i in impacts], dtype=float) for key in IMPACT}
    arrays["numbers"] = np.array([[float(getattr(i, key)) for key in NUMBERS] for i in impacts])
    rows = [
        [
            k,
            places[c.contact],
            *c.point,
            *c.normal,
            c.impulse,
            *c.friction_impulse,
            c.speed_before,
            c.speed_after,
        ]
        for k, impact in enumerate(impacts)
        for c in impact.contacts
    ]
    arrays["struck"] = np.array(rows, dtype=float).reshape(-1, STRUCK)
    listed = [[c.time, c.contact, c.what] for c in changes]
    collided = [[name, *bodies] for name, bodies in met.items()]
    return arrays, {"names": list(names), "collided": collided, "changes": listed}


def contact_fields(
    arrays: Mapping[str, NDArray[Any]], about: Mapping[str, Any], mechanism: Mechanism, outputs: int
) -> dict[str, Any]:
    """The fields of a result from what :func:`contact_arrays` gave."""
    names = [str(n) for n in about["names"]]
    if names != list(mechanism.system.contacts):
        raise ValueError("the contacts of the file do not fit its model")
    met = {str(name): (str(a), str(b)) for name, a, b in about.get("collided", ())}
    names += met
    struck: dict[int, list[ContactRecord]] = {}
    for row in np.asarray(arrays["struck"], dtype=float).reshape(-1, STRUCK):
        k, contact = int(row[0]), names[int(row[1])]
        record = ContactRecord(
            contact,
            row[2:5],
            row[5:8],
            float(row[8]),
            row[9:12],
            float(row[12]),
            float(row[13]),
            met.get(contact),
        )
        struck.setdefault(k, []).append(record)
    records = []
    for k, numbers in enumerate(np.asarray(arrays["numbers"], dtype=float).reshape(-1, len(NUMBERS))):
        time, before, after, limited = (float(x) for x in numbers)
        q, u, v, p = (np.asarray(arrays[key][k], dtype=float) for key in IMPACT)
        records.append(ImpactRecord(time, tuple(struck.get(k, ())), q, u, v, before, after, bool(limited), p))
    changes = tuple(ContactChange(float(t), str(c), str(w)) for t, c, w in about["changes"])
    forces = arrays.get("forces")
    columns = 3 * len(mechanism.system.contacts) + 6 * len(mechanism.system.colliding)
    if forces is not None and forces.shape != (outputs, columns):
        raise ValueError("the contact forces of the file do not fit its outputs")
    return {
        "impacts": ImpactTable(records, mechanism),
        "contact_forces": forces,
        "contact_changes": changes,
        "breaks": arrays.get("breaks"),
    }


PREFIX = "contacts_"
"""Of arrays of contacts among those of a checkpoint."""


def unfinished_fields(
    arrays: Mapping[str, NDArray[Any]], about: Mapping[str, Any], mechanism: Mechanism, forces: Array
) -> dict[str, Any]:
    """The fields of the result of a run that has not ended, as far as its checkpoint knows them."""
    fields: dict[str, Any] = {"contact_forces": forces, "impacts": ImpactTable((), mechanism)}
    if "contacts" in about:
        mine = {k.removeprefix(PREFIX): a for k, a in arrays.items() if k.startswith(PREFIX)}
        fields |= contact_fields(mine, about["contacts"], mechanism, len(forces))
        fields["contact_forces"] = forces
        breaks = fields["breaks"]
        if breaks is not None:
            fields["breaks"] = breaks[: len(breaks) // 2 * 2] if len(breaks) > 1 else None
    return fields
