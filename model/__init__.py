"""The reference models: small, slow and obviously right."""
