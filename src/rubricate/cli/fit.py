"""``rubricate fit``: train a matcher on annotated notes."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from rubricate.cli.command import Source, verb
from rubricate.cli.options import (
    ModelName,
    check_report,
    features_per_pass_option,
    from_option,
    input_hashes,
    load_models,
    need_features,
    note_seconds_option,
    open_corpus,
    out_option,
    overwrite_option,
    report_option,
    rubric_option,
    seed_option,
    set_features_per_pass,
    split_option,
)
from rubricate.cli.output import Answer, answering, in_words, tell_failed, warn
from rubricate.display import counted
from rubricate.errors import InputError
from rubricate.outputs import check_output
from rubricate.progress import shown_progress

if TYPE_CHECKING:
    from rubricate.corpus import Corpus
    from rubricate.formats.encoding import Json
    from rubricate.formats.options import ReadOptions
    from rubricate.matchers.matcher import Matcher


@verb(
    "fit", epilog="Example: rubricate fit open-notes --where case=4 --where split=train --out model"
)
@click.argument("corpus_path", metavar="CORPUS", type=Source())
@click.option("--matcher", "name", metavar="NAME",
              help="Matcher to train. Default: the one that score uses.")  # fmt: skip
@click.option("--model", type=ModelName(), metavar="MODEL",
              help="Model to fine-tune: a model folder, or fast, accurate, cascade.")  # fmt: skip
@out_option("Folder for the model.")
@click.option("--annotator", help="Annotator whose annotations are used.")
@click.option(
    "--set", "settings", multiple=True, metavar="NAME=VALUE", help="Set a parameter of the matcher."
)
@features_per_pass_option
@note_seconds_option
@click.option("--folds", type=int, default=2, show_default=True,
              help="Number of parts of the notes for the comparison with the untrained model (0 = "
              "no comparison). Each part takes the time of one more training.")  # fmt: skip
@click.option("--even-if-worse", is_flag=True,
              help="Save the model even if it decides more items wrongly.")  # fmt: skip
@seed_option
@report_option("Write the training curves as a page")
@rubric_option
@split_option("Use only notes with this metadata for training, e.g. split=train.")
@from_option
@overwrite_option
@answering
def fit_command(
    corpus_path: str, *, name: str | None, model: Path | str | None, out: Path,
    annotator: str | None, settings: Sequence[str], features_per_pass: int | str | None,
    note_seconds: float, folds: int, even_if_worse: bool, seed: int, report: Path | None,
    rubric: Path | None, where: Sequence[str], how: ReadOptions, overwrite: bool,
) -> Answer:  # fmt: skip
    """Train a matcher on the annotated notes of CORPUS and save it as a folder.

    First, rubricate compares the trained with the untrained model, on notes of CORPUS that were
    not used for training. It does not save a model that decides more items wrongly.
    """
    from rubricate.learning import compare_fitted, refuse_worse
    from rubricate.matchers import failures_in_words, fit_apart
    from rubricate.matchers.matcher import learning_annotator, needs_notes
    from rubricate.matchers.model_files import MODEL
    from rubricate.rubric import HUMAN

    check_output(out, MODEL, overwrite=overwrite)

    def make() -> Matcher:
        matcher = _start(name, model, parse_settings(settings))
        set_features_per_pass(matcher, features_per_pass)
        return matcher

    matcher = make()
    if report is not None:
        _need_report(matcher, report, out, overwrite=overwrite)
    corpus = open_corpus(corpus_path, how=how, where=where, rubric=rubric)
    need_features(corpus)
    with shown_progress() as progress:
        comparison = compare_fitted(
            make, corpus, annotator=annotator, folds=folds, seed=seed,
            note_seconds=note_seconds, progress=progress,
        ) if folds else None  # fmt: skip
    if comparison is not None and comparison.failed:
        warn(failures_in_words(comparison.failed, "used in the comparison"))
    if not even_if_worse:
        refuse_worse(comparison)
    with shown_progress() as progress:
        begun = time.monotonic()
        failed = fit_apart(
            matcher, corpus, annotator=annotator, note_seconds=note_seconds, progress=progress
        )
    seconds = time.monotonic() - begun
    left_out = tell_failed(failed, "learned from", len(corpus.notes))
    matcher.save(out, overwrite=overwrite)
    who = learning_annotator(corpus, annotator)
    n_notes, judged = 0, ""
    if who:
        # People may have seen some notes only, and of a run some items of them.
        own = corpus.rows.annotator == corpus.annotator_index[who]
        left = {corpus.note_index[one.note] for one in failed}
        n_notes = len(set(corpus.rows.note[own].tolist()) - left)
        if corpus.annotators[corpus.annotator_index[who]].group == HUMAN:
            judged = f", as {who} judged them"
    if not n_notes:
        warn("No annotated notes found. The model was built from the rubric only.")
    cases = {note.case for note in corpus.notes}
    n_features = sum(feature.case in cases for feature in corpus.features)
    result = {
        "model": str(out),
        "matcher": matcher.name,
        "annotator": who,
        "notes": n_notes,
        "features": n_features,
        "parameters": matcher.get_params(),
        "comparison": None if comparison is None else comparison.to_dict(),
        "failed": left_out,
    }
    if n_notes and folds and comparison is None and not needs_notes(matcher):
        warn(
            f"Too few annotated notes with different texts for a comparison; it needs {folds}. "
            "Nobody knows whether the fitted model is better."
        )
    lines = [] if comparison is None else comparison.sentences()
    lines.append(
        f"wrote {out}: {matcher.name} learned from {counted(n_notes, 'note')} "
        f"and {counted(n_features, 'feature')}{judged}"
    )
    if report is not None:
        facts = {"time of fitting": f"{seconds:,.0f} s", **input_hashes((corpus_path,))}
        result["report"] = str(_write_report(report, matcher, corpus, facts, overwrite))
        lines.append(f"report: {result['report']}")
    return in_words(result, "\n".join(lines))


def _start(name: str | None, model: Path | str | None, settings: Json) -> Matcher:
    """Return a new matcher, or a model to fine-tune, with its parameters."""
    from rubricate.matchers import default_matcher, make_matcher
    from rubricate.matchers.matcher import check_parameters

    if model is None:
        name = name or default_matcher()
        check_settings(name, settings)
        return make_matcher(name, **settings)
    matcher: Matcher = load_models([model])
    if name not in (None, matcher.name):
        raise click.UsageError(
            f"--matcher {name} does not match the model {model}, which was trained with "
            f"{matcher.name}. Leave --matcher out."
        )
    check_parameters(type(matcher), settings)
    for parameter, value in settings.items():
        setattr(matcher, parameter, value)
    return matcher


def _need_report(matcher: Matcher, report: Path, out: Path, *, overwrite: bool) -> None:
    """Refuse, before minutes of fitting, a report that could not be written after it."""
    from rubricate.matchers.training_report import ReportsTraining

    if not isinstance(matcher, ReportsTraining):
        raise InputError(
            f"--report: {matcher.name} is not trained step by step, so it has no curves to draw. "
            "Matchers that are: cascade, encoder, bilstm-crf. Leave --report out, or use one of "
            "them."
        )
    check_report(report, overwrite=overwrite)
    if out.resolve() in (report.resolve(), *report.resolve().parents):
        raise click.UsageError(f"--report {report}: it would lie inside the model; choose another")


def _write_report(
    report: Path, matcher: Matcher, corpus: Corpus, facts: dict[str, str], overwrite: bool
) -> Path:
    from rubricate.reports.blocks import save_report
    from rubricate.reports.training import training_report

    found = getattr(matcher, "training_report_", None)
    if found is None:
        raise InputError(
            "--report: there were no annotated notes to train on, so there is nothing to draw"
        )
    parameters = {f"parameter {k}": v for k, v in matcher.get_params().items() if v is not None}
    made = training_report(
        found,
        matcher=matcher.name,
        features={feature.id: feature.text for feature in corpus.features},
        facts={**facts, **{name: str(value) for name, value in parameters.items()}},
        title=f"Training of {matcher.name}",
    )
    return save_report(report, made, overwrite=overwrite)


def check_settings(matcher: str, settings: Json) -> None:
    """Refuse values that a matcher's parameters cannot have."""
    from typing import get_type_hints

    from rubricate.matchers import MATCHERS
    from rubricate.values import is_of

    kinds = get_type_hints(MATCHERS[matcher].__init__)
    for name, value in settings.items():
        if name in kinds and not is_of(value, kinds[name]):
            need = getattr(kinds[name], "__name__", kinds[name])
            raise click.UsageError(f"--set {name}={value}: need {need}")


def parse_settings(settings: Sequence[str]) -> Json:
    """Return ``NAME=VALUE`` pairs with numbers, true or false, and texts told apart."""
    import json

    found: Json = {}
    for setting in settings:
        name, sign, value = setting.partition("=")
        if not sign:
            raise click.UsageError(f"--set {setting}: need NAME=VALUE")
        try:
            found[name.replace("-", "_")] = json.loads(value)
        except ValueError:
            found[name.replace("-", "_")] = value
    return found
