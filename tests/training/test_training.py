"""The scripts that made the shipped networks: mixed notes, composed notes, opposites, packing."""

from __future__ import annotations

import importlib
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

TRAINING = Path(__file__).parents[2] / "training"
BANK = """F Cough | Coughing
+ u [[cough]] x3d
+ s Pt reports [[a dry cough]].
+ p He has been [[coughing]] at night.
- u denies cough
- s No cough.
F Fever
+ u [[febrile]]
+ s Pt has had [[fevers]].
+ p She felt [[hot and shivery]].
- u afebrile
- s Denies fever.
"""
MIXED = """# cold
1. Cough
2. Fever
3. Rash
@ u
> [1|Coughing] for days.
> {2|No fever}.
"""


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Any]:
    monkeypatch.syspath_prepend(str(TRAINING))
    return importlib.import_module


@pytest.fixture
def bank(script: Callable[[str], Any], tmp_path: Path) -> Any:
    (tmp_path / "person.txt").write_text(BANK, encoding="utf-8")
    return script("note_sets").read_bank(tmp_path)


def test_a_mixed_file_and_its_table_give_rows_of_all_outcomes(
    script: Callable[[str], Any], tmp_path: Path
) -> None:
    (tmp_path / "a.txt").write_text(MIXED, encoding="utf-8")
    reading, mixed = script("note_sets"), script("mixed_files")
    cases, faults = mixed.parse(tmp_path / "a.txt")
    assert not faults
    (tmp_path / "t.jsonl").write_text("\n".join(mixed.table_lines(cases)), encoding="utf-8")
    assert (
        mixed.parse(tmp_path / "t.jsonl")[0][0]["notes"][0]["marks"]
        == cases[0]["notes"][0]["marks"]
    )
    (note,) = reading.read_mixed(tmp_path)
    assert note["id"] == "a.txt:cold:0"
    assert note["text"] == "Coughing for days.\nNo fever."
    assert note["rows"] == [
        ("Cough", reading.STATED, [(0, 8)], None),
        ("Fever", reading.CONTRA, [], [(19, 27)]),
        ("Rash", reading.UNSAID, [], None),
    ]


def test_faults_of_a_mixed_file_name_the_line(script: Callable[[str], Any], tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("# cold\n1. Cough\n@ u\n> [2|cough] {1| no}\n", encoding="utf-8")
    assert script("mixed_files").parse(path)[1] == [
        f"{path}:3: mark of unknown feature 2",
        f"{path}:3: mark 1 begins or ends with white space or is empty",
    ]


def test_the_mixed_notes_have_no_faults(script: Callable[[str], Any]) -> None:
    paths = sorted((TRAINING / "data" / "mixed").glob("*.jsonl"))
    assert paths
    assert all(path.stat().st_size < 5_000_000 for path in paths)
    assert [fault for path in paths for fault in script("mixed_files").parse(path)[1]] == []


def test_files_with_faults_are_not_packed(
    script: Callable[[str], Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    good, bad, table = (tmp_path / name for name in ("a.txt", "b.txt", "t.jsonl"))
    good.write_text(MIXED, encoding="utf-8")
    bad.write_text(MIXED.replace("[1|", "[9|"), encoding="utf-8")
    mixed = script("mixed_files")
    monkeypatch.setattr("sys.argv", ["mixed_files.py", str(good), "--into", str(table)])
    mixed.main()
    packed = table.read_text(encoding="utf-8")
    monkeypatch.setattr("sys.argv", ["mixed_files.py", str(bad), "--into", str(table)])
    with pytest.raises(SystemExit):
        mixed.main()
    assert table.read_text(encoding="utf-8") == packed
    assert [case["part"] for case in mixed.read_cases(tmp_path)] == ["a"]


def test_a_bank_in_a_table_has_the_lines_of_its_files(
    script: Callable[[str], Any], tmp_path: Path
) -> None:
    (tmp_path / "person.txt").write_text(BANK, encoding="utf-8")
    table = tmp_path / "bank.tsv"
    table.write_text(
        "file\tkind\tregister\ttext\n"
        + "".join(
            f"person\tF\t\t{line[2:]}\n"
            if line[0] == "F"
            else f"person\t{line[0]}\t{line[2]}\t{line[4:]}\n"
            for line in BANK.splitlines()
        ),
        encoding="utf-8",
    )
    read_bank = script("note_sets").read_bank
    assert read_bank(table) == read_bank(tmp_path)
    assert len(read_bank(table)) == 2


@pytest.mark.parametrize(
    ("name", "held", "expected"),
    [
        ("a01.txt", False, "W"),
        ("b02.txt", True, "W_dev"),
        ("c01.txt", False, "L"),
        ("e01.txt", True, "L_dev"),
        ("f01.txt", False, "N"),
        ("s01.txt", True, "S_dev"),
        ("z31.txt", False, "S"),
        ("zp01.txt", False, "S"),
        ("zq02.txt", False, "X_test"),
        ("zz01.txt", False, "J"),
        ("ca01.txt", False, "M"),
        ("ce03.txt", True, "M_dev"),
        ("cma01.txt", True, "M_test"),
    ],
)
def test_a_mixed_note_is_in_the_set_of_its_file(
    script: Callable[[str], Any], name: str, held: bool, expected: str
) -> None:
    assert script("note_sets")._mixed_set(name, held) == expected


def test_texts_that_are_no_notes_state_nothing(
    script: Callable[[str], Any], bank: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    compose, reading = script("compose"), script("note_sets")
    sets = {"W": [{"rows": [("Cough", reading.STATED, [(0, 1)], None)]}]}
    composer = compose.Composer(sets, bank, ["Beat the eggs. " * 40], {"junk": 1.0}, 5)
    monkeypatch.setattr(composer, "pool", lambda n: list(bank)[:n])
    drawn = [composer.draw() for _ in range(80)]
    assert all(row[1:4] == (reading.UNSAID, [], None) for _, rows, *_ in drawn for row in rows)
    forms = [(text, rows) for text, rows, *_ in drawn if "eggs" not in text]
    assert len({text for text, _ in forms}) > 5
    assert all(row[0].lower() in text.lower() for text, rows in forms for row in rows)


def test_composed_notes_carry_the_marked_words(
    script: Callable[[str], Any], bank: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    compose, reading = script("compose"), script("note_sets")
    monkeypatch.setattr(compose.Composer, "typos", lambda _, text: text)
    marked, against = set(), set()
    words = {reading.split(t)[0][a:z] for b in bank for _, t in b["plus"] for a, z in spans_of(t)}
    composer = compose.Composer({}, [*bank, *bank], ["Nothing."], {"bank": 1.0}, seed=1)
    composer.restyling = composer.literally = composer.mentioning = 0
    monkeypatch.setattr(composer, "pool", lambda n: list(bank)[:n])
    for _ in range(60):
        text, rows, *_ = composer.draw()
        for _, outcome, spans, contra, _ in rows:
            for a, z in [*spans, *(contra or [])]:
                assert 0 <= a < z <= len(text)
            if outcome == reading.STATED:
                assert spans
                marked.update(text[a:z] for a, z in spans)
            else:
                against.update(text[a:z] for a, z in contra or [])
    assert marked == words
    assert {"denies cough", "No cough", "afebrile", "Denies fever"} <= against


NOTE = (
    "45F with belly pain x2d. Pain is cramping and comes after meals. Denies fever. "
    "Her mother had gallstones.\nTakes ibuprofen daily. No blood in stool."
)


def note_rows(reading: Any) -> list[Any]:
    def at(*words: str) -> list[tuple[int, int]]:
        return [(NOTE.index(w), NOTE.index(w) + len(w)) for w in words]

    return [
        ("Abdominal pain", reading.STATED, at("belly pain"), None, False),
        ("Worse after eating", reading.STATED, at("comes after meals"), None, False),
        ("Fever", reading.CONTRA, [], at("Denies fever"), False),
        ("NSAID use", reading.STATED, at("Takes ibuprofen"), None, False),
        ("Rectal bleeding", reading.CONTRA, [], at("No blood in stool"), False),
        ("Jaundice", reading.UNSAID, [], None, False),
    ]


@pytest.mark.parametrize(
    "style", ["administered", "sectioned", "anonymous", "chatty", "unpointed", "copied"]
)
def test_a_style_leaves_every_marked_word(script: Callable[[str], Any], style: str) -> None:
    styles, rows = script("styles"), note_rows(script("note_sets"))
    for seed in range(60):
        text, new = getattr(styles, style)(NOTE, rows, random.Random(seed))
        assert [row[:2] for row in new] == [row[:2] for row in rows]
        for (_, _, spans, against, _), (_, _, was, was_against, _) in zip(new, rows, strict=True):
            assert {text[a:z] for a, z in spans} == {NOTE[a:z] for a, z in was}
            words = {text[a:z] for a, z in against or []}
            assert words == {NOTE[a:z] for a, z in was_against or []}


def test_a_style_moves_every_span_inside_the_text(script: Callable[[str], Any]) -> None:
    styles, rows = script("styles"), note_rows(script("note_sets"))
    for seed in range(300):
        text, new = styles.restyled(NOTE, rows, random.Random(seed))
        for _, _, spans, against, _ in new:
            assert all(0 <= a < z <= len(text) for a, z in [*spans, *(against or [])])


def test_what_is_said_only_in_what_was_cut_off_is_not_mentioned(
    script: Callable[[str], Any],
) -> None:
    styles, reading = script("styles"), script("note_sets")
    first = NOTE.index("Denies")
    text, rows = styles.cut(NOTE, note_rows(reading), first, len(NOTE))
    said = {row[0]: row[1] for row in rows}
    assert text.startswith("Denies fever")
    assert said["Abdominal pain"] == reading.UNSAID
    assert said["NSAID use"] == reading.STATED
    assert said["Fever"] == reading.CONTRA
    # A mark that the cut goes through teaches nothing.
    torn, left = styles.cut(NOTE, note_rows(reading), NOTE.index("pain"), len(NOTE))
    assert torn.startswith("pain")
    assert "Abdominal pain" not in {row[0] for row in left}


def test_literal_rows_stand_in_the_text_as_their_outcome_says(
    script: Callable[[str], Any],
) -> None:
    reading, literal = script("note_sets"), script("literal")
    rows = note_rows(reading)
    seen = set()
    for seed in range(20):
        for name, outcome, *_ in literal.literal_rows(NOTE, rows, random.Random(seed))[len(rows) :]:
            seen.add((name.lower(), outcome))
    assert ("belly pain", reading.STATED) in seen
    assert ("blood in stool", reading.CONTRA) in seen
    assert ("no blood in stool", reading.CONTRA) not in seen


LITERAL_BANK = """F Hives
+ u [[hives]]
+ s [[itchy wheals]]
+ l [[welts]]
- u no wheals
- s skin clear
F Tremor
+ u [[tremor]]
+ s [[hands shake]]
+ l [[shaky]]
- u no shaking
- s steady hands
"""


def test_a_wording_that_is_only_spoken_of_is_not_stated(
    script: Callable[[str], Any], tmp_path: Path
) -> None:
    reading, literal = script("note_sets"), script("literal")
    (tmp_path / "derm.txt").write_text(LITERAL_BANK, encoding="utf-8")
    texts = literal.LiteralTexts(reading.read_bank(tmp_path), random.Random(2))
    lines = ["He has {+}, no {-}.", "Return if {?} or {?} occur."]
    things = texts.some(2)
    assert len(things) == 2
    text, (row, *_) = texts.filled(lines[:1], things, [" "])
    assert row[1] == reading.STATED
    assert row[2] == [(len("He has "), text.index(", no "))]
    spoken, rows = texts.filled(lines[1:], things, [" "])
    assert [row[1:4] for row in rows] == [(reading.ABSENT, [], None)] * 2
    assert spoken.startswith("Return if ")


def test_every_sentence_with_places_can_be_filled(
    script: Callable[[str], Any], tmp_path: Path
) -> None:
    reading, literal = script("note_sets"), script("literal")
    (tmp_path / "derm.txt").write_text(LITERAL_BANK, encoding="utf-8")
    texts = literal.LiteralTexts(reading.read_bank(tmp_path), random.Random(3))
    assert set(literal.SENTENCES) == {"post", "report", "sheet"}
    for line in (line for lines in literal.SENTENCES.values() for line in lines):
        assert literal.PLACE.search(line), line
        text, rows = texts.filled([line], texts.some(2), [" "])
        assert "{" not in text
        for _, _, spans, against, _ in rows:
            assert all(0 <= a < z <= len(text) for a, z in [*spans, *(against or [])])


def test_others_notes_with_even_numbers_choose(
    script: Callable[[str], Any], tmp_path: Path
) -> None:
    reading = script("note_sets")
    tables = {
        "patient_notes.csv": "pn_num,case_num,pn_history\n0,0,I had hives.\n1,1,Watch for hives.\n",
        "features.csv": "feature_num,case_num,feature_text\n0,0,Hives\n1,1,Hives\n",
        "train.csv": "id,case_num,pn_num,feature_num,annotation,location\n"
        "00000_000,0,0,0,['hives'],['6 11']\n00001_001,1,1,1,[],[]\n",
        "kinds.csv": "id,kind\n00000_000,LS\n00001_001,LH\n",
    }
    for name, content in tables.items():
        (tmp_path / name).write_text(content, encoding="utf-8")
    (chosen,) = reading.read_outside(tmp_path, choosing=True)
    (measured,) = reading.read_outside(tmp_path, choosing=False)
    assert chosen["rows"] == [("Hives", reading.STATED, [(6, 11)], None)]
    assert measured["kinds"] == ["LH"]
    assert measured["rows"] == [("Hives", reading.ABSENT, [], None)]


def spans_of(clause: str) -> list[tuple[int, int]]:
    start = clause.index("[[")
    return [(start, clause.index("]]") - 2)]


@pytest.mark.parametrize(
    ("feature", "opposites"),
    [
        ("Denies rash", {"Rash", "Has rash", "Positive for rash", "Presence of rash"}),
        ("Smokes daily", {"Does not smoke daily"}),
        ("Worsening", {"Improving", "Not worsening"}),
        ("Male", {"Female"}),
        ("Fever or chills", {None}),
    ],
)
def test_opposites(script: Callable[[str], Any], feature: str, opposites: set[str | None]) -> None:
    opposite = script("flips").opposite
    assert {opposite(feature, random.Random(seed)) for seed in range(40)} == opposites


@pytest.mark.parametrize(("pack", "apart"), [("rows8", 0.02), ("levels5", 0.15)])
def test_packed_weights_come_back(
    script: Callable[[str], Any], tmp_path: Path, pack: str, apart: float
) -> None:
    torch = pytest.importorskip("torch")
    packing = script("packing")
    torch.manual_seed(0)
    weights = {"encoder.a.weight": torch.randn(64, 64), "encoder.a.bias": torch.randn(64)}
    packed = getattr(packing, pack)(weights)
    assert packing.save_parts(packed, tmp_path / "net", 1000) > 1
    back = packing.load_parts(tmp_path / "net")
    assert back.keys() == weights.keys()
    for name, value in weights.items():
        assert (back[name] - value).abs().max() < apart
    again = packing.unpack(getattr(packing, pack)(back))
    assert all(torch.allclose(again[name], back[name], rtol=1e-2, atol=1e-2) for name in back)


def test_weights_are_packed_for_transport_as_they_ship(script: Callable[[str], Any]) -> None:
    """The machine that trains need not have the package, so the rule is written there again."""
    torch = pytest.importorskip("torch")
    from rubricate.neural.encoder.packed import pack, unpack

    packing = script("packing")
    torch.manual_seed(1)
    weight = torch.randn(64, 128)
    sent = packing.unpack(packing.levels5({"encoder.a.weight": weight}))["encoder.a.weight"]
    assert torch.allclose(sent, torch.from_numpy(unpack(*pack(weight.numpy()))), atol=1e-6)
