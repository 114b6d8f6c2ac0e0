"""The requirements that features of a rubric state, read from their wordings."""
