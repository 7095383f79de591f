"""The history of an OpenAI Agents SDK conversation in Mnemic.

    python examples/openai_agents_session.py --url http://127.0.0.1:8000 --key KEY

With the SDK installed, `Runner.run(agent, "...", session=session)` does what this program does by hand: it reads the
history, adds what was said, and takes the last item back when the user corrects it.
"""

import argparse
import asyncio
import json

from mnemic_client import AsyncMnemic, MnemicSession


async def talk(url: str, key: str) -> None:
    """Keep a short conversation, correct it, and read it back."""
    async with AsyncMnemic(url, key) as client:
        session = MnemicSession("agents-example", client, user_id="ada")
        await session.clear_session()
        await session.add_items([{"role": "user", "content": "Book a table for two. 订两个人的桌子。"}])
        await session.add_items([{"role": "assistant", "content": "For tonight?"}, {"role": "user", "content": "No."}])
        await session.pop_item()
        await session.add_items([{"role": "user", "content": "For tomorrow."}])
        for item in await session.get_items():
            print(json.dumps(item, ensure_ascii=False))


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(description="An OpenAI Agents session in Mnemic")
    parser.add_argument("--url", default="http://127.0.0.1:8000")
    parser.add_argument("--key", required=True, help="an API key")
    given = parser.parse_args()
    asyncio.run(talk(given.url, given.key))


if __name__ == "__main__":
    main()
