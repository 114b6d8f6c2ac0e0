"""Models and tokenizers in the form model hubs give them, from a folder or by name."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from rubricate.errors import Fault, InputError, MissingExtraError
from rubricate.formats.encoding import Json, read_json
from rubricate.neural.encoder.model_folder import CONFIG_FILE, TOKENIZER_FILE
from rubricate.neural.encoder.pieces import PieceMaker

#: What is fetched of a named model before its weights.
SMALL_FILES = (
    "config.json",
    "tokenizer*",
    "special_tokens_map.json",
    "added_tokens.json",
    "vocab*",
    "merges.txt",
    "*.model",
)
#: Where tokenizers say what their special pieces are called, and under which keys.
_SPECIAL_FILES = ("tokenizer_config.json", "special_tokens_map.json")
_SPECIAL_KEYS = {
    "start": ("cls_token", "bos_token"),
    "stop": ("sep_token", "eos_token"),
    "fill": ("pad_token",),
    "mask": ("mask_token", "unk_token"),
}


@dataclass(frozen=True, slots=True)
class ModelSource:
    """Source of a model."""

    folder: Path
    name: str | None = None


def find_source(backbone: str | Path) -> ModelSource:
    """Return the folder, or fetch the small files of the model a hub knows by this name.

    >>> find_source("/nowhere/model")
    Traceback (most recent call last):
    ...
    rubricate.errors.InputError: /nowhere/model: there is no such folder
    """
    folder = Path(backbone).expanduser()
    if folder.is_dir():
        return ModelSource(folder)
    name = backbone.as_posix() if isinstance(backbone, Path) else backbone
    if name.startswith((".", "/", "~")) or name.count("/") > 1 or "\\" in name:
        raise InputError([Fault("there is no such folder", folder)])
    _transformers()
    hub: Any = import_module("huggingface_hub")
    try:
        with _quiet(download=True):
            found = hub.snapshot_download(name, allow_patterns=list(SMALL_FILES))
    except Exception as error:  # no connection, no such name, no leave: many roots
        raise _not_from_hub(name) from error
    return ModelSource(Path(found), name)


def read_config(source: ModelSource) -> Json:
    """Return the content of ``config.json``, as it stands there."""
    path = source.folder / CONFIG_FILE
    if not path.is_file():
        raise InputError([Fault("config.json is missing: this is no model of a hub", path)])
    return read_json(path)


def load_model(source: ModelSource) -> Any:
    """Return the encoder with its pretrained weights, in full precision.

    Only safetensors files are read, and no code that comes with a model is run.
    """
    transformers = _transformers()
    place = str(source.folder) if source.name is None else source.name
    if source.name is None and not any(source.folder.glob("*.safetensors")):
        raise InputError(
            [Fault("there are no weights (*.safetensors) here; no pickle is read", source.folder)]
        )
    try:
        with _quiet(download=source.name is not None):
            model, found = transformers.AutoModel.from_pretrained(
                place,
                use_safetensors=True,
                trust_remote_code=False,
                local_files_only=source.name is None,
                dtype=import_module("torch").float32,
                output_loading_info=True,
            )
    except Exception as error:  # its errors share no root
        if source.name is not None:
            raise _not_from_hub(source.name) from error
        raise InputError(
            [Fault(f"transformers cannot read this model: {_first_line(error)}", source.folder)]
        ) from error
    missing = sorted(name for name in found["missing_keys"] if "pooler" not in name)
    if missing:
        raise InputError([Fault(f"the weights lack {missing[0]}", source.folder)])
    return model


def empty_model(folder: Path) -> Any:
    """Return the encoder a model folder's ``config.json`` describes, its weights not yet set."""
    transformers = _transformers()
    try:
        with _quiet():
            config = transformers.AutoConfig.from_pretrained(
                str(folder), trust_remote_code=False, local_files_only=True
            )
            return transformers.AutoModel.from_config(config, trust_remote_code=False)
    except Exception as error:  # its errors share no root
        raise InputError([Fault("not the configuration of an encoder", folder)]) from error


def load_tokenizer(source: ModelSource) -> PieceMaker:
    """Return the tokenizer of the model, converted if there is no ``tokenizer.json``."""
    names = _special_names(source.folder)
    path = source.folder / TOKENIZER_FILE
    if path.is_file():
        return PieceMaker.from_file(path, names)
    transformers = _transformers()
    if any(source.folder.glob("*.model")) and find_spec("sentencepiece") is None:
        raise MissingExtraError("reading a sentence-piece vocabulary", "train")
    try:
        with _quiet():
            found = transformers.AutoTokenizer.from_pretrained(
                str(source.folder), trust_remote_code=False, local_files_only=True
            )
        tokenizer = found.backend_tokenizer
        files = [source.folder / name for name in found.vocab_files_names.values()]
        # Without a vocabulary the library makes up one of special pieces only.
        if not any(file.is_file() for file in files):
            raise FileNotFoundError
    except Exception as error:  # its errors share no root
        raise InputError(
            [Fault("there is neither tokenizer.json nor a vocabulary that can be converted", path)]
        ) from error
    for role, keys in _SPECIAL_KEYS.items():
        given = [getattr(found, key) for key in keys if getattr(found, key, None)]
        if given:
            names[role] = str(given[0])
    return PieceMaker(tokenizer, names)


def _special_names(folder: Path) -> dict[str, str]:
    """Return the names of a tokenizer's special pieces, from the files beside it."""
    said: dict[str, str] = {}
    for file in _SPECIAL_FILES:
        if (folder / file).is_file():
            for key, value in read_json(folder / file).items():
                content = value.get("content") if isinstance(value, dict) else value
                if isinstance(content, str):
                    said[key] = content
    names = {}
    for role, keys in _SPECIAL_KEYS.items():
        given = [said[key] for key in keys if key in said]
        if given:
            names[role] = given[0]
    return names


def _transformers() -> Any:
    try:
        # Imported by name: a type checker would read the whole library otherwise.
        return import_module("transformers")
    except ImportError as error:
        raise MissingExtraError("this backbone", "train") from error


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0]


def _not_from_hub(name: str) -> InputError:
    return InputError(
        f"backbone {name!r} is no folder here, and the hub gives no such model with weights in "
        "safetensors files (no connection, no such name, or no leave). Fetch it where there is "
        "a connection (hf download), and give the folder"
    )


@contextlib.contextmanager
def _quiet(*, download: bool = False) -> Iterator[None]:
    """Keep transformers from writing warnings and bars, but a download's bar to a terminal."""
    logging: Any = import_module("transformers.utils.logging")
    before, bars = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity_error()
    if not (download and sys.stderr.isatty()):
        logging.disable_progress_bar()
    try:
        yield
    finally:
        logging.set_verbosity(before)
        if bars:
            logging.enable_progress_bar()
