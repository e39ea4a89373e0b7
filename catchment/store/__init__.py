"""The fast store as seen from outside the pipeline: connecting to it, and counting what it has."""
