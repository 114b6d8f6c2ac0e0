"""``rubricate fit``: let a matcher learn from annotated notes."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from rubricate.cli.options import (
    ModelName,
    features_per_pass_option,
    from_option,
    input_hashes,
    load_models,
    need_features,
    open_corpus,
    out_option,
    overwrite_option,
    refuse_existing,
    report_option,
    rubric_option,
    set_features_per_pass,
    split_option,
)
from rubricate.cli.output import Answer, answering, in_words, warn
from rubricate.display import counted
from rubricate.errors import InputError
from rubricate.progress import shown_progress

if TYPE_CHECKING:
    from rubricate.corpus import Corpus
    from rubricate.formats.encoding import Json
    from rubricate.matchers.matcher import Matcher


@click.command(
    "fit", epilog="Example: rubricate fit open-notes --where case=4 --where split=train --out model"
)
@click.argument("corpus_path", metavar="CORPUS")
@click.option("--matcher", "name", help="Which matcher; lexicon where neither is said.")
@click.option("--model", type=ModelName(), metavar="MODEL",
              help="Go on from a model of `fit`, or from fast, accurate or cascade.")  # fmt: skip
@out_option("Folder of the model.")
@click.option("--annotator", help="Whose annotations to learn from.")
@click.option("--set", "settings", multiple=True, metavar="NAME=VALUE", help="A parameter.")
@features_per_pass_option
@report_option("Write an HTML page with the curves of training.")
@rubric_option
@split_option("Learn only from these notes, e.g. split=train.")
@from_option
@overwrite_option
@answering
def fit_command(
    corpus_path: str, *, name: str | None, model: Path | str | None, out: Path,
    annotator: str | None, settings: Sequence[str], features_per_pass: int | str | None,
    report: Path | None, rubric: Path | None, where: Sequence[str], from_format: str | None,
    overwrite: bool,
) -> Answer:  # fmt: skip
    """Fit a matcher to the annotated notes of CORPUS and save it as a folder of readable files."""
    from rubricate.matchers.matcher import learning_annotator
    from rubricate.rubric import HUMAN

    refuse_existing(out, overwrite=overwrite)
    matcher = _start(name, model, parse_settings(settings))
    set_features_per_pass(matcher, features_per_pass)
    if report is not None:
        _need_report(matcher, report, out, overwrite=overwrite)
    corpus = open_corpus(corpus_path, from_format=from_format, where=where, rubric=rubric)
    need_features(corpus)
    begun = time.monotonic()
    with shown_progress() as progress:
        matcher.fit(corpus, annotator=annotator, progress=progress)
    seconds = time.monotonic() - begun
    matcher.save(out, overwrite=overwrite)
    who = learning_annotator(corpus, annotator)
    n_notes, judged = 0, ""
    if who:
        # People may have seen some notes only, and of a run some items of them.
        own = corpus.rows.annotator == corpus.annotator_index[who]
        n_notes = len(set(corpus.rows.note[own].tolist()))
        if corpus.annotators[corpus.annotator_index[who]].group == HUMAN:
            judged = f", as {who} judged them"
    if not n_notes:
        warn("no note is annotated: the model knows the rubric alone")
    cases = {note.case for note in corpus.notes}
    n_features = sum(feature.case in cases for feature in corpus.features)
    result = {
        "model": str(out),
        "matcher": matcher.name,
        "annotator": who,
        "notes": n_notes,
        "features": n_features,
        "parameters": matcher.get_params(),
    }
    words = (
        f"wrote {out}: {matcher.name} learned from {counted(n_notes, 'note')} "
        f"and {counted(n_features, 'feature')}{judged}"
    )
    if report is not None:
        facts = {"time of fitting": f"{seconds:,.0f} s", **input_hashes((corpus_path,))}
        result["report"] = str(_write_report(report, matcher, corpus, facts, overwrite))
        words += f"\nreport: {result['report']}"
    return in_words(result, words)


def _start(name: str | None, model: Path | str | None, settings: Json) -> Matcher:
    """Return what learns: a new matcher, or a model that goes on, with parameters of its own."""
    from rubricate.matchers import make_matcher
    from rubricate.matchers.matcher import check_parameters

    if model is None:
        check_settings(name or "lexicon", settings)
        return make_matcher(name or "lexicon", **settings)
    matcher: Matcher = load_models([model])
    if name not in (None, matcher.name):
        raise click.UsageError(f"--matcher {name}: the model {model} is of {matcher.name}")
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
            "Matchers that are: encoder, bilstm-crf. Leave --report out, or use one of them."
        )
    refuse_existing(report / "index.html", overwrite=overwrite)
    if out.resolve() in (report.resolve(), *report.resolve().parents):
        raise click.UsageError(f"--report {report}: it would lie inside the model; choose another")


def _write_report(
    report: Path, matcher: Matcher, corpus: Corpus, facts: dict[str, str], overwrite: bool
) -> Path:
    from rubricate.reports.page import write_report
    from rubricate.reports.training import training_page

    found = getattr(matcher, "training_report_", None)
    if found is None:
        raise InputError("--report: there were no annotated notes to learn from; nothing to draw")
    parameters = {f"parameter {k}": v for k, v in matcher.get_params().items() if v is not None}
    page = training_page(
        found,
        matcher=matcher.name,
        features={feature.id: feature.text for feature in corpus.features},
        facts={**facts, **{name: str(value) for name, value in parameters.items()}},
        title=f"Training of {matcher.name}",
    )
    return write_report(report, page, overwrite=overwrite)


def check_settings(matcher: str, settings: Json) -> None:
    """Refuse values that a matcher's parameters cannot have."""
    from typing import get_type_hints

    from rubricate.matchers import MATCHERS
    from rubricate.matchers.model_files import is_of

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
