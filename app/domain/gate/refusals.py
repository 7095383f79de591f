"""Why something is not kept, each reason with a name, so that it can be counted."""

from typing import Final, Literal, get_args

Refusal = Literal[
    "empty",
    "greeting",
    "not_the_users",
    "state",
    "question",
    "hypothetical",
    "code",
    "log",
    "quoted",
    "recalled",
    "role_play",
    "joke",
    "task",
    "forget",
    "fragment",
    "too_long",
    "unquoted",
    "low_score",
]
"""`greeting`: small talk and acknowledgements. `not_the_users`: a system's, tool's or assistant's words as the user's.
`state`: a passing one. `quoted`: forwarded, pasted or cited. `recalled`: what a memory service served. `task`: work on
a text for now. `forget`: a request to forget. `fragment`: a change of something that it does not name. `unquoted`: its
quote does not stand in the turn. `low_score`: below the threshold."""

REFUSALS: Final[tuple[Refusal, ...]] = get_args(Refusal)
