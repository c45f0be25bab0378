"""From sources to a library: compiler, flags, helper functions, ELF."""
