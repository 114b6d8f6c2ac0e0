"""Cases of rules, reasons for decisions, and the effect of a change of words or rules."""
