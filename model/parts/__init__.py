"""Parts of reference models that more than one contract uses."""
