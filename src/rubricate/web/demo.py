"""A project on the embedded corpus with something to do for every role."""

from __future__ import annotations

from typing import Any

from rubricate.corpus import Corpus
from rubricate.formats import load_corpus, write_corpus
from rubricate.store import annotating, people, projects, reviewing
from rubricate.store.people import Identity
from rubricate.study.assignment import Task
from rubricate.web.calls import Bench

CASE, RATERS = "0", ("reference", "second_rater")
#: How many notes two annotators have finished, and how many are left for whoever tries it.
N_DONE, N_OPEN = 12, 20
ROLES = {"annotator": "annotate", "curator": "curate", "reviewer": "review", "manager": "dashboard"}


def make_demo(bench: Bench) -> dict[str, str]:
    """Fill an empty workbench and return the path of a signed-in link for each role."""
    whole = load_corpus("open-notes").select(cases=[CASE])
    feature = whole.features[0].id
    twice = [n.id for n in whole.notes if whole.annotations(n.id, feature, RATERS[1]) is not None]
    once = [n.id for n in whole.notes if n.id not in twice]
    done, to_do = twice[:N_DONE], once[:N_OPEN]
    corpus = whole.select(notes={*done, *to_do})
    run = _score(bench, corpus)

    def work(connection: Any) -> dict[str, str]:
        ids = {role: people.add_person(connection, role) for role in ROLES}
        manager = ids["manager"]
        project = projects.make_project(connection, "Demonstration", manager)
        for role, person in ids.items():
            people.set_roles(connection, project, person, [role], manager)
        projects.add_corpus(connection, project, corpus, manager, rename=True)
        for name in RATERS:
            ids[name] = people.add_person(connection, name)
            people.set_roles(connection, project, ids[name], ["annotator"], manager)
        tasks = [Task(name, n, n, "batch", "double") for name in RATERS for n in done]
        tasks += [Task("annotator", n, n, "batch", "single") for n in to_do]
        projects.assign(connection, project, tasks, ids, manager)
        for name in RATERS:
            _replay(connection, Identity(ids[name], name), project, corpus)
        own = reviewing.add_run(
            connection, project, manager, folder=run, name=run.name, inputs=_INPUTS, audit=0.1,
            texts={note.id: note.text for note in corpus.notes}, seed=0,
        )  # fmt: skip
        pages = {**ROLES, "reviewer": f"review/{own}"}
        return {
            role: people.make_link(
                connection, "enter", ids[role], target=f"/p/{project}/{page}", days=1
            )
            for role, page in pages.items()
        }

    links: dict[str, str] = bench.database.write(work)
    return {role: f"/enter/{secret}" for role, secret in links.items()}


_INPUTS = {"folder": "scores", "notes": "notes.jsonl"}


def _score(bench: Bench, corpus: Corpus) -> Any:
    from rubricate.scoring import ScoreSettings, score_notes

    notes, out = (bench.folder / _INPUTS[name] for name in ("notes", "folder"))
    write_corpus(Corpus(corpus.notes, corpus.rubrics), notes, format="jsonl")
    return score_notes(notes, out, settings=ScoreSettings(matcher="lexicon")).folder


def _replay(connection: Any, me: Identity, project: str, corpus: Corpus) -> None:
    """Let an annotator of the corpus judge as they did."""
    for one in annotating.own_queue(connection, me, project)["assignments"]:
        work = annotating.open_work(connection, me, one["id"])
        note = next(n for n in corpus.notes if n.text == work["note"]["text"])
        for feature in work["rubric"]["features"]:
            found = corpus.annotations(note.id, feature["id"], me.name)
            marks = [[(s.start, s.end) for s in a.spans] for a in found or ()]
            annotating.judge(
                connection, me, one["id"], feature["id"], marks=marks, version=0,
                answer="present" if marks else "absent", sha256=work["note"]["sha256"],
                active_ms=4000,
            )  # fmt: skip
        annotating.finish(connection, me, one["id"])
