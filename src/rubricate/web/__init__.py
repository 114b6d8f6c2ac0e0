"""The workbench in a browser: annotate, curate and review together."""
