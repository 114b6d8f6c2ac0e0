"""Arguments and options that several verbs share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from rubricate.corpus import Corpus

F = TypeVar("F", bound=Callable[..., Any])

#: Values of metadata are listed in a message only if they are few and short.
MOST_VALUES, LONGEST_VALUE = 20, 20

json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON to standard output.")
overwrite_option = click.option("--overwrite", is_flag=True, help="Replace what is already there.")
seed_option = click.option(
    "--seed", type=int, default=0, show_default=True, help="Seed of everything left to chance."
)
from_option = click.option(
    "--from",
    "from_format",
    metavar="FORMAT",
    help="Format of the input; found by looking if absent.",
)


def split_option(
    help_text: str = "Only these notes, by metadata, e.g. split=test, case=0,4.",
) -> Callable[[F], F]:
    """Return the option ``--where NAME=VALUE`` that picks notes by their metadata."""
    return click.option("--where", multiple=True, metavar="NAME=VALUE", help=help_text)


def open_corpus(
    path: str,
    *,
    from_format: str | None = None,
    where: Sequence[str] = (),
    like: Corpus | None = None,
) -> Corpus:
    """Read the corpus a command was given, and keep the notes that ``where`` picks."""
    from rubricate.formats import read_corpus

    corpus = read_corpus(path, format=from_format, like=like)
    return keep_where(corpus, where)


def input_hashes(paths: Sequence[str]) -> dict[str, str]:
    """Return the hash of each input by its name; an embedded corpus goes by its version."""
    from rubricate import __version__
    from rubricate.files import file_hash

    names = [Path(path).name for path in paths]
    return {
        name if names.count(name) == 1 else path: file_hash(Path(path))
        if Path(path).exists()
        else f"embedded, rubricate {__version__}"
        for name, path in zip(names, paths, strict=True)
    }


def refuse_touching(source: str, *outputs: str | Path, inside: bool = False) -> None:
    """Refuse outputs that would replace the corpus at ``source`` or lie, unless allowed, in it."""
    origin = Path(source).resolve()
    if not origin.exists():
        return
    for output in outputs:
        place = Path(output).resolve()
        if place == origin or place in origin.parents:
            raise click.UsageError(f"{output}: it would replace {source}; choose another")
        if not inside and origin.is_dir() and origin in place.parents:
            raise click.UsageError(f"{output}: it would lie inside {source}; choose another")


def keep_annotators(corpus: Corpus, names: Sequence[str]) -> Corpus:
    """Keep these annotators; all of them if none is named."""
    from rubricate.errors import UnknownNameError

    for name in names:
        if name not in corpus.annotator_index:
            raise UnknownNameError("annotator", name, list(corpus.annotator_index))
    return corpus.select(annotators=names) if names else corpus


def keep_where(corpus: Corpus, where: Sequence[str]) -> Corpus:
    """Keep the notes whose metadata (or case) have these values."""
    from rubricate.errors import InputError

    for condition in where:
        name, sign, value = condition.partition("=")
        if not sign:
            raise click.UsageError(f"--where {condition}: need NAME=VALUE, e.g. split=test")
        known = {"case", *(key for note in corpus.notes for key in note.metadata)}
        if name not in known:
            listed = ", ".join(sorted(known))
            raise InputError(f"--where {condition}: no note has {name!r}; there are {listed}")
        kept = corpus.select(
            notes=lambda note, name=name, value=value: note.matches(name, value)  # type: ignore[misc]
        )
        if not kept.notes:
            raise InputError(f"--where {condition}: no note is left{_values_hint(corpus, name)}")
        corpus = kept
    return corpus


def _values_hint(corpus: Corpus, name: str) -> str:
    """Return the values a field has, if they are few and short enough to be no note text."""
    values = {str(n.case if name == "case" else n.metadata.get(name)) for n in corpus.notes}
    if len(values) > MOST_VALUES or any(len(value) > LONGEST_VALUE for value in values):
        return ""
    return f"; {name} is one of {', '.join(sorted(values))}"


def _per_pass(context: click.Context, option: click.Parameter, value: str | None) -> Any:
    if value is None or value == "all":
        return value
    if not value.isdecimal() or int(value) < 1:
        raise click.BadParameter(f"{value!r} is neither 'all' nor a number from 1 up")
    return int(value)


features_per_pass_option = click.option(
    "--features-per-pass",
    metavar="N|all",
    callback=_per_pass,
    help="Encoder: how many features it seeks in one pass over a note.",
)


def load_models(models: Sequence[Path]) -> Any:
    """Return the matcher saved in a folder; several encoders become their mean."""
    from rubricate.matchers import load_matcher

    if len(models) == 1:
        return load_matcher(models[0])
    from rubricate.neural.encoder import EncoderMatcher

    return EncoderMatcher.load_average(models)


def set_features_per_pass(matcher: Any, value: int | str | None) -> None:
    """Let a matcher seek so many features in one pass; UsageError where it has no such choice."""
    if value is None:
        return
    if "features_per_pass" not in matcher.get_params():
        raise click.UsageError(f"--features-per-pass: the matcher {matcher.name!r} has no passes")
    matcher.features_per_pass = value
