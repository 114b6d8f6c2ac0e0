"""``rubricate plan``: how many notes a study needs."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

from rubricate.cli.command import Output, Source, VerbCommand
from rubricate.cli.measuring import TableName
from rubricate.cli.options import F, open_corpus, overwrite_option
from rubricate.cli.output import Answer, answering, inform, print_table, warn
from rubricate.cli.plan_methods import (
    KINDS,
    METHOD_OPTIONS,
    METHODS,
    PILOT_MEANING,
    Given,
    answer,
    from_pilot,
    given_design_effect,
    method_options,
    options_of,
    shown_option,
    stated,
)
from rubricate.errors import ArgumentError, Fault, InputError, UnknownNameError
from rubricate.progress import shown_progress

if TYPE_CHECKING:
    from rubricate.stats import Estimate, Expected, Plan, Target
    from rubricate.study.planning import Design

T = TypeVar("T")
#: Where the method that was named as the first word is kept.
_METHOD = "rubricate.plan.method"


def _options(command: F) -> F:
    """Add all options of a plan, in the order of the help text."""
    add = click.option
    for option in reversed(
        (
            add("--precision", type=float, help="Expected precision, between 0 and 1."),
            add("--recall", type=float, help="Expected recall, between 0 and 1."),
            add("--frequency", type=float, help="Share of notes with the variable, between 0 and "
                "1."),
            add("--frequency-kind", default="internal", show_default=True,
                metavar="internal|external",
                help="Meaning of --frequency: share of notes in which the system finds the "
                "variable "
                "(internal), or share of notes that truly contain it (external)."),
            add("--frequency-from", metavar="CORPUS", type=Source(),
                help="Estimate the frequency from the output of a matcher or from a pilot."),
            add("--variable", help="Feature id, or a feature's whole text, for --frequency-from."),
            add("--annotator", help="Annotator for --frequency-from."),
            add("--half-width", type=float, default=0.05, show_default=True,
                help="Half of the largest width of the intervals."),
            add("--confidence", type=float, default=0.95, show_default=True,
                help="Confidence level of the intervals."),
            add("--method", default="assurance", hidden=True),
            add("--assurance", type=float, default=0.9, show_default=True,
                help="Probability with which the width holds, e.g. 0.8, 0.9 or 0.95."),
            add("--interval", default="clopper-pearson", show_default=True,
                type=TableName("METHODS", check=False),
                help="Kind of interval that you will report."),
            add("--drawing", default="as-they-occur", show_default=True,
                metavar="as-they-occur|fixed",
                help="Sampling: notes as they occur, or fixed numbers of positives and negatives."),
            add("--sites", type=int, default=1, show_default=True, help="Number of sites that "
                "share the notes."),
            add("--pool", type=int, help="Number of available notes."),
            add("--design-effect", type=float, default=1.0, show_default=True,
                help="Design effect: variance inflation by clustering."),
            add("--design-effect-from", metavar="FILE", type=Source(),
                help="Estimate the design effect from a pilot: CSV with successes and trials per "
                "cluster."),
            add("--cluster-size", type=float,
                help="Number of units per cluster, e.g. notes per patient. Needs "
                "--cluster-correlation."),
            add("--cluster-correlation", type=float,
                help="Correlation within a cluster. The design effect is 1 + (size - 1) x "
                "correlation."),
            add("--variables", metavar="FILE", type=Source(),
                help="Plan several variables: CSV or TOML with name, precision, recall and "
                "frequency."),
            add("--total", type=int, help="Number of notes in the sample, for --variables."),
            add("--plot", metavar="FILE", type=Output(as_text=True),
                help="Draw a plot of the sample size against the expected values (.svg or .html)."),
            *method_options(),
        )
    ):  # fmt: skip
        command = option(command)
    return command


class PlanCommand(VerbCommand):
    """The command of a plan: its first word is the method, and help is about that method.

    ``--method`` says the same as the first word; it works until version 0.4.
    """

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Take the method off the front; a plan from a pilot has the pilot beside it."""
        if args and not args[0].startswith("-"):
            known = [*METHODS, *KINDS, "pilot"]
            if args[0] not in known:
                raise UnknownNameError("planning method", args[0], known)
            method, *args = args
            ctx.meta[_METHOD] = method
            ctx.info_name = f"{ctx.info_name} {method}"
            if method == "pilot":
                named = args[:1] if args and not args[0].startswith("-") else []
                args = [*(word for one in named for word in ("--pilot", one)), *args[len(named) :]]
                if "--pilot" not in args and not {"-h", "--help"} & set(args):
                    raise click.UsageError("name the corpus: rubricate plan pilot CORPUS", ctx)
            else:
                args = ["--method", method, *args]
        elif "--method" in args:
            warn("--method NAME is now the first word: rubricate plan NAME. The old form works "
                 "until version 0.4.")  # fmt: skip
        return super().parse_args(ctx, args)

    def collect_usage_pieces(self, ctx: click.Context) -> list[str]:
        """Show that the method comes first, where none was named."""
        pieces = super().collect_usage_pieces(ctx)
        return pieces if _METHOD in ctx.meta else ["[METHOD]", *pieces]

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the example, which is of the first method."""
        if ctx.meta.get(_METHOD) in (None, "assurance"):
            super().format_epilog(ctx, formatter)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the methods, or the options of the method that was named."""
        method = ctx.meta.get(_METHOD)
        if method is None:
            with formatter.section("Methods"):
                told = {**METHODS, **{name: kind.meaning for name, kind in KINDS.items()}}
                formatter.write_dl([*told.items(), ("pilot", PILOT_MEANING)])
        own = options_of(method or "assurance")
        narrowed = copy.copy(self)
        narrowed.params = [one for one in self.params if one.name in own]
        super(PlanCommand, narrowed).format_options(ctx, formatter)


@click.command(
    "plan",
    cls=PlanCommand,
    epilog="Example: rubricate plan assurance --precision .85 --recall .80 --frequency .48 --sites "
    "6",
)
@_options
@overwrite_option
@answering
def plan_command(overwrite: bool, **given: Any) -> Answer:
    """Calculate how many notes a study needs: rubricate plan METHOD, assurance without a word.

    Positives are the notes in which the system finds the variable. Negatives are the other notes.
    """
    if given["method"] in KINDS or given["pilot"]:
        return from_pilot(given) if given["pilot"] else answer(given["method"], given)
    _refuse_idle(given)
    if given["variables"]:
        return _plan_several(given)
    from rubricate.study.planning import make_plan

    expected, target, design, estimate = _ingredients(given)
    plan = make_plan(expected, target, design)
    more: dict[str, object] = {}
    if estimate is not None:
        more["frequency_estimate"] = estimate.to_dict()
    if given["plot"]:
        from rubricate.study.planning import write_plan_plot

        with shown_progress() as progress:
            write_plan_plot(plan, given["plot"], overwrite=overwrite, progress=progress)
        more["plot"] = given["plot"]

    def say() -> None:
        _print_plan(plan)
        if estimate is not None:
            low, high = estimate.low, estimate.high
            click.echo(f"frequency: {estimate.value:.3f} ({low:.3f} to {high:.3f}), estimated")

    return Answer({**plan.to_dict(), **more}, say)


def _refuse_idle(given: Given) -> None:
    """Refuse options that would change nothing beside the others."""
    rules = [
        ("needs --variables", not given["variables"], ("total",)),
        ("needs --frequency-from", not given["frequency_from"], ("variable", "annotator")),
        ("cannot go with --variables, which plans for each in its file", bool(given["variables"]),
         ("precision", "recall", "frequency", "frequency_kind", "frequency_from", "sites", "plot")),
        ("means nothing to plan slice", given["method"] == "slice", ("assurance", "drawing")),
        ("means nothing to plan reported, which draws fixed numbers and has intervals of its "
         "own", given["method"] == "reported", ("interval", "drawing")),
    ]  # fmt: skip
    faults = [
        Fault(f"{shown_option(name)} means nothing to plan {given['method']}")
        for name in METHOD_OPTIONS
        if given[name] is not None
    ]
    faults += [
        Fault(f"{shown_option(name)} {why}")
        for why, idle, names in rules
        if idle
        for name in names
        if stated(name)
    ]
    ArgumentError.raise_any(faults)


def _ingredients(given: Given) -> tuple[Expected, Target, Design, Estimate | None]:
    """Gather what a plan starts from, with the faults of all options at once."""
    from rubricate.stats import Expected
    from rubricate.study.planning import METHODS_OF_PLAN

    estimate = _estimate(given)
    frequency = given["frequency"] if estimate is None else estimate.value
    values = {"precision": given["precision"], "recall": given["recall"], "frequency": frequency}
    faults = [
        Fault(f"--{name} is missing: give a number strictly between 0 and 1")
        for name, value in values.items()
        if value is None
    ]
    if faults:
        # Other methods need other numbers: what is missing may not be.
        if given["method"] not in METHODS_OF_PLAN:
            raise UnknownNameError("--method", given["method"], [*METHODS_OF_PLAN, *KINDS])
        raise ArgumentError(faults)

    def made(make: Callable[[], T]) -> T | None:
        try:
            return make()
        except InputError as error:
            faults.extend(f if f.path else Fault(f"--{f.message}") for f in error.faults)
            return None

    numbers = {name: value for name, value in values.items() if value is not None}
    expected = made(lambda: Expected(**numbers, frequency_kind=given["frequency_kind"]))
    target, design = made(lambda: _target(given)), made(lambda: _design(given))
    if expected is None or target is None or design is None:
        raise (InputError if any(fault.path for fault in faults) else ArgumentError)(faults)
    return expected, target, design, estimate


def _target(given: Given) -> Target:
    from rubricate.stats import Target

    names = ("half_width", "confidence", "assurance", "interval", "drawing")
    return Target(**{name: given[name] for name in names})


def _design(given: Given) -> Design:
    from rubricate.study.planning import Design

    return Design(given["method"], given["sites"], given["pool"], given_design_effect(given))


def _estimate(given: Given) -> Estimate | None:
    source = given["frequency_from"]
    if not source:
        return None
    if given["frequency"] is not None:
        raise ArgumentError("--frequency and --frequency-from exclude each other: give one of them")
    if not given["variable"]:
        raise ArgumentError(
            "--frequency-from needs --variable: a feature id, or a feature's whole text"
        )
    from rubricate.study.planning import frequency_from

    return frequency_from(open_corpus(source), given["variable"], given["annotator"])


def _print_plan(plan: Plan) -> None:
    each = plan.per_site
    lines = [("all", plan.positives, plan.negatives, plan.total)]
    if plan.sites > 1:
        lines.append((f"each of {plan.sites} sites", each.positives, each.negatives, each.total))
    print_table(("notes", "positives", "negatives", "total"), lines)
    click.echo(f"precision needs {plan.n_precision:,} detected notes, recall needs "
               f"{plan.n_recall:,} notes that hold the variable")  # fmt: skip
    for name, chances in plan.met.items() if plan.method != "slice" else ():
        click.echo(
            f"the width is met with a probability of {chances['precision']:.1%} (precision) and "
            f"{chances['recall']:.1%} (recall), {name} intervals, {_drawn(plan)}"
        )
    inform(*plan.warnings)


def _drawn(plan: Plan) -> str:
    if plan.method == "reported" or plan.target.drawing == "fixed":
        return "fixed numbers of positives and negatives"
    return "notes drawn as they occur"


def _plan_several(given: Given) -> Answer:
    """Answer with what one sample promises for each of several variables."""
    from rubricate.study.planning import plan_several, read_variables

    variables = read_variables(given["variables"])
    found = plan_several(variables, _target(given), _design(given), total=given["total"])

    def say() -> None:
        print_table(
            ("variable", "enough", "needs alone", "detected", "hold it", "± precision", "± recall"),
            [
                (o.name, o.powered, o.plan.total, o.detected, o.prevalent,
                 o.half_width_precision, o.half_width_recall)
                for o in found.outlooks
            ],
        )  # fmt: skip
        click.echo(f"for a sample of {found.total:,} notes")
        if found.underpowered:
            warn(f"too small for: {', '.join(found.underpowered)}")

    return Answer(found.to_dict, say)
