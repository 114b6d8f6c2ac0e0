"""``rubricate lexicon``: build a lexicon of synonyms from what is installed, and look into one."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from rubricate.cli.command import There, VerbSubgroup
from rubricate.cli.options import out_option, overwrite_option
from rubricate.cli.output import Answer, answering, in_words, inform, print_table

if TYPE_CHECKING:
    from rubricate.lexicon.groups import Lexicon

SHOW_EPILOG = """
Example: rubricate lexicon show --phrase "shortness of breath"
"""


@click.group("lexicon", cls=VerbSubgroup, epilog=SHOW_EPILOG)
def lexicon_command() -> None:
    """Build a lexicon of synonyms, or show one.

    The embedded lexicon has clinical abbreviations and lay terms.
    """


@lexicon_command.command(
    "build", epilog="Example: rubricate lexicon build --out lexicon --umls 2025AA/META/MRCONSO.RRF"
)
@out_option("Folder for the lexicon.")
@click.option(
    "--source", "sources", multiple=True, metavar="NAME",
    help="Source to use beside the embedded one. Can be given several times. Default: all that "
    "are installed.",
)  # fmt: skip
@click.option(
    "--umls", type=There(dir_okay=False), help="File MRCONSO.RRF (or .gz) of your UMLS licence."
)
@click.option(
    "--wordnet",
    type=There(file_okay=False),
    help="Folder with the dictionary files of WordNet. Default: the usual place.",
)
@overwrite_option
@answering
def build_command(
    out: Path, sources: tuple[str, ...], umls: Path | None, wordnet: Path | None, overwrite: bool
) -> Answer:
    """Collect synonyms from the installed sources, and print a summary of the lexicon."""
    from rubricate.lexicon.build import SOURCES, build_lexicon, find_sources
    from rubricate.lexicon.store import LEXICON, save_lexicon
    from rubricate.outputs import check_output

    check_output(out, LEXICON, overwrite=overwrite)  # Reading UMLS takes minutes.
    paths = {name: path for name, path in (("umls", umls), ("wordnet", wordnet)) if path}
    lexicon = build_lexicon(sources=sources or None, paths=paths)
    save_lexicon(lexicon, out, overwrite=overwrite)
    found = find_sources(paths)
    missing = {name: SOURCES[name].how_to_get for name, path in found.items() if path is None}

    def say() -> None:
        _print_summary(lexicon)
        for name, how in missing.items():
            inform(f"not installed: {name} ({how})")
        inform(f"written to {out}")

    return Answer({**_as_json(lexicon), "missing": missing, "path": str(out)}, say)


@lexicon_command.command("show", epilog=SHOW_EPILOG)
@click.argument("folder", required=False, type=There(file_okay=False))
@click.option("--phrase", help="Print the synonyms of this phrase with their sources.")
@answering
def show_command(folder: Path | None, phrase: str | None) -> Answer:
    """Print a summary of the lexicon in FOLDER. Default: the embedded lexicon."""
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
