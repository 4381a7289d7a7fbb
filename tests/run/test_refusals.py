"""What is refused at the door or later: one sentence with the value, what was expected, what to do; nothing changes."""

import copy
import math
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import numpy as np
import pytest

import earlycall as ec
from earlycall.core.checks import quoted
from tests.play import open_quietly, snapshot
from tests.run.test_handle import BASIC, open_race, running

NAN, INF = math.nan, math.inf
REFUSED_NEWS: list[tuple[str, tuple[Any, ...], str]] = [
    ("report", (1, NAN), "value=nan"),
    ("report", (1, INF), "value=inf"),
    ("report", (1, -INF), "value=-inf"),
    ("report", (1, None), "value=None"),
    ("report", (1, "7"), "value='7'"),
    ("report", (1, True), "value=True"),
    ("report", (1, 10**400), "value="),
    ("report", (1, Decimal("sNaN")), "value="),
    ("report", (1, 1j), "value="),
    ("report", (1, np.array([1.0, 2.0])), "value="),
    ("report", (1, 1e15), "another origin"),
    ("report", (1, 1.0, 0), "step=0"),
    ("report", (1, 1.0, 1.5), "step=1.5"),
    ("report", (1, 1.0, True), "step=True"),
    ("report", (1, 7.0, 1), "more than 1"),
    ("report", (1, 1.0, 2, 0.0), "sd=0.0"),
    ("report", (1, 1.0, 2, -1.0), "sd=-1.0"),
    ("report", (1, 1.0, 2, NAN), "sd=nan"),
    ("report", (1, 1.0, 2, None, 5), "of=5"),
    ("report", (99, 1.0), "1 to 3"),
    ("report", ("1", 1.0), "pull='1'"),
    ("report", (0, 1.0), "pull=0"),
    ("tell", (1, NAN), "value=nan"),
    ("tell", (1, 2.0, 0), "step=0"),
    ("tell", (99, 2.0), "pull=99"),
    ("lose", (1, 3), "reason=3"),
    ("ask", (0,), "limit=0"),
    ("ask", (2.5,), "limit=2.5"),
    ("ask", (None, ""), "key=''"),
    ("ask", (None, 3), "key=3"),
    ("close", ("why", "won"), "outcome='won'"),
    ("should_stop", (99,), "pull=99"),
    ("explain", ("Z",), "arm='Z'"),
    ("explain", (1,), "arm=1"),
]


@pytest.mark.parametrize(("verb", "arguments", "says"), REFUSED_NEWS, ids=quoted)
def test_wrong_news_is_refused_and_nothing_changes(verb: str, arguments: tuple[Any, ...], says: str) -> None:
    """The message quotes the value and says what was expected."""
    race = running()
    before = snapshot(race)
    with pytest.raises(ec.NewsError, match="expected") as caught:
        getattr(race, verb)(*arguments)
    assert says in str(caught.value)
    assert "\n" not in str(caught.value)
    assert "\x1b" not in str(caught.value)
    assert snapshot(race) == before


REFUSED_SETTINGS: list[tuple[dict[str, Any], str]] = [
    ({"k": 3}, "k=3"),
    ({"k": 0}, "k=0"),
    ({"k": 10**5000}, "k="),
    ({"parallel": 10**7, "delays": "independent"}, "at most 1000000"),
    ({"seed": 2**64}, "at most 9223372036854775807"),
    ({"delays": np.array(["a", "b"])}, "delays="),
    ({"journal": "sqlite:///x.db"}, "Say earlycall.open_race"),
    ({"workers": "threads"}, "only earlycall.identify"),
    ({"k": 1.0}, "k=1.0"),
    ({"delta": 0.0}, "delta=0.0"),
    ({"delta": 1}, "delta=1"),
    ({"delta": NAN}, "delta=nan"),
    ({"delta": "5%"}, "delta='5%'"),
    ({"feedback": 3}, "feedback=3"),
    ({"feedback": ec.Full}, "feedback="),
    ({"feedback": ec.Full({"A": 1.0, "B": 1.0})}, "Missing: 'C'"),
    ({"feedback": ec.Full({"A": 1.0, "B": 1.0, "C": 1.0, "D": 1.0})}, "No such arm: 'D'"),
    ({"epsilon": -1.0}, "epsilon=-1.0"),
    ({"epsilon": INF}, "epsilon=inf"),
    ({"scale": 0.0}, "scale=0.0"),
    ({"direction": "up"}, "direction='up'"),
    ({"parallel": 0}, "parallel=0"),
    ({"parallel": 4}, 'delays="independent"'),
    ({"setup": 1.0}, "steps="),
    ({"setup": 1.0, "feedback": ec.Unbiased(1.0, 0.5, steps=9)}, 'delays="independent"'),
    ({"setup": -1.0}, "setup=-1.0"),
    ({"per_arm": 0}, "per_arm=0"),
    ({"delays": "informative", "feedback": ec.Incremental(1.0, 9)}, "Declare Full"),
    ({"delays": "informative", "feedback": ec.Biased(1.0, 0.5, steps=9), "setup": 1.0}, "min_delay="),
    ({"delays": "informative", "feedback": ec.Unbiased(1.0, 0.5, steps=9), "setup": 1.0}, "min_delay="),
    ({"delays": "informative", "method": "paper"}, "delays='informative'"),
    (
        {
            "delays": "informative",
            "feedback": ec.Unbiased(1.0, 0.5, steps=9),
            "setup": 1.0,
            "min_delay": 3,
            "failure": 0.0,
        },
        "failure=0.0",
    ),
    ({"delays": "informative", "feedback": ec.Unbiased(1.0, 0.5, steps=9), "min_delay": 10}, "min_delay=10"),
    ({"delays": "informative", "allocation": "contenders"}, "pulled evenly"),
    ({"delays": "some"}, "delays='some'"),
    ({"min_delay": 3}, "min_delay=3"),
    ({"method": "ucb"}, "method='ucb'"),
    ({"ledger": "as-printed"}, "ledger='as-printed'"),
    ({"radius": "as-printed"}, "radius='as-printed'"),
    ({"method": "paper", "setup": 1.0, "feedback": ec.Unbiased(1.0, 0.5, steps=9)}, "setup=1.0"),
    ({"method": "paper", "scale": 1.0}, "scale=1.0"),
    ({"method": "paper", "feedback": ec.Correlated(1.0, 1.0, 0.5)}, "The paper knows no surrogates"),
    ({"method": "paper", "feedback": ec.Unbiased(1.0, 0.5, "refining")}, "pooling"),
    ({"method": "paper", "feedback": ec.Incremental(1.0)}, "steps"),
    ({"failure": "ignore"}, "failure='ignore'"),
    ({"failure": NAN}, "failure=nan"),
    ({"failure": 1e20}, "failure=1e+20"),
    ({"max_pulls": 0}, "max_pulls=0"),
    ({"seed": -1}, "seed=-1"),
    ({"seed": "x"}, "seed='x'"),
    ({"looks": "once", "feedback": ec.Full(1.0)}, "Leave it out"),
    ({"looks": "once", "method": "paper", "feedback": ec.Unbiased(1.0, 0.5)}, "looks='once'"),
    ({"looks": "once", "feedback": ec.Biased(1.0, 0.5, steps=9), "setup": 1, "delays": "independent"}, "setup=1"),
    ({"looks": "twice"}, "looks='twice'"),
    ({"feedback": ec.Full(None), "scale": 1.0}, "leave scale out"),
    ({"feedback": ec.Full(None), "method": "paper"}, "sigma=None"),
    ({"feedback": ec.Incremental(None)}, "steps=None"),
    ({"feedback": ec.Full(None), "allocation": "contenders"}, "pulled evenly"),
    ({"allocation": "contenders"}, "delays=None"),
    ({"allocation": "best"}, "allocation='best'"),
    ({"method": "paper", "allocation": "contenders"}, 'use method="evidence"'),
    ({"reserve": -1}, "a whole number, 0 or more"),
    ({"reserve": 0, "delays": "informative"}, 'None with delays="informative"'),
    ({"reserve": 0, "parallel": 2, "feedback": ec.Full(1.0)}, 'say delays="independent"'),
    ({"reserve": 0, "feedback": ec.Full(None)}, "sigma is known"),
    ({"blocks": True}, "a whole number, 2 or more"),
    ({"blocks": "some"}, "blocks='some'"),
    ({"blocks": 5, "feedback": ec.Incremental(1.0, 9)}, "Differences"),
    ({"blocks": 5, "scale": 1.0, "feedback": ec.Full(1.0)}, "Leave it out"),
    ({"deadline": "2027-01-01"}, "only earlycall.identify"),
    ({"timeout": 60}, "only earlycall.identify"),
    ({"paralel": 4}, "Did you mean parallel?"),
    ({"colour": "red"}, "there is no option colour"),
]


@pytest.mark.parametrize(("options", "says"), REFUSED_SETTINGS, ids=quoted)
def test_wrong_settings_are_refused_at_the_door(options: dict[str, Any], says: str) -> None:
    """One sentence with the value, what was expected, and what to do."""
    with pytest.raises(ec.SettingError) as caught:
        open_race(**options)
    assert says in str(caught.value)


@pytest.mark.parametrize("name", ["k", "delta", "feedback"])
def test_what_must_be_said_is_named_when_missing(name: str) -> None:
    """No default for what the guarantee is about."""
    options = {key: value for key, value in BASIC.items() if key != name}
    with pytest.raises(ec.SettingError, match=f"^{name} is missing"):
        ec.Race(["A", "B"], **options)


@pytest.mark.parametrize(
    ("arms", "says"),
    [
        (["A"], "two arms or more"),
        ([], "two arms or more"),
        (["A", "A"], "label='A'"),
        (["1", 1], "label='1'"),
        ({1: "x", "1": "y"}, "label='1'"),
        ("AB", "arms='AB'"),
        (7, "arms=7"),
        (None, "arms=None"),
        (["A", "B\n"], "label="),
        (["A", ""], "label=''"),
        ({"A"}, "give a list"),
        (np.array(1.0), "arms="),
        (np.eye(3), "arms="),
        ([np.float64(1.0), 1.0], "label='1.0'"),
    ],
    ids=quoted,
)
def test_wrong_arms_are_refused(arms: Any, says: str) -> None:
    """Two arms or more, with different printable labels."""
    with pytest.raises(ec.SettingError) as caught:
        ec.Race(arms, **BASIC)
    assert says in str(caught.value)


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: ec.Unbiased(None, 1.0), "earlycall.Pilot(pulls=10)"),
        (lambda: ec.Correlated(None, 1.0, 0.5), "no safe side"),
        (lambda: ec.Pilot(1), "pulls=1"),
        (lambda: ec.Full(0.0), "sigma=0.0"),
        (lambda: ec.Full(-1.0), "sigma=-1.0"),
        (lambda: ec.Full({"A": NAN}), "sigma['A']=nan"),
        (lambda: ec.Full({1: 1.0, "1": 2.0}), "a different label"),  # type: ignore[dict-item]
        (lambda: ec.Full(10**5000), "sigma=<a int that cannot be shown"),
        (lambda: ec.Full(1e-31), "sigma=1e-31"),
        (lambda: ec.Incremental(1.0, 0), "steps=0"),
        (lambda: ec.Unbiased(1.0, 0.0), "reading_sd=0.0"),
        (lambda: ec.Unbiased(1.0, {}), "reading_sd={}"),
        (lambda: ec.Unbiased(1.0, {0: 1.0}), "reading_sd=0"),
        (lambda: ec.Unbiased(1.0, {1: 1.0, 5: 2.0}, "refining"), "do not grow"),
        (lambda: ec.Unbiased(1.0, 1.0, "mixed"), "pooling='mixed'"),
        (lambda: ec.Biased(1.0, 1.0, bias_scale=0.0), "bias_scale=0.0"),
        (lambda: ec.Correlated(1.0, 1.0, 1.0), "correlation=1.0"),
        (lambda: ec.Correlated(1.0, 0.0, 0.5), "surrogate_sd=0.0"),
        (lambda: ec.Correlated(1.0, 1.0, 0.5, from_step=0), "from_step=0"),
    ],
)
def test_wrong_feedback_is_refused(make: Callable[[], object], says: str) -> None:
    """A declaration that exists is sound."""
    with pytest.raises(ec.SettingError) as caught:
        make()
    assert says in str(caught.value)


def test_numbers_may_come_from_numpy() -> None:
    """What Python calls real or whole is taken; the race keeps plain numbers."""
    whole, real, coarse = np.int64, np.float64, np.float32  # not what the annotations say, and taken all the same
    options: dict[str, Any] = {"k": whole(1), "delta": real(0.05), "feedback": ec.Full(coarse(1.0))}  # type: ignore[arg-type]
    race = ec.Race(np.array(["A", "B"]), **options)
    (pull,) = race.ask()
    race.tell(whole(pull.id), real(2.0))  # type: ignore[arg-type]
    assert race.status().arms[0].mean == 2.0
    assert type(race.facts[-1].value) is float  # type: ignore[union-attr]  # the last fact is what was told


def test_labels_are_the_text_of_numbers() -> None:
    """Whatever kind of number it is; "0", "1", … only for what has no short text of its own."""
    race = ec.Race(np.array([2, 0, 1]), **BASIC)
    assert [arm.arm for arm in race.status().arms] == ["2", "0", "1"]
    race = ec.Race([Decimal("1.50"), {"lr": 0.1}, 10**5000], **BASIC)
    assert [arm.arm for arm in race.status().arms] == ["1.50", "1", "2"]


def test_what_is_handed_in_or_out_is_nobody_elses() -> None:
    """Changing a table after it was declared, or an answer after it was given, changes no race."""
    sigma = {"A": 1.0, "B": 2.0}
    race = ec.Race(["A", "B"], k=1, delta=0.05, feedback=ec.Full(sigma))
    sigma["A"] = 9.0
    declared = ec.Full({"A": 1.0, "B": 1.0})
    declared.sigma["A"] = 0.0  # type: ignore[index]
    with pytest.raises(ec.SettingError, match=r"sigma\['A'\]=0.0"):
        ec.Race(["A", "B"], k=1, delta=0.05, feedback=declared)
    race.top.append("Z")
    race.intervals()["A"] = (0.0, 0.0)
    assert race.top == ["A"]
    race.ask()
    race.tell(1, 1.0)
    assert race._state.tables.armf[0][0] == 1.0
    copy.deepcopy(race.facts)


def test_the_paper_never_hears_a_wider_reading_than_declared() -> None:
    """Its partial bound is for the declared sd: a wider one would be counted as good as that."""
    race = open_quietly(["A", "B"], **BASIC, method="paper")
    race.ask()
    race.report(1, 0.0, 1, sd=0.5)
    with pytest.raises(ec.NewsError, match="at most the declared reading_sd"):
        race.report(1, 0.0, 2, sd=0.6)


def test_a_surrogate_brings_no_sd_of_its_own() -> None:
    """Its joint law with the full feedback is what was declared; and only its first value counts."""
    race = ec.Race(["A", "B"], k=1, delta=0.05, feedback=ec.Correlated(1.0, 2.0, 0.5, from_step=2))
    race.ask()
    race.report(1, 9.0, 1)
    assert race.explain("A").pulls[0].information == 0.0
    race.report(1, 3.0, 2)
    race.report(1, 4.0, 3)
    assert race.explain("A").pulls[0].estimate == 3.0
    with pytest.raises(ec.NewsError, match="the sds of a surrogate are declared"):
        race.report(1, 5.0, 4, sd=0.1)


@pytest.mark.parametrize("option", [{"radius": "as-printed"}, {"ledger": "as-printed"}, {"parallel": 2}])
def test_a_race_whose_guarantee_needs_care_says_so(option: dict[str, Any]) -> None:
    """A warning names what the guarantee rests on."""
    with pytest.warns(ec.GuaranteeWarning, match="delta|news of how good"):
        open_race(method="paper", **option)
