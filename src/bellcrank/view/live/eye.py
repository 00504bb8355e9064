"""Where the browsers look from: all that is drawn in the picture, along an axis, with parallel lines that stay so."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from bellcrank.view.scene import Scene

Array = NDArray[np.float64]

ANGLE = 0.7
"""Of the picture, from below to above [rad]."""
FLAT = 0.01
"""The same from so far away that parallel lines stay so: sizes of what is drawn differ by less than a hundredth."""
WIDE = 1.25
"""Width over height of pictures that are not there yet: of usual windows, less the panel."""
SIDES = ("+x", "-x", "+y", "-y", "+z", "-z")
NEAR, FAR = 1e-3, 1e3
"""Beginning and end of what is seen, over the distance of the eye."""
FLAT_NEAR, FLAT_FAR = 0.1, 10.0
"""The same where the eye is far away, closer together: what lies behind each other is told apart to so many parts."""


class Eye:
    """The cameras of all browsers, and of those that come later."""

    def __init__(self, server: Any, drawn: Scene) -> None:
        self.server, self.drawn = server, drawn
        self.flat = False
        view = drawn.view
        if drawn.planar:
            # A little from above and from the side: the ground shows, and that the mechanism has depth.
            view = view + 0.28 * drawn.up + 0.22 * np.cross(drawn.up, drawn.view)
            view = view / np.linalg.norm(view)
        self.first = view
        server.scene.set_up_direction(tuple(drawn.up))
        server.initial_camera.up = tuple(drawn.up)
        self.look(view)

    @property
    def angle(self) -> float:
        """Of the picture, from below to above [rad]."""
        return FLAT if self.flat else ANGLE

    def look(self, view: Array) -> None:
        """Look at all that is drawn; view: Unit vector towards the eye."""
        # Straight from above any direction across is right.
        up = np.roll(view, 1) if np.linalg.norm(np.cross(self.drawn.up, view)) < 1e-9 else self.drawn.up
        right = np.cross(up, view)
        right /= np.linalg.norm(right)
        target, box = self.drawn.extent((right, np.cross(view, right), view))
        for camera in self._cameras():
            # The front of all that is drawn fills the picture, less the panel.
            high = getattr(camera, "image_height", 0)
            wide = camera.image_width / high if high else WIDE
            distance = 0.5 * max(box[1], box[0] / wide) / np.tan(self.angle / 2) + 0.5 * box[2]
            self._move(camera, np.asarray(target) + 1.1 * distance * view, np.asarray(target))

    def side(self, name: str) -> None:
        """Look along an axis, such as from "+x"."""
        view = np.zeros(3)
        view["xyz".index(name[1])] = 1.0 if name[0] == "+" else -1.0
        self.look(view)

    def flatten(self, flat: bool) -> None:
        """Let parallel lines stay so or not, from where each browser looks."""
        before, self.flat = self.angle, flat
        factor = np.tan(before / 2) / np.tan(self.angle / 2)
        for camera in self._cameras():
            target = np.asarray(camera.look_at)
            self._move(camera, target + factor * (np.asarray(camera.position) - target), target)

    def _cameras(self) -> list[Any]:
        return [self.server.initial_camera, *(client.camera for client in self.server.get_clients().values())]

    def _move(self, camera: Any, place: Array, target: Array) -> None:
        distance = float(np.linalg.norm(place - target))
        near, far = (FLAT_NEAR, FLAT_FAR) if self.flat else (NEAR, FAR)
        camera.near, camera.far = near * distance, far * distance
        camera.position = tuple(place)
        # Moving the eye moves what it looks at.
        camera.look_at = tuple(target)
        camera.fov = self.angle
