"""``rubricate route``: choose which items a person must see."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

from rubricate.cli.command import Option, Source, verb
from rubricate.cli.options import (
    Choice,
    from_option,
    open_corpus,
    out_option,
    overwrite_option,
    seed_option,
    split_option,
)
from rubricate.cli.output import Answer, answering, print_table
from rubricate.display import counted
from rubricate.outputs import check_output
from rubricate.progress import shown_progress

if TYPE_CHECKING:
    from rubricate.formats.options import ReadOptions
    from rubricate.scoring import Policy

EPILOG = """
Example: rubricate route open-notes found.jsonl --reference-annotator reference --out policy.json
"""
#: Lines of the curve that are printed; the file has all.
SHOWN = 8
#: A policy that lets fewer items pass saves little work; it says what would change that.
_LITTLE = 0.1


@verb("route", epilog=EPILOG)
@click.argument("reference_path", metavar="REFERENCE", type=Source())
@click.argument("predicted_path", metavar="PREDICTED", type=Source())
@click.option("--max-error", cls=Option, section="Review", type=float, default=0.02,
              show_default=True,
              help="Largest allowed share of wrong items among those that skip "
              "review.")  # fmt: skip
@click.option("--confidence", type=float, default=0.95, show_default=True,
              help="Confidence level of the error bound.")  # fmt: skip
@click.option("--unit", cls=Option, section="Review", type=Choice(["note", "item"]),
              default="note", show_default=True,
              help="Unit of the error bound. note is safe: errors within a note may be related. "
              "item "
              "assumes that they are independent, tests that on these notes, and stops if they "
              "are not.")  # fmt: skip
@click.option("--tuning-share", cls=Option, section="Review", type=float, default=0.3,
              show_default=True,
              help="Share of the notes used to choose thresholds. The other notes test "
              "them.")  # fmt: skip
@click.option("--per-feature/--pooled", cls=Option, section="Review", default=True,
              show_default=True,
              help="Choose one threshold per feature with enough notes, or one for "
              "all.")  # fmt: skip
@click.option("--reference-annotator", help="Annotator in REFERENCE to compare with.")
@click.option("--predicted-annotator", help="Annotator in PREDICTED whose decisions are routed.")
@out_option("Policy file to write (.json).")
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
    how: ReadOptions,
    seed: int,
    overwrite: bool,
) -> Answer:
    """Choose which items of PREDICTED a person must review, so that the others have few errors.

    REFERENCE has the decisions of people. PREDICTED is the result of `match` on the same notes,
    with a model that was not trained on them. Among the items that skip review, at most
    --max-error are wrong, with the given confidence.
    """
    from rubricate.formats import read_path
    from rubricate.scoring import RouteSettings, choose_policy, write_policy
    from rubricate.scoring.policy import POLICY

    check_output(out, POLICY, overwrite=overwrite)
    settings = RouteSettings(max_error, confidence, unit, tuning_share, per_feature, seed)
    reference = open_corpus(reference_path, how=how, where=where)
    predicted = read_path(predicted_path, replace(how, format="", like=reference))
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
        f"rubricate plan route --max-error {policy.max_error:g} --items {items} "
        "--error-rate RATE"
    )


def _print(policy: Policy, out: Path) -> None:
    settings = policy.settings
    click.echo(
        f"{counted(settings['notes'], 'note')}, {counted(settings['items'], 'item')}, "
        f"{settings['errors']:,} wrong; "
        f"error bound: at most {policy.max_error:.1%} wrong with {policy.confidence:.0%} "
        "confidence, "
        f"by {policy.unit}"
    )
    share = policy.accepted_share
    click.echo(f"about {share:.0%} of the items skip review; a person reviews the others")
    if share < _LITTLE:
        click.echo(f"this policy saves little work: {_notes_needed(policy)}")
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
        click.echo(
            f"\nAt most {policy.pooled.most} items per note skip review: those with the highest "
            "certainty."
        )
    if any(rule.threshold is None for rule in rules.values()):
        click.echo("\nWhere all items are for review, no threshold keeps the error bound. You need "
                   "more notes, a better matcher or a larger --max-error.")  # fmt: skip
    step = max(1, len(policy.curve) // SHOWN)
    click.echo("\nShare for review and error of the others, on the test notes:")
    print_table(
        ("for review", "error of the rest", "upper limit"),
        [(f"{p.review_share:.1%}", p.error_rate, p.upper) for p in policy.curve[::step]],
    )
    click.echo(f"wrote {out}")
