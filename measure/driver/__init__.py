"""The C driver: how it is built, what it is asked and what it answers."""
