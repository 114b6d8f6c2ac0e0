"""The training report of an encoder, from what its settings keep."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypedDict

from rubricate.matchers.training_report import Course, Look, TrainingReport, flat_recipe
from rubricate.neural.encoder.model_folder import EncoderSettings
from rubricate.stats.calibration import Reliability


class StageReport(TypedDict, total=False):
    """One stage of a network's training, as ``settings.json`` holds it."""

    name: str
    steps: int
    loss: list[float]
    curve: list[dict[str, float]]


class ReliabilityReport(TypedDict):
    """Reliability of the presence probabilities, before and after calibration."""

    before: Mapping[str, Any]
    after: Mapping[str, Any]


class PrecisionReport(TypedDict):
    """Characters F1 of both files of a network, and which was kept."""

    full: float
    eight_bits: float
    kept: str


class FitReport(TypedDict, total=False):
    """Training of a model, as ``settings.json`` holds it; ``members`` has that of each fold."""

    notes: dict[str, int]
    options: Mapping[str, Any]
    recipe: Mapping[str, Any]
    curve: list[dict[str, float]]
    stages: list[StageReport]
    held_out: dict[str, float]
    calibration: ReliabilityReport
    precision: PrecisionReport
    members: list[FitReport]


def plain_look(look: Look) -> dict[str, float]:
    """Return an entry of a curve: step, loss, seconds and what was measured."""
    return {"step": look.step, "loss": look.loss, "seconds": look.seconds or 0.0, **look.measured}


def summary(reports: Sequence[FitReport]) -> FitReport:
    """Return the report of several networks: the mean of their curves, and each one's own."""
    held = sum(report["notes"]["held_out"] for report in reports)
    curves: dict[int, list[dict[str, float]]] = {}
    for report in reports:
        for entry in report["curve"]:
            curves.setdefault(int(entry["step"]), []).append(entry)
    mean = [
        {key: sum(one[key] for one in own) / len(own) for key in own[0] if key != "step"}
        | {"step": step}
        for step, own in sorted(curves.items())
    ]
    return {
        "notes": {"learned_from": held, "held_out": held},
        "recipe": reports[0]["recipe"],
        "curve": mean,
        "members": list(reports),
    }


#: What fitting measures on notes held out, and how it is called.
MEASURES = {"characters": "characters F1", "presence": "presence F1"}


def encoder_report(settings: EncoderSettings) -> TrainingReport | None:
    """Return the training of an encoder; None if it was never fitted, as the shipped one.

    >>> curve = [{"step": 20, "loss": 0.5, "seconds": 9.0, "characters": 0.8, "presence": 0.9}]
    >>> notes = {"learned_from": 16, "held_out": 4}
    >>> report = {"notes": notes, "recipe": {}, "curve": curve}
    >>> found = encoder_report(EncoderSettings(report=report))
    >>> found.courses[0].chosen
    20
    """
    report = settings.report
    members: Sequence[Mapping[str, Any]] = report.get("members") or [report]
    if not all(one.get("curve") for one in members):
        return None
    one_of_many = len(members) > 1
    calibration = report.get("calibration", {})
    return TrainingReport(
        courses=tuple(
            _course(f"fold {i}" if one_of_many else "network", one)
            for i, one in enumerate(members, start=1)
        ),
        recipe=flat_recipe(report.get("options", {})) | flat_recipe(report["recipe"]),
        held_out=_measured(report.get("held_out", {})),
        thresholds={
            "feature is present from probability": settings.thresholds.presence,
            "words are marked from probability": settings.thresholds.inside,
            "or, where none reaches it, from this share of the highest": settings.thresholds.rescue,
            "how much the edges of a run count": settings.thresholds.edges,
            "what a run must bring, in logits": settings.thresholds.cost,
        },
        feature_thresholds=dict(settings.feature_presence),
        before=Reliability.from_json(calibration["before"]) if calibration else None,
        after=Reliability.from_json(calibration["after"]) if calibration else None,
        facts=_facts(report, members, settings),
    )


def _measured(values: Mapping[str, Any]) -> dict[str, float]:
    return {shown: float(values[name]) for name, shown in MEASURES.items() if name in values}


def _course(name: str, report: Mapping[str, Any]) -> Course:
    looks = tuple(
        Look(
            int(one["step"]),
            float(one["loss"]),
            None if one.get("seconds") is None else float(one["seconds"]),
            _measured(one),
        )
        for one in report["curve"]
    )
    return Course(
        name,
        looks,
        int(report["notes"]["learned_from"]),
        int(report["notes"]["held_out"]),
        # of equal looks fitting keeps the first; without notes held out, the last weights
        max(looks, key=lambda look: sum(look.measured.values())).step
        if looks[0].measured
        else looks[-1].step,
    )


def _facts(
    report: Mapping[str, Any], members: Sequence[Mapping[str, Any]], settings: EncoderSettings
) -> dict[str, str]:
    line = settings.calibration
    facts = {"calibration": f"slope {line.slope:.3f} and shift {line.shift:.3f} on the logit"}
    for number, member in enumerate(members, start=1):
        for stage in member.get("stages", [])[:-1]:
            losses = stage["loss"] if "loss" in stage else [one["loss"] for one in stage["curve"]]
            who = f"fold {number}, " if len(members) > 1 else ""
            facts[f"{who}before, {stage['name']}"] = (
                f"{stage['steps']:,} steps, loss {losses[0]:.3f} to {losses[-1]:.3f}"
            )
    n_pseudo = int(report["notes"].get("pseudo", 0))
    if n_pseudo:
        facts["notes labelled by the network itself"] = f"{n_pseudo:,}"
    precision = report.get("precision")
    if precision:
        facts["characters F1 of the file"] = (
            f"{precision['full']:.4f} in full precision, {precision['eight_bits']:.4f} in eight "
            f"bits; kept: {precision['kept']}"
        )
    return facts
