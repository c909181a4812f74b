"""Parts of reference models that models of several contracts can have."""
