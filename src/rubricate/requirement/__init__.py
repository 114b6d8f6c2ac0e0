"""What a feature of a rubric asks for, read from its wording."""
