"""A described system analysed: its tree and loops assembled, its equations traced and compiled, handed to others."""

from bellcrank.mechanism.mechanism import Formulation, Mechanism, State, analyse

__all__ = ["Formulation", "Mechanism", "State", "analyse"]
