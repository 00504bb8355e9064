"""One run: simulate, events and controllers, hand-over between partitions, recording, watching."""
