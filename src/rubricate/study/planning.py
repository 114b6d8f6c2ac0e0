"""Sample sizes for one or several variables, from options, files or a pilot, and their drawings."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, get_args

import numpy as np

from rubricate.corpus import Corpus
from rubricate.errors import (
    Fault,
    InputError,
    Setting,
    UnknownNameError,
    listed,
    one_of,
    raise_if_any,
)
from rubricate.evaluation.pairing import annotator_number
from rubricate.files import whole_output
from rubricate.formats.encoding import Json
from rubricate.formats.reading import read_toml
from rubricate.outputs import DRAWING, PAGE
from rubricate.progress import Progress, silent, watched
from rubricate.reports.page import Section, facts_table, figure, render_page
from rubricate.reports.plots import Guide, Labels, Line, Point, curve_plot
from rubricate.reports.plots.ink import drawing, element, label, wrap
from rubricate.rubric import Feature, folded
from rubricate.stats import (
    Estimate,
    Expected,
    Plan,
    PlanMethod,
    Target,
    VariablesPlan,
    estimate_frequency,
    plan_assurance,
    plan_curve,
    plan_reported,
    plan_slice,
    plan_variables,
    summarise_clusters,
)
from rubricate.stats.curves import Varied
from rubricate.stats.plans import design_faults
from rubricate.study.record import read_numbered

METHODS_OF_PLAN: tuple[PlanMethod, ...] = get_args(PlanMethod)
_NUMBERS = ("precision", "recall", "frequency")


@dataclass(frozen=True, slots=True)
class Design:
    """Design of a plan: method, sites, pool and clustering.

    >>> Design().method
    'assurance'
    """

    method: PlanMethod = "assurance"
    sites: int = 1
    pool: int | None = None
    design_effect: float = 1.0

    def __post_init__(self) -> None:
        raise_if_any(
            one_of("method", self.method, METHODS_OF_PLAN)
            + design_faults(self.sites, self.pool, self.design_effect)
        )


def make_plan(expected: Expected, target: Target, design: Design | None = None) -> Plan:
    """Plan the sample of one variable by any method.

    >>> plan = make_plan(Expected(0.85, 0.80, 0.48), Target(), Design("slice", sites=6))
    >>> plan.positives, plan.negatives, plan.per_site.total
    (249, 270, 87)
    """
    design = design or Design()
    if design.method != "slice":
        plan = plan_assurance if design.method == "assurance" else plan_reported
        return plan(
            expected,
            target,
            sites=design.sites,
            pool=design.pool,
            design_effect=design.design_effect,
        )
    faults = []
    if design.pool is not None:
        message = "pool: the method 'slice' does not support a finite pool. Use 'assurance'"
        faults.append(Fault(message))
    if design.design_effect != 1.0:
        message = "design-effect: the method 'slice' does not support it. Use 'assurance'"
        faults.append(Fault(message))
    if target.interval != "clopper-pearson":
        faults.append(Fault("interval: the method 'slice' has clopper-pearson only"))
    raise_if_any(faults)
    return plan_slice(
        expected, half_width=target.half_width, confidence=target.confidence, sites=design.sites
    )


def plan_several(
    variables: Mapping[str, Expected], target: Target, design: Design, *, total: int | None = None
) -> VariablesPlan:
    """Tell for each variable whether a sample is large enough; see `plan_variables`.

    >>> variables = {"asthma": Expected(0.85, 0.80, 0.48), "obesity": Expected(0.9, 0.85, 0.10)}
    >>> plan_several(variables, Target(), Design(), total=600).underpowered
    ('obesity',)
    """
    if design.method != "assurance":
        raise InputError("variables: several at once need the method 'assurance'")
    return plan_variables(
        variables, target, total=total, pool=design.pool, design_effect=design.design_effect
    )


def read_variables(path: str | Path) -> dict[str, Expected]:
    r"""Read expected values of several variables from a CSV or TOML file.

    CSV: columns name, precision, recall, frequency and, if need be, frequency_kind. TOML: one
    table per variable with the same keys.

    >>> import tempfile
    >>> place = Path(tempfile.mkdtemp()) / "variables.csv"
    >>> _ = place.write_text("name,precision,recall,frequency\nasthma,.85,.8,.48\n")
    >>> read_variables(place)["asthma"].frequency
    0.48
    """
    place = Path(path)
    lines: Iterable[tuple[int, Mapping[str, Any]]]
    if place.suffix == ".toml":
        lines, unit = enumerate(_toml_lines(place), start=1), "table"
    else:
        lines, unit = read_numbered(place, ["name", *_NUMBERS]), "row"
    faults: list[Fault] = []
    found: dict[str, Expected] = {}
    for number, line in lines:
        try:
            name, expected = _expected(line)
            if name in found:
                raise InputError(f"variable {name!r} is there twice")
            found[name] = expected
        except InputError as error:
            faults += [Fault(f.message, place, number, unit) for f in error.faults]
    if not found and not faults:
        faults.append(Fault("the file has no variables", place))
    raise_if_any(faults)
    return found


def _toml_lines(path: Path) -> list[Json]:
    tables = read_toml(path)
    wrong = [name for name, value in tables.items() if not isinstance(value, dict)]
    if wrong:
        raise InputError([Fault(f"{name!r} must be a table [{name}]", path) for name in wrong])
    return [{"name": name, **value} for name, value in tables.items()]


def _expected(line: Mapping[str, Any]) -> tuple[str, Expected]:
    """Turn one line into a name and expected values; raises with all faults of the line."""
    known = {"name", *(field.name for field in fields(Expected))}
    faults = [
        Fault(f"unknown column {column!r}; allowed: {', '.join(sorted(known))}")
        for column in line
        if column not in known
    ]
    name = str(line.get("name") or "").strip()
    if not name:
        faults.append(Fault("name is missing"))
    numbers: dict[str, float] = {}
    for column in _NUMBERS:
        value = line.get(column)
        try:
            numbers[column] = float(str(value).strip())
        except ValueError:
            faults.append(Fault(f"{column} is {value!r}: it must be a number between 0 and 1"))
    raise_if_any(faults)
    kind = str(line.get("frequency_kind") or "internal").strip()
    return name, Expected(**numbers, frequency_kind=kind)  # type: ignore[arg-type]


def present_notes(
    corpus: Corpus, feature_ids: list[str], annotator: str | None = None
) -> tuple[list[str], list[str]]:
    """Return the notes in which any of the features was judged, and those where one is present.

    >>> from rubricate import load_corpus
    >>> judged, present = present_notes(load_corpus("open-notes"), ["12"], "reference")
    >>> len(judged), len(present)
    (100, 83)
    """
    number = annotator_number(corpus, annotator)
    wanted = np.zeros(len(corpus.features), dtype=bool)
    for feature_id in feature_ids:
        if feature_id not in corpus.feature_index:
            raise UnknownNameError("feature", feature_id, list(corpus.feature_index)[:20])
        wanted[corpus.feature_index[feature_id]] = True
    rows = corpus.rows
    own = wanted[rows.feature] & (rows.annotator == number)
    present = own & (np.diff(rows.first_annotation) > 0)
    judged_ids = [corpus.notes[int(i)].id for i in np.unique(rows.note[own])]
    present_ids = [corpus.notes[int(i)].id for i in np.unique(rows.note[present])]
    return judged_ids, present_ids


def find_features(corpus: Corpus, name: str) -> list[str]:
    """Return the ids of the features a name means: an id, or the text of a rubric.

    The text must be the whole one, in capitals or not; features of several cases that have the
    same text are one variable. A text that is only part of others is refused with the list of
    them: "Asthma" must not take "Extrinsic asthma" with it.

    >>> from rubricate import load_corpus
    >>> corpus = load_corpus("open-notes").select(cases=["0", "5"])
    >>> text = corpus.features[3].text
    >>> find_features(corpus, text.upper()), find_features(corpus, "7")
    (['3'], ['7'])
    """
    if name in corpus.feature_index:
        return [name]
    wanted = folded(name)
    found = [f for f in corpus.features if folded(f.text) == wanted]
    if len({f.case for f in found}) < len(found):
        raise InputError(
            f"variable {name!r} is the text of several features of one case: "
            f"{_listed(found)}. Name them by id"
        )
    if found:
        return [f.id for f in found]
    near = [f for f in corpus.features if wanted and wanted in folded(f.text)]
    if not near:
        raise InputError(f"variable {name!r}: no feature has this id or this text")
    raise InputError(
        f"variable {name!r} is not the whole text of a feature, but part of: {_listed(near)}. "
        "Give the whole text of one, or their ids"
    )


def _listed(features: Sequence[Feature]) -> str:
    return listed((f"{f.id} ({f.text!r})" for f in features), 20)


def frequency_from(corpus: Corpus, variable: str, annotator: str | None = None) -> Estimate:
    """Estimate the share of notes in which a variable is present.

    >>> from rubricate import load_corpus
    >>> found = frequency_from(load_corpus("open-notes"), "12", "reference")
    >>> found.value, round(found.low, 2), round(found.high, 2)
    (0.83, 0.74, 0.89)
    """
    judged, present = present_notes(corpus, find_features(corpus, variable), annotator)
    if not judged:
        raise InputError(f"variable {variable!r}: nobody judged it in any note of the corpus")
    return estimate_frequency(len(present), len(judged))


def design_effect_from(path: str | Path) -> float:
    r"""Estimate the design effect of clustering from a pilot.

    The file is a CSV with one line per cluster (a patient, a note, a rater) and the columns
    ``successes`` and ``trials``: of so many detections, so many were right. See
    `rubricate.stats.summarise_clusters`.

    >>> import tempfile
    >>> place = Path(tempfile.mkdtemp()) / "pilot.csv"
    >>> _ = place.write_text("successes,trials\n" + "3,3\n0,3\n" * 3)
    >>> round(design_effect_from(place), 1)
    3.6
    """
    place = Path(path)
    counts: list[tuple[int, int]] = []
    faults: list[Fault] = []
    for number, line in read_numbered(place, ["successes", "trials"]):
        try:
            right, total = int(line["successes"]), int(line["trials"])
            if not 0 <= right <= total:
                raise ValueError
            counts.append((right, total))
        except ValueError:
            what = "needs whole numbers successes and trials, 0 <= successes <= trials"
            faults.append(Fault(what, place, number, "row"))
    if not counts and not faults:
        faults.append(Fault("the file has no clusters", place))
    raise_if_any(faults)
    return summarise_clusters(*zip(*counts, strict=True)).design_effect


#: Sizes beyond this multiple of the plan are not drawn: they would flatten all the rest.
_MOST = 6
_BOX, _GAP = 176.0, 22.0


def plan_plot(plan: Plan, *, progress: Progress = silent) -> str:
    """Draw the sample size against expected precision, recall and frequency.

    >>> from rubricate.stats import Expected, plan_slice
    >>> svg = plan_plot(plan_slice(Expected(0.85, 0.80, 0.48)))
    >>> all(name in svg for name in ("precision", "recall", "frequency", "519"))
    True
    """
    lines = []
    varied: tuple[Varied, ...] = ("precision", "recall", "frequency")
    for vary in watched(varied, progress, "drawing sample sizes", len(varied)):
        curve = plan_curve(plan.expected, plan.target, vary=vary, method=plan.method)
        kept = {value: total for value, total in curve.items() if total <= _MOST * plan.total}
        points = tuple(Point(float(total)) for total in kept.values())
        lines.append(Line(f"expected {vary}", tuple(kept), points))
    return curve_plot(
        lines,
        Labels("Sample size", "expected value", "notes to annotate", _words(plan)),
        guides=[Guide(float(plan.total), f"planned: {plan.total:,}")],
    )


def _words(plan: Plan) -> str:
    expected = plan.expected
    words = (
        f"Notes needed when one expected value changes and the others stay at precision "
        f"{expected.precision:g}, recall {expected.recall:g}, frequency {expected.frequency:.3g}; "
        f"the plan asks for {plan.total:,}."
    )
    return words if plan.pool is None else f"{words} The curves are for an endless pool."


def write_plan_plot(
    plan: Plan, path: str | Path, *, overwrite: bool = False, progress: Progress = silent
) -> None:
    """Write the plot of a plan as ``.svg`` or ``.html``."""
    target = Path(path)
    if target.suffix not in {".svg", ".html"}:
        raise InputError("the name must end in .svg or .html", setting=Setting("plot", target))
    svg = plan_plot(plan, progress=progress)
    title = f"Sample size: {plan.total:,} notes"
    facts = {
        "positives": f"{plan.positives:,}",
        "negatives": f"{plan.negatives:,}",
        "each site": f"{plan.per_site.positives} + {plan.per_site.negatives}",
        "method": plan.method,
    }
    body = figure(svg, _words(plan)) + facts_table(facts)
    page = render_page(title, [Section("size", "Notes to annotate", body)], warnings=plan.warnings)
    kind = DRAWING if target.suffix == ".svg" else PAGE
    with whole_output(target, overwrite=overwrite, kind=kind) as place:
        place.write_text(svg if target.suffix == ".svg" else page, encoding="utf-8")


def flow_plot(phases: Sequence[tuple[str, Sequence[str]]]) -> str:
    """Draw the phases as boxes from left to right, each with its facts.

    >>> flow_plot([("Population", ["200 notes"]), ("Sample", ["50 notes"])]).count("<rect")
    4
    """
    parts = []
    wrapped = [
        [line for fact in facts for line in wrap(fact, _BOX - 20, 12)] for _, facts in phases
    ]
    most = max((len(lines) for lines in wrapped), default=0)
    height = 58 + 17 * most
    for i, ((title, _), lines) in enumerate(zip(phases, wrapped, strict=True)):
        x = 4 + i * (_BOX + _GAP)
        parts.append(
            element("rect", x=x, y=4, width=_BOX, height=height, rx=6, fill="none",
                    stroke="#0072B2", stroke_width=1.5, class_="k0")
        )  # fmt: skip
        parts.append(
            element("rect", x=x, y=4, width=_BOX, height=36, rx=6, fill="#0072B2",
                    fill_opacity=0.12, class_="f0")
        )  # fmt: skip
        heading = f"{i + 1}  {title}"
        parts.append(label(x + _BOX / 2, 27, heading, anchor="middle", size=13, bold=True))
        parts += [label(x + 10, 61 + 17 * k, line, size=12) for k, line in enumerate(lines)]
        if i + 1 < len(phases):
            middle, left = 4 + height / 2, x + _BOX + 3
            tip = f"M{left} {middle}h{_GAP - 11}m0 -5l6 5l-6 5z"
            parts.append(
                element("path", d=tip, stroke="#0072B2", fill="#0072B2", stroke_width=1.5,
                        class_="k0 f0")
            )  # fmt: skip
    words = "; ".join(f"{title}: {', '.join(facts)}" for title, facts in phases)
    width = 8 + len(phases) * (_BOX + _GAP) - _GAP
    labels = Labels("The five phases", description=words)
    return drawing(width, height + 8, "".join(parts), labels)
