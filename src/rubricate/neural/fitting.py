"""Going on from a saved network with a few annotated notes, on the processor at hand."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from rubricate.errors import MissingExtraError
from rubricate.neural.batching import SpecialPieces
from rubricate.neural.decoding import Thresholds
from rubricate.neural.learning_set import LearningSet, learning_set
from rubricate.neural.measuring import Ruler, Scored
from rubricate.neural.model_folder import SETTINGS_FILE, TOKENIZER_FILE, Settings
from rubricate.neural.passes import ALL, Lessons, Variation
from rubricate.neural.pieces import PieceMaker
from rubricate.stats.calibration import fit_calibration

if TYPE_CHECKING:
    from rubricate.corpus import Corpus
    from rubricate.neural.network import Network
    from rubricate.neural.training import Progress

#: A case with fewer notes can spare none to choose the best step on: all are learned from.
FEWEST_TO_HOLD_OUT = 20
#: Held-out rows from which on thresholds and calibration are fitted anew.
FEWEST_ROWS = 100
#: Held-out rows of a feature, and rows of the rarer kind, for a threshold of its own.
FEWEST_OF_FEATURE, FEWEST_OF_KIND = 30, 5


@dataclass(frozen=True, slots=True)
class FitOptions:
    """How `fit_folder` learns.

    Parameters
    ----------
    steps : int, optional
        Most steps; by default 60 and 6 for each note, at most 900.
    held_out : float
        Share of the notes that choose the best step, the thresholds and the calibration.
    patience : int
        How many looks at the held-out notes may pass without a better one.
    every : int
        Steps between two looks.
    """

    steps: int | None = None
    seed: int = 0
    checkpoint: Path | None = None
    threads: int | None = None
    held_out: float = 0.2
    patience: int = 4
    every: int = 20


#: Few passes a step, so that one takes about a second on two cores.
FIT_VARIATION = Variation(
    features={1: 0.2, 4: 0.2, ALL: 0.6}, sequences={1: 8, 4: 5, ALL: 4}, phrase=0.2, masked=0.08
)


def usual_steps(n_notes: int) -> int:
    """Return how many steps suit a number of notes.

    Examples
    --------
    >>> usual_steps(10), usual_steps(500)
    (120, 900)
    """
    return min(60 + 6 * n_notes, 900)


def fit_folder(
    source: Path,
    target: Path,
    corpus: Corpus,
    annotator: str | None,
    options: FitOptions,
    progress: Callable[[int, int, float], None] | None = None,
) -> Settings:
    """Fit the network in ``source`` to the annotated notes and write a model into ``target``.

    Raises
    ------
    MissingExtraError
        If torch is not installed.
    """
    try:
        import torch
    except ImportError as error:
        raise MissingExtraError("fitting the encoder", "train") from error
    from rubricate.neural.storage import read_network, write_network

    before = torch.get_num_threads()
    if options.threads is not None:
        torch.set_num_threads(options.threads)
    try:
        settings = Settings.read(source / SETTINGS_FILE)
        maker = PieceMaker.from_file(source / TOKENIZER_FILE)
        network = read_network(source)
        fitted = _Fit(network, learning_set(corpus, annotator, maker), maker, options)
        settings = fitted.run(settings, progress, [f.id for f in corpus.features])
        write_network(network, target)
    finally:
        torch.set_num_threads(before)
    shutil.copyfile(source / TOKENIZER_FILE, target / TOKENIZER_FILE)
    settings.write(target / SETTINGS_FILE)
    return settings


class _Fit:
    """One fit: which notes are held out, the best weights so far, what was measured."""

    def __init__(
        self, network: Network, data: LearningSet, maker: PieceMaker, options: FitOptions
    ) -> None:
        self.network = network
        self.data = data
        self.options = options
        self.special = SpecialPieces(maker.start_id, maker.stop_id, maker.fill_id)
        self.mask_id = maker.mask_id
        self.learn, self.held = hold_out(data, options.held_out, options.seed)
        self.best: tuple[float, dict[str, Any]] | None = None
        self.waited = 0

    def run(
        self,
        settings: Settings,
        progress: Callable[[int, int, float], None] | None,
        features: list[str],
    ) -> Settings:
        """Learn; leave the best weights in the network; return the settings that suit them."""
        from rubricate.neural.training import Recipe, Trainer

        steps = self.options.steps or usual_steps(len(self.learn))
        recipe = Recipe(
            steps=steps, rate=1e-4, scorer_rate=3e-4, average=0.98, seed=self.options.seed
        )
        lessons = Lessons(
            self.data, self.learn, self.special, self.mask_id,
            variation=FIT_VARIATION, seed=self.options.seed,
        )  # fmt: skip
        trainer = Trainer(self.network, lessons, recipe)

        def watch(now: Progress, current: Network) -> dict[str, Any]:
            if progress is not None:
                progress(now.step, now.steps, now.loss)
            return self._look(now, current)

        if self.options.checkpoint is not None and self.options.checkpoint.is_file():
            self._resume_best()
        trainer.run(watch=watch, every=self.options.every, checkpoint=self.options.checkpoint)
        if self.best is not None:
            self.network.load_state_dict(self.best[1])
        report = {
            "notes": {"learned_from": len(self.learn), "held_out": len(self.held)},
            "recipe": asdict(recipe),
            "curve": trainer.history,
        }
        return self._settle(replace(settings, report=report), features)

    def _look(self, now: Progress, current: Network) -> dict[str, Any]:
        """Measure on the held-out notes and keep the best weights."""
        if not self.held:
            return {}
        scored = self._score(current)
        found = Ruler(self.data, self.held).figures(scored, Thresholds())
        worth = found.characters + found.presence
        self.waited += 1
        if self.best is None or worth > self.best[0]:
            self.best = (worth, {n: p.detach().clone() for n, p in current.named_parameters()})
            self.waited = 0
            self._keep_best()
        return {
            "characters": found.characters,
            "presence": found.presence,
            "stop": self.waited >= self.options.patience,
        }

    def _best_path(self) -> Path | None:
        path = self.options.checkpoint
        return None if path is None else path.with_name(path.name + ".best")

    def _keep_best(self) -> None:
        from rubricate.neural.checkpoints import Checkpoint, write_checkpoint

        path = self._best_path()
        if path is not None and self.best is not None:
            write_checkpoint(path, Checkpoint(self.best[1], {"worth": self.best[0]}))

    def _resume_best(self) -> None:
        from rubricate.neural.checkpoints import read_checkpoint

        path = self._best_path()
        found = None if path is None else read_checkpoint(path)
        if found is not None:
            self.best = (float(found.facts["worth"]), found.tensors)

    def _score(self, network: Network) -> Scored:
        from rubricate.neural.scoring_torch import score_rows

        return score_rows(
            network, self.data, self.held, self.special, features_per_pass=None, budget=4096
        )

    def _settle(self, settings: Settings, features: list[str]) -> Settings:
        """Fit thresholds and calibration to the held-out notes, where there are enough."""
        if not self.held:
            return settings
        ruler = Ruler(self.data, self.held)
        if len(ruler.rows) < FEWEST_ROWS:
            return settings
        scored = self._score(self.network)
        present = self.data.row_marked[ruler.rows] > 0
        return replace(
            settings,
            thresholds=ruler.best_thresholds(scored),
            calibration=fit_calibration(scored.presence, present),
            feature_presence=feature_thresholds(
                scored.presence,
                present,
                [features[f] for f in self.data.row_feature[ruler.rows].tolist()],
            ),
        )


def feature_thresholds(
    presence: npt.NDArray[np.float32], present: npt.NDArray[np.bool_], feature: list[str]
) -> dict[str, float]:
    """Return for each feature seen often enough, both present and absent, its best threshold.

    Best is the highest presence F1; of thresholds that tie, the one nearest one half.

    Examples
    --------
    >>> chance = np.tile(np.array([0.3, 0.1], np.float32), 20)
    >>> feature_thresholds(chance, chance > 0.2, ["f"] * 40)
    {'f': 0.3}
    """
    own_rows: dict[str, list[int]] = {}
    for i, name in enumerate(feature):
        own_rows.setdefault(name, []).append(i)
    best: dict[str, float] = {}
    for name, rows in own_rows.items():
        there, chance = present[rows], presence[rows]
        rarer = min(int(there.sum()), int((~there).sum()))
        if len(rows) < FEWEST_OF_FEATURE or rarer < FEWEST_OF_KIND:
            continue
        tried = [k / 20 for k in range(4, 17)]
        scores = [
            2 * int((there & (chance >= t)).sum()) / int(there.sum() + (chance >= t).sum())
            for t in tried
        ]
        best[name] = max(zip(scores, tried, strict=True), key=lambda x: (x[0], -abs(x[1] - 0.5)))[1]
    return best


def hold_out(data: LearningSet, share: float, seed: int) -> tuple[list[int], list[int]]:
    """Divide the judged notes of each case into those to learn from and those held out.

    A case with fewer than `FEWEST_TO_HOLD_OUT` notes gives none away.
    """
    rng = np.random.default_rng(seed)
    learn: list[int] = []
    held: list[int] = []
    judged = [i for i in range(data.n_notes) if len(data.rows(i)) and len(data.note(i))]
    for case in sorted({int(data.note_case[i]) for i in judged}):
        own = rng.permutation([i for i in judged if data.note_case[i] == case]).tolist()
        n = round(share * len(own)) if len(own) >= FEWEST_TO_HOLD_OUT else 0
        held += own[:n]
        learn += own[n:]
    return sorted(learn), sorted(held)
