"""Seeded damage to files: texts by words, lines and branches of their tree; bytes; tables of HDF5 files."""

from __future__ import annotations

import copy
import hashlib
import json
import random
import re
from typing import Any

import numpy as np
import yaml

NUMBERS = (
    *(
        "0",
        "-0",
        "1",
        "-1",
        "2",
        "3",
        "7",
        "0.5",
        "-3",
        "1e-9",
        "1e9",
        "1e-300",
        "5e-324",
        "1e100",
        "1e101",
        "1e150",
    ),
    *(
        "1e300",
        "1e308",
        "-1e308",
        "1e400",
        "nan",
        "inf",
        "-inf",
        "2147483648",
        "9223372036854775808",
        "1" + "0" * 400,
    ),
)
WORDS = (
    *(
        "",
        "''",
        "null",
        "true",
        "[]",
        "{}",
        "[[]]",
        "[1, 2]",
        "{a: 1}",
        "ground",
        "t",
        "pi",
        "x",
        "é",
        "\x07",
        "a.b",
    ),
    *(
        "1/0",
        "sqrt(-1)",
        "0^0",
        "exp(1000)",
        "1 +",
        "sin(",
        "if(t > 0, 1, 2)",
        "&a",
        "*a",
        "!!x",
        "x" * 5000,
        "../x",
    ),
    *(
        "constraints",
        "energy",
        "-",
        "\\",
        "\x00",
        "\ufeff",
        "\u2028",
        "kind",
        "10^400",
        "0x10",
        "1_000",
        "１",
    ),
)
VALUES: tuple[Any, ...] = (
    *(0, 1, -1, 2, 7, 0.5, 1e-300, 1e100, 1e101, 1e150, 1e300, -1e308, 2**31, 2**63, 10**400, True, None),
    *(
        "",
        "nan",
        "inf",
        "x",
        "ground",
        "t",
        "1/0",
        "\x00",
        "x" * 5000,
        "../../x.stl",
        "sqrt(-1)",
        "constraints",
    ),
    *([], {}, [[]], [1, 2, 3], [0, 0, 0], [1e300, 0, 0], {"kind": "sphere"}, {"value": 1}, {"a": {"a": {}}}),
)
SIZES = (
    *(
        0,
        1,
        -1,
        2,
        3,
        0.5,
        -0.5,
        1e-3,
        10.0,
        1e3,
        1e-6,
        1e6,
        1e-12,
        1e9,
        -1e9,
        1e15,
        1e-20,
        1e20,
        1e-50,
        1e50,
    ),
    *(1e-100, 1e100, 1e-300, 5e-324, 1e101, 1e300, -1e300),
)
"""Numbers that look right; most of what else is put into a file is refused at once."""
MARKUP = (
    '"0"',
    '"-1"',
    '"nan"',
    '"1e308"',
    '"1e-300"',
    '""',
    '"a b"',
    "<link",
    "</link>",
    "/>",
    "<!--",
    "<",
    "&amp;",
)
_NUMBER = re.compile(r"(?<![\w.])-?\d[\d.]*(?:e[+-]?\d+)?")
_ATTRIBUTE = re.compile(r'\s[\w:]+="[^"]*"')
_ELEMENT = re.compile(r"<[^<>/!][^<>]*/>")


def text(data: bytes, rng: random.Random, words: tuple[str, ...] = WORDS) -> bytes:
    """A text with a few numbers, words, lines or characters changed, lost, doubled or moved."""
    whole = data.decode("utf-8", "replace")
    for _ in range(rng.choice((1, 1, 1, 2, 3, 8))):
        whole = _text_once(whole, rng, words) or "x"
    if rng.random() < 0.03:
        return noise(whole.encode("utf-8", "replace"), rng)
    return whole.encode("utf-8", "replace")


def _text_once(whole: str, rng: random.Random, words: tuple[str, ...]) -> str:
    lines = whole.split("\n")
    k = rng.randrange(len(lines))
    match rng.randrange(10):
        case 0:
            del lines[k]
        case 1:
            lines.insert(rng.randrange(len(lines)), lines[k])
        case 2:
            parts = lines[k].split(" ")
            parts[rng.randrange(len(parts))] = rng.choice(words)
            lines[k] = " ".join(parts)
        case 3:
            at = rng.randrange(len(lines[k]) + 1)
            lines[k] = lines[k][:at] + rng.choice("{}[]:,#&*!|>'\"%@`\t\x07é<>/=- 0\n") + lines[k][at:]
        case 4:
            at = rng.randrange(len(lines[k]) + 1)
            lines[k] = lines[k][:at] + lines[k][at + rng.randint(1, 4) :]
        case 5:
            return whole[: rng.randrange(len(whole) + 1)]
        case _:
            found = list(_NUMBER.finditer(whole))
            if found:
                chosen = rng.choice(found)
                new = rng.choice(NUMBERS) if rng.random() < 0.85 else rng.choice(words)
                return whole[: chosen.start()] + new + whole[chosen.end() :]
    return "\n".join(lines)


def markup(data: bytes, rng: random.Random) -> bytes:
    """XML with attributes and elements changed, lost, doubled or moved, or damaged as any text is."""
    if rng.random() < 0.4:
        return text(data, rng, (*WORDS, *MARKUP))
    whole = data.decode("utf-8", "replace")
    for _ in range(rng.choice((1, 1, 2, 4))):
        pattern = _ATTRIBUTE if rng.random() < 0.7 else _ELEMENT
        found = list(pattern.finditer(whole))
        if not found:
            break
        a, b = rng.choice(found), rng.choice(found)
        name, quote, value = a[0].partition('="')
        values = value.rstrip('"').split(" ")
        values[rng.randrange(len(values))] = rng.choice(NUMBERS)
        number, word = " ".join(values), rng.choice(WORDS)
        new = rng.choice(("", b[0], a[0] + b[0], f'{name}{quote}{number}"', f'{name}{quote}{word}"'))
        whole = whole[: a.start()] + new + whole[a.end() :]
    return whole.encode("utf-8", "replace")


def places(tree: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """All places of a tree of mappings and lists, the root first."""
    found = [path]
    items = tree.items() if isinstance(tree, dict) else enumerate(tree) if isinstance(tree, list) else ()
    for key, value in items:
        found += places(value, (*path, key))
    return found


def at(tree: Any, path: tuple[Any, ...]) -> Any:
    """What stands at a place of a tree."""
    for key in path:
        tree = tree[key]
    return tree


def tree(whole: Any, rng: random.Random) -> Any:
    """A tree with some branches lost, moved, renamed or replaced."""
    whole = copy.deepcopy(whole)
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        inner = places(whole)[1:]
        if not inner:
            break
        path = rng.choice(inner)
        numbers = [p for p in inner if type(at(whole, p)) in (int, float)]
        if numbers and rng.random() < 0.6:
            path = rng.choice(numbers)
            at(whole, path[:-1])[path[-1]] = rng.choice(SIZES)
            continue
        parent, key = at(whole, path[:-1]), path[-1]
        match rng.randrange(6):
            case 0:
                del parent[key]
            case 1:
                parent[key] = copy.deepcopy(at(whole, rng.choice(inner)))
            case 2 if isinstance(parent, dict):
                parent[rng.choice((*WORDS, *NUMBERS))] = parent.pop(key)
            case _:
                parent[key] = copy.deepcopy(rng.choice(VALUES))
    return whole


def document(data: bytes, rng: random.Random) -> bytes:
    """A YAML or JSON file, damaged as a text or in its tree, and written in either way."""
    if rng.random() < 0.3:
        return text(data, rng)
    found = tree(yaml.load(data, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader)), rng)
    if rng.random() < 0.2:
        return json.dumps(found).encode()
    return yaml.dump(found, Dumper=getattr(yaml, "CSafeDumper", yaml.SafeDumper), allow_unicode=True).encode()


def noise(data: bytes, rng: random.Random) -> bytes:
    """Bytes with some changed, lost, doubled or moved."""
    damaged = bytearray(data)
    for _ in range(rng.choice((1, 1, 2, 5, 20))):
        if not damaged:
            break
        k = rng.randrange(len(damaged))
        match rng.randrange(6):
            case 0:
                damaged[k] ^= 1 << rng.randrange(8)
            case 1:
                damaged[k] = rng.randrange(256)
            case 2:
                width = rng.choice((2, 4, 8))
                damaged[k : k + width] = rng.choice(
                    (0, 1, 2**31 - 1, 2**32 - 1, 2**63 - 1, 2**64 - 1)
                ).to_bytes(8, "little")[:width]
            case 3:
                del damaged[k : k + rng.choice((1, 4, 100))]
            case 4:
                size = rng.choice((1, 4, 100))
                other = rng.randrange(len(damaged))
                damaged[k:k] = damaged[other : other + size]
            case 5 if rng.random() < 0.3:
                del damaged[k:]
    return bytes(damaged)


def array(values: np.ndarray, rng: random.Random) -> np.ndarray:
    """An array with entries changed, rows lost or added, or of another shape or kind."""
    values = np.array(values)
    match rng.randrange(7):
        case 0 if values.ndim:
            return values[: rng.randrange(len(values) + 1)]
        case 1 if values.ndim and len(values):
            return np.concatenate([values, values[: rng.randint(1, 3)]])
        case 2:
            return values.reshape(-1)
        case 3:
            return values[..., None]
        case 4:
            return np.zeros(rng.choice(((), (0,), (0, 3), (3, 0), (5,), (2, 2))))
        case _:
            flat = values.reshape(-1).copy()
            worth = (0, 1, -1, 2, 7, 1e9, 1e19, 1e300, -1e308, np.nan, np.inf, 0.5)
            for _ in range(rng.choice((1, 1, 3))):
                if flat.size:
                    value = rng.choice(worth)
                    with np.errstate(all="ignore"):
                        if flat.dtype.kind != "f":
                            value = int(np.clip(np.nan_to_num(value), -(2**31), 2**31 - 1)) % 256
                        flat[rng.randrange(flat.size)] = value
            return flat.reshape(values.shape)


def tables(data: bytes, rng: random.Random) -> bytes:
    """A result file that is sound but for some of its tables, texts and attributes; or one with damaged bytes."""
    if rng.random() < 0.3:
        return noise(data, rng)
    attributes, found = opened(data)
    for name in rng.sample(sorted(found), rng.choice((1, 1, 2))):
        values = found[name]
        match rng.randrange(20):
            case 0:
                del found[name]
            case 1 | 2:
                attributes[rng.choice(sorted(attributes))] = rng.choice((0, -1, 7, "x", "", 2**62))
            case _ if values.dtype == np.uint8 and values.size:
                found[name] = np.frombuffer(_inside(values.tobytes(), name, rng), dtype="u1")
            case _:
                found[name] = array(values, rng)
    if "model" in found and rng.random() < 0.9:
        # Behind a checksum that is right there may be anything.
        attributes["model_sha256"] = hashlib.sha256(found["model"].tobytes()).hexdigest()
    return written(attributes, found)


def timeless(data: bytes) -> bytes:
    """A result file without the seconds its run took, so that it is the same every time."""
    from bellcrank.result.layout import packed, unpacked

    attributes, found = opened(data)
    for name, values in found.items():
        raw = values.tobytes() if values.dtype == np.uint8 else b""
        if name == "about":
            found[name] = np.frombuffer(json.dumps(_without_seconds(json.loads(raw))).encode(), dtype="u1")
        elif name.startswith("checkpoint") and raw:
            arrays, about = unpacked(raw)
            found[name] = np.frombuffer(packed(arrays, _without_seconds(about)), dtype="u1")
    return written(attributes, found)


def _without_seconds(whole: Any) -> Any:
    for path in places(whole):
        if path and path[-1] in ("seconds", "preparation"):
            at(whole, path[:-1])[path[-1]] = 0.0
    return whole


def opened(data: bytes) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Attributes and tables of a result file."""
    from bellcrank.result.sealed import read

    found = read(data)
    return dict(found.attributes), dict(found.tables)


def written(attributes: dict[str, Any], tables: dict[str, np.ndarray]) -> bytes:
    """A result file of these attributes and tables, with a seal that is right."""
    from bellcrank.result.sealed import Contents, sealed

    return b"".join(sealed(Contents(attributes, tables)))


def _inside(data: bytes, name: str, rng: random.Random) -> bytes:
    """Bytes of a table that hold something of their own: JSON, a model, a checkpoint, an archive of arrays."""
    if name == "about":
        return json.dumps(tree(json.loads(data), rng)).encode()
    if name == "model":
        return document(data, rng)
    if name in ("checkpoint", "contacts"):
        return archive(data, rng)
    return noise(data, rng)


def archive(data: bytes, rng: random.Random) -> bytes:
    """Arrays and a JSON document in one, of which one is damaged."""
    from bellcrank.result.layout import packed, unpacked

    if rng.random() < 0.1:
        return noise(data, rng)
    arrays, about = unpacked(data)
    name = rng.choice(["", *sorted(arrays)])
    if not name or rng.random() < 0.3:
        about = tree(about, rng)
    elif rng.random() < 0.1:
        del arrays[name]
    else:
        arrays[name] = array(arrays[name], rng)
    return packed(arrays, about)
