"""``rubricate annotate``: make pages on which people mark the evidence."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from rubricate.cli.match import find_matcher
from rubricate.cli.options import (
    from_option,
    models_option,
    need_features,
    open_corpus,
    out_option,
    overwrite_option,
    put_rubric,
    refuse_touching,
    rubric_option,
    split_option,
    swapped_told,
)
from rubricate.cli.output import Answer, answering, in_words
from rubricate.display import counted
from rubricate.progress import shown_progress

EPILOG = """
Example: rubricate annotate notes.csv --rubric rubric.xlsx --annotator ann --out marks.html
"""


@click.command("annotate", epilog=EPILOG)
@click.argument("notes_path", metavar="NOTES")
@rubric_option
@out_option("The page, NAME.html.")
@click.option(
    "--annotator", "annotators", multiple=True, metavar="NAME",
    help="Who works on the page; with several, each gets one: OUT-NAME.html.",
)  # fmt: skip
@click.option("--suggest", is_flag=True, help="Offer what a matcher finds.")
@models_option
@click.option("--matcher", "name", help="For --suggest; encoder if it is installed, else lexicon.")
@split_option()
@from_option
@overwrite_option
@answering
def annotate_command(
    notes_path: str, *, rubric: Path | None, out: Path, annotators: Sequence[str], suggest: bool,
    models: Sequence[Path | str], name: str | None, where: Sequence[str], from_format: str | None,
    overwrite: bool,
) -> Answer:  # fmt: skip
    """Make a page on which a person marks, in NOTES, the words that express each feature.

    The page is one file: open it in a browser, without server or network. It keeps every judgement
    in the browser and saves NAME.jsonl, a corpus that every command reads. Annotations that NOTES
    has already are not shown, so that two people work blind.
    """
    from rubricate.matchers import predict_in_parts
    from rubricate.reports.annotating import write_annotation_pages

    refuse_touching(notes_path, out, inside=True)
    if (models or name) and not suggest:
        raise click.UsageError("--model and --matcher say what suggests: give --suggest as well")
    if not all(map(str.strip, annotators)):
        raise click.UsageError("--annotator: a name must not be empty; or leave it out")
    with swapped_told(notes_path, rubric):
        corpus = open_corpus(notes_path, from_format=from_format, where=where)
        if rubric:
            corpus = put_rubric(corpus.select(annotators=()), rubric)
    need_features(corpus)
    suggested = None
    if suggest:
        matcher = find_matcher(corpus, models, name)
        with shown_progress() as progress:
            suggested = predict_in_parts(matcher, corpus.select(annotators=()), progress=progress)
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
        + "\nopen it in a browser; nothing leaves the computer"
    )
    made = {"pages": pages, "notes": len(corpus.notes), "judgements": judgements}
    return in_words({**made, "suggested": offered}, words)
