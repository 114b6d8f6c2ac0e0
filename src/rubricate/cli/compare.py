"""``rubricate compare``: matchers side by side on the same splits."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from rubricate.cli.command import Option, Output, Source, verb
from rubricate.cli.measuring import cluster_option, measuring_options, shown
from rubricate.cli.options import (
    check_report,
    models_option,
    note_seconds_option,
    open_corpus,
    report_option,
)
from rubricate.cli.output import Answer, print_first, print_table, warn
from rubricate.display import DASH, shown_number
from rubricate.progress import shown_progress

if TYPE_CHECKING:
    from rubricate.corpus import Corpus
    from rubricate.evaluation import Evaluation
    from rubricate.formats.encoding import Json
    from rubricate.formats.options import ReadOptions
    from rubricate.stats import Resampling
    from rubricate.trials import Split, Trial, TrialResult

#: Cases that are printed without --json.
SHOWN = 20
#: What is compared where nothing is named.
USUAL = "exact,fuzzy,synonyms,lexicon"
EPILOG = """
Example: rubricate compare open-notes --where part=depth --matchers exact,fuzzy --train-folds 1
"""


@verb("compare", epilog=EPILOG)
@click.argument("corpus_path", metavar="CORPUS", type=Source())
@click.option(
    "--matchers", metavar="NAME,...", help=f"Matchers, separated by commas. Default: {USUAL}."
)
@models_option
@click.option(
    "--folds",
    type=int,
    default=10,
    show_default=True,
    help="Number of folds of the notes, or of the cases.",
)
@click.option("--train-folds", type=int, default=1, show_default=True,
              help="Number of folds to train on. The competition's paper uses 1 of 10; 9 is "
              "usual.")  # fmt: skip
@click.option("--hold-out-cases", is_flag=True, help="Train on some cases and test on other cases.")
@click.option(
    "--notes-per-case",
    metavar="0,5,10,20,40",
    help="Numbers of training notes per case, for a learning curve.",
)
@click.option("--annotator", help="Annotator to train on and test against.")
@click.option("--set", "parameters", multiple=True, metavar="MATCHER.NAME=VALUE",
              help="Set a parameter of a matcher.")  # fmt: skip
@click.option(
    "--checkpoint-dir", "keep", cls=Option, formerly=["--keep"], metavar="FOLDER",
    type=Output(kept=True),
    help="Folder for finished parts. The same command continues from it.",
)  # fmt: skip
@note_seconds_option
@cluster_option
@report_option()
@measuring_options
def compare_command(
    corpus_path: str, *, matchers: str | None, models: Sequence[Path | str], folds: int,
    train_folds: int, hold_out_cases: bool, notes_per_case: str | None, annotator: str | None,
    parameters: Sequence[str], keep: Path | None, note_seconds: float, cluster: str | None,
    report: Path | None, where: Sequence[str], how: ReadOptions, settings: Resampling,
    overwrite: bool,
) -> Answer:  # fmt: skip
    """Train and test matchers on the same splits of CORPUS, and compare them with intervals.

    All annotations of a note are in one fold. The command prints F1 of characters and of presence,
    the mean and standard deviation over cases, and the agreement between the annotators.
    """
    from rubricate.matchers import failures_in_words
    from rubricate.trials import run_trials

    check_report(report, overwrite=overwrite)
    trials = _trials(matchers, models, parameters, hold_out_cases)
    dealing = Dealing(folds, train_folds, hold_out_cases, _counts(notes_per_case))
    corpus = open_corpus(corpus_path, how=how, where=where)
    with shown_progress() as progress:
        result = run_trials(
            corpus, trials, dealing.splits(corpus, settings.seed), annotator=annotator,
            settings=settings, keep=keep, note_seconds=note_seconds, cluster=cluster,
            progress=progress,
        )  # fmt: skip
    for name, failed in result.failed.items():
        warn(f"{name}: {failures_in_words(failed, 'used')}")
    if report:
        from rubricate.reports.blocks import save_report
        from rubricate.reports.comparison import comparison_report

        with shown_progress() as report_progress:
            made = comparison_report(result, corpus, dealing.in_words, progress=report_progress)
        report = save_report(report, made, overwrite=overwrite)

    def say() -> None:
        _print(result)
        _print_cases(result)
        if report:
            click.echo(f"\nreport: {report}")

    return Answer(result.to_dict, say)


def _trials(
    matchers: str | None, models: Sequence[Path | str], given: Sequence[str], unseen: bool
) -> list[Trial]:
    """Return the matchers to compare, each once, with checked parameters."""
    from rubricate.matchers import MATCHERS
    from rubricate.matchers.matcher import check_parameters
    from rubricate.trials import Trial

    wanted = (matchers or ("" if models else USUAL)).split(",")
    names = list(dict.fromkeys(name.strip() for name in wanted if name.strip()))
    if not names and not models:
        raise click.UsageError("--matchers: name at least one matcher.")
    for setting in given:
        name, dot, _ = setting.partition("=")[0].partition(".")
        if not dot or name not in names:
            raise click.UsageError(
                f"--set {setting}: need MATCHER.NAME=VALUE with one of {', '.join(names)}"
            )
    trials = [Trial(name, name, _parameters(name, given, unseen)) for name in names]
    for trial in trials:
        check_parameters(MATCHERS[trial.matcher], trial.parameters)
    trials += map(_model_trial, models)
    same = {one.name for one in trials if sum(other.name == one.name for other in trials) > 1}
    if same:
        raise click.UsageError(f"--model: two are called {', '.join(sorted(same))}")
    return trials


def _model_trial(model: Path | str) -> Trial:
    """Return a model as one to try: on every split it goes on from what it has learned."""
    from rubricate.matchers import shipped_model
    from rubricate.matchers.model_files import read_header
    from rubricate.trials import Trial

    if isinstance(model, Path):
        return Trial(model.name, read_header(model).matcher, model=model)
    shipped = shipped_model(model)
    assert shipped is not None  # the option has checked the name
    return Trial(model, *shipped)


def _parameters(name: str, given: Sequence[str], unseen: bool) -> Json:
    """Return a matcher's parameters; unseen cases must not be known from the shipped defaults."""
    from rubricate.cli.fit import check_settings, parse_settings

    found = parse_settings([s.partition(".")[2] for s in given if s.partition(".")[0] == name])
    check_settings(name, found)
    if unseen and name == "lexicon":
        # What comes with the package was learned from cases of the embedded corpus.
        found.setdefault("shared", "learn")
    return found


@dataclass(frozen=True)
class Dealing:
    """Settings of the splits into training and test notes."""

    folds: int
    train_folds: int
    hold_out_cases: bool
    notes_per_case: list[int]

    def splits(self, corpus: Corpus, seed: int) -> list[Split]:
        """Return the parts of a corpus."""
        from rubricate.trials import case_splits, fold_splits, learning_splits

        folds, counts = self.folds, self.notes_per_case
        if self.hold_out_cases:
            return case_splits(corpus, folds=folds, notes_per_case=counts or [0], seed=seed)
        if counts:
            return learning_splits(corpus, folds=folds, notes_per_case=counts, seed=seed)
        return fold_splits(corpus, folds=folds, train_folds=self.train_folds, seed=seed)

    @property
    def in_words(self) -> str:
        """Description of the splits, for the output."""
        n = self.folds
        if self.hold_out_cases:
            return f"Cases were dealt into {n} groups; each was left out of learning once."
        if self.notes_per_case:
            return f"Notes were dealt into {n} folds; each was tested on once, learned from others."
        return (
            f"The notes of each case were dealt into {n} folds. Each matcher learned from "
            f"{self.train_folds} of them and was tested on the other {n - self.train_folds}, "
            f"{n} times over."
        )


def _counts(text: str | None) -> list[int]:
    try:
        counts = list(dict.fromkeys(int(n) for n in (text or "").split(",") if n.strip()))
    except ValueError:
        counts = [-1]
    if any(n < 0 for n in counts):
        raise click.UsageError("--notes-per-case: need numbers of 0 or more, separated by commas")
    return counts


def _print(result: TrialResult) -> None:
    from rubricate.trials import over_cases

    lines = []
    for group in result.groups:
        for name, found in result.of(group).items():
            spread = over_cases(found)
            cells: list[Any] = [f"{name}, {group} notes per case" if group else name]
            for what in ("characters", "presence"):
                table = getattr(found, what)
                interval = found.overall(what)
                cells += [table.total().f1, shown(interval)]
                cells.append(_spread(spread[what]["mean"], spread[what]["sd"]))
            lines.append(tuple(cells))
    base = next(iter(result.measured.values())).all_present_f1()
    lines.append(("everything present", None, DASH, DASH, base, DASH, DASH))
    if result.ceiling is not None:
        table_of = {line["case"]: line for line in result.ceiling.case_table()}
        cells = [f"annotators ({result.ceiling.pooled.coverage.n_notes:,} notes)"]
        for what, column in (("characters", "f1"), ("presence", "yes_no_f1")):
            interval = result.ceiling.pooled.overall(what)
            total = getattr(result.ceiling.pooled, what).total()
            cells += [total.f1, shown(interval)]
            mean, sd = (table_of.get(k, {}).get(column) for k in ("mean", "sd"))
            cells.append(_spread(mean, sd))
        lines.append(tuple(cells))
    print_table(
        ("matcher", "characters F1", "interval", "over cases (SD)", "presence F1", "interval",
         "over cases (SD)"),
        lines,
    )  # fmt: skip


def _spread(mean: float | None, sd: float | None) -> str:
    known = mean is not None and sd is not None and math.isfinite(mean) and math.isfinite(sd)
    return f"{mean:.3f} ({sd:.3f})" if known else shown_number(mean)


def _print_cases(result: TrialResult) -> None:
    """Print characters F1 and presence F1 of each case, where there are several."""
    group = result.groups[-1]
    columns = {name: _case_cells(found) for name, found in result.of(group).items()}
    cases = list(next(iter(columns.values())))
    if len(cases) < 2:
        return
    if result.ceiling is not None:
        columns["annotators"] = _case_cells(result.ceiling.pooled)
    learned = f", {group} notes per case" if group else ""
    click.echo(f"\ncharacters F1 / presence F1 of each case{learned}")
    print_first(
        SHOWN,
        ("case", *columns),
        [(case, *(own.get(case, DASH) for own in columns.values())) for case in cases],
        "more (all of them with --json or --report)",
    )


def _case_cells(evaluation: Evaluation) -> dict[str, str]:
    """Return both F1 of each case, as they are printed."""
    both = []
    for table in (evaluation.characters.by("case"), evaluation.presence.by("case")):
        f1 = table.statistic("f1").tolist()
        both.append({case: shown_number(value) for case, value in zip(table.ids, f1, strict=True)})
    return {case: f"{first} / {both[1].get(case, DASH)}" for case, first in both[0].items()}
