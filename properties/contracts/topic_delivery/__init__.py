"""Contract ``topic-delivery``: its operations, rig, generator and laws."""
