"""Groups of shapes that collide with each other: a heap in one line."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, ClassVar

from bellcrank.base.keys import NUMBER, SHAPE, Keys, list_of, may, must
from bellcrank.contact.skin import SkinShape
from bellcrank.errors import ModelError
from bellcrank.model.bodies import Body
from bellcrank.model.contacts import (
    RESISTANCE,
    RESISTANCES,
    ContactMethods,
    PlacedShape,
    between_zero_and_one,
    none,
)
from bellcrank.model.striking import check_options, coefficient
from bellcrank.program.trace import Scalar


@dataclass(frozen=True, eq=False)
class Collisions:
    """Every shape of a with every shape of b, or those of a with each other where b is None.

    Shapes of one body never collide, nor do those of two moving bodies that a joint joins, or of a pair with a contact
    of its own. restitution: e in [0, 1], after Newton. friction: Coulomb's coefficient. rolling_resistance,
    spinning_resistance: Moments over the normal force, across and along the normal [m]. All of them may be expressions
    of parameters. pair: Whether it is such a
    contact of its own, of two shapes that touch in a patch.
    """

    keys: ClassVar[Keys] = Keys(
        "Shapes that collide: each of a with each of b, or those of a with each other where b is missing.",
        must("a", list_of(SHAPE), "Shapes on bodies."),
        may("b", list_of(SHAPE), "Shapes on bodies."),
        may("restitution", NUMBER, "Speed of parting over speed of approach, 0 to 1; 1 where missing."),
        may("friction", NUMBER, "Coulomb's coefficient; 0 where missing."),
        *RESISTANCES,
    )

    name: str
    a: tuple[PlacedShape, ...]
    b: tuple[PlacedShape, ...] | None
    restitution: Scalar
    friction: Scalar
    rolling_resistance: Scalar = 0.0
    spinning_resistance: Scalar = 0.0
    pair: bool = False

    @property
    def who(self) -> str:
        """What errors call it."""
        return f"contact {self.name!r}" if self.pair else f"contacts_between {self.name!r}"

    @property
    def said(self) -> dict[str, Any]:
        """What model files say of it, as of a contact where it is one; nothing of resistance where there is none."""
        found = {key: None if none(getattr(self, key)) else getattr(self, key) for key in RESISTANCE}
        found |= {"restitution": self.restitution, "friction": self.friction}
        if self.pair and self.b is not None:
            return {"a": self.a[0], "b": self.b[0], **found}
        return {"a": self.a, "b": self.b, **found}

    @property
    def shapes(self) -> tuple[PlacedShape, ...]:
        """All of them, each once."""
        return tuple(dict.fromkeys((*self.a, *(self.b or ()))))


class CollisionMethods(ContactMethods):
    """Collisions between groups of shapes."""

    def contacts_between(
        self,
        a: Iterable[PlacedShape | Body] | PlacedShape | Body | None = None,
        b: Iterable[PlacedShape | Body] | PlacedShape | Body | None = None,
        restitution: Scalar = 1.0,
        friction: Scalar = 0.0,
        *,
        rolling_resistance: Scalar = 0.0,
        spinning_resistance: Scalar = 0.0,
        name: str | None = None,
    ) -> Collisions:
        """Let groups of shapes collide, in runs with ``impacts="stepping"``.

        a, b: Shapes from ``body.box(...)`` and their kin, or bodies, which stand for the shapes of their
        :meth:`~bellcrank.model.bodies.Body.collides`. Every shape of a collides with every one of b; without b, those
        of a with each other; without both, those of all bodies and the ground. restitution: Speed of parting over
        speed of approach, 0 to 1, after Newton. friction: Coulomb's coefficient. rolling_resistance,
        spinning_resistance: The largest moment against rolling and against spinning about the normal, over the normal
        force [m]. These four may be expressions of parameters. name: Of the group, for results, "collisions",
        "collisions 2" and so on where missing; the impacts of a pair are called "<name>: <body> <body>".
        """
        if name is None:
            name = (
                f"collisions {len(self.collisions) + 1}" if "collisions" in self.collisions else "collisions"
            )
        name = self._new_name("contact", name)
        who = f"contacts_between {name!r}"
        if a is None:
            a = (self.ground, *self.bodies.values())
        first = self._colliding(who, a)
        second = None if b is None else self._colliding(who, b)
        e = between_zero_and_one(who, restitution, self.parameters)
        mu = coefficient(f"friction of {who}", friction, self.parameters)
        if not first or (second is not None and not second):
            raise ModelError(
                f"{who} has no shapes; give it shapes, or say body.collides(body.sphere(0.1)) before"
            )
        resistance = self._resistance(who, rolling_resistance, spinning_resistance)
        made = Collisions(name, first, second, e, mu, *resistance)
        _check_shapes(made)
        if len({side.shape.planar for side in made.shapes}) > 1:
            raise ModelError(f"{who} has plane curves and solid shapes; use one kind")
        self.collisions[name] = made
        return made

    def _contact_in_patch(
        self,
        name: str,
        a: PlacedShape,
        b: PlacedShape,
        restitution: Scalar,
        friction: Any,
        law: str | None,
        *,
        rolling_resistance: Any = 0.0,
        spinning_resistance: Any = 0.0,
        points: Any = None,
        **pressing: Any,
    ) -> Collisions:
        """A group of two shapes, which a joint may join too."""
        who = f"contact {name!r}"
        check_options(who, points, pressing)
        if law not in (None, "newton"):
            raise ModelError(
                f"{who}: meshes, fields and resistance to rolling strike by steps, which know Newton's law alone; "
                "leave law= out"
            )
        mu = coefficient(f"friction of {who}", friction, self.parameters)
        resistance = self._resistance(who, rolling_resistance, spinning_resistance)
        made = Collisions(name, (a,), (b,), restitution, mu, *resistance, pair=True)
        _check_shapes(made)
        self.collisions[name] = made
        return made

    def _colliding(self, who: str, given: Any) -> tuple[PlacedShape, ...]:
        """Shapes of what is given, each once."""
        found: dict[PlacedShape, None] = {}
        for item in (given,) if isinstance(given, PlacedShape | Body) else given:
            if isinstance(item, str | Body):
                found.update(dict.fromkeys(self._body(who, item).colliding))
            elif isinstance(item, PlacedShape):
                self._body(who, item.frame.body)
                found[item] = None
            else:
                raise ModelError(
                    f"{who} takes shapes on bodies, such as body.sphere(0.1), and bodies, not {item!r}"
                )
        return tuple(found)

    def _resistance(self, who: str, rolling: Any, spinning: Any) -> tuple[Scalar, Scalar]:
        """Lengths of resistance, checked [m]."""
        given = ("rolling_resistance", rolling), ("spinning_resistance", spinning)
        first, second = (coefficient(f"{key} of {who}", x, self.parameters) for key, x in given)
        return first, second


def _check_shapes(group: Collisions) -> None:
    """Raise for skins: those of flexible bodies press, and do not strike."""
    for side in group.shapes:
        if isinstance(side.shape, SkinShape):
            raise ModelError(
                f"{group.who}: the skin of body {side.frame.body.name!r} presses and does not strike; say "
                'treatment="continuous", or put shapes on nodes, such as body.sphere(0.01, at=...)'
            )


__all__ = ["CollisionMethods", "Collisions"]
