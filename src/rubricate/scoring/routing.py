"""Which items a person must see: the policy, what it promises, and how it is applied."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from rubricate.errors import Fault, InputError
from rubricate.files import whole_output
from rubricate.formats.faults import read_text
from rubricate.rubric import Rubric
from rubricate.scoring.error_model import ErrorModel
from rubricate.scoring.evidence import Evidence

FORMAT_VERSION = 1


@dataclass(frozen=True, slots=True)
class Rule:
    """A threshold, and the test it passed.

    Parameters
    ----------
    threshold : float, optional
        Items whose estimated error is at most this are not sent to a person; None: all are.
    confidence : float
        Of the test; together those of all rules give the policy's.
    notes, accepted, errors : int
        Notes and accepted items of the test, and how many of these were wrong.
    review_share : float
        Share of the test's items that go to a person.
    upper : float
        Upper limit of the error rate of accepted items, at the rule's confidence.
    method : str
        ``"binomial"`` (Clopper-Pearson) or ``"betting"``.
    most : int, optional
        Most items of one note that go unseen: of more the surest do; None: any number.
    """

    threshold: float | None
    confidence: float
    notes: int
    accepted: int
    errors: int
    review_share: float
    upper: float
    method: str
    most: int | None = None


@dataclass(frozen=True, slots=True)
class CurvePoint:
    """One threshold: what share goes to a person, and how wrong the rest is.

    ``upper`` is the limit at this threshold alone, at the policy's confidence: it holds for a
    threshold chosen beforehand, not for the best looking one of the curve.
    """

    threshold: float
    review_share: float
    accepted: int
    errors: int
    error_rate: float | None
    upper: float


@dataclass(frozen=True, slots=True)
class Policy:
    """Which items a person must see, chosen by `choose_policy`.

    Parameters
    ----------
    max_error, confidence : float
        What is promised: with this confidence, of the items that are not sent to a person, in
        notes like those it was chosen on, at most this share is wrong.
    unit : str
        What was taken to be independent: ``"note"`` or ``"item"``.
    matcher : str
        Whose decisions it is for.
    model : ErrorModel
        Orders the items.
    rules : mapping from feature id to Rule
        Features with a threshold of their own.
    pooled : Rule, optional
        The threshold of all other features.
    texts : mapping from feature id to text
        The features it knows.
    curve : tuple of CurvePoint
        All features together, from everything reviewed to nothing.
    settings : mapping
        Seed, share of notes for tuning, and how many notes and items it was chosen on.
    """

    max_error: float
    confidence: float
    unit: str
    matcher: str
    model: ErrorModel
    rules: Mapping[str, Rule]
    pooled: Rule | None
    texts: Mapping[str, str]
    curve: tuple[CurvePoint, ...]
    settings: Mapping[str, Any]

    def why_review(self, found: Mapping[str, Evidence]) -> dict[str, str]:
        """Return why a person must see each item of a note; empty for those nobody must.

        ``found`` has what was found for each feature of the note's rubric, in its order.
        """
        risks = {
            name: self.model.estimate(name, one.found, one.certainty) for name, one in found.items()
        }
        reasons = {name: self._why(name, one, risks[name]) for name, one in found.items()}
        pooled = [name for name, why in reasons.items() if not why and name not in self.rules]
        if self.pooled is not None and self.pooled.most is not None:
            surest = sorted(pooled, key=lambda name: risks[name] or 0.0)
            for name in surest[self.pooled.most :]:
                reasons[name] = f"{self.pooled.most} items of the note are surer: no more go unseen"
        return reasons

    def _why(self, feature: str, evidence: Evidence, risk: float | None) -> str:
        rule = self.rules.get(feature, self.pooled)
        if risk is None or rule is None:
            return "the policy was chosen without this feature"
        if rule.threshold is None:
            return "no threshold keeps the promised error rate"
        if risk <= rule.threshold:
            return ""
        kind = "found" if evidence.found else "absent"
        sure = evidence.certainty
        stated = "of unknown certainty" if sure is None else f"with certainty {sure:.2f}"
        return f"{kind} {stated}: estimated error {risk:.1%}, at most {rule.threshold:.1%} allowed"

    def check(self, rubrics: Mapping[str, Rubric], matcher: str) -> None:
        """Raise InputError when the policy is for another matcher or other wording."""
        faults = []
        if matcher != self.matcher:
            faults.append(
                Fault(f"the policy is for the matcher {self.matcher!r}, the model is {matcher!r}")
            )
        for rubric in rubrics.values():
            faults += [
                Fault(f"feature {f.id!r} has another text than when the policy was chosen")
                for f in rubric
                if self.texts.get(f.id, f.text) != f.text
            ]
        if faults:
            raise InputError(faults)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values."""
        return {
            "policy": FORMAT_VERSION,
            "max_error": self.max_error,
            "confidence": self.confidence,
            "unit": self.unit,
            "matcher": self.matcher,
            "settings": dict(self.settings),
            "pooled": None if self.pooled is None else asdict(self.pooled),
            "rules": {name: asdict(rule) for name, rule in self.rules.items()},
            "curve": [asdict(point) for point in self.curve],
            "model": self.model.to_dict(),
            "texts": dict(self.texts),
        }


def write_policy(policy: Policy, path: str | Path, *, overwrite: bool = False) -> None:
    """Write a policy as JSON, whole or not at all."""
    with whole_output(Path(path), overwrite=overwrite) as place:
        text = json.dumps(policy.to_dict(), ensure_ascii=False, indent=1)
        place.write_text(text + "\n", encoding="utf-8")


def read_policy(path: str | Path) -> Policy:
    """Read a policy written by `write_policy`.

    Raises
    ------
    InputError
        If the file is no policy, or of a later version.
    """
    place = Path(path)
    try:
        value = json.loads(read_text(place))
        if value["policy"] != FORMAT_VERSION:
            fault = Fault(f"version {value['policy']!r}; this one reads {FORMAT_VERSION}", place)
            raise InputError([fault])
        return Policy(
            float(value["max_error"]),
            float(value["confidence"]),
            str(value["unit"]),
            str(value["matcher"]),
            ErrorModel.from_dict(value["model"]),
            {str(name): Rule(**rule) for name, rule in value["rules"].items()},
            None if value["pooled"] is None else Rule(**value["pooled"]),
            dict(value["texts"]),
            tuple(CurvePoint(**point) for point in value["curve"]),
            dict(value["settings"]),
        )
    except InputError:
        raise
    except (AttributeError, KeyError, TypeError, ValueError):
        raise InputError([Fault("not a policy written by `rubricate route`", place)]) from None
