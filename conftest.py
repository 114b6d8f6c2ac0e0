"""Lets every test import the shared strategies and the simulations; no test is timed."""

import os
import sys
import tempfile
from pathlib import Path

from hypothesis import HealthCheck, settings

sys.path[:0] = [str(Path(__file__).parent / folder) for folder in ("tests", "benchmarks")]
settings.register_profile("untimed", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("untimed")

#: Where Linux keeps files in memory, and the bytes free there from which the tests use it.
MEMORY = Path("/dev/shm")
ENOUGH = 8 << 30


def has_room(place: Path) -> bool:
    """Tell whether tests can write a lot in a place, and run programs that they put there."""
    if not os.access(place, os.W_OK):
        return False
    found = os.statvfs(place)
    return found.f_bavail * found.f_frsize >= ENOUGH and not found.f_flag & os.ST_NOEXEC


# Tests make and remove tens of thousands of files and folders. On a disk that takes longer than
# what they test.
if "TMPDIR" not in os.environ and has_room(MEMORY):
    os.environ["TMPDIR"] = str(MEMORY)
    tempfile.tempdir = None
