"""Rules: claims about the words found for a feature, and about their note."""
