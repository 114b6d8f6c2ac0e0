"""The threads of polars, which a forked copy of a process lacks and would wait for without end.

polars starts threads of its own with its first work, and a fork copies none of them
(docs.pola.rs, "Polars and multiprocessing"). The threads of BLAS, of ONNX Runtime and of the
tokenizers are made anew, or not used, in a copy.
"""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

from rubricate.errors import RubricateError

_TASKS = Path("/proc/self/task")
_OF_POLARS = re.compile(r"polars-\d+\s*")
#: Whether this process is a copy of one in which polars had threads.
_lacking = False


def _has_polars_threads() -> bool:
    if "polars" not in sys.modules:
        return False
    try:
        return any(_OF_POLARS.fullmatch((one / "comm").read_text()) for one in _TASKS.iterdir())
    except OSError:
        # Where threads have no names there, polars is taken to have been used.
        return not _TASKS.is_dir()


_had_threads = False


def _look() -> None:
    global _had_threads
    _had_threads = _has_polars_threads()


def _remember() -> None:
    global _lacking
    _lacking = _lacking or _had_threads


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_look, after_in_child=_remember)


def need_polars() -> None:
    """Raise RubricateError where polars would wait for ever."""
    if _lacking:
        raise RubricateError(
            "this process is a copy (fork) of one that has read or written tables with polars, "
            "whose threads a copy has not: it would wait for ever. Start workers with "
            'multiprocessing.get_context("spawn"), or read and write tables in the first process'
        )
