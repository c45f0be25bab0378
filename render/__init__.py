"""Evidence to pages: never measures, never compiles."""
