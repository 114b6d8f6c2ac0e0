from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from rubricate import Corpus
from rubricate.errors import InputError
from rubricate.neural.encoder.cascade import CascadeMatcher
from rubricate.neural.encoder.matcher import EncoderMatcher


def test_it_is_saved_loaded_and_guarded(model_folder: Path, corpus: Corpus, tmp_path: Path) -> None:
    matcher = CascadeMatcher(threads=1)
    matcher.networks_ = (EncoderMatcher(threads=1), EncoderMatcher(threads=1))
    for network in matcher.networks_:
        network._open(model_folder)
    matcher.save(tmp_path / "m")
    assert CascadeMatcher.load(tmp_path / "m").predict(corpus) == matcher.predict(corpus)
    shutil.rmtree(tmp_path / "m" / "second")
    EncoderMatcher(network="fast").save(tmp_path / "m" / "second")
    with pytest.raises(InputError, match="networks"):
        CascadeMatcher.load(tmp_path / "m")
