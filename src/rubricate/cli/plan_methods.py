"""Methods of `rubricate plan`, and those besides precision and recall."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any

import click

from rubricate.cli.command import Option, Source
from rubricate.cli.options import open_corpus
from rubricate.cli.output import Answer, in_words
from rubricate.errors import ArgumentError, Fault, InputError

#: What was asked for, by the names of the options.
Given = Mapping[str, Any]
#: The options of these methods, in the order of the help text: their kind and what they mean.
METHOD_OPTIONS: Mapping[str, tuple[type | str, str]] = {
    "max_error": (float, "For route: allowed share of wrong items that skip review."),
    "error_rate": (float, "For route: expected share of wrong items that skip review."),
    "items": (int, "For route: number of items per note that skip review."),
    "unit": ("note|item", "For route: unit of the error bound."),
    "kappa": (float, "For kappa: expected agreement. Needs --frequency."),
    "icc": (float, "For icc: expected correlation of scores."),
    "least": (float, "For icc-test: correlation that must be exceeded."),
    "raters": (int, "For icc and icc-test: number of raters per note. Default: 2."),
    "auc": (float, "For auc: expected area under the curve. Needs --frequency."),
    "margin": (float, "For both non-inferiority methods: allowed loss."),
    "discordant": (float, "For non-inferiority: share of items on which only one side is right."),
    "difference": (float, "For non-inferiority: expected difference. Default: 0."),
    "power": (float, "Power. Default: 0.8 for non-inferiority and icc-test, 0.9 for sequential."),
    "goal": (float, "For sequential: rate that must be exceeded."),
    "rate": (float, "For sequential and non-inferiority-independent: expected rate."),
    "reference_rate": (float, "For non-inferiority-independent: expected rate of the other side."),
    "looks": (int, "For sequential: number of looks at the data. Default: 4."),
    "pilot": ("CORPUS", "Simulate studies from the notes of a pilot."),
    "reference_annotator": ("TEXT", "Reference annotator of the pilot. --annotator is the system."),
    "measure": (
        "characters|presence",
        "Measure that the pilot plans for: F1 of characters or of presence.",
    ),
}

#: Sections of the options that other commands have with another meaning.
_SECTION = {
    "max_error": "Other methods: review policy",
    "unit": "Other methods: review policy",
    "margin": "Other methods: comparisons",
}


def method_options() -> list[Callable[[Any], Any]]:
    """Return these options as click has them; a text says what it shows for the value."""
    return [
        click.option(shown_option(name), cls=Option, section=_SECTION.get(name, ""), help=meaning,
                     metavar=kind if isinstance(kind, str) else None,
                     type=Source() if kind == "CORPUS" else None if isinstance(kind, str) else kind)
        for name, (kind, meaning) in METHOD_OPTIONS.items()
    ]  # fmt: skip


@dataclass(frozen=True, slots=True)
class PlanKind:
    """Required and allowed options of a method, and the unit of its size."""

    meaning: str
    needs: tuple[str, ...]
    may: tuple[str, ...]
    unit: str = ""
    answer: Callable[[Given], Answer] | None = None


def _set(given: Given, *names: str) -> Given:
    return {name: given[name] for name in names if given[name] is not None}


def _route(given: Given) -> Answer:
    from rubricate.scoring.risk_bounds import RouteExpected, plan_route

    names = ("max_error", "error_rate", "items", "unit", "confidence", "assurance")
    plan = plan_route(RouteExpected(**_set(given, *names)))
    known = plan.expected
    return in_words(
        plan.to_dict(),
        f"{plan.total:,} judged notes, of which {plan.testing:,} test: so many let a policy pass "
        f"its test in {known.assurance:.0%} of routings, at most {known.max_error:.1%} wrong with "
        f"{known.confidence:.0%} confidence, if {known.error_rate:.1%} of {known.items} items per "
        f"note are, by {known.unit}",
    )


def given_design_effect(given: Given) -> float:
    """Return the design effect: as given, from a pilot, or of clusters of one size."""
    from rubricate.stats import cluster_design_effect

    clusters = [given["cluster_size"], given["cluster_correlation"]]
    ways = [given["design_effect"] != 1.0, bool(given["design_effect_from"]),
            any(one is not None for one in clusters)]  # fmt: skip
    if sum(ways) > 1:
        raise ArgumentError(
            "design-effect, --design-effect-from and --cluster-size exclude each other: give one"
        )
    if ways[1]:
        from rubricate.study.planning import design_effect_from

        return design_effect_from(given["design_effect_from"])
    if ways[2]:
        if None in clusters:
            raise ArgumentError("cluster-size and --cluster-correlation need each other")
        return cluster_design_effect(*clusters)
    return float(given["design_effect"])


def _sized(method: str, given: Given) -> Answer:
    """Answer with what the function ``METHOD_size`` of `rubricate.stats` gives."""
    from rubricate import stats

    kind = KINDS[method]
    known = {**given, "raters": given["raters"] or 2, "design_effect": given_design_effect(given)}
    expected = _set(known, "confidence", *kind.needs, *kind.may)
    size = getattr(stats, f"{method.replace('-', '_')}_size")
    n = size(**expected)
    words = ", ".join(f"{name.replace('_', '-')} {value:g}" for name, value in expected.items())
    stored = {"method": method, "n": n, "unit": kind.unit, "expected": expected}
    said = f"{n:,} {kind.unit} ({words})"
    if "assurance" in expected:
        stored["n_on_average"] = size(**{**expected, "assurance": None})
        said += (
            f"\nso many meet the width in {expected['assurance']:.0%} of studies; "
            f"{stored['n_on_average']:,} meet it on average, so in about half of them"
        )
    return in_words(stored, said)


def _sequential(given: Given) -> Answer:
    from rubricate.stats import plan_sequential

    more = _set(given, "looks", "power")
    plan = plan_sequential(given["goal"], given["rate"], confidence=given["confidence"], **more)
    lines = [
        f"look {k}: after {look.units:,}, stop with "
        + " or ".join(
            part
            for part in (
                "" if look.least is None else f"{look.least:,} or more right",
                "" if look.most is None else f"{look.most:,} or fewer",
            )
            if part
        )
        + f" (z {look.z:.3f}; {look.stopped:.0%} of studies end here)"
        for k, look in enumerate(plan.looks, start=1)
    ]
    frequency = given["frequency"]
    notes = "" if frequency is None else f", about {plan.looks[-1].units / frequency:,.0f} notes"
    lines.append(
        f"at most {plan.looks[-1].units:,} units{notes}, {plan.mean_units:,.0f} on average; "
        f"{plan.fixed_units:,} without looks; by simulation power {plan.power:.3f}, false alarms "
        f"{plan.false_alarm:.3f} (a unit is a detected note for precision, a note that holds the "
        "variable for recall)"
    )
    return in_words({"method": "sequential", **plan.to_dict()}, "\n".join(lines))


#: Methods for precision and recall, and what each asks of the intervals.
METHODS: Mapping[str, str] = {
    "assurance": "precision and recall: exact intervals are narrow with a given probability",
    "reported": "precision and recall: the same with the intervals that `study evaluate` reports",
    "slice": "precision and recall: as the program SLiCE does",
}
PILOT_MEANING = "an F1, by drawing studies from the notes of a pilot: rubricate plan pilot CORPUS"
#: The other methods, by name.
KINDS: Mapping[str, PlanKind] = {
    "route": PlanKind(
        "share of items that may skip review",
        (), ("max_error", "error_rate", "items", "unit", "assurance"), answer=_route),
    "kappa": PlanKind("agreement of two raters by kappa",
        ("kappa", "frequency"), ("half_width", "assurance", "design_effect"),
        "units judged by both raters"),
    "icc": PlanKind("agreement on scores by the intraclass correlation",
        ("icc",), ("raters", "half_width", "assurance", "design_effect"),
        "notes scored by all raters"),
    "icc-test": PlanKind("a test that the intraclass correlation exceeds a bound",
        ("icc", "least"), ("raters", "power", "design_effect"), "notes scored by all raters"),
    "auc": PlanKind("an area under the ROC curve",
        ("auc", "frequency"), ("half_width", "design_effect"), "notes, drawn as they occur"),
    "non-inferiority": PlanKind("a system that is not worse, both sides on the same items",
        ("margin", "discordant"), ("difference", "power", "design_effect"),
        "items judged on both sides; times the design effect where notes hold several"),
    "non-inferiority-independent": PlanKind(
        "a system that is not worse, each side on items of its own",
        ("margin", "rate", "reference_rate"), ("power", "design_effect"),
        "items of each side; times the design effect where notes hold several"),
    "sequential": PlanKind(
        "a study that may stop early",
        ("goal", "rate"), ("looks", "power", "frequency"), answer=_sequential),
}  # fmt: skip
PRECISION_AND_RECALL = (
    "precision", "recall", "frequency", "frequency_kind", "frequency_from", "variable", "annotator",
    "half_width", "assurance", "interval", "drawing", "sites", "pool", "design_effect",
    "design_effect_from", "cluster_size", "cluster_correlation", "variables", "total", "plot",
    "overwrite",
)  # fmt: skip
PILOT = ("annotator", "reference_annotator", "measure", "half_width", "confidence", "assurance")


def options_of(method: str) -> set[str]:
    """Return the names of the options that a method takes."""
    always = {"json", "as_json", "output_json", "quiet", "verbose", "help", "confidence"}
    if method in KINDS:
        kind = KINDS[method]
        own = {*kind.needs, *kind.may}
        if "design_effect" in own:
            own |= {"design_effect_from", "cluster_size", "cluster_correlation"}
        return always | own
    if method == "pilot":
        return always | {*PILOT}
    idle = {"assurance": (), "reported": ("interval", "drawing"), "slice": ("assurance", "drawing")}
    return (always | set(PRECISION_AND_RECALL)) - set(idle[method])


def stated(name: str) -> bool:
    """Tell whether an option was given on the command line."""
    source = click.get_current_context().get_parameter_source(name)
    return source is not click.core.ParameterSource.DEFAULT


def shown_option(name: str) -> str:
    """Return an option as people write it."""
    return f"--{name.replace('_', '-')}"


def _idle(given: Given, allowed: Collection[str], what: str) -> list[Fault]:
    """Return a fault for each option that was given and means nothing here."""
    return [
        Fault(f"{shown_option(name)} means nothing to {what}")
        for name in given
        if name not in allowed and stated(name)
    ]


def answer(method: str, given: Given) -> Answer:
    """Plan by one of `KINDS`; every option that is missing or idle is named at once."""
    kind = KINDS[method]
    faults = [
        Fault(f"{shown_option(name)} is missing: plan {method} needs it")
        for name in kind.needs
        if given[name] is None
    ]
    allowed = {*kind.needs, *kind.may, "method", "confidence"}
    if "design_effect" in allowed:
        allowed |= {"design_effect_from", "cluster_size", "cluster_correlation"}
    ArgumentError.raise_any(faults + _idle(given, allowed, f"plan {method}"))
    try:
        return kind.answer(given) if kind.answer else _sized(method, given)
    except InputError as error:
        raise ArgumentError(Fault(f"--{fault.message}") for fault in error.faults) from error


def from_pilot(given: Given) -> Answer:
    """Plan the size of a study whose notes are like those of a pilot."""
    from rubricate.evaluation.pilot import plan_from_pilot

    ArgumentError.raise_any(_idle(given, {*PILOT, "pilot"}, "--pilot"))
    found = plan_from_pilot(
        open_corpus(given["pilot"]),
        reference_annotator=given["reference_annotator"],
        predicted_annotator=given["annotator"],
        measure=given["measure"] or "presence",
        half_width=given["half_width"],
        assurance=given["assurance"],
        confidence=given["confidence"],
    )
    stored = {
        "method": "pilot",
        "notes": found.notes,
        "met": found.met,
        "pilot": found.pilot.to_dict(),
        "pilot_notes": found.pilot_notes,
    }
    return in_words(
        stored,
        f"{found.notes:,} notes: studies of so many notes like those of the pilot get an F1 within "
        f"±{given['half_width']:g} in {found.met:.0%} of simulations\n"
        f"the pilot itself: F1 {found.pilot}, {found.pilot_notes:,} notes",
    )
