"""The manual: building it from `docs/`, serving it, and generating the pages that the code knows best."""
