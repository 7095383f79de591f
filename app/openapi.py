"""openapi/openapi.json, written from the code and compared with it."""

import json
import sys
from pathlib import Path

from app.main import create_app
from app.settings import Settings

PATH = Path(__file__).resolve().parent.parent / "openapi" / "openapi.json"


def document() -> str:
    """The OpenAPI document as it is committed."""
    app = create_app(Settings(_env_file=None, root_path=""))
    return json.dumps(app.openapi(), indent=2, ensure_ascii=False, sort_keys=True) + "\n"


def main() -> int:
    """Write the document, or with --check say whether the committed one is current."""
    current = document()
    if "--check" not in sys.argv:
        PATH.write_text(current, "utf-8")
        return 0
    if not PATH.exists() or PATH.read_text("utf-8") != current:
        sys.stderr.write("openapi/openapi.json is not what the code says: run 'make openapi'.\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
