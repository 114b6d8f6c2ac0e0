"""Steps that can be run again without harm: what went in, by hash, and what came out."""

from __future__ import annotations

import hashlib
import io
import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Generic, TypeVar

from rubricate import __version__
from rubricate.corpus import Corpus
from rubricate.errors import Advice, Fault, InputError, Setting, listed
from rubricate.files import file_hash, missing_path, whole_output
from rubricate.formats import EMBEDDED, is_embedded, read_corpus
from rubricate.formats.encoding import Json
from rubricate.formats.reading import read_text
from rubricate.formats.tables import csv_rows, unguarded
from rubricate.outputs import Kind, foreign_files
from rubricate.study.settings import STUDY_FILE, StudySettings, read_settings
from rubricate.study.summaries import StepRecord
from rubricate.values import to_plain, write_json


def read_numbered(path: str | Path, needed: Sequence[str] = ()) -> list[tuple[int, dict[str, str]]]:
    r"""Read a CSV with a header as one mapping per row, with its number for messages.

    An absent cell is an empty one.

    >>> import tempfile
    >>> place = Path(tempfile.mkdtemp()) / "t.csv"
    >>> _ = place.write_text("name,tp\nasthma,271\n")
    >>> read_numbered(place, ["name"])
    [(2, {'name': 'asthma', 'tp': '271'})]
    """
    place = Path(path)
    rows = csv_rows(io.StringIO(read_text(place), newline=""), place)
    (_, header), *lines = [row for row in rows if row[1]] or [(1, [])]
    absent = [name for name in needed if name not in header]
    if absent:
        raise InputError([_no_columns(absent, header, place)])
    twice = sorted({name for name in header if header.count(name) > 1})
    faults = [Fault(f"column {name!r} is there twice", place) for name in twice]
    faults += [
        Fault(
            f"has {len(line)} cells under {len(header)} columns; text with commas needs quotes",
            place, number, "row",
        )
        for number, line in lines
        if len(line) > len(header)
    ]  # fmt: skip
    InputError.raise_any(faults)
    short = [(number, line + [""] * (len(header) - len(line))) for number, line in lines]
    return [(n, dict(zip(header, map(unguarded, line), strict=True))) for n, line in short]


def _no_columns(absent: Sequence[str], header: Sequence[str], path: Path) -> Fault:
    what = f"lacks the column{'s' if len(absent) > 1 else ''} {', '.join(absent)}"
    if len(header) == 1 and (";" in header[0] or "\t" in header[0]):
        return Fault(f"{what}; cells must be separated by commas", path)
    return Fault(what, path)


S = TypeVar("S")
RECORD_FILE = "record.json"
#: What every record holds.
_RECORDED = {"step", "time", "version", "settings", "inputs", "outputs", "summary"}
#: Each step and the folder it writes, in the order of the five phases.
STEP_FOLDERS: Mapping[str, str] = {
    "population": "1-population/population",
    "plan": "2-sample/plan",
    "sample": "2-sample/sample",
    "assign": "3-annotation/packages",
    "collect": "4-reference/collected",
    "disagreements": "4-reference/disagreements",
    "curate": "4-reference/reference",
    "evaluate": "5-evaluation/evaluation",
    "report": "5-evaluation/report",
}
#: Steps whose files people get to fill in.
_HANDED_OUT = frozenset({"assign", "disagreements"})
#: Steps whose summary lies as a file of its own beside what they write, too.
SUMMARY_FILES: Mapping[str, str] = {
    "population": "population.json",
    "plan": "plan.json",
    "sample": "sample.json",
    "assign": "assignment.json",
    "evaluate": "evaluation.json",
}


@dataclass(frozen=True, slots=True)
class Study:
    """A study's folder and what its ``study.toml`` says."""

    folder: Path
    settings: StudySettings

    @classmethod
    def open(cls, folder: str | Path) -> Study:
        """Read the study in this folder (InputError when there is none)."""
        place = Path(folder)
        return cls(place, read_settings(place / STUDY_FILE))

    def path(self, name: str) -> Path:
        """Return a path of ``study.toml`` as seen from here."""
        return Path(name) if Path(name).is_absolute() else self.folder / name

    def source(self, name: str) -> str:
        """Return a corpus of ``study.toml``: an embedded one's name, or a path."""
        place = self.path(name)
        return name if name in EMBEDDED and not place.exists() else str(place)

    def tables(self, *names: str) -> dict[str, object]:
        """Return tables and values of ``study.toml`` by name, as a step records what it rests on.

        >>> Study(Path(), StudySettings(seed=3)).tables("seed", "sampling")
        {'seed': 3, 'sampling': {'allocation': 'sqrt'}}
        """
        everything = asdict(self.settings)
        return {name: everything[name] for name in names}

    def output(self, step: str, *parts: str) -> Path:
        """Return the folder of a step, or a file in it."""
        return self.folder.joinpath(STEP_FOLDERS[step], *parts)

    def corpus(self, step: str, name: str) -> Corpus:
        """Return a corpus that a step wrote."""
        return read_corpus(self.output(step, name), format="jsonl")

    def done(self, step: str) -> StepRecord | None:
        """Return a step's record, None if it was not run."""
        place = self.output(step, RECORD_FILE)
        if not place.exists():
            return None
        try:
            record: StepRecord = json.loads(place.read_text(encoding="utf-8"))
            if not record.keys() >= _RECORDED:
                raise ValueError("it lacks parts")
        except (OSError, ValueError, AttributeError) as error:
            what = f"is not a record of the step {step!r}; remove {place.parent} and run the step"
            raise InputError([Fault(what, place)]) from error
        record["summary"] = _with_flat_estimates(record["summary"])
        return record

    def need(self, step: str) -> Any:
        """Return a step's summary (of `rubricate.study.summaries`), which must have been run.

        InputError with the command to run if it was not.
        """
        record = self.done(step)
        if record is None:
            run = f"rubricate study {step} {self.folder}"
            raise InputError(f"the step {step!r} was not run yet. Run: {run}")
        return record["summary"]


@dataclass(frozen=True, slots=True)
class StepResult(Generic[S]):
    """Result of a step: its name, whether it wrote anything, and its summary."""

    step: str
    changed: bool
    summary: S
    folder: Path


def run_step(
    study: Study,
    step: str,
    work: Callable[[Path], S],
    *,
    inputs: Mapping[str, Path | str],
    settings: Mapping[str, object],
    overwrite: bool = False,
) -> StepResult[S]:
    """Run a step once for its inputs, and write its folder whole with a record."""
    folder = study.output(step)
    facts: Json = to_plain(
        {
            "version": __version__,
            "settings": dict(settings),
            "inputs": {name: input_hash(place) for name, place in inputs.items()},
            # As ``study.toml`` would name them: an embedded corpus, or a path from there.
            "places": {
                name: str(place)
                if is_embedded(place)
                else Path(os.path.relpath(place, study.folder)).as_posix()
                for name, place in inputs.items()
            },
        }
    )
    record = study.done(step)
    if record is not None:
        changes = _changes(record, facts, folder)
        if not changes:
            return StepResult(step, False, record["summary"], folder)
        if not overwrite:
            listed = "; ".join(changes)
            raise InputError(
                f"{folder} was made from something else: {listed}.",
                advice=Advice("Use {} to make it again.", (Setting("overwrite", True),)),
            )
    with whole_output(
        folder, overwrite=overwrite, kind=_step_kind(step), inputs=inputs.values()
    ) as place:
        place.mkdir()
        summary: S = to_plain(work(place))
        if step in SUMMARY_FILES:
            write_json(place / SUMMARY_FILES[step], summary)
        outputs = {
            str(p.relative_to(place).as_posix()): file_hash(p)
            for p in sorted(place.rglob("*"))
            if p.is_file()
        }
        now = datetime.now(UTC).isoformat(timespec="seconds")
        written = {"step": step, "time": now, **facts, "outputs": outputs, "summary": summary}
        write_json(place / RECORD_FILE, written)
    return StepResult(step, True, summary, folder)


def _step_kind(step: str) -> Kind:
    """Return the kind of a step's folder: its record names all its files."""

    def fault(folder: Path) -> str:
        if not (folder / RECORD_FILE).is_file():
            return f"there is no {RECORD_FILE} in it"
        outputs = json.loads((folder / RECORD_FILE).read_text(encoding="utf-8"))["outputs"]
        foreign = foreign_files(folder, {RECORD_FILE, *outputs}.__contains__)
        if foreign or step not in _HANDED_OUT:
            return foreign
        changed = [
            name
            for name, digest in outputs.items()
            if (folder / name).is_file() and file_hash(folder / name) != digest
        ]
        return f"people went on in {listed(changed, 3)}" if changed else ""

    return Kind(f"the folder of the step {step!r}", fault)


def input_hash(place: Path | str) -> str:
    """Return the identity of an input: the SHA-256 of a file or folder, or an embedded corpus.

    The record of a step is left out: its time differs although the result is the same.
    """
    if is_embedded(place):
        return f"embedded {place} of rubricate {__version__}"
    path = Path(place)
    if not path.exists():
        raise missing_path(path)
    if not (path / RECORD_FILE).is_file():
        return file_hash(path)
    digest = hashlib.sha256()
    for part in sorted(p for p in path.rglob("*") if p.is_file() and p != path / RECORD_FILE):
        digest.update(f"{part.relative_to(path).as_posix()}\0{file_hash(part)}".encode())
    return digest.hexdigest()


def _changes(record: StepRecord, facts: Json, folder: Path) -> list[str]:
    """Say what differs between a record and now."""
    found = []
    if record["version"] != facts["version"]:
        found.append(f"rubricate was {record['version']}, is {facts['version']}")
    pairs: tuple[tuple[str, Mapping[str, object], Mapping[str, object]], ...] = (
        ("inputs", record["inputs"], facts["inputs"]),
        ("settings", record["settings"], facts["settings"]),
    )
    for kind, old, new in pairs:
        names = [n for n in sorted({*old, *new}) if old.get(n) != new.get(n)]
        if names:
            found.append(f"{kind} changed ({', '.join(names)})")
    touched = [
        name
        for name, digest in record["outputs"].items()
        if not (folder / name).is_file() or file_hash(folder / name) != digest
    ]
    if touched:
        found.append(f"files were changed or removed ({listed(touched, 5)})")
    return found


def changed_settings(record: StepRecord, study: Study) -> list[str]:
    """Name what ``study.toml`` says otherwise than when the step of a record was run."""
    now = to_plain(study.tables(*(f.name for f in fields(StudySettings))))
    return [name for name, value in record["settings"].items() if now.get(name, value) != value]


def _with_flat_estimates(value: Any) -> Any:
    """Return a summary with estimates as they are now; earlier ones kept the interval apart.

    >>> interval = {"low": 0.4, "high": 0.6, "confidence": 0.95, "method": "wilson"}
    >>> _with_flat_estimates({"f1": {"value": 0.5, "interval": interval}})
    {'f1': {'value': 0.5, 'low': 0.4, 'high': 0.6, 'level': 0.95, 'method': 'wilson'}}
    """
    if isinstance(value, list):
        return [_with_flat_estimates(one) for one in value]
    if not isinstance(value, dict):
        return value
    if value.keys() == {"value", "interval"}:
        old = value["interval"]
        return {"value": value["value"], "low": old["low"], "high": old["high"],
                "level": old["confidence"], "method": old["method"]}  # fmt: skip
    return {name: _with_flat_estimates(one) for name, one in value.items()}
