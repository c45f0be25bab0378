"""The one function that runs other programs, the sandbox around it, and what may leave it."""
