"""A LangGraph agent whose state lives in Mnemic: it asks a person, goes on after a crash, and goes back in time.

    python examples/langgraph_agent.py --url http://127.0.0.1:8000 --key KEY plan --thread trip
    python examples/langgraph_agent.py ... answer --thread trip --answer train
    python examples/langgraph_agent.py ... history --thread trip
    python examples/langgraph_agent.py ... again --thread trip --answer car

`plan` runs until the agent asks how to travel; `answer` goes on; `again` goes back to the question and takes another
way. With `--die-in NODE` the process dies in the middle of a node: run the same command again, and it goes on there.
`durability="sync"` makes LangGraph wait until a step is stored before it takes the next one.
"""

import argparse
import json
import os
from operator import add
from typing import Annotated, Any, TypedDict

from langgraph.graph import END, START, StateGraph
from langgraph.types import Command, interrupt

from mnemic_client.langgraph import MnemicSaver


class Trip(TypedDict, total=False):
    """What the agent knows: the way, and what it has done, step by step."""

    way: str
    done: Annotated[list[str], add]
    booked: list[str]


class Booking(TypedDict, total=False):
    """What the part that books knows."""

    way: str
    booked: Annotated[list[str], add]


def agent(saver: MnemicSaver, die_in: str | None = None) -> Any:  # noqa: ANN401 - a compiled graph
    """The graph; `die_in` names the node in which the process dies."""

    def node(name: str, kept: str = "done") -> Any:  # noqa: ANN401 - LangGraph's nodes
        def run(state: Trip) -> dict[str, Any]:
            if name == die_in:
                os._exit(9)
            print(json.dumps({"node": name, "way": state.get("way")}), flush=True)
            return {kept: [name]}

        return run

    def ask(_state: Trip) -> dict[str, Any]:
        return {"way": interrupt("How do you want to travel? 你想怎么去？"), "done": ["ask"]}

    booking = StateGraph(Booking)
    booking.add_node("reserve", node("reserve", "booked"))
    booking.add_node("pay", node("pay", "booked"))
    booking.add_edge(START, "reserve")
    booking.add_edge("reserve", "pay")
    booking.add_edge("pay", END)

    trip = StateGraph(Trip)
    trip.add_node("plan", node("plan"))
    trip.add_node("ask", ask)
    trip.add_node("book", booking.compile())
    trip.add_node("tell", node("tell"))
    for before, after in ((START, "plan"), ("plan", "ask"), ("ask", "book"), ("book", "tell"), ("tell", END)):
        trip.add_edge(before, after)
    return trip.compile(checkpointer=saver)


def run(graph: Any, thread: str, command: str, answer: str | None) -> dict[str, Any]:  # noqa: ANN401 - a compiled graph
    """Do one command; what the agent's state is then."""
    config: dict[str, Any] = {"configurable": {"thread_id": thread}}
    state = graph.get_state(config)
    if command == "plan" and not state.next:
        graph.invoke({"done": []}, config, durability="sync")
    elif command == "plan":
        graph.invoke(None, config, durability="sync")  # it died before: go on
    elif command == "answer":
        asked = any(task.interrupts for task in state.tasks)
        graph.invoke(Command(resume=answer) if asked else None, config, durability="sync")
    elif command == "again":
        question = next(past for past in graph.get_state_history(config) if past.next == ("ask",))
        branch = graph.update_state(question.config, None)  # a new end to go on from: the old answer stays with the old
        graph.invoke(None, branch, durability="sync")
        graph.invoke(Command(resume=answer), config, durability="sync")
    if command == "history":
        steps = [{"next": list(past.next), "way": past.values.get("way")} for past in graph.get_state_history(config)]
        return {"history": steps}
    state = graph.get_state(config)
    asked = [one.value for task in state.tasks for one in task.interrupts]
    return {"next": list(state.next), "asked": asked, **state.values}


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(description="A LangGraph agent whose state lives in Mnemic")
    parser.add_argument("--url", default="http://127.0.0.1:8000")
    parser.add_argument("--key", required=True, help="an API key")
    parser.add_argument("command", choices=["plan", "answer", "history", "again"])
    parser.add_argument("--thread", default="trip")
    parser.add_argument("--answer")
    parser.add_argument("--die-in", metavar="NODE")
    given = parser.parse_args()
    with MnemicSaver(given.url, given.key) as saver:
        shown = run(agent(saver, given.die_in), given.thread, given.command, given.answer)
    print(json.dumps(shown, ensure_ascii=False))


if __name__ == "__main__":
    main()
