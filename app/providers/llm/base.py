"""What the service expects of a language model."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, TypeVar

from pydantic import BaseModel

Role = Literal["system", "user", "assistant"]

Purpose = Literal["rewrite", "extract", "judge", "summarise", "choose", "reflect", "check", "shorten", "insight"]
"""What a call is made for: a label of the metrics, and a circuit breaker of its own."""

Schema = TypeVar("Schema", bound=BaseModel)


@dataclass(frozen=True, slots=True)
class ChatMessage:
    """One message of a prompt."""

    role: Role
    content: str


class LanguageModelUnavailable(Exception):  # noqa: N818 - a state of the provider, as in core.errors
    """The model cannot answer at the moment: who has rules goes on by rule, who has a job tries again later.

    Args:
        words: What happened, without prompt, reply or key.
        status: The host's HTTP status, where it answered with one that says why.
    """

    def __init__(self, words: str, status: int | None = None) -> None:
        super().__init__(words)
        self.status = status


class LanguageModelNonsense(Exception):  # noqa: N818 - a state of the reply
    """The model answers, and its reply is unusable, also after one repair. The words carry nothing of the reply."""


class LanguageModel(Protocol):
    """Messages to text, or to a value of a schema. Any text is accepted.

    A failure is `LanguageModelUnavailable` or `LanguageModelNonsense`; neither carries a text or a key. Other
    exceptions do not leave a call, but for its cancellation.
    """

    @property
    def name(self) -> str:
        """The model's name, as its host knows it."""
        ...

    async def complete(
        self,
        messages: Sequence[ChatMessage],
        *,
        purpose: Purpose,
        max_tokens: int | None = None,
        temperature: float = 0.0,
        timeout: float | None = None,  # noqa: ASYNC109 - a limit of the provider, told from a cancellation
    ) -> str:
        """The reply's text, thoughts left out, never empty and never cut.

        Args:
            messages: The prompt.
            purpose: What the call is for.
            max_tokens: The longest reply; None for the configured length.
            temperature: 0 for the likeliest words.
            timeout: Seconds for the whole call, repetitions included; None for the configured seconds a request.

        Raises:
            LanguageModelUnavailable: No reply, or not in time.
            LanguageModelNonsense: The reply has no text, or was cut at `max_tokens`.
        """
        ...

    async def structured(
        self,
        messages: Sequence[ChatMessage],
        schema: type[Schema],
        *,
        purpose: Purpose,
        max_tokens: int | None = None,
        temperature: float = 0.0,
        timeout: float | None = None,  # noqa: ASYNC109 - likewise
    ) -> Schema:
        """The reply as a value of the schema. A reply that does not fit is sent back once, with what is wrong.

        Give the schema at least one required field: a model of defaults alone is satisfied by any object.

        Args:
            messages: The prompt; how the reply must look is added where the host does not enforce it.
            schema: A pydantic model, whose validators decide.
            purpose: What the call is for.
            max_tokens: The longest reply; None for the configured length.
            temperature: 0 for the likeliest words.
            timeout: Seconds for the whole call, repetitions and repair included; None for the configured seconds
                a request.

        Raises:
            LanguageModelUnavailable: No reply, or not in time.
            LanguageModelNonsense: The second reply does not fit either.
        """
        ...

    async def close(self) -> None:
        """Gives the connections back; the model is unavailable afterwards."""
        ...
