"""``rubricate trust``: how far the scores of a run can be trusted.

One command per check. To add one: write its function in `rubricate.trust` and its command here;
`told_in_tables` makes an answer of what it found.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import click

from rubricate.cli.command import Output, Source, There, VerbSubgroup
from rubricate.cli.measuring import resampled
from rubricate.cli.options import (
    F,
    check_report,
    confidence_option,
    from_option,
    open_corpus,
    overwrite_option,
    report_option,
    resamples_option,
    rubric_option,
    seed_option,
    split_option,
)
from rubricate.cli.output import Answer, Told, answering, told_in_tables
from rubricate.cli.trust_files import (
    RUN_FOLDER,
    accept_edited_option,
    feature_words,
    group_members,
    history_command,
    open_run,
    read_notes,
    report_command,
    run_argument,
    told_groups,
    verify_command,
)
from rubricate.display import counted, shown_p
from rubricate.progress import shown_progress

if TYPE_CHECKING:
    from rubricate.formats.options import ReadOptions
    from rubricate.run import ScoredRun
    from rubricate.stats import Resampling


def _corpus_options(function: F) -> F:
    return from_option(split_option()(function))


def _resampling_options(function: Callable[..., Any]) -> Callable[..., Any]:
    return confidence_option(resamples_option(seed_option(resampled(function))))


def _reference_options(required: bool) -> Callable[[F], F]:
    def decorate(function: F) -> F:
        reference = click.option(
            "--reference", required=required, metavar="CORPUS", type=Source(),
            help="Corpus with the scores or annotations of people.",
        )  # fmt: skip
        annotator = click.option(
            "--annotator", help="Annotator in the reference. Default: the first."
        )
        return reference(annotator(function))

    return decorate


class TrustGroup(VerbSubgroup):
    """The checks of a run."""

    formerly: ClassVar[Mapping[str, str]] = {"audit": "history"}


@click.group("trust", cls=TrustGroup, epilog="Example: rubricate trust duplicates open-notes")
def trust_command() -> None:
    """Check a run: its files, decisions, leniency, drift, fairness, copies and gaming.

    RUN is a folder that `rubricate score` wrote.
    """


trust_command.add_command(verify_command)
trust_command.add_command(history_command)
trust_command.add_command(report_command)


@trust_command.command(
    "leniency", epilog="Example: rubricate trust leniency scores --reference open-notes"
)
@run_argument
@_reference_options(required=True)
@_corpus_options
@_resampling_options
@accept_edited_option
@answering
def leniency_command(
    run_folder: Path,
    reference: str,
    annotator: str | None,
    how: ReadOptions,
    where: Sequence[str],
    settings: Resampling,
    accept_edited: bool,
) -> Answer:
    """Compare the scores of RUN with the scores that people gave."""
    from rubricate.trust import measure_leniency

    people = _reference(reference, annotator, how, where, totals=True)
    with shown_progress() as progress:
        run = open_run(run_folder, accept_edited=accept_edited, progress=progress)
    found = measure_leniency(people, run, settings)
    difference = found.intervals["difference"]
    words = (
        f"{found.verdict}: {found.difference:+.1f} points of 100 "
        f"({difference.low:+.1f} to {difference.high:+.1f}) against people, {found.n:,} notes\n"
        f"limits of agreement {found.limits[0]:+.1f} to {found.limits[1]:+.1f}; weighted kappa "
        f"{found.kappa:.3f}; {found.higher:.0%} of notes higher, {found.lower:.0%} lower"
    )
    bands = [
        (f"{b.low:.0f} to {b.high:.0f}", b.n, b.difference,
         f"{b.interval.low:+.1f} to {b.interval.high:+.1f}")
        for b in found.bands
    ]  # fmt: skip
    header = ("score, %", "notes", "difference", "interval")
    return told_in_tables(found.to_dict, Told(words, header, bands))


@trust_command.command("drift", epilog="Example: rubricate trust drift last-year this-year")
@click.argument("before_folder", metavar="BEFORE", type=RUN_FOLDER)
@click.argument("after_folder", metavar="AFTER", type=RUN_FOLDER)
@click.option(
    "--notes-before",
    metavar="CORPUS",
    type=Source(),
    help="Notes of BEFORE, to compare lengths and unknown words.",
)
@click.option(
    "--notes-after",
    metavar="CORPUS",
    type=Source(),
    help="Notes of AFTER, to compare lengths and unknown words.",
)
@click.option("--alpha", type=float, default=0.05, show_default=True,
              help="Significance level: flag if the adjusted p value is below it.")  # fmt: skip
@click.option("--min-rate", type=float, default=0.1, show_default=True,
              help="Smallest difference between two rates of a feature that is "
              "flagged.")  # fmt: skip
@click.option("--fail", is_flag=True, help="Exit with code 1 if anything drifted.")
@seed_option
@accept_edited_option
@answering
def drift_command(
    before_folder: Path,
    after_folder: Path,
    notes_before: str | None,
    notes_after: str | None,
    alpha: float,
    min_rate: float,
    fail: bool,
    seed: int,
    accept_edited: bool,
) -> Answer:
    """Test whether feature rates, scores, certainty or the notes drifted between two runs."""
    from rubricate.trust import compare_runs, measure_drift
    from rubricate.trust.drift import DriftSettings

    texts = None
    if notes_before is not None and notes_after is not None:
        texts = _texts(notes_before), _texts(notes_after)
    elif notes_before is not None or notes_after is not None:
        raise click.UsageError("--notes-before and --notes-after must be given together.")
    settings = DriftSettings(alpha, min_rate, seed=seed)
    with shown_progress() as progress:
        before, after = (
            open_run(folder, accept_edited=accept_edited, progress=progress)
            for folder in (before_folder, after_folder)
        )
        drift = measure_drift(before, after, texts=texts, settings=settings, progress=progress)
    flagged = sorted(
        (one for one in drift.features if one.flag), key=lambda one: -abs(one.difference)
    )
    words = (
        f"{'drifted' if drift.drifted else 'no drift'}: {drift.n_before:,} notes before, "
        f"{drift.n_after:,} after ({drift.design}); "
        f"{len(flagged):,} of {len(drift.features):,} features flagged"
    )
    measures = [
        (m.measure, m.before, m.after, m.distance, shown_p(m.adjusted), m.flag)
        for m in drift.measures
    ]
    named = feature_words(after_folder)
    rates = [
        (named.get(f.feature, f.feature), f.before, f.after, f.difference, shown_p(f.adjusted))
        for f in flagged
    ]
    rate_header = ("feature", "rate before", "after", "difference", "adjusted p")
    changes = compare_runs(before, after)
    moved = [(one.note, one.before, one.now, one.change) for one in changes.largest()]
    return told_in_tables(
        {**drift.to_dict(), "changes": changes.to_dict()},
        Told(
            words, ("measure", "median before", "after", "distance", "adjusted p", "flag"), measures
        ),
        Told("", rate_header, rates),
        Told(
            f"{len(moved):,} of {changes.n_shared:,} notes in both runs have another score"
            if changes.n_shared
            else "no note is in both runs",
            ("note", "score before", "after", "change"),
            moved,
        ),
        failed=fail and drift.drifted,
    )


@trust_command.command(
    "fairness",
    epilog="Example: rubricate trust fairness scores --notes open-notes --group fold"
    " --reference open-notes",
)
@run_argument
@click.option("--group", required=True, metavar="COLUMN",
              help="Metadata field of the notes, or a column of --groups.")  # fmt: skip
@click.option(
    "--notes",
    metavar="CORPUS",
    type=Source(),
    help="Corpus whose metadata names the group of each note.",
)
@click.option("--groups", metavar="FILE.csv", type=There(),
              help="Table with the columns note and COLUMN.")  # fmt: skip
@click.option("--cluster", metavar="COLUMN",
              help="Metadata field of the notes, or a column of --groups, such as the patient, "
              "whose notes belong together.")  # fmt: skip
@click.option("--min-size", type=int, default=30, show_default=True,
              help="Smallest group that is reported. Smaller groups are only counted.")  # fmt: skip
@click.option("--out", metavar="FILE.csv", type=Output(),
              help="Write the table of groups to this file.")  # fmt: skip
@report_option()
@overwrite_option
@_reference_options(required=False)
@_corpus_options
@_resampling_options
@accept_edited_option
@answering
def fairness_command(
    run_folder: Path,
    group: str,
    notes: str | None,
    groups: Path | None,
    cluster: str | None,
    min_size: int,
    out: Path | None,
    report: Path | None,
    overwrite: bool,
    reference: str | None,
    annotator: str | None,
    how: ReadOptions,
    where: Sequence[str],
    settings: Resampling,
    accept_edited: bool,
) -> Answer:
    """Compare scores between groups of notes, and errors if there is a reference."""
    from rubricate.outputs import check_output
    from rubricate.reports.blocks import save_report
    from rubricate.reports.fairness import fairness_report
    from rubricate.trust import compare_groups, differential_items
    from rubricate.trust.fairness import GROUPS, FairnessSettings, write_groups

    check_report(report, overwrite=overwrite)
    if out is not None:
        check_output(out, GROUPS, overwrite=overwrite)
    members = group_members(group, notes, groups, how)
    clusters = group_members(cluster, notes, groups, how) if cluster else None
    people = None
    if reference:
        people = _reference(reference, annotator, how, where, totals=False)
    chosen = FairnessSettings(min_size, resampling=settings)
    with shown_progress() as progress:
        run = open_run(run_folder, accept_edited=accept_edited, progress=progress)
        fair = compare_groups(
            run, members, reference=people, clusters=clusters, settings=chosen, progress=progress
        )
    bias = differential_items(run, members, min_size=min_size) if len(run.items) else ()
    written = []
    if out is not None:
        written.append(write_groups(fair, out, overwrite=overwrite))
    if report is not None:
        made = fairness_report(fair, bias, group=group)
        written.append(save_report(report, made, overwrite=overwrite))
    contrasts = [
        (c.measure, c.group, c.against, c.difference, f"{c.low:+.1f} to {c.high:+.1f}",
         shown_p(c.adjusted), c.flag)
        for c in fair.contrasts
    ]  # fmt: skip
    large = [
        (b.feature, b.group, b.odds_ratio, shown_p(b.adjusted), b.size,
         b.r2_change, shown_p(b.p_non_uniform), b.r2_size)
        for b in bias
        if b.is_large
    ]  # fmt: skip
    answer = told_in_tables(
        {**fair.to_dict(), "features": [one.to_dict() for one in bias]},
        told_groups(fair),
        Told(
            f"{len(fair.flagged)} of {len(fair.contrasts)} differences are beyond chance",
            ("measure", "group", "against", "difference", "interval", "adjusted p", "flag"),
            contrasts,
            most=len(contrasts),
        ),
        Told(
            f"{len(large)} of {len(bias)} features work differently for a group (sizes B, C)"
            if bias
            else f"no feature was tested: it takes {min_size} notes with a decision on either side",
            (
                "feature",
                "group",
                "odds ratio",
                "adjusted p",
                "size",
                "change of R²",
                "p, non-uniform",
                "size of it",
            ),
            large,
        ),
    )

    def say() -> None:
        answer.say()
        for path in written:
            click.echo(f"wrote {path}")

    return answer._replace(say=say)


@trust_command.command("duplicates", epilog="Example: rubricate trust duplicates open-notes")
@click.argument("corpus_path", metavar="CORPUS", type=Source())
@click.option("--threshold", type=float, default=0.8, show_default=True,
              help="Smallest share of common word sequences (Jaccard index) of two "
              "copies.")  # fmt: skip
@click.option("--across-cases", is_flag=True, help="Also compare notes of different cases.")
@_corpus_options
@answering
def duplicates_command(
    corpus_path: str,
    threshold: float,
    across_cases: bool,
    how: ReadOptions,
    where: Sequence[str],
) -> Answer:
    """Find identical and nearly identical notes of CORPUS, and print their ids."""
    from rubricate.trust import find_duplicates

    notes = list(read_notes(corpus_path, how, where))
    with shown_progress() as progress:
        clusters = find_duplicates(
            notes, threshold=threshold, same_case=not across_cases, progress=progress
        )
    copies = sum(len(cluster.notes) for cluster in clusters)
    lines = [
        (c.kind, len(c.notes), c.similarity,
         " ".join(c.notes[:6]) + (" ..." if len(c.notes) > 6 else ""))
        for c in clusters
    ]  # fmt: skip
    words = f"{copies:,} of {len(notes):,} notes in {counted(len(clusters), 'group')} of copies"
    return told_in_tables(
        {"notes": len(notes), "clusters": [cluster.to_dict() for cluster in clusters]},
        Told(words, ("kind", "notes", "similarity", "ids"), lines),
    )


@trust_command.command("gaming", epilog="Example: rubricate trust gaming open-notes")
@click.argument("corpus_path", metavar="CORPUS", type=Source())
@click.option("--run", "run_folder", metavar="RUN", type=RUN_FOLDER,
              help="Scoring run for these notes. Also flags bare keyword lists.")  # fmt: skip
@rubric_option
@_corpus_options
@answering
def gaming_command(
    corpus_path: str,
    run_folder: Path | None,
    rubric: Path | None,
    how: ReadOptions,
    where: Sequence[str],
) -> Answer:
    """Flag notes of CORPUS that look written for the scorer.

    A flag is a reason to check the note. It does not prove misconduct.
    """
    from rubricate.corpus import Note
    from rubricate.formats.notes import open_notes, with_only_case
    from rubricate.formats.rubric import rubrics_for
    from rubricate.run import read_evidence
    from rubricate.trust import flag_notes

    source = open_notes(corpus_path, how=how, where=where)
    rubrics = rubrics_for(source, rubric)
    read = with_only_case(source.notes(), rubrics)
    notes = [note for note in read if isinstance(note, Note)]
    with shown_progress() as progress:
        evidence = None if run_folder is None else read_evidence(run_folder, progress=progress)
        flags = flag_notes(notes, rubrics, evidence=evidence, progress=progress)
    words = f"{len({flag.note for flag in flags}):,} of {len(notes):,} notes flagged"
    lines = [(f.note, f.kind, f.sign, f.value, float(f.limit)) for f in flags]
    return told_in_tables(
        {"notes": len(notes), "flags": [flag.to_dict() for flag in flags]},
        Told(words, ("note", "looks like", "sign", "value", "limit"), lines),
    )


def _reference(
    path: str, annotator: str | None, how: ReadOptions, where: Sequence[str], *, totals: bool
) -> ScoredRun:
    """Return the decisions of people; with ``totals`` also their scores, if there are any."""
    from rubricate.trust import run_of_corpus, run_of_scores

    corpus = open_corpus(path, how=how, where=where)
    if corpus.scores and (totals or not len(corpus.rows)):
        return run_of_scores(corpus, annotator)
    return run_of_corpus(corpus, annotator)


def _texts(path: str) -> dict[str, str]:
    return {note.id: note.text for note in read_notes(path)}
