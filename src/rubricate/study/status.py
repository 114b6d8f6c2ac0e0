"""What of a study is done, what is out of date, and which command comes next."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from rubricate.study.collection import RETURNED
from rubricate.study.record import STEP_FOLDERS, Study, input_hash

#: The steps a person takes, with their command.
COMMANDS = {
    "population": "population",
    "plan": "plan",
    "sample": "sample",
    "assign": "assign",
    "collect": "collect",
    "curate": "curate",
    "evaluate": "evaluate",
    "report": "report",
}
#: Which step's folder each recorded input is, besides those named like their step.
_MADE_BY = {step: step for step in COMMANDS} | {
    "packages": "assign",
    "collected": "collect",
    "reference": "curate",
}


@dataclass(frozen=True, slots=True)
class StepStatus:
    """Where a step stands: ``done``, ``stale`` (an earlier step was made again) or ``open``."""

    step: str
    state: str
    time: str
    folder: str


@dataclass(frozen=True, slots=True)
class StudyStatus:
    """All steps, and what to do next."""

    steps: tuple[StepStatus, ...]
    next_step: str
    advice: str
    command: str

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values."""
        return {
            "steps": [
                {"step": s.step, "state": s.state, "time": s.time, "folder": s.folder}
                for s in self.steps
            ],
            "next": self.next_step,
            "advice": self.advice,
            "command": self.command,
        }


def study_status(study: Study) -> StudyStatus:
    """Say what is done and what comes next.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from rubricate.study.settings import StudySettings
    >>> study_status(Study(Path(tempfile.mkdtemp()), StudySettings())).next_step
    'population'
    """
    steps = []
    for step in COMMANDS:
        record = study.done(step)
        state = "open" if record is None else "done"
        if record is not None and _is_stale(study, record):
            state = "stale"
        time = "" if record is None else record["time"]
        steps.append(StepStatus(step, state, time, STEP_FOLDERS[step]))
    first = next((s for s in steps if s.state != "done"), None)
    if first is None:
        page = study.output("report", "report.html")
        return StudyStatus(tuple(steps), "", f"The study is complete: {page}", "")
    more = " --overwrite" if first.state == "stale" else ""
    command = f"rubricate study {COMMANDS[first.step]} {study.folder}{more}"
    return StudyStatus(tuple(steps), first.step, _advice(study, first), command)


def _is_stale(study: Study, record: dict[str, Any]) -> bool:
    """Tell whether an earlier step has been made again since."""
    for name, digest in record["inputs"].items():
        step = _MADE_BY.get(name)
        folder = study.output(step) if step else None
        if folder is not None and (not folder.exists() or input_hash(folder) != digest):
            return True
    return False


def _advice(study: Study, step: StepStatus) -> str:
    if step.state == "stale":
        return f"An earlier step was made again since {step.step!r}; make it again, too."
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
