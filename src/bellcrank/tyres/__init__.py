"""Tyres: laws of load, slip forces and relaxation, and the property files that describe them."""

from bellcrank.tyres.brush import Brush
from bellcrank.tyres.envelope import Envelope
from bellcrank.tyres.fiala import Fiala
from bellcrank.tyres.law import Deflection, Slip, TyreForces, TyreLaw
from bellcrank.tyres.linear import LinearTyre
from bellcrank.tyres.magic_formula import MagicFormula
from bellcrank.tyres.magic_formula_2002 import MagicFormula2002
from bellcrank.tyres.property_file import read_property_file, tyre

__all__ = [
    "Brush",
    "Deflection",
    "Envelope",
    "Fiala",
    "LinearTyre",
    "MagicFormula",
    "MagicFormula2002",
    "Slip",
    "TyreForces",
    "TyreLaw",
    "read_property_file",
    "tyre",
]
