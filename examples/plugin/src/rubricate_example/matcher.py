"""The matcher `words`: it marks a line that has all words of a feature close together."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import ClassVar, Self

from rubricate.corpus import Corpus, Note
from rubricate.files import whole_output
from rubricate.matchers.matcher import Parametrised, require_fitted
from rubricate.matchers.model_files import (
    Header,
    corpus_hash,
    read_header,
    with_parameters,
    write_header,
)
from rubricate.matchers.predictions import Found, NoteFindings, predict_corpus
from rubricate.progress import Progress, silent
from rubricate.rubric import Rubric

FEATURES = "features.json"


class WordsMatcher(Parametrised):
    """Matcher that marks the words of a feature where all of them are in one line.

    Parameters
    ----------
    longest : int
        Largest number of characters from the first to the last word.
    """

    name: ClassVar[str] = "words"

    def __init__(self, *, longest: int = 60) -> None:
        self.longest = longest

    def fit(
        self, corpus: Corpus, *, annotator: str | None = None, progress: Progress = silent
    ) -> Self:
        """Remember the words of each feature; annotations are not used."""
        self.words_ = {feature.id: _words(feature.text) for feature in corpus.features}
        self.learned_from_ = corpus_hash(corpus, None)
        return self

    def predict(self, corpus: Corpus) -> Corpus:
        """Return the notes with this matcher as the only annotator."""
        require_fitted(self, "words_")
        return predict_corpus(corpus, self.name, self._find)

    def _find(self, rubric: Rubric, notes: Sequence[Note]) -> Iterator[NoteFindings]:
        for note in notes:
            found = [
                Found(feature.id, (span,), 1.0, "all words in one line")
                for feature in rubric
                if (span := self._span(note.text, self.words_.get(feature.id, [])))
            ]
            yield NoteFindings(found, {one.feature: 1.0 for one in found})

    def _span(self, text: str, words: Sequence[str]) -> tuple[int, int] | None:
        for line in re.finditer(r".+", text):
            places = [re.search(rf"\b{re.escape(word)}\b", line[0], re.IGNORECASE)
                      for word in words]  # fmt: skip
            if places and all(places):
                start = line.start() + min(place.start() for place in places if place)
                end = line.start() + max(place.end() for place in places if place)
                if end - start <= self.longest:
                    return start, end
        return None

    def save(self, folder: str | Path, *, overwrite: bool = False) -> None:
        """Write the words of each feature, and model.json."""
        require_fitted(self, "words_")
        with whole_output(Path(folder), overwrite=overwrite) as place:
            place.mkdir()
            (place / FEATURES).write_text(json.dumps(self.words_), encoding="utf-8")
            header = Header(
                matcher=self.name,
                parameters=self.get_params(),
                learned_from=self.learned_from_,
                n_notes=0,
                features={},
            )
            write_header(place, header)

    @classmethod
    def load(cls, folder: str | Path) -> Self:
        """Return the model saved in a folder."""
        header = read_header(Path(folder), matcher=cls.name)
        model = with_parameters(cls, header, Path(folder))
        model.words_ = json.loads((Path(folder) / FEATURES).read_text(encoding="utf-8"))
        model.learned_from_ = header.learned_from
        return model


def _words(text: str) -> list[str]:
    return re.findall(r"\w{3,}", text)
