"""An FMU from elsewhere as a controller: it is stepped beside a run, fed with quantities, and drives parameters."""

from __future__ import annotations

import os
import shutil
import tempfile
import weakref
import zipfile
from collections.abc import Mapping
from os import PathLike
from pathlib import Path
from typing import Any

from bellcrank.base.optional import needed
from bellcrank.errors import BellcrankError, ModelError, unknown_name
from bellcrank.run.events import Controller

LARGEST = 2**30
"""Bytes that an FMU may unpack to: a gibibyte, far above those of other tools with all their binaries."""


class FmuError(BellcrankError):
    """An FMU cannot be read, or one of its functions failed."""


def fmu_controller(
    path: str | PathLike[str],
    *,
    period: float,
    inputs: Mapping[str, str],
    outputs: Mapping[str, str],
    start: Mapping[str, float] | None = None,
    name: str | None = None,
) -> Controller:
    """A controller for :meth:`bellcrank.System.simulate` that runs an FMU for co-simulation (FMI 2.0 or 3.0).

    Every `period` seconds the FMU makes a step of that length up to the present time and gets new inputs; what it gives
    out holds until the next step. inputs: the quantity of the system for each input of the FMU. outputs: the parameter
    of the system for each output of the FMU; a force or a driver that uses the parameter is then driven by it. start:
    values of parameters of the FMU. Calling it runs the machine code in the FMU: use those that you trust.
    """
    unit = _Unit(Path(path), dict(inputs), dict(outputs), dict(start or {}))
    measures = list(dict.fromkeys(inputs.values()))
    return Controller(name or unit.name, period, measures, unit)


class _Unit:
    """An unpacked FMU; instantiated anew when a run begins."""

    def __init__(
        self, path: Path, inputs: dict[str, str], outputs: dict[str, str], start: dict[str, float]
    ) -> None:
        needed("fmpy", "an FMU as a controller", "FMPy", "fmu")
        from fmpy import read_model_description

        self.path, self.inputs, self.outputs, self.start = path, inputs, outputs, start
        self.folder = _unpacked(path)
        self._clean = weakref.finalize(self, shutil.rmtree, self.folder, True)
        try:
            self.about = read_model_description(str(self.folder))
        except Exception as error:
            raise FmuError(f"{path}: its description cannot be read: {error}") from error
        if self.about.coSimulation is None:
            raise ModelError(f"{path}: the FMU is not made for co-simulation, so it cannot be a controller")
        self.name = str(self.about.modelName)
        self.numbers = {v.name: v.valueReference for v in self.about.modelVariables}
        for wanted, known in (
            (inputs, self._of("input")),
            (outputs, self._of("output", "local")),
            (start, self._of("parameter", "input")),
        ):
            for variable in wanted:
                if variable not in known:
                    raise unknown_name(f"variable of the FMU {path.name!r}", variable, known)
        self.reached: float | None = None
        self.slave: Any = None

    def _of(self, *causalities: str) -> list[str]:
        return [
            v.name
            for v in self.about.modelVariables
            if v.causality in causalities and v.type in ("Real", "Float64")
        ]

    def __call__(self, t: float, measured: Mapping[str, Any]) -> Mapping[str, float]:
        """New values of the parameters at time t [s]."""
        given = [float(measured[quantity]) for quantity in self.inputs.values()]
        if self.slave is None or self.reached is None or t <= self.reached:
            self._begin(t, given)
        else:
            self.slave.doStep(currentCommunicationPoint=self.reached, communicationStepSize=t - self.reached)
            self._set(self.inputs, given)
        self.reached = t
        found = self._get([self.numbers[name] for name in self.outputs])
        return dict(zip(self.outputs.values(), (float(v) for v in found), strict=True))

    def _begin(self, t: float, given: list[float]) -> None:
        from fmpy import fmi2, fmi3

        self.close()
        two = str(self.about.fmiVersion).startswith("2")
        make = fmi2.FMU2Slave if two else fmi3.FMU3Slave
        identifier = self.about.coSimulation.modelIdentifier
        self.slave = make(
            guid=self.about.guid if two else self.about.instantiationToken,
            unzipDirectory=str(self.folder),
            modelIdentifier=identifier,
            instanceName=self.name,
        )
        self.slave.instantiate()
        self._set(self.start, list(self.start.values()))
        if two:
            self.slave.setupExperiment(startTime=t)
            self.slave.enterInitializationMode()
        else:
            self.slave.enterInitializationMode(startTime=t)
        self._set(self.inputs, given)
        self.slave.exitInitializationMode()

    def _set(self, names: Mapping[str, Any], values: list[float]) -> None:
        if names:
            put = self.slave.setReal if hasattr(self.slave, "setReal") else self.slave.setFloat64
            put([self.numbers[name] for name in names], values)

    def _get(self, numbers: list[int]) -> list[float]:
        if not numbers:
            return []
        get = self.slave.getReal if hasattr(self.slave, "getReal") else self.slave.getFloat64
        return list(get(numbers))

    def close(self) -> None:
        """End the instance that is running."""
        if self.slave is not None:
            self.slave.terminate()
            self.slave.freeInstance()
            self.slave = None


def _unpacked(path: Path) -> Path:
    """A folder with the contents of an FMU, none of which lies outside it."""
    folder = Path(tempfile.mkdtemp(prefix="bellcrank-fmu-"))
    try:
        with zipfile.ZipFile(path) as archive:
            if sum(item.file_size for item in archive.infolist()) > LARGEST:
                raise FmuError(f"{path}: unpacks to more than {LARGEST >> 20} MiB")
            for item in archive.infolist():
                place = (folder / item.filename).resolve()
                if not place.is_relative_to(folder.resolve()) or os.path.isabs(item.filename):
                    raise FmuError(f"{path}: {item.filename!r} would be written outside its folder")
            archive.extractall(folder)
    except (OSError, zipfile.BadZipFile) as error:
        shutil.rmtree(folder, ignore_errors=True)
        raise FmuError(f"{path}: cannot be read as an FMU: {error}") from error
    except FmuError:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    return folder
