"""Source to evidence: fetches, builds, checks, times and publishes candidates."""
