"""Pictures of results: curves, animations, reports. Nothing here is imported before it is asked for."""
