"""Contract ``active-cursors``: its operations, rig, generator and laws."""
