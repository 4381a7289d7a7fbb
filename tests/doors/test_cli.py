"""The command line as people and programs use it: run for real, read from outside."""

import json
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest

import earlycall as ec

PROGRAM = Path(sys.executable).with_name("earlycall")
SMALL = ("demo", "--policies", "4", "--channels", "2", "--epsilon", "250")
CAMPAIGN = """
k = 1
delta = 0.05
arms = ["A", "B", "C"]
[feedback]
kind = "unbiased"
sigma = 1
reading_sd = { 1 = 2, 5 = 1 }
steps = 10
[plan]
means = [3, 1, 0]
"""


def earlycall(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the program."""
    return subprocess.run([str(PROGRAM), *arguments], capture_output=True, text=True, check=False)


def test_the_demonstration_names_a_policy_that_is_good_enough(tmp_path: Path) -> None:
    """`make race` is this; a small one here. The journal it names is there, and holds the same race."""
    file = tmp_path / "demo.db"
    told = earlycall(*SMALL, "--journal", str(file))
    assert told.returncode == 0, told.stderr
    assert "the best of 4, with 95 % confidence." in told.stdout
    assert "The simulation knows the truth: " in told.stdout
    assert "decided" in told.stderr
    assert "Traceback" not in told.stderr
    with ec.open_race(f"sqlite:///{file}", "demo") as race:
        assert race.decided
        assert race.settings.delays == "informative"
        assert told.stdout.split("\n\n")[1].startswith(f"{race.top[0]}: ")
        assert str(race.explain(race.top[0])).startswith(f"{race.top[0]}: ")


def test_the_demonstration_for_programs_and_taken_up_again(tmp_path: Path) -> None:
    """--json: one object. A race that is decided is told of once more, with the same words."""
    file = tmp_path / "demo.db"
    first, again = (earlycall(*SMALL, "--json", "--journal", str(file)) for _ in range(2))
    assert first.returncode == 0, first.stderr
    found = json.loads(first.stdout)
    assert json.loads(again.stdout) == found
    assert found["outcome"] in ("exact", "epsilon")
    assert not found["interrupted"]
    best = max(found["truth"].values())
    assert found["truth"][found["top"][0]] >= best - found["epsilon"]
    assert found["cells"] <= found["cells_even"]


def test_an_interrupted_demonstration_says_how_to_go_on(tmp_path: Path) -> None:
    """Ctrl-C: what runs is heard to its end, exit code 130, and the race goes on where it was."""
    file = tmp_path / "demo.db"
    command = [str(PROGRAM), "demo", "--channels", "2", "--journal", str(file)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        wait_for_cells(file)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    assert process.returncode == 130, err
    assert f"--journal {file}" in out
    assert "Interrupted: not decided." in out
    assert "Traceback" not in err
    with ec.open_race(f"sqlite:///{file}", "demo") as race:
        assert not race.decided
        assert not race.running
        assert race.ask()


def wait_for_cells(file: Path) -> None:
    """Until a few cells have come to their end."""
    until = time.monotonic() + 60.0
    while time.monotonic() < until:
        time.sleep(0.1)
        if file.exists():
            with suppress(ec.EarlycallError), ec.open_race(f"sqlite:///{file}", "demo") as race:
                if race.status().pulls["finished"] > 2:
                    return
    raise AssertionError("no cell ever came to its end")


def test_help_and_version() -> None:
    """Every command is listed."""
    assert earlycall("--version").stdout.strip() == "0.1.0"
    told = earlycall("--help")
    assert told.returncode == 0
    for command in ("demo", "plan"):
        assert command in told.stdout
        assert earlycall(command, "--help").returncode == 0


def test_plan_tells_people_and_programs(tmp_path: Path) -> None:
    """A table, the same as JSON, and a picture."""
    file = tmp_path / "campaign.toml"
    file.write_text(CAMPAIGN)
    told = earlycall("plan", str(file), "--races", "50")
    assert told.returncode == 0, told.stderr
    for words in ("3 arms, best 1", "as planned", "one more slot", "readings half as noisy", "floor"):
        assert words in told.stdout
    picture = tmp_path / "plan.png"
    told = earlycall("plan", str(file), "--races", "50", "--json", "--plot", str(picture))
    found = json.loads(told.stdout)
    assert found["delta"] == 0.05
    assert [row["name"] for row in found["forecasts"]][:2] == ["as planned", "one more slot"]
    assert found["forecasts"][0]["steps"][1] > 0
    assert picture.stat().st_size > 10_000


def test_the_example_is_a_campaign(tmp_path: Path) -> None:
    """`earlycall plan --example` prints a file that works."""
    file = tmp_path / "example.toml"
    file.write_text(earlycall("plan", "--example").stdout, encoding="utf-8")
    assert earlycall("plan", str(file), "--races", "20").returncode == 0
    assert earlycall("plan", "--world", "free", "--arms", "5", "--races", "20").returncode == 0


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (("k = 1", "k = 3"), "k=3: expected fewer than the 3 arms"),
        (("k = 1", "k = 'one'"), "k='one': expected a whole number"),
        (("k = 1", "colour = 1"), "colour: no such option"),
        (("delta = 0.05", ""), "delta is missing"),
        (('kind = "unbiased"', 'kind = "vague"'), "feedback: Input tag 'vague'"),
        (("sigma = 1", "sigma = -1"), "feedback.sigma"),
        (("sigma = 1", "sigma = { A = 1, B = 1 }"), "Missing: 'C'"),
        (('["A", "B", "C"]', '["A"]'), "arms: List should have at least 2 items"),
        (('["A", "B", "C"]', '["A", "B", "A"]'), "label='A'"),
        (("means = [3, 1, 0]", "means = [3, 1]"), "plan.means: expected 3 numbers"),
        (("means = [3, 1, 0]", "means = { A = 3, B = 1 }"), "look at 'C'"),
        (("means = [3, 1, 0]", "means = [3, 3, 0]"), "equally good"),
        (("steps = 10", ""), "plan.steps: expected the length of a pull"),
        (("means = [3, 1, 0]", "shortest = 99"), "plan.shortest=99"),
        (("means = [3, 1, 0]", "bias = 2"), "plan.bias=2"),
        (("k = 1", "k = = 1"), "not TOML"),
        (("means = [3, 1, 0]", "means = [3, 1, 0]\nsteps = 30"), "plan.steps=30"),
    ],
    ids=lambda part: part if isinstance(part, str) else part[1],
)
def test_a_wrong_campaign_is_one_sentence_and_exit_code_2(tmp_path: Path, change: tuple[str, str], says: str) -> None:
    """What was found, where, and what was expected; no traceback."""
    file = tmp_path / "campaign.toml"
    assert change[0] in CAMPAIGN
    file.write_text(CAMPAIGN.replace(*change))
    told = earlycall("plan", str(file), "--races", "20")
    assert told.returncode == 2, told
    assert says in told.stderr
    assert told.stderr.startswith("earlycall: ")
    assert len(told.stderr.strip().splitlines()) == 1


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ((), "expected a campaign file, or --world"),
        (("--world", "flat"), "world='flat'"),
        (("nowhere.toml",), "nowhere.toml: No such file"),
        (("--world", "free", "--plot", "x.doc"), "expected a name that ends in"),
        (("--world", "free", "--plot", "/nowhere/x.png"), "expected a file in a folder that exists"),
        (("campaign.toml", "--world", "free"), "not both"),
    ],
)
def test_wrong_arguments(arguments: tuple[str, ...], says: str) -> None:
    """The same for the rest of the command line."""
    told = earlycall("plan", *arguments)
    assert told.returncode == 2
    assert says in told.stderr


def test_plan_without_the_extra_says_what_to_install() -> None:
    """Exit code 4: the world is broken, not the caller."""
    code = (
        "import sys; sys.modules['numba'] = None; sys.argv = ['earlycall', 'plan', '--world', 'free'];"
        " from earlycall.doors.cli import main; main()"
    )
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert told.returncode == 4
    assert "pip install 'earlycall[sim]'" in told.stderr


def test_an_interrupted_plan_ends_at_once_without_a_result(tmp_path: Path) -> None:
    """Ctrl-C: exit code 130, no picture half written."""
    picture = tmp_path / "plan.png"
    few = [str(PROGRAM), "plan", "--world", "bounded", "--arms", "10", "--races", "10"]
    subprocess.run(few, check=True, capture_output=True)  # a compiler that is at work hears nothing until it is done
    command = [str(PROGRAM), "plan", "--world", "bounded", "--arms", "20", "--races", "20000", "--plot", str(picture)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        time.sleep(4.0)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=300)
    assert process.returncode == 130
    assert out == ""
    assert "Traceback" not in err
    assert not picture.exists()
