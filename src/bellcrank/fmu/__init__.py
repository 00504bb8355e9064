"""Functional Mock-up Units (FMI 2.0 and 3.0): a mechanism for other programs, and other programs' models as controllers."""

from bellcrank.fmu.export import export_fmu

__all__ = ["export_fmu"]
