"""Investigations: tests by all their names, asked for in features and ordered in notes."""
