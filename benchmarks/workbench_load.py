"""Response times of the workbench: 100 annotators who save every second, and large databases.

    python benchmarks/workbench_load.py [--seconds 60] [--people 100] [--database postgresql://...]
    python benchmarks/workbench_load.py --large [--notes 50000] [--scored 330000]

The server runs as its own process on the same machine as the load: what is printed holds for both
together. Every save is checked at the end: what was answered as saved must be in the database, and
the record must be intact.
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import json
import os
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from sqlalchemy import func, select

from rubricate.corpus import Corpus, Note
from rubricate.formats import load_corpus
from rubricate.store import people, projects
from rubricate.store import tables as t
from rubricate.store.chain import Entry, append, count, verify
from rubricate.store.database import Database, new_id, now
from rubricate.study.assignment import Task
from rubricate.web.serving import open_bench


class Client:
    """One HTTP/1.1 connection that stays open."""

    def __init__(self, port: int, token: str) -> None:
        self.port, self.token = port, token
        self.streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def ask(self, method: str, path: str, body: object = None) -> tuple[int, bytes]:
        """Return the status and body of an answer."""
        if self.streams is None:
            self.streams = await asyncio.open_connection("127.0.0.1", self.port)
        reader, writer = self.streams
        content = b"" if body is None else json.dumps(body).encode()
        head = (
            f"{method} /api/v1{path} HTTP/1.1\r\nHost: 127.0.0.1:{self.port}\r\n"
            f"Authorization: Bearer {self.token}\r\nContent-Type: application/json\r\n"
            f"Content-Length: {len(content)}\r\n\r\n"
        )
        writer.write(head.encode() + content)
        answer = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
        status = int(answer.split(" ", 2)[1])
        length = int(answer.split("content-length: ", 1)[1].split("\r\n", 1)[0])
        return status, await reader.readexactly(length)


@contextmanager
def served(folder: Path, database: str):
    """Yield the port of a server in a process of its own."""
    command = [
        sys.executable,
        "-P",
        "-m",
        "rubricate",
        "serve",
        str(folder),
        "--new",
        "--port",
        "0",
    ]
    command += ["--json", *(["--database", database] if database else [])]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=dict(os.environ)) as one:
        try:
            yield int(json.loads(one.stdout.readline())["url"].rsplit(":", 1)[1])
        finally:
            one.terminate()


def small_project(database: Database, n_people: int) -> tuple[str, dict[str, str]]:
    """Give every person ten notes of one case; return the project and a token for each person."""
    corpus = load_corpus("open-notes").select(cases=["0"])
    notes = corpus.notes[:20]

    def work(connection) -> tuple[str, dict[str, str]]:
        boss = people.add_person(connection, "boss", admin=True)
        project = projects.make_project(connection, "load", boss)
        people.set_roles(connection, project, boss, ["manager", "reviewer"], boss)
        projects.add_corpus(connection, project, Corpus(notes, corpus.rubrics), boss)
        ids, tokens, tasks = {}, {}, []
        for k in range(n_people):
            ids[f"p{k}"] = own = people.add_person(connection, f"p{k}")
            people.set_roles(connection, project, own, ["annotator"], boss)
            tasks += [
                Task(f"p{k}", notes[(k + i) % 20].id, "", "batch", "double") for i in range(10)
            ]
            tokens[f"p{k}"] = people.make_token(connection, own, "t", ["read", "write"], days=1)[1]
        projects.assign(connection, project, tasks, ids, boss)
        tokens["boss"] = people.make_token(connection, boss, "t", ["read"], days=1)[1]
        return project, tokens

    return database.write(work)


async def annotate(client: Client, project: str, until: float, times, saved, rng) -> None:
    """Save once a second, and open another note after every tenth save."""
    await asyncio.sleep(rng.random())
    status, body = await client.ask("GET", f"/projects/{project}/queue")
    queue = [one["id"] for one in json.loads(body)["assignments"]]
    number = 0
    while time.time() < until:
        own = queue[(number // 10) % len(queue)]
        if number % 10 == 0:
            started = time.perf_counter()
            status, body = await client.ask("GET", f"/assignments/{own}")
            times["open"].append(time.perf_counter() - started)
            times["errors"] += [] if status == 200 else [f"open {status}"]
            work = json.loads(body)
        features = work["rubric"]["features"]
        feature = features[number % len(features)]["id"]
        start = rng.randrange(0, 40)
        version = saved.get((own, feature), (0,))[0]
        body = {"answer": "present", "marks": [[[start, start + 5]]], "version": version,
                "sha256": work["note"]["sha256"], "active_ms": 900}  # fmt: skip
        begun = time.perf_counter()
        status, answer = await client.ask("PUT", f"/assignments/{own}/features/{feature}", body)
        times["save"].append(time.perf_counter() - begun)
        if status == 200:
            value = json.loads(answer)
            saved[own, feature] = (value["version"], value["marks"])
        else:
            times["errors"].append(f"save {status}")
        number += 1
        await asyncio.sleep(max(0.0, 1.0 - (time.perf_counter() - begun)))


async def watch(client: Client, project: str, until: float, times) -> None:
    """Look at the dashboard every two seconds."""
    while time.time() < until:
        started = time.perf_counter()
        await client.ask("GET", f"/projects/{project}/progress")
        times["dashboard"].append(time.perf_counter() - started)
        await asyncio.sleep(2)


def check(database: Database, saved: dict) -> int:
    """Return the number of lost saves."""
    joined = (t.assignment.c.note == t.judgement.c.note) & (
        t.assignment.c.person == t.judgement.c.person
    )
    rows = database.read(
        lambda c: c.execute(select(t.judgement, t.assignment.c.id).join(t.assignment, joined)).all()
    )
    kept = {(row.id, row.feature): row.version for row in rows}
    faults = [fault for one in database.read(verify) for fault in one.faults]
    if faults:
        print("the record is broken:", faults[:3])
    return sum(kept.get(key) != version for key, (version, _) in saved.items())


def told(name: str, seconds: list[float]) -> str:
    """Return one line of percentiles."""
    if not seconds:
        return f"{name}: none"
    p50, p95, p99 = np.percentile(seconds, [50, 95, 99]) * 1000
    return f"{name}: n {len(seconds)}, p50 {p50:.0f} ms, p95 {p95:.0f} ms, p99 {p99:.0f} ms"


def measure_saving(folder: Path, url: str, n_people: int, seconds: int) -> None:
    """Print how long saving and opening take while everybody works."""
    with open_bench(folder, url) as bench:
        project, tokens = small_project(bench.database, n_people)
    times: dict[str, list] = defaultdict(list)
    saved: dict = {}
    load = os.getloadavg()[0]
    with served(folder, url) as port:

        async def all_of_them() -> None:
            until = time.time() + seconds
            jobs = [
                annotate(Client(port, tokens[f"p{k}"]), project, until, times, saved,
                         random.Random(k))
                for k in range(n_people)
            ]  # fmt: skip
            await asyncio.gather(*jobs, watch(Client(port, tokens["boss"]), project, until, times))

        asyncio.run(all_of_them())
        lost = check(
            Database(url or f"sqlite:///{folder / 'workbench' / 'workbench.sqlite'}"), saved
        )
    kind = "PostgreSQL" if url else "SQLite"
    print(f"{kind}: {n_people} people, {seconds} s, load of the machine {load:.1f} before")
    for name in ("save", "open", "dashboard"):
        print(" ", told(name, times[name]))
    spent = resource.getrusage(resource.RUSAGE_CHILDREN)
    asked = sum(len(times[name]) for name in ("save", "open", "dashboard"))
    cpu = 1000 * (spent.ru_utime + spent.ru_stime) / asked
    print(f"  the server spent {cpu:.1f} ms of processor time for each request, its start included")
    print(f"  errors {len(times['errors'])} {times['errors'][:3]}, saved {len(saved)} judgements,"
          f" lost {lost}")  # fmt: skip


def fill_large(database: Database, n_notes: int, n_scored: int) -> tuple[str, str, str, str]:
    """Put many notes, judgements and scored notes in, straight into the tables."""
    corpus = load_corpus("open-notes").select(cases=["0"])
    features, rng = [f.id for f in corpus.features][:8], np.random.default_rng(0)
    texts = [note.text for note in corpus.notes]

    def work(connection) -> tuple[str, str, str, str]:
        boss = people.add_person(connection, "boss", admin=True)
        project = projects.make_project(connection, "large", boss)
        people.set_roles(connection, project, boss, ["manager", "reviewer"], boss)
        notes = [Note(f"n{i}", "0", f"{texts[i % len(texts)]} {i}") for i in range(n_notes)]
        projects.add_corpus(connection, project, Corpus(tuple(notes), corpus.rubrics), boss)
        ids = {f"p{k}": people.add_person(connection, f"p{k}") for k in range(20)}
        for own in ids.values():
            people.set_roles(connection, project, own, ["annotator"], boss)
        tasks = [Task(f"p{i % 20}", note.id, "", "batch", "single") for i, note in enumerate(notes)]
        projects.assign(connection, project, tasks, ids, boss)
        given = connection.execute(select(t.assignment)).all()
        judged = [
            {"note": a.note, "person": a.person, "feature": f, "project": project,
             "answer": "absent", "marks": "", "version": 1, "rubric": 1, "active_ms": 3000,
             "at": now()}
            for a in given for f in features
        ]  # fmt: skip
        for first in range(0, len(judged), 50_000):
            part = judged[first : first + 50_000]
            connection.execute(t.judgement.insert(), part)
            append(connection, project, *(
                Entry("judge", j["person"], {"version": 1, "answer": "absent", "marks": ""},
                      None, j["note"], j["feature"]) for j in part))  # fmt: skip
        count(connection, project, {"judgements": len(judged)})
        run = new_id()
        values = {"id": run, "project": project, "name": "large", "folder": "{}", "hash": ""}
        connection.execute(t.run.insert().values(**values, made=now()))
        own = {"weight": 1.0, "group": "", "found": True, "marks": "0 5", "reason": "exact"}
        kept = json.dumps([{"id": f.id, "text": f.text, **own} for f in corpus.features])
        for first in range(0, n_scored, 20_000):
            numbers = range(first + 1, min(first + 20_000, n_scored) + 1)
            rows = [{"number": i, "run": run, "id": f"s{i}", "case": "0", "body": kept,
                     "text": texts[i % len(texts)],
                     "sha256": hashlib.sha256(texts[i % len(texts)].encode()).hexdigest()}
                    for i in numbers]  # fmt: skip
            connection.execute(t.scored.insert(), rows)
            risk = rng.random(len(rows)).round(4).tolist()
            connection.execute(t.item.insert(), [
                {"id": new_id(), "run": run, "scored": i, "feature": features[0], "found": True,
                 "marks": "0 5", "risk": r, "why": "unsure", "state": "open",
                 "position": -r + i * 1e-9}
                for i, r in zip(numbers, risk, strict=True)])  # fmt: skip
        count(connection, project, {f"items_open:{run}": n_scored, f"items:{run}": n_scored})
        tokens = [people.make_token(connection, who, "t", ["read", "write"], days=1)[1]
                  for who in (boss, ids["p0"])]  # fmt: skip
        return project, run, tokens[0], tokens[1]

    return database.write(work)


def measure_large(folder: Path, url: str, n_notes: int, n_scored: int) -> None:
    """Print how long pages take on a large database."""
    begun = time.time()
    with open_bench(folder, url) as bench:
        project, run, boss, annotator = fill_large(bench.database, n_notes, n_scored)
        judged = bench.database.read(
            lambda c: c.scalar(select(func.count()).select_from(t.judgement))
        )
    filled = time.time() - begun
    times: dict[str, list] = defaultdict(list)
    load = os.getloadavg()[0]
    with served(folder, url) as port:

        async def look() -> None:
            one, two = Client(port, boss), Client(port, annotator)
            after = ""
            for _ in range(60):
                pages = (
                    ("review queue", one, f"/runs/{run}/items?limit=50{after}"),
                    ("next note", two, f"/projects/{project}/next"),
                    ("own queue", two, f"/projects/{project}/queue"),
                    ("dashboard", one, f"/projects/{project}/progress"),
                )
                for name, client, path in pages:
                    started = time.perf_counter()
                    status, body = await client.ask("GET", path)
                    times[name].append(time.perf_counter() - started)
                    assert status == 200, (path, status)
                    value = json.loads(body)
                    if name == "review queue":
                        after, item = f"&after={value['next']}", value["items"][0]["id"]
                    elif name == "next note":
                        note = value["assignment"]
                for name, client, path in (("item", one, f"/items/{item}"),
                                           ("note", two, f"/assignments/{note}")):  # fmt: skip
                    started = time.perf_counter()
                    await client.ask("GET", path)
                    times[name].append(time.perf_counter() - started)

        asyncio.run(look())
    kind = "PostgreSQL" if url else "SQLite"
    print(f"{kind}: {n_notes:,} notes, {judged:,} judgements, {n_scored:,} scored notes and items "
          f"(filled in {filled:.0f} s), load of the machine {load:.1f} before")  # fmt: skip
    for name, seconds in times.items():
        print(" ", told(name, seconds))


def main() -> None:
    """Measure what was asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--database", default="")
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--people", type=int, default=100)
    parser.add_argument("--large", action="store_true")
    parser.add_argument("--notes", type=int, default=50_000)
    parser.add_argument("--scored", type=int, default=330_000)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        if given.large:
            measure_large(Path(folder), given.database, given.notes, given.scored)
        else:
            measure_saving(Path(folder), given.database, given.people, given.seconds)


if __name__ == "__main__":
    main()
