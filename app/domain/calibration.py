"""Raw cosines of a model to similarities that mean the same for every model."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final, Literal, Self

DUPLICATE: Final = 0.92
"""From this similarity on two memories may say the same, where a model was not measured for it."""

IDENTICAL: Final = 0.99
"""The least similarity that a calibration may give to a text and itself."""

CalibrationSource = Literal["built_in", "settings", "measured"]
"""Where a calibration is from: it comes with the model, settings name it, or it was measured and kept."""


@dataclass(frozen=True, slots=True)
class Calibration:
    """A linear map of a model's raw cosine to [0, 1], clamped.

    Args:
        low: The raw cosine that becomes 0: what unrelated texts have at most.
        high: The raw cosine that becomes 1: what a text has with itself, or a little less.
        duplicate: The least calibrated similarity of two memories that may say the same. It only nominates: words
            decide. Measured per model on pairs in both languages (benchmarks/duplicates.py, `mnemic calibrate`), so
            that it leaves out at most one pair in ten that says the same.
        source: Where it is from.
        measured_at: When it was measured and kept; None where it was not.
    """

    low: float = 0.0
    high: float = 1.0
    duplicate: float = DUPLICATE
    source: CalibrationSource = field(default="built_in", compare=False)
    measured_at: datetime | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        """Refuses bounds that are not numbers or not in order."""
        if not -1.0 <= self.low < self.high <= 1.0:
            raise ValueError(f"A calibration needs -1 <= low < high <= 1, not {self.low} and {self.high}.")

    @classmethod
    def of_json(cls, stored: Mapping[str, Any]) -> Self | None:
        """What `as_json` made; None where nothing is kept."""
        if not stored:
            return None
        at = datetime.fromisoformat(stored["measured_at"])
        return cls(stored["low"], stored["high"], stored["duplicate"], "measured", at)

    def as_json(self, at: datetime) -> dict[str, Any]:
        """As the database keeps what was measured."""
        return {"low": self.low, "high": self.high, "duplicate": self.duplicate, "measured_at": at.isoformat()}

    def similarity(self, cosine: float) -> float:
        """The calibrated similarity in [0, 1]; a raw value that is not a number counts as 0."""
        if math.isnan(cosine):
            return 0.0
        return min(1.0, max(0.0, (cosine - self.low) / (self.high - self.low)))
