"""The Spark pipeline: one driver, one file per query."""
