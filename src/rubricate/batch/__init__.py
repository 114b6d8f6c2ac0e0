"""The same function over many batches of items: here, in worker processes, or on a cluster."""

from rubricate.batch.pools import InlinePool, Pool, open_pool
from rubricate.batch.retrying import Retries, run_batches
from rubricate.batch.store import BatchStore
from rubricate.batch.work import Lost, Work

__all__ = [
    "BatchStore",
    "InlinePool",
    "Lost",
    "Pool",
    "Retries",
    "Work",
    "open_pool",
    "run_batches",
]
