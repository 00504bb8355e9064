"""Self-contained pages: templates filled with escaped texts, closed to everything outside."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Mapping
from html import escape
from importlib.resources import files
from typing import Any

import numpy as np
from numpy.typing import ArrayLike


def template(name: str) -> str:
    """A file of the page folder."""
    return files("bellcrank.view").joinpath("page", name).read_text(encoding="utf-8")


def policy(script: str = "") -> str:
    """A content security policy: no requests at all, no script but this very one."""
    allowed = "'none'"
    if script:
        digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
        allowed = f"'sha256-{digest}'"
    return (
        f"default-src 'none'; script-src {allowed}; style-src 'unsafe-inline'; img-src data:; base-uri 'none'"
    )


def fill(page: str, texts: Mapping[str, str]) -> str:
    """Put texts into the places of a template; the texts themselves are not looked into again."""
    parts = page.split("@@")
    filled = [part if k % 2 == 0 else texts[part] for k, part in enumerate(parts)]
    return "".join(filled)


def script_data(data: Any) -> str:
    """JSON that cannot end the script element it stands in."""
    text = json.dumps(data, separators=(",", ":"), allow_nan=False)
    for sign in "<>&":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return text


def floats(values: ArrayLike) -> str:
    """Numbers as base64 of little-endian 32-bit floats; what is not finite becomes 0."""
    array = np.nan_to_num(np.asarray(values, dtype=float), nan=0.0, posinf=3e38, neginf=-3e38)
    with np.errstate(over="ignore"):
        return base64.b64encode(np.clip(array, -3e38, 3e38).astype("<f4").tobytes()).decode()


def packed(values: ArrayLike, kind: str) -> str:
    """Numbers as base64 of a little-endian type of numpy."""
    return base64.b64encode(np.asarray(values).astype(kind).tobytes()).decode()


def text(value: object) -> str:
    """Any value as text of a page."""
    return escape(str(value), quote=True)


def counted(number: int, one: str, many: str) -> str:
    """A number with its noun."""
    return f"{number} {one if number == 1 else many}"


def animation(title: str, subtitle: str, data: Any) -> str:
    """A page that plays: the scene, its frames and curves in `data`."""
    script = template("animation.js")
    return fill(
        template("animation.html"),
        {
            "POLICY": text(policy(script)),
            "TITLE": text(title),
            "SUBTITLE": text(subtitle),
            "STYLE": template("animation.css"),
            "DATA": script_data(data),
            "SCRIPT": script,
        },
    )
