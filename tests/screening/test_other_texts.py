"""Texts on a rubric's matter that are of no patient, and notes that resemble them."""

from pathlib import Path

import pytest

from rubricate import Corpus, Feature, Rubric, load_corpus
from rubricate.screening.other_texts import why_other_text
from rubricate.screening.readable import NO_NOTE, why_no_note

OTHERS = sorted((Path(__file__).parents[1] / "resources" / "other_texts").glob("*.txt"))
NO_RUBRIC = Rubric("c", ())
WORDINGS = [
    "Pleuritic chest pain",
    "Sudden onset of dyspnea",
    "Leg swelling",
    "Recent travel",
    "No fever",
    "Current smoker",
]
RUBRIC = Rubric("c", tuple(Feature(str(i), "c", text) for i, text in enumerate(WORDINGS)))


@pytest.mark.parametrize("path", OTHERS, ids=lambda path: path.stem)
def test_texts_of_no_patient_are_told(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert why_other_text(text, NO_RUBRIC)
    # Whatever was found in it, it is no note.
    assert why_no_note(text, RUBRIC, len(RUBRIC)).startswith(NO_NOTE)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        (
            "Nausea: yes / no. Aura: yes / no. Fever: yes / no. Rash: yes / no. Cough: Y/N. Pain: Y/N",
            "form",
        ),
        ("Weight: *** Vision: *** Feet: *** Glucose log: *** A1c: *** Last eye exam: ***", "form"),
        ("Wash the wound. Your stitches come out after ten days.", "in general"),
        ("Marking guide. One point each: cough, fever. No point for smoking.", "examination"),
        ("Of 90 women 45 had nausea. Controls did not. Groups were compared (p < .01).", "a study"),
    ],
)
def test_forms_keys_and_studies_are_no_notes(text: str, kind: str) -> None:
    assert kind in why_other_text(text, Rubric("c", ()))


@pytest.mark.parametrize(
    "between",
    ["\n", ", ", ". ", " (1 point)\n", ": Y / N\n", "\n[ ] ", "\n3. "],
)
def test_the_rubric_itself_is_no_note(between: str) -> None:
    assert "wording of the rubric" in why_other_text(between.join(WORDINGS), RUBRIC)


@pytest.mark.parametrize(
    "text",
    [
        "58M with pleuritic chest pain since yesterday and sudden onset of dyspnea on the stairs."
        " Leg swelling on the right after recent travel. No fever. Current smoker, 1 ppd.",
        "Dear Mrs Lowe, you told me that you have had chest tightness on hills for two months. Your"
        " blood pressure was 152/90. This may be angina. If you get pain at rest, call 999. You can"
        " stop the spray if it gives you headaches. I have asked for a scan.",
        "You were admitted with pneumonia. You had fever for 4 days. Your X-ray showed shadowing."
        " You should return if you are short of breath. You may feel tired for some weeks.",
        "34M vet nurse, bitten by a neutered terrier on the L forearm. The owner says the dog has"
        " had rabies vaccine. Wound 2 cm, no bone.",
        "40F fell off a mare at a gallop, landed on L shoulder, kicked by a hind leg. CRT <2 s.",
        "25F with RLQ pain, fever. LMP 2 wks ago.\nDx 1: appendicitis.\nDx 2: PID may present with"
        " fever. Ectopic can be seen in sexually active women.\nhCG, US",
        "CC: chest pain\nOnset: [x] sudden [ ] gradual\nArm [ ] jaw [ ] none [x]\nFever: [ ] yes"
        " [x] no\nSmoker: [x] yes [ ] no\nLungs clear on both sides, no murmur",
        "72F, CAP. Give ceftriaxone if there is no allergy. Check lactate. Consider CT. Admit.",
        "'Why me?' he asks. Can he trust anyone? 46M with low mood for six months. No SI.",
        "CP?",
        "",
    ],
)
def test_notes_that_resemble_them_are_notes(text: str) -> None:
    assert why_other_text(text, RUBRIC) == ""


def test_no_note_of_the_embedded_corpus_is_taken_for_another_text() -> None:
    corpus: Corpus = load_corpus("open-notes")
    taken = [n.id for n in corpus.notes if why_other_text(n.text, corpus.rubric(n.case))]
    assert taken == []
