"""What a folder with a model in ONNX must hold, and how it is opened: the same for every kind of model."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final, TypeVar

import numpy as np
import numpy.typing as npt
from pydantic import BaseModel, ValidationError

from app.core.errors import ConfigurationError

MODEL_FILE: Final = "model.onnx"
TOKENIZER_FILE: Final = "tokenizer.json"
DESCRIPTION_FILE: Final = "mnemic.json"
FILES: Final = (MODEL_FILE, TOKENIZER_FILE, DESCRIPTION_FILE)

INPUTS: Final = ("input_ids", "attention_mask", "token_type_ids")

Described = TypeVar("Described", bound=BaseModel)
Tokens = npt.NDArray[np.int64]
"""Numbers of tokens, or marks of them, shape (texts, tokens)."""


@dataclass(frozen=True, slots=True)
class FolderSetting:
    """Which setting names the folder, for messages.

    Args:
        chosen: The setting and value that ask for such a model.
        setting: The setting that names the folder.
        kind: What the folder holds.
    """

    chosen: str
    setting: str
    kind: str


def described(folder: Path, schema: type[Described], named: FolderSetting) -> Described:
    """What `mnemic.json` says about the model beside it.

    Raises:
        ConfigurationError: The extra is not installed, a file is missing, or the file does not describe a model.
    """
    packages = [package for package in ("onnxruntime", "tokenizers") if find_spec(package) is None]
    if packages:
        raise ConfigurationError(
            f"{named.chosen} needs {' and '.join(packages)}: install Mnemic with the extra, 'pip install mnemic[onnx]'."
        )
    if not folder.is_dir():
        raise ConfigurationError(f"{named.setting}={folder} is not a folder.")
    missing = [name for name in FILES if not (folder / name).is_file()]
    if missing:
        raise ConfigurationError(
            f"{named.setting}={folder} lacks {' and '.join(missing)}; it must hold {', '.join(FILES)}."
        )
    path = folder / DESCRIPTION_FILE
    try:
        return schema.model_validate_json(path.read_bytes())
    except ValidationError as error:
        faults = "; ".join(f"{'.'.join(map(str, one['loc'])) or 'the file'}: {one['msg']}" for one in error.errors())
        raise ConfigurationError(f"{path} does not describe {named.kind}: {faults}.") from error


class OnnxGraph:
    """The loaded tokeniser and network of a folder.

    Args:
        folder: Where they are.
        threads: Threads that one step computes with.
        arena: Whether the largest step's memory is kept for the next.

    Raises:
        ConfigurationError: A file is not what its name says, or the network wants inputs that Mnemic cannot give.
    """

    def __init__(self, folder: Path, *, threads: int = 1, arena: bool = True) -> None:
        import onnxruntime  # noqa: PLC0415 - an extra
        from tokenizers import Tokenizer  # noqa: PLC0415 - likewise

        onnxruntime.disable_telemetry_events()
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        options.inter_op_num_threads = 1
        options.log_severity_level = 3
        options.enable_cpu_mem_arena = arena
        try:
            self.tokenizer: Any = Tokenizer.from_file(str(folder / TOKENIZER_FILE))
        except Exception as error:
            raise ConfigurationError(f"{folder / TOKENIZER_FILE} is not a tokenizer: {error}") from error
        try:
            self.session: Any = onnxruntime.InferenceSession(
                str(folder / MODEL_FILE), options, providers=["CPUExecutionProvider"]
            )
        except Exception as error:
            raise ConfigurationError(f"{folder / MODEL_FILE} cannot be loaded: {error}") from error
        self.tokenizer.no_padding()
        self._inputs = self._known_inputs(folder)

    @cached_property
    def padding(self) -> int:
        """The number of the padding token."""
        for token in ("[PAD]", "<pad>"):
            number: int | None = self.tokenizer.token_to_id(token)
            if number is not None:
                return number
        return 0

    def run(self, output: str, feeds: dict[str, Tokens]) -> Any:  # noqa: ANN401 - an array of the network's own type
        """One output of the network for the inputs that it takes."""
        (given,) = self.session.run([output], {name: feeds[name] for name in self._inputs})
        return given

    def _known_inputs(self, folder: Path) -> list[str]:
        names = [given.name for given in self.session.get_inputs()]
        if "input_ids" not in names or not set(names) <= set(INPUTS):
            raise ConfigurationError(
                f"{folder / MODEL_FILE} takes {', '.join(names)}: Mnemic can give {', '.join(INPUTS)}."
            )
        return names


def padded(rows: Sequence[list[int]], padding: int) -> Tokens:
    """The rows at the length of the longest."""
    width = max(map(len, rows))
    return np.array([row + [padding] * (width - len(row)) for row in rows], dtype=np.int64)
