"""Files from strangers, and faults of the machine, by the thousand; ``make fuzz`` runs them at length."""
