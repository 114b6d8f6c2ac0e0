"""What annotators, curators and reviewers do: each handler is one function of the store."""

from __future__ import annotations

from typing import Any

import msgspec

from rubricate.store import annotating, curating, reviewing
from rubricate.web.calls import Call


def get_next(call: Call) -> Any:
    """Return the note that comes next."""
    return call.read(annotating.next_note, call.me, call.project)


def get_queue(call: Call) -> Any:
    """Return one's own notes."""
    return call.read(annotating.own_queue, call.me, call.project)


def get_work(call: Call) -> Any:
    """Return one of one's own notes."""
    return call.read(annotating.open_work, call.me, call.path["assignment"])


def put_judgement(call: Call) -> Any:
    """Keep a judgement."""
    return call.write(
        annotating.judge, call.me, call.path["assignment"], call.path["feature"],
        **msgspec.structs.asdict(call.body),
    )  # fmt: skip


def post_undo(call: Call) -> Any:
    """Undo one's last change to a note."""
    return call.write(annotating.step_back, call.me, call.path["assignment"])


def post_redo(call: Call) -> Any:
    """Do again what was undone."""
    return call.write(annotating.step_forward, call.me, call.path["assignment"])


def post_done(call: Call) -> Any:
    """Say that a note is done."""
    return call.write(annotating.finish, call.me, call.path["assignment"])


def get_disputes(call: Call) -> Any:
    """Return a page of disagreements."""
    wanted = {name: call.query.get(name, "") for name in ("case", "feature")}
    wanted["state"] = call.choice("state", ("open", "decided", "all"))
    wanted["reason"] = call.choice("reason", ("", *curating.REASONS))
    return call.read(curating.list_disputes, call.me, call.project, **wanted, **call.page())


def get_dispute(call: Call) -> Any:
    """Return one disagreement."""
    return call.read(curating.show_dispute, call.me, call.path["dispute"])


def put_dispute(call: Call) -> Any:
    """Add a decision."""
    given = msgspec.structs.asdict(call.body)
    return call.write(curating.decide, call.me, call.path["dispute"], **given)


def get_runs(call: Call) -> Any:
    """Return the runs of a project."""
    return {"runs": call.read(reviewing.list_runs, call.project)}


def get_items(call: Call) -> Any:
    """Return a page of the items of a run."""
    wanted = {name: call.query.get(name, "") for name in ("case", "feature")}
    wanted["state"] = call.choice("state", ("open", "done", "all"))
    wanted["found"] = call.choice("found", ("", "yes", "no"))
    return call.read(reviewing.list_items, call.path["run"], **wanted, **call.page())


def get_item(call: Call) -> Any:
    """Return one item."""
    return call.read(reviewing.show_item, call.path["item"])


def put_item(call: Call) -> Any:
    """Keep what a reviewer says of an item."""
    given = msgspec.structs.asdict(call.body)
    return call.write(reviewing.correct, call.me, call.path["item"], **given)
