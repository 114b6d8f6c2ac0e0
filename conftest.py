"""Lets every test import the shared strategies."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "tests"))
