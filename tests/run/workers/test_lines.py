"""What programs print is data: a reading, or a refusal with a sentence, whatever the bytes are."""

import json

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import earlycall as ec
from earlycall.run.workers.lines import reading_of


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (b"3", (ec.Reading(3.0), False)),
        (b" -1.5e-3\r", (ec.Reading(-0.0015), False)),
        (b'{"value": 3}', (ec.Reading(3.0), False)),
        (b'{"value": 3, "sd": 0.5, "step": 7, "of": 9}', (ec.Reading(3.0, 7, 0.5, 9), False)),
        (b'{"value": 3, "final": true}', (ec.Reading(3.0, final=True), True)),
        (b'{"value": 3, "final": false}', (ec.Reading(3.0), True)),
    ],
)
def test_a_line_is_a_reading(line: bytes, expected: object) -> None:
    assert reading_of(line) == expected


@pytest.mark.parametrize(
    ("line", "says"),
    [
        (b"loss: 3", "line='loss: 3': expected a number, or JSON"),
        (b"nan", "expected a number"),
        (b"1e999", "expected a finite"),
        (b"1_000", "expected a number"),
        (b"\xff\xfe\x00", "expected a number"),
        (b"\x00", "expected a number"),
        (b"\x1b[31m3\x1b[0m", "line='[31m3[0m': expected a number"),
        ("٣".encode(), "expected a number"),
        (b"9" * 70_000, "expected a number"),
        (b"[" * 60_000, "expected a number"),
        (b'{"value": NaN}', "value=nan: expected a finite"),
        (b'{"value": true}', "value=True: expected a finite"),
        (b'{"value": "3"}', "value='3': expected a finite"),
        (b'{"valu": 3}', "expected a number, or JSON"),
        (b'{"value": 3, "sdd": 1}', "key='sdd': expected one of value, step"),
        (b'{"value": 3, "sd": 0}', "sd=0: expected"),
        (b'{"value": 3, "step": 1.5}', "step=1.5: expected a whole number"),
        (b'{"value": 3, "final": 1}', "final=1: expected true or false"),
        (b"3 4", "expected a number"),
    ],
)
def test_any_other_line_is_refused(line: bytes, says: str) -> None:
    with pytest.raises(ec.NewsError) as refused:
        reading_of(line)
    assert says in str(refused.value)
    assert str(refused.value).isprintable()
    assert len(str(refused.value)) < 300


ANY_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["value", "sd", "step", "of", "final"]) | st.text(), inner, max_size=6)
    ),
)


@given(st.binary() | st.text().map(str.encode) | ANY_JSON.map(lambda table: json.dumps(table).encode()))
@example(b'{"value": 1' + b"0" * 5000 + b"}")
@example(b'{"value": {"value": 1}}')
def test_whatever_a_program_prints_is_a_reading_or_a_clear_refusal(line: bytes) -> None:
    said = ""
    try:
        reading, _ = reading_of(line)
    except ec.NewsError as refused:
        said = str(refused)
    assert said.isprintable()
    assert said or abs(reading.value) < float("inf")
