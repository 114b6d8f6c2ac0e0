"""``rubricate annotate``: make pages on which people mark the evidence."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from rubricate.cli.command import Source, command_inputs, verb
from rubricate.cli.match import find_matcher
from rubricate.cli.options import (
    from_option,
    models_option,
    need_features,
    note_seconds_option,
    open_corpus,
    out_option,
    overwrite_option,
    put_rubric,
    rubric_option,
    split_option,
    swapped_told,
)
from rubricate.cli.output import Answer, answering, in_words, tell_failed
from rubricate.display import counted
from rubricate.outputs import check_output
from rubricate.progress import shown_progress

if TYPE_CHECKING:
    from rubricate.formats.options import ReadOptions

EPILOG = """
Example: rubricate annotate notes.csv --rubric rubric.xlsx --annotator ann --out marks.html
"""


@verb("annotate", epilog=EPILOG)
@click.argument("notes_path", metavar="NOTES", type=Source())
@rubric_option
@out_option("The page to write, NAME.html.")
@click.option(
    "--annotator", "annotators", multiple=True, metavar="NAME",
    help="Name of the person who annotates. Repeat it to write one page each: OUT-NAME.html.",
)  # fmt: skip
@click.option("--suggest", is_flag=True, help="Show the matcher's marks as suggestions.")
@models_option
@click.option("--matcher", "name", metavar="NAME",
              help="Matcher for --suggest. Default: cascade.")  # fmt: skip
@note_seconds_option
@split_option()
@from_option
@overwrite_option
@answering
def annotate_command(
    notes_path: str, *, rubric: Path | None, out: Path, annotators: Sequence[str], suggest: bool,
    models: Sequence[Path | str], name: str | None, note_seconds: float, where: Sequence[str],
    how: ReadOptions, overwrite: bool,
) -> Answer:  # fmt: skip
    """Write a page on which a person marks the words in NOTES that express each feature.

    The page is one file that opens in a browser and needs no server or network. It keeps the
    judgements in the browser and saves NAME.jsonl, a corpus that every command reads. The page
    does not show annotations that NOTES has already. So two people can work blind.
    """
    from rubricate.matchers import predict_in_parts
    from rubricate.reports.annotating import ANNOTATING, page_paths, write_annotation_pages

    if (models or name) and not suggest:
        raise click.UsageError(
            "--model and --matcher choose the source of suggestions. Add --suggest."
        )
    if not all(map(str.strip, annotators)):
        raise click.UsageError(
            "--annotator: the name is empty. Give a name, or leave the option out."
        )
    for path in page_paths(out, annotators):
        check_output(path, ANNOTATING, overwrite=overwrite, inputs=command_inputs())
    with swapped_told(notes_path, rubric, how):
        corpus = open_corpus(notes_path, how=how, where=where)
        if rubric:
            corpus = put_rubric(corpus.select(annotators=()), rubric, how)
    need_features(corpus)
    suggested, not_matched = None, []
    if suggest:
        matcher = find_matcher(corpus, models, name)
        with shown_progress() as progress:
            suggested, failed = predict_in_parts(
                matcher,
                corpus.select(annotators=()),
                note_seconds=note_seconds,
                progress=progress,
            )
        not_matched = tell_failed(failed, "matched", len(corpus.notes))
    paths = write_annotation_pages(
        corpus, out, annotators=annotators, suggested=suggested, overwrite=overwrite
    )
    pages = [str(path) for path in paths]
    judgements = sum(len(corpus.rubric(note.case)) for note in corpus.notes)
    offered = suggested.rows.n_annotations if suggested else 0
    words = (
        f"wrote {', '.join(pages)}: {counted(len(corpus.notes), 'note')}, "
        + counted(judgements, "judgement")
        + (f", {counted(offered, 'suggested mark')}" if suggested else "")
        + "\nOpen it in a browser. Nothing leaves the computer."
    )
    made = {"pages": pages, "notes": len(corpus.notes), "judgements": judgements}
    return in_words({**made, "suggested": offered, "failed": not_matched}, words)
