"""Networks that find features: one encoder for all rubrics, and recognisers of one rubric."""
