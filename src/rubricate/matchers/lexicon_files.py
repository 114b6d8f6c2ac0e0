"""The ``lexicon`` model as a value, and as a folder of readable files."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from rubricate.errors import Fault, InputError
from rubricate.files import whole_output
from rubricate.matchers.folding import fold_text
from rubricate.matchers.lexicon_model import LearnedCase
from rubricate.matchers.model_files import (
    Header,
    read_header,
    read_json,
    read_lines,
    write_header,
    write_json,
    write_lines,
)
from rubricate.matchers.phrase_counts import CountedPhrase
from rubricate.matchers.wording.case_model import CaseModel
from rubricate.matchers.wording.shared import (
    Decision,
    SharedModel,
    decision_from_json,
    decision_to_json,
)
from rubricate.matchers.wording.word_columns import column_values, describe_key, pack_key

LEXICON_FILE, WORDS_FILE, CASES_FILE, SHARED_FILE = (
    "lexicon.jsonl",
    "words.parquet",
    "cases.json",
    "shared.json",
)


@dataclass(frozen=True, slots=True)
class LexiconModel:
    """Everything the ``lexicon`` matcher learned."""

    shared: SharedModel
    cases: Mapping[str, LearnedCase]
    phrases: tuple[CountedPhrase, ...]
    decision: Decision
    features: dict[str, str]
    learned_from: str
    n_notes: int


def save_lexicon_model(
    model: LexiconModel, folder: str | Path, *, parameters: dict[str, Any], overwrite: bool
) -> None:
    """Write the model: phrases (may be edited), weights of words, cuts, and what is shared."""
    with whole_output(Path(folder), overwrite=overwrite) as place:
        place.mkdir()
        write_lines(place / LEXICON_FILE, (phrase.to_json() for phrase in model.phrases))
        _write_words(place / WORDS_FILE, model)
        write_json(
            place / CASES_FILE,
            {
                "decision": decision_to_json(model.decision),
                "cases": {
                    case: {
                        "cuts": [round(cut, 4) for cut in learned.cuts],
                        "near": near_of(learned),
                        "words": list(learned.model.words),
                        "spelling": list(learned.spelling),
                    }
                    for case, learned in model.cases.items()
                },
            },
        )
        write_json(place / SHARED_FILE, model.shared.to_json())
        header = Header("lexicon", parameters, model.learned_from, model.n_notes, model.features)
        write_header(place, header, editable=[LEXICON_FILE])


def near_of(learned: LearnedCase) -> float:
    """Return what a word somewhere near counts in a case's model."""
    values = learned.model.values[:-1]
    return round(float(values.min()), 4) if len(values) else 1.0


def _write_words(path: Path, model: LexiconModel) -> None:
    import polars

    tables = []
    for case, learned in model.cases.items():
        weights = learned.model.weights[:-1]
        column, feature = np.nonzero(weights)
        said = [describe_key(int(key), learned.model.words) for key in learned.model.columns]
        tables.append(
            polars.DataFrame(
                {
                    "case": [case] * len(column),
                    "feature": feature.astype(np.int32),
                    "place": [said[i][0] for i in column],
                    "words": [said[i][1] for i in column],
                    "weight": weights[column, feature],
                }
            )
        )
    empty = polars.DataFrame(
        schema={
            "case": polars.String,
            "feature": polars.Int32,
            "place": polars.String,
            "words": polars.String,
            "weight": polars.Float32,
        }
    )
    polars.concat([empty, *tables]).write_parquet(path)


def load_lexicon_model(folder: str | Path) -> tuple[LexiconModel, dict[str, Any]]:
    """Read and check a saved model; return it with the matcher's parameters."""
    place = Path(folder)
    header = read_header(place, matcher="lexicon")
    phrases = tuple(_read_phrases(place / LEXICON_FILE, header.features))
    try:
        shared = SharedModel.from_json(read_json(place / SHARED_FILE))
        value = read_json(place / CASES_FILE)
        decision = decision_from_json(value["decision"])
        cases = _read_cases(place / WORDS_FILE, value["cases"])
    except (KeyError, TypeError, ValueError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError([Fault("its files do not fit together", place)]) from error
    model = LexiconModel(
        shared, cases, phrases, decision, dict(header.features), header.learned_from, header.n_notes
    )
    return model, dict(header.parameters)


def _read_phrases(path: Path, features: Mapping[str, str]) -> list[CountedPhrase]:
    phrases: list[CountedPhrase] = []
    faults: list[Fault] = []
    for number, line in read_lines(path):
        try:
            phrase = CountedPhrase(
                str(line["feature"]),
                tuple(fold_text(str(part)) for part in line["fragments"]),
                int(line.get("tp", 0)),
                int(line.get("fp", 0)),
                float(line.get("precision", 0.95)),
                bool(line.get("kept", True)),
                str(line.get("source", "hand")),
            )
        except (KeyError, TypeError, ValueError):
            faults.append(
                Fault("need 'feature' (text) and 'fragments' (list of texts)", path, number)
            )
            continue
        if phrase.feature not in features:
            faults.append(Fault(f"no feature {phrase.feature!r} in the model", path, number))
        elif not phrase.fragments or not all(part.strip() for part in phrase.fragments):
            faults.append(Fault("'fragments' holds an empty text", path, number))
        else:
            phrases.append(phrase)
    if faults:
        raise InputError(faults)
    return phrases


def _read_cases(path: Path, cases: Mapping[str, Any]) -> dict[str, LearnedCase]:
    import polars

    table = polars.read_parquet(path)
    found: dict[str, LearnedCase] = {}
    for case, value in cases.items():
        words = tuple(str(word) for word in value["words"])
        numbers = {word: i for i, word in enumerate(words)}
        own = table.filter(polars.col("case") == case)
        said = zip(own["place"].to_list(), own["words"].to_list(), strict=True)
        packed = [pack_key(place, what, numbers) for place, what in said]
        if any(key is None for key in packed):
            raise InputError([Fault(f"case {case!r} has weights of unknown words", path)])
        keys = np.array(packed, dtype=np.int64)
        columns = np.unique(keys)
        cuts = tuple(float(cut) for cut in value["cuts"])
        weights = np.zeros((len(columns) + 1, len(cuts)), dtype=np.float32)
        weights[np.searchsorted(columns, keys), own["feature"].to_numpy()] = own["weight"]
        values = column_values(columns, float(value["near"]))
        model = CaseModel(words, columns, weights, values)
        found[case] = LearnedCase(model, cuts, tuple(str(w) for w in value["spelling"]))
    return found
