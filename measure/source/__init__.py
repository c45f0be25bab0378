"""From what the catalog names to a folder of files: fetch, and the choice among them."""
