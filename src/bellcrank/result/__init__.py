"""What a run leaves: states over time, every quantity by name, the energy ledger, files."""
