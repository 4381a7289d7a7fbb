"""The command line for a race in a journal: every verb, its answers, and its exit codes."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from earlycall.doors.cli import main
from earlycall.journal.archive import read

PROGRAM = Path(sys.executable).with_name("earlycall")
CAMPAIGN = """
k = 1
delta = 0.05
arms = ["A", "B", "C"]
parallel = 2
delays = "independent"
reserve = 1
[feedback]
kind = "unbiased"
sigma = 1
reading_sd = { 1 = 2, 5 = 1 }
steps = 10
[commands]
A = "echo 1"
B = "echo 9"
C = ["echo", "-3"]
"""
MEANS = {"A": 1.0, "B": 9.0, "C": -3.0}


class Answer(NamedTuple):
    """What a call came to."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.out)
        return found


Call = Callable[..., Answer]


@pytest.fixture
def call(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Call:
    """The program in this process, in a folder of its own with a campaign file."""
    monkeypatch.chdir(tmp_path)
    Path("campaign.toml").write_text(CAMPAIGN, encoding="utf-8")

    def run(*arguments: str) -> Answer:
        with pytest.raises(SystemExit) as ended:
            main(list(arguments))
        said = capsys.readouterr()
        return Answer(int(ended.value.code or 0), said.out, said.err)

    return run


def drive(call: Call) -> None:
    """Ask and tell until nothing more is asked for."""
    while pulls := call("ask", "--json").json["pulls"]:
        for pull in pulls:
            told = call("tell", str(pull["id"]), str(MEANS[pull["arm"]]), "--json")
            assert told.code == 0


def test_a_race_by_hand(call: Call) -> None:
    """Opened, asked, reported, told, until it is decided; then every decision follows from the facts."""
    assert call("init", "campaign.toml", "--json").json == {
        "journal": "sqlite:///race.db",
        "name": "race",
        "arms": ["A", "B", "C"],
    }
    assert call("status").code == 3
    first = call("ask", "--limit", "1", "--key", "monday", "--json").json["pulls"]
    assert first == call("ask", "--limit", "1", "--key", "monday", "--json").json["pulls"]
    assert [pull["id"] for pull in first] == [1]
    assert first[0].keys() == {"id", "arm", "value", "seed", "block"}
    assert "seed" in call("ask").out
    assert call("report", "1", "-1.5", "--step", "1", "--sd", "2").out == "go on\n"
    assert call("report", "1", "-1.5", "--step", "1", "--sd", "2", "--json").json == {"stop": False}
    assert call("should-stop", "1").out == "go on\n"
    assert call("gate", "B").code == 3
    assert call("lose", "1", "--reason", "channel 7 tripped").code == 0
    assert call("fail", "2", "--reason", "[red]fire[/red]").code == 0
    assert call("should-stop", "1", "--json").json == {"stop": True}
    drive(call)
    status = call("status", "--json")
    assert (status.code, status.json["top"], status.json["outcome"]) == (0, ["B"], "exact")
    assert "B: the best of 3, with 95 % confidence." in call("status").out
    assert [call("gate", arm).code for arm in "ABC"] == [1, 0, 1]
    assert call("gate", "B", "--json").json["gate"] == "better"
    assert "B: accepted." in call("explain", "B").out
    assert call("explain", "B", "--json").json["arm"]["verdict"] == "accepted"
    assert call("ask").out == "Nothing to start: the race is over.\n"
    assert call("replay", "--verify", "--json").json == {
        "facts": len(read("sqlite:///race.db", "race")),
        "difference": None,
    }
    assert call("replay", "--seq", "3", "--json").json["decided"] is False


def test_arms_come_and_go_and_a_race_that_is_closed_has_established_nothing(call: Call) -> None:
    call("init", "campaign.toml")
    assert call("add-arm", "D").code == 0
    assert call("withdraw", "D", "--reason", "too hot").code == 0
    assert call("gate", "D").code == 3
    assert call("close", "--reason", "no money", "--json").json["outcome"] == "stopped"
    status = call("status", "--json")
    assert (status.code, status.json["decided"]) == (3, True)
    assert [call("gate", arm).code for arm in "ABC"] == [3, 3, 3]


@pytest.mark.parametrize("file", ["race.csv", "race.jsonl"])
def test_there_and_back(call: Call, file: str) -> None:
    """An exported race is the same race again, and may be taken on."""
    call("init", "campaign.toml")
    call("ask", "--key", "=1+1")
    call("report", "1", "0.1", "--step", "1")
    facts = read("sqlite:///race.db", "race")
    assert call("export", file, "--json").json == {"file": file, "facts": len(facts)}
    assert call("import", file, "--json", "--journal", "sqlite:///new.db").json["name"] == "race"
    assert read("sqlite:///new.db", "race") == facts
    assert call("import", file, "--name", "again").code == 0
    assert call("tell", "1", "3", "--name", "again").code == 0
    assert read("sqlite:///race.db", "race") == facts
    if file == "race.jsonl":
        assert call("export", "-").out == Path(file).read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("tell", "9", "1"), "pull=9: expected one of the 2 pulls"),
        (("tell", "1", "nan"), "value=nan: expected a finite"),
        (("report", "1", "1", "--step", "0"), "step=0"),
        (("status", "--name", "zap"), "name='zap': sqlite:///race.db has 'race'"),
        (("status", "--journal", "sqlite:///nowhere.db"), "there is no file"),
        (("status", "--journal", "race.db"), "expected the address of a journal"),
        (("explain", "Z"), "'Z'"),
        (("gate", "Z"), "'Z'"),
        (("withdraw", "Z"), "'Z'"),
        (("add-arm", "A"), "'A'"),
        (("ask", "--limit", "0"), "limit=0"),
        (("replay", "--seq", "0"), "seq=0"),
        (("export", "race.xls"), "expected a name that ends in .csv or .jsonl"),
        (("import", "nowhere.csv"), "nowhere.csv: No such file"),
        (("import", "wrong.jsonl"), "wrong.jsonl: line 1"),
        (("import", "wrong.csv"), "wrong.csv: the headings are"),
        (("init", "nowhere.toml"), "nowhere.toml: No such file"),
        (("init", "other.toml"), "This is another race"),
        (("run", "bare.toml"), "bare.toml: commands are missing"),
        (("run", "odd.toml"), "odd.toml: commands: expected one for every arm and no other; look at 'C'"),
        (("run", "campaign.toml", "-k", "1"), "say it in one place"),
        (("run",), "there are no arms"),
        (("run", "--arm", "A"), "expected LABEL=COMMAND"),
        (("run", "--arm", "A=echo 1", "--arm", "A=echo 2"), "there twice"),
        (("run", "--arm", "A=echo 1", "--arm", "B=echo 2", "-k", "1"), "delta is missing"),
        (("run", "--arm", "A=/no/such", "--arm", "B=echo", "-k", "1", "--delta", ".1"), "'/no/such' to be a program"),
        (("run", "campaign.toml", "--timeout", "-1"), "timeout=-1"),
    ],
    ids=lambda part: part if isinstance(part, str) else " ".join(part),
)
def test_what_is_refused_is_one_line_and_changes_nothing(call: Call, arguments: tuple[str, ...], says: str) -> None:
    call("init", "campaign.toml")
    call("ask")
    for name, change in {
        "other": ("delta = 0.05", "delta = 0.1"),
        "bare": (CAMPAIGN[CAMPAIGN.index("[commands]") :], ""),
        "odd": ('C = ["echo", "-3"]', ""),
    }.items():
        Path(f"{name}.toml").write_text(CAMPAIGN.replace(*change), encoding="utf-8")
    for file in ("wrong.csv", "wrong.jsonl"):
        Path(file).write_text("wrong\n", encoding="utf-8")
    before, files = read("sqlite:///race.db", "race"), sorted(os.listdir())
    told = call(*arguments)
    assert told.code == 2, told
    assert says in told.err
    assert told.err.startswith("earlycall: ")
    assert len(told.err.strip().splitlines()) == 1
    assert told.out == ""
    assert read("sqlite:///race.db", "race") == before
    assert sorted(os.listdir()) == files


def test_wrong_usage_is_refused_too(call: Call) -> None:
    """Without a step a reading that is reported again would count twice."""
    call("init", "campaign.toml")
    call("ask")
    for arguments in (("report", "1", "2.0"), ("tell", "1"), ("tell", "one", "1"), ("tell", "1", "2", "--stp", "3")):
        told = call(*arguments)
        assert (told.code, told.out) == (2, "")
    assert len(read("sqlite:///race.db", "race")) == 3


def test_a_broken_file_is_exit_code_4(call: Call) -> None:
    Path("race.db").write_text("this is no database, and long enough to be seen as none", encoding="utf-8")
    told = call("status")
    assert told.code == 4
    assert "no SQLite database" in told.err


def test_what_a_race_warns_of_is_a_line_on_standard_error(call: Call) -> None:
    doubtful = 'k = 1\ndelta = 0.1\nmethod = "paper"\nradius = "as-printed"\narms = ["A", "B"]\n'
    Path("printed.toml").write_text(f'{doubtful}[feedback]\nkind = "full"\nsigma = 1\n', encoding="utf-8")
    told = call("init", "printed.toml", "--json")
    assert (told.code, told.json["arms"]) == (0, ["A", "B"])
    assert told.err.startswith('earlycall: radius="as-printed" is half as wide')


def test_a_mistake_of_its_own_is_not_taken_for_an_answer(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    """Exit code 1 means that an arm is not better, and Python's own for an error is 1."""
    call("init", "campaign.toml")
    monkeypatch.setattr("earlycall.run.handle.Race.explain", None)
    told = call("gate", "A")
    assert told.code == 4
    assert "Traceback" in told.err


def test_run_from_a_file_and_from_flags(call: Call) -> None:
    """Until it is decided; again, it has nothing to do; and the programs are never those of the journal."""
    told = call("run", "campaign.toml", "--json")
    assert (told.code, told.json["top"], told.json["interrupted"]) == (0, ["B"], False)
    facts = read("sqlite:///race.db", "race")
    assert call("run", "campaign.toml").code == 0
    assert read("sqlite:///race.db", "race") == facts
    assert call("replay", "--verify").code == 0
    flags = ("--arm", "A=echo 1", "--arm", "B=echo 9", "-k", "1", "--delta", ".05", "--sigma", "1", "--name", "flags")
    told = call("run", *flags)
    assert told.code == 0
    assert "B: the best of 2, with 95 % confidence." in told.out
    told = call("run", *flags[:-1], "late", "--deadline", "0.000001")
    assert (told.code, "The time was over" in told.out) == (3, True)


def test_a_label_that_somebody_added_is_never_run(call: Call) -> None:
    """Whoever can write the journal cannot run anything."""
    call("init", "campaign.toml")
    assert call("add-arm", "touch stolen").code == 0
    told = call("run", "campaign.toml")
    assert told.code == 2
    assert "arm 'touch stolen' has joined the race, and has no command here" in told.err
    assert not Path("stolen").exists()
    assert call("withdraw", "touch stolen").code == 0
    assert call("run", "campaign.toml").code == 0


def test_the_program_itself(tmp_path: Path) -> None:
    """Real processes, one for each verb, and the race named by the environment."""
    (tmp_path / "campaign.toml").write_text(CAMPAIGN, encoding="utf-8")
    there = os.environ | {"EARLYCALL_JOURNAL": f"sqlite:///{tmp_path}/here.db", "EARLYCALL_RACE": "spring"}

    def earlycall(*arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [str(PROGRAM), *arguments], cwd=tmp_path, env=there, capture_output=True, text=True, check=False
        )

    assert earlycall("init", "campaign.toml").returncode == 0
    assert earlycall("gate", "A").returncode == 3
    while pulls := json.loads(earlycall("ask", "--json").stdout)["pulls"]:
        for pull in pulls:
            stop = earlycall("report", str(pull["id"]), str(MEANS[pull["arm"]]), "--step", "1", "--json")
            if not json.loads(stop.stdout)["stop"]:
                assert earlycall("tell", str(pull["id"]), str(MEANS[pull["arm"]])).returncode == 0
    assert [earlycall("gate", arm).returncode for arm in "AB"] == [1, 0]
    assert earlycall("status").returncode == 0
    assert earlycall("replay", "--verify").returncode == 0
    told = earlycall("tell", "99", "1")
    assert told.returncode == 2
    assert told.stderr.startswith("earlycall: pull=99")


def test_an_interrupted_run_is_exit_code_130_and_goes_on_later(tmp_path: Path) -> None:
    """Ctrl-C twice: what runs is cancelled, and the race stays open."""
    begun = [f"{label}={sys.executable} -S -c \"import time; open('{label}', 'w'); time.sleep(60)\"" for label in "AB"]
    flags = ["--arm", begun[0], "--arm", begun[1], "-k", "1", "--delta", "0.05", "--sigma", "1", "--grace", "0.5"]
    with subprocess.Popen(
        [str(PROGRAM), "run", *flags], cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        until = time.monotonic() + 20.0
        while not (tmp_path / "A").exists() and time.monotonic() < until:
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        time.sleep(0.3)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=30)
    assert process.returncode == 130, err
    assert "Interrupted: not decided." in out
    assert "Traceback" not in err
    facts = read(f"sqlite:///{tmp_path}/race.db", "race")
    assert [type(entry.fact).__name__ for entry in facts] == ["Opened", "Started", "Lost"]
