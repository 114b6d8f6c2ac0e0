"""Linear algebra on one thread: small vectors cost more to share out than to compute."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Hold BLAS to one thread.

    On short vectors a second thread mostly waits, at the full price of a core: learning took four
    times, matching twice the processor time.

    Examples
    --------
    >>> with one_blas_thread():
    ...     pass
    """
    from threadpoolctl import threadpool_limits

    with threadpool_limits(1, user_api="blas"):
        yield
