"""What the workbench keeps: people, notes, judgements, decisions and an append-only record."""
