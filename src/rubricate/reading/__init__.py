"""The words of a note or a wording: tokens, clauses, sections, quantities, negation, context."""
