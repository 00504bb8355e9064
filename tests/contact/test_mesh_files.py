"""Mesh files and meshes as strangers send them: refused with the reason, or repaired with a note."""

from __future__ import annotations

import json
import os
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import bellcrank as bc
from bellcrank.contact import Mesh
from bellcrank.contact.mesh_grid import evaluated
from bellcrank.errors import ModelError
from bellcrank.fe.triangle_files import read_triangles as read

trimesh = pytest.importorskip("trimesh")
make = trimesh.creation

Array = NDArray[np.float64]

TRIANGLE = b"0 0 0\n1 0 0\n0 1 0\n"
FLOATS = b"property float x\nproperty float y\nproperty float z\n"
FACES = b"property list uchar int vertex_indices\nend_header\n"


def ply(vertices: int, faces: int, body: bytes, form: bytes = b"ascii", list_: bytes = FACES) -> bytes:
    counts = b"element vertex %d\n" % vertices + FLOATS + b"element face %d\n" % faces
    return b"ply\nformat " + form + b" 1.0\n" + counts + list_ + body


def gltf(count: int = 3, stride: int = 12, uri: str | None = None) -> dict[str, Any]:
    """A triangle of three vertices, 36 bytes, and three indices behind them."""
    return {
        "scenes": [{"nodes": [0]}],
        "nodes": [{"mesh": 0, "translation": [0.0, 0.0, 1.0], "scale": [2.0, 2.0, 2.0]}],
        "meshes": [{"primitives": [{"attributes": {"POSITION": 0}, "indices": 1}]}],
        "accessors": [
            {"bufferView": 0, "componentType": 5126, "type": "VEC3", "count": count},
            {"bufferView": 1, "componentType": 5123, "type": "SCALAR", "count": 3},
        ],
        "bufferViews": [{"buffer": 0, "byteStride": stride}, {"buffer": 0, "byteOffset": 36}],
        "buffers": [{} if uri is None else {"uri": uri}],
    }


def glb(document: dict[str, Any], indices: tuple[int, int, int] = (0, 1, 2)) -> bytes:
    text = json.dumps(document).encode()
    text += b" " * (-len(text) % 4)
    binary = struct.pack("<9f3H2x", 0, 0, 0, 1, 0, 0, 0, 1, 0, *indices)
    chunks = (
        struct.pack("<I4s", len(text), b"JSON") + text + struct.pack("<I4s", len(binary), b"BIN\0") + binary
    )
    return b"glTF" + struct.pack("<II", 2, 12 + len(chunks)) + chunks


def dae(
    primitive: str = '<triangles><input semantic="VERTEX" source="#v"/><p>0 1 2</p></triangles>',
    node: str = '<instance_geometry url="#g"/>',
    count: int = 4,
    before: str = "",
) -> bytes:
    """A square of four corners and a scene that shows it; unit of length: a centimetre."""
    return f"""<?xml version="1.0"?>{before}
<COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema" version="1.4.1">
  <asset><unit meter="0.01" name="centimeter"/><up_axis>Y_UP</up_axis></asset>
  <library_geometries><geometry id="g"><mesh>
    <source id="s"><float_array id="a" count="12">0 0 0 1 0 0 1 1 0 0 1 0</float_array>
      <technique_common><accessor source="#a" count="{count}" stride="3"/></technique_common></source>
    <vertices id="v"><input semantic="POSITION" source="#s"/></vertices>{primitive}
  </mesh></geometry></library_geometries>
  <library_visual_scenes><visual_scene id="w"><node id="n">{node}</node></visual_scene></library_visual_scenes>
  <scene><instance_visual_scene url="#w"/></scene>
</COLLADA>""".encode()


ENTITIES = '<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;">]>'


@pytest.mark.parametrize(
    ("name", "data", "reason"),
    [
        ("billions.ply", ply(4 * 10**9, 4 * 10**9, TRIANGLE), "claims 8000000000 elements"),
        ("billions_too.ply", ply(4 * 10**9, 1, b"\0" * 500, b"binary_little_endian"), "claims 4000000001"),
        ("short.ply", ply(3, 1, b"\0" * 20, b"binary_little_endian"), "not a mesh that can be read"),
        (
            "long_list.ply",
            ply(
                3,
                1,
                b"\0" * 36 + struct.pack("<i", 2**31 - 1),
                b"binary_little_endian",
                FACES.replace(b"uchar", b"int"),
            ),
            "not a mesh that can be read",
        ),
        ("negative.ply", ply(-5, 1, TRIANGLE), "cut off"),
        ("fewer.ply", ply(3, 1, TRIANGLE + 2 * b"3 0 1 2\n"), "claims 4 elements, but 5 lines follow"),
        ("more.ply", ply(3, 2, TRIANGLE + b"3 0 1 2\n"), "claims 5 elements, but 4 lines follow"),
        ("long_line.ply", ply(3, 1, TRIANGLE + b"300 0 1 2\n"), "claims 300 numbers and has 3"),
        ("endless.ply", b"ply\n" + b"comment x\n" * 100_000, "no header"),
        ("three_letters.ply", b"ply", "no header"),
        ("far.ply", ply(3, 1, TRIANGLE + b"3 0 1 99999999\n"), "does not exist"),
        ("nan.ply", ply(3, 1, b"0 0 0\n1 0 0\n0 nan 0\n3 0 1 2\n"), "vertex 2 of the mesh is not a number"),
        ("billions.stl", bytes(80) + struct.pack("<I", 2**32 - 1) + bytes(50), "claims 4294967295 triangles"),
        ("short.stl", bytes(80) + struct.pack("<I", 2) + bytes(70), "claims 2 triangles"),
        ("empty.stl", b"", "holds no triangles"),
        ("cut.stl", b"solid x\n facet normal 0 0 1\n outer loop\n vertex 0 0 0\n vertex 1 0", "cut off"),
        (
            "no_end.stl",
            b"solid x\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 1 0\nendloop\nendfacet\n",
            "no line 'endsolid'",
        ),
        ("noise.stl", bytes(range(256)) * 20, "no STL file"),
        ("words.obj", b"once upon a time\n" * 100, "holds no triangles"),
        ("zero.obj", b"v 0 0 0\nv 1 0 0\nv 0 1 0\nf 0 1 2\n", "count from 1"),
        ("far.obj", b"v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 99999999999\n", "not a mesh that can be read"),
        ("huge.obj", b"v 0 0 0\nv 1e300 0 0\nv 0 1e300 0\nf 1 2 3\n", "scale="),
        ("infinite.obj", b"v 0 0 0\nv 1e400 0 0\nv 0 1 0\nf 1 2 3\n", "not a number"),
        ("scene.glb", b"glTF", "the file is cut off"),
        ("version.glb", b"glTF" + struct.pack("<II", 1, 20) + bytes(8), "version 1"),
        (
            "chunk.glb",
            b"glTF" + struct.pack("<III4s", 2, 20, 2**31, b"JSON"),
            "a chunk is longer than the file",
        ),
        ("long.glb", glb(gltf(count=10**12)), "longer than its buffer"),
        ("stride.glb", glb(gltf(stride=2**60)), "longer than its buffer"),
        ("far.glb", glb(gltf(), indices=(0, 1, 7)), "a vertex that does not exist"),
        ("endless.glb", glb({**gltf(), "nodes": [{"children": [0]}]}), "contain themselves"),
        (
            "many.glb",
            glb({**gltf(), "nodes": [*({"children": [k + 1] * 10} for k in range(9)), {"mesh": 0}]}),
            "more than 20000 nodes",
        ),
        ("outside.gltf", json.dumps(gltf(uri="/etc/passwd")).encode(), "in another file"),
        ("list.gltf", b"[]", "not an object"),
        ("nothing.gltf", b"{}", "holds no triangles"),
        ("entities.dae", dae(before=ENTITIES), "document type"),
        ("cut.dae", dae()[:-20], "not a mesh that can be read"),
        ("other.dae", b"<robot/>", "no element <COLLADA>"),
        ("long.dae", dae(count=10**15), "longer than its numbers"),
        (
            "far.dae",
            dae(dae().decode().split("</vertices>")[1].split("</mesh>")[0].replace("2</p>", "7</p>")),
            "not exist",
        ),
        ("outside.dae", dae(node='<instance_geometry url="file:///etc/passwd#g"/>'), "in another file"),
        ("endless.dae", dae(node='<instance_node url="#n"/>'), "contain themselves"),
        ("deep.dae", dae(node="<a>" * 300 + "</a>" * 300), "100 within each other"),
        ("skeleton.dae", dae(node='<instance_controller url="#g"/>'), "hang on a skeleton"),
        ("nothing.dae", dae(primitive=""), "holds no triangles"),
        ("pickle.pkl", b"cos\nsystem\n(S'true'\ntR.", "not from .pkl"),
        ("none", b"", "not from"),
    ],
)
def test_hostile_files_are_refused_with_the_reason(
    name: str, data: bytes, reason: str, tmp_path: Path
) -> None:
    path = tmp_path / name
    path.write_bytes(data)
    with pytest.raises(ModelError, match=reason):
        Mesh.from_file(path)


def test_only_files_of_a_bounded_size_are_read(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="there is no such file"):
        read(tmp_path / "absent.stl")
    (tmp_path / "folder.stl").mkdir()
    with pytest.raises(ModelError, match="not a file"):
        read(tmp_path / "folder.stl")
    with (tmp_path / "large.stl").open("wb") as file:
        file.truncate(300_000_000)
    with pytest.raises(ModelError, match="300 MB, mesh files may have 256 MB"):
        read(tmp_path / "large.stl")
    with (tmp_path / "large.obj").open("wb") as file:
        file.truncate(120_000_000)
    with pytest.raises(ModelError, match="120 MB of text"):
        read(tmp_path / "large.obj")


@pytest.mark.posix
def test_files_that_a_mesh_refers_to_are_not_opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A fifo in their place would block whoever reads it."""
    for name in ("shine.mtl", "skin.png"):
        os.mkfifo(tmp_path / name)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.obj").write_bytes(b"mtllib shine.mtl\nusemtl x\nv 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n")
    texture = b"comment TextureFile skin.png\nelement vertex"
    (tmp_path / "a.ply").write_bytes(ply(3, 1, TRIANGLE + b"3 0 1 2\n").replace(b"element vertex", texture))
    for name in ("a.obj", "a.ply"):
        assert read(tmp_path / name)[1].tolist() == [[0, 1, 2]]


def test_a_scene_is_read_where_its_nodes_are_with_z_up(tmp_path: Path) -> None:
    (tmp_path / "a.glb").write_bytes(glb(gltf()))
    vertices, faces = read(tmp_path / "a.glb")
    np.testing.assert_allclose(vertices, [[0.0, -1.0, 0.0], [2.0, -1.0, 0.0], [0.0, -1.0, 2.0]])
    assert faces.tolist() == [[0, 1, 2]]


@pytest.mark.parametrize(
    ("primitive", "faces"),
    [
        ('<triangles><input semantic="VERTEX" source="#v" offset="1"/><input semantic="NORMAL" source="#s" offset="0"/>'
         "<p>0 0 1 1 2 2</p></triangles>", [[0, 1, 2]]),
        ('<polylist><input semantic="VERTEX" source="#v"/><vcount>4 3</vcount><p>0 1 2 3 0 1 3</p></polylist>',
         [[0, 1, 2], [0, 2, 3], [0, 1, 3]]),
        ('<polygons><input semantic="VERTEX" source="#v"/><p>0 1 2 3</p></polygons>', [[0, 1, 2], [0, 2, 3]]),
        ('<tristrips><input semantic="VERTEX" source="#v"/><p>0 1 3 2</p></tristrips>', [[0, 1, 3], [1, 2, 3]]),
        ('<trifans><input semantic="VERTEX" source="#v"/><p>0 1 2 3</p></trifans>', [[0, 1, 2], [0, 2, 3]]),
    ],
)  # fmt: skip
def test_collada_is_read_in_metres_where_its_nodes_are(
    primitive: str, faces: list[list[int]], tmp_path: Path
) -> None:
    """Its nodes turn a quarter about z after they shift by two, and mirror x."""
    inner = '<node><scale>-1 1 1</scale><instance_geometry url="#g"/></node>'
    node = f"<rotate>0 0 1 90</rotate><translate>2 0 0</translate>{inner}"
    (tmp_path / "a.dae").write_bytes(dae(primitive, node))
    vertices, found = read(tmp_path / "a.dae")
    np.testing.assert_allclose(
        vertices, [[0, 0.02, 0], [0, 0.01, 0], [-0.01, 0.01, 0], [-0.01, 0.02, 0]], atol=1e-17
    )
    assert found[:, ::-1].tolist() == faces


def test_polygons_are_taken_as_triangles(tmp_path: Path) -> None:
    (tmp_path / "a.obj").write_bytes(b"v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nf -4 -3 -2 -1\n")
    (tmp_path / "a.ply").write_bytes(ply(4, 1, b"0 0 0\n1 0 0\n1 1 0\n0 1 0\n4 0 1 2 3\n"))
    for name in ("a.obj", "a.ply"):
        surface = Mesh.from_file(tmp_path / name)
        assert (surface.vertices[:, 2] == 0.0).all()
        assert surface.volume == pytest.approx(surface.sheet_thickness, rel=1e-9)
        assert any("open" in note for note in surface.notes)


def test_a_body_takes_a_file_arrays_and_meshes_of_trimesh(tmp_path: Path) -> None:
    box = make.box((200.0, 300.0, 400.0))
    box.export(tmp_path / "box.stl")
    body = bc.System("box").body("box", mass=1.0, inertia=(1.0, 1.0, 1.0))
    for given in (tmp_path / "box.stl", str(tmp_path / "box.stl"), (box.vertices, box.faces), box):
        shape = body.mesh(given, scale=1e-3).shape
        assert isinstance(shape, Mesh)
        assert shape.volume == pytest.approx(0.024, rel=1e-6)
    for wrong in (3, box.vertices, (box.vertices,)):
        with pytest.raises(ModelError, match=r"a mesh is a file, or \(vertices, faces\), not a "):
            body.mesh(wrong)
    with pytest.raises(ModelError, match="scale of a mesh must be a positive number"):
        body.mesh(box, scale=-1.0)


def test_hostile_meshes() -> None:
    box = make.box((0.2, 0.2, 0.2))
    v, f = np.asarray(box.vertices), np.asarray(box.faces)
    usual = Mesh(v, f)
    with pytest.raises(ModelError, match="in one point"):
        Mesh(np.ones((8, 3)), f)
    # The same triangle twice, or both ways round; a wall that two boxes side by side share; boxes along an edge.
    beside = trimesh.util.concatenate([box, box.copy().apply_translation((0.2, 0.2, 0.0))])
    long = np.vstack([v, v * (-1.0, 1.0, 1.0) + (0.2, 0.0, 0.0)]), np.vstack([f, f[:, ::-1] + 8])
    for vertices, faces, boxes in (
        (v, np.vstack([f, f]), 1),
        (v, np.vstack([f, f[:, ::-1]]), 1),
        (*long, 2),
        (beside.vertices, beside.faces, 2),
    ):
        found = Mesh(vertices, faces)
        assert found.volume == pytest.approx(boxes * usual.volume, rel=0.02)
        assert evaluated(found.field, np.zeros((1, 3)))[0][0] == pytest.approx(0.1, abs=0.01)
    for wrong in (f - 1, f + 1, f + 2**40, f - 2**62):
        with pytest.raises(ModelError, match="does not exist"):
            Mesh(v, wrong)
    for wrong, reason in (
        (f + 0.5, "whole numbers"),
        (np.full((2, 3), np.nan), "does not exist|whole"),
        ([["a", "b", "c"]], "whole numbers"),
        (np.zeros((0, 3), int), "no triangles"),
        (np.zeros((3, 4), int), "faces"),
        ([[0, 1, 2**70]], "whole|does not exist"),
    ):
        with pytest.raises(ModelError, match=reason):
            Mesh(v, wrong)  # type: ignore[arg-type]
    with pytest.raises(ModelError, match="scale="):
        Mesh(1e300 * v, f)
    # Bodies that run through each other are one.
    moved = box.copy().apply_translation((0.05, 0.06, 0.07))
    crossed = trimesh.util.concatenate([box, moved])
    overlap = 0.15 * 0.14 * 0.13
    assert Mesh(crossed.vertices, crossed.faces).volume == pytest.approx(2.0 * 0.2**3 - overlap, rel=0.02)
