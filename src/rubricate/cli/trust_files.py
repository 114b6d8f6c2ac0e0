"""``rubricate trust verify`` and ``report``: the files of a run, compared and shown."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from rubricate.cli.command import Output, Source, There, verb
from rubricate.cli.options import (
    accept_log_option,
    check_report,
    from_option,
    overwrite_option,
    split_option,
)
from rubricate.cli.output import Answer, Told, answering, told_in_tables, warn
from rubricate.display import DASH, counted
from rubricate.progress import shown_progress

if TYPE_CHECKING:
    from rubricate.corpus import Note
    from rubricate.formats.options import ReadOptions
    from rubricate.progress import Progress
    from rubricate.run import ScoredRun
    from rubricate.trust import Fairness, HistoryLine

RUN_FOLDER = There(file_okay=False)
_FILE = There()
run_argument = click.argument("run_folder", metavar="RUN", type=RUN_FOLDER)
accept_edited_option = click.option(
    "--accept-edited", is_flag=True, help="Use tables that were edited after the run."
)


def accept_log_of(folder: Path) -> None:
    """Accept the log of a run as it is now, and say so."""
    from rubricate.files import hold_folder
    from rubricate.run.folder import accept_log

    with hold_folder(folder):
        if accept_log(folder):
            warn(f"the log of {folder} is accepted as it is now; that is recorded in it")


def open_run(folder: Path, *, accept_edited: bool, progress: Progress) -> ScoredRun:
    """Read a run whose tables are those that it wrote, unless edited ones are accepted."""
    from rubricate.run import read_run
    from rubricate.trust import check_tables

    if not accept_edited:
        check_tables(folder)
    return read_run(folder, progress=progress)


@verb("verify", epilog="Example: rubricate trust verify scores")
@run_argument
@answering
def verify_command(run_folder: Path) -> Answer:
    """Check every file of RUN against its run.json; exit with code 1 if a file differs."""
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
        + (f"\nlog: {found.log_sha256}" if found.log_sha256 else "")
        + (f"\ndecisions: {found.decisions_sha256}" if found.decisions_sha256 else ""),
        ("file or folder", "status", "note"),
        [(one.name, one.status, one.note) for one in found.files],
        most=len(found.files),
    )
    return told_in_tables(found.to_dict, told, failed=bool(found.differing))


@verb("history", epilog="Example: rubricate trust history scores --note 10008")
@run_argument
@click.option("--note", metavar="ID",
              help="Show the whole history of one note, with the decisions of the model. The "
              "number "
              "of a student shows the notes of all stations.")  # fmt: skip
@accept_log_option
@answering
def history_command(run_folder: Path, note: str | None, accept_log: bool) -> Answer:
    """Print who decided what, when and why in RUN, and how the score changed."""
    from rubricate.trust import run_history

    if accept_log:
        accept_log_of(run_folder)
    lines = run_history(run_folder, note)
    people = [line for line in lines if not line.machine]
    one_note = note is not None and len({line.note for line in lines}) < 2
    names = len({line.by for line in people})
    words = (
        f"{counted(len(people), 'decision')} by {counted(names, 'person', 'people')}"
        + (f" on note {note}" if note else "")
        + ". The log is intact."
    )
    rows = [
        (line.at, line.by, *(() if one_note else (line.note,)), line.wording or line.feature,
         _decision(line), line.why, _score(line), line.standing)
        for line in lines
    ]  # fmt: skip
    header = ("when", "who", *(() if one_note else ("note",)), "feature", "decision", "why",
              "score then", "")  # fmt: skip
    told = Told(words, header, rows, most=len(rows))
    return told_in_tables({"decisions": [line.to_dict() for line in lines]}, told)


def _decision(line: HistoryLine) -> str:
    if line.found is None:
        return "undecided"
    # Words marked in an item that earns nothing contradict it.
    said = "stated" if line.found else "contradicted" if line.spans else "not mentioned"
    said += f" at {line.spans}" if line.spans else ""
    return said + ("" if line.certainty is None else f", {line.certainty:.0%} sure")


def _score(line: HistoryLine) -> str:
    return DASH if line.score is None else f"{line.score:g} of {line.maximum:g}"


@verb("report", epilog="Example: rubricate trust report scores open-notes --where split=test")
@run_argument
@click.argument("corpus_path", metavar="CORPUS", type=Source())
@click.option(
    "--previous",
    metavar="RUN",
    type=RUN_FOLDER,
    help="Folder of an earlier run; the report shows what changed.",
)
@click.option("--policy", type=_FILE, metavar="FILE",
              help="Review policy written by `rubricate route`.")  # fmt: skip
@click.option("--copy", type=Output(), metavar="FILE",
              help="Write report.html also as Word (.docx) or Markdown (.md).")  # fmt: skip
@from_option
@split_option()
@overwrite_option
@accept_edited_option
@accept_log_option
@answering
def report_command(
    run_folder: Path,
    corpus_path: str,
    previous: Path | None,
    policy: Path | None,
    copy: Path | None,
    how: ReadOptions,
    where: Sequence[str],
    overwrite: bool,
    accept_edited: bool,
    accept_log: bool,
) -> Answer:
    """Write report.html, with a page that shows every note, into RUN."""
    if copy is not None and copy.suffix.lower() not in {".docx", ".md"}:
        raise click.UsageError(f"--copy {copy}: its name must end in .docx or .md")
    check_report(copy, overwrite=overwrite)
    from rubricate.files import hold_folder
    from rubricate.reports.scoring import write_scoring_report
    from rubricate.run.folder import check_log
    from rubricate.trust import check_tables

    for folder in (run_folder, previous):
        if folder is not None and not accept_edited:
            check_tables(folder)
    if accept_log:
        accept_log_of(run_folder)
    check_log(run_folder)
    with hold_folder(run_folder), shown_progress() as progress:
        page = write_scoring_report(
            run_folder,
            read_notes(corpus_path, how, where),
            previous=previous,
            policy=policy,
            copy=copy,
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
    path: str, how: ReadOptions | None = None, where: Sequence[str] = ()
) -> Iterator[Note]:
    """Yield the notes of a corpus, a table or a folder of texts, as `score` reads them."""
    from rubricate.corpus import Note
    from rubricate.formats.notes import open_notes
    from rubricate.formats.options import USUAL_OPTIONS

    source = open_notes(path, how=how or USUAL_OPTIONS, where=where)
    return (note for note in source.notes() if isinstance(note, Note))


def group_members(
    column: str, notes_path: str | None, table: Path | None, how: ReadOptions
) -> dict[str, str]:
    """Return the group of each note, from a table or from the notes' metadata."""
    from rubricate.run import read_texts
    from rubricate.trust.fairness import groups_of_notes

    if table is not None:
        pairs = read_texts(table, ("note", column))
        return {note: group for note, group in pairs if group}
    if notes_path is None:
        raise click.UsageError(
            "Give --notes CORPUS or --groups FILE.csv, which name the group of each note."
        )
    return groups_of_notes(list(read_notes(notes_path, replace(how, format=""))), column)
