"""Contract ``entry-cache``: its operations, rig, generator and laws."""
