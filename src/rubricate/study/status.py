"""A new study's folder, what of a study is done or out of date, and which command comes next."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from rubricate.errors import Fault, InputError
from rubricate.files import packaged_text, whole_output
from rubricate.formats import EMBEDDED
from rubricate.study.collection import RETURNED
from rubricate.study.record import STEP_FOLDERS, Study, changed_settings, input_hash
from rubricate.study.settings import STUDY_FILE
from rubricate.study.summaries import StepRecord


def new_study(
    folder: str | Path, *, corpus: str | Any = "", name: str = "", rubric: str = ""
) -> Path:
    """Make a study's folder with a commented ``study.toml`` to fill in.

    A data frame (pandas, polars) of notes is kept in the folder as ``notes.csv``.

    >>> import tempfile
    >>> new_study(Path(tempfile.mkdtemp()) / "asthma", corpus="open-notes").name
    'study.toml'
    """
    place = Path(folder)
    target = place / STUDY_FILE
    if target.exists():
        raise InputError(
            [Fault("already exists. Edit it, or choose another folder for a new study", target)]
        )
    if not isinstance(corpus, str):
        with whole_output(place / "notes.csv") as staged:
            if hasattr(corpus, "write_csv"):
                corpus.write_csv(staged)  # polars
            else:
                corpus.to_csv(staged, index=False)  # pandas
        corpus = "notes.csv"
    # A JSON string is a TOML string.
    text = packaged_text("study", "templates", "study.toml").format(
        name=json.dumps(name or place.absolute().name, ensure_ascii=False),
        corpus=json.dumps(corpus, ensure_ascii=False),
        rubric=f"rubric = {json.dumps(rubric, ensure_ascii=False)}" if rubric else '# rubric = ""',
    )
    with whole_output(target) as staged:
        staged.write_text(text, encoding="utf-8")
    guidelines = place / "guidelines.md"
    if not guidelines.exists():
        with whole_output(guidelines) as staged:
            staged.write_text(
                packaged_text("study", "templates", "guidelines.md"), encoding="utf-8"
            )
    return target


#: The steps a person takes, in order; each is a command of its own.
COMMANDS = ("population", "plan", "sample", "assign", "collect", "curate", "evaluate", "report")


@dataclass(frozen=True, slots=True)
class StepStatus:
    """State of a step: ``done``, ``stale`` (its inputs changed) or ``open``.

    ``why`` says what has changed since a stale step was run.
    """

    step: str
    state: str
    time: str
    folder: str
    why: str = ""


@dataclass(frozen=True, slots=True)
class StudyStatus:
    """All steps, and what to do next."""

    steps: tuple[StepStatus, ...]
    next_step: str
    advice: str
    command: str

    def to_dict(self) -> dict[str, object]:
        """Return everything as plain values."""
        return {
            "steps": [asdict(step) for step in self.steps],
            "next": self.next_step,
            "advice": self.advice,
            "command": self.command,
        }


def study_status(study: Study) -> StudyStatus:
    """Say what is done and what comes next.

    >>> import tempfile
    >>> from pathlib import Path
    >>> from rubricate.study.settings import StudySettings
    >>> study_status(Study(Path(tempfile.mkdtemp()), StudySettings())).next_step
    'population'
    """
    steps = []
    for step in COMMANDS:
        record = study.done(step)
        if record is None:
            steps.append(StepStatus(step, "open", "", STEP_FOLDERS[step]))
            continue
        why = _why_stale(study, record)
        earlier = next((s.step for s in steps if s.state == "stale"), None)
        if not why and earlier is not None:
            why = f"the step {earlier!r}, which it rests on, is out of date"
        state = "stale" if why else "done"
        steps.append(StepStatus(step, state, record["time"], STEP_FOLDERS[step], why))
    first = next((s for s in steps if s.state != "done"), None)
    if first is None:
        page = study.output("report", "report.html")
        return StudyStatus(tuple(steps), "", f"The study is complete: {page}", "")
    more = " --overwrite" if first.state == "stale" else ""
    command = f"rubricate study {first.step} {study.folder}{more}"
    return StudyStatus(tuple(steps), first.step, _advice(study, first), command)


def stale_warnings(study: Study, before: str) -> list[str]:
    """Return a warning for each step before this one that is out of date.

    >>> import tempfile
    >>> from pathlib import Path
    >>> from rubricate.study.settings import StudySettings
    >>> stale_warnings(Study(Path(tempfile.mkdtemp()), StudySettings()), "report")
    []
    """
    steps = study_status(study).steps
    names = [step.step for step in steps]
    earlier = steps[: names.index(before)] if before in names else ()
    return [
        f"the step {step.step!r} is out of date, and figures that rest on it with it: {step.why}"
        for step in earlier
        if step.state == "stale"
    ]


def _why_stale(study: Study, record: StepRecord) -> str:
    """Say what a step rests on that has changed since it was run; nothing if nothing has."""
    changed = changed_settings(record, study)
    if changed:
        return f"study.toml says something else under {', '.join(changed)}"
    made = {folder: step for step, folder in STEP_FOLDERS.items()}
    for name, place in record.get("places", {}).items():
        source = study.path(place)
        if place in EMBEDDED and not source.exists():
            continue  # it changes with the version only
        if not source.exists():
            return f"{source} is gone"
        if input_hash(source) != record["inputs"][name]:
            again = f"the step {made.get(place)!r} was made again"
            return again if place in made else f"{source} has changed"
    return ""


def _advice(study: Study, step: StepStatus) -> str:
    if step.state == "stale":
        return f"Since {step.step!r} was run, {step.why}; make it again."
    if step.step == "collect":
        folder = study.output("assign")
        return (
            f"Give each annotator their folder in {folder} (not key.csv), and put what comes back "
            f"into {study.folder / RETURNED}/ANNOTATOR."
        )
    if step.step == "curate" and study.done("disagreements") is not None:
        listed = study.output("disagreements", "disagreements.csv")
        return f"Decide the rows of {listed} and save it as 4-reference/decisions.csv."
    return {
        "population": "Fill in study.toml, then select the population.",
        "plan": "Plan the sample size.",
        "sample": "Draw the sample.",
        "assign": "Name the annotators in study.toml, then write their folders.",
        "curate": "Settle the disagreements.",
        "evaluate": "Measure the system.",
        "report": "Write the report.",
    }[step.step]
