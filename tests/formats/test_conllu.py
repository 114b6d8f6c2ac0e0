from pathlib import Path

import pytest

from rubricate import read_corpus
from rubricate.errors import InputError
from rubricate.formats import FORMATS, detect_format

UD = """\
# newdoc id = ward-1
# newpar
# sent_id = 1
# text = Doesn't smoke.
1-2	Doesn't	_	_	_	_	_	_	_	_
1	Does	do	AUX	VBZ	_	3	aux	_	_
2	n't	not	PART	RB	_	3	advmod	_	_
3	smoke	smoke	VERB	VB	_	0	root	_	SpaceAfter=No
4	.	.	PUNCT	.	_	3	punct	_	_

# sent_id = 2
1	No	no	DET	DT	_	2	det	_	_
2	fever	fever	NOUN	NN	_	0	root	_	SpaceAfter=No
2.1	is	be	AUX	VBZ	_	_	_	2:cop	_
3	,	,	PUNCT	,	_	2	punct	_	SpacesAfter=\\s\\s
4	chills	chill	NOUN	NNS	_	2	conj	_	_

# newdoc id = ward-2
# newpar
1	Well	well	ADJ	JJ	_	0	root	_	_

"""
X = "1\tNo\tno\tDT\tDT\t_\t2\tdet\t_\t_\n2\tfever\tfever\tNN\tNN\t_\t0\troot\t_\t_\n\n1\tWell\twell\tJJ\tJJ\t_\t0\troot\t_\t_\n\n"


def test_conll_u_is_read_for_its_text(tmp_path: Path) -> None:
    place = tmp_path / "notes.conllu"
    place.write_text(UD, encoding="utf-8")
    assert detect_format(place) == "conllu"
    corpus = read_corpus(place)
    assert {n.id: n.text for n in corpus.notes} == {
        "ward-1": "Doesn't smoke.\nNo fever,  chills",
        "ward-2": "Well",
    }
    assert not len(corpus.rows)


@pytest.mark.parametrize("name", ["a.conll", "a.txt", "a.tsv", "a.conllx"])
def test_conll_2006_without_comments_is_no_list_of_numbers(name: str, tmp_path: Path) -> None:
    place = tmp_path / name
    place.write_text(X, encoding="utf-8")
    assert detect_format(place) == "conllu"
    assert [n.text for n in read_corpus(place).notes] == ["No fever\nWell"]
    with pytest.raises(InputError, match="conllu"):
        read_corpus(place, format="conll")


def test_every_line_that_is_no_token_is_named(tmp_path: Path) -> None:
    place = tmp_path / "a.conllu"
    place.write_text(X.replace("2\tfever", "secret\tfever"), encoding="utf-8")
    with pytest.raises(InputError) as caught:
        read_corpus(place, format="conllu")
    assert [f.line for f in caught.value.faults] == [2]
    assert "secret" not in str(caught.value)
    place.write_text("# text = secret\n", encoding="utf-8")
    with pytest.raises(InputError):
        read_corpus(place, format="conllu")


def test_files_of_tokens_with_a_tag_are_still_conll(tmp_path: Path) -> None:
    place = tmp_path / "a.conll"
    place.write_text("1 CD O\n58 CD B-Age\n\n", encoding="utf-8")
    assert detect_format(place) == "conll"
    assert not FORMATS["conllu"].looks_like(place)


def test_sentences_and_unnamed_notes_are_laid_out(tmp_path: Path) -> None:
    def token(form: str, after: str = "_") -> str:
        return f"1\t{form}\t_\t_\t_\t_\t0\troot\t_\t{after}\n\n"

    place = tmp_path / "notes.conllu"
    place.write_text(
        "# newdoc\n" + token("One", "SpacesAfter=\\s\\s") + token("two") + token("three")
        + "# newpar\n" + token("four") + "# newdoc\n" + token("Five"),
        encoding="utf-8",
    )  # fmt: skip
    corpus = FORMATS["conllu"].read(place)
    assert [(note.id, note.text) for note in corpus.notes] == [
        ("notes-1", "One  two\nthree\n\nfour"), ("notes-2", "Five"),
    ]  # fmt: skip
