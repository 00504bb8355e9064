"""The result of a run: states at the output times, and every quantity by name."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bellcrank.base.optional import needed
from bellcrank.base.provided import provided
from bellcrank.errors import ModelError
from bellcrank.program.evaluate import evaluate
from bellcrank.program.program import Program
from bellcrank.quantities.multipliers import Multipliers
from bellcrank.quantities.quantities import Quantities
from bellcrank.quantities.snapshot import Snapshot
from bellcrank.quantities.traceable import XYZ
from bellcrank.result.impact_table import ContactChange, ImpactTable
from bellcrank.result.ledger import Ledger, changes, works
from bellcrank.result.series import Series

if TYPE_CHECKING:
    from bellcrank.contact.patch import Patch
    from bellcrank.integrate.trajectory import Trajectory
    from bellcrank.mechanism import Mechanism
    from bellcrank.view.live import Viewer

Array = NDArray[np.float64]
STEPS = "moreau"
"""What reports call the method of runs by steps."""


@dataclass(frozen=True, eq=False)
class RunReport:
    """How a run went.

    status: how it ended. method: integrator. steps, rejected, evaluations: what it took. seconds: wall time of
    the integration alone. repartitions: times at which other speeds became independent [s]. In runs by steps, residual:
    the largest miss of Coulomb's conditions in a step, over the fastest speed of its contacts; unsolved: steps that
    missed their tolerance; penetration: the deepest overlap over the size of the smaller body. stepped: stretches of a
    run followed event by event that were taken by steps instead: begin and end [s], why, and which contacts.
    """

    status: str
    method: str
    formulation: str
    steps: int
    rejected: int
    evaluations: int
    seconds: float
    repartitions: tuple[float, ...] = ()
    switches: tuple[tuple[float, str], ...] = ()
    residual: float = 0.0
    unsolved: int = 0
    penetration: float = 0.0
    stepped: tuple[tuple[float, float, str], ...] = ()

    @staticmethod
    def of(trajectory: Trajectory, method: str, formulation: str, seconds: float) -> RunReport:
        """The report of an integrator's run; seconds: wall time [s]."""
        return RunReport(
            trajectory.status.name.lower(),
            method,
            formulation,
            trajectory.steps,
            trajectory.rejected,
            trajectory.evaluations,
            seconds,
            trajectory.repartitions,
            trajectory.switches,
        )


@dataclass(frozen=True)
class Happening:
    """An event that was met: its time [s] and name."""

    time: float
    name: str


@dataclass(frozen=True, eq=False)
class _Reading:
    """What is traced of a mechanism to read its states, once for all results that share it."""

    mechanism: Mechanism

    @cached_property
    def quantities(self) -> Quantities:
        m = self.mechanism
        return Quantities(Snapshot(m.system, m.tree, m.mechanics))

    @cached_property
    def multipliers(self) -> Multipliers:
        return Multipliers(self.quantities.s, self.mechanism.kept)


@dataclass(frozen=True, eq=False)
class Result:
    """States over time. ``result["slider.velocity.x"]`` gives any quantity, computed when asked for;
    ``result["rod.point(0.5, 0, 0).velocity"]`` that of any point of a body.

    time: [s], shape (k,). q, u, du: positions, speeds and speed rates, one row an output. parameters: values
    at each output, one column a parameter. run: how it went. impacts: their table. contact_forces: of lasting
    contacts on b in world axes [N], three columns a contact. contact_changes: when contacts began to last, stuck,
    slipped and let go. breaks: before and after each impact, change of contact and change by an event or a controller
    a row [t, q, u, du, parameters, contact forces].
    """

    mechanism: Mechanism
    time: Array
    q: Array
    u: Array
    du: Array
    parameters: Array
    run: RunReport
    events: tuple[Happening, ...] = ()
    impacts: ImpactTable = field(default_factory=ImpactTable)
    contact_forces: Array | None = None
    contact_changes: tuple[ContactChange, ...] = ()
    breaks: Array | None = None
    _computed: dict[str, Series] = field(default_factory=dict, repr=False)

    def __len__(self) -> int:
        return len(self.time)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickled as the tables of its file."""
        from bellcrank.result.storage import contents, restored

        found = contents(self)
        return restored, (dict(found.attributes), dict(found.tables))

    def __repr__(self) -> str:
        span = f"{self.time[0]:g} to {self.time[-1]:g} s" if len(self) else "nothing"
        return f"<Result of {self.mechanism.system.name!r}: {len(self)} outputs, {span}, {self.run.status}>"

    @cached_property
    def _reading(self) -> _Reading:
        return _Reading(self.mechanism)

    @property
    def quantities(self) -> Quantities:
        """What can be asked for."""
        return self._reading.quantities

    def at_states(
        self,
        time: Array,
        q: Array,
        u: Array,
        du: Array,
        parameters: Array,
        contact_forces: Array | None = None,
    ) -> Result:
        """The mechanism in other states, read by the quantities that are traced for this result.

        time: [s]. q, u, du, parameters, contact_forces [N]: As those of the result, one row a state.
        """
        found = replace(
            self,
            time=time,
            q=q,
            u=u,
            du=du,
            parameters=parameters,
            contact_forces=contact_forces,
            breaks=None,
            _computed={},
        )
        vars(found)["_reading"] = self._reading
        return found

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all quantities."""
        return tuple(self.quantities.table)

    def __getitem__(self, name: str) -> Series:
        return self.compute([name])[0]

    def __contains__(self, name: str) -> bool:
        try:
            self.quantities.find(name)
        except KeyError:
            return False
        except ValueError:
            return False
        return True

    def compute(self, names: Sequence[str]) -> list[Series]:
        """The quantities `names` at once; shared parts are computed once."""
        missing = [n for n in dict.fromkeys(names) if n not in self._computed]
        if missing:
            self._computed.update(zip(missing, self._evaluate(missing), strict=True))
        return [self._computed[n] for n in names]

    def _evaluate(self, names: Sequence[str]) -> Iterable[Series]:
        found = [self.quantities.find(n) for n in names]
        outputs, sizes = [], []
        for quantity, components in found:
            traced = list(quantity.trace())
            picked = traced if components is None else [traced[i] for i in components]
            outputs += picked
            sizes.append(len(picked))
        needs = any(q.needs_multipliers for q, _ in found)
        values = self.on_states(outputs, needs)
        first = 0
        for (quantity, components), size, name in zip(found, sizes, names, strict=True):
            block = values[first : first + size].T
            first += size
            shaped = block.reshape(-1, *quantity.shape(components, size))
            yield Series(shaped, self.time, name, quantity.unit)

    def on_states(self, outputs: Sequence[Any], with_multipliers: bool = False) -> Array:
        """Values, (n, k), of n expressions traced from the state of ``quantities``, at all outputs.

        with_multipliers: Whether the expressions need the multipliers of the loops, which are then computed.
        """
        states = self._states(with_multipliers)
        values = evaluate(Program.of(self.quantities.s.inputs, outputs), states)
        return np.asarray(values).reshape(len(outputs), len(self.time))

    def _states(self, with_multipliers: bool) -> Array:
        m = len(self.quantities.s.mu)
        mu = self._multipliers if with_multipliers else np.zeros((m, len(self.time)))
        contacts = self.contact_forces
        if contacts is None:
            contacts = np.zeros((len(self.time), len(self.quantities.s.contact_inputs)))
        return np.vstack([self.time[None], self.q.T, self.u.T, self.du.T, mu, self.parameters.T, contacts.T])

    @cached_property
    def _multipliers(self) -> Array:
        return self._reading.multipliers.at(self._states(False))

    @cached_property
    def ledger(self) -> Ledger:
        """Energy against work: what came in, what went out, what is left over."""
        kinetic, gravity, stored = (
            np.asarray(s) for s in self.compute(["energy.kinetic", "energy.gravity", "energy.stored"])
        )
        powers = ["power.drivers", "power.forces", "power.contacts"]
        drivers, forces, contacts = works(self, powers)
        lost = np.array([i.energy_lost for i in self.impacts])
        # An output at the very time of an impact shows the state before it, except at the start.
        begun = self.impacts.times > self.mechanism.start.t
        passed = ((self.impacts.times < self.time[:, None]) & begun) @ lost
        taken = passed[:1] - passed if len(passed) else passed
        changed = changes(self)
        return Ledger(self.time, kinetic, gravity, stored, drivers, forces, contacts, taken, changed)

    def field(self, body: str, name: str) -> Series:
        """A field over a flexible body ("displacement", "strain", "stress") at all outputs.

        Shape (k, points, components); points and names of components: ``member.fields[name]``. Displacements are
        the linear ones in the member's axes.
        """
        from bellcrank.result.deformation import field

        return field(self, body, name)

    def history(self, body: str, name: str, point: Any, component: str) -> Series:
        """One component of a field of a body over time, at the sample point nearest to a place in member axes [m].

        For a node's name: of the sample points there (the extremes of a beam's section) the one that reaches the
        largest magnitude; all of them are ``result["rod.middle.stress"]``.
        """
        from bellcrank.result.deformation import history

        return history(self, body, name, point, component)

    def deformed(self, body: str, magnified: float = 1.0) -> tuple[Array, NDArray[np.int64]]:
        """The deformed shape of a flexible body in world axes [m], (k, points, 3), and the cells between the points.

        magnified: Factor on the deformation.
        """
        from bellcrank.result.deformation import deformed

        return deformed(self, body, magnified)

    def patch(self, contact: str, time: float) -> Patch:
        """The patch of a contact by fields at the output nearest to a time [s].

        Triangles in world axes: ``corners`` (n, 3, 3) [m] and the elastic ``pressure`` at each corner (n, 3) [Pa]; none
        while the bodies are apart.
        """
        from bellcrank.result.patches import patches

        if not len(self):
            raise ModelError("the result has no outputs: there is no patch to show")
        row = int(np.argmin(np.abs(self.time - float(time))))
        return next(patches(self, contact, slice(row, row + 1)))

    def to_pandas(self, *names: str | Sequence[str]) -> Any:
        """A pandas DataFrame of the quantities `names` (positions of all bodies where none are named)."""
        pd = needed("pandas", "to_pandas", "pandas", "frames")

        return pd.DataFrame(self._columns(_listed(names)), index=pd.Index(self.time, name="time [s]"))

    def to_xarray(self, *names: str | Sequence[str]) -> Any:
        """An xarray Dataset of the quantities `names`, with units as attributes.

        Vectors have the dimension ``axis`` (x, y, z), rotations ``axis`` and ``body_axis``; other components are
        labelled by a dimension called after the quantity.
        """
        xr = needed("xarray", "to_xarray", "xarray", "frames")

        wanted = _listed(names) or self._default_names()
        data: dict[str, Any] = {}
        coordinates: dict[str, Any] = {"time": ("time", self.time, {"units": "s"})}
        for s in self.compute(wanted):
            components = self.quantities.find(s.name)[0].components
            dims: tuple[str, ...] = ("axis", "body_axis")[: s.ndim - 1]
            if s.ndim == 2 and components != XYZ:
                dims = (f"{s.name} component",)
            data[s.name] = (("time", *dims), s.to_numpy(), {"units": s.unit})
            for dim in dims:
                coordinates[dim] = (dim, list(XYZ if dim.endswith("axis") else components), {})
        return xr.Dataset(data, coords=coordinates)

    def _default_names(self) -> tuple[str, ...]:
        return tuple(f"{name}.position" for name in self.mechanism.system.bodies)

    def _columns(self, names: Sequence[str]) -> dict[str, Array]:
        columns: dict[str, Array] = {}
        for s in self.compute(names or self._default_names()):
            if s.ndim == 1:
                columns[s.name] = s.to_numpy()
            else:
                parts = self.quantities.find(s.name)[0].components
                flat = s.to_numpy().reshape(len(self.time), -1)
                columns.update({f"{s.name}.{c}": flat[:, i] for i, c in enumerate(parts)})
        return columns

    def save(self, path: Any) -> None:
        """Write everything into one compressed file, `path`; see :func:`bellcrank.load_result`."""
        from bellcrank.result.storage import save

        save(self, path)

    def plot(self, *names: str, path: Any = None, library: str = "matplotlib") -> Any:
        """Curves of the quantities `names` over time: the figure of a library, saved where a path is given.

        library: "matplotlib", or "plotly" for curves to zoom into.
        """
        return provided("plot")(self, names, path, library)

    def html(
        self,
        path: Any,
        quantities: Sequence[str] | None = None,
        magnified: float = 1.0,
        traces: Sequence[str] = (),
    ) -> None:
        """Write an animation with curves of quantities into `path`, one self-contained HTML file.

        magnified: Factor on the deformation of flexible bodies. traces: Points whose paths are drawn, as quantities
        name them: ``"rod"``, ``"rod.center"``, ``"rod.point(1, 0, 0)"``.
        """
        provided("animation")(self, path, quantities, magnified, traces)

    def picture(
        self,
        path: Any,
        at: float | None = None,
        size: tuple[int, int] = (1600, 1000),
        *,
        view: str | Sequence[float] | None = None,
        orthographic: bool | None = None,
        section: tuple[str, float] | None = None,
        arrows: Sequence[str] = (),
        traces: Sequence[str] = (),
        magnified: float = 1.0,
    ) -> None:
        """Write a picture of the mechanism into `path` (PNG, JPEG, TIFF, PDF), for a paper.

        at: Time [s]; the start where None. size: Width and height [px]. view: "+x" to "-z", or a direction towards the
        eye; as the animation where None. orthographic: Whether parallel lines stay so; those of plane mechanisms do
        where None. section: Such as ("x", 0.1): nothing beyond 0.1 m is drawn. arrows: Kinds of "force", "reaction",
        "velocity". traces: Points whose paths are drawn. magnified: Factor on the deformation of flexible bodies.
        """
        provided("picture")(
            self,
            path,
            at,
            size,
            view=view,
            orthographic=orthographic,
            section=section,
            arrows=arrows,
            traces=traces,
            magnified=magnified,
        )

    def video(
        self,
        path: Any,
        size: tuple[int, int] = (1280, 720),
        fps: float = 30.0,
        speed: float | None = None,
        *,
        view: str | Sequence[float] | None = None,
        orthographic: bool | None = None,
        section: tuple[str, float] | None = None,
        arrows: Sequence[str] = (),
        traces: Sequence[str] = (),
        magnified: float = 1.0,
    ) -> None:
        """Write a film of the run into `path` (MP4, MOV, WebM, GIF).

        size: Width and height [px]. fps: Frames a second. speed: Simulated seconds in a second; where None real time,
        or slower so that the film takes some seconds. view, orthographic, section, arrows, traces and magnified as of
        :meth:`picture`.
        """
        provided("video")(
            self,
            path,
            size,
            fps,
            speed,
            view=view,
            orthographic=orthographic,
            section=section,
            arrows=arrows,
            traces=traces,
            magnified=magnified,
        )

    def gltf(self, path: Any, magnified: float = 1.0) -> None:
        """Write the mechanism and its motion into `path`, a binary glTF file (.glb), for presentations and viewers.

        magnified: Factor on the deformation of flexible bodies.
        """
        provided("gltf")(self, path, magnified)

    def _repr_html_(self) -> str:
        """In a notebook: the animation, in place."""
        page: str = provided("animation in place")(self)
        return page

    def view(
        self,
        quantities: Sequence[str] | None = None,
        *,
        browser: bool | None = None,
        magnified: float = 1.0,
        traces: Sequence[str] = (),
        host: str = "127.0.0.1",
        port: int = 0,
    ) -> Viewer:
        """Open the web viewer on this result; see :class:`bellcrank.view.live.Viewer`.

        Returns the viewer: a notebook shows it in place, a script ends with ``result.view().wait()``. quantities: Whose
        curves to show at first. browser: Whether to open one (default: outside of notebooks). magnified: Factor on the
        deformation of flexible bodies. traces: Points whose paths are drawn. host, port: Where it listens; this machine
        alone, any free port.
        """
        viewer: Viewer = provided("viewer")(
            self, quantities=quantities, magnified=magnified, traces=traces, host=host, port=port
        )
        viewer.open(browser)
        return viewer

    def report(self, path: Any, quantities: Sequence[str] | None = None) -> None:
        """Write a report of the run into `path`, ready to print, one self-contained HTML file.

        quantities: Whose curves to draw; a choice where None.
        """
        provided("report")(self, path, quantities)

    def cite(self) -> list[str]:
        """The sources of the methods this run used."""
        sources: list[str] = provided("citations")(self)
        return sources


def _listed(names: Sequence[str | Sequence[str]]) -> list[str]:
    """Names given one by one or as lists."""
    return [n for given in names for n in ([given] if isinstance(given, str) else given)]
