"""Notes that the evidence itself raises: what a reader should know of a number before trusting it.

``rules`` is the one table of all kinds of note; ``operation`` and ``instance`` hold the functions that it names.
A note never hides a number.
"""
