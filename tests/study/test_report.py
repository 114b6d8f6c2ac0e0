import json
from collections.abc import Callable

import docx
import pytest

from rubricate.errors import InputError
from rubricate.study.assignment import assign_study
from rubricate.study.collection import collect_study
from rubricate.study.decisions import curate_study
from rubricate.study.evaluation import evaluate_study
from rubricate.study.record import Study
from rubricate.study.report import report_study


def texts(study: Study) -> tuple[str, str]:
    report_study(study)
    return tuple(
        study.output("report", name).read_text(encoding="utf-8")
        for name in ("report.html", "report.md")
    )


def test_a_study_that_found_nothing_says_so(returned_study: Callable[..., Study]) -> None:
    study = returned_study("jsonl", smokers=0)
    agreement = collect_study(study).summary["agreement"]
    assert agreement["undefined"] == ["smoking"]
    curate_study(study)
    width = evaluate_study(study).summary["width"]
    assert width["recall"] is None
    assert not width["met"]
    for text in texts(study):
        assert "undefined" in text
        assert "nobody marked" in text
        assert "for every variable." not in text


def test_perfect_agreement_on_characters_has_an_interval(
    returned_study: Callable[..., Study],
) -> None:
    study = returned_study("jsonl")
    lines = collect_study(study).summary["agreement"]["variables"]
    weight = next(line for line in lines if line["variable"] == "weight")
    found = weight["characters_f1"]
    assert found["value"] == 1
    # All n notes that anybody marked agree: Clopper and Pearson's limit for n of n, through J.
    jaccard = 0.025 ** (1 / weight["both"])
    assert found["low"] == pytest.approx(2 * jaccard / (1 + jaccard))


def test_the_report_has_what_a_reviewer_asks_for(returned_study: Callable[..., Study]) -> None:
    study = returned_study("jsonl")
    place = study.folder / "study.toml"
    text = place.read_text(encoding="utf-8") + '[stard]\n"30" = "Nobody paid."\n'
    place.write_text(text.replace('{id = "bob"}', '{id = "bob", role = "nurse"}'), encoding="utf-8")
    study = Study.open(study.folder)
    assign_study(study, overwrite=True)
    collect_study(study)
    curate_study(study, allow_undecided=True)
    found = evaluate_study(study).summary["variables"][0]
    # three rows of notes that two annotated are undecided, and have no reference
    assert found["agreement"]["notes"] == found["notes"] + 3
    html, markdown = texts(study)
    for text in (html, markdown):
        for part in ("NPV", "specificity", "prevalence", "Cochran", "mean over sites", "pooled",
                     "Missing data", "Agreement of annotators in the population", "nurse", "Limitations", "STARD", "Nobody paid.", "OPEN"):  # fmt: skip
            assert part in text, part
    # The sites' tables add up, and the frequency of both sites is that of the population.
    for cell in ("notes", "tp", "fp", "fn", "tn"):
        assert sum(site[cell] for site in found["by_site"]["sites"]) == found[cell]
    assert (
        markdown.count("| 0.450 |") >= 3
    )  # 27 of 60 notes at each site, their mean, and 54 of 120
    document = docx.Document(str(study.output("report", "report.docx")))
    words = [cell.text for table in document.tables for cell in table._cells]
    assert "Nobody paid." in words
    assert sum(word.startswith("OPEN") for word in words) == markdown.count("**OPEN**")
    assert len(document.inline_shapes) == markdown.count("![")


def test_unknown_items_of_the_checklist_are_refused(make_study: Callable[..., Study]) -> None:
    study = make_study()
    place = study.folder / "study.toml"
    place.write_text(place.read_text(encoding="utf-8") + '[stard]\n"31" = "?"\n', encoding="utf-8")
    with pytest.raises(InputError, match=r"stard\.31"):
        Study.open(study.folder)


def test_long_steps_say_how_far_they_have_come(returned_study: Callable[..., Study]) -> None:
    study = returned_study("jsonl")
    seen: list[tuple[int, int | None, str]] = []

    def progress(done: int, total: int | None, label: str) -> None:
        seen.append((done, total, label))

    collect_study(study, progress=progress)
    curate_study(study, allow_undecided=True)
    evaluate_study(study, progress=progress)
    report_study(study, progress=progress)
    last = {label: (done, total) for done, total, label in seen}
    assert list(last) == [
        "reading batches", "agreement", "measuring variables", "drawing sample sizes"
    ]  # fmt: skip
    assert all(done == total for done, total in last.values())


def test_a_plan_recorded_by_an_earlier_version_is_still_read(
    returned_study: Callable[..., Study],
) -> None:
    study = returned_study("jsonl")
    place = study.output("plan", "record.json")
    record = json.loads(place.read_text(encoding="utf-8"))
    now = record["summary"]["frequency_estimate"]
    interval = {"low": now["low"], "high": now["high"], "confidence": 0.95, "method": "wilson"}
    record["summary"]["frequency_estimate"] = {"value": now["value"], "interval": interval}
    place.write_text(json.dumps(record), encoding="utf-8")
    assert study.need("plan")["frequency_estimate"] == now
