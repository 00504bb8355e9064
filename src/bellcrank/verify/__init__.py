"""The verification manual: one file a case, with sources and reference values.

A case is a module of this package with a function ``quantities()`` that returns a list of
:class:`~bellcrank.verify.cases.Quantity`. Its name is that of the file (``full_car.py`` is ``full-car``), the
first line of its docstring is the title, and the paragraph that begins with "Source:" names where the
references come from. Run with ``bellcrank verify``.
"""

from bellcrank.verify.cases import Case, CaseReport, Quantity, Within, find, known_cases, run

__all__ = ["Case", "CaseReport", "Quantity", "Within", "find", "known_cases", "run"]
