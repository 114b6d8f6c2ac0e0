"""Data of the workbench: people, notes, judgements, decisions and an append-only record."""
