"""Claims of rules about the words found for a feature and the note they stand in."""
