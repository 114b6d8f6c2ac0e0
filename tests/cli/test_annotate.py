import json
from pathlib import Path

from click.testing import CliRunner

from rubricate.cli import main

NOTES = "id,text\nn1,No fever but chest pain\nn2,Cough\n"
RUBRIC = "case,id,feature\nflu,1,No fever\nflu,2,Cough\n"


def run(*args: str | Path) -> str:
    done = CliRunner().invoke(main, [str(a) for a in args])
    assert done.exit_code == 0, done.output
    return done.stdout


def data_of(page: Path) -> dict[str, object]:
    text = page.read_text("utf-8").split('id="data">')[1].split("</script>")[0]
    value: dict[str, object] = json.loads(text)
    return value


def test_pages_for_several_annotators_with_suggestions(tmp_path: Path) -> None:
    (tmp_path / "notes.csv").write_text(NOTES, "utf-8")
    (tmp_path / "rubric.csv").write_text(RUBRIC, "utf-8")
    told = json.loads(
        run("annotate", tmp_path / "notes.csv", "--rubric", tmp_path / "rubric.csv", "--out",
            tmp_path / "m.html", "--annotator", "ann", "--annotator", "bob", "--suggest",
            "--matcher", "lexicon", "--json")
    )  # fmt: skip
    assert told["notes"] == 2
    assert told["judgements"] == 4
    assert [Path(page).name for page in told["pages"]] == ["m-ann.html", "m-bob.html"]
    data = data_of(tmp_path / "m-bob.html")
    assert data["annotator"] == "bob"
    assert data["suggestions"] == {"n1": {"1": "0 8"}, "n2": {"2": "0 5"}}


def test_a_page_is_not_replaced_unasked_and_a_matcher_needs_suggest(tmp_path: Path) -> None:
    page = tmp_path / "m.html"
    run("annotate", "open-notes", "--where", "case=0", "--out", page)
    again = CliRunner().invoke(main, ["annotate", "open-notes", "--out", str(page)])
    assert again.exit_code == 1
    refused = CliRunner().invoke(
        main, ["annotate", "open-notes", "--out", str(page), "--matcher", "lexicon"]
    )
    assert refused.exit_code == 2
    assert "--suggest" in refused.output
