"""The share of helper functions in an operation."""
