"""Facts and settings in the shapes that last: nothing is lost, whatever the option."""

import json
from dataclasses import fields
from types import UnionType
from typing import Any, get_args, get_type_hints

import pytest

import earlycall as ec
from earlycall.core.facts import ArmAdded, Decided, Fact, Opened, Read, Started
from earlycall.core.models import Feedback
from earlycall.core.settings import Settings
from earlycall.journal.rows import (
    COLUMNS,
    KINDS,
    Entry,
    column_of,
    fact_of,
    kind_of,
    row_of,
    settings_made,
    settings_text,
)
from tests.play import KINDS as RACES

REQUIRED: dict[str, Any] = {"k": 1, "delta": 0.05, "feedback": ec.Full(1.0)}
# Each option with a value that is not its default, and what it needs beside it.
OPTIONS: dict[str, dict[str, Any]] = {
    "k": {"k": 2},
    "delta": {"delta": 0.1 + 0.2 - 0.25},
    "feedback": {"feedback": ec.Incremental(None, 3)},
    "epsilon": {"epsilon": 1 / 3},
    "scale": {"scale": 0.7},
    "direction": {"direction": "minimize"},
    "parallel": {"parallel": 4},
    "per_arm": {"per_arm": 2},
    "setup": {"setup": 2.5, "feedback": ec.Unbiased(1.0, 1.0, steps=9), "delays": "independent"},
    "delays": {"delays": "independent"},
    "min_delay": {"min_delay": 3, "delays": "informative", "feedback": ec.Unbiased(1.0, 1.0)},
    "looks": {"looks": "once", "feedback": ec.Unbiased(1.0, 1.0)},
    "blocks": {"blocks": 7},
    "method": {"method": "paper"},
    "allocation": {"allocation": "contenders", "delays": "independent"},
    "ledger": {"ledger": "as-printed", "method": "paper"},
    "radius": {"radius": "as-printed", "method": "paper"},
    "failure": {"failure": -1.5},
    "reserve": {"reserve": 3},
    "max_pulls": {"max_pulls": 100},
    "seed": {"seed": 2**62 + 1},
}
FEEDBACKS: list[Any] = [
    ec.Full(0.1),
    ec.Full({"ä, b": 1.0, "=c": 2.0}),
    ec.Full(None),
    ec.Full(ec.Pilot(5)),
    ec.Incremental(1.0, 3),
    ec.Unbiased(1.0, {1: 2.0, 10: 1 / 3}, pooling="refining", steps=7),
    ec.Biased({"a": 1.0}, 0.5, bias_scale=3.0),
    ec.Biased(ec.Pilot(9), {2: 0.5}),
    ec.Correlated(1.0, 0.1, -0.6, from_step=2, steps=4),
]


def test_every_option_is_tried() -> None:
    """A new option needs a line here, so that it is known to last."""
    assert set(OPTIONS) == {field.name for field in fields(Settings)}
    assert {type(feedback) for feedback in FEEDBACKS} == set(get_args(Feedback))


@pytest.mark.parametrize("name", OPTIONS)
def test_an_option_lasts(name: str) -> None:
    """Settings → JSON → settings; and the option is not its default, or nothing would be seen."""
    settings = Settings(**REQUIRED | OPTIONS[name])
    default = {field.name: field.default for field in fields(Settings)}[name]
    assert getattr(settings, name) != default
    again = settings_made(settings_text(settings))
    assert again == settings
    assert all(type(getattr(again, f.name)) is type(getattr(settings, f.name)) for f in fields(Settings))


@pytest.mark.parametrize("feedback", FEEDBACKS, ids=str)
def test_a_feedback_lasts(feedback: Any) -> None:
    """With labels and steps as keys, each of its type."""
    looks = "once" if isinstance(feedback, ec.Biased) and isinstance(feedback.sigma, ec.Pilot) else "every"
    settings = Settings(k=1, delta=0.05, feedback=feedback, looks=looks)
    assert settings_made(settings_text(settings)) == settings


@pytest.mark.parametrize("kind", RACES)
def test_the_settings_of_every_kind_of_race_last(kind: str) -> None:
    settings = Settings(**{"k": 1, "delta": 0.1} | RACES[kind])
    assert settings_made(settings_text(settings)) == settings


def test_an_option_that_is_not_there_has_its_default() -> None:
    """A journal from before there was such an option says what races did then."""
    said = json.loads(settings_text(Settings(**REQUIRED)))
    del said["allocation"]
    assert settings_made(json.dumps(said)).allocation == "even"


@pytest.mark.parametrize("strange", [{"colour": 3}, {"feedback": {"kind": "Telepathic"}}, {"looks": "never"}])
def test_settings_of_another_version_are_refused(strange: dict[str, Any]) -> None:
    said = json.loads(settings_text(Settings(**REQUIRED))) | strange
    with pytest.raises(ec.WorldError, match="upgrade"):
        settings_made(json.dumps(said))


def filled(cls: type) -> Fact:
    """A fact of a kind with something in every field."""
    values: dict[Any, Any] = {int: 2**62 + 3, float: 0.1, str: 'Ä, ="1"\'', tuple[str, ...]: ("a", "b,'")}
    said = {}
    for name, hint in get_type_hints(cls).items():
        said[name] = values[next(h for h in get_args(hint) if h is not type(None)) if is_union(hint) else hint]
    return cls(**said)


def is_union(hint: Any) -> bool:
    return isinstance(hint, UnionType)


@pytest.mark.parametrize("kind", KINDS)
def test_a_fact_lasts(kind: str) -> None:
    """Every field has a column, no two the same; fact → row → fact."""
    cls = KINDS[kind]
    columns = [column_of(field.name) for field in fields(cls)]
    assert len(set(columns)) == len(columns)
    assert set(columns) <= set(COLUMNS)
    for fact in (filled(cls), bare(cls)):
        row = row_of(Entry(5, 1.5, fact))
        assert row[:3] == (5, 1.5, kind)
        assert fact_of(row) == fact


def bare(cls: type) -> Fact:
    """The same without what may be left out."""
    full = filled(cls)
    hints = get_type_hints(cls)
    said = {f.name: None if is_union(hints[f.name]) else getattr(full, f.name) for f in fields(cls)}
    return cls(**said)


def test_a_kind_has_the_name_a_scientist_would_guess() -> None:
    assert [kind_of(cls) for cls in (Read, Started, ArmAdded, Decided, Opened)] == [
        "read", "started", "arm_added", "decided", "opened",
    ]  # fmt: skip


def test_a_kind_that_is_none_is_refused() -> None:
    with pytest.raises(ec.WorldError, match="upgrade"):
        fact_of((7, 0.0, "dreamt", *[None] * 20))
