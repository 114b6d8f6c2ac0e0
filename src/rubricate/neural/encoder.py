"""The ``encoder`` matcher: one network for all rubrics, pretrained, fitted from a few notes."""

from __future__ import annotations

import shutil
import tempfile
import weakref
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, ClassVar, Literal, Self

from rubricate.corpus import Corpus, Note
from rubricate.errors import InputError
from rubricate.files import whole_output
from rubricate.matchers.learning import judged_notes, learning_annotator
from rubricate.matchers.matcher import own_parameters
from rubricate.matchers.model_files import Header, corpus_hash, read_header, write_header
from rubricate.matchers.predictions import Found, NoteFindings, predict_corpus
from rubricate.matchers.training_report import TrainingReport
from rubricate.neural.batching import SpecialPieces
from rubricate.neural.decoding import decode_row
from rubricate.neural.encoder_report import encoder_report
from rubricate.neural.inference import Engine, OnnxEngine, score_notes
from rubricate.neural.model_folder import (
    NETWORK_FILE,
    SETTINGS_FILE,
    TOKENIZER_FILE,
    Settings,
    shipped_folder,
)
from rubricate.neural.pieces import PieceMaker, Pieces
from rubricate.rubric import Rubric

#: Notes read in one go; more would only hold more in memory.
CHUNK = 64


class EncoderMatcher:
    """Finds features by a small pretrained encoder, also those of a rubric never seen.

    Without `fit` it uses the network that comes with the package. `fit` goes on from it with the
    annotated notes given (this needs torch); with none it changes nothing.

    Parameters
    ----------
    features_per_pass : "all" or int
        How many features are sought in one pass over a note. All at once is fastest; one at a
        time is a little better on rubrics the network was not fitted to, at ten times the cost.
    threads : int, optional
        Threads a pass may use; by default as many as there are cores.
    steps : int, optional
        Most steps of learning in `fit`; by default a number that suits how many notes there are.
    seed : int
        Seed of all that is drawn in `fit`.
    backbone : str, optional
        Folder of a BERT-like encoder that `fit` starts from instead of the shipped network; it
        then needs hundreds of notes of many cases.
    checkpoint : str, optional
        A file that `fit` writes as it goes and resumes from when it was interrupted.

    Attributes
    ----------
    settings_ : Settings
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

    def __init__(
        self,
        *,
        features_per_pass: int | Literal["all"] = "all",
        threads: int | None = None,
        steps: int | None = None,
        seed: int = 0,
        backbone: str | None = None,
        checkpoint: str | None = None,
    ) -> None:
        self.features_per_pass = features_per_pass
        self.threads = threads
        self.steps = steps
        self.seed = seed
        self.backbone = backbone
        self.checkpoint = checkpoint

    def get_params(self) -> dict[str, Any]:
        """Return the constructor's parameters."""
        return own_parameters(self)

    def fit(
        self,
        corpus: Corpus,
        *,
        annotator: str | None = None,
        progress: Callable[[int, int, float], None] | None = None,
    ) -> Self:
        """Go on from the shipped network (or the one loaded) with the annotated notes.

        ``progress`` is called now and then with the step, the number of steps and the loss.
        """
        self._per_pass()
        self._start()
        who = learning_annotator(corpus, annotator)
        n_notes = sum(1 for _ in judged_notes(corpus, who))
        if n_notes:
            from rubricate.neural.fitting import FitOptions, fit_folder

            options = FitOptions(
                steps=self.steps,
                seed=self.seed,
                checkpoint=None if self.checkpoint is None else Path(self.checkpoint),
                threads=self.threads,
            )
            target = self._scratch()
            fit_folder(self.folder_, target, corpus, who, options, progress)
            self._open(target)
        self.features_ = {feature.id: feature.text for feature in corpus.features}
        self.learned_from_ = corpus_hash(corpus, who)
        self.n_notes_ = n_notes
        return self

    @property
    def training_report_(self) -> TrainingReport | None:
        """How the network was fitted; None before `fit`, as of the shipped network."""
        return encoder_report(self.settings_) if hasattr(self, "settings_") else None

    def predict(self, corpus: Corpus) -> Corpus:
        """Return the corpus with what the network finds, under the annotator ``encoder``."""
        self._per_pass()
        if not hasattr(self, "folder_"):
            self._open(shipped_folder())
        return predict_corpus(corpus, self.name, self._find)

    def save(self, folder: str | Path, *, overwrite: bool = False) -> None:
        """Write the model as a folder: ``model.json``, network, tokenizer, settings."""
        if not hasattr(self, "folder_"):
            self._open(shipped_folder())
        with whole_output(Path(folder), overwrite=overwrite) as place:
            place.mkdir()
            for name in (NETWORK_FILE, TOKENIZER_FILE, SETTINGS_FILE):
                shutil.copyfile(self.folder_ / name, place / name)
            parameters = {**self.get_params(), "backbone": None, "checkpoint": None}
            header = Header(
                self.name,
                parameters,
                getattr(self, "learned_from_", ""),
                getattr(self, "n_notes_", 0),
                getattr(self, "features_", {}),
            )
            write_header(place, header, editable=[SETTINGS_FILE])

    @classmethod
    def load(cls, folder: str | Path) -> Self:
        """Return the model saved in a folder; fitting it again goes on from there."""
        place = Path(folder)
        header = read_header(place, matcher=cls.name)
        matcher = cls(**header.parameters)
        matcher._open(place)
        matcher.features_ = dict(header.features)
        matcher.learned_from_ = header.learned_from
        matcher.n_notes_ = header.n_notes
        return matcher

    def _start(self) -> None:
        """Open what `fit` goes on from: the model loaded, the backbone, or the shipped one."""
        if hasattr(self, "folder_"):
            return
        if self.backbone is None:
            self._open(shipped_folder())
            return
        from rubricate.neural.backbone import folder_from_backbone

        target = self._scratch()
        folder_from_backbone(Path(self.backbone), target, seed=self.seed)
        self._open(target)

    def _scratch(self) -> Path:
        """Return a folder that lasts as long as this matcher, which reads and saves from it."""
        folder = tempfile.mkdtemp(prefix="rubricate-encoder-")
        weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)
        return Path(folder)

    def _open(self, folder: Path) -> None:
        """Read a model's settings and tokenizer; the network itself when it is first needed."""
        self.settings_ = Settings.read(folder / SETTINGS_FILE)
        self._maker = PieceMaker.from_file(folder / TOKENIZER_FILE)
        self._engine: Engine | None = None
        self.folder_ = folder

    def _per_pass(self) -> int | None:
        asked = self.features_per_pass
        if asked == "all":
            return None
        if isinstance(asked, bool) or not isinstance(asked, int) or asked < 1:
            raise InputError(f"features_per_pass is {asked!r}; need 'all' or a number from 1 up")
        return asked

    def _find(self, rubric: Rubric, notes: Sequence[Note]) -> Iterator[NoteFindings]:
        if self._engine is None:
            self._engine = OnnxEngine(self.folder_ / NETWORK_FILE, threads=self.threads)
        special = SpecialPieces(self._maker.start_id, self._maker.stop_id, self._maker.fill_id)
        features = self._maker.cut([feature.text for feature in rubric])
        for first in range(0, len(notes), CHUNK):
            pieces = self._maker.cut([note.text for note in notes[first : first + CHUNK]])
            scores = score_notes(
                self._engine, pieces, features, special, features_per_pass=self._per_pass()
            )
            for own, rows in zip(pieces, scores, strict=True):
                yield self._findings(rubric, own, rows)

    def _findings(self, rubric: Rubric, pieces: Pieces, rows: Sequence[Any]) -> NoteFindings:
        found: list[Found] = []
        probabilities: dict[str, float] = {}
        for feature, (inside, presence) in zip(rubric, rows, strict=True):
            at = self.settings_.of_feature(feature.id)
            chance = float(self.settings_.calibration(presence))
            probabilities[feature.id] = chance
            for start, end, confidence in decode_row(pieces, inside, presence, at):
                reason = f"encoder: words {confidence:.2f}, feature {chance:.2f}"
                found.append(Found(feature.id, ((start, end),), confidence, reason))
        return NoteFindings(found, probabilities)
