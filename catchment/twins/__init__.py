"""Digital twins: the current state of every object."""
