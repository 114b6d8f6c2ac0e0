"""Options and tables shared by the verbs that measure."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal

import click

from rubricate.cli.options import F, seed_option
from rubricate.cli.output import print_table

if TYPE_CHECKING:
    from rubricate.stats import Resampling


def interval_options(function: F) -> F:
    """Add how intervals are made: confidence, resamples, method and seed."""
    decorators: list[Callable[[F], F]] = [
        click.option("--confidence", type=float, default=0.95, show_default=True),
        click.option("--resamples", type=int, default=2000, show_default=True),
        click.option(
            "--interval",
            "interval_method",
            type=click.Choice(["percentile", "bca"]),
            default="percentile",
            show_default=True,
            help="Kind of bootstrap interval, by note.",
        ),
        seed_option,
    ]
    for decorate in reversed(decorators):
        function = decorate(function)
    return function


def matching_options(default: str) -> Callable[[F], F]:
    """Add how spans are matched; ``default`` is the default protocol."""

    def decorate(function: F) -> F:
        function = click.option(
            "--unit",
            type=click.Choice(["character", "token"]),
            default="token",
            show_default=True,
            help="What spans' ends are compared in.",
        )(function)
        return click.option(
            "--protocol",
            type=click.Choice(["one-to-one", "both-sides", "paper"]),
            default=default,
            show_default=True,
            help="What counts as a hit between spans.",
        )(function)

    return decorate


def resampling(
    confidence: float, resamples: int, method: Literal["percentile", "bca"], seed: int
) -> Resampling:
    """Return the settings of the bootstrap, checked."""
    from rubricate.stats import Resampling

    return Resampling(resamples, confidence, method, seed)


def print_measures(result: dict[str, Any]) -> None:
    """Print precision, recall and F1 with intervals, one line a measure."""
    lines = [
        ("characters", result["characters"]),
        ("presence", result["presence"]),
        *((f"spans, {kind.replace('_', ' ')}", v) for kind, v in result["spans"].items()),
    ]
    print_table(
        ("measure", "precision", "recall", "F1", "interval of F1", "macro F1"),
        [
            (name, v["precision"], v["recall"], v["f1"], shown(v["interval"]), macro_f1(v))
            for name, v in lines
        ],
    )


def print_all_present(value: float | None) -> None:
    """Print what marking everything present would reach, as a yardstick of presence."""
    if value is not None:
        click.echo(f"marking every feature present would give presence F1 {value:.3f}")


def macro_f1(value: dict[str, Any]) -> float | None:
    """Return the mean F1 over features."""
    found: float | None = value["macro"]["features"]["f1"]
    return found


def shown_value(value: float | None, form: str = ".3f") -> str:
    """Return a value as text, a dash where it is undefined."""
    return "–" if value is None else format(value, form)


def shown(interval: list[float | None]) -> str:
    """Return an interval as text."""
    low, high = interval
    if low is None or high is None:
        return shown_value(None)
    return f"{shown_value(low)} to {shown_value(high)}"
