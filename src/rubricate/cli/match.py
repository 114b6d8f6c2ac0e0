"""``rubricate match``: find the spans that express each feature."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from rubricate.cli.command import Option, Source, verb
from rubricate.cli.options import (
    features_per_pass_option,
    from_option,
    load_models,
    matcher_option,
    models_option,
    need_features,
    note_seconds_option,
    open_corpus,
    out_option,
    overwrite_option,
    put_rubric,
    rubric_option,
    set_features_per_pass,
    split_option,
)
from rubricate.cli.output import Answer, answering, tell_failed, warn, written
from rubricate.outputs import check_output
from rubricate.progress import shown_progress

if TYPE_CHECKING:
    from rubricate.corpus import Corpus
    from rubricate.formats.options import ReadOptions


@verb("match", epilog="Example: rubricate match open-notes --where split=test --out found.jsonl")
@click.argument("corpus_path", metavar="CORPUS", type=Source())
@models_option
@matcher_option
@rubric_option
@out_option("File or folder to write.")
@click.option("--output-format", "to_format", cls=Option, formerly=["--to"], metavar="FORMAT",
              help="Format to write. Default: from the name of --out.")  # fmt: skip
@features_per_pass_option
@note_seconds_option
@split_option()
@from_option
@overwrite_option
@answering
def match_command(
    corpus_path: str, *, models: Sequence[Path | str], matcher: str | None, rubric: Path | None,
    out: Path, to_format: str | None, features_per_pass: int | str | None, note_seconds: float,
    where: Sequence[str], how: ReadOptions, overwrite: bool,
) -> Answer:  # fmt: skip
    """Find the spans in the notes of CORPUS that express each feature of their rubric.

    The name of --out sets the format: submission.csv is the competition's format, NAME.jsonl is
    rubricate's own format with confidence and reason, and NAME is a folder of Parquet files.
    """
    from rubricate.formats import FORMATS, write_corpus, writer_of
    from rubricate.formats.format import output_kind, refuse_judged
    from rubricate.matchers import predict_in_parts

    corpus = open_corpus(corpus_path, how=how, where=where)
    if rubric:
        corpus = put_rubric(corpus.select(annotators=()), rubric, how)
    need_features(corpus)
    to_format = to_format or _format_of(out)
    writer_of(to_format)
    check_output(out, output_kind(FORMATS[to_format]), overwrite=overwrite)
    refuse_judged(out, FORMATS[to_format])
    finder = find_matcher(corpus, models, matcher)
    set_features_per_pass(finder, features_per_pass)
    with shown_progress() as progress:
        predicted, failed = predict_in_parts(
            finder, corpus, note_seconds=note_seconds, progress=progress
        )
    not_matched = tell_failed(failed, "matched", len(corpus.notes))
    lost = write_corpus(predicted, out, format=to_format, overwrite=overwrite)
    if not predicted.rows.n_annotations:
        hint = "" if models else "; some matchers need examples: fit one and give --model"
        warn(f"nothing was found{hint}")
    made = {"out": str(out), "format": to_format, "matcher": predicted.annotators[0].id}
    return written(made, predicted, lost, failed=not_matched)


def find_matcher(corpus: Corpus, models: Sequence[Path | str], name: str | None) -> Any:
    """Return the matcher that was asked for; without a model one that knows only the rubric."""
    from rubricate.matchers import default_matcher, fit_matcher, refuse_matcher_of_model

    refuse_matcher_of_model(name, models)
    if models:
        return load_models(models)
    # Only the rubric is learned from: annotations of the notes to be matched must not leak in.
    return fit_matcher(name or default_matcher(), corpus.select(notes=(), annotators=()))


def _format_of(out: Path) -> str:
    if out.name == "submission.csv":
        return "submission"
    if out.suffix in {".jsonl", ".ndjson"}:
        return "jsonl"
    if not out.suffix:
        return "parquet"
    raise click.UsageError(
        f"--out {out}: cannot tell the format by its name; give --output-format FORMAT"
    )
