"""Environments of gymnasium from mechanisms: observation and action by name, for people who train on them.

    from bellcrank.gym import Environment, VectorEnvironment

Needs gymnasium: ``pip install 'bellcrank[gym]'``.
"""

from bellcrank.base.optional import needed

needed("gymnasium", "bellcrank.gym", "gymnasium", "gym")

from bellcrank.gym.environment import Environment  # noqa: E402
from bellcrank.gym.task import Task  # noqa: E402
from bellcrank.gym.vector import VectorEnvironment  # noqa: E402

__all__ = ["Environment", "Task", "VectorEnvironment"]
