"""``rubricate lexicon``: build a lexicon of synonyms from what is installed, and look into one."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from rubricate.cli.options import There, out_option, overwrite_option, refuse_existing
from rubricate.cli.output import Answer, answering, in_words, print_table

if TYPE_CHECKING:
    from rubricate.lexicon.groups import Lexicon

SHOW_EPILOG = """
Example: rubricate lexicon show --phrase "shortness of breath"
"""


@click.group("lexicon", epilog=SHOW_EPILOG)
def lexicon_command() -> None:
    """Build a lexicon of synonyms, or look into one.

    The embedded lexicon (clinical shorthand and lay terms) is always there.
    """


@lexicon_command.command(
    "build", epilog="Example: rubricate lexicon build --out lexicon --umls 2025AA/META/MRCONSO.RRF"
)
@out_option("Folder to write.")
@click.option(
    "--source", "sources", multiple=True, metavar="NAME",
    help="Only this source beside the embedded one; may be given again. All installed if absent.",
)  # fmt: skip
@click.option("--umls", type=There(dir_okay=False), help="Your own licensed MRCONSO.RRF (or .gz).")
@click.option(
    "--wordnet",
    type=There(file_okay=False),
    help="Folder of WordNet's dictionary files, where it is not the usual one.",
)
@overwrite_option
@answering
def build_command(
    out: Path, sources: tuple[str, ...], umls: Path | None, wordnet: Path | None, overwrite: bool
) -> Answer:
    """Gather synonyms from the sources that are installed and say what the lexicon holds."""
    from rubricate.lexicon.build import SOURCES, build_lexicon, find_sources
    from rubricate.lexicon.store import save_lexicon

    refuse_existing(out, overwrite=overwrite)  # Reading UMLS takes minutes.
    paths = {name: path for name, path in (("umls", umls), ("wordnet", wordnet)) if path}
    lexicon = build_lexicon(sources=sources or None, paths=paths)
    save_lexicon(lexicon, out, overwrite=overwrite)
    found = find_sources(paths)
    missing = {name: SOURCES[name].how_to_get for name, path in found.items() if path is None}

    def say() -> None:
        _print_summary(lexicon)
        for name, how in missing.items():
            click.echo(f"not installed: {name} ({how})", err=True)
        click.echo(f"written to {out}", err=True)

    return Answer({**_as_json(lexicon), "missing": missing, "path": str(out)}, say)


@lexicon_command.command("show", epilog=SHOW_EPILOG)
@click.argument("folder", required=False, type=There(file_okay=False))
@click.option("--phrase", help="Print the synonyms of this phrase, each with its source.")
@answering
def show_command(folder: Path | None, phrase: str | None) -> Answer:
    """Say what the lexicon in FOLDER holds; the embedded one if FOLDER is absent."""
    from rubricate.lexicon.store import load_default_lexicon

    lexicon = load_default_lexicon(folder)
    if phrase is None:
        return Answer(_as_json(lexicon), lambda: _print_summary(lexicon))
    synonyms = lexicon.synonyms(phrase)
    value = {
        "phrase": phrase,
        "groups": [group.id for group in lexicon.groups_of(phrase)],
        "synonyms": [{"phrase": text, "source": source} for text, source in synonyms],
    }
    if not synonyms:
        return in_words(value, "no synonyms")
    return Answer(value, lambda: print_table(("synonym", "source"), synonyms))


def _as_json(lexicon: Lexicon) -> dict[str, object]:
    summary = lexicon.summary()
    return {
        "groups": summary.groups,
        "phrases": summary.phrases,
        "sources": [
            {
                "name": count.source.name,
                "version": count.source.version,
                "licence": count.source.licence,
                "groups": count.groups,
                "phrases": count.phrases,
            }
            for count in summary.sources
        ],
    }


def _print_summary(lexicon: Lexicon) -> None:
    summary = lexicon.summary()
    print_table(
        ("source", "version", "groups", "phrases", "licence"),
        [
            (one.source.name, one.source.version, one.groups, one.phrases, one.source.licence)
            for one in summary.sources
        ],
    )
    click.echo(f"in all: {summary.groups:,} groups, {summary.phrases:,} phrases")
