"""JSON for text columns."""

from typing import Any

import orjson


def json_text(value: Any) -> str:
    return orjson.dumps(value).decode()
