"""The interpretable matcher: phrases, rules and their reasons."""
