"""Words, phrases, values and patterns as tables: what the reader knows, and no decision."""
