"""The same function over many batches of items: here, in worker processes, or on a cluster."""

from rubricate.batch.forking import need_polars
from rubricate.batch.pools import open_pool
from rubricate.batch.running import BatchStore, Retries, run_batches
from rubricate.batch.work import Lost, OutOfTimeError, Work, time_limit

__all__ = [
    "BatchStore",
    "Lost",
    "OutOfTimeError",
    "Retries",
    "Work",
    "need_polars",
    "open_pool",
    "run_batches",
    "time_limit",
]
