"""The ``encoder`` matcher: one network for all rubrics, pretrained, fitted from a few notes."""

from __future__ import annotations

import hashlib
import shutil
import tempfile
import weakref
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar, Literal, Self

import numpy as np

from rubricate.arrays import F64
from rubricate.corpus import Corpus, Note
from rubricate.display import shown_chance
from rubricate.errors import InputError, MissingExtraError
from rubricate.files import whole_output
from rubricate.matchers.literal import claim_mentions
from rubricate.matchers.matcher import Parametrised, judged_notes, learning_annotator
from rubricate.matchers.model_files import (
    MODEL,
    Header,
    corpus_hash,
    read_header,
    with_parameters,
    write_header,
)
from rubricate.matchers.predictions import (
    NoteFindings,
    NoteProposals,
    predict_with,
    read_notes,
)
from rubricate.matchers.training_report import TrainingReport
from rubricate.neural.encoder.decoding import (
    Again,
    HeardNote,
    Opinion,
    Votes,
    contradicting_words,
    decode_characters,
    decode_pieces,
    join_fragments,
    lexicon_votes,
    whole_words,
)
from rubricate.neural.encoder.inference import RowScores
from rubricate.neural.encoder.model_folder import (
    SETTINGS_FILE,
    SHIPPED,
    EncoderSettings,
    Member,
    MemberReader,
    common_settings,
    copy_members,
    list_members,
    model_files,
    read_members,
    shipped_folder,
)
from rubricate.neural.encoder.pieces import Pieces, Spans
from rubricate.neural.encoder.report import encoder_report
from rubricate.neural.recipe import read_encoder_recipe
from rubricate.progress import Progress, silent
from rubricate.reading.note import read_note
from rubricate.requirement.requirement import read_requirement
from rubricate.rubric import Feature, Rubric
from rubricate.rules.findings import Against, Candidate, Proposal
from rubricate.rules.reasons import Reason
from rubricate.rules.registry import explain_contradiction

#: Notes read in one go; more would only hold more in memory.
CHUNK = 64


class EncoderMatcher(Parametrised):
    """Finds features by a pretrained encoder, also those of a rubric never seen.

    Without `fit` it uses a network that comes with the package: ``fast`` (MiniLM) or ``accurate``
    (MPNet, about a fifth of the speed). `fit` goes on from it with the annotated notes given (this
    needs torch); with none it changes nothing. With ``whole_words`` annotations begin and end at
    the edges of words; without it where the pieces of the vocabulary do.

    Attributes
    ----------
    settings_ : EncoderSettings
        Thresholds, calibration and the training report; there after `fit`, `load` or `predict`.

    Examples
    --------
    >>> from rubricate import load_corpus
    >>> corpus = load_corpus("open-notes").select(cases=["14"], annotators=["reference"])
    >>> found = EncoderMatcher(threads=1).predict(corpus.select(notes=[corpus.notes[0].id]))
    >>> found.annotators[0].id
    'encoder'
    """

    name: ClassVar[str] = "encoder"
    #: A second's work or some: see `rubricate.matchers.notes_at_once`.
    notes_at_once: ClassVar[int] = 16

    def __init__(
        self,
        *,
        network: str = "fast",
        features_per_pass: int | Literal["all"] = "all",
        whole_words: bool = True,
        threads: int | None = None,
        steps: int | None = None,
        seed: int = 0,
        backbone: str | None = None,
        checkpoint: str | None = None,
        recipe: str | Mapping[str, Any] = "usual",
    ) -> None:
        self.network = network
        self.features_per_pass = features_per_pass
        self.whole_words = whole_words
        self.threads = threads
        self.steps = steps
        self.seed = seed
        self.backbone = backbone
        self.checkpoint = checkpoint
        self.recipe = recipe

    def fit(
        self, corpus: Corpus, *, annotator: str | None = None, progress: Progress = silent
    ) -> Self:
        """Go on from the shipped network (or the one loaded) with the annotated notes."""
        self._per_pass()
        recipe = read_encoder_recipe(self.recipe)
        self._start()
        who = learning_annotator(corpus, annotator)
        n_notes = sum(1 for _ in judged_notes(corpus, who))
        if n_notes:
            try:
                from rubricate.neural.training.fitting import FitOptions, fit_folder
            except ModuleNotFoundError as error:
                if error.name != "torch":
                    raise
                raise MissingExtraError("fitting the encoder", "train") from error
            options = FitOptions(
                recipe=replace(recipe, steps=self.steps or recipe.steps),
                seed=self.seed,
                checkpoint=None if self.checkpoint is None else Path(self.checkpoint),
                threads=self.threads,
            )
            target = self._scratch()
            fit_folder(self._only_folder(), target, corpus, who, options, progress=progress)
            self._open(target)
        self.features_ = {feature.id: feature.text for feature in corpus.features}
        self.learned_from_ = corpus_hash(corpus, who)
        self.n_notes_ = n_notes
        return self

    @property
    def training_report_(self) -> TrainingReport | None:
        """Report of the network's training; None before `fit`, as for the shipped network."""
        return encoder_report(self.settings_) if hasattr(self, "settings_") else None

    def predict(self, corpus: Corpus) -> Corpus:
        """Return the corpus with what the network finds, under the annotator ``encoder``."""
        self.check(corpus.features)
        return predict_with(corpus, self.name, self.read)

    def check(self, features: Iterable[Feature]) -> None:
        """Raise InputError where a parameter is none that it can have."""
        self._per_pass()

    def read(self, rubric: Rubric, notes: Sequence[Note]) -> Iterator[NoteFindings]:
        """Yield what the network finds in each note."""
        return read_notes(rubric, notes, self._propose, self.knows, mentions=claim_mentions)

    def knows(self, feature: Feature) -> bool:
        """Tell whether the network was fitted to notes with this feature, in this wording."""
        return bool(getattr(self, "n_notes_", 0)) and self.features_.get(feature.id) == feature.text

    def save(self, folder: str | Path, *, overwrite: bool = False) -> None:
        """Write the model as a folder: ``model.json``, network, tokenizer, settings.

        Several networks are written into sub-folders, which ``members.json`` lists.
        """
        if not hasattr(self, "members_"):
            self._open(shipped_folder(self.network))
        with whole_output(Path(folder), overwrite=overwrite, kind=MODEL) as place:
            place.mkdir()
            if len(self.members_) == 1:
                source = self.members_[0].folder
                for name in model_files(source):
                    shutil.copyfile(source / name, place / name)
            else:
                list_members(self.members_, place, self.settings_)
            parameters = {**self.get_params(), "backbone": None, "checkpoint": None}
            header = Header(
                self.name,
                parameters,
                getattr(self, "learned_from_", ""),
                getattr(self, "n_notes_", 0),
                getattr(self, "features_", {}),
            )
            write_header(place, header, editable=[SETTINGS_FILE])
            # After the header, which answers for files: for the members their list does.
            if len(self.members_) > 1:
                copy_members(self.members_, place)

    @classmethod
    def load(cls, folder: str | Path) -> Self:
        """Return the model saved in a folder; fitting it again goes on from there."""
        place = Path(folder)
        header = read_header(place, matcher=cls.name)
        matcher = with_parameters(cls, header, place)
        matcher._open(place)
        matcher.features_ = dict(header.features)
        matcher.learned_from_ = header.learned_from
        matcher.n_notes_ = header.n_notes
        return matcher

    @classmethod
    def load_average(cls, folders: Sequence[str | Path]) -> Self:
        """Return the mean of several saved models, however their tokenizers cut the notes.

        Each model counts the same, whether it has one network or several. The parameters are
        those of the first. ``fast`` and ``accurate`` are the networks of the package.
        """
        models = [cls._opened(folder) for folder in folders]
        if not models:
            raise InputError("no model to average")
        members = []
        for model in models:
            total = sum(member.weight for member in model.members_)
            members += [replace(one, weight=one.weight / total) for one in model.members_]
        matcher = models[0]
        if len(models) > 1:
            matcher.features_ = {k: v for model in models for k, v in model.features_.items()}
            hashes = "".join(model.learned_from_ for model in models)
            matcher.learned_from_ = hashlib.sha256(hashes.encode()).hexdigest()
            matcher.n_notes_ = max(model.n_notes_ for model in models)
            matcher._use(members, common_settings(members))
        return matcher

    @classmethod
    def _opened(cls, folder: str | Path) -> Self:
        if folder not in SHIPPED:
            return cls.load(folder)
        matcher = cls(network=str(folder))
        matcher._open(shipped_folder(matcher.network))
        matcher.features_, matcher.learned_from_, matcher.n_notes_ = {}, "", 0
        return matcher

    def _start(self) -> None:
        """Open what `fit` goes on from: the model loaded, the backbone, or the shipped one."""
        if hasattr(self, "members_"):
            return
        if self.backbone is None:
            self._open(shipped_folder(self.network))
            return
        from rubricate.neural.training.backbone import folder_from_backbone

        target = self._scratch()
        folder_from_backbone(self.backbone, target, seed=self.seed)
        self._open(target)

    def _only_folder(self) -> Path:
        if len(self.members_) > 1:
            raise InputError(
                f"this model averages {len(self.members_)} networks and cannot be fitted further; "
                "fit each of the models it was made from, then average them again"
            )
        return self.members_[0].folder

    def _scratch(self) -> Path:
        """Return a folder that lasts as long as this matcher, which reads and saves from it."""
        folder = tempfile.mkdtemp(prefix="rubricate-encoder-")
        weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)
        return Path(folder)

    def _open(self, folder: Path) -> None:
        """Read a model's settings and tokenizers; networks when they are first needed."""
        self._use(read_members(folder), EncoderSettings.read(folder / SETTINGS_FILE))

    def _use(self, members: Sequence[Member], settings: EncoderSettings) -> None:
        self.members_ = tuple(members)
        self.settings_ = settings
        self._readers = [MemberReader(member) for member in members]
        # Whether the lexicon's word counts beside the networks'.
        self._hears = any(one.settings.vote or one.settings.word_vote for one in members)

    def _per_pass(self) -> int | None:
        asked = self.features_per_pass
        if asked == "all":
            return None
        if isinstance(asked, bool) or not isinstance(asked, int) or asked < 1:
            raise InputError(f"features_per_pass is {asked!r}; need 'all' or a number from 1 up")
        return asked

    def _propose(self, rubric: Rubric, notes: Sequence[Note]) -> Iterator[NoteProposals]:
        for note, heard in zip(notes, self.readings(rubric, notes), strict=True):
            yield self.proposed(rubric, note.text, heard)

    def readings(self, rubric: Rubric, notes: Sequence[Note]) -> Iterator[HeardNote]:
        """Yield what is said of each note, before anything is decided."""
        for first in range(0, len(notes), CHUNK):
            texts = [note.text for note in notes[first : first + CHUNK]]
            said = self._read(rubric, texts)
            votes = lexicon_votes(rubric, texts) if self._hears else [None] * len(texts)
            for i, vote in enumerate(votes):
                yield HeardNote([(p[i], rows[i]) for p, rows in said], vote)

    def read_again(
        self, rubric: Rubric, text: str, again: Again, votes: Votes | None, least: float = 0.0
    ) -> NoteProposals:
        """Return the proposals for some features in parts of a note, with the lexicon's votes."""
        features = again.features
        both = tuple(rubric.features[k] for k in (*features, *again.beside))
        asked = Rubric(rubric.case, both[: len(features)])
        read = self._read(Rubric(rubric.case, both), [text], [again.parts])
        said = [(p[0], rows[0][: len(features)]) for p, rows in read]
        # The lexicon weighs the features of a rubric against each other: it sees all of them.
        vote = None
        if self._hears:
            vote = (lexicon_votes(rubric, [text])[0] if votes is None else votes).of(features)
        return self.proposed(asked, text, HeardNote(said, vote), least)

    def _read(
        self, rubric: Rubric, texts: list[str], parts: Sequence[Spans] | None = None
    ) -> list[tuple[list[Pieces], list[list[RowScores]]]]:
        if not hasattr(self, "members_"):
            self._open(shipped_folder(self.network))
        sought, per_pass = [feature.text for feature in rubric], self._per_pass()
        return [one.read(texts, sought, per_pass, self.threads, parts) for one in self._readers]

    def opinions(self, heard: HeardNote) -> list[tuple[Opinion, F64]]:
        """Return each network's outputs, with the lexicon's scores weighed as the network asks."""
        return [
            member.opinion(pieces, rows, heard.votes)
            for member, (pieces, rows) in zip(self.members_, heard.said, strict=True)
        ]

    def proposed(
        self, rubric: Rubric, text: str, heard: HeardNote, least: float = 0.0
    ) -> NoteProposals:
        """Return the proposals for a note by what is said of it, if as probable as ``least``."""
        if not len(rubric):
            return NoteProposals({}, "network")
        at = [self.settings_.of_feature(feature.id) for feature in rubric]
        opinions, presence = zip(*self.opinions(heard), strict=True)
        if len(opinions) == 1:
            chances = self.settings_.calibration(presence[0]).tolist()
            decoded = decode_pieces(opinions[0], presence[0].tolist(), at)
        else:
            weights = [member.weight for member in self.members_]
            each = [
                member.settings.calibration(own)
                for member, own in zip(self.members_, presence, strict=True)
            ]
            chances = np.average(each, axis=0, weights=weights).tolist()
            decoded = decode_characters(text, opinions, chances, at)
        decoded = [runs if p >= least else [] for p, runs in zip(chances, decoded, strict=True)]
        if self.whole_words:
            decoded = [whole_words(text, runs) for runs in decoded]
        several = any(len(runs) > 1 for runs in decoded)
        negations = read_note(text).negations if several else ()
        items: dict[str, Proposal] = {}
        for k, (feature, runs) in enumerate(zip(rubric, decoded, strict=True)):
            chance = shown_chance(chances[k])
            own = [
                Candidate(spans, sure, (Reason("network.words", shown_chance(sure), chance),))
                for spans, sure in join_fragments(text, runs, negations)
            ]
            against = None if runs else self._contradiction(k, feature, text, heard.said)
            items[feature.id] = Proposal(tuple(own), chances[k], against)
        return NoteProposals(items, "network")

    def _contradiction(
        self,
        k: int,
        feature: Feature,
        text: str,
        said: Sequence[tuple[Pieces, Sequence[RowScores]]],
    ) -> Against | None:
        """Return the words that contradict a feature that was not found, if probable enough."""
        weights = [member.weight for member in self.members_]
        chance = np.average([rows[k].contradiction for _, rows in said], weights=weights)
        if chance < self.settings_.contradiction:
            return None
        spans = contradicting_words(text, said[0][0], said[0][1][k].contradicting)
        why = explain_contradiction(read_requirement(feature.text), read_note(text), spans)
        return Against(spans, float(chance), () if why is None else (why,))


def average_models(
    folders: Sequence[str | Path], out: str | Path, *, overwrite: bool = False
) -> None:
    """Write one model that finds what several encoders, taken together, find."""
    EncoderMatcher.load_average(folders).save(out, overwrite=overwrite)
