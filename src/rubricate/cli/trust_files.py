"""``rubricate trust verify`` and ``report``: the files of a run, compared and shown."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from rubricate.cli.options import There, from_option, overwrite_option, split_option
from rubricate.cli.output import Answer, Told, answering, told_in_tables
from rubricate.display import DASH, counted
from rubricate.progress import shown_progress

if TYPE_CHECKING:
    from rubricate.corpus import Note
    from rubricate.progress import Progress
    from rubricate.run import ScoredRun
    from rubricate.trust import AuditLine, Fairness

RUN_FOLDER = There(file_okay=False)
_FILE = There()
run_argument = click.argument("run_folder", metavar="RUN", type=RUN_FOLDER)
accept_edited_option = click.option(
    "--accept-edited", is_flag=True, help="Go on with tables that were edited after the run."
)


def open_run(folder: Path, *, accept_edited: bool, progress: Progress) -> ScoredRun:
    """Read a run whose tables are those that it wrote, unless edited ones are accepted."""
    from rubricate.run import read_run
    from rubricate.trust import check_tables

    if not accept_edited:
        check_tables(folder)
    return read_run(folder, progress=progress)


@click.command("verify", epilog="Example: rubricate trust verify scores")
@run_argument
@answering
def verify_command(run_folder: Path) -> Answer:
    """Compare every file of RUN with its run.json; exit with 1 if one differs."""
    from rubricate.trust import verify_run

    found = verify_run(run_folder)
    n_covered = sum(one.status != "not covered" for one in found.files)
    words = (
        f"{len(found.differing)} of {n_covered} differ from run.json"
        if found.differing
        else f"all {n_covered} are as run.json says"
    )
    told = Told(
        f"{words}\nrun.json: {found.run_sha256}"
        + (f"\nlog: {found.log_sha256}" if found.log_sha256 else ""),
        ("file or folder", "status", "note"),
        [(one.name, one.status, one.note) for one in found.files],
        most=len(found.files),
    )
    return told_in_tables(found.to_dict, told, failed=bool(found.differing))


@click.command("audit", epilog="Example: rubricate trust audit scores --note 10008")
@run_argument
@click.option("--note", metavar="ID", help="The whole history of one note, the machine's part too.")
@answering
def audit_command(run_folder: Path, note: str | None) -> Answer:
    """Print who decided what, when and why in RUN, and what the score became by it."""
    from rubricate.trust import audit_run

    lines = audit_run(run_folder, note)
    people = [line for line in lines if not line.machine]
    names = len({line.by for line in people})
    words = (
        f"{counted(len(people), 'decision')} of {counted(names, 'person', 'people')}"
        + (f" on note {note}" if note else "")
        + "; the log is whole"
    )
    rows = [
        (line.at, line.by, *(() if note else (line.note,)), line.wording or line.feature,
         _decision(line), line.why, _score(line), line.standing)
        for line in lines
    ]  # fmt: skip
    header = ("when", "who", *(() if note else ("note",)), "feature", "decision", "why",
              "score then", "")  # fmt: skip
    told = Told(words, header, rows, most=len(rows))
    return told_in_tables({"decisions": [line.to_dict() for line in lines]}, told)


def _decision(line: AuditLine) -> str:
    if line.found is None:
        return "undecided"
    # Words that are marked in what is not found say otherwise.
    said = "found" if line.found else "contradicted" if line.spans else "not found"
    said += f" at {line.spans}" if line.spans else ""
    return said + ("" if line.certainty is None else f", {line.certainty:.0%} sure")


def _score(line: AuditLine) -> str:
    return DASH if line.score is None else f"{line.score:g} of {line.maximum:g}"


@click.command(
    "report", epilog="Example: rubricate trust report scores open-notes --where split=test"
)
@run_argument
@click.argument("corpus_path", metavar="CORPUS")
@click.option("--previous", metavar="RUN", type=RUN_FOLDER, help="An earlier run, to show changes.")
@click.option("--policy", type=_FILE, help="A review policy.")
@from_option
@split_option()
@overwrite_option
@accept_edited_option
@answering
def report_command(
    run_folder: Path,
    corpus_path: str,
    previous: Path | None,
    policy: Path | None,
    from_format: str | None,
    where: Sequence[str],
    overwrite: bool,
    accept_edited: bool,
) -> Answer:
    """Write report.html, and a page that shows every note, into RUN."""
    from rubricate.files import hold_folder
    from rubricate.reports.scoring import write_scoring_report
    from rubricate.trust import check_tables

    for folder in () if accept_edited else (run_folder, previous):
        if folder is not None:
            check_tables(folder)
    with hold_folder(run_folder), shown_progress() as progress:
        page = write_scoring_report(
            run_folder,
            read_notes(corpus_path, from_format, where),
            previous=previous,
            policy=policy,
            overwrite=overwrite,
            progress=progress,
        )
    return told_in_tables({"report": str(page)}, Told(f"report: {page}"))


def feature_words(folder: Path) -> dict[str, str]:
    """Return the wording of each feature of a run, with its case where there are several."""
    from rubricate.run import ITEM_COLUMNS, read_rows

    names = ("feature", "case", "feature_text")
    columns = [column for column in ITEM_COLUMNS if column.name in names]
    items = folder / "items.csv"
    rows = read_rows(items, columns) if items.is_file() else iter(())
    found = {tuple(str(row.get(name, "")) for name in names) for row in rows}
    several = len({case for _, case, _ in found}) > 1
    return {one: f"{case}: {text}" if several else text for one, case, text in found if text}


def told_groups(fair: Fairness) -> Told:
    """Return size, means and rates of each group, and why one is left out."""
    from rubricate.trust.fairness import NO_GROUP

    header, lines = fair.group_table()
    kept = [i for i, name in enumerate(header) if not name.endswith((", low", ", high"))]
    shown = []
    for line in lines:
        cells = list(line)
        for i, name in enumerate(header):
            if f"{name}, low" in header and cells[i] is not None:
                cells[i] = f"{cells[i]:.1f} ({cells[i + 1]:.1f} to {cells[i + 2]:.1f})"
            elif isinstance(cells[i], float):
                cells[i] = f"{cells[i]:.1f}"
        shown.append([cells[i] for i in kept])
    without = fair.left_out.get(NO_GROUP, "")
    n_large, all_groups = len(fair.reported), counted(len(fair.sizes), "group")
    words = f"{n_large} of {all_groups} are compared; values in per cent"
    if n_large < 2:
        words = (
            f"{n_large} of {all_groups} large enough: nothing can be compared; values in per cent"
        )
    return Told(words + (f"\n{without}" if without else ""), [header[i] for i in kept], shown,
                most=len(shown))  # fmt: skip


def read_notes(
    path: str, from_format: str | None = None, where: Sequence[str] = ()
) -> Iterator[Note]:
    """Yield the notes of a corpus, a table or a folder of texts, as `score` reads them."""
    from rubricate.corpus import Note
    from rubricate.formats.notes import open_notes

    source = open_notes(path, format=from_format, where=where)
    return (note for note in source.notes() if isinstance(note, Note))


def group_members(column: str, notes_path: str | None, table: Path | None) -> dict[str, str]:
    """Return the group of each note, from a table or from the notes' metadata."""
    from rubricate.run import read_texts
    from rubricate.trust.fairness import groups_of_notes

    if table is not None:
        pairs = read_texts(table, ("note", column))
        return {note: group for note, group in pairs if group}
    if notes_path is None:
        raise click.UsageError(
            "give --notes CORPUS or --groups FILE.csv to say who is in which group"
        )
    return groups_of_notes(list(read_notes(notes_path)), column)
