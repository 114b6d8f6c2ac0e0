"""Arguments and options that several verbs share."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast

import click

from rubricate.cli.command import Option, Output, Source, There, command_inputs
from rubricate.cli.failures import in_flags
from rubricate.cli.output import inform
from rubricate.errors import RubricateError, UnknownNameError, did_you_mean

if TYPE_CHECKING:
    from rubricate.corpus import Corpus
    from rubricate.formats.options import ReadLimits, ReadOptions
    from rubricate.formats.rubric import RubricFile

F = TypeVar("F", bound=Callable[..., Any])

overwrite_option = click.option("--overwrite", is_flag=True, help="Replace existing output.")
accept_log_option = click.option(
    "--accept-log", is_flag=True,
    help="Continue although the log of decisions is not the one that the run recorded. The log "
    "then says so.",
)  # fmt: skip
senior_option = click.option(
    "--prefer-annotator", "seniors", cls=Option, formerly=["--senior"], multiple=True,
    metavar="ANNOTATOR",
    help="Merge all annotators into one: use this annotator's marks, and the others' marks only "
    "where this annotator found nothing. Can be given several times.",
)  # fmt: skip
seed_option = click.option("--seed", type=int, default=0, show_default=True, help="Random seed.")

confidence_option = click.option(
    "--confidence", type=float, default=0.95, show_default=True,
    help="Confidence level of the intervals.",
)  # fmt: skip
resamples_option = click.option(
    "--resamples", type=int, default=2000, show_default=True,
    help="Number of bootstrap samples for the intervals.",
)  # fmt: skip
matcher_option = click.option(
    "--matcher", metavar="NAME",
    help="Matcher that knows only the rubric: cascade (default), encoder, lexicon, synonyms, fuzzy "
    "or exact. Not together with --model.",
)  # fmt: skip


class Choice(click.Choice[str]):
    """A choice of names; the error for another name suggests the nearest."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the name; a usage error if it is none of them."""
        if value not in self.choices:
            hint = did_you_mean(str(value), self.choices)
            self.fail(
                f"{value!r} is not a valid choice{hint} Choose from: {', '.join(self.choices)}",
                param,
                ctx,
            )
        return str(value)


def out_option(help_text: str) -> Callable[[F], F]:
    """Return the option ``--out``, which a command cannot do without."""
    return click.option("--out", required=True, type=Output(), help=help_text)


rubric_option = click.option(
    "--rubric", type=There(), metavar="FILE",
    help="Rubric file. Default: the rubric that comes with the notes.",
)  # fmt: skip


def from_option(function: F) -> F:
    """Add ``--input-format``, ``--columns``, ``--assign-case`` and ``--limit``.

    The command gets them as one value, ``how``.
    """

    @wraps(function)
    def command(
        *arguments: Any,
        from_format: str | None,
        columns: dict[str, str] | None,
        assign_case: str | None,
        limits: ReadLimits | None,
        **named: Any,
    ) -> Any:
        from rubricate.formats.options import USUAL_LIMITS, ReadOptions

        how = ReadOptions(
            format=from_format or "", limits=limits or USUAL_LIMITS, columns=columns or {},
            case=assign_case or "", tell=inform,
        )  # fmt: skip
        return function(*arguments, how=how, **named)

    limit = click.option(
        "--limit", "limits", multiple=True, metavar="NAME=VALUE", callback=_parse_reading,
        help="Allow larger inputs than usual, e.g. cells=5000000. See the page on formats.",
    )  # fmt: skip
    named = click.option(
        "--input-format", "from_format", cls=Option, formerly=["--from"], metavar="FORMAT",
        help="Format of the input. Default: detect it.",
    )  # fmt: skip
    columns = click.option(
        "--columns", metavar="NAME=COLUMN,...", callback=_parse_reading,
        help="Names of the columns in a table of notes, e.g. id=student_id,text=note,case=station.",
    )  # fmt: skip
    case = click.option(
        "--assign-case", cls=Option, formerly=["--case"], metavar="NAME",
        help="Assign this case to every note of a table or of a folder of texts. To choose notes "
        "of a case, use --where case=NAME.",
    )  # fmt: skip
    return cast(F, named(columns(case(limit(command)))))


def _parse_reading(context: click.Context, option: click.Parameter, value: Any) -> Any:
    if not value:
        return None
    from rubricate.formats.options import parse_columns, parse_limits

    try:
        return parse_limits(value) if option.name == "limits" else parse_columns(value)
    except RubricateError as error:
        raise click.UsageError(error.worded(in_flags)) from error


def split_option(
    help_text: str = "Use only notes with this metadata, e.g. split=test or case=0,4.",
) -> Callable[[F], F]:
    """Return the option ``--where NAME=VALUE`` that picks notes by their metadata."""
    return click.option(
        "--where", multiple=True, metavar="NAME=VALUE", callback=_conditions, help=help_text
    )


def _conditions(
    context: click.Context, option: click.Parameter, value: tuple[str, ...]
) -> tuple[str, ...]:
    for condition in value:
        if "=" not in condition:
            raise click.UsageError(f"--where {condition}: need NAME=VALUE, e.g. split=test")
    return value


def report_option(task: str = "Write a page") -> Callable[[F], F]:
    """Return the option ``--report PATH``."""
    said = f"{task} into this folder, or into a file: .docx for Word, .md for Markdown."
    return click.option("--report", metavar="PATH", type=Output(kept=True), help=said)


def open_corpus(
    path: str,
    how: ReadOptions | None = None,
    *,
    where: Sequence[str] = (),
    rubric: Path | None = None,
) -> Corpus:
    """Read the corpus a command was given, and keep the notes that ``where`` picks.

    The rubrics of a file take the place of its own.
    """
    from rubricate.formats import read_path
    from rubricate.formats.notes import keep_where
    from rubricate.formats.options import USUAL_OPTIONS
    from rubricate.progress import shown_progress

    how = how or USUAL_OPTIONS
    with shown_progress() as progress:
        corpus = read_path(path, replace(how, progress=progress))
    if rubric is not None:
        corpus = put_rubric(corpus, rubric, how)
    return keep_where(corpus, where) if where else corpus


def keep_asked_cases(corpus: Corpus, where: Sequence[str]) -> Corpus:
    """Leave out the rubrics of cases none of whose notes ``where`` asked for."""
    cases = dict.fromkeys(note.case for note in corpus.notes)
    return corpus.select(cases=list(cases)) if where else corpus


def put_rubric(corpus: Corpus, path: Path, how: ReadOptions) -> Corpus:
    """Put the rubrics of a file in the place of the corpus's own."""
    from rubricate.formats.rubric import with_rubrics

    rubrics = open_rubric(path, how).for_cases(note.case for note in corpus.notes)
    return with_rubrics(corpus, rubrics)


def need_features(corpus: Corpus) -> None:
    """Refuse notes without a rubric: there is nothing to look for."""
    from rubricate.formats.rubric import no_rubric

    if not corpus.features:
        raise no_rubric()


def open_rubric(path: Path, how: ReadOptions | None = None) -> RubricFile:
    """Read a rubric file, and say what a person should know about it."""
    from rubricate.formats.rubric import read_rubric_file

    found = read_rubric_file(path, limits=None if how is None else how.limits)
    inform(*found.notices)
    return found


@contextmanager
def swapped_told(notes: str, rubric: Path | None, how: ReadOptions) -> Iterator[None]:
    """Say of notes and a rubric that cannot be read whether they were given for each other."""
    from rubricate.formats.rubric import read_like_each_other, swapped

    try:
        yield
    except RubricateError as error:
        if rubric is not None and read_like_each_other(Path(notes), rubric, how):
            wrong = swapped(notes, str(rubric))
            raise click.UsageError(wrong.worded(in_flags)) from error
        raise


def input_hashes(paths: Sequence[str]) -> dict[str, str]:
    """Return the hash of each input by its name; an embedded corpus goes by its version."""
    from rubricate import __version__
    from rubricate.files import file_hash

    names = [Path(path).name for path in paths]
    return {
        name if names.count(name) == 1 else path: file_hash(Path(path))
        if Path(path).exists()
        else f"embedded, rubricate {__version__}"
        for name, path in zip(names, paths, strict=True)
    }


def check_report(report: Path | None, *, overwrite: bool) -> None:
    """Refuse, before any work, a report that could not be written after it."""
    if report is not None:
        from rubricate.reports.blocks import check_report_place

        check_report_place(report, overwrite=overwrite, inputs=command_inputs())


def keep_annotators(corpus: Corpus, names: Sequence[str]) -> Corpus:
    """Keep these annotators; all of them if none is named."""
    for name in names:
        if name not in corpus.annotator_index:
            raise UnknownNameError("annotator", name, list(corpus.annotator_index))
    return corpus.select(annotators=names) if names else corpus


def _per_pass(context: click.Context, option: click.Parameter, value: str | None) -> Any:
    if value is None or value == "all":
        return value
    if not value.isdecimal() or int(value) < 1:
        raise click.BadParameter(f"{value!r} is neither 'all' nor a number from 1 up")
    return int(value)


features_per_pass_option = click.option(
    "--features-per-pass", metavar="N|all", callback=_per_pass,
    help="For networks: number of features per pass over a note. More is faster.",
)  # fmt: skip


note_seconds_option = click.option(
    "--note-timeout", "note_seconds", cls=Option, formerly=["--note-seconds"],
    type=click.FloatRange(0), default=120.0, show_default=True,
    help="Time limit per note in seconds (0 = none).",
)  # fmt: skip


class ModelName(Source):
    """A folder written by `fit`, or the name of a model that comes with the package."""

    name = "model"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> Path | str:
        """Return a folder that exists, or the name of a model that comes with the package."""
        if isinstance(value, Path) or Path(value).exists():
            return Path(value)
        from rubricate.matchers import no_such_model, shipped_model

        shipped = shipped_model(value)
        if shipped is not None and not (
            shipped[1].get("low", 0.0) <= shipped[1].get("high", 1.0) <= 1
        ):
            self.fail(f"{value}: LOW must not be above HIGH, e.g. cascade=0.2,0.8", param, ctx)
        if shipped is None:
            self.fail(no_such_model(value), param, ctx)
        return str(value)


models_option = click.option(
    "--model", "models", type=ModelName(), multiple=True, metavar="MODEL",
    help="Model folder, or fast, accurate, cascade. cascade=LOW,HIGH,CHARS sets which items the "
    "accurate model re-checks. Can be given several times to average encoders.",
)  # fmt: skip


def load_models(models: Sequence[Path | str]) -> Any:
    """Return the matcher saved in a folder or shipped; several encoders become their mean."""
    from rubricate.matchers import load_matcher

    if len(models) == 1:
        return load_matcher(models[0])
    from rubricate.neural.encoder.matcher import EncoderMatcher

    return EncoderMatcher.load_average(models)


def set_features_per_pass(matcher: Any, value: int | str | None) -> None:
    """Let a matcher seek so many features in one pass; UsageError where it has no such choice."""
    if value is None:
        return
    if "features_per_pass" not in matcher.get_params():
        raise click.UsageError(
            f"--features-per-pass: the matcher {matcher.name!r} has no such choice. Give it with "
            "--model cascade, fast or accurate, or a fitted one of them."
        )
    matcher.features_per_pass = value
