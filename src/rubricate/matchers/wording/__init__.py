"""Wordings of features: word by word evidence for a feature, with weights a person can read."""
