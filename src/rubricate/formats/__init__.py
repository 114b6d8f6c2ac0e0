"""Reading and writing corpora in every format, found by looking or named.

Each module of this folder holds one format as a `Format` value called ``FORMAT``. Offsets in other
units than code points are converted here and nowhere else.
"""

from __future__ import annotations

from pathlib import Path

from rubricate.corpus import Corpus
from rubricate.errors import InputError, LossError, UnknownNameError
from rubricate.files import whole_output
from rubricate.formats.format import Format
from rubricate.formats.losses import HOLDABLE
from rubricate.registry import Registry

__all__ = [
    "EMBEDDED",
    "FORMATS",
    "Format",
    "detect_format",
    "load_corpus",
    "read_corpus",
    "write_corpus",
]

#: All formats; the order is the order in which a path is looked at.
FORMATS = Registry(
    "format",
    {
        "parquet": "rubricate.formats.parquet:FORMAT",
        "jsonl": "rubricate.formats.jsonl:FORMAT",
        "nbme": "rubricate.formats.nbme:FORMAT",
        "submission": "rubricate.formats.submission:FORMAT",
        "brat": "rubricate.formats.brat:FORMAT",
        "webanno": "rubricate.formats.webanno:FORMAT",
        "cas": "rubricate.formats.cas:FORMAT",
        "cas-json": "rubricate.formats.cas:CAS_JSON",
        "ebmnlp": "rubricate.formats.ebmnlp:FORMAT",
        "conll": "rubricate.formats.conll:FORMAT",
        "labelstudio": "rubricate.formats.labelstudio:FORMAT",
        "doccano": "rubricate.formats.doccano:FORMAT",
    },
    group="rubricate.formats",
)

#: Corpora that come with the package, by name.
EMBEDDED = ("open-notes",)


def detect_format(path: Path) -> str:
    r"""Return the name of the format a path looks like.

    Raises
    ------
    InputError
        If the path does not exist or looks like none.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "submission.csv"
    >>> _ = path.write_text("id,location\n00016_000,0 5\n", encoding="utf-8")
    >>> detect_format(path)
    'submission'
    """
    if not path.exists():
        embedded = ", ".join(EMBEDDED)
        raise InputError(f"{path}: no such file or folder (embedded corpora: {embedded})")
    for name in FORMATS:
        if FORMATS[name].looks_like(path):
            return name
    whole = next((n for n in FORMATS if path.is_file() and FORMATS[n].looks_like(path.parent)), "")
    hint = f"It may be part of the {whole} corpus in its folder: give the folder. " if whole else ""
    raise InputError(
        f"{path}: looks like no known format. {hint}Name it with --from: {', '.join(FORMATS)}"
    )


def read_corpus(
    path: str | Path,
    *,
    format: str | None = None,  # noqa: A002
    strict: bool = True,
    like: Corpus | None = None,
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
    like : Corpus, optional
        The corpus a submission (which has no notes of its own) speaks of.

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
    if str(path) in EMBEDDED and not Path(path).exists():
        return load_corpus(str(path))
    place = Path(path)
    chosen: Format = FORMATS[format or detect_format(place)]
    if not place.exists():
        raise InputError(f"{place}: no such file or folder")
    if chosen.name == "submission" and like is not None:
        from rubricate.formats.submission import read_submission

        return read_submission(place, like, strict=strict)
    return chosen.read(place, strict=strict)


def write_corpus(
    corpus: Corpus,
    path: str | Path,
    *,
    format: str,  # noqa: A002
    overwrite: bool = False,
    strict: bool = False,
) -> dict[str, int]:
    """Write a corpus, whole or not at all, and return what the format could not hold.

    Parameters
    ----------
    format : str
        One of `FORMATS`.
    overwrite : bool
        Replace what is there.
    strict : bool
        Refuse (LossError) rather than lose anything.

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
    chosen: Format = FORMATS[format]
    lost = chosen.losses(corpus)
    if strict and lost:
        listed = "; ".join(f"{count} {HOLDABLE[kind]}" for kind, count in lost.items())
        raise LossError(f"{format} cannot hold: {listed}. Nothing was written.")
    with whole_output(Path(path), overwrite=overwrite) as place:
        chosen.write(corpus, place)
    return lost


def load_corpus(name: str) -> Corpus:
    """Return a corpus that comes with the package.

    Examples
    --------
    >>> load_corpus("open-notes")
    <Corpus: 2040 notes, 140 cases, 2083 features, 2 annotators, 34024 rows>
    """
    if name not in EMBEDDED:
        raise UnknownNameError("embedded corpus", name, EMBEDDED)
    from importlib.resources import as_file, files

    folder = files("rubricate") / "data" / name.replace("-", "_")
    with as_file(folder) as place:
        corpus: Corpus = FORMATS["parquet"].read(place, strict=True)
    return corpus
