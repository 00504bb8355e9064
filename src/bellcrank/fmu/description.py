"""``modelDescription.xml`` of an FMU: its variables by name, unit and causality, in the words of FMI 2.0 and 3.0."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from xml.etree.ElementTree import Element, SubElement, tostring

from bellcrank.base.version import __version__
from bellcrank.fmu.text import Contents, motion_names, start_motion
from bellcrank.run.touch import continuous

SI = {
    "N": {"kg": 1, "m": 1, "s": -2},
    "J": {"kg": 1, "m": 2, "s": -2},
    "W": {"kg": 1, "m": 2, "s": -3},
    "Pa": {"kg": 1, "m": -1, "s": -2},
    "Hz": {"s": -1},
}
"""Units made of base units."""
STRUCK = ("gap or force", "friction or slip left")
"""The event indicators of a rigid contact: the gap until it lasts, then the normal force; what is left until it slips
or sticks."""
BASE = ("kg", "m", "s", "A", "K", "mol", "cd", "rad")


@dataclass(frozen=True)
class Variable:
    """A variable: its number is its place among all.

    rate_of: The number of the state whose rate it is. indicates: Whether its change of sign is an event.
    """

    name: str
    causality: str
    variability: str
    unit: str = ""
    start: float | None = None
    initial: str = ""
    rate_of: int | None = None
    indicates: bool = False


def variables(contents: Contents) -> list[Variable]:
    """Time, parameters and inputs, the motion, its rates, outputs, event indicators: in the order of the C text.

    Where nobody else can integrate there are no rates and no event indicators.
    """
    system = contents.mechanism.system
    values = dict(
        zip(contents.mechanism.mechanics.parameters, contents.mechanism.parameter_values, strict=True)
    )
    found = [Variable("time", "independent", "continuous", "s")]
    for name in contents.visible:
        unit = system.parameters[name].unit
        if name in contents.inputs:
            found.append(Variable(name, "input", "continuous", unit, values[name]))
        else:
            found.append(Variable(name, "parameter", "tunable", unit, values[name], "exact"))
    names, start = motion_names(contents.mechanism), start_motion(contents.mechanism)
    first = len(found)
    found += [
        Variable(name, "local", "continuous", "", float(value), "exact")
        for (name, _), value in zip(names, start, strict=True)
    ]
    if contents.exchanged:
        found += [
            Variable(rate, "local", "continuous", rate_of=first + k) for k, (_, rate) in enumerate(names)
        ]
    more = [Variable(output.name, "output", "continuous", output.unit) for output in contents.outputs]
    if contents.exchanged:
        gaps = [f"gap of {force.name}" for force in continuous(contents.mechanism)]
        more += [Variable(name, "local", "continuous", "m", indicates=True) for name in gaps]
    if contents.striking is not None:
        both = [f"{what} of {name}" for name in system.contacts for what in STRUCK]
        more += [Variable(name, "local", "continuous", indicates=True) for name in both]
    taken = {v.name for v in found}
    # A parameter may bear the name of a quantity.
    return found + [replace(v, name=f"{v.name} ({v.causality})") if v.name in taken else v for v in more]


def description(contents: Contents, version: str, token: str) -> bytes:
    """The XML text; token: ties it to the binary."""
    found = variables(contents)
    root = _root(contents, version, token)
    units = _units(v.unit for v in found)
    if units:
        parent = SubElement(root, "UnitDefinitions")
        for unit, base in units.items():
            SubElement(SubElement(parent, "Unit", name=unit), "BaseUnit", base)
    logs = SubElement(root, "LogCategories")
    SubElement(logs, "Category", name="logStatusError", description="why a call failed")
    start = contents.mechanism.start.t
    experiment = {"startTime": repr(start), "stopTime": repr(start + contents.duration)}
    if contents.exchanged:
        experiment["tolerance"] = repr(contents.tolerance)
    SubElement(root, "DefaultExperiment", experiment)
    _variables(root, found, set(units), version == "2.0")
    text: bytes = tostring(root, encoding="UTF-8", xml_declaration=True)
    return text


def _root(contents: Contents, version: str, token: str) -> Element:
    name = identifier(contents)
    about = {
        "fmiVersion": version,
        "modelName": contents.name,
        "generationTool": f"Bellcrank {__version__}",
        "variableNamingConvention": "flat",
    }
    abilities = {"modelIdentifier": name, "canGetAndSetFMUState": "true", "canSerializeFMUState": "true"}
    if version == "2.0":
        struck = 0 if contents.striking is None else len(STRUCK) * contents.striking.count
        indicators = str(contents.contacts + struck if contents.exchanged else 0)
        root = Element("fmiModelDescription", about | {"guid": token, "numberOfEventIndicators": indicators})
        abilities = {key.replace("State", "state"): value for key, value in abilities.items()}
        derivatives = "providesDirectionalDerivative"
    else:
        root = Element("fmiModelDescription", about | {"instantiationToken": token})
        derivatives = "providesDirectionalDerivatives"
    kinds = {}
    if contents.exchanged:
        # After a step loops may have to be closed; FMI 2.0 takes that for granted.
        kinds["ModelExchange"] = {} if version == "2.0" else {"needsCompletedIntegratorStep": "true"}
    if contents.integrated or contents.steps is not None:
        kinds["CoSimulation"] = {"canHandleVariableCommunicationStepSize": "true"}
    if contents.integrated:
        abilities[derivatives] = "true"
    for kind, more in kinds.items():
        element = SubElement(root, kind, abilities | more)
        if version == "2.0":
            SubElement(SubElement(element, "SourceFiles"), "File", name="all.c")
    return root


def _variables(root: Element, found: list[Variable], units: set[str], two: bool) -> None:
    """Variables and structure; FMI 2.0 counts variables from one, 3.0 names them by reference."""
    parent = SubElement(root, "ModelVariables")
    for k, v in enumerate(found):
        head = {
            "name": v.name,
            "valueReference": str(k),
            "causality": v.causality,
            "variability": v.variability,
        }
        if v.initial:
            head["initial"] = v.initial
        numbers = _numbers(v, units)
        if v.rate_of is not None:
            numbers["derivative"] = str(v.rate_of + two)
        if two:
            SubElement(SubElement(parent, "ScalarVariable", head), "Real", numbers)
        else:
            SubElement(parent, "Float64", head | numbers)
    structure = SubElement(root, "ModelStructure")
    outputs = [k for k, v in enumerate(found) if v.causality == "output"]
    rates = [k for k, v in enumerate(found) if v.rate_of is not None]
    groups = [
        ("Outputs", "Output", outputs),
        ("Derivatives", "ContinuousStateDerivative", rates),
        ("InitialUnknowns", "InitialUnknown", sorted(outputs + rates)),
    ]
    if not two:
        groups.append(("", "EventIndicator", [k for k, v in enumerate(found) if v.indicates]))
    for together, single, places in groups:
        if two and places:
            group = SubElement(structure, together)
            for k in places:
                SubElement(group, "Unknown", index=str(k + 1))
        elif not two:
            for k in places:
                SubElement(structure, single, valueReference=str(k))


def _numbers(v: Variable, units: set[str]) -> dict[str, str]:
    found = {"unit": v.unit} if v.unit in units else {}
    if v.start is not None:
        found["start"] = repr(v.start)
    return found


def _units(names: Iterable[str]) -> dict[str, dict[str, str]]:
    """The units in use that are made of base units, with their exponents."""
    found = {}
    for unit in dict.fromkeys(names):
        powers: dict[str, int] = {}
        if unit and _add(unit, powers):
            found[unit] = {base: str(powers[base]) for base in BASE if powers.get(base)}
    return found


def _add(unit: str, powers: dict[str, int]) -> bool:
    """Add the exponents of a unit such as ``N m/rad``; whether it is understood."""
    above, *below = unit.replace("*", " ").split("/")
    for sign, part in ((1, above), *((-1, part) for part in below)):
        for word in part.replace("(", " ").replace(")", " ").split():
            match = re.fullmatch(r"([A-Za-z]+|1)(?:\^(-?\d+))?", word)
            if match is None:
                return False
            name, power = match[1], sign * int(match[2] or 1)
            known = SI.get(name) or ({name: 1} if name in BASE else {} if name == "1" else None)
            if known is None:
                return False
            for base, exponent in known.items():
                powers[base] = powers.get(base, 0) + power * exponent
    return True


def identifier(contents: Contents) -> str:
    """The name of the binaries."""
    from bellcrank.program import c

    return c.identifier(contents.name)


BUILD = """\
<?xml version="1.0" encoding="UTF-8"?>
<fmiBuildDescription fmiVersion="3.0">
  <BuildConfiguration modelIdentifier="{name}">
    <SourceFileSet language="C99">
      <SourceFile name="all.c"/>
    </SourceFileSet>
  </BuildConfiguration>
</fmiBuildDescription>
"""
"""``sources/buildDescription.xml`` of FMI 3.0."""
