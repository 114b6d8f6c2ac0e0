"""``rubricate rules``: check the tables of words that the reader uses."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from rubricate.cli.command import Output, There, VerbSubgroup
from rubricate.cli.output import Answer, answering, print_table

if TYPE_CHECKING:
    from rubricate.effects.decisions import NamedSet


@click.group("rules", cls=VerbSubgroup, epilog="Example: rubricate rules check")
def rules_command() -> None:
    """Check the tables of words and rules, and show what they decide.

    For contributors who change the reader: add a word to a table, then see the effect.
    """


@rules_command.command("check", epilog="Example: rubricate rules check")
@answering
def check_command() -> Answer:
    """Print every fault of the tables, with file and line."""
    from rubricate.knowledge.checking import count_entries, find_faults
    from rubricate.reading.tokens import find_tokens

    faults = find_faults(lambda text: [token.form for token in find_tokens(text)])
    counts = count_entries()

    def say() -> None:
        for fault in faults:
            click.echo(fault)
        click.echo(
            f"{counts['lists']:,} lists, {counts['entries']:,} entries, {len(faults)} faults"
        )

    value = {**counts, "faults": [str(fault) for fault in faults]}
    return Answer(value, say, failed=bool(faults))


@rules_command.command("test", epilog="Example: rubricate rules test --rule side.other")
@click.option(
    "--rule", "rules", multiple=True, metavar="NAME",
    help="Table of cases to run. Can be given several times. Default: all.",
)  # fmt: skip
@answering
def test_command(rules: tuple[str, ...]) -> Answer:
    """Run the test cases of all rules, and print each case with a wrong decision."""
    from rubricate.effects.cases import case_names, judge_cases, read_cases
    from rubricate.errors import known_names

    names = sorted(known_names("table of cases", rules, case_names())) or case_names()
    judged = [one for name in names for one in judge_cases(read_cases(name))]
    wrong = [one.fault for one in judged if not one.is_right]
    known = sum(bool(one.case.known) for one in judged)

    def say() -> None:
        for fault in wrong:
            click.echo(fault)
        click.echo(
            f"{len(judged):,} cases of {len(names)} tables: {len(wrong)} wrong,"
            f" {known} known to be wrong"
        )

    counts = {"tables": len(names), "cases": len(judged), "known": known}
    return Answer({**counts, "wrong": [str(one) for one in wrong]}, say, failed=bool(wrong))


@rules_command.command(
    "explain", epilog='Example: rubricate rules explain note.txt "Right knee pain"'
)
@click.argument("note", type=There(dir_okay=False))
@click.argument("feature")
@click.option(
    "--matcher", default="lexicon", show_default=True, metavar="NAME",
    help="Matcher that decides: lexicon, fast, accurate or cascade.",
)  # fmt: skip
@answering
def explain_command(note: Path, feature: str, matcher: str) -> Answer:
    """Print why the text in NOTE states FEATURE, contradicts it or does not mention it.

    NOTE is a file with the text of one note. The output contains words of the note.
    """
    from rubricate.effects.explain import explain as why
    from rubricate.formats.reading import read_text

    text = read_text(note)
    found = why(text, feature, matcher=matcher)

    def words(spans: tuple[tuple[int, int], ...]) -> str:
        return " | ".join(text[slice(*span)] for span in spans)

    def say() -> None:
        chance = "" if found.probability is None else f" ({found.probability:.2f})"
        stage = f", stage {found.stage}" if found.stage else ""
        click.echo(f"{found.outcome}{chance}, decided by {found.decided_by}{stage}")
        if found.evidence:
            click.echo(f"evidence: {words(found.evidence)}")
        for reason in found.reasons:
            click.echo(f"reason: {reason}")
        if found.proposals:
            click.echo("\nproposals, before rules")
            print_table(
                ("by", "present", "words", "contradicted", "words against", "after rules"),
                [
                    (one.by, one.presence, words(one.found), one.contradiction,
                     words(one.against), one.decided)
                    for one in found.proposals
                ],
            )  # fmt: skip
        if found.claims:
            click.echo("\nclaims of rules, in the order of the table")
            print_table(
                ("rule", "effect", "says", "words"),
                [(one.rule, one.effect, one.said, words(one.spans)) for one in found.claims],
            )

    value = {
        **found._asdict(),
        "proposals": [one._asdict() for one in found.proposals],
        "claims": [one._asdict() for one in found.claims],
    }
    return Answer(value, say)


_SETS = click.option(
    "--set", "sets", multiple=True, metavar="NAME", default=("lines", "open-notes"),
    show_default=True,
    help="Set of notes: lines, or a corpus with annotations. Can be given several times.",
)  # fmt: skip
_STEP = click.option(
    "--every", type=click.IntRange(min=1), default=10, show_default=True,
    help="Use only every Nth note of a corpus.",
)  # fmt: skip
_MATCHER = click.option(
    "--matcher", default="lexicon", show_default=True, metavar="NAME",
    help="Matcher that decides: lexicon, fast, accurate or cascade.",
)  # fmt: skip


def _loaded(sets: tuple[str, ...], every: int) -> list[NamedSet]:
    from rubricate.effects.cases import LINES
    from rubricate.effects.decisions import load_set

    return [load_set(name, step=1 if name == LINES else every) for name in sets]


@rules_command.command(
    "effect",
    epilog="Example: rubricate rules effect --keep before.gz, then, after a change: "
    "rubricate rules effect before.gz",
)
@click.argument("before", required=False, type=There(dir_okay=False))
@click.option(
    "--keep", type=Output(dir_okay=False), help="Save the present decisions to this file."
)
@_SETS
@_STEP
@_MATCHER
@answering
def effect_command(
    before: Path | None, keep: Path | None, sets: tuple[str, ...], every: int, matcher: str
) -> Answer:
    """Compare the present decisions with those that --keep saved in the file BEFORE.

    Use the sets and the matcher of BEFORE. The file contains no text of a note.
    """
    from rubricate.effects.decisions import decide, keep_decisions, kept_decisions
    from rubricate.effects.effect import compare

    if (before is None) == (keep is None):
        raise click.UsageError(
            "Give the file of earlier decisions, or --keep FILE to save the present ones."
        )
    old = [] if before is None else kept_decisions(before)
    now = [one for named in _loaded(sets, every) for one in decide(named, matcher=matcher)]
    if keep is not None:
        n = keep_decisions(keep, now)
        value: object = {"kept": n, "path": str(keep)}
        return Answer(value, lambda: click.echo(f"saved {n:,} decisions to {keep}"))
    effects, changes = compare(old, now)

    def say() -> None:
        print_table(
            ("set", "items", "outcomes", "better", "worse", "details", "stated", "others"),
            [tuple(one) for one in effects],
        )
        if changes:
            click.echo()
            print_table(
                ("set", "note", "feature", "before", "after", "right is", ""),
                [
                    (one.after.set, one.after.note, one.after.feature, one.before.outcome,
                     one.after.outcome, one.after.label, one.kind)
                    for one in changes
                ],
            )  # fmt: skip

    return Answer(
        {
            "effects": [one._asdict() for one in effects],
            "changes": [
                {"kind": one.kind, "before": one.before._asdict(), "after": one.after._asdict()}
                for one in changes
            ],
        },
        say,
    )


@rules_command.command(
    "ablate", epilog="Example: rubricate rules ablate --set lines --rule side.other"
)
@click.option(
    "--rule", "rules", multiple=True, metavar="NAME",
    help="Rule to switch off. Can be given several times. Default: each rule that "
    "decides anything, each family, and all.",
)  # fmt: skip
@_SETS
@_STEP
@_MATCHER
@answering
def ablate_command(
    rules: tuple[str, ...], sets: tuple[str, ...], every: int, matcher: str
) -> Answer:
    """Switch rules off one by one, and print how the decisions of each set change.

    The column "stated" counts items that earn credit only without the rule, and are stated. The
    column "others" counts items that earn credit only without the rule, and are not stated.
    """
    from rubricate.effects.effect import ablate
    from rubricate.errors import known_names
    from rubricate.rules.precedence import rule_names

    known_names("rule", rules, rule_names())
    found = ablate(_loaded(sets, every), matcher=matcher, rules=[(rule,) for rule in rules])

    def say() -> None:
        print_table(
            ("off", "set", "outcomes", "better", "worse", "stated", "others", "details"),
            [
                (one.rules, effect.set, effect.outcomes, effect.better, effect.worse,
                 effect.stated, effect.others, effect.details)
                for one in found
                for effect in one.effects
            ],
        )  # fmt: skip

    return Answer(
        [{"rules": one.rules, "effects": [x._asdict() for x in one.effects]} for one in found], say
    )
