"""The measures of an extractor, and how they are shown to people."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

MEASURES: Final = (
    "precision",
    "recall",
    "junk_share",
    "duplicate_share",
    "inventions",
    "copies",
    "language",
    "attribution",
    "dates",
    "expiries",
    "states",
    "keys",
)


@dataclass(frozen=True, slots=True)
class Share:
    """So many of so many."""

    part: int = 0
    whole: int = 0

    @property
    def rate(self) -> float | None:
        """Between 0 and 1; None of nothing."""
        return self.part / self.whole if self.whole else None

    def __str__(self) -> str:
        return "-" if self.rate is None else f"{self.rate:.3f} ({self.part}/{self.whole})"


@dataclass(frozen=True, slots=True)
class Score:
    """The measures of a set of dialogues.

    Args:
        counts: What was counted, by name.
    """

    counts: Mapping[str, int] = field(default_factory=dict)

    def share(self, part: str, whole: str) -> Share:
        """One count of another."""
        return Share(self.counts.get(part, 0), self.counts.get(whole, 0))

    @property
    def precision(self) -> Share:
        """Predictions that hold a true fact, of all but the first duplicate of each fact."""
        return self.share("right", "judged")

    @property
    def recall(self) -> Share:
        """Required facts that were found."""
        return self.share("found", "facts")

    @property
    def junk_share(self) -> Share:
        """Predictions that hold no fact and cite a turn that is labelled junk, of all predictions."""
        return self.share("junk", "predictions")

    @property
    def duplicate_share(self) -> Share:
        """Predictions that hold nothing but what another one holds, of all predictions."""
        return self.share("duplicates", "predictions")

    @property
    def inventions(self) -> Share:
        """Predictions served as fact that rest on the assistant's words alone, of all predictions. None is allowed."""
        return self.share("inventions", "predictions")

    @property
    def copies(self) -> Share:
        """Predictions that hold a cited turn of several facts whole, of all predictions: kept, not extracted."""
        return self.share("copies", "predictions")

    @property
    def language(self) -> Share:
        """Predictions in the script of the turns they cite."""
        return self.share("kept_language", "with_language")

    @property
    def attribution(self) -> Share:
        """Predictions with the right speaker and the right person, of those that hold or misattribute a fact."""
        return self.share("attributed", "attributable")

    @property
    def dates(self) -> Share:
        """Found facts whose day was resolved, of those that have one."""
        return self.share("dated", "datable")

    @property
    def expiries(self) -> Share:
        """Found facts that end when they should, of those that should end or do."""
        return self.share("expired_right", "expirable")

    @property
    def states(self) -> Share:
        """Found facts that are visible exactly if they are still true at the dialogue's end."""
        return self.share("stated_right", "found_all")

    @property
    def keys(self) -> Share:
        """Found facts under their canonical key, of those where label and prediction have one."""
        return self.share("keyed_right", "keyed")


@dataclass(frozen=True, slots=True)
class Report:
    """Scores in total, by language and by category, with what went wrong.

    By category, a wrong prediction counts under the category that the extractor gave it.
    """

    total: Score
    by_language: Mapping[str, Score]
    by_category: Mapping[str, Score]
    errors: Sequence[str]

    def table(self) -> str:
        """The scores, one line a measure or category, for people."""
        lines = [f"{'':16}{'total':>18}" + "".join(f"{name:>18}" for name in self.by_language)]
        columns = [self.total, *self.by_language.values()]
        lines.extend(
            f"{measure:16}" + "".join(f"{getattr(score, measure)!s:>18}" for score in columns) for measure in MEASURES
        )
        lines.append(f"{'':16}{'precision':>18}{'recall':>18}")
        lines.extend(f"{name:16}{s.precision!s:>18}{s.recall!s:>18}" for name, s in self.by_category.items())
        return "\n".join(lines)
