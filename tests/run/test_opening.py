"""Opening a race in a journal and taking it up again: what is accepted, what is refused, and what a handle shares."""

import os
import warnings
from pathlib import Path
from typing import Any

import pytest

import earlycall as ec
from earlycall.run import owners
from tests.journal.kept import BASIC, NAME, race_in, url_of

ARMS = {"a": [1, 2], "b": "bee"}
pytestmark = pytest.mark.filterwarnings("ignore::earlycall.GuaranteeWarning")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "races.db"


def begun(file: Path, **options: Any) -> None:
    """A race with one pull that runs."""
    with race_in(file, ARMS, **BASIC | options) as race:
        race.ask()


def test_a_race_is_taken_up_by_its_name_alone(file: Path) -> None:
    """Values are not in the journal: an arm is its label, until they are given again."""
    begun(file)
    with race_in(file) as race:
        assert [pull.value for pull in race.running] == ["a"]
    with race_in(file, ARMS) as race:
        assert [pull.value for pull in race.running] == [[1, 2]]
    with race_in(file, ARMS, **BASIC) as race:
        assert [pull.arm for pull in race.running] == ["a"]


def test_the_order_of_the_arms_is_that_of_the_journal(file: Path) -> None:
    begun(file)
    with race_in(file, dict(reversed(ARMS.items())), **BASIC) as race:
        assert list(race.intervals()) == ["a", "b"]


@pytest.mark.parametrize(
    ("arms", "options", "match"),
    [
        (ARMS, {"delta": 0.1}, r"delta is 0\.05 in the journal, and you say 0\.1"),
        (ARMS, {"feedback": ec.Full(2.0)}, r"feedback is Full\(sigma=1\.0\) .* Full\(sigma=2\.0\)"),
        (ARMS, {"epsilon": 0.5}, "epsilon is 0.0 in the journal, and you say 0.5"),
        (ARMS, {"seed": 8, "parallel": 2}, "parallel is 1 .*; seed is 7 in the journal, and you say 8"),
        (["a", "c", "b"], {}, "you name arms that the journal does not have: 'c'"),
        (["c", "b"], {}, "you do not name: 'a'; you name arms that the journal does not have: 'c'"),
    ],
)
def test_a_contradiction_is_named(file: Path, arms: object, options: dict[str, Any], match: str) -> None:
    """Option or label, theirs and yours, and what to do; the journal is as it was."""
    begun(file)
    before = file.read_bytes()
    with pytest.raises(ec.SettingError, match=match):
        race_in(file, arms, **BASIC | options)
    assert file.read_bytes() == before


def test_an_arm_that_was_added_may_be_named_again(file: Path) -> None:
    """Its value too."""
    with race_in(file, ARMS, **BASIC | {"reserve": 1, "parallel": 3, "delays": "independent"}) as race:
        race.add_arm("c")
    with race_in(file, ARMS | {"c": "sea"}) as race:
        assert {pull.arm: pull.value for pull in race.ask()} == ARMS | {"c": "sea"}
    with race_in(file, ARMS) as race:
        race.add_arm("c", "ocean")
        assert {pull.arm: pull.value for pull in race.running} == ARMS | {"c": "ocean"}


def test_several_races_live_in_one_file(file: Path) -> None:
    for name in ("one", "two"):
        with ec.open_race(url_of(file), name, ARMS, **BASIC) as race:
            race.ask()
            race.tell(1, 1.0 if name == "one" else 2.0)
    with ec.open_race(url_of(file), "one") as one, ec.open_race(url_of(file), "two") as two:
        assert one.explain("a").pulls[0].value == 1.0
        assert two.explain("a").pulls[0].value == 2.0


@pytest.mark.parametrize(
    ("url", "match"),
    [
        ("charging.db", "For example 'sqlite:///charging.db'"),
        ("sqlite://charging.db", "For example 'sqlite:///charging.db'"),
        ("sqlite:///", "For example"),
        ("sqlite:///:memory:", r"earlycall\.Race"),
        ("postgresql://me@server/races", "not built yet"),
        (7, "For example"),
    ],
)
def test_a_wrong_address_is_refused_with_an_example(url: Any, match: str) -> None:
    with pytest.raises(ec.SettingError, match=match):
        ec.open_race(url, NAME, ARMS, **BASIC)


def test_a_relative_address_is_a_file_beside_you(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with ec.open_race("sqlite:///my races?#%.db", NAME, ARMS, **BASIC):
        assert (tmp_path / "my races?#%.db").is_file()


def test_a_race_that_is_not_there_is_not_made_up(file: Path) -> None:
    """Without arms and options there is nothing to open it with; no file appears."""
    with pytest.raises(ec.SettingError, match="there is no file"):
        race_in(file)
    with pytest.raises(ec.SettingError, match="there is no file"):
        race_in(file, ARMS)
    with pytest.raises(ec.SettingError, match="delta is missing"):
        race_in(file, ARMS, k=1)
    with pytest.raises(ec.SettingError, match="fewer than the 2 arms"):
        race_in(file, ARMS, **BASIC | {"k": 2})
    with pytest.raises(ec.SettingError, match="name=''"):
        ec.open_race(url_of(file), "", ARMS, **BASIC)
    assert not file.exists()
    begun(file)
    with pytest.raises(ec.SettingError, match=f"has '{NAME}': expected the name of a race that is there"):
        ec.open_race(url_of(file), "autumn")


def test_a_key_gives_the_same_pulls_to_another_process(file: Path) -> None:
    with race_in(file, ARMS, **BASIC | {"parallel": 2}) as race:
        pulls = race.ask(key="monday")
    with race_in(file, ARMS) as race:
        assert race.ask(key="monday") == pulls


def test_what_is_suspected_stays_so(file: Path) -> None:
    """A process that comes later shows what an earlier one has seen, and does not warn of it again."""
    with race_in(file, ARMS, k=1, delta=1e-99, feedback=ec.Full(0.1)) as race:
        for number, value in enumerate((0.0, 0.3, 1.2, -0.9, 0.6, -0.6), start=1):
            race.ask()
            race.tell(number, value)
        seen = race._book.suspected
        assert seen
    with race_in(file) as race, warnings.catch_warnings():
        warnings.simplefilter("error")
        assert race._book.suspected == seen
        for number in range(7, 12):
            race.ask()
            race.tell(number, 1.0)


def test_one_handle_for_every_verb_looks_as_often_as_one_for_all(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A program that is started anew for each verb checks the model too, and not each time."""
    looks = []

    def counted(self: ec.Race, state: object) -> list[str]:
        looks.append(1)
        return []

    monkeypatch.setattr(ec.Race, "_look", counted)
    race_in(file, ARMS, k=1, delta=1e-99, feedback=ec.Full(1.0)).__exit__()
    for number in range(1, 31):
        with race_in(file) as race:
            race.ask()
            race.tell(number, 1.0)
    assert len(looks) == len((4, 6, 9, 14, 21))


def test_a_warning_points_at_the_caller(file: Path) -> None:
    with pytest.warns(ec.GuaranteeWarning, match="as-printed") as found:
        ec.open_race(url_of(file), NAME, ARMS, **BASIC | {"method": "paper", "radius": "as-printed"}).__exit__()
    assert found[0].filename == __file__


def test_an_owner_is_gone_when_its_process_is() -> None:
    """A process of this host that does not run, or began at another time; of others nothing is known."""
    host, number, began = owners.me().rsplit("/", 2)
    assert int(number) == os.getpid()
    assert not owners.is_gone(owners.me())
    assert owners.is_gone(f"{host}/{number}/1@0")
    assert owners.is_gone(f"{host}/{2**22 + 1}/{began}")
    assert not owners.is_gone(f"not-{host}/{number}/1@0")
    assert not owners.is_gone("something else/entirely/")
