"""``rubricate score``: find the evidence in notes and sum it to scores."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from rubricate.cli.options import (
    features_per_pass_option,
    from_option,
    json_option,
    load_models,
    overwrite_option,
    seed_option,
    set_features_per_pass,
    split_option,
)
from rubricate.cli.output import print_json, print_table

if TYPE_CHECKING:
    from rubricate.scoring import ScoreRun, ScoreSettings

EPILOG = """
Example: rubricate score open-notes --where split=test --out scores
"""
FILE = click.Path(path_type=Path, exists=True)


@click.command("score", epilog=EPILOG)
@click.argument("notes_path", metavar="NOTES")
@click.option("--rubric", type=FILE, help="A rubric file; by default the notes' own.")
@click.option("--model", "models", type=FILE, multiple=True,
              help="A model of `fit`; several encoders are averaged.")  # fmt: skip
@click.option("--matcher", help="Without --model; encoder if it is installed, else lexicon.")
@features_per_pass_option
@click.option("--out", required=True, type=click.Path(path_type=Path), help="Folder to write to.")
@click.option("--review", type=FILE, help="A policy of `route`: which items a person must see.")
@click.option("--corrections", type=FILE, help="A CSV file with what reviewers changed.")
@click.option("--workers", type=int, default=0, show_default=True,
              help="Worker processes; 0: this process.")  # fmt: skip
@click.option("--dask", metavar="ADDRESS", help="A Dask scheduler, e.g. tcp://host:8786.")
@click.option("--batch-size", type=int, default=200, show_default=True, help="Notes of a batch.")
@click.option("--longest", type=int, default=100_000, show_default=True,
              help="Most characters of a note that is scored.")  # fmt: skip
@click.option("--previous", metavar="DIR", type=FILE, help="An earlier run, to show changes.")
@click.option("--no-report", is_flag=True, help="Leave the HTML report out (it holds all notes).")
@split_option()
@from_option
@seed_option
@overwrite_option
@json_option
def score_command(notes_path: str, out: Path, **options: Any) -> None:
    """Score NOTES against a rubric: tables, run.json and report.html in a folder.

    NOTES is a corpus in any format, a CSV table (note, case, text), or a folder of .txt files. A
    run that was killed goes on when it is started again. With --overwrite the same notes, rubric
    and model are not searched again, so corrections and policies cost little.
    """
    from rubricate.errors import RubricateError
    from rubricate.matchers import default_matcher
    from rubricate.scoring import ScoreSettings, open_notes, score_notes

    done = (out / "run.json").exists() and not options["overwrite"]
    if done and not options["no_report"] and not (out / "report.html").exists():
        raise RubricateError(
            f"{out} holds a finished run without its report. Use --overwrite to write both again "
            "(nothing is searched twice), or `rubricate trust report` for the report alone."
        )

    settings = ScoreSettings(
        matcher=options["matcher"] or default_matcher(),
        workers=options["workers"],
        dask=options["dask"],
        batch_size=options["batch_size"],
        longest=options["longest"],
        seed=options["seed"],
        overwrite=options["overwrite"],
        watch=_progress(),
    )
    source = open_notes(notes_path, format=options["from_format"], where=options["where"])
    run = score_notes(
        source,
        out,
        rubric=options["rubric"],
        model=_one_model(out, settings, options["models"], options["features_per_pass"]),
        policy=options["review"],
        corrections=options["corrections"],
        settings=settings,
    )
    if not options["no_report"]:
        from rubricate.corpus import Note
        from rubricate.reports.scoring import write_scoring_report

        write_scoring_report(
            out,
            (note for note in source.notes() if isinstance(note, Note)),
            previous=options["previous"],
            policy=options["review"],
            overwrite=True,  # it belongs to the run that was just written
        )
    if options["as_json"]:
        print_json({"out": str(out), **run.run, "times": run.times})
    else:
        _print(run)
        if not options["no_report"]:
            click.echo(f"report: {out / 'report.html'}")


def _one_model(
    out: Path, settings: ScoreSettings, models: Sequence[Path], per_pass: int | str | None
) -> Path | None:
    """Return the model to score with, written where workers find it if it is no folder yet."""
    if len(models) < 2 and per_pass is None:
        return models[0] if models else None
    from rubricate.errors import OutputExistsError
    from rubricate.matchers import make_matcher

    matcher: Any = load_models(models) if models else make_matcher(settings.matcher)
    set_features_per_pass(matcher, per_pass)
    if (out / "run.json").exists() and not settings.overwrite:
        raise OutputExistsError(out)
    matcher.save(out / "model", overwrite=True)
    return out / "model"


def _progress() -> Callable[[int, int], None] | None:
    """Return what shows the batches done, on a terminal only."""
    if not sys.stderr.isatty():
        return None

    def show(n_done: int, n_all: int) -> None:
        click.echo(f"\rscoring: batch {n_done} of {n_all}", nl=n_done == n_all, err=True)

    return show


def _print(run: ScoreRun) -> None:
    counts = run.run["counts"]
    items = counts["items"] or 1
    print_table(
        ("", "notes"),
        [
            ("scored", counts["scored"]),
            *((f"not scored: {why}", n) for why, n in counts["not_scored"].items()),
            ("identical to an earlier one", counts["identical"]),
        ],
    )
    mean = counts["mean_percentage"]
    click.echo(
        f"\nmean score {'–' if mean is None else f'{mean:.1f} %'}; {counts['found']:,} of "
        f"{counts['items']:,} items found; {counts['review']:,} ({counts['review'] / items:.1%}) "
        f"for review; {counts['corrected']:,} corrected"
    )
    if "policy" not in run.run:
        click.echo("no review policy: nothing is promised about errors (see `rubricate route`)")
    deaths = run.times["worker_deaths"]
    if deaths:
        click.echo(f"workers died {deaths} times; their batches were done again", err=True)
    click.echo(f"wrote {run.folder}: scores.csv, items.csv, scores.xlsx, run.json, times.json")
