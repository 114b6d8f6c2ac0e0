"""Meaning of measured values to matchers: two notes of opposite values, 50 features.

Run ``python benchmarks/measured_values.py --model fast --model accurate --model lexicon``. Each
feature is stated by one of the notes and contradicted by the other. It prints Markdown: of the 50
stated and of the 50 contradicted items how many are credited.
"""

from __future__ import annotations

import argparse

from rubricate import CorpusBuilder, Feature, Note, Rubric
from unseen_rubrics import matcher_of

OPENING = "45 yo woman, cough x 5 d, tired. Eating ok. Works as a cook. PMH none. Meds: none. "
WELL = (
    "VS: T 36.9, HR 74, RR 14, BP 116/72, SpO2 98% RA, BMI 22. Lungs clear. Labs: Hgb 13.9, WBC"
    " 7.2, Na 139, K 4.1, Cr 0.8, glucose 92, A1c 5.4, TSH 2.0, INR 1.0, EF 60%. MMSE 30/30. PHQ-9"
    " 2."
)
ILL = (
    "VS: T 39.2, HR 124, RR 28, BP 172/104, SpO2 88% RA, BMI 38. Lungs clear. Labs: Hgb 7.9, WBC"
    " 17.2, Na 121, K 6.1, Cr 3.8, glucose 392, A1c 11.4, TSH 22.0, INR 4.8, EF 20%. MMSE 14/30."
    " PHQ-9 22."
)
OF_THE_ILL = (
    "Fever", "Tachycardia", "Tachypnea", "Elevated blood pressure", "Hypoxia", "Obesity", "Anemia",
    "Leukocytosis", "Hyponatremia", "Hyperkalemia", "Renal impairment", "Hyperglycemia",
    "Poor glycaemic control", "Hypothyroidism on labs", "Supratherapeutic INR",
    "Reduced ejection fraction", "Cognitive impairment", "Severe depression score",
    "Temperature over 102 F", "Heart rate above 100", "A1c above 9", "Hemoglobin below 10",
    "BMI over 30", "Temperature above 38.5", "Oxygen saturation below 92%",
)  # fmt: skip
OF_THE_WELL = (
    "Afebrile", "Normal heart rate", "Normal respiratory rate", "Normotensive",
    "Normal oxygen saturation", "Normal BMI", "Normal hemoglobin", "Normal white count",
    "Normal sodium", "Normal potassium", "Normal renal function", "Normoglycemia",
    "Good glycaemic control", "Euthyroid", "Normal coagulation", "Normal ejection fraction",
    "Intact cognition", "No depression", "No hypoxia", "Heart rate below 100", "A1c below 7",
    "Hemoglobin above 12", "BMI under 25", "Temperature below 38", "Oxygen saturation above 95%",
)  # fmt: skip


def main() -> None:
    """Read both notes with each model and count."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--model", action="append", required=True)
    given = parser.parse_args()
    builder = CorpusBuilder()
    for case, wordings in (("ill", OF_THE_ILL), ("well", OF_THE_WELL)):
        features = (Feature(f"{case}.{k}", case, text) for k, text in enumerate(wordings))
        builder.add_rubric(Rubric(case, tuple(features)))
        builder.add_note(Note(f"{case}, stated", case, OPENING + (ILL if case == "ill" else WELL)))
        builder.add_note(Note(f"{case}, not", case, OPENING + (WELL if case == "ill" else ILL)))
    corpus = builder.build()
    print("| | stated, credited | contradicted, credited |\n|---|---|---|")
    for model in given.model:
        found = matcher_of(model, corpus).predict(corpus)
        counts = {"stated": 0, "not": 0}
        for note, _, _, own in found.values():
            counts[note.id.split(", ")[1]] += bool(own)
        print(f"| `{model}` | {counts['stated']} of 50 | {counts['not']} of 50 |")


if __name__ == "__main__":
    main()
