"""Recognisers that label every token of a note: ``bilstm-crf`` and ``crf``."""
