"""Requests as INCEpTION and Label Studio send them (see the fields in their sources)."""

import base64
from functools import partial

import cassis
import pytest
from workbench import Browsers, small_project

from rubricate.formats.cas.write import TOKEN
from rubricate.store.people import make_token
from rubricate.web.calls import Bench

LAYER, FEATURE = "webanno.custom.Finding", "label"
TEXT = "pain 😀 . fever ."


@pytest.fixture
def token(bench: Bench) -> str:
    small = small_project(bench.database)
    made = partial(make_token, person=small.who["manager"].person, name="tool",
                   scopes=["suggest"], days=1, project=small.project)  # fmt: skip
    return bench.database.write(made)[1]


def predict_request(**metadata) -> dict:
    """Return the output of ExternalRecommender.predict: Metadata, Document, typeSystem."""
    types = cassis.TypeSystem()
    types.create_type(TOKEN, "uima.tcas.Annotation")
    layer = types.create_type(LAYER, "uima.tcas.Annotation")
    for name, kind in ((FEATURE, "String"), (f"{FEATURE}_score", "Double"),
                       (f"{FEATURE}_score_explanation", "String"),
                       ("inception_internal_predicted", "Boolean")):  # fmt: skip
        types.create_feature(layer, name, f"uima.cas.{kind}")
    cas = cassis.Cas(typesystem=types)
    cas.sofa_string, cas.sofa_mime = TEXT, "text/plain"
    start = 0
    for word in TEXT.split(" "):
        cas.add(types.get_type(TOKEN)(begin=start, end=start + len(word)))
        start += len(word) + 1
    units = len(TEXT.encode("utf-16-le")) // 2
    return {
        "metadata": {"layer": LAYER, "feature": FEATURE, "projectId": 7,
                     "anchoringMode": "characters", "crossSentence": False,
                     "range": {"begin": 0, "end": units}, **metadata},
        "document": {"xmi": cas.to_xmi(), "documentId": 3, "userId": "admin"},
        "typeSystem": types.to_xml(),
    }  # fmt: skip


def found(answer, request: dict) -> list[tuple[str, str]]:
    assert answer.status_code == 200, answer.text
    types = cassis.load_typesystem(request["typeSystem"])
    cas = cassis.load_cas_from_xmi(answer.json()["document"], typesystem=types)
    assert cas.sofa_string == TEXT
    own = [one for one in cas.select(LAYER) if one.inception_internal_predicted]
    assert all(0 <= one[f"{FEATURE}_score"] <= 1 for one in own)
    return [(one.get_covered_text(), one[FEATURE]) for one in own]


def test_inception_gets_what_was_found(token: str, browsers: Browsers) -> None:
    client, request = browsers.of(None), predict_request()
    answer = client.post(f"/compat/inception/{token}/c/predict", json=request)
    assert ("fever", "f1_Fever") in found(answer, request)
    part = predict_request(range={"begin": 0, "end": 8}, anchoringMode="tokens")
    answer = client.post(f"/compat/inception/{token}/c/predict", json=part)
    assert found(answer, part) == []
    train = {"metadata": request["metadata"], "documents": [request["document"]],
             "typeSystem": request["typeSystem"]}  # fmt: skip
    assert client.post(f"/compat/inception/{token}/c/train", json=train).status_code == 204
    assert client.post("/compat/inception/no/c/predict", json=request).status_code == 401
    assert client.post(f"/compat/inception/{token}/other/predict", json=request).status_code == 404


def test_entities_are_not_read(token: str, browsers: Browsers) -> None:
    request = predict_request()
    request["typeSystem"] = '<!DOCTYPE a [<!ENTITY b SYSTEM "file:///etc/passwd">]><a>&b;</a>'
    answer = browsers.of(None).post(f"/compat/inception/{token}/c/predict", json=request)
    assert answer.status_code == 400


CONFIG = """<View><Labels name="label" toName="text"><Label value="Fever"/></Labels>
<Text name="text" value="$note"/></View>"""


def test_label_studio_gets_what_was_found(token: str, browsers: Browsers) -> None:
    basic = base64.b64encode(f"rubricate:{token}".encode()).decode()
    client = browsers.of(None)
    client.headers["authorization"] = f"Basic {basic}"
    url = "/compat/labelstudio/c"
    assert client.get(f"{url}/health").json()["status"] == "UP"
    setup = {"project": "1.1700000000", "schema": CONFIG, "hostname": "http://localhost:8080",
             "access_token": "secret", "extra_params": None}  # fmt: skip
    version = client.post(f"{url}/setup", json=setup).json()["model_version"]
    request = {"tasks": [{"id": 5, "data": {"note": TEXT}}], "model_version": version,
               "project": "1.1700000000", "label_config": CONFIG,
               "params": {"login": None, "password": None, "context": None}}  # fmt: skip
    result = client.post(f"{url}/predict", json=request).json()["results"]
    value = result[0]["result"][0]["value"]
    assert (value["start"], value["end"], value["text"], value["labels"]) == (
        9,
        14,
        "fever",
        ["Fever"],
    )
    event = {"action": "ANNOTATION_CREATED", "project": {"id": 1}}
    assert client.post(f"{url}/webhook", json=event).status_code == 201
    client.headers["authorization"] = "Basic xx"
    assert client.get(f"{url}/health").status_code == 401


def test_annotators_get_suggestions_only_where_the_project_shows_them(
    bench: Bench, browsers: Browsers
) -> None:
    small = small_project(bench.database)
    made = partial(make_token, person=small.who["ann"].person, name="tool", scopes=["suggest"],
                   days=1, project=small.project)  # fmt: skip
    secret = bench.database.write(made)[1]
    place, request = f"/compat/inception/{secret}/c/predict", predict_request()
    assert browsers.of(None).post(place, json=request).status_code == 403
    boss = browsers.of(small.who["manager"])
    boss.patch(f"/api/v1/projects/{small.project}", json={"suggestions": True})
    assert browsers.of(None).post(place, json=request).status_code == 200


@pytest.mark.parametrize(
    ("layer", "feature", "status"),
    [
        (LAYER, "begin", 200),
        (LAYER, "sofa", 200),
        ("uima.cas.TOP", FEATURE, 400),
        ("uima.cas.StringArray", FEATURE, 400),
        ("no.such.Layer", FEATURE, 400),
    ],
)
def test_layers_that_hold_no_labels_are_no_failure(
    layer: str, feature: str, status: int, token: str, browsers: Browsers
) -> None:
    request = predict_request(layer=layer, feature=feature)
    answer = browsers.of(None).post(f"/compat/inception/{token}/c/predict", json=request)
    assert answer.status_code == status
    if status == 200:
        types = cassis.load_typesystem(request["typeSystem"])
        cas = cassis.load_cas_from_xmi(answer.json()["document"], typesystem=types)
        assert [one.get_covered_text() for one in cas.select(LAYER)] == ["fever"]


def test_documents_without_text_are_refused(token: str, browsers: Browsers) -> None:
    request = predict_request()
    request["document"]["xmi"] = cassis.Cas().to_xmi()
    answer = browsers.of(None).post(f"/compat/inception/{token}/c/predict", json=request)
    assert answer.status_code == 400
