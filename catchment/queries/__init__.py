"""Continuous queries: declared as graphs of boxes, checked, compiled to Spark and run for ever."""
