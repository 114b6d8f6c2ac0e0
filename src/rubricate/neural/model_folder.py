"""What a saved encoder consists of: a network, a tokenizer and settings, as plain files."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from importlib import resources
from pathlib import Path
from typing import Any

from rubricate.errors import Fault, InputError
from rubricate.matchers.model_files import read_json, write_json
from rubricate.neural.decoding import Thresholds
from rubricate.stats.calibration import Calibration

NETWORK_FILE = "network.onnx"
TOKENIZER_FILE = "tokenizer.json"
SETTINGS_FILE = "settings.json"
#: What a network around an encoder of the transformers library needs besides, to learn further.
CONFIG_FILE = "config.json"
WEIGHTS_FILE = "weights.safetensors"


@dataclass(frozen=True, slots=True)
class Settings:
    """What belongs to a network besides its weights.

    Parameters
    ----------
    shape : mapping
        The sizes of the network (`rubricate.neural.network.Shape`).
    thresholds : Thresholds
        For features that have none of their own.
    feature_presence : mapping from feature id to probability
        From which probability on that feature is present, where enough was seen to say.
    calibration : Calibration
        From the network's presence to a probability that means what it says.
    report : mapping
        How the network was made and what was measured on notes held out.
    """

    shape: Mapping[str, Any] = field(default_factory=dict)
    thresholds: Thresholds = field(default_factory=Thresholds)
    feature_presence: Mapping[str, float] = field(default_factory=dict)
    calibration: Calibration = field(default_factory=Calibration)
    report: Mapping[str, Any] = field(default_factory=dict)

    def of_feature(self, feature: str) -> Thresholds:
        """Return the thresholds of one feature."""
        own = self.feature_presence.get(feature)
        common = self.thresholds
        return common if own is None else replace(common, presence=own)

    def write(self, path: Path) -> None:
        """Write the settings as one JSON file."""
        write_json(path, asdict(self))

    @classmethod
    def read(cls, path: Path) -> Settings:
        """Read what `write` wrote; InputError when the file is another."""
        value = read_json(path)
        try:
            return cls(
                shape=dict(value["shape"]),
                thresholds=Thresholds(**value["thresholds"]),
                feature_presence={k: float(v) for k, v in value["feature_presence"].items()},
                calibration=Calibration.from_json(value["calibration"]),
                report=dict(value["report"]),
            )
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise InputError([Fault("not the settings of an encoder", path)]) from error


def model_files(folder: Path) -> list[str]:
    """Return the names of the files a model folder's encoder consists of.

    Examples
    --------
    >>> model_files(shipped_folder())
    ['network.onnx', 'tokenizer.json', 'settings.json']
    """
    whole = (NETWORK_FILE, TOKENIZER_FILE, SETTINGS_FILE)
    return [*whole, *(name for name in (CONFIG_FILE, WEIGHTS_FILE) if (folder / name).is_file())]


def shipped_folder() -> Path:
    """Return the folder of the matcher that comes with the package."""
    folder = Path(str(resources.files("rubricate.neural"))) / "model"
    if not (folder / NETWORK_FILE).is_file():
        raise InputError("this installation of rubricate lacks the pretrained encoder")
    return folder
