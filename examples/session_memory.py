"""An agent's loop without a framework: what is said is kept, steps are done once, and a crash costs nothing.

    python examples/session_memory.py --url http://127.0.0.1:8000 --key KEY

Run it twice: the second run finds its steps done and computes nothing again.
"""

import argparse

from mnemic_client import Mnemic, NotFoundError, SessionMemory

SESSION = "plain-agent"
STEPS = {"search": ["IC 32", "IC 34"], "choose": "IC 32", "book": {"train": "IC 32", "seat": 7}}


def work(client: Mnemic) -> None:
    """Do what is left to do."""
    memory = SessionMemory(client, SESSION, user_id="ada")
    memory.append({"role": "user", "content": "Book me a train to Lisbon. 帮我订去里斯本的火车。"})
    state: dict[str, object] = {}
    for name, output in STEPS.items():
        try:
            known = client.get_step(SESSION, name).output
            print(f"{name}: known already")
        except NotFoundError:
            state = {**state, name: output}
            known = client.put_step(SESSION, name, input=state, output=output, auto_checkpoint=True, state=state).output
            print(f"{name}: done")
        state = {**state, name: known}
    for entry in client.replay(SESSION):
        print(entry.position, entry.type, entry.step.step_id if entry.step else "")


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(description="An agent that keeps its state in Mnemic")
    parser.add_argument("--url", default="http://127.0.0.1:8000")
    parser.add_argument("--key", required=True, help="an API key")
    given = parser.parse_args()
    with Mnemic(given.url, given.key) as client:
        work(client)


if __name__ == "__main__":
    main()
