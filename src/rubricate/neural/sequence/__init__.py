"""Recognisers that tag every token of a note: ``bilstm-crf`` and ``crf``."""
