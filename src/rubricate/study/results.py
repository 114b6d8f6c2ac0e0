"""The Results of a study's report: counts, agreement, performance, sites, and the ceiling."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from rubricate.display import shown_p
from rubricate.reports.blocks import Block, Figure, Heading, Paragraph, TableBlock, point
from rubricate.reports.plots import ForestGroup, ForestRow, Labels, forest_plot
from rubricate.stats import Estimate, true_f1_limits
from rubricate.study.evaluation import half_widths
from rubricate.study.methods import Facts
from rubricate.study.sampling import SIDES
from rubricate.study.summaries import CeilingJson, Rates, VariableAgreement, VariableResult


def results_blocks(facts: Facts) -> list[Block]:
    """Return the Results: detections, agreement, performance, and the ceiling."""
    lines = facts.measured
    confidence = f"{facts.evaluate['confidence']:.0%} interval"
    return [
        TableBlock(
            "Table 1. Notes of the sample in which each variable was found by the annotators "
            "(reference) and by the system, and the 2×2 counts: found by both (TP), by the system "
            "alone (FP), by the annotators alone (FN), by neither (TN). Counts are of notes as "
            "drawn; all rates below weight them.",
            ["variable", "notes judged", "manual annotations", "system detections",
             "TP", "FP", "FN", "TN"],
            [(_named(line), line["notes"], line["manual"], line["detections"],
              line["tp"], line["fp"], line["fn"], line["tn"]) for line in lines],
        ),
        *_missing(facts),
        *_agreement(facts),
        _sentence(facts),
        TableBlock(
            f"Table 3. Performance in finding each variable in a note, with {confidence}.",
            ["variable", "precision", "recall", "F1"],
            [(_named(line), *_rates(line["presence"])) for line in lines],
        ),
        _performance_figure(lines),
        TableBlock(
            "Table 4. Specificity, negative predictive value and prevalence of each variable in "
            f"the notes of the population, with {confidence}.",
            ["variable", "specificity", "NPV", "prevalence"],
            [
                (_named(line), *(point(line["presence"][name]) if name in line["presence"] else None
                                 for name in ("specificity", "npv", "prevalence")))
                for line in lines
            ],
        ),
        *_sites(facts, lines),
        TableBlock(
            f"Table 7. Performance in marking the words, by character, with {confidence}. "
            "A value without interval did not vary from note to note.",
            ["variable", "precision", "recall", "F1", "F1 of exact spans"],
            [
                (_named(line), *_rates(line["characters"]),
                 point(line["spans_exact"]["f1"]))
                for line in lines
            ],
        ),
        *_ceiling(lines),
        *_ceiling_figure(facts, lines),
    ]  # fmt: skip


def _named(line: VariableResult | VariableAgreement) -> str:
    primary = " (primary variable)" if line["role"] == "primary" else ""
    return f"{line['variable']}{primary}"


def _rates(found: Rates) -> tuple[Estimate, ...]:
    """Return precision, recall and F1."""
    return tuple(point(found[name]) for name in ("precision", "recall", "f1"))


def _agreement(facts: Facts) -> list[Block]:
    found = facts.collect["agreement"]
    if not found["variables"]:
        return [Paragraph("No note was annotated twice, so agreement is unknown.")]
    low, undefined = found["low"], found.get("undefined", [])
    said = (
        f"Agreement was below {found['threshold']:g} for {', '.join(low)}; the annotators may "
        "have had difficulties with these, or the guidelines do not describe them well enough."
        if low
        else f"Agreement was at least {found['threshold']:g} for every variable anybody marked."
    )
    if undefined:
        said += f" It is undefined for {', '.join(undefined)}, which nobody marked."
    return [
        TableBlock(
            f"Table 2. Agreement of annotators on {found['notes']:,} notes, with "
            f"{found['confidence']:.0%} interval.",
            ["variable", "notes", "both", "only one", "presence F1", "kappa", "characters F1"],
            [
                (_named(line), line["notes"], line["both"],
                 line["first_only"] + line["second_only"], point(line["presence_f1"]),
                 point(line["kappa"]) if "kappa" in line else line["presence_kappa"],
                 point(line["characters_f1"]))
                for line in found["variables"]
            ],
        ),
        Paragraph(said),
        *_weighted_agreement(facts),
    ]  # fmt: skip


def _weighted_agreement(facts: Facts) -> list[Block]:
    """Show the agreement to expect in the population where the sample was drawn unevenly."""
    measured = [(line, line["agreement"]) for line in facts.evaluate["variables"]
                if "agreement" in line]  # fmt: skip
    if not measured:
        return []
    return [
        TableBlock(
            "Agreement of annotators in the population: the values of Table 2, each note weighted "
            "by the inverse of its inclusion probability, with "
            f"{facts.evaluate['confidence']:.0%} interval.",
            ["variable", "notes", "presence F1", "kappa", "characters F1"],
            [
                (_named(line), found["notes"], point(found["presence_f1"]), point(found["kappa"]),
                 point(found["characters_f1"]))
                for line, found in measured
            ],
        )
    ]  # fmt: skip


def _missing(facts: Facts) -> list[Block]:
    """Say what was sampled and is not in the figures."""
    sampled, collect, curate = facts.sample["notes"], facts.collect, facts.curate
    late = Counter(m["annotator"] for m in collect["missing"])
    who = ", ".join(f"{name} {n:,}" for name, n in sorted(late.items()))
    fewest = min((line["notes"] for line in facts.evaluate["variables"]), default=0)
    return [
        Heading("Missing data"),
        TableBlock(
            "What was planned and is not in the figures. Nothing was imputed: a missing note or "
            "row is left out, and the weights of the others stay as drawn.",
            ["what", "number"],
            [
                ("notes the population was short of", sum(facts.sample["shortfall"].values())),
                (
                    f"annotated notes that never came back{f' ({who})' if who else ''}",
                    len(collect["missing"]),
                ),
                ("rows left undecided", curate["undecided"]),
                ("sampled notes without a judgement of the variable with fewest", sampled - fewest),
                (
                    "returned notes without any mark (judged as holding nothing)",
                    collect["without_any_mark"],
                ),
            ],
        ),
        Heading("Agreement and performance"),
    ]


def site_frequencies(facts: Facts) -> dict[str, tuple[int, int]]:
    """Return, for each site, notes in which the primary variable was detected, and all notes."""
    found: dict[str, tuple[int, int]] = {}
    for stratum in facts.sample["strata"]:
        detected, notes = found.get(stratum["site"], (0, 0))
        more = stratum["population"]
        positive = more if stratum["side"] == SIDES[0] else 0
        found[stratum["site"]] = (detected + positive, notes + more)
    return found


def _sites(facts: Facts, lines: list[VariableResult]) -> list[Block]:
    """Return the primary variable site by site, and how far each variable's sites differ."""
    primary = facts.primary
    if "by_site" not in primary:
        return []
    sites, frequency = primary["by_site"]["sites"], site_frequencies(facts)
    shares = {site: found / notes for site, (found, notes) in frequency.items()}
    found, notes = map(sum, zip(*frequency.values(), strict=True))
    means = [_mean([site[name]["value"] for site in sites]) for name in ("precision", "recall")]
    cells = ("notes", "tp", "fp", "fn", "tn")
    table = TableBlock(
        f"Table 5. {primary['variable']} by site: how often it was detected in the population "
        "(equation 2 of Canales et al.: notes with the variable / notes), the 2×2 counts, "
        "precision and recall. The paper's frequency is the mean over sites; pooled, each note "
        "counts once.",
        ["site", "frequency", "notes", "TP", "FP", "FN", "TN", "precision", "recall"],
        [
            *((site["site"], shares.get(site["site"]),
               *(site[cell] for cell in cells),  # type: ignore[literal-required]
               point(site["precision"]), point(site["recall"])) for site in sites),
            ("mean over sites", _mean(list(shares.values())), *("",) * len(cells), *means),
            ("pooled", found / notes, *(primary[cell] for cell in cells),  # type: ignore[literal-required]
             *_rates(primary["presence"])[:2]),
            *_expected_elsewhere(primary),
        ],
    )  # fmt: skip
    compared = [
        (_named(line), *(shown for name in ("precision", "recall")
                         for shown in _heterogeneity(line["by_site"]["heterogeneity"][name])))
        for line in lines if "by_site" in line
    ]  # fmt: skip
    return [
        Heading("Results by site"),
        table,
        TableBlock(
            "Table 6. Do the sites differ? Cochran's Q of the sites' logits with the "
            "variances of their posteriors, its p value (chi-squared), and I², the share of the "
            "spread that is not chance (Higgins & Thompson 2002). With few sites or few errors the "
            "test finds little: a large p does not show that sites are alike.",
            ["variable", "precision: Q (df)", "p", "I²", "recall: Q (df)", "p", "I²"],
            compared,
        ),
    ]


def _expected_elsewhere(primary: VariableResult) -> list[tuple[str | Estimate, ...]]:
    """Return the mean of sites like these by random effects, and the rate at another site."""
    found = primary["by_site"]
    lines: list[tuple[str | Estimate, ...]] = []
    for name, words in (("mean", "sites like these (random effects)"),
                        ("prediction", "another such site (prediction interval)")):  # fmt: skip
        if name in found:
            rates = found[name]  # type: ignore[literal-required]
            blank = ("",) * 6
            lines.append((words, *blank, point(rates["precision"]), point(rates["recall"])))
    return lines


def _heterogeneity(found: dict[str, float | int | None]) -> tuple[str | None, ...]:
    q, p, share = found["q"], found["p_value"], found["i_squared"]
    if q is None or p is None or share is None:
        return (None, None, None)
    return f"{q:.2f} ({found['degrees']})", shown_p(p), f"{share:.0%}"


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None


def _sentence(facts: Facts) -> Paragraph:
    width, primary = facts.evaluate["width"], facts.primary
    precision, recall, _ = _rates(primary["presence"])
    return Paragraph(
        f"For the primary variable, {primary['variable']}, precision was {precision} and recall "
        f"{recall}. The half widths ({half_widths(width)}) "
        f"{'meet' if width['met'] else 'do not both meet'} the planned ±{width['planned']:g}."
    )


def _performance_figure(lines: list[VariableResult]) -> Figure:
    rows = tuple(
        ForestRow(_named(line), _rates(line["presence"]), f"n = {line['notes']:,}")
        for line in lines
    )
    words = "Precision, recall and F1 of presence for each variable, with intervals."
    svg = forest_plot(
        [ForestGroup("", rows)], ["precision", "recall", "F1"],
        Labels("Performance by variable", "value", description=words),
    )  # fmt: skip
    return Figure("performance", svg, words)


def _ceiling(lines: list[VariableResult]) -> list[Block]:
    compared = [(line, ceiling) for line in lines if (ceiling := line.get("ceiling"))]
    if not compared:
        return []
    table = TableBlock(
        "Table 8. The system's F1 beside the annotators' on the notes annotated twice (without "
        "weights); the difference is system minus annotators.",
        ["variable", "notes", "presence: system", "annotators", "difference",
         "characters: system", "annotators", "difference"],
        [
            (_named(line), ceiling["presence"]["notes"],
             *(cell for kind in ("presence", "characters")
               for cell in (ceiling[kind]["system_f1"], ceiling[kind]["ceiling_f1"],
                            point(ceiling[kind]["difference"]))))
            for line, ceiling in compared
        ],
    )  # fmt: skip
    below = [
        line["variable"] for line, ceiling in compared
        if point(ceiling["characters"]["difference"]).high < 0
    ]  # fmt: skip
    said = (
        f"By characters the system stays below its annotators for {', '.join(below)}: the whole "
        "interval of the difference is negative."
        if below
        else "By characters the system is not clearly below its annotators for any variable."
    )
    return [table, Paragraph(said), *_reference_error(compared)]


def _reference_error(compared: list[tuple[VariableResult, dict[str, CeilingJson]]]) -> list[Block]:
    """Say what the annotators' own errors leave open about the system."""
    lines = []
    for line, ceiling in compared:
        system, humans = ceiling["presence"]["system_f1"], ceiling["presence"]["ceiling_f1"]
        if system is not None and humans is not None and system == system and humans == humans:
            best, low, high = true_f1_limits(system, humans)
            lines.append((_named(line), humans, best, system, f"{low:.3f} to {high:.3f}"))
    if not lines:
        return []
    return [
        TableBlock(
            "Errors in the reference. Annotators who agree with an F1 below 1 err, and so does a "
            "reference made from one of them: a system without any error would get about the F1 in "
            "the third column, and the system's F1 against the truth lies about where the last "
            "says, if two annotators err alike and independently. Curation makes the reference "
            "better than that.",
            ["variable", "annotators agree", "faultless system", "system, measured",
             "system, against the truth"],
            lines,
        )
    ]  # fmt: skip


def _ceiling_figure(facts: Facts, lines: list[VariableResult]) -> list[Block]:
    humans = {
        v["variable"]: v["characters_f1"] for v in facts.collect["agreement"]["variables"]
    } | {
        line["variable"]: line["agreement"]["characters_f1"]
        for line in lines if "agreement" in line
    }  # fmt: skip
    rows = tuple(
        ForestRow(_named(line), (point(line["characters"]["f1"]), point(humans[line["variable"]])))
        for line in lines
        if line["variable"] in humans
    )
    if not rows:
        return []
    words = "F1 by character of the system and of the annotators against each other" + (
        ", weighted by design."
        if facts.evaluate["weighted"] else "."
    )  # fmt: skip
    svg = forest_plot(
        [ForestGroup("", rows)], ["system", "annotators"],
        Labels("The system and its ceiling", "F1 of characters", description=words),
    )  # fmt: skip
    return [Figure("ceiling", svg, words)]
