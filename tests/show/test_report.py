"""What is shown of a race: rows and sentences, whatever the labels are."""

import io
from typing import Any

import pytest
from rich.console import Console

import earlycall as ec
from earlycall.run.loop import Event
from earlycall.show import live
from earlycall.show.report import Pace, headline, percent, pretty, rows, sentences, text_table

FULL: dict[str, Any] = {"k": 1, "delta": 0.05, "feedback": ec.Full(1.0)}
NASTY = ["[red]A[/red]", "B=1", "<b>C</b>"]


def raced(pulls: int = 3, **options: Any) -> ec.Race:
    """A race with so many pulls that have ended, and one that runs."""
    race = ec.Race(NASTY, **FULL | {"parallel": 2, "delays": "independent"} | options)
    for _ in range(pulls):
        one = race.ask(limit=1)[0]
        race.tell(one.id, {NASTY[0]: 1.0, NASTY[1]: 3.0, NASTY[2]: 2.0}[one.arm])
    race.ask(limit=1)
    return race


def test_the_answer_comes_first_and_then_the_closest() -> None:
    assert [row.arm for row in rows(raced().status())] == [NASTY[1], NASTY[2], NASTY[0]]


def test_labels_are_text_and_never_markup() -> None:
    status = raced().status()
    assert "[red]A[/red]" in text_table(status)
    out = io.StringIO()
    console = Console(file=out, width=120, force_terminal=True, color_system=None)
    console.print(live.picture(status, 60.0, console))
    assert "[red]A[/red]" in out.getvalue()
    assert "<b>C</b>" in out.getvalue()
    assert "about 60 s to go (estimate)" in out.getvalue()


def test_many_arms_do_not_fill_the_screen() -> None:
    race = ec.Race(range(500), **FULL)
    console = Console(file=io.StringIO(), width=120, height=30, force_terminal=True)
    console.print(live.picture(race.status(), None, console))
    assert "… and 480 more" in console.file.getvalue()  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("outcome", "starts"),
    [(None, "Still open: not decided. B=1 may be the best of 3, with "), ("stopped", "Stopped: not decided. B=1 may")],
)
def test_a_race_that_is_not_decided_says_so(outcome: str | None, starts: str) -> None:
    race = raced()
    if outcome:
        race.close()
    assert sentences(race.status())[0].startswith(starts)


def test_an_answer_within_epsilon_says_so() -> None:
    race = raced(3, epsilon=50.0)
    assert sentences(race.status())[0].startswith("B=1: within ")


def test_confidence_is_never_rounded_up() -> None:
    assert (percent(0.95), percent(0.999999), percent(0.12345)) == ("95 %", "99.99 %", "12.34 %")


def test_a_time_has_a_unit_that_people_use() -> None:
    assert [pretty(t) for t in (3.0, 120.0, 7200.0, 400_000.0)] == ["3 s", "2 min", "2 hours", "4.6 days"]


def test_the_estimate_knows_the_pulls_that_run() -> None:
    """None before there is anything to go by; less, the longer the running pulls have run; nothing at the end."""
    race = raced(4)
    status = race.status()
    assert Pace().seconds_left(status, [0.0]) is None
    pace = Pace(ended=12, busy=120.0)
    early, late = pace.seconds_left(status, [0.0, 0.0]), pace.seconds_left(status, [9.0, 9.0])
    assert early is not None
    assert late is not None
    assert 0.0 < late < early
    race.close()
    assert pace.seconds_left(race.status(), []) == 0.0


def test_a_log_gets_lines_and_nobody_else_gets_anything(capsys: pytest.CaptureFixture[str]) -> None:
    """Where there is no terminal: silence, or with show=True a line now and then."""
    race = raced()
    with live.watching(race, None) as view:
        assert view == []
    with live.watching(race, True) as view:
        for kind in ("began", "finished", "tick", "tick", "decided"):
            for watcher in view:
                watcher(Event(kind, 1, "A"))
    told = capsys.readouterr()
    assert told.out == ""
    assert told.err.splitlines() == [f"earlycall: {headline(race.status(), None)}"] * 2


def test_a_terminal_gets_a_table_that_is_not_drawn_too_often(monkeypatch: pytest.MonkeyPatch) -> None:
    """At most four times a second, however many readings there are."""
    drawn: list[object] = []
    race = raced()
    view = live.View(race, live.OFTEN, lambda status, left: drawn.append(status))
    clock = iter(x / 1000.0 for x in range(10**6))
    monkeypatch.setattr(live, "monotonic", lambda: next(clock))
    for _ in range(2000):
        view.event(Event("tick"))
    seconds = next(clock)
    assert 2 <= len(drawn) <= 4 * seconds + 1
    monkeypatch.setenv("FORCE_COLOR", "1")
    with live.watching(race, True) as watchers:
        assert len(watchers) == 1


def test_a_live_race_ends_with_its_table(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm")
    ec.identify(lambda value, pull: value, {"A": 1.0, "B": 9.0}, show=True, **FULL)
    shown = capsys.readouterr().err
    assert "accepted" in shown
    assert "2 pulls finished" in shown
