"""What a study cannot show, as far as its own records tell."""

from __future__ import annotations

from rubricate.study.blocks import Block, Open, TableBlock, Value
from rubricate.study.methods import Facts

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
    lines = [line for line in facts.evaluate["variables"] if line["notes"]]
    few = [f"{line['variable']} ({line['manual']})" for line in lines if line["manual"] < _FEW]
    primary = next(line for line in lines if line["role"] == "primary")
    sites = primary.get("by_site")
    differing = [
        f"{name} (I² {found['i_squared']:.0%}, p {found['p_value']:.3f})"
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
