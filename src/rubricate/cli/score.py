"""``rubricate score``: find the evidence in notes and sum it to scores."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from rubricate.cli.options import (
    There,
    features_per_pass_option,
    from_option,
    load_models,
    matcher_option,
    models_option,
    open_rubric,
    overwrite_option,
    refuse_matcher_of_model,
    rubric_option,
    seed_option,
    set_features_per_pass,
    split_option,
    swapped_told,
)
from rubricate.cli.output import Answer, answering, print_table
from rubricate.errors import RubricateError
from rubricate.progress import shown_progress

if TYPE_CHECKING:
    from rubricate.matchers import Matcher
    from rubricate.scoring import FinishedRun, ScoreSettings, UnsureRange

FILE = There()


@click.command(
    "score", epilog="Example: rubricate score open-notes --where split=test --out scores"
)
@click.argument("notes_path", metavar="NOTES")
@rubric_option
@models_option
@matcher_option
@features_per_pass_option
@click.option("--out", required=True, type=click.Path(path_type=Path, file_okay=False),
              help="Folder to write to.")  # fmt: skip
@click.option("--review", type=FILE, help="A policy of `route`: which items a person must see.")
@click.option(
    "--unsure", metavar="LOW,HIGH", default="0.2,0.8", show_default=True,
    help="Without --review: probabilities between these are for review; off: none.",
)  # fmt: skip
@click.option("--any-text", is_flag=True,
              help="Score texts that do not read like clinical notes, too.")  # fmt: skip
@click.option(
    "--corrections",
    type=FILE,
    help="What people decided: corrections.csv, or scores.xlsx filled in.",
)
@click.option("--workers", type=click.IntRange(0), default=0, show_default=True,
              help="Worker processes; 0: this process.")  # fmt: skip
@click.option("--dask", metavar="ADDRESS", help="A Dask scheduler, e.g. tcp://host:8786.")
@click.option("--batch-size", type=click.IntRange(1), default=200, show_default=True,
              help="Notes of a batch.")  # fmt: skip
@click.option("--longest", type=click.IntRange(1), default=100_000, show_default=True,
              help="Most characters of a note that is scored.")  # fmt: skip
@click.option("--note-seconds", type=click.FloatRange(0), default=120.0, show_default=True,
              help="Longest a note may take; 0: any time.")  # fmt: skip
@click.option("--previous", metavar="DIR", type=FILE, help="An earlier run, to show changes.")
@click.option("--no-report", is_flag=True, help="Leave the HTML report out (it holds all notes).")
@split_option()
@from_option
@seed_option
@overwrite_option
@answering
def score_command(
    notes_path: str,
    rubric: Path | None,
    models: Sequence[Path | str],
    matcher: str | None,
    features_per_pass: int | str | None,
    out: Path,
    review: Path | None,
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
    where: Sequence[str],
    from_format: str | None,
    seed: int,
    overwrite: bool,
) -> Answer:
    """Score NOTES against a rubric: tables, run.json and report.html in a folder.

    NOTES is a corpus in any format, a CSV or Excel table with one note per row, or a folder of
    .txt or .docx files, where subfolders are cases; what was understood is said in one line. A run
    that was killed goes on when it is started again. With --overwrite the same notes, rubric
    and model are not searched again, so corrections and policies cost little.
    """
    from rubricate.matchers import default_matcher
    from rubricate.reports.scoring import ScoringReport
    from rubricate.scoring import ScoreSettings, open_notes, score_notes

    refuse_matcher_of_model(models, matcher)
    done = (out / "run.json").exists() and not overwrite
    if done and not no_report and not (out / "report.html").exists():
        raise RubricateError(
            f"{out} holds a finished run without its report. Use --overwrite to write both again "
            "(nothing is searched twice), or `rubricate trust report` for the report alone."
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
        unsure=_unsure_range(unsure),
        any_text=any_text,
    )
    with swapped_told(notes_path, rubric):
        source = open_notes(notes_path, format=from_format, where=where)
        read = rubric and open_rubric(rubric)
    report = None if no_report else ScoringReport(previous, review)
    with _told_when_stopped(), shown_progress() as progress:
        run = score_notes(
            source,
            out,
            rubric=read,
            model=_one_model(settings, models, features_per_pass),
            policy=review,
            corrections=corrections,
            settings=settings,
            report=report,
            progress=progress,
        )

    def say() -> None:
        _print(run)
        if report is not None:
            click.echo(f"report: {out / 'report.html'}")

    return Answer({"out": str(out), **run.run, "times": run.times}, say)


@contextmanager
def _told_when_stopped() -> Iterator[None]:
    try:
        yield
    except KeyboardInterrupt:
        click.echo("\nstopped; finished batches are kept, and the same command goes on", err=True)
        raise


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


def _one_model(
    settings: ScoreSettings, models: Sequence[Path | str], per_pass: int | str | None
) -> Path | str | Matcher | None:
    """Return the model to score with: a folder, a name, or a matcher that is no folder yet."""
    if not models and per_pass is None:
        return None
    if len(models) == 1 and per_pass is None:
        return models[0]
    from rubricate.matchers import make_matcher

    matcher: Any = load_models(models) if models else make_matcher(settings.matcher)
    set_features_per_pass(matcher, per_pass)
    chosen: Matcher = matcher
    return chosen


def _print(run: FinishedRun) -> None:
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
        click.echo("no review policy: nothing is promised about errors (see `rubricate route`)")
    outdated = run.run.get("corrections", {}).get("outdated")
    if outdated:
        click.echo(
            f"{outdated} earlier decisions do not hold: their note or rubric is another one now "
            "(see `rubricate trust audit`)",
            err=True,
        )
    refused = run.times["batches_refused"]
    if refused:
        click.echo(
            f"{refused} batches of evidence were damaged or of other notes; searched again",
            err=True,
        )
    deaths = run.times["worker_deaths"]
    if deaths:
        click.echo(f"workers died {deaths} times; their batches were done again", err=True)
    click.echo(
        f"wrote {run.folder}: scores.csv, items.csv, scores.xlsx, run.json, times.json, "
        "decisions.jsonl"
    )
