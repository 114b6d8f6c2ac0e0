"""``rubricate score``: find the evidence in notes and sum it to scores."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from rubricate.cli.command import Option, Output, Source, There, verb
from rubricate.cli.options import (
    accept_log_option,
    features_per_pass_option,
    from_option,
    load_models,
    matcher_option,
    models_option,
    note_seconds_option,
    open_rubric,
    overwrite_option,
    rubric_option,
    seed_option,
    set_features_per_pass,
    split_option,
    swapped_told,
)
from rubricate.cli.output import Answer, answering, print_table, warn
from rubricate.display import counted
from rubricate.errors import RubricateError
from rubricate.progress import shown_progress

if TYPE_CHECKING:
    from rubricate.formats.options import ReadOptions
    from rubricate.scoring import FinishedRun, UnsureRange

FILE = There()


@verb("score", epilog="Example: rubricate score open-notes --where split=test --out scores")
@click.argument("notes_path", metavar="NOTES", type=Source())
@rubric_option
@models_option
@matcher_option
@features_per_pass_option
@click.option("--out", required=True, type=Output(kept=True, file_okay=False),
              help="Folder for the results.")  # fmt: skip
@click.option("--policy", "policy", cls=Option, formerly=["--review"], type=FILE, metavar="FILE",
              help="Review policy written by `rubricate route`.")  # fmt: skip
@click.option(
    "--unsure", metavar="LOW,HIGH", default="0.2,0.8", show_default=True,
    help="Send items with a probability in this range to review, or off. Not used with --policy.",
)  # fmt: skip
@click.option("--any-text", is_flag=True,
              help="Also score texts that do not read like clinical notes.")  # fmt: skip
@click.option("--corrections", type=FILE, metavar="FILE",
              help="Reviewers' decisions: corrections.csv or a completed scores.xlsx.")  # fmt: skip
@click.option("--workers", type=click.IntRange(0), default=0, show_default=True,
              help="Number of worker processes (0 = none, score in this process).")  # fmt: skip
@click.option("--dask", metavar="ADDRESS",
              help="Address of a Dask scheduler, e.g. tcp://host:8786.")  # fmt: skip
@click.option("--batch-size", type=click.IntRange(1), default=200, show_default=True,
              help="Number of notes per batch.")  # fmt: skip
@click.option("--max-chars", "longest", cls=Option, formerly=["--longest"],
              type=click.IntRange(1), default=100_000, show_default=True,
              help="Do not score notes longer than this many characters.")  # fmt: skip
@note_seconds_option
@click.option("--previous", metavar="FOLDER", type=FILE,
              help="Folder of an earlier run; the report shows what changed.")  # fmt: skip
@click.option("--no-report", is_flag=True,
              help="Do not write report.html, which contains all notes.")  # fmt: skip
@click.option("--strict", is_flag=True, help="Exit with 1 if any note could not be scored.")
@split_option()
@from_option
@seed_option
@overwrite_option
@accept_log_option
@answering
def score_command(
    notes_path: str,
    rubric: Path | None,
    models: Sequence[Path | str],
    matcher: str | None,
    features_per_pass: int | str | None,
    out: Path,
    policy: Path | None,
    unsure: str,
    any_text: bool,
    corrections: Path | None,
    workers: int,
    dask: str | None,
    batch_size: int,
    longest: int,
    note_seconds: float,
    previous: Path | None,
    no_report: bool,
    strict: bool,
    where: Sequence[str],
    how: ReadOptions,
    seed: int,
    overwrite: bool,
    accept_log: bool,
) -> Answer:
    """Score NOTES against a rubric and write tables, run.json and report.html to a folder.

    NOTES is a corpus in any format, a CSV or Excel table with one note per row, or a folder of
    .txt or .docx files. Subfolders of that folder are cases. If a run was stopped, the same
    command continues it. With --overwrite, the evidence of the same notes, rubric and model is
    reused. So corrections and policies are applied in a moment.
    """
    from rubricate.matchers import default_matcher, make_matcher, refuse_matcher_of_model
    from rubricate.reports.scoring import ScoringReport
    from rubricate.scoring import ScoreSettings, open_notes, score_notes

    refuse_matcher_of_model(matcher, models)
    done = (out / "run.json").exists() and not overwrite
    if done and not no_report and not (out / "report.html").exists():
        raise RubricateError(
            f"{out} holds a finished run without its report. Use --overwrite to write both again "
            "(the evidence is reused), or `rubricate trust report` to write only the report."
        )
    settings = ScoreSettings(
        matcher=matcher or default_matcher(),
        workers=workers,
        dask=dask,
        batch_size=batch_size,
        longest=longest,
        note_seconds=note_seconds,
        seed=seed,
        overwrite=overwrite,
        accept_log=accept_log,
        unsure=_unsure_range(unsure),
        any_text=any_text,
    )
    with swapped_told(notes_path, rubric, how):
        source = open_notes(notes_path, how=how, where=where)
        read = rubric and open_rubric(rubric, how)
    report = None if no_report else ScoringReport(previous, policy)
    # A folder, a name, or a matcher that is no folder yet.
    model: Any = models[0] if len(models) == 1 and features_per_pass is None else None
    if model is None and (models or features_per_pass is not None):
        model = load_models(models) if models else make_matcher(settings.matcher or "")
        set_features_per_pass(model, features_per_pass)
    try:
        with shown_progress() as progress:
            run = score_notes(
                source,
                out,
                rubric=read,
                model=model,
                policy=policy,
                corrections=corrections,
                settings=settings,
                report=report,
                progress=progress,
            )
    except KeyboardInterrupt:
        click.echo(
            "\nStopped. Finished batches are saved. Run the same command to continue.", err=True
        )
        raise
    counts = run.run["counts"]
    if why := {**counts["not_scored"], **({} if counts["scored"] else counts["for_review"])}:
        n_notes = "no note has a score" if not counts["scored"] else (
            f"{sum(why.values()):,} of {counted(counts['notes'], 'note')} have no score"
        )  # fmt: skip
        reasons = "; ".join(f"{reason} ({n:,})" for reason, n in why.items())
        warn(f"{n_notes}: {reasons}. See the column reason of {run.folder / 'scores.csv'}.")
    failed = not counts["scored"] or (strict and bool(counts["not_scored"]))
    say = partial(_print, run, with_report=report is not None)
    return Answer({"out": str(out), **run.run, "times": run.times}, say, failed)


def _unsure_range(text: str) -> UnsureRange | None:
    from rubricate.scoring import UnsureRange

    if text == "off":
        return None
    try:
        low, high = (float(part) for part in text.split(","))
    except ValueError:
        message = f"{text!r}: need two numbers, e.g. 0.2,0.8, or off."
        raise click.BadParameter(message, param_hint="--unsure") from None
    try:
        return UnsureRange(low, high)
    except RubricateError as error:
        raise click.BadParameter(str(error), param_hint="--unsure") from error


def _print(run: FinishedRun, *, with_report: bool) -> None:
    counts = run.run["counts"]
    items = counts["items"] or 1
    print_table(
        ("", "notes"),
        [
            ("scored", counts["scored"]),
            *((f"not scored: {why}", n) for why, n in counts["not_scored"].items()),
            *((f"for review: {why}", n) for why, n in counts["for_review"].items()),
            ("identical to an earlier one", counts["identical"]),
        ],
    )
    mean = counts["mean_percentage"]
    click.echo(
        f"\nmean score {'–' if mean is None else f'{mean:.1f} %'}; of {counts['items']:,} items "
        f"{counts['stated']:,} stated, {counts['contradicted']:,} contradicted, "
        f"{counts['not_mentioned']:,} not mentioned; {counts['review']:,} "
        f"({100 * counts['review'] / items:.1f} %) for review; {counts['corrected']:,} corrected"
    )
    if "policy" not in run.run:
        unsure = run.run.get("unsure")
        if unsure is not None:
            click.echo(
                f"unsure (probability between {unsure['low']:g} and {unsure['high']:g}), "
                f"so for review: {counts['unsure']:,} of {counts['items']:,} items"
            )
        click.echo(
            "No review policy, so there is no error guarantee. To make a policy, see "
            "`rubricate route --help`."
        )
    outdated = run.run.get("corrections", {}).get("outdated")
    if outdated:
        warn(
            f"{outdated} earlier decisions were not applied, because the note or the rubric has "
            "changed. See `rubricate trust history`."
        )
    refused = run.times["batches_refused"]
    if refused:
        warn(
            f"{refused} cached batches of evidence were damaged or belonged to other notes. They "
            "were computed again."
        )
    deaths = run.times["worker_deaths"]
    if deaths:
        warn(f"workers died {deaths} times. Their batches were computed again.")
    click.echo(
        f"wrote {run.folder}: scores.csv, items.csv, scores.xlsx, run.json, times.json, "
        "decisions.jsonl"
    )
    log = run.run["log"]
    click.echo(
        f"log: {counted(log['decisions'], 'decision')}, sha256 {log['sha256']} (keep it elsewhere: "
        "it shows whether decisions were changed)"
    )
    if with_report:
        click.echo(f"report: {run.folder / 'report.html'}")
