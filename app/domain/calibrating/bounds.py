"""From the cosines that a model gives sentences of known meaning to its calibration."""

import math
from collections.abc import Sequence
from dataclasses import astuple, dataclass
from typing import Final

import numpy as np

from app.domain.calibration import IDENTICAL, Calibration

NOT_SIMILAR: Final = 75
"""Percent of the unrelated pairs whose similarity is to be 0. More would take answers with them: of the bundled model's
one in a hundred is below this bound."""

LEFT_OUT: Final = 10
"""Percent of the pairs that say the same which the threshold leaves out, at most."""

NEARLY_ALL: Final = 99
"""Percent of the unrelated pairs that must lie below what a text has with itself."""

DIGITS: Final = 4
NOISE: Final = 6
"""Digits behind which a cosine of 32-bit numbers is noise."""


class UnusableMeasurement(Exception):  # noqa: N818 - a finding
    """No calibration makes this model's cosines mean what they should."""


@dataclass(frozen=True, slots=True)
class Cosines:
    """Raw cosines of pairs of texts.

    Args:
        identical: Of texts as a question and as a passage.
        unrelated: Of questions and answers of other questions.
        answers: Of questions and their answers.
        same: Of memories that say the same.
        other: Of memories that look alike and do not.
    """

    identical: tuple[float, ...] = ()
    unrelated: tuple[float, ...] = ()
    answers: tuple[float, ...] = ()
    same: tuple[float, ...] = ()
    other: tuple[float, ...] = ()

    def __add__(self, more: "Cosines") -> "Cosines":
        """Both together."""
        return Cosines(*(mine + theirs for mine, theirs in zip(astuple(self), astuple(more), strict=True)))


def quantile(values: Sequence[float], percent: float) -> float:
    """The value that so many percent are not above, between two where need be."""
    return float(np.percentile(values, percent))


def nominated(cosines: Sequence[float], calibration: Calibration) -> float:
    """The share of pairs that the calibration's threshold nominates as duplicates."""
    return sum(calibration.similarity(cosine) >= calibration.duplicate for cosine in cosines) / len(cosines)


def measured_calibration(cosines: Cosines) -> Calibration:
    """The calibration that these cosines ask for.

    `low` is what three of four unrelated pairs do not exceed, `high` the least that a text has with itself, so that the
    similarity of these is at least `IDENTICAL`, and `duplicate` what nine of ten pairs that say the same reach.

    Args:
        cosines: At least one of each kind.

    Raises:
        UnusableMeasurement: There is none: some are no numbers, a text is no nearer to itself than unrelated texts are
            to each other, or one in a hundred of these is as near.
    """
    if not all(map(math.isfinite, sum(astuple(cosines), ()))):
        raise UnusableMeasurement("some of its cosines are no numbers")
    low, high = _down(quantile(cosines.unrelated, NOT_SIMILAR)), min(1.0, _down(min(cosines.identical)))
    if not -1.0 <= low < high:
        raise UnusableMeasurement(
            f"a text and itself have a cosine of only {high:.3f} at worst, and a quarter of the unrelated texts more "
            f"than {low:.3f}: no bounds give a text and itself a similarity of {IDENTICAL}"
        )
    highest = quantile(cosines.unrelated, NEARLY_ALL)
    if highest >= high:
        raise UnusableMeasurement(
            f"one in a hundred unrelated pairs of texts has a cosine of {highest:.3f} or more, and a text and itself "
            f"have only {high:.3f} at worst: unrelated texts would count as identical"
        )
    bounds = Calibration(low, high)
    least = float(np.percentile(cosines.same, LEFT_OUT, method="lower"))
    threshold = math.floor(bounds.similarity(least) * 10**DIGITS) / 10**DIGITS  # whatever reaches it must pass it
    return Calibration(low, high, threshold, source="measured")


def _down(value: float) -> float:
    """Shortened, and never more than it was, but for noise."""
    scale = 10**DIGITS
    return math.floor(round(value, NOISE) * scale) / scale
