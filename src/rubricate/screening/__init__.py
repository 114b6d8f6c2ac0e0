"""Is a text a clinical note of its case? What is none is never scored silently."""
