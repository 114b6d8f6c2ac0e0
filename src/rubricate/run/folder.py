"""The folder of a run: what in it a new run may replace."""

from __future__ import annotations

import getpass
import json
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from rubricate.batch.running import PLAN_FILE
from rubricate.errors import Advice, ArgumentError, Fault, InputError, Setting, listed
from rubricate.files import PART, file_hash, write_whole
from rubricate.formats.encoding import read_json
from rubricate.outputs import Kind, foreign_files, refuse_inputs
from rubricate.run.writing import (
    EVIDENCE,
    LOG,
    PRODUCTS,
    REPORT,
    RUN,
    TIMES,
    LogWriter,
    log_state,
    read_log,
    read_record,
    set_log,
)

#: The folder of a model that a run learned itself.
MODEL = "model"
#: Where evidence is gathered while a finished run has that of other notes or another model.
NEXT_EVIDENCE = "evidence.next"
#: Says what log is right while a run is moved into place.
PENDING = ".run.json.next"
_STORES = (EVIDENCE, NEXT_EVIDENCE)
_PLANS = tuple(f"{one}/{PLAN_FILE}" for one in _STORES)


def check_folder(folder: Path, inputs: Sequence[str | Path] = ()) -> None:
    """Refuse to score into a folder where that would replace an input or what no run made.

    A run may lie among other files, inputs too: it replaces only files of its own names. What has
    such a name must be of an earlier run: of a finished one, or of one that was stopped. It does
    not lie inside an input, which would change while it is read.
    """
    refuse_inputs(folder, inputs, above=False, inside=False)
    for name in (*PRODUCTS, LOG, *_STORES, *REPORT):
        refuse_inputs(folder / name, inputs)
    # A store that was killed while it was thrown away has lost its plan, and has some batches.
    foreign = [one for one in _STORES if (folder / one).exists() and _is_foreign(folder / one)]
    if (folder / RUN).exists():
        read_record(folder)
    elif not any((folder / one).is_file() for one in (PENDING, *_PLANS)):
        foreign += [name for name in (*PRODUCTS, *REPORT) if (folder / name).exists()]
    _refuse_foreign(folder, foreign)


def check_log(folder: str | Path) -> None:
    """Raise InputError if the log in the folder of a run is not the one that the run knows.

    run.json and times.json say how long it is, and hashes of it: lines may be missing at its end,
    it may be empty or gone, or have been written anew as a whole.
    """
    place = Path(folder)
    problem = log_problem(place)
    if problem:
        advice = Advice(
            "Or accept the log as it is now with {}: that is recorded in it",
            (Setting("accept_log", True),),
        )
        message = f"{problem}. Put back the file as it was."
        raise InputError([Fault(message, place / LOG, advice=advice)])


def log_problem(folder: Path) -> str:
    """Return in what the log differs from what the run knows; nothing where it does not."""
    known = _known_states(folder)
    if known is None:
        if (folder / LOG).exists():
            return f"there is no {RUN} that knows this log of decisions"
        return ""
    if not known:
        return f"{RUN} does not say which log of decisions is right"
    state = log_state(folder)
    for one in known:
        if one.items() <= state.items():
            return ""
    seal, last = state["seal"], known[-1]
    if last["seal"] != seal:
        n_known, n_now = last["seal"]["decisions"], seal["decisions"]
        if not (folder / LOG).is_file():
            return f"the log of decisions is gone; the run knows {n_known:,} decisions"
        if n_known != n_now:
            return f"the log holds {n_now:,} decisions, and the run knows {n_known:,}"
        return "the log holds other decisions than those the run knows"
    return f"the log has {state['entries']:,} lines, and {TIMES} says {last.get('entries', 0):,}"


def _known_states(folder: Path) -> list[dict[str, Any]] | None:
    """Return the states of the log that a run knows; None if the folder names no run.

    While a run is moved into place, these are the state before and the one after. There are none
    where run.json does not say how long its log is.
    """
    if not (folder / RUN).exists():
        if not (folder / PENDING).is_file():
            return None
        states = read_json(folder / PENDING).get("log")
        return (
            [one for one in states if isinstance(one, dict) and _is_seal(one.get("seal"))]
            if isinstance(states, list)
            else []
        )
    # A seal that was deleted must not make every log the right one.
    seal = read_record(folder).get("log")
    if not _is_seal(seal):
        return []
    known: dict[str, Any] = {"seal": seal}
    with suppress(OSError, ValueError, AttributeError):
        said = json.loads((folder / TIMES).read_text(encoding="utf-8")).get("log")
        known |= {name: said[name] for name in ("entries", "head")} if said else {}
    return [known]


def _is_seal(value: Any) -> bool:
    return isinstance(value, dict) and isinstance(value.get("decisions"), int)


def accept_log(folder: str | Path) -> bool:
    """Record in the log of a run that it is accepted although it is not the one the run knows.

    Return whether there was anything to accept. InputError if its lines are not bound together:
    nothing can be proved of such a log.
    """
    place = Path(folder)
    problem = log_problem(place)
    if not problem:
        return False
    known, state = _known_states(place), log_state(place)
    with tempfile.TemporaryDirectory(prefix=".accepting-", dir=place) as scratch:
        with LogWriter(place, Path(scratch)) as log:
            now = datetime.now(UTC).isoformat(timespec="seconds")
            log.add("accepted", at=now, by=_user(), why=problem, known=known, found=state)
        state = log.state
        write_pending(place, [state])
        (Path(scratch) / LOG).replace(place / LOG)
    if (place / RUN).exists():
        set_log(place, state)
        (place / PENDING).unlink()
    return True


def _user() -> str:
    with suppress(OSError, KeyError, ImportError):
        return getpass.getuser()
    return ""


def write_pending(folder: Path, states: Sequence[Mapping[str, Any]]) -> None:
    """Say which logs are right while a run is moved into place, and has no run.json."""
    write_whole(folder / PENDING, json.dumps({"log": list(states)}).encode())


def check_model(folder: Path, made: Path) -> None:
    """Refuse to replace the model in the folder of a run by the one made now, if no run made it."""
    there = folder / MODEL
    if not made.exists() or not there.exists() or file_hash(made) == file_hash(there):
        return
    is_own = (folder / RUN).exists() and MODEL in read_record(folder)["outputs"]
    _refuse_foreign(folder, [] if is_own else [MODEL])


def _is_foreign(store: Path) -> bool:
    own = (PLAN_FILE, "*.jsonl.gz", f".*{PART}")
    return not store.is_dir() or bool(
        foreign_files(store, lambda name: any(fnmatchcase(name, one) for one in own))
    )


def _refuse_foreign(folder: Path, names: list[str]) -> None:
    if names:
        raise ArgumentError(
            f"{folder}: {listed(names)} would be replaced, and the last run there did not write "
            "it. Choose another folder, or move it away"
        )


def _run_fault(folder: Path) -> str:
    """Tell why the folder of a run may not be replaced as a whole."""
    outputs = read_record(folder)["outputs"]
    if any(entry["kind"] == "person" for entry in read_log(folder)):
        return "people decided in it, and their decisions are never replaced"
    own = {*outputs, *PRODUCTS, *REPORT, LOG, *_STORES}
    return foreign_files(folder, lambda name: name.partition("/")[0] in own)


#: The folder of a run in which nobody decided anything.
UNDECIDED_RUN = Kind("a run without decisions of people", _run_fault)
