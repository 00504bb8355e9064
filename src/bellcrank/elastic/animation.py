"""A film of deformed bodies, coloured by von Mises stress.

Solid bodies are drawn as they look from the front, by the facets that face it.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bellcrank.base.optional import needed
from bellcrank.elastic.body import ElasticBody
from bellcrank.elastic.lattices import Array
from bellcrank.elastic.obstacles import RigidPlane
from bellcrank.elastic.triangles import triangles
from bellcrank.errors import ModelError

if TYPE_CHECKING:
    from bellcrank.elastic.result import ElasticResult


def animate(
    run: ElasticResult,
    path: Path,
    *,
    scale: float = 1.0,
    rate: int = 15,
    width: float = 4.5,
    frames: int = 60,
) -> Path:
    """Write the film. scale: of displacements beyond the rigid motion. rate: frames a second. width: [inch]."""
    if path.suffix not in (".gif", ".html"):
        raise ModelError(f"a film is .gif or .html, not {path.suffix!r}")
    needed("matplotlib", "a film", "matplotlib", "view")
    from matplotlib import animation, rc_context
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    chosen = np.unique(np.linspace(0, len(run.frame_times) - 1, frames).round().astype(int))
    # One look at every frame first, so that colours and axes stay.
    drawn = [[_drawn(run, int(k), body, scale) for body in run.bodies] for k in chosen]
    top = max(max(float(s.max()) for _, s in frame) for frame in drawn) or 1.0
    everything = np.vstack([x for frame in drawn for x, _ in frame])
    low, high = everything.min(axis=0), everything.max(axis=0)
    span = high - low
    figure = Figure(figsize=(width, min(max(width * float(span[1] / span[0]), 2.5), 2.0 * width)))
    FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    cells_of = [triangles(body) for body in run.bodies]

    def draw(i: int) -> list[Any]:
        axes.clear()
        for (x, stress), cells in zip(drawn[i], cells_of, strict=True):
            shade = axes.tripcolor(
                x[:, 0], x[:, 1], cells, stress, vmin=0.0, vmax=top, shading="gouraud", cmap="viridis"
            )
        for contact in run.contacts:
            _draw_wall(axes, contact.against, float(run.frame_times[chosen[i]]))
        axes.set_xlim(low[0] - 0.03 * span[0], high[0] + 0.03 * span[0])
        axes.set_ylim(low[1] - 0.03 * span[1], high[1] + 0.03 * span[1])
        axes.set_aspect("equal")
        axes.set_title(f"t = {run.frame_times[chosen[i]]:.4g} s", fontsize=9)
        axes.tick_params(labelsize=7)
        return [shade]

    bar = figure.colorbar(draw(0)[0], ax=axes, shrink=0.8)
    bar.set_label("von Mises stress [Pa]", fontsize=8)
    bar.ax.tick_params(labelsize=7)
    film = animation.FuncAnimation(figure, draw, frames=len(chosen), interval=1000 / rate)
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.suffix == ".gif":
        film.save(path, writer=animation.PillowWriter(fps=rate), dpi=90)
    else:
        with rc_context({"animation.embed_limit": 50.0}):
            path.write_text(film.to_jshtml(fps=rate, default_mode="loop"), encoding="utf-8")
    return path


def _draw_wall(axes: Any, against: object, t: float) -> None:
    """The line of a plane, where the picture shows it edge on."""
    if not isinstance(against, RigidPlane):
        return
    d = len(against.point)
    shown = [0, d - 1]
    n = np.asarray(against.normal, float)[shown]
    at = (np.asarray(against.point, float) + against.travel(t, d))[shown]
    if np.linalg.norm(n) > 0.99 * np.linalg.norm(against.normal):
        axes.axline(at, at + np.array([-n[1], n[0]]), color="0.3", linewidth=1.5)


def _drawn(run: ElasticResult, frame: int, body: ElasticBody, scale: float) -> tuple[Array, Array]:
    """Positions in the plane of the picture and stress of all nodes."""
    u = run.displacement(frame, body.name)
    mean = body.node_masses @ u / body.total_mass
    if body.axisymmetric:
        mean[0] = 0.0
    x = body.nodes + mean + scale * (u - mean)
    stress = run.stress(frame, body.name).von_mises
    if body.axisymmetric:
        mirrored = x * np.array([-1.0, 1.0])
        return np.vstack([x, mirrored]), np.tile(stress, 2)
    return (x[:, [0, 2]] if body.dimension == 3 else x), stress
