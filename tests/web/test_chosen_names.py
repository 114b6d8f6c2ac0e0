"""Ids, names and paths that people choose, however odd: they work, or are refused with a reason."""

from urllib.parse import quote

import pytest
from workbench import Browsers, Small, small_project

from rubricate.web.calls import Bench

ODD = ("a/b", "../x", "a?b#c", "a\nb", "__proto__", "constructor", "<b>", "=1+1", "a b",
       "'\";--", "😀", "\u202eabc")  # fmt: skip


@pytest.fixture
def small(bench: Bench) -> Small:
    return small_project(bench.database)


def test_odd_ids_of_cases_features_and_notes_can_be_asked_for(
    bench: Bench, browsers: Browsers, small: Small
) -> None:
    place = f"/api/v1/projects/{small.project}"
    boss, ann = browsers.of(small.who["manager"]), browsers.of(small.who["ann"])
    rubric = {"case": "x/<y>", "features": [{"id": one, "text": "Fever"} for one in ODD]}
    assert boss.post(f"{place}/rubrics", json={"rubrics": [rubric]}).status_code == 200
    notes = [{"id": one, "case": "x/<y>", "text": "no fever"} for one in ODD]
    assert boss.post(f"{place}/notes", json={"notes": notes}).status_code == 200
    given = {"annotators": [small.who["ann"].name], "double_share": 0}
    assert boss.post(f"{place}/assignments", json=given).status_code == 200
    queue = ann.get(f"{place}/queue").json()["assignments"]
    works = (ann.get(f"/api/v1/assignments/{one['id']}").json() for one in queue[::-1])
    work = next(one for one in works if one["rubric"]["features"][0]["id"] in ODD)
    for one in ODD:
        judged = ann.put(
            f"/api/v1/assignments/{work['id']}/features/{quote(one, safe='')}",
            json={"answer": "absent", "marks": [], "version": 0, "sha256": work["note"]["sha256"]},
        )
        assert judged.status_code == 200, one
    for one in ODD:
        gone = boss.delete(f"{place}/notes/{quote(one, safe='')}")
        # One of them is judged by now, and stays.
        assert gone.status_code in (204, 409), one
    studio = browsers.of(None).get(f"/compat/labelstudio/{quote('x/<y>', safe='')}/health")
    assert studio.status_code == 401


@pytest.mark.parametrize("own", [".", ".."])
def test_ids_that_browsers_drop_from_an_address_are_refused(
    own: str, bench: Bench, browsers: Browsers, small: Small
) -> None:
    rubric = {"case": "d", "features": [{"id": own, "text": "Fever"}]}
    answer = browsers.of(small.who["manager"]).post(
        f"/api/v1/projects/{small.project}/rubrics", json={"rubrics": [rubric]}
    )
    assert answer.status_code == 400


@pytest.mark.parametrize("name", ["a\r\nb", "a\u202eb", "\u200b"])
def test_names_of_projects_can_be_printed(
    name: str, bench: Bench, browsers: Browsers, small: Small
) -> None:
    boss = browsers.of(small.who["manager"])
    assert boss.post("/api/v1/projects", json={"name": name}).status_code == 400
    changed = boss.patch(f"/api/v1/projects/{small.project}", json={"name": name})
    assert changed.status_code == 400


@pytest.mark.parametrize("folder", ["a\0b", "x" * 5000, "../..", "/etc", ""])
def test_paths_that_no_file_can_have_are_refused(
    folder: str, bench: Bench, browsers: Browsers, small: Small
) -> None:
    boss = browsers.of(small.who["manager"])
    place = f"/api/v1/projects/{small.project}/runs"
    answer = boss.post(place, json={"folder": folder, "notes": "open-notes"})
    assert answer.status_code == 400
    page = boss.post("/projects/new", data={"name": "new", "study": folder or "../.."})
    assert page.status_code == 200 and 'role="alert"' in page.text
