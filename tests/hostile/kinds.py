"""Every kind of file that is read: sound files to begin with, how they are damaged, and how they are read."""

from __future__ import annotations

import base64
import contextlib
import io
import json
import random
import shutil
import signal
import struct
import tempfile
import time
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any
from unittest import mock

import yaml

import bellcrank as bc
from bellcrank.errors import BellcrankError
from hostile import damage

EXAMPLES = Path(__file__).parents[2] / "examples"


@dataclass(frozen=True, eq=False)
class Kind:
    """A kind of file. sound: whole files by name. damaged: one of them after damage. read: all that is done with a file
    when it is opened. weight: its share of the tries; kinds that take long to read get less, as those do that a process
    of their own reads.
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

    foreign(str(path), allow=("all",)).system.mechanism()


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
    """A mesh file as a shape of contact with its field, as a surface of samples, and as a body with mass."""
    from bellcrank.contact import Mesh, Sampled, Solid

    def touching() -> None:
        made = Mesh.from_file(path, resolution=12)
        made.field, made.triangles()

    refused = []
    for read in (touching, lambda: Sampled.from_file(path), lambda: Solid.from_file(path, density=1000.0)):
        try:
            read()
        except BellcrankError as error:
            refused.append(error)
    # The samples of a sound mesh may be too few for a smooth surface.
    if len(refused) > 1:
        raise refused[0]


SOLID = """
bellcrank: 1
name: m
bodies:
  bar:
    flexible:
      kind: solid
      mesh: {name}
      material: {{young: 2e11, density: 7850}}
      interfaces: {{start: {{point: [0, 0, 0]}}}}
      modes: {{count: 2}}
joints: {{hold: {{kind: fixed, a: ground, b: bar}}}}
"""
BLOCK = """
elastic: 1
name: m
materials: {{soft: {{young: 500, poisson: 0.3, density: 1}}}}
bodies: {{bar: {{shape: mesh, file: {name}, analysis: solid, material: soft}}}}
obstacles: {{floor: {{kind: plane, point: [0, 0, -1], normal: [0, 0, 1]}}}}
contacts: {{touch: {{body: bar, against: floor}}}}
duration: 1
step: 0.1
"""
MATRICES = """
bellcrank: 1
name: m
bodies:
  bar:
    flexible:
      kind: matrices
      mass_matrix: {name}
      stiffness_matrix: {stiffness}
      positions: {positions}
      modes: {{count: 2}}
joints: {{hold: {{kind: fixed, a: ground, b: bar}}}}
"""


def volume(path: Path) -> None:
    """A mesh of volume elements as a flexible member or as an elastic body, as its bytes have it."""
    from bellcrank.elastic import files
    from bellcrank.files import load

    if zlib.crc32(path.read_bytes()) % 2:
        named = path.with_name("solid.yaml")
        named.write_text(SOLID.format(name=path.name))
        load(named)
    else:
        named = path.with_name("block.elastic")
        named.write_text(BLOCK.format(name=path.name))
        files.load(named, {})


def matrix(path: Path) -> None:
    """A matrix as the mass and as the stiffness of a member; refused where it can be neither."""
    from bellcrank.files import load

    refused = []
    *matrices, positions = _cube()
    for number, sound in enumerate(matrices):
        beside = path.with_name(f"sound{path.suffix}")
        beside.write_bytes(_as_file(sound, path.suffix))
        names = (beside.name, path.name)
        named = path.with_name("matrices.yaml")
        named.write_text(
            MATRICES.format(name=names[number], stiffness=names[1 - number], positions=positions.tolist())
        )
        try:
            load(named)
        except bc.BellcrankError as error:
            refused.append(error)
    if len(refused) == 2:
        raise refused[1]


def property_file(path: Path) -> None:
    """A tyre, pressed and rolling."""
    import math

    from bellcrank.tyres import Deflection, Slip, tyre

    found = tyre(path)
    for slip in (Slip(0.0), Slip(4e3, 0.1, -0.1, 0.05), Slip(1e5, -1.0, 2.0, 0.3, speed=-1.0)):
        assert all(math.isfinite(float(x)) for x in found.forces(slip))
    assert math.isfinite(float(found.load(Deflection(0.25, -1.0, 0.05, 60.0, 1e3, 2e3))))


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


def _tyres() -> list[bytes]:
    from tyres.test_property_files import FIALA

    folder = Path(__file__).parents[1] / "tyres" / "data"
    return [FIALA.encode(), *(p.read_bytes() for p in sorted(folder.glob("*.tir")))]


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


def _off() -> list[bytes]:
    lines = [
        "OFF",
        "8 12 0",
        *(f"{x} {y} {z}" for x, y, z in CORNERS),
        *(f"3 {a} {b} {c}" for a, b, c in FACES),
    ]
    return ["\n".join([*lines, ""]).encode()]


def _gltf_parts() -> tuple[dict[str, Any], bytes]:
    binary = struct.pack("<24f36H", *(x for c in CORNERS for x in c), *(k for f in FACES for k in f))
    about = {
        "asset": {"version": "2.0"},
        "scene": 0,
        "scenes": [{"nodes": [0]}],
        "nodes": [
            {"children": [1], "rotation": [0, 0, 0, 1], "scale": [1, 1, 1]},
            {"mesh": 0, "translation": [0, 0, 1]},
        ],
        "meshes": [{"primitives": [{"attributes": {"POSITION": 0}, "indices": 1, "mode": 4}]}],
        "accessors": [
            {"bufferView": 0, "componentType": 5126, "count": 8, "type": "VEC3"},
            {"bufferView": 1, "componentType": 5123, "count": 36, "type": "SCALAR", "byteOffset": 0},
        ],
        "bufferViews": [
            {"buffer": 0, "byteOffset": 0, "byteLength": 96},
            {"buffer": 0, "byteOffset": 96, "byteLength": 72},
        ],
        "buffers": [{"byteLength": len(binary)}],
    }
    return about, binary


def _gltf() -> list[bytes]:
    about, binary = _gltf_parts()
    about["buffers"][0]["uri"] = "data:application/octet-stream;base64," + base64.b64encode(binary).decode()
    return [json.dumps(about).encode()]


def _dae() -> list[bytes]:
    corners, faces = (" ".join(str(x) for row in rows for x in row) for rows in (CORNERS, FACES))
    return [
        f"""<?xml version="1.0"?>
<COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema" version="1.4.1">
  <asset><unit meter="0.01"/><up_axis>Z_UP</up_axis></asset>
  <library_geometries><geometry id="g"><mesh>
    <source id="s"><float_array id="a" count="24">{corners}</float_array>
      <technique_common><accessor source="#a" count="8" stride="3" offset="0"/></technique_common></source>
    <vertices id="v"><input semantic="POSITION" source="#s"/></vertices>
    <triangles count="12"><input semantic="VERTEX" source="#v" offset="0"/><p>{faces}</p></triangles>
  </mesh></geometry></library_geometries>
  <library_visual_scenes><visual_scene id="w"><node id="n"><matrix>1 0 0 0 0 1 0 0 0 0 1 1 0 0 0 1</matrix>
    <rotate>0 0 1 30</rotate><instance_geometry url="#g"/></node></visual_scene></library_visual_scenes>
  <scene><instance_visual_scene url="#w"/></scene>
</COLLADA>
""".encode()
    ]


def _glb_of(about: Any, binary: bytes) -> bytes:
    text = json.dumps(about).encode()
    text += b" " * (-len(text) % 4)
    chunks = (
        struct.pack("<I4s", len(text), b"JSON") + text + struct.pack("<I4s", len(binary), b"BIN\0") + binary
    )
    return b"glTF" + struct.pack("<II", 2, 12 + len(chunks)) + chunks


def _glb() -> list[bytes]:
    return [_glb_of(*_gltf_parts())]


def _glb_damage(data: bytes, rng: random.Random) -> bytes:
    """Sound in its layout and damaged in its JSON or its numbers; or damaged anywhere."""
    if rng.random() < 0.3:
        return damage.noise(data, rng)
    about, binary = _gltf_parts()
    if rng.random() < 0.3:
        return _glb_of(about, damage.noise(binary, rng))
    return _glb_of(damage.tree(about, rng), binary)


def _volumes(suffix: str, **formats: Any) -> list[bytes]:
    """A bar of tetrahedra and one of hexahedra, as another program writes them."""
    import meshio
    import numpy as np

    points = np.array([(x, y, z) for x in (0.0, 1.0, 2.0) for y in (0.0, 1.0) for z in (0.0, 1.0)])
    bricks = np.array([(0, 4, 6, 2, 1, 5, 7, 3), (4, 8, 10, 6, 5, 9, 11, 7)])
    around = ((0, 1, 2, 6), (0, 2, 3, 6), (0, 3, 7, 6), (0, 7, 4, 6), (0, 4, 5, 6), (0, 5, 1, 6))
    pointed = np.concatenate([bricks[:, list(corners)] for corners in around])
    made = []
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / f"bar{suffix}"
        for cells in (("hexahedron", bricks), ("tetra", pointed)):
            for options in formats.values() or ({},):
                meshio.write(path, meshio.Mesh(points, [cells]), **options)
                made.append(path.read_bytes())
    return made


def _msh() -> list[bytes]:
    ways = {
        f"{form} {binary}": {"file_format": form, "binary": binary}
        for form in ("gmsh", "gmsh22")
        for binary in (True, False)
    }
    return _volumes(".msh", **ways)


def _vtk() -> list[bytes]:
    ways = {
        f"{form} {binary}": {"file_format": form, "binary": binary}
        for form in ("vtk42", "vtk51")
        for binary in (True, False)
    }
    return _volumes(".vtk", **ways)


def _vtu() -> list[bytes]:
    return _volumes(".vtu", binary={"binary": True}, text={"binary": False})


@cache
def _cube() -> tuple[Any, Any, Any]:
    """Mass and stiffness of a cube of five tetrahedra, and where its corners lie."""
    from skfem import MeshTet

    from bellcrank.flexible import STEEL, solid

    model = solid("bar", MeshTet(), STEEL)
    return model.mass_matrix.toarray(), model.stiffness_matrix.toarray(), model.fields["displacement"].points


def _as_file(values: Any, suffix: str, sparse: bool = False) -> bytes:
    import numpy as np
    import scipy.io
    import scipy.sparse

    buffer = io.BytesIO()
    if suffix == ".npy":
        np.save(buffer, values)
    else:
        scipy.io.mmwrite(buffer, scipy.sparse.coo_array(values) if sparse else values)
    return buffer.getvalue()


def _npy() -> list[bytes]:
    return [_as_file(values, ".npy") for values in _cube()[:2]]


def _mtx() -> list[bytes]:
    return [_as_file(values, ".mtx", sparse) for values in _cube()[:2] for sparse in (False, True)]


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
        Kind("stl", ".stl", _stl, _text_or_bytes, mesh, 0.5),
        Kind("obj", ".obj", _obj, _text_or_bytes, mesh, 0.5),
        Kind("ply", ".ply", _ply, _text_or_bytes, mesh, 0.5),
        Kind("off", ".off", _off, _text_or_bytes, mesh, 0.2),
        Kind("glb", ".glb", _glb, _glb_damage, mesh, 0.4),
        Kind("gltf", ".gltf", _gltf, damage.document, mesh, 0.2),
        Kind("dae", ".dae", _dae, damage.markup, mesh, 0.2),
        Kind("gmsh", ".msh", _msh, _text_or_bytes, volume, 0.1),
        Kind("abaqus", ".inp", lambda: _volumes(".inp"), _text_or_bytes, volume, 0.1),
        Kind("nastran", ".bdf", lambda: _volumes(".bdf"), _text_or_bytes, volume, 0.1),
        Kind("vtk", ".vtk", _vtk, _text_or_bytes, volume, 0.1),
        Kind("vtu", ".vtu", _vtu, damage.markup, volume, 0.1),
        Kind("npy", ".npy", _npy, damage.noise, matrix, 0.7),
        Kind("mtx", ".mtx", _mtx, _text_or_bytes, matrix, 0.7),
        Kind("tyre", ".tir", _tyres, _text_or_bytes, property_file, 0.7),
    )
}
