"""Going on from a saved network with a few annotated notes, on the processor at hand."""

from __future__ import annotations

import hashlib
import json
import shutil
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rubricate.errors import MissingExtraError
from rubricate.files import file_hash
from rubricate.matchers.model_files import corpus_hash
from rubricate.neural.batching import SpecialPieces
from rubricate.neural.folds import Part, parts_of
from rubricate.neural.inference import Engine, OnnxEngine
from rubricate.neural.learning_set import learning_set
from rubricate.neural.measuring import Scored
from rubricate.neural.members import Member, common_settings, copy_members, list_members
from rubricate.neural.model_folder import NETWORK_FILE, SETTINGS_FILE, TOKENIZER_FILE, Settings
from rubricate.neural.pieces import PieceMaker
from rubricate.neural.recipes import FitRecipe
from rubricate.neural.settling import (
    HeldOut,
    choose_precision,
    held_out_calibration,
    held_out_figures,
    settle,
)

if TYPE_CHECKING:
    from rubricate.corpus import Corpus
    from rubricate.neural.network import Network
    from rubricate.neural.teaching import FitPlan

#: Called now and then with the step, the number of steps and the loss.
Watch = Callable[[int, int, float], None]


@dataclass(frozen=True, slots=True)
class FitOptions:
    """How `fit_folder` learns.

    Parameters
    ----------
    recipe : FitRecipe
        All that can be switched.
    steps : int, optional
        Most steps of a stage, whatever the recipe says.
    checkpoint : Path, optional
        A folder that keeps what is needed to go on after a kill.
    """

    recipe: FitRecipe = field(default_factory=FitRecipe)
    steps: int | None = None
    seed: int = 0
    checkpoint: Path | None = None
    threads: int | None = None


def fit_folder(
    source: Path,
    target: Path,
    corpus: Corpus,
    annotator: str | None,
    options: FitOptions,
    progress: Watch | None = None,
) -> Settings:
    """Fit the network in ``source`` to the annotated notes and write a model into ``target``.

    With one fold ``target`` holds a network, with more a sub-folder for each.

    Raises
    ------
    MissingExtraError
        If torch is not installed.
    InputError
        If there are fewer notes than folds, or the checkpoint is of another fit.
    """
    try:
        import torch
    except ImportError as error:
        raise MissingExtraError("fitting the encoder", "train") from error

    before = torch.get_num_threads()
    if options.threads is not None:
        torch.set_num_threads(options.threads)
    try:
        with tempfile.TemporaryDirectory(prefix="rubricate-fit-") as place:
            fit = _Fit(source, corpus, annotator, options)
            return fit.run(target, Path(place), progress)
    finally:
        torch.set_num_threads(before)


class _Fit:
    """One fit: its notes, its parts, and what is written in the end."""

    def __init__(
        self, source: Path, corpus: Corpus, annotator: str | None, options: FitOptions
    ) -> None:
        from rubricate.neural.checkpoints import StageStore
        from rubricate.neural.teaching import FitPlan

        self.source = source
        self.recipe = options.recipe
        self.threads = options.threads
        self.features = [feature.id for feature in corpus.features]
        self.settings = Settings.read(source / SETTINGS_FILE)
        maker = PieceMaker.from_file(source / TOKENIZER_FILE)
        self.special = SpecialPieces(maker.start_id, maker.stop_id, maker.fill_id)
        self.data = learning_set(corpus, annotator, maker)
        self.plan: FitPlan = FitPlan(
            self.data, _features_of_case(corpus), self.special, maker.mask_id,
            self.recipe, options.steps, options.seed,
        )  # fmt: skip
        self.parts = parts_of(self.data, self.recipe.folds, self.recipe.held_out, options.seed)
        key = fit_key(source, corpus_hash(corpus, annotator), options)
        self.store = StageStore(options.checkpoint, key)

    def run(self, target: Path, place: Path, progress: Watch | None) -> Settings:
        """Teach every network, settle what they share, write the model; ``place`` is for now."""
        import torch

        from rubricate.neural.checkpoints import load_parameters, parameters_of
        from rubricate.neural.storage import read_network
        from rubricate.neural.teaching import Clock, read_language, teach

        rounds = 2 if self.recipe.pseudo else 1
        steps = sum(self.plan.n_steps(part) for part in self.parts) * rounds
        clock = Clock(progress, self.recipe.language_steps + steps)
        network = read_network(self.source).to("cuda" if torch.cuda.is_available() else "cpu")
        language = read_language(network, self.plan, self.store, clock)
        start = parameters_of(network)
        reports, held = [], []
        for number, part in enumerate(self.parts, start=1):
            load_parameters(network, start)
            report = teach(network, part, f"member{number}", self.plan, self.store, clock)
            reports.append({**report, "stages": [*language, *report["stages"]]})
            held += self._write(network, part, place / str(number))
        return self._finish(target, place, reports, held)

    def _write(self, network: Network, part: Part, folder: Path) -> list[HeldOut]:
        """Write one network, in full precision too where held-out notes can compare the two."""
        from rubricate.neural.export import export_onnx
        from rubricate.neural.scoring_torch import score_rows
        from rubricate.neural.storage import write_network

        folder.mkdir()
        shutil.copyfile(self.source / TOKENIZER_FILE, folder / TOKENIZER_FILE)
        write_network(network, folder)
        if not part.held:
            return []
        whole = _whole_file(folder)
        export_onnx(network, whole)
        eight = folder / NETWORK_FILE

        def score(one: Network | Engine) -> Scored:
            per_pass = self.recipe.measured_with
            return score_rows(
                one, self.data, part.held, self.special, features_per_pass=per_pass, budget=4096
            )

        return [
            HeldOut(
                part.held,
                trained=score(network),
                whole=score(OnnxEngine(whole, threads=self.threads)),
                eight_bits=score(OnnxEngine(eight, threads=self.threads)),
            )
        ]

    def _finish(
        self, target: Path, place: Path, reports: list[dict[str, Any]], held: list[HeldOut]
    ) -> Settings:
        settings = settle(self.settings, self.data, held, self.features)
        common: dict[str, Any] = {"options": asdict(self.recipe)}
        if held:
            common["held_out"] = held_out_figures(settings, self.data, held)
            common["calibration"] = held_out_calibration(settings, self.data, held)
            common["precision"] = choose_precision(settings, self.data, held)
            for report, one in zip(reports, held, strict=True):
                report["held_out"] = held_out_figures(settings, self.data, [one])
        whole = common.get("precision", {}).get("kept") == "full"
        folders = []
        for number, report in enumerate(reports, start=1):
            folder = place / str(number)
            replace(settings, report=report).write(folder / SETTINGS_FILE)
            if whole:
                _whole_file(folder).replace(folder / NETWORK_FILE)
            folders.append(folder)
        if len(folders) == 1:
            shutil.copytree(folders[0], target, dirs_exist_ok=True)
            settings = replace(settings, report={**reports[0], **common})
            settings.write(target / SETTINGS_FILE)
            return settings
        members = [Member(folder, Settings.read(folder / SETTINGS_FILE)) for folder in folders]
        settings = common_settings(members, {**_summary(reports), **common})
        list_members(members, target, settings)
        copy_members(members, target)
        return settings


def fit_key(source: Path, notes: str, options: FitOptions) -> str:
    """Return what tells one fit from another, for its checkpoints."""
    given = [file_hash(source / NETWORK_FILE), notes, asdict(options.recipe)]
    text = json.dumps([*given, options.steps, options.seed], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


def _whole_file(folder: Path) -> Path:
    """Return where a network in full precision waits; beside its folder, not to be copied."""
    return folder.with_name(f"{folder.name}.onnx")


def _features_of_case(corpus: Corpus) -> dict[int, list[int]]:
    index = corpus.feature_index
    return {i: [index[f.id] for f in rubric] for i, rubric in enumerate(corpus.rubrics)}


def _summary(reports: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return the report of several networks: the mean of their curves, and each one's own."""
    held = sum(report["notes"]["held_out"] for report in reports)
    curves: dict[int, list[dict[str, Any]]] = {}
    for report in reports:
        for entry in report["curve"]:
            curves.setdefault(entry["step"], []).append(entry)
    mean = [
        {key: sum(one[key] for one in own) / len(own) for key in own[0] if key != "step"}
        | {"step": step}
        for step, own in sorted(curves.items())
    ]
    return {
        "notes": {"learned_from": held, "held_out": held},
        "recipe": reports[0]["recipe"],
        "curve": mean,
        "members": list(reports),
    }
