"""Every kind of file that is read: sound files to begin with, how they are damaged, and how they are read."""

from __future__ import annotations

import contextlib
import io
import json
import random
import shutil
import signal
import struct
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any
from unittest import mock

import yaml

import bellcrank as bc
from hostile import damage

EXAMPLES = Path(__file__).parents[2] / "examples"


@dataclass(frozen=True, eq=False)
class Kind:
    """A kind of file. sound: whole files by name. damaged: one of them after damage. read: all that is done with a file
    when it is opened. weight: its share of the tries; kinds that take long to read get less.
    """

    name: str
    suffix: str
    sound: Callable[[], list[bytes]]
    damaged: Callable[[bytes, random.Random], bytes]
    read: Callable[[Path], Any]
    weight: float = 1.0


PATIENCE = 3.0
"""Seconds after which a run is interrupted: some files ask for long ones, which must end at Ctrl-C."""


@contextlib.contextmanager
def interrupted() -> Iterator[None]:
    """Ctrl-C where what is done takes too long."""

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, interrupt)
    signal.setitimer(signal.ITIMER_REAL, PATIENCE)
    try:
        yield
    except KeyboardInterrupt:
        pass
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)


def model(path: Path) -> None:
    """What ``bellcrank check`` and ``convert`` do."""
    from bellcrank.files import dumps, load

    system = load(path)
    dumps(system)
    system.mechanism()


def run(path: Path) -> None:
    """What ``bellcrank run`` does, for a short time."""
    from bellcrank.files import load

    with interrupted():
        load(path).simulate(0.01, output=5, max_steps=200, progress=False)


def foreign(path: Path) -> None:
    """What ``bellcrank check`` does with the file of another program."""
    from bellcrank.cli.inputs import foreign

    foreign(str(path)).system.mechanism()


def study(path: Path) -> None:
    """The design of a study, no run of it."""
    from bellcrank.study import load_study

    beside = path.with_name("quarter_car.yaml")
    if not beside.exists():
        shutil.copy(EXAMPLES / beside.name, beside)
    found = load_study(path)
    assert len(found.table)
    found.definition()


def elastic(path: Path) -> None:
    """The bodies of an elastic problem with their meshes, no step of it."""
    from bellcrank.elastic import files

    files.load(path, {})


def result(path: Path) -> None:
    """A result with the names of all it can be asked."""
    found = bc.load_result(path)
    assert len(found.time) >= 0
    if isinstance(found, bc.Result):
        assert found.quantities.table
        assert found.events is not None
        assert len(list(found.impacts)) >= 0


def checkpoint(path: Path) -> None:
    """A run that goes on from what it left."""
    with interrupted():
        bc.resume(path, controllers=[bc.Controller("end", 0.1, [], lambda t, measured: None)], progress=False)


def mesh(path: Path) -> None:
    """A mesh file as a shape of contact, and as a body with mass."""
    from bellcrank.contact import Sampled, Solid

    Sampled.from_file(path, spacing=0.3)
    Solid.from_file(path, density=1000.0)


@cache
def _study() -> Any:
    from bellcrank.study import LatinHypercube, Study, Uniform
    from study.models import oscillator

    return Study(
        oscillator(),
        {"mass": Uniform(1.0, 2.0)},
        {"end": "final of block.position.x"},
        0.05,
        design=LatinHypercube(8),
        batch=4,
        output=5,
    )


def store(path: Path) -> None:
    """A study that goes on from its folder, one of whose files is damaged: first byte: which."""
    data = path.read_bytes()
    folder = path.with_name("store")
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(_stored(), folder)
    names = sorted(p.name for p in folder.iterdir() if p.stat().st_size)
    (folder / names[data[0] % len(names)]).write_bytes(data[1:])
    _study().run(folder, threads=1, progress=False)


@cache
def _stored() -> Path:
    folder = Path(tempfile.mkdtemp(prefix="hostile-store-"))
    _study().run(folder / "sound", threads=1, progress=False)
    return folder / "sound"


def _models() -> list[bytes]:
    from bellcrank.files import dumps
    from files.test_completeness import (
        CONTINUOUS,
        PRESSED,
        SHAPES,
        SOFT,
        base,
        described,
        pairs,
        touching,
        two_calls,
    )
    from files.test_members import MEMBERS, holding

    systems = [described(m, two_calls(m, a)[1]) for m, a in pairs()[::2]]
    systems += [touching(argument, calls[1]) for argument, calls in CONTINUOUS.items()]
    systems += [holding(member) for name, member in MEMBERS.items() if "given" not in name]
    for shapes, law in ((SHAPES, {}), (PRESSED, SOFT)):
        for name, make in shapes.items():
            if name in ("sampled", "open"):
                continue
            system = base()
            system.contact(
                "touch", make(system.bodies["one"]), system.bodies["two"].sphere(0.1, (0, 0, 3)), **law
            )
            systems.append(system)
    found = [dumps(system).encode() for system in systems]
    # Those with much in them come as often as all the small ones together.
    large = [p.read_bytes() for p in sorted(EXAMPLES.glob("*.yaml")) if p.name != "full_car.yaml"]
    large.append(json.dumps(yaml.safe_load(large[0])).encode())
    return found + large * max(1, len(found) // (2 * len(large)))


def _small_models() -> list[bytes]:
    return [(EXAMPLES / f"{name}.yaml").read_bytes() for name in ("pendulum", "slider_crank", "two_balls")]


def _studies() -> list[bytes]:
    from study.test_study_files import MINIMAL

    every = MINIMAL.replace(
        "  stiffness: {kind: normal, mean: 2e4, deviation: 1e3}\n",
        "  stiffness: {kind: truncated, of: {kind: normal, mean: 2e4, deviation: 1e3}, low: 19e3, high: 21e3}\n"
        "  damping: {kind: lognormal, median: 1500, spread: 0.1}\n"
        "  body_mass: {kind: triangular, low: 300, mode: 320, high: 330}\n"
        "  wheel_mass: {kind: choice, values: [38, 40]}\n",
    )
    designs = (
        "monte carlo, runs: 7",
        "sobol, runs: 8",
        "one at a time, levels: 3",
        "grid, levels: {stiffness: 3}",
    )
    made = [f"{every}design: {{kind: {design}}}\n".encode() for design in designs]
    return [(EXAMPLES / "quarter_car.study").read_bytes(), MINIMAL.encode(), *made]


def _elastic() -> list[bytes]:
    from elastic.test_files import everything

    return [
        yaml.safe_dump(everything()).encode(),
        *(p.read_bytes() for p in sorted(EXAMPLES.glob("*.elastic"))),
    ]


def _results() -> list[bytes]:
    import numpy as np

    from bellcrank.elastic import files
    from bellcrank.files import load
    from elastic.test_files import SMALL

    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "run.h5"
        made = []
        half = bc.Event("half", lambda m: m["t"] - 0.005)
        for example in ("slider_crank", "two_balls", "flexible_slider_crank"):
            system = load(EXAMPLES / f"{example}.yaml")
            system.simulate(0.01, output=5, events=[half], progress=False).save(path)
            made.append(damage.timeless(path.read_bytes()))
        with np.errstate(all="ignore"):
            files.loads(SMALL).simulate().save(path)
        made.append(damage.timeless(path.read_bytes()))
    return made


def _checkpoints() -> list[bytes]:
    from bellcrank.files import load

    found = []
    for example in ("slider_crank", "ball_on_ground"):
        with tempfile.TemporaryDirectory() as name:
            path = Path(name) / "run.h5"
            found.append(_interrupted(load(EXAMPLES / f"{example}.yaml"), path))
    return found


def _interrupted(system: Any, path: Path) -> bytes:
    """A run that ended in an error between its outputs, with a checkpoint."""
    from bellcrank.result.storage import read
    from bellcrank.run.recording import Recorder

    class Ended(Exception):
        pass

    def controlled(t: float, measured: Any) -> None:
        if 0.35 < t < 0.45:
            # Longer than a run goes on without a word of how far it is.
            time.sleep(0.3)
        if t > 0.75:
            raise Ended

    control = bc.Controller("end", 0.1, [], controlled)
    with (
        mock.patch.object(Recorder, "due", return_value=True),
        contextlib.suppress(bc.BellcrankError),
    ):
        system.simulate(1.0, output=20, save=path, controllers=[control], progress=False)
    assert read(path).checkpoint
    return damage.timeless(path.read_bytes())


def _urdf() -> list[bytes]:
    from files.test_urdf import ARM

    mesh = '<collision><geometry><mesh filename="x.stl" scale="1 1 1"/></geometry></collision>'
    return [ARM.encode(), ARM.replace("</link>", f"{mesh}</link>", 1).encode()]


def _mjcf() -> list[bytes]:
    from files.test_mjcf import everything

    return [
        everything(angle, active=active).encode()
        for active in ("true", "false")
        for angle in ("radian", "degree")
    ]


CORNERS = [(x, y, z) for x in (0.0, 1.0) for y in (0.0, 1.0) for z in (0.0, 1.0)]
FACES = [
    *((0, 1, 3), (0, 3, 2), (4, 6, 7), (4, 7, 5), (0, 4, 5), (0, 5, 1)),
    *((2, 3, 7), (2, 7, 6), (0, 2, 6), (0, 6, 4), (1, 5, 7), (1, 7, 3)),
]


def _stl() -> list[bytes]:
    binary = bytes(80) + struct.pack("<I", len(FACES))
    words = ["solid cube"]
    for face in FACES:
        corners = [CORNERS[k] for k in face]
        binary += struct.pack("<12fH", 0, 0, 0, *(x for c in corners for x in c), 0)
        words += ["facet normal 0 0 0", "outer loop", *(f"vertex {x} {y} {z}" for x, y, z in corners)]
        words += ["endloop", "endfacet"]
    return [binary, "\n".join([*words, "endsolid cube", ""]).encode()]


def _obj() -> list[bytes]:
    lines = [f"v {x} {y} {z}" for x, y, z in CORNERS]
    lines += ["f " + " ".join(f"{k + 1}" for k in face) for face in FACES]
    return ["\n".join(["# cube", "mtllib cube.mtl", "o cube", *lines, ""]).encode()]


def _ply() -> list[bytes]:
    head = (
        "ply\nformat {} 1.0\nelement vertex 8\nproperty float x\nproperty float y\nproperty float z\n"
        "element face 12\nproperty list uchar int vertex_indices\nend_header\n"
    )
    lines = [f"{x} {y} {z}" for x, y, z in CORNERS] + [f"3 {a} {b} {c}" for a, b, c in FACES]
    body = b"".join(struct.pack("<3f", *c) for c in CORNERS) + b"".join(
        struct.pack("<B3i", 3, *f) for f in FACES
    )
    return [
        head.format("ascii").encode() + "\n".join([*lines, ""]).encode(),
        head.format("binary_little_endian").encode() + body,
    ]


def _stores() -> list[bytes]:
    names = sorted(p for p in _stored().iterdir() if p.stat().st_size)
    return [bytes([k]) + path.read_bytes() for k, path in enumerate(names)]


def _store_damage(data: bytes, rng: random.Random) -> bytes:
    inner = data[1:]
    return data[:1] + (
        damage.document(inner, rng) if inner.lstrip()[:1] == b"{" else damage.noise(inner, rng)
    )


def _text_or_bytes(data: bytes, rng: random.Random) -> bytes:
    readable = io.BytesIO(data).read(200).isascii() and b"\0" not in data[:200]
    return damage.text(data, rng) if readable and rng.random() < 0.7 else damage.noise(data, rng)


KINDS = {
    kind.name: kind
    for kind in (
        Kind("model", ".yaml", _models, damage.document, model, 6.0),
        Kind("run", ".yaml", _small_models, damage.document, run, 2.0),
        Kind("study", ".study", _studies, damage.document, study, 2.0),
        Kind("elastic", ".elastic", _elastic, damage.document, elastic, 1.0),
        Kind("result", ".h5", _results, damage.tables, result, 1.5),
        Kind("checkpoint", ".h5", _checkpoints, damage.tables, checkpoint, 0.7),
        Kind("store", ".bin", _stores, _store_damage, store, 0.7),
        Kind("urdf", ".urdf", _urdf, damage.markup, foreign, 2.0),
        Kind("mjcf", ".xml", _mjcf, damage.markup, foreign, 2.0),
        Kind("stl", ".stl", _stl, _text_or_bytes, mesh, 1.5),
        Kind("obj", ".obj", _obj, _text_or_bytes, mesh, 1.5),
        Kind("ply", ".ply", _ply, _text_or_bytes, mesh, 1.5),
    )
}
