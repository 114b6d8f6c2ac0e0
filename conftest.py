"""Lets every test import the shared strategies and the simulations; no test is timed."""

import sys
from pathlib import Path

from hypothesis import HealthCheck, settings

sys.path[:0] = [str(Path(__file__).parent / folder) for folder in ("tests", "benchmarks")]
settings.register_profile("untimed", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("untimed")
