"""Springs and dampers of the 22-body car made comfortable over the bump, with exact gradients.

The measure of comfort is the rms of the vertical acceleration of the chassis over the second of the bump run. Springs
keep the ride height: a softer one is longer, so that the car stands as before and every run begins in the same state.
Neither axle may travel farther than as built. The gradient is checked against differences of plain runs, the optimum
against all runs of a grid through it and against a method without gradients. Pictures go to a folder in the temporary
directory.
"""

import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from bellcrank.model import System
from bellcrank.study import Given, Grid, Limit, Study, Uniform
from bellcrank.study.evaluation import Evaluator
from bellcrank.verify.full_car import full_car_system
from bellcrank.verify.full_car_bump import rolling_start

LEFT = {"front": "FL_strut_spring_damper", "rear": "RL_spring_damper"}
MEASURES = {
    "comfort": "rms of chassis.acceleration.z",
    "front travel": f"range of {LEFT['front']}.length",
    "rear travel": f"range of {LEFT['rear']}.length",
}


def adjustable_car() -> tuple[System, Any]:
    """The car with stiffness and damping of each axle as parameters, and the state in which its runs begin."""
    built = full_car_system("bump").mechanism()
    balance = built.equilibrium()
    chosen: dict[str, Any] = {}

    def springs(system: System, item: dict[str, Any]) -> dict[str, Any]:
        axle = "front" if item["name"].startswith("F") else "rear"
        for what, unit in (("stiffness", "N/m"), ("damping", "N s/m")):
            name = f"{axle} {what}"
            if name not in chosen:
                chosen[name] = system.parameter(name, item[what], unit)
        standing = float(balance[f"{item['name']}.length"])
        force = item["stiffness"] * (standing - item["free_length"])
        k = chosen[f"{axle} stiffness"]
        return {"stiffness": k, "damping": chosen[f"{axle} damping"], "free_length": standing - force / k}

    return full_car_system("bump", springs=springs), rolling_start(built, speed=10.0)


def differences(study: Study, point: dict[str, float]) -> np.ndarray:
    """The gradient of the comfort by central differences of fourth order on plain runs."""
    steps = {name: 1e-3 * value for name, value in point.items()}
    rows = [{**point, name: point[name] + k * steps[name]} for name in point for k in (-2, -1, 1, 2)]
    table = Given({name: [row[name] for row in rows] for name in point})
    comfort = replace(study, design=table, constraints={}).run()["comfort"].reshape(-1, 4)
    return comfort @ [1.0, -8.0, 8.0, -1.0] / (12.0 * np.array([*steps.values()]))


def main() -> None:
    system, start = adjustable_car()
    built = {name: p.value for name, p in system.parameters.items()}
    study = Study(
        system,
        {name: Uniform(0.4 * value, 2.5 * value) for name, value in built.items()},
        MEASURES,
        1.0,
        name="suspension over the bump",
        start=start,
        objective="comfort",
        output=200,
    )
    as_built = replace(study, design=Given({name: [value] for name, value in built.items()})).run()
    study = replace(
        study,
        constraints={name: Limit(at_most=as_built[name][0]) for name in ("front travel", "rear travel")},
    )

    tight = replace(study, tolerance=1e-12)
    exact = Evaluator(tight, gradients=True).at(np.array([*built.values()]))[0].gradients
    assert exact is not None
    wrong = np.abs(exact["comfort"] / differences(tight, built) - 1.0).max()
    print(f"gradient of the comfort against differences: {wrong:.1e} relative")

    found = study.optimise(begin=built)
    print(f"{found.status} after {len(found.history)} runs with gradients")
    for name, value in found.variables.items():
        print(f"  {name}: {built[name]:g} -> {value:.6g} {study.units[name]}")
    for name, value in found.measures.items():
        print(f"  {name}: {as_built[name][0]:.6g} -> {value:.6g} {study.units[name]}")
    free = study.optimise(method="cobyqa", begin=built)
    apart = abs(free.measures["comfort"] / found.measures["comfort"] - 1.0)
    print(f"without gradients: {len(free.history)} runs, comfort {apart:.1e} apart")

    rear = {name: value for name, value in found.variables.items() if name.startswith("rear")}
    front = {name: d for name, d in study.variables.items() if name.startswith("front")}
    grid = replace(study, variables=front, fixed=rear, design=Grid(9), keep=("chassis.acceleration.z",)).run()
    folder = Path(tempfile.mkdtemp(prefix="suspension_"))
    draw(grid, found, as_built, study, folder)
    print(f"pictures in {folder}")

    assert wrong < 1e-6
    assert found.status == "converged"
    assert found.feasible
    assert found.measures["comfort"] < 0.8 * as_built["comfort"][0]
    assert found.measures["comfort"] <= grid.best()["comfort"] * (1.0 + 1e-6)
    assert apart < 1e-4


def draw(grid: Any, found: Any, as_built: Any, study: Study, folder: Path) -> None:
    """The comfort over springs and dampers of the front axle, the search, and the ride before and after."""
    from matplotlib.figure import Figure

    names = list(grid.variables)
    surface = grid.plot("surface", *names, "comfort")
    axis = surface.axes[0]
    axis.plot(*(as_built[n] for n in names), "o", color="#24292f", markersize=6, label="as built")
    axis.plot(*(found.variables[n] for n in names), "*", color="#e1792d", markersize=12, label="optimum")
    axis.legend(loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=3, frameon=False, fontsize=8.5)
    surface.savefig(folder / "surface.png")
    found.plot(folder / "search.png")
    both = {name: [as_built[name][0], found.variables[name]] for name in study.variables}
    rides = replace(study, design=Given(both), keep=("chassis.acceleration.z",)).run()
    figure = Figure(figsize=(8, 3), dpi=150, layout="constrained")
    axis = figure.subplots()
    before, after = rides.curves["chassis.acceleration.z"]
    axis.plot(rides.time, before, label="as built", color="#3b75af")
    axis.plot(rides.time, after, label="optimum", color="#e1792d")
    axis.set_xlabel("time [s]")
    axis.set_ylabel("chassis acceleration [m/s²]")
    axis.legend(frameon=False)
    axis.grid(alpha=0.3)
    figure.savefig(folder / "ride.png")


if __name__ == "__main__":
    main()
