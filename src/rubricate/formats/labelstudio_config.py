"""The labelling configuration that a Label Studio project needs for our labels."""

from __future__ import annotations

from collections.abc import Iterable
from xml.sax.saxutils import quoteattr

from rubricate.corpus import Corpus
from rubricate.formats.labelstudio_regions import FRAGMENT

#: The names of the two tags every configuration has.
LABEL_TAG, TEXT_TAG = "label", "text"
_COLORS = ("#1f77b4", "#ff7f0e", "#2ca02c", "#d62728", "#9467bd", "#8c564b", "#e377c2", "#17becf")


def labelling_config(corpus: Corpus, labels: Iterable[str]) -> str:
    """Return the configuration: the labels, the relation of fragments, choices for attributes.

    Examples
    --------
    >>> from rubricate import CorpusBuilder
    >>> print(labelling_config(CorpusBuilder().build(), ["1_Fever"]))
    <View>
      <Relations><Relation value="fragment"/></Relations>
      <Filter name="filter" toName="label" hotkey="shift+f" minlength="0"/>
      <Labels name="label" toName="text">
        <Label value="1_Fever" background="#1f77b4"/>
      </Labels>
      <Text name="text" value="$text" granularity="symbol"/>
    </View>
    <BLANKLINE>
    """
    lines = [
        "<View>",
        f'  <Relations><Relation value="{FRAGMENT}"/></Relations>',
        f'  <Filter name="filter" toName="{LABEL_TAG}" hotkey="shift+f" minlength="0"/>',
        f'  <Labels name="{LABEL_TAG}" toName="{TEXT_TAG}">',
    ]
    for i, label in enumerate(labels):
        color = _COLORS[i % len(_COLORS)]
        lines.append(f'    <Label value={_quoted(label)} background="{color}"/>')
    lines += [
        "  </Labels>",
        f'  <Text name="{TEXT_TAG}" value="$text" granularity="symbol"/>',
    ]
    for name, values in _attributes(corpus).items():
        lines.append(f'  <Choices name={_quoted(name)} toName="{TEXT_TAG}" perRegion="true">')
        lines += [f"    <Choice value={_quoted(value)}/>" for value in values]
        lines.append("  </Choices>")
    return "\n".join([*lines, "</View>"]) + "\n"


def _attributes(corpus: Corpus) -> dict[str, list[str]]:
    """Return the values of each attribute; Label Studio needs names that no other tag has."""
    found: dict[str, dict[str, None]] = {}
    for detail in corpus.rows.details.values():
        for name, value in detail.attributes:
            if name not in {LABEL_TAG, TEXT_TAG, "filter"}:
                found.setdefault(name, {})[value] = None
    return {name: list(values) for name, values in found.items()}


def _quoted(text: str) -> str:
    # Nobody reads the configuration back, so what XML cannot hold may go.
    return quoteattr("".join(c for c in text if c >= " "))
