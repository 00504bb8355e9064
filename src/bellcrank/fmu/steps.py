"""Runs by steps in an FMU: the scene of each partition as memory, and the programs of shapes that meet.

See :mod:`bellcrank.impacts.moreau` for the scheme. ``steps.c`` makes the steps as
:class:`bellcrank.impacts.stepping.SteppedRun` does.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from bellcrank.formulations.loops import Partition
from bellcrank.impacts import moreau
from bellcrank.impacts.changes import LOGGED
from bellcrank.impacts.errors import ContactError
from bellcrank.impacts.meeting import Meeting, Placed
from bellcrank.impacts.patches import Patch
from bellcrank.impacts.scene import scene_of
from bellcrank.impacts.stepping import CHUNK, UNFIT, SteppedRun
from bellcrank.mechanism import Mechanism
from bellcrank.mechanism.carried_loads import carried_loads, lagging_loads
from bellcrank.mechanism.export import needs_projection
from bellcrank.program.loops import Records
from bellcrank.program.loops import c as loops_c
from bellcrank.program.loops.layout import words
from bellcrank.program.program import Program
from bellcrank.run.simulation import output_times
from bellcrank.run.touch import touch_events

Words = NDArray[np.int64]

SPARE = 2
"""Contacts for which there is room, over what the run of the export needed: inputs may lead elsewhere."""
TYPES = """\
typedef struct {
  const int *at, *near, *kernel_at;
  const long long *value;
  const Kernel *kernel;
  int entries, pointers, kernels, array[6];
} Scene;
"""
ARRAYS = "X", "FORCES", "WRENCHES", "STATISTICS", "COUNTERS", "CHANGES"
"""Arrays of a scene that ``steps.c`` knows, by their numbers."""


@dataclass(frozen=True, eq=False)
class Image:
    """The memory of a scene as it begins: words of eight bytes, addresses zero.

    near: Place of each address within the memory, and of the array that it is of. kernels: Place of each address of a
    program, and what it is called in C; that of the loads is the fourth. arrays: Where those of ARRAYS begin. kept:
    Where the words that steps take begin; before them lies what contacts remember. words: How many there are.
    """

    memory: Words
    near: list[tuple[int, int]]
    kernels: list[tuple[int, str]]
    arrays: list[int]
    kept: int
    words: int


class Stepping:
    """A run by steps of `length` [s] that was made once over `duration`, for its partitions and the room it takes."""

    def __init__(self, mechanism: Mechanism, length: float, duration: float) -> None:
        self.mechanism, self.length = mechanism, length
        run = SteppedRun(mechanism, length, touch_events(mechanism), ())
        # Inputs may lead elsewhere; where the run fails, the partitions up to there are those that are known.
        with suppress(ContactError):
            run.go_on(output_times(mechanism.start.t, duration, 1), False)
        self.parts, self.used, self.room = run.parts, run.used, SPARE * run.room

    @property
    def partitions(self) -> list[Partition]:
        """The partitions that the run took, that of the start first."""
        return [machine.partition for machine in self.used]

    def _loads(self, partition: Partition) -> Program | None:
        return carried_loads(self.mechanism, partition) if lagging_loads(self.mechanism) else None

    @cached_property
    def _meetings(self) -> dict[str, Meeting | Patch]:
        """The programs of shapes that meet, by their names in C."""
        keys = dict.fromkeys(
            [
                *(meet.program for meet in self.parts.meets),
                *(law.program for law in self.parts.rules.values()),
            ]
        )
        return {f"meet{k}": self.parts.meeting(key) for k, key in enumerate(keys)}

    def programs(self) -> dict[str, Program]:
        """Programs beside those of the motion, by their names in C."""
        found = {name: meeting.program for name, meeting in self._meetings.items()}
        for k, partition in enumerate(self.partitions):
            found[f"p{k}_frames"] = cast("Placed", self.parts.made[partition]).program
            if (loads := self._loads(partition)) is not None:
                found[f"p{k}_loads"] = loads
        return found

    def image(self, k: int) -> Image:
        """The memory of partition k."""
        machine = self.used[k]
        scene = scene_of(self.parts, machine, self.room)
        found: list[int] = []
        kept: list[tuple[int, NDArray[Any]]] = []
        arguments = scene, moreau.STEP, 0.0, 0, UNFIT
        for given, argument in zip(moreau.advance.types, arguments, strict=True):
            words(given, argument, found, kept)
        remembered = {id(array) for array in _remembered(scene)}
        own = [array for _, array in kept]
        first = [array for array in own if id(array) in remembered]
        last = [array for array in own if id(array) not in remembered]
        places, end = dict[int, int](), 0
        for array in first:
            places[id(array)], end = end, end + array.size
        begin, end = end, end + len(found)
        for array in last:
            places[id(array)], end = end, end + array.size
        memory = np.zeros(end, np.int64)
        for array in own:
            memory[places[id(array)] : places[id(array)] + array.size] = array.view(np.int64).ravel()
        memory[begin : begin + len(found)] = found
        near = [(begin + place, places[id(array)]) for place, array in kept]
        memory[[place for place, _ in near]] = 0
        kernels = self._kernels(k, scene, begin, places[id(scene.rules.words)])
        memory[[place for place, _ in kernels]] = 0
        log = scene.log
        named = scene.x, log.forces, log.wrenches, log.statistics, log.counters, log.changes.counts
        arrays = [places[id(array)] for array in named]
        return Image(memory, near, kernels, arrays, begin, len(found))

    def _kernels(self, k: int, scene: moreau.Scene, begin: int, rules: int) -> list[tuple[int, str]]:
        """Where addresses of programs lie: the first words, and the first of every rule."""
        machine = self.used[k]
        own = [f"p{k}_rates", f"p{k}_frames"]
        own.append(f"p{k}_project" if needs_projection(self.mechanism) else "0")
        own.append("0" if self._loads(machine.partition) is None else f"p{k}_loads")
        found = [(begin + i, name) for i, name in enumerate(own)]
        by_address = {meeting.kernel.address: name for name, meeting in self._meetings.items()}
        width = scene.rules.words.shape[1] if len(scene.rules) else 0
        return found + [
            (rules + width * i, by_address[scene.rules[i].kernel]) for i in range(len(scene.rules))
        ]

    def text(self) -> list[str]:
        """Types, scenes and numbers in C."""
        parts, rows = [TYPES], []
        images = [self.image(k) for k in range(len(self.used))]
        for k, image in enumerate(images):
            filled = np.flatnonzero(image.memory)
            tables: list[tuple[str, str, Sequence[object]]] = [
                ("int", "AT", filled.tolist()),
                ("int", "NEAR", [place for pair in image.near for place in pair]),
                ("int", "KERNEL_AT", [place for place, _ in image.kernels]),
                ("long long", "VALUE", [loops_c.literal(int(v)) for v in image.memory[filled]]),
                ("Kernel", "KERNELS", [name for _, name in image.kernels]),
            ]
            parts += [_table(kind, f"SCENE{k}_{name}", values) for kind, name, values in tables]
            names = ", ".join(f"SCENE{k}_{name}" for _, name, _ in tables)
            sizes = f"{len(filled)}, {len(image.near)}, {len(image.kernels)}"
            rows.append(f"{{{names}, {sizes}, {{{', '.join(map(str, image.arrays))}}}}}")
        colliding = {name: k for k, name in enumerate(self.mechanism.system.colliding)}
        frames = self.parts.frame_places if self.parts.grouped else []
        loads = lagging_loads(self.mechanism)
        parts += [
            _table("Scene", "SCENES", rows),
            _table("int", "PLACE_OF", [colliding.get(name, -1) for name in frames]),
            _table("int", "LOAD_AT", [load.place for load in loads]),
        ]
        numbers = {
            "BC_MEMORY": max(len(image.memory) for image in images),
            "BC_KEPT_END": images[0].kept,
            "BC_WORDS_OF_STEPS": images[0].words,
            "BC_PAIRS": len(self.parts.pairs),
            "BC_FRAMES": len(frames),
            "BC_LOADS": len(loads),
            "BC_CHUNK": CHUNK,
            "BC_STEP": repr(float(self.length)),
            "BC_UNFIT": repr(UNFIT),
            "AT_IMPACTS": moreau.IMPACTS,
            "AT_STRUCK": moreau.STRUCK,
            "AT_FULL": moreau.FULL,
            "AT_MARGIN": moreau.MARGIN,
            "AT_FASTEST": moreau.FASTEST,
            "AT_LOGGED": LOGGED,
        }
        numbers |= {f"AT_{name}": k for k, name in enumerate(ARRAYS)}
        return [*parts, *(f"#define {name} {value}" for name, value in numbers.items())]


def _table(kind: str, name: str, values: Sequence[object]) -> str:
    """A constant array in C; one zero where it is empty."""
    return f"static const {kind} {name}[] = {{{', '.join(map(str, values)) or '0'}}};"


def _remembered(scene: moreau.Scene) -> Iterator[NDArray[Any]]:
    """The arrays that hold what is known of contacts from step to step, as large in every partition."""
    log = scene.log
    every = (*scene.memory, *log.changes, log.forces, log.wrenches, log.counters, log.statistics)
    for array in every:
        yield array.words if isinstance(array, Records) else array
