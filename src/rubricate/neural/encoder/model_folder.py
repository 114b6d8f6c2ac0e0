"""A saved encoder: network, tokenizer and settings as plain files, of one network or several."""

from __future__ import annotations

import math
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np

from rubricate.arrays import F64, Bools
from rubricate.errors import Fault, InputError, UnknownNameError
from rubricate.files import file_hash, is_plain_name
from rubricate.formats.encoding import read_json
from rubricate.neural.encoder.decoding import Opinion, Thresholds, Votes
from rubricate.neural.encoder.inference import (
    Engine,
    OnnxEngine,
    RowScores,
    score_notes,
)
from rubricate.neural.encoder.packed import packed_files
from rubricate.neural.encoder.pieces import PieceMaker, Pieces, Spans
from rubricate.stats.calibration import Calibration, raised
from rubricate.values import write_json

NETWORK_FILE = "network.onnx"
TOKENIZER_FILE = "tokenizer.json"
SETTINGS_FILE = "settings.json"
#: What a network around an encoder of the transformers library needs besides, to learn further.
CONFIG_FILE = "config.json"
WEIGHTS_FILE = "weights.safetensors"
#: The networks that come with the package: MiniLM, and MPNet with five times its weights.
SHIPPED = ("fast", "accurate")
#: Lists the sub-folders of a model of several networks, with the hashes of their files.
MEMBERS_FILE = "members.json"
#: Notes and rubrics that keep the shipped networks from forgetting what `fit` does not teach, and
#: others, in no training, that tell how far it has moved them.
REHEARSAL, UNSEEN = (
    Path(str(resources.files("rubricate.neural"))) / "models" / f"{name}.jsonl"
    for name in ("rehearsal", "unseen")
)


@dataclass(frozen=True, slots=True)
class EncoderSettings:
    """Settings and files of a network besides its weights."""

    shape: Mapping[str, Any] = field(default_factory=dict)
    thresholds: Thresholds = field(default_factory=Thresholds)
    feature_presence: Mapping[str, float] = field(default_factory=dict)
    calibration: Calibration = field(default_factory=Calibration)
    report: Mapping[str, Any] = field(default_factory=dict)
    #: From which probability on a feature is contradicted: of 1, which none reaches, never.
    contradiction: float = 1.0
    #: How much the lexicon's word counts beside the network's: on presence, and on where.
    vote: float = 0.0
    word_vote: float = 0.0

    @property
    def reads(self) -> bool:
        """True if the network was trained to detect contradictions, as the shipped ones were."""
        return self.contradiction < 1

    def of_feature(self, feature: str) -> Thresholds:
        """Return the thresholds of one feature."""
        own = self.feature_presence.get(feature)
        common = self.thresholds
        return common if own is None else replace(common, presence=own)

    def write(self, path: Path) -> None:
        """Write the settings as one JSON file."""
        write_json(path, asdict(self))

    @classmethod
    def read(cls, path: Path) -> EncoderSettings:
        """Read what `write` wrote; InputError when the file is another."""
        value = read_json(path)
        try:
            return cls(
                shape=dict(value["shape"]),
                thresholds=Thresholds(**{k: float(v) for k, v in value["thresholds"].items()}),
                feature_presence={k: float(v) for k, v in value["feature_presence"].items()},
                calibration=Calibration.from_json(value["calibration"]),
                contradiction=float(value.get("contradiction", 1.0)),
                vote=float(value.get("vote", 0.0)),
                word_vote=float(value.get("word_vote", 0.0)),
                report=dict(value["report"]),
            )
        except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
            raise InputError([Fault("not the settings of an encoder", path)]) from error


def model_files(folder: Path) -> list[str]:
    """Return the names of the files a model folder's encoder consists of.

    >>> model_files(shipped_folder("fast"))
    ['network.onnx', 'tokenizer.json', 'settings.json']
    """
    whole = (NETWORK_FILE, TOKENIZER_FILE, SETTINGS_FILE)
    more = (name for name in (CONFIG_FILE, WEIGHTS_FILE) if (folder / name).is_file())
    return [*whole, *more, *packed_files(folder)]


def shipped_folder(network: str = "fast") -> Path:
    """Return the folder of a network that comes with the package."""
    if network not in SHIPPED:
        raise UnknownNameError("network", network, SHIPPED)
    folder = Path(str(resources.files("rubricate.neural"))) / "models" / network
    if not (folder / NETWORK_FILE).is_file():
        raise InputError(f"this installation of rubricate lacks the network {network!r}")
    return folder


@dataclass(frozen=True, slots=True)
class Member:
    """One network of a model: where it is, its own settings, and how much it counts."""

    folder: Path
    settings: EncoderSettings
    weight: float = 1.0

    def opinion(
        self, pieces: Pieces, rows: Sequence[RowScores], votes: Votes | None
    ) -> tuple[Opinion, F64]:
        """Return the network's outputs for the places of a note and for the presence of features.

        The lexicon's votes count in both as much as the settings say.
        """
        inside, edges = (np.stack([getattr(r, k) for r in rows]) for k in ("inside", "edges"))
        presence = np.array([row.presence for row in rows])
        if votes is not None:
            inside = raised(inside, self.settings.word_vote * votes.on_pieces(pieces))
            presence = raised(presence, self.settings.vote * votes.presence)
        return Opinion(pieces, inside, self.weight, edges), presence


class MemberReader:
    """Reads notes with one member; its network is opened when it is first needed."""

    def __init__(self, member: Member) -> None:
        self.member = member
        self._maker = PieceMaker.from_file(member.folder / TOKENIZER_FILE)
        self._engine: Engine | None = None

    def read(
        self,
        notes: list[str],
        features: list[str],
        per_pass: int | None,
        threads: int | None,
        parts: Sequence[Spans] | None = None,
    ) -> tuple[list[Pieces], list[list[RowScores]]]:
        """Return the pieces of each note, and what the network says of them for each feature.

        With ``parts``, spans of characters for each note, a note is read as if it had only these.
        """
        if self._engine is None:
            self._engine = OnnxEngine(self.member.folder / NETWORK_FILE, threads=threads)
        pieces, sought = self._maker.cut(notes), self._maker.cut(features)
        read, kept = pieces, list[Bools]()
        if parts is not None:
            kept = [own.touched(spans) for own, spans in zip(pieces, parts, strict=True)]
            read = [own.only(these) for own, these in zip(pieces, kept, strict=True)]
        said = score_notes(
            self._engine, read, sought, self._maker.special, features_per_pass=per_pass
        )
        if parts is not None:
            said = [
                [row.spread(these) for row in rows] for rows, these in zip(said, kept, strict=True)
            ]
        return pieces, said


def read_members(folder: Path) -> list[Member]:
    """Return the members of the model in a folder, checked against the list of their files."""
    if not (folder / MEMBERS_FILE).is_file():
        return [Member(folder, EncoderSettings.read(folder / SETTINGS_FILE))]
    faults, members = [], []
    for place, weight, files in _listed(folder / MEMBERS_FILE):
        for name, wanted in files.items():
            part = place / name
            if not part.is_file():
                faults.append(Fault("is missing from the model", part))
            elif wanted and file_hash(part) != wanted:
                faults.append(Fault("was altered after the model was saved", part))
        if not faults:
            members.append(Member(place, EncoderSettings.read(place / SETTINGS_FILE), weight))
    if faults:
        raise InputError(faults)
    return members


def _listed(path: Path) -> list[tuple[Path, float, Mapping[str, str]]]:
    try:
        found: list[tuple[Path, float, Mapping[str, str]]] = []
        for one in read_json(path)["members"]:
            name, weight = str(one["folder"]), float(one["weight"])
            files = {str(k): str(v) for k, v in one["files"].items()}
            parts = (name, *files)
            plain = all(is_plain_name(part) for part in parts)
            needed = {NETWORK_FILE, TOKENIZER_FILE, SETTINGS_FILE} <= files.keys()
            if not plain or not needed or not 0 < weight < math.inf:
                raise ValueError
            found.append((path.parent / name, weight, files))
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
        raise InputError([Fault("not a list of the members of a model", path)]) from error
    if not found:
        raise InputError([Fault("the model has no members", path)])
    return found


def list_members(members: Sequence[Member], target: Path, settings: EncoderSettings) -> None:
    """Write the list of members and their common settings into the folder they will be in."""
    listed = []
    for place, member in _places(members):
        # Settings may be edited by hand, as those of a model of one network may.
        files = {
            name: "" if name == SETTINGS_FILE else file_hash(member.folder / name)
            for name in model_files(member.folder)
        }
        listed.append({"folder": place, "weight": member.weight, "files": files})
    write_json(target / MEMBERS_FILE, {"members": listed})
    settings.write(target / SETTINGS_FILE)


def copy_members(members: Sequence[Member], target: Path) -> None:
    """Copy the members into sub-folders of ``target``."""
    for place, member in _places(members):
        (target / place).mkdir()
        for name in model_files(member.folder):
            shutil.copyfile(member.folder / name, target / place / name)


def _places(members: Sequence[Member]) -> list[tuple[str, Member]]:
    return [(f"member{number}", member) for number, member in enumerate(members, start=1)]


def common_settings(
    members: Sequence[Member], report: Mapping[str, Any] | None = None
) -> EncoderSettings:
    """Return the settings of the mean of several networks.

    The mean presence is one of calibrated probabilities, so each member's presence thresholds
    are taken through its calibration before they are averaged; nothing is left to calibrate.
    """
    if len(members) == 1:
        own = members[0].settings
        return own if report is None else replace(own, report=report)
    total = sum(member.weight for member in members)

    def mean(values: Sequence[float]) -> float:
        pairs = zip(values, members, strict=True)
        return sum(value * member.weight for value, member in pairs) / total

    def presence(at: Sequence[Thresholds]) -> float:
        pairs = zip(at, members, strict=True)
        return mean([float(member.settings.calibration(one.presence)) for one, member in pairs])

    usual = [member.settings.thresholds for member in members]
    special = sorted({f for member in members for f in member.settings.feature_presence})
    return EncoderSettings(
        thresholds=Thresholds(
            mean([one.inside for one in usual]),
            presence(usual),
            mean([one.rescue for one in usual]),
            mean([one.edges for one in usual]),
            mean([one.cost for one in usual]),
        ),
        feature_presence={
            feature: presence([member.settings.of_feature(feature) for member in members])
            for feature in special
        },
        calibration=Calibration(),
        report=report or _reports(members),
        contradiction=mean([member.settings.contradiction for member in members]),
    )


def _reports(members: Sequence[Member]) -> dict[str, object]:
    """Return the report of models that were fitted apart: each one's own."""
    own = [dict(member.settings.report) for member in members]
    return {"notes": {}, "recipe": {}, "curve": [], "members": own}
