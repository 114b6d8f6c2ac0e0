"""The study: five phases from a question to a figure that can be trusted.

A study is a folder with ``study.toml`` and one sub-folder per phase. Every step reads files, writes
files whole or not at all, and records what it did (inputs by hash, seed, version), so that it can
be run again without harm.
"""
