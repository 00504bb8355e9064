"""The result of a run of elastic bodies: series by name, nodal forces, fields."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bellcrank.elastic.assembled import Assembled
from bellcrank.elastic.body import ElasticBody
from bellcrank.elastic.interface import Contact
from bellcrank.elastic.lattices import Array
from bellcrank.elastic.recording import WORKS, Recorded
from bellcrank.elastic.stress import Stress, stress
from bellcrank.errors import ModelError, unknown_name
from bellcrank.result.series import Series

if TYPE_CHECKING:
    from bellcrank.elastic.viewer import ElasticViewer


@dataclass(frozen=True)
class ElasticReport:
    """How a run went.

    status: "finished", "interrupted" or "diverged". unknowns: of the whole system. candidates: nodes whose compliance
    was formed. preparation, seconds: wall time to assemble and factorise, and to step [s].
    """

    status: str
    steps: int
    unknowns: int
    candidates: int
    preparation: float
    seconds: float


@dataclass(frozen=True, eq=False)
class ContactPoints:
    """Points of a body that may touch: where they were at the start [m], shape (k, d), and their areas [m^2]."""

    places: Array
    areas: Array

    @property
    def count(self) -> int:
        """How many."""
        return len(self.places)


@dataclass(frozen=True, eq=False)
class ElasticResult:
    """Series over all steps and fields at some of them.

    ``run["contact.force"]`` gives a series; `names` lists them. Contacts without names are called "contact", or
    "contact 1", ... where there are several.
    """

    bodies: tuple[ElasticBody, ...]
    contacts: tuple[Contact, ...]
    run: ElasticReport
    notes: tuple[str, ...]
    system: Assembled
    interfaces: tuple[ContactPoints, ...]
    recording: Recorded
    name: str = "elastic contact"

    @cached_property
    def time(self) -> Array:
        """Times of the steps [s], the start included."""
        return np.array(self.recording.time)

    @cached_property
    def _series(self) -> dict[str, Series]:
        r = self.recording
        found: dict[str, tuple[Array, str]] = {}
        for k, name in enumerate(self.contact_names):
            found[f"{name}.force"] = np.array(r.normal)[:, k], "N"
            found[f"{name}.force_vector"] = np.array(r.force)[:, k], "N"
            found[f"{name}.area"] = np.array(r.area)[:, k], "m^2"
        momentum = np.array(r.momentum)
        for k, body in enumerate(self.bodies):
            found[f"{body.name}.velocity"] = momentum[:, k] / body.total_mass, "m/s"
        kinetic, strain = np.array(r.kinetic), np.array(r.strain)
        works = dict(zip(WORKS, np.array(r.works).T, strict=True))
        total = kinetic + strain
        change = total - total[0] - works["load"] - works["damping"]
        # The scale by which errors are judged: all energy that was there or was put in.
        scale = max(float(total.max()) if total[0] == 0.0 else float(total[0]), 1e-300)
        found |= {
            "energy.kinetic": (kinetic, "J"),
            "energy.strain": (strain, "J"),
            "energy.total": (total, "J"),
        }
        found |= {f"work.{name}": (value, "J") for name, value in works.items()}
        found["energy.error"] = (change - works["friction"] - works["obstacle"]) / scale, ""
        found["work.residual"] = (change - works["contact"]) / scale, ""
        counts = np.array(r.updates, dtype=float)
        for k, what in enumerate(("displacement", "velocity", "acceleration")):
            found[f"updates.{what}"] = counts[:, k], ""
        return {name: Series(value, self.time, name, unit) for name, (value, unit) in found.items()}

    @property
    def contact_names(self) -> tuple[str, ...]:
        """Of the series of each contact."""
        several = len(self.contacts) > 1
        return tuple(
            c.name or (f"contact {k + 1}" if several else "contact") for k, c in enumerate(self.contacts)
        )

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the series."""
        return tuple(self._series)

    def __getitem__(self, name: str) -> Series:
        """A series by name; one component of a vector by its letter, "contact.force_vector.y"."""
        if name in self._series:
            return self._series[name]
        head, _, letter = name.rpartition(".")
        axis = "xyz".find(letter) if letter else -1
        if head in self._series and self._series[head].ndim == 2 and 0 <= axis < self._series[head].shape[1]:
            whole = self._series[head]
            return Series(np.asarray(whole)[:, axis], self.time, name, whole.unit)
        raise unknown_name("series", name, self._series)

    @property
    def finished(self) -> bool:
        """Whether the run reached its end."""
        return self.run.status == "finished"

    def contact_duration(self, contact: int = 0) -> tuple[float, float]:
        """First and last time with contact force [s]; zeros where there never was any."""
        force = np.array(self.recording.normal)[:, contact]
        touching = np.flatnonzero(force > 0.0)
        if touching.size == 0:
            return 0.0, 0.0
        return float(self.time[touching[0]]), float(self.time[touching[-1]])

    def peak(self, contact: int = 0) -> tuple[float, float]:
        """Largest total normal force [N] and its time [s]."""
        force = np.array(self.recording.normal)[:, contact]
        k = int(force.argmax())
        return float(force[k]), float(self.time[k])

    def roughness(self, contact: int = 0) -> float:
        """Total variation of the normal force over twice its peak: 1 for a curve that rises and falls once."""
        force = np.array(self.recording.normal)[:, contact]
        return float(np.abs(np.diff(force)).sum() / (2.0 * force.max())) if force.max() > 0.0 else 0.0

    def rebound_velocity(self, body: str | None = None) -> Array:
        """Velocity of the mass centre of a body at the end [m/s]."""
        return np.asarray(self[f"{body or self.bodies[0].name}.velocity"][-1])

    def vibration_energy(self) -> float:
        """Share of the initial kinetic energy that is left neither in mass centres nor in friction and damping."""
        start = self.recording.kinetic[0]
        moving = sum(
            0.5 * body.total_mass * float((self.rebound_velocity(body.name) ** 2).sum())
            for body in self.bodies
        )
        lost = sum(float(self[f"work.{name}"][-1]) for name in ("friction", "damping"))
        return 1.0 - (moving - lost) / start

    def nodal_forces(self, step: int, contact: int = 0) -> tuple[Array, Array]:
        """Start positions [m] of the points that touch at a step, and forces on `body` there, in world axes [N]."""
        points, _, world = self.recording.points[step]
        first, last = self.recording.first[contact : contact + 2]
        own = (points >= first) & (points < last)
        return self.interfaces[contact].places[points[own] - first], world[own]

    @property
    def frame_times(self) -> Array:
        """Times at which whole fields are kept [s]."""
        return self.time[self.recording.frame_steps]

    def displacement(self, frame: int = -1, body: str | None = None) -> Array:
        """Displacements of the nodes of a body at a kept time [m], shape (nodes, d)."""
        return self.recording.frames[frame][self.system.nodes_of(self._body(body))]

    def velocity(self, frame: int = -1, body: str | None = None) -> Array:
        """Velocities of the nodes of a body at a kept time [m/s], shape (nodes, d)."""
        return self.recording.frame_velocities[frame][self.system.nodes_of(self._body(body))]

    def stress(self, frame: int = -1, body: str | None = None) -> Stress:
        """Stress at the nodes of a body at a kept time, recovered by projection."""
        return stress(self._body(body), self.displacement(frame, body))

    def animate(self, path: str | Path, **options: float | int) -> Path:
        """Write a film of the deformed bodies, coloured by von Mises stress: .gif, or .html that stands alone."""
        from bellcrank.elastic.animation import animate

        return animate(self, Path(path), **options)  # type: ignore[arg-type]

    def plot(self, *names: str, path: str | Path | None = None) -> Any:
        """Draw series over time and return the matplotlib figure; `path` saves it. Forces and energies unless named."""
        from bellcrank.elastic.pages import plot

        return plot(self, names, path)

    def report(self, path: str | Path, quantities: Sequence[str] | None = None) -> None:
        """Write a report of the run as one HTML file."""
        from bellcrank.elastic.pages import report

        Path(path).write_text(report(self, quantities), encoding="utf-8")

    def html(self, path: str | Path, quantities: Sequence[str] | None = None, magnified: float = 1.0) -> None:
        """Write an animation with stress colours and curves as one HTML file that needs nothing else.

        magnified: Factor on displacements beyond those of the mass centre.
        """
        from bellcrank.elastic.page import page

        Path(path).write_text(page(self, quantities, magnified), encoding="utf-8")

    def view(
        self, quantities: Sequence[str] | None = None, *, browser: bool | None = None, **options: Any
    ) -> ElasticViewer:
        """Open the web viewer on this result; see :class:`bellcrank.elastic.viewer.ElasticViewer` for the options.

        Returns the viewer: a notebook shows it in place, a script ends with ``result.view().wait()``. browser: Whether
        to open one (default: outside of notebooks).
        """
        from bellcrank.elastic.viewer import ElasticViewer

        viewer = ElasticViewer(self, quantities=quantities, **options)
        viewer.open(browser)
        return viewer

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickled as the tables of its file."""
        from bellcrank.elastic.storage import contents
        from bellcrank.result.storage import restored

        found = contents(self)
        return restored, (dict(found.attributes), dict(found.tables))

    def save(self, path: str | Path) -> None:
        """Write everything into one file, for :func:`bellcrank.load_result`."""
        from bellcrank.elastic.storage import save

        save(self, path)

    def cite(self) -> tuple[str, ...]:
        """Sources of the methods."""
        return (
            "K. Lee, Dynamic contact analysis satisfying all the compatibility conditions on the contact surface, "
            "Trans. KSME 19 (1995)",
            "N. M. Newmark, A method of computation for structural dynamics, ASCE J. Eng. Mech. 85 (1959)",
            "T. Gustafsson, G. D. McBain, scikit-fem: a Python package for finite element assembly, JOSS 5 (2020)",
        )

    def _body(self, name: str | None) -> ElasticBody:
        if name is None:
            if len(self.bodies) > 1:
                raise ModelError(f"name one of the bodies: {', '.join(b.name for b in self.bodies)}")
            return self.bodies[0]
        for body in self.bodies:
            if body.name == name:
                return body
        raise unknown_name("body", name, [b.name for b in self.bodies])
