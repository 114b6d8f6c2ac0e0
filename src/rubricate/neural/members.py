"""The networks of a model: one in its folder, or several in sub-folders, to be averaged."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from rubricate.errors import Fault, InputError
from rubricate.files import file_hash
from rubricate.matchers.model_files import read_json, write_json
from rubricate.neural.batching import SpecialPieces
from rubricate.neural.decoding import Thresholds
from rubricate.neural.inference import Engine, OnnxEngine, RowScores, score_notes
from rubricate.neural.model_folder import (
    NETWORK_FILE,
    SETTINGS_FILE,
    TOKENIZER_FILE,
    Settings,
    model_files,
)
from rubricate.neural.pieces import PieceMaker, Pieces
from rubricate.stats.calibration import Calibration

#: Lists the sub-folders of a model of several networks, with the hashes of their files.
MEMBERS_FILE = "members.json"


@dataclass(frozen=True, slots=True)
class Member:
    """One network of a model: where it is, its own settings, and how much it counts."""

    folder: Path
    settings: Settings
    weight: float = 1.0


class MemberReader:
    """Reads notes with one member; its network is opened when it is first needed."""

    def __init__(self, member: Member) -> None:
        self.member = member
        self._maker = PieceMaker.from_file(member.folder / TOKENIZER_FILE)
        self._engine: Engine | None = None

    def read(
        self, notes: list[str], features: list[str], per_pass: int | None, threads: int | None
    ) -> tuple[list[Pieces], list[list[RowScores]]]:
        """Return the pieces of each note, and what the network says of them for each feature."""
        if self._engine is None:
            self._engine = OnnxEngine(self.member.folder / NETWORK_FILE, threads=threads)
        maker = self._maker
        special = SpecialPieces(maker.start_id, maker.stop_id, maker.fill_id)
        pieces, sought = maker.cut(notes), maker.cut(features)
        return pieces, score_notes(
            self._engine, pieces, sought, special, features_per_pass=per_pass
        )


def read_members(folder: Path) -> list[Member]:
    """Return the members of the model in a folder, checked against the list of their files.

    Raises
    ------
    InputError
        If the list is wrong, or a file of a member is missing or altered; all faults at once.
    """
    if not (folder / MEMBERS_FILE).is_file():
        return [Member(folder, Settings.read(folder / SETTINGS_FILE))]
    faults, members = [], []
    for place, weight, files in _listed(folder / MEMBERS_FILE):
        for name, wanted in files.items():
            part = place / name
            if not part.is_file():
                faults.append(Fault("is missing from the model", part))
            elif wanted and file_hash(part) != wanted:
                faults.append(Fault("was altered after the model was saved", part))
        if not faults:
            members.append(Member(place, Settings.read(place / SETTINGS_FILE), weight))
    if faults:
        raise InputError(faults)
    return members


def _listed(path: Path) -> list[tuple[Path, float, Mapping[str, str]]]:
    try:
        found: list[tuple[Path, float, Mapping[str, str]]] = []
        for one in read_json(path)["members"]:
            name, weight = str(one["folder"]), float(one["weight"])
            plain = all(Path(part).name == part for part in (name, *one["files"]))
            if not plain or not weight > 0 or SETTINGS_FILE not in one["files"]:
                raise ValueError
            found.append((path.parent / name, weight, {k: str(v) for k, v in one["files"].items()}))
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise InputError([Fault("not a list of the members of a model", path)]) from error
    if not found:
        raise InputError([Fault("the model has no members", path)])
    return found


def list_members(members: Sequence[Member], target: Path, settings: Settings) -> None:
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


def common_settings(members: Sequence[Member], report: Mapping[str, Any] | None = None) -> Settings:
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
    return Settings(
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
    )


def _reports(members: Sequence[Member]) -> dict[str, Any]:
    """Return the report of models that were fitted apart: each one's own."""
    own = [dict(member.settings.report) for member in members]
    return {"notes": {}, "recipe": {}, "curve": [], "members": own}
