"""The study as Methods and Results, like the paper's, with all that is needed to repeat it."""

from __future__ import annotations

from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from platform import python_version

from rubricate import __version__
from rubricate.display import shown_p
from rubricate.progress import Progress, silent
from rubricate.reports.blocks import (
    NEEDED,
    Block,
    Chapter,
    Listing,
    Paragraph,
    Report,
    TableBlock,
    figure_files,
    to_html,
    to_markdown,
    write_docx,
)
from rubricate.reports.page import Open, Value
from rubricate.study.methods import Facts, flow_figure, methods_blocks
from rubricate.study.record import STEP_FOLDERS, StepResult, Study, run_step
from rubricate.study.results import results_blocks
from rubricate.study.settings import STUDY_FILE, stard_items
from rubricate.study.status import COMMANDS, stale_warnings
from rubricate.study.summaries import ReportSummary


def _known(facts: Facts) -> dict[str, str]:
    """Return the text for each item from the records of the steps."""
    questions, found = facts.population["questions"], facts.evaluate
    sites = facts.population["sites"]
    where = [f"{len(sites)} sites" if len(sites) > 1 else "one site"]
    where += [questions[name] for name in ("sites", "departments", "period") if questions.get(name)]
    known = {
        "6": "Methods, phase 1: " + ", ".join(facts.population["left_after"]) + ".",
        "7": "Methods, phase 1: every note of the corpus that meets the conditions; phase 2: "
        "strata of site and detection.",
        "9": f"Random inside strata, seed {facts.sample['seed']} (Methods, phase 2).",
        "10b": f"Methods, phases 3 and 4: {len(facts.assign['annotators'])} annotators, rules "
        f"{', '.join(facts.settings.curation.rules)}; the guidelines come with the notes.",
        "12b": "A variable is present in a note where the reference marks any of its features; the "
        f"rules {', '.join(facts.settings.curation.rules)} and then a curator decide where "
        "annotators differ (Methods, phases 1 and 4). The rules stand in study.toml; "
        "the records of the steps hold its hash.",
        "13b": "No: annotators saw neither the system's output nor each other's, and curators saw "
        "the annotators' but not the system's (Methods, phases 3 and 4). They knew the whole note.",
        "14": "Methods, phase 5.",
        "15": f"{facts.curate['undecided']:,} rows were left undecided and are left out "
        "(Results, missing data).",
        "16": "Results, missing data: left out, not imputed.",
        "17": "Results by site: Cochran's Q, I², and the rate to expect at another site (Tables 5 "
        "and 6); part of every study made with this program, so set in advance. Any other "
        "comparison is exploratory." if len(sites) > 1
        else "One site: variability between sites cannot be analysed. Any comparison of other "
        "groups is exploratory.",
        "18": _size_in_words(facts),
        "19": "The study at a glance.",
        "23": "Results, Table 1.",
        "24": f"Results, Tables 3 to 7, {found['confidence']:.0%} intervals.",
        "29": "study.toml and all commands: To repeat it.",
    }  # fmt: skip
    if facts.settings.question:
        known["4"] = facts.settings.question
    if len(where) > 1:
        known["8"] = "; ".join(where) + "."
    return known


def _size_in_words(facts: Facts) -> str:
    """Say how many notes were intended, from what, and how many were measured."""
    plan, expected, target = facts.plan, facts.plan["expected"], facts.plan["target"]
    return (
        f"Intended: {plan['positives']:,} positive and {plan['negatives']:,} negative notes "
        f"(method {plan['method']}), from an expected precision of {expected['precision']:g}, "
        f"recall of {expected['recall']:g} and frequency of {expected['frequency']:g}, for "
        f"{target['confidence']:.0%} intervals of ±{target['half_width']:g} (Methods, phase 2). "
        f"Measured: {facts.primary['notes']:,}."
    )


#: What a person must add where the program knows nothing, or only a part.
_ASKED = {
    "8": "name the sites and the period under [population.questions]",
    "10a": "name, version and settings of the system",
    "26": "the chapter Limitations has what the records show; add bias and generalisability",
    "20": "text lengths are in Methods, phase 1; say whose notes they are",
}


def stard_blocks(facts: Facts) -> list[Block]:
    """Return the checklist; texts under ``[stard]`` in ``study.toml`` fill what is open."""
    known, written = _known(facts), facts.settings.stard
    lines: list[tuple[Value, ...]] = []
    for item, asked in stard_items().items():
        said = " ".join(text for text in (known.get(item), written.get(item)) if text)
        lines.append((item, asked, said or Open(_ASKED.get(item, "to be written by the authors"))))
    still = [str(line[0]) for line in lines if isinstance(line[2], Open)]
    text = (
        f"{len(still)} of {len(lines)} items are open: {', '.join(still)}. "
        "Write them by item under [stard] in study.toml and make the report anew."
        if still
        else "Every item is answered."
    )
    return [
        Paragraph(text),
        TableBlock(
            "STARD 2015 (Bossuyt et al., BMJ 2015;351:h5527), with notes in place of patients and "
            "the system in place of the index test.",
            ["item", "asks for", "answer"], lines,
        ),
    ]  # fmt: skip


#: Fewer notes than this with a variable leave little to say about its recall.
_FEW = 20
#: Beyond these, sites are said to differ (Higgins et al., BMJ 2003;327:557).
_I_SQUARED, _P_VALUE = 0.5, 0.1


def limitations_blocks(facts: Facts) -> list[Block]:
    """Return one line per limitation the records show, and one a person must write."""
    lines: list[tuple[str, Value]] = [(name, text) for name, text in _found(facts) if text]
    lines.append(("bias and use", Open("what else the authors know: to be written")))
    return [TableBlock("Limitations that follow from the records.", ["of", "limitation"], lines)]


def _found(facts: Facts) -> list[tuple[str, str]]:
    curate, sample = facts.curate, facts.sample
    single = sum(n for who, n in curate["decided_by"].items() if who.startswith("single "))
    lightest = min(s["probability"] for s in sample["strata"])
    few = [
        f"{line['variable']} ({line['manual']})" for line in facts.measured if line["manual"] < _FEW
    ]
    sites = facts.primary.get("by_site")
    differing = [
        f"{name} (I² {found['i_squared']:.0%}, p {shown_p(found['p_value'] or 0)})"
        for name, found in (sites["heterogeneity"] if sites else {}).items()
        if found["q"] is not None
        and (found["i_squared"] or 0) > _I_SQUARED
        and (found["p_value"] or 0) < _P_VALUE
    ]
    low = facts.collect["agreement"]["low"]
    return [
        ("population", f"The figures speak of {facts.population['notes']:,} notes that met the "
         "conditions, and of notes like them; of other notes they say nothing."),
        ("sites", "" if sites else "One site: nothing is known of others."),
        ("sites", f"The sites differ in {' and '.join(differing)}: the pooled figure need not hold "
         "at a new site." if differing else ""),
        ("weights", f"A note stands for up to {1 / lightest:,.0f} notes: one error in it moves the "
         "weighted figures as much." if lightest < 0.2 else ""),
        ("reference", f"{single:,} of {curate['rows']:,} rows rest on one annotator alone."
         if single else ""),
        ("reference", f"Annotators agree little on {', '.join(low)}: a system cannot be measured "
         "better than its reference." if low else ""),
        ("precision of the figures", "" if facts.evaluate["width"]["met"]
         else "The planned width was not met."),
        ("precision of the figures", f"Few notes hold {', '.join(few)}: their recall is uncertain."
         if few else ""),
        ("missing data", f"{len(facts.collect['missing']):,} annotated notes never came back; they "
         "may differ from the others." if facts.collect["missing"] else ""),
    ]  # fmt: skip


#: The steps before this one.
_NEEDED = COMMANDS[:-1]


def report_study(
    study: Study, *, overwrite: bool = False, progress: Progress = silent
) -> StepResult[ReportSummary]:
    """Write ``report.html``, ``.md`` and its figures, and ``.docx``, from the records of all steps.

    Without the libraries in `NEEDED` there is no ``report.docx``.
    """
    facts = Facts.of(study)

    def work(place: Path) -> ReportSummary:
        chapters = (
            Chapter("The study at a glance", [flow_figure(facts)]),
            Chapter("Methods", methods_blocks(facts, progress=progress)),
            Chapter("Results", results_blocks(facts)),
            Chapter("Limitations", limitations_blocks(facts)),
            Chapter("STARD checklist", stard_blocks(facts)),
            Chapter("To repeat it", _repeat(study)),
        )
        report = Report(
            study.settings.name or "Study",
            chapters,
            study.settings.question,
            [*stale_warnings(study, "report"), *facts.warnings()],
        )
        texts = [("report.html", to_html(report)), ("report.md", to_markdown(report))]
        texts += figure_files(report)
        for name, text in texts:
            (place / name).write_text(text, encoding="utf-8", newline="")
        files = [name for name, _ in texts]
        if all(map(find_spec, NEEDED)):
            write_docx(place / "report.docx", report)
            files.insert(0, "report.docx")
        return {"files": files}

    return run_step(
        study,
        "report",
        work,
        inputs={step: study.output(step) for step in _NEEDED}
        | {"study": study.folder / STUDY_FILE},
        settings={},
        overwrite=overwrite,
    )


def _repeat(study: Study) -> list[TableBlock | Listing]:
    """Return commands, inputs by hash and the settings file."""
    steps, inputs = [], []
    for step in _NEEDED:
        record = study.done(step)
        if record is None:
            continue
        steps.append((f"rubricate study {step} FOLDER", STEP_FOLDERS[step],
                      record["version"], record["time"]))  # fmt: skip
        inputs += [(step, name, digest) for name, digest in record["inputs"].items()]
    text = (study.folder / STUDY_FILE).read_text(encoding="utf-8")
    return [
        TableBlock(
            f"The steps, in order (this page was written by rubricate {__version__}).",
            ["command", "writes", "version", "when"],
            steps,
        ),
        TableBlock(
            "What this page was made with.",
            ["program", "version"],
            [("Python", python_version()),
             *((name, version(name)) for name in ("rubricate", "numpy", "scipy", "polars"))],
        ),
        TableBlock("What each step read, by SHA-256.", ["step", "input", "sha256"], inputs),
        Listing(STUDY_FILE, text),
    ]  # fmt: skip
