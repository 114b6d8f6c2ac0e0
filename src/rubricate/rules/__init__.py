"""Cases of the rules, reasons of decisions, and the effect of each rule."""
