"""Functional Mock-up Units (FMI 2.0 and 3.0): mechanisms for other programs, and their models as controllers."""

from bellcrank.fmu.compilers import PLATFORMS, CompilerError
from bellcrank.fmu.controller import FmuError, fmu_controller
from bellcrank.fmu.export import export_fmu

__all__ = ["PLATFORMS", "CompilerError", "FmuError", "export_fmu", "fmu_controller"]
