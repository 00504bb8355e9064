"""Quantities by name, traced in one state: motions, energies, powers, reactions, contacts, first-order states."""
