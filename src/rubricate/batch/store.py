"""Finished batches on disk, so that a run that was killed goes on where it stopped."""

from __future__ import annotations

import gzip
import json
import os
import shutil
import zlib
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rubricate.errors import InputError, RubricateError

PLAN_FILE = "plan.json"
_ENDING = ".jsonl.gz"
#: Batches kept in memory for those that are asked for out of order.
_KEPT = 8


class BatchStore:
    """A folder with one file a finished batch and the plan they belong to.

    A file appears whole or not at all. Results are JSON values, one an item.

    Examples
    --------
    >>> import tempfile
    >>> store = BatchStore(Path(tempfile.mkdtemp()) / "batches")
    >>> store.open({"notes": "abc"})
    0
    >>> store.put(0, [{"found": True}, None])
    >>> store.get(0)
    [{'found': True}, None]
    >>> BatchStore(store.folder).open({"notes": "abc"})
    1
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._recent: OrderedDict[int, list[Any]] = OrderedDict()

    def open(self, plan: Mapping[str, Any], *, overwrite: bool = False) -> int:
        """Start, or go on with, the batches of a plan; return how many are done.

        Raises
        ------
        InputError
            If the folder holds batches of another plan, and ``overwrite`` is false.
        """
        wanted = json.loads(json.dumps(plan))
        path = self.folder / PLAN_FILE
        if path.exists() and self._plan() != wanted:
            if not overwrite:
                raise InputError(
                    f"{self.folder} holds finished batches of other notes, another rubric, model "
                    "or setting. Use --overwrite to throw them away, or write somewhere else."
                )
            shutil.rmtree(self.folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        if not path.exists():
            _write_whole(path, (json.dumps(wanted, indent=1) + "\n").encode())
        return len(self.done())

    def _plan(self) -> Any:
        try:
            return json.loads((self.folder / PLAN_FILE).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return None

    def done(self) -> set[int]:
        """Return the keys of the finished batches."""
        return {
            int(path.name.removesuffix(_ENDING))
            for path in self.folder.glob(f"[0-9]*{_ENDING}")
            if path.name.removesuffix(_ENDING).isdigit()
        }

    def put(self, key: int, results: Sequence[Any]) -> None:
        """Keep the results of one batch."""
        lines = "".join(
            json.dumps(value, ensure_ascii=False, separators=(",", ":")) + "\n" for value in results
        )
        # Without a time the same results are the same bytes.
        body = gzip.compress(lines.encode(), compresslevel=1, mtime=0)
        _write_whole(self._path(key), body)

    def get(self, key: int) -> list[Any]:
        """Return the results of one batch.

        Raises
        ------
        RubricateError
            If its file is broken.
        """
        if key in self._recent:
            self._recent.move_to_end(key)
            return self._recent[key]
        path = self._path(key)
        try:
            body = path.read_bytes()
            if not body:
                raise EOFError
            lines = gzip.decompress(body).decode().split("\n")
            values = [json.loads(line) for line in lines if line]
        except (OSError, EOFError, ValueError, zlib.error) as error:
            raise RubricateError(
                f"{path} cannot be read. Delete it and start the same command again."
            ) from error
        self._recent[key] = values
        if len(self._recent) > _KEPT:
            self._recent.popitem(last=False)
        return values

    def _path(self, key: int) -> Path:
        return self.folder / f"{key:06d}{_ENDING}"


def _write_whole(path: Path, body: bytes) -> None:
    """Write a file that is either complete or not there, whatever happens to this process."""
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    with part.open("wb") as stream:
        stream.write(body)
        stream.flush()
        os.fsync(stream.fileno())
    part.replace(path)
