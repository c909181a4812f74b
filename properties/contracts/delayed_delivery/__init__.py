"""Contract ``delayed-delivery``: its operations, rig, generator and laws."""
