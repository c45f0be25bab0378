"""One module per section of a candidate's page; each has its template of the same name."""
