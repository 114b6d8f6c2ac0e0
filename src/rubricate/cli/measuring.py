"""Options and tables shared by the verbs that measure."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from typing import TYPE_CHECKING, Any

import click

from rubricate.cli.options import (
    Choice,
    F,
    confidence_option,
    from_option,
    overwrite_option,
    resamples_option,
    seed_option,
    split_option,
)
from rubricate.cli.output import Answer, answering, print_table, warn
from rubricate.display import DASH
from rubricate.errors import listed

if TYPE_CHECKING:
    from rubricate.corpus import Corpus
    from rubricate.evaluation.evaluation import Evaluation
    from rubricate.evaluation.matching import Protocol, Unit
    from rubricate.stats import BootstrapMethod, Estimate, Population, Resampling


class TableName(click.ParamType):  # type: ignore[type-arg]  # generic in new versions only
    """A name of a table of `stats`; the table is loaded on first use."""

    def __init__(self, table: str, *, check: bool = True) -> None:
        self.name = "name"
        self.table = table
        self.check = check

    def _names(self) -> Sequence[str]:
        from rubricate import stats

        names: Sequence[str] = getattr(stats, self.table)
        return names

    def get_metavar(self, param: click.Parameter, ctx: click.Context | None = None) -> str:
        """Return the names, for the help text."""
        listed = "|".join(self._names())
        return f"[{listed}]" if self.check else listed

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the value; one that is not in the table is refused here, or by what uses it."""
        return Choice(self._names()).convert(value, param, ctx) if self.check else value


def resampled(function: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the settings of the bootstrap, checked, as the one value they are."""

    @wraps(function)
    def command(
        *, confidence: float, resamples: int, seed: int, method: BootstrapMethod = "bca",
        population: Population = "these-cases", **options: Any,
    ) -> Any:  # fmt: skip
        from rubricate.stats import Resampling

        settings = Resampling(resamples, confidence, method, seed, population=population)
        return function(settings=settings, **options)

    return command


def measuring_options(function: Callable[..., Answer]) -> Callable[..., None]:
    """Add what all that measure can be told: which notes, how intervals are made, how to answer."""
    method = click.option(
        "--interval", "method", type=TableName("BOOTSTRAP_METHODS"), default="bca",
        show_default=True, help="Kind of bootstrap interval; notes are resampled.",
    )  # fmt: skip
    population = click.option(
        "--population", type=TableName("POPULATIONS"), default="these-cases", show_default=True,
        help="Population of the intervals over all cases: other notes of these cases, or also "
        "other "
        "cases.",
    )  # fmt: skip
    answered = overwrite_option(answering(resampled(function)))
    more = confidence_option(resamples_option(method(population(seed_option(answered)))))
    return split_option()(from_option(more))


def cluster_option(function: F) -> F:
    """Add the field whose notes go together, as those of one patient do."""
    return click.option(
        "--cluster", metavar="FIELD",
        help="Metadata field of the notes, such as the patient, whose notes belong together. "
        "Intervals resample its values instead of notes.",
    )(function)  # fmt: skip


def matching_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add how spans are matched, and give it to a command, checked, as the one value it is."""

    @wraps(function)
    def command(*, protocol: Protocol, unit: Unit, **options: Any) -> Any:
        from rubricate.evaluation import Matching

        return function(matching=Matching(protocol, unit), **options)

    own_unit = click.option(
        "--unit", type=Choice(["character", "token"]), default="token", show_default=True,
        help="Unit in which the ends of spans are compared.",
    )  # fmt: skip
    own_protocol = click.option(
        "--protocol", type=Choice(["one-to-one", "both-sides", "paper"]), default="one-to-one",
        show_default=True, help="Rule by which two spans count as the same.",
    )  # fmt: skip
    return own_protocol(own_unit(command))


def warn_of_lone_labels(*corpora: Corpus) -> None:
    """Name the labels that nothing lists and one annotator alone used: it may be a slip."""
    from rubricate.merge import lone_labels

    labels = lone_labels(*corpora)
    if labels:
        warn(
            f"one annotator alone used {listed(labels)}; nothing lists the "
            "labels there were (in BRAT: annotation.conf), so the others count as not having "
            "found it"
        )


def shown_population(settings: Resampling, n_cases: int) -> str:
    """Return in words what intervals over all cases are about."""
    if settings.population == "cases-like-these":
        return f"for cases like these {n_cases:,}"
    return "for these cases" if n_cases > 1 else "for this case"


def print_measures(found: Evaluation) -> None:
    """Print precision, recall and F1 with intervals, one line per measure."""
    lines = []
    for key in found.tables:
        f1 = found.overall(*key)
        lines.append(
            (
                ", ".join(key).replace("_", " "),
                found.overall(*key, statistic="precision").value,
                found.overall(*key, statistic="recall").value,
                f1.value,
                shown(f1),
                found.macro_mean(*key, level="features").value,
            )
        )
    print_table(("measure", "precision", "recall", "F1", "interval of F1", "macro F1"), lines)


def shown(estimate: Estimate) -> str:
    """Return the interval of an estimate as text."""
    return f"{estimate.low:.3f} to {estimate.high:.3f}" if estimate.has_interval else DASH
