from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from rubricate import Corpus, CorpusBuilder, Feature, Note, Rubric, load_corpus
from rubricate.errors import InputError
from rubricate.matchers import fit_matcher, load_matcher
from rubricate.matchers.lexicon.finding import CaseFinder
from rubricate.matchers.lexicon.matcher import LexiconMatcher, votes_from_rubric
from rubricate.matchers.predictions import decide
from rubricate.matchers.wording.case_model import WordSettings


def found_in(text: str, *features: str, matcher: str = "lexicon") -> list[list[list[str]]]:
    """Return, for each feature text, the fragments found without any annotated note."""
    builder = CorpusBuilder()
    for i, feature in enumerate(features):
        builder.add_feature(Feature(str(i), "c", feature))
    builder.add_note(Note("n", "c", text))
    corpus = builder.build()
    found = fit_matcher(matcher, Corpus((), corpus.rubrics)).predict(corpus)
    return [
        [
            [span.text(text) for span in one.spans]
            for one in found.annotations("n", str(i), matcher) or ()
        ]
        for i in range(len(features))
    ]


def test_a_shared_negation_is_kept_as_a_fragment() -> None:
    [no_chills, no_fever] = found_in("Denies fever, chills.", "No chills", "No fever")
    assert no_chills == [["Denies", "chills"]]
    assert no_fever == [["Denies fever"]]


def test_the_other_items_of_a_denied_list_are_left_out() -> None:
    [found] = found_in("Patient denies vertigo, hoarseness or wheeze.", "No hoarseness")
    assert found == [["denies", "hoarseness"]]


def test_what_is_denied_is_not_found_for_a_positive_feature() -> None:
    assert found_in("58M with cough. Denies fever, chills.", "Fever") == [[]]
    assert found_in("58M with fever. No cough.", "No fever") == [[]]


def test_a_wrong_number_is_not_found() -> None:
    text = "Chest pain for 2 wks. No fever."
    assert found_in(text, "Symptoms for 3 weeks") == [[]]


@pytest.mark.parametrize("said", ["3 wks", "three weeks", "21 d", "21 days"])
def test_numbers_mean_the_same_in_any_unit(said: str) -> None:
    [found] = found_in(f"Has had chest pain for {said} now.", "Symptoms for 3 weeks")
    assert found and said in " ".join(found[0])


@pytest.mark.parametrize(
    ("text", "gender", "said"),
    [
        ("Limps since the match; he plays hockey", "Male", "he"),
        ("Tailor, 61. Her knees creak, and she cannot kneel", "Female", "she"),
        ("Mr. Osei is a baker. His wrist is stiff", "Male", "Mr"),
        ("Mrs. Pohl, a lady of 80, came about her feet", "Female", "lady"),
        ("Stiffness of her neck since June", "Female", "her"),
        ("51 yo ♀, baker, wrist stiff", "Female", "♀"),
        ("Baker with a stiff wrist. She's well otherwise", "Female", "She's"),
        ("51yo femlae baker", "Female", "femlae"),
    ],
)
def test_gender_is_taken_from_the_plainest_word(text: str, gender: str, said: str) -> None:
    assert found_in(text, gender) == [[[said]]]


@pytest.mark.parametrize(
    "text", ["Age/sex: 15/F. Wrist stiff", "Age of pt 15, F", "15 (16 in May) year old girl"]
)
def test_a_number_at_the_beginning_may_be_the_age(text: str) -> None:
    assert found_in(text, "15 year", "31 year") == [[["15"]], []]


def test_age_and_gender_are_marked_once() -> None:
    text = "58 yo M here. 58 yo man says he is fine, father 58."
    [age, gender, other_age, other] = found_in(text, "58 year", "Male", "57 year", "Female")
    assert age == [["58 yo"]]
    assert gender == [["M"]]
    assert other_age == [] and other == []


def test_relatives_are_told_from_the_patient() -> None:
    text = "PMH: none. FHx: father had a heart attack."
    [family, own] = found_in(text, "Family history of heart attack", "Hypertension")
    assert family and "heart attack" in family[0][0]
    assert own == []


def test_synonyms_and_shorthand_are_found_without_notes() -> None:
    [breath, pressure] = found_in("c/o SOB, PMH HTN", "Shortness of breath", "Hypertension")
    assert breath == [["SOB"]]
    assert pressure == [["HTN"]]


def test_reasons_say_stage_words_and_rule(small: Corpus) -> None:
    builder = CorpusBuilder()
    builder.add_feature(Feature("1", "c", "No chills"))
    builder.add_note(Note("n", "c", "Denies fever, chills."))
    corpus = builder.build()
    found = fit_matcher("lexicon", Corpus((), corpus.rubrics)).predict(corpus)
    [one] = found.annotations("n", "1", "lexicon") or ()
    assert one.detail.reason.startswith("rubric:")
    assert '"chills"' in one.detail.reason
    assert 'denied by "denies"' in one.detail.reason


@pytest.fixture(scope="module")
def deep() -> Corpus:
    corpus = load_corpus("open-notes").select(cases=["0"], annotators=["reference"])
    return corpus.select(notes=lambda note: note.metadata["split"] == "train")


def char_f1(reference: Corpus, predicted: Corpus) -> float:
    def characters(corpus: Corpus) -> set[tuple[int, int, int]]:
        rows = corpus.rows
        owner = rows.span_row
        return {
            (int(rows.note[r]), int(rows.feature[r]), c)
            for r, a, b in zip(owner, rows.start, rows.end, strict=True)
            for c in range(a, b)
        }

    a, b = characters(reference), characters(predicted)
    return 2 * len(a & b) / (len(a) + len(b))


def test_looser_matchers_find_more_and_lexicon_most(deep: Corpus) -> None:
    ids = [note.id for note in deep.notes]
    learn, rest = deep.select(notes=ids[:12]), deep.select(notes=ids[12:42])
    f1 = {
        name: char_f1(rest, fit_matcher(name, learn).predict(rest))
        for name in ("exact", "fuzzy", "synonyms", "lexicon")
    }
    assert f1["exact"] < f1["fuzzy"] <= f1["synonyms"] < f1["lexicon"]
    assert f1["lexicon"] > f1["fuzzy"] + 0.15


def test_probabilities_tell_present_from_absent(deep: Corpus) -> None:
    ids = [note.id for note in deep.notes]
    rest = deep.select(notes=ids[12:])
    found = fit_matcher("lexicon", deep.select(notes=ids[:12])).predict(rest)
    assert found.rows.probability is not None
    present = np.diff(rest.rows.first_annotation) > 0
    p = found.rows.probability
    assert ((p >= 0) & (p <= 1)).all()
    assert p[present].mean() > p[~present].mean() + 0.3


def test_fitting_is_deterministic(deep: Corpus) -> None:
    part = deep.select(notes=[note.id for note in deep.notes[:6]])
    one, two = (fit_matcher("lexicon", part).predict(part) for _ in range(2))
    assert one == two


def add_line(folder: Path, **line: object) -> None:
    with (folder / "lexicon.jsonl").open("a", encoding="utf-8") as stream:
        stream.write(json.dumps(line) + "\n")


def test_a_phrase_added_by_hand_is_found(small: Corpus, tmp_path: Path) -> None:
    fit_matcher("lexicon", small).save(tmp_path / "m")
    add_line(tmp_path / "m", feature="cp", fragments=["Elephant sitting there"])
    builder = CorpusBuilder()
    builder.add_rubric(small.rubrics[0])
    builder.add_note(Note("n", "c", "Feels like an elephant sitting there."))
    found = load_matcher(tmp_path / "m").predict(builder.build())
    [one] = found.annotations("n", "cp", "lexicon") or ()
    assert one.text("Feels like an elephant sitting there.") == "elephant sitting there"
    assert one.detail.reason.startswith('exact: "elephant sitting there"')


def test_a_phrase_dropped_by_hand_is_not_marked(small: Corpus, tmp_path: Path) -> None:
    matcher = fit_matcher("lexicon", small)
    matcher.save(tmp_path / "m")
    path = tmp_path / "m" / "lexicon.jsonl"
    lines = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    for line in lines:
        line["kept"] = line["fragments"] != ["chest pain"]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    assert matcher.predict(small).annotations("2", "cp", "lexicon")
    assert load_matcher(tmp_path / "m").predict(small).annotations("2", "cp", "lexicon") == ()


def test_every_wrong_line_is_named(small: Corpus, tmp_path: Path) -> None:
    fit_matcher("lexicon", small).save(tmp_path / "m")
    add_line(tmp_path / "m", feature="nobody", fragments=["x"])
    add_line(tmp_path / "m", fragments=["secret"])
    add_line(tmp_path / "m", feature="cp", fragments=[" "])
    with pytest.raises(InputError) as caught:
        load_matcher(tmp_path / "m")
    assert len(caught.value.faults) == 3
    assert "secret" not in str(caught.value)


def test_other_files_may_not_be_altered(small: Corpus, tmp_path: Path) -> None:
    fit_matcher("lexicon", small).save(tmp_path / "m")
    path = tmp_path / "m" / "cases.json"
    path.write_text(path.read_text("utf-8") + " ", "utf-8")
    with pytest.raises(InputError, match="altered"):
        load_matcher(tmp_path / "m")


def test_harmful_phrases_are_dropped(build: Callable[..., Corpus]) -> None:
    notes = [(str(i), "cold hands, cold feet", {"f": [[(0, 10)]]}) for i in range(3)]
    notes.append(("x", "cold", {"f": [[(0, 4)]]}))
    model = LexiconMatcher().fit(build(notes, {"f": "Cold hands"})).model_
    kept = {phrase.text: phrase.kept for phrase in model.phrases}
    assert kept == {"cold hands": True, "cold": False} or kept["cold hands"]


def test_shared_must_be_known(small: Corpus) -> None:
    with pytest.raises(InputError, match="learn"):
        LexiconMatcher(shared="other").fit(small)


def test_features_not_judged_are_not_learned_from(build: Callable[..., Corpus]) -> None:
    corpus = build([("1", "zyx", {"f": [[(0, 3)]]})], {"f": "Alpha", "g": "Beta"})
    builder = CorpusBuilder()
    builder.add_rubric(corpus.rubrics[0])
    for i in range(6):
        builder.add_note(Note(str(i), "c", "zyx plus more"))
        builder.judge("ann", str(i), "f")
        if i % 2:
            builder.annotate("ann", str(i), "g", [(0, 3)])
    found = fit_matcher("lexicon", builder.build()).predict(builder.build())
    assert len(found.rows) == 12


def test_the_past_is_told_in_the_reason() -> None:
    builder = CorpusBuilder()
    builder.add_feature(Feature("a", "c", "Asthma"))
    builder.add_note(Note("n", "c", "Patient has h/o asthma. No fever."))
    builder.add_note(Note("m", "c", "Has asthma."))
    corpus = builder.build()
    found = fit_matcher("lexicon", corpus.select(notes=[])).predict(corpus)
    reasons = [a.detail.reason for a in found.annotations("n", "a", "lexicon") or ()]
    assert reasons
    assert all("past" in reason for reason in reasons)
    now = [a.detail.reason for a in found.annotations("m", "a", "lexicon") or ()]
    assert now
    assert not any("past" in reason for reason in now)


@pytest.mark.parametrize(
    ("text", "feature"),
    [
        ("Denies chest pain, headache.", "Chest pain"),
        ("No chest pain.", "Chest pain"),
        ("She has not had any chest pain or nausea.", "Nausea"),
        ("Mother has chest pain", "Chest pain"),
        ("FH: headache, nausea in sister", "Headache"),
    ],
)
def test_what_is_denied_or_a_relative_s_is_not_the_patient_s(text: str, feature: str) -> None:
    assert found_in(text, feature) == [[]]


@pytest.mark.parametrize(
    ("feature", "stated", "contradicted_by"),
    [
        ("RLQ pain", "Pain in RLQ since last night.", "Pain in LLQ since last night."),
        ("No fever", "No cough. Denies fever.", "Has fever. No cough."),
        ("Father had a heart attack", "Father had heart attack.", "Mother had heart attack."),
        ("Takes metformin", "Takes metformin 500 BID.", "Metformin was advised, she declined."),
        ("Current smoker", "Smokes 10 cigarettes a day.", "Used to smoke, quit 2004."),
        ("Cough for 3 weeks", "Cough for three weeks.", "Cough for three days."),
        ("Sudden onset of headache", "Sudden onset headache.", "Gradual onset headache."),
        ("Sleeps on three pillows", "Sleeps on 3 pillows.", "Sleeps on 1 pillow."),
    ],
)
def test_what_states_a_feature_is_credited_and_its_twin_is_not(
    feature: str, stated: str, contradicted_by: str
) -> None:
    assert found_in(stated, feature) != [[]]
    assert found_in(contradicted_by, feature) == [[]]


@pytest.mark.parametrize(
    ("text", "feature"),
    [
        ("35 yo with chest pain, no fever", "Chest pain"),
        ("Afebrile. No cough", "Afebrile"),
        ("No period in 7 weeks", "Last menstrual period 7 weeks ago"),
        ("Mother has hypertension", "Family history of hypertension"),
        ("Lives with mother. Chest pain today", "Chest pain"),
    ],
)
def test_denials_and_relatives_beside_it_take_nothing_away(text: str, feature: str) -> None:
    assert found_in(text, feature) != [[]]


def contradicted(text: str, *features: str) -> list[tuple[str, str] | None]:
    """Return, for each feature text, the words that contradict it and the rule."""
    rubric = Rubric("c", tuple(Feature(str(i), "c", text) for i, text in enumerate(features)))
    matcher = LexiconMatcher().fit(Corpus((), (rubric,)))
    [proposed] = CaseFinder(rubric, matcher.model_, WordSettings()).propose([text])
    items = decide(rubric, text, proposed).values()
    return [
        None
        if one.against is None or one.evidence
        else (" ".join(text[a:b] for a, b in one.against.spans), one.decided_by)
        for one in items
    ]


@pytest.mark.parametrize(
    ("text", "feature", "words", "rule"),
    [
        ("58M with cough. Denies fever, chills.", "Fever", "fever", "polarity.denied"),
        ("Pain in the left knee since May.", "Right knee pain", "left knee", "side.other"),
        ("Cough for 3 months, no fever.", "Cough for 2 weeks", "3 months", "value.number"),
        ("Mother has asthma. Pt well.", "Asthma", "asthma", "person.other"),
        ("58 yo M with cough.", "Female", "M", "identity.other"),
        ("58 yo M with cough.", "47 years old", "58 yo", "identity.other"),
    ],
)
def test_what_says_otherwise_is_a_contradiction_with_its_words(
    text: str, feature: str, words: str, rule: str
) -> None:
    [found] = contradicted(text, feature)
    assert found is not None
    assert words in found[0]
    assert found[1] == rule


@pytest.mark.parametrize(
    "feature", ["Chest pain", "Abdominal pain", "Shortness of breath", "Fever"]
)
def test_a_plain_denial_is_a_contradiction(feature: str) -> None:
    [found] = contradicted(f"Cough, no {feature.lower()}.", feature)
    assert found is not None and found[1] == "polarity.denied"


def test_what_is_also_stated_is_not_contradicted() -> None:
    text = "Denies fever on Monday. Today he has a fever."
    assert contradicted(text, "Fever") == [None]
    assert contradicted("Nothing of the matter.", "Fever", "Male") == [None, None]


def test_a_contradicted_feature_is_unlikely() -> None:
    own = Rubric("c", (Feature("0", "c", "Fever"),))
    matcher = LexiconMatcher().fit(Corpus((), (own,)))
    [proposed] = CaseFinder(own, matcher.model_, WordSettings()).propose(["Denies fever."])
    assert (proposed.items["0"].presence or 0.0) <= 0.1


@pytest.mark.parametrize(
    ("feature", "text", "said"),
    [
        ("Nonradiating flank pain", "Left flank pain, dull and nonradiating.", "flank pain"),
        ("Swelling or redness of the calf", "Her calf is swollen since Tuesday.", "swollen"),
        ("Removal of the spleen", "Past history: splenectomy after a fall.", "splenectomy"),
        ("Fatigue", "Says that she is exausted all day.", "exausted"),
        ("Nonsmoker", "Baker, nonsmoker, two children.", "nonsmoker"),
        ("No fever", "Seen at home. Afebrile, eating.", "Afebrile"),
        ("Afebrile", "Eating well, no fever.", "no fever"),
        ("Painless", "Lump of the wrist, denies pain.", "denies pain"),
        ("No weight change", "Weight unchanged, eating.", "unchanged"),
        ("No palpitations", "Syncope -, palpitations -, cough +.", "palpitations -"),
    ],
)
def test_reads_rubrics_in_other_words(feature: str, text: str, said: str) -> None:
    [found] = found_in(text, feature)
    assert any(said in fragment for one in found for fragment in one)


@pytest.mark.parametrize("texts", [("*",), ("*", "Fever"), ("\N{THERMOMETER}", "?")])
def test_features_without_a_word_are_not_found(texts: tuple[str, ...]) -> None:
    rubric = Rubric("c", tuple(Feature(str(k), "c", text) for k, text in enumerate(texts)))
    for found in votes_from_rubric(rubric, ["He has a fever.", ""]):
        assert {key for key, one in found.items() if one.evidence} <= {"1"}
        assert all((found[f.id].probability or 0.0) < 0.5 for f in rubric if f.text != "Fever")
