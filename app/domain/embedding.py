"""The life of an embedding model in the database."""

from typing import Final, Literal, get_args

ModelStatus = Literal["building", "active", "retired"]
MODEL_STATUSES: Final[tuple[ModelStatus, ...]] = get_args(ModelStatus)
