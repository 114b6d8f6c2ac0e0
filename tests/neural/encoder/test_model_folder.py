from __future__ import annotations

import json
import shutil
from dataclasses import asdict
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rubricate import Corpus
from rubricate.errors import InputError, UnknownNameError
from rubricate.matchers import load_matcher
from rubricate.neural.encoder.decoding import Opinion, Thresholds, decode_characters
from rubricate.neural.encoder.matcher import EncoderMatcher, average_models
from rubricate.neural.encoder.model_folder import (
    EncoderSettings,
    Member,
    common_settings,
    read_members,
    shipped_folder,
)
from rubricate.neural.encoder.pieces import PieceMaker, Pieces
from rubricate.stats.calibration import Calibration


def test_settings_are_read_as_written(tmp_path: Path) -> None:
    one = EncoderSettings(
        {"dim": 32}, Thresholds(0.4, 0.6), {"f": 0.3}, Calibration(0.5, 1.0), {"a": 1}
    )
    one.write(tmp_path / "s.json")
    assert EncoderSettings.read(tmp_path / "s.json") == one
    assert one.of_feature("f").presence == 0.3
    assert one.of_feature("g").presence == 0.6


def test_other_files_are_refused(tmp_path: Path) -> None:
    (tmp_path / "s.json").write_text('{"shape": {}}', encoding="utf-8")
    with pytest.raises(InputError):
        EncoderSettings.read(tmp_path / "s.json")


@pytest.mark.parametrize(("network", "most"), [("fast", 26e6), ("accurate", 75e6)])
def test_the_shipped_networks_say_what_was_held_out(network: str, most: float) -> None:
    folder = shipped_folder(network)
    report = EncoderSettings.read(folder / "settings.json").report
    assert len(report["held_out_cases"]) == 26
    assert report["data"]
    assert sum(part.stat().st_size for part in folder.iterdir()) < most
    assert all(part.stat().st_size < 50e6 for part in folder.iterdir())


def test_an_unknown_network_is_named() -> None:
    with pytest.raises(UnknownNameError, match="accurate"):
        shipped_folder("acurate")


NOTE = "\n  58 yo  woman,\ncafé au lait spots; no fever\u00a0/ cough 🤒 x3 weeks \n"


@pytest.fixture(scope="module")
def byte_maker() -> PieceMaker:
    """A byte-level vocabulary: pieces carry the space before them, 🤒 is cut into bytes."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=True)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=320,
        special_tokens=["<s>", "</s>", "<pad>", "<mask>"],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(
        ["58 year old woman has cough and fever for 3 weeks"] * 3, trainer=trainer
    )
    return PieceMaker(tokenizer)


def save_tiny(maker: PieceMaker, folder: Path, **settings: object) -> Path:
    """Write a model with this tokenizer and weights left to chance."""
    import torch

    from rubricate.neural.training.export import write_network
    from rubricate.neural.training.network import Network, Shape

    torch.manual_seed(maker.n_pieces)
    shape = Shape(n_pieces=maker.n_pieces, dim=16, layers=1, heads=2, inner=32, scorer_dim=8)
    raw = folder.with_name(f"{folder.name}-raw")
    raw.mkdir()
    write_network(Network(shape), raw)
    maker.save(raw / "tokenizer.json")
    EncoderSettings(shape=asdict(shape), **settings).write(raw / "settings.json")  # type: ignore[arg-type]
    matcher = EncoderMatcher(threads=1)
    matcher._open(raw)
    matcher.save(folder)
    return folder


@pytest.fixture(scope="module")
def saved(
    maker: PieceMaker, byte_maker: PieceMaker, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Path, Path]:
    """Two saved models with different tokenizers, thresholds and calibrations."""
    place = tmp_path_factory.mktemp("saved")
    low = Thresholds(0.3, 0.1, 0.5)
    return (
        save_tiny(maker, place / "words", thresholds=low),
        save_tiny(
            byte_maker, place / "bytes",
            thresholds=low, calibration=Calibration(2.0, 0.5), feature_presence={"f3": 0.2},
        ),
    )  # fmt: skip


def marked(pieces: Pieces, spans: list[tuple[int, int]]) -> np.ndarray:
    inside = [
        any(a < end and start < b for start, end in spans)
        for a, b in zip(pieces.start, pieces.end, strict=True)
    ]
    return np.array([inside], np.float32)


@pytest.mark.parametrize(
    "words",
    [["58"], ["woman"], ["café", "🤒"], ["no fever", "cough 🤒 x3 weeks"], [NOTE.strip()]],
)
def test_two_tokenizers_agree_on_characters(
    words: list[str], maker: PieceMaker, byte_maker: PieceMaker
) -> None:
    spans = [(NOTE.index(word), NOTE.index(word) + len(word)) for word in words]
    opinions = []
    for one in (maker, byte_maker):
        (pieces,) = one.cut([NOTE])
        opinions.append(Opinion(pieces, marked(pieces, spans)))
    found = decode_characters(NOTE, opinions, [1.0], [Thresholds()])[0]
    assert [(d.start, d.end, d.confidence) for d in found] == [(*span, 1.0) for span in spans]


@given(st.data())
def test_words_both_mark_are_found_to_the_character(
    maker: PieceMaker, byte_maker: PieceMaker, data: st.DataObject
) -> None:
    word = st.text(alphabet="ab5é🙂", min_size=1, max_size=4)
    blank = st.text(alphabet=" \n\t\u00a0", min_size=1, max_size=3)
    text, spans = data.draw(blank), []
    for one in data.draw(st.lists(word, min_size=1, max_size=6)):
        if data.draw(st.booleans()):
            spans.append((len(text), len(text) + len(one)))
        text += one + data.draw(blank)
    opinions = []
    for one in (maker, byte_maker):
        (pieces,) = one.cut([text])
        opinions.append(Opinion(pieces, marked(pieces, spans)))
    found = decode_characters(text, opinions, [1.0], [Thresholds()])[0]
    # Marked neighbours run together over the white space between them.
    wanted: list[tuple[int, int]] = []
    for start, end in spans:
        if wanted and not text[wanted[-1][1] : start].strip():
            start = wanted.pop()[0]
        wanted.append((start, end))
    assert [(d.start, d.end) for d in found] == wanted


def test_the_mean_is_one_model_saved_and_loaded(
    saved: tuple[Path, Path], corpus: Corpus, tmp_path: Path
) -> None:
    average_models(saved, tmp_path / "both")
    matcher = load_matcher(tmp_path / "both")
    assert matcher.name == "encoder"
    found = matcher.predict(corpus)
    assert found == EncoderMatcher.load_average(saved).predict(corpus)
    assert found.rows.n_annotations > 0
    singles = [EncoderMatcher.load(folder).predict(corpus) for folder in saved]
    assert found.rows.probability is not None
    each = [one.rows.probability for one in singles]
    np.testing.assert_allclose(found.rows.probability, np.mean(each, axis=0), rtol=1e-6)
    for note, _, _, several in found.values():
        for annotation in several:
            for span in annotation.spans:
                text = note.text[span.start : span.end]
                assert text == text.strip() != ""
    again = tmp_path / "again"
    matcher.save(again)
    assert load_matcher(again).predict(corpus) == found
    with pytest.raises(FileExistsError):
        average_models(saved, again)


def test_the_report_has_the_curve_of_each(
    model_folder: Path, saved: tuple[Path, Path], corpus: Corpus, tmp_path: Path
) -> None:
    for name in ("a", "b"):
        matcher = EncoderMatcher(threads=1, steps=2)
        matcher._open(model_folder)
        matcher.fit(corpus).save(tmp_path / name)
    report = EncoderMatcher.load_average([tmp_path / "a", tmp_path / "b"]).training_report_
    assert report is not None
    assert [course.n_learned for course in report.courses] == [6, 6]
    assert EncoderMatcher.load_average(saved).training_report_ is None


def test_one_model_alone_is_itself(saved: tuple[Path, Path], corpus: Corpus) -> None:
    for folder in saved:
        alone = EncoderMatcher.load(folder).predict(corpus)
        assert EncoderMatcher.load_average([folder]).predict(corpus) == alone


def test_a_model_averaged_with_itself_finds_the_same(
    saved: tuple[Path, Path], corpus: Corpus, tmp_path: Path
) -> None:
    for folder in saved:
        alone = EncoderMatcher.load(folder).predict(corpus)
        twice = EncoderMatcher.load_average([folder, folder]).predict(corpus)
        assert np.array_equal(twice.rows.start, alone.rows.start)
        assert np.array_equal(twice.rows.end, alone.rows.end)


def test_each_model_counts_the_same(saved: tuple[Path, Path], tmp_path: Path) -> None:
    average_models(saved, tmp_path / "both")
    mixed = EncoderMatcher.load_average([tmp_path / "both", saved[0]])
    assert [member.weight for member in mixed.members_] == [0.5, 0.5, 1.0]


def test_common_thresholds_are_means_of_calibrated_ones() -> None:
    line = Calibration(2.0, 1.0)
    first = EncoderSettings(thresholds=Thresholds(0.4, 0.5, 0.5))
    second = EncoderSettings(
        thresholds=Thresholds(0.6, 0.3, 0.7), calibration=line, feature_presence={"f": 0.8}
    )
    members = [Member(Path("a"), first, 1.0), Member(Path("b"), second, 3.0)]
    common = common_settings(members)
    assert common.thresholds.inside == pytest.approx(0.55)
    assert common.thresholds.rescue == pytest.approx(0.65)
    assert common.thresholds.presence == pytest.approx((0.5 + 3 * float(line(0.3))) / 4)
    assert common.of_feature("f").presence == pytest.approx((0.5 + 3 * float(line(0.8))) / 4)
    assert common.calibration == Calibration()
    assert common_settings(members[1:]) == second


@pytest.mark.parametrize(
    "what",
    ["altered", "missing", "no list", "outside", "above", "no files", "none", "weight", "endless"],
)
def test_wrong_members_are_refused(what: str, saved: tuple[Path, Path], tmp_path: Path) -> None:
    folder = tmp_path / "both"
    average_models(saved, folder)
    listed = json.loads((folder / "members.json").read_text(encoding="utf-8"))
    if what == "altered":
        (folder / "member2" / "network.onnx").write_bytes(b"other")
    elif what == "missing":
        shutil.rmtree(folder / "member1")
    elif what == "no list":
        listed = {"members": "all"}
    elif what == "outside":
        listed["members"][0]["folder"] = "../words"
    elif what == "above":
        listed["members"][0]["folder"] = ".."
    elif what == "no files":
        listed["members"][0]["files"] = {"settings.json": ""}
    elif what == "endless":
        listed["members"][0]["weight"] = 1e999
    elif what == "none":
        listed["members"] = []
    else:
        listed["members"][0]["weight"] = 0
    (folder / "members.json").write_text(json.dumps(listed), encoding="utf-8")
    with pytest.raises(InputError):
        read_members(folder)
    with pytest.raises(InputError):
        load_matcher(folder)


def test_a_mean_cannot_be_fitted_further(saved: tuple[Path, Path], corpus: Corpus) -> None:
    with pytest.raises(InputError, match="average"):
        EncoderMatcher.load_average(saved).fit(corpus)


def test_models_of_other_matchers_are_refused(saved: tuple[Path, Path], tmp_path: Path) -> None:
    from rubricate import load_corpus
    from rubricate.matchers import make_matcher

    make_matcher("exact").fit(load_corpus("open-notes").select(cases=["30"])).save(tmp_path / "e")
    with pytest.raises(InputError, match="exact"):
        EncoderMatcher.load_average([saved[0], tmp_path / "e"])
    with pytest.raises(InputError):
        EncoderMatcher.load_average([])
