"""Simulated devices, through the real listeners."""
