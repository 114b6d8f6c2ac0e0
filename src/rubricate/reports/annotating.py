"""The page on which one person marks evidence: one file that needs neither server nor network."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

from rubricate.corpus import Annotator, Corpus
from rubricate.errors import Fault, InputError, shown
from rubricate.files import packaged_text, whole_output
from rubricate.formats.frame import id_to_name
from rubricate.formats.jsonl import corpus_to_lines
from rubricate.outputs import file_kind
from rubricate.reports.page import fill_template
from rubricate.reports.scoring.viewer import safe_json
from rubricate.rubric import Metadata
from rubricate.run import spans_text


def annotation_page(
    corpus: Corpus, *, annotator: str = "annotator", suggested: Corpus | None = None
) -> str:
    """Return a whole HTML page to judge every feature of every note; annotations are not shown.

    ``annotator``: who works on the page; the saved file has the name.
    ``suggested``: what a matcher found in the same notes, offered for each feature.

    The page saves a corpus in our JSON Lines.

    >>> from rubricate import load_corpus
    >>> page = annotation_page(load_corpus("open-notes").select(cases=["0"]))
    >>> "http-equiv" in page, "<script src" in page
    (True, False)
    """
    from markupsafe import Markup

    _need_features(corpus)
    return fill_template(
        "annotate.html",
        title=f"Annotate · {annotator}",
        style=packaged_text("reports", "built", "annotate-style.css"),
        script=packaged_text("reports", "built", "annotate.js"),
        data=Markup(_data(corpus, annotator, suggested)),
    )


#: A page to annotate on, by its title.
ANNOTATING = file_kind("a page to annotate on", b"<title>Annotate \xc2\xb7 ")


def write_annotation_pages(
    corpus: Corpus,
    out: Path,
    *,
    annotators: Sequence[str] = (),
    suggested: Corpus | None = None,
    overwrite: bool = False,
) -> list[Path]:
    """Write one page, or one for each annotator beside each other: ``out-NAME.html``.

    >>> import tempfile
    >>> from rubricate import load_corpus
    >>> notes = load_corpus("open-notes").select(cases=["0"])
    >>> out = Path(tempfile.mkdtemp()) / "marks.html"
    >>> [path.name for path in write_annotation_pages(notes, out, annotators=["ann", "bob"])]
    ['marks-ann.html', 'marks-bob.html']
    """
    paths = page_paths(out, annotators)
    with ExitStack() as stack:
        places = [
            stack.enter_context(whole_output(path, overwrite=overwrite, kind=ANNOTATING))
            for path in paths
        ]
        for name, place in zip(_names(annotators), places, strict=True):
            page = annotation_page(corpus, annotator=name, suggested=suggested)
            place.write_text(page, encoding="utf-8", newline="")
    return paths


def page_paths(out: Path, annotators: Sequence[str]) -> list[Path]:
    """Return the path of each annotator's page."""
    names = _names(annotators)
    if len(names) == 1:
        return [out]
    return [out.with_name(f"{out.stem}-{id_to_name(name)}{out.suffix}") for name in names]


def _names(annotators: Sequence[str]) -> list[str]:
    return list(dict.fromkeys(annotators)) or ["annotator"]


def _need_features(corpus: Corpus) -> None:
    if not corpus.notes:
        raise InputError("the input has no notes to annotate")
    cases = dict.fromkeys(note.case for note in corpus.notes)
    without = [case for case in cases if not corpus.rubric(case).features]
    if without:
        known = ", ".join(shown(r.case) for r in corpus.rubrics if r.features) or "none"
        raise InputError(
            [
                Fault(f"case {shown(case)} has notes and no features; rubrics are of: {known}")
                for case in without
            ]
        )


def _data(corpus: Corpus, annotator: str, suggested: Corpus | None) -> str:
    """Return the data of the page: the lines that it will save, and the suggestions."""
    metadata = dict(corpus.metadata)
    if suggested is not None:
        # whoever reads the saved file must know that its marks were not made from nothing
        metadata["suggested_by"] = ", ".join(one.id for one in suggested.annotators)
    bare = replace(
        corpus.select(annotators=()),
        annotators=(Annotator(annotator, "human"),),
        metadata=Metadata(metadata),
    )
    head, *notes = corpus_to_lines(bare)
    del head["rubricate"]
    content = {"annotator": annotator, "head": head, "notes": notes,
               "suggestions": _suggestions(suggested) if suggested else {}}  # fmt: skip
    own = hashlib.sha256(safe_json(content).encode()).hexdigest()[:16]
    return safe_json({"id": own, "file": f"{id_to_name(annotator)}.jsonl", **content})


def _suggestions(suggested: Corpus) -> dict[str, dict[str, str]]:
    rows, found = suggested.rows, dict[str, dict[str, str]]()
    for row in range(len(rows)):
        spans = spans_text(tuple(tuple(plain) for plain, _, _ in rows.annotations(row)))
        if spans:
            note = suggested.notes[int(rows.note[row])].id
            found.setdefault(note, {})[suggested.features[int(rows.feature[row])].id] = spans
    return found
