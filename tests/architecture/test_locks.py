"""What the image installs is what the tests ran on."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PIN = re.compile(r"^([a-z0-9][a-z0-9._-]*)==(\S+)", re.MULTILINE)


def pins(name: str) -> dict[str, str]:
    return dict(PIN.findall((ROOT / name).read_text("utf-8")))


@pytest.mark.parametrize("lock", ["requirements-runtime.lock", "requirements-build.lock"])
def test_image_pins_are_those_of_the_tests(lock: str) -> None:
    tested = pins("requirements.lock")
    assert pins(lock)
    assert not {name: version for name, version in pins(lock).items() if tested.get(name) != version}


@pytest.mark.parametrize("lock", ["requirements.lock", "requirements-runtime.lock", "requirements-build.lock"])
def test_lock_has_a_hash_for_each_pin_and_names_no_host(lock: str) -> None:
    text = (ROOT / lock).read_text("utf-8")
    for part in re.split(r"\n(?=[a-z0-9])", text.strip()):
        assert "--hash=sha256:" in part, part.splitlines()[0]
    assert "://" not in text
    assert "-url" not in text
