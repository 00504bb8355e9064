"""How a result lies in its file: tables that grow, texts, and two slots that take turns with checkpoints."""

from __future__ import annotations

import hashlib
import io
import json
import zlib
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

import bellcrank
from bellcrank.result.header import Header
from bellcrank.result.result import Happening

Array = NDArray[np.float64]

FORMAT = "bellcrank result"
VERSION = 1
TABLES = ("time", "q", "u", "du", "parameters")
FORCES = "contact_forces"
"""The table of contact forces of a run that writes as it goes."""
SLOTS = ("checkpoint_0", "checkpoint_1")


def create(file: Any, header: Header, report: Mapping[str, Any] | None = None) -> None:
    """Lay out an empty result file; `report` is missing while the run goes on."""
    file.attrs["format"] = FORMAT
    file.attrs["version"] = VERSION
    file.attrs["bellcrank"] = bellcrank.__version__
    text = header.model.encode()
    file.attrs["model_sha256"] = hashlib.sha256(text).hexdigest()
    put_bytes(file, "model", text)
    if header.members:
        put_bytes(file, "members", header.members)
    about = {
        "formulation": header.formulation,
        "t": header.t,
        "kept": list(header.kept),
        "event_names": list(header.event_names),
        "settings": dict(header.settings),
        "report": report,
    }
    put_bytes(file, "about", json.dumps(about).encode())
    file["start_q"], file["start_u"], file["start_parameters"] = header.q, header.u, header.parameters
    _put(file, "output_times", header.output_times)
    for name, width in zip(TABLES, header.widths, strict=True):
        add_table(file, name, width)
    file["time"].attrs["unit"] = "s"
    add_table(file, "event_time", None)
    add_table(file, "event_index", None)
    for slot in SLOTS:
        file.create_dataset(slot, shape=(0,), maxshape=(None,), chunks=(1 << 14,), dtype="u1")


def add_table(file: Any, name: str, width: int | None) -> None:
    """A dataset that grows row by row, in chunks of about 64 KiB; one without columns keeps one of zeros."""
    columns = () if width is None else (max(width, 1),)
    rows = max(16, 8192 // (width or 1))
    file.create_dataset(
        name,
        shape=(0, *columns),
        maxshape=(None, *columns),
        chunks=(rows, *columns),
        dtype="f8",
        compression="gzip",
        compression_opts=1,
        shuffle=True,
    )


def _put(file: Any, name: str, values: NDArray[Any]) -> None:
    packed = {"compression": "gzip", "shuffle": True} if values.size else {}
    file.create_dataset(name, data=values, **packed)


def put_bytes(file: Any, name: str, data: bytes) -> None:
    """Write bytes under a name."""
    _put(file, name, np.frombuffer(data, dtype="u1"))


def append(file: Any, *columns: Array) -> None:
    """Add outputs: time, q, u, du, parameters. Time comes last, so a row with a time is complete."""
    for name, rows in reversed(list(zip(TABLES, columns, strict=True))):
        extend(file[name], rows)


def extend(dataset: Any, rows: Array) -> None:
    """Add rows to a table."""
    first = dataset.shape[0]
    if len(rows):
        dataset.resize(first + len(rows), axis=0)
        if rows.size:
            dataset[first:] = rows
        dataset.flush()


def append_events(file: Any, header: Header, events: Sequence[Happening]) -> None:
    """Add events that were met."""
    places = {name: k for k, name in enumerate(header.event_names)}
    extend(file["event_index"], np.array([places[e.name] for e in events], dtype=float))
    extend(file["event_time"], np.array([e.time for e in events]))


def put_checkpoint(file: Any, slot: str, payload: bytes) -> None:
    """Overwrite a slot; a reader tells by length and checksum whether the writing came to its end."""
    data = len(payload).to_bytes(8, "little") + zlib.crc32(payload).to_bytes(4, "little") + payload
    dataset = file[slot]
    if dataset.shape[0] < len(data):
        dataset.resize(len(data), axis=0)
    dataset[: len(data)] = np.frombuffer(data, dtype="u1")
    dataset.flush()


def packed(arrays: Mapping[str, NDArray[Any]], about: Mapping[str, Any]) -> bytes:
    """Arrays and a JSON document as bytes."""
    buffer = io.BytesIO()
    text = np.frombuffer(json.dumps(about).encode(), dtype="u1")
    np.savez(buffer, allow_pickle=False, **{f"array_{k}": a for k, a in arrays.items()}, about=text)
    return buffer.getvalue()


def unpacked(payload: bytes) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
    """What :func:`packed` was given."""
    with np.load(io.BytesIO(payload), allow_pickle=False) as archive:
        arrays = {k.removeprefix("array_"): archive[k] for k in archive.files if k.startswith("array_")}
        about: dict[str, Any] = json.loads(archive["about"].tobytes())
    return arrays, about
