"""The web viewer: a result, or a run as it goes on, in the browser, on viser."""

from bellcrank.view.live.viewer import Viewer

__all__ = ["Viewer"]
