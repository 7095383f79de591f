"""The client's README works as it is written, from an empty service."""

import asyncio
import re
from pathlib import Path
from typing import Any

README = Path(__file__).parents[2] / "sdk" / "python" / "README.md"


async def test_the_readmes_checkpoints_work_as_they_are_written(live: str, api_key: str) -> None:
    _, section = README.read_text("utf-8").split("## State to go back to, without a framework")
    found = re.search(r"```python\n(.*?)```", section, re.DOTALL)
    assert found is not None
    code = found.group(1).replace("http://127.0.0.1:8000", live).replace("mnk_...", api_key)
    names: dict[str, Any] = {}

    def run() -> dict[str, Any]:
        exec(code, names)  # noqa: S102 - our own README
        with names["client"] as client:
            return dict(client.get_state("trip").state)

    assert await asyncio.to_thread(run) == {"plan": ["book a train"]}
    assert names["latest"].id != names["before"].id
    assert names["latest"].state == {"plan": ["book a train"]}
