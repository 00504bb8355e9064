"""Curves and reports of runs of elastic contact."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bellcrank.base.version import __version__
from bellcrank.elastic.body import ElasticBody
from bellcrank.elastic.lattices import Array
from bellcrank.elastic.obstacles import RigidPlane
from bellcrank.elastic.triangles import triangles
from bellcrank.view.curves import Panel, grouped, pretty
from bellcrank.view.pages import policy, template, text

if TYPE_CHECKING:
    from bellcrank.elastic.result import ElasticResult

POINTS = 1000


def default_names(result: ElasticResult) -> list[str]:
    """What to show where nothing was asked for: forces and energies."""
    forces = [f"{name}.force" for name in result.contact_names]
    return [*forces, "energy.kinetic", "energy.strain", "energy.total"]


def shown(
    result: ElasticResult, names: Sequence[str] | None = None, points: int | None = None
) -> list[Panel]:
    """Series as panels, vectors taken apart."""
    columns: list[tuple[str, str, Array]] = []
    for name in dict.fromkeys(names or default_names(result)):
        series = result[name]
        values = np.asarray(series)
        if values.ndim == 1:
            columns.append((name, series.unit, values))
        else:
            columns += [
                (f"{name}.{letter}", series.unit, values[:, k])
                for k, letter in enumerate("xyz"[: values.shape[1]])
            ]
    return grouped(result.time, columns, points)


def plot(result: ElasticResult, names: Sequence[str] = (), path: str | Path | None = None) -> Any:
    """Series over time; the matplotlib figure."""
    from bellcrank.view.plots import stacked

    return stacked(shown(result, names), result.name, result.time, path)


def report(result: ElasticResult, quantities: Sequence[str] | None = None) -> str:
    """The text of the report."""
    from bellcrank.view.svg import chart

    panels = shown(result, quantities, POINTS)
    parts = [
        "<!doctype html>",
        '<html lang="en"><head><meta charset="utf-8">',
        f'<meta http-equiv="Content-Security-Policy" content="{text(policy())}">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<title>{text(result.name)}: report</title><style>{template('report.css')}</style></head><body>",
        *_head(result),
        "<section><h2>Curves</h2></section>",
        *(chart(p) for p in panels),
        *_table("quantity", _extremes(result, quantities), ("start", "end", "least", "greatest", "unit")),
        "<section><h2>Contacts</h2></section>",
        *_table("contact", _contacts(result), ("peak force [N]", "at [s]", "first [s]", "last [s]", "roughness")),
        "<section><h2>Bodies</h2></section>",
        *_table("body", _bodies(result), ("analysis", "element", "nodes", "mass [kg]", "final velocity [m/s]")),
        *_energy(result),
        *_run(result),
        f"<footer>Bellcrank {text(__version__)}, "
        f"{datetime.now(UTC).strftime('%Y-%m-%d %H:%M')} UTC</footer></body></html>",
    ]  # fmt: skip
    return "\n".join(parts)


def _head(result: ElasticResult) -> Iterable[str]:
    run = result.run
    peak = max(result.peak(k)[0] for k in range(len(result.contacts)))
    frame = int(np.abs(result.frame_times - result.peak()[1]).argmin())
    yield f"<h1>{text(result.name)}</h1>"
    yield (
        f'<p class="lead">Elastic contact over {result.time[-1]:g} s, {run.steps:,} steps: {text(run.status)}.</p>'
    )
    yield (
        f"<figure>{picture(result, frame)}<figcaption>Von Mises stress at {result.frame_times[frame]:.4g} s, the "
        f"largest {_most(result, frame):.4g} Pa.</figcaption></figure>"
    )
    figures = [
        (f"{len(result.bodies)}", "bodies" if len(result.bodies) > 1 else "body"),
        (f"{run.unknowns:,}", "unknowns"),
        (f"{run.candidates:,}", "nodes that could touch"),
        (f"{peak:.5g} N", "largest contact force"),
        (f"{float(np.abs(result['energy.error']).max()):.1e}", "largest error of the energy"),
        (f"{run.preparation:.3g} s", "to prepare"),
        (f"{1e3 * run.seconds / max(run.steps, 1):.3g} ms", "a step"),
    ]
    yield '<div class="figures">'
    yield from (f"<div><b>{text(value)}</b><span>{text(what)}</span></div>" for value, what in figures)
    yield "</div>"
    if result.notes:
        yield "<section><h2>Notes</h2><ul>"
        yield from (f"<li>{text(note)}</li>" for note in result.notes)
        yield "</ul></section>"


def _most(result: ElasticResult, frame: int) -> float:
    return max(float(result.stress(frame, body.name).von_mises.max()) for body in result.bodies)


def picture(result: ElasticResult, frame: int, width: int = 760, height: int = 430) -> str:
    """The bodies at a kept time in stress colours, as SVG; solid ones from the front."""
    from bellcrank.view.stress import colours

    most = _most(result, frame) or 1.0
    drawn: list[tuple[Array, Array]] = []
    for body in result.bodies:
        flat, stress = _flat(result, body, frame)
        faces = triangles(body)
        if body.axisymmetric:
            flat, stress = np.vstack([flat, flat * np.array([-1.0, 1.0])]), np.tile(stress, 2)
        drawn.append((flat[faces], stress[faces].mean(axis=1)))
    everything = np.vstack([corners.reshape(-1, 2) for corners, _ in drawn])
    low, high = everything.min(axis=0), everything.max(axis=0)
    scale = 0.9 * min(width / max(high[0] - low[0], 1e-300), height / max(high[1] - low[1], 1e-300))
    middle = (low + high) / 2.0
    out = [f'<svg class="mechanism" viewBox="0 0 {width} {height}" role="img">']
    for corners, stress in drawn:
        shades = colours(stress / most)
        place = np.array([width / 2, height / 2]) + scale * (corners - middle) * np.array([1.0, -1.0])
        for triangle, (r, g, b) in zip(place, shades, strict=True):
            points = " ".join(f"{x:.1f},{y:.1f}" for x, y in triangle)
            shade = f"#{r:02x}{g:02x}{b:02x}"
            out.append(f'<polygon points="{points}" fill="{shade}" stroke="{shade}" stroke-width="0.6"/>')
    for contact in result.contacts:
        met = contact.against
        if isinstance(met, RigidPlane) and len(met.normal) == 2:
            n = np.asarray(met.normal, float) / np.linalg.norm(met.normal)
            at = np.asarray(met.point, float) + met.travel(float(result.frame_times[frame]), 2)
            along = np.array([-n[1], n[0]])
            centre = middle - n * float((middle - at) @ n)
            ends = [centre + s * float(np.ptp(everything, axis=0).max()) * along for s in (-0.8, 0.8)]
            (x1, y1), (x2, y2) = (
                np.array([width / 2, height / 2]) + scale * (e - middle) * np.array([1.0, -1.0]) for e in ends
            )
            out.append(
                f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="#57606a" stroke-width="2"/>'
            )
    return "".join([*out, "</svg>"])


def _flat(result: ElasticResult, body: ElasticBody, frame: int) -> tuple[Array, Array]:
    x = body.nodes + result.displacement(frame, body.name)
    return (x[:, [0, 2]] if body.dimension == 3 else x), result.stress(frame, body.name).von_mises


def _table(what: str, rows: Iterable[tuple[str, ...]], heads: Sequence[str]) -> Iterable[str]:
    yield f"<table><tr><th>{text(what)}</th>{''.join(f'<th class=n>{text(h)}</th>' for h in heads)}</tr>"
    for name, *cells in rows:
        yield f"<tr><td>{text(name)}</td>{''.join(f'<td class=n>{text(c)}</td>' for c in cells)}</tr>"
    yield "</table>"


def _extremes(result: ElasticResult, quantities: Sequence[str] | None) -> Iterable[tuple[str, ...]]:
    for panel in shown(result, quantities):
        for c in panel.curves:
            numbers = (c.values[0], c.values[-1], c.values.min(), c.values.max())
            yield (c.name, *(f"{x:.6g}" for x in numbers), pretty(panel.unit))


def _contacts(result: ElasticResult) -> Iterable[tuple[str, ...]]:
    for k, name in enumerate(result.contact_names):
        (force, at), (first, last) = result.peak(k), result.contact_duration(k)
        yield (name, *(f"{x:.6g}" for x in (force, at, first, last, result.roughness(k))))


def _bodies(result: ElasticResult) -> Iterable[tuple[str, ...]]:
    for body in result.bodies:
        velocity = ", ".join(f"{v:.5g}" for v in result.rebound_velocity(body.name))
        yield (
            body.name,
            body.analysis,
            body.element,
            f"{len(body.nodes):,}",
            f"{body.total_mass:.6g}",
            velocity,
        )


def _energy(result: ElasticResult) -> Iterable[str]:
    yield "<section><h2>Energy</h2></section>"
    rows = []
    for name in ("energy.kinetic", "energy.strain"):
        series = np.asarray(result[name])
        rows.append((f"change of {name.removeprefix('energy.')} energy", f"{series[-1] - series[0]:.6g}"))
    for name in ("load", "damping", "friction", "obstacle"):
        rows.append((f"work of {name}", f"{float(result[f'work.{name}'][-1]):.6g}"))
    yield from _table("", rows, ("J",))


def _run(result: ElasticResult) -> Iterable[str]:
    yield "<section><h2>Methods and their sources</h2><ol>"
    yield from (f"<li>{text(source)}</li>" for source in result.cite())
    yield "</ol></section>"
