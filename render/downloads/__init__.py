"""What programs read: every table as CSV and JSON, one file of everything, the evidence as an archive, an index."""
