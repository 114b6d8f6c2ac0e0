"""Synonyms of clinical phrases: embedded tables, and what the user has installed."""
