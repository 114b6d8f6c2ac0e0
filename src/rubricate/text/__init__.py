"""What the words of a note say: tokens, clauses, sections, quantities, negation and context."""
