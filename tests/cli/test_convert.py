import json
from pathlib import Path

from click.testing import CliRunner

from rubricate import CorpusBuilder, Metadata, Note, load_corpus, read_corpus, write_corpus
from rubricate.cli import main


def test_convert_names_what_is_lost_and_strict_refuses(tmp_path: Path) -> None:
    run = CliRunner().invoke
    target = tmp_path / "submission.csv"
    arguments = ["convert", "open-notes", str(target), "--output-format", "submission", "--json"]
    refused = run(main, [*arguments, "--strict"])
    assert refused.exit_code == 1
    assert not target.exists()
    done = run(main, arguments)
    assert json.loads(done.output)["lost"]["annotators"] == 1
    assert target.exists()


def test_convert_does_not_overwrite(tmp_path: Path) -> None:
    run = CliRunner().invoke
    target = tmp_path / "c.jsonl"
    target.write_text("mine", encoding="utf-8")
    arguments = [
        "convert",
        "open-notes",
        str(target),
        "--output-format",
        "jsonl",
        "--where",
        "case=0",
    ]
    assert run(main, arguments).exit_code == 1
    assert target.read_text(encoding="utf-8") == "mine"
    assert run(main, [*arguments, "--overwrite"]).exit_code == 2
    assert target.read_text(encoding="utf-8") == "mine", "it is no corpus"
    target.unlink()
    assert run(main, arguments).exit_code == 0
    assert run(main, [*arguments, "--overwrite"]).exit_code == 0
    written = read_corpus(target)
    assert len(written.notes) == 100
    assert [rubric.case for rubric in written.rubrics] == ["0"], "other cases were not asked for"


def test_where_and_annotator_choose(tmp_path: Path) -> None:
    target = tmp_path / "c"
    arguments = [
        "convert",
        "open-notes",
        str(target),
        "--output-format",
        "parquet",
        "--where",
        "split=test",
    ]
    done = CliRunner().invoke(main, [*arguments, "--annotator", "reference"])
    assert done.exit_code == 0
    expected = load_corpus("open-notes").select(
        notes=lambda n: n.metadata["split"] == "test", annotators=["reference"]
    )
    cases = {note.case for note in expected.notes}
    assert read_corpus(target) == expected.select(cases=cases)


def test_unknown_names_get_a_suggestion(tmp_path: Path) -> None:
    run = CliRunner().invoke
    wrong = run(main, ["convert", "open-notes", str(tmp_path / "x"), "--output-format", "brta"])
    assert wrong.exit_code == 2
    assert "brat" in wrong.output
    wrong = run(
        main, ["convert", str(tmp_path / "nowhere"), str(tmp_path / "x"), "--output-format", "brta"]
    )
    assert "brat" in wrong.output
    wrong = run(
        main,
        [
            "convert",
            "open-notes",
            str(tmp_path / "x"),
            "--output-format",
            "jsonl",
            "--annotator",
            "refrence",
        ],
    )
    assert wrong.exit_code == 2
    assert "reference" in wrong.output


def test_the_source_is_never_replaced_nor_written_into(tmp_path: Path) -> None:
    run = CliRunner().invoke
    source = tmp_path / "folder" / "notes"
    made = run(
        main, ["convert", "open-notes", str(source), "--output-format", "nbme", "--where", "case=0"]
    )
    assert made.exit_code == 0
    before = {path: path.read_bytes() for path in source.iterdir()}
    for target in (source, source.parent, source / "inside"):
        done = run(
            main, ["convert", str(source), str(target), "--output-format", "brat", "--overwrite"]
        )
        assert done.exit_code == 2
        assert f"{target}: " in done.output
    done = run(main, ["match", str(source), "--out", str(source.parent), "--overwrite"])
    assert done.exit_code == 2
    assert {path: path.read_bytes() for path in source.iterdir()} == before


def test_a_submission_is_converted_beside_its_corpus(tmp_path: Path) -> None:
    run = CliRunner().invoke
    submission, target = tmp_path / "s.csv", tmp_path / "c"
    chosen = ["--where", "case=0", "--annotator", "reference"]
    run(main, ["convert", "open-notes", str(submission), "--output-format", "submission", *chosen])
    arguments = ["convert", str(submission), str(target), "--output-format", "brat"]
    alone = run(main, arguments)
    assert alone.exit_code == 1
    assert "--like" in alone.output
    assert run(main, [*arguments, "--like", "open-notes"]).exit_code == 0
    read, corpus = read_corpus(target), load_corpus("open-notes")
    assert len(read.notes) == len(corpus.notes)
    assert len(read.rows) == len(corpus.select(cases=["0"], annotators=["reference"]).rows)


def test_where_names_the_values_there_are_but_no_long_text(tmp_path: Path) -> None:
    run = CliRunner().invoke
    wrong = run(main, ["describe", "open-notes", "--where", "split=tset"])
    assert wrong.exit_code == 2
    assert "test, train" in wrong.output
    builder = CorpusBuilder()
    builder.add_note(Note("n", "c", "fever", Metadata(remark="SECRET " * 9)))
    write_corpus(builder.build(), tmp_path / "c.jsonl", format="jsonl")
    wrong = run(main, ["describe", str(tmp_path / "c.jsonl"), "--where", "remark=x"])
    assert wrong.exit_code == 2
    assert "SECRET" not in wrong.output


def test_every_command_reads_tables_and_folders_of_texts(tmp_path: Path) -> None:
    run = CliRunner().invoke
    table, texts = tmp_path / "notes.csv", tmp_path / "texts"
    table.write_text("id,text,site\n1,no fever,A\n2,fever,B\n", encoding="utf-8")
    texts.mkdir()
    (texts / "1.txt").write_text("no fever", encoding="utf-8")
    rubric = tmp_path / "rubric.csv"
    rubric.write_text("case,id,text\nc,f,Fever\n", encoding="utf-8")
    for place, n in ((table, 2), (texts, 1)):
        described = run(main, ["describe", str(place), "--json"])
        assert json.loads(described.stdout)["notes"] == n
        out = str(tmp_path / f"{n}.jsonl")
        assert run(main, ["convert", str(place), out, "--output-format", "jsonl"]).exit_code == 0
        assert read_corpus(out) == read_corpus(place)
        found = str(tmp_path / f"found{n}.jsonl")
        arguments = ["match", str(place), "--rubric", str(rubric), "--matcher", "exact"]
        done = run(main, [*arguments, "--out", found])
        assert done.exit_code == 0, done.output
        assert len(read_corpus(found).rows) == n
    only = run(main, ["describe", str(table), "--where", "site=A", "--json"])
    assert json.loads(only.stdout)["notes"] == 1
    wrong = run(main, ["score", str(table), "--rubric", str(rubric), "--matcher", "exact",
                       "--where", "sight=A", "--out", str(tmp_path / "run")])  # fmt: skip
    assert wrong.exit_code == 2 and "There are: case, site" in wrong.output
    back = run(main, ["convert", str(table), str(tmp_path / "x"), "--output-format", "texts"])
    assert back.exit_code == 2 and "read only" in back.output
    for command in ("describe", "score"):
        assert run(main, [command, str(table), "--where", "site", "--out", "x"][:4]).exit_code == 2


def test_the_senior_rule_makes_one_annotation_of_all(tmp_path: Path) -> None:
    run = CliRunner().invoke
    target = tmp_path / "final.jsonl"
    options = ["--where", "case=0", "--prefer-annotator", "reference"]
    done = run(main, ["convert", "open-notes", str(target), "--output-format", "jsonl", *options])
    assert done.exit_code == 0, done.output
    final = read_corpus(target)
    assert [a.id for a in final.annotators] == ["reference"]
    told = run(main, ["describe", "open-notes", *options, "--json"])
    rule = json.loads(told.output)["senior_rule"]
    assert rule["rows"] == len(final.rows)
    assert rule["annotations"] == final.rows.n_annotations


def test_a_name_that_does_not_tell_the_format_is_said(tmp_path: Path) -> None:
    arguments = ["convert", "open-notes", "--output-format", "bioc", "--where", "case=30"]
    odd = CliRunner().invoke(main, [*arguments, str(tmp_path / "c.bioc")])
    usual = CliRunner().invoke(main, [*arguments, str(tmp_path / "c.json")])
    assert odd.exit_code == usual.exit_code == 0
    assert "--input-format bioc" in odd.stderr and "--input-format" not in usual.stderr


def test_one_note_is_one_note(tmp_path: Path) -> None:
    builder = CorpusBuilder()
    builder.add_note(Note("n", "c", "no fever"))
    write_corpus(builder.build(), tmp_path / "a.jsonl", format="jsonl")
    arguments = [
        "convert",
        str(tmp_path / "a.jsonl"),
        str(tmp_path / "b"),
        "--output-format",
        "parquet",
    ]
    assert ": 1 note, 0 rows" in CliRunner().invoke(main, arguments).output
