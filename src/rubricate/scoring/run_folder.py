"""The folder of a run under way: held by one process, and replaced only by a complete run."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rubricate.batch import BatchStore
from rubricate.errors import OutputExistsError
from rubricate.files import PART, hold_folder
from rubricate.run.log import LOG
from rubricate.run.writing import PRODUCTS, REPORT, RUN

EVIDENCE = "evidence"
#: Where evidence is gathered while a finished run has that of other notes or another model.
_NEXT_EVIDENCE = "evidence.next"
_MAKING = ".making-"


@dataclass(frozen=True, slots=True)
class RunFolder:
    """The folder of a run, and the folder in it where the run is made.

    Everything is made in ``making`` and moved into place at the end, ``run.json`` last: a folder
    with a ``run.json`` holds a complete run, and a run that fails leaves an earlier one as it was.
    """

    folder: Path
    making: Path

    def open_store(
        self,
        plan: Mapping[str, Any],
        items: Sequence[str],
        check: Callable[[int, list[Any]], str],
        *,
        overwrite: bool,
    ) -> BatchStore:
        """Return the evidence of this plan that is already there, or a place for it."""
        usual, later = self.folder / EVIDENCE, self.folder / _NEXT_EVIDENCE
        stores = [BatchStore(place, items, check) for place in (later, usual)]
        store = next((one for one in stores if one.is_of(plan)), None)
        if store is None:
            # The evidence of a finished run stays until there is another one.
            store = stores[0] if (self.folder / RUN).exists() else stores[1]
        store.open(plan, overwrite=overwrite or store is stores[0])
        if store is stores[1]:
            shutil.rmtree(later, ignore_errors=True)
        return store

    def publish(self, store: BatchStore) -> None:
        """Move what was made into place; of an earlier run its model stays, and its log goes on."""
        for path in self.making.iterdir():
            if path.is_file():
                _flush(path)
        # Without this file the folder holds no finished run: the same command makes the rest again.
        (self.folder / RUN).unlink(missing_ok=True)
        # At once: what people decided is never away, whenever a run is killed.
        (self.making / LOG).replace(self.folder / LOG)
        made = sorted(path.name for path in self.making.iterdir() if path.name != RUN)
        for name in {*made, *REPORT, *PRODUCTS}:
            _remove(self.folder / name)
        for name in made:
            (self.making / name).replace(self.folder / name)
        if store.folder.name != EVIDENCE:
            _remove(self.folder / EVIDENCE)
            store.folder.replace(self.folder / EVIDENCE)
        (self.making / RUN).replace(self.folder / RUN)


@contextmanager
def hold_run_folder(folder: Path, *, overwrite: bool) -> Iterator[RunFolder]:
    """Hold the folder of a run; what killed runs left half done is removed.

    InputError if another process holds it, OutputExistsError if it holds a finished run that may
    not be overwritten.
    """
    with hold_folder(folder):
        if (folder / RUN).exists() and not overwrite:
            raise OutputExistsError(folder)
        for left in (*folder.glob(f"{_MAKING}*"), *folder.glob(f".*{PART}")):
            _remove(left)
        making = Path(tempfile.mkdtemp(prefix=_MAKING, dir=folder))
        try:
            yield RunFolder(folder, making)
        finally:
            shutil.rmtree(making, ignore_errors=True)


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def _flush(path: Path) -> None:
    """Have the system write a file to the disk, so that no power cut leaves its name alone."""
    number = os.open(path, os.O_RDWR)
    try:
        os.fsync(number)
    finally:
        os.close(number)
