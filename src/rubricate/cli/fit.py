"""``rubricate fit``: let a matcher learn from annotated notes."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

import click

from rubricate.cli.options import (
    from_option,
    json_option,
    open_corpus,
    overwrite_option,
    split_option,
)
from rubricate.cli.output import print_json, show_steps

EPILOG = """
Example: rubricate fit open-notes --where case=4 --where split=train --out model
"""


@click.command("fit", epilog=EPILOG)
@click.argument("corpus_path", metavar="CORPUS")
@click.option("--matcher", "name", default="lexicon", show_default=True, help="Which matcher.")
@click.option("--out", required=True, type=click.Path(path_type=Path), help="Folder of the model.")
@click.option("--annotator", help="Whose annotations to learn from.")
@click.option("--set", "settings", multiple=True, metavar="NAME=VALUE", help="A parameter.")
@split_option("Learn only from these notes, e.g. split=train.")
@from_option
@overwrite_option
@json_option
def fit_command(corpus_path: str, name: str, out: Path, **options: Any) -> None:
    """Fit a matcher to the annotated notes of CORPUS and save it as a folder of readable files."""
    from rubricate.errors import OutputExistsError
    from rubricate.matchers import make_matcher

    if out.exists() and not options["overwrite"]:
        raise OutputExistsError(out)
    corpus = open_corpus(corpus_path, from_format=options["from_format"], where=options["where"])
    parameters = parse_settings(options["settings"])
    matcher = make_matcher(name, **parameters)
    watched: dict[str, Any] = {}
    if "progress" in inspect.signature(matcher.fit).parameters:
        watched["progress"] = show_steps("learning")
    matcher.fit(corpus, annotator=options["annotator"], **watched)
    matcher.save(out, overwrite=options["overwrite"])
    result = {
        "model": str(out),
        "matcher": name,
        "notes": len(corpus.notes),
        "features": len(corpus.features),
        "parameters": matcher.get_params(),
    }
    if options["as_json"]:
        print_json(result)
    else:
        click.echo(
            f"wrote {out}: {name} learned from {len(corpus.notes):,} notes and "
            f"{len(corpus.features):,} features"
        )


def parse_settings(settings: tuple[str, ...]) -> dict[str, Any]:
    """Return ``NAME=VALUE`` pairs with numbers, truth values and texts told apart."""
    import json

    found: dict[str, Any] = {}
    for setting in settings:
        name, sign, value = setting.partition("=")
        if not sign:
            raise click.UsageError(f"--set {setting}: need NAME=VALUE")
        try:
            found[name.replace("-", "_")] = json.loads(value)
        except ValueError:
            found[name.replace("-", "_")] = value
    return found
