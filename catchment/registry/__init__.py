"""What people declare of devices, sensors, sensor types and mappings."""
