"""Whatever is typed and whatever stands in a file: an answer or a clear error, never a crash."""

from __future__ import annotations

import contextlib
import io
import os
import random
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bellcrank.cli import main
from bellcrank.cli.library import examples
from files.test_mjcf import everything
from files.test_urdf import ARM

MODELS = [e.model.read_text() for e in examples().values() if e.model is not None and e.name != "full_car"]
few = settings(max_examples=25, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
TOKENS = (
    *(
        "0",
        "-1",
        "1e308",
        "1e-320",
        "nan",
        "inf",
        "pi",
        "t",
        "x",
        "''",
        "null",
        "true",
        "[]",
        "{}",
        "[1, 2]",
        "ground",
    ),
    *(
        "1/0",
        "sqrt(-1)",
        "0^0",
        "exp(1000)",
        "rate",
        "crank",
        "rod",
        "pivot",
        "revolute",
        "free",
        "&a",
        "*a",
        "é",
        "-",
    ),
)
NUMBERS = ("0", "1", "2", "7", "-3", "1e-9", "1e-300", "1e9", "1e150", "1e308", "0.5", "-0")
WORDS = (
    *(
        "run",
        "check",
        "count",
        "equilibrium",
        "linearize",
        "plot",
        "report",
        "view",
        "quantities",
        "convert",
        "verify",
    ),
    *(
        "examples",
        "list",
        "show",
        "copy",
        "pendulum",
        "model.yaml",
        "nothing",
        ".",
        "/",
        "",
        "-",
        "--",
        "-d",
        "1e-3",
    ),
    *(
        "--set",
        "friction=1",
        "=",
        "a=b",
        "--initial",
        "pivot=1",
        "pivot=",
        "pivot.angle=1,2",
        "--json",
        "--out",
        "o.h5",
    ),
    *(
        "-q",
        "rod.position",
        "rod",
        "--at",
        "start",
        "--input",
        "friction",
        "--help",
        "--version",
        "--no-open",
        "--list",
    ),
    *(
        "--integrator",
        "radau",
        "--tolerance",
        "1e-3",
        "--step",
        "1",
        "--formulation",
        "lagrange",
        "--nope",
        "\x00",
        "é",
    ),
)


@pytest.fixture(autouse=True, scope="module")
def _nothing_waits() -> Iterator[None]:
    """The viewer ends at once instead of waiting for Ctrl-C, and no browser is opened."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("bellcrank.view.live.player.Player.wait", lambda viewer: None)
        patch.setattr("webbrowser.open", lambda address: True)
        yield


def called(*words: str) -> tuple[int, str, str]:
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err), pytest.raises(SystemExit) as ended:
        main(list(words))
    return int(ended.value.code or 0), out.getvalue(), err.getvalue()


def clear(*words: str) -> None:
    """The command ends as it should: a status that is known, an error that is a sentence."""
    status, _, err = called(*words)
    assert status in (0, 1, 2), (words, err)
    assert "this should not happen" not in err, (words, err)
    assert "Traceback" not in err
    assert (status == 0) or err.startswith("bellcrank: ") or words[:1] == ("verify",), (words, err)


@contextlib.contextmanager
def folder() -> Iterator[Path]:
    before = Path.cwd()
    with tempfile.TemporaryDirectory() as name:
        os.chdir(name)
        try:
            yield Path(name)
        finally:
            os.chdir(before)


def damaged(text: str, seed: int, tokens: tuple[str, ...] = TOKENS) -> str:
    """A text with a few words, lines or characters changed, lost, doubled or moved."""
    rng = random.Random(seed)
    for _ in range(rng.randint(1, 2)):
        lines = text.split("\n")
        k = rng.randrange(len(lines))
        match rng.randrange(10):
            case 0:
                del lines[k]
            case 1:
                lines.insert(rng.randrange(len(lines)), lines[k])
            case 2:
                words = lines[k].split(" ")
                words[rng.randrange(len(words))] = rng.choice(tokens)
                lines[k] = " ".join(words)
            case 3:
                at = rng.randrange(len(lines[k]) + 1)
                lines[k] = lines[k][:at] + rng.choice("{}[]:,#&*!|>'\"%@`\t\x07é<>/=- 0") + lines[k][at:]
            case 4:
                at = rng.randrange(len(lines[k]) + 1)
                lines[k] = lines[k][:at] + lines[k][at + rng.randint(1, 4) :]
            case _:
                digits = [i for i, c in enumerate(lines[k]) if c.isdigit()]
                if digits:
                    at = rng.choice(digits)
                    new = rng.choice(NUMBERS) if rng.random() < 0.8 else rng.choice(tokens)
                    lines[k] = lines[k][:at] + new + lines[k][at + 1 :]
        text = "\n".join(lines) or "x"
    return text


@few
@given(st.lists(st.sampled_from(WORDS), max_size=6))
def test_any_words(words: list[str]) -> None:
    if "verify" in words and "--list" not in words:
        words.append("--list")
    with folder() as here:
        (here / "model.yaml").write_text(MODELS[0])
        clear(*words)


@few
@given(st.sampled_from(MODELS), st.integers(0, 2**32))
def test_damaged_model_files(text: str, seed: int) -> None:
    with folder() as here:
        (here / "model.yaml").write_text(damaged(text, seed), encoding="utf-8")
        clear("check", "model.yaml")


@settings(few)
@given(st.sampled_from(MODELS), st.integers(0, 2**32))
def test_damaged_model_files_run(text: str, seed: int) -> None:
    with folder() as here:
        (here / "model.yaml").write_text(damaged(text, seed), encoding="utf-8")
        clear("equilibrium", "model.yaml")


URDF_TOKENS = (
    '"0"',
    '"-1"',
    '"nan"',
    '"1e308"',
    '""',
    '"a b"',
    "<link",
    "</link>",
    "/>",
    "<!--",
    'name="upper"',
)


@few
@given(st.integers(0, 2**32), st.booleans())
def test_damaged_foreign_files(seed: int, robot: bool) -> None:
    text = ARM if robot else everything(active="true")
    with folder() as here:
        (here / "model.xml").write_text(damaged(text, seed, (*TOKENS[:4], *URDF_TOKENS)), encoding="utf-8")
        clear("convert", "model.xml", "-")
        clear("check", "model.xml")


@settings(few, max_examples=20)
@given(
    st.binary(max_size=200),
    st.sampled_from([b"", b"<", b"\x89HDF\r\n\x1a\n", b"bellcrank: 1\n", b"<mujoco>"]),
)
def test_any_bytes(data: bytes, head: bytes) -> None:
    with folder() as here:
        (here / "file").write_bytes(head + data)
        for command in ("check", "quantities", "report"):
            clear(command, "file")


@settings(few)
@given(st.integers(0, 2**32))
def test_damaged_results(stored: Path, seed: int) -> None:
    rng = random.Random(seed)
    data = bytearray(stored.read_bytes())
    for _ in range(rng.randint(1, 20)):
        data[rng.randrange(len(data))] = rng.randrange(256)
    if rng.random() < 0.3:
        del data[rng.randrange(len(data)) :]
    with folder() as here:
        (here / "run.h5").write_bytes(data)
        clear("quantities", "run.h5")
