"""The record of an earlier `up`: what is read of it, and what is left aside."""

import json
import os
from pathlib import Path

import pytest

from app import supervisor


@pytest.mark.parametrize(
    "content",
    [b"", b"{", b"\xff", b"null", b"7", b"{}", b'["serve"]', b'[{"role": "serve"}]', b"[" * 100_000,
     b'[{"role": "serve", "pid": 1e999, "birth": "1"}]', b'[{"role": "serve", "pid": "x", "birth": "1"}]',
     b'[{"role": "serve", "pid": -1, "birth": "1"}]', b'[{"role": "serve", "pid": 0, "birth": "1"}]',
     b'[{"role": "serve", "pid": 9999999999999999999999, "birth": "1"}]', b'[{"role": 1, "pid": 5, "birth": "1"}]'],
)  # fmt: skip
def test_a_record_that_cannot_be_read_is_none_and_said_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], content: bytes
) -> None:
    record = tmp_path / supervisor.RECORD
    record.write_bytes(content)
    supervisor._stop_leftovers(record)
    assert not record.exists()
    _, err = capsys.readouterr()
    assert (err.count("\n"), "cannot be read" in err) == (1, True)


def test_a_record_of_processes_that_are_gone_is_removed_without_a_word(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    record = tmp_path / supervisor.RECORD
    supervisor._stop_leftovers(record)
    entries = [{"role": "serve", "pid": os.getpid(), "birth": "1"}, {"role": "worker", "pid": 77, "birth": None}]
    record.write_text(json.dumps(entries))
    supervisor._stop_leftovers(record)
    assert not record.exists()
    assert capsys.readouterr() == ("", "")
