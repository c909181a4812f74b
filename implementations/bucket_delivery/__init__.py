"""Subjects of contract ``bucket-delivery``, and a storage of snapshots in files."""
