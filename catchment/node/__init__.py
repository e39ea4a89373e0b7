"""A node: its parts as processes, started, watched, restarted and stopped."""
