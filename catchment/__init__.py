"""Catchment gathers the data streams of many sites into one place without losing a drop."""

__version__ = "0.1.0"
