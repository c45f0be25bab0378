"""Known-answer tests: the text formats and the process that drives a library."""
