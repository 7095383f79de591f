"""The life of an erasure."""

from typing import Final, Literal, get_args

ErasureState = Literal["running", "finished"]
ERASURE_STATES: Final[tuple[ErasureState, ...]] = get_args(ErasureState)
