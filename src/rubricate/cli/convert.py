"""``rubricate convert``: turn a corpus into another format."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from rubricate.cli.command import Option, Output, Source, command_inputs, verb
from rubricate.cli.options import (
    from_option,
    keep_annotators,
    keep_asked_cases,
    open_corpus,
    overwrite_option,
    rubric_option,
    senior_option,
    split_option,
)
from rubricate.cli.output import Answer, answering, inform, written
from rubricate.outputs import check_output, refuse_inputs

if TYPE_CHECKING:
    from rubricate.formats.options import ReadOptions


@verb("convert", epilog="Example: rubricate convert open-notes notes --output-format nbme")
@click.argument("source", metavar="SRC", type=Source())
@click.argument("target", metavar="DST", type=Output(as_text=True))
@click.option(
    "--output-format",
    "to_format",
    cls=Option,
    formerly=["--to"],
    required=True,
    metavar="FORMAT",
    help="Format to write, e.g. brat.",
)
@rubric_option
@from_option
@split_option()
@click.option("--annotator", "annotators", multiple=True, help="Keep only these annotators.")
@senior_option
@click.option(
    "--like",
    metavar="CORPUS",
    type=Source(),
    help="Corpus with the notes, if SRC is a submission without notes.",
)
@click.option(
    "--strict", is_flag=True, help="Stop with an error if the format cannot hold everything."
)
@overwrite_option
@answering
def convert_command(
    source: str,
    target: str,
    *,
    to_format: str,
    rubric: Path | None,
    how: ReadOptions,
    where: tuple[str, ...],
    annotators: tuple[str, ...],
    seniors: tuple[str, ...],
    like: str | None,
    strict: bool,
    overwrite: bool,
) -> Answer:
    """Read SRC and write it to DST in another format.

    The command counts and names everything that the target format cannot hold. Formats: parquet
    and jsonl (both lossless), nbme, submission, brat, webanno, cas, cas-json, labelstudio,
    doccano, prodigy, docbin, pubannotation, bioc, bioc-xml, datasets, ebmnlp, conll. The formats
    conllu, fhir, table and texts can only be read.
    """
    from rubricate.formats import FORMATS, write_corpus, writer_of
    from rubricate.formats.format import output_kind
    from rubricate.progress import shown_progress

    writer_of(to_format)  # A name that will not do is refused before any work.
    refuse_inputs(Path(target), command_inputs(), inside=False)
    check_output(Path(target), output_kind(FORMATS[to_format]), overwrite=overwrite)
    if like is not None:
        how = replace(how, like=open_corpus(like, replace(how, format="")))
    corpus = open_corpus(source, how, where=where, rubric=rubric)
    if where:
        corpus = keep_asked_cases(corpus, where)
    if annotators:
        corpus = keep_annotators(corpus, annotators)
    if seniors:
        from rubricate.study.curation import settle_by_seniors
        from rubricate.study.decisions import reference_corpus

        corpus = reference_corpus(corpus, settle_by_seniors(corpus, seniors))
    with shown_progress() as progress:
        lost = write_corpus(
            corpus, target, format=to_format, overwrite=overwrite, strict=strict, progress=progress
        )
    if not FORMATS[to_format].looks_like(Path(target)):
        what = f"the name {Path(target).name!r} does not tell the format: read it again with"
        inform(f"{what} --input-format {to_format}")
    return written({"target": target, "format": to_format}, corpus, lost)
