"""Matchers that look for phrases: exact, fuzzy, synonyms."""
