"""The extractor that needs no model: rules over the user's own sentences."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from app.core.text.tokens import tokens
from app.domain.extraction.asking import forgets, is_meant
from app.domain.extraction.candidates import Candidate
from app.domain.extraction.folding import folded
from app.domain.extraction.habits import Habits
from app.domain.extraction.message import Message
from app.domain.extraction.plain import Context
from app.domain.extraction.planned import unplanned
from app.domain.extraction.replies import affirmed, answered, assents, claims, denies, last_question
from app.domain.extraction.replying import asks_of_the_user
from app.domain.extraction.settling import settled
from app.domain.extraction.turns import Turn
from app.domain.gate.sentences import ends_role_play, is_fiction, is_joke, starts_role_play

LONGEST_GAME: Final = 8
"""User turns that a game of roles lasts at most if nobody ends it."""

LONGEST_FICTION: Final = 4
"""User turns after a request for a made-up text in which it may be told on."""

SHORT_TURN: Final = 40


def extract(turns: Sequence[Turn], *, speaker: str | None = None) -> list[Candidate]:
    """What the turns of a session say that may be worth keeping, in their order.

    The user's statements are `user_stated`; an assistant's explicit claims about the user are `assistant_said`, unless
    the user has just said them or denies them, and become `user_stated` when the user says yes to the only one. System
    and tool turns give nothing. A value that a later one of the same key replaces is marked `replaced`.

    Args:
        turns: In the order of their seq; earlier ones of the session help to understand later ones.
        speaker: The name of the user whose memories are formed: what turns with another name state is another person's.
    """
    return _Extraction(speaker).of(turns)


class _Extraction:
    def __init__(self, speaker: str | None) -> None:
        self._speaker = speaker
        self._found: list[Candidate] = []
        self._claimed: list[Candidate] = []
        self._asked: list[Candidate] = []
        self._question: Turn | None = None
        self._said: set[str] = set()
        self._game = 0
        self._fiction = 0
        self._told = True
        self._habits = Habits()

    def of(self, turns: Sequence[Turn]) -> list[Candidate]:
        for turn in turns:
            if turn.role == "user":
                self._read_user(turn)
            elif turn.role == "assistant":
                self._read_assistant(turn)
        found = unplanned(
            [*self._found, *self._habits.inferred(self._found)], {turn.seq: turn.occurred_at for turn in turns}
        )
        return settled(found)

    def _read_assistant(self, turn: Turn) -> None:
        self._claimed, self._asked, self._question = [], [], turn
        if self._game:
            return
        stated, self._asked = claims(turn)
        self._claimed = [claim for claim in stated if not self._is_known(claim)]
        self._found += self._claimed

    def _is_known(self, claim: Candidate) -> bool:
        """Whether the user has said it in this session: the claim repeats it."""
        told = set(tokens(claim.value or claim.text))
        return bool(told) and told <= self._said

    def _read_user(self, turn: Turn) -> None:
        plain = folded(turn.text)
        if self._is_a_game(plain):
            return
        if is_joke(plain):
            if len(plain) <= SHORT_TURN:
                self._drop_last_user_turn()
            return
        context = self._context_of(turn, plain)
        for forget in forgets(turn):
            last = max((max(one.seqs) for one in self._found), default=None)
            self._found = [
                one
                for one in self._found
                if not (is_meant(forget, one) if forget.what else last is not None and last in one.seqs)
            ]
        message = Message(turn, self._found, self._habits, context)
        message.read()
        self._told = any(turn.seq in one.seqs for one in message.candidates)
        self._found = message.candidates if self._is_own(turn) else self._of_another(turn, message.candidates)
        self._said |= set(tokens(turn.text))
        self._claimed, self._asked, self._question = [], [], None

    def _context_of(self, turn: Turn, plain: str) -> Context:
        """Hears what the turn replies to the one before it; the question stays open where no slot takes the answer."""
        self._fiction = LONGEST_FICTION if is_fiction(plain) else max(0, self._fiction - 1)
        if self._fiction:
            return Context(fiction=True)
        denied = self._question is not None and denies(turn.text)
        answered_at_once = self._hear_reply(turn)
        telling = any(one.source == "user_stated" for one in self._found)
        question = None if answered_at_once or self._question is None else last_question(self._question)
        if question is None or self._question is None or not asks_of_the_user(question):
            return Context(denied=denied, telling=telling)
        return Context(question, self._question.seq, denied=denied, telling=telling, followed_up=self._told)

    def _is_a_game(self, plain: str) -> bool:
        if self._game and ends_role_play(plain):
            self._game = 0
            return True
        if starts_role_play(plain):
            self._game = LONGEST_GAME
        elif self._game:
            self._game -= 1
        return self._game > 0

    def _drop_last_user_turn(self) -> None:
        last = max((max(one.seqs) for one in self._found if one.source == "user_stated"), default=None)
        self._found = [one for one in self._found if last not in one.seqs]

    def _hear_reply(self, turn: Turn) -> bool:
        """Takes an assent, a denial or an answer to what the assistant said; whether it is dealt with."""
        if denies(turn.text):
            denied = set(map(id, self._claimed))
            self._found = [one for one in self._found if id(one) not in denied]
            return False
        meant = [*self._claimed, *self._asked]
        if len(meant) == 1 and assents(turn.text):
            self._found = [one for one in self._found if one is not meant[0]]
            self._found.append(affirmed(meant[0], turn))
            return True
        answer = answered(self._question, turn) if self._question is not None else None
        if answer is not None:
            self._found.append(answer)
        return answer is not None

    def _is_own(self, turn: Turn) -> bool:
        return self._speaker is None or turn.name is None or folded(turn.name) == folded(self._speaker)

    def _of_another(self, turn: Turn, candidates: list[Candidate]) -> list[Candidate]:
        """What another person of the session said is about them: their name stands before it, and it holds no slot."""
        colon = "：" if any("\u4e00" <= letter <= "\u9fff" for letter in turn.text) else ": "
        return [
            replace(one, text=f"{turn.name}{colon}{one.text}", category="relation", key=None)
            if turn.seq in one.seqs and one not in self._found
            else one
            for one in candidates
        ]
