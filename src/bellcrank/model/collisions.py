"""Groups of shapes that collide with each other: a heap in one line."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, ClassVar

from bellcrank.base.keys import NUMBER, SHAPE, Keys, list_of, may, must
from bellcrank.errors import ModelError
from bellcrank.model import checks
from bellcrank.model.bodies import Body
from bellcrank.model.contacts import ContactMethods, PlacedShape, between_zero_and_one


@dataclass(frozen=True, eq=False)
class Collisions:
    """Every shape of a with every shape of b, or those of a with each other where b is None.

    Shapes of one body never collide, nor do those of two moving bodies that a joint joins, or of a pair with a contact
    of its own. restitution: e in [0, 1], after Newton. friction: Coulomb's coefficient.
    """

    keys: ClassVar[Keys] = Keys(
        "Shapes that collide: each of a with each of b, or those of a with each other where b is missing.",
        must("a", list_of(SHAPE), "Shapes on bodies."),
        may("b", list_of(SHAPE), "Shapes on bodies."),
        may("restitution", NUMBER, "Speed of parting over speed of approach, 0 to 1; 1 where missing."),
        may("friction", NUMBER, "Coulomb's coefficient; 0 where missing."),
    )

    name: str
    a: tuple[PlacedShape, ...]
    b: tuple[PlacedShape, ...] | None
    restitution: float
    friction: float

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
        restitution: float = 1.0,
        friction: float = 0.0,
        *,
        name: str = "collisions",
    ) -> Collisions:
        """Let groups of shapes collide, in runs with ``impacts="stepping"``.

        a, b: Shapes from ``body.box(...)`` and their kin, or bodies, which stand for the shapes of their
        :meth:`~bellcrank.model.bodies.Body.collides`. Every shape of a collides with every one of b; without b, those
        of a with each other; without both, those of all bodies and the ground. restitution: Speed of parting over
        speed of approach, 0 to 1, after Newton. friction: Coulomb's coefficient. name: Of the group, for results;
        the impacts of a pair are called "<name>: <body> <body>".
        """
        name = self._new_name("contact", name)
        who = f"contacts_between {name!r}"
        if a is None:
            a = (self.ground, *self.bodies.values())
        first = self._colliding(who, a)
        second = None if b is None else self._colliding(who, b)
        e = between_zero_and_one(who, restitution)
        mu = checks.plain_number(f"friction of {who}", friction, "friction is a plain number")
        if mu < 0.0:
            raise ModelError(f"friction of {who} is {mu:g}; it must not be negative")
        if not first or (second is not None and not second):
            raise ModelError(
                f"{who} has no shapes; give it shapes, or say body.collides(body.sphere(0.1)) before"
            )
        made = Collisions(name, first, second, e, mu)
        for side in made.shapes:
            if side.frame.body.member is not None:
                bent = side.frame.body.name
                raise ModelError(
                    f"{who}: body {bent!r} is flexible; give its shapes contacts with system.contact(...)"
                )
        if len({side.shape.planar for side in made.shapes}) > 1:
            raise ModelError(f"{who} has plane curves and solid shapes; use one kind")
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


__all__ = ["CollisionMethods", "Collisions"]
