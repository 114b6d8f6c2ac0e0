"""A matcher and a format for rubricate, as an example."""
