"""Pictures of studies with matplotlib: every axis carries its name and unit."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bellcrank.base.optional import needed
from bellcrank.errors import BellcrankError, ModelError, unknown_name
from bellcrank.study.designs import OneAtATime
from bellcrank.view.curves import COLOURS, pretty
from bellcrank.view.plots import FAINT, INK

if TYPE_CHECKING:
    from bellcrank.study.optimise import Optimum
    from bellcrank.study.outcome import Outcome
    from bellcrank.study.sensitivity import Indices

Array = NDArray[np.float64]
Path = str | PathLike[str] | None
BROKEN = "#c9ced4"
"""Colour of runs that break a constraint."""
MOST_LINES = 40
"""Lines in one picture; beyond them runs are dots."""


def plot(outcome: Outcome, kind: str, names: Sequence[str], path: Path = None) -> Any:
    """A figure of a study; see :meth:`bellcrank.study.outcome.Outcome.plot`."""
    kinds: dict[str, Callable[..., Any]] = {
        "response": response,
        "surface": surface,
        "scatter": scatter,
        "tornado": tornado,
        "convergence": convergence,
    }
    if kind not in kinds:
        raise unknown_name("kind of picture", kind, kinds)
    if not outcome.done.any():
        raise BellcrankError(f"study {outcome.study.name!r} has no finished run to draw")
    for name in names:
        outcome[name]
    return kinds[kind](outcome, *names, path=path)


def response(outcome: Outcome, *names: str, path: Path = None) -> Any:
    """Measures (rows) over variables (columns). names: any of both; all where none is named.

    Where the other variables keep to few values, runs that share them are joined by a line; else runs are dots.
    """
    variables = [n for n in names if n in outcome.variables] or list(outcome.variables)
    measures = [n for n in names if n in outcome.measures] or list(outcome.measures)
    figure, axes = _figure(len(measures), len(variables), (3.1, 2.4), outcome.study.name)
    for row, m in enumerate(measures):
        for column, v in enumerate(variables):
            axis = axes[row, column]
            _curves(axis, outcome, v, m)
            below = _label(outcome, v) if row == len(measures) - 1 else ""
            _finish(axis, below, "" if column else _label(outcome, m))
    if len(outcome.variables) == 2:
        for column, v in enumerate(variables):
            other = next(n for n in outcome.variables if n != v)
            _key(figure, axes[:, column], outcome, other)
    if not outcome.feasible[outcome.done].all():
        axes[0, 0].plot([], [], ".", color=BROKEN, label="breaks a constraint")
        axes[0, 0].legend(frameon=False, fontsize=8, loc="lower left", bbox_to_anchor=(0.0, 1.0))
    return _saved(figure, path)


def _key(figure: Any, axes: Any, outcome: Outcome, name: str) -> None:
    """What the colours of the lines mean, where there are lines."""
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import ListedColormap, Normalize

    values = np.unique(outcome[name][outcome.done])
    if not 1 < len(values) <= MOST_LINES or len(values) == len(outcome):
        return
    colours = ListedColormap(_shades(64))
    shown = ScalarMappable(Normalize(values[0], values[-1]), colours)
    bar = figure.colorbar(shown, ax=axes[0], location="top", aspect=30, shrink=0.9)
    bar.set_label(_label(outcome, name), color=INK, fontsize=8)
    bar.ax.tick_params(colors=INK, labelsize=7.5)


def _curves(axis: Any, outcome: Outcome, variable: str, measure: str) -> None:
    x, y = outcome[variable][outcome.done], outcome[measure][outcome.done]
    good = outcome.feasible[outcome.done]
    others = [outcome[n][outcome.done] for n in outcome.variables if n != variable]
    keys = [tuple(values) for values in zip(*others, strict=True)] if others else [()] * len(x)
    groups = list(dict.fromkeys(keys))
    few = len(groups) <= MOST_LINES
    groups.sort()
    together = np.array([groups.index(k) for k in keys]) if few else np.arange(len(x))
    lines = [g for g in range(len(groups)) if few and (together == g).sum() > 1]
    if lines and len(others) == 1:
        # Coloured by the value of the one other variable.
        at = np.array([groups[g][0] for g in lines])
        shades = _shades(64)
        place = 63 * (at - others[0].min()) / (np.ptp(others[0]) or 1.0)
        colours = [shades[round(float(k))] for k in place]
    else:
        colours = _shades(len(lines))
    for colour, g in zip(colours, lines, strict=True):
        mine = np.flatnonzero(together == g)
        mine = mine[np.argsort(x[mine])]
        axis.plot(x[mine], y[mine], color=colour, linewidth=1.3, zorder=2)
    axis.plot(x[~good], y[~good], ".", color=BROKEN, markersize=4, zorder=3)
    axis.plot(x[good], y[good], ".", color=COLOURS[0], markersize=4 if len(x) < 2000 else 1.5, zorder=4)


def _shades(count: int) -> list[Any]:
    from matplotlib import colormaps

    return [colormaps["viridis"](0.1 + 0.8 * k / max(count - 1, 1)) for k in range(count)]


def surface(outcome: Outcome, *names: str, path: Path = None) -> Any:
    """A measure over two variables as a map of levels. names: variable, variable, measure.

    On a full grid of just these two the map goes through the grid, else between the scattered runs. Where a third
    variable varies as well, its values mix in the picture: name the two that count, keep the rest fixed.
    """
    variables = [n for n in names if n in outcome.variables] or list(outcome.variables)[:2]
    measures = [n for n in names if n in outcome.measures] or list(outcome.measures)[:1]
    if len(variables) != 2:
        raise ModelError(
            "a surface needs two variables; name them: plot('surface', 'stiffness', 'damping', 'comfort')"
        )
    figure, axes = _figure(1, len(measures), (4.6, 3.6), outcome.study.name)
    x, y = (outcome[v][outcome.done] for v in variables)
    for axis, m in zip(axes[0], measures, strict=True):
        z = outcome[m][outcome.done]
        _levels(axis, x, y, z, _label(outcome, m), figure)
        bad = ~outcome.feasible[outcome.done]
        if bad.any():
            axis.plot(x[bad], y[bad], "x", color="#c14a4f", markersize=4, label="breaks a constraint")
            axis.legend(loc="lower left", bbox_to_anchor=(0.0, 1.0), frameon=False, fontsize=8.5)
        _finish(axis, _label(outcome, variables[0]), _label(outcome, variables[1]), grid=False)
    return _saved(figure, path)


def _levels(axis: Any, x: Array, y: Array, z: Array, label: str, figure: Any) -> None:
    ux, uy = np.unique(x), np.unique(y)
    if len(ux) < 2 or len(uy) < 2:
        raise ModelError("a surface needs two different values of each variable at least")
    flat = np.ptp(z) <= 1e-12 * np.abs(z).max(initial=0.0)
    levels: Any = [z.min() - 1e-12, z.max() + 1e-12] if flat else 16
    if len(ux) * len(uy) == len(x):
        order = np.lexsort((x, y))
        drawn = axis.contourf(ux, uy, z[order].reshape(len(uy), len(ux)), levels=levels, cmap="viridis")
    elif len(x) < 4:
        raise ModelError("a surface needs four runs at least")
    else:
        # Triangles between runs are found in scaled coordinates: units differ by orders of magnitude.
        from matplotlib.tri import Triangulation

        a, b = ((v - v.min()) / np.ptp(v) for v in (x, y))
        triangles = Triangulation(a, b).triangles
        drawn = axis.tricontourf(Triangulation(x, y, triangles), z, levels=levels, cmap="viridis")
        axis.plot(x, y, ".", color="white", markersize=1.5, alpha=0.6)
    bar = figure.colorbar(drawn, ax=axis)
    bar.set_label(label, color=INK)
    bar.ax.tick_params(colors=INK, labelsize=8.5)


def scatter(outcome: Outcome, *names: str, path: Path = None) -> Any:
    """A matrix of scatter plots of columns, with histograms on its diagonal and correlations of ranks above it."""
    from scipy.stats import rankdata

    chosen = list(names) or [*outcome.variables, *outcome.measures]
    if not 2 <= len(chosen) <= 12:
        raise ModelError(f"a scatter matrix takes 2 to 12 columns, not {len(chosen)}; name them")
    n = len(chosen)
    figure, axes = _figure(n, n, (1.75, 1.6), outcome.study.name)
    done = outcome.done
    good = outcome.feasible[done]
    columns = {name: outcome[name][done] for name in chosen}
    for i, b in enumerate(chosen):
        for j, a in enumerate(chosen):
            axis = axes[i, j]
            x, y = columns[a], columns[b]
            if i == j:
                axis.hist(x, bins=min(30, max(5, int(np.sqrt(len(x))))), color=COLOURS[0], alpha=0.8)
                axis.set_yticks([])
            elif i > j:
                axis.plot(x[~good], y[~good], ".", color=BROKEN, markersize=2.5)
                axis.plot(x[good], y[good], ".", color=COLOURS[0], markersize=2.5, alpha=0.7)
            else:
                constant = np.ptp(x) == 0.0 or np.ptp(y) == 0.0
                r = 0.0 if constant else float(np.corrcoef(rankdata(x), rankdata(y))[0, 1])
                colour = COLOURS[3] if r > 0 else COLOURS[0]
                axis.text(0.5, 0.5, f"{r:+.2f}", transform=axis.transAxes, ha="center", va="center",
                          color=colour, alpha=0.35 + 0.65 * abs(r), fontsize=8 + 5 * abs(r))  # fmt: skip
            _finish(
                axis,
                _label(outcome, a) if i == n - 1 else "",
                _label(outcome, b) if j == 0 else "",
                grid=i > j,
            )
            axis.tick_params(labelsize=6.5, labelbottom=i == n - 1, labelleft=j == 0 and i > 0)
            axis.xaxis.label.set_size(7.5)
            axis.yaxis.label.set_size(7.5)
            if i < j:
                axis.set_axis_off()
    figure.align_ylabels(list(axes[:, 0]))
    figure.align_xlabels(list(axes[-1]))
    return _saved(figure, path)


def tornado(outcome: Outcome, *names: str, path: Path = None) -> Any:
    """How far each variable alone moves each measure, the widest on top; for designs of one at a time."""
    if not isinstance(outcome.study.design, OneAtATime):
        raise ModelError("a tornado is drawn from a design of one at a time: design=OneAtATime()")
    measures = [n for n in names if n in outcome.measures] or list(outcome.measures)
    variables = list(outcome.variables)
    figure, axes = _figure(1, len(measures), (4.6, 1.1 + 0.38 * len(variables)), outcome.study.name)
    for axis, m in zip(axes[0], measures, strict=True):
        _tornado(axis, outcome, m)
    return _saved(figure, path)


def _tornado(axis: Any, outcome: Outcome, measure: str) -> None:
    design = outcome.study.design
    assert isinstance(design, OneAtATime)
    by_row = dict(zip(outcome.rows.tolist(), outcome[measure].tolist(), strict=True))
    if not np.isfinite(by_row.get(0, np.nan)):
        raise BellcrankError(
            "the run in the middle of the design failed or is not there yet; a tornado needs it"
        )
    middle, bars = by_row[0], []
    for k, name in enumerate(outcome.variables):
        rows = range(1 + k * design.levels, 1 + (k + 1) * design.levels)
        values = np.array([by_row.get(r, np.nan) for r in rows])
        if np.isfinite(values).any():
            ends = outcome.study.table[name][[rows[0], rows[-1]]]
            bars.append((name, values, ends))
    bars.sort(key=lambda bar: float(np.nanmax(bar[1]) - np.nanmin(bar[1])))
    for place, (_, values, ends) in enumerate(bars):
        for value, end, colour in zip(values[[0, -1]], ends, COLOURS[:2], strict=True):
            if np.isfinite(value):
                axis.barh(place, value - middle, left=middle, color=colour, height=0.62, zorder=2)
                right = value >= middle
                axis.annotate(f"{end:.5g}", (value, place), (3 if right else -3, 0), textcoords="offset points",
                              va="center", ha="left" if right else "right", fontsize=7.5, color=INK)  # fmt: skip
        # Levels between the ends may reach farther than these.
        axis.plot([np.nanmin(values), np.nanmax(values)], [place, place], color=INK, linewidth=1.0, zorder=3)
    axis.axvline(middle, color=INK, linewidth=0.9, zorder=4)
    axis.set_yticks(range(len(bars)), [_label(outcome, name) for name, _, _ in bars])
    axis.margins(x=0.18)
    _finish(axis, _label(outcome, measure), "")


def convergence(outcome: Outcome, *names: str, path: Path = None) -> Any:
    """The mean of each measure over the first runs, with its 95 % interval for independent draws."""
    measures = [n for n in names if n in outcome.measures] or list(outcome.measures)
    figure, axes = _figure(len(measures), 1, (7.0, 2.0), outcome.study.name)
    for axis, m in zip(axes[:, 0], measures, strict=True):
        y = outcome[m][outcome.done]
        n = np.arange(1, len(y) + 1)
        mean = np.cumsum(y) / n
        # Deviations from the last mean keep the digits of a small spread.
        off = y - mean[-1]
        spread = np.sqrt(
            np.maximum(np.cumsum(off**2) / n - (np.cumsum(off) / n) ** 2, 0.0) / np.maximum(n - 1, 1)
        )
        shown = n >= min(8, len(n))
        axis.fill_between(n[shown], (mean - 1.96 * spread)[shown], (mean + 1.96 * spread)[shown],
                          color=COLOURS[0], alpha=0.2, linewidth=0, label="95 %")  # fmt: skip
        axis.plot(n[shown], mean[shown], color=COLOURS[0], linewidth=1.5, label="mean")
        axis.legend(frameon=False, fontsize=8.5, loc="upper right", ncols=2)
        _finish(axis, "runs" if m == measures[-1] else "", _label(outcome, m))
    return _saved(figure, path)


def search(optimum: Optimum, path: Path = None) -> Any:
    """How an optimisation went: objective, limited measures and variables over the points that were computed."""
    study, history = optimum.study, optimum.history
    assert study.objective is not None
    rows = [
        study.objective,
        *(name for name in study.constraints if name != study.objective),
        *study.variables,
    ]
    figure, axes = _figure(len(rows), 1, (7.0, 1.5), study.name)
    n = np.arange(1, len(history) + 1)
    sign = -1.0 if study.maximise else 1.0
    measured: Mapping[str, Array] = {
        name: np.array([e.measures[name] for e in history]) for name in study.measures
    }
    kept = np.isfinite(measured[study.objective])
    for name, limit in study.constraints.items():
        kept &= limit.holds(measured[name], 1e-6 * max(abs(x) for x in limit.as_data().values()))
    for axis, name in zip(axes[:, 0], rows, strict=True):
        if name in measured:
            y = measured[name]
        else:
            y = np.array([e.point[list(study.variables).index(name)] for e in history])
        axis.plot(n[~kept], y[~kept], ".", color=BROKEN, markersize=5)
        axis.plot(n[kept], y[kept], ".", color=COLOURS[0], markersize=5)
        if name == study.objective:
            best = sign * np.minimum.accumulate(np.where(kept, sign * y, np.inf))
            axis.plot(
                n,
                np.where(np.isfinite(best), best, np.nan),
                color=COLOURS[1],
                linewidth=1.3,
                label="best so far",
            )
            axis.legend(frameon=False, fontsize=8.5, loc="upper right")
        for end in study.constraints[name].as_data().values() if name in study.constraints else ():
            axis.axhline(end, color=COLOURS[3], linewidth=1.0, linestyle=(0, (4, 3)))
        _finish(axis, "points" if name == rows[-1] else "", _named(name, study.units[name]))
    figure.align_ylabels(list(axes[:, 0]))
    return _saved(figure, path)


def indices(found: Indices, measure: str, path: Path = None) -> Any:
    """Bars of Sobol's indices of one measure, with their intervals."""
    figure, axes = _figure(1, 1, (6.0, 1.2 + 0.4 * len(found.variables)), measure)
    axis = axes[0, 0]
    order = sorted(found.variables, key=lambda v: found.total[measure][v])
    places = np.arange(len(order))
    for shift, values, errors, label, colour in (
        (0.18, found.first, found.first_error, "first order", COLOURS[0]),
        (-0.18, found.total, found.total_error, "total", COLOURS[1]),
    ):
        axis.barh(
            places + shift, [values[measure][v] for v in order], height=0.34, color=colour, label=label,
            xerr=[errors[measure][v] for v in order], error_kw={"elinewidth": 1.0, "ecolor": INK},
        )  # fmt: skip
    axis.set_yticks(places, [_plain(v) for v in order])
    axis.legend(frameon=False, fontsize=8.5, loc="lower right")
    _finish(axis, f"share of the variance of {measure}", "")
    return _saved(figure, path)


def _figure(rows: int, columns: int, size: tuple[float, float], title: str) -> tuple[Any, Any]:
    figures = needed("matplotlib.figure", "a plot", "matplotlib", "view")
    figure = figures.Figure(
        figsize=(size[0] * columns + 0.7, size[1] * rows + 0.7), dpi=150, layout="constrained"
    )
    figure.suptitle(_plain(title), x=0.01, ha="left", fontsize=11, color=INK, weight="bold")
    return figure, figure.subplots(rows, columns, squeeze=False)


def _finish(axis: Any, below: str, beside: str, grid: bool = True) -> None:
    axis.set_xlabel(below, color=INK, fontsize=9)
    axis.set_ylabel(beside, color=INK, fontsize=9)
    if grid:
        axis.grid(True, color=FAINT, linewidth=0.6)
        axis.set_axisbelow(True)
    axis.tick_params(colors=INK, labelsize=8.5, length=3)
    for side, spine in axis.spines.items():
        spine.set_visible(side in ("left", "bottom"))
        spine.set_color("#8c959f")


def _label(outcome: Outcome, name: str) -> str:
    return _named(name, outcome.units[name])


def _named(name: str, unit: str) -> str:
    return f"{_plain(name)} [{pretty(unit)}]" if unit else _plain(name)


def _plain(text: str) -> str:
    return text.replace("$", r"\$")


def _saved(figure: Any, path: Path) -> Any:
    if path is not None:
        figure.savefig(path)
    return figure


__all__ = ["convergence", "indices", "plot", "response", "scatter", "search", "surface", "tornado"]
