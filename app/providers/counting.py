"""What counts the tokens of a context: an estimate, or the tokenizer of the model that will read it."""

import importlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

from app.core.errors import ConfigurationError
from app.core.text.normal import clean
from app.domain.budget import estimate_tokens


def configured_counter(file: Path | None) -> Callable[[str], int]:
    """The counter that the settings name.

    Args:
        file: A `tokenizer.json` in Hugging Face's format; None for the estimate.

    Raises:
        ConfigurationError: The file cannot be read, or the package that reads it is not installed.
    """
    if file is None:
        return estimate_tokens
    try:
        module: Any = importlib.import_module("tokenizers")
    except ImportError as error:
        raise ConfigurationError("TOKEN_COUNTER_FILE needs the extra 'onnx': pip install 'mnemic[onnx]'.") from error
    try:
        tokenizer = module.Tokenizer.from_file(str(file))
    except Exception as error:  # the package raises bare Exceptions
        raise ConfigurationError(f"TOKEN_COUNTER_FILE {file} is no tokenizer.json that can be read.") from error
    tokenizer.no_truncation()
    tokenizer.no_padding()

    def count(text: str) -> int:
        return len(tokenizer.encode(clean(text), add_special_tokens=False).ids)

    return count
