"""The subjects that are bundled with the kit."""
