"""The benches, one module for each family, with the pictures that they draw."""
