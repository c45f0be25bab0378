"""One module per kind of page, each a view model."""
