"""No command replaces what it reads, what it did not write, or what people decided."""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from click.testing import CliRunner, Result

from rubricate import load_corpus
from rubricate.cli import VERBS, main
from rubricate.cli.command import Output, Source, There
from rubricate.formats import write_corpus

#: Commands with everything they can read; OUT stands for the output.
COMMANDS = {
    "annotate": "annotate in/brat --rubric rubric.csv --suggest --model model --out OUT",
    "check": "check in/brat --fix OUT --output-format brat",
    "check --log": "check in/brat --fix new --log OUT",
    "convert": "convert in/brat OUT --output-format brat --rubric rubric.csv",
    "convert --like": "convert found.csv OUT --output-format brat --like in/brat",
    "fit": "fit in/brat --rubric rubric.csv --out OUT --matcher exact",
    "fit --model": "fit in/brat --model model --out OUT",
    "fit --report": "fit in/brat --matcher exact --out new --report OUT",
    "lexicon": "lexicon build --wordnet in/brat --out OUT",
    "match": "match in/brat --model model --rubric rubric.csv --out OUT --output-format jsonl",
    "match to a folder": "match in/brat --model model --out OUT",
    "rubric": "rubric rubric.csv --out OUT",
    "route": "route in/brat found.jsonl --out OUT",
    "rules effect": "rules effect --keep OUT",
    "score": "score in/brat --rubric rubric.csv --model model --corrections corrections.csv "
    "--previous run --no-report --out OUT",
    "agree --report": "agree in/brat found.jsonl --report OUT",
    "evaluate --report": "evaluate in/brat found.jsonl --ceiling found.jsonl --report OUT",
    "compare --report": "compare in/brat --matchers exact --model model --report OUT",
    "compare --checkpoint-dir": "compare in/brat --matchers exact --checkpoint-dir OUT",
    "plan": "plan --frequency-from in/brat --plot OUT",
    "trust fairness": "trust fairness run --group group --notes in/brat --groups groups.csv "
    "--reference in/brat --out OUT",
    "trust fairness --report": "trust fairness run --group g --notes in/brat --report OUT",
}  # fmt: skip
#: Options whose folder only gets more files, so that it may lie above an input.
KEPT = ("--report", "--checkpoint-dir", "score")


def run(*arguments: object) -> Result:
    return CliRunner().invoke(main, [str(one) for one in arguments])


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give a folder with one input of each sort."""
    place = tmp_path_factory.mktemp("base")
    corpus = load_corpus("open-notes").select(cases=["30"])
    write_corpus(corpus, place / "in" / "brat", format="brat")
    here = {
        "rubric": ("rubric", place / "in" / "brat", "--out", place / "rubric.csv"),
        "model": ("fit", place / "in" / "brat", "--matcher", "exact", "--out", place / "model"),
        "found": ("match", place / "in" / "brat", "--model", place / "model",
                  "--out", place / "found.jsonl"),
        "table": ("match", place / "in" / "brat", "--model", place / "model",
                  "--out", place / "found.csv", "--output-format", "submission"),
        "run": ("score", place / "in" / "brat", "--model", place / "model", "--out",
                place / "run", "--no-report"),
    }  # fmt: skip
    for arguments in here.values():
        done = run(*arguments)
        assert done.exit_code == 0, done.output
    note, feature = corpus.notes[0].id, corpus.features[0].id
    head = "note,feature,found,by,at\n"
    (place / "corrections.csv").write_text(f"{head}{note},{feature},no,Ann,2026-11-14\n")
    (place / "groups.csv").write_text(f"note,group\n{note},a\n")
    return place


@pytest.fixture
def here(base: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    place = tmp_path / "here"
    shutil.copytree(base, place)
    # Elsewhere, so that no rule about the working folder helps.
    monkeypatch.chdir(tmp_path)
    return place


def contents(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


def kept(before: dict[str, bytes], folder: Path) -> bool:
    after = contents(folder)
    return all(after.get(name) == body for name, body in before.items())


def placed(command: str, folder: Path, out: Path) -> list[str]:
    """Return the words of a command with its inputs in a folder."""
    words = command.split()
    there = {path.name for path in folder.iterdir()}
    return [
        str(out) if word == "OUT" else str(folder / word) if word.split("/")[0] in there else word
        for word in words
    ]


def inputs(command: str) -> list[str]:
    known = ("in/brat", "rubric.csv", "model", "corrections.csv", "found.jsonl", "found.csv",
             "run", "groups.csv")  # fmt: skip
    words = command.split()[1:]
    return [one for one in known if one in words]


CASES = [
    (name, source, where)
    for name, command in COMMANDS.items()
    for source in inputs(command)
    for where in ("itself", "its parent", "a link", "a hard link")
    if not (where == "a hard link" and "." not in source)
]


@pytest.mark.parametrize(("name", "source", "where"), CASES)
@pytest.mark.parametrize("more", [(), ("--overwrite",)], ids=["", "overwrite"])
def test_an_output_in_the_place_of_an_input_changes_no_byte(
    here: Path, name: str, source: str, where: str, more: tuple[str, ...]
) -> None:
    out = here / source
    if where == "its parent":
        out = out.parent
    elif where != "itself":
        out = here.parent / f"link-{Path(source).name}"
        (out.symlink_to if where == "a link" else out.hardlink_to)(here / source)
    before = contents(here)
    done = run(*placed(COMMANDS[name], here, out), *more)
    assert kept(before, here), f"{done.output}\n{set(before) - set(contents(here))}"
    if where != "its parent" or not any(one in name for one in KEPT):
        assert done.exit_code == 2, done.output


def all_commands(group: click.Group, name: str) -> Iterator[tuple[str, click.Command]]:
    context = click.Context(group)
    for own in group.list_commands(context):
        command = group.get_command(context, own)
        if isinstance(command, click.Group):
            yield from all_commands(command, f"{name} {own}")
        elif command is not None:
            yield f"{name} {own}".strip(), command


def test_each_option_says_whether_it_reads_or_writes() -> None:
    """So no new option can be forgotten: paths and corpora are inputs or outputs."""
    assert isinstance(main, click.Group)
    commands = dict(all_commands(main, ""))
    assert len(commands) > len([verb for verbs in VERBS.values() for verb in verbs])
    words = ("CORPUS", "NOTES", "FILE", "REFERENCE", "PREDICTED", "SRC", "DST", "TABLE.csv", "RUN")
    places = {
        "serve start": {"folder"}, "serve verify": {"folder"}, "serve backup": {"folder"},
    }  # fmt: skip
    for name, command in commands.items():
        for param in command.params:
            metavar = (param.metavar or "").rstrip(".")
            is_place = isinstance(param.type, click.Path) or metavar in words
            if is_place and param.name not in places.get(name, ()):
                assert isinstance(param.type, Output | Source | There), (name, param.name)
        if any(isinstance(param.type, Output) for param in command.params):
            covered = any(own.startswith(name.split()[0]) for own in COMMANDS)
            assert covered or name == "serve backup", f"{name} writes, and no test covers it"


@pytest.mark.parametrize(
    "command",
    ["convert in/brat OUT --output-format brat", "fit in/brat --matcher exact --out OUT",
     "match in/brat --model model --out OUT"],
)  # fmt: skip
def test_a_folder_with_a_strangers_file_is_not_replaced(here: Path, command: str) -> None:
    out = here.parent / "out"
    words = placed(command, here, out)
    assert run(*words).exit_code == 0
    done = run(*words, "--overwrite")
    assert done.exit_code == 0 and f"replaced {out}" in done.stderr
    (out / "thesis.docx").write_bytes(b"years of work")
    before = contents(out)
    done = run(*words, "--overwrite")
    assert done.exit_code == 2 and "thesis.docx" in done.stderr
    assert contents(out) == before
    # A folder that holds only what people brought is none of ours.
    shutil.rmtree(out)
    out.mkdir()
    (out / "thesis.docx").write_bytes(b"years of work")
    assert run(*words, "--overwrite").exit_code == 2
    assert (out / "thesis.docx").exists()


@pytest.mark.parametrize(
    "command",
    ["match in/brat --model model --out OUT --output-format parquet", "fit in/brat --matcher exact --out OUT",
     "match in/brat --model model --out OUT --output-format brat"],
)  # fmt: skip
def test_a_run_with_its_decisions_is_replaced_by_nothing_else(here: Path, command: str) -> None:
    out = here / "run"
    before = contents(here)
    assert run(*placed(command, here, out), "--overwrite").exit_code == 2
    assert kept(before, here)


def test_annotations_that_people_added_to_an_output_are_kept(here: Path) -> None:
    out = here.parent / "out"
    words = ["convert", here / "in" / "brat", out, "--output-format", "brat", "--overwrite"]
    assert run(*words).exit_code == 0
    assert run(*words).exit_code == 0, "nobody went on in it"
    page = next(path for path in sorted(out.rglob("*.ann")) if path.read_text())
    page.write_text("".join(line for line in page.read_text().splitlines(True)[1:]))
    before = contents(out)
    # One mark fewer is another judgement: somebody decided so.
    assert run(*words).exit_code == 2
    assert contents(out) == before
    found = here.parent / "marks.jsonl"
    shutil.copy(here / "found.jsonl", found)
    again = ["match", here / "in" / "brat", "--model", here / "model", "--out", found]
    assert run(*again, "--overwrite").exit_code == 0, "a program's marks may be replaced"
    write_corpus(load_corpus("open-notes").select(cases=["30"]), found, format="jsonl",
                 overwrite=True)  # fmt: skip
    before_marks = found.read_bytes()
    assert run(*again, "--overwrite").exit_code == 2
    assert found.read_bytes() == before_marks


def test_a_rubric_that_a_person_changed_is_not_replaced(here: Path) -> None:
    out = here.parent / "checklist.yaml"
    words = ["rubric", here / "rubric.csv", "--out", out]
    assert run(*words).exit_code == 0
    assert run(*words, "--overwrite").exit_code == 0
    out.write_text("# weights agreed on by the board\n" + out.read_text())
    before = out.read_bytes()
    assert run(*words, "--overwrite").exit_code == 2
    assert out.read_bytes() == before


def test_score_replaces_only_files_of_a_run(here: Path) -> None:
    words = placed("score in/brat --model model --no-report --out OUT", here, here.parent / "out")
    out = here.parent / "out"
    for name in ("scores.csv", "report", "evidence"):
        shutil.rmtree(out, ignore_errors=True)
        out.mkdir()
        if "." in name:
            (out / name).write_text("mine")
        else:
            (out / name).mkdir()
            (out / name / "mine").write_text("mine")
        before = contents(out)
        for more in ((), ("--overwrite",)):
            done = run(*words, *more)
            assert done.exit_code == 2 and name in done.stderr
            assert contents(out) == before
    shutil.rmtree(out)
    out.mkdir()
    (out / "letter.txt").write_text("mine")
    assert run(*words).exit_code == 0
    assert run(*words, "--overwrite").exit_code == 0
    assert (out / "letter.txt").read_text() == "mine"


def test_a_run_inside_the_notes_is_refused_before_any_work(here: Path) -> None:
    for out in (here / "in" / "brat" / "run", here / "model" / "a" / "run"):
        words = placed("score in/brat --model model --no-report --out OUT", here, out)
        done = run(*words)
        assert done.exit_code == 2 and str(out) in done.stderr
        assert not out.exists()


def test_corrections_in_the_workbook_of_the_run_itself_are_not_replaced(here: Path) -> None:
    words = placed("score in/brat --model model --no-report --out OUT", here, here / "run")
    before = contents(here)
    given = here / "run" / "scores.xlsx"
    done = run(*words, "--corrections", given, "--overwrite")
    assert done.exit_code == 2 and "scores.xlsx" in done.stderr
    assert kept(before, here)


@pytest.mark.skipif(os.name == "nt", reason="links need rights there")
def test_what_links_lead_to_is_an_input_too(here: Path) -> None:
    kept_notes = here.parent / "kept"
    shutil.move(here / "in" / "brat", kept_notes)
    (here / "in" / "brat").symlink_to(kept_notes)
    before = contents(kept_notes)
    words = placed("convert in/brat OUT --output-format brat", here, kept_notes)
    assert run(*words, "--overwrite").exit_code == 2
    assert contents(kept_notes) == before
