"""Avro schemas: their ids, their registry, and what one version can read of another."""
