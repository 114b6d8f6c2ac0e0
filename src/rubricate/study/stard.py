"""The STARD 2015 checklist of a study: filled where the program knows, open where it cannot."""

from __future__ import annotations

from rubricate.study.blocks import Block, Open, Paragraph, TableBlock, Value
from rubricate.study.methods import Facts
from rubricate.study.settings import STARD


def _known(facts: Facts) -> dict[str, str]:
    """Return what the records of the steps say of each item."""
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
        "12b": "A variable is present in a note where any of its features is marked (Methods, "
        "phase 1); fixed by study.toml.",
        "13b": "No: they worked blind (Methods, phase 3).",
        "14": "Methods, phase 5.",
        "15": f"{facts.curate['undecided']:,} rows were left undecided and are left out "
        "(Results, missing data).",
        "16": "Results, missing data: left out, not imputed.",
        "17": "Results by site: Cochran's Q and I² (Table 6)." if len(sites) > 1
        else "One site: variability between sites cannot be analysed.",
        "18": f"Methods, phase 2: {facts.plan['total']:,} notes, method {facts.plan['method']}.",
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


#: What a person must add where the program knows nothing, or only a part.
_ASKED = {
    "8": "name the sites and the period under [population.questions]",
    "10a": "name, version and settings of the system",
    "20": "text lengths are in Methods, phase 1; say whose notes they are",
}


def stard_blocks(facts: Facts) -> list[Block]:
    """Return the checklist; texts under ``[stard]`` in ``study.toml`` fill what is open."""
    known, written = _known(facts), facts.settings.stard
    lines: list[tuple[Value, ...]] = []
    for item, asked in STARD.items():
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
