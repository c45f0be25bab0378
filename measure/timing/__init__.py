"""How often each operation is called, on which core, and what is kept of it."""
