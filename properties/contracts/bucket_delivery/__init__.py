"""Contract ``bucket-delivery``: its operations, rig, generator and laws."""
