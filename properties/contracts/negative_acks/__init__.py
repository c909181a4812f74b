"""Contract ``negative-acks``: its operations, rig, generator and laws."""
