"""``rubricate route``: choose which items a person must see."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

from rubricate.cli.options import (
    Choice,
    from_option,
    open_corpus,
    out_option,
    overwrite_option,
    refuse_existing,
    seed_option,
    split_option,
)
from rubricate.cli.output import Answer, answering, print_table
from rubricate.display import counted
from rubricate.progress import shown_progress

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
@click.option("--unit", type=Choice(["note", "item"]), default="note", show_default=True,
              help="What goes wrong independently; item trusts more.")  # fmt: skip
@click.option("--tuning-share", type=float, default=0.3, show_default=True,
              help="Share of the notes used to order the items; the others test.")  # fmt: skip
@click.option("--per-feature/--pooled", default=True, show_default=True,
              help="Own thresholds for features with enough notes.")  # fmt: skip
@click.option("--reference-annotator", help="Whose annotations are the reference.")
@click.option("--predicted-annotator", help="Whose decisions are routed.")
@out_option("The policy file.")
@split_option()
@from_option
@seed_option
@overwrite_option
@answering
def route_command(
    reference_path: str,
    predicted_path: str,
    max_error: float,
    confidence: float,
    unit: Literal["note", "item"],
    tuning_share: float,
    per_feature: bool,
    reference_annotator: str | None,
    predicted_annotator: str | None,
    out: Path,
    where: Sequence[str],
    from_format: str | None,
    seed: int,
    overwrite: bool,
) -> Answer:
    """Choose, from notes that REFERENCE judged, which items of PREDICTED a person must see.

    PREDICTED is what `match` found in the same notes with a model that has not learned from them.
    Of the items nobody sees at most --max-error are wrong, with the stated confidence.
    """
    from rubricate.formats import read_corpus
    from rubricate.scoring import RouteSettings, choose_policy, write_policy

    refuse_existing(out, overwrite=overwrite)
    settings = RouteSettings(max_error, confidence, unit, tuning_share, per_feature, seed)
    reference = open_corpus(reference_path, from_format=from_format, where=where)
    predicted = read_corpus(predicted_path, like=reference)
    if where:
        predicted = predicted.select(notes=lambda note: note.id in reference.note_index)
    with shown_progress() as progress:
        policy = choose_policy(
            reference,
            predicted,
            reference_annotator=reference_annotator,
            predicted_annotator=predicted_annotator,
            settings=settings,
            progress=progress,
        )
    write_policy(policy, out, overwrite=overwrite)
    return Answer({"out": str(out), **policy.to_dict()}, lambda: _print(policy, out))


def _notes_needed(policy: Policy) -> str:
    """Say how many judged notes it takes to let anything pass, at best and at half the limit."""
    from rubricate.scoring.risk_bounds import RouteExpected, plan_route

    settings = policy.settings
    items = max(1, round(settings["items"] / max(settings["notes"], 1)))
    needed = [
        plan_route(
            RouteExpected(
                policy.max_error,
                policy.confidence,
                rate,
                items,
                unit="item" if policy.unit == "item" else "note",
                tuning_share=settings["tuning_share"],
            )
        ).total
        for rate in (0.0, policy.max_error / 2)
    ]
    return (
        f"there are {settings['notes']:,} notes; to let items pass, about {needed[0]:,} are needed "
        f"if none of them is wrong and {needed[1]:,} if {policy.max_error / 2:.1%} are: "
        f"rubricate plan --method route --max-error {policy.max_error:g} --items {items} "
        "--error-rate RATE"
    )


def _print(policy: Policy, out: Path) -> None:
    settings = policy.settings
    click.echo(
        f"{counted(settings['notes'], 'note')}, {counted(settings['items'], 'item')}, "
        f"{settings['errors']:,} wrong; "
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
        click.echo(_notes_needed(policy))
    step = max(1, len(policy.curve) // SHOWN)
    click.echo("\nshare for review against error, on the notes that tested")
    print_table(
        ("for review", "error of the rest", "upper limit"),
        [(f"{p.review_share:.1%}", p.error_rate, p.upper) for p in policy.curve[::step]],
    )
    click.echo(f"wrote {out}")
