"""``rubricate trust``: how far the scores of a run can be trusted."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from rubricate.cli.options import (
    F,
    from_option,
    json_option,
    open_corpus,
    overwrite_option,
    seed_option,
    split_option,
)
from rubricate.cli.output import print_json, print_table

if TYPE_CHECKING:
    from rubricate.corpus import Note
    from rubricate.scoring.note_streams import Unreadable
    from rubricate.stats import Resampling
    from rubricate.trust import Run

#: How many lines are printed without --json.
SHOWN = 20
EPILOG = """
Example: rubricate trust duplicates open-notes
"""
_RUN = click.Path(path_type=Path, exists=True, file_okay=False)


def _corpus_options(function: F) -> F:
    return from_option(split_option()(function))


def _resampling_options(function: F) -> F:
    confidence = click.option("--confidence", type=float, default=0.95, show_default=True)
    resamples = click.option("--resamples", type=int, default=2000, show_default=True)
    return confidence(resamples(seed_option(function)))


def _reference_options(required: bool) -> Callable[[F], F]:
    def decorate(function: F) -> F:
        reference = click.option(
            "--reference", required=required, metavar="CORPUS",
            help="Notes that people scored or annotated.",
        )  # fmt: skip
        annotator = click.option("--annotator", help="Which of them; the first if absent.")
        return reference(annotator(function))

    return decorate


@click.group("trust", epilog=EPILOG)
def trust_command() -> None:
    """Check a run's scores: leniency, drift, fairness, copied notes, gaming.

    RUN is a folder that `rubricate score` wrote.
    """


@trust_command.command(
    "leniency", epilog="Example: rubricate trust leniency scores --reference open-notes"
)
@click.argument("run_folder", metavar="RUN", type=_RUN)
@_reference_options(required=True)
@_corpus_options
@_resampling_options
@json_option
def leniency_command(run_folder: Path, as_json: bool, **options: Any) -> None:
    """Compare the scores of RUN with those people gave, or their annotations earn."""
    from rubricate.trust import measure_leniency, read_run

    reference = _reference(options, totals=True)
    found = measure_leniency(reference, read_run(run_folder), _settings(options))
    if as_json:
        print_json(found.to_dict())
        return
    low, high = (getattr(found.intervals["difference"], end) for end in ("low", "high"))
    click.echo(
        f"{found.verdict}: {found.difference:+.1f} points of 100 ({low:+.1f} to {high:+.1f}) "
        f"against people, {found.n:,} notes"
    )
    click.echo(
        f"limits of agreement {found.limits[0]:+.1f} to {found.limits[1]:+.1f}; weighted kappa "
        f"{found.kappa:.3f}; {found.higher:.0%} of notes higher, {found.lower:.0%} lower\n"
    )
    print_table(
        ("score, %", "notes", "difference", "interval"),
        [
            (f"{b.low:.0f} to {b.high:.0f}", b.n, b.difference,
             f"{b.interval.low:+.1f} to {b.interval.high:+.1f}")
            for b in found.bands
        ],
    )  # fmt: skip


@trust_command.command("drift", epilog="Example: rubricate trust drift last-year this-year")
@click.argument("before_folder", metavar="BEFORE", type=_RUN)
@click.argument("after_folder", metavar="AFTER", type=_RUN)
@click.option("--notes-before", metavar="CORPUS", help="Notes of BEFORE: lengths, unknown words.")
@click.option("--notes-after", metavar="CORPUS", help="Notes of AFTER.")
@click.option("--alpha", type=float, default=0.05, show_default=True,
              help="Largest adjusted p value of a flag.")  # fmt: skip
@click.option("--min-rate", type=float, default=0.1, show_default=True,
              help="Least difference of a feature's rates that is flagged.")  # fmt: skip
@click.option("--fail", is_flag=True, help="Exit with 1 if anything drifted.")
@seed_option
@json_option
def drift_command(before_folder: Path, after_folder: Path, as_json: bool, **options: Any) -> None:
    """Test whether feature rates, scores, confidence or the notes drifted between two runs."""
    from rubricate.trust import measure_drift, read_run
    from rubricate.trust.drift import DriftSettings

    names = options["notes_before"], options["notes_after"]
    if (names[0] is None) != (names[1] is None):
        raise click.UsageError("--notes-before and --notes-after come together")
    texts = None
    if names[0] is not None:
        sides = [{note.id: note.text for note in _notes(name)} for name in names]
        texts = (sides[0], sides[1])
    settings = DriftSettings(options["alpha"], options["min_rate"], seed=options["seed"])
    drift = measure_drift(
        read_run(before_folder), read_run(after_folder), texts=texts, settings=settings
    )
    if as_json:
        print_json(drift.to_dict())
    else:
        flagged = [one for one in drift.features if one.flag]
        click.echo(
            f"{'drifted' if drift.drifted else 'no drift'}: {drift.n_before:,} notes before, "
            f"{drift.n_after:,} after ({drift.design}); "
            f"{len(flagged):,} of {len(drift.features):,} features flagged\n"
        )
        print_table(
            ("measure", "median before", "after", "distance", "adjusted p", "flag"),
            [
                (m.measure, m.before, m.after, m.distance, m.adjusted, m.flag)
                for m in drift.measures
            ],
        )
        flagged.sort(key=lambda one: -abs(one.difference))
        if flagged:
            click.echo()
            print_table(
                ("feature", "rate before", "after", "difference", "adjusted p"),
                [(f.feature, f.before, f.after, f.difference, f.adjusted) for f in flagged[:SHOWN]],
            )
            _tell_rest(len(flagged))
    if options["fail"] and drift.drifted:
        raise click.exceptions.Exit(1)


@trust_command.command(
    "fairness",
    epilog="Example: rubricate trust fairness scores --notes open-notes --group fold"
    " --reference open-notes",
)
@click.argument("run_folder", metavar="RUN", type=_RUN)
@click.option("--group", required=True, metavar="COLUMN",
              help="Metadata of the notes, or a column of --groups.")  # fmt: skip
@click.option("--notes", metavar="CORPUS", help="The notes, whose metadata hold the group.")
@click.option("--groups", metavar="FILE.csv", type=click.Path(path_type=Path, exists=True),
              help="A table with the columns note and COLUMN.")  # fmt: skip
@click.option("--min-size", type=int, default=30, show_default=True,
              help="Smaller groups are counted, and not reported.")  # fmt: skip
@_reference_options(required=False)
@_corpus_options
@_resampling_options
@json_option
def fairness_command(run_folder: Path, as_json: bool, **options: Any) -> None:
    """Compare scores, and errors where there is a reference, between groups of notes."""
    from rubricate.trust import compare_groups, differential_items, read_run
    from rubricate.trust.fairness import FairnessSettings

    groups = _groups(options)
    run = read_run(run_folder)
    reference = _reference(options, totals=False) if options["reference"] else None
    settings = FairnessSettings(options["min_size"], resampling=_settings(options))
    fair = compare_groups(run, groups, reference=reference, settings=settings)
    bias = differential_items(run, groups, min_size=options["min_size"]) if len(run.items) else ()
    if as_json:
        print_json({**fair.to_dict(), "features": [one.to_dict() for one in bias]})
        return
    small = [group for group in fair.sizes if group not in fair.reported]
    click.echo(
        f"{len(fair.flagged)} of {len(fair.contrasts)} differences are beyond chance"
        + (
            f"; not reported, fewer than {options['min_size']} notes: {', '.join(small)}"
            if small
            else ""
        )
        + "\n"
    )
    print_table(
        ("measure", "group", "against", "difference", "interval", "adjusted p", "flag"),
        [
            (c.measure, c.group, c.against, c.difference, f"{c.low:+.1f} to {c.high:+.1f}",
             c.adjusted, c.flag)
            for c in fair.contrasts
        ],
    )  # fmt: skip
    large = [one for one in bias if one.size != "A"]
    click.echo(f"\n{len(large)} of {len(bias)} features work differently for a group (sizes B, C)")
    if large:
        print_table(
            ("feature", "group", "odds ratio", "adjusted p", "size"),
            [(b.feature, b.group, b.odds_ratio, b.adjusted, b.size) for b in large[:SHOWN]],
        )
        _tell_rest(len(large))


@trust_command.command("duplicates", epilog="Example: rubricate trust duplicates open-notes")
@click.argument("corpus_path", metavar="CORPUS")
@click.option("--threshold", type=float, default=0.8, show_default=True,
              help="Least share of common word runs (Jaccard index).")  # fmt: skip
@click.option("--across-cases", is_flag=True, help="Compare notes of different cases, too.")
@_corpus_options
@json_option
def duplicates_command(corpus_path: str, as_json: bool, **options: Any) -> None:
    """Find identical and nearly identical notes of CORPUS; prints ids only."""
    from rubricate.trust import find_duplicates

    notes = list(_notes(corpus_path, options))
    clusters = find_duplicates(
        notes, threshold=options["threshold"], same_case=not options["across_cases"]
    )
    if as_json:
        print_json({"notes": len(notes), "clusters": [c.to_dict() for c in clusters]})
        return
    copies = sum(len(cluster.notes) for cluster in clusters)
    click.echo(f"{copies:,} of {len(notes):,} notes in {len(clusters):,} groups of copies")
    if clusters:
        click.echo()
        print_table(
            ("kind", "notes", "similarity", "ids"),
            [
                (c.kind, len(c.notes), c.similarity,
                 " ".join(c.notes[:6]) + (" ..." if len(c.notes) > 6 else ""))
                for c in clusters[:SHOWN]
            ],
        )  # fmt: skip
        _tell_rest(len(clusters))


@trust_command.command("gaming", epilog="Example: rubricate trust gaming open-notes")
@click.argument("corpus_path", metavar="CORPUS")
@click.option("--run", "run_folder", metavar="RUN", type=_RUN,
              help="Scores of these notes: tells lists without a story, too.")  # fmt: skip
@click.option("--rubric", type=click.Path(path_type=Path, exists=True),
              help="A rubric file; by default the notes' own.")  # fmt: skip
@_corpus_options
@json_option
def gaming_command(corpus_path: str, as_json: bool, **options: Any) -> None:
    """Flag notes of CORPUS that look written for the scorer; a flag asks a person to look."""
    from rubricate.errors import InputError
    from rubricate.formats.rubric_files import read_rubrics
    from rubricate.scoring import open_notes
    from rubricate.scoring.survey import with_only_case
    from rubricate.trust import flag_notes
    from rubricate.trust.run_files import read_evidence

    source = open_notes(corpus_path, format=options["from_format"], where=options["where"])
    given = read_rubrics(options["rubric"]) if options["rubric"] else source.rubrics
    rubrics = {rubric.case: rubric for rubric in given if len(rubric)}
    if not rubrics:
        raise InputError("the notes come without a rubric. Give one with --rubric FILE.")
    notes = list(_readable(with_only_case(source.notes(), rubrics)))
    evidence = read_evidence(options["run_folder"]) if options["run_folder"] else None
    flags = flag_notes(notes, rubrics, evidence=evidence)
    if as_json:
        print_json({"notes": len(notes), "flags": [flag.to_dict() for flag in flags]})
        return
    flagged = {flag.note for flag in flags}
    click.echo(f"{len(flagged):,} of {len(notes):,} notes flagged")
    if flags:
        click.echo()
        print_table(
            ("note", "looks like", "sign", "value", "limit"),
            [(f.note, f.kind, f.sign, f.value, float(f.limit)) for f in flags[:SHOWN]],
        )
        _tell_rest(len(flags))


@trust_command.command(
    "report", epilog="Example: rubricate trust report scores open-notes --where split=test"
)
@click.argument("run_folder", metavar="RUN", type=_RUN)
@click.argument("corpus_path", metavar="CORPUS")
@click.option("--previous", metavar="RUN", type=_RUN, help="An earlier run, to show changes.")
@click.option("--policy", type=click.Path(path_type=Path, exists=True), help="A review policy.")
@_corpus_options
@overwrite_option
@json_option
def report_command(run_folder: Path, corpus_path: str, **options: Any) -> None:
    """Write report.html, and a page for every note, into RUN."""
    from rubricate.reports.scoring import write_scoring_report

    page = write_scoring_report(
        run_folder,
        _notes(corpus_path, options),
        previous=options["previous"],
        policy=options["policy"],
        overwrite=options["overwrite"],
    )
    if options["as_json"]:
        print_json({"report": str(page)})
    else:
        click.echo(f"report: {page}")


def _settings(options: dict[str, Any]) -> Resampling:
    from rubricate.stats import Resampling

    return Resampling(options["resamples"], options["confidence"], seed=options["seed"])


def _reference(options: dict[str, Any], *, totals: bool) -> Run:
    """Return what people said; with ``totals`` their scores where there are any."""
    from rubricate.trust import run_of_corpus, run_of_scores

    corpus = open_corpus(
        options["reference"], from_format=options["from_format"], where=options["where"]
    )
    if corpus.scores and (totals or not len(corpus.rows)):
        return run_of_scores(corpus, options["annotator"])
    return run_of_corpus(corpus, options["annotator"])


def _groups(options: dict[str, Any]) -> dict[str, str]:
    """Return the group of each note, from a table or from the notes' metadata."""
    from rubricate.errors import InputError
    from rubricate.trust.run_files import read_table

    column = options["group"]
    if options["groups"] is not None:
        table = read_table(options["groups"], ("note", column))
        pairs = zip(table["note"].to_list(), table[column].to_list(), strict=True)
        return {note: group for note, group in pairs if group}
    if options["notes"] is None:
        raise click.UsageError(
            "give --notes CORPUS or --groups FILE.csv to say who is in which group"
        )
    notes = list(_notes(options["notes"]))
    known = sorted({key for note in notes for key in note.metadata})
    if column not in known:
        raise InputError(f"--group {column}: no note has it; there are {', '.join(known)}")
    return {
        note.id: str(note.metadata[column])
        for note in notes
        if note.metadata.get(column) not in (None, "")
    }


def _notes(path: str, options: Mapping[str, Any] | None = None) -> Iterator[Note]:
    """Yield the notes of a corpus, a table or a folder of texts, as `score` reads them."""
    from rubricate.scoring import open_notes

    chosen = options or {"from_format": None, "where": ()}
    source = open_notes(path, format=chosen["from_format"], where=chosen["where"])
    return _readable(source.notes())


def _readable(notes: Iterable[Note | Unreadable]) -> Iterator[Note]:
    from rubricate.corpus import Note

    return (note for note in notes if isinstance(note, Note))


def _tell_rest(n: int) -> None:
    if n > SHOWN:
        click.echo(f"... and {n - SHOWN} more (all of them with --json)")
