"""The Methods of a study's report: what was done in each of the five phases, with its numbers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields

from rubricate.display import counted
from rubricate.progress import Progress, silent
from rubricate.reports.blocks import Block, Figure, Heading, Paragraph, TableBlock
from rubricate.reports.page import Open
from rubricate.stats import EstimateJson, Expected, Plan, Target
from rubricate.stats.plans import PlanJson
from rubricate.study.evaluation import half_widths
from rubricate.study.planning import Design, flow_plot, make_plan, plan_plot
from rubricate.study.record import Study
from rubricate.study.sampling import COUNTS_ON, SIDES
from rubricate.study.settings import StudySettings
from rubricate.study.summaries import (
    AssignSummary,
    CollectSummary,
    CurateSummary,
    EvaluateSummary,
    PlanSummary,
    PopulationSummary,
    SampleSummary,
    VariableResult,
)


@dataclass(frozen=True, slots=True)
class Facts:
    """The summaries of all steps, and the settings."""

    settings: StudySettings
    population: PopulationSummary
    plan: PlanSummary
    sample: SampleSummary
    assign: AssignSummary
    collect: CollectSummary
    curate: CurateSummary
    evaluate: EvaluateSummary

    @classmethod
    def of(cls, study: Study) -> Facts:
        """Read the records of a study (InputError where a step was not run)."""
        _, *steps = (field.name for field in fields(cls))
        return cls(study.settings, *map(study.need, steps))

    @property
    def measured(self) -> list[VariableResult]:
        """Measures of each judged variable."""
        return [line for line in self.evaluate["variables"] if line["notes"]]

    @property
    def primary(self) -> VariableResult:
        """Measures of the primary variable."""
        return next(line for line in self.evaluate["variables"] if line["role"] == "primary")

    def warnings(self) -> list[str]:
        """Return the warnings for readers."""
        found = [warning for warning in self.plan["warnings"] if warning.startswith(COUNTS_ON)]
        if self.collect.get("rehearsed"):
            found.append(
                "A rehearsal: the annotations were made by a program; nobody read the notes, and "
                "no figure here says anything about a system or its annotators."
            )
        width, short = self.evaluate["width"], self.sample["shortfall"]
        if not width["met"]:
            found.append(
                f"The planned width of ±{width['planned']:g} was not met: {half_widths(width)}."
            )
        if any(short.values()):
            found.append(
                "The population held too few notes for the plan: "
                + ", ".join(f"{n} {side}s missing" for side, n in short.items() if n)
                + "."
            )
        low = self.collect["agreement"]["low"]
        if low:
            found.append(
                f"Agreement was below {self.settings.agreement.threshold:g} for: {', '.join(low)}."
            )
        undefined = self.collect["agreement"].get("undefined")
        if undefined:
            found.append(
                f"Agreement is undefined, because nobody marked it, for: {', '.join(undefined)}."
            )
        if self.collect["missing"]:
            found.append(f"{len(self.collect['missing'])} annotated notes never came back.")
        if self.curate["undecided"]:
            found.append(f"{self.curate['undecided']} disagreements were left undecided.")
        return [*found, *self.evaluate["warnings"]]


def flow_figure(facts: Facts) -> Figure:
    """Draw the five phases with this study's numbers."""
    population, plan, sample = facts.population, facts.plan, facts.sample
    assign, collect, curate = facts.assign, facts.collect, facts.curate
    evaluate, primary = facts.evaluate, facts.primary
    secondary = len(population["variables"]) - 1
    agreement = collect["agreement"]["variables"]
    phases = [
        ("Population", [
            f"{population['corpus']['notes']:,} notes",
            f"{population['notes']:,} in the target population",
            f"{counted(len(population['sites']), 'site')}, {counted(population['cases'], 'case')}",
            f"primary: {primary['variable']}", counted(secondary, "secondary variable")]),
        ("Sample", [
            f"planned {plan['positives']:,} + {plan['negatives']:,} notes",
            f"drawn {sample['drawn']['positive']:,} positive, "
            f"{sample['drawn']['negative']:,} negative",
            f"{len(sample['strata'])} strata"]),
        ("Annotation", [
            f"{len(assign['annotators'])} annotators",
            f"{assign['notes']['training']:,} training notes",
            f"{assign['notes']['double']:,} annotated twice",
            f"{assign['notes']['single']:,} annotated once"]),
        ("Reference", [
            f"{curate['double']:,} rows judged twice",
            f"{curate['disputed']:,} disputed, {curate['undecided']:,} undecided",
            *([f"agreement on {agreement[0]['variable']}: "
               f"{_interval(agreement[0]['presence_f1'])}"] if agreement else [])]),
        ("Evaluation", [
            *(f"{shown} {_interval(primary['presence'][name])}"
              for shown, name in (("P", "precision"), ("R", "recall"), ("F1", "f1"))),
            f"planned width {'met' if evaluate['width']['met'] else 'not met'}"]),
    ]  # fmt: skip
    caption = "The five phases of the study with its numbers."
    return Figure("flow", flow_plot(phases), caption)


def _interval(estimate: EstimateJson) -> str:
    if estimate["value"] is None:
        return "undefined"
    low, high = estimate["low"], estimate["high"]
    return f"{estimate['value']:.2f} ({low:.2f} to {high:.2f})"


def methods_blocks(facts: Facts, *, progress: Progress = silent) -> list[Block]:
    """Return the Methods, phase after phase."""
    return [
        Paragraph(
            "The study follows the five phases of Canales et al. (JMIR Med Inform 2021;9(7):"
            "e20492): target population, statistical collection of notes, annotation project, "
            "annotations and reference standard, and evaluation of the system."
        ),
        *_population(facts),
        *_sample(facts, progress),
        *_annotation(facts),
        *_reference(facts),
        *_evaluation(facts),
    ]


def _population(facts: Facts) -> list[Block]:
    found = facts.population
    questions = {k: v for k, v in found["questions"].items() if v}
    conditions = ", ".join(f"{name} ({n:,} left)" for name, n in found["left_after"].items())
    blocks: list[Block] = [
        Heading("Phase 1: target population"),
        Paragraph(
            f"Of {found['corpus']['notes']:,} notes, {found['notes']:,} of "
            f"{counted(found['cases'], 'case')} are in the target population, after these "
            f"conditions: {conditions}. Notes have {found['words']['mean']:.0f} words on "
            f"average (SD {found['words']['sd']:.0f}, "
            f"median {found['words']['median']:.0f}, {found['words']['min']} to "
            f"{found['words']['max']}) and {found['characters']['mean']:.0f} characters "
            f"(SD {found['characters']['sd']:.0f})."
        ),
    ]
    if questions:
        blocks.append(
            TableBlock("What the population was defined by.", ["question", "answer"],
                  list(questions.items()))
        )  # fmt: skip
    blocks.append(TableBlock("Notes of the population by site.", ["site", "notes"],
                        list(found["sites"].items())))  # fmt: skip
    blocks.append(
        TableBlock(
            "Variables. A variable is present in a note where any of its features is.",
            ["variable", "role", "features"],
            [(v["name"], v["role"], len(v["features"])) for v in found["variables"]],
        )
    )
    return blocks


def _sample(facts: Facts, progress: Progress) -> list[Block]:
    plan, sample = facts.plan, facts.sample
    expected, target = plan["expected"], plan["target"]
    how = (
        f"so that the width holds with a probability of {target['assurance']:.0%}"
        if plan["method"] != "slice"
        else "with SLiCE's rule, the first size whose interval is narrow enough"
    )
    interval = "those of the evaluation" if plan["method"] == "reported" else target["interval"]
    estimate = plan["frequency_estimate"]
    return [
        Heading("Phase 2: sample size and sampling"),
        Paragraph(
            f"With an expected precision of {expected['precision']:.0%} and recall of "
            f"{expected['recall']:.0%}, an {expected['frequency_kind']} frequency of "
            f"{expected['frequency']:.1%} (detected in the population: "
            f"{plan['frequency_estimate']['value']:.1%}, {estimate['low']:.1%} to "
            f"{estimate['high']:.1%}), and {target['confidence']:.0%} intervals "
            f"({interval}) of ±{target['half_width']:g}, the sample was planned {how}: "
            f"{plan['positives']:,} positive and {plan['negatives']:,} negative notes, "
            f"{plan['total']:,} in all, {plan['per_site']['total']:,} per site. Positive means "
            "that the primary variable was detected before anybody annotated."
        ),
        Figure("plan", plan_plot(plan_of(plan), progress=progress),
               "Sample size against expected precision, recall and frequency."),
        Paragraph(
            "Notes were drawn at random inside strata of site, detection of the primary variable, "
            "and the rarest secondary variable detected "
            f"(allocation: {facts.settings.sampling.allocation}; seed {sample['seed']}). Each "
            "note's inclusion probability is the share of its stratum that was drawn; all "
            "measures weight notes by its inverse."
        ),
        TableBlock(
            "The sample by site.",
            ["site", *(f"{side}s" for side in SIDES)],
            [(site, *(n[side] for side in SIDES)) for site, n in sample["sites"].items()],
        ),
        TableBlock(
            "Strata.",
            ["site", "primary", "rarest secondary", "population", "sampled", "probability"],
            [(s["site"], s["side"], s["part"], s["population"], s["sampled"], s["probability"])
             for s in sample["strata"]],
        ),
    ]  # fmt: skip


def plan_of(summary: PlanJson) -> Plan:
    """Make a recorded plan again."""
    design = Design(summary["method"], summary["sites"], summary["pool"], summary["design_effect"])
    return make_plan(Expected(**summary["expected"]), Target(**summary["target"]), design)


def _annotation(facts: Facts) -> list[Block]:
    found, settings = facts.assign, facts.settings.annotation
    weeks = sum(batch != "training" for batch in found["batches"])
    return [
        Heading("Phase 3: annotation project"),
        Paragraph(
            f"{len(found['annotators'])} annotators worked blind in {found['format']}: they saw "
            "the notes, the guidelines and the labels, but neither each other's annotations nor "
            f"the system's output{', and new note ids' if settings.rename else ''}. After "
            f"{found['notes']['training']} training notes, which are not measured, "
            f"{found['notes']['double']:,} notes went to both annotators of a pair and "
            f"{found['notes']['single']:,} to one, in {weeks} weekly "
            f"{'batches' if weeks > 1 else 'batch'}."
        ),
        TableBlock(
            "Notes of each annotator.",
            ["annotator", "role", "rank", "site", "training", "double", "single"],
            [
                (a["id"], a.get("role") or Open("to be written"),
                 "senior" if a["senior"] else "annotator", a["site"],
                 *(found["by_annotator"].get(str(a["id"]), {}).get(kind, 0)
                   for kind in ("training", "double", "single")))
                for a in found["annotators"]
            ],
        ),
    ]  # fmt: skip


def _reference(facts: Facts) -> list[Block]:
    curate, rules = facts.curate, facts.settings.curation.rules
    return [
        Heading("Phase 4: annotations and reference"),
        Paragraph(
            f"Of {curate['double']:,} rows (a note and a feature) that two annotators judged, the "
            f"rules {', '.join(rules)} settled {curate['double'] - curate['disputed']:,}; "
            f"{curate['disputed']:,} went to a curator and {curate['undecided']:,} were left "
            "undecided. Who decided each row is kept beside the reference."
        ),
        Paragraph(_curators(curate["decided_by"])),
        TableBlock("Who decided the rows of the reference.", ["decided by", "rows"],
              list(curate["decided_by"].items())),
    ]  # fmt: skip


def _curators(decided_by: Mapping[str, int]) -> str:
    names = [name for name in decided_by if not name.startswith(("rule ", "single "))]
    if not names:
        return "No curator decided a row."
    return f"Curators, who saw both annotations but not the system's: {', '.join(names)}."


def _evaluation(facts: Facts) -> list[Block]:
    found = facts.evaluate
    kind = "the notes of this population" if found["finite"] else "notes like these"
    weighted = "weighted by design" if found["weighted"] else "without weights"
    return [
        Heading("Phase 5: evaluation"),
        Paragraph(
            f"The system ({found['system']}) was compared with the reference, {weighted}; "
            f"intervals speak of {kind}. Presence in a note: Horvitz-Thompson estimates with "
            "intervals from the posterior of the strata, at Kish's effective number of notes. "
            f"Characters and spans: bootstrap by note ({found['resamples']:,} resamples, seed "
            f"{found['seed']}). All intervals at {found['confidence']:.0%}. Agreement between "
            "annotators is the ceiling the system is held against; its F1 on presence has an "
            "interval through the Jaccard index."
        ),
        Paragraph(_patients(facts)),
    ]


def _patients(facts: Facts) -> str:
    """Say whether figures are of notes or of patients."""
    found = facts.evaluate
    if "clusters" in found:
        field = facts.settings.evaluation.cluster
        return (
            f"Figures count notes. The sample's notes are of {found['clusters']:,} values of "
            f"{field}; notes of one go together, and the intervals of precision, recall, F1 and of "
            "characters take that into account."
        )
    return (
        "Figures count notes, not patients, and take notes as independent. Where patients have "
        "several notes, intervals are too narrow: evaluation.cluster in study.toml names the field "
        "that tells patients apart."
    )
