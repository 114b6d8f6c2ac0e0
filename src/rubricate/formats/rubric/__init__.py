"""Rubric files: tables and trees read, checked and written."""
