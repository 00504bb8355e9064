"""What model files say of a contact, in either treatment."""

from __future__ import annotations

from typing import Any

from bellcrank.base.keys import BOTH, NUMBER, SHAPE, Keys, may, must, one_of, ref, words
from bellcrank.contact.fields import FieldLaw
from bellcrank.contact.laws import ForceLaw
from bellcrank.model.contacts import LAWS, RESISTANCES, Contact, Treatment
from bellcrank.model.field_contacts import METHODS
from bellcrank.model.forces import ContactForce, FieldContact

CONTACT = Keys(
    "Two shapes that may touch.",
    must("a", SHAPE, "First shape; the normal points away from it."),
    must("b", SHAPE, "Second shape."),
    may(
        "restitution",
        NUMBER,
        "Speed of parting over speed of approach, 0 to 1; 1 where missing. In the continuous treatment a plain number.",
    ),
    may(
        "friction",
        one_of(NUMBER, ref("friction")),
        "Coulomb's coefficient; 0 where missing. In the continuous treatment also a mapping with its law.",
    ),
    may(
        "law",
        words(*LAWS, *(law.value for law in (*ForceLaw, *FieldLaw))),
        "Law of restitution (newton where missing), or in the continuous treatment of the force "
        "(calibrated where missing).",
    ),
    may(
        "treatment",
        words(*(treatment.value for treatment in Treatment)),
        "How the contact acts; impulsive where missing.",
    ),
    may(
        "stiffness",
        NUMBER,
        "K of F = K d^exponent [N/m^exponent], continuous; of law foundation its modulus over the "
        "thickness of the layer [N/m^3].",
    ),
    may("exponent", NUMBER, "Of the overlap; 1.5 where missing. A plain number."),
    may("damping", NUMBER, "Of law kelvin-voigt [N s/m]."),
    may("young", BOTH, "Young's modulus [Pa] of both bodies or of each; rigid is one without bound."),
    may("poisson", BOTH, "Poisson's ratio of both bodies or of each; 0.3 where missing."),
    may("approach_speed", NUMBER, "Speed of the first touch [m/s]; 1 where missing. A plain number."),
    may(
        "points",
        NUMBER,
        "Points at which a sampled surface touches at a time, at most.",
        whole=(1, 10**9),
        old="Bellcrank finds the closest points of a pair itself, and method: field lets the whole patch act",
    ),
    *RESISTANCES,
    may(
        "method",
        words(*METHODS),
        "By closest points or by fields of depth, continuous; chosen by shapes and law where missing.",
    ),
)


def said(contact: Contact | ContactForce) -> dict[str, Any]:
    """What a contact says by its keys; None where it need not say it."""
    if isinstance(contact, Contact):
        return {key: getattr(contact, key) for key in ("a", "b", "restitution", "friction", "law")}
    found = {key: getattr(contact.contact, key) for key in ("a", "b", "restitution")}
    found |= {key: getattr(contact, key) for key in ("law", "friction", "stiffness")}
    found |= {"treatment": Treatment.CONTINUOUS, **contact.given}
    if isinstance(contact, FieldContact):
        return found | {"law": contact.field_law, "method": "field"}
    if contact.law is ForceLaw.KELVIN_VOIGT:
        return found | {"damping": contact.damping, "restitution": None}
    return found | {"exponent": None if contact.stiffness is None else contact.exponent}


__all__ = ["CONTACT", "said"]
