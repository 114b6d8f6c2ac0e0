"""Everything that reads files of others: how to call it, and small valid files to start from.

A format that is written is fuzzed as soon as it is in `FORMATS`; one that is read only needs an
example, in tests/resources/NAME or below.
"""

from __future__ import annotations

import base64
import hashlib
import io
import json
import re
import zipfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from random import Random
from typing import Any

from fuzz.mutating import Tree, packed
from rubricate import (
    Corpus,
    CorpusBuilder,
    Feature,
    Metadata,
    Note,
    Rubric,
    read_corpus,
    write_corpus,
)
from rubricate.formats import FORMATS, detect_format
from rubricate.formats.jsonl import FORMAT as JSONL
from rubricate.formats.notes import open_notes
from rubricate.formats.options import ReadOptions

RESOURCES = Path(__file__).parents[1] / "resources"
#: Words of the notes, one of them annotated; no error may show them.
CANARIES = ("quokkazebra", "wombatyak")
TEXTS = (
    "The patient reports pain that began some weeks ago and has become worse since then; "
    'quokkazebra was seen at work. Wombatyak cough, at night, 38.5 °C.\n\nNo fever 😀 "today".',
    "Denies wombatyak cough.\r\nSmokes 1,5 packs a day; quokkazebra\tin the family, aged 61.",
)
#: What a single file is called where a format wants a name.
FILE_NAMES = {"labelstudio": "tasks.json", "jsonl": "corpus.jsonl", "conll": "corpus.conll",
              "submission": "submission.csv", "table": "notes.csv", "conllu": "corpus.conllu",
              "fhir": "notes.json"}  # fmt: skip


@dataclass(frozen=True)
class FuzzedReader:
    """One reader: where below an input's folder it is to look, valid inputs, and the call."""

    name: str
    root: str
    valid_trees: Callable[[Path], Sequence[Tree]]
    read: Callable[[Path, Random], object]
    #: Repairs what would keep damage from being looked at, such as hashes of files.
    seal: Callable[[Tree], Tree] = lambda tree: tree


@cache
def small_corpus() -> Corpus:
    """Two notes with fragments, overlaps and two annotators."""
    builder = CorpusBuilder()
    features = (Feature("1", "7", "Cough", weight=2.0, group="g"), Feature("2", "7", "No fever"))
    builder.add_rubric(Rubric("7", features, title="Cough"))
    for number, text in enumerate(TEXTS, start=1):
        builder.add_note(Note(str(number), "7", text, Metadata({"site": "a", "age": 61})))
        at = text.lower().index(CANARIES[1])
        for annotator in ("ann", "bob"):
            builder.annotate(annotator, str(number), "1", [(at, at + 9), (at + 10, at + 15)])
            builder.judge(annotator, str(number), "2")
    builder.annotate("ann", "1", "2", [(TEXTS[0].index("No"), TEXTS[0].index(" 😀"))])
    return builder.build()


def tree_of(place: Path, root: str) -> Tree:
    """Return the files of a folder, or one file, under the name they get in an input."""
    if place.is_file():
        return {root: place.read_bytes()}
    files = sorted(path for path in place.rglob("*") if path.is_file())
    return {f"{root}/{path.relative_to(place).as_posix()}": path.read_bytes() for path in files}


def fuzzed_readers() -> list[FuzzedReader]:
    """Return every reader: of formats, of rubric files, and of what rubricate itself writes."""
    return [
        *(_format_reader(name) for name in FORMATS),
        FuzzedReader("cas-zip", "project.zip", _zipped_cas, partial(_read_format, "cas")),
        *(_rubric_reader(suffix) for suffix in ("csv", "tsv", "xlsx", "yaml", "toml")),
        FuzzedReader("policy", "policy.json", _policies, _read_policy),
        FuzzedReader("corrections", "corrections.csv", _corrections, _read_corrections),
        FuzzedReader("run", "run", _runs, _read_run),
        *(_model_reader(name) for name in ("exact", "fuzzy", "lexicon", "crf")),
        FuzzedReader("encoder-settings", "model", _settings, _read_settings),
        FuzzedReader("study-settings", "study.toml", _studies, _read_study),
        FuzzedReader("study-variables", "variables.csv", _variables, _read_variables),
    ]


# --- formats ---------------------------------------------------------------------------------


def _format_reader(name: str) -> FuzzedReader:
    root = FILE_NAMES.get(name, "corpus")
    return FuzzedReader(name, root, partial(_format_trees, name, root), partial(_read_format, name))


def _format_trees(name: str, root: str, folder: Path) -> list[Tree]:
    trees = []
    if FORMATS[name].write is not None:
        folder.mkdir(parents=True, exist_ok=True)
        write_corpus(small_corpus(), folder / root, format=name, overwrite=True)
        trees.append(tree_of(folder / root, root))
    if name in _EXAMPLES:
        trees += _EXAMPLES[name](root)
    elif (RESOURCES / name).exists():
        trees += [tree_of(place, root) for place in _inputs(RESOURCES / name, name)]
    if not trees:
        raise LookupError(f"there is no example of {name}: put one into {RESOURCES / name}")
    return trees


def _inputs(folder: Path, name: str) -> list[Path]:
    """Return the paths in a folder of examples that the format recognises, the outermost first."""
    places = [folder, *sorted(folder.rglob("*"))]
    found: list[Path] = []
    for place in places:
        if FORMATS[name].looks_like(place) and not set(found) & set(place.parents):
            found.append(place)
    return found


def _table_example(root: str) -> list[Tree]:
    rows = [f'{i},7,"{t.replace(chr(34), 2 * chr(34))}",a\n' for i, t in enumerate(TEXTS)]
    return [{root: ("id,case,text,site\n" + "".join(rows)).encode()}]


def _texts_example(root: str) -> list[Tree]:
    return [{f"{root}/n{i}.txt": text.encode() for i, text in enumerate(TEXTS)}]


def _conllu_example(root: str) -> list[Tree]:
    lines = [
        "# newdoc id = 1", f"# text = Denies {CANARIES[1]} cough.",
        "1\tDenies\tdeny\tVERB\tVBZ\t_\t0\troot\t_\t_",
        f"2-3\t{CANARIES[1]}\t_\t_\t_\t_\t_\t_\t_\t_",
        "2\twombat\twombat\tNOUN\tNN\t_\t4\tcompound\t_\t_",
        "3\tyak\tyak\tNOUN\tNN\t_\t4\tcompound\t_\t_",
        "4\tcough\tcough\tNOUN\tNN\t_\t1\tobj\t_\tSpaceAfter=No",
        "5\t.\t.\tPUNCT\t.\t_\t1\tpunct\t_\t_", "", "# newdoc id = 2",
        f"1\t{CANARIES[0]}\tx\tX\tX\t_\t0\troot\t_\tSpacesAfter=\\\\s\\\\n", "", "",
    ]  # fmt: skip
    return [{root: "\n".join(lines).encode()}]


def _fhir_example(root: str) -> list[Tree]:
    notes = [
        {"resourceType": "DocumentReference", "id": f"n{number}", "status": "current",
         "content": [{"attachment": {"contentType": "text/plain", "data": b64(text)}}]}
        for number, text in enumerate(TEXTS)
    ]  # fmt: skip
    bundle = {"resourceType": "Bundle", "entry": [{"resource": one} for one in notes]}
    return [{root: json.dumps(bundle).encode()}, {root: json.dumps(notes[0]).encode()}]


def b64(text: str) -> str:
    """Return a text as an attachment holds it."""
    return base64.b64encode(text.encode()).decode()


_EXAMPLES: dict[str, Callable[[str], list[Tree]]] = {
    "conllu": _conllu_example,
    "fhir": _fhir_example,
    "table": _table_example,
    "texts": _texts_example,
}


def _read_format(name: str, place: Path, random: Random) -> None:
    """Read; look and stream now and then; what was read can be written."""
    chosen, strict = FORMATS[name], random.random() < 0.7
    if random.random() < 0.1:
        detect_format(place)
    if chosen.stream is not None and random.random() < 0.2:
        for _ in open_notes(place, how=ReadOptions(name)).notes():
            pass
    like = small_corpus() if random.random() < 0.95 else None
    corpus = read_corpus(place, format=name, strict=strict, like=like)
    if strict:
        target = place.parent.parent / "written.jsonl"
        JSONL.write(corpus, target)
        target.unlink()


def _zipped_cas(folder: Path) -> list[Tree]:
    project = RESOURCES / "cas" / "project"
    types, body = (
        (project / name).read_bytes() for name in ("TypeSystem.xml", "annotation/n1.txt/alice.xmi")
    )
    whole = {"TypeSystem.xml": types, "alice.xmi": body}
    single = {"alice.json": (RESOURCES / "cas" / "alice.json").read_bytes()}
    return [{"project.zip": packed(members)} for members in (whole, single)]


# --- rubric files ----------------------------------------------------------------------------


def _rubric_reader(suffix: str) -> FuzzedReader:
    root = f"rubric.{suffix}"
    return FuzzedReader(f"rubric-{suffix}", root, partial(_rubric_trees, root), _read_rubric)


def _rubric_trees(root: str, folder: Path) -> list[Tree]:
    from rubricate.formats.rubric import write_rubrics

    folder.mkdir(parents=True, exist_ok=True)
    write_rubrics(small_corpus().rubrics, folder / root, overwrite=True)
    suffix = Path(root).suffix
    examples = sorted((RESOURCES / "rubrics").glob(f"*{suffix}"))
    trees = [tree_of(place, root) for place in (folder / root, *examples)]
    return [_timeless(tree) for tree in trees] if suffix == ".xlsx" else trees


def _timeless(tree: Tree) -> Tree:
    """Return a workbook without the time at which it was written."""
    with zipfile.ZipFile(io.BytesIO(tree["rubric.xlsx"])) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    time = re.compile(rb"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")
    members = {name: time.sub(b"2025-01-01T00:00:00Z", body) for name, body in members.items()}
    return {"rubric.xlsx": packed(members)}


def _read_rubric(place: Path, random: Random) -> None:
    from rubricate.formats.rubric import read_rubric_file, write_rubrics

    rubrics = read_rubric_file(place).rubrics
    target = place.parent.parent / f"again.{random.choice(('csv', 'yaml', 'toml'))}"
    write_rubrics(rubrics, target, overwrite=True)


# --- what rubricate itself writes ------------------------------------------------------------


def _policies(folder: Path) -> list[Tree]:
    from rubricate.scoring import Policy
    from rubricate.scoring.policy import CurvePoint, ErrorCurve, ErrorModel, ReviewRule

    rule = ReviewRule(0.05, 0.95, 100, 80, 1, 0.2, 0.04, "betting", 3)
    own = ReviewRule(None, 0.975, 100, 0, 0, 1.0, 1.0, "binomial")
    curve = ErrorCurve(-1.0, -1.0)
    model = ErrorModel(curve, curve, {"1": (0.0, 50.0, 0.0, 50.0), "2": (9.0, 9.0, 9.0, 9.0)})
    point = CurvePoint(0.05, 0.2, 80, 1, 0.0125, 0.04)
    policy = Policy(0.05, 0.95, "note", "exact", model, {"2": own}, rule, {"1": "Cough"}, (point,),
                    {"seed": 0})  # fmt: skip
    return [{"policy.json": json.dumps(policy.to_dict(), indent=1).encode()}]


def _read_policy(place: Path, random: Random) -> None:
    from rubricate.run import Evidence
    from rubricate.scoring.policy import read_policy

    policy = read_policy(place)
    policy.why_review({"1": Evidence((((0, 5),),), 0.99), "2": Evidence((), None)})
    json.dumps(policy.to_dict())


def _corrections(folder: Path) -> list[Tree]:
    rows = (
        "note,feature,found,by,at,spans,comment\n1,1,yes,Ann,2025-01-31T09:30,0 5;8 12|20 25,seen\n"
        "2,2,no,Bob,2025-02-01,,\n'=1,1,yes,Ann,2025-01-31T09:30:00+01:00,3 4,'=x\n"
    )
    return [{"corrections.csv": rows.encode()}]


def _read_corrections(place: Path, random: Random) -> None:
    from rubricate.scoring.corrections import read_corrections

    found = read_corrections(place)
    for note in small_corpus().notes:
        found.check(note.id, small_corpus().rubrics[0], note.text)
    found.unseen()


def _runs(folder: Path) -> list[Tree]:
    from rubricate.scoring import ScoreSettings, score_notes

    corpus = small_corpus().select(annotators=())
    if not (folder / "run").exists():
        score_notes(corpus, folder / "run", settings=ScoreSettings(matcher="exact"))
    tree = tree_of(folder / "run", "run")
    return [{name: tree[name] for name in ("run/scores.csv", "run/items.csv")}]


def _read_run(place: Path, random: Random) -> None:
    from rubricate.run import read_evidence, read_run

    run = read_run(place) if random.random() < 0.7 else read_evidence(place)
    len(run)


def _model_reader(name: str) -> FuzzedReader:
    return FuzzedReader(f"model-{name}", "model", partial(_models, name), _read_model, _sealed)


def _sealed(tree: Tree) -> Tree:
    """Return a model's files with their hashes in model.json, where it lists any."""
    try:
        header = json.loads(tree["model/model.json"])
        for name, wanted in header["files"].items():
            if wanted and f"model/{name}" in tree:
                header["files"][name] = hashlib.sha256(tree[f"model/{name}"]).hexdigest()
    except (KeyError, ValueError, TypeError, AttributeError, RecursionError):
        return tree
    return {**tree, "model/model.json": json.dumps(header).encode()}


def _models(name: str, folder: Path) -> list[Tree]:
    from rubricate.matchers import fit_matcher

    if not (folder / "model").exists():
        folder.mkdir(parents=True, exist_ok=True)
        matcher: Any = fit_matcher(name, small_corpus(), annotator="ann")
        # Processors differ in the last digits: what is damaged must be the same everywhere.
        arrays = [case.model.weights for case in getattr(matcher.model_, "cases", {}).values()]
        if name == "crf":
            linear = matcher.model_.linear
            arrays += [linear.weights, linear.chain.first, linear.chain.step, linear.chain.last]
        for array in arrays:
            array[:] = array.round(1) + 0.0
        matcher.save(folder / "model")
    tree = tree_of(folder / "model", "model")
    return [_with_few_words(tree) if name == "lexicon" else tree]


def _with_few_words(tree: Tree) -> Tree:
    """Return a lexicon model with the first words it knows of English: damage hits all else."""
    shared = json.loads(tree["model/shared.json"])
    for name in ("forms", "translation", "overall"):
        shared[name] = dict(list(shared[name].items())[:100])
    second = shared["second"]
    second["words"], second["vectors"] = second["words"][:100], second["vectors"][:101]
    return _sealed({**tree, "model/shared.json": json.dumps(shared).encode()})


def _read_model(place: Path, random: Random) -> None:
    from rubricate.matchers import load_matcher

    load_matcher(place).predict(small_corpus())


def _settings(folder: Path) -> list[Tree]:
    from rubricate.neural.encoder.model_folder import EncoderSettings

    folder.mkdir(parents=True, exist_ok=True)
    report = {"notes": {"train": 2}, "recipe": {"rate": 0.1}, "curve": [{"f1": 0.5}]}
    shape = {"vocabulary": 60, "dim": 32, "layers": 1}
    whole = EncoderSettings(shape=shape, feature_presence={"1": 0.4, "2": 0.6}, report=report)
    whole.write(folder / "settings.json")
    settings = (folder / "settings.json").read_bytes()
    files = dict.fromkeys(("network.onnx", "tokenizer.json", "settings.json"), "")
    one = {"folder": "member1", "weight": 1.0, "files": files}
    members = json.dumps({"members": [one, {**one, "folder": "member2", "weight": 0.5}]}).encode()
    parts = {
        f"model/member{number}/{name}": settings if name == "settings.json" else b"{}"
        for number in (1, 2)
        for name in files
    }
    return [
        {"model/settings.json": settings},
        {"model/settings.json": settings, "model/members.json": members, **parts},
    ]


def _read_settings(place: Path, random: Random) -> None:
    from rubricate.neural.encoder.model_folder import common_settings, read_members

    common_settings(read_members(place)).of_feature("1")


_STUDY = """name = "small"
seed = 5
[population]
corpus = "notes.jsonl"
site = "site"
[[variables]]
name = "smoking"
role = "primary"
feature_text = "tobacco"
[[variables]]
name = "weight"
features = ["f2"]
[detection]
corpus = "notes.jsonl"
annotator = "system"
[plan]
precision = 0.8
recall = 0.8
half_width = 0.2
[annotation]
format = "brat"
training = 2
annotators = [{id = "ann", senior = true}, {id = "bob"}]
[evaluation]
resamples = 100
"""


def _studies(folder: Path) -> list[Tree]:
    return [{"study.toml": _STUDY.encode()}]


def _read_study(place: Path, random: Random) -> None:
    from rubricate.study.settings import read_settings

    read_settings(place)


def _variables(folder: Path) -> list[Tree]:
    rows = "name,precision,recall,frequency\nasthma,.85,.8,.48\nsmoking,0.9,0.7,0.1\n"
    return [{"variables.csv": rows.encode()}]


def _read_variables(place: Path, random: Random) -> None:
    from rubricate.study.planning import read_variables

    read_variables(place)
