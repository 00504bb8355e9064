"""Operation counts: the formulas of Kang and Yoon, and the report that sets ours beside them."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from bellcrank import cli
from bellcrank.files import save
from bellcrank.formulations.registry import FORMULATIONS, Formulation
from bellcrank.mechanism import Mechanism, analyse, paper_counts
from bellcrank.mechanism.count_report import CountReport, products
from bellcrank.mechanism.paper_counts import METHODS, GroupSize, Topology, evaluate_formulas
from bellcrank.model import System
from bellcrank.verify.full_car import RACK, full_car_system
from reference.mechanisms import FAMILIES
from reference.mechanisms import mechanism as make


@pytest.fixture(scope="module")
def car() -> Mechanism:
    return analyse(full_car_system())


@pytest.fixture(scope="module")
def report(car: Mechanism) -> CountReport:
    return car.count()


def test_formulas_on_the_car(car: Mechanism) -> None:
    """Kinematics, M and f, Jacobian, maps, reduction and solution, as an earlier evaluation had them."""
    found = paper_counts.paper_counts(car)
    assert [list(found.stages[f].values()) for f in METHODS] == [
        [5199, 7569, 0, 0, 0, 87297],
        [5199, 7569, 0, 0, 62257, 5672],
        [5199, 7569, 14392, 0, 33696, 1265],
        [5199, 5703, 640, 630, 0, 543],
    ]
    assert [found.total(f) for f in METHODS] == [100065, 80697, 62121, 12715]


def test_without_the_rack_column_the_formulas_come_nearest_to_the_paper(car: Mechanism) -> None:
    """12.1 % of the conventional method, the paper prints 12.0; the rack stays in the bordered matrix."""
    rack = car.linkage.coordinate(RACK, "displacement")[2]
    top = Topology.of(car)
    assert sum(rack in g.independent for g in top.groups) == 2
    groups = tuple(GroupSize(g.dependent, g.independent - {rack}) for g in top.groups)
    stages = evaluate_formulas(replace(top, groups=groups)).stages[Formulation.INDEPENDENT]
    total = sum(stages.values()) - stages["solve"] + paper_counts.bordered_solution(top)
    assert total == 12097


@pytest.mark.parametrize("n", [1, 2, 5, 9])
def test_dense_algebra_is_counted_as_it_is_done(n: int) -> None:
    """Run the textbook loops and count."""
    A = np.eye(n) * n + 0.1
    done = 0
    for k in range(n):
        for i in range(k + 1, n):
            A[i, k] /= A[k, k]
            done += 1
            for j in range(k + 1, n):
                A[i, j] -= A[i, k] * A[k, j]
                done += 1
    assert paper_counts.lu(n) == done
    triangle = n * (n - 1) // 2
    assert paper_counts.lu_solve(n) == 2 * triangle + n
    assert paper_counts.cholesky(n) == sum(k * (k + 1) // 2 + k for k in range(n))
    assert paper_counts.cholesky_solve(n) == 2 * (triangle + n)


def test_bordered_solution_of_a_full_matrix_is_dense_cholesky() -> None:
    """A chain couples every coordinate with every other; a star of bodies on the ground couples none."""

    def links(n: int, chain: bool) -> Topology:
        system = System("links")
        inner = system.ground
        for k in range(n):
            body = system.body(f"b{k}", 1.0, (1.0, 1.0, 1.0), at=(k + 0.5, 0.0, 0.0))
            system.revolute(f"j{k}", inner if chain else system.ground, body, at=(k, 0.0, 0.0), axis="y")
            inner = body
        return Topology.of(analyse(system))

    dense = paper_counts.cholesky(5) + paper_counts.cholesky_solve(5)
    assert paper_counts.bordered_solution(links(5, chain=True)) == dense
    assert paper_counts.bordered_solution(links(5, chain=False)) == 5 * 2


@pytest.mark.parametrize("family", FAMILIES)
def test_formulas_work_for_every_topology(family: str) -> None:
    mechanism = analyse(make(family, 0))
    top = Topology.of(mechanism)
    found = evaluate_formulas(top)
    assert (top.n, top.m) == (mechanism.coordinates, len(mechanism.kept))
    assert all(count >= 0 for stages in found.stages.values() for count in stages.values())
    if not top.m:
        maps = ("Jacobian, B_di", "V_di, W_di, gamma_di")
        assert all(found.stages[f][stage] == 0 for f in METHODS for stage in maps)
        assert found.stages[Formulation.INDEPENDENT]["M, f"] == found.stages[Formulation.LAGRANGE]["M, f"]
    assert found.total(Formulation.INDEPENDENT) <= found.total(Formulation.LAGRANGE)


def test_report_holds_every_formulation(report: CountReport) -> None:
    assert list(report) == list(FORMULATIONS)
    assert report["independent"] is report[Formulation.INDEPENDENT]
    assert report.percent("lagrange") == 100.0
    assert products(report[report.best]) == min(products(count) for count in report.values())
    for count in report.values():
        assert sum(part.multiplications for part in count.stages.values()) == count.multiplications


def test_every_program_is_shorter_than_its_formula(report: CountReport) -> None:
    assert all(products(report[f]) < report.paper.total(f) for f in METHODS)
    assert products(report[report.best]) <= 5000


def test_one_formulation_alone(car: Mechanism) -> None:
    report = car.count("recursive")
    assert list(report) == [Formulation.RECURSIVE]
    assert report.percent("recursive") is None
    assert "% of lagrange" not in str(report)


def test_command_prints_tables_and_json(tmp_path: Path) -> None:
    file = tmp_path / "bar.yaml"
    save(make("four-bar", 0), file)
    runner = CliRunner()
    text = runner.invoke(cli.app, ["count", str(file)])
    assert text.exit_code == 0, text.output
    assert "multiplications by the formulas of Kang and Yoon" in text.stdout
    plain = runner.invoke(cli.app, ["count", str(file), "--json"])
    found = json.loads(plain.stdout)
    assert list(found["formulations"]) == [str(f) for f in FORMULATIONS]
    assert list(found["paper"]) == [str(f) for f in METHODS]
    one = runner.invoke(cli.app, ["count", str(file), "--json", "--formulation", "independent"])
    assert (
        json.loads(one.stdout)["formulations"]["independent"]["total"]
        == (found["formulations"]["independent"]["total"])
    )


def test_command_names_what_it_does_not_know(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for arguments, message in (
        (["full-car", "--formulation", "lagrang"], "did you mean 'lagrange'"),
        (["nothing.yaml"], "there is no file 'nothing.yaml'"),
    ):
        monkeypatch.setattr("sys.argv", ["bellcrank", "count", *arguments])
        with pytest.raises(SystemExit) as stopped:
            cli.main()
        assert stopped.value.code == 2
        assert message in capsys.readouterr().err
