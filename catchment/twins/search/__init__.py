"""Questions to twins: an expression such as `temperature > 80 and site = "oslo"`, and what it means."""
