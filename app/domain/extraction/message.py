"""One message of a user's: its sentences and clauses in turn, each seen with those before it."""

import re
from dataclasses import replace
from datetime import datetime
from typing import Final

from app.domain.conflict.persons import subject_of
from app.domain.extraction.asking import request_of
from app.domain.extraction.candidates import Candidate
from app.domain.extraction.clauses import Clause, joined, sentences_of
from app.domain.extraction.completing import (
    completes,
    is_common_knowledge,
    is_laughed_at,
    is_laughing,
    is_of_the_task,
    is_remark,
)
from app.domain.extraction.corrections import corrected
from app.domain.extraction.dating import dated
from app.domain.extraction.fitting import fitting
from app.domain.extraction.frames.reading import Framed, Framing, alone
from app.domain.extraction.habits import Habits
from app.domain.extraction.listing import apart
from app.domain.extraction.mending import Mending, bare, denial_of, meant, mended, mending_of
from app.domain.extraction.passing import is_of_one_day, is_passing
from app.domain.extraction.plain import Context, category_of, is_fragment, is_habit, is_notable, is_request
from app.domain.extraction.pronouns import is_of_a_person, is_of_another, name_in
from app.domain.extraction.reading import framed, read, read_answer, read_frame, read_plain
from app.domain.extraction.replying import is_answer
from app.domain.extraction.subjects import has_subject, with_subject
from app.domain.extraction.turns import Turn
from app.domain.extraction.twofold import both_slots
from app.domain.gate.sentences import asks_to_forget, refusal_of
from app.domain.keys import built_in

LONGEST_JOINED: Final = 300
ALONE: Final = 2
"""Clauses of a message that says one thing: a habit told there is told to be known."""

SHORT_ZH: Final = 10
"""Characters of a Chinese clause without a person in it that completes the one before it."""

_GOES_ON_ZH: Final = re.compile(
    r"(?:叫|名叫|约在|定在|安排在|改到|理由|原因|今年|已经|现在|是|在|有|也|还|都|住|每|用|由|到|从|大概|一般|"
    r"预计|编号|号码|地址|端口|密码|一共|包括|主要|比如|尤其|特别|而且|并且|对|不|只|负责|"
    r"做|刚|\d)"
)
_THEN_ZH: Final = re.compile(r"那")
"""Begins what is concluded for the moment: 那我用清水."""

_FOLLOWS: Final = re.compile(
    r"(?:and |,|\s)*(?:so|please|therefore)\b|(?:.{0,4}点之?[前后]别|别|请|有事|不要|所以|这段时间|下午|晚上|早上|"
    r"上午|发|只)"
)
"""Begins what holds as long as the clause before it: "so no site visits", 有事微信找我."""

_OWN_ZH: Final = re.compile(r"我|咱|请|以后|不要|别|每次|记")
_LEAVES_OPEN: Final = frozenset({"relation", "project", "event", "decision", "constraint", "goal"})


MOST_BACK: Final = 3
"""Candidates back to which a pronoun at the beginning of a turn may point."""


_OF_OTHERS: Final = frozenset({"user.partner", "user.child", "user.pet", "user.manager"})


def _is_own_slot(key: str) -> bool:
    """Whether a key holds what is the user's own, and nothing of somebody close to them."""
    known = built_in(key)
    return known is not None and known.key.startswith("user.") and known.key not in _OF_OTHERS


def _fills_a_slot(clause: Clause) -> bool:
    """Whether a clause by itself fills a slot that everybody has."""
    found = alone(clause)
    return found is not None and found.frame.firm and built_in(found.frame.key) is not None


class Message:
    """Reads a user's turn after the candidates that are known before it.

    Args:
        turn: Of the user.
        before: Candidates of the turns before; corrected ones are replaced.
        habits: Takes note of corrections of style.
        context: Of the turn.
    """

    def __init__(self, turn: Turn, before: list[Candidate], habits: Habits, context: Context) -> None:
        self._turn = turn
        self._habits = habits
        self._context = context
        self.candidates = list(before)
        self._last: tuple[int, Clause] | None = None
        self._subject: Clause | None = None
        self._awaited = False
        self._working = False
        self._sentence: list[Clause] = []
        self._framing = Framing()
        self._alone = False
        self._lasting: tuple[int, datetime] | None = None
        self._mending: Mending | None = None
        self._wrong: str | None = None

    def read(self) -> None:
        """Adds what the message tells to `candidates`."""
        sentences = sentences_of(self._turn.text)
        self._alone = sum(map(len, sentences)) <= ALONE and not self._context.fiction
        for clauses in sentences:
            self._read_sentence(clauses)
            self._sentence = clauses

    def _read_sentence(self, clauses: list[Clause]) -> None:
        whole = joined(self._turn.text, clauses)
        if asks_to_forget(whole.plain) or is_laughing(whole.plain, self._turn.text[whole.end : whole.end + 6]):
            return
        self._subject = None
        told = self._last is not None and self._last[1].sentence == clauses[0].sentence - 1
        self._mending = mending_of(whole, self._mending, alone=not told)
        request = request_of(clauses)
        if request is not None:
            about, follows = request
            if not about:
                self._awaited = follows or not self._sentence
                about = [] if self._awaited else self._sentence
            self._read_clauses(about, explicit=True)
            return
        correction = corrected(whole, self._turn, self.candidates)
        if correction is not None:
            place, candidate = correction
            self.candidates[place] = replace(self.candidates[place], replaced=True)
            self._add(candidate, whole)
            return
        explicit, self._awaited = self._awaited, False
        self._read_clauses(clauses, explicit=explicit)

    def _read_clauses(self, clauses: list[Clause], *, explicit: bool) -> None:
        if not explicit and clauses and refusal_of(clauses[0].plain) in {"hypothetical", "role_play", "too_long"}:
            return
        for clause in clauses:
            if explicit:
                self._read_explicit(clause)
            else:
                self._read_clause(clause)

    def _read_explicit(self, clause: Clause) -> None:
        if not re.search(r"\w{2}|[\u3400-\u9fff]{2}", clause.plain):
            return
        plain = read(clause, self._turn)
        same_turn = self._last is not None and self.candidates[self._last[0]].explicit
        if plain is None and same_turn and self._goes_on(clause):
            return
        candidate = read(clause, self._turn, explicit=True)
        slot = self._framing.of(clause)
        if candidate is not None and slot is not None:
            candidate = framed(candidate, slot.frame)
        if candidate is not None:
            self.candidates = [one for one in self.candidates if one.quote != candidate.quote]
            self._add(candidate, clause)

    def _read_clause(self, clause: Clause) -> None:
        self._wrong = None
        if self._mending is not None:
            if self._denies(clause):
                return
            stated, self._wrong = meant(clause)
            values = bare(clause)
            if values is not None and self._framing.of(stated) is None:
                self._add(read_frame(clause, self._turn, values), clause)
                return
            clause = stated
        refusal = refusal_of(clause.plain)
        self._working = self._working or refusal == "task"
        if clause.asked or refusal is not None:
            self._habits.note(clause, self._turn)
            return
        if self._is_no_statement(clause):
            return
        slot = None if self._working else self._framing.of(clause)
        if slot is not None and slot.since is not None:
            self._add_completed(clause, slot)
            return
        if is_of_another(clause) and self._goes_on(clause):
            return
        if self._working and is_of_the_task(clause):
            self._habits.note(clause, self._turn)
            return
        self._take(clause, slot)
        if has_subject(clause):
            self._subject = clause

    def _denies(self, clause: Clause) -> bool:
        """Takes what a clause says was wrong into the statement before it in its sentence."""
        before = denial_of(clause)
        if before is None or self._last is None or self._last[1].sentence != clause.sentence:
            return False
        place = self._last[0]
        self.candidates[place] = replace(self.candidates[place], change="corrects", before=before)
        return True

    def _is_no_statement(self, clause: Clause) -> bool:
        """Whether a clause is concluded for the moment, made up, or known to everybody."""
        concluded = clause.chinese and _THEN_ZH.search(clause.lead) and not re.search(r"\d", clause.plain)
        return (
            bool(concluded)
            or (self._context.fiction and not has_subject(clause))
            or is_common_knowledge(clause.plain)
            or is_passing(clause)
            or (is_of_one_day(clause) and not _fills_a_slot(clause))
        )

    def _take(self, clause: Clause, slot: Framed | None) -> None:
        """Takes what a rule or the form of a clause tells, else the statement as it is if it is worth it."""
        candidate = read(clause, self._turn)
        carried = None if candidate is not None else with_subject(clause, self._subject_of(clause))
        if carried is not None:
            candidate = read(carried, self._turn)
            slot = slot or self._carried_slot(carried, candidate)
            candidate = self._as_said(candidate, clause) if candidate else None
        if slot is not None and (candidate is not None or slot.frame.firm):
            self._add_framed(clause, slot, candidate)
        elif candidate is not None and self._completes(clause, candidate, carried=carried is not None):
            pass
        elif candidate is not None:
            self._add(candidate, clause)
        elif not self._goes_on_zh(clause) and not self._read_plain(clause):
            self._habits.note(clause, self._turn)

    def _carried_slot(self, carried: Clause, found: Candidate | None) -> Framed | None:
        """The slot of a clause with the subject that it leaves out; without a rule's word only one that is known."""
        slot = None if self._working else alone(carried)
        return slot if slot is None or found is not None or built_in(slot.frame.key) is not None else None

    def _add_framed(self, clause: Clause, slot: Framed, found: Candidate | None) -> None:
        """Takes what fills a slot, in the words of the rule that knows it or in its own."""
        known = built_in(found.key) if found is not None and found.key else None
        if found is None:
            candidate = read_frame(clause, self._turn, slot.frame)
        elif known is not None and not slot.frame.firm and known.key != slot.frame.key:
            candidate = found
        else:
            candidate = framed(found, slot.frame)
        self._add(candidate, clause)

    def _add_completed(self, clause: Clause, slot: Framed) -> None:
        """Takes an announcement and what it has come to as one statement."""
        since = slot.since
        if since is None:
            return
        if self._last is not None and self._last[1].start >= since.start:
            self.candidates.pop(self._last[0])
        whole = joined(self._turn.text, [since, clause])
        self._add(read_frame(whole, self._turn, slot.frame), whole)
        if has_subject(clause):
            self._subject = clause

    def _completes(self, clause: Clause, candidate: Candidate, *, carried: bool) -> bool:
        """Takes what a rule knows into what its sentence has said before, if it says nothing without it."""
        if self._last is None or self._last[1].sentence != clause.sentence or candidate.explicit:
            return False
        return completes(clause, candidate, self.candidates[self._last[0]], carried=carried) and self._goes_on(clause)

    def _read_plain(self, clause: Clause) -> bool:
        """Takes a statement that no rule knows: as an answer, with what it completes, or by itself."""
        times = dated(clause.text, self._turn)
        if self._last is None and is_answer(clause):
            answer = read_answer(clause, self._turn, times, self._context)
            if answer is not None and (self._context.followed_up or answer.category != "domain"):
                self._add(answer, clause)
                return True
        same = self._last is not None and self._last[1].sentence == clause.sentence
        self._working = self._working or (not clause.chinese and is_request(clause.plain))
        notable = is_notable(clause, has_time=bool(times.spans), context=self._context)
        if same and (is_remark(clause, has_time=bool(times.spans)) or (notable and is_fragment(clause))):
            return self._goes_on(clause)
        if same and notable and category_of(clause, has_time=bool(times.spans)) == "domain" and self._goes_on(clause):
            return True
        if (
            same
            and notable
            and clause.chinese
            and len(clause.plain) <= SHORT_ZH
            and not _OWN_ZH.search(clause.plain)
            and self._goes_on(clause)
        ):
            return True
        if notable and self._last is not None and is_fragment(clause) and self._goes_on(clause):
            return True
        notable = notable or (self._alone and is_habit(clause))
        if notable and not is_laughed_at(clause):
            self._add(read_plain(clause, self._turn, times), clause)
        return notable

    def _subject_of(self, clause: Clause) -> Clause | None:
        """The clause before it in its sentence that says I or we."""
        return self._subject if self._subject is not None and self._subject.sentence == clause.sentence else None

    def _as_said(self, candidate: Candidate, clause: Clause) -> Candidate:
        if self._subject_of(clause) is not None:
            return replace(candidate, quote=clause.text)
        return replace(candidate, quote=clause.text, text=dated(clause.text, self._turn).text)

    def _add(self, candidate: Candidate, clause: Clause) -> None:
        if candidate.key is not None and subject_of(clause.text) is not None and _is_own_slot(candidate.key):
            candidate = replace(candidate, key=None)
        candidate = fitting(candidate)
        if candidate.expires_at is not None:
            self._lasting = (clause.sentence, candidate.expires_at)
        elif (
            self._lasting is not None
            and self._lasting[0] == clause.sentence
            and _FOLLOWS.match(clause.lead + clause.plain)
        ):
            candidate = replace(candidate, expires_at=self._lasting[1])
        if self._mending is not None:
            candidate = mended(candidate, self._mending, self._wrong, self.candidates)
        self.candidates += [part for one in apart(candidate) for part in both_slots(one)]
        self._context = replace(self._context, question=None, telling=True, told=True)
        self._last = (len(self.candidates) - 1, clause)

    def _goes_on(self, clause: Clause) -> bool:
        """Takes the clause into the candidate before it, if that stands in the same message and close by."""
        if self._last is None:
            return self._follows_turn(clause)
        place, before = self._last
        whole = joined(self._turn.text, [before, clause])
        if len(whole.text) > LONGEST_JOINED or clause.start < before.end or clause.sentence > before.sentence + 2:
            return False
        old = self.candidates[place]
        between = self._turn.text[before.end : clause.start]
        if len(between) > 6:  # noqa: PLR2004 - punctuation and an "and"
            return False
        times = dated(clause.text, self._turn)
        known = name_in(clause)
        self.candidates[place] = replace(
            old,
            text=f"{old.text}{between}{times.text}",
            quote=whole.text,
            value=f"{old.value}, {known}" if known and old.value else old.value,
            expires_at=old.expires_at or times.expires_at,
            occurred_at=times.event if times.event and old.kind == "episodic" else old.occurred_at,
        )
        self._last = (place, whole)
        return True

    def _follows_turn(self, clause: Clause) -> bool:
        """A pronoun at the beginning of a turn stands for whom the latest candidate is about."""
        if not self.candidates:
            return False
        old = next((one for one in reversed(self.candidates[-MOST_BACK:]) if is_of_a_person(one)), None)
        if old is None or self._turn.seq in old.seqs:
            return False
        times = dated(clause.text, self._turn)
        between = "。" if clause.chinese else ". "
        known = name_in(clause)
        joined_candidate = replace(
            old,
            text=f"{old.text}{between}{times.text}",
            seqs=(*old.seqs, self._turn.seq),
            quote=clause.text,
            value=f"{old.value}, {known}" if known and old.value else old.value,
            occurred_at=self._turn.occurred_at,
        )
        self._add(joined_candidate, clause)
        return True

    def _goes_on_zh(self, clause: Clause) -> bool:
        """A Chinese clause without a subject belongs to the one before it, where that leaves room for it."""
        if not clause.chinese or self._last is None or self._last[1].sentence != clause.sentence:
            return False
        old = self.candidates[self._last[0]]
        open_ended = old.category in _LEAVES_OPEN or _GOES_ON_ZH.match(clause.plain) is not None
        return open_ended and not _OWN_ZH.match(clause.plain) and self._goes_on(clause)
