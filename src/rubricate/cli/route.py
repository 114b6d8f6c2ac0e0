"""``rubricate route``: choose which items a person must see."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from rubricate.cli.options import (
    from_option,
    json_option,
    open_corpus,
    overwrite_option,
    seed_option,
    split_option,
)
from rubricate.cli.output import print_json, print_table

if TYPE_CHECKING:
    from rubricate.scoring import Policy

EPILOG = """
Example: rubricate route open-notes found.jsonl --reference-annotator reference --out policy.json
"""
#: Lines of the curve that are printed; the file has all.
SHOWN = 8


@click.command("route", epilog=EPILOG)
@click.argument("reference_path", metavar="REFERENCE")
@click.argument("predicted_path", metavar="PREDICTED")
@click.option("--max-error", type=float, default=0.02, show_default=True,
              help="Largest share of wrong items among those nobody sees.")  # fmt: skip
@click.option("--confidence", type=float, default=0.95, show_default=True,
              help="Of that promise.")  # fmt: skip
@click.option("--unit", type=click.Choice(["note", "item"]), default="note", show_default=True,
              help="What goes wrong independently; item trusts more.")  # fmt: skip
@click.option("--tuning-share", type=float, default=0.3, show_default=True,
              help="Share of the notes used to order the items; the others test.")  # fmt: skip
@click.option("--per-feature/--pooled", default=True, show_default=True,
              help="Own thresholds for features with enough notes.")  # fmt: skip
@click.option("--reference-annotator", help="Whose annotations are the reference.")
@click.option("--predicted-annotator", help="Whose decisions are routed.")
@click.option("--out", required=True, type=click.Path(path_type=Path), help="The policy file.")
@split_option()
@from_option
@seed_option
@overwrite_option
@json_option
def route_command(reference_path: str, predicted_path: str, out: Path, **options: Any) -> None:
    """Choose, from notes that REFERENCE judged, which items of PREDICTED a person must see.

    PREDICTED is what `match` found in the same notes with a model that has not learned from them.
    Of the items nobody sees at most --max-error are wrong, with the stated confidence.
    """
    from rubricate.errors import OutputExistsError
    from rubricate.formats import read_corpus
    from rubricate.scoring import RouteSettings, choose_policy, write_policy

    if out.exists() and not options["overwrite"]:
        raise OutputExistsError(out)
    settings = RouteSettings(
        max_error=options["max_error"],
        confidence=options["confidence"],
        unit=options["unit"],
        tuning_share=options["tuning_share"],
        per_feature=options["per_feature"],
        seed=options["seed"],
    )
    reference = open_corpus(
        reference_path, from_format=options["from_format"], where=options["where"]
    )
    predicted = read_corpus(predicted_path, like=reference)
    if options["where"]:
        predicted = predicted.select(notes={note.id for note in reference.notes})
    policy = choose_policy(
        reference,
        predicted,
        reference_annotator=options["reference_annotator"],
        predicted_annotator=options["predicted_annotator"],
        settings=settings,
    )
    write_policy(policy, out, overwrite=options["overwrite"])
    if options["as_json"]:
        print_json({"out": str(out), **policy.to_dict()})
    else:
        _print(policy, out)


def _print(policy: Policy, out: Path) -> None:
    settings = policy.settings
    click.echo(
        f"{settings['notes']:,} notes, {settings['items']:,} items, {settings['errors']:,} wrong; "
        f"promise: at most {policy.max_error:.1%} wrong with {policy.confidence:.0%} confidence, "
        f"by {policy.unit}"
    )
    rules = {**({"all other" if policy.rules else "all": policy.pooled} if policy.pooled else {}),
             **policy.rules}  # fmt: skip
    print_table(
        ("features", "for review", "accepted", "wrong", "upper limit"),
        [
            (name, f"{rule.review_share:.1%}", rule.accepted, rule.errors, rule.upper)
            for name, rule in rules.items()
        ],
    )
    if policy.pooled and policy.pooled.most is not None:
        click.echo(f"\nof one note at most {policy.pooled.most} items go unseen, the surest")
    if any(rule.threshold is None for rule in rules.values()):
        click.echo("\nwhere everything is for review, no threshold could be shown to be safe: more "
                   "notes, a better matcher or a larger --max-error would be needed")  # fmt: skip
    step = max(1, len(policy.curve) // SHOWN)
    click.echo("\nshare for review against error, on the notes that tested")
    print_table(
        ("for review", "error of the rest", "upper limit"),
        [(f"{p.review_share:.1%}", p.error_rate, p.upper) for p in policy.curve[::step]],
    )
    click.echo(f"wrote {out}")
