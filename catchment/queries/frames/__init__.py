"""From a checked query to Spark's frames: one module for each kind of box."""
