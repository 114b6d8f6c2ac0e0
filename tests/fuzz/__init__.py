"""Fuzzing of everything that reads files of others."""
