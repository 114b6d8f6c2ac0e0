"""Going on from a saved network with a few annotated notes: language, folds, calibration, files."""

from __future__ import annotations

import hashlib
import json
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import torch

from rubricate.files import file_hash
from rubricate.formats import read_corpus
from rubricate.matchers.model_files import corpus_hash
from rubricate.neural.encoder.decoding import Thresholds
from rubricate.neural.encoder.inference import Engine, OnnxEngine
from rubricate.neural.encoder.model_folder import (
    NETWORK_FILE,
    REHEARSAL,
    SETTINGS_FILE,
    TOKENIZER_FILE,
    UNSEEN,
    EncoderSettings,
    Member,
    common_settings,
    copy_members,
    list_members,
)
from rubricate.neural.encoder.packed import packed_files
from rubricate.neural.encoder.pieces import PieceMaker
from rubricate.neural.encoder.report import FitReport, StageReport, plain_look, summary
from rubricate.neural.recipe import EncoderRecipe, reading_recipe
from rubricate.neural.training.calibrate import Calibrator, HeldOut, choose_precision, keep_credit
from rubricate.neural.training.checkpoints import (
    Checkpoint,
    StageStore,
    load_parameters,
    parameters_of,
)
from rubricate.neural.training.export import export_onnx, read_network, write_network
from rubricate.neural.training.language import read_notes
from rubricate.neural.training.learning_set import LearningSet, learning_set
from rubricate.neural.training.measuring import Ruler, Scored, score_rows
from rubricate.neural.training.network import Network
from rubricate.neural.training.passes import Lessons, Taught
from rubricate.neural.training.trainer import LookMeasure, Trainer
from rubricate.progress import Progress, silent
from rubricate.splits import Part, grouped_folds, hold_out

if TYPE_CHECKING:
    from rubricate.corpus import Corpus

#: A case with fewer notes can spare none to choose the best step on: all are learned from.
FEWEST_TO_HOLD_OUT = 20
#: Pieces in a batch when notes are scored: this fits the memory of small machines.
BUDGET = 4096


@dataclass(frozen=True, slots=True)
class FitOptions:
    """Settings of `fit_folder`."""

    recipe: EncoderRecipe = field(default_factory=EncoderRecipe)
    seed: int = 0
    checkpoint: Path | None = None
    threads: int | None = None


def fit_folder(
    source: Path,
    target: Path,
    corpus: Corpus,
    annotator: str | None,
    options: FitOptions,
    *,
    progress: Progress = silent,
) -> EncoderSettings:
    """Fit the network in ``source`` to the annotated notes and write a model into ``target``.

    With one fold ``target`` holds a network, with more a sub-folder for each.
    """
    before = torch.get_num_threads()
    if options.threads is not None:
        torch.set_num_threads(options.threads)
    try:
        with tempfile.TemporaryDirectory(prefix="rubricate-fit-") as place:
            fit = _Fit(source, corpus, annotator, options, progress)
            return fit.run(target, Path(place))
    finally:
        torch.set_num_threads(before)


def fit_parts(data: LearningSet, recipe: EncoderRecipe, seed: int) -> list[Part]:
    """Return the parts of a fit: one with a share held out, or one for each fold.

    All rows of a note are in its fold, and so are notes with the same text.
    """
    judged = {i: int(data.note_case[i]) for i in data.with_text(judged=True)}
    if recipe.folds == 1:
        return [hold_out(judged, recipe.held_out, seed, fewest=FEWEST_TO_HOLD_OUT)]
    texts = {i: data.note(i).tobytes() for i in judged}
    return grouped_folds(judged, texts, recipe.folds, seed)


class _Fit:
    """One fit: its notes, its parts, and what is written in the end."""

    def __init__(
        self,
        source: Path,
        corpus: Corpus,
        annotator: str | None,
        options: FitOptions,
        progress: Progress,
    ) -> None:
        self.source = source
        self.options = options
        self.recipe = options.recipe
        self.progress = progress
        self.features = [feature.id for feature in corpus.features]
        self.features_of_case = _features_of_case(corpus)
        self.settings = EncoderSettings.read(source / SETTINGS_FILE)
        self.maker = PieceMaker.from_file(source / TOKENIZER_FILE)
        self.data = learning_set(corpus, annotator, self.maker)
        self.parts = fit_parts(self.data, self.recipe, options.seed)
        self.packed = bool(packed_files(source))
        if self.settings.reads:
            self.recipe = reading_recipe(self.recipe, int(self.settings.shape["layers"]))
        key = fit_key(source, corpus_hash(corpus, annotator), options)
        self.store = StageStore(options.checkpoint, key)

    def run(self, target: Path, place: Path) -> EncoderSettings:
        """Train every network, choose what they share, write the model; ``place`` is scratch."""
        network = read_network(self.source).to("cuda" if torch.cuda.is_available() else "cpu")
        language = self._read_language(network)
        start = parameters_of(network)
        reports, held = [], []
        for number, part in enumerate(self.parts, start=1):
            load_parameters(network, start)
            report = self._train_part(network, part, number)
            report["stages"] = [*language, *report["stages"]]
            reports.append(report)
            held += self._write(network, part, number, place / str(number))
        return self._finish(target, place, reports, held)

    def _of_all(self, what: str, number: int) -> str:
        """Return the name of a stage, with the number of the network if there are several."""
        return what if len(self.parts) == 1 else f"{what}, network {number} of {len(self.parts)}"

    def _score(
        self,
        network: Network | Engine,
        notes: Sequence[int],
        progress: Progress,
        data: LearningSet | None = None,
    ) -> Scored:
        return score_rows(
            network,
            data or self.data,
            notes,
            self.maker.special,
            features_per_pass=self.recipe.measured_with,
            budget=BUDGET,
            progress=progress,
        )

    def _read_language(self, network: Network) -> list[StageReport]:
        """Let the network guess hidden words of all notes; return the report of the stage."""
        if not self.recipe.language_steps:
            return []
        done = self.store.finished("language")
        if done is None:
            notes = [i for i in range(self.data.n_notes) if len(self.data.note(i))]
            # The weights that guess are drawn before the first step seeds anything.
            torch.manual_seed(self.options.seed)
            losses = read_notes(
                network, self.data, notes, self.maker.special, self.maker.mask_id, self.recipe,
                seed=self.options.seed, progress=self.progress,
            )  # fmt: skip
            done = Checkpoint(parameters_of(network), {"loss": losses})
            self.store.finish("language", done)
        load_parameters(network, done.tensors)
        losses = done.facts["loss"]
        return [{"name": "language", "steps": len(losses), "loss": losses}]

    def _train_part(self, network: Network, part: Part, number: int) -> FitReport:
        """Train the network on its part, with labels of its own in a second round if asked for.

        At the end it holds the best weights. Labels are made by the first round's network of the
        same part, so none comes from a network that was taught the notes held out here.
        """
        start = parameters_of(network)
        steps = self.recipe.n_steps(len(part.learn))
        stages = [self._stage(network, part, number, "marks", steps, self.data, None)]
        strangers = [
            i
            for i in self.data.with_text(judged=False)
            if self.features_of_case.get(int(self.data.note_case[i]))
        ]
        if self.recipe.pseudo and strangers:
            wider = self.data.with_rows(
                {i: self.features_of_case[int(self.data.note_case[i])] for i in strangers}
            )
            taught = None
            if self.store.finished(f"member{number}-pseudo") is None:
                taught = self._pseudo_labels(network, wider, strangers, number)
            load_parameters(network, start)
            both = Part([*part.learn, *strangers], part.held)
            stages.append(self._stage(network, both, number, "pseudo", steps, wider, taught))
        return {
            "notes": {
                "learned_from": len(part.learn),
                "held_out": len(part.held),
                "pseudo": len(strangers) if self.recipe.pseudo else 0,
            },
            "recipe": {**asdict(self.recipe), "steps": steps, "seed": self.options.seed},
            "curve": stages[-1]["curve"],
            "stages": stages,
        }

    def _pseudo_labels(
        self, network: Network, data: LearningSet, notes: Sequence[int], number: int
    ) -> Taught:
        """Let the network judge these notes of ``data``, which has rows for them.

        The labels are probabilities, so that what the network doubts is taught as doubtful.
        """
        label = self._of_all("labelling notes", number)
        scored = self._score(network, notes, lambda n, of, _: self.progress(n, of, label), data)
        return pseudo_labels(data, notes, scored)

    def _stage(
        self,
        network: Network,
        part: Part,
        number: int,
        name: str,
        steps: int,
        data: LearningSet,
        taught: Taught | None,
    ) -> StageReport:
        """Learn, or take what an earlier run of this stage ended with; return its report."""
        key = f"member{number}-{name}"
        done = self.store.finished(key)
        if done is None:
            lessons = Lessons(
                data, part.learn, self.maker.special, self.maker.mask_id,
                recipe=self.recipe, seed=self.options.seed, taught=taught,
                rehearsal=self._rehearsal(),
            )  # fmt: skip
            trainer = Trainer(network, lessons, steps=steps, measure=self._measure(part, data))
            what = "learning" if name == "marks" else "learning again"
            trainer.run(
                kept=self.store.kept(key), progress=self.progress, label=self._of_all(what, number)
            )
            curve = [plain_look(look) for look in trainer.history]
            done = Checkpoint(parameters_of(network), {"curve": curve})
            self.store.finish(key, done)
        load_parameters(network, done.tensors)
        curve = done.facts["curve"]
        return {"name": name, "steps": curve[-1]["step"], "curve": curve}

    def _rehearsal(self) -> Lessons | None:
        """Return notes of other cases, of which the network shall say what it says now."""
        if not self.settings.reads or not self.recipe.rehearsal:
            return None
        data = other_cases(REHEARSAL, self.maker)
        return Lessons(
            data, range(data.n_notes), self.maker.special, self.maker.mask_id,
            recipe=self.recipe, seed=self.options.seed,
        )  # fmt: skip

    def _measure(self, part: Part, data: LearningSet) -> LookMeasure | None:
        """Return the measure taken while learning: on the held-out notes, if there are any."""
        if not part.held:
            return None
        ruler = Ruler(data, part.held)

        def of(network: Network, progress: Progress) -> Mapping[str, float]:
            found = ruler.figures(self._score(network, part.held, progress, data), Thresholds())
            return {"characters": found.characters, "presence": found.presence}

        return LookMeasure(of, len(part.held))

    def _write(self, network: Network, part: Part, number: int, folder: Path) -> list[HeldOut]:
        """Write one network, in full precision too where that may be the one that is kept."""
        label = self._of_all("writing", number)
        n_files = 2 if part.held else 1
        self.progress(0, n_files, label)
        folder.mkdir()
        shutil.copyfile(self.source / TOKENIZER_FILE, folder / TOKENIZER_FILE)
        write_network(network, folder, packed=self.packed)
        self.progress(1, n_files, label)
        whole = _whole_file(folder)
        if n_files == 2:
            export_onnx(network, whole)
            self.progress(2, n_files, label)
        if not part.held:
            return []
        files = (whole, folder / NETWORK_FILE)
        label = self._of_all("measuring", number)
        return [HeldOut(part.held, *self._score_files(files, part.held, label, self.data))]

    def _score_files(
        self, files: Sequence[Path], notes: Sequence[int], label: str, data: LearningSet
    ) -> list[Scored]:
        """Return each network's outputs for the notes, as it is in its file."""
        found: list[Scored] = []
        for path in files:

            def tell(n: int, of: int | None, _: str, done: int = len(found) * len(notes)) -> None:
                self.progress(done + n, len(files) * len(notes), label)

            engine = OnnxEngine(path, threads=self.options.threads)
            found.append(self._score(engine, notes, tell, data))
        return found

    def _finish(
        self, target: Path, place: Path, reports: list[FitReport], held: list[HeldOut]
    ) -> EncoderSettings:
        settings, whole = self.settings, False
        common: FitReport = {"options": asdict(self.recipe)}
        if held:
            common["precision"] = choose_precision(self.data, held, settings.thresholds)
            whole = common["precision"]["kept"] == "full"
        folders = [place / str(number) for number, _ in enumerate(reports, start=1)]
        for folder in folders if whole else ():
            for name in packed_files(folder):
                (folder / name).unlink()
            _whole_file(folder).replace(folder / NETWORK_FILE)
        if settings.reads:
            files = [folder / NETWORK_FILE for folder in (self.source, *folders)]
            unseen = other_cases(UNSEEN, self.maker)
            notes = range(unseen.n_notes)
            before, *after = self._score_files(files, notes, "reading other cases", unseen)
            settings = keep_credit(settings, before.presence, Scored.joined(after).presence)
        if held:
            together = Calibrator(self.data, held, whole=whole)
            settings = together.fit(settings, self.features, progress=self.progress)
            common["held_out"] = together.figures(settings)
            common["calibration"] = together.reliability(settings)
            for report, one in zip(reports, held, strict=True):
                report["held_out"] = Calibrator(self.data, [one], whole=whole).figures(settings)
        for folder, report in zip(folders, reports, strict=True):
            replace(settings, report=report).write(folder / SETTINGS_FILE)
        if len(folders) == 1:
            shutil.copytree(folders[0], target, dirs_exist_ok=True)
            settings = replace(settings, report={**reports[0], **common})
            settings.write(target / SETTINGS_FILE)
            return settings
        members = [Member(f, EncoderSettings.read(f / SETTINGS_FILE)) for f in folders]
        settings = common_settings(members, {**summary(reports), **common})
        list_members(members, target, settings)
        copy_members(members, target)
        return settings


def pseudo_labels(data: LearningSet, notes: Sequence[int], scored: Scored) -> Taught:
    """Return a network's outputs for these notes as labels; the rows of all others are known."""
    n_judged = np.diff(data.row_first)
    n_judged[list(notes)] = 0
    return Taught.of(data, scored, n_judged)


def fit_key(source: Path, notes: str, options: FitOptions) -> str:
    """Return the inputs and options that distinguish one fit from another, for its checkpoints."""
    given = [file_hash(source / NETWORK_FILE), notes, asdict(options.recipe), options.seed]
    return hashlib.sha256(json.dumps(given, sort_keys=True).encode()).hexdigest()


def other_cases(path: Path, maker: PieceMaker) -> LearningSet:
    """Return notes of other cases with rows for all features: for a network to judge."""
    corpus = read_corpus(path)
    data = learning_set(corpus, None, maker)
    features = _features_of_case(corpus)
    return data.with_rows({i: features[int(data.note_case[i])] for i in range(data.n_notes)})


def _whole_file(folder: Path) -> Path:
    """Return the place of a network in full precision; beside its folder, not to be copied."""
    return folder.with_name(f"{folder.name}.onnx")


def _features_of_case(corpus: Corpus) -> dict[int, list[int]]:
    index = corpus.feature_index
    return {i: [index[f.id] for f in rubric] for i, rubric in enumerate(corpus.rubrics)}
