"""Arrays of numbers in model files: shape and compressed bytes as one word, bounded before anything is unpacked."""

from __future__ import annotations

import base64
import binascii
import math
import zlib

import numpy as np
from numpy.typing import NDArray

MOST = 12_000_000
"""Numbers in one array at most."""


def packed(values: NDArray[np.float64]) -> str:
    """An array as a word: 1200x3:<base64 of the compressed little-endian doubles>."""
    data = np.ascontiguousarray(values, dtype="<f8")
    shape = "x".join(str(n) for n in data.shape)
    return f"{shape}:{base64.b64encode(zlib.compress(data.tobytes(), 9)).decode()}"


def unpacked(word: str, dimensions: int) -> NDArray[np.float64]:
    """The array of a word; ValueError says what is wrong with it."""
    head, _, body = word.partition(":")
    sizes = head.split("x")
    if len(sizes) != dimensions or not all(s.isascii() and s.isdigit() and len(s) < 9 for s in sizes):
        raise ValueError(
            f"it must begin with {dimensions} sizes such as {'x'.join('3' * dimensions)}:, not {head[:40]!r}"
        )
    shape = tuple(int(s) for s in sizes)
    count = math.prod(shape)
    if count > MOST:
        raise ValueError(f"it holds {count} numbers; {MOST} are the most")
    try:
        data = base64.b64decode(body, validate=True)
        unpacker = zlib.decompressobj()
        raw = unpacker.decompress(data, 8 * count + 1)
    except (binascii.Error, zlib.error) as error:
        raise ValueError(f"it is damaged ({error})") from error
    if len(raw) != 8 * count:
        raise ValueError(f"it does not hold {count} numbers")
    return np.frombuffer(raw, dtype="<f8").astype(np.float64).reshape(shape)


__all__ = ["packed", "unpacked"]
