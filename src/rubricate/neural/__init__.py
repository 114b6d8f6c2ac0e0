"""One encoder network that reads a note with some or all features of its rubric in one pass."""
