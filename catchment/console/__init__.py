"""The web console: serving it, and building it from its TypeScript in `web/`."""
