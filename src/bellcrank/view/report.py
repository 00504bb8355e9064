"""A report of a run: one HTML file to read, print and send."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from bellcrank.base.version import __version__
from bellcrank.errors import ModelError
from bellcrank.view.citations import cite
from bellcrank.view.curves import default_names, marks, panels, pretty
from bellcrank.view.pages import policy, template, text
from bellcrank.view.scene import scene
from bellcrank.view.svg import chart, mechanism

if TYPE_CHECKING:
    from bellcrank.result.result import Result

POSITION_LIMIT, VELOCITY_LIMIT = 1e-10, 1e-9
"""What the constraints are held to, at every output."""
POINTS = 1000


def report(result: Result, path: str | PathLike[str], quantities: Sequence[str] | None = None) -> None:
    """Write the report of a result, with curves of quantities (a choice where None)."""
    Path(path).write_text(page(result, quantities), encoding="utf-8")


def page(result: Result, quantities: Sequence[str] | None = None) -> str:
    """The text of the report."""
    if not len(result):
        raise ModelError("the result has no outputs: there is nothing to report")
    name = result.mechanism.system.name
    parts = [
        "<!doctype html>",
        '<html lang="en"><head><meta charset="utf-8">',
        f'<meta http-equiv="Content-Security-Policy" content="{text(policy())}">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<title>{text(name)}: report</title><style>{template('report.css')}</style></head><body>",
        *_head(result),
        *_curves(result, quantities),
        *_events(result),
        *_impacts(result),
        *_energy(result),
        *_constraints(result),
        *_topology(result),
        *_run(result),
        *_methods(result),
        f"<footer>Bellcrank {text(__version__)}, "
        f"{datetime.now(UTC).strftime('%Y-%m-%d %H:%M')} UTC</footer></body></html>",
    ]
    return "\n".join(parts)


def _head(result: Result) -> Iterable[str]:
    m, run = result.mechanism, result.run
    duration = float(result.time[-1] - result.time[0])
    yield f"<h1>{text(m.system.name)}</h1>"
    yield f'<p class="lead">A run of {duration:g} s, {len(result)} outputs: {text(_ending(run.status))}.</p>'
    drawn = scene(result, 60)
    yield f"<figure>{mechanism(drawn)}<figcaption>The mechanism at {drawn.time[0]:g} s.</figcaption></figure>"
    figures = [
        (str(len(m.system.bodies)), "bodies"),
        (
            str(m.degrees_of_freedom),
            "degree of freedom" if m.degrees_of_freedom == 1 else "degrees of freedom",
        ),
        (str(m.constraints), f"loop equations, {len(m.dropped)} redundant"),
        (f"{m.traced(run.formulation).count().total:,}", "operations an evaluation"),
        (f"{run.steps:,}", "steps"),
        (f"{run.evaluations:,}", "evaluations"),
        (_seconds(run.seconds), "wall time of the run"),
        (_times(duration / run.seconds) if run.seconds > 0 else "-", "faster than real time"),
    ]
    yield '<div class="figures">'
    yield from (f"<div><b>{text(value)}</b><span>{text(what)}</span></div>" for value, what in figures)
    yield "</div>"


def _ending(status: str) -> str:
    known = {
        "done": "it reached its end",
        "event": "ended by an event",
        "interrupted": "interrupted",
        "unfinished": "not finished",
    }
    return known.get(status, f"stopped, {status.replace('_', ' ')}")


def _seconds(seconds: float) -> str:
    for factor, unit in ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs")):
        if seconds >= factor:
            return f"{seconds / factor:.3g} {unit}"
    return f"{seconds / 1e-9:.3g} ns"


def _times(factor: float) -> str:
    return f"{factor:,.0f} ×" if factor >= 10 else f"{factor:.2g} ×"


def _topology(result: Result) -> Iterable[str]:
    m = result.mechanism
    yield '<section class="topology"><h2>Topology</h2>'
    yield f"<pre>{text(m)}</pre></section>"


def _curves(result: Result, quantities: Sequence[str] | None) -> Iterable[str]:
    names = default_names(result) if quantities is None else list(quantities)
    if not names:
        return
    yield "<section><h2>Curves</h2></section>"
    shown = panels(result, names, POINTS)
    events, impacts = marks(result)
    yield from (chart(p, [*events, *impacts]) for p in shown)
    yield "<table><tr><th>quantity</th><th class=n>start</th><th class=n>end</th><th class=n>least</th>"
    yield "<th class=n>greatest</th><th>unit</th></tr>"
    for panel in panels(result, names):
        for c in panel.curves:
            numbers = (c.values[0], c.values[-1], c.values.min(), c.values.max())
            cells = "".join(f"<td class=n>{_number(x)}</td>" for x in numbers)
            yield f"<tr><td>{text(c.name)}</td>{cells}<td>{text(pretty(panel.unit))}</td></tr>"
    yield "</table>"


def _number(x: float) -> str:
    return text(f"{x:.6g}")


def _energy(result: Result) -> Iterable[str]:
    ledger = result.ledger
    rows = [
        ("kinetic energy", ledger.kinetic[-1] - ledger.kinetic[0]),
        ("energy of the weights", ledger.gravity[-1] - ledger.gravity[0]),
        ("energy stored in springs", ledger.stored[-1] - ledger.stored[0]),
        ("less work of drivers", 0.0 - ledger.drivers[-1]),
        ("less work of dampers and applied loads", 0.0 - ledger.forces[-1]),
    ]
    yield "<section><h2>Energy ledger</h2><table><tr><th>change from start to end</th><th class=n>J</th></tr>"
    yield from (f"<tr><td>{text(what)}</td><td class=n>{_number(value)}</td></tr>" for what, value in rows)
    yield f'<tr class="sum"><td>left over</td><td class=n>{_number(ledger.residual[-1])}</td></tr></table>'
    yield (
        f'<p class="note">The largest remainder at any output is {ledger.relative_residual:.1e} of the energy at play. '
        "It holds the error of the integration and that of adding up powers over the outputs.</p></section>"
    )


def _constraints(result: Result) -> Iterable[str]:
    yield "<section><h2>Constraints</h2>"
    if not result.mechanism.constraints:
        yield "<p>The mechanism is open: it has no constraint equations.</p></section>"
        return
    position, velocity = result.compute(["constraints.position", "constraints.velocity"])
    rows = [
        ("position [m or rad]", float(np.max(position)), POSITION_LIMIT),
        ("velocity [m/s or rad/s]", float(np.max(velocity)), VELOCITY_LIMIT),
    ]
    yield "<table><tr><th>largest residual at any output</th><th class=n>found</th>"
    yield "<th class=n>allowed</th><th></th></tr>"
    for what, found, limit in rows:
        mark = '<span class="ok">held</span>' if found <= limit else '<span class="bad">exceeded</span>'
        yield f"<tr><td>{what}</td><td class=n>{found:.2e}</td><td class=n>{limit:.0e}</td><td>{mark}</td></tr>"
    yield "</table></section>"


def _events(result: Result) -> Iterable[str]:
    if not result.events:
        return
    yield f"<section><h2>Events</h2><p>{len(result.events)} in all.</p>"
    yield "<table><tr><th class=n>time [s]</th><th>event</th></tr>"
    for e in result.events[:40]:
        yield f"<tr><td class=n>{e.time:.9g}</td><td>{text(e.name)}</td></tr>"
    yield "</table></section>"


def _impacts(result: Result) -> Iterable[str]:
    if not len(result.impacts):
        return
    lost = f"{result.impacts.energy_lost:.6g} J lost"
    yield f"<section><h2>Impacts</h2><p>{len(result.impacts)} in all, {lost}.</p>"
    yield "<table><tr><th class=n>time [s]</th><th>contact</th><th class=n>impulse [N s]</th>"
    yield "<th class=n>speed before [m/s]</th><th class=n>after [m/s]</th><th class=n>energy lost [J]</th></tr>"
    for row in result.impacts[:40].rows():
        numbers = "".join(f"<td class=n>{_number(row[k])}</td>" for k in (4, 6, 7, 8))
        yield f"<tr><td class=n>{row[0]:.9g}</td><td>{text(row[1])}</td>{numbers}</tr>"
    yield "</table></section>"


def _run(result: Result) -> Iterable[str]:
    run, m = result.run, result.mechanism
    each = run.seconds / run.evaluations if run.evaluations else 0.0
    rows = [
        ("integrator", run.method),
        ("formulation", run.formulation),
        ("steps, accepted and rejected", f"{run.steps:,} and {run.rejected:,}"),
        ("evaluations of the equations of motion", f"{run.evaluations:,}"),
        ("wall time", _seconds(run.seconds)),
        ("wall time an evaluation, everything included", _seconds(each) if each else "-"),
        ("changes of the independent coordinates", str(len(run.repartitions))),
        ("changes of the integrator", ", ".join(f"{n} at {t:.4g} s" for t, n in run.switches[1:]) or "none"),
        *((f"parameter {name}", _parameter(result, k)) for k, name in enumerate(m.system.parameters)),
    ]
    yield "<section><h2>The run</h2><table>"
    yield from (f"<tr><td>{text(what)}</td><td>{text(value)}</td></tr>" for what, value in rows)
    yield "</table></section>"


def _parameter(result: Result, column: int) -> str:
    values = result.parameters[:, column]
    unit = list(result.mechanism.system.parameters.values())[column].unit
    low, high = float(values.min()), float(values.max())
    shown = f"{low:.6g}" if low == high else f"{low:.6g} to {high:.6g}"
    return f"{shown} {pretty(unit)}".strip()


def _methods(result: Result) -> Iterable[str]:
    yield "<section><h2>Methods and their sources</h2><ol>"
    yield from (f"<li>{text(source)}</li>" for source in cite(result))
    yield "</ol></section>"
