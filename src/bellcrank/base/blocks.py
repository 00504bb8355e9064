"""Named arrays and a JSON document as bytes: what checkpoints, records of runs and result files are made of.

The bytes may come from strangers. They are read in one pass: every size is compared with what is there before anything
is allocated, and nothing in them is code.
"""

from __future__ import annotations

import json
import math
import re
import struct
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bellcrank.errors import ResultFileError

MAGIC = b"bellcrank block1"
KINDS = {"f8": "<f8", "i8": "<i8", "i4": "<i4", "u1": "|u1", "b1": "|b1"}
"""Kinds of numbers by the name they have in an index."""
MOST_NESTED = 64
"""Levels of brackets in a JSON document; ours have fewer than ten, and Python's reader fails near a thousand."""
MOST_DIMENSIONS = 8
_HEAD = struct.Struct("<16sQ")
_STRINGS = re.compile(rb'"(?:[^"\\]|\\.)*"', re.DOTALL)


def packed(arrays: Mapping[str, NDArray[Any]], about: Mapping[str, Any]) -> bytes:
    """Arrays and a JSON document as bytes."""
    listed, blocks = [], []
    for name, values in arrays.items():
        kind = kind_of(values)
        listed.append([name, kind, list(np.shape(values))])
        blocks.append(np.ascontiguousarray(values, dtype=KINDS[kind]).tobytes())
    index = json.dumps({"about": about, "arrays": listed}).encode()
    return b"".join([_HEAD.pack(MAGIC, len(index)), index, *blocks])


def unpacked(data: bytes) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
    """What :func:`packed` was given."""
    if len(data) < _HEAD.size or not data.startswith(MAGIC):
        raise ResultFileError("these are not arrays of Bellcrank")
    start = _HEAD.size + _HEAD.unpack_from(data)[1]
    if start > len(data):
        raise ResultFileError("the list of arrays is cut short")
    index = plain_json(data[_HEAD.size : start])
    arrays: dict[str, NDArray[Any]] = {}
    try:
        about = index["about"]
        for name, kind, shape in index["arrays"]:
            size = byte_size(kind, shape)
            if size > len(data) - start:
                raise ResultFileError(f"the array {str(name)!r} of {size:,} bytes is cut short")
            arrays[str(name)] = array(data[start : start + size], kind, shape)
            start += size
    except (KeyError, TypeError, ValueError) as error:
        raise ResultFileError(f"the list of arrays makes no sense ({error})") from error
    if start != len(data) or not isinstance(about, dict):
        raise ResultFileError("the list of arrays does not fit what follows")
    return arrays, about


def kind_of(values: NDArray[Any]) -> str:
    """The kind of the numbers of an array."""
    name = f"{values.dtype.kind}{values.dtype.itemsize}"
    if name not in KINDS:
        raise TypeError(f"arrays of {values.dtype} are not kept in files")
    return name


def byte_size(kind: Any, shape: Any) -> int:
    """Size [bytes] of an array that a file declares."""
    whole = isinstance(shape, Sequence) and all(type(n) is int and n >= 0 for n in shape)
    if not whole or len(shape) > MOST_DIMENSIONS or kind not in KINDS:
        raise ValueError(f"there is no array of kind {kind!r} and shape {shape!r}"[:200])
    return int(math.prod(shape)) * np.dtype(KINDS[kind]).itemsize


def array(data: bytes, kind: str, shape: Sequence[int]) -> NDArray[Any]:
    """An array of its own, in the byte order of this machine, from bytes of the right number."""
    stored = np.dtype(KINDS[kind])
    return np.frombuffer(data, stored).astype(stored.newbyteorder("="), copy=True).reshape(shape)


def plain_json(data: bytes) -> Any:
    """A JSON document, refused where it is nested more deeply than any of ours."""
    depth = deepest = 0
    for bracket in re.findall(rb"[\[{}\]]", _STRINGS.sub(b"", data)):
        depth += 1 if bracket in b"[{" else -1
        deepest = max(deepest, depth)
        if deepest > MOST_NESTED:
            raise ValueError(f"it is nested more than {MOST_NESTED} levels deep")
    # Numbers of thousands of digits are refused by Python itself with a ValueError.
    return json.loads(data.decode("utf-8"))


__all__ = ["array", "byte_size", "kind_of", "packed", "plain_json", "unpacked"]
