"""Reading and writing corpora in every format, found by looking or named.

Each module of this folder holds one format as a `Format` value called ``FORMAT``. Offsets in other
units than code points are converted here and nowhere else.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from rubricate.corpus import Corpus
from rubricate.errors import (
    Advice,
    ArgumentError,
    Fault,
    InputError,
    LossError,
    Setting,
    UnknownNameError,
    shown,
)
from rubricate.files import missing_path, whole_output
from rubricate.formats.format import HOLDABLE, Format, Writer, output_kind, refuse_judged
from rubricate.formats.options import USUAL_LIMITS, USUAL_OPTIONS, ReadLimits, ReadOptions
from rubricate.formats.reading import has_lone_surrogate
from rubricate.progress import Progress, silent
from rubricate.registry import Registry

__all__ = [
    "EMBEDDED",
    "FORMATS",
    "Format",
    "ReadLimits",
    "ReadOptions",
    "detect_format",
    "load_corpus",
    "read_corpus",
    "stored_tokens",
    "write_corpus",
]

#: All formats; the order is the order in which a path is looked at.
FORMATS = Registry(
    "format",
    {
        "run": "rubricate.run.as_corpus:FORMAT",
        "parquet": "rubricate.formats.parquet:FORMAT",
        "jsonl": "rubricate.formats.jsonl:FORMAT",
        "nbme": "rubricate.formats.nbme:FORMAT",
        "submission": "rubricate.formats.nbme:SUBMISSION",
        "brat": "rubricate.formats.brat:FORMAT",
        "webanno": "rubricate.formats.webanno:FORMAT",
        "cas": "rubricate.formats.cas:FORMAT",
        "cas-json": "rubricate.formats.cas:CAS_JSON",
        "ebmnlp": "rubricate.formats.ebmnlp:FORMAT",
        "conll": "rubricate.formats.conll:FORMAT",
        "conllu": "rubricate.formats.conllu:FORMAT",
        "labelstudio": "rubricate.formats.labelstudio:FORMAT",
        "prodigy": "rubricate.formats.spacy_files:PRODIGY",
        "docbin": "rubricate.formats.spacy_files:DOCBIN",
        "pubannotation": "rubricate.formats.pubannotation:FORMAT",
        "bioc": "rubricate.formats.bioc:FORMAT",
        "bioc-xml": "rubricate.formats.bioc:BIOC_XML",
        "doccano": "rubricate.formats.doccano:FORMAT",
        "datasets": "rubricate.formats.datasets:FORMAT",
        "fhir": "rubricate.formats.fhir:FORMAT",
        "table": "rubricate.formats.plain_notes:TABLE",
        "texts": "rubricate.formats.plain_notes:TEXTS",
    },
    group="rubricate.formats",
)

_JSON = frozenset({".json", ".jsonl", ".ndjson"})
#: Endings of the files that each format reads. Formats without files read folders. Only formats
#: that fit the ending look at a file, and only they are imported. A format of another package,
#: which is not named here, looks at every file.
_ENDINGS: Mapping[str, frozenset[str]] = {
    "run": frozenset(),
    "parquet": frozenset(),
    "jsonl": _JSON,
    "nbme": frozenset(),
    "submission": frozenset({".csv"}),
    "brat": frozenset(),
    "webanno": frozenset({".tsv"}),
    "cas": frozenset({".xmi", ".zip"}),
    "cas-json": frozenset({".json"}),
    "ebmnlp": frozenset(),
    "conll": frozenset({"", ".txt", ".conll", ".conll03", ".conll2003", ".bio", ".iob", ".iob2",
                        ".tsv"}),
    "conllu": frozenset({"", ".txt", ".conll", ".conllu", ".conllx", ".conll06", ".tab", ".tsv"}),
    "labelstudio": _JSON | {"", ".txt"},
    "prodigy": _JSON,
    "docbin": frozenset({".spacy"}),
    "pubannotation": frozenset({".json", ".jsonl"}),
    "bioc": frozenset({".json"}),
    "bioc-xml": frozenset({".xml", ".bioc"}),
    "doccano": _JSON,
    "datasets": frozenset({".arrow"}),
    "fhir": _JSON,
    "table": frozenset({".csv", ".tsv", ".txt", ".xlsx", ".xlsm"}),
    "texts": frozenset(),
}  # fmt: skip

_TO_SAVE = " Save each note as a file of its own, .txt or .docx, and give their folder."
_TO_GIVE = " A file of this kind holds one note: give the folder of the notes."
#: What to do with kinds of files that hold notes and are no format: ending → advice.
_HINTS = {
    ".zip": " Unpack the archive and give its folder.",
    **dict.fromkeys((".pdf", ".doc", ".rtf", ".odt", ".htm", ".html"), _TO_SAVE),
    **dict.fromkeys((".txt", ".docx"), _TO_GIVE),
}

#: Corpora that come with the package, by name.
EMBEDDED = ("open-notes",)


def detect_format(path: Path, how: ReadOptions = USUAL_OPTIONS) -> str:
    r"""Return the name of the format a path looks like.

    A path that does not exist, or looks like none, is an InputError. A file of which columns are
    given (`ReadOptions.columns`) is a table unless another format claims it.

    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "submission.csv"
    >>> _ = path.write_text("id,location\n00016_000,0 5\n", encoding="utf-8")
    >>> detect_format(path)
    'submission'
    """
    if not path.exists():
        raise missing_path(path, *EMBEDDED)
    ending = path.suffix.lower()
    # A table of notes is never a submission, and far more common: it is asked first.
    for name in sorted(FORMATS, key=lambda one: one == "submission"):
        fits = path.is_dir() or ending in _ENDINGS.get(name, (ending,))
        if fits and FORMATS[name].looks_like(path):
            return name
    from rubricate.formats.plain_notes import holds_texts, is_table_file

    is_table = is_table_file(path)
    if is_table and how.columns:
        return "table"
    whole = next((n for n in FORMATS if path.is_file() and FORMATS[n].looks_like(path.parent)), "")
    if path.is_file() and not path.stat().st_size:
        raise InputError(f"{path}: the file is empty")
    if path.is_dir() and not any(path.iterdir()):
        raise InputError(f"{path}: the folder is empty")
    # No table is part of a folder of BRAT's, or of texts, that it happens to lie in.
    if whole in ("", "texts", "brat"):
        # Its reader says what a table or a folder of texts lacks.
        if is_table and ending != ".txt":
            return "table"
        if holds_texts(path):
            return "texts"
    hint = f" It may be part of the {whole} corpus in its folder: give the folder." if whole else ""
    inside = path.iterdir() if path.is_dir() else [path]
    hint = hint or next((_HINTS[e] for p in inside if (e := p.suffix.lower()) in _HINTS), "")
    advice = Advice(f"Name it with {{}}: {', '.join(FORMATS)}", (Setting("format"),))
    raise InputError([Fault(f"cannot detect the file format.{hint}", path, advice=advice)])


def choose_format(path: Path, how: ReadOptions = USUAL_OPTIONS) -> Format:
    """Return the format named or found; InputError if nothing is there or options do not fit it."""
    found = how.format or detect_format(path, how)
    chosen: Format = FORMATS[found]
    if not path.exists():
        raise missing_path(path, *EMBEDDED)
    if found not in ("table", "texts") and (how.columns or how.case):
        raise ArgumentError(
            f"names of columns and a case are for tables and folders of notes. This input has the "
            f"format {found}, which has its own.",
            advice=Advice("Leave out {} and {}.", (Setting("columns"), Setting("case"))),
        )
    return chosen


def is_embedded(path: str | Path) -> bool:
    """Tell whether a name means a corpus that comes with the package, and no file that is there.

    >>> is_embedded("open-notes"), is_embedded("notes.csv")
    (True, False)
    """
    return str(path) in EMBEDDED and not Path(path).exists()


def read_corpus(
    path: str | Path,
    *,
    format: str | None = None,  # noqa: A002
    strict: bool = True,
    columns: Mapping[str, str] | None = None,
    case: str = "",
    like: Corpus | None = None,
    limits: ReadLimits | None = None,
    progress: Progress = silent,
) -> Corpus:
    r"""Read a corpus, or load an embedded one by its name.

    Parameters
    ----------
    path : str or Path
        A file or folder, or the name of an embedded corpus.
    format : str, optional
        One of `FORMATS`; found by looking when not given.
    strict : bool
        With False, annotations with wrong offsets or of another case's feature are kept as they
        stand, for checking and repair.
    columns : mapping, optional
        The column of a table of notes for each name, such as ``{"text": "note"}``.
    case : str, optional
        The case of all notes of a table or of a folder of texts.
    like : Corpus, optional
        The corpus a submission (which has no notes of its own) speaks of.
    limits : ReadLimits, optional
        How large an input may be; `ReadLimits` says what is usual.
    progress : Progress
        Told how far reading has come.

    Raises
    ------
    InputError
        With every fault of the input, file and 1-based row or line.

    Examples
    --------
    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> _ = (folder / "n1.txt").write_text("no fever", encoding="utf-8")
    >>> _ = (folder / "n1.ann").write_text("T1\tFever 3 8\tfever\n", encoding="utf-8")
    >>> corpus = read_corpus(folder)
    >>> corpus.annotations("n1", "Fever", "annotator")[0].spans
    (Span(start=3, end=8),)
    """
    how = ReadOptions(
        format or "", strict, limits or USUAL_LIMITS, columns or {}, case, like, progress=progress
    )
    return read_path(path, how)


def read_path(path: str | Path, how: ReadOptions = USUAL_OPTIONS) -> Corpus:
    """Read a corpus as `read_corpus` does, with its options as one value."""
    if is_embedded(path):
        if how.format:
            _ = FORMATS[how.format]  # a name that is none is told here, too
        return load_corpus(str(path))
    place = Path(path)
    corpus = choose_format(place, how).read(place, how)
    _refuse_lone_surrogates(corpus, place)
    return corpus


def _refuse_lone_surrogates(corpus: Corpus, path: Path | None = None) -> None:
    """Raise InputError with everything of the corpus that no UTF-8 file can hold."""
    what = "holds half a surrogate pair, which no UTF-8 file can hold"
    found = [
        Fault(f"note {shown(note.id)}: its {name} {what}", path)
        for note in corpus.notes
        for name, texts in (
            ("id", (note.id,)),
            ("case", (note.case,)),
            ("text", (note.text,)),
            ("metadata", (*note.metadata, *note.metadata.values())),
        )
        if any(map(has_lone_surrogate, texts))
    ]
    details, rows = corpus.rows.details, corpus.rows
    for i, detail in details.items():
        pairs = (part for pair in detail.attributes for part in pair)
        own = (detail.reason, detail.comment, detail.stated_text or "", *pairs)
        if any(map(has_lone_surrogate, own)):
            row = int(np.searchsorted(rows.first_annotation, i, side="right")) - 1
            note = corpus.notes[int(rows.note[row])]
            found.append(Fault(f"note {shown(note.id)}: an annotation {what}", path))
    for row, said in rows.contradictions.items():
        if has_lone_surrogate(said.reason):
            note = corpus.notes[int(rows.note[row])]
            found.append(Fault(f"note {shown(note.id)}: a contradiction {what}", path))
    head = [
        ("the corpus", "", (), corpus.metadata),
        *(("case", one.case, (one.title,), one.metadata) for one in corpus.rubrics),
        *(
            ("feature", one.id, (one.text, one.kind, one.group, one.note), {})
            for one in corpus.features
        ),
        *(("annotator", one.id, (one.group,), one.metadata) for one in corpus.annotators),
        *(("the score of note", one.note, (one.annotator,), {}) for one in corpus.scores),
    ]
    found += [
        Fault(f"{name} {shown(id_)} {what}", path)
        for name, id_, texts, metadata in head
        if any(map(has_lone_surrogate, (id_, *texts, *metadata, *metadata.values())))
    ]
    if found:
        raise InputError(found)


def stored_tokens(path: str | Path) -> dict[str, list[tuple[int, int]]]:
    """Return the token spans of each note by note id, if the format stores any.

    EBM-NLP has a file of tokens beside each text; other formats have none, and the result is
    empty.

    >>> stored_tokens("open-notes")
    {}
    """
    from rubricate.formats.ebmnlp import ebmnlp_tokens, looks_like_ebmnlp

    place = Path(path)
    return ebmnlp_tokens(place) if place.is_dir() and looks_like_ebmnlp(place) else {}


def write_corpus(
    corpus: Corpus,
    path: str | Path,
    *,
    format: str,  # noqa: A002
    overwrite: bool = False,
    strict: bool = False,
    progress: Progress = silent,
) -> dict[str, int]:
    """Write a corpus, whole or not at all, and return what the format could not hold.

    Parameters
    ----------
    format : str
        One of `FORMATS`.
    overwrite : bool
        Replace an earlier output in the same format, unless people judged something in it that
        the corpus does not hold.
    strict : bool
        Refuse (LossError) rather than lose anything.
    progress : Progress
        Told how far writing has come.

    Returns
    -------
    dict
        What was lost, by kind, with counts; empty if everything survived.

    Examples
    --------
    >>> import tempfile
    >>> corpus = load_corpus("open-notes").select(cases=["0"])
    >>> target = Path(tempfile.mkdtemp()) / "notes.jsonl"
    >>> write_corpus(corpus, target, format="jsonl")
    {}
    >>> read_corpus(target) == corpus
    True
    """
    write, target, own = writer_of(format), Path(path), FORMATS[format]
    _refuse_lone_surrogates(corpus)
    lost: dict[str, int] = own.losses(corpus)
    if strict and lost:
        listed = "; ".join(f"{count} {HOLDABLE[kind]}" for kind, count in lost.items())
        raise LossError(f"{format} cannot hold: {listed}. Nothing was written.")
    with whole_output(target, overwrite=overwrite, kind=output_kind(own)) as place:
        write(corpus, place, progress=progress)
        refuse_judged(target, own, place)
    return lost


def writer_of(name: str) -> Writer:
    """Return the writer of the format of this name; InputError if it is read only.

    >>> writer_of("texts")
    Traceback (most recent call last):
    rubricate.errors.ArgumentError: texts is a format that is read only; write one of parquet, ...
    """
    chosen: Format = FORMATS[name]
    if chosen.write is None:
        names = ", ".join(known for known in FORMATS if FORMATS[known].write is not None)
        raise ArgumentError(f"{name} is a format that is read only; write one of {names}")
    return chosen.write


def load_corpus(name: str) -> Corpus:
    """Return a corpus that comes with the package.

    Examples
    --------
    >>> load_corpus("open-notes")
    <Corpus: 2040 notes, 140 cases, 2083 features, 2 annotators, 34024 rows>
    """
    if name not in EMBEDDED and Path(name).exists():
        raise ArgumentError(f"{name!r} does not come with the package: use read_corpus")
    if name not in EMBEDDED:
        raise UnknownNameError("embedded corpus", name, EMBEDDED)
    from importlib.resources import as_file, files

    from rubricate.formats.parquet import read_packaged

    folder = files("rubricate") / "data" / name.replace("-", "_")
    with as_file(folder) as place:
        return read_packaged(place)
